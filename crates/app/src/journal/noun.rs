//! A noun as the journal sees it: the rules, and what is derived beside the state.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use domain::decider::{Decider, Given};

use super::{BesideCheck, Change, Document, Head, Parted, Record, Snapshot, StreamName};

/// Rules whose events are kept in a journal.
pub trait Noun: Decider {
    /// What its streams begin with.
    const NAME: &'static str;
    /// Of the state's shape in snapshots: raise it when older ones no longer fit.
    const SNAPSHOT_VERSION: u32 = 1;
    /// Whether a stream is opened at a snapshot, and some are kept: not if what a forged one could say is worth more than
    /// reading all records.
    const IS_OPENED_AT_SNAPSHOTS: bool = true;
    /// The state in snapshots: [`Whole`](super::Whole), unless it grows so large that its parts are worth reading at once.
    type Parts: Parted<Self::State>;
    /// What is made ready of a state for its readers; nothing, for most.
    type Ready: Default + Send + Sync;

    /// What there is of the state that comes after one.
    fn next(_before: &Self::Ready) -> Self::Ready {
        Self::Ready::default()
    }

    /// An event's name in the history.
    fn kind(event: &Self::Event) -> &'static str;

    /// What these events, which led to this state, change in the read models. A pure function: it runs again whenever
    /// the read models are rebuilt.
    fn index(_stream: &StreamName, _state: &Self::State, _events: &[Self::Event]) -> Vec<Change> {
        Vec::new()
    }

    /// What a state needs beside the journal, by kind and key.
    fn needed_content(_state: &Self::State) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

/// The events of a record.
pub(crate) fn events<N: Noun>(record: &Record) -> Result<Vec<N::Event>, String> {
    serde_json::from_str(&record.body).map_err(|error| error.to_string())
}

/// What a decision knew when it became this record.
pub(super) fn given(record: &Record) -> Given {
    Given { at: record.at, by: record.by.clone() }
}

/// Replays a stream of some noun for what is derived from it.
pub trait Fold: Send + Sync {
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

struct Folding<N: Noun> {
    stream: StreamName,
    state: N::State,
    documents: BTreeMap<(String, String), Document>,
}

impl<N: Noun> Fold for Folding<N> {
    fn record(&mut self, record: &Record) -> Result<(), String> {
        let (events, given) = (events::<N>(record)?, given(record));
        self.state =
            events.iter().fold(std::mem::take(&mut self.state), |state, event| N::evolve(state, event, &given));
        for change in N::index(&self.stream, &self.state, &events) {
            let (collection, id) = change.key();
            let key = (collection.to_owned(), id.to_owned());
            match change {
                Change::Put(document) => self.documents.insert(key, document),
                Change::Delete { .. } => self.documents.remove(&key),
            };
        }
        Ok(())
    }

    fn snapshot_version(&self) -> Option<u32> {
        N::IS_OPENED_AT_SNAPSHOTS.then_some(N::SNAPSHOT_VERSION)
    }

    fn is_written_as(&self, parts: &[String]) -> bool {
        let Ok(written) = N::Parts::write(&self.state) else { return false };
        // A snapshot of an older Skald may lack what can be left out, so both are read and written again.
        written == parts || written_again::<N>(parts).is_some_and(|parts| Some(parts) == written_again::<N>(&written))
    }

    fn snapshot(&self, head: Head) -> Option<Snapshot> {
        let version = self.snapshot_version()?;
        Some(Snapshot { version, head, parts: N::Parts::write(&self.state).ok()? })
    }

    fn needed_content(&self) -> Vec<(&'static str, String)> {
        N::needed_content(&self.state)
    }

    fn documents(self: Box<Self>) -> Vec<Document> {
        self.documents.into_values().collect()
    }
}

/// The parts of a snapshot as this program would write the state in them.
fn written_again<N: Noun>(parts: &[String]) -> Option<Vec<String>> {
    let read = parts.iter().enumerate().map(|(number, text)| N::Parts::read(text, number == 0).ok());
    N::Parts::write(&N::Parts::join(read.collect::<Option<_>>()?)?).ok()
}

type Begin = fn(StreamName) -> Box<dyn Fold>;

/// All nouns, by name, and what is known of rows beside the journal: for whoever goes through all that is stored.
#[derive(Default)]
pub struct Nouns {
    nouns: Vec<(&'static str, Begin)>,
    beside: Vec<(&'static str, BesideCheck)>,
}

impl Nouns {
    #[must_use]
    pub fn with<N: Noun>(mut self) -> Self {
        let begin: Begin =
            |stream| Box::new(Folding::<N> { stream, state: N::State::default(), documents: BTreeMap::new() });
        self.nouns.push((N::NAME, begin));
        self
    }

    /// How the rows of a kind are checked that lie beside the journal. A kind that ends with a slash is all that begin so.
    #[must_use]
    pub fn with_beside(mut self, kind: &'static str, check: BesideCheck) -> Self {
        self.beside.push((kind, check));
        self
    }

    pub(super) fn beside(&self, kind: &str) -> Option<BesideCheck> {
        let is_meant = |known: &str| known == kind || known.ends_with('/') && kind.starts_with(known);
        self.beside.iter().find(|(known, _)| is_meant(known)).map(|(_, check)| *check)
    }

    /// Kind and key of the sum of those rows of a kind that are no longer kept one by one, if there can be such.
    pub(super) fn sum_of<'a>(&self, kind: &'a str) -> Option<(&'static str, &'a str)> {
        self.beside.iter().find_map(|(sum_kind, check)| match check {
            BesideCheck::SumsOf(begin) => Some((*sum_kind, kind.strip_prefix(begin)?)),
            _ => None,
        })
    }

    /// `None` for a noun that is not known here.
    pub(super) fn fold(&self, stream: &StreamName) -> Option<Box<dyn Fold>> {
        let found = self.nouns.iter().find(|(name, _)| *name == stream.noun());
        found.map(|(_, begin)| begin(stream.clone()))
    }
}

/// The state after a record. It runs where a panic would end more than one stream, so it lets none through.
pub(super) fn replay<N: Noun>(state: N::State, head: Head, record: &Record) -> Result<(N::State, Head), String> {
    if !record.follows(head) {
        return Err(format!("record {} of {} does not follow the one before", record.revision, record.stream));
    }
    let (events, given) = (events::<N>(record)?, given(record));
    let evolve = || events.iter().fold(state, |state, event| N::evolve(state, event, &given));
    let state = catch_unwind(AssertUnwindSafe(evolve))
        .map_err(|_| format!("replaying record {} of {} panicked", record.revision, record.stream))?;
    Ok((state, record.head()))
}
