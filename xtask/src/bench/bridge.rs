//! Benchmark of the bridge's latency, and of the gRPC gateway against a bare tonic server with the same answer.

use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};

use super::BenchOptions;
use super::call_mode::CallMode;
use super::load;
use super::report::{BenchTarget, ReportTable, group_thousands};
use super::server_process::BenchServer;
use super::statistics::{extremes, median};
use crate::run;
use crate::server::free_port;

const ROUNDS: u32 = 5;
const ROUNDS_LONG: u32 = 11;
const WARM_UP_CALLS: u32 = 300;
const CALLS: u32 = 2_000;
const CONNECTIONS: u32 = 8;
const MILLISECONDS: f64 = 1e3;
const MICROSECONDS: f64 = 1e6;
/// Most milliseconds that a bridge may add to a call, at the median.
const ADDED_MILLISECONDS_MAX: f64 = 1.0;
/// The share of a bare server's rate that the gateway must reach.
const RATIO_MIN: f64 = 0.6;
/// The gateway's answer to the call of the benchmark.
const ANSWER: &str = r#"{"hope":9,"fear":4,"modifier":2,"difficulty":12,"total":15,"is_crit":false,"meets_difficulty":true,"outcome":"SUCCESS_WITH_HOPE"}"#;

pub(crate) fn compare(options: &BenchOptions) -> anyhow::Result<Vec<BenchTarget>> {
    let rounds = if options.long { ROUNDS_LONG } else { ROUNDS };
    Ok(vec![compare_bridge(options, rounds)?, compare_gateway(options, rounds)?])
}

/// Starts a server. Returns its gRPC address too.
fn start_server(options: &BenchOptions) -> anyhow::Result<(BenchServer, SocketAddr)> {
    let grpc = SocketAddr::from(([127, 0, 0, 1], free_port()?));
    let mut command = Command::new(&options.skald);
    let server = BenchServer::start(
        |port| {
            command.args(["serve", "--store", "memory", "--http-addr", &format!("127.0.0.1:{port}")]);
            command.args(["--grpc-addr", &grpc.to_string()]);
            command
        },
        Stdio::null(),
    )?;
    Ok((server, grpc))
}

/// The median latency of calls over MCP, one after the other.
fn measure_p50(address: SocketAddr) -> anyhow::Result<Duration> {
    let mut callers = load::open_clients(address, CallMode::Session, 1)?;
    load::run_clients(&mut callers, WARM_UP_CALLS)?;
    Ok(load::run_clients(&mut callers, CALLS)?.p50)
}

fn compare_bridge(options: &BenchOptions, rounds: u32) -> anyhow::Result<BenchTarget> {
    let (mut locally, mut bridged) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let (server, grpc) = start_server(options)?;
        let mut command = Command::new(&options.skald);
        let bridge = BenchServer::start(
            |port| {
                command.args(["mcp", "--transport", "http", "--addr", &grpc.to_string()]);
                command.args(["--http-addr", &format!("127.0.0.1:{port}")]);
                command
            },
            Stdio::null(),
        )?;
        let milliseconds = |address| measure_p50(address).map(|p50| p50.as_secs_f64() * MILLISECONDS);
        locally.push(milliseconds(server.address).context("a call to the server")?);
        bridged.push(milliseconds(bridge.address).context("a call through the bridge")?);
    }
    let added: Vec<f64> = locally.iter().zip(&bridged).map(|(local, bridged)| bridged - local).collect();
    let mut table = ReportTable::new(
        format!("A tools/call through a bridge, p50, one connection, medians of {rounds} rounds"),
        &["", "median", "min", "max"],
    );
    for (name, values) in [("local", &locally), ("bridged", &bridged), ("added", &added)] {
        let (low, high) = extremes(values.iter().copied());
        let figures = [median(values.iter().copied()), low, high].map(|value| format!("{value:.3} ms"));
        table.add_row([&[name.to_owned()], &figures[..]].concat());
    }
    table.print();
    Ok(BenchTarget::at_most("a bridge adds at p50", median(added), ADDED_MILLISECONDS_MAX, "ms"))
}

/// One round of calls over gRPC.
struct Round {
    calls_per_second: f64,
    p50_microseconds: f64,
    processor_microseconds: f64,
}

fn measure_calls(options: &BenchOptions, server: &BenchServer, address: SocketAddr) -> anyhow::Result<Round> {
    let calls = |count: u32| {
        let mut command = Command::new(&options.calls);
        command.args([address.to_string(), CONNECTIONS.to_string(), count.to_string()]);
        run::run_captured(&mut command)
    };
    calls(WARM_UP_CALLS)?;
    let before = server.process.processor_time()?;
    let output = calls(CALLS)?;
    let processor_time = server.process.processor_time()?.saturating_sub(before);
    let figures: Vec<f64> = output.split_whitespace().filter_map(|figure| figure.parse().ok()).collect();
    ensure!(figures.len() == 2, "the client said: {output}");
    Ok(Round {
        calls_per_second: figures[0],
        p50_microseconds: figures[1],
        processor_microseconds: processor_time.as_secs_f64() * MICROSECONDS / f64::from(CONNECTIONS * CALLS),
    })
}

fn compare_gateway(options: &BenchOptions, rounds: u32) -> anyhow::Result<BenchTarget> {
    let (mut skald, mut echo) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let (server, grpc) = start_server(options)?;
        skald.push(measure_calls(options, &server, grpc).context("the gateway")?);
        drop(server);
        let mut command = Command::new(&options.echo);
        let server = BenchServer::start(
            |port| {
                command.args([&port.to_string(), ANSWER]);
                command
            },
            Stdio::null(),
        )?;
        echo.push(measure_calls(options, &server, server.address).context("the echo")?);
    }
    let mut table = ReportTable::new(
        format!("Calls over gRPC, {CONNECTIONS} connections, medians of {rounds} rounds that take turns"),
        &["", "calls/s", "p50 µs", "cpu µs/call"],
    );
    for (name, found) in [("gateway", &skald), ("bare tonic, same bytes", &echo)] {
        let of = |figure: fn(&Round) -> f64| median(found.iter().map(figure));
        table.add_row([
            name.to_owned(),
            group_thousands(of(|round| round.calls_per_second)),
            format!("{:.0}", of(|round| round.p50_microseconds)),
            format!("{:.1}", of(|round| round.processor_microseconds)),
        ]);
    }
    table.print();
    let ratios = skald.iter().zip(&echo).map(|(skald, echo)| skald.calls_per_second / echo.calls_per_second);
    Ok(BenchTarget::at_least("gateway: skald/bare, calls a second", median(ratios), RATIO_MIN))
}
