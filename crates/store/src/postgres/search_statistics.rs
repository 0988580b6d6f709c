//! Refreshes the database's statistics of the search index after many rows were written. The database itself looks once a
//! minute, and until then its plan for a rare word may read the whole table.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::time::Instant;

use super::address::Database;
use super::session::{DATABASE_TIMEOUT, DatabaseSession};
use super::sql;

/// Rows between two refreshes. Fewer rows are searched fast with any plan.
const ROWS_BETWEEN: u64 = 5_000;
/// The rows between two refreshes grow by this part of what was written, so that a large import makes few.
const GROWTH_DIVISOR: u64 = 4;

pub(super) struct SearchStatistics {
    database: Database,
    /// Rows that this node wrote.
    written: AtomicU64,
    /// The number of written rows at which the next refresh begins.
    refresh_at: AtomicU64,
}

impl SearchStatistics {
    pub(super) fn new(database: Database) -> Self {
        Self { database, written: AtomicU64::new(0), refresh_at: AtomicU64::new(ROWS_BETWEEN) }
    }

    /// Counts rows that were written. If they are enough, a task refreshes the statistics.
    pub(super) fn count_written(self: &Arc<Self>, rows: usize) {
        let rows = u64::try_from(rows).unwrap_or(u64::MAX);
        let written = self.written.fetch_add(rows, Ordering::Relaxed).saturating_add(rows);
        let refresh_at = self.refresh_at.load(Ordering::Relaxed);
        if written < refresh_at {
            return;
        }
        let next = written + ROWS_BETWEEN + written / GROWTH_DIVISOR;
        if self.refresh_at.compare_exchange(refresh_at, next, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            tokio::spawn(refresh(Arc::clone(self)));
        }
    }
}

/// Takes a connection of its own, so that neither commits nor searches wait. If it fails, the database's own service
/// comes to it later.
async fn refresh(statistics: Arc<SearchStatistics>) {
    let refreshed = async {
        let session = DatabaseSession::open(&statistics.database).await?;
        session.execute(sql::ANALYZE_SEARCH_ROWS, &[], Instant::now() + DATABASE_TIMEOUT).await
    };
    if let Err(trouble) = refreshed.await {
        tracing::debug!(why = trouble.message(), "the statistics of the search index are not refreshed");
    }
}
