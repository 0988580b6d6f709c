//! A seal: where every stream ended at a moment, and what lay beside the journal. Kept out of reach, it shows what a chain
//! cannot: that an end was cut off, or that a chain was made anew from some record on.
//!
//! This is the statement and the comparison; whoever seals signs the bytes.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::verify::{Contents, Finding, FindingKind, Report};
use super::{Hash, Head, Journal, StoreError, StreamName, hex};

/// The version of the statement's shape.
const VERSION: u32 = 1;

/// What is sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealStatement {
    pub at: Timestamp,
    pub root: Hash,
    pub heads: Vec<(StreamName, Head)>,
    /// Rows beside the journal that never change: kind, key, and SHA-256 of the body.
    pub rows: Vec<(String, String, Hash)>,
}

#[derive(Serialize, Deserialize)]
struct FirstLine {
    seal: u32,
    at: Timestamp,
    root: String,
}

impl SealStatement {
    pub fn new(at: Timestamp, report: &Report, contents: Contents) -> Self {
        let Contents { heads, rows } = contents;
        Self { at, root: report.root, heads, rows }
    }

    /// The statement as text, a line of JSON for each thing. The same statement is always the same text.
    pub fn text(&self) -> String {
        let first = json!({"seal": VERSION, "at": self.at, "root": hex(&self.root)});
        let heads =
            self.heads.iter().map(|(stream, head)| json!(["stream", stream.as_str(), head.revision, hex(&head.hash)]));
        let rows = self.rows.iter().map(|(kind, key, hash)| json!(["beside", kind, key, hex(hash)]));
        let lines = [first].into_iter().chain(heads).chain(rows);
        lines.fold(String::new(), |text, line| text + &line.to_string() + "\n")
    }

    /// Reads a text, or says what is wrong with it.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let first: FirstLine = serde_json::from_str(first).map_err(|error| format!("line 1 is no seal: {error}"))?;
        if first.seal != VERSION {
            return Err(format!("it is a seal of version {}, this program knows {VERSION}", first.seal));
        }
        let root = hash_of(&first.root).ok_or("the root is no hash")?;
        let mut statement = Self { at: first.at, root, heads: Vec::new(), rows: Vec::new() };
        for (number, line) in (2..).zip(lines) {
            statement.take(line).ok_or_else(|| format!("line {number} is not of a seal"))?;
        }
        Ok(statement)
    }

    fn take(&mut self, line: &str) -> Option<()> {
        if let Ok((word, stream, revision, hash)) = serde_json::from_str::<(String, String, u64, String)>(line) {
            let head = Head { revision, hash: hash_of(&hash)? };
            return (word == "stream").then(|| self.heads.push((StreamName::parse(&stream), head)));
        }
        let (word, kind, key, hash): (String, String, String, String) = serde_json::from_str(line).ok()?;
        let hash = hash_of(&hash)?;
        (word == "beside").then(|| self.rows.push((kind, key, hash)))
    }

    /// What is not as it was when this was sealed. What came since is no difference.
    pub async fn differences(&self, journal: &dyn Journal) -> Result<Vec<Finding>, StoreError> {
        let (at, mut findings) = (self.at, Vec::new());
        for (stream, sealed) in &self.heads {
            let head = journal.head(stream).await?;
            let found = |kind, what: String| Finding::new(kind, stream.as_str(), what);
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
        for (kind, key, sealed) in &self.rows {
            let what = match journal.get(kind, key).await? {
                None => "is gone",
                Some(body) if super::record::part_digest(&body) != *sealed => "was changed",
                Some(_) => continue,
            };
            let what = format!("it {what} since it was sealed at {at}");
            findings.push(Finding::new(FindingKind::SealedRowDiffers, format!("{kind} {key}"), what));
        }
        Ok(findings)
    }
}

fn hash_of(text: &str) -> Option<Hash> {
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
        }
    }

    #[test]
    fn a_statement_reads_back_and_is_always_the_same_text() {
        let text = statement().text();
        assert_eq!(SealStatement::read(&text), Ok(statement()));
        assert_eq!(SealStatement::read(&text).unwrap().text(), text);
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(text.starts_with(r#"{"seal":1,"at":"2023-11-14T22:13:20Z","root":"0101"#), "{text}");
    }

    #[test]
    fn what_is_no_seal_is_refused_with_its_line() {
        let text = statement().text();
        for (wrong, why) in [
            (String::new(), "line 1 is no seal"),
            (text.replace(r#""seal":1"#, r#""seal":2"#), "version 2"),
            (text.replace("\"stream\"", "\"river\""), "line 2 is not of a seal"),
            (format!("{text}[]\n"), "line 4 is not of a seal"),
            (text.replace("abab", "xyxy"), "line 2"),
        ] {
            let refused = SealStatement::read(&wrong).unwrap_err();
            assert!(refused.contains(why), "{refused}");
        }
    }
}
