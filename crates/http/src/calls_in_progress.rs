//! Counts REST calls in progress, so that a stopping server can wait for them.

use std::time::Duration;

use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// The REST calls under way. All clones share one count.
#[derive(Clone, Default)]
pub struct Calls(TaskTracker);

impl Calls {
    pub(crate) fn begin(&self) -> TaskTrackerToken {
        self.0.token()
    }

    /// Waits for the calls under way, up to `at_most`.
    pub async fn finish(&self, at_most: Duration) {
        self.0.close();
        if tokio::time::timeout(at_most, self.0.wait()).await.is_err() {
            tracing::warn!(calls = self.0.len(), "REST calls were still under way when the time to stop had passed");
        }
    }
}
