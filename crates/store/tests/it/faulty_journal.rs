//! A journal with injected failures of appends and reads.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use jiff::Timestamp;
use skald_journal::{
    Append, AuditFilter, AuditLog, AuditRow, Cursor, Document, Head, IdempotentAnswer, Journal, Partitions, ReadPart,
    Record, RowsToSumUp, SearchHit, SearchQuery, SideRows, Snapshot, StoreError, StoreHealth, StoredSearchRow,
    StoredSnapshot, StreamName,
};
use tokio::sync::watch;

type StoreFuture<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InjectedFailure {
    None = 0,
    /// The append is stored, but fails for the caller.
    AnswerLost = 1,
    /// The append is not stored, and fails for the caller.
    AppendLost = 2,
    /// Nothing can be read or written.
    Down = 3,
    /// Reads and appends of records fail after a while.
    Stuck = 4,
    /// Side rows cannot be written by themselves, only with appends.
    SideRowsLost = 5,
}

/// How often a stuck store yields before it fails.
const STUCK_TURNS: usize = 100;

pub(crate) struct FaultyJournal {
    pub(crate) inner: Arc<dyn Journal>,
    trouble: AtomicU8,
    /// How many records each append held.
    pub(crate) batches: Mutex<Vec<usize>>,
    /// The number of reads of heads, and of records.
    pub(crate) looks: [AtomicUsize; 2],
    /// Behaves like a remote database: it has no version, and reads are delayed.
    pub(crate) is_far_away: AtomicBool,
}

impl FaultyJournal {
    pub(crate) fn new(inner: Arc<dyn Journal>) -> Arc<Self> {
        Arc::new(Self {
            inner,
            trouble: AtomicU8::new(0),
            batches: Mutex::default(),
            looks: Default::default(),
            is_far_away: AtomicBool::new(false),
        })
    }

    pub(crate) fn inject(&self, trouble: InjectedFailure) {
        self.trouble.store(trouble as u8, Ordering::SeqCst);
    }

    fn is_injected(&self, trouble: InjectedFailure) -> bool {
        self.trouble.load(Ordering::SeqCst) == trouble as u8
    }

    fn unless_down<'a, T: Send + 'a>(&self, answer: StoreFuture<'a, T>) -> StoreFuture<'a, T> {
        if self.is_injected(InjectedFailure::Down) { Box::pin(async { Err(lost_error()) }) } else { answer }
    }

    fn unless_side_rows_lost<'a, T: Send + 'a>(&self, answer: StoreFuture<'a, T>) -> StoreFuture<'a, T> {
        if self.is_injected(InjectedFailure::SideRowsLost) {
            Box::pin(async { Err(lost_error()) })
        } else {
            self.unless_down(answer)
        }
    }

    fn unless_stuck<'a, T: Send + 'a>(&self, answer: StoreFuture<'a, T>) -> StoreFuture<'a, T> {
        if !self.is_injected(InjectedFailure::Stuck) {
            return answer;
        }
        Box::pin(async {
            for _ in 0..STUCK_TURNS {
                tokio::task::yield_now().await;
            }
            Err(lost_error())
        })
    }

    fn delay_if_far_away<'a, T: Send + 'a>(&self, answer: StoreFuture<'a, T>) -> StoreFuture<'a, T> {
        if !self.is_far_away.load(Ordering::SeqCst) {
            return answer;
        }
        Box::pin(async {
            tokio::task::yield_now().await;
            answer.await
        })
    }
}

fn lost_error() -> StoreError {
    StoreError::Unavailable("lost".to_owned())
}

impl Journal for FaultyJournal {
    fn append(&self, append: Append) -> StoreFuture<'_, ()> {
        self.batches.lock().unwrap().push(append.batch.records.len());
        if self.is_injected(InjectedFailure::AppendLost) || self.is_injected(InjectedFailure::Down) {
            return Box::pin(async { Err(lost_error()) });
        }
        if self.is_injected(InjectedFailure::Stuck) {
            return self.unless_stuck(Box::pin(async { Ok(()) }));
        }
        let stored = self.inner.append(append);
        Box::pin(async move {
            stored.await?;
            if self.is_injected(InjectedFailure::AnswerLost) { Err(lost_error()) } else { Ok(()) }
        })
    }

    fn read<'a>(&'a self, stream: &'a StreamName, after: u64, limit: usize) -> StoreFuture<'a, Vec<Record>> {
        self.looks[1].fetch_add(1, Ordering::SeqCst);
        self.delay_if_far_away(self.unless_stuck(self.unless_down(self.inner.read(stream, after, limit))))
    }

    fn head<'a>(&'a self, stream: &'a StreamName) -> StoreFuture<'a, Head> {
        self.looks[0].fetch_add(1, Ordering::SeqCst);
        self.delay_if_far_away(self.unless_down(self.inner.head(stream)))
    }

    fn find_answers<'a>(&'a self, stream: &'a StreamName, keys: Vec<String>) -> StoreFuture<'a, Vec<IdempotentAnswer>> {
        self.unless_down(self.inner.find_answers(stream, keys))
    }

    fn follow(&self, after: Cursor, limit: usize) -> StoreFuture<'_, Vec<(Cursor, Record)>> {
        self.unless_down(self.inner.follow(after, limit))
    }

    fn end_cursor(&self) -> StoreFuture<'_, Cursor> {
        self.unless_down(self.inner.end_cursor())
    }

    fn streams<'a>(&'a self, after: &'a str, limit: usize) -> StoreFuture<'a, Vec<(StreamName, Head)>> {
        self.unless_down(self.inner.streams(after, limit))
    }

    fn stream_names<'a>(&'a self, after: &'a str, limit: usize) -> StoreFuture<'a, Vec<StreamName>> {
        self.unless_down(self.inner.stream_names(after, limit))
    }

    fn answers<'a>(
        &'a self,
        stream: &'a StreamName,
        after: &'a str,
        limit: usize,
    ) -> StoreFuture<'a, Vec<IdempotentAnswer>> {
        self.unless_down(self.inner.answers(stream, after, limit))
    }

    fn snapshot<'a>(&'a self, stream: &'a StreamName) -> StoreFuture<'a, Option<StoredSnapshot>> {
        self.unless_down(self.inner.snapshot(stream))
    }

    fn snapshot_part<'a>(
        &'a self,
        stream: &'a StreamName,
        of: &'a StoredSnapshot,
        part: u32,
        read: ReadPart,
    ) -> StoreFuture<'a, ()> {
        self.unless_down(self.inner.snapshot_part(stream, of, part, read))
    }

    fn store_snapshot<'a>(&'a self, stream: &'a StreamName, snapshot: Snapshot) -> StoreFuture<'a, ()> {
        self.unless_down(self.inner.store_snapshot(stream, snapshot))
    }

    fn drop_snapshots(&self) -> StoreFuture<'_, ()> {
        self.unless_down(self.inner.drop_snapshots())
    }

    fn document<'a>(&'a self, collection: &'a str, id: &'a str) -> StoreFuture<'a, Option<Document>> {
        self.unless_down(self.inner.document(collection, id))
    }

    fn documents<'a>(
        &'a self,
        collection: &'a str,
        partitions: Partitions<'a>,
        after: Option<(i64, &'a str)>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Document>> {
        self.unless_down(self.inner.documents(collection, partitions, after, limit))
    }

    fn count_documents<'a>(&'a self, collection: &'a str, partitions: Partitions<'a>) -> StoreFuture<'a, u64> {
        self.unless_down(self.inner.count_documents(collection, partitions))
    }

    fn owned_documents<'a>(
        &'a self,
        stream: &'a StreamName,
        after: (&'a str, &'a str),
        limit: usize,
    ) -> StoreFuture<'a, Vec<Document>> {
        self.unless_down(self.inner.owned_documents(stream, after, limit))
    }

    fn replace_documents<'a>(
        &'a self,
        stream: &'a StreamName,
        head: Head,
        documents: Vec<Document>,
    ) -> StoreFuture<'a, ()> {
        self.unless_down(self.inner.replace_documents(stream, head, documents))
    }

    fn delete_documents<'a>(&'a self, stream: &'a StreamName) -> StoreFuture<'a, ()> {
        self.unless_down(self.inner.delete_documents(stream))
    }

    fn search(&self, query: SearchQuery) -> StoreFuture<'_, Vec<SearchHit>> {
        self.unless_down(self.inner.search(query))
    }

    fn owned_search_rows<'a>(
        &'a self,
        stream: &'a StreamName,
        after: (&'a str, &'a str),
        limit: usize,
    ) -> StoreFuture<'a, Vec<StoredSearchRow>> {
        self.unless_down(self.inner.owned_search_rows(stream, after, limit))
    }

    fn check_search_index(&self) -> StoreFuture<'_, Vec<String>> {
        self.unless_down(self.inner.check_search_index())
    }

    fn clear_search_index(&self) -> StoreFuture<'_, ()> {
        self.unless_down(self.inner.clear_search_index())
    }

    fn erase_deleted_rows(&self) -> StoreFuture<'_, ()> {
        self.unless_down(self.inner.erase_deleted_rows())
    }

    fn subscribe_appends(&self) -> watch::Receiver<u64> {
        self.inner.subscribe_appends()
    }

    fn data_version(&self) -> Result<Option<u64>, StoreError> {
        match (self.is_injected(InjectedFailure::Down), self.is_far_away.load(Ordering::SeqCst)) {
            (true, _) => Err(lost_error()),
            (false, true) => Ok(None),
            (false, false) => self.inner.data_version(),
        }
    }

    fn health(&self) -> watch::Receiver<StoreHealth> {
        self.inner.health()
    }

    fn backup<'a>(&'a self, path: &'a Path) -> StoreFuture<'a, ()> {
        self.unless_down(self.inner.backup(path))
    }
}

impl AuditLog for FaultyJournal {
    fn append_audit(&self, rows: Vec<AuditRow>) -> StoreFuture<'_, ()> {
        self.unless_down(self.inner.append_audit(rows))
    }

    fn audit_after<'a>(&'a self, filter: &'a AuditFilter, after: u64, limit: usize) -> StoreFuture<'a, Vec<AuditRow>> {
        self.unless_down(self.inner.audit_after(filter, after, limit))
    }

    fn audit_latest<'a>(&'a self, filter: &'a AuditFilter, limit: usize) -> StoreFuture<'a, Vec<AuditRow>> {
        self.unless_down(self.inner.audit_latest(filter, limit))
    }

    fn delete_audit_before(&self, at: Timestamp) -> StoreFuture<'_, ()> {
        self.unless_down(self.inner.delete_audit_before(at))
    }
}

impl SideRows for FaultyJournal {
    fn put<'a>(&'a self, kind: &'a str, key: &'a str, body: String) -> StoreFuture<'a, ()> {
        self.unless_side_rows_lost(self.inner.put(kind, key, body))
    }

    fn get<'a>(&'a self, kind: &'a str, key: &'a str) -> StoreFuture<'a, Option<String>> {
        self.unless_down(self.inner.get(kind, key))
    }

    fn get_many<'a>(&'a self, kind: &'a str, keys: Vec<String>) -> StoreFuture<'a, Vec<(String, String)>> {
        self.unless_down(self.inner.get_many(kind, keys))
    }

    fn replace<'a>(&'a self, kind: &'a str, key: &'a str, old: &'a str, new: String) -> StoreFuture<'a, bool> {
        self.unless_side_rows_lost(self.inner.replace(kind, key, old, new))
    }

    fn sum_up_rows<'a>(&'a self, summing_up: RowsToSumUp<'a>) -> StoreFuture<'a, bool> {
        self.unless_down(self.inner.sum_up_rows(summing_up))
    }

    fn remove<'a>(&'a self, kind: &'a str, key: &'a str) -> StoreFuture<'a, bool> {
        self.unless_down(self.inner.remove(kind, key))
    }

    fn kinds<'a>(&'a self, after: &'a str, limit: usize) -> StoreFuture<'a, Vec<String>> {
        self.inner.kinds(after, limit)
    }

    fn list<'a>(&'a self, kind: &'a str, after: &'a str, limit: usize) -> StoreFuture<'a, Vec<(String, String)>> {
        self.unless_down(self.inner.list(kind, after, limit))
    }
}
