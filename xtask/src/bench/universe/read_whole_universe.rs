//! Benchmark of reading a whole universe, first and repeatedly. The first read after a change is compared with
//! serialising it once, a repeated one with a server that only sends the same bytes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;

use anyhow::Context;
use serde_json::{Value, json};

use super::super::BenchOptions;
use super::super::call_mode;
use super::super::report::{BenchTarget, ReportTable};
use super::super::statistics::median;
use super::read_figures;
use super::universe_server::{BenchClient, UniverseServer, commands_path, universe_id};

const SIZE: usize = 10_000;
const ROUNDS: usize = 25;
/// The highest ratio of a first read to serialising the state once.
const FIRST_MAX: f64 = 2.0;
/// The highest ratio of a repeated read to sending the bytes.
const REPEATED_MAX: f64 = 1.5;
const MILLISECONDS: f64 = 1e3;

/// A way to read a universe, with its measurements.
struct ReadMethod {
    name: &'static str,
    client: BenchClient,
    method: &'static str,
    path: String,
    headers: String,
    message: Value,
    first: Vec<f64>,
    again: Vec<f64>,
    bare: Vec<f64>,
}

impl ReadMethod {
    fn read(&mut self) -> anyhow::Result<f64> {
        let took = self.client.send_with_headers(self.method, &self.path, &self.headers, &self.message)?;
        Ok(took.as_secs_f64() * MILLISECONDS)
    }
}

pub(super) fn compare(server: &UniverseServer, options: &BenchOptions) -> anyhow::Result<Vec<BenchTarget>> {
    let mut ways = [rest_read(server)?, mcp_read(server)?];
    let mut senders = Vec::new();
    for way in &mut ways {
        way.read()?;
        senders.push(BenchClient::open(start_byte_server(way.client.connection.body.clone())?)?);
    }
    let mut writer = BenchClient::open(server.address())?;
    let (path, tick) = (commands_path(SIZE), json!({"type": "tick", "dt": 1}));
    let mut written = Vec::new();
    for _ in 0..ROUNDS {
        for (way, sender) in ways.iter_mut().zip(&mut senders) {
            writer.send("POST", &path, &tick)?;
            let (first, again) = (way.read()?, way.read()?);
            let bare = sender.send_with_headers(way.method, &way.path, &way.headers, &way.message)?;
            way.first.push(first);
            way.again.push(again);
            way.bare.push(bare.as_secs_f64() * MILLISECONDS);
        }
    }
    for _ in 0..3 {
        let states = read_figures(&options.universe, "states")?;
        let write = states.get(&format!("write a state of {SIZE}")).context("there is no figure for writing")?;
        written.push(write / MILLISECONDS);
    }
    let written = median(written);
    let mut table = ReportTable::new(
        format!(
            "A universe of {SIZE} bodies read whole, medians of {ROUNDS} rounds; written as JSON in {written:.2} ms"
        ),
        &["", "bytes", "after a change", "again", "its bytes, sent"],
    );
    let mut gates = Vec::new();
    for way in &ways {
        let [first, again, bare] = [&way.first, &way.again, &way.bare].map(|times| median(times.iter().copied()));
        let milliseconds = |time: f64| format!("{time:.2} ms");
        let bytes = way.client.connection.body.len().to_string();
        table.add_row([way.name.to_owned(), bytes, milliseconds(first), milliseconds(again), milliseconds(bare)]);
        let ratio = median(way.again.iter().zip(&way.bare).map(|(again, bare)| again / bare));
        gates.push(BenchTarget::ratio_at_most(format!("{}, after a change", way.name), first / written, FIRST_MAX));
        gates.push(BenchTarget::ratio_at_most(format!("{}, again", way.name), ratio, REPEATED_MAX));
    }
    table.print();
    Ok(gates)
}

fn rest_read(server: &UniverseServer) -> anyhow::Result<ReadMethod> {
    Ok(ReadMethod {
        name: "GET /universes/{id}",
        client: BenchClient::open(server.address())?,
        method: "GET",
        path: format!("/universes/{}", universe_id(SIZE)),
        headers: String::new(),
        message: Value::Null,
        first: Vec::new(),
        again: Vec::new(),
        bare: Vec::new(),
    })
}

fn mcp_read(server: &UniverseServer) -> anyhow::Result<ReadMethod> {
    let mut client = BenchClient::open(server.address())?;
    let accept = "accept: application/json, text/event-stream\r\n";
    client.send_with_headers("POST", "/mcp", accept, &call_mode::initialize_message())?;
    let session = client.connection.session.clone().context("the answer to initialize has no session")?;
    let arguments = json!({"universeId": universe_id(SIZE)});
    let params = json!({"name": "get_universe_state", "arguments": arguments});
    Ok(ReadMethod {
        name: "get_universe_state",
        client,
        method: "POST",
        path: "/mcp".to_owned(),
        headers: format!("{accept}mcp-session-id: {session}\r\n"),
        message: json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}),
        first: Vec::new(),
        again: Vec::new(),
        bare: Vec::new(),
    })
}

/// Starts a server that answers every request with the same bytes. Returns its address.
fn start_byte_server(bytes: Vec<u8>) -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    thread::spawn(move || serve_bytes(&listener, &bytes));
    Ok(address)
}

/// Serves one connection until it ends.
fn serve_bytes(listener: &TcpListener, bytes: &[u8]) -> std::io::Result<()> {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", bytes.len());
    let (stream, _) = listener.accept()?;
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    loop {
        discard_request(&mut stream)?;
        stream.get_mut().write_all(head.as_bytes())?;
        stream.get_mut().write_all(bytes)?;
    }
}

/// Reads a request and discards it.
fn discard_request(stream: &mut BufReader<TcpStream>) -> std::io::Result<()> {
    let (mut line, mut length) = (String::new(), 0);
    loop {
        line.clear();
        if stream.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or_default();
        }
        if line == "\r\n" {
            break;
        }
    }
    std::io::copy(&mut stream.take(length), &mut std::io::sink()).map(drop)
}
