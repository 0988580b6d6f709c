//! Tests of subscriptions to resources, in both eras.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use skald_app::{ResourceChange, limits};
use skald_testkit::mcp_messages::{self, ACCEPT_BOTH, JSON, request};
use skald_testkit::{Client, EventStream};

use crate::server::{Server, default_engine, panic_and_slow_engine};

fn resource_change(uri: &str) -> ResourceChange {
    ResourceChange::Resource(uri.into())
}

fn next_notification(events: &mut EventStream) -> (String, Option<String>) {
    let message = events.next().expect("a message");
    let uri = message["params"]["uri"].as_str().map(str::to_owned);
    (message["method"].as_str().unwrap_or_default().to_owned(), uri)
}

fn update_notification(uri: &str) -> (String, Option<String>) {
    ("notifications/resources/updated".to_owned(), Some(uri.to_owned()))
}

fn list_changed_notification() -> (String, Option<String>) {
    ("notifications/resources/list_changed".to_owned(), None)
}

#[test]
fn a_session_hears_of_what_it_subscribed_to() {
    let engine = panic_and_slow_engine();
    let server = Server::start(engine.clone());
    let session = server.open_session("2025-11-25");
    let mut stream = server.client().open("GET", "/mcp", &[("Mcp-Session-Id", &session)], b"");
    let subscribe = |method: &str, uri: &str| server.call(&session, &request(2, method, &json!({"uri": uri})));
    assert_eq!(subscribe("resources/subscribe", "test://first")["result"], json!({}));
    engine.publish(resource_change("test://second"));
    engine.publish(resource_change("test://first"));
    engine.publish(ResourceChange::ResourceList);
    assert_eq!(next_notification(&mut stream), update_notification("test://first"));
    assert_eq!(next_notification(&mut stream), list_changed_notification());

    subscribe("resources/unsubscribe", "test://first");
    engine.publish(resource_change("test://first"));
    engine.publish(ResourceChange::ResourceList);
    assert_eq!(next_notification(&mut stream), list_changed_notification(), "nobody asks for the first any more");
    assert_eq!(subscribe("resources/subscribe", "test://third")["error"]["code"], -32002);
}

#[test]
fn a_session_watches_only_so_many_resources() {
    let server = Server::start(default_engine());
    let session = server.open_session("2025-11-25");
    let subscribe = |number: usize| {
        let uri = format!("campaign://camp_{number}");
        server.call(&session, &request(2, "resources/subscribe", &json!({"uri": uri})))
    };
    for number in 0..limits::SUBSCRIPTIONS_MAX {
        assert_eq!(subscribe(number)["result"], json!({}), "{number}");
    }
    assert_eq!(subscribe(0)["result"], json!({}), "one that it watches already is no further one");
    let refused = subscribe(limits::SUBSCRIPTIONS_MAX);
    let message = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("one client watches at most 256 resources"), "{refused}");
}

fn listen(client: Client, uris: &Value) -> EventStream {
    let filter = json!({"notifications": {"resourceSubscriptions": uris, "resourcesListChanged": true, "toolsListChanged": true}});
    let message = mcp_messages::with_modern_meta(request(5, "subscriptions/listen", &filter));
    let headers = mcp_messages::modern_headers(&message);
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    client.open("POST", "/mcp", &headers, message.to_string().as_bytes())
}

#[test]
fn a_listener_is_acknowledged_and_told_everything_once() {
    let engine = panic_and_slow_engine();
    let server = Server::start(engine.clone());
    let mut events = listen(server.client(), &json!(["test://first", "test://nowhere"]));
    assert_eq!((events.status, events.kind.as_str()), (200, "text/event-stream"));
    let acknowledged = events.next().unwrap();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(
        acknowledged["params"]["notifications"],
        json!({"resourcesListChanged": true, "resourceSubscriptions": ["test://first"]})
    );
    assert_eq!(next_notification(&mut events), update_notification("test://first"), "announced once on entry");
    for _ in 0..3 {
        engine.publish(resource_change("test://first"));
        engine.publish(resource_change("test://second"));
        engine.publish(ResourceChange::ResourceList);
        assert_eq!(next_notification(&mut events), update_notification("test://first"));
        assert_eq!(next_notification(&mut events), list_changed_notification());
    }
}

#[test]
fn a_header_hides_resources_from_a_listener() {
    let engine = panic_and_slow_engine();
    let server = Server::start(engine.clone());
    let filter = json!({"notifications": {"resourceSubscriptions": ["test://first"], "resourcesListChanged": true}});
    let message = mcp_messages::with_modern_meta(request(5, "subscriptions/listen", &filter));
    let headers = mcp_messages::modern_headers(&message);
    let mut headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    headers.push(("X-MCP-Toolsets", "lore"));
    let mut events = server.client().open("POST", "/mcp", &headers, message.to_string().as_bytes());
    events.next().unwrap();
    // The watch may begin after the acknowledgement, so changes are published until one arrives.
    let heard = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !heard.load(Ordering::Relaxed) {
                engine.publish(resource_change("test://first"));
                engine.publish(ResourceChange::ResourceList);
                std::thread::yield_now();
            }
        });
        let first = events.next().unwrap();
        heard.store(true, Ordering::Relaxed);
        assert_eq!(first["method"], "notifications/resources/list_changed", "nothing is said of the resource");
    });
}

#[test]
fn listeners_end_when_the_server_stops() {
    let server = Server::start(default_engine());
    let mut events = listen(server.client(), &json!(["dice://rules/duality"]));
    events.next().unwrap();
    events.next().unwrap();
    server.stopping.cancel();
    server.runtime.block_on(server.drain.finish(Duration::from_secs(5)));
    let last = events.next().expect("the result of the request");
    assert_eq!((&last["id"], last.get("method")), (&json!(5), None));
    assert_eq!(events.next(), None);
}

#[test]
fn a_client_without_a_session_cannot_subscribe() {
    let options = skald_mcp::McpOptions { sessions: false, ..skald_mcp::McpOptions::default() };
    let server = Server::start_with(default_engine(), options);
    let message = request(2, "resources/subscribe", &json!({"uri": "dice://rules/duality"}));
    let error = &server.post(&[JSON, ACCEPT_BOTH], &message).json()["error"];
    assert_eq!(error["code"], -32600);
}

/// A player cannot watch a run that they may not see, and it is refused like one that is not there.
#[test]
fn a_hidden_run_cannot_be_watched() {
    let engine = default_engine();
    let server = Server::start(engine.clone());
    let owner = skald_app::Caller::owner();
    let call = |operation: &'static str, input: Value| {
        let control = skald_app::RequestControl::default();
        server
            .runtime
            .block_on(skald_app::Engine::call(&*engine, &owner, operation, input, &control))
            .expect("it is right")
    };
    let campaign = call("campaign_create", json!({"name": "Bells", "gm_mode": "AI"}));
    let run = json!({"process_id": "exploration-process", "run_id": "the-ambush", "campaign_id": campaign["id"]});
    call("state_gate.create_run", run);
    let subscribe = |headers: &[(&str, &str)], run_id: &str| {
        let uri = format!("stategate://runs/{run_id}/summary");
        server.post(headers, &request(2, "resources/subscribe", &json!({"uri": uri}))).json()
    };
    let stranger = (crate::server::PRINCIPAL, "ben");
    let opened = server.post(&[JSON, ACCEPT_BOTH, stranger], &mcp_messages::initialize("2025-11-25"));
    let session = ("Mcp-Session-Id", opened.header("mcp-session-id").expect("a session"));
    let hidden = subscribe(&[JSON, ACCEPT_BOTH, stranger, session], "the-ambush");
    let missing = subscribe(&[JSON, ACCEPT_BOTH, stranger, session], "run-none");
    assert_eq!(hidden["error"]["code"], -32002, "{hidden}");
    assert_eq!(hidden.to_string().replace("the-ambush", "run-none"), missing.to_string());
    let own = server.open_session("2025-11-25");
    let seen = subscribe(&[JSON, ACCEPT_BOTH, ("Mcp-Session-Id", &own)], "the-ambush");
    assert_eq!(seen["result"], json!({}), "{seen}");
}
