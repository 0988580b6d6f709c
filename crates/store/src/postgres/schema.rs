//! Migrations of the PostgreSQL schema, run by one node at a time.

use std::time::Duration;

use skald_journal::StoreError;
use tokio_postgres::Client;

use super::address::Database;
use super::database_error::StatementError;
use super::session::{ConnectionTask, DATABASE_TIMEOUT, with_timeout};
use super::sql;
use crate::{OpenError, TOKENS_IN_ROWS, version_after_opening};

/// The timeout of migrations. They scan whole tables, and the node serves nothing before they are done.
const MIGRATIONS_TIMEOUT: Duration = Duration::from_mins(10);

/// Migrates the schema, one node at a time. Returns whether it has tokens in side rows.
pub(super) async fn migrate(database: &Database) -> Result<bool, OpenError> {
    let migrated = connect_and_migrate(database, version_after_opening).await;
    let version = migrated.map_err(|trouble| database.to_open_error(&trouble))?;
    let known = known_version();
    if version > known {
        return Err(OpenError::Newer { what: database.name(), found: version, known });
    }
    Ok(version <= TOKENS_IN_ROWS)
}

/// Runs the remaining migrations after the import of tokens. Another node may have run them already.
pub(super) async fn finish_migrations(database: &Database) -> Result<(), StoreError> {
    let migrated = connect_and_migrate(database, |_, known| known).await;
    migrated.map(drop).map_err(|trouble| trouble.to_store_error())
}

fn known_version() -> i64 {
    i64::try_from(sql::MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// Migrates, and returns the schema version afterwards. `wanted` chooses it from the version found and the newest
/// version known.
async fn connect_and_migrate(database: &Database, wanted: fn(i64, i64) -> i64) -> Result<i64, StatementError> {
    let (mut client, connection) = with_timeout(DATABASE_TIMEOUT, database.connect()).await?;
    let _connection = ConnectionTask::spawn(async move { drop(connection.await) });
    run_migrations(&mut client, wanted).await
}

async fn run_migrations(client: &mut Client, wanted: fn(i64, i64) -> i64) -> Result<i64, StatementError> {
    let transaction = with_timeout(DATABASE_TIMEOUT, client.transaction()).await?;
    with_timeout(DATABASE_TIMEOUT, transaction.batch_execute(sql::LOCK_SCHEMA)).await?;
    with_timeout(DATABASE_TIMEOUT, transaction.batch_execute(sql::CREATE_SCHEMA_TABLE)).await?;
    let found: i64 = with_timeout(DATABASE_TIMEOUT, transaction.query_one(sql::SCHEMA_VERSION, &[])).await?.get(0);
    let version = wanted(found, known_version());
    let missing = sql::MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or_default());
    let migrations = async {
        for migration in missing {
            transaction.batch_execute(migration).await?;
        }
        if found < version {
            transaction.execute(sql::INSERT_SCHEMA_VERSION, &[&version]).await?;
        }
        transaction.commit().await
    };
    with_timeout(if found < known_version() { MIGRATIONS_TIMEOUT } else { DATABASE_TIMEOUT }, migrations).await?;
    Ok(version.max(found))
}
