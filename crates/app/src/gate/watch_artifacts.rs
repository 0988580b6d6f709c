//! Watches evidence files and campaigns, and announces changes of the runs that depend on them. Watching starts with
//! the first run that is read, so that a server without a gate pays nothing.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;
use tokio::sync::broadcast::error::RecvError;

use super::changed_resources::{self, touched};
use super::stream::RUNS;
use crate::owner_campaigns::OwnerCampaigns;
use crate::resource_changes::{Announcement, ChangeAudience};
use crate::{App, ResourceChange};
use skald_journal::Partitions;

/// Runs whose guards ask for their campaign that are remembered.
const RUNS_MAX: usize = 10_000;

/// What may change a guard's status from outside its run: files, and what happens in its campaign.
#[derive(Default)]
pub(crate) struct ArtifactWatch {
    has_runs: Notify,
    /// The runs that were seen and whose guards ask for their campaign, by campaign.
    asking: Mutex<HashMap<String, BTreeSet<String>>>,
}

impl ArtifactWatch {
    /// A run was seen.
    pub(crate) fn begin(&self) {
        self.has_runs.notify_one();
    }

    /// A run was seen whose guards ask for its campaign.
    pub(super) fn asks(&self, campaign_id: &str, run_id: &str) {
        let mut asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        if asking.values().map(BTreeSet::len).sum::<usize>() >= RUNS_MAX {
            asking.clear();
        }
        asking.entry(campaign_id.to_owned()).or_default().insert(run_id.to_owned());
    }

    /// What reads differently after something happened in a campaign.
    pub(crate) fn touched_by(&self, campaign_id: &str) -> Vec<ResourceChange> {
        let asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        asking.get(campaign_id).into_iter().flatten().flat_map(|run_id| touched(run_id)).collect()
    }
}

impl App {
    /// Tells of what happens in the folders of runs, for as long as it is polled.
    pub(crate) async fn watch_files(&self) {
        // A run from before this process may be watched by somebody who asks for nothing else.
        if !self.has_runs().await {
            self.watching.has_runs.notified().await;
        }
        let mut changes = self.files.touched();
        loop {
            match changes.recv().await {
                Ok(run_id) => self.tell_touched(&run_id).await,
                // Which runs were missed is not known, so all of them are told.
                Err(RecvError::Lagged(_)) => {
                    self.tell(ResourceChange::Resource(changed_resources::RUNS.into()), ChangeAudience::Everybody);
                    self.tell(ResourceChange::ResourceList, ChangeAudience::Everybody);
                }
                Err(RecvError::Closed) => return,
            }
        }
    }

    async fn has_runs(&self) -> bool {
        // Whoever cannot be asked now is seen when one of their runs is.
        self.journal.documents(RUNS, Partitions::All, None, 1).await.is_ok_and(|runs| !runs.is_empty())
    }

    async fn tell_touched(&self, run_id: &str) {
        match OwnerCampaigns::new(&*self.journal).of(RUNS, run_id).await {
            Ok(Some(place)) => {
                let whom = ChangeAudience::InCampaign(place);
                self.telling.tell(Announcement { changes: touched(run_id).into(), whom, place: None });
            }
            // A folder that belongs to no run.
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "a change of evidence cannot be told"),
        }
    }
}
