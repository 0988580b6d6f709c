//! The schema, brought up to date by the first node that comes.

use std::time::Duration;

use tokio_postgres::Client;

use super::address::Database;
use super::session::{ConnectionTask, WAIT, within};
use super::sql;
use super::trouble::Trouble;
use crate::OpenError;

/// How long migrations may take. They go through whole tables, and nobody is answered before they are done.
const MIGRATIONS_WAIT: Duration = Duration::from_mins(10);

/// Brings the schema up to date, one node at a time.
pub(super) async fn migrate(database: &Database) -> Result<(), OpenError> {
    let known = i64::try_from(sql::MIGRATIONS.len()).unwrap_or(i64::MAX);
    let found = async {
        let (mut client, connection) = within(WAIT, database.connect()).await?;
        let _connection = ConnectionTask::spawn(async move { drop(connection.await) });
        run_migrations(&mut client, known).await
    };
    let found = found.await.map_err(|trouble| database.not_opened(&trouble))?;
    if found > known { Err(OpenError::Newer { what: database.name(), found, known }) } else { Ok(()) }
}

/// Answers the version that was found.
async fn run_migrations(client: &mut Client, known: i64) -> Result<i64, Trouble> {
    let transaction = within(WAIT, client.transaction()).await?;
    within(WAIT, transaction.batch_execute(sql::LOCK_SCHEMA)).await?;
    within(WAIT, transaction.batch_execute(sql::BEGIN_SCHEMA)).await?;
    let found: i64 = within(WAIT, transaction.query_one(sql::SCHEMA_VERSION, &[])).await?.get(0);
    let missing = sql::MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or_default());
    let migrations = async {
        for migration in missing {
            transaction.batch_execute(migration).await?;
        }
        if found < known {
            transaction.execute(sql::RAISE_SCHEMA, &[&known]).await?;
        }
        transaction.commit().await
    };
    within(if found < known { MIGRATIONS_WAIT } else { WAIT }, migrations).await?;
    Ok(found)
}
