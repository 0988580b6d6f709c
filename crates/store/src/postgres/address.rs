//! Parses the address of a PostgreSQL database as other clients take it, and connects, with TLS by its `sslmode`.

use std::path::PathBuf;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio_postgres::config::{SslMode, SslNegotiation};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::database_error::{StatementError, error_message};
use super::session::DATABASE_TIMEOUT;
use super::tls::{self, Trust};
use crate::OpenError;

/// The supported values of `sslmode`. `allow` is left out, since it encrypts only if the server insists.
const MODES: [&str; 5] = ["disable", "prefer", "require", "verify-ca", "verify-full"];

/// The configuration of connections to a database.
#[derive(Clone)]
pub(super) struct Database {
    config: Config,
    tls: MakeRustlsConnect,
}

type TlsStream = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;

impl Database {
    pub(super) fn from_address(address: &str) -> Result<Self, OpenError> {
        let failed = |why: String| OpenError::Failed { what: "the database".to_owned(), why };
        let (address, options) = AddressOptions::extract_from(address);
        let (mode, trust) = options.resolve().map_err(failed)?;
        let mut config: Config = address.parse().map_err(|error| failed(error_message(&error)))?;
        config.ssl_mode(mode).keepalives_idle(Duration::from_secs(10));
        if config.get_application_name().is_none() {
            config.application_name("skald");
        }
        if config.get_connect_timeout().is_none() {
            // Share the timeout, so that a host that never answers leaves time for the other hosts, or for its own
            // second address.
            let hosts = config.get_hosts().len().max(config.get_hostaddrs().len());
            config.connect_timeout(DATABASE_TIMEOUT / u32::try_from(hosts + 1).unwrap_or(u32::MAX));
        }
        let is_direct = config.get_ssl_negotiation() == SslNegotiation::Direct;
        let tls = tls::client_config(&trust, is_direct).map_err(failed)?;
        Ok(Self { config, tls: MakeRustlsConnect::new(tls) })
    }

    /// The name in messages. The address is not shown, since it may contain a password.
    pub(super) fn name(&self) -> String {
        format!("the database {:?}", self.config.get_dbname().unwrap_or_default())
    }

    /// The error for a database that could not be opened.
    pub(super) fn to_open_error(&self, trouble: &StatementError) -> OpenError {
        let (what, why) = (self.name(), trouble.message());
        if trouble.is_temporary() { OpenError::Unreachable { what, why } } else { OpenError::Failed { what, why } }
    }

    pub(super) async fn connect(&self) -> Result<(Client, Connection<Socket, TlsStream>), tokio_postgres::Error> {
        self.config.connect(self.tls.clone()).await
    }
}

/// The TLS parameters of an address that the library does not parse.
#[derive(Debug, Default, PartialEq, Eq)]
struct AddressOptions {
    mode: Option<String>,
    root: Option<String>,
}

impl AddressOptions {
    /// Returns the address without these parameters, and their values.
    fn extract_from(address: &str) -> (String, Self) {
        let mut options = Self::default();
        let Some((location, query)) = address.split_once('?') else { return (address.to_owned(), options) };
        let rest: Vec<&str> = query
            .split('&')
            .filter(|parameter| {
                let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
                let field = match name {
                    "sslmode" => &mut options.mode,
                    "sslrootcert" => &mut options.root,
                    _ => return true,
                };
                *field = Some(percent_decode_str(value).decode_utf8_lossy().into_owned());
                false
            })
            .collect();
        let address = if rest.is_empty() { location.to_owned() } else { format!("{location}?{}", rest.join("&")) };
        (address, options)
    }

    /// The TLS mode and the trusted certificates, or why the parameters are refused.
    fn resolve(&self) -> Result<(SslMode, Trust), String> {
        let root = self.root.as_deref();
        let file = root.filter(|root| *root != "system").map(PathBuf::from);
        // As in other clients: with the system's authorities, the name is verified by default.
        let default = if root == Some("system") { "verify-full" } else { "prefer" };
        let mode = self.mode.as_deref().unwrap_or(default);
        match (mode, root, file) {
            ("disable", None, _) => Ok((SslMode::Disable, Trust::Anybody)),
            ("prefer", None, _) => Ok((SslMode::Prefer, Trust::Anybody)),
            ("require", None, _) => Ok((SslMode::Require, Trust::Anybody)),
            ("require" | "verify-ca", _, Some(file)) => Ok((SslMode::Require, Trust::Authority(file))),
            ("verify-full", _, Some(file)) => Ok((SslMode::Require, Trust::AuthorityAndName(Some(file)))),
            ("verify-full", _, None) => Ok((SslMode::Require, Trust::AuthorityAndName(None))),
            ("disable" | "prefer", Some(_), _) => Err(format!(
                "sslrootcert is given, but sslmode={mode} looks at no certificate; use sslmode=verify-full"
            )),
            ("require" | "verify-ca", _, None) => Err(format!(
                "sslmode={mode} needs sslrootcert=FILE; to trust the authorities of this system, use sslmode=verify-full"
            )),
            _ => Err(format!("sslmode={mode:?} is unknown; use one of {}", MODES.join(", "))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve_query(query: &str) -> Result<(SslMode, Trust), String> {
        AddressOptions::extract_from(&format!("postgres://skald@db.example/world?{query}")).1.resolve()
    }

    #[test]
    fn modes_mean_what_they_mean_elsewhere() {
        let file = || PathBuf::from("/etc/my roots.pem");
        for (query, mode, trust) in [
            ("", SslMode::Prefer, Trust::Anybody),
            ("sslmode=disable", SslMode::Disable, Trust::Anybody),
            ("sslmode=prefer&application_name=x", SslMode::Prefer, Trust::Anybody),
            ("sslmode=require", SslMode::Require, Trust::Anybody),
            ("sslmode=require&sslrootcert=/etc/my%20roots.pem", SslMode::Require, Trust::Authority(file())),
            ("sslmode=verify-ca&sslrootcert=/etc/my%20roots.pem", SslMode::Require, Trust::Authority(file())),
            ("sslmode=verify-full", SslMode::Require, Trust::AuthorityAndName(None)),
            ("sslrootcert=system", SslMode::Require, Trust::AuthorityAndName(None)),
            (
                "sslrootcert=%2Fetc%2Fmy%20roots.pem&sslmode=verify-full",
                SslMode::Require,
                Trust::AuthorityAndName(Some(file())),
            ),
        ] {
            assert_eq!(resolve_query(query), Ok((mode, trust)), "{query}");
        }
    }

    #[test]
    fn what_is_not_clear_is_refused() {
        for (query, words) in [
            ("sslmode=allow", "\"allow\" is unknown; use one of disable, prefer, require, verify-ca, verify-full"),
            ("sslmode=", "\"\" is unknown"),
            ("sslrootcert=/etc/roots.pem", "sslmode=prefer looks at no certificate"),
            ("sslmode=disable&sslrootcert=system", "sslmode=disable looks at no certificate"),
            ("sslmode=verify-ca", "needs sslrootcert=FILE"),
            ("sslmode=verify-ca&sslrootcert=system", "needs sslrootcert=FILE"),
        ] {
            let refused = resolve_query(query).unwrap_err();
            assert!(refused.contains(words), "{query}: {refused}");
        }
    }

    #[test]
    fn the_rest_of_an_address_is_left_alone() {
        let address = "postgres://skald:p%26w@db.example:5433,other.example/world";
        let (rest, options) =
            AddressOptions::extract_from(&format!("{address}?sslmode=require&options=-csearch_path%3Dx&a=b"));
        assert_eq!(rest, format!("{address}?options=-csearch_path%3Dx&a=b"));
        assert_eq!(options.mode.as_deref(), Some("require"));
        assert_eq!(AddressOptions::extract_from(&format!("{address}?sslmode=require")).0, address);
        assert_eq!(AddressOptions::extract_from(address), (address.to_owned(), AddressOptions::default()));
    }
}
