//! Opens the SQLite file: with durable commits and the schema that this program knows, or not at all.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use super::lock::Lock;
use super::{SqliteSettings, sql};
use crate::private_files::{create_private_file, hide_from_others, open_private_file};
use crate::{OpenError, TOKENS_IN_ROWS, version_after_opening};

/// "SKLD", in the file's header.
const APPLICATION_ID: i64 = 0x534b_4c44;
/// Pages after which a commit moves the write-ahead log into the file.
const CHECKPOINT_PAGES: i64 = 4_000;
/// The size in bytes to which the log is truncated after that.
const LOG_BYTES: i64 = 64 << 20;
/// `PRAGMA synchronous` as a number.
const SYNCHRONOUS_FULL: i64 = 2;
/// How long to wait for a program that holds the file without asking for our lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The path of the file, and its settings.
#[derive(Debug, Clone)]
pub(super) struct DatabasePath {
    pub(super) path: PathBuf,
    pub(super) settings: SqliteSettings,
}

impl DatabasePath {
    /// Creates or migrates the file, and refuses files of other programs. Also returns whether the file has tokens in
    /// side rows.
    pub(super) fn prepare(path: &Path, settings: SqliteSettings) -> Result<(Self, bool), OpenError> {
        let database_path = Self { path: path.to_owned(), settings };
        let mut lock = database_path.open_lock()?;
        let _turn = lock.acquire(settings.lock_timeout).map_err(|error| database_path.failed_error(&error))?;
        database_path.create_private().map_err(|error| database_path.failed_error(&error))?;
        let has_tokens_in_rows = database_path.migrate()? <= TOKENS_IN_ROWS;
        Ok((database_path, has_tokens_in_rows))
    }

    /// Creates a new file with permissions for its owner only, which SQLite copies to its other files. SQLite itself
    /// would follow a dangling link, and create a file there that everybody can read.
    fn create_private(&self) -> std::io::Result<()> {
        match create_private_file(&self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                let leads_nowhere = !self.path.exists();
                let refused = || std::io::Error::new(error.kind(), "it is a link that leads nowhere; remove it");
                if leads_nowhere {
                    return Err(refused());
                }
                hide_from_others(&self.path);
                Ok(())
            }
            created => created.map(drop),
        }
    }

    /// A connection on which a commit is durable.
    pub(super) fn connect(&self) -> rusqlite::Result<Connection> {
        let connection = Connection::open(&self.path)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.set_prepared_statement_cache_capacity(96);
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.pragma_update(None, "synchronous", "full")?;
        connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        connection.pragma_update(None, "journal_size_limit", LOG_BYTES)?;
        if let Some(pages) = self.settings.pages_max {
            connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
        }
        let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
        let synchronous: i64 = connection.pragma_query_value(None, "synchronous", |row| row.get(0))?;
        assert!(
            mode == "wal" && synchronous == SYNCHRONOUS_FULL,
            "a commit would not be durable: {mode}, {synchronous}"
        );
        Ok(connection)
    }

    /// A connection that cannot write.
    pub(super) fn connect_read_only(&self) -> rusqlite::Result<Connection> {
        let connection = self.connect()?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(connection)
    }

    /// The lock that a writing process takes first, in a file of its own.
    pub(super) fn open_lock(&self) -> Result<Lock, OpenError> {
        let mut path = self.path.clone().into_os_string();
        path.push(".lock");
        let file = open_private_file(Path::new(&path));
        let name = Path::new(&path).file_name().unwrap_or_default().display().to_string();
        Ok(Lock::new(file.map_err(|error| self.failed_error(&error))?, name))
    }

    /// Runs missing migrations. Returns the schema version afterwards.
    fn migrate(&self) -> Result<i64, OpenError> {
        let mut connection = Connection::open(&self.path).map_err(|error| self.to_open_error(&error))?;
        connection.busy_timeout(BUSY_TIMEOUT).map_err(|error| self.to_open_error(&error))?;
        let known = known_version();
        let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let application = number("application_id").map_err(|error| self.to_open_error(&error))?;
        let found = number("user_version").map_err(|error| self.to_open_error(&error))?;
        let tables: i64 = connection
            .query_row(sql::COUNT_TABLES, [], |row| row.get(0))
            .map_err(|error| self.to_open_error(&error))?;
        if application != APPLICATION_ID && (application, found, tables) != (0, 0, 0) {
            return Err(OpenError::Foreign { path: self.name() });
        }
        if found > known {
            return Err(OpenError::Newer { what: self.name(), found, known });
        }
        let version = version_after_opening(found, known);
        let migrated = connection.transaction_with_behavior(TransactionBehavior::Immediate).and_then(|transaction| {
            run_migrations(&transaction, found, version)?;
            transaction.commit()
        });
        migrated.map_err(|error| self.to_open_error(&error))?;
        Ok(version)
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn failed_error(&self, why: &dyn std::fmt::Display) -> OpenError {
        OpenError::Failed { what: self.name(), why: why.to_string() }
    }

    pub(super) fn to_open_error(&self, error: &rusqlite::Error) -> OpenError {
        if is_damage(error) {
            OpenError::Damaged { what: self.name(), why: error.to_string() }
        } else {
            self.failed_error(error)
        }
    }
}

fn known_version() -> i64 {
    i64::try_from(sql::MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// Runs the migrations that a file of version `found` lacks, and sets its version. The caller opens the transaction.
fn run_migrations(connection: &Connection, found: i64, version: i64) -> rusqlite::Result<()> {
    for migration in sql::MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or_default()) {
        connection.execute_batch(migration)?;
    }
    if found < version {
        connection.pragma_update(None, "application_id", APPLICATION_ID)?;
        connection.pragma_update(None, "user_version", version)?;
    }
    Ok(())
}

/// Runs the remaining migrations after the import of tokens. Another process may have run them already.
pub(super) fn finish_migrations(connection: &Connection) -> rusqlite::Result<()> {
    let found = connection.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))?;
    run_migrations(connection, found, known_version())
}

pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
        && !is_index_damage(error)
}

/// Whether the entries of the search index contradict each other. The rest of the file is sound.
pub(super) fn is_index_damage(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|error| error.extended_code == rusqlite::ffi::SQLITE_CORRUPT_VTAB)
}
