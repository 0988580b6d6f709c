//! Verifies side rows outside the streams: content, refused attempts, submitted processes, tokens of older stores.
//! Content is checked by its address. No row is changed.

use super::super::seal::parse_hash;
use super::super::stored_values::part_digest;
use super::super::{Hash, Journal, RowSum, StoreError, StreamKinds, StreamName};
use super::root::RootHash;
use super::{FindingKind, PAGE, VerifyFinding};

/// How many revisions before the one that it names an attempt may have been made on: others may have written in
/// between.
const EARLIER_MAX: u64 = 64;

/// How the rows of a kind, or of all kinds with a prefix, are verified.
#[derive(Clone, Copy)]
pub enum SideRowCheck {
    /// The rows are no part of the history. They are neither verified nor in the root hash.
    NotCovered,
    /// Rows that are never replaced.
    Row(CheckRow),
    /// Rows that are never replaced, and that an event may remove. A seal does not miss a removed one; one that is still
    /// needed is missed by the stream that refers to it.
    RemovableRow(CheckRow),
    /// Rows that may be replaced. Each has its time of writing in a field `at`, so that a seal can tell which were
    /// replaced since.
    ReplaceableRow(CheckRow),
    /// Sums of pruned rows, whose kind is this prefix followed by the key of the sum. The oldest rows, by key, are
    /// summed up first.
    SumsOf(&'static str),
}

/// Checks a row, given its kind, key and body.
pub type CheckRow = fn(&str, &str, &str) -> RowCheck;

/// The result of checking a row by itself.
pub enum RowCheck {
    Sound,
    Wrong(FindingKind, String),
    /// The row is sound if another row with this kind and key exists.
    Needs(&'static str, String),
    /// The row is sound if the record at this revision, or one shortly before it, has a hash that `is_made_with`
    /// accepts.
    MadeOn {
        stream: StreamName,
        revision: u64,
        is_made_with: Box<dyn Fn(&Hash) -> bool + Send + Sync>,
    },
}

/// The verified rows. Those that a seal lists have kind, key, and SHA-256 of the body.
#[derive(Default)]
pub(super) struct CheckedSideRows {
    pub(super) count: u64,
    pub(super) unchanging: Vec<(String, String, Hash)>,
    pub(super) replaceable: Vec<(String, String, Hash)>,
    /// Sums, by the kind of the rows that were summed up.
    pub(super) sums: Vec<(String, RowSum)>,
}

/// Verifies all side rows. Returns the findings and the rows.
pub(super) async fn check(
    journal: &dyn Journal,
    nouns: &StreamKinds,
    root: &mut RootHash,
) -> Result<(Vec<VerifyFinding>, CheckedSideRows), StoreError> {
    let (mut findings, mut after) = (Vec::new(), String::new());
    let mut stored = CheckedSideRows::default();
    loop {
        let kinds = journal.kinds(&after, PAGE).await?;
        let Some(last) = kinds.last() else { return Ok((findings, stored)) };
        after.clone_from(last);
        for kind in &kinds {
            // Read the sum before the rows: a row that is summed up meanwhile must not be counted in both.
            stored.sums.extend(read_sum(journal, nouns, kind).await?.map(|sum| (kind.clone(), sum)));
            let (check, mut sealed) = match nouns.side_row_check(kind) {
                Some(SideRowCheck::NotCovered) => continue,
                Some(SideRowCheck::Row(check)) => (Some(check), Some(&mut stored.unchanging)),
                Some(SideRowCheck::ReplaceableRow(check)) => (Some(check), Some(&mut stored.replaceable)),
                Some(SideRowCheck::RemovableRow(check)) => (Some(check), None),
                Some(SideRowCheck::SumsOf(_)) => (Some(check_row_sum as CheckRow), None),
                // Rows of an unknown kind are only counted and hashed.
                None => (None, None),
            };
            let mut key_after = String::new();
            loop {
                let rows = journal.list(kind, &key_after, PAGE).await?;
                let Some((last, _)) = rows.last() else { break };
                key_after.clone_from(last);
                for (key, body) in &rows {
                    stored.count += 1;
                    if let Some(sealed) = &mut sealed {
                        sealed.push((kind.clone(), key.clone(), part_digest(body)));
                    }
                    root.add_side_row(kind, key, body);
                    if let Some(check) = check {
                        findings.extend(resolve_row_check(journal, (kind, key), check(kind, key, body)).await?);
                    }
                }
            }
        }
    }
}

/// The sum of the pruned rows of a kind, if there is one.
pub(crate) async fn read_sum(
    journal: &dyn Journal,
    nouns: &StreamKinds,
    kind: &str,
) -> Result<Option<RowSum>, StoreError> {
    let Some((sum_kind, key)) = nouns.sum_row_key(kind) else { return Ok(None) };
    let body = journal.get(sum_kind, key).await?;
    Ok(body.and_then(|body| serde_json::from_str(&body).ok()))
}

fn check_row_sum(_kind: &str, _key: &str, body: &str) -> RowCheck {
    match serde_json::from_str::<RowSum>(body) {
        Ok(sum) if parse_hash(&sum.hash).is_some() => RowCheck::Sound,
        Ok(_) => RowCheck::Wrong(FindingKind::ContentDiffers, "its hash is none".to_owned()),
        Err(error) => RowCheck::Wrong(FindingKind::ContentDiffers, format!("it cannot be read: {error}")),
    }
}

async fn resolve_row_check(
    journal: &dyn Journal,
    (kind, key): (&str, &str),
    check: RowCheck,
) -> Result<Option<VerifyFinding>, StoreError> {
    let found = |finding, what: String| Ok(Some(VerifyFinding::new(finding, format!("{kind} {key}"), what)));
    match check {
        RowCheck::Sound => Ok(None),
        RowCheck::Wrong(finding, what) => found(finding, what),
        RowCheck::Needs(of, needed) => match journal.get(of, &needed).await? {
            Some(_) => Ok(None),
            None => found(FindingKind::ContentMissing, format!("{of} {needed} is not there")),
        },
        RowCheck::MadeOn { stream, revision, is_made_with } => {
            let before = revision.saturating_sub(EARLIER_MAX);
            let records = journal.read(&stream, before, usize::try_from(revision - before).unwrap_or_default()).await?;
            if records.last().is_none_or(|record| record.revision != revision) {
                return found(FindingKind::AttemptOrphaned, format!("{stream} has no revision {revision}"));
            }
            if records.iter().rev().any(|record| is_made_with(&record.hash)) {
                return Ok(None);
            }
            found(FindingKind::AttemptDiffers, "the attempt is not as it was kept".to_owned())
        }
    }
}
