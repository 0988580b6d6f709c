//! Tests of the bridge: restarts of the server under it, tokens it passes on, and answers while the server is away.

use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use skald_testkit::Client;
use skald_testkit::mcp_messages::{JSON, initialize, request};

use crate::context::empty_context;
use crate::documented_campaign::create_campaign;
use crate::process::RunningProgram;
use crate::program_under_test::{Server, Surface, TestClient, World, code_and_status, notification_subject};

/// Starts a server at the gRPC address of the one before.
fn restart_server(world: &World, grpc: std::net::SocketAddr) -> Server {
    world.serve(&["--grpc-addr", &grpc.to_string()])
}

fn add_participant(seat: &mut TestClient, campaign_id: &str, name: &str) {
    seat.ok("participant_create", &json!({"campaign_id": campaign_id, "display_name": name, "role": "PLAYER"}));
}

/// The subject of the next notification to a client on stdio: a URI, or `list`.
fn next_subject(seat: &mut TestClient) -> String {
    notification_subject(&seat.process().next_notification().expect("news"))
}

#[test]
fn a_session_and_its_subscription_outlive_the_server_on_sqlite() {
    check_session_outlives_server(&World::sqlite());
}

mod postgres {
    use crate::program_under_test::{StoreKind, World};

    #[test]
    fn a_session_and_its_subscription_outlive_the_server_on_postgres() {
        super::check_session_outlives_server(&World::new(StoreKind::Postgres));
    }
}

fn check_session_outlives_server(world: &World) {
    let server = world.serve(&[]);
    let grpc = server.grpc;
    let mut seat = server.bridge_client(&[]);
    // A subscription is answered once the bridge follows the server, so this waits for that.
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        seat.request(method, &json!({"uri": "campaigns://list"}));
    }
    let mut beside = world.stdio_client(&[]);
    let campaign_id = create_campaign(&mut beside);
    let uri = format!("campaign://{campaign_id}/participants");
    let session = seat.ok("session_start", &json!({"campaign_id": campaign_id}));
    seat.ok("set_context", &json!({"campaign_id": campaign_id, "session_id": session["id"]}));
    // Skip notifications of earlier changes.
    while next_subject(&mut seat) != "list" {}
    seat.request("resources/subscribe", &json!({"uri": uri}));
    add_participant(&mut beside, &campaign_id, "Ada");
    assert_eq!(next_subject(&mut seat), uri);

    let mut server = server;
    for round in 0..3 {
        server.kill();
        // Another process makes a change while the server is down.
        add_participant(&mut beside, &campaign_id, &format!("Bo {round}"));
        server = restart_server(world, grpc);
        assert_eq!(next_subject(&mut seat), uri, "what was missed is told");
        // The next call works, in the same session with the same context.
        let note = seat.ok("session_note", &json!({"text": format!("round {round}")}));
        assert_eq!(note["session_id"], session["id"]);
        add_participant(&mut beside, &campaign_id, &format!("Cy {round}"));
        assert_eq!(next_subject(&mut seat), uri, "and what comes after it");
    }
    // A duplicate notification would have come before this answer.
    let unsubscribed = seat.request("resources/unsubscribe", &json!({"uri": uri}));
    assert_eq!(unsubscribed["result"], json!({}));
    add_participant(&mut beside, &campaign_id, "Di");
    create_campaign(&mut beside);
    assert_eq!(next_subject(&mut seat), "list", "nothing was told twice");
}

/// However often the server is killed, every acknowledged note is stored exactly once.
#[test]
fn commands_survive_kills_and_happen_once() {
    let world = World::sqlite();
    let mut server = world.serve(&[]);
    let grpc = server.grpc;
    let mut seat = server.bridge_client(&[]);
    let campaign_id = create_campaign(&mut seat);
    let session = seat.ok("session_start", &json!({"campaign_id": campaign_id}));
    let is_over = AtomicBool::new(false);
    let (notes, mut seat, _server) = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut notes = 0;
            while !is_over.load(Ordering::Relaxed) {
                let input =
                    json!({"session_id": session["id"], "campaign_id": campaign_id, "text": format!("note {notes}")});
                seat.ok("session_note", &input);
                notes += 1;
            }
            (notes, seat)
        });
        for _ in 0..5 {
            std::thread::sleep(Duration::from_millis(150));
            server.kill();
            server = restart_server(&world, grpc);
        }
        is_over.store(true, Ordering::Relaxed);
        let (notes, seat) = writer.join().expect("every note is taken");
        (notes, seat, server)
    });
    assert!(notes > 5, "{notes}");
    let mut found: Vec<String> = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let mut input = json!({"campaign_id": campaign_id, "types": ["note"], "order": "oldest", "limit": 200});
        if cursor.is_string() {
            input["cursor"] = cursor.take();
        }
        let page = seat.ok("events_list", &input);
        let texts = page["events"].as_array().expect("events").iter().map(|event| event["event"]["text"].as_str());
        found.extend(texts.map(|text| text.expect("a text").to_owned()));
        cursor = page["next_cursor"].clone();
        if !cursor.is_string() {
            break;
        }
    }
    let expected: Vec<String> = (0..notes).map(|number| format!("note {number}")).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_bridge_waits_for_its_server_and_says_so() {
    let world = World::sqlite();
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port");
    let address = free.to_string();
    let mut bridge = RunningProgram::start(world.command(&["mcp", "--addr", &address]));
    // The bridge answers `initialize` by itself; other requests wait for the server.
    bridge.write_line(&initialize("2025-11-25").to_string());
    let answer = bridge.next_line().expect("an answer at once");
    assert!(answer.contains("protocolVersion"), "{answer}");
    bridge
        .write_line(&request(2, "tools/call", &json!({"name": "duality_rules_version", "arguments": {}})).to_string());
    std::thread::sleep(Duration::from_millis(300));
    let http = ["mcp", "--transport", "http", "--http-addr", "127.0.0.1:0", "--addr", &address];
    let (_over_http, here) = RunningProgram::start_server(world.command(&http));
    let health = || Client::connect(here).send("GET", "/mcp/health", &[], b"");
    assert_eq!(health().status, 503);

    let server = restart_server(&world, free);
    let answer = bridge.next_line().expect("the answer that was waited for");
    assert!(answer.contains("Daggerheart"), "{answer}");
    let until = |status: u16| while health().status != status {};
    until(200);
    server.kill();
    until(503);
    bridge.close_input();
    let (status, _, errors) = bridge.wait_for_exit();
    assert!(status.success(), "{errors}");
    assert!(errors.contains("waiting for the server") && errors.contains("the server is there"), "{errors}");
}

#[test]
fn a_bridge_without_a_server_ends_with_its_client() {
    let world = World::sqlite();
    for is_greeted in [false, true] {
        let mut bridge = RunningProgram::start(world.command(&["mcp", "--addr", "127.0.0.1:1"]));
        if is_greeted {
            bridge.request(&initialize("2025-11-25"));
        }
        bridge.close_input();
        let (status, _, errors) = bridge.wait_for_exit();
        assert!(status.success(), "{errors}");
    }
}

#[test]
fn a_call_gives_up_on_a_server_that_stays_away() {
    let world = World::sqlite();
    let server = world.serve(&[]);
    let mut seat = server.bridge_client(&[]);
    create_campaign(&mut seat);
    server.kill();
    let fault = loop {
        // The first call may come before the bridge notices that the connection is closed.
        if let Err(fault) = seat.call("campaign_read", &json!({"view": "campaigns"})) {
            break fault;
        }
    };
    assert_eq!(code_and_status(&fault), ("UNAVAILABLE", "Unavailable"));
    assert!(fault["hint"].as_str().is_some_and(|hint| hint.contains("skald serve")), "{fault}");
    let fault = seat.call_refused("campaign_create", &json!({"name": "Twice?", "gm_mode": "HUMAN"}));
    assert!(
        fault["message"].as_str().is_some_and(|words| words.contains("not known whether this was done")),
        "{fault}"
    );
    assert!(fault["hint"].as_str().is_some_and(|hint| hint.contains("under the idempotency key")), "{fault}");
    for (tool, input) in [
        ("get_universe_state", json!({"universeId": "u-42"})),
        ("send_universe_command", json!({"universeId": "u-42", "command": {"type": "tick"}})),
    ] {
        assert_eq!(seat.call_refused(tool, &input)["universeId"], "u-42", "{tool}");
    }
}

#[test]
fn a_token_is_passed_on() {
    let world = World::sqlite();
    let campaign_id = create_campaign(&mut world.stdio_client(&[]));
    let (secret, id) = world.create_token(&["Alice", "--role", "player", "--for", &campaign_id]);
    let server = world.serve(&["--grpc-addr", "0.0.0.0:0"]);
    let there = format!("127.0.0.1:{}", server.grpc.port());
    let bridge = |token: Option<&str>| {
        let mut command = world.command(&["mcp", "--addr", &there]);
        token.map(|token| command.env("SKALD_TOKEN", token));
        command
    };
    // The server listens on all interfaces, so it requires a token.
    let (status, _, errors) = RunningProgram::start(bridge(None)).wait_for_exit();
    assert!(!status.success() && errors.contains("SKALD_TOKEN: a token is required here"), "{errors}");
    // A token from a file may end with a line break, which is ignored.
    let mut seat = TestClient::over_stdio(bridge(Some(&format!("{secret}\n"))));
    assert_eq!(seat.ok("campaign_read", &json!({}))["campaign"]["id"], json!(campaign_id));

    let mut seat = TestClient::over_stdio(bridge(Some(&secret)));
    assert_eq!(seat.ok("campaign_read", &json!({}))["campaign"]["id"], json!(campaign_id));
    let input = json!({"display_name": "Bob", "role": "PLAYER"});
    assert_eq!(code_and_status(&seat.call_refused("participant_create", &input)), ("FORBIDDEN", "PermissionDenied"));
    let foreign = seat.request("resources/subscribe", &json!({"uri": "campaign://camp_foreign"}));
    assert_eq!(foreign["error"]["code"], -32002, "{foreign}");

    // Over HTTP each client sends its own token.
    let http = ["mcp", "--transport", "http", "--http-addr", "127.0.0.1:0", "--addr", &there];
    let (_running, here) = RunningProgram::start_server(world.command(&http));
    let mut client = Client::connect(here);
    let authorization = format!("Bearer {secret}");
    let read = |client: &mut Client, headers: &[(&str, &str)]| {
        client.send("POST", "/api/v1/campaign_read", &[&[JSON], headers].concat(), b"{}").status
    };
    assert_eq!(read(&mut client, &[("Authorization", &authorization)]), 200);
    assert_eq!(read(&mut client, &[("Authorization", "Bearer skald_nobody_nothing")]), 401);
    assert_eq!(read(&mut client, &[]), 401);

    assert!(world.run(&["token", "revoke", &id]).status.success());
    let after = seat.request("tools/call", &json!({"name": "campaign_read", "arguments": {}}));
    assert_eq!(after["error"]["data"]["error"]["code"], "UNAUTHORIZED", "{after}");
    let (status, _, errors) = RunningProgram::start(bridge(Some(&secret))).wait_for_exit();
    assert!(!status.success() && errors.contains("SKALD_TOKEN"), "{errors}");
}

/// A wrong token is refused even where none is required: its sender does not become the owner.
#[test]
fn a_token_that_is_none_lets_nobody_in() {
    let world = World::sqlite();
    let server = world.serve(&[]);
    for token in ["wrong", "wrong\u{7}", "skald_a_b\u{1}c"] {
        let mut command = server.bridge_command(&[]);
        command.env("SKALD_TOKEN", token);
        let (status, _, errors) = RunningProgram::start(command).wait_for_exit();
        assert!(!status.success() && errors.contains("SKALD_TOKEN"), "{token:?}: {errors}");
    }
}

/// A context is not in the journal: a change during the reconnect is found by comparing contexts.
#[test]
fn a_context_that_changes_while_the_server_comes_back_is_told() {
    let world = World::sqlite();
    let mut server = world.serve(&[]);
    let grpc = server.grpc;
    let mut seat = server.bridge_client(&[]);
    let (one, other) = (create_campaign(&mut seat), create_campaign(&mut seat));
    seat.ok("set_context", &json!({"campaign_id": one}));
    seat.request("resources/subscribe", &json!({"uri": "context://current"}));
    server.kill();
    std::thread::sleep(Duration::from_secs(2));
    server = restart_server(&world, grpc);
    seat.ok("set_context", &json!({"campaign_id": other}));
    while next_subject(&mut seat) != "context://current" {}
    server.kill();
}

#[test]
fn a_context_ends_with_its_session() {
    let world = World::sqlite();
    let server = world.serve(&[]);
    let mut first = server.bridge_client(&[]);
    let mut second = server.bridge_client(&[]);
    let (one, other) = (create_campaign(&mut first), create_campaign(&mut first));
    first.ok("set_context", &json!({"campaign_id": one}));
    second.ok("set_context", &json!({"campaign_id": other}));
    for (seat, campaign_id) in [(&mut first, &one), (&mut second, &other)] {
        assert_eq!(&seat.ok("campaign_read", &json!({}))["campaign"]["id"], campaign_id);
    }
    let mut rest = server.client(Surface::Rest);
    assert_eq!(rest.ok("campaign_read", &json!({"view": "context"}))["context"], empty_context());
    first.process().close_input();
    while first.process().next_line().is_some() {}
    let mut third = server.bridge_client(&[]);
    assert_eq!(third.ok("campaign_read", &json!({"view": "context"}))["context"], empty_context());
    assert_eq!(&second.ok("campaign_read", &json!({}))["campaign"]["id"], &json!(other));
}

#[test]
fn its_context_and_revisions_come_through() {
    let world = World::sqlite();
    let server = world.serve(&[]);
    let mut seat = server.bridge_client(&[]);
    let campaign_id = create_campaign(&mut seat);
    while next_subject(&mut seat) != "list" {}
    seat.ok("set_context", &json!({"clear": true}));
    seat.request("resources/subscribe", &json!({"uri": "context://current"}));
    let context = json!({"campaign_id": campaign_id});
    for mut other in [server.client(Surface::Session), server.bridge_client(&[])] {
        other.ok("set_context", &context);
    }
    seat.ok("set_context", &context);
    assert_eq!(next_subject(&mut seat), "context://current", "once: others have their own");
    let started = seat.request("tools/call", &json!({"name": "session_start", "arguments": {}}));
    let revision = &started["result"]["_meta"]["skald/revision"];
    assert!(revision.is_u64(), "{started}");
    let read = seat.request("resources/read", &json!({"uri": format!("campaign://{campaign_id}")}));
    assert_eq!(&read["result"]["contents"][0]["_meta"]["skald/revision"], revision, "{read}");
    assert_eq!(next_subject(&mut seat), "context://current", "the session is in it now");
    create_campaign(&mut seat);
    let mut subjects = [next_subject(&mut seat), next_subject(&mut seat)];
    subjects.sort();
    assert_eq!(subjects, ["context://current", "list"], "nothing was told twice");
}

#[test]
fn a_taken_port_and_a_wrong_address_are_told() {
    let world = World::sqlite();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    for wrong in ["127.0.0.1", "127.0.0.1:99999", "127.0.0.1:0", "foo", ":8080", "https://skald.example:8080"] {
        let refused = world.run(&["mcp", "--addr", wrong]);
        let words = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && words.contains("is not HOST:PORT"), "{wrong}: {words}");
    }
    let refused = world.run(&["serve", "--http-addr", "127.0.0.1:0", "--grpc-addr", &address]);
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && words.contains("--grpc-addr 127.0.0.1:PORT"), "{words}");
    let open = world.run(&["serve", "--http-addr", "127.0.0.1:0", "--grpc-addr", "0.0.0.0:0"]);
    assert!(String::from_utf8_lossy(&open.stderr).contains("skald token create NAME --role gm"));
    let nowhere = world.run(&["mcp", "--addr", "not an address"]);
    let words = String::from_utf8_lossy(&nowhere.stderr).into_owned();
    assert!(!nowhere.status.success() && words.contains("try 127.0.0.1:8080"), "{words}");
}
