//! The configuration snippets that the web page shows: how a program that speaks MCP connects to this server. Paths of this
//! machine are only for its owner, and no snippet has a password.

use std::net::{Ipv4Addr, SocketAddr};

use serde_json::{Value, json};
use skald_page::{ClientConnection, ConnectionRequest};

use crate::client_configurations::{CLIENTS, ClientConfiguration, StdioCommand};

/// Stands for the token of whoever copies a snippet.
const TOKEN_HEADER: &str = "Authorization: Bearer YOUR_TOKEN";

/// What the snippets are made of.
#[derive(Debug, Clone)]
pub(crate) struct SnippetSource {
    /// How a client on this machine starts Skald on the same store.
    pub stdio: StdioCommand,
    pub listening: SocketAddr,
    pub is_token_required: bool,
}

impl SnippetSource {
    /// The snippets for whoever asks. Whoever is not the owner on this machine itself gets those over HTTP alone.
    pub(crate) fn connections(&self, request: &ConnectionRequest<'_>) -> Vec<ClientConnection> {
        let url = self.url(request);
        let needs_token = self.is_token_required || !request.is_local_owner;
        let connection = |client: &ClientConfiguration| {
            let is_http = |command: &String| command.contains(" --transport http ");
            let (over_http, starting): (Vec<_>, Vec<_>) =
                (client.commands)(&self.stdio, &url).into_iter().partition(is_http);
            let header = if needs_token { format!(" --header \"{TOKEN_HEADER}\"") } else { String::new() };
            let over_http = over_http.into_iter().map(|command| format!("{command}{header}"));
            let starting = starting.into_iter().filter(|_| request.is_local_owner);
            ClientConnection {
                name: client.name.to_owned(),
                file: client.file.to_owned(),
                commands: over_http.chain(starting).collect(),
                http: if needs_token { with_token_header(&client.http(&url)) } else { client.http(&url) },
                stdio: request.is_local_owner.then(|| client.stdio(&self.stdio)),
            }
        };
        CLIENTS.iter().map(connection).collect()
    }

    /// The address under which the request came in, since this server accepted that one.
    fn url(&self, request: &ConnectionRequest<'_>) -> String {
        let scheme = if request.is_https { "https" } else { "http" };
        match request.host.filter(|host| !host.is_empty()) {
            Some(host) => format!("{scheme}://{host}/mcp"),
            None if self.listening.ip().is_unspecified() => {
                format!("http://{}/mcp", SocketAddr::new(Ipv4Addr::LOCALHOST.into(), self.listening.port()))
            }
            None => format!("http://{}/mcp", self.listening),
        }
    }
}

/// The address of a store for a snippet: a database server's is left to be filled in, since it holds a password.
pub(crate) fn store_for_snippet(address: &str) -> &str {
    if address.starts_with("sqlite:") || address == "memory" {
        address
    } else {
        "postgres://USER:PASSWORD@HOST/DATABASE"
    }
}

/// The content of a client's file, with the token where the client takes headers.
fn with_token_header(http: &str) -> String {
    let Ok(mut file) = serde_json::from_str::<Value>(http) else { return http.to_owned() };
    for servers in ["mcpServers", "servers", "mcp"] {
        let Some(server) = file.get_mut(servers).and_then(|servers| servers.get_mut("skald")) else { continue };
        if server.get("url").is_some() {
            let (name, value) = TOKEN_HEADER.split_once(": ").unwrap_or_default();
            server["headers"] = json!({ name: value });
        } else if let Some(arguments) = server.get_mut("args").and_then(Value::as_array_mut) {
            arguments.extend([json!("--header"), json!(TOKEN_HEADER)]);
        }
    }
    format!("{file:#}")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn shown(store: &str, request: &ConnectionRequest<'_>) -> String {
        let source = SnippetSource {
            stdio: StdioCommand::new(Path::new("/opt/secret-path/skald"), Some(store_for_snippet(store))),
            listening: SocketAddr::from(([0, 0, 0, 0], 8081)),
            is_token_required: false,
        };
        format!("{:?}", source.connections(request))
    }

    #[test]
    fn nobody_sees_a_password_and_only_the_owner_here_sees_paths() {
        let here = ConnectionRequest { host: Some("localhost:8081"), is_https: false, is_local_owner: true };
        let away = ConnectionRequest { host: Some("table.example"), is_https: true, is_local_owner: false };
        for store in ["postgres://skald:hunter2@db.internal/skald", "postgres://db.internal/skald?password=hunter2"] {
            let (owner, player) = (shown(store, &here), shown(store, &away));
            assert!(!owner.contains("hunter2") && owner.contains("secret-path"), "{owner}");
            assert!(owner.contains("http://localhost:8081/mcp") && !owner.contains("YOUR_TOKEN"), "{owner}");
            for secret in ["hunter2", "db.internal", "secret-path", "--store", "0.0.0.0"] {
                assert!(!player.contains(secret), "{secret}: {player}");
            }
            assert_eq!(player.matches("https://table.example/mcp").count(), 7, "six files and a command");
            assert_eq!(player.matches("Bearer YOUR_TOKEN").count(), 7, "{player}");
        }
        let nameless = ConnectionRequest { host: None, ..here };
        assert!(shown("sqlite:/srv/world.db", &nameless).contains("http://127.0.0.1:8081/mcp"));
        assert!(shown("sqlite:/srv/world.db", &here).contains("sqlite:/srv/world.db"));
    }
}
