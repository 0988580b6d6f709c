//! Universe feeds of this process: one for each universe that is read, shared by all its readers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::pages::Pages;
use super::record_events::Position;
use super::window::{Found, Window};
use skald_journal::{Journal, Record, StoreError, StreamName};

/// How long a feed waits after a failure to read.
const READ_AGAIN: Duration = Duration::from_millis(500);

/// How many universes are read.
const READ: &str = "skald_universes_read";

/// All universes that are read in this process.
#[derive(Clone, Default)]
pub(crate) struct Feeds(Arc<Mutex<HashMap<StreamName, OpenFeed>>>);

struct OpenFeed {
    /// The readers hold it; it goes with the last.
    shared: Weak<SharedFeed>,
    wake: Arc<Notify>,
}

impl Feeds {
    /// Takes note of a record, whichever process wrote it.
    pub(crate) fn hear(&self, record: &Record) {
        if let Some(open) = lock(&self.0).get(&record.stream) {
            open.wake.notify_one();
        }
    }

    /// The feed of a universe. One that is begun now begins after a revision.
    pub(super) fn open(
        &self,
        (journal, heartbeat): (&Arc<dyn Journal>, Duration),
        stream: &StreamName,
        revision: u64,
    ) -> Arc<SharedFeed> {
        let mut open = lock(&self.0);
        if let Some(shared) = open.get(stream).and_then(|open| open.shared.upgrade()) {
            return shared;
        }
        let (window, wake) = (Arc::new(Mutex::new(Window::at(revision))), Arc::<Notify>::default());
        let (beats, wakes) = watch::channel(0);
        let pages = Pages::of(Arc::clone(journal), stream.clone());
        let feeding = Feeding { window: Arc::clone(&window), wake: Arc::clone(&wake), beats, heartbeat, pages };
        let task = tokio::spawn(feeding.run()).abort_handle();
        let shared = Arc::new(SharedFeed { window, wakes, task, stream: stream.clone(), feeds: self.clone() });
        metrics::gauge!(READ).increment(1);
        open.insert(stream.clone(), OpenFeed { shared: Arc::downgrade(&shared), wake });
        shared
    }
}

/// What the readers of one universe share.
pub(super) struct SharedFeed {
    window: Arc<Mutex<Window>>,
    wakes: watch::Receiver<u64>,
    task: AbortHandle,
    stream: StreamName,
    feeds: Feeds,
}

impl SharedFeed {
    pub(super) fn after(&self, position: Position) -> Found {
        lock(&self.window).after(position)
    }

    /// Changes whenever something is told; the number counts the heartbeats.
    pub(super) fn wakes(&self) -> watch::Receiver<u64> {
        self.wakes.clone()
    }
}

impl Drop for SharedFeed {
    fn drop(&mut self) {
        self.task.abort();
        metrics::gauge!(READ).decrement(1);
        let mut open = lock(&self.feeds.0);
        // Its place may have been taken by a newer one already.
        if open.get(&self.stream).is_some_and(|open| open.shared.strong_count() == 0) {
            open.remove(&self.stream);
        }
    }
}

/// Reads for all readers of one universe.
struct Feeding {
    window: Arc<Mutex<Window>>,
    wake: Arc<Notify>,
    beats: watch::Sender<u64>,
    heartbeat: Duration,
    pages: Pages,
}

impl Feeding {
    async fn run(mut self) {
        let mut heart = interval_at(Instant::now() + self.heartbeat, self.heartbeat);
        heart.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            // Also at the very first: something may have come since whoever made it looked.
            if let Err(error) = self.read().await {
                tracing::warn!(%error, "a universe's commands cannot be read right now");
                tokio::time::sleep(READ_AGAIN).await;
                continue;
            }
            tokio::select! {
                () = self.wake.notified() => {}
                _ = heart.tick() => self.beats.send_modify(|beats| *beats += 1),
            }
        }
    }

    async fn read(&mut self) -> Result<(), StoreError> {
        loop {
            let end = lock(&self.window).end();
            let page = self.pages.after(end).await?;
            if !page.records.is_empty() {
                let mut window = lock(&self.window);
                page.records.into_iter().for_each(|record| window.push(record));
                drop(window);
                self.beats.send_modify(|_| ());
            }
            if page.is_last {
                return Ok(());
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
