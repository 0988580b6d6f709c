//! The HTTP server as its clients see it: the address that answers, and whether they need a token. `skald serve`, the page
//! and `skald doctor` all take it from here.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Stands for a token in configurations.
pub(crate) const TOKEN_PLACEHOLDER: &str = "skald_…";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReachableServer {
    /// The host and the port. A request under a name that the server does not know is refused.
    pub authority: String,
    /// Whether it is called through a proxy with TLS. The server itself speaks plain HTTP.
    pub is_https: bool,
    pub is_token_required: bool,
}

impl ReachableServer {
    /// A server that listens on an address, and is called by further names beside it.
    pub(crate) fn new(listening: SocketAddr, allowed_hosts: &[String], is_token_required: bool) -> Self {
        let is_open = !listening.ip().is_loopback();
        let authority = match allowed_hosts.first() {
            Some(host) if is_open && has_port(host) => host.clone(),
            Some(host) if is_open => format!("{host}:{}", listening.port()),
            _ => callable(listening).to_string(),
        };
        Self { authority, is_https: false, is_token_required: is_token_required || is_open }
    }

    pub(crate) fn mcp_url(&self) -> String {
        format!("{}://{}/mcp", if self.is_https { "https" } else { "http" }, self.authority)
    }
}

/// An address that can be called, for one to listen on.
pub(crate) fn callable(address: SocketAddr) -> SocketAddr {
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

fn has_port(host: &str) -> bool {
    host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(listening: &str, hosts: &[&str], is_token_required: bool) -> (String, bool) {
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        let server = ReachableServer::new(listening.parse().expect("an address"), &hosts, is_token_required);
        (server.mcp_url(), server.is_token_required)
    }

    #[test]
    fn clients_are_told_an_address_that_answers() {
        for (listening, hosts, expected) in [
            ("127.0.0.1:8081", &[][..], "127.0.0.1:8081"),
            ("127.0.0.1:8081", &["table.example"], "127.0.0.1:8081"),
            ("0.0.0.0:8081", &["table.example", "other.example"], "table.example:8081"),
            ("0.0.0.0:8081", &["table.example:443"], "table.example:443"),
            ("[::]:8081", &["[2001:db8::1]"], "[2001:db8::1]:8081"),
            ("0.0.0.0:8081", &[], "127.0.0.1:8081"),
            ("[::]:8081", &[], "[::1]:8081"),
            ("192.0.2.7:8081", &[], "192.0.2.7:8081"),
        ] {
            assert_eq!(server(listening, hosts, false).0, format!("http://{expected}/mcp"), "{listening} {hosts:?}");
        }
    }

    #[test]
    fn a_token_is_required_where_others_reach_the_server_or_the_owner_says_so() {
        assert!(!server("127.0.0.1:8081", &[], false).1);
        assert!(server("127.0.0.1:8081", &[], true).1);
        assert!(server("0.0.0.0:8081", &[], false).1);
    }
}
