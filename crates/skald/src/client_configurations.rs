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
    stdio: fn(&StdioCommand) -> Value,
    http: fn(&str) -> Value,
    /// The client's own commands that add the server, if it has any.
    pub commands: fn(&StdioCommand, &str) -> Vec<String>,
}

/// What a client starts, and with which arguments.
#[derive(Debug, Clone)]
pub(crate) struct StdioCommand {
    pub binary: String,
    pub arguments: Vec<String>,
}

impl StdioCommand {
    /// `skald mcp`, on a store if one is named.
    pub(crate) fn new(binary: &Path, store: Option<&str>) -> Self {
        let store = store.map(|store| ["--store".to_owned(), store.to_owned()]).into_iter().flatten();
        let arguments = std::iter::once("mcp".to_owned()).chain(store).collect();
        Self { binary: binary.to_string_lossy().into_owned(), arguments }
    }

    /// The program and its arguments as one list.
    fn to_words(&self) -> Vec<&str> {
        std::iter::once(&self.binary).chain(&self.arguments).map(String::as_str).collect()
    }
}

impl ClientConfiguration {
    pub(crate) fn stdio(&self, command: &StdioCommand) -> String {
        to_pretty_json(&(self.stdio)(command))
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

fn no_commands(_: &StdioCommand, _: &str) -> Vec<String> {
    Vec::new()
}

pub(crate) const CLIENTS: [ClientConfiguration; 6] = [
    ClientConfiguration {
        name: "Claude Desktop",
        file: "claude_desktop_config.json (Settings, Developer, Edit Config)",
        example: "claude_desktop_config.json",
        stdio: |run| json!({"mcpServers": {"skald": {"command": run.binary, "args": run.arguments}}}),
        // Its file takes only programs to start; mcp-remote is a program that connects over HTTP.
        http: |url| json!({"mcpServers": {"skald": {"command": "npx", "args": ["-y", "mcp-remote", url]}}}),
        commands: no_commands,
    },
    ClientConfiguration {
        name: "Claude Code",
        file: ".mcp.json in the project",
        example: "claude-code.mcp.json",
        stdio: |run| json!({"mcpServers": {"skald": {"type": "stdio", "command": run.binary, "args": run.arguments}}}),
        http: |url| json!({"mcpServers": {"skald": {"type": "http", "url": url}}}),
        commands: |run, url| {
            let words: Vec<String> = run.to_words().into_iter().map(quote_for_shell).collect();
            vec![
                format!("claude mcp add skald -- {}", words.join(" ")),
                format!("claude mcp add --transport http skald {url}"),
            ]
        },
    },
    ClientConfiguration {
        name: "Cursor",
        file: ".cursor/mcp.json in the project, or ~/.cursor/mcp.json",
        example: "cursor.mcp.json",
        stdio: |run| json!({"mcpServers": {"skald": {"command": run.binary, "args": run.arguments}}}),
        http: |url| json!({"mcpServers": {"skald": {"url": url}}}),
        commands: no_commands,
    },
    ClientConfiguration {
        name: "VS Code",
        file: ".vscode/mcp.json in the workspace",
        example: "vscode.mcp.json",
        stdio: |run| json!({"servers": {"skald": {"type": "stdio", "command": run.binary, "args": run.arguments}}}),
        http: |url| json!({"servers": {"skald": {"type": "http", "url": url}}}),
        commands: no_commands,
    },
    ClientConfiguration {
        name: "OpenCode",
        file: "opencode.jsonc in the project",
        example: "opencode.jsonc",
        stdio: |run| {
            json!({
                "$schema": "https://opencode.ai/config.json",
                "mcp": {"skald": {"type": "local", "command": run.to_words(), "enabled": true}}
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
        stdio: |run| json!({"mcpServers": {"skald": {"command": run.binary, "args": run.arguments}}}),
        http: |url| json!({"mcpServers": {"skald": {"url": url}}}),
        commands: no_commands,
    },
];

/// A word quoted for a shell.
fn quote_for_shell(word: &str) -> String {
    let is_plain = word.chars().all(|letter| letter.is_ascii_alphanumeric() || "/._-+:".contains(letter));
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}
