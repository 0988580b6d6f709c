//! View of a run's events: those that may be emitted, with missing guards and artifacts, as clients read them.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;

use super::RunView;
use crate::gate::guard::GuardResult;
use crate::gate::process::{EventKind, OnGuardFail, Transition, is_role_allowed};
use crate::gate::run::{RunRefusal, RunStatus, check_decision};

/// Results of evaluated guards, by name.
pub(super) type GuardResults<'a> = BTreeMap<&'a str, GuardResult>;

/// A guard that keeps a transition from being taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MissingGuard {
    pub guard_name: String,
    pub description: String,
    /// What is missing.
    pub current_status: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RequiredArtifact {
    pub r#type: String,
    pub description: String,
    pub status: ArtifactStatus,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Presence")]
pub enum ArtifactStatus {
    Missing,
    Present,
}

/// An event that the current state has a transition for.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AllowedEvent {
    pub event_name: String,
    pub description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    pub payload_schema: Option<Value>,
}

/// An event, and what it would come to now.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EventView {
    pub event_name: String,
    pub description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    pub payload_schema: Option<Value>,
    pub transitions: Vec<TransitionView>,
    /// Whether it would be accepted now. Guards are evaluated without new evidence and without a payload: an
    /// event that only they block can still be emitted, with what they miss.
    pub is_allowed: bool,
    /// Why it would not; null if it would. What guards miss is in `missing_requirements`.
    #[schemars(schema_with = "text_or_null")]
    pub blocked_reason: Option<String>,
}

/// `anyOf` with one type in each branch: not every client supports a list of types.
fn text_or_null(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"anyOf": [{"type": "string"}, {"type": "null"}]})
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TransitionView {
    pub to_state: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard: Option<String>,
    pub guard_status: GuardStatus,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing_requirements: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GuardStatus {
    Satisfied,
    Unsatisfied,
    NoGuard,
}

impl RunView<'_> {
    fn is_over(&self) -> bool {
        self.run.status() != RunStatus::Active
    }

    /// The unsatisfied guards of all transitions out of the current state, each once.
    pub fn missing_guards(&self) -> Vec<MissingGuard> {
        let mut missing: Vec<MissingGuard> = Vec::new();
        if self.is_over() {
            return missing;
        }
        for transition in self.process.transitions_from(self.run.state()) {
            let Some(name) = &transition.guard else { continue };
            if missing.iter().any(|guard| guard.guard_name == *name) {
                continue;
            }
            let result = self.evaluate(name);
            if !result.satisfied {
                let own = self.process.guards.get(name).and_then(|guard| guard.description.clone());
                missing.push(MissingGuard {
                    guard_name: name.clone(),
                    description: own.unwrap_or_else(|| self.messages().default_description(&transition.to)),
                    current_status: result.missing.join(", "),
                });
            }
        }
        missing
    }

    /// The `required_artifacts` of the current state, and whether they are present.
    pub fn required_artifacts(&self) -> Vec<RequiredArtifact> {
        let here = self.process.state(self.run.state()).filter(|_| !self.is_cancelled());
        let Some(state) = here else { return Vec::new() };
        let view = |name: &String| RequiredArtifact {
            r#type: name.clone(),
            description: self.process.artifact(name).and_then(|kind| kind.description.clone()).unwrap_or_default(),
            status: match self.run.evidence().count_distinct(name, &self.facts.stale) {
                0 => ArtifactStatus::Missing,
                _ => ArtifactStatus::Present,
            },
        };
        state.required_artifacts.iter().map(view).collect()
    }

    /// The events that this role may emit in the current state, whether their guards are satisfied or not.
    pub fn allowed_events(&self) -> Vec<AllowedEvent> {
        let mut allowed: Vec<AllowedEvent> = Vec::new();
        if self.is_over() {
            return allowed;
        }
        let leaving = self
            .process
            .transitions
            .iter()
            .filter(|transition| transition.from == self.run.state() && !self.process.is_final(&transition.from));
        for transition in leaving {
            let Some(event) = self.process.event(&transition.event) else { continue };
            let is_new = !allowed.iter().any(|known| known.event_name == event.name);
            if is_new && self.forbidden_reason(event).is_none() && self.can_take(transition) {
                allowed.push(AllowedEvent {
                    event_name: event.name.clone(),
                    description: event.description.clone().unwrap_or_default(),
                    payload_schema: event.payload_schema.as_ref().map(|schema| schema.json().clone()),
                });
            }
        }
        allowed
    }

    /// The events that would be accepted now, in the order of the process; or all events, with the reason that blocks
    /// them.
    pub fn events(&self, include_blocked: bool) -> Vec<EventView> {
        // Many transitions may have the same guard, which is evaluated once.
        let mut guard_results = BTreeMap::new();
        let views = self.process.events.iter().map(|event| self.event_view(event, &mut guard_results));
        views.filter(|view| include_blocked || view.is_allowed).collect()
    }

    fn event_view<'a>(&'a self, event: &EventKind, guard_results: &mut GuardResults<'a>) -> EventView {
        let here: Vec<&Transition> =
            self.process.transitions_from(self.run.state()).filter(|found| found.event == event.name).collect();
        let shown: Vec<&Transition> = if here.is_empty() {
            self.process.transitions.iter().filter(|found| found.event == event.name).collect()
        } else {
            here.clone()
        };
        let transitions: Vec<TransitionView> =
            shown.into_iter().map(|transition| self.transition_view(transition, guard_results)).collect();
        let would_be_accepted = here.iter().zip(&transitions).any(|(transition, view)| {
            let is_open = view.guard_status != GuardStatus::Unsatisfied;
            self.can_take(transition) && (is_open || transition.on_guard_fail == OnGuardFail::Record)
        });
        let blocked_reason = if self.is_over() {
            Some(self.messages().run_over())
        } else if here.is_empty() {
            Some(self.messages().only_in_states(&self.process.states_of_event(&event.name)))
        } else if let Some(reason) = self.forbidden_reason(event) {
            Some(reason)
        } else if would_be_accepted {
            None
        } else if here.iter().any(|transition| self.can_take(transition)) {
            Some(self.messages().guards_unsatisfied())
        } else {
            Some(self.messages().role_forbidden(self.role))
        };
        EventView {
            event_name: event.name.clone(),
            description: event.description.clone().unwrap_or_default(),
            payload_schema: event.payload_schema.as_ref().map(|schema| schema.json().clone()),
            transitions,
            is_allowed: blocked_reason.is_none(),
            blocked_reason,
        }
    }

    pub(super) fn transition_view<'a>(
        &'a self,
        transition: &'a Transition,
        guard_results: &mut GuardResults<'a>,
    ) -> TransitionView {
        let guard = transition.guard.as_deref();
        let result = guard.map(|guard| guard_results.entry(guard).or_insert_with(|| self.evaluate(guard)).clone());
        let guard_status = match &result {
            None => GuardStatus::NoGuard,
            Some(result) if result.satisfied => GuardStatus::Satisfied,
            Some(_) => GuardStatus::Unsatisfied,
        };
        TransitionView {
            to_state: transition.to.clone(),
            guard: transition.guard.clone(),
            guard_status,
            missing_requirements: result.map(|result| result.missing).unwrap_or_default(),
        }
    }

    /// Whether this role may take the transition.
    fn can_take(&self, transition: &Transition) -> bool {
        transition.allowed_roles.as_ref().is_none_or(|roles| is_role_allowed(roles, self.role))
    }

    /// Why this role or this principal may not emit an event at all.
    fn forbidden_reason(&self, event: &EventKind) -> Option<String> {
        if !is_role_allowed(&event.allowed_roles, self.role) {
            return Some(self.messages().role_forbidden(self.role));
        }
        let refusal =
            check_decision(self.run, self.process, &event.name, self.role, (self.principal, self.facts)).err()?;
        Some(match &refusal {
            RunRefusal::OwnWork { principal } => self.messages().own_work(principal),
            RunRefusal::MayNotDecide { role, .. } => self.messages().role_forbidden(role),
            other => other.to_string(),
        })
    }
}
