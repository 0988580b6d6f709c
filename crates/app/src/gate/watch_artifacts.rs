//! Watches evidence files and campaigns, and announces changes of the runs that depend on them. Watching starts with
//! the first run that is read, so that a server without a gate pays nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;
use tokio::sync::broadcast::error::RecvError;

use super::changed_resources::{self, run_changes};
use super::stream::RUNS;
use crate::campaign_lookup::{DocumentOwner, DocumentOwners};
use crate::noun_registry::CampaignEffect;
use crate::resource_changes::{Announcement, ChangeAudience};
use crate::{App, ResourceChange, limits};
use skald_journal::{Partitions, StoreError};

/// Maximum number of remembered runs whose guards read their campaign.
const RUNS_MAX: usize = 10_000;

/// Tracks what can change a guard's result from outside its run: evidence files and the campaign.
#[derive(Default)]
pub(crate) struct ArtifactWatch {
    has_runs: Notify,
    /// The runs that were read and whose guards read their campaign, by campaign, with who created each.
    asking: Mutex<HashMap<String, BTreeMap<String, Arc<str>>>>,
}

impl ArtifactWatch {
    /// Starts watching files, once the first run is read or written.
    pub(crate) fn start(&self) {
        self.has_runs.notify_one();
    }

    /// Remembers a run whose guards read its campaign.
    pub(super) fn remember_run(&self, campaign_id: &str, run_id: &str, created_by: &str) {
        let mut asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        if asking.values().map(BTreeMap::len).sum::<usize>() >= RUNS_MAX {
            asking.clear();
        }
        asking.entry(campaign_id.to_owned()).or_default().insert(run_id.to_owned(), created_by.into());
    }

    /// The resource changes of remembered runs after a change in their campaign.
    pub(crate) fn changes_by_campaign(&self, campaign_id: &str) -> Vec<CampaignEffect> {
        let asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        let runs = asking.get(campaign_id).into_iter().flatten();
        let effects = runs.flat_map(|(run_id, created_by)| {
            let effect = |change| CampaignEffect { change, created_by: Arc::clone(created_by) };
            run_changes(run_id).into_iter().map(effect)
        });
        effects.collect()
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
                Err(RecvError::Lagged(_)) => match self.announce_changed_runs().await {
                    Ok(()) => {}
                    Err(error) => tracing::warn!(%error, "changes of evidence cannot be told"),
                },
                Err(RecvError::Closed) => return,
            }
        }
    }

    async fn has_runs(&self) -> bool {
        // If the store is down, watching starts at the next access to a run.
        self.journal.documents(RUNS, Partitions::All, None, 1).await.is_ok_and(|runs| !runs.is_empty())
    }

    /// Reports the list of runs as changed, to everybody who may see one of them: which runs changed is not known.
    pub async fn announce_changed_runs(&self) -> Result<(), StoreError> {
        let (mut owners, mut after) = (BTreeSet::new(), None);
        loop {
            let place = after.as_ref().map(|(rank, id): &(i64, String)| (*rank, id.as_str()));
            let runs = self.journal.documents(RUNS, Partitions::All, place, limits::PAGE_MAX).await?;
            let is_last = runs.len() < limits::PAGE_MAX;
            owners.extend(runs.iter().map(|run| DocumentOwner::from_body(&run.body)));
            after = runs.into_iter().next_back().map(|run| (run.rank, run.id));
            if is_last {
                break;
            }
        }
        for owner in owners {
            let changes = [ResourceChange::Resource(changed_resources::RUNS.into()), ResourceChange::ResourceList];
            self.change_broadcast.publish(Announcement::new(changes, &ChangeAudience::RunReaders(owner), None));
        }
        Ok(())
    }

    async fn publish_run_changes(&self, run_id: &str) {
        match DocumentOwners::new(&*self.journal).find_owner(RUNS, run_id).await {
            Ok(Some(owner)) => {
                let audience = ChangeAudience::RunReaders(owner);
                self.change_broadcast.publish(Announcement::new(run_changes(run_id), &audience, None));
            }
            // The folder belongs to no run.
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "a change of evidence cannot be told"),
        }
    }
}
