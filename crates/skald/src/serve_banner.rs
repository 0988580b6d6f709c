//! The text that `skald serve` prints when it is ready: addresses under which it answers, and where the world is kept.

use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The addresses of a server that is ready.
pub(crate) struct ServeBanner<'a> {
    pub http: SocketAddr,
    pub grpc: Option<SocketAddr>,
    pub allowed_hosts: &'a [String],
    pub store: String,
}

impl ServeBanner<'_> {
    pub(crate) fn render(&self) -> String {
        let http = self.http_authority();
        let grpc = self.grpc.map(|grpc| format!("gRPC     {}\n  ", callable(grpc))).unwrap_or_default();
        let mut text = format!(
            "Skald {version} is ready.\n\n  \
             page     http://{http}/\n  \
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
             claude mcp add --transport http skald http://{http}/mcp{header}\n\
             `skald doctor` prints the configuration of this and other clients. Ctrl-C stops.",
            header = if self.is_open() { " --header \"Authorization: Bearer $TOKEN\"" } else { "" },
        );
        text
    }

    /// The host and the port of an address under which the server answers: a request is refused under any other name.
    fn http_authority(&self) -> String {
        match self.allowed_hosts.first() {
            Some(host) if self.is_open() && host.contains(':') => host.clone(),
            Some(host) if self.is_open() => format!("{host}:{}", self.http.port()),
            _ => callable(self.http).to_string(),
        }
    }

    /// Whether other machines reach the HTTP port.
    fn is_open(&self) -> bool {
        !self.http.ip().is_loopback()
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.http.ip().is_unspecified() && self.allowed_hosts.is_empty() {
            notes.push(
                "Other machines reach this port, but are answered under no name yet. Start it with --allowed-hosts NAME, \
                 the name or address that they use."
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

/// An address that can be called, for one to listen on.
fn callable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// An address as it stands in a `Host` header.
pub(crate) fn host_text(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn banner(http: &str, hosts: &[String]) -> String {
        let (http, grpc) = (http.parse().expect("an address"), Some("127.0.0.1:8080".parse().expect("an address")));
        ServeBanner { http, grpc, allowed_hosts: hosts, store: "/srv/skald.db".to_owned() }.render()
    }

    #[test]
    fn the_banner_names_an_address_that_answers() {
        let named = ["table.example".to_owned()];
        assert!(banner("127.0.0.1:8081", &[]).contains("MCP      http://127.0.0.1:8081/mcp\n"));
        assert!(banner("127.0.0.1:8081", &named).contains("MCP      http://127.0.0.1:8081/mcp\n"));
        assert!(banner("0.0.0.0:8081", &named).contains("MCP      http://table.example:8081/mcp\n"));
        let nameless = banner("0.0.0.0:8081", &[]);
        assert!(nameless.contains("MCP      http://127.0.0.1:8081/mcp\n"), "{nameless}");
        assert!(
            nameless.contains("--allowed-hosts NAME") && nameless.contains("--grpc-addr 0.0.0.0:8080"),
            "{nameless}"
        );
        assert!(banner("[::]:8081", &[]).contains("http://[::1]:8081/mcp"));
        assert!(banner("192.0.2.7:8081", &[]).contains("http://192.0.2.7:8081/mcp"));
        assert!(banner("127.0.0.1:8081", &[]).contains("store    /srv/skald.db\n"));
    }
}
