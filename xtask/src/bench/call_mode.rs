//! The three modes in which a client calls a tool over HTTP, and the request bytes of each.

use std::net::SocketAddr;

use serde_json::{Value, json};

const LEGACY_VERSION: &str = "2025-11-25";
const MODERN_VERSION: &str = "2026-07-28";
/// A legacy client must accept both kinds of answer.
const ACCEPTED: &str = "application/json, text/event-stream";
/// The placeholder for the id of a call. It occurs nowhere else in a request.
const ID_PLACEHOLDER: &str = "\"ID\"";
/// Ids are counted from here, so that all have the same width and a request's length never changes.
pub(crate) const FIRST_ID: u32 = 1_000_000;

/// The tool call that a client repeats.
#[derive(Debug, Clone)]
pub(crate) struct RepeatedCall {
    pub tool: &'static str,
    pub arguments: Value,
    /// A text that every correct answer contains.
    pub expected_text: &'static str,
    /// The caller's token; the owner sends none.
    pub token: Option<String>,
}

impl RepeatedCall {
    /// A call that every server of the benchmark can answer, by the owner.
    pub(crate) fn judge_dice() -> Self {
        let arguments = json!({"hope": 9, "fear": 4, "modifier": 2, "difficulty": 12});
        Self { tool: "duality_outcome", arguments, expected_text: "SUCCESS_WITH_HOPE", token: None }
    }

    fn authorization(&self) -> Option<String> {
        self.token.as_ref().map(|token| format!("Bearer {token}"))
    }
}

/// The protocol mode of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallMode {
    /// Before 2026-07-28, with a handshake and a session.
    Session,
    /// Before 2026-07-28, to a server that keeps no sessions.
    Stateless,
    /// 2026-07-28, without a handshake: every request is complete in itself.
    Modern,
}

impl CallMode {
    pub(crate) const ALL: [Self; 3] = [Self::Session, Self::Stateless, Self::Modern];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Stateless => "stateless",
            Self::Modern => "modern",
        }
    }

    /// Whether the server that is called should keep sessions.
    pub(crate) fn has_sessions(self) -> bool {
        self == Self::Session
    }
}

/// A request in two parts, between which the id of each call is written.
#[derive(Debug)]
pub(crate) struct Template {
    pub before_id: Vec<u8>,
    pub after_id: Vec<u8>,
}

/// A `tools/call` as this mode sends it.
pub(crate) fn call_template(host: SocketAddr, mode: CallMode, session: Option<&str>, call: &RepeatedCall) -> Template {
    let authorization = call.authorization();
    let mut headers = vec![("Accept", ACCEPTED)];
    let mut params = json!({"name": call.tool, "arguments": call.arguments});
    if mode == CallMode::Modern {
        headers.extend([
            ("MCP-Protocol-Version", MODERN_VERSION),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", call.tool),
        ]);
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN_VERSION,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": client_info(),
        });
    } else {
        headers.push(("MCP-Protocol-Version", LEGACY_VERSION));
    }
    headers.extend(session.map(|id| ("Mcp-Session-Id", id)));
    headers.extend(authorization.as_deref().map(|value| ("Authorization", value)));
    let body = json!({"jsonrpc": "2.0", "id": "ID", "method": "tools/call", "params": params}).to_string();
    let (before, after) = body.split_once(ID_PLACEHOLDER).unwrap_or((&body, ""));
    let length = body.len() - ID_PLACEHOLDER.len() + FIRST_ID.to_string().len();
    Template {
        before_id: [request_head(host, &headers, length).as_bytes(), before.as_bytes()].concat(),
        after_id: after.as_bytes().to_vec(),
    }
}

/// The message that begins a legacy connection.
pub(crate) fn initialize_message() -> Value {
    let params = json!({"protocolVersion": LEGACY_VERSION, "capabilities": {}, "clientInfo": client_info()});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
}

pub(crate) fn initialize_request(host: SocketAddr, call: &RepeatedCall) -> Vec<u8> {
    let authorization = call.authorization();
    let mut headers = vec![("Accept", ACCEPTED)];
    headers.extend(authorization.as_deref().map(|value| ("Authorization", value)));
    post_request(host, &headers, &initialize_message())
}

pub(crate) fn initialized_request(host: SocketAddr, session: &str, call: &RepeatedCall) -> Vec<u8> {
    let authorization = call.authorization();
    let mut headers = vec![("Accept", ACCEPTED), ("MCP-Protocol-Version", LEGACY_VERSION), ("Mcp-Session-Id", session)];
    headers.extend(authorization.as_deref().map(|value| ("Authorization", value)));
    post_request(host, &headers, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
}

fn client_info() -> Value {
    json!({"name": "bench", "version": "1"})
}

fn post_request(host: SocketAddr, headers: &[(&str, &str)], message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("{}{body}", request_head(host, headers, body.len())).into_bytes()
}

fn request_head(host: SocketAddr, headers: &[(&str, &str)], length: usize) -> String {
    let mut head =
        format!("POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n");
    for (name, value) in headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    head + "\r\n"
}
