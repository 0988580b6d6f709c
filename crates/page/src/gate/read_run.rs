//! Reads the parts of the page of a run from the engine.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use skald_app::{Fault, limits};

use crate::PageContext;
use crate::campaign_place::CampaignPlace;
use crate::visitor::Visitor;

/// Steps of a history that are shown. Of a longer history the newest steps are shown, and the page says so.
const HISTORY_STEPS_MAX: usize = 500;

/// A run as a visitor sees it.
pub(super) struct RunAnswers {
    pub state: RunStateAnswer,
    pub summary: SummaryAnswer,
    pub events: Vec<EventAnswer>,
    /// Oldest first.
    pub history: Vec<HistoryAnswer>,
    pub is_history_cut: bool,
    pub diagram: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct RunStateAnswer {
    pub run_id: String,
    pub current_state: String,
    pub current_state_prompt: Option<String>,
    pub revision: u64,
    pub missing_guards: Vec<GuardAnswer>,
    pub required_artifacts: Vec<RequirementAnswer>,
    pub allowed_events: Vec<AllowedAnswer>,
    pub updated_at: String,
    pub status: String,
    #[serde(default)]
    pub stale_artifacts: Vec<String>,
    pub campaign_id: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct GuardAnswer {
    pub guard_name: String,
    #[serde(default)]
    pub description: String,
    pub current_status: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct RequirementAnswer {
    pub r#type: String,
    #[serde(default)]
    pub description: String,
    pub status: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct AllowedAnswer {
    pub event_name: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub payload_schema: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct SummaryAnswer {
    pub process: ProcessAnswer,
    pub your_role: String,
    pub may_override: bool,
}

#[derive(Debug, Deserialize)]
pub(super) struct ProcessAnswer {
    pub name: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct EventAnswer {
    pub event_name: String,
    #[serde(default)]
    pub payload_schema: Option<Value>,
    #[serde(default)]
    pub transitions: Vec<TransitionAnswer>,
}

#[derive(Debug, Deserialize)]
pub(super) struct TransitionAnswer {
    pub to_state: String,
    pub guard: Option<String>,
    pub guard_status: String,
    #[serde(default)]
    pub missing_requirements: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct HistoryAnswer {
    pub at: String,
    pub by: String,
    pub token: Option<TokenAnswer>,
    pub role: String,
    pub event_name: String,
    pub accepted: bool,
    pub from_state: Option<String>,
    pub to_state: Option<String>,
    #[serde(default)]
    pub recorded: bool,
    pub message: Option<String>,
    pub reason: Option<String>,
    #[serde(default)]
    pub guards: Vec<PastGuard>,
    #[serde(default)]
    pub payload: Map<String, Value>,
    #[serde(default)]
    pub artifacts: Vec<ArtifactAnswer>,
}

#[derive(Debug, Deserialize)]
pub(super) struct TokenAnswer {
    pub name: String,
}

/// The result of a guard at the time of an attempt.
#[derive(Debug, Deserialize)]
pub(super) struct PastGuard {
    pub guard: String,
    pub satisfied: bool,
    #[serde(default)]
    pub missing: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct ArtifactAnswer {
    pub path: String,
    #[serde(default)]
    pub bytes: u64,
    #[serde(default)]
    pub types: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct EventList {
    events: Vec<EventAnswer>,
}

#[derive(Debug, Deserialize)]
struct HistoryPart {
    history: Vec<HistoryAnswer>,
    next_cursor: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Drawing {
    text: String,
}

impl HistoryAnswer {
    /// The name of who did it.
    pub(super) fn who(&self) -> &str {
        match &self.token {
            Some(token) => &token.name,
            None if self.by == "owner" => "the owner",
            None => &self.by,
        }
    }
}

impl RunAnswers {
    /// The latest evidence under each path, oldest first.
    pub(super) fn evidence(&self) -> Vec<&ArtifactAnswer> {
        let mut found: Vec<&ArtifactAnswer> = Vec::new();
        for artifact in self.history.iter().filter(|entry| entry.accepted).flat_map(|entry| &entry.artifacts) {
            found.retain(|known| known.path != artifact.path);
            found.push(artifact);
        }
        found
    }

    /// Guards of the ways out of the current state that are satisfied, each once.
    pub(super) fn satisfied_guards(&self) -> Vec<&str> {
        let mut found: Vec<&str> = Vec::new();
        // An event has transitions out of other states as well; those that are allowed have one out of this.
        let is_here = |event: &&EventAnswer| {
            self.state.allowed_events.iter().any(|allowed| allowed.event_name == event.event_name)
        };
        for transition in self.events.iter().filter(is_here).flat_map(|event| &event.transitions) {
            if let Some(guard) = transition.guard.as_deref().filter(|_| transition.guard_status == "satisfied")
                && !found.contains(&guard)
            {
                found.push(guard);
            }
        }
        found
    }

    /// Ways out of the current state that a guard closes, by event.
    pub(super) fn closed_transitions(&self) -> Vec<(&str, &TransitionAnswer)> {
        let ways = self.events.iter().flat_map(|event| event.transitions.iter().map(|way| (&*event.event_name, way)));
        let is_missing = |way: &TransitionAnswer| {
            let guards = &self.state.missing_guards;
            guards.iter().any(|missing| way.guard.as_deref() == Some(missing.guard_name.as_str()))
        };
        ways.filter(|(_, way)| way.guard_status == "unsatisfied" && is_missing(way)).collect()
    }
}

impl PageContext {
    /// Reads a run of a campaign, or one without a campaign. `NOT_FOUND` for a run of another campaign.
    pub(super) async fn read_run(
        &self,
        visitor: &Visitor,
        place: &CampaignPlace,
        run_id: &str,
    ) -> Result<RunAnswers, Fault> {
        let caller = &visitor.caller;
        let state: RunStateAnswer = self.read(caller, "state_gate.get_state", json!({"run_id": run_id})).await?;
        if state.campaign_id.as_deref() != place.campaign_id() {
            let message = match place.campaign_id() {
                Some(_) => "there is no such run in this campaign",
                None => "there is no such run without a campaign",
            };
            let fault = Fault::new(skald_app::Code::RunNotFound, message);
            return Err(fault.hint("the list of runs has those that are there"));
        }
        let run_id = &state.run_id;
        let summary = self.read(caller, "state_gate.read", json!({"view": "summary", "run_id": run_id})).await?;
        let input = json!({"run_id": run_id, "include_blocked": true});
        let EventList { events } = self.read(caller, "state_gate.list_events", input).await?;
        let input = json!({"run_id": run_id, "form": "svg"});
        let Drawing { text: diagram } = self.read(caller, "state_gate.document", input).await?;
        let (mut history, mut cursor, mut is_history_cut) = (Vec::new(), None, false);
        loop {
            let mut input = json!({"view": "history", "run_id": run_id, "limit": limits::PAGE_MAX});
            if let Some(cursor) = &cursor {
                input["cursor"] = json!(cursor);
            }
            let part: HistoryPart = self.read(caller, "state_gate.read", input).await?;
            history.extend(part.history);
            if let Some(left_out) = history.len().checked_sub(HISTORY_STEPS_MAX).filter(|count| *count > 0) {
                history.drain(..left_out);
                is_history_cut = true;
            }
            cursor = part.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        Ok(RunAnswers { state, summary, events, history, is_history_cut, diagram })
    }
}
