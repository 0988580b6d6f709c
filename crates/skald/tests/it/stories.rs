//! Every story in `scenarios/`, played on every surface and every store.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use testkit::Client;
use testkit::message::{self, BOTH, JSON, MODERN, call, initialize};
use testkit::story::Story;

use crate::places::Place;
use crate::process::{Running, skald};

#[derive(Debug, Clone, Copy)]
enum Surface {
    Rest,
    /// A client that says what it wants, line by line; with a handshake, or of the revision without one.
    Stdio(&'static str),
    Http(&'static str),
}

const LEGACY: &str = "2025-11-25";
const SURFACES: [Surface; 5] =
    [Surface::Rest, Surface::Stdio(LEGACY), Surface::Stdio(MODERN), Surface::Http(LEGACY), Surface::Http(MODERN)];

#[test]
fn stories_are_true_in_memory() {
    play_all(Place::memory);
}

#[test]
fn stories_are_true_on_sqlite() {
    play_all(Place::sqlite);
}

mod postgres {
    #[test]
    fn stories_are_true_on_postgres() {
        super::play_all(super::Place::postgres);
    }
}

fn play_all(place: impl Fn() -> Place) {
    let stories = stories();
    assert!(!stories.is_empty(), "there are stories");
    for path in stories {
        let name = path.file_name().unwrap_or_default().display();
        let text = std::fs::read_to_string(&path).expect("a story is a text");
        let story = Story::read(&text).unwrap_or_else(|why| panic!("{name}: {why}"));
        for surface in SURFACES {
            let place = place();
            let mut player = Player::start(surface, &place.address);
            let ending = story.play(&mut |operation, input, key| player.call(operation, input, key));
            ending.unwrap_or_else(|why| panic!("{name}, {surface:?}: {why}"));
        }
    }
}

fn stories() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let files = std::fs::read_dir(folder).expect("the folder of stories").map(|file| file.expect("a file").path());
    let is_story = |path: &PathBuf| {
        path.extension().is_some_and(|ending| ending == "md")
            && path.file_name().is_some_and(|name| name != "README.md")
    };
    files.filter(is_story).collect()
}

/// A client on one surface, and the server that it has for itself.
struct Player {
    server: Running,
    way: Way,
}

enum Way {
    Rest(Client),
    Stdio(&'static str),
    Session(Client, String),
    Modern(Client),
}

impl Player {
    fn start(surface: Surface, store: &str) -> Self {
        if let Surface::Stdio(version) = surface {
            let mut server = Running::start(skald(&["mcp", "--store", store]));
            if version != MODERN {
                server.ask(&initialize(version));
            }
            return Self { server, way: Way::Stdio(version) };
        }
        let (server, address) = Running::serve(&["--store", store]);
        let mut client = Client::connect(address);
        let way = match surface {
            Surface::Http(MODERN) => Way::Modern(client),
            Surface::Http(version) => {
                let opened = client.send("POST", "/mcp", &[JSON, BOTH], initialize(version).to_string().as_bytes());
                Way::Session(client, opened.header("mcp-session-id").expect("a session").to_owned())
            }
            Surface::Rest | Surface::Stdio(_) => Way::Rest(client),
        };
        Self { server, way }
    }

    fn call(&mut self, operation: &str, input: &Value, key: Option<&str>) -> Result<Value, Value> {
        match &mut self.way {
            Way::Rest(client) => {
                let key = key.map(|key| ("Idempotency-Key", key));
                let headers: Vec<_> = [JSON].into_iter().chain(key).collect();
                let path = format!("/api/v1/{operation}");
                let reply = client.send("POST", &path, &headers, input.to_string().as_bytes());
                if reply.status == 200 { Ok(reply.json()) } else { Err(reply.json()["error"].take()) }
            }
            Way::Stdio(version) => outcome(self.server.answer(&message_of(operation, input, key, version))),
            Way::Session(client, session) => {
                let headers = [JSON, BOTH, ("Mcp-Session-Id", session.as_str())];
                let message = message_of(operation, input, key, LEGACY);
                outcome(client.send("POST", "/mcp", &headers, message.to_string().as_bytes()).json())
            }
            Way::Modern(client) => {
                let message = message_of(operation, input, key, MODERN);
                let headers = message::modern_headers(&message);
                let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
                outcome(client.send("POST", "/mcp", &headers, message.to_string().as_bytes()).json())
            }
        }
    }
}

fn message_of(operation: &str, input: &Value, key: Option<&str>, version: &str) -> Value {
    let message = call(operation, input);
    let mut message = if version == MODERN { message::modern(message) } else { message };
    if let Some(key) = key {
        message["params"]["_meta"]["skald/idempotencyKey"] = json!(key);
    }
    message
}

/// The answer of a tool, or its error as programs read it.
fn outcome(mut message: Value) -> Result<Value, Value> {
    let result = &mut message["result"];
    match result["isError"].as_bool() {
        Some(true) => Err(result["_meta"]["skald/error"].take()),
        _ if result["structuredContent"].is_object() => Ok(result["structuredContent"].take()),
        _ => panic!("no answer of a tool: {message}"),
    }
}
