//! The one way to write: every stream of a noun, each with its own writer, opened when it is needed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::actor::{self, Cell, failure, lock};
use super::stream_kind::RefusalOf;
use super::turn::{Reply, Request};
use super::{CommittedState, Failure, Journal, StoreError, StreamKind, StreamName, Submission};

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
    pub async fn execute(&self, stream: &StreamName, ask: Submission<K>) -> Reply<K> {
        let (reply, answer) = oneshot::channel();
        let mut request = Request { ask, reply };
        loop {
            match self.opened(stream).mailbox.try_send(request) {
                Ok(()) => break,
                Err(mpsc::error::TrySendError::Full(_)) => return Err(Failure::RateLimited),
                // The writer was about to leave; the next one is another.
                Err(mpsc::error::TrySendError::Closed(unsent)) => request = unsent,
            }
        }
        answer.await.unwrap_or_else(|_| Err(Failure::Unavailable("the stream's writer ended".to_owned())))
    }

    /// The newest committed state, also of what other processes on the same file have committed. It never waits for a
    /// write. A stream that never began is at revision 0.
    pub async fn read(&self, stream: &StreamName) -> Result<Arc<CommittedState<K>>, StoreError> {
        self.opened(stream).cell.newest().await
    }

    /// As [`Self::read`], with a failure that can be shown.
    pub async fn state(&self, stream: &StreamName) -> Result<Arc<CommittedState<K>>, Failure<RefusalOf<K>>> {
        self.read(stream).await.map_err(|error| failure(&error))
    }

    /// How many streams are open.
    pub fn open(&self) -> usize {
        lock(&self.cells).len()
    }

    pub fn journal(&self) -> &Arc<dyn Journal> {
        &self.journal
    }

    fn opened(&self, stream: &StreamName) -> Open<K> {
        let mut cells = lock(&self.cells);
        // A writer that is leaving, or that a bug has ended, is followed by another.
        if let Some(open) = cells.get(stream).filter(|open| !open.mailbox.is_closed()) {
            return open.clone();
        }
        let (mailbox, requests) = mpsc::channel(self.limits.mailbox);
        let cell = Arc::new(Cell::new(stream.clone(), Arc::clone(&self.journal)));
        let open = Open { cell: Arc::clone(&cell), mailbox };
        cells.insert(stream.clone(), open.clone());
        tokio::spawn(actor::run(cell, requests, self.limits, leave(Arc::downgrade(&self.cells))));
        open
    }
}

/// An open stream. Its writer ends once all mailboxes are gone, so it holds none itself.
struct Open<K: StreamKind> {
    cell: Arc<Cell<K>>,
    mailbox: mpsc::Sender<Request<K>>,
}

impl<K: StreamKind> Clone for Open<K> {
    fn clone(&self) -> Self {
        Self { cell: Arc::clone(&self.cell), mailbox: self.mailbox.clone() }
    }
}

type Cells<K> = Mutex<HashMap<StreamName, Open<K>>>;

/// Takes a cell out of the map, unless its place was taken by a newer one.
fn leave<K: StreamKind>(cells: Weak<Cells<K>>) -> impl Fn(&Arc<Cell<K>>) + Send + 'static {
    move |cell| {
        if let Some(cells) = cells.upgrade() {
            let mut cells = lock(&cells);
            if cells.get(&cell.stream).is_some_and(|open| Arc::ptr_eq(&open.cell, cell)) {
                cells.remove(&cell.stream);
            }
        }
    }
}
