//! The writing thread of SQLite: commits the appends of all streams together.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior, params};
use skald_journal::{Append, StoreError, StoreHealth};
use tokio::sync::{oneshot, watch};

use super::damaged_file::Damage;
use super::lock::{Lock, LockError};
use super::open_database::{DatabasePath, is_damage, is_index_damage};
use super::sql;
use super::table_queries::SqliteTables;
use crate::rebase_batch::{RebaseOutcome, rebase};

/// How long a commit waits for more jobs, and only while there are fewer than in the last one. A fixed wait would halve
/// the throughput of many writers and slow a single one.
const GATHER_WAIT: Duration = Duration::from_micros(150);
/// Rows after which a commit takes no more.
const ROWS_MAX: usize = 1_024;
/// The first and the longest pause between attempts to write again after a failure.
const RETRY_PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));
/// How long an attempt to recover waits for the lock. It is short, since queued jobs are only answered between
/// attempts.
const RECOVERY_LOCK_WAIT: Duration = Duration::from_millis(50);
/// Bytes that are written and deleted again to see whether there is room.
const PROBE_BYTES: usize = 64 << 10;

pub(super) type AnswerSender = oneshot::Sender<Result<(), StoreError>>;
pub(super) type WriteFn = Box<dyn FnMut(&Connection) -> rusqlite::Result<Result<(), StoreError>> + Send>;

/// A write that is stored atomically.
pub(super) enum WriterTask {
    Append(Append),
    Other(WriteFn),
    /// Runs after the commit of its group, since SQLite cannot do it in a transaction.
    EraseDeletedRows,
}

pub(super) struct WriterJob {
    pub(super) work: WriterTask,
    pub(super) answer: AnswerSender,
}

pub(super) struct Writer {
    database_path: DatabasePath,
    jobs: Receiver<WriterJob>,
    connection: Connection,
    lock: Lock,
    /// A random number of this process, to tell it from others that write to the file.
    process: i64,
    /// SQLite's `data_version`, which changes when another connection commits.
    data_version: Option<i64>,
    /// How many jobs the last commit held.
    last: usize,
    wakes: watch::Sender<u64>,
    health: watch::Sender<StoreHealth>,
    damage: Arc<Damage>,
}

impl Writer {
    pub(super) fn new(
        database_path: DatabasePath,
        jobs: Receiver<WriterJob>,
        process: i64,
        wakes: watch::Sender<u64>,
        health: watch::Sender<StoreHealth>,
        damage: Arc<Damage>,
    ) -> Result<Self, crate::OpenError> {
        let connection = database_path.connect().map_err(|error| database_path.to_open_error(&error))?;
        let lock = database_path.open_lock()?;
        Ok(Self { database_path, jobs, connection, lock, process, data_version: None, last: 0, wakes, health, damage })
    }

    /// Runs until all senders are dropped.
    pub(super) fn run(mut self) {
        while let Ok(first) = self.jobs.recv() {
            let group = self.gather_group(first);
            self.last = group.len();
            let is_erasing = |job: &WriterJob| matches!(job.work, WriterTask::EraseDeletedRows);
            let (erasing, group): (Vec<_>, Vec<_>) = group.into_iter().partition(is_erasing);
            if !group.is_empty() {
                self.process_group(group);
            }
            if !erasing.is_empty() {
                let erased = self.erase_deleted_rows();
                for job in erasing {
                    let _ = job.answer.send(erased.clone());
                }
            }
        }
    }

    /// A failure does not make the store unready: whoever asked for it has to ask again.
    fn erase_deleted_rows(&mut self) -> Result<(), StoreError> {
        if self.damage.is_found() {
            return Err(Damage::refusal_error());
        }
        match self.rewrite_file() {
            Ok(true) => Ok(()),
            Ok(false) => Err(StoreError::Unavailable("a read keeps the write-ahead log from being emptied".to_owned())),
            Err(error) => Err(self.damage.record_error(&error)),
        }
    }

    /// Writes the file anew without deleted rows, and empties the write-ahead log. Returns whether the log is empty.
    ///
    /// `PRAGMA secure_delete` would not be enough: merges of the search index and splits of pages left copies in free
    /// pages before the row was deleted.
    fn rewrite_file(&mut self) -> rusqlite::Result<bool> {
        let _turn = self.lock.acquire(self.database_path.settings.lock_timeout)?;
        self.connection.execute(sql::OPTIMIZE_SEARCH_WORDS, [])?;
        self.connection.execute(sql::VACUUM, [])?;
        self.connection.query_row(sql::CHECKPOINT, [], |row| row.get::<_, bool>(0)).map(|is_busy| !is_busy)
    }

    fn gather_group(&self, first: WriterJob) -> Vec<WriterJob> {
        let mut rows = row_count(&first);
        let mut group = vec![first];
        let deadline = Instant::now() + GATHER_WAIT;
        while rows < ROWS_MAX {
            let job = self.jobs.try_recv().ok().or_else(|| {
                let remaining = deadline.saturating_duration_since(Instant::now());
                if group.len() >= self.last || remaining.is_zero() {
                    None
                } else {
                    self.jobs.recv_timeout(remaining).ok()
                }
            });
            let Some(job) = job else { break };
            rows += row_count(&job);
            group.push(job);
        }
        group
    }

    fn process_group(&mut self, mut group: Vec<WriterJob>) {
        if self.damage.is_found() {
            for job in group {
                let _ = job.answer.send(Err(Damage::refusal_error()));
            }
            return;
        }
        match self.commit(&mut group) {
            Ok(outcomes) => {
                self.wakes.send_modify(|wakes| *wakes += 1);
                for (job, outcome) in group.into_iter().zip(outcomes) {
                    // The receiver is gone if the caller gave up.
                    let _ = job.answer.send(outcome);
                }
            }
            // Write the jobs one by one, so that a job that can never be stored does not fail the others.
            Err(error) if is_refusal(&error) && group.len() > 1 => {
                for job in group {
                    self.process_group(vec![job]);
                }
            }
            Err(error) => {
                let is_passing = !is_refusal(&error) && !is_damage(&error);
                if is_passing {
                    self.health.send_replace(StoreHealth::Unready(error.to_string()));
                }
                for job in group {
                    let _ = job.answer.send(Err(self.damage.record_error(&error)));
                }
                if is_passing {
                    self.recover(&error);
                }
            }
        }
    }

    /// Writes the whole group in one transaction.
    fn commit(&mut self, group: &mut [WriterJob]) -> rusqlite::Result<Vec<Result<(), StoreError>>> {
        let _turn = self.lock.acquire(self.database_path.settings.lock_timeout)?;
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        self.data_version = Some(mark_writer(&transaction, self.process, self.data_version)?);
        let mut outcomes = Vec::with_capacity(group.len());
        for job in group {
            outcomes.push(match &mut job.work {
                WriterTask::Append(append) => store_append(&transaction, append)?,
                WriterTask::Other(write) => write(&transaction)?,
                WriterTask::EraseDeletedRows => Ok(()),
            });
        }
        transaction.commit()?;
        Ok(outcomes)
    }

    /// Reconnects after a failed commit, until a write succeeds. Jobs that arrive meanwhile fail with the error.
    fn recover(&mut self, error: &rusqlite::Error) {
        tracing::error!(%error, "the journal cannot be written");
        let mut pause = RETRY_PAUSES.0;
        let mut next = Instant::now() + pause;
        let mut logged = error.to_string();
        loop {
            match self.jobs.recv_timeout(next.saturating_duration_since(Instant::now())) {
                Ok(job) => {
                    let _ = job.answer.send(Err(to_store_error(error)));
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {}
            }
            match self.reopen() {
                Ok(()) => break,
                Err(error) if is_damage(&error) => {
                    self.damage.record_error(&error);
                    return;
                }
                Err(error) => {
                    let why = error.to_string();
                    if logged != why {
                        tracing::error!(%error, "the journal still cannot be written");
                        logged.clone_from(&why);
                    }
                    self.health.send_replace(StoreHealth::Unready(why));
                }
            }
            pause = (pause * 2).min(RETRY_PAUSES.1);
            next = Instant::now() + pause;
        }
        tracing::info!("the journal can be written again");
        if !self.damage.is_found() {
            self.health.send_replace(StoreHealth::Ready);
        }
    }

    fn reopen(&mut self) -> rusqlite::Result<()> {
        self.connection = self.database_path.connect()?;
        self.data_version = None;
        let _turn = self.lock.acquire(RECOVERY_LOCK_WAIT)?;
        // On a full disk, truncating the write-ahead log may free space. If readers prevent it, the next attempt tries
        // again.
        let _ = self.connection.query_row(sql::CHECKPOINT, [], |_| Ok(()));
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute(sql::PUT_SIDE_ROW, params!["", "probe", "x".repeat(PROBE_BYTES)])?;
        transaction.execute(sql::DELETE_SIDE_ROW, params!["", "probe"])?;
        transaction.commit()
    }
}

fn row_count(job: &WriterJob) -> usize {
    match &job.work {
        WriterTask::Append(append) => append.batch.records.len(),
        WriterTask::Other(_) | WriterTask::EraseDeletedRows => 1,
    }
}

fn store_append(transaction: &Transaction<'_>, append: &mut Append) -> rusqlite::Result<Result<(), StoreError>> {
    let rows = SqliteTables(transaction);
    // The common case: no key to look up, and one statement compares and moves the head.
    if append.batch.answers.is_empty() && rows.store_batch(&append.stream, &append.batch)? {
        return Ok(Ok(()));
    }
    Ok(match rebase(&rows, append)? {
        RebaseOutcome::Store if rows.store_batch(&append.stream, &append.batch)? => Ok(()),
        RebaseOutcome::Store => Err(StoreError::Damaged(format!("the head of {} cannot be moved", append.stream))),
        RebaseOutcome::Nothing => Ok(()),
        RebaseOutcome::SendBack(error) => Err(error),
    })
}

/// Writes the number of this process to the file if another one has written since, so that readers can tell. Returns
/// SQLite's `data_version`.
fn mark_writer(transaction: &Transaction<'_>, process: i64, known: Option<i64>) -> rusqlite::Result<i64> {
    let found: i64 = transaction.pragma_query_value(None, "data_version", |row| row.get(0))?;
    if known != Some(found) {
        let last: i64 = transaction.prepare_cached(sql::WRITER)?.query_row([], |row| row.get(0))?;
        if last != process {
            transaction.execute(sql::SET_WRITER, [process])?;
        }
    }
    Ok(found)
}

/// Whether the database rejects this write, as it would on a retry: for its values, or since the search index is
/// damaged.
fn is_refusal(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::ConstraintViolation | ErrorCode::TooBig | ErrorCode::TypeMismatch)
    ) || is_index_damage(error)
}

/// Whether another program held the lock, so that nothing was written.
fn is_held(error: &rusqlite::Error) -> bool {
    let rusqlite::Error::ToSqlConversionFailure(cause) = error else { return false };
    matches!(cause.downcast_ref(), Some(LockError::Held { .. }))
}

impl From<LockError> for rusqlite::Error {
    fn from(error: LockError) -> Self {
        Self::ToSqlConversionFailure(Box::new(error))
    }
}

pub(super) fn to_store_error(error: &rusqlite::Error) -> StoreError {
    if is_held(error) {
        StoreError::Held(error.to_string())
    } else if is_index_damage(error) {
        StoreError::Damaged(format!("the search index ({error}); stop Skald, then run skald rebuild"))
    } else if is_damage(error) {
        StoreError::Damaged(error.to_string())
    } else if is_refusal(error) {
        StoreError::Refused(error.to_string())
    } else {
        StoreError::Unavailable(error.to_string())
    }
}
