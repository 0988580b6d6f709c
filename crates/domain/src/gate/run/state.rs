//! The state of a run: what decisions need, and what is read most.

use std::sync::Arc;

use imbl::{OrdMap, OrdSet, Vector};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::super::evidence::Evidence;
use super::super::facts::Facts;
use super::super::guard::GuardInputs;
use super::super::process::Process;
use super::event::ProcessPin;
use crate::Moment;

/// The immutable part of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub id: String,
    pub process: ProcessPin,
    pub campaign_id: Option<String>,
    #[serde(default)]
    pub folder: Option<String>,
    pub created_at: Moment,
    /// The time of creation in microseconds, for sorting lists.
    #[serde(default)]
    pub created_micros: i64,
    pub created_by: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    #[default]
    Active,
    /// It came to a final state.
    Finished,
    Cancelled,
}

/// The state of a run; empty until it is created. Its maps are persistent, so clones are cheap and an event costs only
/// what it changes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RunState {
    pub(super) run: Option<Arc<Run>>,
    pub(super) status: RunStatus,
    pub(super) state: String,
    pub(super) context: OrdMap<String, Value>,
    pub(super) context_bytes: usize,
    pub(super) evidence: Evidence,
    pub(super) attempts: OrdMap<String, u64>,
    pub(super) visits: OrdMap<String, u64>,
    /// The states that were entered, each once, in the order of their first visit.
    pub(super) entered: Vector<String>,
    /// Principals that submitted something; they may not decide in this run.
    pub(super) submitters: OrdSet<String>,
    pub(super) updated_at: Option<Moment>,
    /// Number of accepted events, including the creation.
    pub(super) revision: u64,
}

impl RunState {
    pub fn run(&self) -> Option<&Run> {
        self.run.as_deref()
    }

    pub fn status(&self) -> RunStatus {
        self.status
    }

    /// The name of the current state.
    pub fn state(&self) -> &str {
        &self.state
    }

    pub fn context(&self) -> &OrdMap<String, Value> {
        &self.context
    }

    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// How often each event was accepted.
    pub fn attempts(&self) -> &OrdMap<String, u64> {
        &self.attempts
    }

    /// How often each state was entered.
    pub fn visits(&self) -> &OrdMap<String, u64> {
        &self.visits
    }

    /// The states that were entered, in the order of their first visit.
    pub fn entered_states(&self) -> &Vector<String> {
        &self.entered
    }

    pub fn has_submitted(&self, principal: &str) -> bool {
        self.submitters.contains(principal)
    }

    pub fn revision(&self) -> u64 {
        self.revision
    }

    pub fn updated_at(&self) -> Option<Moment> {
        self.updated_at
    }

    /// The inputs of guards: the current run, with this evidence and payload.
    pub fn guard_inputs<'a>(
        &'a self,
        process: &'a Process,
        evidence: &'a Evidence,
        payload: &'a Map<String, Value>,
        facts: &'a Facts,
    ) -> GuardInputs<'a> {
        GuardInputs {
            process,
            run_id: self.run().map_or("", |run| run.id.as_str()),
            state: &self.state,
            context: &self.context,
            evidence,
            attempts: &self.attempts,
            visits: &self.visits,
            payload,
            facts,
        }
    }
}

/// Bytes that a variable takes in the context.
pub(super) fn variable_bytes(name: &str, value: &Value) -> usize {
    name.len() + value.to_string().len()
}
