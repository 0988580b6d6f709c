//! The feed of a universe's commands over SSE: live, or from a reader's last position, for thousands of readers.
//!
//! A universe that is read has one feed in this process, created for its first reader and dropped with its last. The
//! follower of the journal, which sees every record whichever process wrote it, wakes the feed; the feed reads the
//! records after its last revision, once for all readers, and puts them into a [`window::Window`]. It reads by revision
//! rather than taking the records from the follower, since where several nodes write at once the follower may see two
//! records of one universe out of order.
//!
//! A reader holds nothing but its position. While that is in the window it takes events from there; where it is older,
//! it reads the journal, a page at a time. So a reader gets every record once, without gaps, from either source.

mod entry;
mod pages;
mod record_events;
mod shared;
mod window;

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use tokio::sync::watch;

pub use record_events::{FedEvent, FedEvents};
pub(crate) use shared::Feeds;

use crate::{Caller, limits};
use pages::{Page, Pages};
use record_events::{Position, RecordEvents};
use shared::SharedFeed;
use window::Found;

/// Gauge of readers, of all universes.
const READERS: &str = "skald_universe_readers";
/// Counter of dropped readers.
const DROPPED: &str = "skald_universe_readers_dropped_total";

/// One reader of a universe's commands.
pub struct Feed {
    shared: Arc<SharedFeed>,
    wakes: watch::Receiver<u64>,
    beats: u64,
    position: Position,
    /// Records that were read from the journal and not delivered yet.
    read: VecDeque<Arc<RecordEvents>>,
    pages: Pages,
    /// Whether the reader has caught up once; after that it is dropped if it falls far behind.
    is_live: bool,
    is_over: bool,
    place: Arc<str>,
}

/// One item of a feed.
#[derive(Debug, Clone)]
pub enum Fed {
    Events(FedEvents),
    /// The reader is dropped. This is the last event.
    Dropped(FedEvent),
    /// A heartbeat: send a keep-alive, and check whether the caller may still read.
    Beat,
}

impl Feed {
    /// Waits for the next item; `None` once the feed has ended.
    pub async fn next(&mut self) -> Option<Fed> {
        loop {
            if self.is_over {
                return None;
            }
            // Mark the wake-up as seen before reading, or one between the two is lost.
            let beats = *self.wakes.borrow_and_update();
            if std::mem::replace(&mut self.beats, beats) != beats {
                return Some(Fed::Beat);
            }
            let next = match self.read.pop_front() {
                Some(record) => self.take(&record),
                None => self.look().await.ok()?,
            };
            // A record may have no events left for this reader.
            if next.is_some() {
                return next;
            }
        }
    }

    /// The position from which the feed continues, as the id of an event.
    pub fn last_event_id(&self) -> String {
        self.position.to_string()
    }

    /// Whether the caller may still read.
    pub fn admits(&self, caller: &Caller) -> bool {
        caller.role_in(&self.place).is_some()
    }

    /// Ends the feed. The returned event has the reason and the position from which a reader can continue.
    pub fn give_up(&mut self, reason: &str) -> FedEvent {
        self.is_over = true;
        metrics::counter!(DROPPED).increment(1);
        FedEvent::dropped(reason, self.position)
    }

    /// Takes the next record from the window, reads a page of the journal, or waits. An error if the shared feed has
    /// ended.
    async fn look(&mut self) -> Result<Option<Fed>, watch::error::RecvError> {
        match self.shared.after(self.position) {
            Found::Next(record) => {
                self.is_live = true;
                return Ok(self.take(&record));
            }
            Found::Nothing => {
                self.is_live = true;
                self.wakes.changed().await?;
            }
            Found::Behind(records) if self.is_live && records > limits::EVENTS_BEHIND_MAX as u64 => {
                let reason = format!("{records} events behind, which is too slow");
                return Ok(Some(Fed::Dropped(self.give_up(&reason))));
            }
            Found::Behind(_) => match self.pages.after(self.position.revision).await {
                Ok(Page { records, .. }) => self.read = records.into(),
                Err(error) => {
                    tracing::warn!(%error, "what a reader of a universe missed cannot be read right now");
                    return Ok(Some(Fed::Dropped(self.give_up("the journal cannot be read right now"))));
                }
            },
        }
        Ok(None)
    }

    fn take(&mut self, record: &Arc<RecordEvents>) -> Option<Fed> {
        let events = record.beyond(self.position.part);
        self.position = Position::after(record.revision);
        self.is_over = record.is_last;
        events.map(Fed::Events)
    }
}

impl fmt::Debug for Feed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Feed").field("position", &self.position).finish_non_exhaustive()
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        metrics::gauge!(READERS).decrement(1);
    }
}
