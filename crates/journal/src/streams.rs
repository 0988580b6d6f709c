//! `Streams`, the only way to write: all streams of a noun, each with its own writer, opened on demand.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::decide_batch::{PendingSubmission, SubmissionReply};
use super::stream_kind::RefusalOf;
use super::stream_writer::{self, StreamCell, lock, to_journal_failure};
use super::{CommittedState, Journal, JournalFailure, StoreError, StreamKind, StreamName, Submission};

/// Limits of one stream.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Commands that may wait for one stream.
    pub mailbox: usize,
    /// Commands of one stream in one commit, so that no stream starves another.
    pub commands_per_commit: usize,
    /// Records after which a snapshot is due.
    pub records_per_snapshot: u64,
    /// After so long without a command, a snapshot is due after `records_per_snapshot`, however large it is.
    pub pause: Duration,
    /// A stream that was not used for this long is closed.
    pub idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            mailbox: 1_024,
            commands_per_commit: 256,
            records_per_snapshot: 1_000,
            pause: Duration::from_secs(2),
            idle: Duration::from_mins(1),
        }
    }
}

/// All streams of one noun. A process must have only one of these per noun and journal, since it assumes that nothing
/// else in the process writes to its streams.
pub struct Streams<K: StreamKind> {
    journal: Arc<dyn Journal>,
    limits: Limits,
    cells: Arc<Cells<K>>,
}

/// A clone shares the open streams.
impl<K: StreamKind> Clone for Streams<K> {
    fn clone(&self) -> Self {
        Self { journal: Arc::clone(&self.journal), limits: self.limits, cells: Arc::clone(&self.cells) }
    }
}

impl<K: StreamKind> Streams<K> {
    pub fn new(journal: Arc<dyn Journal>) -> Self {
        Self::with_limits(journal, Limits::default())
    }

    pub fn with_limits(journal: Arc<dyn Journal>, limits: Limits) -> Self {
        Self { journal, limits, cells: Arc::default() }
    }

    /// Decides and stores a command. It is durable once this returns; if the future is dropped before, the command may
    /// or may not be stored.
    pub async fn execute(&self, stream: &StreamName, submission: Submission<K>) -> SubmissionReply<K> {
        let (reply, answer) = oneshot::channel();
        let mut request = PendingSubmission { submission, reply };
        loop {
            match self.open_stream(stream).mailbox.try_send(request) {
                Ok(()) => break,
                Err(mpsc::error::TrySendError::Full(_)) => return Err(JournalFailure::RateLimited),
                // The writer has just closed; the next attempt starts a new one.
                Err(mpsc::error::TrySendError::Closed(unsent)) => request = unsent,
            }
        }
        answer.await.unwrap_or_else(|_| Err(JournalFailure::Unavailable("the stream's writer ended".to_owned())))
    }

    /// The newest committed state, including commits of other processes. It never waits for a write. A stream without
    /// records is at revision 0.
    pub async fn read(&self, stream: &StreamName) -> Result<Arc<CommittedState<K>>, StoreError> {
        self.open_stream(stream).cell.newest_state().await
    }

    /// Like [`Self::read`], with the error type of commands.
    pub async fn state(&self, stream: &StreamName) -> Result<Arc<CommittedState<K>>, JournalFailure<RefusalOf<K>>> {
        self.read(stream).await.map_err(|error| to_journal_failure(&error))
    }

    /// Returns once readers of the stream see the state after a stored record: the writer publishes it a moment after the
    /// store has it. A stream that is not open is read from the store anyway.
    pub async fn wait_for_revision(&self, stream: &StreamName, revision: u64) -> Result<(), StoreError> {
        let cell = lock(&self.cells).get(stream).map(|open| Arc::clone(&open.cell));
        match cell {
            Some(cell) => cell.wait_for_revision(revision).await,
            None => Ok(()),
        }
    }

    /// How many streams are open.
    pub fn open_count(&self) -> usize {
        lock(&self.cells).len()
    }

    pub fn journal(&self) -> &Arc<dyn Journal> {
        &self.journal
    }

    fn open_stream(&self, stream: &StreamName) -> OpenStream<K> {
        let mut cells = lock(&self.cells);
        // A closed mailbox means that the writer is closing or has panicked, so start a new one.
        if let Some(open) = cells.get(stream).filter(|open| !open.mailbox.is_closed()) {
            return open.clone();
        }
        let (mailbox, requests) = mpsc::channel(self.limits.mailbox);
        let cell = Arc::new(StreamCell::new(stream.clone(), Arc::clone(&self.journal)));
        let open = OpenStream { cell: Arc::clone(&cell), mailbox };
        cells.insert(stream.clone(), open.clone());
        tokio::spawn(stream_writer::run(cell, requests, self.limits, cell_remover(Arc::downgrade(&self.cells))));
        open
    }
}

/// An open stream. Its writer ends once all senders are dropped, so the writer itself holds none.
struct OpenStream<K: StreamKind> {
    cell: Arc<StreamCell<K>>,
    mailbox: mpsc::Sender<PendingSubmission<K>>,
}

impl<K: StreamKind> Clone for OpenStream<K> {
    fn clone(&self) -> Self {
        Self { cell: Arc::clone(&self.cell), mailbox: self.mailbox.clone() }
    }
}

type Cells<K> = Mutex<HashMap<StreamName, OpenStream<K>>>;

/// Returns a function that removes a cell from the map, unless a newer one has replaced it.
fn cell_remover<K: StreamKind>(cells: Weak<Cells<K>>) -> impl Fn(&Arc<StreamCell<K>>) + Send + 'static {
    move |cell| {
        if let Some(cells) = cells.upgrade() {
            let mut cells = lock(&cells);
            if cells.get(&cell.stream).is_some_and(|open| Arc::ptr_eq(&open.cell, cell)) {
                cells.remove(&cell.stream);
            }
        }
    }
}
