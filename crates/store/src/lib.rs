//! Implementations of the journal: in memory, in one SQLite file, in PostgreSQL.
//!
//! All SQL of Skald is in this crate's `sql` folder. Tests aside, only the binary depends on this crate.

mod answer_digest;
mod memory;
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
pub use private_files::{create_private_folder, write_private_file};
pub use sqlite::{Sqlite, SqliteSettings};

/// The version of a schema whose stores have tokens in rows. Such a store stays at it until these are events.
const TOKENS_IN_ROWS: i64 = 4;

/// The version that a store of another one gets when it is opened; a new store has version 0. Whatever it is, all
/// migrations that it has not run are run: the tables are those of the newest version. So those after [`TOKENS_IN_ROWS`]
/// run again once tokens are events, and can.
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
    /// It is worth trying again later, with the same address.
    #[error("{what} cannot be reached: {why}")]
    Unreachable { what: String, why: String },
}

/// Whether the store at an address is one that several machines may serve.
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
    Err(OpenError::Unknown(without_password(address)))
}

/// An address as an error may show it: whoever mistypes its scheme has typed the password as well.
fn without_password(address: &str) -> String {
    let Some((before, host)) = address.rsplit_once('@') else { return address.to_owned() };
    let (scheme, user) = before.split_once("//").map_or(("", before), |(scheme, user)| (scheme, user));
    let user = user.split(':').next().unwrap_or_default();
    format!("{scheme}//{user}:…@{host}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_address_shows_no_password() {
        for address in ["postgre://nils:secret@db/world", "nils:secret@db/world", "postgres:/nils:se@cret@db/world"] {
            let shown = OpenError::Unknown(without_password(address)).to_string();
            assert!(!shown.contains("secret") && !shown.contains("cret") && shown.contains("db/world"), "{shown}");
        }
        assert_eq!(without_password("sqllite:world.db"), "sqllite:world.db");
    }
}
