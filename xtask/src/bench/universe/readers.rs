//! Benchmark of thousands of SSE readers of one universe: each must get every command in order, at a bounded cost.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::super::BenchOptions;
use super::super::report::{BenchTarget, ReportTable, group_thousands};
use super::super::server_process::ServerProcess;
use super::universe_server::{BenchClient, UniverseServer, commands_path, universe_id};

const SIZE: usize = 1_000;
const READERS: u32 = 5_000;
/// Commands that each reader waits for.
const COMMANDS_EACH: u32 = 100;
const WRITERS: usize = 4;
/// Most memory that a reader may cost the server.
const KILOBYTES_MAX: f64 = 50.0;
const BYTES_PER_KILOBYTE: f64 = 1e3;

pub(super) fn compare(server: &UniverseServer, options: &BenchOptions) -> anyhow::Result<Vec<BenchTarget>> {
    let before = server.server.process.resident_bytes()?;
    let url = format!("http://{}/universes/{}/events", server.address(), universe_id(SIZE));
    let mut command = Command::new(&options.readers);
    command.args([&url, &READERS.to_string(), &COMMANDS_EACH.to_string()]).stdout(Stdio::piped());
    let mut process = ServerProcess::start(&mut command)?;
    let output = process.child().stdout.take().context("there is no output")?;
    let mut lines = BufReader::new(output).lines();
    ensure!(lines.next().transpose()?.as_deref() == Some("ready"), "the readers could not all connect");
    let connected = server.server.process.resident_bytes()?;
    let has_ended = AtomicBool::new(false);
    let received = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS).map(|_| scope.spawn(|| send_commands(server, &has_ended))).collect();
        let received = lines.next().transpose();
        has_ended.store(true, Ordering::Relaxed);
        let sent: u32 = writers.into_iter().filter_map(|writer| writer.join().ok()).filter_map(Result::ok).sum();
        received.map(|received| (received, sent))
    });
    let (received, sent) = received?;
    let received: Value = serde_json::from_str(&received.context("the readers said nothing")?)?;
    let after = server.server.process.resident_bytes()?;
    let each = |bytes: u64| -> anyhow::Result<f64> {
        Ok(f64::from(u32::try_from(bytes.saturating_sub(before))?) / f64::from(READERS) / BYTES_PER_KILOBYTE)
    };
    let mut table = ReportTable::new(
        format!(
            "{READERS} readers of one universe, {COMMANDS_EACH} commands each, of {sent} that {WRITERS} writers sent meanwhile"
        ),
        &["", ""],
    );
    let figure = |name: &str| received[name].as_f64().unwrap_or(f64::NAN);
    table.add_row(["memory of a reader, connected".to_owned(), format!("{:.1} kB", each(connected)?)]);
    table.add_row(["memory of a reader, afterwards".to_owned(), format!("{:.1} kB", each(after)?)]);
    table.add_row([
        "events a second".to_owned(),
        group_thousands(f64::from(READERS * COMMANDS_EACH) / figure("seconds")),
    ]);
    table.add_row(["seconds".to_owned(), format!("{:.2}", figure("seconds"))]);
    table.print();
    let lost = figure("missing") + figure("out_of_order");
    Ok(vec![
        BenchTarget::at_most(format!("missed or out of order, {READERS} readers"), lost, 0.0, "events"),
        BenchTarget::at_most("memory of a reader", each(after)?, KILOBYTES_MAX, "kB"),
    ])
}

/// Sends commands until the readers have finished. Returns how many.
fn send_commands(server: &UniverseServer, has_ended: &AtomicBool) -> anyhow::Result<u32> {
    let (mut client, path) = (BenchClient::open(server.address())?, commands_path(SIZE));
    let mut sent = 0;
    while !has_ended.load(Ordering::Relaxed) {
        client.send("POST", &path, &json!({"type": "tick", "dt": 1}))?;
        sent += 1;
        // A thousandth of what a server can take, and still more than players send.
        thread::sleep(std::time::Duration::from_millis(5));
    }
    Ok(sent)
}
