//! A universe's records, read page by page and told.

use std::sync::Arc;

use super::told::Told;
use crate::journal::{Journal, StoreError, StreamName};

/// How much a page is about to hold, so that a reader of long records needs no more memory than one of short ones.
const PAGE_BYTES: usize = 1_000_000;
/// Records of the first page, and of any.
const FIRST: usize = 16;
const MOST: usize = 256;

pub(super) struct Pages {
    journal: Arc<dyn Journal>,
    stream: StreamName,
    limit: usize,
}

/// Some records, and whether there were no more.
pub(super) struct Page {
    pub told: Vec<Told>,
    pub is_last: bool,
}

impl Pages {
    pub(super) fn of(journal: Arc<dyn Journal>, stream: StreamName) -> Self {
        Self { journal, stream, limit: FIRST }
    }

    /// What stands after a revision. Each call is a read of its own: none lasts longer than a page.
    pub(super) async fn after(&mut self, revision: u64) -> Result<Page, StoreError> {
        let records = self.journal.read(&self.stream, revision, self.limit).await?;
        let is_last = records.len() < self.limit;
        let bytes: usize = records.iter().map(|record| record.body.len()).sum();
        let each = bytes / records.len().max(1);
        self.limit = (PAGE_BYTES / each.max(1)).clamp(1, MOST);
        Ok(Page { told: records.iter().map(Told::by).collect(), is_last })
    }
}
