//! Tests of the SSE stream of a universe's commands, over real sockets.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skald_app::{
    Caller, CampaignRole, NewToken, PrincipalKind, RequestControl, TokenRestrictions, ToolsetFilter, limits,
};
use skald_journal::{Append, Batch, Head, Record, StreamName};
use skald_testkit::{Client, Event, EventStream};

use crate::Server;

impl Server {
    fn call_operation(&self, operation: &str, input: Value) -> Value {
        let done =
            self.runtime.block_on(self.engine.call(&Caller::owner(), operation, input, &RequestControl::default()));
        done.unwrap_or_else(|fault| panic!("{operation}: {fault}"))
    }

    fn create_universe(&self, id: &str) {
        self.call_operation("universe", json!({"method": "create", "universeId": id, "name": id}));
    }

    fn send_tick(&self, id: &str, dt: u64) {
        self.call_operation("send_universe_command", json!({"universeId": id, "command": {"type": "tick", "dt": dt}}));
    }

    fn open_events(&self, id: &str, headers: &[(&str, &str)]) -> EventStream {
        Client::connect(self.address).open("GET", &format!("/universes/{id}/events"), headers, b"")
    }

    /// Opens a stream and reads its opening lines: the reader gets every event from then on.
    fn open_reader(&self, id: &str, headers: &[(&str, &str)]) -> EventStream {
        let mut events = self.open_events(id, headers);
        assert_eq!((events.status, events.kind.as_str()), (200, "text/event-stream"));
        assert_eq!(events.next_block().as_deref(), Some(":connected"));
        assert_eq!(events.next_block().as_deref(), Some("retry: 1000"));
        events
    }

    /// Appends records to the journal as another process would, each with these events.
    fn append_records(&self, id: &str, bodies: impl IntoIterator<Item = Value>) {
        let (stream, journal) = (StreamName::new("universe", id), Arc::clone(&self.local.app().journal));
        let expected = self.runtime.block_on(journal.head(&stream)).unwrap();
        let mut head: Head = expected;
        let records = bodies.into_iter().map(|body| {
            let kind = body[0]["type"].as_str().unwrap().to_owned();
            let record = Record::next(&stream, head, &kind, jiff::Timestamp::UNIX_EPOCH, "other", body.to_string());
            head = record.head();
            record
        });
        let batch = Batch { expected, records: records.collect(), ..Batch::default() };
        self.runtime.block_on(journal.append(Append::without_redecide(stream.clone(), batch))).unwrap();
    }
}

fn tick_event(dt: u64) -> Value {
    json!({"type": "universe.commanded.v1", "command": {"type": "tick", "dt": dt}})
}

fn command_event(id: &str, dt: u64) -> Event {
    Event { event: "command".to_owned(), id: Some(id.to_owned()), data: json!({"type": "tick", "dt": dt}) }
}

#[test]
fn commands_are_told_as_they_are_accepted() {
    let server = Server::start(ToolsetFilter::EVERYTHING);
    server.create_universe("u-1");
    server.send_tick("u-1", 1);
    let mut reader = server.open_reader("u-1", &[("Origin", "http://localhost:3000")]);
    assert_eq!(reader.header("cache-control"), Some("no-cache"));
    assert_eq!(reader.header("x-accel-buffering"), Some("no"));
    assert_eq!(reader.header("access-control-allow-origin"), Some("http://localhost:3000"));
    server.send_tick("u-1", 2);
    assert_eq!(reader.next_block().as_deref(), Some("event: command\nid: 3\ndata: {\"type\":\"tick\",\"dt\":2}"));
    // Refused commands and other universes send no events.
    let refused = json!({"universeId": "u-1", "command": {"type": "removeStar", "id": "nowhere"}});
    assert!(server.call_or_envelope("send_universe_command", refused)["error"].is_object());
    server.create_universe("u-2");
    server.send_tick("u-2", 9);
    server.call_operation("universe", json!({"method": "rename", "universeId": "u-1", "name": "Sol"}));
    let renamed = reader.next_event().unwrap();
    assert_eq!((&*renamed.event, renamed.id.as_deref(), renamed.data), ("renamed", Some("4"), json!({"name": "Sol"})));
    let star = json!({"type": "addStar", "id": "sun", "payload": {
        "name": "Sun", "mass": 330, "radius": 2, "color": "#FFF4EA", "parentId": null,
        "orbitalDistance": 0, "orbitalSpeed": 0.5, "orbitalPhase": 0, "extensions": {"of": ["anything", 1.5, null]}
    }});
    server.call_operation("send_universe_command", json!({"universeId": "u-1", "command": star}));
    let told = reader.next_event().unwrap();
    assert_eq!((told.id.as_deref(), &told.data), (Some("5"), &star), "as it was received");
    server.append_records("u-1", [json!([{"type": "universe.replaced.v1", "state": {"time": 42}}])]);
    let replaced = reader.next_event().unwrap();
    assert_eq!((&*replaced.event, replaced.id.as_deref()), ("stateReplaced", Some("6")), "no command of anybody's");
    assert_eq!((&replaced.data["state"]["time"], &replaced.data["state"]["stars"]), (&json!(42), &json!({})));
    let command = json!({"type": "replaceSnapshot", "snapshot": {"stars": {}, "rootIds": []}});
    server.call_operation("send_universe_command", json!({"universeId": "u-1", "command": command}));
    let told = reader.next_event().unwrap();
    assert_eq!((&*told.event, &told.data["type"]), ("command", &json!("replaceSnapshot")), "this one was sent");
}

#[test]
fn a_reader_goes_on_where_it_left_off_also_within_a_batch() {
    let server = Server::start(ToolsetFilter::EVERYTHING);
    server.create_universe("u-1");
    server.append_records("u-1", [json!([tick_event(1), tick_event(2), tick_event(3)]), json!([tick_event(4)])]);
    let whole = [command_event("1.1", 1), command_event("1.2", 2), command_event("2", 3), command_event("3", 4)];
    for (after, at) in [("1", 0), ("1.1", 1), ("1.2", 2), ("2", 3), ("3", 4)] {
        let mut reader = server.open_reader("u-1", &[("Last-Event-ID", after)]);
        let mut other = Client::connect(server.address).open(
            "GET",
            &format!("/universes/u-1/events?lastEventId={after}"),
            &[],
            b"",
        );
        for told in &whole[at..] {
            assert_eq!(
                (reader.next_event().as_ref(), other.next_event().as_ref()),
                (Some(told), Some(told)),
                "after {after}"
            );
        }
    }
    // The header overrides the query, and id 0 reads from the very beginning.
    let path = "/universes/u-1/events?lastEventId=0";
    let mut reader = Client::connect(server.address).open("GET", path, &[("Last-Event-ID", "2")], b"");
    assert_eq!(reader.next_event(), Some(command_event("3", 4)));
    let created = Client::connect(server.address).open("GET", path, &[], b"").next_event().unwrap();
    assert_eq!((&*created.event, created.id.as_deref()), ("created", Some("1")));
    server.send_tick("u-1", 5);
    assert_eq!(reader.next_event(), Some(command_event("4", 5)), "and then it goes on");
}

#[test]
fn a_long_history_is_told_whole_while_more_is_written() {
    const OLD: u64 = 3_000;
    const NEW: u64 = 200;
    let server = Server::start(ToolsetFilter::EVERYTHING);
    server.create_universe("u-1");
    server.append_records("u-1", (1..=OLD).map(|dt| json!([tick_event(dt)])));
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..4_u64)
            .map(|number| {
                let mut reader = server.open_reader("u-1", &[("Last-Event-ID", &(1 + number * 500).to_string())]);
                scope.spawn(move || {
                    for dt in 1 + number * 500..=OLD + NEW {
                        assert_eq!(reader.next_event(), Some(command_event(&(dt + 1).to_string(), dt)));
                    }
                })
            })
            .collect();
        for dt in OLD + 1..=OLD + NEW {
            server.send_tick("u-1", dt);
        }
        for reader in readers {
            reader.join().unwrap();
        }
    });
}

#[test]
fn what_is_not_there_or_no_id_is_said_before_anything_is_sent() {
    let server = Server::start(ToolsetFilter::EVERYTHING);
    let nowhere = server.get("/universes/nowhere/events");
    let error = &nowhere.json();
    assert_eq!((nowhere.status, &error["code"], &error["universeId"]), (404, &json!("NOT_FOUND"), &json!("nowhere")));
    server.create_universe("u-1");
    server.append_records("u-1", [json!([tick_event(1), tick_event(2)])]);
    for wrong in ["x", "-1", "1.0", "2.1", "1.2", "1.5", "3", "99999999999999999999"] {
        let mut client = Client::connect(server.address);
        let reply = client.send("GET", "/universes/u-1/events", &[("Last-Event-ID", wrong)], b"");
        let error = &reply.json();
        assert_eq!((reply.status, &error["code"]), (400, &json!("INVALID_PARAMS")), "{wrong}: {error}");
        assert_eq!((&error["path"], &error["universeId"]), (&json!("/lastEventId"), &json!("u-1")));
        assert!(error["message"].as_str().unwrap().contains(wrong), "{error}");
    }
    let beyond = server.get("/universes/u-1/events?lastEventId=3").json()["message"].to_string();
    assert!(beyond.contains("is 3,") && beyond.contains("revision 2"), "{beyond}");
    assert_eq!(server.get("/universes/u-1/events?lasteventid=1").status, 400, "a misspelt field is not passed over");
    assert_eq!(server.post("/universes/u-1/events", "{}").status, 405);
    let narrow = Server::start(ToolsetFilter { toolsets: "dice".parse().unwrap(), read_only: false });
    assert_eq!(narrow.get("/universes/u-1/events").status, 404);
}

#[test]
fn a_deletion_is_the_last_that_is_told() {
    let server = Server::start(ToolsetFilter::EVERYTHING);
    server.create_universe("u-1");
    let mut reader = server.open_reader("u-1", &[]);
    server.send_tick("u-1", 1);
    server.call_operation("universe", json!({"method": "delete", "universeId": "u-1"}));
    assert_eq!(reader.next_event(), Some(command_event("2", 1)));
    let deleted = Event { event: "deleted".to_owned(), id: Some("3".to_owned()), data: json!({"universeId": "u-1"}) };
    assert_eq!((reader.next_event(), reader.next_event()), (Some(deleted.clone()), None), "the stream has ended");
    let mut late = server.open_reader("u-1", &[("Last-Event-ID", "1")]);
    assert_eq!(
        (late.next_event(), late.next_event(), late.next_event()),
        (Some(command_event("2", 1)), Some(deleted.clone()), None)
    );
    assert_eq!(server.get("/universes/u-1/events").status, 404);
    assert_eq!(server.get("/universes/u-1/events?lastEventId=3").status, 404, "nothing is left to tell");
    // The id is reused: a reader from before the deletion gets the deletion, one from after it gets the new universe.
    server.create_universe("u-1");
    let mut late = server.open_reader("u-1", &[("Last-Event-ID", "2")]);
    assert_eq!((late.next_event(), late.next_event()), (Some(deleted), None));
    let mut next = server.open_reader("u-1", &[("Last-Event-ID", "3")]);
    assert_eq!(next.next_event().unwrap().event, "created");
}

#[test]
fn a_stream_is_for_those_with_a_role_and_as_long_as_they_have_it() {
    let server = Server::with_heartbeat(ToolsetFilter::EVERYTHING, Duration::from_millis(200));
    let campaign = |name: &str| {
        let input = json!({"name": name, "gm_mode": "HUMAN"}).to_string();
        // Entropy is constant in these tests; an idempotency key gives each campaign its own id.
        let headers = [("Idempotency-Key", name)];
        let mut client = Client::connect(server.address);
        let created = client.send("POST", "/api/v1/campaign_create", &headers, input.as_bytes());
        created.json()["id"].as_str().unwrap().to_owned()
    };
    let (ours, theirs) = (campaign("ours"), campaign("theirs"));
    let in_campaign = |id: &str, campaign_id: &str| {
        server.call_operation(
            "universe",
            json!({"method": "create", "universeId": id, "name": id, "campaignId": campaign_id}),
        );
    };
    in_campaign("seen", &ours);
    in_campaign("hidden", &theirs);
    // An id that was used in another campaign before.
    in_campaign("again", &theirs);
    server.send_tick("again", 1);
    server.call_operation("universe", json!({"method": "delete", "universeId": "again"}));
    in_campaign("again", &ours);
    let new = NewToken {
        name: "guest".to_owned(),
        kind: PrincipalKind::Human,
        roles: BTreeMap::from([(ours, CampaignRole::Guest)]),
        participants: Vec::new(),
        gate_role: None,
        person: None,
        restrictions: TokenRestrictions::default(),
        subject: None,
        program: "a test".to_owned(),
    };
    let app = server.local.app();
    let (token, kept) = server.runtime.block_on(app.create_token(new)).unwrap();
    let bearer = format!("Bearer {token}");
    let status = |id: &str, after: &str| {
        let headers = [("Authorization", bearer.as_str()), ("Last-Event-ID", after)];
        let headers = if after.is_empty() { &headers[..1] } else { &headers[..] };
        server.open_events(id, headers).status
    };
    assert_eq!((status("hidden", ""), status("hidden", "0"), status("hidden", "nonsense")), (404, 404, 404));
    assert_eq!((status("again", "0"), status("again", "2")), (404, 404), "not what was another campaign's");
    assert_eq!((status("again", "3"), status("again", "4"), status("again", "")), (200, 200, 200));
    let mut reader = server.open_reader("seen", &[("Authorization", &bearer), ("Last-Event-ID", "0")]);
    assert_eq!(reader.next_event().unwrap().event, "created");
    assert_eq!(reader.next_block().as_deref(), Some(":heartbeat"));
    assert!(server.runtime.block_on(app.revoke_token(&kept.id, "a test")).unwrap());
    let dropped = reader.next_event().unwrap();
    assert_eq!((&*dropped.event, &dropped.data["lastEventId"]), ("dropped", &json!("1")));
    assert!(dropped.data["reason"].as_str().unwrap().contains("revoked"));
    assert_eq!(reader.next_event(), None);
}

#[test]
fn a_quiet_stream_shows_signs_of_life() {
    let server = Server::with_heartbeat(ToolsetFilter::EVERYTHING, Duration::from_millis(100));
    server.create_universe("u-1");
    let mut reader = server.open_reader("u-1", &[]);
    let began = Instant::now();
    for _ in 0..3 {
        assert_eq!(reader.next_block().as_deref(), Some(":heartbeat"));
    }
    assert!(began.elapsed() >= Duration::from_millis(200), "{:?}", began.elapsed());
}

#[test]
fn a_reader_that_is_too_slow_is_dropped_and_nobody_waits_for_it() {
    let server = Server::start(ToolsetFilter::EVERYTHING);
    server.create_universe("u-1");
    let mut slow = server.open_reader("u-1", &[]);
    let mut quick = server.open_reader("u-1", &[]);
    // More than the limit of outstanding events and the buffers of the sockets together.
    let most = limits::EVENTS_BEHIND_MAX + 3_000;
    let name = "x".repeat(4_000);
    let read = AtomicUsize::new(0);
    let write = |count: usize| {
        server.append_records("u-1", (0..count).map(|_| json!([{"type": "universe.renamed.v1", "name": name}])));
    };
    let count = std::thread::scope(|scope| {
        let reading = scope.spawn(|| {
            while read.load(Ordering::Relaxed) < most && quick.next_event().is_some() {
                read.fetch_add(1, Ordering::Relaxed);
            }
            read.load(Ordering::Relaxed)
        });
        for written in (0..most).step_by(100) {
            write((most - written).min(100));
            // Wait for the quick reader, which may be late on a busy machine.
            while read.load(Ordering::Relaxed) + 1_000 < written && !reading.is_finished() {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        reading.join().unwrap()
    });
    assert_eq!(count, most, "whoever reads misses nothing");
    let (mut heard, mut last) = (1, None);
    while let Some(event) = slow.next_event() {
        if event.event == "dropped" {
            last = Some(event);
        } else {
            heard += 1;
            assert_eq!(event.id, Some(heard.to_string()), "what came before came in order");
        }
    }
    let dropped = last.expect("a reason");
    assert!(heard < most as u64, "it was told everything");
    assert_eq!(dropped.data["lastEventId"], heard.to_string());
    assert!(dropped.data["reason"].as_str().unwrap().contains("behind"), "{}", dropped.data);
    // The reader can resume from there.
    let mut again = server.open_reader("u-1", &[("Last-Event-ID", &heard.to_string())]);
    assert_eq!(again.next_event().unwrap().id, Some((heard + 1).to_string()));
}

#[test]
fn a_stopping_server_ends_its_streams() {
    let server = Server::start(ToolsetFilter::EVERYTHING);
    server.create_universe("u-1");
    let mut reader = server.open_reader("u-1", &[]);
    server.readiness.stop();
    assert_eq!(reader.next_block(), None);
    assert_eq!(server.get("/universes/u-1/events").status, 503);
}
