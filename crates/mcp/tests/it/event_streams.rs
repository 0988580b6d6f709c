//! Tests of SSE streams with a strict parser. Frames fit the session's revision, ids are unique, and a resumed stream
//! continues after the client's last event.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::json;
use skald_app::{LocalEngine, ResourceChange};
use skald_testkit::mcp_messages::{self, ACCEPT_BOTH, JSON, LEGACY, initialize, request};
use skald_testkit::{EventStream, Frame};

use crate::server::{Server, panic_and_slow_engine, wait_until_begun};

/// Checks that a revision allows every frame, and returns the messages.
fn check_frames(version: &str, frames: &[Frame]) -> Vec<serde_json::Value> {
    let ids: Vec<&str> = frames.iter().filter_map(|frame| frame.id.as_deref()).collect();
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len(), "{version}: an id stands twice: {ids:?}");
    let mut messages = Vec::new();
    for (at, frame) in frames.iter().enumerate() {
        let message = frame.message();
        // 2025-11-25: a stream that is silent for long may begin with an event that has an id and no data.
        let may_be_empty = version == "2025-11-25" && at == 0 && frame.id.is_some();
        assert!(message.is_some() || may_be_empty, "{version}: a frame without a message: {frame:?}");
        messages.extend(message);
    }
    messages
}

fn subscribe(server: &Server, session: &str, uri: &str) {
    let subscribed = server.call(session, &request(3, "resources/subscribe", &json!({"uri": uri})));
    assert_eq!(subscribed["result"], json!({}));
}

fn publish(engine: &Arc<LocalEngine>, uri: &str) {
    engine.publish(ResourceChange::Resource(uri.into()));
}

/// The id and the URI of the next frame, which must be an update.
fn next_update(events: &mut EventStream) -> (String, String) {
    let frame = events.next_frame().expect("a frame");
    let message = frame.message().unwrap_or_else(|| panic!("a frame without a message: {frame:?}"));
    (frame.id.expect("an id"), message["params"]["uri"].as_str().expect("a URI").to_owned())
}

#[test]
fn every_frame_holds_what_its_revision_allows() {
    let engine = panic_and_slow_engine();
    let server = Server::start(engine.clone());
    for version in LEGACY {
        let opened = server.post(&[JSON, ACCEPT_BOTH], &initialize(version));
        let answers = check_frames(version, &opened.frames());
        assert_eq!(answers[0]["result"]["protocolVersion"], version);
        assert!(opened.frames()[0].message().is_some(), "{version}: the handshake's answer comes first");
        let session = opened.header("mcp-session-id").unwrap();
        let headers = [JSON, ACCEPT_BOTH, ("Mcp-Session-Id", session), ("MCP-Protocol-Version", version)];
        let messages = [
            request(2, "tools/list", &json!({})),
            request(3, "tools/call", &json!({"name": "slow", "arguments": {}})),
            request(4, "tools/call", &json!({"name": "nobody", "arguments": {}})),
            request(5, "ping", &json!({})),
        ];
        for message in messages {
            let reply = server.post(&headers, &message);
            assert_eq!(reply.header("content-type"), Some("text/event-stream"), "{version}");
            let answers = check_frames(version, &reply.frames());
            assert_eq!((answers.len(), &answers[0]["id"]), (1, &message["id"]), "{version}");
        }
        let mut stream = server.client().open("GET", "/mcp", &[("Mcp-Session-Id", session)], b"");
        subscribe(&server, session, "test://first");
        let mut ids = HashSet::new();
        for _ in 0..20 {
            publish(&engine, "test://first");
            let (id, uri) = next_update(&mut stream);
            assert_eq!(uri, "test://first", "{version}");
            assert!(ids.insert(id.clone()), "{version}: the id {id} stands twice");
        }
    }
}

#[test]
fn the_stateless_revision_has_messages_and_nothing_else() {
    let engine = panic_and_slow_engine();
    let server = Server::start(engine.clone());
    let filter = json!({"notifications": {"resourceSubscriptions": ["test://first"]}});
    let message = mcp_messages::with_modern_meta(request(5, "subscriptions/listen", &filter));
    let headers = mcp_messages::modern_headers(&message);
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut events = server.client().open("POST", "/mcp", &headers, message.to_string().as_bytes());
    for method in ["notifications/subscriptions/acknowledged", "notifications/resources/updated"] {
        let frame = events.next_frame().unwrap();
        assert_eq!((&frame.message().unwrap()["method"], &frame.id), (&json!(method), &None));
    }
}

#[test]
fn a_stream_that_was_cut_goes_on_after_the_last_event_that_came() {
    let engine = panic_and_slow_engine();
    let server = Server::start(engine.clone());
    for version in LEGACY {
        let session = server.open_session(version);
        let headers = [("Mcp-Session-Id", session.as_str())];
        let mut stream = server.client().open("GET", "/mcp", &headers, b"");
        subscribe(&server, &session, "test://first");
        subscribe(&server, &session, "test://second");
        publish(&engine, "test://first");
        let (last, _) = next_update(&mut stream);
        // The old connection is still open, like one that broke without being closed.
        publish(&engine, "test://second");
        let mut resumed = resume_stream(&server, &session, &last);
        let (next, uri) = next_update(&mut resumed);
        assert_eq!((event_number(&next), uri.as_str()), (event_number(&last) + 1, "test://second"), "{version}");
        publish(&engine, "test://first");
        let (after, uri) = next_update(&mut resumed);
        assert_eq!(
            (event_number(&after), uri.as_str()),
            (event_number(&next) + 1, "test://first"),
            "{version}: and goes on"
        );
        while stream.next_frame().is_some() {}
        let mut again = resume_stream(&server, &session, &next);
        assert_eq!(
            next_update(&mut again),
            (after, "test://first".to_owned()),
            "{version}: what came since, once more"
        );
    }
}

fn resume_stream(server: &Server, session: &str, last: &str) -> EventStream {
    server.client().open("GET", "/mcp", &[("Mcp-Session-Id", session), ("Last-Event-ID", last)], b"")
}

fn event_number(id: &str) -> u64 {
    id.split('/').next().unwrap().parse().unwrap()
}

#[test]
fn an_answer_that_was_cut_off_comes_after_the_event_that_began_its_stream() {
    let server = Server::start(panic_and_slow_engine());
    let quick = server.post(
        &[JSON, ACCEPT_BOTH, ("Mcp-Session-Id", &server.open_session("2025-11-25"))],
        &request(2, "ping", &json!({})),
    );
    assert_eq!(quick.frames().len(), 1, "a quick answer needs none");
    let session = server.open_session("2025-11-25");
    let slow = request(2, "tools/call", &json!({"name": "slow", "arguments": {"milliseconds": 2_345}}));
    let headers = [JSON, ACCEPT_BOTH, ("Mcp-Session-Id", session.as_str())];
    let mut stream = server.client().open("POST", "/mcp", &headers, slow.to_string().as_bytes());
    let first = stream.next_frame().unwrap();
    assert_eq!((first.message(), first.retry), (None, Some(3_000)));
    let first = first.id.expect("an id to resume from");
    wait_until_begun(2_345, 1);
    drop(stream);
    let mut resumed = resume_stream(&server, &session, &first);
    let frame = resumed.next_frame().unwrap();
    assert_eq!(frame.message().unwrap()["result"]["structuredContent"]["milliseconds"], 2_345);
    assert_eq!(event_number(&frame.id.unwrap()), event_number(&first) + 1);
}
