//! Applies events to the state of a run. It never fails and evaluates no guard again.

use std::sync::Arc;

use serde_json::Value;

use super::event::{Created, Emitted, Overridden, RunEvent};
use super::state::{Run, RunState, RunStatus, variable_bytes};
use crate::Moment;
use crate::decider::DecisionContext;

pub(super) fn evolve(mut state: RunState, event: &RunEvent, given: &DecisionContext) -> RunState {
    match event {
        RunEvent::Created(created) => state.apply_created(created, given),
        RunEvent::Emitted(emitted) => state.apply_emitted(emitted, given),
        RunEvent::Overridden(overridden) => state.apply_overridden(overridden, given),
        RunEvent::Cancelled(_) => state.status = RunStatus::Cancelled,
    }
    state.revision += 1;
    state.updated_at = Some(Moment::from(given.at));
    state
}

impl RunState {
    fn apply_created(&mut self, created: &Created, given: &DecisionContext) {
        self.run = Some(Arc::new(Run {
            id: created.run_id.clone(),
            process: created.process.clone(),
            campaign_id: created.campaign_id.clone(),
            folder: created.folder.clone(),
            created_at: Moment::from(given.at),
            created_micros: given.at.as_microsecond(),
            created_by: given.by.clone(),
        }));
        created.context.iter().for_each(|(name, value)| self.set_variable(name, value));
        self.enter_state(&created.state, created.is_final);
    }

    fn apply_emitted(&mut self, emitted: &Emitted, given: &DecisionContext) {
        for name in &emitted.set {
            if let Some(value) = emitted.payload.get(name) {
                self.set_variable(name, value);
            }
        }
        emitted.campaign_numbers.iter().for_each(|(name, value)| self.set_variable(name, value));
        emitted.artifacts.iter().for_each(|artifact| self.evidence.put(artifact.clone()));
        *self.attempts.entry(emitted.event.clone()).or_default() += 1;
        if !emitted.decision {
            self.submitters.insert(given.by.clone());
        }
        if !emitted.recorded {
            self.enter_state(&emitted.to, emitted.is_final);
        }
    }

    /// A principal that overrides a guard for work counts as a submitter, and so may not decide on the run later.
    fn apply_overridden(&mut self, overridden: &Overridden, given: &DecisionContext) {
        if !overridden.decision {
            self.submitters.insert(given.by.clone());
        }
        overridden.campaign_numbers.iter().for_each(|(name, value)| self.set_variable(name, value));
        self.enter_state(&overridden.to, overridden.is_final);
    }

    fn set_variable(&mut self, name: &str, value: &Value) {
        self.context_bytes += variable_bytes(name, value);
        if let Some(before) = self.context.insert(name.to_owned(), value.clone()) {
            self.context_bytes = self.context_bytes.saturating_sub(variable_bytes(name, &before));
        }
    }

    fn enter_state(&mut self, name: &str, is_final: bool) {
        name.clone_into(&mut self.state);
        let visits = self.visits.entry(name.to_owned()).or_default();
        if *visits == 0 {
            self.entered.push_back(name.to_owned());
        }
        *visits += 1;
        if is_final {
            self.status = RunStatus::Finished;
        }
    }
}
