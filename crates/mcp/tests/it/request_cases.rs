//! Tests of `/mcp` case by case: for each kind of request the status, content type and JSON-RPC code of the answer.

use serde_json::{Value, json};
use skald_mcp::McpOptions;
use skald_testkit::Reply;
use skald_testkit::mcp_messages::{self, ACCEPT_BOTH, JSON, initialize, request};

use crate::server::{Server, default_engine, panic_and_slow_engine, wait_until_begun};

/// The JSON-RPC error of a refusal. Every refusal has one, in JSON.
fn refusal_error(reply: &Reply) -> (u16, i64, String) {
    assert_eq!(reply.header("content-type"), Some("application/json"), "{}", reply.text());
    let json = reply.json();
    assert_eq!(json["jsonrpc"], "2.0");
    let message = json["error"]["message"].as_str().expect("a message").to_owned();
    (reply.status, json["error"]["code"].as_i64().expect("a code"), message)
}

fn assert_refused(reply: &Reply, status: u16, code: i64, word: &str) {
    let (given_status, given_code, message) = refusal_error(reply);
    assert_eq!((given_status, given_code), (status, code), "{message}");
    assert!(message.contains(word), "{message:?} does not say {word:?}");
}

fn list_tools_request() -> Value {
    request(2, "tools/list", &json!({}))
}

#[test]
fn a_plain_accept_gets_plain_json() {
    let server = Server::start(default_engine());
    let accepts: [&[(&str, &str)]; 6] = [
        &[JSON, ("Accept", "*/*")],
        &[JSON],
        &[JSON, ("Accept", "application/json")],
        &[JSON, ("Accept", "")],
        &[JSON, ("Accept", "application/json, text/plain, */*")],
        &[JSON, ("Accept", "application/*")],
    ];
    for headers in accepts {
        let opened = server.post(headers, &initialize("2024-11-05"));
        assert_eq!((opened.status, opened.header("content-type")), (200, Some("application/json")), "{headers:?}");
        assert_eq!(opened.json()["result"]["protocolVersion"], "2024-11-05");
        let session = opened.header("mcp-session-id").unwrap();
        let listed = server.post(&[headers, &[("Mcp-Session-Id", session)]].concat(), &list_tools_request());
        assert_eq!((listed.status, listed.header("content-type")), (200, Some("application/json")), "{headers:?}");
        assert_eq!(listed.json()["id"], 2);
        assert_eq!(listed.json()["result"]["tools"].as_array().map(Vec::len), Some(54));
    }
}

#[test]
fn both_types_get_an_event_stream() {
    let server = Server::start(default_engine());
    let opened = server.post(&[JSON, ACCEPT_BOTH], &initialize("2025-11-25"));
    assert_eq!((opened.status, opened.header("content-type")), (200, Some("text/event-stream")));
    let session = opened.header("mcp-session-id").unwrap();
    let listed = server.post(&[JSON, ACCEPT_BOTH, ("Mcp-Session-Id", session)], &list_tools_request());
    assert_eq!((listed.status, listed.header("content-type")), (200, Some("text/event-stream")));
    assert!(listed.json()["result"]["tools"].is_array());
}

#[test]
fn an_accept_without_json_is_refused() {
    let server = Server::start(default_engine());
    for accept in ["text/html", "text/event-stream"] {
        let reply = server.post(&[JSON, ("Accept", accept)], &initialize("2025-11-25"));
        assert_refused(&reply, 406, -32600, "accept application/json");
    }
}

#[test]
fn initialize_opens_a_new_session_whatever_it_names() {
    let server = Server::start(default_engine());
    let first = server.open_session("2025-11-25");
    for named in [first.as_str(), "nobody"] {
        let reply = server.post(&[JSON, ("Mcp-Session-Id", named)], &initialize("2025-11-25"));
        assert_eq!(reply.status, 200, "{}", reply.text());
        let session = reply.header("mcp-session-id").unwrap();
        assert_ne!(session, named);
        let cookie = format!("mcp_session={session}; Path=/mcp; HttpOnly; SameSite=Strict");
        assert_eq!(reply.header("set-cookie"), Some(cookie.as_str()));
    }
    let by_cookie = server.post(&[JSON, ("Cookie", &format!("mcp_session={first}"))], &initialize("2025-11-25"));
    assert_ne!(by_cookie.header("mcp-session-id"), Some(first.as_str()));
    assert_eq!(server.call(&first, &list_tools_request())["id"], 2, "the first session lives on");
}

#[test]
fn initialize_may_leave_things_out() {
    let server = Server::start(default_engine());
    let whole = initialize("2025-06-18");
    for missing in [&["clientInfo"][..], &["capabilities"], &["clientInfo", "capabilities"]] {
        let mut message = whole.clone();
        for field in missing {
            message["params"].as_object_mut().unwrap().remove(*field);
        }
        let reply = server.post(&[JSON, ACCEPT_BOTH], &message);
        assert_eq!(reply.status, 200, "without {missing:?}: {}", reply.text());
        assert_eq!(reply.json()["result"]["protocolVersion"], "2025-06-18");
    }
    let mut nameless = whole.clone();
    nameless["params"]["clientInfo"] = json!({"title": "x", "name": null});
    assert_eq!(server.post(&[JSON, ACCEPT_BOTH], &nameless).status, 200);
    for params in [json!(null), json!({}), json!({"clientInfo": null, "capabilities": null})] {
        let reply = server.post(&[JSON, ACCEPT_BOTH], &request(1, "initialize", &params));
        assert_eq!((reply.status, &reply.json()["result"]["protocolVersion"]), (200, &json!("2024-11-05")), "{params}");
    }
}

#[test]
fn an_unknown_version_gets_the_newest_with_a_handshake() {
    let server = Server::start(default_engine());
    let reply = server.post(&[JSON, ACCEPT_BOTH], &initialize("1999-12-31"));
    assert_eq!(reply.json()["result"]["protocolVersion"], "2025-11-25");
}

#[test]
fn both_spellings_of_initialized_are_taken() {
    let server = Server::start(default_engine());
    let session = server.open_session("2024-11-05");
    for method in ["initialized", "notifications/initialized"] {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": {}});
        let reply = server.post(&[JSON, ("Mcp-Session-Id", &session)], &message);
        assert_eq!((reply.status, reply.body.len()), (202, 0), "{method}");
    }
    assert_eq!(server.call(&session, &list_tools_request())["id"], 2);
}

#[test]
fn a_session_works_without_any_initialized() {
    let server = Server::start(default_engine());
    let session = server.open_session("2025-11-25");
    assert_eq!(server.call(&session, &list_tools_request())["id"], 2);
}

#[test]
fn a_cookie_stands_in_for_the_header() {
    let server = Server::start(default_engine());
    let session = server.open_session("2024-11-05");
    let cookie = format!("theme=dark; mcp_session={session}");
    let reply = server.post(&[JSON, ("Cookie", &cookie)], &list_tools_request());
    assert_eq!((reply.status, &reply.json()["id"]), (200, &json!(2)));
    let header_wins =
        server.post(&[JSON, ("Cookie", "mcp_session=nobody"), ("Mcp-Session-Id", &session)], &list_tools_request());
    assert_eq!(header_wins.status, 200);
    assert_refused(
        &server.post(&[JSON, ("Cookie", "mcp_session=nobody")], &list_tools_request()),
        404,
        -32001,
        "initialize",
    );
}

#[test]
fn an_unknown_or_ended_session_is_not_found() {
    let server = Server::start(default_engine());
    let ended = server.open_session("2025-11-25");
    let named = [("Mcp-Session-Id", ended.as_str())];
    assert_eq!(server.client().send("DELETE", "/mcp", &named, b"").status, 200);
    for session in ["nobody", ended.as_str()] {
        let named = ("Mcp-Session-Id", session);
        let posted = server.post(&[JSON, ACCEPT_BOTH, named], &list_tools_request());
        assert_refused(&posted, 404, -32001, "initialize");
        assert_eq!(posted.json()["id"], 2);
        assert_refused(&server.client().send("GET", "/mcp", &[named], b""), 404, -32001, "initialize");
        assert_refused(&server.client().send("DELETE", "/mcp", &[named], b""), 404, -32001, "initialize");
    }
}

#[test]
fn a_missing_session_is_asked_for() {
    let server = Server::start(default_engine());
    let posted = server.post(&[JSON, ACCEPT_BOTH], &list_tools_request());
    assert_refused(&posted, 400, -32600, "mcp_session cookie");
    assert_eq!(posted.json()["id"], 2);
    assert_refused(&server.client().send("GET", "/mcp", &[], b""), 400, -32600, "initialize first");
    assert_refused(&server.client().send("DELETE", "/mcp", &[], b""), 400, -32600, "initialize first");
}

#[test]
fn a_get_with_a_live_session_streams_whatever_it_accepts() {
    let server = Server::start(default_engine());
    for accept in [None, Some("*/*"), Some("text/event-stream"), Some("application/json")] {
        let session = server.open_session("2025-11-25");
        let accept = accept.map(|accept| ("Accept", accept));
        let headers: Vec<_> = [Some(("Mcp-Session-Id", session.as_str())), accept].into_iter().flatten().collect();
        let stream = server.client().open("GET", "/mcp", &headers, b"");
        assert_eq!((stream.status, stream.kind.as_str()), (200, "text/event-stream"), "{accept:?}");
    }
    let session = server.open_session("2025-11-25");
    let stream = server.client().open("GET", "/mcp", &[("Cookie", &format!("mcp_session={session}"))], b"");
    assert_eq!((stream.status, stream.kind.as_str()), (200, "text/event-stream"));
}

#[test]
fn a_delete_ends_the_session_and_its_streams() {
    let server = Server::start(default_engine());
    let session = server.open_session("2025-11-25");
    let named = [("Mcp-Session-Id", session.as_str())];
    let mut stream = server.client().open("GET", "/mcp", &named, b"");
    assert_eq!(server.client().send("DELETE", "/mcp", &named, b"").status, 200);
    assert_eq!(stream.next(), None, "the stream has ended");
}

#[test]
fn what_cannot_be_read_is_explained() {
    let server = Server::start(default_engine());
    let session = server.open_session("2025-11-25");
    let post = |body: &str| {
        server.client().send("POST", "/mcp", &[JSON, ACCEPT_BOTH, ("Mcp-Session-Id", &session)], body.as_bytes())
    };
    assert_refused(&post("{\"jsonrpc\": "), 400, -32700, "not JSON");
    assert_refused(&post(""), 400, -32700, "not JSON");
    assert_refused(
        &post(&json!([list_tools_request(), list_tools_request()]).to_string()),
        400,
        -32600,
        "send one message",
    );
    assert_refused(&post("[]"), 400, -32600, "send one message");
    assert_refused(&post("7"), 400, -32600, "one JSON-RPC object");
    for id in ["null", "1.5", "18446744073709551615", "true"] {
        let message = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#);
        assert_refused(&post(&message), 400, -32600, "string or a whole number");
    }
    assert_refused(&post(r#"{"id":1,"method":"tools/list"}"#), 400, -32600, "jsonrpc");
    assert_refused(&post(r#"{"jsonrpc":"2.0","id":1}"#), 400, -32600, "method");
    let deep =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{}{}}}", "[".repeat(70), "]".repeat(70));
    assert_refused(&post(&deep), 400, -32600, "nested deeper than 64");
}

#[test]
fn a_modern_client_too_is_told_what_cannot_be_read() {
    let server = Server::start(default_engine());
    let modern = [JSON, ACCEPT_BOTH, ("MCP-Protocol-Version", mcp_messages::MODERN), ("Mcp-Method", "tools/list")];
    let post = |body: &str| server.client().send("POST", "/mcp", &modern, body.as_bytes());
    assert_refused(&post("{"), 400, -32700, "not JSON");
    assert_refused(&post("[]"), 400, -32600, "send one message");
}

#[test]
fn nesting_is_limited_in_both_eras() {
    let server = Server::start(default_engine());
    let deep = (0..70).fold(json!(1), |inner, _| json!([inner]));
    let message = mcp_messages::tool_call("roll_dice", &json!({"dice": deep}));
    assert_refused(&server.post_modern(&message), 400, -32600, "nested deeper than 64");
    let session = server.open_session("2025-11-25");
    assert_refused(
        &server.post(&[JSON, ACCEPT_BOTH, ("Mcp-Session-Id", &session)], &message),
        400,
        -32600,
        "nested deeper than 64",
    );
}

#[test]
fn a_session_opened_under_a_newer_versions_header_is_a_session() {
    let server = Server::start(default_engine());
    let headers = [JSON, ACCEPT_BOTH, ("MCP-Protocol-Version", mcp_messages::MODERN)];
    let opened = server.post(&headers, &initialize(mcp_messages::MODERN));
    assert_eq!((opened.status, &opened.json()["result"]["protocolVersion"]), (200, &json!("2025-11-25")));
    let session = opened.header("mcp-session-id").unwrap();
    assert_eq!(server.call(session, &list_tools_request())["id"], 2);
}

#[test]
fn a_large_body_is_refused() {
    let server = Server::start(default_engine());
    let body = vec![b' '; skald_app::limits::BODY_BYTES_MAX + 1];
    let reply = server.client().send("POST", "/mcp", &[JSON, ACCEPT_BOTH], &body);
    assert_refused(&reply, 413, -32600, "10485760 bytes");
}

#[test]
fn another_content_type_is_refused() {
    let server = Server::start(default_engine());
    let body = initialize("2025-11-25").to_string();
    for headers in [&[ACCEPT_BOTH][..], &[ACCEPT_BOTH, ("Content-Type", "text/plain")]] {
        assert_refused(
            &server.client().send("POST", "/mcp", headers, body.as_bytes()),
            415,
            -32600,
            "application/json",
        );
    }
}

#[test]
fn strangers_are_turned_away() {
    let server = Server::start(default_engine());
    let with = |name, value| server.post(&[JSON, ACCEPT_BOTH, (name, value)], &initialize("2025-11-25"));
    for stranger in [("Origin", "https://evil.example"), ("Origin", "null"), ("Host", "evil.example")] {
        let reply = with(stranger.0, stranger.1);
        assert_eq!(reply.status, 403, "{stranger:?}");
        assert_eq!(reply.json()["error"]["code"], "FORBIDDEN");
    }
    for friend in [("Origin", "http://localhost:3000"), ("Host", "localhost"), ("Host", "[::1]:8081")] {
        assert_eq!(with(friend.0, friend.1).status, 200, "{friend:?}");
    }
}

#[test]
fn an_unknown_version_header_is_refused() {
    let server = Server::start(default_engine());
    let session = server.open_session("2025-11-25");
    let headers = [JSON, ACCEPT_BOTH, ("Mcp-Session-Id", &session), ("MCP-Protocol-Version", "1999-12-31")];
    assert_refused(&server.post(&headers, &list_tools_request()), 400, -32022, "supported: 2024-11-05");
    for version in ["1999-12-31", "2099-01-01", "banana"] {
        for accept in ["*/*", "application/json", ACCEPT_BOTH.1] {
            let headers = [JSON, ("Accept", accept), ("Mcp-Session-Id", &session), ("MCP-Protocol-Version", version)];
            let reply = server.post(&headers, &list_tools_request());
            assert_refused(&reply, 400, -32022, "2026-07-28");
            assert_eq!(reply.json()["error"]["data"]["supported"].as_array().map(Vec::len), Some(5), "{version}");
        }
    }
}

#[test]
fn what_does_not_fit_a_known_method_is_said_to_be_that() {
    let server = Server::start(default_engine());
    for params in [json!({"protocolVersion": 5}), json!({"clientInfo": "curl"}), json!([])] {
        assert_refused(
            &server.post(&[JSON, ACCEPT_BOTH], &request(1, "initialize", &params)),
            400,
            -32602,
            "initialize",
        );
    }
    let able = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": true, "roots": true}});
    assert_eq!(server.post(&[JSON, ACCEPT_BOTH], &request(1, "initialize", &able)).status, 200);
    let session = server.open_session("2025-11-25");
    for (method, params) in [
        ("tools/call", json!({"name": "roll_dice", "arguments": []})),
        ("tools/call", json!(null)),
        ("prompts/get", json!({"name": "explain_odds", "arguments": []})),
        ("completion/complete", json!({"ref": {"type": "ref/tool"}, "argument": {"name": "x", "value": "y"}})),
    ] {
        let error = &server.call(&session, &request(2, method, &params))["error"];
        assert_eq!(error["code"], -32602, "{method} {params}");
        assert!(error["message"].as_str().unwrap().contains(method), "{error}");
    }
    assert_eq!(server.call(&session, &request(2, "no/such", &json!({})))["error"]["code"], -32601);
}

#[test]
fn an_id_that_is_under_way_is_not_taken_twice() {
    let server = Server::start(panic_and_slow_engine());
    let session = server.open_session("2025-11-25");
    let slow = mcp_messages::tool_call("slow", &json!({"milliseconds": 450}));
    std::thread::scope(|scope| {
        let first = scope.spawn(|| server.call(&session, &slow));
        wait_until_begun(450, 1);
        for accept in [ACCEPT_BOTH, ("Accept", "*/*")] {
            let second = server.post(&[JSON, accept, ("Mcp-Session-Id", &session)], &slow);
            assert_refused(&second, 400, -32600, "an id of its own");
        }
        assert_eq!(first.join().unwrap()["result"]["structuredContent"]["milliseconds"], 450);
    });
    assert_eq!(server.call(&session, &slow)["result"]["isError"], false, "and then its id is free");
}

#[test]
fn a_client_may_ask_for_a_level_of_logging() {
    let server = Server::start(default_engine());
    let session = server.open_session("2025-11-25");
    assert_eq!(server.call(&session, &request(2, "logging/setLevel", &json!({"level": "info"})))["result"], json!({}));
}

#[test]
fn foreign_names_are_not_repeated_at_length() {
    let server = Server::start(default_engine());
    let session = server.open_session("2025-11-25");
    let long = "x".repeat(1_000_000);
    for (method, params) in [
        ("tools/call", json!({"name": long, "arguments": {}})),
        ("tools/call", json!({"name": "roll_dice", "arguments": {"dice": [], "rng": {"seed": long}}})),
        ("tools/call", json!({"name": "roll_dice", "arguments": {long.clone(): 1}})),
        ("resources/read", json!({"uri": long})),
        ("prompts/get", json!({"name": long})),
        ("tools/list", json!({"cursor": long})),
        (long.as_str(), json!({})),
    ] {
        let answer = server.call(&session, &request(2, method, &params)).to_string();
        assert!(answer.len() < 5_000, "{} characters", answer.len());
    }
}

#[test]
fn other_methods_and_paths_have_no_meaning() {
    let server = Server::start(default_engine());
    assert_refused(&server.client().send("PUT", "/mcp", &[], b""), 405, -32600, "POST");
    assert_eq!(server.client().send("POST", "/mcp/", &[JSON], b"{}").status, 404);
}

#[test]
fn without_sessions_older_clients_are_served_one_request_at_a_time() {
    let options = McpOptions { sessions: false, ..McpOptions::default() };
    let server = Server::start_with(default_engine(), options);
    for headers in [&[JSON, ACCEPT_BOTH][..], &[JSON], &[JSON, ACCEPT_BOTH, ("Mcp-Session-Id", "nobody")]] {
        let opened = server.post(headers, &initialize("2025-06-18"));
        assert_eq!((opened.status, opened.header("mcp-session-id")), (200, None));
        assert_eq!(opened.json()["result"]["protocolVersion"], "2025-06-18");
        assert_eq!(opened.json()["result"]["capabilities"]["resources"], json!({}));
        let listed = server.post(headers, &list_tools_request());
        assert_eq!((listed.status, listed.header("content-type")), (200, Some("application/json")));
        assert_eq!(listed.json()["id"], 2);
    }
    let initialized = json!({"jsonrpc": "2.0", "method": "initialized"});
    assert_eq!(server.post(&[JSON], &initialized).status, 202);
    for method in ["GET", "DELETE"] {
        let reply = server.client().send(method, "/mcp", &[("Mcp-Session-Id", "nobody")], b"");
        assert_refused(&reply, 405, -32600, "POST");
        assert_eq!(reply.header("allow"), Some("POST"));
    }
}
