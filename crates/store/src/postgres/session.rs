//! One connection to PostgreSQL: statements are prepared once, and every wait has a timeout.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use futures::TryStreamExt;
use skald_domain::limits;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row, Statement};

use super::address::Database;
use super::database_error::Trouble;
use super::sql;

/// The timeout of every step: to connect, to run a statement, to receive the next row. Callers are promised a second
/// more, for the rest of their call.
pub(super) const WAIT: Duration = Duration::from_secs(limits::DATABASE_WAIT_SECONDS - 1);
/// A statement that runs out of time after at least this long closes its connection. After less it was a retry that had
/// little time left, which is not the connection's fault.
const SILENCE: Duration = Duration::from_secs(2);

/// Waits for the database, with a timeout.
pub(super) async fn within<T>(limit: Duration, work: impl Future<Output = Result<T, Error>>) -> Result<T, Trouble> {
    until(Instant::now() + limit, work).await
}

async fn until<T>(deadline: Instant, work: impl Future<Output = Result<T, Error>>) -> Result<T, Trouble> {
    timeout_at(deadline, work).await.map_err(|_| Trouble::Late)?.map_err(Trouble::Failed)
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

impl DatabaseSession {
    pub(super) async fn open(database: &Database) -> Result<Arc<Self>, Trouble> {
        let deadline = Instant::now() + WAIT;
        let (client, connection) = until(deadline, database.connect()).await?;
        let (alive, ended) = watch::channel(());
        let connection = ConnectionTask::spawn(async move {
            // Statements on the connection get its error.
            let _ = connection.await;
            drop(alive);
        });
        let session = Self { client, prepared: Mutex::default(), connection, ended, closed: OnceLock::new() };
        until(deadline, session.client.batch_execute(sql::SESSION)).await?;
        Ok(Arc::new(session))
    }

    /// Runs a statement, which is prepared at first use. Statements of several callers share the connection without
    /// waiting for each other's answers. After the first row, each further row has the full timeout, since many rows
    /// may take longer.
    pub(super) async fn query(
        &self,
        text: &'static str,
        parameters: Parameters<'_>,
        mut deadline: Instant,
    ) -> Result<Vec<Row>, Trouble> {
        let begin = async {
            let statement = self.prepare(text).await?;
            self.client.query_raw(&statement, parameters.iter().copied()).await
        };
        let mut stream = std::pin::pin!(self.answer(deadline, begin).await?);
        let mut rows = Vec::new();
        while let Some(row) = self.answer(deadline, stream.try_next()).await? {
            rows.push(row);
            deadline = Instant::now() + WAIT;
        }
        Ok(rows)
    }

    pub(super) async fn execute(
        &self,
        text: &'static str,
        parameters: Parameters<'_>,
        deadline: Instant,
    ) -> Result<u64, Trouble> {
        let execute = async {
            let statement = self.prepare(text).await?;
            self.client.execute(&statement, parameters).await
        };
        self.answer(deadline, execute).await
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
    async fn answer<T>(&self, deadline: Instant, work: impl Future<Output = Result<T, Error>>) -> Result<T, Trouble> {
        let began = Instant::now();
        let answer = until(deadline, work).await;
        if let Err(trouble) = &answer {
            let is_lost = match trouble {
                Trouble::Late => began.elapsed() >= SILENCE,
                Trouble::Failed(_) => trouble.is_loss(),
            };
            if is_lost {
                // Only the first error is the reason; the others follow from it.
                let _ = self.closed.set(trouble.words());
                self.connection.0.abort();
            }
        }
        answer
    }

    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Waits until the connection has ended. Returns why.
    pub(super) async fn ended(&self) -> &str {
        // Nothing is ever sent: this fails once the sender is dropped.
        let _ = self.ended.clone().changed().await;
        self.closed.get().map_or("the connection to the database ended", String::as_str)
    }
}
