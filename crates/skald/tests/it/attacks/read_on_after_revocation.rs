//! Attack: reading on with a revoked token, on a stream that was opened before.
//!
//! The token is revoked by another process, and the next heartbeat, at which a stream would check by itself, is 15
//! seconds away.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skald_app::Engine;
use skald_grpc::{Bridge, Remote};
use skald_testkit::mcp_messages::{ACCEPT_BOTH, JSON, initialize};
use skald_testkit::{Client, EventStream};

use crate::program_under_test::{Server, Surface, World};
use crate::universe::add_star_command;
use crate::universe_rest::UniversesClient;

/// Far less than the time to the next heartbeat.
const AT_ONCE: Duration = Duration::from_secs(5);

/// A token for all campaigns: its secret, its `Authorization` header, and its id.
struct Token {
    secret: String,
    bearer: String,
    id: String,
}

impl Token {
    fn create(world: &World, name: &str) -> Self {
        let (secret, id) = world.create_token(&[name, "--role", "gm"]);
        Self { bearer: format!("Bearer {secret}"), secret, id }
    }

    fn header(&self) -> (&'static str, &str) {
        ("Authorization", &self.bearer)
    }

    fn revoke(&self, world: &World) -> Instant {
        let output = world.run(&["token", "revoke", &self.id]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Instant::now()
    }

    fn open_feed(&self, server: &Server, universe_id: &str) -> EventStream {
        let path = format!("/universes/{universe_id}/events");
        let mut feed = Client::connect(server.address).open("GET", &path, &[self.header()], b"");
        assert_eq!((feed.status, feed.next_block().as_deref()), (200, Some(":connected")));
        feed
    }
}

fn assert_at_once(since: Instant, what: &str) {
    assert!(since.elapsed() < AT_ONCE, "{what} ended {:?} after the revocation", since.elapsed());
}

#[test]
fn a_feed_ends() {
    let world = World::sqlite();
    let server = world.serve(&[]);
    UniversesClient::connect(&server).create_universe("sol");
    let (revoked, other) = (Token::create(&world, "Ada"), Token::create(&world, "Bo"));
    let (mut feed, mut others) = (revoked.open_feed(&server, "sol"), other.open_feed(&server, "sol"));
    let since = revoked.revoke(&world);
    let dropped = feed.next_event().expect("the reason");
    assert_at_once(since, "the feed");
    assert_eq!(dropped.event, "dropped");
    assert!(dropped.data["reason"].as_str().is_some_and(|reason| reason.contains("revoked")), "{:?}", dropped.data);
    assert_eq!(feed.next_block(), None);
    UniversesClient::connect(&server).send_command("sol", &json!({"type": "tick", "dt": 1}));
    assert_eq!(others.next_event().map(|event| event.event).as_deref(), Some("command"), "other tokens read on");
}

/// A token that expires ends like one that is revoked, without anybody saying so.
#[test]
fn what_an_expired_token_has_open_ends() {
    let world = World::sqlite();
    let server = world.serve(&[]);
    UniversesClient::connect(&server).create_universe("sol");
    let expiry = jiff::Timestamp::now() + Duration::from_secs(4);
    let (secret, id) = world.create_token(&["Ada", "--role", "gm", "--expires", &expiry.to_string()]);
    let token = Token { bearer: format!("Bearer {secret}"), secret, id };
    let mut feed = token.open_feed(&server, "sol");
    let mut client = server.client_with(Surface::Session, Some(&token.secret), "test");
    let mut stream = client.watch(&[]).into_events();
    assert_eq!(feed.next_event().map(|event| event.event).as_deref(), Some("dropped"));
    assert_eq!(feed.next_block(), None);
    assert!(stream.all(|message| message.get("method").is_some()), "a stream of MCP ends too");
    let late = jiff::Timestamp::now().duration_since(expiry);
    assert!(late.as_secs() <= 5, "it ended {late} after the token");
    let reply = Client::connect(server.address).send("GET", "/api/v1/campaigns", &[token.header()], b"");
    assert_eq!(reply.status, 401);
}

/// Each revision is a megabyte, so the history is far larger than all buffers between the server and a reader.
const REVISIONS: u32 = 24;
const RECEIVED_BYTES_MAX: usize = 8_000_000;

fn write_long_history(program: &mut UniversesClient, universe_id: &str) {
    program.create_universe(universe_id);
    let stars: serde_json::Map<String, Value> = (0..200)
        .map(|number| {
            let id = format!("s{number}");
            let mut body = add_star_command(&id, None)["payload"].take();
            body["id"] = json!(id);
            body["extensions"] = json!({"notes": "x".repeat(5_000)});
            (id, body)
        })
        .collect();
    let root_ids: Vec<&String> = stars.keys().collect();
    for time in 1..=REVISIONS {
        let state = json!({"rootIds": root_ids, "stars": stars, "time": time});
        let put = program.send("PUT", &format!("/universes/{universe_id}"), &json!({"state": state}));
        assert_eq!(put.status, 200, "{}", put.text());
    }
}

#[test]
fn a_feed_that_is_megabytes_behind_stops() {
    let world = World::sqlite();
    let server = world.serve(&[]);
    write_long_history(&mut UniversesClient::connect(&server), "sol");
    let token = Token::create(&world, "Ada");
    let mut behind = TcpStream::connect(server.address).expect("the server listens");
    behind.set_read_timeout(Some(Duration::from_secs(10))).expect("a socket option");
    let request = format!(
        "GET /universes/sol/events?lastEventId=0 HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\
        Authorization: {}\r\n\r\n",
        server.address, token.bearer
    );
    behind.write_all(request.as_bytes()).expect("the server reads");
    let mut received = vec![0; 100_000];
    behind.read_exact(&mut received).expect("the feed begins");
    // The end of another stream of the same token shows that the server knows of the revocation.
    let mut feed = token.open_feed(&server, "sol");
    let since = token.revoke(&world);
    while feed.next_block().is_some() {}
    let mut rest = 0;
    loop {
        match behind.read(&mut received) {
            Ok(0) => break,
            Ok(bytes) => rest += bytes,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}");
                break;
            }
        }
    }
    assert_at_once(since, "the feed that was behind");
    assert!(rest < RECEIVED_BYTES_MAX, "{rest} bytes came after the revocation was heard");
}

/// Reads a stream to its end.
fn read_to_the_end(mut events: EventStream, since: Instant, what: &str) {
    while events.next_block().is_some() {}
    assert!(events.is_at_end(), "{what} has not ended after {:?}", since.elapsed());
    assert_at_once(since, what);
}

#[test]
fn streams_of_mcp_end() {
    let world = World::sqlite();
    let server = world.serve(&[]);
    let token = Token::create(&world, "Ada");
    let headers = [JSON, ACCEPT_BOTH, token.header()];
    let body = initialize("2025-11-25").to_string();
    let opened = Client::connect(server.address).send("POST", "/mcp", &headers, body.as_bytes());
    let session = ("Mcp-Session-Id", opened.header("mcp-session-id").expect("a session"));
    let get = Client::connect(server.address).open("GET", "/mcp", &[ACCEPT_BOTH, token.header(), session], b"");
    assert_eq!(get.status, 200);
    let mut seat = server.client_with(Surface::Stateless, Some(&token.secret), "test");
    let listened = seat.watch(&["campaigns://list"]).into_events();
    let since = token.revoke(&world);
    read_to_the_end(get, since, "the GET stream");
    read_to_the_end(listened, since, "the listener's stream");
    let again = Client::connect(server.address).open("GET", "/mcp", &[ACCEPT_BOTH, token.header(), session], b"");
    assert_eq!(again.status, 401);
}

#[test]
fn a_watch_over_grpc_ends_and_so_does_what_a_bridge_has_open_for_the_token() {
    let world = World::sqlite();
    let server = world.serve(&[]);
    let token = Token::create(&world, "Ada");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let bridge = Bridge { address: server.grpc.to_string(), identity: "test".to_owned() };
        let remote = Remote::start(bridge).expect("an address");
        let caller = remote.authenticate(&token.secret).await.expect("the token is right");
        let mut changes = remote.changes(&caller, None).await;
        let since = token.revoke(&world);
        let ended = tokio::time::timeout(AT_ONCE, async { while changes.next().await.is_some() {} }).await;
        assert!(ended.is_ok(), "the watch has not ended after {:?}", since.elapsed());
        assert!(tokio::time::timeout(AT_ONCE, caller.wait_for_revocation()).await.is_ok(), "the bridge passes it on");
    });
}
