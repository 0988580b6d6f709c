//! Sessions: whose they are, how many there may be, when they end, and that a stopping server loses no answer.

use std::time::{Duration, Instant};

use mcp::Options;
use serde_json::json;
use testkit::message::{BOTH, JSON, call, initialize, request};

use crate::server::{Server, awkward, dice, wait_until_begun};

#[test]
fn a_session_belongs_to_who_opened_it() {
    let server = Server::start(dice());
    let alice = ("X-Test-Principal", "alice");
    let opened = server.post(&[JSON, BOTH, alice], &initialize("2025-11-25"));
    let session = opened.header("mcp-session-id").unwrap();
    let list = request(2, "tools/list", &json!({}));
    assert_eq!(server.post(&[JSON, BOTH, alice, ("Mcp-Session-Id", session)], &list).status, 200);
    let cookie = format!("mcp_session={session}");
    for stranger in [&[("X-Test-Principal", "bob")][..], &[]] {
        let with_header = [&[JSON, BOTH, ("Mcp-Session-Id", session)], stranger].concat();
        assert_eq!(server.post(&with_header, &list).status, 404);
        let with_cookie = [&[JSON, BOTH, ("Cookie", cookie.as_str())], stranger].concat();
        assert_eq!(server.post(&with_cookie, &list).status, 404);
        for method in ["GET", "DELETE"] {
            let headers = [&[("Mcp-Session-Id", session)], stranger].concat();
            assert_eq!(server.client().send(method, "/mcp", &headers, b"").status, 404, "{method}");
        }
    }
    assert_eq!(server.post(&[JSON, BOTH, alice, ("Mcp-Session-Id", session)], &list).status, 200, "it lives on");
}

#[test]
fn there_are_only_so_many_sessions() {
    let server = Server::with(dice(), Options { sessions_max: 2, ..Options::default() });
    let first = server.session("2025-11-25");
    server.session("2025-11-25");
    let full = server.post(&[JSON, BOTH], &initialize("2025-11-25"));
    assert_eq!((full.status, full.json()["error"]["code"].as_i64()), (429, Some(-32003)));
    assert!(full.json()["error"]["message"].as_str().unwrap().contains("all 2 sessions"));
    assert_eq!(server.modern(&call("duality_rules_version", &json!({}))).status, 200, "who needs no session is served");
    assert_eq!(server.client().send("DELETE", "/mcp", &[("Mcp-Session-Id", &first)], b"").status, 200);
    server.session("2025-11-25");
}

#[test]
fn an_idle_session_ends() {
    let idle = Duration::from_millis(200);
    let server = Server::with(dice(), Options { session_idle: idle, ..Options::default() });
    let session = server.session("2025-11-25");
    let headers = [JSON, BOTH, ("Mcp-Session-Id", session.as_str())];
    let list = request(2, "tools/list", &json!({}));
    let began = Instant::now();
    while server.post(&headers, &list).status == 200 && began.elapsed() < Duration::from_secs(5) {
        // Each call keeps the session for another while, so look less and less often.
        std::thread::sleep(began.elapsed().max(Duration::from_millis(50)));
    }
    assert_eq!(server.post(&headers, &list).status, 404);
}

#[test]
fn a_stopping_server_loses_no_answer_that_was_begun() {
    let server = Server::start(awkward());
    let session = server.session("2025-11-25");
    let slow = |id: u32| request(id, "tools/call", &json!({"name": "slow", "arguments": {"milliseconds": 400}}));
    let (json_reply, stream_reply, modern_reply) = std::thread::scope(|scope| {
        let relaxed = scope.spawn(|| server.post(&[JSON, ("Mcp-Session-Id", &session)], &slow(2)));
        let streamed = scope.spawn(|| server.post(&[JSON, BOTH, ("Mcp-Session-Id", &session)], &slow(3)));
        let modern = scope.spawn(|| server.modern(&slow(4)));
        wait_until_begun(400, 3);
        server.stopping.cancel();
        server.runtime.block_on(server.drain.finish(Duration::from_secs(5)));
        (relaxed.join().unwrap(), streamed.join().unwrap(), modern.join().unwrap())
    });
    for reply in [json_reply, stream_reply, modern_reply] {
        assert_eq!(reply.json()["result"]["structuredContent"]["milliseconds"], 400, "{}", reply.text());
    }
}

#[test]
fn a_stopping_server_ends_open_streams() {
    let server = Server::start(dice());
    let session = server.session("2025-11-25");
    let mut stream = server.client().open("GET", "/mcp", &[("Mcp-Session-Id", &session)], b"");
    server.stopping.cancel();
    let began = Instant::now();
    server.runtime.block_on(server.drain.finish(Duration::from_secs(5)));
    assert_eq!(stream.next(), None);
    assert!(began.elapsed() < Duration::from_secs(1), "nothing was under way");
}

#[test]
fn an_answer_in_a_session_does_not_wait_for_the_network() {
    let server = Server::start(dice());
    let session = server.session("2025-11-25");
    let message = call("duality_rules_version", &json!({})).to_string();
    let mut client = server.client();
    let mut median = |headers: &[(&str, &str)]| {
        let mut took: Vec<Duration> = (0..51)
            .map(|_| {
                let began = Instant::now();
                assert_eq!(client.send("POST", "/mcp", headers, message.as_bytes()).status, 200);
                began.elapsed()
            })
            .collect();
        took.sort();
        took[25]
    };
    // Plain JSON is one write. Without TCP_NODELAY the last of the several writes of an event stream waits 44 ms for an
    // acknowledgement, some hundred times as long.
    let plain = median(&[JSON, ("Mcp-Session-Id", &session)]);
    let streamed = median(&[JSON, BOTH, ("Mcp-Session-Id", &session)]);
    assert!(streamed < 10 * plain, "the median call took {streamed:?}, as plain JSON {plain:?}");
}
