//! Implementations of the journal: in memory, in one SQLite file, in PostgreSQL.
//!
//! All SQL of Skald is in this crate's `sql` folder. Tests aside, only the binary depends on this crate.

mod answer_digest;
mod memory;
mod memory_search;
mod postgres;
mod private_files;
mod random_mark;
mod rebase_batch;
mod signed_number;
mod snapshots;
mod sqlite;

use std::path::Path;
use std::sync::Arc;

use skald_journal::Journal;

pub use memory::Memory;
pub use postgres::Postgres;
pub use private_files::{create_private_folder, hide_folder_from_others, replace_private_file, write_private_file};
pub use sqlite::{Sqlite, SqliteSettings};

/// The last schema version with tokens in side rows. Such a store stays at this version until they are imported as
/// events.
const TOKENS_IN_ROWS: i64 = 4;

/// The schema version that a store gets when it is opened; a new store has version 0. All missing migrations run in any
/// case, so the tables are those of the newest version. Migrations after [`TOKENS_IN_ROWS`] therefore run again after
/// the import of tokens, and must allow that.
fn version_after_opening(found: i64, known: i64) -> i64 {
    if (1..=TOKENS_IN_ROWS).contains(&found) { TOKENS_IN_ROWS } else { known }
}

/// Why a store cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("{0:?} is no store; give memory, sqlite:PATH or postgres://USER@HOST/DATABASE")]
    Unknown(String),
    #[error("{what} was written by a newer Skald: its schema has version {found}, this program knows {known}")]
    Newer { what: String, found: i64, known: i64 },
    #[error("{path} is not a file of Skald")]
    Foreign { path: String },
    #[error("{what} is damaged: {why}")]
    Damaged { what: String, why: String },
    #[error("{what} cannot be opened: {why}")]
    Failed { what: String, why: String },
    /// A later attempt with the same address may succeed.
    #[error("{what} cannot be reached: {why}")]
    Unreachable { what: String, why: String },
}

/// Whether several machines can use the store at an address.
pub fn is_shared(address: &str) -> bool {
    address.starts_with("postgres://") || address.starts_with("postgresql://")
}

/// Opens a store by its address: `memory`, `sqlite:PATH` or `postgres://…`.
pub async fn open(address: &str) -> Result<Arc<dyn Journal>, OpenError> {
    if address == "memory" {
        return Ok(Arc::new(Memory::new()));
    }
    if let Some(path) = address.strip_prefix("sqlite:") {
        return Ok(Sqlite::open(Path::new(path), SqliteSettings::default()).await?);
    }
    if is_shared(address) {
        return Ok(Postgres::open(address).await?);
    }
    Err(OpenError::Unknown(redact_password(address)))
}

/// The address of a store without its password, for people to read.
pub fn without_password(address: &str) -> String {
    let user_end = address.rfind('@').unwrap_or(0);
    let user = address[..user_end].split_once("//").map_or("", |(_, user)| user);
    let shown = if user.contains(':') { redact_password(address) } else { address.to_owned() };
    // An address may also name the password behind the database.
    match shown.split_once("password=") {
        Some((before, rest)) => format!("{before}password=…{}", rest.find('&').map_or("", |end| &rest[end..])),
        None => shown,
    }
}

/// An address without its password, for errors: an address with a mistyped scheme may still contain one.
fn redact_password(address: &str) -> String {
    let Some((before, host)) = address.rsplit_once('@') else { return address.to_owned() };
    let (scheme, user) = before.split_once("//").map_or(("", before), |(scheme, user)| (scheme, user));
    let user = user.split(':').next().unwrap_or_default();
    format!("{scheme}//{user}:…@{host}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_password() {
        for (address, shown) in [
            ("postgres://nils:hush@db/world", "postgres://nils:…@db/world"),
            ("postgres://nils:hu//sh@db/world", "postgres://nils:…@db/world"),
            ("postgres://nils@db/world?password=hush&a=b", "postgres://nils@db/world?password=…&a=b"),
            ("postgres://nils@db:5432/world", "postgres://nils@db:5432/world"),
            ("memory", "memory"),
        ] {
            assert_eq!(without_password(address), shown);
        }
    }

    #[test]
    fn a_mistyped_address_shows_no_password() {
        for address in ["postgre://nils:secret@db/world", "nils:secret@db/world", "postgres:/nils:se@cret@db/world"] {
            let shown = OpenError::Unknown(redact_password(address)).to_string();
            assert!(!shown.contains("secret") && !shown.contains("cret") && shown.contains("db/world"), "{shown}");
        }
        assert_eq!(redact_password("sqllite:world.db"), "sqllite:world.db");
    }
}
