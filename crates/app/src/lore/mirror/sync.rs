//! Syncs of a linked campaign: takes the lease, connects, pulls, pushes, and stores how it went.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::remote::{RemoteAddress, RemoteFailure, RemoteFailureKind, RemoteLore};
use super::rows::{LinkFailure, MirrorLink};
use super::sync_run::{SyncFailure, SyncProgress, SyncReport, SyncRun};
use super::waiting::WaitingEntities;
use crate::{App, Code, Fault};

/// A push so soon after a pull needs no other pull before it.
const FRESH: SignedDuration = SignedDuration::from_secs(15);
/// How long a link is taken from memory before it is read again: another process may have changed it.
const LINK_CACHE: Duration = Duration::from_secs(1);

/// What a sync does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncScope {
    /// Lists everything there, finds out what is gone, and sends what waits.
    Everything,
    /// Asks for changes, and sends what waits.
    Changes,
    /// Sends what waits, and asks for changes before that if the last time is a while ago.
    Send,
    /// Like `Send`, and tries again what was refused.
    SendAgain,
}

/// Connections and links in the memory of this process.
#[derive(Default)]
pub(crate) struct MirrorMemory {
    remotes: Mutex<HashMap<String, ConnectedRemote>>,
    links: Mutex<HashMap<String, CachedLink>>,
    pub(super) waiting: Mutex<HashMap<String, WaitingEntities>>,
    /// Campaigns whose rows this process has checked.
    checked_campaigns: Mutex<HashSet<String>>,
    /// Ends the syncs that are going on in this process, by campaign.
    running: Mutex<HashMap<String, CancellationToken>>,
    /// Wakes the background task when a link changes in this process.
    pub(super) link_changed: Notify,
}

/// A connection, and where it leads.
type ConnectedRemote = (RemoteAddress, Arc<dyn RemoteLore>);
/// A link, and when it was read.
type CachedLink = (Instant, Option<Arc<MirrorLink>>);

impl MirrorMemory {
    fn is_checked(&self, campaign_id: &str) -> bool {
        self.checked_campaigns.lock().unwrap_or_else(PoisonError::into_inner).contains(campaign_id)
    }

    fn note_checked(&self, campaign_id: &str) {
        self.checked_campaigns.lock().unwrap_or_else(PoisonError::into_inner).insert(campaign_id.to_owned());
    }

    fn note_running(&self, campaign_id: &str, stop: CancellationToken) {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).insert(campaign_id.to_owned(), stop);
    }

    /// Ends the sync of a campaign that is going on in this process. It releases the lease.
    pub(super) fn stop_sync(&self, campaign_id: &str) {
        let stop = self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(campaign_id);
        if let Some(stop) = stop {
            stop.cancel();
        }
    }

    pub(super) fn forget_remote(&self, campaign_id: &str) {
        self.remotes.lock().unwrap_or_else(PoisonError::into_inner).remove(campaign_id);
    }

    /// Drops a connection whose token was refused, so that the next one reads the token anew.
    pub(super) fn forget_refused_token(&self, campaign_id: &str, failure: &RemoteFailure) {
        if failure.kind == RemoteFailureKind::BadToken {
            self.forget_remote(campaign_id);
        }
    }
}

impl App {
    /// The link of a campaign, read at most a moment ago.
    pub(in super::super) async fn mirror_link(&self, campaign_id: &str) -> Result<Option<Arc<MirrorLink>>, Fault> {
        {
            let links = self.mirrors.links.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((read_at, link)) = links.get(campaign_id)
                && read_at.elapsed() < LINK_CACHE
            {
                return Ok(link.clone());
            }
        }
        let link = self.read_link_row(campaign_id).await?.map(Arc::new);
        self.remember_link(campaign_id, link.clone());
        Ok(link)
    }

    fn remember_link(&self, campaign_id: &str, link: Option<Arc<MirrorLink>>) {
        let mut links = self.mirrors.links.lock().unwrap_or_else(PoisonError::into_inner);
        links.insert(campaign_id.to_owned(), (Instant::now(), link));
    }

    pub(super) async fn store_link(&self, campaign_id: &str, link: &MirrorLink) -> Result<(), Fault> {
        self.write_link_row(campaign_id, link).await?;
        self.remember_link(campaign_id, Some(Arc::new(link.clone())));
        Ok(())
    }

    /// The link of a campaign that is linked.
    pub(super) async fn require_link(&self, campaign_id: &str) -> Result<MirrorLink, Fault> {
        let link = self.read_link_row(campaign_id).await?.filter(|link| link.is_linked);
        link.ok_or_else(|| {
            Fault::new(Code::Rejected, "this campaign is not linked to Kanka").hint("link it first, with method link")
        })
    }

    /// The connection of a campaign. It is kept, since it knows the pace and the tags. A new one begins with the pace that
    /// the link knows.
    pub(super) fn connect_remote(
        &self,
        campaign_id: &str,
        address: &RemoteAddress,
        requests_per_minute: Option<u32>,
    ) -> Result<Arc<dyn RemoteLore>, Fault> {
        let mut remotes = self.mirrors.remotes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, remote)) = remotes.get(campaign_id)
            && known == address
        {
            return Ok(Arc::clone(remote));
        }
        let remote = self.remotes.connect(address)?;
        if let Some(requests_per_minute) = requests_per_minute {
            remote.set_requests_per_minute(requests_per_minute);
        }
        remotes.insert(campaign_id.to_owned(), (address.clone(), Arc::clone(&remote)));
        Ok(remote)
    }

    /// Syncs a linked campaign. `wait_max` is how long to wait for another process that does.
    pub async fn sync_mirror(
        &self,
        campaign_id: &str,
        scope: SyncScope,
        wait_max: Duration,
        progress: &mut SyncProgress<'_>,
    ) -> Result<SyncReport, Fault> {
        let lease = self.take_mirror_lease(campaign_id, wait_max).await?;
        self.mirrors.note_running(campaign_id, lease.stop_token());
        let link = self.require_link(campaign_id).await?;
        let remote = match self.connect_remote(campaign_id, &link.address(), Some(link.requests_per_minute)) {
            Ok(remote) => remote,
            Err(fault) => {
                let failure = RemoteFailure::new(RemoteFailureKind::BadToken, fault.body().message.clone());
                let failure = Some(LinkFailure::new(&failure, self.clock.now().to_string()));
                self.store_link(campaign_id, &MirrorLink { failure, ..link }).await?;
                return Err(fault);
            }
        };
        if !self.mirrors.is_checked(campaign_id) {
            self.check_mirror_rows(campaign_id).await?;
            self.mirrors.note_checked(campaign_id);
        }
        let mut run = SyncRun::new(self, campaign_id, remote, &lease, link);
        run.unanswered = self.created_rows(campaign_id).await?;
        let synced = Box::pin(run.sync(scope, progress)).await;
        let (link, report) = (run.link, run.report);
        let ended = self.end_sync(campaign_id, link, synced).await;
        lease.release().await;
        ended.map(|()| report)
    }

    /// Stores how a sync ended.
    async fn end_sync(
        &self,
        campaign_id: &str,
        mut link: MirrorLink,
        synced: Result<(), SyncFailure>,
    ) -> Result<(), Fault> {
        let at = self.clock.now().to_string();
        match synced {
            Ok(()) => {
                link.failure = None;
                self.store_link(campaign_id, &link).await
            }
            Err(SyncFailure::Remote(failure)) => {
                self.mirrors.forget_refused_token(campaign_id, &failure);
                link.failure = Some(LinkFailure::new(&failure, at));
                self.store_link(campaign_id, &link).await?;
                Err(remote_fault(&failure))
            }
            Err(SyncFailure::Unread(failure)) => {
                link.failure = Some(LinkFailure { is_partial: true, ..LinkFailure::new(&failure, at) });
                self.store_link(campaign_id, &link).await?;
                Err(remote_fault(&failure))
            }
            Err(SyncFailure::Fault(fault)) => {
                let failure = RemoteFailure::new(RemoteFailureKind::BrokenAnswer, fault.body().message.clone());
                link.failure = Some(LinkFailure { kind: "local".to_owned(), ..LinkFailure::new(&failure, at) });
                self.store_link(campaign_id, &link).await?;
                Err(*fault)
            }
            Err(SyncFailure::LeaseLost) => {
                let message =
                    "the sync of this campaign was taken over by another process, or ended to resolve a conflict";
                Err(Fault::new(Code::Unavailable, message).hint("ask for the status, or try again"))
            }
        }
    }
}

impl SyncRun<'_> {
    async fn sync(&mut self, scope: SyncScope, progress: &mut SyncProgress<'_>) -> Result<(), SyncFailure> {
        let is_fresh = self.is_fresh() && self.link.failure.is_none();
        let is_unanswered = self.unanswered.iter().any(|(_, row)| row.problem.is_none());
        if scope == SyncScope::Everything || !self.link.is_pulled {
            self.pull_all(progress).await?;
        } else if scope == SyncScope::Changes || !is_fresh || is_unanswered {
            self.pull_changes().await?;
        }
        self.app.store_link(self.campaign_id, &self.link).await?;
        let mut again = BTreeSet::new();
        if matches!(scope, SyncScope::SendAgain | SyncScope::Everything) {
            again.extend(self.app.open_rows(self.campaign_id).await?.into_keys());
            let created = self.app.created_rows(self.campaign_id).await?;
            again.extend(created.into_iter().map(|(entity_id, _)| entity_id));
        }
        self.push(&again).await?;
        match self.unread.take() {
            None => Ok(()),
            Some(failure) if self.has_unread_list => Err(SyncFailure::Remote(failure)),
            Some(failure) => Err(SyncFailure::Unread(failure)),
        }
    }

    /// Whether changes were asked for so lately that a push needs not ask again.
    pub(super) fn is_fresh(&self) -> bool {
        let asked_at = self.link.asked_at.as_deref().and_then(|text| text.parse::<Timestamp>().ok());
        asked_at.is_some_and(|at| self.app.clock.now().duration_since(at) < FRESH)
    }
}

/// The fault for a failure of the remote place.
pub(super) fn remote_fault(failure: &RemoteFailure) -> Fault {
    use RemoteFailureKind as Kind;
    let message = format!("Kanka: {}", failure.message);
    match failure.kind {
        Kind::BadToken => Fault::new(Code::Rejected, message)
            .hint("make a token in Kanka under Settings, API, and put it into SKALD_KANKA_TOKEN or its file"),
        Kind::Forbidden => {
            Fault::new(Code::Rejected, message).hint("the token's user needs a role in that campaign that may do this")
        }
        Kind::NotFound => Fault::new(Code::Rejected, message)
            .hint("check the number of the campaign; it is in the address of its pages"),
        Kind::Invalid => Fault::new(Code::Rejected, message).hint("change what is refused, and push again"),
        Kind::BrokenEntity => {
            Fault::new(Code::Unavailable, message).hint("open it in Kanka and save it; everything else is synced")
        }
        Kind::RateLimited
        | Kind::ServerError
        | Kind::Timeout
        | Kind::Unreachable
        | Kind::BrokenAnswer
        | Kind::Stopped => {
            Fault::new(Code::Unavailable, message).hint("reads go on here; what waits is sent when it is back")
        }
    }
}
