//! `Process`: states, events, transitions, guards, artifacts and roles, loaded from a YAML file.
//!
//! A [`Process`] is only created by [`load`], from a file without errors, so every name in it resolves. The file's
//! SHA-256 is the version that a run is pinned to.

mod field_reader;
mod parse_guards;
mod parse_process;
mod parse_states_and_events;
#[cfg(test)]
mod tests;

pub use skald_tool_calls::{Permission, ToolPermissions};

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::campaign_numbers::CampaignNumber;
use super::check;
use super::finding::{FINDINGS_MAX, Finding};
use super::guard::Guard;
use super::json_schema::Schema;
use super::yaml;
use crate::case_insensitive_enum::case_insensitive_enum;

/// The wildcard for every role.
pub const EVERYBODY: &str = "*";
/// The events that decide on the work of others, see [`Decision`].
pub const APPROVE: &str = "approve";
pub const REJECT: &str = "reject";
/// The event whose `allowed_roles` say who may override a guard.
pub const OVERRIDE_GUARD: &str = "override_guard";

#[derive(Debug, Clone, PartialEq)]
pub struct Process {
    /// SHA-256 of the file, in hexadecimal digits.
    pub hash: String,
    pub id: String,
    pub version: String,
    pub name: String,
    pub description: Option<String>,
    /// The language of the gate's own messages.
    pub locale: Locale,
    pub initial_state: String,
    pub initial_context: Map<String, Value>,
    /// The context of a run must always match this schema.
    pub context_schema: Option<Schema>,
    /// The context variables that may be set when a run is created; if absent, all that no guard reads.
    pub sets: Option<Vec<String>>,
    /// The context variables that a run in a campaign takes from there.
    pub from_campaign: BTreeMap<String, CampaignNumber>,
    pub states: Vec<State>,
    pub events: Vec<EventKind>,
    pub transitions: Vec<Transition>,
    pub guards: BTreeMap<String, Guard>,
    pub artifacts: Vec<ArtifactKind>,
    pub roles: Vec<Role>,
    /// The context variables that guards read.
    pub(super) reads: ReadVariables,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Locale {
    #[default]
    En,
    Ja,
}

case_insensitive_enum!(Locale { En = "en", Ja = "ja" });

#[derive(Debug, Clone, PartialEq, Default)]
pub struct State {
    pub name: String,
    pub description: Option<String>,
    /// The prompt for an agent in this state; `{context.x}` is replaced by a variable of the context.
    pub prompt: Option<String>,
    /// Artifact types that are shown as required in this state. Only guards enforce anything, not this list.
    pub required_artifacts: Vec<String>,
    pub is_final: bool,
    pub tool_permissions: Option<ToolPermissions>,
}

/// Start of a placeholder for a context variable in a prompt.
pub(super) const PLACEHOLDER_START: &str = "{context.";

impl State {
    /// The context variables that its prompt shows.
    pub(super) fn prompt_variables(&self) -> impl Iterator<Item = &str> {
        let marked = self.prompt.as_deref().unwrap_or_default().split(PLACEHOLDER_START).skip(1);
        marked.filter_map(|rest| rest.split_once('}')).map(|(name, _)| name)
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct EventKind {
    pub name: String,
    pub description: Option<String>,
    pub payload_schema: Option<Schema>,
    pub allowed_roles: Vec<String>,
    /// The context variables that its payload sets; if absent, those that its schema names and all that no guard reads.
    pub sets: Option<Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Transition {
    pub from: String,
    pub event: String,
    pub to: String,
    pub guard: Option<String>,
    /// If absent, any role that may emit the event.
    pub allowed_roles: Option<Vec<String>>,
    pub description: Option<String>,
    pub on_guard_fail: OnGuardFail,
}

/// How an event is handled if its guard is not satisfied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnGuardFail {
    /// It is refused, and nothing is stored.
    #[default]
    Reject,
    /// It is accepted and stored, and the run stays in its state.
    Record,
}

case_insensitive_enum!(OnGuardFail { Reject = "reject", Record = "record" });

#[derive(Debug, Clone, PartialEq, Default)]
pub struct ArtifactKind {
    /// `type` in the file.
    pub name: String,
    pub description: Option<String>,
    pub required_in_states: Vec<String>,
    /// As `{from}->{to}`.
    pub required_for_transitions: Vec<String>,
    /// An artifact of this type must be JSON that matches this schema.
    pub schema: Option<Schema>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Role {
    pub name: String,
    pub allowed_events: Vec<String>,
    pub can_approve: Option<bool>,
    pub can_reject: Option<bool>,
}

/// Events that decide on the work of others. A principal that submitted something to a run may not decide in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    Approve,
    Reject,
}

impl Decision {
    pub fn from_event(event: &str) -> Option<Self> {
        match event {
            APPROVE => Some(Self::Approve),
            REJECT => Some(Self::Reject),
            _ => None,
        }
    }

    /// The flag by which a role may take this decision.
    pub fn flag(self) -> &'static str {
        match self {
            Self::Approve => "can_approve",
            Self::Reject => "can_reject",
        }
    }
}

/// The context variables that guards read. `is_any` is true if an expression may read any of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ReadVariables {
    pub(super) variables: BTreeSet<String>,
    pub(super) is_any: bool,
}

impl ReadVariables {
    pub(super) fn contains(&self, variable: &str) -> bool {
        self.is_any || self.variables.contains(variable)
    }
}

/// Result of loading a process file.
#[derive(Debug, Clone)]
pub struct LoadedProcess {
    /// `None` if a finding is an error.
    pub process: Option<Process>,
    /// In the order of the file.
    pub findings: Vec<Finding>,
}

/// Reads and checks a process file. Its consistency is checked only if its form has no errors.
pub fn load(source: &str) -> LoadedProcess {
    let node = match yaml::read(source) {
        Ok(node) => node,
        Err(finding) => return LoadedProcess { process: None, findings: vec![finding] },
    };
    let (process, mut findings) = parse_process::parse_process(&node, sha256_hex(source));
    if let Some(process) = &process {
        findings.extend(check::check(process, &node));
    }
    findings.sort_by_key(|finding| (finding.line, finding.column, finding.code));
    let process = process.filter(|_| !findings.iter().any(Finding::is_error));
    findings.truncate(FINDINGS_MAX);
    LoadedProcess { process, findings }
}

/// SHA-256 in hexadecimal digits.
fn sha256_hex(source: &str) -> String {
    let digits = |byte: &u8| [byte >> 4, byte & 15].map(|digit| char::from_digit(u32::from(digit), 16));
    Sha256::digest(source.as_bytes()).iter().flat_map(digits).flatten().collect()
}

impl Process {
    pub fn state(&self, name: &str) -> Option<&State> {
        self.states.iter().find(|state| state.name == name)
    }

    pub fn event(&self, name: &str) -> Option<&EventKind> {
        self.events.iter().find(|event| event.name == name)
    }

    pub fn role(&self, name: &str) -> Option<&Role> {
        self.roles.iter().find(|role| role.name == name)
    }

    pub fn artifact(&self, name: &str) -> Option<&ArtifactKind> {
        self.artifacts.iter().find(|artifact| artifact.name == name)
    }

    pub fn is_final(&self, state: &str) -> bool {
        self.state(state).is_some_and(|state| state.is_final)
    }

    /// The transitions out of a state, in the order in which they are tried: guarded ones first. A final state has
    /// none, even if the file lists some.
    pub fn transitions_from<'a>(&'a self, state: &'a str) -> impl Iterator<Item = &'a Transition> {
        let leaving = move |transition: &&Transition| transition.from == state && !self.is_final(state);
        let guarded = self.transitions.iter().filter(leaving).filter(|transition| transition.guard.is_some());
        guarded.chain(self.transitions.iter().filter(leaving).filter(|transition| transition.guard.is_none()))
    }

    /// The states in which an event can be emitted, in the order of the file.
    pub fn states_of_event(&self, event: &str) -> Vec<&str> {
        let of_event = self.transitions.iter().filter(|transition| transition.event == event);
        let from: BTreeSet<&str> = of_event.map(|transition| transition.from.as_str()).collect();
        let has = |state: &&State| !state.is_final && from.contains(state.name.as_str());
        self.states.iter().filter(has).map(|state| state.name.as_str()).collect()
    }

    /// The words and headings that guards look for in artifacts, each once.
    pub fn searched_words(&self) -> BTreeSet<&str> {
        let asked = self.guards.values().flat_map(Guard::content_requirements);
        asked.flat_map(|(_, requirement)| &requirement.contains).map(String::as_str).collect()
    }

    /// Whether a guard asks for the substance of artifacts of this type.
    pub fn is_measured(&self, artifact_type: &str) -> bool {
        self.guards.values().flat_map(Guard::content_requirements).any(|(asked, _)| asked == artifact_type)
    }

    /// Whether an expression reads `campaign`.
    pub fn reads_campaign(&self) -> bool {
        self.guards.values().any(|guard| guard.uses_variable("campaign"))
    }

    /// The guards of these names and all guards that they refer to, each visited once: a few guards that refer to each
    /// other repeatedly have exponentially many paths.
    pub(super) fn referenced_guards<'a>(
        &'a self,
        names: impl IntoIterator<Item = &'a str>,
    ) -> BTreeMap<&'a str, &'a Guard> {
        let mut found = BTreeMap::new();
        let mut waiting: Vec<&str> = names.into_iter().collect();
        while let Some(name) = waiting.pop() {
            if let Some(guard) = self.guards.get(name)
                && found.insert(name, guard).is_none()
            {
                waiting.extend(guard.referenced_names().into_iter().map(|(_, name)| name));
            }
        }
        found
    }

    /// The artifact types that matter in a state: those that guards of its transitions ask for, and its
    /// `required_artifacts`. `None` if an expression reads `artifacts`, since it may read any type.
    pub fn needed_artifact_types<'a>(&'a self, state: &'a str) -> Option<BTreeSet<&'a str>> {
        let named = self.state(state).into_iter().flat_map(|state| &state.required_artifacts);
        let mut types: BTreeSet<&str> = named.map(String::as_str).collect();
        let leaving = self.transitions_from(state).filter_map(|transition| transition.guard.as_deref());
        let guards = self.referenced_guards(leaving);
        types.extend(guards.values().flat_map(|guard| guard.artifact_types()).map(|(_, name)| name));
        let is_any = guards.values().any(|guard| guard.uses_variable("artifacts"));
        (!is_any).then_some(types)
    }

    /// Whether a role may take this decision. It needs the flag, even if it may emit the event.
    pub fn can_decide(&self, role: &str, decision: Decision) -> bool {
        let flag = |role: &Role| match decision {
            Decision::Approve => role.can_approve,
            Decision::Reject => role.can_reject,
        };
        self.role(role).and_then(flag).unwrap_or(false)
    }

    /// Whether the payload of an event may set a context variable.
    pub fn event_setting(&self, event: &EventKind, variable: &str) -> Setting {
        let is_named = match (&event.sets, &event.payload_schema) {
            (Some(sets), _) => sets.iter().any(|name| name == variable),
            (None, Some(schema)) => schema.has_property(variable) || !self.reads.contains(variable),
            (None, None) => !self.reads.contains(variable),
        };
        self.setting(is_named, variable)
    }

    /// Whether an event can set a variable that it does not name: it has no `sets`, its schema does not name the
    /// variable, and no guard reads it.
    pub(super) fn can_set_unnamed(&self, event: &EventKind, variable: &str) -> bool {
        let is_named = event.payload_schema.as_ref().is_some_and(|schema| schema.has_property(variable));
        event.sets.is_none() && !is_named && !self.reads.contains(variable)
    }

    /// Whether creating a run may set a context variable.
    pub fn creation_setting(&self, variable: &str) -> Setting {
        let is_named = match &self.sets {
            Some(sets) => sets.iter().any(|name| name == variable),
            None => !self.reads.contains(variable),
        };
        self.setting(is_named, variable)
    }

    fn setting(&self, is_named: bool, variable: &str) -> Setting {
        match (is_named, self.reads.contains(variable)) {
            (true, _) => Setting::Set,
            (false, true) => Setting::Forbidden,
            (false, false) => Setting::Kept,
        }
    }
}

/// How a variable in a payload is handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// It is written to the context.
    Set,
    /// It is stored with the event, but not written to the context.
    Kept,
    /// It is refused: a guard reads it, and this event may not set it.
    Forbidden,
}

/// Whether a list of roles contains a role or `*`.
pub(super) fn is_role_allowed(allowed: &[String], role: &str) -> bool {
    allowed.iter().any(|name| name == EVERYBODY || name == role)
}
