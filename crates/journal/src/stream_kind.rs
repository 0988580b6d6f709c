//! The `StreamKind` trait: the rules of a stream, the read models derived from its events, and the list of all kinds.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use skald_domain::decider::{Decider, DecisionContext};

use super::{Document, Head, ReadModelChange, Record, SideRowCheck, Snapshot, SnapshotPart, StreamName};

/// A kind of stream: the rules that decide it, and what is derived from its events. Nothing has a default, so that a kind
/// that forgets a part does not compile.
pub trait StreamKind: Send + Sync + 'static {
    type Rules: Decider;
    /// The noun at the beginning of its streams' names.
    const NAME: &'static str;
    /// The version of the state's format in snapshots. Raise it when older snapshots no longer fit.
    const SNAPSHOT_VERSION: u32;
    /// Whether snapshots are written and used. False if the harm of a forged snapshot outweighs the cost of reading all
    /// records.
    const USES_SNAPSHOTS: bool;
    /// How the state is split into snapshot parts: [`WholeSnapshot`](super::WholeSnapshot), or several parts if the
    /// state grows so large that parsing them in parallel pays off.
    type Parts: SnapshotPart<StateOf<Self>>;
    /// A cache of rendered documents that belongs to a state; `()` for most kinds.
    type ReadCache: Default + Send + Sync;

    /// The cache of the next state, which may reuse parts of the cache before.
    fn next_read_cache(before: &Self::ReadCache) -> Self::ReadCache;

    /// An event's name in the history.
    fn event_kind(event: &EventOf<Self>) -> &'static str;

    /// The read model changes for these events; `state` is the state after them. It must be a pure function, since it
    /// runs again whenever the read models are rebuilt.
    fn read_model_changes(stream: &StreamName, state: &StateOf<Self>, events: &[EventOf<Self>])
    -> Vec<ReadModelChange>;

    /// The side rows that a state refers to, by kind and key.
    fn referenced_side_rows(stream: &StreamName, state: &StateOf<Self>) -> Vec<(Cow<'static, str>, String)>;

    /// The side rows that are deleted with these events, by kind and key, in the transaction of their record. The state
    /// after the events must not refer to them.
    fn removed_side_rows(stream: &StreamName, events: &[EventOf<Self>]) -> Vec<(String, String)>;
}

pub type CommandOf<K> = <<K as StreamKind>::Rules as Decider>::Command;
pub type EventOf<K> = <<K as StreamKind>::Rules as Decider>::Event;
pub type RefusalOf<K> = <<K as StreamKind>::Rules as Decider>::Refusal;
pub type StateOf<K> = <<K as StreamKind>::Rules as Decider>::State;

/// The events of a record.
pub fn parse_events<K: StreamKind>(record: &Record) -> Result<Vec<EventOf<K>>, String> {
    serde_json::from_str(&record.body).map_err(|error| error.to_string())
}

/// The time and the caller that the decision of this record was given.
pub(super) fn given_from_record(record: &Record) -> DecisionContext {
    DecisionContext { at: record.at, by: record.by.clone() }
}

/// Replays a stream of any kind, to verify or rebuild what is derived from it.
pub trait StreamFold: Send + Sync {
    fn apply_record(&mut self, record: &Record) -> Result<(), String>;

    /// The snapshot version of this kind, or `None` if it uses no snapshots.
    fn snapshot_version(&self) -> Option<u32>;

    /// Whether the replayed state equals the one in these snapshot parts.
    fn is_equal_to_parts(&self, parts: &[String]) -> bool;

    /// A snapshot of the replayed state.
    fn snapshot(&self, head: Head) -> Option<Snapshot>;

    /// The side rows that the state refers to, by kind and key.
    fn referenced_side_rows(&self) -> Vec<(Cow<'static, str>, String)>;

    /// The documents that the read models must have for this stream, ordered by collection and id.
    fn into_documents(self: Box<Self>) -> Vec<Document>;
}

struct KindFold<K: StreamKind> {
    stream: StreamName,
    state: StateOf<K>,
    documents: BTreeMap<(String, String), Document>,
}

impl<K: StreamKind> StreamFold for KindFold<K> {
    fn apply_record(&mut self, record: &Record) -> Result<(), String> {
        let (events, given) = (parse_events::<K>(record)?, given_from_record(record));
        self.state =
            events.iter().fold(std::mem::take(&mut self.state), |state, event| K::Rules::evolve(state, event, &given));
        for change in K::read_model_changes(&self.stream, &self.state, &events) {
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
        K::USES_SNAPSHOTS.then_some(K::SNAPSHOT_VERSION)
    }

    fn is_equal_to_parts(&self, parts: &[String]) -> bool {
        let Ok(written) = K::Parts::write(&self.state) else { return false };
        // A snapshot of an older Skald may lack optional fields, so both are parsed and serialised again.
        written == parts || rewrite_parts::<K>(parts).is_some_and(|parts| Some(parts) == rewrite_parts::<K>(&written))
    }

    fn snapshot(&self, head: Head) -> Option<Snapshot> {
        let version = self.snapshot_version()?;
        Some(Snapshot { version, head, parts: K::Parts::write(&self.state).ok()? })
    }

    fn referenced_side_rows(&self) -> Vec<(Cow<'static, str>, String)> {
        K::referenced_side_rows(&self.stream, &self.state)
    }

    fn into_documents(self: Box<Self>) -> Vec<Document> {
        self.documents.into_values().collect()
    }
}

/// The parts of a snapshot, parsed and serialised again by this version.
fn rewrite_parts<K: StreamKind>(parts: &[String]) -> Option<Vec<String>> {
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
    pub fn new<K: StreamKind>() -> Self {
        let begin_fold = |stream| -> Box<dyn StreamFold> {
            Box::new(KindFold::<K> { stream, state: StateOf::<K>::default(), documents: BTreeMap::new() })
        };
        Self { name: K::NAME, begin_fold }
    }

    /// The noun at the beginning of its streams' names.
    pub fn name(&self) -> &'static str {
        self.name
    }
}

/// All kinds of streams and of side rows, to verify and rebuild the whole store.
#[derive(Default)]
pub struct StreamKinds {
    kinds: Vec<RegisteredKind>,
    side_rows: Vec<(&'static str, SideRowCheck)>,
}

impl StreamKinds {
    /// A kind of side rows that ends with a slash is a prefix: it stands for all kinds that begin with it.
    pub fn new(kinds: Vec<RegisteredKind>, side_rows: Vec<(&'static str, SideRowCheck)>) -> Self {
        Self { kinds, side_rows }
    }

    #[must_use]
    pub fn with_kind<K: StreamKind>(mut self) -> Self {
        self.kinds.push(RegisteredKind::new::<K>());
        self
    }

    /// The check for rows of a kind; `None` if the kind is unknown.
    pub(super) fn side_row_check(&self, kind: &str) -> Option<SideRowCheck> {
        let is_meant = |known: &str| known == kind || known.ends_with('/') && kind.starts_with(known);
        self.side_rows.iter().find(|(known, _)| is_meant(known)).map(|(_, check)| *check)
    }

    /// Kind and key of the row that sums up pruned rows of a kind, if rows of this kind can be pruned.
    pub(super) fn sum_row_key<'a>(&self, kind: &'a str) -> Option<(&'static str, &'a str)> {
        self.side_rows.iter().find_map(|(sum_kind, check)| match check {
            SideRowCheck::SumsOf(begin) => Some((*sum_kind, kind.strip_prefix(begin)?)),
            _ => None,
        })
    }

    /// Begins to replay a stream; `None` if its kind is unknown.
    pub(super) fn begin_fold(&self, stream: &StreamName) -> Option<Box<dyn StreamFold>> {
        let found = self.kinds.iter().find(|kind| kind.name == stream.noun());
        found.map(|kind| (kind.begin_fold)(stream.clone()))
    }
}

/// The state after a record. Panics are caught, since a panic here would end more than one stream.
pub(super) fn replay_record<K: StreamKind>(
    state: StateOf<K>,
    head: Head,
    record: &Record,
) -> Result<(StateOf<K>, Head), String> {
    if !record.follows(head) {
        return Err(format!("record {} of {} does not follow the one before", record.revision, record.stream));
    }
    let (events, given) = (parse_events::<K>(record)?, given_from_record(record));
    let evolve = || events.iter().fold(state, |state, event| K::Rules::evolve(state, event, &given));
    let state = catch_unwind(AssertUnwindSafe(evolve))
        .map_err(|_| format!("replaying record {} of {} panicked", record.revision, record.stream))?;
    Ok((state, record.head()))
}
