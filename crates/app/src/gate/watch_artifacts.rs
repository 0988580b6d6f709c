//! Watches evidence files and campaigns, and announces changes of the runs that depend on them. Watching starts with
//! the first run that is read, so that a server without a gate pays nothing.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;
use tokio::sync::broadcast::error::RecvError;

use super::changed_resources::{self, run_changes};
use super::stream::RUNS;
use crate::campaign_lookup::OwnerCampaigns;
use crate::resource_changes::{Announcement, ChangeAudience};
use crate::{App, ResourceChange};
use skald_journal::Partitions;

/// Maximum number of remembered runs whose guards read their campaign.
const RUNS_MAX: usize = 10_000;

/// Tracks what can change a guard's result from outside its run: evidence files and the campaign.
#[derive(Default)]
pub(crate) struct ArtifactWatch {
    has_runs: Notify,
    /// The runs that were read and whose guards read their campaign, by campaign.
    asking: Mutex<HashMap<String, BTreeSet<String>>>,
}

impl ArtifactWatch {
    /// Starts watching files, once the first run is read or written.
    pub(crate) fn start(&self) {
        self.has_runs.notify_one();
    }

    /// Remembers a run whose guards read its campaign.
    pub(super) fn remember_run(&self, campaign_id: &str, run_id: &str) {
        let mut asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        if asking.values().map(BTreeSet::len).sum::<usize>() >= RUNS_MAX {
            asking.clear();
        }
        asking.entry(campaign_id.to_owned()).or_default().insert(run_id.to_owned());
    }

    /// The resource changes of remembered runs after a change in their campaign.
    pub(crate) fn changes_by_campaign(&self, campaign_id: &str) -> Vec<ResourceChange> {
        let asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        asking.get(campaign_id).into_iter().flatten().flat_map(|run_id| run_changes(run_id)).collect()
    }
}

impl App {
    /// Publishes changes in the folders of runs, for as long as the future is polled.
    pub(crate) async fn watch_files(&self) {
        // Start at once if the store has runs: a client may subscribe to one without reading it first.
        if !self.has_runs().await {
            self.watching.has_runs.notified().await;
        }
        let mut changes = self.files.subscribe_run_changes();
        loop {
            match changes.recv().await {
                Ok(run_id) => self.publish_run_changes(&run_id).await,
                // The missed runs are unknown, so report the list of all runs as changed.
                Err(RecvError::Lagged(_)) => {
                    self.publish_change(
                        ResourceChange::Resource(changed_resources::RUNS.into()),
                        &ChangeAudience::Everybody,
                    );
                    self.publish_change(ResourceChange::ResourceList, &ChangeAudience::Everybody);
                }
                Err(RecvError::Closed) => return,
            }
        }
    }

    async fn has_runs(&self) -> bool {
        // If the store is down, watching starts at the next access to a run.
        self.journal.documents(RUNS, Partitions::All, None, 1).await.is_ok_and(|runs| !runs.is_empty())
    }

    async fn publish_run_changes(&self, run_id: &str) {
        match OwnerCampaigns::new(&*self.journal).find_campaign(RUNS, run_id).await {
            Ok(Some(place)) => {
                let whom = ChangeAudience::InCampaign(place);
                self.change_broadcast.publish(Announcement::new(run_changes(run_id), &whom, None));
            }
            // The folder belongs to no run.
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "a change of evidence cannot be told"),
        }
    }
}
