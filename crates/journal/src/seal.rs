//! Seals: statements of where every stream ended, and of the side rows, at a time. Stored elsewhere, a seal reveals
//! what a hash chain cannot: that an end was cut off, or that a chain was rewritten from some record on.
//!
//! This file has the statement and the comparison; the caller signs the bytes.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::stored_values::part_digest;
use super::verify::{FindingKind, StoredContents, VerifyFinding, VerifyReport, read_sum};
use super::{Hash, Head, Journal, RowSum, StoreError, StreamKinds, StreamName, hex};

/// The format version of the statement. Version 1 had neither replaceable rows nor older answers, and version 2 had no
/// sums.
const VERSION: u32 = 3;
const FIRST_VERSION: u32 = 1;

/// The content of a seal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealStatement {
    pub at: Timestamp,
    pub root: Hash,
    pub heads: Vec<(StreamName, Head)>,
    /// Side rows that never change: kind, key, and SHA-256 of the body.
    pub rows: Vec<(String, String, Hash)>,
    /// Side rows that may be replaced by later ones: kind, key, and SHA-256 of the body.
    pub replaceable_rows: Vec<(String, String, Hash)>,
    /// Sums of pruned side rows, by the kind of the rows.
    pub sums: Vec<(String, RowSum)>,
    /// For streams with records from before answer digests: the number of their answers, and a hash of them.
    pub older_answers: Vec<(StreamName, u64, Hash)>,
}

/// The result of comparing the store with a seal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SealComparison {
    /// Differences from the seal.
    pub findings: Vec<VerifyFinding>,
    /// Messages about permitted changes: rows that were replaced or summed up after the seal.
    pub replaced: Vec<String>,
}

/// The time of writing in a replaceable row.
#[derive(Deserialize)]
struct WrittenAt {
    at: Timestamp,
}

#[derive(Serialize, Deserialize)]
struct FirstLine {
    seal: u32,
    at: Timestamp,
    root: String,
}

impl SealStatement {
    pub fn new(at: Timestamp, report: &VerifyReport, contents: StoredContents) -> Self {
        let StoredContents { heads, rows, replaceable_rows, sums, older_answers } = contents;
        Self { at, root: report.root, heads, rows, replaceable_rows, sums, older_answers }
    }

    /// The statement as text, one line of JSON for each entry. Equal statements have equal texts.
    pub fn text(&self) -> String {
        let first = json!({"seal": VERSION, "at": self.at, "root": hex(&self.root)});
        let heads =
            self.heads.iter().map(|(stream, head)| json!(["stream", stream.as_str(), head.revision, hex(&head.hash)]));
        let rows = self.rows.iter().map(|(kind, key, hash)| json!(["beside", kind, key, hex(hash)]));
        let replaceable =
            self.replaceable_rows.iter().map(|(kind, key, hash)| json!(["replaceable", kind, key, hex(hash)]));
        let sums = self.sums.iter().map(|(kind, RowSum { count, hash })| json!(["summed", kind, count, hash]));
        let answers = self
            .older_answers
            .iter()
            .map(|(stream, count, hash)| json!(["older_answers", stream.as_str(), count, hex(hash)]));
        let lines = [first].into_iter().chain(heads).chain(rows).chain(replaceable).chain(sums).chain(answers);
        lines.fold(String::new(), |text, line| text + &line.to_string() + "\n")
    }

    /// Parses a statement, or returns what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let first: FirstLine = serde_json::from_str(first).map_err(|error| format!("line 1 is no seal: {error}"))?;
        if !(FIRST_VERSION..=VERSION).contains(&first.seal) {
            return Err(format!("it is a seal of version {}, this program knows {VERSION}", first.seal));
        }
        let root = parse_hash(&first.root).ok_or("the root is no hash")?;
        let (heads, rows, replaceable_rows, sums, older_answers) = Default::default();
        let mut statement = Self { at: first.at, root, heads, rows, replaceable_rows, sums, older_answers };
        for (number, line) in (2..).zip(lines) {
            statement.parse_line(line).ok_or_else(|| format!("line {number} is not of a seal"))?;
        }
        Ok(statement)
    }

    fn parse_line(&mut self, line: &str) -> Option<()> {
        if let Ok((word, name, number, text)) = serde_json::from_str::<(String, String, u64, String)>(line) {
            let (stream, hash) = (StreamName::parse(&name), parse_hash(&text)?);
            match word.as_str() {
                "stream" => self.heads.push((stream, Head { revision: number, hash })),
                "summed" => self.sums.push((name, RowSum { count: number, hash: text })),
                "older_answers" => self.older_answers.push((stream, number, hash)),
                _ => return None,
            }
            return Some(());
        }
        let (word, kind, key, hash): (String, String, String, String) = serde_json::from_str(line).ok()?;
        let row = (kind, key, parse_hash(&hash)?);
        match word.as_str() {
            "beside" => self.rows.push(row),
            "replaceable" => self.replaceable_rows.push(row),
            _ => return None,
        }
        Some(())
    }

    /// Compares the store with this seal. What was added since is no difference. `contents` is the store's current
    /// content.
    pub async fn compare(
        &self,
        journal: &dyn Journal,
        nouns: &StreamKinds,
        contents: &StoredContents,
    ) -> Result<SealComparison, StoreError> {
        let mut comparison = SealComparison { findings: self.changed_streams(journal).await?, replaced: Vec::new() };
        self.compare_rows(journal, nouns, &mut comparison).await?;
        self.compare_replaceable_rows(journal, &mut comparison).await?;
        comparison.findings.extend(self.changed_answers(contents));
        Ok(comparison)
    }

    async fn changed_streams(&self, journal: &dyn Journal) -> Result<Vec<VerifyFinding>, StoreError> {
        let (at, mut findings) = (self.at, Vec::new());
        for (stream, sealed) in &self.heads {
            let head = journal.head(stream).await?;
            let found = |kind, what: String| VerifyFinding::new(kind, stream.as_str(), what);
            if head.revision == 0 {
                let what = format!("it had {} records when it was sealed at {at}, and is gone", sealed.revision);
                findings.push(found(FindingKind::StreamMissing, what));
                continue;
            }
            if head.revision < sealed.revision {
                let (was, is) = (sealed.revision, head.revision);
                let what = format!("it was at revision {was} when it was sealed at {at}, and ends at {is} now");
                findings.push(found(FindingKind::StreamCut, what));
                continue;
            }
            let records = journal.read(stream, sealed.revision.saturating_sub(1), 1).await?;
            if records.first().is_none_or(|record| record.head() != *sealed) {
                let revision = sealed.revision;
                let what = format!("revision {revision}, or one before it, is not what was sealed at {at}");
                findings.push(found(FindingKind::StreamRewritten, what));
            }
        }
        Ok(findings)
    }

    /// Compares rows from the newest to the oldest. The oldest rows of some kinds may have been summed up since, also
    /// by a server during this comparison: if a row was summed up when it was looked up, so were all rows before it.
    async fn compare_rows(
        &self,
        journal: &dyn Journal,
        nouns: &StreamKinds,
        comparison: &mut SealComparison,
    ) -> Result<(), StoreError> {
        let mut gone: BTreeMap<&str, Vec<(&str, &Hash)>> =
            self.sums.iter().map(|(kind, _)| (kind.as_str(), Vec::new())).collect();
        let mut findings = Vec::new();
        for (kind, key, sealed) in self.rows.iter().rev() {
            let Some(body) = journal.get(kind, key).await? else {
                gone.entry(kind).or_default().push((key, sealed));
                continue;
            };
            // Rows are summed up oldest first, so a missing row was deleted if an older one still exists.
            let not_summed_up = gone.get_mut(kind.as_str()).map(std::mem::take).unwrap_or_default();
            findings.extend(not_summed_up.iter().map(|(key, _)| self.row_finding(kind, key, "is gone")));
            if part_digest(&body) != *sealed {
                findings.push(self.row_finding(kind, key, "was changed"));
            }
        }
        for (kind, mut rows) in gone {
            rows.reverse();
            let sealed_sum =
                self.sums.iter().find(|(of, _)| of == kind).map(|(_, sum)| sum.clone()).unwrap_or_default();
            let sum = read_sum(journal, nouns, kind).await?.unwrap_or_default();
            if !sealed_sum.can_become(&sum, rows.iter().map(|(_, digest)| *digest)) {
                if rows.is_empty() {
                    let (was, is) = (sealed_sum.count, sum.count);
                    let what =
                        format!("{was} rows were summed up when it was sealed at {}, and {is} others are now", self.at);
                    findings.push(VerifyFinding::new(FindingKind::SealedRowDiffers, kind, what));
                }
                findings.extend(rows.iter().map(|(key, _)| self.row_finding(kind, key, "is gone")));
            } else if !rows.is_empty() {
                let count = rows.len();
                comparison.replaced.push(format!("{kind}: the oldest {count} rows were summed up after it was sealed"));
            }
        }
        comparison.findings.append(&mut findings);
        Ok(())
    }

    /// A row with a time after the seal may have been replaced legitimately, so it is reported but is no finding. Rows
    /// have whole seconds: one from the second of the seal is a finding, since a false finding is better than a missed
    /// one.
    async fn compare_replaceable_rows(
        &self,
        journal: &dyn Journal,
        comparison: &mut SealComparison,
    ) -> Result<(), StoreError> {
        for (kind, key, sealed) in &self.replaceable_rows {
            let Some(body) = journal.get(kind, key).await? else {
                comparison.findings.push(self.row_finding(kind, key, "is gone"));
                continue;
            };
            if part_digest(&body) == *sealed {
                continue;
            }
            let written: Option<WrittenAt> = serde_json::from_str(&body).ok();
            match written.filter(|written| written.at.as_second() > self.at.as_second()) {
                Some(WrittenAt { at }) => {
                    comparison.replaced.push(format!("{kind} {key} was replaced at {at}, after it was sealed: {body}"));
                }
                None => comparison.findings.push(self.row_finding(kind, key, "was changed")),
            }
        }
        Ok(())
    }

    fn row_finding(&self, kind: &str, key: &str, what: &str) -> VerifyFinding {
        let what = format!("it {what} since it was sealed at {}", self.at);
        VerifyFinding::new(FindingKind::SealedRowDiffers, format!("{kind} {key}"), what)
    }

    /// Answers of records from before answer digests never change, and no such record is written any more.
    fn changed_answers(&self, contents: &StoredContents) -> Vec<VerifyFinding> {
        let now: BTreeMap<&str, (u64, &Hash)> =
            contents.older_answers.iter().map(|(stream, count, hash)| (stream.as_str(), (*count, hash))).collect();
        let is_other = |(stream, count, hash): &&(StreamName, u64, Hash)| {
            now.get(stream.as_str()).is_none_or(|now| *now != (*count, hash))
        };
        let finding = |(stream, ..): &(StreamName, u64, Hash)| {
            let what = format!("answers under its keys are not those that were sealed at {}", self.at);
            VerifyFinding::new(FindingKind::SealedAnswersDiffer, stream.as_str(), what)
        };
        self.older_answers.iter().filter(is_other).map(finding).collect()
    }
}

pub(super) fn parse_hash(text: &str) -> Option<Hash> {
    let digits = text.as_bytes();
    if digits.len() != 64 || !digits.iter().all(|digit| digit.is_ascii_digit() || (b'a'..=b'f').contains(digit)) {
        return None;
    }
    let mut hash = Hash::default();
    for (byte, pair) in hash.iter_mut().zip(0..) {
        *byte = u8::from_str_radix(&text[2 * pair..2 * pair + 2], 16).ok()?;
    }
    Some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement() -> SealStatement {
        let head = Head { revision: 7, hash: [171; 32] };
        SealStatement {
            at: Timestamp::new(1_700_000_000, 0).unwrap(),
            root: [1; 32],
            heads: vec![(StreamName::new("run", "one \"two\"\n"), head)],
            rows: vec![("artifact".to_owned(), "key".to_owned(), [2; 32])],
            replaceable_rows: vec![("submitted".to_owned(), "proof".to_owned(), [3; 32])],
            sums: vec![("attempt/one".to_owned(), RowSum { count: 4, hash: hex(&[5; 32]) })],
            older_answers: vec![(StreamName::new("run", "one"), 9, [4; 32])],
        }
    }

    #[test]
    fn a_statement_reads_back_and_is_always_the_same_text() {
        let text = statement().text();
        assert_eq!(SealStatement::parse(&text), Ok(statement()));
        assert_eq!(SealStatement::parse(&text).unwrap().text(), text);
        assert_eq!(text.lines().count(), 6, "{text}");
        assert!(text.starts_with(r#"{"seal":3,"at":"2023-11-14T22:13:20Z","root":"0101"#), "{text}");
    }

    #[test]
    fn a_seal_of_the_first_version_is_read() {
        let text = statement().text().replace(r#""seal":3"#, r#""seal":1"#);
        let first: String = text.split_inclusive('\n').take(3).collect();
        let (replaceable_rows, sums, older_answers) = Default::default();
        let wanted = SealStatement { replaceable_rows, sums, older_answers, ..statement() };
        assert_eq!(SealStatement::parse(&first), Ok(wanted));
    }

    #[test]
    fn what_is_no_seal_is_refused_with_its_line() {
        let text = statement().text();
        for (wrong, why) in [
            (String::new(), "line 1 is no seal"),
            (text.replace(r#""seal":3"#, r#""seal":4"#), "version 4"),
            (text.replace("\"stream\"", "\"river\""), "line 2 is not of a seal"),
            (format!("{text}[]\n"), "line 7 is not of a seal"),
            (text.replace("abab", "xyxy"), "line 2"),
        ] {
            let refused = SealStatement::parse(&wrong).unwrap_err();
            assert!(refused.contains(why), "{refused}");
        }
    }
}
