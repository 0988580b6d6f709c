//! Tests of sessions: ownership, limits, expiry, and shutdown without a lost answer.

use std::time::{Duration, Instant};

use serde_json::json;
use skald_app::limits;
use skald_mcp::McpOptions;
use skald_testkit::Reply;
use skald_testkit::mcp_messages::{ACCEPT_BOTH, JSON, initialize, request, tool_call};

use crate::server::{PRINCIPAL, Server, UNIDENTIFIED, default_engine, panic_and_slow_engine, wait_until_begun};

#[test]
fn a_session_belongs_to_who_opened_it() {
    let server = Server::start(default_engine());
    let alice = ("X-Test-Principal", "alice");
    let opened = server.post(&[JSON, ACCEPT_BOTH, alice], &initialize("2025-11-25"));
    let session = opened.header("mcp-session-id").unwrap();
    let list = request(2, "tools/list", &json!({}));
    assert_eq!(server.post(&[JSON, ACCEPT_BOTH, alice, ("Mcp-Session-Id", session)], &list).status, 200);
    let cookie = format!("mcp_session={session}");
    for stranger in [&[("X-Test-Principal", "bob")][..], &[]] {
        let with_header = [&[JSON, ACCEPT_BOTH, ("Mcp-Session-Id", session)], stranger].concat();
        assert_eq!(server.post(&with_header, &list).status, 404);
        let with_cookie = [&[JSON, ACCEPT_BOTH, ("Cookie", cookie.as_str())], stranger].concat();
        assert_eq!(server.post(&with_cookie, &list).status, 404);
        for method in ["GET", "DELETE"] {
            let headers = [&[("Mcp-Session-Id", session)], stranger].concat();
            assert_eq!(server.client().send(method, "/mcp", &headers, b"").status, 404, "{method}");
        }
    }
    assert_eq!(server.post(&[JSON, ACCEPT_BOTH, alice, ("Mcp-Session-Id", session)], &list).status, 200, "it lives on");
}

#[test]
fn a_request_whose_caller_nobody_identified_is_nobodys() {
    let server = Server::start(default_engine());
    let unidentified = (PRINCIPAL, UNIDENTIFIED);
    let session = server.open_session("2025-11-25");
    let roll = tool_call("roll", &json!({"expression": "1d6"}));
    let replies = [
        server.post(&[JSON, ACCEPT_BOTH, unidentified], &initialize("2025-11-25")),
        server.post(&[JSON, ACCEPT_BOTH, unidentified, ("Mcp-Session-Id", &session)], &roll),
        server.post_modern_with(&roll, &[unidentified]),
        server.client().send("GET", "/mcp", &[unidentified, ("Mcp-Session-Id", &session)], b""),
        server.client().send("DELETE", "/mcp", &[unidentified, ("Mcp-Session-Id", &session)], b""),
    ];
    for reply in replies {
        assert_eq!((reply.status, reply.json()["error"]["code"].as_i64()), (500, Some(-32603)), "{}", reply.text());
        assert_eq!(reply.header("mcp-session-id"), None);
    }
    assert_eq!(server.call(&session, &roll)["result"]["isError"], json!(false), "the session lives on");
}

/// Opens a session as this principal. The reply says whether that was possible.
fn open_session_as(server: &Server, name: &str) -> Reply {
    server.post(&[JSON, ACCEPT_BOTH, ("X-Test-Principal", name)], &initialize("2025-11-25"))
}

fn is_alive(server: &Server, name: &str, session: &str) -> bool {
    let headers = [JSON, ACCEPT_BOTH, ("X-Test-Principal", name), ("Mcp-Session-Id", session)];
    server.post(&headers, &request(2, "tools/list", &json!({}))).status == 200
}

/// Opens a session and uses it.
fn open_used_session(server: &Server, name: &str) -> String {
    let opened = open_session_as(server, name);
    let session = opened.header("mcp-session-id").unwrap_or_else(|| panic!("{}", opened.text())).to_owned();
    assert!(is_alive(server, name, &session));
    session
}

#[test]
fn there_are_only_so_many_sessions_for_one_and_for_all() {
    // One caller may have a quarter of all sessions, which is two.
    let server = Server::start_with(default_engine(), McpOptions { sessions_max: 8, ..McpOptions::default() });
    let names = ["alice", "bob", "carol", "dave"];
    let sessions: Vec<(&str, String)> =
        names.iter().flat_map(|name| [(); 2].map(|()| (*name, open_used_session(&server, name)))).collect();
    let full = open_session_as(&server, "alice");
    assert_eq!((full.status, full.json()["error"]["code"].as_i64()), (429, Some(-32003)));
    let message = full.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.starts_with("all 2 sessions that one caller may have are taken"), "{message}");
    let full = open_session_as(&server, "erin");
    assert_eq!(full.status, 429);
    assert!(full.text().contains("all 8 sessions of this server are taken"), "{}", full.text());
    assert_eq!(
        server.post_modern(&tool_call("duality_rules_version", &json!({}))).status,
        200,
        "who needs no session is served"
    );
    assert!(sessions.iter().all(|(name, session)| is_alive(&server, name, session)), "nobody's session was touched");
    let (name, first) = &sessions[0];
    let headers = [("Mcp-Session-Id", first.as_str()), ("X-Test-Principal", *name)];
    assert_eq!(server.client().send("DELETE", "/mcp", &headers, b"").status, 200);
    open_used_session(&server, "erin");
}

#[test]
fn sessions_that_never_began_leave_first() {
    let server = Server::start_with(default_engine(), McpOptions { sessions_max: 8, ..McpOptions::default() });
    let used = open_used_session(&server, "alice");
    let mut unused = Vec::new();
    for _ in 0..50 {
        let opened = open_session_as(&server, "alice");
        assert_eq!(opened.status, 200, "{}", opened.text());
        unused.push(opened.header("mcp-session-id").unwrap().to_owned());
    }
    assert!(is_alive(&server, "alice", &used));
    assert!(!is_alive(&server, "alice", &unused[48]), "the oldest made room");
    assert!(is_alive(&server, "alice", &unused[49]));
    assert_eq!(open_session_as(&server, "alice").status, 429, "both are in use now");
    // Unused sessions of other callers are removed too, once the server has no place left.
    for name in ["bob", "bob", "carol", "carol", "dave", "dave", "erin", "erin", "frank"] {
        assert_eq!(open_session_as(&server, name).status, 200, "{name}");
    }
    assert!(is_alive(&server, "alice", &used) && is_alive(&server, "alice", &unused[49]));
}

#[test]
fn a_session_keeps_only_so_much_of_its_client() {
    let server = Server::start(default_engine());
    let named = |name: &str, method: &str| {
        let message = initialize("2025-11-25").to_string();
        let message = message.replace("\"test\"", &format!("{name:?}")).replace("\"initialize\"", method);
        server.client().send("POST", "/mcp", &[JSON, ACCEPT_BOTH], message.as_bytes())
    };
    let plain = "\"initialize\"";
    assert!(named(&"n".repeat(limits::CLIENT_TEXT_BYTES_MAX), plain).json()["result"].is_object());
    // The second is the same method, written so that only a parser knows it.
    for method in [plain, "\"\\u0069nitialize\""] {
        let refused = named(&"n".repeat(limits::CLIENT_TEXT_BYTES_MAX + 1), method).json();
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains("/clientInfo/name has 1025 bytes, at most 1024"), "{message}");
    }
    let padded = |length: usize| {
        let mut message = initialize("2025-11-25");
        let missing = length - message.to_string().len() - r#","pad":[]"#.len();
        // Many short texts: no single one is too long.
        let full = missing / 100;
        let last = missing - full * 100;
        let texts: Vec<String> =
            (0..full).map(|_| "p".repeat(97)).chain([("p").repeat(last.saturating_sub(2))]).collect();
        message["params"]["pad"] = json!(texts);
        message
    };
    let at_most = padded(limits::INITIALIZE_BYTES_MAX);
    assert_eq!(at_most.to_string().len(), limits::INITIALIZE_BYTES_MAX);
    assert_eq!(server.post(&[JSON, ACCEPT_BOTH], &at_most).status, 200);
    let too_long = server.post(&[JSON, ACCEPT_BOTH], &padded(limits::INITIALIZE_BYTES_MAX + 1));
    assert_eq!((too_long.status, too_long.json()["error"]["code"].as_i64()), (400, Some(-32602)));
}

#[test]
fn a_uri_has_a_longest() {
    let server = Server::start(default_engine());
    let session = server.open_session("2025-11-25");
    let read = |length: usize| {
        let uri = format!("campaign://{}", "x".repeat(length - "campaign://".len()));
        let ask = |method: &str| server.call(&session, &request(2, method, &json!({"uri": uri})))["error"].clone();
        ["resources/read", "resources/subscribe"].map(ask)
    };
    for error in read(limits::URI_BYTES_MAX) {
        assert!(!error["message"].as_str().unwrap_or_default().contains("bytes"), "{error}");
    }
    for error in read(limits::URI_BYTES_MAX + 1) {
        assert_eq!(error["code"], -32602);
        assert!(error["message"].as_str().unwrap().contains("2049 bytes, at most 2048"), "{error}");
    }
}

#[test]
fn an_idle_session_ends() {
    assert_eq!(McpOptions::default().session_idle.as_secs(), limits::SESSION_IDLE_SECONDS);
    let idle = Duration::from_millis(200);
    let server = Server::start_with(default_engine(), McpOptions { session_idle: idle, ..McpOptions::default() });
    let session = server.open_session("2025-11-25");
    let headers = [JSON, ACCEPT_BOTH, ("Mcp-Session-Id", session.as_str())];
    let list = request(2, "tools/list", &json!({}));
    let began = Instant::now();
    while server.post(&headers, &list).status == 200 && began.elapsed() < Duration::from_secs(5) {
        // Each call restarts the idle time of the session, so poll less and less often.
        std::thread::sleep(began.elapsed().max(Duration::from_millis(50)));
    }
    assert_eq!(server.post(&headers, &list).status, 404);
}

#[test]
fn a_stopping_server_loses_no_answer_that_was_begun() {
    let server = Server::start(panic_and_slow_engine());
    let session = server.open_session("2025-11-25");
    let slow = |id: u32| request(id, "tools/call", &json!({"name": "slow", "arguments": {"milliseconds": 400}}));
    let (json_reply, stream_reply, modern_reply) = std::thread::scope(|scope| {
        let relaxed = scope.spawn(|| server.post(&[JSON, ("Mcp-Session-Id", &session)], &slow(2)));
        let streamed = scope.spawn(|| server.post(&[JSON, ACCEPT_BOTH, ("Mcp-Session-Id", &session)], &slow(3)));
        let modern = scope.spawn(|| server.post_modern(&slow(4)));
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
    let server = Server::start(default_engine());
    let session = server.open_session("2025-11-25");
    let mut stream = server.client().open("GET", "/mcp", &[("Mcp-Session-Id", &session)], b"");
    server.stopping.cancel();
    let began = Instant::now();
    server.runtime.block_on(server.drain.finish(Duration::from_secs(5)));
    assert_eq!(stream.next(), None);
    assert!(began.elapsed() < Duration::from_secs(1), "nothing was under way");
}

#[test]
fn an_answer_in_a_session_does_not_wait_for_the_network() {
    let server = Server::start(default_engine());
    let session = server.open_session("2025-11-25");
    let message = tool_call("duality_rules_version", &json!({})).to_string();
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
    let streamed = median(&[JSON, ACCEPT_BOTH, ("Mcp-Session-Id", &session)]);
    assert!(streamed < 10 * plain, "the median call took {streamed:?}, as plain JSON {plain:?}");
}

#[test]
fn a_revoked_token_ends_its_streams_and_sessions_and_no_others() {
    let server = Server::start(panic_and_slow_engine());
    let open = |name: &str| {
        let opened = server.post(&[JSON, ACCEPT_BOTH, (PRINCIPAL, name)], &initialize("2025-11-25"));
        opened.header("mcp-session-id").expect("a session").to_owned()
    };
    let (revoked, other) = (open("ada"), open("bo"));
    let headers = [JSON, ACCEPT_BOTH, (PRINCIPAL, "ada"), ("Mcp-Session-Id", revoked.as_str())];
    let get = server.client().open("GET", "/mcp", &headers[1..], b"");
    // An answer that would come in a minute.
    let slow = request(2, "tools/call", &json!({"name": "slow", "arguments": {"milliseconds": 60_001}})).to_string();
    let post = server.client().open("POST", "/mcp", &headers, slow.as_bytes());
    assert_eq!((get.status, post.status), (200, 200));
    wait_until_begun(60_001, 1);
    server.revocations.revoke("token_ada");
    for mut stream in [get, post] {
        while let Some(block) = stream.next_block() {
            assert!(!block.contains("jsonrpc"), "{block}");
        }
        // The server ended the stream; the read did not time out.
        assert!(stream.is_at_end(), "the stream ends");
    }
    let ping = request(3, "ping", &json!({}));
    while server.post(&headers, &ping).status != 404 {
        std::thread::yield_now();
    }
    let others = [JSON, ACCEPT_BOTH, (PRINCIPAL, "bo"), ("Mcp-Session-Id", other.as_str())];
    assert_eq!(server.post(&others, &ping).status, 200);
}
