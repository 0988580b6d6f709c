//! In-memory store, which ends with the process: for tests, and for trying things out.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::convert::Infallible;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::ready;
use jiff::Timestamp;
use skald_journal::{
    Append, AuditFilter, AuditLog, AuditRow, Cursor, Document, Head, IdempotentAnswer, Journal, Partitions,
    ReadModelChange, ReadPart, Record, RowsToSumUp, SearchHit, SearchQuery, SideRows, Snapshot, StoreError,
    StoreFuture, StoreHealth, StoredSearchRow, StoredSnapshot, StreamName,
};
use tokio::sync::watch;

use crate::memory_search::MemorySearchIndex;
use crate::rebase_batch::{LockedStore, RebaseOutcome, rebase};
use crate::snapshots::{assign_mark, read_on_blocking_thread};

/// Everything in maps behind one lock.
pub struct Memory {
    tables: Mutex<MemoryTables>,
    wakes: watch::Sender<u64>,
    health: watch::Sender<StoreHealth>,
}

#[derive(Default)]
struct MemoryTables {
    /// All records, in the order of their appends.
    records: Vec<Record>,
    /// For each stream, the indices of its records.
    streams: BTreeMap<StreamName, Vec<usize>>,
    commands: HashMap<(StreamName, String), IdempotentAnswer>,
    documents: BTreeMap<(String, String), (StreamName, Document)>,
    /// Snapshots, with their parts after the first.
    snapshots: HashMap<StreamName, (StoredSnapshot, Vec<Arc<str>>)>,
    side_rows: BTreeMap<(String, String), String>,
    search: MemorySearchIndex,
    audit: Vec<AuditRow>,
    /// How many rows the audit log ever had.
    audit_number: u64,
}

impl LockedStore for MemoryTables {
    type Error = Infallible;

    fn head(&self, stream: &StreamName) -> Result<Head, Infallible> {
        let last = self.streams.get(stream).and_then(|places| places.last());
        Ok(last.map_or_else(Head::default, |place| self.records[*place].head()))
    }

    fn records(&self, stream: &StreamName, after: u64, limit: usize) -> Result<Vec<Record>, Infallible> {
        let places = self.streams.get(stream).map(Vec::as_slice).unwrap_or_default();
        let rest = places.iter().skip(usize::try_from(after).unwrap_or(usize::MAX)).take(limit);
        Ok(rest.map(|place| self.records[*place].clone()).collect())
    }

    fn find_answer(&self, stream: &StreamName, key: &str) -> Result<Option<IdempotentAnswer>, Infallible> {
        Ok(self.commands.get(&(stream.clone(), key.to_owned())).cloned())
    }
}

impl MemoryTables {
    fn store(&mut self, append: Append) {
        for record in append.batch.records {
            self.streams.entry(append.stream.clone()).or_default().push(self.records.len());
            self.records.push(record);
        }
        for command in append.batch.answers {
            self.commands.insert((append.stream.clone(), command.key.key.clone()), command);
        }
        for row in append.batch.side_rows {
            self.side_rows.insert((row.kind.into_owned(), row.key), (*row.body).to_owned());
        }
        for row in &append.batch.removed_side_rows {
            self.side_rows.remove(row);
        }
        for change in append.batch.changes {
            let (collection, id) = change.key();
            let key = (collection.to_owned(), id.to_owned());
            match change {
                ReadModelChange::Put(document) => self.put_document(&append.stream, document),
                ReadModelChange::Delete { .. } => {
                    self.documents.remove(&key);
                    self.search.remove(&key);
                }
            }
        }
    }

    fn put_document(&mut self, stream: &StreamName, mut document: Document) {
        let side_row = document.search.as_ref().and_then(|search| search.body.side_row());
        let side_row = side_row.and_then(|(kind, key)| self.side_rows.get(&(kind.to_owned(), key.to_owned())));
        self.search.put(stream, &document, side_row.map(String::as_str));
        document.search = None;
        self.documents.insert((document.collection.clone(), document.id.clone()), (stream.clone(), document));
    }

    fn delete_documents(&mut self, stream: &StreamName) {
        self.documents.retain(|_, (owner, _)| owner != stream);
        self.search.remove_stream(stream);
    }
}

impl Memory {
    pub fn new() -> Self {
        Self { tables: Mutex::default(), wakes: watch::Sender::new(0), health: watch::Sender::new(StoreHealth::Ready) }
    }

    fn lock_tables(&self) -> MutexGuard<'_, MemoryTables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

/// A future that is ready at once.
fn ready_future<T: Send + 'static>(answer: T) -> StoreFuture<'static, T> {
    Box::pin(ready(Ok(answer)))
}

impl Journal for Memory {
    fn append(&self, mut append: Append) -> StoreFuture<'_, ()> {
        let mut tables = self.lock_tables();
        let Ok(fitted) = rebase(&*tables, &mut append);
        match fitted {
            RebaseOutcome::Store => tables.store(append),
            RebaseOutcome::Nothing => return ready_future(()),
            RebaseOutcome::SendBack(error) => return Box::pin(ready(Err(error))),
        }
        drop(tables);
        self.wakes.send_modify(|wakes| *wakes += 1);
        ready_future(())
    }

    fn read<'a>(&'a self, stream: &'a StreamName, after: u64, limit: usize) -> StoreFuture<'a, Vec<Record>> {
        let Ok(records) = self.lock_tables().records(stream, after, limit);
        ready_future(records)
    }

    fn head<'a>(&'a self, stream: &'a StreamName) -> StoreFuture<'a, Head> {
        let Ok(head) = self.lock_tables().head(stream);
        ready_future(head)
    }

    fn find_answers<'a>(&'a self, stream: &'a StreamName, keys: Vec<String>) -> StoreFuture<'a, Vec<IdempotentAnswer>> {
        let tables = self.lock_tables();
        ready_future(keys.into_iter().filter_map(|key| tables.commands.get(&(stream.clone(), key)).cloned()).collect())
    }

    fn follow(&self, after: Cursor, limit: usize) -> StoreFuture<'_, Vec<(Cursor, Record)>> {
        let tables = self.lock_tables();
        let start = usize::try_from(after.position).unwrap_or(usize::MAX);
        let rest = tables.records.iter().enumerate().skip(start).take(limit);
        let cursor = |place: usize| Cursor { transaction: 0, position: place as u64 + 1 };
        ready_future(rest.map(|(place, record)| (cursor(place), record.clone())).collect())
    }

    fn end_cursor(&self) -> StoreFuture<'_, Cursor> {
        ready_future(Cursor { transaction: 0, position: self.lock_tables().records.len() as u64 })
    }

    fn streams<'a>(&'a self, after: &'a str, limit: usize) -> StoreFuture<'a, Vec<(StreamName, Head)>> {
        let tables = self.lock_tables();
        let rest = tables.streams.iter().filter(|(stream, _)| stream.as_str() > after).take(limit);
        let heads = rest.filter_map(|(stream, places)| Some((stream.clone(), tables.records[*places.last()?].head())));
        ready_future(heads.collect())
    }

    fn stream_names<'a>(&'a self, after: &'a str, limit: usize) -> StoreFuture<'a, Vec<StreamName>> {
        let tables = self.lock_tables();
        let names: BTreeSet<&StreamName> = tables
            .streams
            .keys()
            .chain(tables.commands.keys().map(|(stream, _)| stream))
            .chain(tables.documents.values().map(|(stream, _)| stream))
            .chain(tables.snapshots.keys())
            .chain(tables.search.streams())
            .filter(|stream| stream.as_str() > after)
            .collect();
        ready_future(names.into_iter().take(limit).cloned().collect())
    }

    fn answers<'a>(
        &'a self,
        stream: &'a StreamName,
        after: &'a str,
        limit: usize,
    ) -> StoreFuture<'a, Vec<IdempotentAnswer>> {
        let tables = self.lock_tables();
        let of_stream = tables.commands.iter().filter(|((of, key), _)| of == stream && key.as_str() > after);
        let mut found: Vec<IdempotentAnswer> = of_stream.map(|(_, command)| command.clone()).collect();
        found.sort_by(|a, b| a.key.key.cmp(&b.key.key));
        found.truncate(limit);
        ready_future(found)
    }

    fn snapshot<'a>(&'a self, stream: &'a StreamName) -> StoreFuture<'a, Option<StoredSnapshot>> {
        ready_future(self.lock_tables().snapshots.get(stream).map(|(snapshot, _)| snapshot.clone()))
    }

    fn snapshot_part<'a>(
        &'a self,
        stream: &'a StreamName,
        of: &'a StoredSnapshot,
        part: u32,
        read: ReadPart,
    ) -> StoreFuture<'a, ()> {
        let place = usize::try_from(part).ok().and_then(|part| part.checked_sub(1));
        let found = self
            .lock_tables()
            .snapshots
            .get(stream)
            .filter(|(snapshot, _)| snapshot.mark == of.mark)
            .and_then(|(_, others)| others.get(place?).cloned());
        Box::pin(async move {
            match found {
                Some(text) => read_on_blocking_thread(read, text).await,
                None => Ok(()),
            }
        })
    }

    fn store_snapshot<'a>(&'a self, stream: &'a StreamName, snapshot: Snapshot) -> StoreFuture<'a, ()> {
        let (snapshot, others) = assign_mark(stream, snapshot);
        let mut tables = self.lock_tables();
        let is_newer = |(known, _): &(StoredSnapshot, _)| known.head.revision > snapshot.head.revision;
        if !tables.snapshots.get(stream).is_some_and(is_newer) {
            tables.snapshots.insert(stream.clone(), (snapshot, others.map(Arc::from).collect()));
        }
        ready_future(())
    }

    fn drop_snapshots(&self) -> StoreFuture<'_, ()> {
        self.lock_tables().snapshots.clear();
        ready_future(())
    }

    fn document<'a>(&'a self, collection: &'a str, id: &'a str) -> StoreFuture<'a, Option<Document>> {
        let found = self.lock_tables().documents.get(&(collection.to_owned(), id.to_owned())).cloned();
        ready_future(found.map(|(_, document)| document))
    }

    fn documents<'a>(
        &'a self,
        collection: &'a str,
        partitions: Partitions<'a>,
        after: Option<(i64, &'a str)>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Document>> {
        let tables = self.lock_tables();
        let all = tables.documents.values().map(|(_, document)| document);
        let mut found: Vec<Document> = all
            .filter(|document| document.collection == collection && partitions.contains(&document.partition))
            .filter(|document| {
                after
                    .is_none_or(|(rank, id)| document.rank < rank || document.rank == rank && document.id.as_str() > id)
            })
            .cloned()
            .collect();
        found.sort_by(|a, b| b.rank.cmp(&a.rank).then_with(|| a.id.cmp(&b.id)));
        found.truncate(limit);
        ready_future(found)
    }

    fn count_documents<'a>(&'a self, collection: &'a str, partitions: Partitions<'a>) -> StoreFuture<'a, u64> {
        let tables = self.lock_tables();
        let is_counted =
            |document: &Document| document.collection == collection && partitions.contains(&document.partition);
        ready_future(tables.documents.values().filter(|(_, document)| is_counted(document)).count() as u64)
    }

    fn owned_documents<'a>(
        &'a self,
        stream: &'a StreamName,
        after: (&'a str, &'a str),
        limit: usize,
    ) -> StoreFuture<'a, Vec<Document>> {
        let tables = self.lock_tables();
        let owned = tables.documents.values().filter(|(owner, _)| owner == stream).map(|(_, document)| document);
        let rest = owned.filter(|document| (document.collection.as_str(), document.id.as_str()) > after);
        ready_future(rest.take(limit).cloned().collect())
    }

    fn replace_documents<'a>(
        &'a self,
        stream: &'a StreamName,
        head: Head,
        documents: Vec<Document>,
    ) -> StoreFuture<'a, ()> {
        let mut tables = self.lock_tables();
        let Ok(now) = tables.head(stream);
        if now != head {
            return Box::pin(ready(Err(StoreError::Conflict { head: now })));
        }
        tables.delete_documents(stream);
        for document in documents {
            tables.put_document(stream, document);
        }
        ready_future(())
    }

    fn delete_documents<'a>(&'a self, stream: &'a StreamName) -> StoreFuture<'a, ()> {
        self.lock_tables().delete_documents(stream);
        ready_future(())
    }

    fn search(&self, query: SearchQuery) -> StoreFuture<'_, Vec<SearchHit>> {
        ready_future(self.lock_tables().search.search(&query))
    }

    fn owned_search_rows<'a>(
        &'a self,
        stream: &'a StreamName,
        after: (&'a str, &'a str),
        limit: usize,
    ) -> StoreFuture<'a, Vec<StoredSearchRow>> {
        ready_future(self.lock_tables().search.owned_rows(stream, after, limit))
    }

    fn clear_search_index(&self) -> StoreFuture<'_, ()> {
        self.lock_tables().search.clear();
        ready_future(())
    }

    fn erase_deleted_rows(&self) -> StoreFuture<'_, ()> {
        ready_future(())
    }

    fn subscribe_appends(&self) -> watch::Receiver<u64> {
        self.wakes.subscribe()
    }

    fn data_version(&self) -> Result<Option<u64>, StoreError> {
        // It also changes with this process's own appends: reading again is cheap, and two sets of streams on one store
        // agree.
        Ok(Some(*self.wakes.borrow()))
    }

    fn health(&self) -> watch::Receiver<StoreHealth> {
        self.health.subscribe()
    }

    fn backup<'a>(&'a self, _path: &'a Path) -> StoreFuture<'a, ()> {
        Box::pin(ready(Err(StoreError::Unsupported("a store in memory cannot be backed up"))))
    }
}

impl AuditLog for Memory {
    fn append_audit(&self, rows: Vec<AuditRow>) -> StoreFuture<'_, ()> {
        let mut tables = self.lock_tables();
        for row in rows {
            tables.audit_number += 1;
            let number = tables.audit_number;
            tables.audit.push(AuditRow { number, ..row });
        }
        ready_future(())
    }

    fn audit_after<'a>(&'a self, filter: &'a AuditFilter, after: u64, limit: usize) -> StoreFuture<'a, Vec<AuditRow>> {
        let tables = self.lock_tables();
        let rows = tables.audit.iter().filter(|row| row.number > after && filter.admits(row));
        ready_future(rows.take(limit).cloned().collect())
    }

    fn audit_latest<'a>(&'a self, filter: &'a AuditFilter, limit: usize) -> StoreFuture<'a, Vec<AuditRow>> {
        let tables = self.lock_tables();
        let newest = tables.audit.iter().rev().filter(|row| filter.admits(row));
        let mut latest: Vec<AuditRow> = newest.take(limit).cloned().collect();
        latest.reverse();
        ready_future(latest)
    }

    fn delete_audit_before(&self, at: Timestamp) -> StoreFuture<'_, ()> {
        self.lock_tables().audit.retain(|row| row.at >= at);
        ready_future(())
    }
}

impl SideRows for Memory {
    fn put<'a>(&'a self, kind: &'a str, key: &'a str, body: String) -> StoreFuture<'a, ()> {
        self.lock_tables().side_rows.insert((kind.to_owned(), key.to_owned()), body);
        ready_future(())
    }

    fn get<'a>(&'a self, kind: &'a str, key: &'a str) -> StoreFuture<'a, Option<String>> {
        ready_future(self.lock_tables().side_rows.get(&(kind.to_owned(), key.to_owned())).cloned())
    }

    fn get_many<'a>(&'a self, kind: &'a str, keys: Vec<String>) -> StoreFuture<'a, Vec<(String, String)>> {
        let tables = self.lock_tables();
        let found = keys.into_iter().filter_map(|key| {
            let body = tables.side_rows.get(&(kind.to_owned(), key.clone()))?.clone();
            Some((key, body))
        });
        ready_future(found.collect::<BTreeMap<_, _>>().into_iter().collect())
    }

    fn replace<'a>(&'a self, kind: &'a str, key: &'a str, old: &'a str, new: String) -> StoreFuture<'a, bool> {
        let mut tables = self.lock_tables();
        let body = tables.side_rows.get_mut(&(kind.to_owned(), key.to_owned())).filter(|body| *body == old);
        ready_future(body.map(|body| *body = new).is_some())
    }

    fn sum_up_rows<'a>(&'a self, summing_up: RowsToSumUp<'a>) -> StoreFuture<'a, bool> {
        let RowsToSumUp { kind, keys, sum_kind, sum_key, old, new } = summing_up;
        let (mut tables, place) = (self.lock_tables(), (sum_kind.to_owned(), sum_key.to_owned()));
        if tables.side_rows.get(&place).is_some_and(|sum| Some(sum.as_str()) != old) {
            return ready_future(false);
        }
        tables.side_rows.insert(place, new);
        for key in keys {
            tables.side_rows.remove(&(kind.to_owned(), key));
        }
        ready_future(true)
    }

    fn remove<'a>(&'a self, kind: &'a str, key: &'a str) -> StoreFuture<'a, bool> {
        ready_future(self.lock_tables().side_rows.remove(&(kind.to_owned(), key.to_owned())).is_some())
    }

    fn kinds<'a>(&'a self, after: &'a str, limit: usize) -> StoreFuture<'a, Vec<String>> {
        let tables = self.lock_tables();
        let kinds: BTreeSet<&String> =
            tables.side_rows.keys().map(|(kind, _)| kind).filter(|kind| kind.as_str() > after).collect();
        ready_future(kinds.into_iter().take(limit).cloned().collect())
    }

    fn list<'a>(&'a self, kind: &'a str, after: &'a str, limit: usize) -> StoreFuture<'a, Vec<(String, String)>> {
        let tables = self.lock_tables();
        let rest = tables.side_rows.iter().filter(|((of, key), _)| of == kind && key.as_str() > after).take(limit);
        ready_future(rest.map(|((_, key), body)| (key.clone(), body.clone())).collect())
    }
}
