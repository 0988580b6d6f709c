//! Tests of change notifications for runs: when one moves, gets evidence, or a guard may have changed. In both eras of
//! MCP, over HTTP, stdio and a bridge.

use std::fs;

use serde_json::json;
use skald_testkit::message;

use crate::gate_served::{Gate, Run};
use crate::process::Running;
use crate::program_under_test::{Kind, News, Seat, Server, Surface, told};

/// Something that happens to a run, and the guards that are missing afterwards.
type Deed = (&'static str, fn(&Run, &mut Seat), &'static [&'static str]);

/// Done in this order, on one run.
const DEEDS: &[Deed] = &[
    ("a file appears", |run, _| run.write("note.md", "seen"), &["two_notes", "is_vouched"]),
    (
        "an event with a new artifact is recorded",
        |run, seat| {
            run.write("deep/er/note-2.md", "seen as well");
            run.emits(seat, "submit_note", &json!({"artifact_paths": ["note.md", "deep/er/note-2.md"]}));
        },
        &["is_vouched"],
    ),
    ("a file of evidence changes", |run, _| run.write("deep/er/note-2.md", "else"), &["two_notes", "is_vouched"]),
    ("it is as it was again", |run, _| run.write("deep/er/note-2.md", "seen as well"), &["is_vouched"]),
    (
        "a file of evidence is gone",
        |run, _| fs::remove_file(run.folder().join("note.md")).expect("a file"),
        &["two_notes", "is_vouched"],
    ),
    (
        "content is handed in",
        |run, seat| {
            run.emits(seat, "submit_note", &json!({"artifacts": [{"path": "note-3.md", "text": "told"}]}));
        },
        &["is_vouched"],
    ),
    (
        "a transition is taken",
        |run, seat| {
            assert_eq!(run.emits(seat, "finish", &json!({}))["transition"]["to_state"], "review");
        },
        &[],
    ),
];

/// A client that watches the summary of a run.
enum Watcher {
    Http(News),
    Process(Running),
}

impl Watcher {
    /// The subject of the next notification: a URI, or `list`.
    fn next(&mut self) -> String {
        match self {
            Self::Http(news) => news.next(),
            Self::Process(running) => told(&running.hear().expect("news")),
        }
    }

    /// Whether a notification comes within a moment.
    fn comes(&mut self) -> bool {
        match self {
            Self::Http(news) => news.comes(),
            Self::Process(running) => running.hears(),
        }
    }
}

/// Does all the deeds. After each, the watcher is notified of the run and of the list, and the run's summary has the
/// expected missing guards.
fn are_told(gate: &Gate, server: &Server, watch: impl FnOnce(&Run) -> Watcher) {
    let mut seat = server.seat(Surface::Rest);
    let run = Run::create(&mut seat, "proof");
    let mut watcher = watch(&run);
    // A process of its own starts to watch the files after some time: wait for its first notification.
    if let Watcher::Process(_) = watcher {
        let begun = (0..100).any(|round| {
            run.write("begin.md", &round.to_string());
            watcher.comes()
        });
        assert!(begun, "files are looked at");
    }
    for (what, deed, missing) in DEEDS {
        // Skip notifications of earlier changes.
        while watcher.comes() {}
        deed(&run, &mut seat);
        let mut left = vec!["list".to_owned(), run.summary()];
        while !left.is_empty() {
            let heard = watcher.next();
            assert!(heard == "list" || heard == run.summary(), "{what}: {heard}");
            left.retain(|expected| *expected != heard);
        }
        let summary = gate.stdio().listing(&run.summary());
        assert_eq!(summary["missing_guards"], json!(missing), "{what}: {summary}");
    }
}

fn over_http(surface: Surface) {
    let gate = Gate::new(Kind::Sqlite);
    let server = gate.serve(&[]);
    are_told(&gate, &server, |run| Watcher::Http(server.seat(surface).watch(&[&run.summary()])));
}

#[test]
fn a_session_is_told() {
    over_http(Surface::Session);
}

#[test]
fn a_listener_is_told() {
    over_http(Surface::Stateless);
}

fn subscribed(mut running: Running, run: &Run) -> Watcher {
    running.answer(&message::initialize("2025-11-25"));
    let answer = running.answer(&message::request(3, "resources/subscribe", &json!({"uri": run.summary()})));
    assert_eq!(answer["result"], json!({}), "{answer}");
    Watcher::Process(running)
}

fn listening(mut running: Running, run: &Run) -> Watcher {
    let filter = json!({"notifications": {"resourceSubscriptions": [run.summary()], "resourcesListChanged": true}});
    let listen = message::modern(message::request(5, "subscriptions/listen", &filter));
    assert_eq!(running.ask(&listen)["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(told(&running.hear().expect("an announcement")), run.summary());
    Watcher::Process(running)
}

/// A client on stdio has a process of its own, with the same files and the same store.
#[test]
fn clients_on_stdio_are_told() {
    for watch in [subscribed, listening] {
        let gate = Gate::new(Kind::Sqlite);
        let server = gate.serve(&[]);
        are_told(&gate, &server, |run| watch(Running::start(gate.stdio_command()), run));
    }
}

/// A bridge has no files; it passes on the server's notifications.
#[test]
fn clients_of_a_bridge_are_told() {
    for watch in [subscribed, listening] {
        let gate = Gate::new(Kind::Sqlite);
        let server = gate.serve(&[]);
        are_told(&gate, &server, |run| watch(Running::start(server.bridge(&[])), run));
    }
}
