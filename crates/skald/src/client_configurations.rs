//! Configuration snippets for MCP clients. `skald doctor` prints them with this machine's paths; `examples/` has them
//! with usual ones. A snippet never contains a password or a token: people paste them into messages.

use std::path::Path;

use serde_json::{Value, json};

use crate::open_store;
use crate::reachable_server::{ReachableServer, TOKEN_PLACEHOLDER};

/// A client's configuration file, once for stdio and once for HTTP.
pub(crate) struct ClientConfiguration {
    pub name: &'static str,
    /// Where the client looks for its file.
    pub file: &'static str,
    /// The name of the example.
    pub example: &'static str,
    stdio: fn(&StdioCommand) -> Value,
    http: fn(&ReachableServer) -> Value,
    /// The client's own commands that add the server, if it has any.
    pub commands: fn(&StdioCommand, &ReachableServer) -> Vec<String>,
}

/// What a client starts, and with which arguments.
#[derive(Debug, Clone)]
pub(crate) struct StdioCommand {
    pub binary: String,
    pub arguments: Vec<String>,
    /// A store whose address has a password, which is replaced by `…`. It goes into the variable `SKALD_STORE`, since every
    /// user of a machine sees the arguments of its programs.
    masked_store: Option<String>,
}

impl StdioCommand {
    /// `skald mcp`, on a store if one is named.
    pub(crate) fn new(binary: &Path, store: Option<&str>) -> Self {
        let (mut arguments, mut masked_store) = (vec!["mcp".to_owned()], None);
        if let Some(store) = store {
            let shown = open_store::without_password(store);
            if shown == store {
                arguments.extend(["--store".to_owned(), shown]);
            } else {
                masked_store = Some(shown);
            }
        }
        Self { binary: binary.to_string_lossy().into_owned(), arguments, masked_store }
    }

    /// `skald mcp` as a bridge to a server.
    pub(crate) fn bridge(binary: &Path, address: &str) -> Self {
        let mut command = Self::new(binary, None);
        command.arguments.extend(["--addr".to_owned(), address.to_owned()]);
        command
    }

    /// Whether a password has to be filled in.
    pub(crate) fn is_masked(&self) -> bool {
        self.masked_store.is_some()
    }

    /// The program and its arguments as one list.
    fn to_words(&self) -> Vec<&str> {
        std::iter::once(&self.binary).chain(&self.arguments).map(String::as_str).collect()
    }

    /// Adds the program, its arguments and its environment to an entry of a client's file.
    fn add_to(&self, mut entry: Value) -> Value {
        entry["command"] = json!(self.binary);
        entry["args"] = json!(self.arguments);
        self.add_environment(entry, "env")
    }

    fn add_environment(&self, mut entry: Value, key: &str) -> Value {
        if let Some(store) = &self.masked_store {
            entry[key] = json!({"SKALD_STORE": store});
        }
        entry
    }
}

/// Adds the address to an entry of a client's file, and a header if a token is required.
fn add_url(server: &ReachableServer, mut entry: Value) -> Value {
    entry["url"] = json!(server.mcp_url());
    if server.is_token_required {
        entry["headers"] = json!({"Authorization": format!("Bearer {TOKEN_PLACEHOLDER}")});
    }
    entry
}

/// The arguments of npx for mcp-remote. It takes plain HTTP to other machines only if it is told to.
fn mcp_remote_arguments(server: &ReachableServer) -> Vec<String> {
    let mut arguments = vec!["-y".to_owned(), "mcp-remote".to_owned(), server.mcp_url()];
    if !server.is_https && !server.authority.starts_with("127.0.0.1:") {
        arguments.push("--allow-http".to_owned());
    }
    if server.is_token_required {
        arguments.extend(["--header".to_owned(), format!("Authorization: Bearer {TOKEN_PLACEHOLDER}")]);
    }
    arguments
}

/// The commands of Claude Code.
fn claude_commands(run: &StdioCommand, server: &ReachableServer) -> Vec<String> {
    let words: Vec<String> = run.to_words().into_iter().map(quote_for_shell).collect();
    let store =
        run.masked_store.as_deref().map(|store| format!("--env {} ", quote_for_shell(&format!("SKALD_STORE={store}"))));
    vec![
        format!("claude mcp add --scope user skald {}-- {}", store.unwrap_or_default(), words.join(" ")),
        format!("claude mcp add --scope user --transport http skald {}{}", server.mcp_url(), header_option(server)),
    ]
}

/// The option of `claude mcp add` for a server that requires a token.
pub(crate) fn header_option(server: &ReachableServer) -> &'static str {
    if server.is_token_required { " --header \"Authorization: Bearer $TOKEN\"" } else { "" }
}

impl ClientConfiguration {
    pub(crate) fn stdio(&self, command: &StdioCommand) -> String {
        to_pretty_json(&(self.stdio)(command))
    }

    pub(crate) fn http(&self, server: &ReachableServer) -> String {
        to_pretty_json(&(self.http)(server))
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

fn no_commands(_: &StdioCommand, _: &ReachableServer) -> Vec<String> {
    Vec::new()
}

pub(crate) const CLIENTS: [ClientConfiguration; 6] = [
    ClientConfiguration {
        name: "Claude Desktop",
        file: "claude_desktop_config.json (Settings, Developer, Edit Config)",
        example: "claude_desktop_config.json",
        stdio: |run| json!({"mcpServers": {"skald": run.add_to(json!({}))}}),
        // Its file takes only programs to start; mcp-remote is a program that connects over HTTP.
        http: |server| json!({"mcpServers": {"skald": {"command": "npx", "args": mcp_remote_arguments(server)}}}),
        commands: no_commands,
    },
    ClientConfiguration {
        name: "Claude Code",
        file: ".mcp.json in the project",
        example: "claude-code.mcp.json",
        stdio: |run| json!({"mcpServers": {"skald": run.add_to(json!({"type": "stdio"}))}}),
        http: |server| json!({"mcpServers": {"skald": add_url(server, json!({"type": "http"}))}}),
        commands: claude_commands,
    },
    ClientConfiguration {
        name: "Cursor",
        file: ".cursor/mcp.json in the project, or ~/.cursor/mcp.json",
        example: "cursor.mcp.json",
        stdio: |run| json!({"mcpServers": {"skald": run.add_to(json!({}))}}),
        http: |server| json!({"mcpServers": {"skald": add_url(server, json!({}))}}),
        commands: no_commands,
    },
    ClientConfiguration {
        name: "VS Code",
        file: ".vscode/mcp.json in the workspace",
        example: "vscode.mcp.json",
        stdio: |run| json!({"servers": {"skald": run.add_to(json!({"type": "stdio"}))}}),
        http: |server| json!({"servers": {"skald": add_url(server, json!({"type": "http"}))}}),
        commands: no_commands,
    },
    ClientConfiguration {
        name: "OpenCode",
        file: "opencode.jsonc in the project",
        example: "opencode.jsonc",
        stdio: |run| {
            let entry = json!({"type": "local", "command": run.to_words(), "enabled": true});
            json!({
                "$schema": "https://opencode.ai/config.json",
                "mcp": {"skald": run.add_environment(entry, "environment")}
            })
        },
        http: |server| {
            let mut entry = add_url(server, json!({"type": "remote"}));
            entry["enabled"] = json!(true);
            json!({"$schema": "https://opencode.ai/config.json", "mcp": {"skald": entry}})
        },
        commands: no_commands,
    },
    ClientConfiguration {
        name: "LM Studio",
        file: "mcp.json (Program, Install, Edit mcp.json)",
        example: "lm-studio.mcp.json",
        stdio: |run| json!({"mcpServers": {"skald": run.add_to(json!({}))}}),
        http: |server| json!({"mcpServers": {"skald": add_url(server, json!({}))}}),
        commands: no_commands,
    },
];

/// A word quoted for a shell.
fn quote_for_shell(word: &str) -> String {
    let is_plain = word.chars().all(|letter| letter.is_ascii_alphanumeric() || "/._-+:".contains(letter));
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every snippet for a store and a server.
    fn snippets(store: &str, server: &ReachableServer) -> String {
        let command = StdioCommand::new(Path::new("/usr/bin/skald"), Some(store));
        let of_client = |client: &ClientConfiguration| {
            let commands = (client.commands)(&command, server).join("\n");
            format!("{}\n{}\n{commands}\n", client.stdio(&command), client.http(server))
        };
        CLIENTS.iter().map(of_client).collect()
    }

    fn server(authority: &str, is_token_required: bool) -> ReachableServer {
        ReachableServer { authority: authority.to_owned(), is_https: false, is_token_required }
    }

    #[test]
    fn no_snippet_contains_a_password() {
        for store in [
            "postgres://nils:hush@db.example/skald",
            "postgresql://nils:hu//hush@db.example/skald",
            "postgres://nils@db.example/skald?password=hush&sslmode=require",
        ] {
            let text = snippets(store, &server("127.0.0.1:8081", false));
            assert!(!text.contains("hush"), "{store}: {text}");
            // Six clients, and the command of one of them.
            assert_eq!(text.matches("SKALD_STORE").count(), 7, "{store}: {text}");
            assert!(text.matches("db.example/skald").count() == 7 && !text.contains("--store"), "{store}: {text}");
        }
        let open = "postgres://nils@db.example/skald";
        let text = snippets(open, &server("127.0.0.1:8081", false));
        assert_eq!((text.matches(open).count(), text.matches("SKALD_STORE").count()), (7, 0), "{text}");
    }

    #[test]
    fn a_required_token_has_its_place_in_every_snippet() {
        let text = snippets("memory", &server("table.example:8081", true));
        assert_eq!(text.matches("Bearer skald_…").count(), 6, "{text}");
        assert_eq!(text.matches("Bearer $TOKEN").count(), 1, "{text}");
        assert_eq!(text.matches("--allow-http").count(), 1, "mcp-remote: {text}");
        assert!(!snippets("memory", &server("127.0.0.1:8081", false)).contains("Bearer"));
    }
}
