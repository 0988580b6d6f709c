//! A client on one surface, and the server that it has for itself.

use serde_json::{Value, json};
use testkit::Client;
use testkit::message::{self, BOTH, JSON, MODERN, call, initialize};

use crate::process::{Running, skald};

#[derive(Debug, Clone, Copy)]
pub(crate) enum Surface {
    Rest,
    /// A client that says what it wants, line by line; with a handshake, or of the revision without one.
    Stdio(&'static str),
    Http(&'static str),
}

pub(crate) const LEGACY: &str = "2025-11-25";
pub(crate) const SURFACES: [Surface; 5] =
    [Surface::Rest, Surface::Stdio(LEGACY), Surface::Stdio(MODERN), Surface::Http(LEGACY), Surface::Http(MODERN)];

pub(crate) struct Player {
    server: Running,
    way: Way,
    /// The header of whoever is not the owner.
    authorization: Option<String>,
}

enum Way {
    Rest(Client),
    Stdio(&'static str),
    Session(Client, String),
    Modern(Client),
}

impl Player {
    pub(crate) fn start(surface: Surface, store: &str) -> Self {
        Self::start_as(surface, store, None)
    }

    /// A client of whoever holds this token; of the owner if there is none.
    pub(crate) fn start_as(surface: Surface, store: &str, token: Option<&str>) -> Self {
        let authorization = token.map(|token| format!("Bearer {token}"));
        if let Surface::Stdio(version) = surface {
            let mut command = skald(&["mcp", "--store", store]);
            command.envs(token.map(|token| ("SKALD_TOKEN", token)));
            let mut server = Running::start(command);
            if version != MODERN {
                server.ask(&initialize(version));
            }
            return Self { server, way: Way::Stdio(version), authorization };
        }
        let (server, address) = Running::serve(&["--store", store]);
        let mut client = Client::connect(address);
        let way = match surface {
            Surface::Http(MODERN) => Way::Modern(client),
            Surface::Http(version) => {
                let headers = with(&[JSON, BOTH], authorization.as_ref());
                let opened = client.send("POST", "/mcp", &headers, initialize(version).to_string().as_bytes());
                Way::Session(client, opened.header("mcp-session-id").expect("a session").to_owned())
            }
            Surface::Rest | Surface::Stdio(_) => Way::Rest(client),
        };
        Self { server, way, authorization }
    }

    pub(crate) fn call(&mut self, operation: &str, input: &Value, key: Option<&str>) -> Result<Value, Value> {
        let authorization = self.authorization.as_ref();
        match &mut self.way {
            Way::Rest(client) => {
                let key = key.map(|key| ("Idempotency-Key", key));
                let headers: Vec<_> = [JSON].into_iter().chain(key).collect();
                let path = format!("/api/v1/{operation}");
                let reply = client.send("POST", &path, &with(&headers, authorization), input.to_string().as_bytes());
                if reply.status == 200 { Ok(reply.json()) } else { Err(reply.json()["error"].take()) }
            }
            Way::Stdio(version) => outcome(self.server.answer(&message_of(operation, input, key, version))),
            Way::Session(client, session) => {
                let headers = with(&[JSON, BOTH, ("Mcp-Session-Id", session.as_str())], authorization);
                let message = message_of(operation, input, key, LEGACY);
                outcome(client.send("POST", "/mcp", &headers, message.to_string().as_bytes()).json())
            }
            Way::Modern(client) => {
                let message = message_of(operation, input, key, MODERN);
                let headers = message::modern_headers(&message);
                let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
                let headers = with(&headers, authorization);
                outcome(client.send("POST", "/mcp", &headers, message.to_string().as_bytes()).json())
            }
        }
    }
}

fn with<'a>(headers: &[(&'a str, &'a str)], authorization: Option<&'a String>) -> Vec<(&'a str, &'a str)> {
    headers.iter().copied().chain(authorization.map(|bearer| ("Authorization", bearer.as_str()))).collect()
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
