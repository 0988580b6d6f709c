//! Attack: exhausting the server's memory with many slow readers of a large universe that changes between them.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::json;
use skald_testkit::Client;
use skald_testkit::mcp_messages::{ACCEPT_BOTH, JSON, initialize, request};

use super::crowd_the_server::{create_universe, resident_megabytes};
use crate::process::RunningProgram;

const READERS: u32 = 40;
const BODIES: usize = 20_000;
/// One copy of the universe takes more than 4 MB as JSON, and more than 5 MB as MCP text.
const MEGABYTES_MAX: u64 = 60;

/// Sends a request, reads the beginning of its answer, and leaves the rest unread.
fn begin_to_read(address: SocketAddr, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.write_all(request.as_bytes()).expect("the server reads");
    let mut beginning = [0; 512];
    stream.read_exact(&mut beginning).expect("an answer");
    assert!(beginning.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&beginning));
    stream
}

#[test]
fn readers_of_many_revisions_share_what_has_not_changed() {
    let (running, address) = RunningProgram::serve(&["--store", "memory"]);
    create_universe(address, BODIES);
    let mut client = Client::connect(address);
    let opened = client.send("POST", "/mcp", &[JSON, ACCEPT_BOTH], initialize("2025-11-25").to_string().as_bytes());
    let session = opened.header("mcp-session-id").expect("a session").to_owned();
    let resource = |number: u32| {
        let read = request(number, "resources/read", &json!({"uri": "universe://large"})).to_string();
        format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, \
             text/event-stream\r\nMcp-Session-Id: {session}\r\nContent-Length: {}\r\n\r\n{read}",
            read.len()
        )
    };
    let page = "GET /universes/large HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned();
    // Render both forms once before the measurement, so that it does not count the caches.
    let _first = [begin_to_read(address, &page), begin_to_read(address, &resource(1_000))];
    let before = resident_megabytes(&running);
    let mut readers = Vec::new();
    for number in 0..READERS {
        let update = json!({"type": "updateStar", "id": format!("body-{number}"), "payload": {"mass": 2}}).to_string();
        let changed = client.send("POST", "/universes/large/commands?state=none", &[JSON], update.as_bytes());
        assert_eq!(changed.status, 200, "{}", changed.text());
        readers.push(begin_to_read(address, &if number % 2 == 0 { page.clone() } else { resource(number) }));
    }
    let taken = resident_megabytes(&running).saturating_sub(before);
    assert!(taken < MEGABYTES_MAX, "{READERS} readers took {taken} MB");
}
