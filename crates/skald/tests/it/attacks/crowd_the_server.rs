//! Attack: denial of service by a hundred clients at once. They open silent connections, send long strings and large
//! bodies, open sessions and subscriptions, and read large answers slowly.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skald_testkit::Client;
use skald_testkit::mcp_messages::{ACCEPT_BOTH, JSON, initialize, request, tool_call};

use crate::process::RunningProgram;

/// How long the attack lasts; `cargo xtask test --long` sets a minute.
fn attack_time() -> Duration {
    let seconds = std::env::var("SKALD_HOSTILE_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    Duration::from_secs(seconds.unwrap_or(10))
}

/// Limits: resident memory, and how many times longer than without attackers an honest call may take.
const MEGABYTES_MAX: u64 = 300;
const SLOWER_MAX: u32 = 10;

/// Resident memory of the process, in megabytes.
pub(super) fn resident_megabytes(running: &RunningProgram) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", running.id())).expect("the process lives");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") / 1_024
}

/// Processor time that the process has used, in clock ticks.
fn processor_ticks(running: &RunningProgram) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", running.id())).expect("the process lives");
    let fields: Vec<&str> = stat.rsplit_once(')').expect("a name").1.split_whitespace().collect();
    fields[11].parse::<u64>().expect("a number") + fields[12].parse::<u64>().expect("a number")
}

/// The median time of an honest call.
fn median_honest_call(address: SocketAddr) -> Duration {
    let message = tool_call("duality_outcome", &json!({"hope": 8, "fear": 5, "difficulty": 12})).to_string();
    let mut client = Client::connect(address);
    let opened = client.send("POST", "/mcp", &[JSON, ACCEPT_BOTH], initialize("2025-11-25").to_string().as_bytes());
    let session = opened.header("mcp-session-id").expect("an honest client gets a session").to_owned();
    let headers = [JSON, ACCEPT_BOTH, ("Mcp-Session-Id", session.as_str())];
    let mut took: Vec<Duration> = (0..41)
        .map(|_| {
            let began = Instant::now();
            assert_eq!(client.send("POST", "/mcp", &headers, message.as_bytes()).status, 200);
            began.elapsed()
        })
        .collect();
    took.sort();
    client.send("DELETE", "/mcp", &[("Mcp-Session-Id", &session)], b"");
    took[20]
}

pub(super) fn create_universe(address: SocketAddr, bodies: usize) {
    let body = |number: usize| {
        let id = format!("body-{number}");
        let body = json!({
            "id": id, "name": "A body with a name", "mass": 1, "radius": 1, "color": "#ffffff", "children": [],
            "parentId": null, "orbitalDistance": 1, "orbitalSpeed": 1, "orbitalPhase": 0
        });
        (id, body)
    };
    let stars: serde_json::Map<String, Value> = (0..bodies).map(body).collect();
    let roots: Vec<&String> = stars.keys().collect();
    let state = json!({
        "rootIds": roots, "stars": stars, "groups": {}, "rootGroupIds": [], "belts": {}, "smallBodyFields": {},
        "protoplanetaryDisks": {}, "nebulae": {}, "time": 0
    });
    let universe = json!({"id": "large", "name": "Large", "state": state}).to_string();
    let created = Client::connect(address).send("POST", "/universes", &[JSON], universe.as_bytes());
    assert_eq!(created.status, 201, "{}", created.text());
}

fn post_request(path: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, \
         text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// The bytes that each kind of attacker sends.
fn payloads() -> Vec<String> {
    let initialize = initialize("2025-11-25").to_string();
    vec![
        "GET / HTTP/1.1\r\nHost: local".to_owned(),
        post_request("/mcp", &initialize.replace("test", &"n".repeat(1_000_000))),
        post_request("/mcp", &json!({"jsonrpc": "2.0", "id": 1, "method": vec![[1]; 70_000]}).to_string()),
        post_request("/mcp", &initialize),
        "GET /universes/large/events HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(),
        "GET /universes/large HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(),
        post_request("/universes/large/commands", r#"{"type": "tick"}"#),
        post_request(
            "/api/v1/universe_record",
            &json!({"universeId": "large", "more": vec![json!({"a": 1}); 142_000]}).to_string(),
        ),
        post_request(
            "/api/v1/universe_record",
            &json!({"universeId": "large", "more": vec![[1]; 249_000]}).to_string(),
        ),
    ]
}

/// Sends the payload on new connections until `is_over`, and keeps the last 20 open. The server may close any of them,
/// so errors are ignored.
fn attack(address: SocketAddr, payload: &[u8], is_over: &AtomicBool) {
    let mut held = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let Ok(mut stream) = TcpStream::connect(address) else { continue };
        let _ = stream.set_read_timeout(Some(Duration::from_millis(100)));
        let _ = stream.set_write_timeout(Some(Duration::from_secs(2)));
        let _ = stream.write_all(payload);
        // Read a little of the answer, and leave the rest unread.
        let _ = stream.read(&mut [0; 512]);
        held.push(stream);
        if held.len() > 20 {
            held.remove(0);
        }
        // Pause, since a hundred attackers share two processors with the server.
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Serves with the release binary: the memory and the times of a debug build say nothing.
fn serve_release() -> (RunningProgram, SocketAddr) {
    let arguments = ["serve", "--http-addr", "127.0.0.1:0", "--grpc-addr", "127.0.0.1:0", "--store", "memory"];
    let binary = std::env::var_os("SKALD_TEST_RELEASE").expect("SKALD_TEST_RELEASE, which `cargo xtask test` sets");
    let mut command = std::process::Command::new(binary);
    command.args(arguments).env_remove("SKALD_LOG");
    RunningProgram::start_server(command)
}

#[test]
fn an_honest_client_is_served_among_a_hundred_hostile_ones() {
    let (running, address) = serve_release();
    create_universe(address, 5_000);
    let quiet = median_honest_call(address);
    let (payloads, is_over) = (payloads(), AtomicBool::new(false));
    let (mut most, mut medians) = (0, Vec::new());
    std::thread::scope(|scope| {
        for number in 0..100 {
            let (payload, is_over) = (payloads[number % payloads.len()].as_bytes(), &is_over);
            scope.spawn(move || attack(address, payload, is_over));
        }
        let began = Instant::now();
        while began.elapsed() < attack_time() {
            medians.push(median_honest_call(address));
            most = most.max(resident_megabytes(&running));
        }
        is_over.store(true, Ordering::Relaxed);
    });
    medians.sort();
    let crowded = medians[medians.len() / 2];
    println!("quiet {quiet:?}, crowded {crowded:?}, at most {most} MB");
    assert!(most < MEGABYTES_MAX, "{most} MB are resident");
    assert!(crowded < SLOWER_MAX * quiet, "an honest call took {quiet:?}, among hostile clients {crowded:?}");
    // Afterwards the server is idle: neither requests nor background work use the processor.
    let at_rest = || {
        let before = processor_ticks(&running);
        std::thread::sleep(Duration::from_secs(1));
        processor_ticks(&running) - before < 5
    };
    assert!((0..20).any(|_| at_rest()), "it is still busy");
    let mut client = Client::connect(address);
    assert_eq!(client.send("POST", "/mcp", &[JSON], request(1, "ping", &json!({})).to_string().as_bytes()).status, 400);
    println!("afterwards {} MB", resident_megabytes(&running));
}
