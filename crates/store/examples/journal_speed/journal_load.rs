//! Benchmark of the journal under load.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use skald_domain::decider::{Decider, DecisionContext};
use skald_journal::{Journal, ReadModelChange, StreamKind, StreamName, Streams, Submission, WholeSnapshot};
use skald_store::{Sqlite, SqliteSettings};

const BODY_BYTES: usize = 180;

/// Counts, with events as long as real ones are.
pub(crate) struct CounterStream;

#[derive(Serialize, Deserialize)]
pub(crate) struct CountedEvent {
    note: String,
}

impl Decider for CounterStream {
    type Command = String;
    type Event = CountedEvent;
    type Refusal = ();
    type State = u64;

    fn decide(_state: &u64, note: &String, _given: &DecisionContext) -> Result<Vec<CountedEvent>, ()> {
        Ok(vec![CountedEvent { note: note.clone() }])
    }

    fn evolve(state: u64, _event: &CountedEvent, _given: &DecisionContext) -> u64 {
        state + 1
    }
}

impl StreamKind for CounterStream {
    type Rules = Self;
    const NAME: &'static str = "counter";
    const SNAPSHOT_VERSION: u32 = 1;
    const USES_SNAPSHOTS: bool = true;
    type Parts = WholeSnapshot<u64>;
    type ReadCache = ();

    fn next_read_cache((): &()) {}

    fn event_kind(_event: &CountedEvent) -> &'static str {
        "counted"
    }

    fn read_model_changes(_: &StreamName, _: &u64, _: &[CountedEvent]) -> Vec<ReadModelChange> {
        Vec::new()
    }

    fn referenced_side_rows(_: &StreamName, _: &u64) -> Vec<(Cow<'static, str>, String)> {
        Vec::new()
    }

    fn removed_side_rows(_: &StreamName, _: &[CountedEvent]) -> Vec<(String, String)> {
        Vec::new()
    }
}

pub(crate) fn submission() -> Submission<CounterStream> {
    let given = DecisionContext { at: Timestamp::UNIX_EPOCH, by: "local".to_owned() };
    Submission::new("x".repeat(BODY_BYTES), given)
}

/// An event as it is stored.
pub(crate) fn body() -> String {
    serde_json::to_string(&[CountedEvent { note: "x".repeat(BODY_BYTES) }]).unwrap()
}

pub(crate) async fn open(path: &Path) -> Arc<dyn Journal> {
    Sqlite::open(path, SqliteSettings::default()).await.unwrap()
}

pub(crate) struct Driven {
    rows: u64,
    pub(crate) commits: usize,
    took: Duration,
    waits: Vec<Duration>,
}

impl Driven {
    pub(crate) fn rows_per_second(&self) -> f64 {
        self.rows as f64 / self.took.as_secs_f64()
    }

    pub(crate) fn rows_per_commit(&self) -> f64 {
        self.rows as f64 / self.commits as f64
    }

    pub(crate) fn worst_ms(&self) -> f64 {
        self.waits.iter().max().unwrap().as_secs_f64() * 1e3
    }

    pub(crate) fn p50_ms(mut self) -> f64 {
        self.waits.sort();
        self.waits[self.waits.len() / 2].as_secs_f64() * 1e3
    }
}

/// Writers that each send the next command when the last was answered.
pub(crate) async fn drive(journal: Arc<dyn Journal>, writers: usize, streams: usize, time: Duration) -> Driven {
    let wakes = journal.subscribe_appends();
    let before = *wakes.borrow();
    let open = Arc::new(Streams::<CounterStream>::new(journal));
    let names: Vec<StreamName> = (0..streams).map(|number| StreamName::new("counter", &number.to_string())).collect();
    let began = Instant::now();
    let tasks: Vec<_> = (0..writers)
        .map(|writer| {
            let (open, stream) = (Arc::clone(&open), names[writer % names.len()].clone());
            tokio::spawn(async move {
                let mut waits = Vec::new();
                while began.elapsed() < time {
                    let sent = Instant::now();
                    open.execute(&stream, submission()).await.map_err(|_| "failed").unwrap();
                    waits.push(sent.elapsed());
                }
                waits
            })
        })
        .collect();
    let mut waits = Vec::new();
    for task in tasks {
        waits.extend(task.await.unwrap());
    }
    let commits = usize::try_from(*wakes.borrow() - before).unwrap();
    let took = began.elapsed();
    // What comes next is not to share the machine with the end of this.
    let journal = Arc::downgrade(open.journal());
    drop(open);
    while journal.strong_count() > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    Driven { rows: waits.len() as u64, commits, took, waits }
}

/// Makes a stream so long.
pub(crate) async fn grow(journal: &Arc<dyn Journal>, id: &str, length: u64) {
    let open = Arc::new(Streams::<CounterStream>::new(Arc::clone(journal)));
    let stream = StreamName::new("counter", id);
    let writers = length.min(200);
    let tasks: Vec<_> = (0..writers)
        .map(|_| {
            let (open, stream) = (Arc::clone(&open), stream.clone());
            tokio::spawn(async move {
                for _ in 0..length / writers {
                    open.execute(&stream, submission()).await.map_err(|_| "failed").unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}

/// One writer on an open stream.
pub(crate) async fn command_p50_ms(journal: &Arc<dyn Journal>, id: &str) -> f64 {
    let open = Streams::<CounterStream>::new(Arc::clone(journal));
    let stream = StreamName::new("counter", id);
    for _ in 0..10 {
        open.execute(&stream, submission()).await.map_err(|_| "failed").unwrap();
    }
    let mut waits = Vec::new();
    for _ in 0..300 {
        let sent = Instant::now();
        open.execute(&stream, submission()).await.map_err(|_| "failed").unwrap();
        waits.push(sent.elapsed().as_secs_f64() * 1e3);
    }
    crate::median(waits)
}

pub(crate) async fn open_ms(journal: &Arc<dyn Journal>, id: &str) -> f64 {
    let began = Instant::now();
    let kept = Streams::<CounterStream>::new(Arc::clone(journal)).read(&StreamName::new("counter", id)).await.unwrap();
    assert!(kept.state >= 10);
    began.elapsed().as_secs_f64() * 1e3
}
