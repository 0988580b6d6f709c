//! Fuzz test of `/mcp`: the server answers any request in JSON-RPC and continues to serve.
//!
//! `SKALD_FUZZ_SECONDS` sets how long it runs; without it, the number of messages is fixed.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use skald_testkit::mcp_messages::{ACCEPT_BOTH, JSON, tool_call};

use crate::server::{Server, default_engine};

const MESSAGES: usize = 2_000;

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        prop_oneof![Just("2.0"), Just("initialize"), Just("initialized"), Just("tools/call"), Just("2026-07-28")]
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any_field_name(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn any_field_name() -> impl Strategy<Value = String> {
    let known = [
        "jsonrpc",
        "id",
        "method",
        "params",
        "result",
        "error",
        "_meta",
        "name",
        "arguments",
        "protocolVersion",
        "capabilities",
        "clientInfo",
        "uri",
        "cursor",
        "hope",
        "rng",
        "io.modelcontextprotocol/protocolVersion",
    ];
    prop_oneof![prop::sample::select(known.to_vec()).prop_map(str::to_owned), ".{0,8}"]
}

/// A message with a known method, random params, and a random id or none.
fn known_method_message() -> impl Strategy<Value = Value> {
    let methods = prop::sample::select(vec![
        "initialize",
        "initialized",
        "notifications/initialized",
        "ping",
        "tools/list",
        "tools/call",
        "resources/read",
        "prompts/get",
        "completion/complete",
        "resources/subscribe",
        "server/discover",
        "subscriptions/listen",
    ]);
    (methods, any_json(), any_json(), any::<bool>()).prop_map(|(method, id, params, has_id)| {
        let mut message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        if has_id {
            message["id"] = id;
        }
        message
    })
}

fn any_body() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        3 => known_method_message().prop_map(|message| message.to_string().into_bytes()),
        2 => any_json().prop_map(|message| message.to_string().into_bytes()),
        1 => (known_method_message(), any::<prop::sample::Index>()).prop_map(|(message, at)| {
            let mut bytes = message.to_string().into_bytes();
            bytes.truncate(at.index(bytes.len() + 1));
            bytes
        }),
        1 => prop::collection::vec(any::<u8>(), 0..200),
    ]
}

type Headers = Vec<(&'static str, String)>;

fn any_headers(session: String) -> impl Strategy<Value = Headers> {
    let accepts = vec!["*/*", "", "application/json", ACCEPT_BOTH.1, "text/html", "text/event-stream"];
    let versions = vec!["2024-11-05", "2025-11-25", "2026-07-28", "2099-01-01", "x"];
    let cookies = vec!["mcp_session=", "mcp_session=x", "mcp_session=x; mcp_session=y", "=;=;", "mcp_session"];
    (
        prop::option::of(prop::sample::select(accepts).prop_map(str::to_owned)),
        prop::option::weighted(0.3, prop::sample::select(versions).prop_map(str::to_owned)),
        prop::option::weighted(0.2, prop::sample::select(cookies).prop_map(str::to_owned)),
        prop::option::weighted(0.5, prop_oneof![Just(session), "[a-z0-9-]{1,40}"]),
        prop::option::weighted(0.2, "[a-z/]{0,12}"),
    )
        .prop_map(|(accept, version, cookie, session, method)| {
            let named = [
                ("Accept", accept),
                ("MCP-Protocol-Version", version),
                ("Cookie", cookie),
                ("Mcp-Session-Id", session),
                ("Mcp-Method", method),
            ];
            named.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
        })
}

#[test]
fn nonsense_is_answered_and_the_server_goes_on() {
    let seconds = std::env::var("SKALD_FUZZ_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    let end = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let server = Server::start(default_engine());
    let session = server.open_session("2025-11-25");
    let mut runner = if seconds.is_some() { TestRunner::default() } else { TestRunner::deterministic() };
    let (bodies, headers) = (any_body(), any_headers(session.clone()));
    for count in 0.. {
        if end.map_or(count >= MESSAGES, |end| Instant::now() > end) {
            break;
        }
        let body = bodies.new_tree(&mut runner).unwrap().current();
        let headers = headers.new_tree(&mut runner).unwrap().current();
        let mut given: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        given.push(JSON);
        let text = String::from_utf8_lossy(&body).into_owned();
        let mut answer = server.client().open("POST", "/mcp", &given, &body);
        let known = [200, 202, 400, 404, 406, 413, 415];
        assert!(known.contains(&answer.status), "{} for {text} with {given:?}", answer.status);
        if answer.status == 202 {
            continue;
        }
        let (status, kind) = (answer.status, answer.kind.clone());
        assert!(["application/json", "text/event-stream"].contains(&kind.as_str()), "{kind} for {text} with {given:?}");
        // A listener is acknowledged; everything else is answered.
        let first =
            answer.first_message().unwrap_or_else(|| panic!("no answer, {status} {kind}, for {text} with {given:?}"));
        assert_eq!(first["jsonrpc"], "2.0", "{text} with {given:?}");
        if let Some(opened) = answer.session_id() {
            server.client().send("DELETE", "/mcp", &[("Mcp-Session-Id", &opened)], b"");
        }
    }
    let answer = server.call(&session, &tool_call("duality_rules_version", &json!({})));
    assert_eq!(answer["result"]["isError"], false, "the session that was there before still works");
}
