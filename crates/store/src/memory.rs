//! In-memory store, which ends with the process: for tests, and for trying things out.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::convert::Infallible;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::{BoxFuture, ready};
use skald_journal::{
    Append, Cursor, Document, Head, IdempotentAnswer, Journal, Partitions, ReadModelChange, ReadPart, Record, SideRows,
    Snapshot, StoreError, StoreHealth, StoredSnapshot, StreamName, SummingUp,
};
use tokio::sync::watch;

use crate::rebase_batch::{LockedStore, RebaseOutcome, rebase};
use crate::snapshots::{marked, read_apart};

/// Everything in maps behind one lock.
pub struct Memory {
    kept: Mutex<MemoryTables>,
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
    shelf: BTreeMap<(String, String), String>,
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

    fn answered(&self, stream: &StreamName, key: &str) -> Result<Option<IdempotentAnswer>, Infallible> {
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
            self.shelf.insert((row.kind.to_owned(), row.key), (*row.body).to_owned());
        }
        for change in append.batch.changes {
            let (collection, id) = change.key();
            let key = (collection.to_owned(), id.to_owned());
            match change {
                ReadModelChange::Put(document) => self.documents.insert(key, (append.stream.clone(), document)),
                ReadModelChange::Delete { .. } => self.documents.remove(&key),
            };
        }
    }
}

impl Memory {
    pub fn new() -> Self {
        Self { kept: Mutex::default(), wakes: watch::Sender::new(0), health: watch::Sender::new(StoreHealth::Ready) }
    }

    fn kept(&self) -> MutexGuard<'_, MemoryTables> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

type StoreFuture<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// A future that is ready at once.
fn at_once<T: Send + 'static>(answer: T) -> StoreFuture<'static, T> {
    Box::pin(ready(Ok(answer)))
}

impl Journal for Memory {
    fn append(&self, mut append: Append) -> StoreFuture<'_, ()> {
        let mut kept = self.kept();
        let Ok(fitted) = rebase(&*kept, &mut append);
        match fitted {
            RebaseOutcome::Store => kept.store(append),
            RebaseOutcome::Nothing => return at_once(()),
            RebaseOutcome::SendBack(error) => return Box::pin(ready(Err(error))),
        }
        drop(kept);
        self.wakes.send_modify(|wakes| *wakes += 1);
        at_once(())
    }

    fn read<'a>(&'a self, stream: &'a StreamName, after: u64, limit: usize) -> StoreFuture<'a, Vec<Record>> {
        let Ok(records) = self.kept().records(stream, after, limit);
        at_once(records)
    }

    fn head<'a>(&'a self, stream: &'a StreamName) -> StoreFuture<'a, Head> {
        let Ok(head) = self.kept().head(stream);
        at_once(head)
    }

    fn answered<'a>(&'a self, stream: &'a StreamName, keys: Vec<String>) -> StoreFuture<'a, Vec<IdempotentAnswer>> {
        let kept = self.kept();
        at_once(keys.into_iter().filter_map(|key| kept.commands.get(&(stream.clone(), key)).cloned()).collect())
    }

    fn follow(&self, after: Cursor, limit: usize) -> StoreFuture<'_, Vec<(Cursor, Record)>> {
        let kept = self.kept();
        let start = usize::try_from(after.position).unwrap_or(usize::MAX);
        let rest = kept.records.iter().enumerate().skip(start).take(limit);
        let cursor = |place: usize| Cursor { transaction: 0, position: place as u64 + 1 };
        at_once(rest.map(|(place, record)| (cursor(place), record.clone())).collect())
    }

    fn end(&self) -> StoreFuture<'_, Cursor> {
        at_once(Cursor { transaction: 0, position: self.kept().records.len() as u64 })
    }

    fn streams<'a>(&'a self, after: &'a str, limit: usize) -> StoreFuture<'a, Vec<(StreamName, Head)>> {
        let kept = self.kept();
        let rest = kept.streams.iter().filter(|(stream, _)| stream.as_str() > after).take(limit);
        let heads = rest.filter_map(|(stream, places)| Some((stream.clone(), kept.records[*places.last()?].head())));
        at_once(heads.collect())
    }

    fn stream_names<'a>(&'a self, after: &'a str, limit: usize) -> StoreFuture<'a, Vec<StreamName>> {
        let kept = self.kept();
        let names: BTreeSet<&StreamName> = kept
            .streams
            .keys()
            .chain(kept.commands.keys().map(|(stream, _)| stream))
            .chain(kept.documents.values().map(|(stream, _)| stream))
            .chain(kept.snapshots.keys())
            .filter(|stream| stream.as_str() > after)
            .collect();
        at_once(names.into_iter().take(limit).cloned().collect())
    }

    fn answers<'a>(
        &'a self,
        stream: &'a StreamName,
        after: &'a str,
        limit: usize,
    ) -> StoreFuture<'a, Vec<IdempotentAnswer>> {
        let kept = self.kept();
        let of_stream = kept.commands.iter().filter(|((of, key), _)| of == stream && key.as_str() > after);
        let mut found: Vec<IdempotentAnswer> = of_stream.map(|(_, command)| command.clone()).collect();
        found.sort_by(|a, b| a.key.key.cmp(&b.key.key));
        found.truncate(limit);
        at_once(found)
    }

    fn snapshot<'a>(&'a self, stream: &'a StreamName) -> StoreFuture<'a, Option<StoredSnapshot>> {
        at_once(self.kept().snapshots.get(stream).map(|(snapshot, _)| snapshot.clone()))
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
            .kept()
            .snapshots
            .get(stream)
            .filter(|(snapshot, _)| snapshot.mark == of.mark)
            .and_then(|(_, others)| others.get(place?).cloned());
        Box::pin(async move {
            match found {
                Some(text) => read_apart(read, text).await,
                None => Ok(()),
            }
        })
    }

    fn keep_snapshot<'a>(&'a self, stream: &'a StreamName, snapshot: Snapshot) -> StoreFuture<'a, ()> {
        let (snapshot, others) = marked(stream, snapshot);
        let mut kept = self.kept();
        let is_newer = |(known, _): &(StoredSnapshot, _)| known.head.revision > snapshot.head.revision;
        if !kept.snapshots.get(stream).is_some_and(is_newer) {
            kept.snapshots.insert(stream.clone(), (snapshot, others.map(Arc::from).collect()));
        }
        at_once(())
    }

    fn drop_snapshots(&self) -> StoreFuture<'_, ()> {
        self.kept().snapshots.clear();
        at_once(())
    }

    fn document<'a>(&'a self, collection: &'a str, id: &'a str) -> StoreFuture<'a, Option<Document>> {
        let found = self.kept().documents.get(&(collection.to_owned(), id.to_owned())).cloned();
        at_once(found.map(|(_, document)| document))
    }

    fn documents<'a>(
        &'a self,
        collection: &'a str,
        partitions: Partitions<'a>,
        after: Option<(i64, &'a str)>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Document>> {
        let kept = self.kept();
        let all = kept.documents.values().map(|(_, document)| document);
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
        at_once(found)
    }

    fn count_documents<'a>(&'a self, collection: &'a str, partitions: Partitions<'a>) -> StoreFuture<'a, u64> {
        let kept = self.kept();
        let is_counted =
            |document: &Document| document.collection == collection && partitions.contains(&document.partition);
        at_once(kept.documents.values().filter(|(_, document)| is_counted(document)).count() as u64)
    }

    fn owned_documents<'a>(
        &'a self,
        stream: &'a StreamName,
        after: (&'a str, &'a str),
        limit: usize,
    ) -> StoreFuture<'a, Vec<Document>> {
        let kept = self.kept();
        let owned = kept.documents.values().filter(|(owner, _)| owner == stream).map(|(_, document)| document);
        let rest = owned.filter(|document| (document.collection.as_str(), document.id.as_str()) > after);
        at_once(rest.take(limit).cloned().collect())
    }

    fn replace_documents<'a>(
        &'a self,
        stream: &'a StreamName,
        head: Head,
        documents: Vec<Document>,
    ) -> StoreFuture<'a, ()> {
        let mut kept = self.kept();
        let Ok(now) = kept.head(stream);
        if now != head {
            return Box::pin(ready(Err(StoreError::Conflict { head: now })));
        }
        kept.documents.retain(|_, (owner, _)| owner != stream);
        for document in documents {
            let key = (document.collection.clone(), document.id.clone());
            kept.documents.insert(key, (stream.clone(), document));
        }
        at_once(())
    }

    fn delete_documents<'a>(&'a self, stream: &'a StreamName) -> StoreFuture<'a, ()> {
        self.kept().documents.retain(|_, (owner, _)| owner != stream);
        at_once(())
    }

    fn wakes(&self) -> watch::Receiver<u64> {
        self.wakes.subscribe()
    }

    fn version(&self) -> Result<Option<u64>, StoreError> {
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

impl SideRows for Memory {
    fn put<'a>(&'a self, kind: &'a str, key: &'a str, body: String) -> StoreFuture<'a, ()> {
        self.kept().shelf.insert((kind.to_owned(), key.to_owned()), body);
        at_once(())
    }

    fn get<'a>(&'a self, kind: &'a str, key: &'a str) -> StoreFuture<'a, Option<String>> {
        at_once(self.kept().shelf.get(&(kind.to_owned(), key.to_owned())).cloned())
    }

    fn replace<'a>(&'a self, kind: &'a str, key: &'a str, old: &'a str, new: String) -> StoreFuture<'a, bool> {
        let mut kept = self.kept();
        let body = kept.shelf.get_mut(&(kind.to_owned(), key.to_owned())).filter(|body| *body == old);
        at_once(body.map(|body| *body = new).is_some())
    }

    fn sum_up<'a>(&'a self, summing_up: SummingUp<'a>) -> StoreFuture<'a, bool> {
        let SummingUp { kind, keys, sum_kind, sum_key, old, new } = summing_up;
        let (mut kept, place) = (self.kept(), (sum_kind.to_owned(), sum_key.to_owned()));
        if kept.shelf.get(&place).is_some_and(|sum| Some(sum.as_str()) != old) {
            return at_once(false);
        }
        kept.shelf.insert(place, new);
        for key in keys {
            kept.shelf.remove(&(kind.to_owned(), key));
        }
        at_once(true)
    }

    fn remove<'a>(&'a self, kind: &'a str, key: &'a str) -> StoreFuture<'a, bool> {
        at_once(self.kept().shelf.remove(&(kind.to_owned(), key.to_owned())).is_some())
    }

    fn kinds<'a>(&'a self, after: &'a str, limit: usize) -> StoreFuture<'a, Vec<String>> {
        let kept = self.kept();
        let kinds: BTreeSet<&String> =
            kept.shelf.keys().map(|(kind, _)| kind).filter(|kind| kind.as_str() > after).collect();
        at_once(kinds.into_iter().take(limit).cloned().collect())
    }

    fn list<'a>(&'a self, kind: &'a str, after: &'a str, limit: usize) -> StoreFuture<'a, Vec<(String, String)>> {
        let kept = self.kept();
        let rest = kept.shelf.iter().filter(|((of, key), _)| of == kind && key.as_str() > after).take(limit);
        at_once(rest.map(|((_, key), body)| (key.clone(), body.clone())).collect())
    }
}
