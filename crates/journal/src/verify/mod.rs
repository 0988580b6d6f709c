//! Verifies the whole store: hash chains of the records, and whatever is derived from them.
//!
//! Nothing is repaired here; `rebuild.rs` rebuilds what is derived from the records.

mod finding;
mod rebuild;
mod root;
mod search_rows;
mod side_rows;
mod stream;

use super::{Hash, Head, Journal, RowSum, StoreError, StreamKinds, StreamName};
pub use finding::{FindingKind, VerifyFinding};
pub use rebuild::{rebuild, rebuild_stream, rebuild_with_progress};
use root::RootHash;
pub(super) use side_rows::read_sum;
pub use side_rows::{CheckRow, RowCheck, SideRowCheck};

/// Names and rows read at once.
const PAGE: usize = 500;
/// Stream names read at once. Each such query scans whole tables, so the page is large.
const STREAM_NAMES_PAGE: usize = 20_000;
/// Findings that are listed; more are counted.
const FINDINGS_MAX: usize = 1_000;

/// Counts of what was verified, and the root hash.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VerifyReport {
    pub streams: u64,
    pub records: u64,
    /// Rows of read models.
    pub documents: u64,
    /// Answers under idempotency keys.
    pub answers: u64,
    /// Answers of records from before answer digests: only the root hash covers them.
    pub older_answers: u64,
    /// Streams that were written to during every attempt: only their records were verified.
    pub busy: u64,
    /// Side rows: content, attempts, processes.
    pub side_rows: u64,
    /// A hash of all of these, the same on every store. A hash chain cannot show that its end was cut off; comparing
    /// the root with an earlier one can.
    pub root: Hash,
}

/// The result of a verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VerifyVerdict {
    Sound(VerifyReport),
    Unsound {
        report: VerifyReport,
        /// Ordered by stream name, then those of side rows and of the search index.
        findings: Vec<VerifyFinding>,
        /// The number of further findings.
        unlisted: usize,
    },
}

/// The contents of the store that a seal lists.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoredContents {
    pub heads: Vec<(StreamName, Head)>,
    /// Side rows that never change: kind, key, and SHA-256 of the body.
    pub rows: Vec<(String, String, Hash)>,
    /// Side rows that may be replaced: kind, key, and SHA-256 of the body.
    pub replaceable_rows: Vec<(String, String, Hash)>,
    /// Sums of pruned side rows, by the kind of the rows.
    pub sums: Vec<(String, RowSum)>,
    /// For streams with records from before answer digests: the number of their answers, and a hash of them.
    pub older_answers: Vec<(StreamName, u64, Hash)>,
}

/// Verifies every stream and all side rows.
pub async fn verify(journal: &dyn Journal, nouns: &StreamKinds) -> Result<VerifyVerdict, StoreError> {
    verify_with_progress(journal, nouns, |_, _| {}).await
}

/// Like [`verify`]. `tell` is called after every stream with the number of streams and records so far.
pub async fn verify_with_progress(
    journal: &dyn Journal,
    nouns: &StreamKinds,
    tell: impl Fn(u64, u64),
) -> Result<VerifyVerdict, StoreError> {
    Ok(verify_with_contents(journal, nouns, tell).await?.0)
}

/// Like [`verify_with_progress`], and also returns the contents for a seal.
pub async fn verify_with_contents(
    journal: &dyn Journal,
    nouns: &StreamKinds,
    tell: impl Fn(u64, u64),
) -> Result<(VerifyVerdict, StoredContents), StoreError> {
    let (mut report, mut root, mut contents) =
        (VerifyReport::default(), RootHash::default(), StoredContents::default());
    let (mut findings, mut unlisted) = (Vec::new(), 0);
    let mut note = |found: Vec<VerifyFinding>| {
        for finding in found {
            if findings.len() < FINDINGS_MAX {
                findings.push(finding);
            } else {
                unlisted += 1;
            }
        }
    };
    let mut after = String::new();
    loop {
        let names = journal.stream_names(&after, STREAM_NAMES_PAGE).await?;
        for name in &names {
            let checked = stream::check(journal, nouns, name).await?;
            root.add_stream(name, &checked);
            if checked.head.revision > 0 {
                report.streams += 1;
                contents.heads.push((name.clone(), checked.head));
            }
            report.records += checked.records;
            report.documents += checked.documents.rows;
            report.answers += checked.answers.rows;
            if let Some(older) = &checked.older_answers {
                report.older_answers += older.rows;
                contents.older_answers.push((name.clone(), older.rows, older.hash()));
            }
            report.busy += u64::from(checked.is_busy);
            tell(report.streams, report.records);
            note(checked.findings);
        }
        match names.last() {
            Some(last) => last.as_str().clone_into(&mut after),
            None => break,
        }
    }
    let (found, rows) = side_rows::check(journal, nouns, &mut root).await?;
    note(found);
    note(search_rows::check_index(journal).await?);
    (report.side_rows, contents.rows, contents.replaceable_rows) = (rows.count, rows.unchanging, rows.replaceable);
    contents.sums = rows.sums;
    report.root = root.finish();
    let verdict = if findings.is_empty() {
        VerifyVerdict::Sound(report)
    } else {
        VerifyVerdict::Unsound { report, findings, unlisted }
    };
    Ok((verdict, contents))
}
