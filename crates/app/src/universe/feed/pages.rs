//! Reads a universe's records from the journal page by page, and formats them for readers.

use std::sync::Arc;

use super::record_events::RecordEvents;
use skald_journal::{Journal, StoreError, StreamName};

/// How much a page is about to hold, so that a reader of long records needs no more memory than one of short ones.
const PAGE_BYTES: usize = 1_000_000;
/// Records of the first page, and of any.
const FIRST: usize = 16;
const MOST: usize = 128;

pub(super) struct Pages {
    journal: Arc<dyn Journal>,
    stream: StreamName,
    limit: usize,
}

/// Some records, and whether there were no more.
pub(super) struct Page {
    pub records: Vec<Arc<RecordEvents>>,
    pub is_last: bool,
}

impl Pages {
    pub(super) fn of(journal: Arc<dyn Journal>, stream: StreamName) -> Self {
        Self { journal, stream, limit: FIRST }
    }

    /// What stands after a revision. Each call is a read of its own: none lasts longer than a page.
    pub(super) async fn after(&mut self, revision: u64) -> Result<Page, StoreError> {
        let mut records = self.journal.read(&self.stream, revision, self.limit).await?;
        let is_end = records.len() < self.limit;
        let bytes: usize = records.iter().map(|record| record.body.len()).sum();
        let each = bytes / records.len().max(1);
        self.limit = (PAGE_BYTES / each.max(1)).clamp(1, MOST);
        // Long ones may come after short ones: what is too much is read again when its turn comes, and not held until
        // then.
        let mut held = 0;
        let fits = records.iter().take_while(|record| {
            let is_held = held < PAGE_BYTES;
            held += record.body.len();
            is_held
        });
        let fits = fits.count();
        let is_last = is_end && fits == records.len();
        records.truncate(fits);
        let records = records.iter().map(|record| Arc::new(RecordEvents::of(record)));
        Ok(Page { records: records.collect(), is_last })
    }
}
