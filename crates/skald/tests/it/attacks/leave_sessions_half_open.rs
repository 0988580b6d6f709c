//! Attack: exhausting the server with thousands of MCP sessions that are initialized and never continued.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::json;
use skald_app::limits::SESSIONS_PER_PRINCIPAL_MAX;
use skald_testkit::mcp_messages::{ACCEPT_BOTH, JSON, initialize, request};
use skald_testkit::{Client, Reply};

use super::crowd_the_server::resident_megabytes;
use crate::process::RunningProgram;

const SESSIONS: usize = 5_000;
const THREADS: usize = 8;
/// What the sessions that are live at once may take in a debug build, and what allocators keep afterwards.
const MEGABYTES_MAX: u64 = 60;

fn open_session(client: &mut Client) -> Reply {
    client.send("POST", "/mcp", &[JSON, ACCEPT_BOTH], initialize("2025-11-25").to_string().as_bytes())
}

fn session_id(opened: &Reply) -> String {
    assert_eq!(opened.status, 200, "{}", opened.text());
    opened.header("mcp-session-id").expect("a session").to_owned()
}

/// Whether a session answers; afterwards it counts as used.
fn answers(client: &mut Client, session: &str) -> bool {
    let headers = [JSON, ACCEPT_BOTH, ("Mcp-Session-Id", session)];
    client.send("POST", "/mcp", &headers, request(2, "tools/list", &json!({})).to_string().as_bytes()).status == 200
}

fn open_files(running: &RunningProgram) -> usize {
    std::fs::read_dir(format!("/proc/{}/fd", running.id())).expect("the process lives").count()
}

/// Sessions that never began make room for others, so their number is bounded and nobody is locked out by them.
fn leave_half_open(address: SocketAddr) -> Vec<String> {
    let open_some = || {
        let mut client = Client::connect(address);
        (0..SESSIONS / THREADS).map(|_| session_id(&open_session(&mut client))).collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(open_some)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("every session is answered")).collect()
    })
}

#[test]
fn half_open_sessions_are_bounded_and_an_honest_client_is_served() {
    let (running, address) = RunningProgram::serve(&["--store", "memory"]);
    let mut honest = Client::connect(address);
    let own = session_id(&open_session(&mut honest));
    assert!(answers(&mut honest, &own));
    let (files, memory) = (open_files(&running), resident_megabytes(&running));

    let abandoned = leave_half_open(address);
    assert_eq!(abandoned.len(), SESSIONS);
    assert!(answers(&mut honest, &own), "a session in use is not removed for others");
    let alive = abandoned.iter().filter(|session| answers(&mut honest, session)).count();
    assert!(alive < SESSIONS_PER_PRINCIPAL_MAX, "{alive} of {SESSIONS} sessions are live");
    assert!(alive > 0, "the newest are");

    // The live ones are in use now, as was asked, and fill all places of this caller once some more are.
    let mut ours = Vec::new();
    let refused = loop {
        let opened = open_session(&mut honest);
        if opened.status != 200 {
            break opened;
        }
        ours.push(session_id(&opened));
        assert!(answers(&mut honest, ours.last().expect("a session")));
        assert!(ours.len() <= SESSIONS_PER_PRINCIPAL_MAX, "there is a limit");
    };
    assert_eq!((refused.status, refused.json()["error"]["code"].as_i64()), (429, Some(-32003)), "{}", refused.text());
    let limit = format!("all {SESSIONS_PER_PRINCIPAL_MAX} sessions that one caller may have are taken");
    assert!(refused.text().contains(&limit), "{}", refused.text());
    assert!(answers(&mut honest, &own));

    // A session that is closed makes room, and closed connections leave nothing open.
    for session in abandoned.iter().chain(&ours) {
        honest.send("DELETE", "/mcp", &[("Mcp-Session-Id", session.as_str())], b"");
    }
    let newest = session_id(&open_session(&mut honest));
    assert!(answers(&mut honest, &newest) && answers(&mut honest, &own));
    let is_at_rest = || {
        std::thread::sleep(Duration::from_millis(250));
        open_files(&running) <= files + 1
    };
    assert!((0..40).any(|_| is_at_rest()), "{files} files were open, now {}", open_files(&running));
    let taken = resident_megabytes(&running).saturating_sub(memory);
    println!("{alive} of {SESSIONS} sessions were live, afterwards {taken} MB more than before");
    assert!(taken < MEGABYTES_MAX, "{SESSIONS} sessions left {taken} MB");
}
