//! `Tally`, a small noun for tests of journals: names, each with an amount.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use skald_domain::decider::{Decider, DecisionContext};
use skald_journal::{
    AnswerBuilder, Applied, Document, IdempotencyKey, ReadModelChange, SnapshotPart, StreamKind, StreamName, Streams,
    Submission,
};

pub(crate) struct Tally;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TallyCommand {
    Add {
        name: String,
        amount: i64,
    },
    Remove {
        name: String,
    },
    /// A bug in the rules.
    Panic,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Event {
    Added {
        name: String,
        amount: i64,
    },
    Removed {
        name: String,
    },
    /// An event that is never decided, and panics in a replay.
    Cursed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    NameTaken(String),
    NameMissing(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) amounts: BTreeMap<String, i64>,
    pub(crate) changed_at: Option<Timestamp>,
}

impl State {
    pub(crate) fn total(&self) -> i64 {
        self.amounts.values().sum()
    }
}

impl Decider for Tally {
    type Command = TallyCommand;
    type Event = Event;
    type Refusal = Refusal;
    type State = State;

    fn decide(state: &State, command: &TallyCommand, _given: &DecisionContext) -> Result<Vec<Event>, Refusal> {
        match command {
            TallyCommand::Add { name, .. } if state.amounts.contains_key(name) => Err(Refusal::NameTaken(name.clone())),
            TallyCommand::Add { name, amount } => Ok(vec![Event::Added { name: name.clone(), amount: *amount }]),
            TallyCommand::Remove { name } if state.amounts.contains_key(name) => {
                Ok(vec![Event::Removed { name: name.clone() }])
            }
            TallyCommand::Remove { name } => Err(Refusal::NameMissing(name.clone())),
            TallyCommand::Panic => panic!("a bug in the rules"),
        }
    }

    fn evolve(mut state: State, event: &Event, given: &DecisionContext) -> State {
        match event {
            Event::Added { name, amount } => state.amounts.insert(name.clone(), *amount),
            Event::Removed { name } => state.amounts.remove(name),
            Event::Cursed => panic!("a bug in the rules"),
        };
        state.changed_at = Some(given.at);
        state
    }
}

/// A snapshot part: the time of the last change, or one amount.
pub(crate) struct TallyPart(State);

impl SnapshotPart<State> for TallyPart {
    fn write(state: &State) -> Result<Vec<String>, serde_json::Error> {
        let moment = State { amounts: BTreeMap::new(), ..state.clone() };
        let amounts = state
            .amounts
            .iter()
            .map(|(name, amount)| State { amounts: [(name.clone(), *amount)].into(), changed_at: None });
        [moment].into_iter().chain(amounts).map(|piece| serde_json::to_string(&piece)).collect()
    }

    fn read(text: &str, _is_first: bool) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text).map(Self)
    }

    fn join(parts: Vec<Self>) -> Option<State> {
        parts.into_iter().map(|Self(piece)| piece).reduce(|mut state, piece| {
            state.amounts.extend(piece.amounts);
            state
        })
    }
}

impl StreamKind for Tally {
    type Rules = Self;
    const NAME: &'static str = "tally";
    const SNAPSHOT_VERSION: u32 = 1;
    const USES_SNAPSHOTS: bool = true;
    type Parts = TallyPart;
    type ReadCache = ();

    fn next_read_cache((): &()) {}

    fn event_kind(event: &Event) -> &'static str {
        match event {
            Event::Added { .. } => "added",
            Event::Removed { .. } => "removed",
            Event::Cursed => "cursed",
        }
    }

    fn read_model_changes(stream: &StreamName, state: &State, events: &[Event]) -> Vec<ReadModelChange> {
        let document = |collection: &str, id: String, rank, body| {
            let (collection, partition) = (collection.to_owned(), stream.id().to_owned());
            ReadModelChange::Put(Document { collection, partition, id, rank, body, search: None })
        };
        let total = document("tallies", stream.id().to_owned(), state.total(), state.total().to_string());
        let entries = events.iter().map(|event| {
            let id = |name: &str| format!("{}:{name}", stream.id());
            match event {
                Event::Added { name, amount } => document("entries", id(name), *amount, format!("{name:?}")),
                Event::Removed { name } => ReadModelChange::Delete { collection: "entries".to_owned(), id: id(name) },
                Event::Cursed => ReadModelChange::Delete { collection: "entries".to_owned(), id: String::new() },
            }
        });
        entries.chain([total]).collect()
    }

    fn referenced_side_rows(_: &StreamName, _: &State) -> Vec<(Cow<'static, str>, String)> {
        Vec::new()
    }

    fn removed_side_rows(_: &StreamName, _: &[Event]) -> Vec<(String, String)> {
        Vec::new()
    }
}

pub(crate) fn given() -> DecisionContext {
    DecisionContext { at: Timestamp::new(1_700_000_000, 123_456_789).unwrap(), by: "tester".to_owned() }
}

pub(crate) fn add(name: &str, amount: i64) -> Submission<Tally> {
    Submission::new(TallyCommand::Add { name: name.to_owned(), amount }, given())
}

pub(crate) fn remove(name: &str) -> Submission<Tally> {
    Submission::new(TallyCommand::Remove { name: name.to_owned() }, given())
}

pub(crate) fn with_key(submission: Submission<Tally>, key: &str) -> Submission<Tally> {
    let request = format!("{:?}", submission.command);
    let answer: AnswerBuilder<Tally> =
        Box::new(|done: &Applied<Tally>| format!("total {}", done.committed.state.total()));
    Submission { key: Some((IdempotencyKey::new(key, &[request.as_bytes()]), answer)), ..submission }
}

pub(crate) fn with_expected_revision(submission: Submission<Tally>, expected: u64) -> Submission<Tally> {
    Submission { expected: Some(expected), ..submission }
}

pub(crate) fn stream(id: &str) -> StreamName {
    StreamName::new(Tally::NAME, id)
}

/// Writes a hundred commands while another writer is busy. Returns how many commands of the other were stored while
/// each of these waited, in ascending order.
pub(crate) async fn overtaking_counts(streams: &Streams<Tally>) -> Vec<u64> {
    let mut passed = Vec::new();
    for number in 0..100 {
        let before = streams.read(&stream("one")).await.unwrap().revision();
        let done = streams.execute(&stream("one"), add(&number.to_string(), 1)).await;
        let done = done.map_err(|failure| format!("{failure:?}")).unwrap();
        passed.push(done.revision - before - 1);
    }
    passed.sort_unstable();
    passed
}

/// Whether another writer with 16 commands at a time overtook by a few batches only, and never for long.
pub(crate) fn is_fair(passed: &[u64]) -> bool {
    passed[50] <= 20 * 16 && passed[99] <= 500 * 16
}
