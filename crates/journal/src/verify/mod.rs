//! Verifies the whole store: hash chains of the records, and whatever is derived from them.
//!
//! Nothing is repaired here; `rebuild.rs` rebuilds what is derived from the records.

mod finding;
mod rebuild;
mod root;
mod stored_rows;
mod stream;

use super::{Hash, Head, Journal, RowSum, StoreError, StreamKinds, StreamName};
pub use finding::{FindingKind, VerifyFinding};
pub use rebuild::{rebuild, rebuild_with_progress};
use root::Root;
pub(super) use stored_rows::read_sum;
pub use stored_rows::{CheckRow, RowCheck, SideRowCheck};

/// Names and rows read at once.
const PAGE: usize = 500;
/// Streams whose names are read at once. Finding names goes through whole tables, so it should not be done often.
const NAMES: usize = 20_000;
/// Findings that are listed; more are counted.
const FINDINGS_MAX: usize = 1_000;

/// What was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VerifyReport {
    pub streams: u64,
    pub records: u64,
    /// Rows of read models.
    pub documents: u64,
    /// Answers under idempotency keys.
    pub answers: u64,
    /// Those of records that do not note them: only the root covers them.
    pub older_answers: u64,
    /// Streams that were written to all the while: only their records were compared.
    pub busy: u64,
    /// Rows beside the journal: content, attempts, processes.
    pub beside: u64,
    /// A hash of all of these, the same on every store. A chain cannot show that its end was cut off; comparing this
    /// with an earlier note can.
    pub root: Hash,
}

/// What verifying came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VerifyVerdict {
    Sound(VerifyReport),
    Unsound {
        report: VerifyReport,
        /// In the order of the streams' names, then of what lies beside the journal.
        findings: Vec<VerifyFinding>,
        /// How many more there are.
        unlisted: usize,
    },
}

/// What there is, for a seal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoredContents {
    /// Where streams end.
    pub heads: Vec<(StreamName, Head)>,
    /// Rows beside the journal that never change: kind, key, and SHA-256 of the body.
    pub rows: Vec<(String, String, Hash)>,
    /// The same of rows that may be replaced.
    pub replaceable_rows: Vec<(String, String, Hash)>,
    /// Sums of rows that are no longer kept one by one, by the kind of these rows.
    pub sums: Vec<(String, RowSum)>,
    /// Of streams with records that do not note their answers: how many answers those have, and a hash of them.
    pub older_answers: Vec<(StreamName, u64, Hash)>,
}

/// Checks every stream, and what lies beside the journal.
pub async fn verify(journal: &dyn Journal, nouns: &StreamKinds) -> Result<VerifyVerdict, StoreError> {
    verify_with_progress(journal, nouns, |_, _| {}).await
}

/// As [`verify`]; `tell` hears after every stream how many streams and records were looked at.
pub async fn verify_with_progress(
    journal: &dyn Journal,
    nouns: &StreamKinds,
    tell: impl Fn(u64, u64),
) -> Result<VerifyVerdict, StoreError> {
    Ok(verify_with_contents(journal, nouns, tell).await?.0)
}

/// As [`verify_with_progress`]; answers also what was looked at.
pub async fn verify_with_contents(
    journal: &dyn Journal,
    nouns: &StreamKinds,
    tell: impl Fn(u64, u64),
) -> Result<(VerifyVerdict, StoredContents), StoreError> {
    let (mut report, mut root, mut contents) = (VerifyReport::default(), Root::default(), StoredContents::default());
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
        let names = journal.stream_names(&after, NAMES).await?;
        for name in &names {
            let checked = stream::check(journal, nouns, name).await?;
            root.stream(name, &checked);
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
    let (found, rows) = stored_rows::check(journal, nouns, &mut root).await?;
    note(found);
    (report.beside, contents.rows, contents.replaceable_rows) = (rows.count, rows.unchanging, rows.replaceable);
    contents.sums = rows.sums;
    report.root = root.finish();
    let verdict = if findings.is_empty() {
        VerifyVerdict::Sound(report)
    } else {
        VerifyVerdict::Unsound { report, findings, unlisted }
    };
    Ok((verdict, contents))
}
