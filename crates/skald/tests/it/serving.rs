//! Tests of `skald serve`, from start to shutdown.

use std::time::Duration;

use serde_json::{Value, json};
use skald_testkit::Client;
use skald_testkit::mcp_messages::{self, ACCEPT_BOTH, JSON, initialize, request, tool_call};

use crate::process::{RunningProgram, skald_command};
use crate::rest_client::RestClient;
use skald_testkit::TemporaryFolder;

/// The documented session with a cookie jar, as curl does it: its own `Accept`, and the cookie of the first answer.
#[test]
fn the_walk_with_cookies() {
    let (_running, address) = RunningProgram::serve(&[]);
    let accept = ("Accept", "*/*");
    let mut client = Client::connect(address);
    let first = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","clientInfo":{"name":"test-client","version":"0.1.0"}}}"#;
    let opened = client.send("POST", "/mcp", &[JSON, accept], first.as_bytes());
    assert_eq!((opened.status, opened.header("content-type")), (200, Some("application/json")));
    assert_eq!(opened.json()["result"]["protocolVersion"], "2024-11-05");
    let cookie = opened.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    assert!(cookie.starts_with("mcp_session="));
    let with_cookie = [JSON, accept, ("Cookie", cookie.as_str())];
    let initialized = br#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#;
    assert_eq!(client.send("POST", "/mcp", &with_cookie, initialized).status, 202);
    let list = br#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}"#;
    let listed = client.send("POST", "/mcp", &with_cookie, list).json();
    assert_eq!((&listed["id"], listed["result"]["tools"].as_array().map(Vec::len)), (&json!(2), Some(54)));
    assert_eq!(client.send("GET", "/mcp/health", &[accept], b"").status, 200);
}

#[test]
fn every_surface_answers_alike() {
    let (_running, address) = RunningProgram::serve(&[]);
    let input = json!({"hope": 8, "fear": 5, "modifier": 2, "difficulty": 15});
    let mut client = Client::connect(address);
    let rest = client.send("POST", "/api/v1/duality_outcome", &[JSON], input.to_string().as_bytes()).json();
    let mut stdio = RunningProgram::start(skald_command(&["mcp"]));
    stdio.send_and_receive(&initialize("2025-11-25"));
    let by_stdio = stdio.send_and_receive(&tool_call("duality_outcome", &input))["result"]["structuredContent"].clone();
    let message = mcp_messages::with_modern_meta(tool_call("duality_outcome", &input));
    let headers = mcp_messages::modern_headers(&message);
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let over_http = client.send("POST", "/mcp", &headers, message.to_string().as_bytes()).json();
    assert_eq!(rest, by_stdio);
    assert_eq!(rest, over_http["result"]["structuredContent"]);
    assert_eq!(rest["outcome"], "SUCCESS_WITH_HOPE");
}

#[test]
fn rolls_differ_from_each_other() {
    let (_running, address) = RunningProgram::serve(&[]);
    let mut client = Client::connect(address);
    let mut roll = || {
        let body = br#"{"dice": [{"sides": 1000000, "count": 10}]}"#;
        client.send("POST", "/api/v1/roll_dice", &[JSON], body).json()["rolls"].clone()
    };
    let rolls: Vec<Value> = (0..10).map(|_| roll()).collect();
    assert!((1..rolls.len()).all(|at| rolls[..at].iter().all(|earlier| earlier != &rolls[at])));
}

#[test]
fn a_signal_stops_it_in_good_order() {
    for signal in ["TERM", "INT"] {
        let (running, address) = RunningProgram::serve(&[]);
        let opened = Client::connect(address).send(
            "POST",
            "/mcp",
            &[JSON, ACCEPT_BOTH],
            initialize("2025-11-25").to_string().as_bytes(),
        );
        let session = opened.header("mcp-session-id").unwrap().to_owned();
        let mut stream = Client::connect(address).open("GET", "/mcp", &[("Mcp-Session-Id", &session)], b"");
        let _idle = Client::connect(address);
        running.signal(signal);
        assert_eq!(stream.next(), None, "an open stream is ended");
        let (status, took, log) = running.wait_for_exit();
        assert!(status.success(), "{signal}: {status}");
        assert!(took < Duration::from_secs(2), "{signal}: it took {took:?}");
        assert!(log.contains("stopping") && log.contains("stopped"), "{log}");
    }
}

#[test]
fn it_serves_again_after_being_killed() {
    let (running, address) = RunningProgram::serve(&[]);
    running.signal("KILL");
    let (status, ..) = running.wait_for_exit();
    assert!(!status.success());
    let again = RunningProgram::start(skald_command(&["serve", "--http-addr", &address.to_string()]));
    assert!(again.next_line().is_some_and(|line| line.contains("ready")));
    assert_eq!(Client::connect(address).send("GET", "/ready", &[], b"").status, 200);
}

/// A copy of the database file of a stopped server is complete.
#[test]
fn a_server_that_stops_leaves_one_file() {
    let folder = TemporaryFolder::new();
    let path = folder.file("world.db");
    let store = format!("sqlite:{}", path.display());
    let (running, address) = RunningProgram::serve(&["--store", &store]);
    RestClient::new(address).open_campaign("kept");
    assert!(folder.file("world.db-wal").exists(), "the log of a server that runs");
    running.signal("TERM");
    assert!(running.wait_for_exit().0.success());
    assert!(!folder.file("world.db-wal").exists(), "the log is in the file");
    let mut stdio = RunningProgram::start(skald_command(&["mcp", "--store", &store]));
    stdio.send_and_receive(&initialize("2025-11-25"));
    let input = json!({"name": "another", "gm_mode": "AI"});
    assert_eq!(stdio.request(&tool_call("campaign_create", &input))["result"]["isError"], false);
    stdio.close_input();
    assert!(stdio.wait_for_exit().0.success());
    assert!(!folder.file("world.db-wal").exists(), "the log is in the file");
}

#[test]
fn without_sessions_no_session_is_opened() {
    let (_running, address) = RunningProgram::serve(&["--sessions", "off"]);
    let opened = Client::connect(address).send(
        "POST",
        "/mcp",
        &[JSON, ACCEPT_BOTH],
        initialize("2025-11-25").to_string().as_bytes(),
    );
    assert_eq!((opened.status, opened.header("mcp-session-id")), (200, None));
}

#[test]
fn mcp_over_http_is_the_same_server() {
    let running = RunningProgram::start(skald_command(&["mcp", "--transport=http", "--http-addr=localhost:0"]));
    assert!(running.next_line().is_some_and(|line| line.contains("ready")));
}

#[test]
fn the_log_never_holds_what_was_said() {
    let marker = "a-secret-name-of-the-table";
    let mut command = skald_command(&["serve", "--http-addr", "127.0.0.1:0", "--log-format", "json"]);
    command.env("SKALD_LOG", "trace,rmcp=trace,rmcp::service=trace");
    let running = RunningProgram::start(command);
    let address = loop {
        let line = running.next_line().expect("a greeting");
        if let Some((_, rest)) = line.split_once("http://") {
            break rest.split_once('/').unwrap().0.parse().unwrap();
        }
    };
    let arguments = json!({"hope": 8, "fear": 5, "request_id": marker});
    let mut client = Client::connect(address);
    let opened = client.send("POST", "/mcp", &[JSON, ACCEPT_BOTH], initialize("2025-11-25").to_string().as_bytes());
    let headers = [JSON, ACCEPT_BOTH, ("Mcp-Session-Id", opened.header("mcp-session-id").unwrap())];
    client.send("POST", "/mcp", &headers, tool_call("duality_explain", &arguments).to_string().as_bytes());
    client.send("POST", "/mcp", &headers, tool_call("duality_explain", &json!({ marker: 1 })).to_string().as_bytes());
    client.send("POST", "/mcp", &headers, request(3, marker, &json!({})).to_string().as_bytes());
    client.send("POST", "/api/v1/duality_explain", &[JSON], json!({ marker: marker }).to_string().as_bytes());
    running.signal("TERM");
    let (_, _, log) = running.wait_for_exit();
    assert!(log.lines().count() >= 3, "{log}");
    assert!(log.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "every line is JSON");
    assert!(!log.contains(marker), "{}", log.lines().find(|line| line.contains(marker)).unwrap_or_default());
}
