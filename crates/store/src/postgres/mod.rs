//! PostgreSQL store: one database, for any number of nodes.

mod address;
mod audit;
mod committer;
mod database_error;
mod notifier;
mod reconnecting_connection;
mod rows;
mod schema;
mod search;
mod search_statistics;
mod session;
mod sql;
mod status;
mod tls;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::{try_join, try_join_all};
use skald_journal::{
    Append, Cursor, Document, Head, IdempotentAnswer, Journal, Partitions, ReadPart, Record, RowsToSumUp, SearchHit,
    SearchQuery, SideRows, Snapshot, StoreError, StoreFuture, StoreHealth, StoredSearchRow, StoredSnapshot, StreamName,
};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Notify, OnceCell, mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::OpenError;
use crate::random_mark::random_mark;
use crate::signed_number::{first_page_position, page_limit, to_i32, to_i64};
use crate::snapshots::{assign_mark, read_on_blocking_thread};
use address::Database;
use committer::{CommitJob, Committer};
use database_error::StatementError;
use notifier::Notifier;
use reconnecting_connection::ReconnectingConnection;
use schema::{finish_migrations, migrate};
use search_statistics::SearchStatistics;
use session::{DATABASE_TIMEOUT, Parameters};
use status::Status;

/// Tasks that commit. More connections would mean smaller batches.
const COMMITTERS: usize = 2;
/// Batches that may wait for each committer.
const QUEUE: usize = 4_096;
/// The timeout of statements that rewrite what was derived from a whole stream or all of them.
const REBUILD_TIMEOUT: Duration = Duration::from_mins(10);
/// The delay after which followers are woken again for records that a running transaction still hides.
const HIDDEN_WAKE_DELAY: Duration = Duration::from_millis(10);

/// A journal in a database that other nodes use too.
pub struct Postgres {
    jobs: Vec<mpsc::Sender<CommitJob>>,
    /// The connection for reads, and for writes outside of appends.
    link: ReconnectingConnection,
    /// The connection for searches, so that other reads need not wait for them. Opened by the first.
    search_link: OnceCell<ReconnectingConnection>,
    search_statistics: Arc<SearchStatistics>,
    notifier: JoinHandle<()>,
    status: Arc<Status>,
    wakes: watch::Sender<u64>,
    /// Whether a wake-up of followers is scheduled.
    is_waking: Arc<AtomicBool>,
    database: Database,
    has_tokens_in_rows: AtomicBool,
}

impl Postgres {
    /// Connects, and brings the schema up to date.
    pub async fn open(address: &str) -> Result<Arc<Self>, OpenError> {
        let database = Database::from_address(address)?;
        let has_tokens_in_rows = AtomicBool::new(migrate(&database).await?);
        let (wakes, news, status) = (watch::Sender::new(0), Arc::new(Notify::new()), Arc::new(Status::new()));
        let link = |number| ReconnectingConnection::open(&database, number, Arc::clone(&status));
        let links = try_join(link(COMMITTERS), try_join_all((0..COMMITTERS).map(link))).await;
        let (reading, committing) = links.map_err(|trouble| database.to_open_error(&trouble))?;
        let search_statistics = Arc::new(SearchStatistics::new(database.clone()));
        let mut jobs = Vec::with_capacity(COMMITTERS);
        for link in committing {
            let (sender, receiver) = mpsc::channel(QUEUE);
            jobs.push(sender);
            let (news, search_statistics) = (Arc::clone(&news), Arc::clone(&search_statistics));
            let committer = Committer { link, jobs: receiver, wakes: wakes.clone(), news, search_statistics };
            tokio::spawn(committer.run());
        }
        let node = format!("{:x}", random_mark());
        let notifier = Notifier { database: database.clone(), node, news, wakes: wakes.clone() };
        let notifier = tokio::spawn(notifier.run());
        let (link, search_link, is_waking) = (reading, OnceCell::new(), Arc::default());
        Ok(Arc::new(Self {
            jobs,
            link,
            search_link,
            search_statistics,
            notifier,
            status,
            wakes,
            is_waking,
            database,
            has_tokens_in_rows,
        }))
    }
}

impl Postgres {
    async fn search_link(&self) -> Result<&ReconnectingConnection, StoreError> {
        let open = || ReconnectingConnection::open(&self.database, COMMITTERS + 1, Arc::clone(&self.status));
        self.search_link.get_or_try_init(open).await.map_err(|trouble| trouble.to_store_error())
    }

    /// Wakes followers again after a short delay. Several calls in that time cause one wake-up.
    fn schedule_wake(&self) {
        if self.is_waking.swap(true, Ordering::AcqRel) {
            return;
        }
        let (wakes, is_waking) = (self.wakes.clone(), Arc::clone(&self.is_waking));
        tokio::spawn(async move {
            tokio::time::sleep(HIDDEN_WAKE_DELAY).await;
            is_waking.store(false, Ordering::Release);
            wakes.send_modify(|wakes| *wakes += 1);
        });
    }
}

/// Committers finish the queued jobs and end by themselves.
impl Drop for Postgres {
    fn drop(&mut self) {
        self.notifier.abort();
    }
}

fn closed_error() -> StoreError {
    StoreError::Unavailable("the committing task has ended".to_owned())
}

impl Journal for Postgres {
    fn append(&self, append: Append) -> StoreFuture<'_, ()> {
        if append.batch.records.is_empty() {
            return Box::pin(async { Ok(()) });
        }
        let (answer, outcome) = oneshot::channel();
        let jobs = &self.jobs[usize::from(append.stream.shard()) % self.jobs.len()];
        let sent = jobs.try_send(CommitJob { append, answer, attempts: 0 }).map_err(|error| match error {
            TrySendError::Full(_) => StoreError::Full,
            TrySendError::Closed(_) => closed_error(),
        });
        Box::pin(async move {
            sent?;
            let outcome =
                timeout(DATABASE_TIMEOUT, outcome).await.map_err(|_| StatementError::Late.to_store_error())?;
            outcome.unwrap_or_else(|_| Err(closed_error()))
        })
    }

    fn read<'a>(&'a self, stream: &'a StreamName, after: u64, limit: usize) -> StoreFuture<'a, Vec<Record>> {
        Box::pin(async move {
            let found =
                self.link.query(sql::READ_RECORDS, &[&stream.as_str(), &to_i64(after), &page_limit(limit)]).await?;
            Ok(found.iter().map(rows::record).collect())
        })
    }

    fn head<'a>(&'a self, stream: &'a StreamName) -> StoreFuture<'a, Head> {
        Box::pin(async move {
            let found = self.link.query(sql::HEAD, &[&stream.as_str()]).await?;
            Ok(found.first().map(rows::head).unwrap_or_default())
        })
    }

    fn find_answers<'a>(&'a self, stream: &'a StreamName, keys: Vec<String>) -> StoreFuture<'a, Vec<IdempotentAnswer>> {
        Box::pin(async move {
            let found = self.link.query(sql::FIND_ANSWERS, &[&stream.as_str(), &keys]).await?;
            Ok(found.iter().map(rows::answer).collect())
        })
    }

    fn follow(&self, after: Cursor, limit: usize) -> StoreFuture<'_, Vec<(Cursor, Record)>> {
        Box::pin(async move {
            let parameters = (after.transaction.to_string(), to_i64(after.position), page_limit(limit));
            let found = self.link.query(sql::FOLLOW, &[&parameters.0, &parameters.1, &parameters.2]).await?;
            if found.len() < limit && self.link.query(sql::HAS_HIDDEN_RECORDS, &[]).await?.iter().any(|row| row.get(0))
            {
                self.schedule_wake();
            }
            Ok(found.iter().map(rows::record_with_cursor).collect())
        })
    }

    fn end_cursor(&self) -> StoreFuture<'_, Cursor> {
        Box::pin(async move {
            let found = self.link.query(sql::END_CURSOR, &[]).await?;
            Ok(found.first().map(rows::cursor).unwrap_or_default())
        })
    }

    fn streams<'a>(&'a self, after: &'a str, limit: usize) -> StoreFuture<'a, Vec<(StreamName, Head)>> {
        Box::pin(async move {
            let found = self.link.query(sql::STREAMS, &[&after, &page_limit(limit)]).await?;
            Ok(found.iter().map(rows::stream).collect())
        })
    }

    fn stream_names<'a>(&'a self, after: &'a str, limit: usize) -> StoreFuture<'a, Vec<StreamName>> {
        Box::pin(async move {
            let found = self.link.query(sql::STREAM_NAMES, &[&after, &page_limit(limit)]).await?;
            Ok(found.iter().map(|row| StreamName::parse(row.get(0))).collect())
        })
    }

    fn answers<'a>(
        &'a self,
        stream: &'a StreamName,
        after: &'a str,
        limit: usize,
    ) -> StoreFuture<'a, Vec<IdempotentAnswer>> {
        Box::pin(async move {
            let found = self.link.query(sql::LIST_ANSWERS, &[&stream.as_str(), &after, &page_limit(limit)]).await?;
            Ok(found.iter().map(rows::answer).collect())
        })
    }

    fn snapshot<'a>(&'a self, stream: &'a StreamName) -> StoreFuture<'a, Option<StoredSnapshot>> {
        Box::pin(async move {
            let found = self.link.query(sql::SNAPSHOT, &[&stream.as_str()]).await?;
            Ok(found.first().map(rows::snapshot))
        })
    }

    fn snapshot_part<'a>(
        &'a self,
        stream: &'a StreamName,
        of: &'a StoredSnapshot,
        part: u32,
        read: ReadPart,
    ) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let (part, revision) = (to_i32(part), to_i64(of.head.revision));
            let found = self.link.query(sql::SNAPSHOT_PART, &[&stream.as_str(), &of.mark, &part, &revision]).await?;
            match found.into_iter().next() {
                Some(row) => read_on_blocking_thread(read, rows::PartRow(row)).await,
                None => Ok(()),
            }
        })
    }

    fn store_snapshot<'a>(&'a self, stream: &'a StreamName, snapshot: Snapshot) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let (StoredSnapshot { version, head, mark, parts, digest, first }, others) = assign_mark(stream, snapshot);
            let (stream, shard, revision) = (stream.as_str(), i32::from(stream.shard()), to_i64(head.revision));
            for (part, body) in (1_i32..).zip(others) {
                let parameters: Parameters<'_> = &[&stream, &mark, &part, &shard, &revision, &body];
                self.link.execute(sql::INSERT_SNAPSHOT_PART, parameters).await?;
            }
            let (version, parts) = (to_i32(version), to_i32(parts));
            let (hash, digest) = (head.hash.as_slice(), digest.as_slice());
            let parameters: Parameters<'_> =
                &[&stream, &shard, &version, &revision, &hash, &mark, &parts, &first, &digest];
            self.link.execute(sql::STORE_SNAPSHOT, parameters).await.map(drop)
        })
    }

    fn drop_snapshots(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move { self.link.execute(sql::DROP_SNAPSHOTS, &[]).await.map(drop) })
    }

    fn document<'a>(&'a self, collection: &'a str, id: &'a str) -> StoreFuture<'a, Option<Document>> {
        Box::pin(async move {
            let found = self.link.query(sql::DOCUMENT, &[&collection, &id]).await?;
            Ok(found.first().map(rows::document))
        })
    }

    fn documents<'a>(
        &'a self,
        collection: &'a str,
        partitions: Partitions<'a>,
        after: Option<(i64, &'a str)>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Document>> {
        Box::pin(async move {
            let limit = page_limit(limit);
            let (rank, id) = after.map_or_else(first_page_position, |(rank, id)| (rank, id.to_owned()));
            let found = match partitions {
                Partitions::All => self.link.query(sql::DOCUMENTS, &[&collection, &rank, &id, &limit]).await?,
                Partitions::Of(names) => {
                    let parameters: Parameters<'_> = &[&collection, &names, &rank, &id, &limit];
                    self.link.query(sql::DOCUMENTS_IN_PARTITIONS, parameters).await?
                }
            };
            Ok(found.iter().map(rows::document).collect())
        })
    }

    fn count_documents<'a>(&'a self, collection: &'a str, partitions: Partitions<'a>) -> StoreFuture<'a, u64> {
        Box::pin(async move {
            let found = match partitions {
                Partitions::All => self.link.query(sql::COUNT_DOCUMENTS, &[&collection]).await?,
                Partitions::Of(names) => {
                    self.link.query(sql::COUNT_DOCUMENTS_IN_PARTITIONS, &[&collection, &names]).await?
                }
            };
            Ok(found.first().map_or(0, |row| row.get::<_, i64>(0).unsigned_abs()))
        })
    }

    fn owned_documents<'a>(
        &'a self,
        stream: &'a StreamName,
        after: (&'a str, &'a str),
        limit: usize,
    ) -> StoreFuture<'a, Vec<Document>> {
        Box::pin(async move {
            let limit = page_limit(limit);
            let parameters: Parameters<'_> = &[&stream.as_str(), &after.0, &after.1, &limit];
            let found = self.link.query(sql::OWNED_DOCUMENTS, parameters).await?;
            Ok(found.iter().map(rows::document).collect())
        })
    }

    fn replace_documents<'a>(
        &'a self,
        stream: &'a StreamName,
        head: Head,
        documents: Vec<Document>,
    ) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let column = |text: fn(&Document) -> &str| documents.iter().map(text).collect::<Vec<_>>();
            let (collections, ids) = (column(|document| &document.collection), column(|document| &document.id));
            let (bodies, partitions) = (column(|document| &document.body), column(|document| &document.partition));
            let ranks: Vec<i64> = documents.iter().map(|document| document.rank).collect();
            let hash = head.hash.as_slice();
            let revision = to_i64(head.revision);
            let parameters: Parameters<'_> =
                &[&stream.as_str(), &hash, &collections, &ids, &ranks, &bodies, &revision, &partitions];
            let replaced = self.link.query_within(REBUILD_TIMEOUT, sql::REPLACE_DOCUMENTS, parameters).await?;
            let is_replaced = replaced.iter().any(|row| row.get::<_, i64>(0) == 1);
            if is_replaced && search::put_rows(&self.link, stream, head, &documents).await? {
                let indexed = documents.iter().filter(|document| document.search.is_some());
                self.search_statistics.count_written(indexed.count());
                return Ok(());
            }
            Err(StoreError::Conflict { head: self.head(stream).await? })
        })
    }

    fn delete_documents<'a>(&'a self, stream: &'a StreamName) -> StoreFuture<'a, ()> {
        Box::pin(async move { self.link.execute(sql::DELETE_DOCUMENTS, &[&stream.as_str()]).await.map(drop) })
    }

    fn search(&self, query: SearchQuery) -> StoreFuture<'_, Vec<SearchHit>> {
        Box::pin(async move {
            if query.terms.is_empty() || query.classes.is_empty() {
                return Ok(Vec::new());
            }
            search::search(self.search_link().await?, &query).await
        })
    }

    fn owned_search_rows<'a>(
        &'a self,
        stream: &'a StreamName,
        after: (&'a str, &'a str),
        limit: usize,
    ) -> StoreFuture<'a, Vec<StoredSearchRow>> {
        Box::pin(async move {
            let parameters: Parameters<'_> = &[&stream.as_str(), &after.0, &after.1, &page_limit(limit)];
            let found = self.link.query(sql::OWNED_SEARCH_ROWS, parameters).await?;
            Ok(found.iter().map(rows::search_row).collect())
        })
    }

    fn clear_search_index(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move { self.link.query_within(REBUILD_TIMEOUT, sql::CLEAR_SEARCH_ROWS, &[]).await.map(drop) })
    }

    fn erase_deleted_rows(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let link = self.search_link().await?;
            for vacuum in [sql::OPTIMIZE_SEARCH_ROWS, sql::VACUUM_SIDE_ROWS] {
                link.query_within(REBUILD_TIMEOUT, vacuum, &[]).await?;
            }
            Ok(())
        })
    }

    fn subscribe_appends(&self) -> watch::Receiver<u64> {
        self.wakes.subscribe()
    }

    /// Notifications from other nodes arrive some milliseconds after their commits, which is too late for a client that
    /// writes on one node and reads on another.
    fn data_version(&self) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }

    fn health(&self) -> watch::Receiver<StoreHealth> {
        self.status.health()
    }

    fn count_nodes(&self) -> StoreFuture<'_, usize> {
        Box::pin(async move {
            self.link.query(sql::JOIN_NODES, &[]).await?;
            let found = self.link.query(sql::COUNT_NODES, &[]).await?;
            Ok(found.first().map_or(1, |row| usize::try_from(row.get::<_, i64>(0)).unwrap_or(1)).max(1))
        })
    }

    fn awaits_token_import(&self) -> bool {
        self.has_tokens_in_rows.load(Ordering::Acquire)
    }

    fn finish_token_import(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            finish_migrations(&self.database).await?;
            self.has_tokens_in_rows.store(false, Ordering::Release);
            Ok(())
        })
    }

    fn backup<'a>(&'a self, _path: &'a Path) -> StoreFuture<'a, ()> {
        Box::pin(async { Err(StoreError::Unsupported("a PostgreSQL store is backed up with pg_dump")) })
    }
}

impl SideRows for Postgres {
    fn put<'a>(&'a self, kind: &'a str, key: &'a str, body: String) -> StoreFuture<'a, ()> {
        Box::pin(async move { self.link.execute(sql::PUT_SIDE_ROW, &[&kind, &key, &body]).await.map(drop) })
    }

    fn get<'a>(&'a self, kind: &'a str, key: &'a str) -> StoreFuture<'a, Option<String>> {
        Box::pin(async move {
            let found = self.link.query(sql::GET_SIDE_ROW, &[&kind, &key]).await?;
            Ok(found.first().map(|row| row.get(0)))
        })
    }

    fn get_many<'a>(&'a self, kind: &'a str, keys: Vec<String>) -> StoreFuture<'a, Vec<(String, String)>> {
        Box::pin(async move {
            let found = self.link.query(sql::GET_SIDE_ROWS, &[&kind, &keys]).await?;
            Ok(found.iter().map(|row| (row.get(0), row.get(1))).collect())
        })
    }

    fn replace<'a>(&'a self, kind: &'a str, key: &'a str, old: &'a str, new: String) -> StoreFuture<'a, bool> {
        Box::pin(async move { Ok(self.link.execute(sql::REPLACE_SIDE_ROW, &[&kind, &key, &old, &new]).await? > 0) })
    }

    fn sum_up_rows<'a>(&'a self, summing_up: RowsToSumUp<'a>) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            let RowsToSumUp { kind, keys, sum_kind, sum_key, old, new } = summing_up;
            let written =
                self.link.query(sql::WRITE_SIDE_ROW_SUM, &[&sum_kind, &sum_key, &old, &new, &kind, &keys]).await?;
            Ok(!written.is_empty())
        })
    }

    fn remove<'a>(&'a self, kind: &'a str, key: &'a str) -> StoreFuture<'a, bool> {
        Box::pin(async move { Ok(self.link.execute(sql::DELETE_SIDE_ROW, &[&kind, &key]).await? > 0) })
    }

    fn kinds<'a>(&'a self, after: &'a str, limit: usize) -> StoreFuture<'a, Vec<String>> {
        Box::pin(async move {
            let found = self.link.query(sql::LIST_SIDE_ROW_KINDS, &[&after, &page_limit(limit)]).await?;
            Ok(found.iter().map(|row| row.get(0)).collect())
        })
    }

    fn list<'a>(&'a self, kind: &'a str, after: &'a str, limit: usize) -> StoreFuture<'a, Vec<(String, String)>> {
        Box::pin(async move {
            let found = self.link.query(sql::LIST_SIDE_ROWS, &[&kind, &after, &page_limit(limit)]).await?;
            Ok(found.iter().map(|row| (row.get(0), row.get(1))).collect())
        })
    }
}
