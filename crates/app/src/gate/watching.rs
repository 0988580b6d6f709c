//! Files of evidence come, go and change by themselves: whoever watches a run is told. Nobody looks before there is a
//! run, so that a server without a gate pays nothing.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;
use tokio::sync::broadcast::error::RecvError;

use super::news::{self, touched};
use super::stream::RUNS;
use crate::changes::{Happened, Whom};
use crate::places::Places;
use crate::{App, Change};
use skald_journal::Partitions;

/// Runs whose guards ask for their campaign that are remembered.
const RUNS_MAX: usize = 10_000;

/// What may change a guard's status from outside its run: files, and what happens in its campaign.
#[derive(Default)]
pub(crate) struct Watching {
    has_runs: Notify,
    /// The runs that were seen and whose guards ask for their campaign, by campaign.
    asking: Mutex<HashMap<String, BTreeSet<String>>>,
}

impl Watching {
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
    pub(crate) fn touched_by(&self, campaign_id: &str) -> Vec<Change> {
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
                    self.tell(Change::Resource(news::RUNS.into()), Whom::Everybody);
                    self.tell(Change::ResourceList, Whom::Everybody);
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
        match Places::new(&*self.journal).of(RUNS, run_id).await {
            Ok(Some(place)) => {
                let whom = Whom::InCampaign(place);
                self.telling.tell(Happened { changes: touched(run_id).into(), whom, place: None });
            }
            // A folder that belongs to no run.
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "a change of evidence cannot be told"),
        }
    }
}
