//! Read-only SQLite connections, and polling for writes by other processes.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use skald_journal::StoreError;
use tokio::sync::{Semaphore, watch};

use super::damaged_file::Damage;
use super::open_database::DatabasePath;
use super::sql;

/// Concurrent reads; more would only compete for the same two or four cores.
const READERS: usize = 8;
/// The interval of polling for writes of other processes. inotify alone would wake too early.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

pub(super) struct ReadConnections {
    database_path: DatabasePath,
    damage: Arc<Damage>,
    idle: Mutex<Vec<Connection>>,
    permits: Semaphore,
}

impl ReadConnections {
    pub(super) fn new(database_path: DatabasePath, damage: Arc<Damage>) -> Arc<Self> {
        Arc::new(Self { database_path, damage, idle: Mutex::default(), permits: Semaphore::new(READERS) })
    }

    /// Runs a short read on a thread that may block.
    pub(super) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let _permit = self.permits.acquire().await.map_err(|error| StoreError::Unavailable(error.to_string()))?;
        let readers = Arc::clone(self);
        let read = move || {
            let idle = lock(&readers.idle).pop();
            let connection = idle.map_or_else(|| readers.database_path.connect_read_only(), Ok)?;
            let found = work(&connection)?;
            lock(&readers.idle).push(connection);
            Ok(found)
        };
        let read = tokio::task::spawn_blocking(read).await;
        read.map_err(|error| StoreError::Unavailable(error.to_string()))?
            .map_err(|error: rusqlite::Error| self.damage.record_error(&error))
    }
}

/// Detects writes of other processes.
pub(super) struct ExternalWriteWatcher {
    process: i64,
    damage: Arc<Damage>,
    writes: Mutex<ObservedWrites>,
    wakes: watch::Sender<u64>,
}

struct ObservedWrites {
    connection: Connection,
    /// SQLite's `data_version`, which changes when another connection commits, also one of this process.
    data_version: i64,
    /// The process that wrote last, and how often the writing process changed.
    writer: (i64, i64),
    /// How often other processes may have written.
    version: u64,
}

impl ExternalWriteWatcher {
    pub(super) fn new(
        database_path: &DatabasePath,
        process: i64,
        wakes: watch::Sender<u64>,
        damage: Arc<Damage>,
    ) -> rusqlite::Result<Arc<Self>> {
        let connection = database_path.connect_read_only()?;
        let writes = Mutex::new(ObservedWrites { connection, data_version: -1, writer: (0, 0), version: 0 });
        Ok(Arc::new(Self { process, damage, writes, wakes }))
    }

    /// Grows when another process has written. Our own commits leave it as it is.
    pub(super) fn data_version(&self) -> Result<u64, StoreError> {
        lock(&self.writes).update_version(self.process).map_err(|error| self.damage.record_error(&error))
    }

    /// Polls on a thread of its own, until the sender of the channel is dropped.
    pub(super) fn poll(&self, over: &Receiver<()>) {
        let mut known = None;
        while over.recv_timeout(POLL_INTERVAL) == Err(RecvTimeoutError::Timeout) {
            if self.wakes.receiver_count() == 0 {
                continue;
            }
            if let Ok(version) = self.data_version()
                && known.replace(version) != Some(version)
            {
                self.wakes.send_modify(|wakes| *wakes += 1);
            }
        }
    }
}

impl ObservedWrites {
    fn update_version(&mut self, process: i64) -> rusqlite::Result<u64> {
        let data_version =
            self.connection.prepare_cached(sql::DATA_VERSION)?.query_row([], |row| row.get::<_, i64>(0))?;
        if data_version != self.data_version {
            let writer =
                self.connection.prepare_cached(sql::WRITER)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            // If this process was the last writer both before and now, no other process wrote in between.
            if writer != self.writer || writer.0 != process {
                self.version += 1;
            }
            (self.data_version, self.writer) = (data_version, writer);
        }
        Ok(self.version)
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
