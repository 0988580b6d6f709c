//! Tests of change notifications for runs: when one moves, gets evidence, or a guard may have changed. In both eras of
//! MCP, over HTTP, stdio and a bridge.

use std::fs;

use serde_json::json;
use skald_testkit::mcp_messages;

use crate::gate_server::{Gate, Run};
use crate::process::RunningProgram;
use crate::program_under_test::{Notifications, Server, StoreKind, Surface, TestClient, notification_subject};

/// Something that happens to a run, and the guards that are missing afterwards.
type RunChange = (&'static str, fn(&Run, &mut TestClient), &'static [&'static str]);

/// Done in this order, on one run.
const ACTIONS: &[RunChange] = &[
    ("a file appears", |run, _| run.write("note.md", "seen"), &["two_notes", "is_vouched"]),
    (
        "an event with a new artifact is recorded",
        |run, seat| {
            run.write("deep/er/note-2.md", "seen as well");
            run.emit_accepted(seat, "submit_note", &json!({"artifact_paths": ["note.md", "deep/er/note-2.md"]}));
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
            run.emit_accepted(seat, "submit_note", &json!({"artifacts": [{"path": "note-3.md", "text": "told"}]}));
        },
        &["is_vouched"],
    ),
    (
        "a transition is taken",
        |run, seat| {
            assert_eq!(run.emit_accepted(seat, "finish", &json!({}))["transition"]["to_state"], "review");
        },
        &[],
    ),
];

/// A client that watches the summary of a run.
enum Watcher {
    Http(Notifications),
    Process(RunningProgram),
}

impl Watcher {
    /// The subject of the next notification: a URI, or `list`.
    fn next_subject(&mut self) -> String {
        match self {
            Self::Http(news) => news.next_subject(),
            Self::Process(running) => notification_subject(&running.next_notification().expect("news")),
        }
    }

    /// Whether a notification comes within a moment.
    fn has_notification(&mut self) -> bool {
        match self {
            Self::Http(news) => news.has_notification(),
            Self::Process(running) => running.has_notification(),
        }
    }
}

/// Performs all actions. After each, the watcher is notified of the run and of the list, and the run's summary has the
/// expected missing guards.
fn assert_notified(gate: &Gate, server: &Server, watch: impl FnOnce(&Run) -> Watcher) {
    let mut seat = server.client(Surface::Rest);
    let run = Run::create(&mut seat, "proof");
    let mut watcher = watch(&run);
    // A process of its own starts to watch the files after some time: wait for its first notification.
    if let Watcher::Process(_) = watcher {
        let begun = (0..100).any(|round| {
            run.write("begin.md", &round.to_string());
            watcher.has_notification()
        });
        assert!(begun, "files are looked at");
    }
    for (what, action, missing) in ACTIONS {
        // Skip notifications of earlier changes.
        while watcher.has_notification() {}
        action(&run, &mut seat);
        let mut left = vec!["list".to_owned(), run.summary_uri()];
        while !left.is_empty() {
            let heard = watcher.next_subject();
            assert!(heard == "list" || heard == run.summary_uri(), "{what}: {heard}");
            left.retain(|expected| *expected != heard);
        }
        let summary = gate.stdio_client().read_ok(&run.summary_uri());
        assert_eq!(summary["missing_guards"], json!(missing), "{what}: {summary}");
    }
}

fn assert_notified_over_http(surface: Surface) {
    let gate = Gate::new(StoreKind::Sqlite);
    let server = gate.serve(&[]);
    assert_notified(&gate, &server, |run| Watcher::Http(server.client(surface).watch(&[&run.summary_uri()])));
}

#[test]
fn a_session_is_told() {
    assert_notified_over_http(Surface::Session);
}

#[test]
fn a_listener_is_told() {
    assert_notified_over_http(Surface::Stateless);
}

fn watch_by_subscription(mut running: RunningProgram, run: &Run) -> Watcher {
    running.request(&mcp_messages::initialize("2025-11-25"));
    let answer = running.request(&mcp_messages::request(3, "resources/subscribe", &json!({"uri": run.summary_uri()})));
    assert_eq!(answer["result"], json!({}), "{answer}");
    Watcher::Process(running)
}

fn watch_by_listen(mut running: RunningProgram, run: &Run) -> Watcher {
    let filter = json!({"notifications": {"resourceSubscriptions": [run.summary_uri()], "resourcesListChanged": true}});
    let listen = mcp_messages::with_modern_meta(mcp_messages::request(5, "subscriptions/listen", &filter));
    assert_eq!(running.send_and_receive(&listen)["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(notification_subject(&running.next_notification().expect("an announcement")), run.summary_uri());
    Watcher::Process(running)
}

/// A client on stdio has a process of its own, with the same files and the same store.
#[test]
fn clients_on_stdio_are_told() {
    for watch in [watch_by_subscription, watch_by_listen] {
        let gate = Gate::new(StoreKind::Sqlite);
        let server = gate.serve(&[]);
        assert_notified(&gate, &server, |run| watch(RunningProgram::start(gate.stdio_command()), run));
    }
}

/// A bridge has no files; it passes on the server's notifications.
#[test]
fn clients_of_a_bridge_are_told() {
    for watch in [watch_by_subscription, watch_by_listen] {
        let gate = Gate::new(StoreKind::Sqlite);
        let server = gate.serve(&[]);
        assert_notified(&gate, &server, |run| watch(RunningProgram::start(server.bridge_command(&[])), run));
    }
}
