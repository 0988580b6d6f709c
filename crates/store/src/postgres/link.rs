//! Connections: made when they are needed, and made again when they are lost.

use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use app::journal::StoreError;
use tokio::sync::watch;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row, Statement};

use super::address::Database;
use super::{sql, tls};
use crate::OpenError;

/// How long a statement may take before its connection counts as lost.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long after a failed attempt the next one is made.
const PAUSE: Duration = Duration::from_millis(100);

/// What the database calls damage to a table and to an index.
const DAMAGE: [&str; 2] = ["XX001", "XX002"];

/// A connection, with the statements that were prepared on it.
pub(super) struct Session {
    client: Client,
    prepared: Mutex<HashMap<&'static str, Statement>>,
    ended: watch::Receiver<()>,
}

pub(super) type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

impl Session {
    pub(super) async fn open(database: &Database) -> Result<Arc<Self>, tokio_postgres::Error> {
        let (client, connection) = database.connect().await?;
        let (alive, ended) = watch::channel(());
        tokio::spawn(async move {
            // How a connection ends is told to whoever uses it.
            let _ = connection.await;
            drop(alive);
        });
        client.batch_execute(sql::SESSION).await?;
        Ok(Arc::new(Self { client, prepared: Mutex::default(), ended }))
    }

    /// Runs a statement, prepared the first time. Statements of several callers share the connection without waiting
    /// for each other's answers.
    pub(super) async fn query(&self, text: &'static str, parameters: Parameters<'_>) -> Result<Vec<Row>, Trouble> {
        let query = async {
            let statement = self.prepare(text).await?;
            self.client.query(&statement, parameters).await
        };
        tokio::time::timeout(PATIENCE, query).await.map_err(|_| Trouble::Late)?.map_err(Trouble::Failed)
    }

    pub(super) async fn execute(&self, text: &'static str, parameters: Parameters<'_>) -> Result<u64, Trouble> {
        let execute = async {
            let statement = self.prepare(text).await?;
            self.client.execute(&statement, parameters).await
        };
        tokio::time::timeout(PATIENCE, execute).await.map_err(|_| Trouble::Late)?.map_err(Trouble::Failed)
    }

    async fn prepare(&self, text: &'static str) -> Result<Statement, tokio_postgres::Error> {
        let known = self.prepared.lock().unwrap_or_else(PoisonError::into_inner).get(text).cloned();
        if let Some(statement) = known {
            return Ok(statement);
        }
        let statement = self.client.prepare(text).await?;
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner).insert(text, statement.clone());
        Ok(statement)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Waits until the connection has ended.
    pub(super) async fn ended(&self) {
        // Nothing is ever sent: it fails once the other side is gone.
        let _ = self.ended.clone().changed().await;
    }
}

/// Why a statement has no answer.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It took too long; whether it ran is unknown.
    Late,
    Failed(tokio_postgres::Error),
}

impl Trouble {
    /// Whether the connection can no longer be used.
    pub(super) fn is_loss(&self) -> bool {
        match self {
            Self::Late => true,
            // Without a word from the database nothing is known; 57P is an administrator who ends sessions.
            Self::Failed(error) => {
                error.is_closed()
                    || error.as_db_error().is_none()
                    || error.code().is_some_and(|code| code.code().starts_with("57P"))
            }
        }
    }

    /// The class of the database's complaint, its first two letters.
    fn class(&self) -> &str {
        match self {
            Self::Late => "",
            Self::Failed(error) => error.code().and_then(|code| code.code().get(..2)).unwrap_or(""),
        }
    }

    /// Whether the database objects to what was to be stored, and would again.
    pub(super) fn is_refusal(&self) -> bool {
        matches!(self.class(), "21" | "22" | "23" | "42")
    }

    /// Whether the same statement may be sent again at once: a deadlock, or a transaction that lost to another.
    pub(super) fn is_collision(&self) -> bool {
        self.class() == "40"
    }

    pub(super) fn words(&self) -> String {
        match self {
            Self::Late => "the database did not answer in time".to_owned(),
            Self::Failed(error) => explain(error),
        }
    }

    pub(super) fn explain(&self) -> StoreError {
        let words = self.words();
        match self {
            Self::Failed(error) if error.code().is_some_and(|code| DAMAGE.contains(&code.code())) => {
                StoreError::Damaged(words)
            }
            _ if self.is_refusal() => StoreError::Refused(words),
            _ => StoreError::Unavailable(words),
        }
    }
}

/// The library's own words leave out what the database said, and why it could not be reached.
pub(super) fn explain(error: &tokio_postgres::Error) -> String {
    if let Some(said) = error.as_db_error() {
        return format!("{} ({})", said.message(), said.code().code());
    }
    let Some(cause) = error.source() else { return error.to_string() };
    let hint = tls::hint(cause).map(|hint| format!("; {hint}")).unwrap_or_default();
    format!("{error}: {cause}{hint}")
}

/// A connection for reads, shared by all.
pub(super) struct Link {
    database: Database,
    session: tokio::sync::Mutex<(Option<Arc<Session>>, Option<Instant>)>,
}

impl Link {
    pub(super) fn new(database: Database) -> Self {
        Self { database, session: tokio::sync::Mutex::default() }
    }

    async fn session(&self) -> Result<Arc<Session>, StoreError> {
        let mut guard = self.session.lock().await;
        let (session, failed) = &mut *guard;
        if let Some(session) = session.as_ref().filter(|session| !session.is_closed()) {
            return Ok(Arc::clone(session));
        }
        if failed.is_some_and(|failed| failed.elapsed() < PAUSE) {
            return Err(StoreError::Unavailable("the database cannot be reached".to_owned()));
        }
        match Session::open(&self.database).await {
            Ok(opened) => {
                *session = Some(Arc::clone(&opened));
                Ok(opened)
            }
            Err(error) => {
                *failed = Some(Instant::now());
                Err(StoreError::Unavailable(explain(&error)))
            }
        }
    }

    /// A read that a lost connection cuts off is asked once more on a new one.
    pub(super) async fn query(&self, text: &'static str, parameters: Parameters<'_>) -> Result<Vec<Row>, StoreError> {
        let first = self.session().await?.query(text, parameters).await;
        match first {
            Err(trouble) if trouble.is_loss() => {
                let second = self.session().await?.query(text, parameters).await;
                second.map_err(|trouble| trouble.explain())
            }
            first => first.map_err(|trouble| trouble.explain()),
        }
    }

    pub(super) async fn execute(&self, text: &'static str, parameters: Parameters<'_>) -> Result<u64, StoreError> {
        self.session().await?.execute(text, parameters).await.map_err(|trouble| trouble.explain())
    }
}

/// Brings the schema up to date, one node at a time.
pub(super) async fn migrate(database: &Database) -> Result<(), OpenError> {
    let what = &database.name();
    let failed = |error: &tokio_postgres::Error| OpenError::Failed { what: what.to_owned(), why: explain(error) };
    let (mut client, connection) = database.connect().await.map_err(|error| failed(&error))?;
    let pump = tokio::spawn(async move { drop(connection.await) });
    let known = i64::try_from(sql::MIGRATIONS.len()).unwrap_or(i64::MAX);
    let found = run_migrations(&mut client, known).await.map_err(|error| failed(&error))?;
    drop(client);
    pump.abort();
    if found > known { Err(OpenError::Newer { what: what.to_owned(), found, known }) } else { Ok(()) }
}

/// Answers the version that was found.
async fn run_migrations(client: &mut Client, known: i64) -> Result<i64, tokio_postgres::Error> {
    let transaction = client.transaction().await?;
    transaction.batch_execute(sql::LOCK_SCHEMA).await?;
    transaction.batch_execute(sql::BEGIN_SCHEMA).await?;
    let found: i64 = transaction.query_one(sql::SCHEMA_VERSION, &[]).await?.get(0);
    for migration in sql::MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or_default()) {
        transaction.batch_execute(migration).await?;
    }
    if found < known {
        transaction.execute(sql::RAISE_SCHEMA, &[&known]).await?;
    }
    transaction.commit().await?;
    Ok(found)
}
