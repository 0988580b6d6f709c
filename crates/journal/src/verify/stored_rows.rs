//! Verifies side rows outside the streams: content, refused attempts, submitted processes, tokens of older stores.
//! Content is checked by its address. No row is changed.

use super::super::record::part_digest;
use super::super::seal::hash_of;
use super::super::{Hash, Journal, RowSum, StoreError, StreamKinds, StreamName};
use super::root::Root;
use super::{FindingKind, PAGE, VerifyFinding};

/// How far before the revision that it names the record may lie that an attempt was made on: others may have written
/// between the two.
const EARLIER_MAX: u64 = 64;

/// What verifying does with the rows of a kind, or of all kinds that begin so.
#[derive(Clone, Copy)]
pub enum SideRowCheck {
    /// The rows are no part of what happened. They are not in the root either.
    NotCovered,
    /// Rows that are never replaced.
    Row(CheckRow),
    /// Rows that may be. Each says when it was written in a field `at`, so that a seal knows those that came since.
    ReplaceableRow(CheckRow),
    /// Sums of rows whose kinds begin so and end with the key of the sum. The oldest rows, by key, are summed up first.
    SumsOf(&'static str),
}

/// Given kind, key and body of a row.
pub type CheckRow = fn(&str, &str, &str) -> RowCheck;

/// What can be said of a row.
pub enum RowCheck {
    Sound,
    Wrong(FindingKind, String),
    /// It is sound if another row is there, of this kind and under this key.
    Needs(&'static str, String),
    /// It is sound if a record of this revision, or one shortly before it, has a hash that it was made with.
    MadeOn {
        stream: StreamName,
        revision: u64,
        is_made_with: Box<dyn Fn(&Hash) -> bool + Send + Sync>,
    },
}

/// The rows that were looked at; those that a seal holds with kind, key, and SHA-256 of the body.
#[derive(Default)]
pub(super) struct StoredRows {
    pub(super) count: u64,
    pub(super) unchanging: Vec<(String, String, Hash)>,
    pub(super) replaceable: Vec<(String, String, Hash)>,
    /// By the kind of the rows that were summed up.
    pub(super) sums: Vec<(String, RowSum)>,
}

/// Goes through all rows. Answers what is wrong with them, and what there is.
pub(super) async fn check(
    journal: &dyn Journal,
    nouns: &StreamKinds,
    root: &mut Root,
) -> Result<(Vec<VerifyFinding>, StoredRows), StoreError> {
    let (mut findings, mut after) = (Vec::new(), String::new());
    let mut stored = StoredRows::default();
    loop {
        let kinds = journal.kinds(&after, PAGE).await?;
        let Some(last) = kinds.last() else { return Ok((findings, stored)) };
        after.clone_from(last);
        for kind in &kinds {
            // Before the rows: one that is summed up meanwhile must not be in both.
            stored.sums.extend(read_sum(journal, nouns, kind).await?.map(|sum| (kind.clone(), sum)));
            let (check, mut sealed) = match nouns.side_row_check(kind) {
                Some(SideRowCheck::NotCovered) => continue,
                Some(SideRowCheck::Row(check)) => (Some(check), Some(&mut stored.unchanging)),
                Some(SideRowCheck::ReplaceableRow(check)) => (Some(check), Some(&mut stored.replaceable)),
                Some(SideRowCheck::SumsOf(_)) => (Some(check_sum as CheckRow), None),
                // Of a kind that is not known, all that can be said is that it is there.
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
                    root.beside(kind, key, body);
                    if let Some(check) = check {
                        findings.extend(row(journal, (kind, key), check(kind, key, body)).await?);
                    }
                }
            }
        }
    }
}

/// The sum of those rows of a kind that are no longer kept one by one, if there are such.
pub(crate) async fn read_sum(
    journal: &dyn Journal,
    nouns: &StreamKinds,
    kind: &str,
) -> Result<Option<RowSum>, StoreError> {
    let Some((sum_kind, key)) = nouns.sum_of(kind) else { return Ok(None) };
    let body = journal.get(sum_kind, key).await?;
    Ok(body.and_then(|body| serde_json::from_str(&body).ok()))
}

fn check_sum(_kind: &str, _key: &str, body: &str) -> RowCheck {
    match serde_json::from_str::<RowSum>(body) {
        Ok(sum) if hash_of(&sum.hash).is_some() => RowCheck::Sound,
        Ok(_) => RowCheck::Wrong(FindingKind::ContentDiffers, "its hash is none".to_owned()),
        Err(error) => RowCheck::Wrong(FindingKind::ContentDiffers, format!("it cannot be read: {error}")),
    }
}

async fn row(
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
