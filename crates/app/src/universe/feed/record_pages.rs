//! Reads a universe's records from the journal page by page, and formats them for readers.

use std::sync::Arc;

use super::feed_events::RecordEvents;
use skald_journal::{Journal, StoreError, StreamName};

/// Approximate bytes of a page, so that long records need no more memory than short ones.
const PAGE_BYTES: usize = 1_000_000;
/// Records of the first page, and the maximum of any page.
const FIRST_PAGE_RECORDS: usize = 16;
const PAGE_RECORDS_MAX: usize = 128;

pub(super) struct RecordPages {
    journal: Arc<dyn Journal>,
    stream: StreamName,
    limit: usize,
}

/// Some records, and whether they are the last ones.
pub(super) struct RecordPage {
    pub records: Vec<Arc<RecordEvents>>,
    pub is_last: bool,
}

impl RecordPages {
    pub(super) fn new(journal: Arc<dyn Journal>, stream: StreamName) -> Self {
        Self { journal, stream, limit: FIRST_PAGE_RECORDS }
    }

    /// The page after a revision. Each call is a separate read of the journal, so none takes longer than a page.
    pub(super) async fn page_after(&mut self, revision: u64) -> Result<RecordPage, StoreError> {
        let mut records = self.journal.read(&self.stream, revision, self.limit).await?;
        let is_end = records.len() < self.limit;
        let bytes: usize = records.iter().map(|record| record.body.len()).sum();
        let each = bytes / records.len().max(1);
        self.limit = (PAGE_BYTES / each.max(1)).clamp(1, PAGE_RECORDS_MAX);
        // Long records may follow short ones. Records that exceed the page are dropped and read again later.
        let mut held = 0;
        let fits = records.iter().take_while(|record| {
            let is_held = held < PAGE_BYTES;
            held += record.body.len();
            is_held
        });
        let fits = fits.count();
        let is_last = is_end && fits == records.len();
        records.truncate(fits);
        let records = records.iter().map(|record| Arc::new(RecordEvents::from_record(record)));
        Ok(RecordPage { records: records.collect(), is_last })
    }
}
