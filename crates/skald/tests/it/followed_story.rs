//! Tests of the Solar System story over MCP while an SSE reader and a subscriber follow it. What they receive is
//! complete, and enough to rebuild the universe.

use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::Scope;
use std::time::Duration;

use serde_json::{Value, json};
use skald_testkit::{Client, Event};

use crate::program_under_test::{CallOptions, Server, StoreKind, Surface, World};
use crate::stories::load_story;
use crate::universe::TOOLS;
use crate::universe_rest::UniversesClient;

/// How long a notification may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// The subscribed resources: the whole universe, and a part of it.
const WATCHED: [&str; 2] = ["universe://sol", "universe://sol/summary"];

#[test]
fn a_story_is_followed_on_sqlite() {
    let world = World::sqlite();
    let server = world.serve(&[]);
    follow_story(&server, &server);
}

mod postgres {
    use super::{StoreKind, World, follow_story};

    /// The watchers are on another node than the one that plays the story.
    #[test]
    fn a_story_is_followed_from_another_node_on_postgres() {
        let world = World::new(StoreKind::Postgres);
        follow_story(&world.serve(&[]), &world.serve(&[]));
    }
}

/// Plays the story on one server, and watches it on another or on the same.
fn follow_story(told_at: &Server, watched_at: &Server) {
    let mut author = told_at.client(Surface::Session);
    let mut told = CommandOutcomes::default();
    std::thread::scope(|scope| {
        let mut watchers = None;
        let played = load_story("the-solar-system.md").play(&mut |call| {
            let answer =
                author.call_with(call.operation, call.input, CallOptions { key: call.key, ..CallOptions::default() });
            match call.operation {
                // The universe exists from here on, so it can be watched.
                "universe" => watchers = Some((read_stream(scope, watched_at), subscribe(scope, watched_at))),
                "send_universe_command" => told.record(&call.input["command"], &answer),
                _ => {}
            }
            answer
        });
        assert_eq!(played, Ok(()));
        let (reader, subscriber) = watchers.expect("a universe was created");
        let state = author.ok(TOOLS[0], &json!({"universeId": "sol"}));
        let summary = author.ok(TOOLS[0], &json!({"universeId": "sol", "view": "summary"}));
        assert!(told.refused > 0 && told.again > 0, "all that can happen happens in it");

        let revision = json!(told.accepted.keys().last().expect("a command"));
        for (uri, found) in last_reads_at(&revision, &subscriber) {
            let (found, expected) = if uri == WATCHED[0] { (&found["state"], &state) } else { (&found, &summary) };
            assert_eq!(found, expected, "{uri} at the end");
        }

        // Deleting the universe ends the watchers as well.
        let mut program = UniversesClient::connect(told_at);
        assert_eq!(program.send("DELETE", "/universes/sol", &Value::Null).status, 204);
        let mut heard = reader.join().expect("a reader");
        let end = heard.pop().expect("the end");
        assert_eq!((end.event.as_str(), end.data), ("deleted", json!({"universeId": "sol"})));
        let command = |(revision, command): (&u64, &Value)| Event {
            event: "command".to_owned(),
            id: Some(revision.to_string()),
            data: command.clone(),
        };
        assert_eq!(heard, told.accepted.iter().map(command).collect::<Vec<_>>());

        program.create_universe("copy");
        for event in &heard {
            program.send_command("copy", &event.data);
        }
        assert_eq!(program.get("/universes/copy").json()["state"], state, "the stream is enough to follow a universe");
    });
}

/// The outcomes of the story's commands.
#[derive(Default)]
struct CommandOutcomes {
    /// By the revision that each created.
    accepted: BTreeMap<u64, Value>,
    refused: u32,
    /// Retries under the same key, which got the same answer.
    again: u32,
}

impl CommandOutcomes {
    fn record(&mut self, command: &Value, answer: &Result<Value, Value>) {
        let Ok(answer) = answer else {
            self.refused += 1;
            return;
        };
        let revision = answer["revision"].as_u64().expect("a revision");
        match self.accepted.insert(revision, command.clone()) {
            Some(before) => {
                assert_eq!(before, *command, "revision {revision} is of one command");
                self.again += 1;
            }
            None => assert_eq!(revision, self.accepted.len() as u64 + 1, "a revision each, after that of its creation"),
        }
    }
}

/// Reads the stream of commands to its end, from now on.
fn read_stream<'scope>(
    scope: &'scope Scope<'scope, '_>,
    server: &Server,
) -> std::thread::ScopedJoinHandle<'scope, Vec<Event>> {
    let mut events = Client::connect(server.address).open("GET", "/universes/sol/events", &[], b"");
    assert_eq!((events.status, events.next_block().as_deref()), (200, Some(":connected")));
    scope.spawn(move || std::iter::from_fn(|| events.next_event()).collect())
}

/// A read of a changed resource: its URI, and its contents.
type Finding = (String, Value);

/// Subscribes, and reads each resource that changed, until it is deleted.
fn subscribe<'scope>(scope: &'scope Scope<'scope, '_>, server: &Server) -> Receiver<Finding> {
    let (sender, receiver): (Sender<Finding>, _) = mpsc::channel();
    let mut seat = server.client(Surface::Session);
    let mut news = seat.watch(&WATCHED);
    scope.spawn(move || {
        loop {
            let uri = news.next_subject();
            if uri == "list" {
                continue;
            }
            match seat.read(&uri) {
                // The receiver is dropped once everything has been found.
                Ok(found) => drop(sender.send((uri, found))),
                Err(fault) => return assert_eq!(fault["code"], "NOT_FOUND", "{fault}"),
            }
        }
    });
    receiver
}

/// The last read of each resource, once all are at this revision. Asserts that no read is older than the one before.
fn last_reads_at(revision: &Value, findings: &Receiver<Finding>) -> BTreeMap<String, Value> {
    let mut last: BTreeMap<String, Value> = BTreeMap::new();
    while !WATCHED.iter().all(|uri| last.get(*uri).is_some_and(|found| found["revision"] == *revision)) {
        let (uri, found) = findings.recv_timeout(PATIENCE).expect("to be told of the last command");
        let at = |found: &Value| found["revision"].as_u64().expect("a revision");
        if let Some(before) = last.get(&uri) {
            assert!(at(before) <= at(&found), "{uri} goes back from {} to {}", at(before), at(&found));
        }
        last.insert(uri, found);
    }
    last
}
