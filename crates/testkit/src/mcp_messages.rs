//! MCP messages for tests, and the headers that go with them.

use serde_json::{Value, json};

pub const MODERN: &str = "2026-07-28";
/// Every revision that has a handshake.
pub const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

pub const JSON: (&str, &str) = ("Content-Type", "application/json");
pub const ACCEPT_BOTH: (&str, &str) = ("Accept", "application/json, text/event-stream");

pub fn request(id: u32, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub fn initialize(version: &str) -> Value {
    let params = json!({
        "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}
    });
    request(1, "initialize", &params)
}

pub fn tool_call(tool: &str, arguments: &Value) -> Value {
    request(2, "tools/call", &json!({"name": tool, "arguments": arguments}))
}

/// Adds the `_meta` that a client of 2026-07-28 sends with a request.
pub fn with_modern_meta(mut message: Value) -> Value {
    message["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"}
    });
    message
}

/// The headers of a request of 2026-07-28.
pub fn modern_headers(message: &Value) -> Vec<(&'static str, String)> {
    let mut headers = vec![
        ("Content-Type", JSON.1.to_owned()),
        ("Accept", ACCEPT_BOTH.1.to_owned()),
        ("MCP-Protocol-Version", MODERN.to_owned()),
        ("Mcp-Method", message["method"].as_str().unwrap_or_default().to_owned()),
    ];
    let params = &message["params"];
    if let Some(name) = params["name"].as_str().or_else(|| params["uri"].as_str()) {
        headers.push(("Mcp-Name", name.to_owned()));
    }
    headers
}
