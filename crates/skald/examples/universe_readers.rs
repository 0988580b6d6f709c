//! Load test: thousands of SSE readers of one universe in one process. None may miss a command, or get one twice or out
//! of order. Start it, wait for `ready`, send the commands from elsewhere; it ends when each reader has got all of
//! them.

use std::error::Error;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::sync::{Barrier, Semaphore};

type ReaderFailure = Box<dyn Error + Send + Sync>;

const USAGE: &str = "usage: universe_readers http://HOST:PORT/universes/ID/events [READERS [COMMANDS]]";
/// Concurrent connection attempts: the accept queue of a listener is short.
const CONNECTING: usize = 128;
/// How long a reader waits for the next line.
const PATIENCE: Duration = Duration::from_mins(1);
/// File descriptors that are needed besides those of the readers.
const BESIDE: u64 = 50;

/// The id of an event: a revision, and how many parts of the next one.
type EventId = (u64, u64);

/// The events that one reader got.
#[derive(Default)]
struct ReaderLog {
    commands: usize,
    missing: u64,
    out_of_order: u64,
    first: Option<EventId>,
    last: Option<EventId>,
    span: Option<(Instant, Instant)>,
}

impl ReaderLog {
    /// Records an event. The `event:` line before its id says whether it is a command.
    fn record(&mut self, id: EventId, is_command: bool) {
        match self.last {
            Some(last) if id <= last => self.out_of_order += 1,
            Some(last) => self.missing += missing_between(last, id),
            None => self.first = Some(id),
        }
        self.last = Some(id);
        self.commands += usize::from(is_command);
        let now = Instant::now();
        self.span = Some((self.span.map_or(now, |(began, _)| began), now));
    }
}

/// The least number of ids that are missing between two.
fn missing_between((revision, part): EventId, (to, next): EventId) -> u64 {
    match to - revision {
        0 => next - part - 1,
        // The end of the revision that the part belongs to.
        1 if next == 0 => 0,
        revisions => revisions - u64::from(next == 0) + next.saturating_sub(1),
    }
}

fn parse_id(text: &str) -> Option<EventId> {
    let (revision, part) = text.split_once('.').unwrap_or((text, "0"));
    Some((revision.parse().ok()?, part.parse().ok()?))
}

/// Opens the stream, and reads until `:connected`.
async fn connect(address: &str, path: &str) -> Result<BufReader<TcpStream>, ReaderFailure> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nAccept: text/event-stream\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let (mut reader, mut line) = (BufReader::with_capacity(4_096, stream), String::new());
    let mut status = None;
    while line.trim_end() != ":connected" {
        line.clear();
        if tokio::time::timeout(PATIENCE, reader.read_line(&mut line)).await?? == 0 {
            return Err(format!("the stream ended at once: {}", status.unwrap_or_default()).into());
        }
        status = status.or_else(|| Some(line.trim_end().to_owned()));
    }
    Ok(reader)
}

/// Reads until so many commands have come, the stream ends, or nothing comes any more.
async fn read_commands(mut reader: BufReader<TcpStream>, commands: usize) -> ReaderLog {
    let (mut heard, mut line, mut is_command) = (ReaderLog::default(), String::new(), false);
    while heard.commands < commands {
        line.clear();
        if !matches!(tokio::time::timeout(PATIENCE, reader.read_line(&mut line)).await, Ok(Ok(1..))) {
            break;
        }
        if let Some(event) = line.strip_prefix("event:") {
            is_command = event.trim() == "command";
        } else if let Some(id) = line.strip_prefix("id:").and_then(|id| parse_id(id.trim())) {
            heard.record(id, is_command);
        }
    }
    heard
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), ReaderFailure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let url = arguments.first().ok_or(USAGE)?;
    let (address, path) = url.strip_prefix("http://").and_then(|rest| rest.split_once('/')).ok_or(USAGE)?;
    let readers: usize = arguments.get(1).map_or(Ok(5_000), |text| text.parse())?;
    let commands: usize = arguments.get(2).map_or(Ok(100), |text| text.parse())?;
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit })?;
    if limit.maximum.is_some_and(|most| most < readers as u64 + BESIDE) {
        return Err(format!("{readers} readers need more open files than the limit of {:?}", limit.maximum).into());
    }

    let (connecting, all) = (Arc::new(Semaphore::new(CONNECTING)), Arc::new(Barrier::new(readers + 1)));
    let (address, path): (Arc<str>, Arc<str>) = (address.into(), format!("/{path}").into());
    let tasks: Vec<_> = (0..readers)
        .map(|_| {
            let (connecting, all, address, path) = (connecting.clone(), all.clone(), address.clone(), path.clone());
            tokio::spawn(async move {
                let turn = connecting.acquire_owned().await;
                let connected = connect(&address, &path).await;
                drop(turn);
                all.wait().await;
                Ok::<ReaderLog, ReaderFailure>(read_commands(connected?, commands).await)
            })
        })
        .collect();
    all.wait().await;
    writeln!(std::io::stdout(), "ready")?;

    let mut heard = Vec::with_capacity(readers);
    for task in tasks {
        heard.push(task.await??);
    }
    // All were connected before the first command was sent, so all begin with the same one.
    let first = heard.iter().filter_map(|heard| heard.first).min();
    let late = |heard: &ReaderLog| heard.first.zip(first).is_some_and(|(own, first)| own != first);
    let lost: u64 = heard.iter().map(|heard| heard.missing + (commands - heard.commands) as u64).sum();
    let missing = lost + heard.iter().filter(|heard| late(heard)).count() as u64;
    let out_of_order: u64 = heard.iter().map(|heard| heard.out_of_order).sum();
    let began = heard.iter().filter_map(|heard| heard.span).map(|(began, _)| began).min();
    let ended = heard.iter().filter_map(|heard| heard.span).map(|(_, ended)| ended).max();
    let seconds = began.zip(ended).map_or(0.0, |(began, ended)| (ended - began).as_secs_f64());
    let told = json!({
        "readers": readers, "commands": commands, "missing": missing, "out_of_order": out_of_order, "seconds": seconds
    });
    writeln!(std::io::stdout(), "{told}")?;
    Ok(())
}
