//! Benchmark of universe commands, durably and over REST, in universes of 10 bodies and more.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use serde_json::{Value, json};

use super::super::report::{BenchTarget, ReportTable, group_thousands};
use super::super::statistics::{median, percentile};
use super::universe_server::{BenchClient, SIZES, UniverseServer, add_star, body_id, commands_path};

const ROUNDS: usize = 7;
/// Commands of one writer in a round.
const COMMANDS_ALONE: usize = 150;
/// Writers at once, and commands of each in a round.
const WRITERS: usize = 16;
const COMMANDS_EACH: usize = 100;
/// The highest ratio of a command's cost in the largest universe to that in the smallest.
const GROWTH_MAX: f64 = 1.2;
/// Commands per second of the Solar System Constructor over PostgreSQL, measured on two cores like these: by bodies,
/// with one writer and with 16. With 16 writers it loses nine of ten additions.
const ORIGINAL_TICKS: [(usize, f64, f64); 3] = [(10, 216.0, 657.0), (1_000, 20.0, 41.0), (10_000, 2.1, 2.4)];
const ORIGINAL_ADDS: [(usize, f64, f64); 3] = [(10, 91.0, 86.0), (1_000, 26.0, 29.0), (10_000, 1.4, 1.9)];
/// How many times the original's rate Skald must reach.
const SPEEDUP_MIN: f64 = 3_000.0;

/// The measured commands. Each leaves the universe as large as it was.
#[derive(Clone, Copy, PartialEq)]
enum CommandKind {
    Tick,
    /// Adds a body and removes it again. With one writer, only the addition is timed.
    Add,
    /// Removes a body and adds it again, under the same parent as all others.
    Remove,
    /// Attaches a body to the parent that it has: it moves to the end of the children.
    Attach,
}

const KINDS: [(CommandKind, &str); 4] = [
    (CommandKind::Tick, "tick"),
    (CommandKind::Add, "addStar"),
    (CommandKind::Remove, "removeStar"),
    (CommandKind::Attach, "attachStar"),
];

impl CommandKind {
    /// A command that is timed, and the one that undoes it, which is not.
    fn command_and_undo(self, writer: usize, number: usize, size: usize) -> (Value, Option<Value>) {
        let new = format!("new-{writer}-{number}");
        let old = body_id(1 + (writer * 7 + number) % (size - 1));
        let remove = |id: &str| json!({"type": "removeStar", "id": id});
        match self {
            Self::Tick => (json!({"type": "tick", "dt": 1}), None),
            Self::Add => (add_star(&new, true), Some(remove(&new))),
            Self::Remove => (remove(&old), Some(add_star(&old, true))),
            Self::Attach => (json!({"type": "attachStar", "childId": old, "parentId": body_id(0)}), None),
        }
    }
}

pub(super) fn compare(server: &UniverseServer) -> anyhow::Result<Vec<BenchTarget>> {
    let mut gates = Vec::new();
    for (kind, name) in KINDS {
        let (mut alone, mut together) = (vec![Vec::new(); SIZES.len()], vec![Vec::new(); SIZES.len()]);
        for _ in 0..ROUNDS {
            for (at, size) in SIZES.into_iter().enumerate() {
                alone[at].push(measure_latency(server, kind, size)?);
            }
            // Two writers cannot remove the same body.
            if kind == CommandKind::Tick || kind == CommandKind::Add {
                for (at, size) in SIZES.into_iter().enumerate() {
                    together[at].push(measure_rate(server, kind, size)?);
                }
            }
        }
        print_table(name, kind, &alone, &together);
        gates.extend(judge_targets(name, &alone, &together));
    }
    Ok(gates)
}

/// The median of one writer's commands, in milliseconds.
fn measure_latency(server: &UniverseServer, kind: CommandKind, size: usize) -> anyhow::Result<f64> {
    let mut client = BenchClient::open(server.address())?;
    let path = commands_path(size);
    let mut took = Vec::new();
    for number in 0..COMMANDS_ALONE {
        let (timed, other) = kind.command_and_undo(0, number, size);
        took.push(client.send("POST", &path, &timed)?);
        if let Some(other) = other {
            client.send("POST", &path, &other)?;
        }
    }
    took.sort_unstable();
    Ok(percentile(&took, 0.5).as_secs_f64() * 1e3)
}

/// The commands a second of all writers together.
#[expect(clippy::cast_precision_loss, reason = "some thousands")]
fn measure_rate(server: &UniverseServer, kind: CommandKind, size: usize) -> anyhow::Result<f64> {
    let path = commands_path(size);
    let clients = (0..WRITERS).map(|_| BenchClient::open(server.address())).collect::<anyhow::Result<Vec<_>>>()?;
    let started = Instant::now();
    let sent: Vec<anyhow::Result<usize>> = thread::scope(|scope| {
        let write = |(writer, mut client): (usize, BenchClient)| {
            let path = &path;
            scope.spawn(move || {
                let mut sent = 0;
                for number in 0..COMMANDS_EACH {
                    let (timed, other) = kind.command_and_undo(writer, number, size);
                    for command in [Some(timed), other].into_iter().flatten() {
                        client.send("POST", path, &command)?;
                        sent += 1;
                    }
                }
                Ok(sent)
            })
        };
        let writers: Vec<_> = clients.into_iter().enumerate().map(write).collect();
        writers.into_iter().map(|writer| writer.join().unwrap_or_else(|_| Err(anyhow!("a writer panicked")))).collect()
    });
    let wall: Duration = started.elapsed();
    let sent = sent.into_iter().sum::<anyhow::Result<usize>>()?;
    Ok(sent as f64 / wall.as_secs_f64())
}

fn print_table(name: &str, kind: CommandKind, alone: &[Vec<f64>], together: &[Vec<f64>]) {
    let title = format!("{name}, durable, over REST, medians of {ROUNDS} rounds; the original where it was measured");
    let headings = ["bodies", "one writer", "a second", "16 writers, a second", "original, one", "original, 16"];
    let mut table = ReportTable::new(title, &headings);
    let original: &[(usize, f64, f64)] = match kind {
        CommandKind::Tick => &ORIGINAL_TICKS,
        CommandKind::Add => &ORIGINAL_ADDS,
        CommandKind::Remove | CommandKind::Attach => &[],
    };
    for (at, size) in SIZES.into_iter().enumerate() {
        let one = median(alone[at].iter().copied());
        let many = median(together[at].iter().copied());
        let was = original.iter().find(|(bodies, _, _)| *bodies == size);
        table.add_row([
            size.to_string(),
            format!("{one:.3} ms"),
            group_thousands(1e3 / one),
            if many.is_nan() { String::new() } else { group_thousands(many) },
            was.map(|(_, one, _)| one.to_string()).unwrap_or_default(),
            was.map(|(_, _, many)| many.to_string()).unwrap_or_default(),
        ]);
    }
    table.print();
}

fn judge_targets(name: &str, alone: &[Vec<f64>], together: &[Vec<f64>]) -> Vec<BenchTarget> {
    // Compare round by round, since the machine's speed drifts.
    let ratio = |small: &[f64], large: &[f64]| median(small.iter().zip(large).map(|(small, large)| large / small));
    let (smallest, largest) = (0, SIZES.len() - 1);
    let flat = ratio(&alone[smallest], &alone[largest]);
    let mut gates =
        vec![BenchTarget::ratio_at_most(format!("{name} at 99,900 bodies, of that at 10"), flat, GROWTH_MAX)];
    if !together[smallest].is_empty() {
        let flat = ratio(&together[largest], &together[smallest]);
        gates.push(BenchTarget::ratio_at_most(format!("{name} at 99,900 bodies, 16 writers"), flat, GROWTH_MAX));
        let original = if name == "tick" { ORIGINAL_TICKS } else { ORIGINAL_ADDS };
        let times = median(together[2].iter().copied()) / original[2].2;
        gates.push(BenchTarget::at_least(
            format!("{name} at 10,000 bodies, 16 writers, of the original"),
            times,
            SPEEDUP_MIN,
        ));
    }
    gates
}
