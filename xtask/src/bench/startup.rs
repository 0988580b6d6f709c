//! Benchmark of Skald's start: time to the first answer, and memory after it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use super::BenchOptions;
use super::call_mode::{self, CallMode};
use super::peer::{self, Peer};
use super::report::{BenchTarget, ReportTable};
use super::server_process::ServerProcess;
use super::statistics::{extremes, median};
use crate::paths;

const RUNS: u32 = 21;
const MILLISECONDS_MAX: f64 = 20.0;
/// Megabytes that are resident after the first stdio answer.
pub(super) const RESIDENT_MEGABYTES_MAX: f64 = 16.0;
/// Megabytes that are resident in a server over HTTP that nobody has called.
const IDLE_SERVER_MEGABYTES_MAX: f64 = 20.0;
pub(super) const MILLISECONDS: f64 = 1e3;
const BYTES_PER_MEGABYTE: f64 = 1e6;

/// Measures the start over stdio and the idle server over HTTP.
pub(crate) fn compare(options: &BenchOptions) -> anyhow::Result<Vec<BenchTarget>> {
    let (mut milliseconds, mut stdio_megabytes, mut http_megabytes) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let (took, bytes) = measure_first_answer(options).context("the start over stdio")?;
        milliseconds.push(took.as_secs_f64() * MILLISECONDS);
        stdio_megabytes.push(to_megabytes(bytes)?);
        let server = peer::start_server(Peer::Skald, CallMode::Session, options)?;
        http_megabytes.push(to_megabytes(server.process.resident_bytes()?)?);
    }
    let mut table =
        ReportTable::new(format!("Start and memory of Skald, medians of {RUNS} runs"), &["", "median", "min", "max"]);
    for (name, values, unit) in [
        ("start to first stdio answer", &milliseconds, "ms"),
        ("resident after it", &stdio_megabytes, "MB"),
        ("resident, HTTP, idle", &http_megabytes, "MB"),
    ] {
        let (low, high) = extremes(values.iter().copied());
        let middle = median(values.iter().copied());
        let figures = [middle, low, high].map(|value| format!("{value:.1} {unit}"));
        table.add_row([&[name.to_owned()], &figures[..]].concat());
    }
    table.print();
    Ok(vec![
        BenchTarget::at_most("start to first stdio answer", median(milliseconds), MILLISECONDS_MAX, "ms"),
        BenchTarget::at_most("resident after it", median(stdio_megabytes), RESIDENT_MEGABYTES_MAX, "MB"),
        BenchTarget::at_most("resident, HTTP, idle", median(http_megabytes), IDLE_SERVER_MEGABYTES_MAX, "MB"),
    ])
}

/// The time from the start to the answer to `initialize`, and the bytes resident then.
pub(super) fn measure_first_answer(options: &BenchOptions) -> anyhow::Result<(Duration, u64)> {
    let message = call_mode::initialize_message();
    let mut command = Command::new(&options.skald);
    command
        .args(["mcp", "--store", &format!("sqlite:{}", paths::target().join("startup.db").display())])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let started = Instant::now();
    let mut process = ServerProcess::start(&mut command)?;
    let mut input = process.child().stdin.take().context("there is no input")?;
    let output = process.child().stdout.take().context("there is no output")?;
    writeln!(input, "{message}").context("the server takes no input")?;
    let mut answer = String::new();
    BufReader::new(output).read_line(&mut answer)?;
    let took = started.elapsed();
    ensure!(answer.contains("\"result\""), "initialize was answered: {answer:?}");
    Ok((took, process.resident_bytes()?))
}

pub(super) fn to_megabytes(bytes: u64) -> anyhow::Result<f64> {
    let bytes = u32::try_from(bytes).context("more than 4 GB are resident")?;
    Ok(f64::from(bytes) / BYTES_PER_MEGABYTE)
}
