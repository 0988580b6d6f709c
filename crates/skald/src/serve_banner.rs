//! The text that `skald serve` prints when it is ready: addresses under which it answers, and where the world is kept.

use std::fmt::Write;
use std::net::SocketAddr;

use skald_page::PublicUrl;

use crate::client_configurations::header_option;
use crate::reachable_server::{ReachableServer, callable};

/// The addresses of a server that is ready.
pub(crate) struct ServeBanner<'a> {
    pub http: SocketAddr,
    pub grpc: Option<SocketAddr>,
    /// The address by which other devices open the page, if the server was told one.
    pub public_url: Option<&'a PublicUrl>,
    pub allowed_hosts: &'a [String],
    pub is_token_required: bool,
    pub store: String,
}

impl ServeBanner<'_> {
    pub(crate) fn render(&self) -> String {
        let server = ReachableServer::new(self.http, self.allowed_hosts, self.is_token_required);
        let http = &server.authority;
        let grpc = self.grpc.map(|grpc| format!("gRPC     {}\n  ", callable(grpc))).unwrap_or_default();
        let public = self.public_url.map(|url| format!("others   {url}/\n  ")).unwrap_or_default();
        let mut text = format!(
            "Skald {version} is ready.\n\n  \
             page     http://{http}/\n  \
             {public}\
             MCP      http://{http}/mcp\n  \
             REST     http://{http}/api/v1/openapi.json\n  \
             Kanka    http://{http}/api/kanka/1.0\n  \
             {grpc}\
             health   http://{http}/health  /ready  /metrics\n  \
             store    {store}\n\n",
            version = env!("CARGO_PKG_VERSION"),
            store = self.store,
        );
        for note in self.notes() {
            let _ = writeln!(text, "{note}\n");
        }
        let _ = write!(
            text,
            "Connect a client, for example:\n  \
             claude mcp add --scope user --transport http skald http://{http}/mcp{header}\n\
             `skald doctor` prints the configuration of this and other clients. Ctrl-C stops.",
            header = header_option(&server),
        );
        text
    }

    /// Whether other machines reach the HTTP port.
    fn is_open(&self) -> bool {
        !self.http.ip().is_loopback()
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.http.ip().is_unspecified() && self.allowed_hosts.is_empty() {
            notes.push(
                "Other machines can reach this port, but every request of theirs is refused: Skald does not know by which name \
                 they call it. Start it with --allowed-hosts NAME, the host name or address that they use."
                    .to_owned(),
            );
        }
        if let Some(grpc) = self.grpc.filter(|grpc| self.is_open() && grpc.ip().is_loopback()) {
            notes.push(format!(
                "gRPC is for this machine only. For bridges on others (skald mcp --addr) start it with --grpc-addr 0.0.0.0:{}",
                grpc.port()
            ));
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn banner(http: &str, hosts: &[String], is_token_required: bool) -> String {
        let (http, grpc) = (http.parse().expect("an address"), Some("127.0.0.1:8080".parse().expect("an address")));
        let store = "/srv/skald.db".to_owned();
        ServeBanner { http, grpc, public_url: None, allowed_hosts: hosts, is_token_required, store }.render()
    }

    #[test]
    fn the_banner_names_an_address_that_answers() {
        let named = ["table.example".to_owned()];
        let private = banner("127.0.0.1:8081", &[], false);
        assert!(private.contains("MCP      http://127.0.0.1:8081/mcp\n"), "{private}");
        assert!(private.contains("store    /srv/skald.db\n"), "{private}");
        assert!(banner("0.0.0.0:8081", &named, true).contains("MCP      http://table.example:8081/mcp\n"));
        let nameless = banner("0.0.0.0:8081", &[], true);
        assert!(nameless.contains("MCP      http://127.0.0.1:8081/mcp\n"), "{nameless}");
        assert!(
            nameless.contains("--allowed-hosts NAME") && nameless.contains("--grpc-addr 0.0.0.0:8080"),
            "{nameless}"
        );
    }

    #[test]
    fn the_banner_names_the_address_for_others() {
        let public_url = "https://table.example".parse().expect("an address");
        let http = "127.0.0.1:8081".parse().expect("an address");
        let store = "/srv/skald.db".to_owned();
        let banner = ServeBanner {
            http,
            grpc: None,
            public_url: Some(&public_url),
            allowed_hosts: &[],
            is_token_required: true,
            store,
        };
        assert!(banner.render().contains("page     http://127.0.0.1:8081/\n  others   https://table.example/\n  MCP"));
    }

    #[test]
    fn the_banner_names_the_token_where_one_is_required() {
        let header = "/mcp --header \"Authorization: Bearer $TOKEN\"";
        assert!(banner("127.0.0.1:8081", &[], true).contains(header));
        assert!(banner("127.0.0.1:8081", &["table.example".to_owned()], true).contains(header));
        assert!(!banner("127.0.0.1:8081", &[], false).contains("--header"));
    }
}
