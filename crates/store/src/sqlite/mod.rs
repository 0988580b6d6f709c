//! SQLite store: one file on one machine, many readers, one writing thread per process, any number of processes.

mod audit;
mod damaged_file;
mod lock;
mod node_locks;
mod open_database;
mod read_connections;
mod search;
mod sql;
mod table_queries;
mod writer;

use std::fs::OpenOptions;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, SyncSender, TrySendError, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::{Connection, params};
use skald_journal::{
    Append, Cursor, Document, Head, IdempotentAnswer, Journal, Partitions, ReadPart, Record, RowsToSumUp, SearchHit,
    SearchQuery, SideRows, Snapshot, StoreError, StoreFuture, StoreHealth, StoredSearchRow, StoredSnapshot, StreamName,
};
use tokio::sync::{oneshot, watch};

use crate::OpenError;
use crate::private_files::{create_partial_file, rename_without_replacing};
use crate::random_mark::random_mark;
use crate::rebase_batch::LockedStore;
use crate::signed_number::page_limit;
use crate::snapshots::assign_mark;
use damaged_file::Damage;
use node_locks::NodeLocks;
use open_database::DatabasePath;
use read_connections::{ExternalWriteWatcher, ReadConnections};
use table_queries::SqliteTables;
use writer::{Writer, WriterJob, WriterTask, to_store_error};

/// Batches that may wait for the writing thread.
const QUEUE: usize = 4_096;
/// Parts of a snapshot that are written in one transaction.
const PARTS_PER_TRANSACTION: usize = 8;

/// Settings of a SQLite store.
#[derive(Debug, Clone, Copy)]
pub struct SqliteSettings {
    /// The most pages of 4 KiB that the file may have; `None` for no limit.
    pub pages_max: Option<u32>,
    /// How long a writer waits while another program holds the lock.
    pub lock_timeout: Duration,
}

impl Default for SqliteSettings {
    fn default() -> Self {
        Self { pages_max: None, lock_timeout: Duration::from_secs(10) }
    }
}

/// A journal in a file.
pub struct Sqlite {
    database_path: DatabasePath,
    jobs: Option<SyncSender<WriterJob>>,
    writer: Option<JoinHandle<()>>,
    watching: Option<(Sender<()>, JoinHandle<()>)>,
    readers: Arc<ReadConnections>,
    lookout: Arc<ExternalWriteWatcher>,
    wakes: watch::Sender<u64>,
    health: watch::Sender<StoreHealth>,
    has_tokens_in_rows: AtomicBool,
    node_locks: Arc<NodeLocks>,
}

impl Sqlite {
    /// Opens the file, or creates it.
    pub async fn open(path: &Path, settings: SqliteSettings) -> Result<Arc<Self>, OpenError> {
        let path = path.to_owned();
        let what = path.display().to_string();
        let opened = tokio::task::spawn_blocking(move || Self::open_blocking(&path, settings)).await;
        opened.map_err(|error| OpenError::Failed { what, why: error.to_string() })?
    }

    fn open_blocking(path: &Path, settings: SqliteSettings) -> Result<Arc<Self>, OpenError> {
        let (database_path, has_tokens_in_rows) = DatabasePath::prepare(path, settings)?;
        let process = random_mark().cast_signed();
        let (wakes, health) = (watch::Sender::new(0), watch::Sender::new(StoreHealth::Ready));
        let damage = Arc::new(Damage::new(health.clone()));
        let (jobs, queue) = sync_channel(QUEUE);
        let writer =
            Writer::new(database_path.clone(), queue, process, wakes.clone(), health.clone(), Arc::clone(&damage))?;
        let lookout = ExternalWriteWatcher::new(&database_path, process, wakes.clone(), Arc::clone(&damage))
            .map_err(|error| database_path.to_open_error(&error))?;
        let spawn = |name: &str, run: Box<dyn FnOnce() + Send>| {
            let thread = std::thread::Builder::new().name(name.to_owned()).spawn(run);
            thread.map_err(|error| OpenError::Failed { what: path.display().to_string(), why: error.to_string() })
        };
        let (watched, (go_on, over)) = (Arc::clone(&lookout), channel());
        let watching = Some((go_on, spawn("journal lookout", Box::new(move || watched.poll(&over)))?));
        let writer = spawn("journal writer", Box::new(move || writer.run()))?;
        let readers = ReadConnections::new(database_path.clone(), damage);
        let (jobs, writer, has_tokens_in_rows) = (Some(jobs), Some(writer), AtomicBool::new(has_tokens_in_rows));
        let node_locks = Arc::new(NodeLocks::new(&database_path.path));
        Ok(Arc::new(Self {
            database_path,
            jobs,
            writer,
            watching,
            readers,
            lookout,
            wakes,
            health,
            has_tokens_in_rows,
            node_locks,
        }))
    }

    fn send_to_writer(&self, work: WriterTask) -> StoreFuture<'_, ()> {
        let (answer, outcome) = oneshot::channel();
        let sent = match &self.jobs {
            Some(jobs) => jobs.try_send(WriterJob { work, answer }).map_err(|error| match error {
                TrySendError::Full(_) => StoreError::Full,
                TrySendError::Disconnected(_) => closed_error(),
            }),
            None => Err(closed_error()),
        };
        Box::pin(async move {
            sent?;
            outcome.await.unwrap_or_else(|_| Err(closed_error()))
        })
    }

    fn run_write(
        &self,
        mut change: impl FnMut(&Connection) -> rusqlite::Result<()> + Send + 'static,
    ) -> StoreFuture<'_, ()> {
        self.send_to_writer(WriterTask::Other(Box::new(move |connection| change(connection).map(Ok))))
    }

    /// Runs a write, and returns whether it changed any row.
    fn run_write_and_check_changed(
        &self,
        mut change: impl FnMut(&Connection) -> rusqlite::Result<usize> + Send + 'static,
    ) -> StoreFuture<'_, bool> {
        let is_changed = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_changed);
        let change = self.run_write(move |connection| {
            seen.store(change(connection)? > 0, Ordering::Release);
            Ok(())
        });
        Box::pin(async move {
            change.await?;
            Ok(is_changed.load(Ordering::Acquire))
        })
    }

    fn run_read<T: Send + 'static>(
        &self,
        work: impl FnOnce(SqliteTables<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> StoreFuture<'_, T> {
        Box::pin(self.readers.read(move |connection| work(SqliteTables(connection))))
    }
}

/// The writer finishes the queued jobs, and the last connection removes the write-ahead log.
impl Drop for Sqlite {
    fn drop(&mut self) {
        self.jobs = None;
        let lookout = self.watching.take().map(|(_, lookout)| lookout);
        for thread in self.writer.take().into_iter().chain(lookout) {
            // A panic of the thread is already in the log.
            let _ = thread.join();
        }
    }
}

/// The names of partitions as a JSON array, which the statements expand.
fn partition_names(partitions: Partitions<'_>) -> Option<String> {
    match partitions {
        Partitions::All => None,
        Partitions::Of(names) => Some(serde_json::Value::from(names).to_string()),
    }
}

fn closed_error() -> StoreError {
    StoreError::Unavailable("the writing thread has ended".to_owned())
}

impl Journal for Sqlite {
    fn append(&self, append: Append) -> StoreFuture<'_, ()> {
        self.send_to_writer(WriterTask::Append(append))
    }

    fn read<'a>(&'a self, stream: &'a StreamName, after: u64, limit: usize) -> StoreFuture<'a, Vec<Record>> {
        let stream = stream.clone();
        self.run_read(move |rows| rows.records(&stream, after, limit))
    }

    fn head<'a>(&'a self, stream: &'a StreamName) -> StoreFuture<'a, Head> {
        let stream = stream.clone();
        self.run_read(move |rows| rows.head(&stream))
    }

    fn find_answers<'a>(&'a self, stream: &'a StreamName, keys: Vec<String>) -> StoreFuture<'a, Vec<IdempotentAnswer>> {
        let stream = stream.clone();
        self.run_read(move |rows| keys.iter().filter_map(|key| rows.find_answer(&stream, key).transpose()).collect())
    }

    fn follow(&self, after: Cursor, limit: usize) -> StoreFuture<'_, Vec<(Cursor, Record)>> {
        self.run_read(move |rows| rows.follow(after, limit))
    }

    fn end_cursor(&self) -> StoreFuture<'_, Cursor> {
        self.run_read(|rows| rows.end_cursor())
    }

    fn streams<'a>(&'a self, after: &'a str, limit: usize) -> StoreFuture<'a, Vec<(StreamName, Head)>> {
        let after = after.to_owned();
        self.run_read(move |rows| rows.streams(&after, limit))
    }

    fn stream_names<'a>(&'a self, after: &'a str, limit: usize) -> StoreFuture<'a, Vec<StreamName>> {
        let after = after.to_owned();
        self.run_read(move |rows| rows.stream_names(&after, limit))
    }

    fn answers<'a>(
        &'a self,
        stream: &'a StreamName,
        after: &'a str,
        limit: usize,
    ) -> StoreFuture<'a, Vec<IdempotentAnswer>> {
        let (stream, after) = (stream.clone(), after.to_owned());
        self.run_read(move |rows| rows.answers(&stream, &after, limit))
    }

    fn snapshot<'a>(&'a self, stream: &'a StreamName) -> StoreFuture<'a, Option<StoredSnapshot>> {
        let stream = stream.clone();
        self.run_read(move |rows| rows.snapshot(&stream))
    }

    fn snapshot_part<'a>(
        &'a self,
        stream: &'a StreamName,
        of: &'a StoredSnapshot,
        part: u32,
        read: ReadPart,
    ) -> StoreFuture<'a, ()> {
        let (stream, mark, revision) = (stream.clone(), of.mark, of.head.revision);
        self.run_read(move |rows| rows.snapshot_part(&stream, (mark, part), revision, read))
    }

    /// Writes a few parts per transaction, so that other writes need not wait for all of them.
    fn store_snapshot<'a>(&'a self, stream: &'a StreamName, snapshot: Snapshot) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let (kept, others) = assign_mark(stream, snapshot);
            let mut others = (1..).zip(others).peekable();
            while others.peek().is_some() {
                let some: Vec<(u32, String)> = others.by_ref().take(PARTS_PER_TRANSACTION).collect();
                let (stream, mark, revision) = (stream.clone(), kept.mark, kept.head.revision);
                self.run_write(move |connection| {
                    SqliteTables(connection).insert_snapshot_parts(&stream, mark, revision, &some)
                })
                .await?;
            }
            let stream = stream.clone();
            self.run_write(move |connection| SqliteTables(connection).store_snapshot(&stream, &kept)).await
        })
    }

    fn drop_snapshots(&self) -> StoreFuture<'_, ()> {
        self.run_write(|connection| SqliteTables(connection).drop_snapshots())
    }

    fn document<'a>(&'a self, collection: &'a str, id: &'a str) -> StoreFuture<'a, Option<Document>> {
        let (collection, id) = (collection.to_owned(), id.to_owned());
        self.run_read(move |rows| rows.document(&collection, &id))
    }

    fn documents<'a>(
        &'a self,
        collection: &'a str,
        partitions: Partitions<'a>,
        after: Option<(i64, &'a str)>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Document>> {
        let (collection, partitions) = (collection.to_owned(), partition_names(partitions));
        let after = after.map(|(rank, id)| (rank, id.to_owned()));
        self.run_read(move |rows| rows.documents(&collection, partitions.as_deref(), after, limit))
    }

    fn count_documents<'a>(&'a self, collection: &'a str, partitions: Partitions<'a>) -> StoreFuture<'a, u64> {
        let (collection, partitions) = (collection.to_owned(), partition_names(partitions));
        self.run_read(move |rows| rows.count_documents(&collection, partitions.as_deref()))
    }

    fn owned_documents<'a>(
        &'a self,
        stream: &'a StreamName,
        after: (&'a str, &'a str),
        limit: usize,
    ) -> StoreFuture<'a, Vec<Document>> {
        let (stream, after) = (stream.clone(), (after.0.to_owned(), after.1.to_owned()));
        self.run_read(move |rows| rows.owned_documents(stream.as_str(), &after, limit))
    }

    fn replace_documents<'a>(
        &'a self,
        stream: &'a StreamName,
        head: Head,
        documents: Vec<Document>,
    ) -> StoreFuture<'a, ()> {
        let stream = stream.clone();
        self.send_to_writer(WriterTask::Other(Box::new(move |connection| {
            let rows = SqliteTables(connection);
            let now = rows.head(&stream)?;
            if now != head {
                return Ok(Err(StoreError::Conflict { head: now }));
            }
            rows.replace_documents(&stream, &documents).map(Ok)
        })))
    }

    fn delete_documents<'a>(&'a self, stream: &'a StreamName) -> StoreFuture<'a, ()> {
        let stream = stream.clone();
        self.run_write(move |connection| SqliteTables(connection).delete_documents(&stream))
    }

    fn search(&self, query: SearchQuery) -> StoreFuture<'_, Vec<SearchHit>> {
        self.run_read(move |rows| rows.search(&query))
    }

    fn owned_search_rows<'a>(
        &'a self,
        stream: &'a StreamName,
        after: (&'a str, &'a str),
        limit: usize,
    ) -> StoreFuture<'a, Vec<StoredSearchRow>> {
        let (stream, after) = (stream.clone(), (after.0.to_owned(), after.1.to_owned()));
        self.run_read(move |rows| rows.owned_search_rows(stream.as_str(), &after, limit))
    }

    /// On a new connection: SQLite checks the index by what the connection remembers of it, and another one may have
    /// written since.
    fn check_search_index(&self) -> StoreFuture<'_, Vec<String>> {
        let database_path = self.database_path.clone();
        Box::pin(async move {
            let check = move || SqliteTables(&database_path.connect_read_only()?).check_index();
            let checked = tokio::task::spawn_blocking(check).await;
            checked.map_err(|error| StoreError::Unavailable(error.to_string()))?.map_err(|error| to_store_error(&error))
        })
    }

    fn clear_search_index(&self) -> StoreFuture<'_, ()> {
        self.run_write(|connection| SqliteTables(connection).clear_index())
    }

    fn erase_deleted_rows(&self) -> StoreFuture<'_, ()> {
        self.send_to_writer(WriterTask::EraseDeletedRows)
    }

    fn subscribe_appends(&self) -> watch::Receiver<u64> {
        self.wakes.subscribe()
    }

    fn data_version(&self) -> Result<Option<u64>, StoreError> {
        self.lookout.data_version().map(Some)
    }

    fn health(&self) -> watch::Receiver<StoreHealth> {
        self.health.subscribe()
    }

    fn count_nodes(&self) -> StoreFuture<'_, usize> {
        Box::pin(async move {
            let locks = Arc::clone(&self.node_locks);
            let counted = tokio::task::spawn_blocking(move || locks.join_and_count()).await;
            let counted = counted.map_err(|error| StoreError::Unavailable(error.to_string()))?;
            counted.map_err(|error| StoreError::Unavailable(error.to_string()))
        })
    }

    fn awaits_token_import(&self) -> bool {
        self.has_tokens_in_rows.load(Ordering::Acquire)
    }

    fn finish_token_import(&self) -> StoreFuture<'_, ()> {
        let finished = self.run_write(open_database::finish_migrations);
        Box::pin(async move {
            finished.await?;
            self.has_tokens_in_rows.store(false, Ordering::Release);
            Ok(())
        })
    }

    fn backup<'a>(&'a self, path: &'a Path) -> StoreFuture<'a, ()> {
        let (database_path, path) = (self.database_path.clone(), path.to_owned());
        Box::pin(async move {
            let copied = tokio::task::spawn_blocking(move || copy_database(&database_path, &path)).await;
            copied.map_err(|error| StoreError::Unavailable(error.to_string()))?
        })
    }
}

/// Copies a consistent state of the file. The copy gets its name only when it is complete.
fn copy_database(database_path: &DatabasePath, path: &Path) -> Result<(), StoreError> {
    if path.symlink_metadata().is_ok() {
        return Err(StoreError::Unsupported(NO_REPLACEMENT));
    }
    let unavailable = |error: std::io::Error| StoreError::Unavailable(error.to_string());
    // `VACUUM INTO` accepts a file that exists and is empty.
    let partial = create_partial_file(path).map_err(unavailable)?;
    let copied = write_copy(database_path, &partial).and_then(|()| {
        rename_without_replacing(&partial, path).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => StoreError::Unsupported(NO_REPLACEMENT),
            _ => unavailable(error),
        })
    });
    copied.inspect_err(|_| {
        // Remove the incomplete copy.
        let _ = std::fs::remove_file(&partial);
    })
}

const NO_REPLACEMENT: &str = "a backup does not replace a file; choose another name";

fn write_copy(database_path: &DatabasePath, partial: &Path) -> Result<(), StoreError> {
    let connection = database_path.connect().map_err(|error| to_store_error(&error))?;
    connection.execute(sql::BACKUP, [partial.display().to_string()]).map_err(|error| to_store_error(&error))?;
    let synced = OpenOptions::new().write(true).open(partial).and_then(|file| file.sync_all());
    synced.map_err(|error| StoreError::Unavailable(error.to_string()))
}

impl SideRows for Sqlite {
    fn put<'a>(&'a self, kind: &'a str, key: &'a str, body: String) -> StoreFuture<'a, ()> {
        let (kind, key) = (kind.to_owned(), key.to_owned());
        self.run_write(move |connection| connection.execute(sql::PUT_SIDE_ROW, params![kind, key, body]).map(drop))
    }

    fn get<'a>(&'a self, kind: &'a str, key: &'a str) -> StoreFuture<'a, Option<String>> {
        let (kind, key) = (kind.to_owned(), key.to_owned());
        self.run_read(move |rows| rows.side_row(&kind, &key))
    }

    fn get_many<'a>(&'a self, kind: &'a str, keys: Vec<String>) -> StoreFuture<'a, Vec<(String, String)>> {
        let (kind, keys) = (kind.to_owned(), serde_json::Value::from(keys).to_string());
        self.run_read(move |rows| {
            let mut statement = rows.0.prepare_cached(sql::GET_SIDE_ROWS)?;
            statement.query_map([kind, keys], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })
    }

    fn replace<'a>(&'a self, kind: &'a str, key: &'a str, old: &'a str, new: String) -> StoreFuture<'a, bool> {
        let (kind, key, old) = (kind.to_owned(), key.to_owned(), old.to_owned());
        self.run_write_and_check_changed(move |connection| {
            connection.execute(sql::REPLACE_SIDE_ROW, params![kind, key, old, new])
        })
    }

    fn sum_up_rows<'a>(&'a self, summing_up: RowsToSumUp<'a>) -> StoreFuture<'a, bool> {
        let RowsToSumUp { kind, keys, sum_kind, sum_key, old, new } = summing_up;
        let (kind, sum_kind, sum_key) = (kind.to_owned(), sum_kind.to_owned(), sum_key.to_owned());
        let old = old.map(str::to_owned);
        self.run_write_and_check_changed(move |connection| {
            let written = connection.execute(sql::WRITE_SIDE_ROW_SUM, params![sum_kind, sum_key, old, new])?;
            for key in keys.iter().filter(|_| written > 0) {
                connection.execute(sql::DELETE_SIDE_ROW, params![kind, key])?;
            }
            Ok(written)
        })
    }

    fn remove<'a>(&'a self, kind: &'a str, key: &'a str) -> StoreFuture<'a, bool> {
        let (kind, key) = (kind.to_owned(), key.to_owned());
        self.run_write_and_check_changed(move |connection| connection.execute(sql::DELETE_SIDE_ROW, params![kind, key]))
    }

    fn kinds<'a>(&'a self, after: &'a str, limit: usize) -> StoreFuture<'a, Vec<String>> {
        let after = after.to_owned();
        self.run_read(move |found| {
            let mut statement = found.0.prepare_cached(sql::LIST_SIDE_ROW_KINDS)?;
            statement.query_map(params![after, page_limit(limit)], |row| row.get(0))?.collect()
        })
    }

    fn list<'a>(&'a self, kind: &'a str, after: &'a str, limit: usize) -> StoreFuture<'a, Vec<(String, String)>> {
        let (kind, after) = (kind.to_owned(), after.to_owned());
        self.run_read(move |found| {
            let mut statement = found.0.prepare_cached(sql::LIST_SIDE_ROWS)?;
            statement
                .query_map(params![kind, after, page_limit(limit)], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        })
    }
}
