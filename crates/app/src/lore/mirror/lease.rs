//! The lease of a campaign's mirror: of all processes on a store, one at a time talks to the remote place.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::rows::LEASES;
use crate::{App, Clock, Code, Fault};
use skald_journal::{Journal, StoreError};

/// How long a lease lasts that nobody renews, because its holder was killed.
const LEASE_SECONDS: i64 = 15;
const RENEW_INTERVAL: Duration = Duration::from_secs(4);
const RETRY_DELAY: Duration = Duration::from_millis(50);
/// How long somebody who resolves a conflict or unlinks waits for the lease.
const LEASE_WAIT_MAX: Duration = Duration::from_secs(20);
/// How long of that a sync of the same process may go on.
const SYNC_WAIT_MAX: Duration = Duration::from_secs(5);

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct LeaseRow {
    /// Random; empty if nobody holds it.
    holder: String,
    until: Timestamp,
}

/// Held while it is not dropped, and renewed by a task of its own.
pub(super) struct MirrorLease {
    guard: DropGuard,
    /// Cancelled when the lease is lost, or when somebody in this process wants it.
    stop: CancellationToken,
    renewal: JoinHandle<()>,
}

impl MirrorLease {
    /// Whether nothing may be done under it any more: somebody else holds it, since this process could not renew it in
    /// time, or wants it.
    pub(super) fn is_lost(&self) -> bool {
        self.stop.is_cancelled()
    }

    pub(super) fn stop_token(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Gives it back, and waits until that is stored.
    pub(super) async fn release(self) {
        let Self { guard, renewal, .. } = self;
        drop(guard);
        let _ = renewal.await;
    }
}

impl App {
    /// Takes the lease for what somebody waits for. A sync of this process that goes on for long is ended for it: it may
    /// wait minutes for a place that does not answer, and what it has not done is done by the next one.
    pub(super) async fn take_mirror_lease_from_sync(&self, campaign_id: &str) -> Result<MirrorLease, Fault> {
        if let Ok(lease) = self.take_mirror_lease(campaign_id, SYNC_WAIT_MAX).await {
            return Ok(lease);
        }
        self.mirrors.stop_sync(campaign_id);
        self.take_mirror_lease(campaign_id, LEASE_WAIT_MAX.saturating_sub(SYNC_WAIT_MAX)).await
    }

    /// Takes the lease, and waits for it as long as `wait_max` while somebody else holds it.
    pub(super) async fn take_mirror_lease(&self, campaign_id: &str, wait_max: Duration) -> Result<MirrorLease, Fault> {
        let begin = tokio::time::Instant::now();
        let holder = skald_journal::hex(&self.entropy.bytes());
        let store = LeaseStore {
            journal: Arc::clone(&self.journal),
            clock: Arc::clone(&self.clock),
            campaign_id: campaign_id.to_owned(),
            holder,
        };
        loop {
            let taken = store.try_take().await.map_err(|error| self.store_fault(&error))?;
            if let Some(body) = taken {
                return Ok(store.keep(body));
            }
            if begin.elapsed() >= wait_max {
                let fault = Fault::new(Code::Unavailable, "another process is syncing this campaign");
                // Which of both it was to do it cannot know.
                return Err(fault.hint(
                    "a sync does everything that waits; a first one of a large campaign takes minutes. Ask for the status, and \
                     try again if something is left",
                ));
            }
            tokio::time::sleep(RETRY_DELAY).await;
        }
    }
}

struct LeaseStore {
    journal: Arc<dyn Journal>,
    clock: Arc<dyn Clock>,
    campaign_id: String,
    holder: String,
}

impl LeaseStore {
    fn row(&self, holder: &str) -> String {
        let until = self.clock.now() + SignedDuration::from_secs(if holder.is_empty() { 0 } else { LEASE_SECONDS });
        serde_json::to_string(&LeaseRow { holder: holder.to_owned(), until }).unwrap_or_default()
    }

    /// The row under which the lease was taken; `None` if somebody holds it.
    async fn try_take(&self) -> Result<Option<String>, StoreError> {
        let Some(stored) = self.journal.get(LEASES, &self.campaign_id).await? else {
            // Of two processes that find no row one writes last, and only its row is replaced below.
            self.journal.put(LEASES, &self.campaign_id, self.row("")).await?;
            return Ok(None);
        };
        let held = serde_json::from_str::<LeaseRow>(&stored).ok();
        if held.is_some_and(|row| !row.holder.is_empty() && row.until > self.clock.now()) {
            return Ok(None);
        }
        let taken = self.row(&self.holder);
        Ok(self.journal.replace(LEASES, &self.campaign_id, &stored, taken.clone()).await?.then_some(taken))
    }

    fn keep(self, body: String) -> MirrorLease {
        let (released, lost) = (CancellationToken::new(), CancellationToken::new());
        let stop = lost.child_token();
        let renewal = tokio::spawn(self.renew(body, released.clone(), lost));
        MirrorLease { guard: released.drop_guard(), stop, renewal }
    }

    async fn renew(self, mut body: String, released: CancellationToken, lost: CancellationToken) {
        loop {
            let is_released = tokio::select! {
                () = released.cancelled() => true,
                () = tokio::time::sleep(RENEW_INTERVAL) => false,
            };
            let next = self.row(if is_released { "" } else { &self.holder });
            match self.journal.replace(LEASES, &self.campaign_id, &body, next.clone()).await {
                Ok(true) => body = next,
                Ok(false) => lost.cancel(),
                // The store may be back before the lease ends.
                Err(error) => tracing::warn!(%error, "the lease of a mirror could not be renewed"),
            }
            if is_released || lost.is_cancelled() {
                return;
            }
        }
    }
}
