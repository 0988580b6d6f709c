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

mod feed_events;
mod open_feed;
mod recent_records;
mod record_pages;
mod shared_feeds;

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use tokio::sync::watch;

pub use feed_events::{FeedEvent, FeedEvents};
pub(crate) use shared_feeds::Feeds;

use crate::{Caller, limits};
use feed_events::{FeedPosition, RecordEvents};
use recent_records::WindowLookup;
use record_pages::{RecordPage, RecordPages};
use shared_feeds::SharedFeed;

/// Gauge of readers, of all universes.
const READERS_METRIC: &str = "skald_universe_readers";
/// Counter of dropped readers.
const DROPPED_METRIC: &str = "skald_universe_readers_dropped_total";

/// One reader of a universe's commands.
pub struct Feed {
    shared: Arc<SharedFeed>,
    wakes: watch::Receiver<u64>,
    beats: u64,
    position: FeedPosition,
    /// Records that were read from the journal and not delivered yet.
    read: VecDeque<Arc<RecordEvents>>,
    pages: RecordPages,
    /// Whether the reader has caught up once; after that it is dropped if it falls far behind.
    is_live: bool,
    is_over: bool,
    campaign_id: Arc<str>,
}

/// One item of a feed.
#[derive(Debug, Clone)]
pub enum FeedItem {
    Events(FeedEvents),
    /// The reader is dropped. This is the last event.
    Dropped(FeedEvent),
    /// A heartbeat: send a keep-alive, and check whether the caller may still read.
    Beat,
}

impl Feed {
    /// Waits for the next item; `None` once the feed has ended.
    pub async fn next(&mut self) -> Option<FeedItem> {
        loop {
            if self.is_over {
                return None;
            }
            // Mark the wake-up as seen before reading, or one between the two is lost.
            let beats = *self.wakes.borrow_and_update();
            if std::mem::replace(&mut self.beats, beats) != beats {
                return Some(FeedItem::Beat);
            }
            let next = match self.read.pop_front() {
                Some(record) => self.deliver_record(&record),
                None => self.next_from_window().await.ok()?,
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
    pub fn can_read(&self, caller: &Caller) -> bool {
        caller.role_in(&self.campaign_id).is_some()
    }

    /// Ends the feed. The returned event has the reason and the position from which a reader can continue.
    pub fn end_with_reason(&mut self, reason: &str) -> FeedEvent {
        self.is_over = true;
        metrics::counter!(DROPPED_METRIC).increment(1);
        FeedEvent::new_dropped(reason, self.position)
    }

    /// Takes the next record from the window, reads a page of the journal, or waits. An error if the shared feed has
    /// ended.
    async fn next_from_window(&mut self) -> Result<Option<FeedItem>, watch::error::RecvError> {
        match self.shared.record_after(self.position) {
            WindowLookup::Next(record) => {
                self.is_live = true;
                return Ok(self.deliver_record(&record));
            }
            WindowLookup::Nothing => {
                self.is_live = true;
                self.wakes.changed().await?;
            }
            WindowLookup::Behind(records) if self.is_live && records > limits::EVENTS_BEHIND_MAX as u64 => {
                let reason = format!("{records} events behind, which is too slow");
                return Ok(Some(FeedItem::Dropped(self.end_with_reason(&reason))));
            }
            WindowLookup::Behind(_) => match self.pages.page_after(self.position.revision).await {
                Ok(RecordPage { records, .. }) => self.read = records.into(),
                Err(error) => {
                    tracing::warn!(%error, "what a reader of a universe missed cannot be read right now");
                    return Ok(Some(FeedItem::Dropped(self.end_with_reason("the journal cannot be read right now"))));
                }
            },
        }
        Ok(None)
    }

    fn deliver_record(&mut self, record: &Arc<RecordEvents>) -> Option<FeedItem> {
        let events = record.events_after(self.position.part);
        self.position = FeedPosition::after_revision(record.revision);
        self.is_over = record.is_last;
        events.map(FeedItem::Events)
    }
}

impl fmt::Debug for Feed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Feed").field("position", &self.position).finish_non_exhaustive()
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        metrics::gauge!(READERS_METRIC).decrement(1);
    }
}
