//! Window of a feed: a bounded buffer of the latest formatted records, for readers that are not far behind.

use std::collections::VecDeque;
use std::sync::Arc;

use super::feed_events::{FeedPosition, RecordEvents};
use crate::limits;

/// Maximum bytes of a universe's window, unless its last record alone is larger. Evicted records are still in the
/// journal.
const BYTES_MAX: usize = 8_000_000;

pub(super) struct Window {
    /// One record for each revision up to `end`, without gaps.
    records: VecDeque<Arc<RecordEvents>>,
    bytes: usize,
    end: u64,
}

/// The result of a search for the record after a position.
pub(super) enum WindowLookup {
    Next(Arc<RecordEvents>),
    /// Nothing yet.
    Nothing,
    /// This many records follow, the first of which are only in the journal.
    Behind(u64),
}

impl Window {
    /// An empty window, which continues after a revision.
    pub(super) fn new(revision: u64) -> Self {
        Self { records: VecDeque::new(), bytes: 0, end: revision }
    }

    /// The revision of the last record.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Appends the next record, and evicts the oldest ones if there are too many.
    pub(super) fn push(&mut self, record: Arc<RecordEvents>) {
        self.end = record.revision;
        self.bytes += record.data_bytes();
        self.records.push_back(record);
        let is_over = |window: &Self| window.records.len() > limits::EVENTS_BEHIND_MAX || window.bytes > BYTES_MAX;
        while self.records.len() > 1 && is_over(self) {
            let oldest = self.records.pop_front();
            self.bytes -= oldest.map_or(0, |oldest| oldest.data_bytes());
        }
    }

    pub(super) fn record_after(&self, position: FeedPosition) -> WindowLookup {
        let Some(behind) = self.end.checked_sub(position.revision).filter(|behind| *behind > 0) else {
            return WindowLookup::Nothing;
        };
        let at = usize::try_from(behind).ok().and_then(|behind| self.records.len().checked_sub(behind));
        match at.and_then(|at| self.records.get(at)) {
            Some(record) => WindowLookup::Next(Arc::clone(record)),
            None => WindowLookup::Behind(behind),
        }
    }
}
