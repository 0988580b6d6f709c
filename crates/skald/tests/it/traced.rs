//! Tests durability by tracing system calls: a command is answered after its record is synchronised with the disk.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::process::{RunningProgram, skald_command};
use crate::rest_client::RestClient;
use skald_testkit::TemporaryFolder;

const COMMANDS: usize = 20;
/// How long the tracer may take to write its last line.
const PATIENCE: Duration = Duration::from_secs(10);

/// A completed system call that matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TracedCall {
    /// The number is that of the marker in the request or the answer.
    Arrived(usize),
    Answered(usize),
    Written,
    Synchronised,
}

#[test]
fn an_answer_comes_after_the_disk_has_it() {
    let folder = TemporaryFolder::new();
    let (trace, store) = (folder.file("trace"), format!("sqlite:{}", folder.file("world.db").display()));
    let mut command = Command::new("strace");
    // With `-D` the tracer is a grandchild, so that the traced program is the child that gets our signals.
    command.args([
        "-D",
        "-f",
        "-y",
        "-s",
        "2000",
        "-e",
        "trace=network,read,write,readv,writev,pwrite64,fdatasync,fsync",
    ]);
    command.arg("-o").arg(&trace).arg(skald_command(&[]).get_program());
    command
        .args(["serve", "--http-addr", "127.0.0.1:0", "--grpc-addr", "off", "--store", &store])
        .env_remove("SKALD_LOG");
    let (server, address) = RunningProgram::start_server(command);
    let mut rest = RestClient::new(address);
    let campaign_id = rest.open_campaign("traced");
    for number in 0..COMMANDS {
        let input = json!({"campaign_id": campaign_id, "text": format!("marker-{number}.")});
        rest.call("session_note", &input);
    }
    // A roll that is not recorded must not synchronise: this shows that the test can tell the difference.
    rest.call("session_end", &json!({"campaign_id": campaign_id}));
    rest.call("roll", &json!({"expression": format!("1d6 # marker-{COMMANDS}."), "detail": "full"}));
    drop(rest);
    server.signal("TERM");
    assert!(server.wait_for_exit().0.success());
    let seen = parse_trace(&read_complete_trace(&trace));
    let place =
        |wanted: TracedCall| seen.iter().position(|seen| *seen == wanted).unwrap_or_else(|| panic!("no {wanted:?}"));
    for number in 0..COMMANDS {
        let between = &seen[place(TracedCall::Arrived(number))..place(TracedCall::Answered(number))];
        let written = between.iter().rposition(|seen| *seen == TracedCall::Written).expect("the log is written");
        assert!(between[written..].contains(&TracedCall::Synchronised), "marker-{number}: {between:?}");
    }
    let between = &seen[place(TracedCall::Arrived(COMMANDS))..place(TracedCall::Answered(COMMANDS))];
    assert!(!between.contains(&TracedCall::Synchronised), "what stores nothing waits for no disk: {between:?}");
}

/// The whole trace, once it contains the program's exit.
fn read_complete_trace(trace: &Path) -> String {
    let began = Instant::now();
    loop {
        let text = std::fs::read_to_string(trace).unwrap_or_default();
        if text.trim_end().ends_with("+++ exited with 0 +++") {
            return text;
        }
        assert!(began.elapsed() < PATIENCE, "the trace does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn parse_trace(trace: &str) -> Vec<TracedCall> {
    // Threads whose synchronisation of the log has begun and not ended.
    let mut waiting: BTreeSet<&str> = BTreeSet::new();
    let mut all = Vec::new();
    for line in trace.lines() {
        let Some((thread, call)) = line.split_once(' ') else { continue };
        let call = call.trim_start();
        let is_log = call.contains("world.db-wal>");
        let is_sync = call.starts_with("fdatasync(") || call.starts_with("fsync(");
        if is_sync && is_log && call.ends_with("<unfinished ...>") {
            waiting.insert(thread);
        } else if (is_sync && is_log || call.contains("sync resumed>") && waiting.remove(thread))
            && call.ends_with("= 0")
        {
            all.push(TracedCall::Synchronised);
        } else if call.starts_with("pwrite64(") && is_log {
            all.push(TracedCall::Written);
        } else if let Some(number) = marker_number(call) {
            if call.contains("POST /api/v1/") {
                all.push(TracedCall::Arrived(number));
            } else if call.contains("HTTP/1.1 200") {
                all.push(TracedCall::Answered(number));
            }
        }
    }
    all
}

fn marker_number(call: &str) -> Option<usize> {
    let (_, rest) = call.split_once("marker-")?;
    rest.split_once('.')?.0.parse().ok()
}
