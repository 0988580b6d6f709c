//! One connection to PostgreSQL: statements are prepared once, and every wait has a timeout.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use futures::TryStreamExt;
use skald_domain::limits;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, Row, RowStream, Statement};

use super::address::Database;
use super::database_error::StatementError;
use super::sql;

/// The timeout of every step: to connect, to run a statement, to receive the next row. Callers are promised a second
/// more, for the rest of their call.
pub(super) const DATABASE_TIMEOUT: Duration = Duration::from_secs(limits::DATABASE_WAIT_SECONDS - 1);
/// A statement that runs out of time after at least this long closes its connection. After less it was a retry that had
/// little time left, which is not the connection's fault.
const SILENCE: Duration = Duration::from_secs(2);

/// Waits for the database, with a timeout.
pub(super) async fn with_timeout<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, StatementError> {
    with_deadline(Instant::now() + limit, work).await
}

async fn with_deadline<T>(
    deadline: Instant,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, StatementError> {
    timeout_at(deadline, work).await.map_err(|_| StatementError::Late)?.map_err(StatementError::Failed)
}

/// The task that drives a connection. Dropping it closes the connection, even while statements are waiting.
pub(super) struct ConnectionTask(JoinHandle<()>);

impl ConnectionTask {
    pub(super) fn spawn(work: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(tokio::spawn(work))
    }
}

impl Drop for ConnectionTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A connection, with the statements that were prepared on it.
pub(super) struct DatabaseSession {
    client: Client,
    prepared: Mutex<HashMap<&'static str, Statement>>,
    connection: ConnectionTask,
    ended: watch::Receiver<()>,
    /// Why it was closed, if it was closed here.
    closed: OnceLock<String>,
}

pub(super) type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];
pub(super) type TypedParameters<'a> = &'a [(&'a (dyn ToSql + Sync), Type)];

impl DatabaseSession {
    pub(super) async fn open(database: &Database) -> Result<Arc<Self>, StatementError> {
        let deadline = Instant::now() + DATABASE_TIMEOUT;
        let (client, connection) = with_deadline(deadline, database.connect()).await?;
        let (alive, ended) = watch::channel(());
        let connection = ConnectionTask::spawn(async move {
            // Statements on the connection get its error.
            let _ = connection.await;
            drop(alive);
        });
        let session = Self { client, prepared: Mutex::default(), connection, ended, closed: OnceLock::new() };
        with_deadline(deadline, session.client.batch_execute(sql::SESSION_SETTINGS)).await?;
        Ok(Arc::new(session))
    }

    /// Runs a statement, which is prepared at first use. Statements of several callers share the connection without
    /// waiting for each other's answers. After the first row, each further row has the full timeout, since many rows
    /// may take longer.
    pub(super) async fn query(
        &self,
        text: &'static str,
        parameters: Parameters<'_>,
        deadline: Instant,
    ) -> Result<Vec<Row>, StatementError> {
        let begin = async {
            let statement = self.prepare(text).await?;
            self.client.query_raw(&statement, parameters.iter().copied()).await
        };
        self.collect_rows(begin, deadline).await
    }

    /// Runs a statement without preparing it, so that the database plans it for these values. The plan of a prepared
    /// statement may be one for average values.
    pub(super) async fn query_once(
        &self,
        text: &'static str,
        parameters: TypedParameters<'_>,
        deadline: Instant,
    ) -> Result<Vec<Row>, StatementError> {
        let parameters = parameters.iter().map(|(value, kind)| (*value, kind.clone()));
        self.collect_rows(self.client.query_typed_raw(text, parameters), deadline).await
    }

    async fn collect_rows(
        &self,
        begin: impl Future<Output = Result<RowStream, Error>>,
        mut deadline: Instant,
    ) -> Result<Vec<Row>, StatementError> {
        let mut stream = std::pin::pin!(self.wait_for_answer(deadline, begin).await?);
        let mut rows = Vec::new();
        while let Some(row) = self.wait_for_answer(deadline, stream.try_next()).await? {
            rows.push(row);
            deadline = Instant::now() + DATABASE_TIMEOUT;
        }
        Ok(rows)
    }

    pub(super) async fn execute(
        &self,
        text: &'static str,
        parameters: Parameters<'_>,
        deadline: Instant,
    ) -> Result<u64, StatementError> {
        let execute = async {
            let statement = self.prepare(text).await?;
            self.client.execute(&statement, parameters).await
        };
        self.wait_for_answer(deadline, execute).await
    }

    async fn prepare(&self, text: &'static str) -> Result<Statement, Error> {
        let known = self.prepared.lock().unwrap_or_else(PoisonError::into_inner).get(text).cloned();
        if let Some(statement) = known {
            return Ok(statement);
        }
        let statement = self.client.prepare(text).await?;
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner).insert(text, statement.clone());
        Ok(statement)
    }

    /// Waits for an answer. A lost connection is closed, so that all other statements on it fail at once too.
    async fn wait_for_answer<T>(
        &self,
        deadline: Instant,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, StatementError> {
        let began = Instant::now();
        let answer = with_deadline(deadline, work).await;
        if let Err(trouble) = &answer {
            let is_lost = match trouble {
                StatementError::Late => began.elapsed() >= SILENCE,
                StatementError::Failed(_) => trouble.is_connection_lost(),
            };
            if is_lost {
                // Only the first error is the reason; the others follow from it.
                let _ = self.closed.set(trouble.message());
                self.connection.0.abort();
            }
        }
        answer
    }

    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Waits until the connection has ended. Returns why.
    pub(super) async fn wait_until_ended(&self) -> &str {
        // Nothing is ever sent: this fails once the sender is dropped.
        let _ = self.ended.clone().changed().await;
        self.closed.get().map_or("the connection to the database ended", String::as_str)
    }
}
