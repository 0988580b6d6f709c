//! `Streams`, the only way to write: all streams of a noun, each with its own writer, opened on demand.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::decide_batch::{PendingSubmission, SubmissionReply};
use super::stream_kind::RefusalOf;
use super::stream_writer::{self, StreamCell, failure, lock};
use super::{CommittedState, Journal, JournalFailure, StoreError, StreamKind, StreamName, Submission};

/// How much one stream may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Commands that may wait for one stream.
    pub mailbox: usize,
    /// Commands of one stream in one commit, so that no stream starves another.
    pub commands_per_commit: usize,
    /// After so many records a snapshot is due.
    pub records_per_snapshot: u64,
    /// A stream that nobody used for so long is closed.
    pub idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { mailbox: 1_024, commands_per_commit: 256, records_per_snapshot: 1_000, idle: Duration::from_mins(1) }
    }
}

/// All streams of one noun. There is one of these per noun and journal: it trusts that nobody else in this process writes
/// to its streams.
pub struct Streams<K: StreamKind> {
    journal: Arc<dyn Journal>,
    limits: Limits,
    cells: Arc<Cells<K>>,
}

impl<K: StreamKind> Streams<K> {
    pub fn new(journal: Arc<dyn Journal>) -> Self {
        Self::with_limits(journal, Limits::default())
    }

    pub fn with_limits(journal: Arc<dyn Journal>, limits: Limits) -> Self {
        Self { journal, limits, cells: Arc::default() }
    }

    /// Has a command decided and stored. Once this answers, it is durable; if it is dropped before, it may be.
    pub async fn execute(&self, stream: &StreamName, ask: Submission<K>) -> SubmissionReply<K> {
        let (reply, answer) = oneshot::channel();
        let mut request = PendingSubmission { ask, reply };
        loop {
            match self.opened(stream).mailbox.try_send(request) {
                Ok(()) => break,
                Err(mpsc::error::TrySendError::Full(_)) => return Err(JournalFailure::RateLimited),
                // The writer was about to leave; the next one is another.
                Err(mpsc::error::TrySendError::Closed(unsent)) => request = unsent,
            }
        }
        answer.await.unwrap_or_else(|_| Err(JournalFailure::Unavailable("the stream's writer ended".to_owned())))
    }

    /// The newest committed state, also of what other processes on the same file have committed. It never waits for a
    /// write. A stream that never began is at revision 0.
    pub async fn read(&self, stream: &StreamName) -> Result<Arc<CommittedState<K>>, StoreError> {
        self.opened(stream).cell.newest().await
    }

    /// As [`Self::read`], with a failure that can be shown.
    pub async fn state(&self, stream: &StreamName) -> Result<Arc<CommittedState<K>>, JournalFailure<RefusalOf<K>>> {
        self.read(stream).await.map_err(|error| failure(&error))
    }

    /// How many streams are open.
    pub fn open(&self) -> usize {
        lock(&self.cells).len()
    }

    pub fn journal(&self) -> &Arc<dyn Journal> {
        &self.journal
    }

    fn opened(&self, stream: &StreamName) -> OpenStream<K> {
        let mut cells = lock(&self.cells);
        // A writer that is leaving, or that a bug has ended, is followed by another.
        if let Some(open) = cells.get(stream).filter(|open| !open.mailbox.is_closed()) {
            return open.clone();
        }
        let (mailbox, requests) = mpsc::channel(self.limits.mailbox);
        let cell = Arc::new(StreamCell::new(stream.clone(), Arc::clone(&self.journal)));
        let open = OpenStream { cell: Arc::clone(&cell), mailbox };
        cells.insert(stream.clone(), open.clone());
        tokio::spawn(stream_writer::run(cell, requests, self.limits, leave(Arc::downgrade(&self.cells))));
        open
    }
}

/// An open stream. Its writer ends once all mailboxes are gone, so it holds none itself.
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

/// Takes a cell out of the map, unless its place was taken by a newer one.
fn leave<K: StreamKind>(cells: Weak<Cells<K>>) -> impl Fn(&Arc<StreamCell<K>>) + Send + 'static {
    move |cell| {
        if let Some(cells) = cells.upgrade() {
            let mut cells = lock(&cells);
            if cells.get(&cell.stream).is_some_and(|open| Arc::ptr_eq(&open.cell, cell)) {
                cells.remove(&cell.stream);
            }
        }
    }
}
