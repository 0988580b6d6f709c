//! Configuration snippets for MCP clients. `skald doctor` prints them with this machine's paths; `examples/` has them
//! with usual ones.

use std::path::Path;

use serde_json::{Value, json};

/// A client's configuration file, once for stdio and once for HTTP.
pub(crate) struct ClientConfiguration {
    pub name: &'static str,
    /// Where the client looks for its file.
    pub file: &'static str,
    /// The name of the example.
    pub example: &'static str,
    stdio: fn(&str) -> Value,
    http: fn(&str) -> Value,
    /// The client's own commands that add the server, if it has any.
    pub commands: fn(&str, &str) -> Vec<String>,
}

impl ClientConfiguration {
    pub(crate) fn stdio(&self, binary: &Path) -> String {
        to_pretty_json(&(self.stdio)(&binary.to_string_lossy()))
    }

    pub(crate) fn http(&self, url: &str) -> String {
        to_pretty_json(&(self.http)(url))
    }

    /// The example's file name for HTTP.
    pub(crate) fn http_example(&self) -> String {
        match self.example.split_once('.') {
            Some((stem, rest)) => format!("{stem}.http.{rest}"),
            None => format!("{}.http", self.example),
        }
    }
}

fn to_pretty_json(value: &Value) -> String {
    format!("{value:#}")
}

fn no_commands(_: &str, _: &str) -> Vec<String> {
    Vec::new()
}

pub(crate) const CLIENTS: [ClientConfiguration; 6] = [
    ClientConfiguration {
        name: "Claude Desktop",
        file: "claude_desktop_config.json (Settings, Developer, Edit Config)",
        example: "claude_desktop_config.json",
        stdio: |binary| json!({"mcpServers": {"skald": {"command": binary, "args": ["mcp"]}}}),
        // Its file takes only programs to start; mcp-remote is a program that connects over HTTP.
        http: |url| json!({"mcpServers": {"skald": {"command": "npx", "args": ["-y", "mcp-remote", url]}}}),
        commands: no_commands,
    },
    ClientConfiguration {
        name: "Claude Code",
        file: ".mcp.json in the project",
        example: "claude-code.mcp.json",
        stdio: |binary| json!({"mcpServers": {"skald": {"type": "stdio", "command": binary, "args": ["mcp"]}}}),
        http: |url| json!({"mcpServers": {"skald": {"type": "http", "url": url}}}),
        commands: |binary, url| {
            vec![
                format!("claude mcp add skald -- {} mcp", quote_for_shell(binary)),
                format!("claude mcp add --transport http skald {url}"),
            ]
        },
    },
    ClientConfiguration {
        name: "Cursor",
        file: ".cursor/mcp.json in the project, or ~/.cursor/mcp.json",
        example: "cursor.mcp.json",
        stdio: |binary| json!({"mcpServers": {"skald": {"command": binary, "args": ["mcp"]}}}),
        http: |url| json!({"mcpServers": {"skald": {"url": url}}}),
        commands: no_commands,
    },
    ClientConfiguration {
        name: "VS Code",
        file: ".vscode/mcp.json in the workspace",
        example: "vscode.mcp.json",
        stdio: |binary| json!({"servers": {"skald": {"type": "stdio", "command": binary, "args": ["mcp"]}}}),
        http: |url| json!({"servers": {"skald": {"type": "http", "url": url}}}),
        commands: no_commands,
    },
    ClientConfiguration {
        name: "OpenCode",
        file: "opencode.jsonc in the project",
        example: "opencode.jsonc",
        stdio: |binary| {
            json!({
                "$schema": "https://opencode.ai/config.json",
                "mcp": {"skald": {"type": "local", "command": [binary, "mcp"], "enabled": true}}
            })
        },
        http: |url| {
            json!({
                "$schema": "https://opencode.ai/config.json",
                "mcp": {"skald": {"type": "remote", "url": url, "enabled": true}}
            })
        },
        commands: no_commands,
    },
    ClientConfiguration {
        name: "LM Studio",
        file: "mcp.json (Program, Install, Edit mcp.json)",
        example: "lm-studio.mcp.json",
        stdio: |binary| json!({"mcpServers": {"skald": {"command": binary, "args": ["mcp"]}}}),
        http: |url| json!({"mcpServers": {"skald": {"url": url}}}),
        commands: no_commands,
    },
];

/// A path quoted for a shell.
fn quote_for_shell(path: &str) -> String {
    let is_plain = path.chars().all(|letter| letter.is_ascii_alphanumeric() || "/._-+".contains(letter));
    if is_plain { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}
