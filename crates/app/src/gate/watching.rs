//! Files of evidence come, go and change by themselves: whoever watches a run is told. Nobody looks before there is a
//! run, so that a server without a gate pays nothing.

use tokio::sync::Notify;
use tokio::sync::broadcast::error::RecvError;

use super::news::touched;
use super::noun::RUNS;
use crate::App;
use crate::changes::{Happened, Whom};
use crate::places::Places;

/// Whether there are runs whose files matter.
#[derive(Default)]
pub(crate) struct Watching(Notify);

impl Watching {
    /// A run was seen.
    pub(crate) fn begin(&self) {
        self.0.notify_one();
    }
}

impl App {
    /// Tells of what happens in the folders of runs, for as long as it is polled.
    pub(crate) async fn watch_files(&self) {
        // A run from before this process may be watched by somebody who asks for nothing else.
        if !self.has_runs().await {
            self.watching.0.notified().await;
        }
        let mut changes = self.files.touched();
        loop {
            match changes.recv().await {
                Ok(run_id) => self.tell_touched(&run_id).await,
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            }
        }
    }

    async fn has_runs(&self) -> bool {
        // Whoever cannot be asked now is seen when one of their runs is.
        self.journal.documents(RUNS, None, 1).await.is_ok_and(|runs| !runs.is_empty())
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
