//! Migrations of the PostgreSQL schema, run by one node at a time.

use std::time::Duration;

use skald_journal::StoreError;
use tokio_postgres::Client;

use super::address::Database;
use super::database_error::Trouble;
use super::session::{ConnectionTask, WAIT, within};
use super::sql;
use crate::{OpenError, TOKENS_IN_ROWS, version_after_opening};

/// The timeout of migrations. They scan whole tables, and the node serves nothing before they are done.
const MIGRATIONS_WAIT: Duration = Duration::from_mins(10);

/// Migrates the schema, one node at a time. Returns whether it has tokens in side rows.
pub(super) async fn migrate(database: &Database) -> Result<bool, OpenError> {
    let migrated = connect_and_migrate(database, version_after_opening).await;
    let version = migrated.map_err(|trouble| database.not_opened(&trouble))?;
    let known = known_version();
    if version > known {
        return Err(OpenError::Newer { what: database.name(), found: version, known });
    }
    Ok(version <= TOKENS_IN_ROWS)
}

/// Runs the remaining migrations after the import of tokens. Another node may have run them already.
pub(super) async fn finish_migrations(database: &Database) -> Result<(), StoreError> {
    let migrated = connect_and_migrate(database, |_, known| known).await;
    migrated.map(drop).map_err(|trouble| trouble.explain())
}

fn known_version() -> i64 {
    i64::try_from(sql::MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// Migrates, and returns the schema version afterwards. `wanted` chooses it from the version found and the newest
/// version known.
async fn connect_and_migrate(database: &Database, wanted: fn(i64, i64) -> i64) -> Result<i64, Trouble> {
    let (mut client, connection) = within(WAIT, database.connect()).await?;
    let _connection = ConnectionTask::spawn(async move { drop(connection.await) });
    run_migrations(&mut client, wanted).await
}

async fn run_migrations(client: &mut Client, wanted: fn(i64, i64) -> i64) -> Result<i64, Trouble> {
    let transaction = within(WAIT, client.transaction()).await?;
    within(WAIT, transaction.batch_execute(sql::LOCK_SCHEMA)).await?;
    within(WAIT, transaction.batch_execute(sql::BEGIN_SCHEMA)).await?;
    let found: i64 = within(WAIT, transaction.query_one(sql::SCHEMA_VERSION, &[])).await?.get(0);
    let version = wanted(found, known_version());
    let missing = sql::MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or_default());
    let migrations = async {
        for migration in missing {
            transaction.batch_execute(migration).await?;
        }
        if found < version {
            transaction.execute(sql::RAISE_SCHEMA, &[&version]).await?;
        }
        transaction.commit().await
    };
    within(if found < known_version() { MIGRATIONS_WAIT } else { WAIT }, migrations).await?;
    Ok(version.max(found))
}
