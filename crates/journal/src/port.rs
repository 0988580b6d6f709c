//! The `Journal` port that every store implements. One test suite checks its guarantees against all stores.

use std::path::Path;
use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::sync::watch;

use super::{
    Cursor, Document, Head, IdempotentAnswer, Partitions, ReadModelChange, Record, Snapshot, StoredSnapshot, StreamName,
};

/// What one stream appends, decided against one head.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Batch {
    pub expected: Head,
    /// At least one; the first follows `expected`.
    pub records: Vec<Record>,
    pub answers: Vec<IdempotentAnswer>,
    /// Each document once.
    pub changes: Vec<ReadModelChange>,
    /// Rows that stand beside the journal and are put with the records.
    pub side_rows: Vec<SideRow>,
}

/// A row that stands beside the journal, and that a record needs: it is stored with the record, or neither is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideRow {
    pub kind: &'static str,
    pub key: String,
    pub body: Arc<str>,
}

/// Why a batch does not fit: what others appended since, and which of its keys were answered already.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConcurrentAppends {
    pub records: Vec<Record>,
    pub answered: Vec<IdempotentAnswer>,
}

/// Decides a batch again on top of what it missed. `None` when nothing is left to append.
pub type Redecide = Box<dyn FnMut(ConcurrentAppends) -> Option<Batch> + Send + Sync>;

/// One stream's batch on its way to the store.
pub struct Append {
    pub stream: StreamName,
    pub batch: Batch,
    /// A store calls it while it holds the stream, so that a slow process does not lose to a fast one for ever.
    /// Without it a batch that does not fit is a [`StoreError::Conflict`].
    pub again: Option<Redecide>,
}

impl Append {
    /// A batch that fits or fails.
    pub fn once(stream: StreamName, batch: Batch) -> Self {
        Self { stream, batch, again: None }
    }
}

/// Why a store did not do what it was asked.
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
    /// The store objects to what it was given, and would again. Nothing was stored.
    #[error("the store objects: {0}")]
    Refused(String),
    #[error("{0}")]
    Unsupported(&'static str),
}

/// Reads a part of a snapshot where it lies, so that it need not be copied.
pub type ReadPart = Box<dyn FnOnce(&str) + Send>;

/// Whether the store can take appends, as far as it knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreHealth {
    Ready,
    Unready(String),
}

type StoreFuture<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// Keeps records in order, with what is derived from them.
pub trait Journal: SideRows {
    /// Stores a batch whole or not at all, and answers when it is durable.
    fn append(&self, append: Append) -> StoreFuture<'_, ()>;

    /// The records of a stream after a revision, in order.
    fn read<'a>(&'a self, stream: &'a StreamName, after: u64, limit: usize) -> StoreFuture<'a, Vec<Record>>;

    /// Where a stream ends; zeros if it never began.
    fn head<'a>(&'a self, stream: &'a StreamName) -> StoreFuture<'a, Head>;

    /// Those of the keys that were answered.
    fn answered<'a>(&'a self, stream: &'a StreamName, keys: Vec<String>) -> StoreFuture<'a, Vec<IdempotentAnswer>>;

    /// The records of all streams after a cursor, in an order that skips nothing.
    fn follow(&self, after: Cursor, limit: usize) -> StoreFuture<'_, Vec<(Cursor, Record)>>;

    /// A place after which everything comes that is appended from now on, and perhaps a little of what came before.
    fn end(&self) -> StoreFuture<'_, Cursor>;

    /// The streams after a name, by name.
    fn streams<'a>(&'a self, after: &'a str, limit: usize) -> StoreFuture<'a, Vec<(StreamName, Head)>>;

    /// The names after one, by name, under which anything is stored: also those of streams whose heads are gone.
    fn stream_names<'a>(&'a self, after: &'a str, limit: usize) -> StoreFuture<'a, Vec<StreamName>>;

    /// What was answered under the keys of a stream after one, by key.
    fn answers<'a>(
        &'a self,
        stream: &'a StreamName,
        after: &'a str,
        limit: usize,
    ) -> StoreFuture<'a, Vec<IdempotentAnswer>>;

    /// The newest snapshot of a stream.
    fn snapshot<'a>(&'a self, stream: &'a StreamName) -> StoreFuture<'a, Option<StoredSnapshot>>;

    /// Has a part of this snapshot read, but not the first, on a thread that may be busy for a while. It is not, if the
    /// part is not there: the snapshot may have been replaced meanwhile.
    fn snapshot_part<'a>(
        &'a self,
        stream: &'a StreamName,
        of: &'a StoredSnapshot,
        part: u32,
        read: ReadPart,
    ) -> StoreFuture<'a, ()>;

    /// Puts a snapshot in the place of an older one, whole or not at all. One that is older than what is there is not
    /// kept.
    fn keep_snapshot<'a>(&'a self, stream: &'a StreamName, snapshot: Snapshot) -> StoreFuture<'a, ()>;

    fn drop_snapshots(&self) -> StoreFuture<'_, ()>;

    fn document<'a>(&'a self, collection: &'a str, id: &'a str) -> StoreFuture<'a, Option<Document>>;

    /// The documents of some partitions of a collection, from the highest rank down, equal ranks by id, after the document
    /// with this rank and id. Nothing of other partitions is read.
    fn documents<'a>(
        &'a self,
        collection: &'a str,
        partitions: Partitions<'a>,
        after: Option<(i64, &'a str)>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Document>>;

    /// How many documents there are in some partitions of a collection.
    fn count_documents<'a>(&'a self, collection: &'a str, partitions: Partitions<'a>) -> StoreFuture<'a, u64>;

    /// The documents that a stream owns, by collection and id, after one of them.
    fn owned_documents<'a>(
        &'a self,
        stream: &'a StreamName,
        after: (&'a str, &'a str),
        limit: usize,
    ) -> StoreFuture<'a, Vec<Document>>;

    /// Puts these documents in the place of all that a stream owns, unless its head has moved.
    fn replace_documents<'a>(
        &'a self,
        stream: &'a StreamName,
        head: Head,
        documents: Vec<Document>,
    ) -> StoreFuture<'a, ()>;

    /// Deletes all documents that a stream owns.
    fn delete_documents<'a>(&'a self, stream: &'a StreamName) -> StoreFuture<'a, ()>;

    /// Changes whenever something may have been appended, here or elsewhere.
    fn wakes(&self) -> watch::Receiver<u64>;

    /// A number that is another one as soon as somebody else may have appended, cheap enough to ask before every read.
    /// `None` where only a look at the head can tell.
    fn version(&self) -> Result<Option<u64>, StoreError>;

    fn health(&self) -> watch::Receiver<StoreHealth>;

    /// Whether the store is of a version that had tokens as rows beside the journal, and these are yet to become events.
    fn awaits_token_import(&self) -> bool {
        false
    }

    /// Raises the version of such a store once its tokens are events, so that no row becomes a token later.
    fn finish_token_import(&self) -> StoreFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    /// A copy of everything, while writing goes on. The file must not exist.
    fn backup<'a>(&'a self, path: &'a Path) -> StoreFuture<'a, ()>;
}

/// Rows of a kind that are removed, and the row that sums them up.
#[derive(Debug, Clone)]
pub struct SummingUp<'a> {
    pub kind: &'a str,
    pub keys: Vec<String>,
    pub sum_kind: &'a str,
    pub sum_key: &'a str,
    /// The sum before, if there was one.
    pub old: Option<&'a str>,
    pub new: String,
}

/// Keeps what did not happen in the world and is therefore no record: tokens, contexts. As durable as a record.
pub trait SideRows: Send + Sync + 'static {
    fn put<'a>(&'a self, kind: &'a str, key: &'a str, body: String) -> StoreFuture<'a, ()>;

    fn get<'a>(&'a self, kind: &'a str, key: &'a str) -> StoreFuture<'a, Option<String>>;

    /// Puts a new body in the place of one that is still there, and says whether it was: who was slower changes nothing.
    fn replace<'a>(&'a self, kind: &'a str, key: &'a str, old: &'a str, new: String) -> StoreFuture<'a, bool>;

    /// Removes rows and writes their sum, both or neither. Says whether it was done: nothing is where the sum is another than
    /// the one before, since somebody was faster.
    fn sum_up<'a>(&'a self, summing_up: SummingUp<'a>) -> StoreFuture<'a, bool>;

    /// Whether it was there.
    fn remove<'a>(&'a self, kind: &'a str, key: &'a str) -> StoreFuture<'a, bool>;

    /// The kinds after one, by name, under which anything is kept.
    fn kinds<'a>(&'a self, after: &'a str, limit: usize) -> StoreFuture<'a, Vec<String>>;

    /// Keys and bodies of a kind after a key, by key.
    fn list<'a>(&'a self, kind: &'a str, after: &'a str, limit: usize) -> StoreFuture<'a, Vec<(String, String)>>;
}
