//! Gates that runs of a campaign have passed, for the timeline, as far as the caller may see the runs.

use skald_domain::gate::RunEvent;

use super::list_runs::ListRunsInput;
use super::stream::{ListedRun, run_stream};
use crate::campaign::RecordedEvent;
use crate::{App, Caller, Fault, limits};
use skald_journal::Record;

/// Runs that are read for one answer, the newest.
const RUNS_MAX: usize = 50;

impl App {
    /// The newest steps from one state to another of the newest runs of a campaign, and whether there are older ones.
    pub(crate) async fn recorded_gates(
        &self,
        caller: &Caller,
        campaign_id: &str,
    ) -> Result<(Vec<RecordedEvent>, bool), Fault> {
        let page = self.list_runs(caller, &ListRunsInput::of_campaign(campaign_id, RUNS_MAX)).await?;
        let (mut events, mut is_cut) = (Vec::new(), page.next_cursor.is_some());
        for run in page.items {
            let stream = run_stream(&run.run_id);
            let head = self.journal.head(&stream).await.map_err(|error| self.store_fault(&error))?;
            let after = head.revision.saturating_sub(limits::PAGE_MAX as u64);
            is_cut |= after > 0;
            let records = self.journal.read(&stream, after, limits::PAGE_MAX).await;
            for record in records.map_err(|error| self.store_fault(&error))? {
                events.extend(self.passed_gates(&run, &record)?);
            }
        }
        Ok((events, is_cut))
    }

    fn passed_gates(&self, run: &ListedRun, record: &Record) -> Result<Vec<RecordedEvent>, Fault> {
        let events: Vec<RunEvent> =
            serde_json::from_str(&record.body).map_err(|error| Fault::internal(error, self.new_request_id()))?;
        let steps = events.into_iter().filter_map(|event| match event {
            RunEvent::Emitted(emitted) if !emitted.recorded && emitted.from != emitted.to => {
                Some((emitted.from, emitted.to))
            }
            RunEvent::Overridden(step) => Some((step.from, step.to)),
            _ => None,
        });
        let passed = steps.map(|(from, to)| RecordedEvent {
            at: record.at,
            kind: "gate.passed".to_owned(),
            description: format!("{} ({}): {from} to {to}", run.process_id, run.run_id),
            session_id: None,
            actor_id: None,
        });
        Ok(passed.collect())
    }
}
