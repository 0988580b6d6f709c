//! Universe feeds of this process: one for each universe that is read, shared by all its readers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::feed_events::FeedPosition;
use super::recent_records::{Window, WindowLookup};
use super::record_pages::RecordPages;
use skald_journal::{Journal, Record, StoreError, StreamName};

/// How long a feed waits after a failure to read.
const READ_RETRY_DELAY: Duration = Duration::from_millis(500);

/// Gauge of universes with readers.
const UNIVERSES_READ_METRIC: &str = "skald_universes_read";

/// The open feeds of this process, by stream.
#[derive(Clone, Default)]
pub(crate) struct Feeds(Arc<Mutex<HashMap<StreamName, OpenFeed>>>);

struct OpenFeed {
    /// Owned by the readers; dropped with the last one.
    shared: Weak<SharedFeed>,
    wake: Arc<Notify>,
}

impl Feeds {
    /// Wakes the feed of the record's universe, whichever process wrote the record.
    pub(crate) fn wake(&self, record: &Record) {
        if let Some(open) = lock(&self.0).get(&record.stream) {
            open.wake.notify_one();
        }
    }

    /// The feed of a universe. A new one starts after the given revision.
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
        let (window, wake) = (Arc::new(Mutex::new(Window::new(revision))), Arc::<Notify>::default());
        let (beats, wakes) = watch::channel(0);
        let pages = RecordPages::new(Arc::clone(journal), stream.clone());
        let feeding = FeedTask { window: Arc::clone(&window), wake: Arc::clone(&wake), beats, heartbeat, pages };
        let task = tokio::spawn(feeding.run()).abort_handle();
        let shared = Arc::new(SharedFeed { window, wakes, task, stream: stream.clone(), feeds: self.clone() });
        metrics::gauge!(UNIVERSES_READ_METRIC).increment(1);
        open.insert(stream.clone(), OpenFeed { shared: Arc::downgrade(&shared), wake });
        shared
    }
}

/// The state that all readers of one universe share.
pub(super) struct SharedFeed {
    window: Arc<Mutex<Window>>,
    wakes: watch::Receiver<u64>,
    task: AbortHandle,
    stream: StreamName,
    feeds: Feeds,
}

impl SharedFeed {
    pub(super) fn record_after(&self, position: FeedPosition) -> WindowLookup {
        lock(&self.window).record_after(position)
    }

    /// Notifies readers of new records and of heartbeats; the number counts the heartbeats.
    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.wakes.clone()
    }
}

impl Drop for SharedFeed {
    fn drop(&mut self) {
        self.task.abort();
        metrics::gauge!(UNIVERSES_READ_METRIC).decrement(1);
        let mut open = lock(&self.feeds.0);
        // A newer feed may have replaced this one in the map.
        if open.get(&self.stream).is_some_and(|open| open.shared.strong_count() == 0) {
            open.remove(&self.stream);
        }
    }
}

/// The task that reads the journal for all readers of one universe.
struct FeedTask {
    window: Arc<Mutex<Window>>,
    wake: Arc<Notify>,
    beats: watch::Sender<u64>,
    heartbeat: Duration,
    pages: RecordPages,
}

impl FeedTask {
    async fn run(mut self) {
        let mut heart = interval_at(Instant::now() + self.heartbeat, self.heartbeat);
        heart.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            // Read before the first wait too: a record may have come since the feed's revision was read.
            if let Err(error) = self.read_new_records().await {
                tracing::warn!(%error, "a universe's commands cannot be read right now");
                tokio::time::sleep(READ_RETRY_DELAY).await;
                continue;
            }
            tokio::select! {
                () = self.wake.notified() => {}
                _ = heart.tick() => self.beats.send_modify(|beats| *beats += 1),
            }
        }
    }

    async fn read_new_records(&mut self) -> Result<(), StoreError> {
        loop {
            let end = lock(&self.window).end();
            let page = self.pages.page_after(end).await?;
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
