//! Verifies one stream: its records, head, snapshot, rows in read models, and answers under idempotency keys.

use std::collections::{HashMap, HashSet};

use tokio::sync::oneshot;

use super::super::{
    AnswerDigest, Document, Hash, Head, Journal, Record, StoreError, StoredSnapshot, StreamFold, StreamKinds,
    StreamName,
};
use super::root::RowsDigest;
use super::{FindingKind, PAGE, VerifyFinding, search_rows};

/// How often a stream is verified if it is written to meanwhile.
const ATTEMPTS: usize = 6;

/// The contents of a stream, and the findings.
#[derive(Default)]
pub(super) struct StreamCheckResult {
    pub(super) head: Head,
    pub(super) records: u64,
    pub(super) documents: RowsDigest,
    pub(super) answers: RowsDigest,
    /// Answers of records from before answer digests; `None` if there is no such record.
    pub(super) older_answers: Option<RowsDigest>,
    pub(super) findings: Vec<VerifyFinding>,
    /// The stream was written to during every attempt, so only findings about its records are reported.
    pub(super) is_busy: bool,
}

/// Verifies a stream against its head. If it was written to meanwhile, it is verified again, since a finding may be
/// false.
pub(super) async fn check(
    journal: &dyn Journal,
    nouns: &StreamKinds,
    stream: &StreamName,
) -> Result<StreamCheckResult, StoreError> {
    let mut checked = StreamCheckResult::default();
    for _ in 0..ATTEMPTS {
        let mark;
        (checked, mark) = check_once(journal, nouns, stream).await?;
        if checked.findings.is_empty() {
            return Ok(checked);
        }
        let mark_now = journal.snapshot(stream).await?.map(|snapshot| snapshot.mark);
        if journal.head(stream).await? == checked.head && mark_now == mark {
            return Ok(checked);
        }
    }
    // Stored records never change, so findings about them are true despite concurrent writes.
    checked.findings.retain(|finding| finding.kind.is_of_records());
    checked.is_busy = true;
    Ok(checked)
}

async fn check_once(
    journal: &dyn Journal,
    nouns: &StreamKinds,
    stream: &StreamName,
) -> Result<(StreamCheckResult, Option<i64>), StoreError> {
    let head = journal.head(stream).await?;
    let snapshot = journal.snapshot(stream).await?;
    let mark = snapshot.as_ref().map(|snapshot| snapshot.mark);
    let mut walk = StreamCheck {
        journal,
        stream,
        checked: StreamCheckResult { head, ..StreamCheckResult::default() },
        fold: nouns.begin_fold(stream),
        is_unfoldable: false,
        snapshot: match snapshot {
            Some(snapshot) => Some(read_snapshot_parts(journal, stream, snapshot).await?),
            None => None,
        },
        is_snapshot_compared: false,
        noted_answers: HashMap::new(),
        older: HashSet::new(),
    };
    walk.check_records().await?;
    walk.check_snapshot();
    walk.check_content().await?;
    walk.check_answers().await?;
    walk.check_documents().await?;
    Ok((walk.checked, mark))
}

/// A snapshot and the text of its parts, up to the first that is missing.
async fn read_snapshot_parts(
    journal: &dyn Journal,
    stream: &StreamName,
    mut snapshot: StoredSnapshot,
) -> Result<(StoredSnapshot, Vec<String>), StoreError> {
    let mut parts = vec![std::mem::take(&mut snapshot.first)];
    for number in 1..snapshot.parts {
        let (found, part) = oneshot::channel();
        let read = Box::new(move |text: &str| {
            // The receiver waits below.
            let _ = found.send(text.to_owned());
        });
        journal.snapshot_part(stream, &snapshot, number, read).await?;
        let Ok(part) = part.await else { break };
        parts.push(part);
    }
    Ok((snapshot, parts))
}

struct StreamCheck<'a> {
    journal: &'a dyn Journal,
    stream: &'a StreamName,
    checked: StreamCheckResult,
    /// `None` if the kind is unknown, and once a record cannot be replayed.
    fold: Option<Box<dyn StreamFold>>,
    is_unfoldable: bool,
    snapshot: Option<(StoredSnapshot, Vec<String>)>,
    is_snapshot_compared: bool,
    /// The answer digests in records, by revision.
    noted_answers: HashMap<u64, Hash>,
    /// Revisions of records from before answer digests.
    older: HashSet<u64>,
}

impl StreamCheck<'_> {
    fn add_finding(&mut self, kind: FindingKind, what: impl Into<String>) {
        self.checked.findings.push(VerifyFinding::new(kind, self.stream.as_str(), what));
    }

    fn add_finding_at(&mut self, kind: FindingKind, revision: u64, what: &str) {
        let place = format!("{} at revision {revision}", self.stream);
        self.checked.findings.push(VerifyFinding::new(kind, place, what));
    }

    /// Checks every record up to the head against the one before, and that there are no records after the head.
    async fn check_records(&mut self) -> Result<(), StoreError> {
        let head = self.checked.head;
        let mut at = Head::default();
        while at.revision < head.revision {
            let page = self.journal.read(self.stream, at.revision, PAGE).await?;
            if page.first().is_none_or(|record| record.revision > head.revision) {
                let what = format!("the head is at revision {}, the records end at {}", head.revision, at.revision);
                self.add_finding(FindingKind::HeadWithoutRecords, what);
                break;
            }
            for record in page.into_iter().take_while(|record| record.revision <= head.revision) {
                self.check_record(&record, at);
                at = record.head();
                self.compare_snapshot(at);
            }
        }
        if at.revision == head.revision && at.hash != head.hash {
            self.add_finding(FindingKind::HeadDiffers, "the head has another hash than the last record");
        }
        let behind = self.journal.read(self.stream, at.revision.max(head.revision), 1).await?;
        if let Some(record) = behind.first() {
            let revision = record.revision;
            if head.revision == 0 {
                self.add_finding(FindingKind::HeadMissing, "there are records and no head");
            } else {
                self.add_finding_at(FindingKind::RecordHidden, revision, "the head is behind the records");
            }
        }
        Ok(())
    }

    fn check_record(&mut self, record: &Record, before: Head) {
        let revision = record.revision;
        self.checked.records += 1;
        if revision > before.revision + 1 {
            let what = format!("revision {} is missing", before.revision + 1);
            self.add_finding_at(FindingKind::RecordMissing, revision, &what);
        } else if record.previous != before.hash {
            self.add_finding_at(FindingKind::RecordUnchained, revision, "the record does not follow the one before");
        }
        if record.hash != record.computed_hash() {
            self.add_finding_at(FindingKind::RecordChanged, revision, "the record was changed");
        }
        match record.answer {
            AnswerDigest::NotNoted => {
                self.older.insert(revision);
                self.checked.older_answers.get_or_insert_default();
            }
            AnswerDigest::NoAnswer => {}
            AnswerDigest::Of(digest) => drop(self.noted_answers.insert(revision, digest)),
        }
        if let Some(Err(error)) = self.fold.as_mut().map(|fold| fold.apply_record(record)) {
            let what = format!("the events cannot be read: {error}");
            self.add_finding_at(FindingKind::RecordUnreadable, revision, &what);
            (self.fold, self.is_unfoldable) = (None, true);
        }
    }

    /// Compares the snapshot with the state, once the replay has reached its revision.
    fn compare_snapshot(&mut self, at: Head) {
        let Some((snapshot, parts)) =
            self.snapshot.as_ref().filter(|(snapshot, _)| snapshot.head.revision == at.revision)
        else {
            return;
        };
        self.is_snapshot_compared = true;
        let is_right = self.fold.as_ref().is_none_or(|fold| {
            // A snapshot of another version, or without a digest, is never used.
            let is_opened = fold.snapshot_version() == Some(snapshot.version) && snapshot.digest != Hash::default();
            !is_opened || snapshot.head == at && fold.is_equal_to_parts(parts)
        });
        if !is_right {
            self.add_finding_at(
                FindingKind::SnapshotDiffers,
                at.revision,
                "the snapshot is not what the records come to",
            );
        }
    }

    fn check_snapshot(&mut self) {
        let Some((snapshot, _)) = &self.snapshot else { return };
        let revision = snapshot.head.revision;
        if self.checked.head.revision == 0 {
            self.add_finding(FindingKind::SnapshotOrphaned, "there is a snapshot of a stream that never began");
        } else if self.fold.as_ref().is_some_and(|fold| fold.snapshot_version().is_none()) {
            self.add_finding(
                FindingKind::SnapshotOrphaned,
                "there is a snapshot of a stream that is never opened at one",
            );
        } else if !self.is_snapshot_compared {
            self.add_finding_at(
                FindingKind::SnapshotDiffers,
                revision,
                "the snapshot is of a revision that is not there",
            );
        }
    }

    /// Checks that all side rows exist that the state refers to.
    async fn check_content(&mut self) -> Result<(), StoreError> {
        let needed = self.fold.as_ref().map(|fold| fold.referenced_side_rows()).unwrap_or_default();
        // Bodies may be long, so that only some are read at once.
        for rows in needed.chunk_by(|a, b| a.0 == b.0).flat_map(|of_kind| of_kind.chunks(search_rows::TEXTS_PAGE)) {
            let kind = &*rows[0].0;
            let keys: Vec<String> = rows.iter().map(|(_, key)| key.clone()).collect();
            let found = self.journal.get_many(kind, keys).await?;
            let found: HashSet<&str> = found.iter().map(|(key, _)| key.as_str()).collect();
            for (_, key) in rows.iter().filter(|(_, key)| !found.contains(key.as_str())) {
                self.add_finding(FindingKind::ContentMissing, format!("{kind} {key} is not there"));
            }
        }
        Ok(())
    }

    async fn check_answers(&mut self) -> Result<(), StoreError> {
        let mut after = String::new();
        loop {
            let page = self.journal.answers(self.stream, &after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after.clone_from(&last.key.key);
            for command in &page {
                // The command was appended after the head was read.
                if command.revision > self.checked.head.revision && self.checked.head.revision > 0 {
                    let has_moved = self.journal.head(self.stream).await?.revision >= command.revision;
                    if has_moved {
                        continue;
                    }
                }
                self.checked.answers.add_answer(command);
                let (key, revision) = (&command.key.key, command.revision);
                match self.noted_answers.remove(&revision) {
                    Some(digest) if digest == command.digest() => {}
                    Some(_) => {
                        let what = format!("the answer under {key:?} is not the one that was given");
                        self.add_finding_at(FindingKind::AnswerDiffers, revision, &what);
                    }
                    None if self.older.contains(&revision) => {
                        self.checked.older_answers.get_or_insert_default().add_answer(command);
                    }
                    None => {
                        let what = format!("the answer under {key:?} is of no command");
                        self.add_finding_at(FindingKind::AnswerOrphaned, revision, &what);
                    }
                }
            }
        }
        let mut missing: Vec<u64> = self.noted_answers.keys().copied().collect();
        missing.sort_unstable();
        for revision in missing {
            self.add_finding_at(FindingKind::AnswerMissing, revision, "the answer that was given is not there");
        }
        Ok(())
    }

    /// Compares the stored documents of the stream, and their rows in the search index, with the derived ones. All are
    /// ordered by collection and id.
    async fn check_documents(&mut self) -> Result<(), StoreError> {
        let mut expected = self.fold.take().map(StreamFold::into_documents).unwrap_or_default();
        let search_rows = search_rows::take_rows(self.journal, &mut expected).await?;
        let found = search_rows::compare(self.journal, self.stream, search_rows, self.is_unfoldable).await?;
        let mut expected = expected.into_iter().peekable();
        let mut after = (String::new(), String::new());
        loop {
            let page = self.journal.owned_documents(self.stream, (&after.0, &after.1), PAGE).await?;
            let Some(last) = page.last() else { break };
            after = (last.collection.clone(), last.id.clone());
            for document in &page {
                self.checked.documents.add_document(document);
                while let Some(missing) = expected.next_if(|expected| document_key(expected) < document_key(document)) {
                    self.add_row_finding(FindingKind::RowMissing, &missing, "is missing");
                }
                match expected.next_if(|expected| document_key(expected) == document_key(document)) {
                    Some(expected) if expected == *document => {}
                    Some(_) => {
                        self.add_row_finding(FindingKind::RowDiffers, document, "is not what the records come to");
                    }
                    // Without a replayed state, the expected rows are unknown.
                    None if self.is_unfoldable => {}
                    None => self.add_row_finding(FindingKind::RowOrphaned, document, "follows from no record"),
                }
            }
        }
        for missing in expected {
            self.add_row_finding(FindingKind::RowMissing, &missing, "is missing");
        }
        for (kind, what) in found {
            self.add_finding(kind, what);
        }
        Ok(())
    }

    fn add_row_finding(&mut self, kind: FindingKind, document: &Document, what: &str) {
        self.add_finding(kind, format!("{} {:?} {what}", document.collection, document.id));
    }
}

fn document_key(document: &Document) -> (&str, &str) {
    (&document.collection, &document.id)
}
