//! Classifies errors of PostgreSQL: damage, passing failures, timeouts, lost connections.

use std::error::Error;
use std::io::{self, ErrorKind};

use skald_journal::StoreError;

use super::tls;

/// What the database calls damage to a table and to an index.
const DAMAGE: [&str; 2] = ["XX001", "XX002"];
/// How the codes of errors begin that pass: a connection failed, there are too many, the server starts or stops.
const PASSING: [&str; 3] = ["08", "53", "57P"];

/// Why a statement has no answer.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It took too long; whether it ran is unknown.
    Late,
    Failed(tokio_postgres::Error),
}

impl Trouble {
    /// Whether the connection can no longer be used.
    pub(super) fn is_loss(&self) -> bool {
        match self {
            Self::Late => true,
            // Without a word from the database nothing is known; 57P is an administrator who ends sessions.
            Self::Failed(error) => {
                error.is_closed()
                    || error.as_db_error().is_none()
                    || error.code().is_some_and(|code| code.code().starts_with("57P"))
            }
        }
    }

    /// Whether it is worth trying again later with the same configuration: the server is down, starting, full or silent. A
    /// wrong password, a database that does not exist and a certificate that is not trusted are not.
    pub(super) fn is_passing(&self) -> bool {
        let Self::Failed(error) = self else { return true };
        if let Some(code) = error.code() {
            return PASSING.iter().any(|passing| code.code().starts_with(passing));
        }
        let Some(cause) = error.source().and_then(|cause| cause.downcast_ref::<io::Error>()) else {
            return error.is_closed();
        };
        // An answer that cannot be parsed comes from something that is no PostgreSQL.
        !tls::is_refusal(cause) && !matches!(cause.kind(), ErrorKind::InvalidInput | ErrorKind::InvalidData)
    }

    /// The class of the database's complaint, its first two letters.
    fn class(&self) -> &str {
        match self {
            Self::Late => "",
            Self::Failed(error) => error.code().and_then(|code| code.code().get(..2)).unwrap_or(""),
        }
    }

    /// Whether the database objects to what was to be stored, and would again.
    pub(super) fn is_refusal(&self) -> bool {
        matches!(self.class(), "21" | "22" | "23" | "42")
    }

    /// Whether the same statement may be sent again at once: a deadlock, or a transaction that lost to another.
    pub(super) fn is_collision(&self) -> bool {
        self.class() == "40"
    }

    pub(super) fn words(&self) -> String {
        match self {
            Self::Late => "the database did not answer in time".to_owned(),
            Self::Failed(error) => explain(error),
        }
    }

    pub(super) fn explain(&self) -> StoreError {
        let words = self.words();
        match self {
            Self::Failed(error) if error.code().is_some_and(|code| DAMAGE.contains(&code.code())) => {
                StoreError::Damaged(words)
            }
            _ if self.is_refusal() => StoreError::Refused(words),
            _ => StoreError::Unavailable(words),
        }
    }
}

/// The library's own words leave out what the database said, and why it could not be reached.
pub(super) fn explain(error: &tokio_postgres::Error) -> String {
    if let Some(said) = error.as_db_error() {
        return format!("{} ({})", said.message(), said.code().code());
    }
    let Some(cause) = error.source() else { return error.to_string() };
    let hint = tls::hint(cause).map(|hint| format!("; {hint}")).unwrap_or_default();
    format!("{error}: {cause}{hint}")
}
