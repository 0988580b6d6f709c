//! The `Journal` port that every store implements. One test suite checks its guarantees against all stores.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::sync::watch;

use super::{
    AuditLog, Cursor, Document, Head, IdempotentAnswer, Partitions, ReadModelChange, Record, SearchHit, SearchQuery,
    Snapshot, StoredSearchRow, StoredSnapshot, StreamName,
};

/// The records of one stream, decided against one head, with the rows that are stored with them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Batch {
    pub expected: Head,
    /// At least one; the first follows `expected`.
    pub records: Vec<Record>,
    pub answers: Vec<IdempotentAnswer>,
    /// At most one change for each document.
    pub changes: Vec<ReadModelChange>,
    /// Side rows that are stored in the same transaction as the records.
    pub side_rows: Vec<SideRow>,
    /// Kinds and keys of side rows that are deleted in the same transaction. None of them is in `side_rows`.
    pub removed_side_rows: Vec<(String, String)>,
}

/// A row outside of the streams that a record needs. It is stored with the record, or neither is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideRow {
    pub kind: Cow<'static, str>,
    pub key: String,
    pub body: Arc<str>,
}

/// The conflict of a batch: records that others appended since, and those of its idempotency keys that already have an
/// answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConcurrentAppends {
    pub records: Vec<Record>,
    pub answered: Vec<IdempotentAnswer>,
}

/// Decides a batch again after concurrent appends. `None` when nothing is left to append.
pub type Redecide = Box<dyn FnMut(ConcurrentAppends) -> Option<Batch> + Send + Sync>;

/// One stream's batch on its way to the store.
pub struct Append {
    pub stream: StreamName,
    pub batch: Batch,
    /// The store itself calls it on a conflict: a round trip to the caller would let a slow process lose every race to
    /// a fast one. Without it, a batch that does not fit is a [`StoreError::Conflict`].
    pub again: Option<Redecide>,
}

impl Append {
    /// An append that fails on a conflict and is not decided again.
    pub fn without_redecide(stream: StreamName, batch: Batch) -> Self {
        Self { stream, batch, again: None }
    }
}

/// Why a store operation failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error("the stream is at revision {} already", .head.revision)]
    Conflict { head: Head },
    /// Nothing was stored.
    #[error("too much is waiting to be stored")]
    Full,
    /// An append may or may not have been stored; the cause is for the log.
    #[error("the store is not available: {0}")]
    Unavailable(String),
    /// Nothing was stored: another program holds the store. The cause is for the log.
    #[error("the store is held: {0}")]
    Held(String),
    #[error("the store is damaged: {0}")]
    Damaged(String),
    /// The store rejects the values, as it would on a retry. Nothing was stored.
    #[error("the store objects: {0}")]
    Refused(String),
    #[error("{0}")]
    Unsupported(&'static str),
}

/// Callback that reads a snapshot part in the store's buffer, so that it need not be copied.
pub type ReadPart = Box<dyn FnOnce(&str) + Send>;

/// Whether the store can take appends, as far as it knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreHealth {
    Ready,
    /// The cause is for the log: it may name files and hosts.
    Unready(String),
    /// What is whole can be read, and nothing is written any more.
    Damaged,
}

/// What every method of the port returns.
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// Stores records in order, with the rows that are derived from them.
pub trait Journal: SideRows + AuditLog {
    /// Stores a batch atomically, and returns when it is durable.
    fn append(&self, append: Append) -> StoreFuture<'_, ()>;

    /// The records of a stream after a revision, in order.
    fn read<'a>(&'a self, stream: &'a StreamName, after: u64, limit: usize) -> StoreFuture<'a, Vec<Record>>;

    /// The last revision and hash of a stream; zeros if it has no records.
    fn head<'a>(&'a self, stream: &'a StreamName) -> StoreFuture<'a, Head>;

    /// The stored answers under these idempotency keys. Keys without an answer are left out.
    fn find_answers<'a>(&'a self, stream: &'a StreamName, keys: Vec<String>) -> StoreFuture<'a, Vec<IdempotentAnswer>>;

    /// The records of all streams after a cursor, in an order in which no later commit lands before a cursor that was
    /// returned.
    fn follow(&self, after: Cursor, limit: usize) -> StoreFuture<'_, Vec<(Cursor, Record)>>;

    /// A cursor before everything that is appended from now on. A few earlier records may come after it as well.
    fn end_cursor(&self) -> StoreFuture<'_, Cursor>;

    /// Streams with their heads, ordered by name, after a name.
    fn streams<'a>(&'a self, after: &'a str, limit: usize) -> StoreFuture<'a, Vec<(StreamName, Head)>>;

    /// All stream names under which anything is stored, in order, after a name. Streams whose heads are gone are
    /// included.
    fn stream_names<'a>(&'a self, after: &'a str, limit: usize) -> StoreFuture<'a, Vec<StreamName>>;

    /// The stored answers of a stream, ordered by idempotency key, after a key.
    fn answers<'a>(
        &'a self,
        stream: &'a StreamName,
        after: &'a str,
        limit: usize,
    ) -> StoreFuture<'a, Vec<IdempotentAnswer>>;

    /// The newest snapshot of a stream.
    fn snapshot<'a>(&'a self, stream: &'a StreamName) -> StoreFuture<'a, Option<StoredSnapshot>>;

    /// Calls `read` with a part of this snapshot other than the first, on a thread that may block. It is not called if
    /// the part is missing, since the snapshot may have been replaced meanwhile.
    fn snapshot_part<'a>(
        &'a self,
        stream: &'a StreamName,
        of: &'a StoredSnapshot,
        part: u32,
        read: ReadPart,
    ) -> StoreFuture<'a, ()>;

    /// Replaces a stream's snapshot atomically. A snapshot older than the stored one is ignored.
    fn store_snapshot<'a>(&'a self, stream: &'a StreamName, snapshot: Snapshot) -> StoreFuture<'a, ()>;

    fn drop_snapshots(&self) -> StoreFuture<'_, ()>;

    fn document<'a>(&'a self, collection: &'a str, id: &'a str) -> StoreFuture<'a, Option<Document>>;

    /// The documents of some partitions of a collection, by descending rank and then by id, after the document with
    /// this rank and id. Rows of other partitions are not read.
    fn documents<'a>(
        &'a self,
        collection: &'a str,
        partitions: Partitions<'a>,
        after: Option<(i64, &'a str)>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Document>>;

    /// How many documents there are in some partitions of a collection.
    fn count_documents<'a>(&'a self, collection: &'a str, partitions: Partitions<'a>) -> StoreFuture<'a, u64>;

    /// The documents that a stream owns, ordered by collection and id, after this collection and id.
    fn owned_documents<'a>(
        &'a self,
        stream: &'a StreamName,
        after: (&'a str, &'a str),
        limit: usize,
    ) -> StoreFuture<'a, Vec<Document>>;

    /// Replaces all documents that a stream owns, and their rows in the search index. A [`StoreError::Conflict`] if its
    /// head has moved.
    fn replace_documents<'a>(
        &'a self,
        stream: &'a StreamName,
        head: Head,
        documents: Vec<Document>,
    ) -> StoreFuture<'a, ()>;

    /// Deletes all documents that a stream owns, and their rows in the search index.
    fn delete_documents<'a>(&'a self, stream: &'a StreamName) -> StoreFuture<'a, ()>;

    /// The rows of the search index that meet all terms, by descending serial.
    fn search(&self, query: SearchQuery) -> StoreFuture<'_, Vec<SearchHit>>;

    /// The rows of the search index that a stream owns, ordered by collection and id, after this collection and id.
    fn owned_search_rows<'a>(
        &'a self,
        stream: &'a StreamName,
        after: (&'a str, &'a str),
        limit: usize,
    ) -> StoreFuture<'a, Vec<StoredSearchRow>>;

    /// Checks the search index by itself. Returns what is wrong with it, as far as its rows do not show it.
    fn check_search_index(&self) -> StoreFuture<'_, Vec<String>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    /// Empties the search index, also a damaged one, before a rebuild.
    fn clear_search_index(&self) -> StoreFuture<'_, ()>;

    /// Removes what the store still holds of deleted rows: their words in the search index, and in SQLite their bytes in
    /// the file and its log. It may take seconds, and writes may wait for it.
    fn erase_deleted_rows(&self) -> StoreFuture<'_, ()>;

    /// A counter that changes whenever this or another process may have appended.
    fn subscribe_appends(&self) -> watch::Receiver<u64>;

    /// A number that changes when another process may have appended, cheap enough to check before every read. `None` if
    /// the store has none, so that the head must be compared instead.
    fn data_version(&self) -> Result<Option<u64>, StoreError>;

    fn health(&self) -> watch::Receiver<StoreHealth>;

    /// Registers this process as a node that serves requests, until it ends, and counts those of the store. A store in
    /// memory has one.
    fn count_nodes(&self) -> StoreFuture<'_, usize> {
        Box::pin(async { Ok(1) })
    }

    /// Whether the store is from a version that had tokens in side rows, which still have to be imported as events.
    fn awaits_token_import(&self) -> bool {
        false
    }

    /// Raises the schema version of such a store after the import, so that no later row becomes a token.
    fn finish_token_import(&self) -> StoreFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    /// Writes a consistent copy of the store while writes go on. The file must not exist.
    fn backup<'a>(&'a self, path: &'a Path) -> StoreFuture<'a, ()>;
}

/// Side rows to remove, and the row that sums them up.
#[derive(Debug, Clone)]
pub struct RowsToSumUp<'a> {
    pub kind: &'a str,
    pub keys: Vec<String>,
    pub sum_kind: &'a str,
    pub sum_key: &'a str,
    /// The body of the sum before, if there was one.
    pub old: Option<&'a str>,
    pub new: String,
}

/// Key-value rows outside of the streams, for what is no event, such as contexts and contents of artifacts. As durable
/// as records.
pub trait SideRows: Send + Sync + 'static {
    fn put<'a>(&'a self, kind: &'a str, key: &'a str, body: String) -> StoreFuture<'a, ()>;

    fn get<'a>(&'a self, kind: &'a str, key: &'a str) -> StoreFuture<'a, Option<String>>;

    /// Keys and bodies of those of the given rows that exist, in no particular order.
    fn get_many<'a>(&'a self, kind: &'a str, keys: Vec<String>) -> StoreFuture<'a, Vec<(String, String)>>;

    /// Replaces a body if it still equals `old` (compare and swap). Returns whether it did.
    fn replace<'a>(&'a self, kind: &'a str, key: &'a str, old: &'a str, new: String) -> StoreFuture<'a, bool>;

    /// Removes rows and writes their sum, atomically. Returns false and changes nothing if the stored sum is not `old`,
    /// since another process was faster.
    fn sum_up_rows<'a>(&'a self, summing_up: RowsToSumUp<'a>) -> StoreFuture<'a, bool>;

    /// Returns whether the row existed.
    fn remove<'a>(&'a self, kind: &'a str, key: &'a str) -> StoreFuture<'a, bool>;

    /// The kinds that have rows, in order, after a kind.
    fn kinds<'a>(&'a self, after: &'a str, limit: usize) -> StoreFuture<'a, Vec<String>>;

    /// Keys and bodies of a kind, ordered by key, after a key.
    fn list<'a>(&'a self, kind: &'a str, after: &'a str, limit: usize) -> StoreFuture<'a, Vec<(String, String)>>;
}
