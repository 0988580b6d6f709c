//! Classifies errors of PostgreSQL: damage, passing failures, timeouts, lost connections.

use std::error::Error;
use std::io::{self, ErrorKind};

use skald_journal::StoreError;

use super::tls;

/// SQLSTATE codes for a damaged table and a damaged index.
const DAMAGE_CODES: [&str; 2] = ["XX001", "XX002"];
/// SQLSTATE prefixes of temporary errors: a connection failed, there are too many, the server starts or stops.
const TEMPORARY_CODES: [&str; 3] = ["08", "53", "57P"];

/// Why a statement failed.
#[derive(Debug)]
pub(super) enum StatementError {
    /// It took too long; whether it ran is unknown.
    Late,
    Failed(tokio_postgres::Error),
}

impl StatementError {
    /// Whether the connection can no longer be used.
    pub(super) fn is_connection_lost(&self) -> bool {
        match self {
            Self::Late => true,
            // An error that is not from the database leaves the connection in an unknown state; 57P means that an
            // administrator ended the session.
            Self::Failed(error) => {
                error.is_closed()
                    || error.as_db_error().is_none()
                    || error.code().is_some_and(|code| code.code().starts_with("57P"))
            }
        }
    }

    /// Whether it is worth trying again later with the same configuration: the server is down, starting, full or
    /// silent. A wrong password, a database that does not exist and a certificate that is not trusted are not.
    pub(super) fn is_temporary(&self) -> bool {
        let Self::Failed(error) = self else { return true };
        if let Some(code) = error.code() {
            return TEMPORARY_CODES.iter().any(|passing| code.code().starts_with(passing));
        }
        let Some(cause) = error.source().and_then(|cause| cause.downcast_ref::<io::Error>()) else {
            return error.is_closed();
        };
        // An answer that cannot be parsed comes from something that is no PostgreSQL.
        !tls::is_tls_error(cause) && !matches!(cause.kind(), ErrorKind::InvalidInput | ErrorKind::InvalidData)
    }

    /// The SQLSTATE class: the first two characters of the code.
    fn sqlstate_class(&self) -> &str {
        match self {
            Self::Late => "",
            Self::Failed(error) => error.code().and_then(|code| code.code().get(..2)).unwrap_or(""),
        }
    }

    /// Whether the database rejects the values, as it would on a retry.
    pub(super) fn is_refusal(&self) -> bool {
        matches!(self.sqlstate_class(), "21" | "22" | "23" | "42")
    }

    /// Whether the same statement may be sent again at once: a deadlock or a serialization failure.
    pub(super) fn is_transaction_rollback(&self) -> bool {
        self.sqlstate_class() == "40"
    }

    pub(super) fn message(&self) -> String {
        match self {
            Self::Late => "the database did not answer in time".to_owned(),
            Self::Failed(error) => error_message(error),
        }
    }

    pub(super) fn to_store_error(&self) -> StoreError {
        let words = self.message();
        match self {
            Self::Failed(error) if error.code().is_some_and(|code| DAMAGE_CODES.contains(&code.code())) => {
                StoreError::Damaged(words)
            }
            _ if self.is_refusal() => StoreError::Refused(words),
            _ => StoreError::Unavailable(words),
        }
    }
}

/// A message with the error of the database and the cause of a failed connection, which the library's own message
/// leaves out.
pub(super) fn error_message(error: &tokio_postgres::Error) -> String {
    if let Some(said) = error.as_db_error() {
        return format!("{} ({})", said.message(), said.code().code());
    }
    let Some(cause) = error.source() else { return error.to_string() };
    let hint = tls::hint(cause).map(|hint| format!("; {hint}")).unwrap_or_default();
    format!("{error}: {cause}{hint}")
}
