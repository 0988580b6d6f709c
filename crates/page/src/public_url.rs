//! The address under which other devices open the page: a scheme and a host, which links of invitations begin with.

use std::net::IpAddr;
use std::str::FromStr;

use skald_app::{Code, Fault, truncate_for_message};

use crate::components::encode;

const HINT: &str =
    "write http:// or https://, a host and maybe a port, such as http://192.168.1.7:8081 or https://table.example";

/// An absolute address of the page without a path, such as `https://table.example` or `http://192.168.1.7:8081`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl {
    is_https: bool,
    /// A name, an IPv4 address, or an IPv6 address in brackets.
    host: String,
    port: Option<u16>,
}

impl PublicUrl {
    /// Parses an address. The fault says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let text = text.trim();
        let refuse = |why: &str| {
            let message = format!("{:?} is not the address of a page: {why}", truncate_for_message(text));
            Fault::new(Code::InvalidParams, message).value(&text.into()).hint(HINT)
        };
        let (is_https, rest) = match text.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => (false, rest),
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => (true, rest),
            Some(_) => return Err(refuse("only http and https are opened by a browser")),
            None => return Err(refuse("it does not begin with http:// or https://")),
        };
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        if authority.contains(['/', '?', '#', '\\']) {
            return Err(refuse("it may have no path, since the page is at the root of its host"));
        }
        if authority.contains('@') {
            return Err(refuse("it may have no user name and no password"));
        }
        let (host, port) = split_port(authority).ok_or_else(|| refuse("its port is not a number from 1 to 65535"))?;
        if !is_host(host) {
            return Err(refuse("its host is neither a name nor an IP address"));
        }
        if ip_address(host).is_some_and(|address| address.is_unspecified()) {
            return Err(refuse("a server can listen on that host, but nobody can open it"));
        }
        Ok(Self { is_https, host: host.to_ascii_lowercase(), port })
    }

    /// The address that a browser used for its request.
    pub(crate) fn from_host(host: &str, is_https: bool) -> Option<Self> {
        Self::parse(&format!("{}://{host}", if is_https { "https" } else { "http" })).ok()
    }

    pub(crate) fn localhost() -> Self {
        Self { is_https: false, host: "localhost".to_owned(), port: None }
    }

    /// The host without its port. An IPv6 address is in brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Whether only the machine that the server runs on can open the address.
    pub fn is_loopback(&self) -> bool {
        self.host == "localhost"
            || self.host.ends_with(".localhost")
            || ip_address(&self.host).is_some_and(|address| address.is_loopback())
    }

    /// The link that opens an invitation.
    pub fn invitation_link(&self, code: &str) -> String {
        let is_plain = code.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        format!("{self}/join/{}", if is_plain { code.to_owned() } else { encode(code) })
    }
}

impl std::fmt::Display for PublicUrl {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}://{}", if self.is_https { "https" } else { "http" }, self.host)?;
        match self.port {
            Some(port) => write!(formatter, ":{port}"),
            None => Ok(()),
        }
    }
}

impl FromStr for PublicUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::parse(text).map_err(|fault| format!("{}; {HINT}", fault.body().message))
    }
}

/// The host and the port of an authority; `None` if the port is not one.
fn split_port(authority: &str) -> Option<(&str, Option<u16>)> {
    if authority.starts_with('[') && !authority.contains(']') {
        return Some((authority, None));
    }
    let after_brackets = authority.rfind(']').map_or(0, |end| end + 1);
    match authority[after_brackets..].split_once(':') {
        None => Some((authority, None)),
        Some((before, port)) => {
            let is_number = !port.is_empty() && port.bytes().all(|digit| digit.is_ascii_digit());
            let port = port.parse().ok().filter(|port| is_number && *port != 0)?;
            Some((&authority[..after_brackets + before.len()], Some(port)))
        }
    }
}

fn ip_address(host: &str) -> Option<IpAddr> {
    match host.strip_prefix('[') {
        Some(address) => Some(IpAddr::V6(address.strip_suffix(']')?.parse().ok()?)),
        None => Some(IpAddr::V4(host.parse().ok()?)),
    }
}

fn is_host(host: &str) -> bool {
    let is_label = |label: &str| {
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        (1..=63).contains(&label.len()) && label.bytes().all(is_letter) && !label.starts_with('-')
    };
    // What looks like an IPv4 address is one: a browser reads 192.168.1 in another way than people do.
    let is_numeric = host.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    ip_address(host).is_some() || (host.len() <= 253 && !is_numeric && host.split('.').all(is_label))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_a_browser_opens() {
        for (given, shown) in [
            ("http://192.168.1.7:8081", "http://192.168.1.7:8081"),
            (" https://Table.Example/ ", "https://table.example"),
            ("HTTPS://table.example:8443", "https://table.example:8443"),
            ("http://[2001:DB8::7]:8081", "http://[2001:db8::7]:8081"),
            ("http://[2001:db8::7]", "http://[2001:db8::7]"),
            ("http://raspberry-pi", "http://raspberry-pi"),
        ] {
            assert_eq!(PublicUrl::parse(given).expect(given).to_string(), shown);
        }
        let url = PublicUrl::parse("https://table.example").expect("it is one");
        assert_eq!(url.invitation_link("skaldinvite_x_1"), "https://table.example/join/skaldinvite_x_1");
        assert_eq!(url.invitation_link("../?a"), "https://table.example/join/%2E%2E%2F%3Fa");
    }

    #[test]
    fn what_is_none_is_refused_with_a_hint() {
        for (wrong, why) in [
            ("", "does not begin with"),
            ("table.example", "does not begin with"),
            ("192.168.1.7:8081", "does not begin with"),
            ("ftp://table.example", "only http and https"),
            ("javascript://x", "only http and https"),
            ("http://", "neither a name nor"),
            ("http://:8081", "neither a name nor"),
            ("http://a b", "neither a name nor"),
            ("http://tavle.exa\u{202e}mple", "neither a name nor"),
            ("http://192.168.1", "neither a name nor"),
            ("http://[::1", "neither a name nor"),
            ("http://::1", "port"),
            ("http://[::x]", "neither a name nor"),
            ("http://[192.168.1.7]", "neither a name nor"),
            ("http://a..b", "neither a name nor"),
            ("http://table.example:0", "port"),
            ("http://table.example:65536", "port"),
            ("http://table.example:+80", "port"),
            ("http://table.example:", "port"),
            ("http://table.example/skald", "no path"),
            ("http://table.example//", "no path"),
            ("http://table.example?a=b", "no path"),
            ("http://table.example#a", "no path"),
            ("http://ana:secret@table.example", "no user name"),
            ("http://0.0.0.0:8081", "nobody can open it"),
            ("http://[::]:8081", "nobody can open it"),
        ] {
            let fault = PublicUrl::parse(wrong).expect_err(wrong);
            assert!(fault.body().message.contains(why), "{wrong}: {}", fault.body().message);
            assert_eq!(fault.code(), Code::InvalidParams);
            assert!(fault.body().hint.as_deref().is_some_and(|hint| hint.contains("http://192.168.1.7:8081")));
        }
    }

    #[test]
    fn only_this_machine_opens_loopback() {
        let is_loopback = |text: &str| PublicUrl::parse(text).expect(text).is_loopback();
        for local in
            ["http://localhost:8081", "http://LOCALHOST", "http://127.0.0.1", "http://127.8.0.1:1", "http://[::1]:8081"]
        {
            assert!(is_loopback(local), "{local}");
        }
        for open in
            ["http://localhost.example", "http://127.example.org", "http://192.168.1.7:8081", "http://[2001:db8::1]"]
        {
            assert!(!is_loopback(open), "{open}");
        }
    }
}
