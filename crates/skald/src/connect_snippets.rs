//! The configuration snippets that the web page shows: how a program that speaks MCP connects to this server. Paths of this
//! machine are only for its owner.

use skald_page::{ClientConnection, ConnectionRequest};

use crate::client_configurations::{CLIENTS, ClientConfiguration, StdioCommand};
use crate::reachable_server::ReachableServer;

/// What the snippets are made of.
#[derive(Debug, Clone)]
pub(crate) struct SnippetSource {
    /// How a client on this machine starts Skald on the same store.
    pub stdio: StdioCommand,
    pub server: ReachableServer,
}

impl SnippetSource {
    /// The snippets for whoever asks. Whoever is not the owner on this machine itself gets those over HTTP alone.
    pub(crate) fn connections(&self, request: &ConnectionRequest<'_>) -> Vec<ClientConnection> {
        let server = self.server_of(request);
        let connection = |client: &ClientConfiguration| {
            let commands = (client.commands)(&self.stdio, &server).into_iter();
            let is_shown = |command: &String| request.is_local_owner || command.contains(" --transport http ");
            ClientConnection {
                name: client.name.to_owned(),
                file: client.file.to_owned(),
                commands: commands.filter(is_shown).collect(),
                http: client.http(&server),
                stdio: request.is_local_owner.then(|| client.stdio(&self.stdio)),
            }
        };
        CLIENTS.iter().map(connection).collect()
    }

    /// The server under the address by which the request came in, since it accepted that one.
    fn server_of(&self, request: &ConnectionRequest<'_>) -> ReachableServer {
        let host = request.host.filter(|host| !host.is_empty());
        ReachableServer {
            authority: host.map_or_else(|| self.server.authority.clone(), str::to_owned),
            is_https: request.is_https,
            is_token_required: self.server.is_token_required || !request.is_local_owner,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn shown(store: &str, request: &ConnectionRequest<'_>) -> String {
        let source = SnippetSource {
            stdio: StdioCommand::new(Path::new("/opt/secret-path/skald"), Some(store)),
            server: ReachableServer::new("127.0.0.1:8081".parse().expect("an address"), &[], false),
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
            assert!(owner.contains("http://localhost:8081/mcp") && !owner.contains("Bearer"), "{owner}");
            for secret in ["hunter2", "db.internal", "secret-path", "--store", "0.0.0.0"] {
                assert!(!player.contains(secret), "{secret}: {player}");
            }
            assert_eq!(player.matches("https://table.example/mcp").count(), 7, "six files and a command");
            assert_eq!(player.matches("Authorization").count(), 7, "{player}");
        }
        let nameless = ConnectionRequest { host: None, ..here };
        assert!(shown("sqlite:/srv/world.db", &nameless).contains("http://127.0.0.1:8081/mcp"));
        assert!(shown("sqlite:/srv/world.db", &here).contains("sqlite:/srv/world.db"));
    }
}
