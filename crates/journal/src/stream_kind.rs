//! The `StreamKind` trait: the rules of a stream, the read models derived from its events, and the list of all kinds.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use skald_domain::decider::{Decider, Given};

use super::{Document, Head, ReadModelChange, Record, SideRowCheck, Snapshot, SnapshotPart, StreamName};

/// A kind of stream: the rules that decide it, and what is derived from its events.
pub trait StreamKind: Send + Sync + 'static {
    type Rules: Decider;
    /// What its streams begin with.
    const NAME: &'static str;
    /// Of the state's shape in snapshots: raise it when older ones no longer fit.
    const SNAPSHOT_VERSION: u32 = 1;
    /// Whether a stream is opened at a snapshot, and some are kept: not if what a forged one could say is worth more than
    /// reading all records.
    const IS_OPENED_AT_SNAPSHOTS: bool = true;
    /// The state in snapshots: [`WholeSnapshot`](super::WholeSnapshot), unless it grows so large that its parts are worth reading at once.
    type Parts: SnapshotPart<StateOf<Self>>;
    /// What is made ready of a state for its readers; nothing, for most.
    type ReadCache: Default + Send + Sync;

    /// What there is of the state that comes after one.
    fn next_read_cache(_before: &Self::ReadCache) -> Self::ReadCache {
        Self::ReadCache::default()
    }

    /// An event's name in the history.
    fn kind(event: &EventOf<Self>) -> &'static str;

    /// What these events, which led to this state, change in the read models. A pure function: it runs again whenever
    /// the read models are rebuilt.
    fn index(_stream: &StreamName, _state: &StateOf<Self>, _events: &[EventOf<Self>]) -> Vec<ReadModelChange> {
        Vec::new()
    }

    /// What a state needs beside the journal, by kind and key.
    fn needed_content(_state: &StateOf<Self>) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

pub type CommandOf<K> = <<K as StreamKind>::Rules as Decider>::Command;
pub type EventOf<K> = <<K as StreamKind>::Rules as Decider>::Event;
pub type RefusalOf<K> = <<K as StreamKind>::Rules as Decider>::Refusal;
pub type StateOf<K> = <<K as StreamKind>::Rules as Decider>::State;

/// The events of a record.
pub fn events<K: StreamKind>(record: &Record) -> Result<Vec<EventOf<K>>, String> {
    serde_json::from_str(&record.body).map_err(|error| error.to_string())
}

/// What a decision knew when it became this record.
pub(super) fn given(record: &Record) -> Given {
    Given { at: record.at, by: record.by.clone() }
}

/// Replays a stream of some noun for what is derived from it.
pub trait StreamFold: Send + Sync {
    fn record(&mut self, record: &Record) -> Result<(), String>;

    /// The version of the snapshots that streams of this noun are opened at, if they are.
    fn snapshot_version(&self) -> Option<u32>;

    /// Whether the state that was come to is the one in these parts of a snapshot.
    fn is_written_as(&self, parts: &[String]) -> bool;

    /// A snapshot of the state that was come to.
    fn snapshot(&self, head: Head) -> Option<Snapshot>;

    /// What the state needs beside the journal, by kind and key.
    fn needed_content(&self) -> Vec<(&'static str, String)>;

    /// What the read models must hold of this stream, by collection and id.
    fn documents(self: Box<Self>) -> Vec<Document>;
}

struct KindFold<K: StreamKind> {
    stream: StreamName,
    state: StateOf<K>,
    documents: BTreeMap<(String, String), Document>,
}

impl<K: StreamKind> StreamFold for KindFold<K> {
    fn record(&mut self, record: &Record) -> Result<(), String> {
        let (events, given) = (events::<K>(record)?, given(record));
        self.state =
            events.iter().fold(std::mem::take(&mut self.state), |state, event| K::Rules::evolve(state, event, &given));
        for change in K::index(&self.stream, &self.state, &events) {
            let (collection, id) = change.key();
            let key = (collection.to_owned(), id.to_owned());
            match change {
                ReadModelChange::Put(document) => self.documents.insert(key, document),
                ReadModelChange::Delete { .. } => self.documents.remove(&key),
            };
        }
        Ok(())
    }

    fn snapshot_version(&self) -> Option<u32> {
        K::IS_OPENED_AT_SNAPSHOTS.then_some(K::SNAPSHOT_VERSION)
    }

    fn is_written_as(&self, parts: &[String]) -> bool {
        let Ok(written) = K::Parts::write(&self.state) else { return false };
        // A snapshot of an older Skald may lack what can be left out, so both are read and written again.
        written == parts || written_again::<K>(parts).is_some_and(|parts| Some(parts) == written_again::<K>(&written))
    }

    fn snapshot(&self, head: Head) -> Option<Snapshot> {
        let version = self.snapshot_version()?;
        Some(Snapshot { version, head, parts: K::Parts::write(&self.state).ok()? })
    }

    fn needed_content(&self) -> Vec<(&'static str, String)> {
        K::needed_content(&self.state)
    }

    fn documents(self: Box<Self>) -> Vec<Document> {
        self.documents.into_values().collect()
    }
}

/// The parts of a snapshot as this program would write the state in them.
fn written_again<K: StreamKind>(parts: &[String]) -> Option<Vec<String>> {
    let read = parts.iter().enumerate().map(|(number, text)| K::Parts::read(text, number == 0).ok());
    K::Parts::write(&K::Parts::join(read.collect::<Option<_>>()?)?).ok()
}

/// A kind of stream as a value, for lists of all kinds.
#[derive(Clone, Copy)]
pub struct RegisteredKind {
    name: &'static str,
    begin_fold: fn(StreamName) -> Box<dyn StreamFold>,
}

impl RegisteredKind {
    pub fn of<K: StreamKind>() -> Self {
        let begin_fold = |stream| -> Box<dyn StreamFold> {
            Box::new(KindFold::<K> { stream, state: StateOf::<K>::default(), documents: BTreeMap::new() })
        };
        Self { name: K::NAME, begin_fold }
    }

    /// What the names of its streams begin with.
    pub fn name(&self) -> &'static str {
        self.name
    }
}

/// All kinds of streams, and of rows beside the journal: for whoever goes through all that is stored.
#[derive(Default)]
pub struct StreamKinds {
    kinds: Vec<RegisteredKind>,
    side_rows: Vec<(&'static str, SideRowCheck)>,
}

impl StreamKinds {
    /// Rows beside the journal have a kind; one that ends with a slash stands for all that begin so.
    pub fn new(kinds: Vec<RegisteredKind>, side_rows: Vec<(&'static str, SideRowCheck)>) -> Self {
        Self { kinds, side_rows }
    }

    #[must_use]
    pub fn with<K: StreamKind>(mut self) -> Self {
        self.kinds.push(RegisteredKind::of::<K>());
        self
    }

    /// How rows of a kind are checked; `None` if the kind is not known here.
    pub(super) fn side_row_check(&self, kind: &str) -> Option<SideRowCheck> {
        let is_meant = |known: &str| known == kind || known.ends_with('/') && kind.starts_with(known);
        self.side_rows.iter().find(|(known, _)| is_meant(known)).map(|(_, check)| *check)
    }

    /// Kind and key of the sum of those rows of a kind that are no longer kept one by one, if there can be such.
    pub(super) fn sum_of<'a>(&self, kind: &'a str) -> Option<(&'static str, &'a str)> {
        self.side_rows.iter().find_map(|(sum_kind, check)| match check {
            SideRowCheck::SumsOf(begin) => Some((*sum_kind, kind.strip_prefix(begin)?)),
            _ => None,
        })
    }

    /// `None` for a kind that is not known here.
    pub(super) fn fold(&self, stream: &StreamName) -> Option<Box<dyn StreamFold>> {
        let found = self.kinds.iter().find(|kind| kind.name == stream.noun());
        found.map(|kind| (kind.begin_fold)(stream.clone()))
    }
}

/// The state after a record. It runs where a panic would end more than one stream, so it lets none through.
pub(super) fn replay<K: StreamKind>(
    state: StateOf<K>,
    head: Head,
    record: &Record,
) -> Result<(StateOf<K>, Head), String> {
    if !record.follows(head) {
        return Err(format!("record {} of {} does not follow the one before", record.revision, record.stream));
    }
    let (events, given) = (events::<K>(record)?, given(record));
    let evolve = || events.iter().fold(state, |state, event| K::Rules::evolve(state, event, &given));
    let state = catch_unwind(AssertUnwindSafe(evolve))
        .map_err(|_| format!("replaying record {} of {} panicked", record.revision, record.stream))?;
    Ok((state, record.head()))
}
