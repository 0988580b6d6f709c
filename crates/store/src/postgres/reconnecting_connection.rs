//! A connection that reconnects in the background whenever it is lost. Callers wait a moment for the new one; after
//! that, calls fail at once until there is one.

use std::sync::Arc;
use std::time::Duration;

use skald_journal::StoreError;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_postgres::Row;

use super::address::Database;
use super::database_error::StatementError;
use super::session::{DATABASE_TIMEOUT, DatabaseSession, Parameters, TypedParameters};
use super::status::Status;

/// The first and the longest pause between attempts to connect. The longest decides how soon a node is ready after its
/// database.
pub(super) const RECONNECT_PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(500));
/// How long after a loss callers wait for a new connection. After that, calls fail at once.
const RECONNECT_GRACE: Duration = Duration::from_millis(500);

/// A shared connection that is opened again when it is lost.
pub(super) struct ReconnectingConnection {
    state: watch::Receiver<ConnectionState>,
    reconnect_task: JoinHandle<()>,
}

enum ConnectionState {
    Connected(Arc<DatabaseSession>),
    /// Just lost. A new connection usually comes at once, so callers wait for it.
    Reconnecting,
    /// There is no connection, for this reason.
    Unreachable(String),
}

impl ReconnectingConnection {
    /// Connects. `number` identifies this connection within the node.
    pub(super) async fn open(database: &Database, number: usize, status: Arc<Status>) -> Result<Self, StatementError> {
        let session = DatabaseSession::open(database).await?;
        let (sender, state) = watch::channel(ConnectionState::Connected(Arc::clone(&session)));
        let reconnect_task = ReconnectTask { database: database.clone(), number, status, state: sender };
        Ok(Self { state, reconnect_task: tokio::spawn(reconnect_task.run(session)) })
    }

    /// The connection, or why there is none.
    pub(super) async fn session(&self, deadline: Instant) -> Result<Arc<DatabaseSession>, StoreError> {
        let mut state = self.state.clone();
        // The task needs a moment to notice a connection that has ended.
        let is_settled = |state: &ConnectionState| match state {
            ConnectionState::Connected(session) => !session.is_closed(),
            ConnectionState::Reconnecting => false,
            ConnectionState::Unreachable(_) => true,
        };
        match timeout_at(deadline, state.wait_for(is_settled)).await {
            Ok(Ok(state)) => match &*state {
                ConnectionState::Connected(session) => Ok(Arc::clone(session)),
                ConnectionState::Unreachable(why) => Err(StoreError::Unavailable(why.clone())),
                ConnectionState::Reconnecting => Err(StatementError::Late.to_store_error()),
            },
            Ok(Err(_)) | Err(_) => Err(StatementError::Late.to_store_error()),
        }
    }

    /// Runs a read. If the connection is lost, the read is repeated once on a new one, if there is time.
    pub(super) async fn query(&self, text: &'static str, parameters: Parameters<'_>) -> Result<Vec<Row>, StoreError> {
        self.query_within(DATABASE_TIMEOUT, text, parameters).await
    }

    /// Like [`Self::query`], with another timeout.
    pub(super) async fn query_within(
        &self,
        limit: Duration,
        text: &'static str,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, StoreError> {
        let deadline = Instant::now() + limit;
        let mut found = self.session(deadline).await?.query(text, parameters, deadline).await;
        if matches!(&found, Err(trouble @ StatementError::Failed(_)) if trouble.is_connection_lost()) {
            found = self.session(deadline).await?.query(text, parameters, deadline).await;
        }
        found.map_err(|trouble| trouble.to_store_error())
    }

    /// Like [`Self::query`], planned for these values.
    pub(super) async fn query_once(
        &self,
        text: &'static str,
        parameters: TypedParameters<'_>,
    ) -> Result<Vec<Row>, StoreError> {
        let deadline = Instant::now() + DATABASE_TIMEOUT;
        let mut found = self.session(deadline).await?.query_once(text, parameters, deadline).await;
        if matches!(&found, Err(trouble @ StatementError::Failed(_)) if trouble.is_connection_lost()) {
            found = self.session(deadline).await?.query_once(text, parameters, deadline).await;
        }
        found.map_err(|trouble| trouble.to_store_error())
    }

    pub(super) async fn execute(&self, text: &'static str, parameters: Parameters<'_>) -> Result<u64, StoreError> {
        let deadline = Instant::now() + DATABASE_TIMEOUT;
        let done = self.session(deadline).await?.execute(text, parameters, deadline).await;
        done.map_err(|trouble| trouble.to_store_error())
    }
}

impl Drop for ReconnectingConnection {
    fn drop(&mut self) {
        self.reconnect_task.abort();
    }
}

/// The task that opens a lost connection again.
struct ReconnectTask {
    database: Database,
    number: usize,
    status: Arc<Status>,
    state: watch::Sender<ConnectionState>,
}

impl ReconnectTask {
    /// Runs until it is aborted.
    async fn run(self, mut session: Arc<DatabaseSession>) {
        loop {
            let why = session.wait_until_ended().await;
            self.status.set_down(self.number, why);
            self.state.send_replace(ConnectionState::Reconnecting);
            session = self.reconnect().await;
            self.state.send_replace(ConnectionState::Connected(Arc::clone(&session)));
            self.status.set_up(self.number);
        }
    }

    /// Tries to connect until it succeeds.
    async fn reconnect(&self) -> Arc<DatabaseSession> {
        let mut attempts = std::pin::pin!(self.retry_connect());
        tokio::select! {
            biased;
            session = &mut attempts => return session,
            () = sleep(RECONNECT_GRACE) => self.set_unreachable(StatementError::Late.message()),
        }
        attempts.await
    }

    async fn retry_connect(&self) -> Arc<DatabaseSession> {
        let mut pause = RECONNECT_PAUSES.0;
        loop {
            match DatabaseSession::open(&self.database).await {
                Ok(session) => return session,
                Err(trouble) => self.set_unreachable(trouble.message()),
            }
            sleep(pause).await;
            pause = (pause * 2).min(RECONNECT_PAUSES.1);
        }
    }

    fn set_unreachable(&self, why: String) {
        tracing::debug!(why, "the database cannot be reached");
        self.status.set_down(self.number, &why);
        self.state.send_replace(ConnectionState::Unreachable(why));
    }
}
