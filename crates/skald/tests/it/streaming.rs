//! Tests of the SSE stream of a universe with real processes: several writers, and readers that reconnect.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skald_testkit::{Client, Event, EventStream};

use crate::process::RunningProgram;
use crate::program_under_test::{Notifications, StoreKind, Surface, World};
use crate::rest_client::RestClient;

const WRITERS: u64 = 4;
/// Commands of each writer.
const COMMANDS: u64 = 60;
/// How often a reader disconnects.
const CUTS: u64 = 25;

#[test]
fn each_command_comes_once_and_in_order_to_readers_that_come_back_on_sqlite() {
    read_while_written(StoreKind::Sqlite);
}

mod postgres {
    #[test]
    fn each_command_comes_once_and_in_order_to_readers_that_come_back_on_postgres() {
        super::read_while_written(super::StoreKind::Postgres);
    }

    #[test]
    fn req_mcp_25_the_streams_of_mcp_and_of_a_universe_do_not_touch_on_postgres() {
        super::check_streams_independent(super::StoreKind::Postgres);
    }
}

fn create_universe(rest: &mut RestClient, id: &str) {
    rest.call("universe", &json!({"method": "create", "universeId": id, "name": id}));
}

fn tick(rest: &mut RestClient, id: &str, dt: u64) {
    let command = json!({"type": "tick", "dt": dt});
    rest.call("send_universe_command", &json!({"universeId": id, "command": command, "state": "none"}));
}

fn open_feed(address: SocketAddr, id: &str, after: Option<&str>) -> EventStream {
    let headers: Vec<(&str, &str)> = after.iter().map(|after| ("Last-Event-ID", *after)).collect();
    let mut events = Client::connect(address).open("GET", &format!("/universes/{id}/events"), &headers, b"");
    assert_eq!(events.status, 200);
    assert_eq!(events.next_block().as_deref(), Some(":connected"));
    events
}

fn command_event(revision: u64, dt: u64) -> Event {
    Event { event: "command".to_owned(), id: Some(revision.to_string()), data: json!({"type": "tick", "dt": dt}) }
}

/// Half of the writers use one process and half another. One reader stays connected to the first; another disconnects
/// after every few commands and continues with either process.
fn read_while_written(kind: StoreKind) {
    let world = World::new(kind);
    let servers = [world.serve(&[]), world.serve(&[])];
    let addresses = servers.each_ref().map(|server| server.address);
    create_universe(&mut RestClient::new(addresses[0]), "sol");
    let total = WRITERS * COMMANDS;
    let [steady, restless] = std::thread::scope(|scope| {
        let mut reader = open_feed(addresses[0], "sol", None);
        let steady = scope.spawn(move || (0..total).map_while(|_| reader.next_event()).collect::<Vec<_>>());
        let restless = scope.spawn(move || {
            let (mut heard, mut last) = (Vec::new(), "1".to_owned());
            for cut in 0_u64.. {
                let mut reader = open_feed(addresses[usize::from(cut % 3 == 1)], "sol", Some(&last));
                // Pseudo-random, and the same in every run.
                let few = if cut < CUTS { cut * 7_919 % 13 } else { total };
                for _ in 0..few.min(total - heard.len() as u64) {
                    let event: Event = reader.next_event().expect("another command");
                    last = event.id.clone().expect("an id");
                    heard.push(event);
                }
                if heard.len() as u64 == total {
                    break;
                }
            }
            heard
        });
        for writer in 0..WRITERS {
            let address = addresses[usize::from(writer % 2 == 1)];
            scope.spawn(move || {
                let mut rest = RestClient::new(address);
                (0..COMMANDS).for_each(|number| tick(&mut rest, "sol", writer * 1_000 + number));
            });
        }
        [steady, restless].map(|reader| reader.join().expect("a reader"))
    });
    assert_eq!(steady, restless, "whoever comes back hears the same");
    let ids: Vec<String> = steady.iter().filter_map(|event| event.id.clone()).collect();
    assert_eq!(ids, (2..total + 2).map(|revision| revision.to_string()).collect::<Vec<_>>());
    for writer in 0..WRITERS {
        let of_writer = steady.iter().filter_map(|event| event.data["dt"].as_u64()).filter(|dt| dt / 1_000 == writer);
        let expected: Vec<u64> = (0..COMMANDS).map(|number| writer * 1_000 + number).collect();
        assert_eq!(of_writer.collect::<Vec<_>>(), expected, "all that the writer was told is done, in its order");
    }
}

/// REQ-MCP-25: the stream of a session and that of a universe are independent.
#[test]
fn req_mcp_25_the_streams_of_mcp_and_of_a_universe_do_not_touch() {
    check_streams_independent(StoreKind::Memory);
    check_streams_independent(StoreKind::Sqlite);
}

fn check_streams_independent(kind: StoreKind) {
    let world = World::new(kind);
    let server = world.serve(&[]);
    let mut rest = RestClient::new(server.address);
    create_universe(&mut rest, "sol");
    create_universe(&mut rest, "other");
    let mut seat = server.client(Surface::Session);
    let mut news = seat.watch(&["universe://other"]);
    // The notification of the list of universes may come late.
    let hear = |news: &mut Notifications| {
        let heard = news.read_until("universe://other");
        assert!(heard.iter().all(|uri| uri == "list" || uri == "universe://other"), "not subscribed to: {heard:?}");
    };
    let mut reader = open_feed(server.address, "sol", None);
    for number in 1..=3 {
        tick(&mut rest, "sol", number);
        tick(&mut rest, "other", number);
        hear(&mut news);
        assert_eq!(reader.next_event(), Some(command_event(number + 1, number)), "a reader hears of its universe");
    }
    // Each stream continues without the other.
    drop(reader);
    tick(&mut rest, "other", 4);
    hear(&mut news);
    let mut reader = open_feed(server.address, "sol", Some("4"));
    drop((news, seat));
    tick(&mut rest, "sol", 5);
    assert_eq!(reader.next_event(), Some(command_event(5, 5)));
}

#[test]
fn readers_do_not_keep_a_server_from_stopping() {
    let (running, address) = RunningProgram::serve(&[]);
    let mut rest = RestClient::new(address);
    create_universe(&mut rest, "sol");
    let mut readers: Vec<EventStream> = (0..20).map(|_| open_feed(address, "sol", None)).collect();
    tick(&mut rest, "sol", 1);
    for reader in &mut readers {
        assert_eq!(reader.next_event(), Some(command_event(2, 1)));
    }
    running.signal("TERM");
    for reader in &mut readers {
        assert_eq!(reader.next_event(), None);
    }
    let (status, took, log) = running.wait_for_exit();
    assert!(status.success() && took.as_secs() < 2, "{status} after {took:?}: {log}");
}

#[test]
fn readers_that_go_are_forgotten() {
    let (_running, address) = RunningProgram::serve(&[]);
    let mut rest = RestClient::new(address);
    let mut metrics = Client::connect(address);
    let mut count = || {
        let text = metrics.send("GET", "/metrics", &[], b"").text();
        let value = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            line.map_or(0.0, |value| value.parse().expect("a number"))
        };
        (value("skald_universes_read"), value("skald_universe_readers"))
    };
    create_universe(&mut rest, "sol");
    create_universe(&mut rest, "other");
    let readers = ["sol", "sol", "sol", "other"].map(|id| open_feed(address, id, None));
    assert_eq!(count(), (2.0, 4.0));
    drop(readers);
    let began = Instant::now();
    while count() != (0.0, 0.0) {
        assert!(began.elapsed() < Duration::from_secs(10), "{:?} are still counted", count());
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut reader = open_feed(address, "sol", None);
    tick(&mut rest, "sol", 1);
    assert_eq!(reader.next_event(), Some(command_event(2, 1)), "the next is read to as the first was");
}

/// The metrics count the route as REST, and the checks of origin and token apply to it. A bridge refers to its server.
#[test]
fn the_stream_is_behind_the_door_and_not_on_a_bridge() {
    let world = World::sqlite();
    let server = world.serve(&[]);
    create_universe(&mut RestClient::new(server.address), "sol");
    let mut stranger = Client::connect(server.address);
    let refused = stranger.send("GET", "/universes/sol/events", &[("Origin", "https://evil.example")], b"");
    assert_eq!(refused.status, 403);
    let wrong = stranger.send("GET", "/universes/sol/events", &[("Authorization", "Bearer skald_no_such")], b"");
    assert_eq!(wrong.status, 401);
    let metrics = stranger.send("GET", "/metrics", &[], b"").text();
    assert!(metrics.contains("skald_http_requests_total{surface=\"rest\",status=\"4xx\"} 2"), "{metrics}");
    let bridge = server.bridge_command(&["--transport", "http", "--http-addr", "127.0.0.1:0"]);
    let (_bridge, address) = RunningProgram::start_server(bridge);
    let answer = Client::connect(address).send("GET", "/universes/sol/events", &[], b"");
    let fault: Value = answer.json();
    assert_eq!((answer.status, &fault["universeId"]), (404, &json!("sol")));
    assert!(fault["hint"].as_str().is_some_and(|hint| hint.contains("server")), "{fault}");
}
