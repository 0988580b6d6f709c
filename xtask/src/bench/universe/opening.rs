//! Benchmark of opening a universe: the first command after a server's start, compared with only reading the store.

use std::thread;
use std::time::Duration;

use anyhow::Context;
use serde_json::{Value, json};

use super::super::BenchOptions;
use super::super::report::{BenchTarget, ReportTable};
use super::super::statistics::median;
use super::read_figures;
use super::universe_server::{BenchClient, UniverseServer, commands_path, universe_id};

/// Bodies, the most milliseconds to open them, and the figure of the example that is printed next to it.
const OPENING_TARGETS: [(usize, f64, &str); 2] =
    [(10_000, 30.0, "open 10000 with a tail of 1000"), (99_900, 200.0, "open 100000 with a tail of 1000")];
/// The revision at which a stream is snapshotted for the first time, and the commands after it.
const SNAPSHOT_REVISION: u64 = 1_000;
const TAIL_COMMANDS: u64 = 1_000;
/// How long a snapshot may take to be stored.
const SNAPSHOT_WAIT: Duration = Duration::from_secs(2);
const STARTS: usize = 5;
const MILLISECONDS: f64 = 1e3;

pub(super) fn compare(
    mut server: UniverseServer,
    options: &BenchOptions,
) -> anyhow::Result<(UniverseServer, Vec<BenchTarget>)> {
    for revision in [SNAPSHOT_REVISION, SNAPSHOT_REVISION + TAIL_COMMANDS] {
        for (size, _, _) in OPENING_TARGETS {
            advance_to_revision(&server, size, revision)?;
        }
        thread::sleep(SNAPSHOT_WAIT);
    }
    let mut first = [const { Vec::new() }; OPENING_TARGETS.len()];
    for _ in 0..STARTS {
        server = server.restart(options)?;
        let mut client = BenchClient::open(server.address())?;
        // Keeps the cost of any first request out of the measurement.
        client.send("GET", "/universes", &Value::Null)?;
        for (times, (size, _, _)) in first.iter_mut().zip(OPENING_TARGETS) {
            let took = client.send("POST", &commands_path(size), &json!({"type": "tick", "dt": 1}))?;
            times.push(took.as_secs_f64() * MILLISECONDS);
        }
    }
    let states = read_figures(&options.universe, "states")?;
    let mut table = ReportTable::new(
        format!(
            "The first command to a universe after a start, {TAIL_COMMANDS} commands after its snapshot, {STARTS} starts"
        ),
        &["bodies", "answered in", "of it, read"],
    );
    let mut gates = Vec::new();
    for (times, (size, most, beside)) in first.iter().zip(OPENING_TARGETS) {
        let took = median(times.iter().copied());
        let read = states.get(beside).with_context(|| format!("there is no figure for {beside}"))? / MILLISECONDS;
        table.add_row([size.to_string(), format!("{took:.1} ms"), format!("{read:.1} ms")]);
        gates.push(BenchTarget::at_most(format!("open {size} bodies after a start"), took, most, "ms"));
    }
    table.print();
    Ok((server, gates))
}

/// Sends ticks until a universe is at this revision.
fn advance_to_revision(server: &UniverseServer, size: usize, to: u64) -> anyhow::Result<()> {
    let mut client = BenchClient::open(server.address())?;
    client.send("GET", &format!("/api/v1/universes/{}/summary", universe_id(size)), &Value::Null)?;
    let summary: Value = serde_json::from_slice(&client.connection.body)?;
    let revision = summary["revision"].as_u64().context("a part has its revision")?;
    for _ in revision..to {
        client.send("POST", &commands_path(size), &json!({"type": "tick", "dt": 1}))?;
    }
    Ok(())
}
