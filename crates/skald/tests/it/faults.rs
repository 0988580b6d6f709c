//! Tests of a failing store: the server reports it, goes on where it can, and resumes by itself.

use std::io::{Seek, SeekFrom, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::process::{RunningProgram, run, skald_command};
use crate::rest_client::RestClient;
use crate::test_stores::required_env;
use skald_testkit::TemporaryFolder;

/// Offset of the schema version (`user_version`) in the header of a SQLite file.
const USER_VERSION_OFFSET: u64 = 60;
/// Limit for noticing a fault, and for resuming service after it.
const PATIENCE: Duration = Duration::from_secs(10);

/// A SQLite file with a campaign, from a server that was shut down cleanly.
fn create_store_file(folder: &TemporaryFolder) -> PathBuf {
    let path = folder.file("world.db");
    let (server, address) = RunningProgram::serve(&["--store", &format!("sqlite:{}", path.display())]);
    let mut rest = RestClient::new(address);
    let campaign_id = rest.open_campaign("kept");
    rest.call("session_note", &json!({"campaign_id": campaign_id, "text": "They set out."}));
    drop(rest);
    server.signal("TERM");
    assert!(server.wait_for_exit().0.success());
    path
}

pub(crate) fn overwrite(path: &Path, offset: u64, bytes: &[u8]) {
    let mut file = std::fs::File::options().write(true).open(path).expect("a file");
    file.seek(SeekFrom::Start(offset)).expect("a place in it");
    file.write_all(bytes).expect("room");
}

/// The error of a command that must fail on this file.
pub(crate) fn failing_stderr(arguments: &[&str], path: &Path) -> String {
    let store = format!("sqlite:{}", path.display());
    let output = run(&[arguments, &["--store", &store]].concat());
    assert_eq!(output.status.code(), Some(1), "{arguments:?} on {store}");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!text.contains("panicked"), "{text}");
    text
}

#[test]
fn a_file_that_cannot_be_used_is_refused_with_the_reason() {
    let folder = TemporaryFolder::new();
    let path = create_store_file(&folder);
    let serve = ["serve", "--http-addr", "127.0.0.1:0"];

    let copy = folder.file("newer.db");
    std::fs::copy(&path, &copy).expect("a copy");
    overwrite(&copy, USER_VERSION_OFFSET, &999_u32.to_be_bytes());
    for command in [&serve[..], &["mcp"], &["verify"], &["token", "list"]] {
        let text = failing_stderr(command, &copy);
        assert!(text.contains("newer.db was written by a newer Skald: its schema has version 999"), "{text}");
    }

    let copy = folder.file("damaged.db");
    std::fs::copy(&path, &copy).expect("a copy");
    overwrite(&copy, 0, &[0x5a; 100]);
    for command in [&serve[..], &["verify"]] {
        let text = failing_stderr(command, &copy);
        assert!(text.contains("damaged.db is damaged") && text.contains("--store"), "{text}");
    }

    // Not even root can write there.
    let text = failing_stderr(&serve, Path::new("/sys/world.db"));
    assert!(text.contains("/sys/world.db cannot be opened") && text.contains("--store"), "{text}");
}

/// Sends a note until it is acknowledged. Whether it had to be sent again. The only allowed refusal is that the store
/// is unavailable, with a hint.
pub(crate) fn send_note_until_stored(rest: &mut RestClient, campaign_id: &str, text: &str) -> bool {
    let began = Instant::now();
    let mut was_refused = false;
    loop {
        let sent =
            rest.send("session_note", &json!({"campaign_id": campaign_id, "text": text}), &idempotency_key(text));
        let (status, answer) = sent.expect("the server answers");
        match status {
            200 => return was_refused,
            503 => assert_unavailable(&answer),
            _ => panic!("{status} {answer}"),
        }
        was_refused = true;
        assert!(began.elapsed() < 3 * PATIENCE, "{text} is refused for ever: {answer}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Asserts that an answer says that the store is unavailable, and what to do.
pub(crate) fn assert_unavailable(answer: &Value) {
    let error = &answer["error"];
    assert_eq!((&error["code"], &error["retryable"]), (&json!("UNAVAILABLE"), &json!(true)), "{answer}");
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("again")), "{answer}");
}

/// Sends a note that must be refused because the store is unavailable.
pub(crate) fn assert_note_refused(rest: &mut RestClient, campaign_id: &str, text: &str) {
    let sent = rest.send("session_note", &json!({"campaign_id": campaign_id, "text": text}), &idempotency_key(text));
    let (status, answer) = sent.expect("the server answers");
    assert_eq!(status, 503, "{answer}");
    assert_unavailable(&answer);
}

pub(crate) fn idempotency_key(text: &str) -> String {
    text.chars().take(40).collect()
}

/// Waits until `/ready` has this status, and returns its body.
pub(crate) fn wait_for_ready_status(rest: &mut RestClient, status: u16) -> Value {
    let began = Instant::now();
    loop {
        let (found, page) = rest.get("/ready");
        if found == status {
            return page;
        }
        assert!(began.elapsed() < PATIENCE, "/ready still says {found} {page}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until `/ready` is 503 with a reason that contains these words.
pub(crate) fn wait_until_unready(rest: &mut RestClient, words: &str) {
    let began = Instant::now();
    loop {
        let (status, page) = rest.get("/ready");
        if status == 503 && page["reason"].as_str().is_some_and(|why| why.contains(words)) {
            assert_eq!(page["status"], "unready");
            return;
        }
        assert!(began.elapsed() < PATIENCE, "/ready still says {status} {page}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Asserts that reads, `/health` and operations without a store work while writes fail.
pub(crate) fn assert_still_readable(rest: &mut RestClient, campaign_id: &str, notes: &[String]) {
    let known = note_texts(rest, campaign_id);
    assert!(notes.iter().all(|text| known.contains(text)), "what was there can be read");
    assert_eq!(rest.get("/health").0, 200);
    assert_eq!(rest.call("duality_outcome", &json!({"hope": 8, "fear": 5}))["total"], 13);
}

pub(crate) fn note_texts(rest: &mut RestClient, campaign_id: &str) -> Vec<String> {
    let events = rest.history(campaign_id).concat();
    let mut texts: Vec<String> = events.iter().filter_map(|event| event["text"].as_str()).map(str::to_owned).collect();
    texts.sort();
    texts
}

mod postgres {
    use super::*;
    use crate::stoppable_database::StoppablePostgres;

    /// Every call is answered within this time, which has a second for a busy machine.
    const PROMISED: Duration = Duration::from_secs(skald_app::limits::DATABASE_WAIT_SECONDS + 1);
    /// A node is ready within this time after the database is back, which has a second for a busy machine.
    const READY: Duration = Duration::from_secs(2 + 1);
    /// Concurrent calls to the same campaign.
    const CALLS: usize = 20;

    #[test]
    fn a_database_that_comes_back_is_used_again() {
        let database = StoppablePostgres::new();
        let store = database.place.address.as_str();
        let (_server, address) = RunningProgram::serve(&["--store", store]);
        let campaign_id = RestClient::new(address).open_campaign("away");
        let is_over = AtomicBool::new(false);
        let mut sent: Vec<String> = std::thread::scope(|scope| {
            let (is_over, campaign_id) = (&is_over, campaign_id.as_str());
            let writer = |writer: usize| {
                scope.spawn(move || {
                    let (mut rest, mut sent, mut refused) = (RestClient::new(address), Vec::new(), 0);
                    while !is_over.load(Ordering::SeqCst) {
                        let text = format!("{writer}-{}", sent.len());
                        refused += usize::from(send_note_until_stored(&mut rest, campaign_id, &text));
                        sent.push(text);
                    }
                    assert!(refused > 0, "nobody noticed that the database was gone");
                    sent
                })
            };
            let writers: Vec<_> = (0..4).map(writer).collect();
            let mut rest = RestClient::new(address);
            for mode in ["fast", "immediate"] {
                std::thread::sleep(Duration::from_millis(200));
                database.stop(mode);
                let page = wait_for_ready_status(&mut rest, 503);
                assert_eq!(page["status"], "unready");
                assert!(page["reason"].as_str().is_some_and(|why| !why.is_empty()), "{page}");
                assert_eq!(rest.get("/health").0, 200);
                assert_eq!(rest.call("duality_outcome", &json!({"hope": 8, "fear": 5}))["total"], 13, "needs no store");
                // Another node may have written meanwhile, so nothing is answered from memory.
                for path in ["", "/events", "/actors"] {
                    let (status, answer) = rest.get(&format!("/api/v1/campaigns/{campaign_id}{path}"));
                    assert_eq!(status, 503, "{path}: {answer}");
                    assert_unavailable(&answer);
                }
                assert_note_refused(&mut rest, campaign_id, &format!("while it is gone, {mode}"));
                let text = String::from_utf8_lossy(&run(&["verify", "--store", store]).stderr).into_owned();
                assert!(text.contains("cannot be reached") && !text.contains("panicked"), "{text}");
                database.start();
                wait_for_ready_status(&mut rest, 200);
            }
            std::thread::sleep(Duration::from_millis(200));
            is_over.store(true, Ordering::SeqCst);
            writers.into_iter().flat_map(|writer| writer.join().expect("a writer")).collect()
        });
        sent.sort();
        assert_eq!(note_texts(&mut RestClient::new(address), &campaign_id), sent, "each once");
        let verified = run(&["verify", "--store", store]);
        assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    }

    /// Reads and writes once hung for more than a minute, since only the first step of connecting had a timeout, and
    /// later calls waited for the same lock.
    #[test]
    fn a_frozen_database_keeps_nobody_waiting() {
        let database = StoppablePostgres::new();
        let store = database.place.address.as_str();
        let (_server, address) = RunningProgram::serve(&["--store", store]);
        let mut rest = RestClient::new(address);
        let campaign_id = rest.open_campaign("frozen");
        let campaign_id = campaign_id.as_str();
        let mut sent = Vec::new();
        for is_cut in [false, true] {
            let frozen = if is_cut { database.cut_and_freeze() } else { database.freeze() };
            std::thread::scope(|scope| {
                let calls: Vec<_> = (0..CALLS)
                    .map(|number| scope.spawn(move || make_failing_call(address, campaign_id, number, is_cut)))
                    .collect();
                for call in calls {
                    let (text, took) = call.join().expect("a call");
                    assert!(took < PROMISED, "{text:?} took {took:?}");
                    sent.extend(text);
                }
            });
            let page = wait_for_ready_status(&mut rest, 503);
            assert_eq!(page["status"], "unready");
            assert_eq!(rest.get("/health").0, 200);
            assert_eq!(rest.call("duality_outcome", &json!({"hope": 8, "fear": 5}))["total"], 13, "needs no store");
            drop(frozen);
            let began = Instant::now();
            wait_for_ready_status(&mut rest, 200);
            assert!(began.elapsed() < READY, "ready after {:?}", began.elapsed());
            // Send the notes again: whatever became of them, each is stored once.
            for text in &sent {
                send_note_until_stored(&mut rest, campaign_id, text);
            }
        }
        sent.sort();
        assert_eq!(note_texts(&mut rest, campaign_id), sent, "each once");
    }

    /// A call that must fail; every second one sends a note. The text of the note, and how long the call took.
    fn make_failing_call(
        address: SocketAddr,
        campaign_id: &str,
        number: usize,
        is_cut: bool,
    ) -> (Option<String>, Duration) {
        let (mut rest, began) = (RestClient::new(address), Instant::now());
        let text = number.is_multiple_of(2).then(|| format!("{number} {is_cut}"));
        if let Some(text) = &text {
            assert_note_refused(&mut rest, campaign_id, text);
        } else {
            let path = if number % 4 == 1 { format!("/{campaign_id}") } else { String::new() };
            let (status, answer) = rest.get(&format!("/api/v1/campaigns{path}"));
            assert_eq!(status, 503, "{path}: {answer}");
            assert_unavailable(&answer);
        }
        (text, began.elapsed())
    }

    #[test]
    fn a_server_waits_for_its_database() {
        let database = StoppablePostgres::new();
        let serve = || {
            let arguments = ["serve", "--http-addr", "127.0.0.1:0", "--store", &database.place.address];
            let server = RunningProgram::start(skald_command(&arguments));
            server.wait_for_stderr("waiting for the store: the database \"postgres\" cannot be reached");
            server
        };
        database.stop("fast");
        let impatient = serve();
        impatient.signal("TERM");
        let (status, took, said) = impatient.wait_for_exit();
        assert!(status.success() && took < READY, "{status} after {took:?}: {said}");
        let server = serve();
        database.start();
        assert_soon_ready(&server);
        // A frozen database is waited for like a stopped one.
        let frozen = database.freeze();
        let server = serve();
        drop(frozen);
        assert_soon_ready(&server);
    }

    fn assert_soon_ready(server: &RunningProgram) {
        let began = Instant::now();
        let address = server.address();
        wait_for_ready_status(&mut RestClient::new(address), 200);
        assert!(began.elapsed() < READY, "ready after {:?}", began.elapsed());
    }

    #[test]
    fn a_database_that_does_not_exist_is_not_waited_for() {
        let nowhere = required_env("SKALD_TEST_POSTGRES").replace("/postgres", "/nowhere");
        let output = run(&["serve", "--http-addr", "127.0.0.1:0", "--store", &nowhere]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains("database \"nowhere\" does not exist") && !text.contains("waiting"), "{text}");
    }
}
