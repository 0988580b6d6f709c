//! Checks the context variables in prompts: something sets them, and no event without `sets` can write them.
//!
//! A reader of a prompt takes it for the text of the process's author. An event without `sets` writes every variable of
//! its payload that no guard reads, so an agent could put its own text there.

use std::collections::BTreeSet;

use super::Checker;
use super::graph::{edges, reachable_states};
use crate::gate::finding::Rule;
use crate::gate::json_schema::Schema;
use crate::gate::process::{EventKind, OVERRIDE_GUARD, OnGuardFail, Process, Setting};

/// Events that one finding names.
const EVENTS_LISTED_MAX: usize = 5;

pub(super) fn check(checker: &mut Checker<'_>) {
    let process = checker.process;
    let set = SettableVariables::from_process(process);
    let backwards = edges(checker, true);
    for (index, state) in process.states.iter().enumerate() {
        let shown: BTreeSet<&str> = state.prompt_variables().collect();
        if shown.is_empty() {
            continue;
        }
        let path = format!("/states/{index}/prompt");
        let leading = events_leading_to(process, &set.open, &reachable_states(&backwards, [state.name.as_str()]));
        for variable in shown {
            if checker.is_full() {
                return;
            }
            if !set.can_set(process, variable) {
                let message = format!("this prompt shows {{context.{variable}}}, which nothing ever sets");
                let hint = "correct the name, or set it in initial_context or by the `sets` of an event";
                checker.report(Rule::VariableNeverSet, &path, message, hint);
                continue;
            }
            let unnamed = leading.iter().filter(|event| process.can_set_unnamed(event, variable));
            let mut who: Vec<String> =
                unnamed.take(EVENTS_LISTED_MAX).map(|event| format!("{:?}", event.name)).collect();
            let is_begun_with = process.initial_context.contains_key(variable)
                || process.context_schema.as_ref().is_some_and(|schema| schema.has_property(variable));
            if process.sets.is_none() && !is_begun_with && process.creation_setting(variable) == Setting::Set {
                who.insert(0, "whoever creates a run".to_owned());
            }
            if !who.is_empty() {
                let message = format!(
                    "this prompt shows {{context.{variable}}}, and {} can write anything there",
                    who.join(", ")
                );
                let hint = "write `sets` there with the names that it sets, sets: [] for none";
                checker.report(Rule::VariableOpen, &path, message, hint);
            }
        }
    }
}

/// The open events after which a run may reach one of these states.
fn events_leading_to<'a>(process: &'a Process, open: &[&'a EventKind], states: &BTreeSet<&str>) -> Vec<&'a EventKind> {
    let mut leads: BTreeSet<&str> = BTreeSet::new();
    for transition in process.transitions.iter().filter(|transition| !process.is_final(&transition.from)) {
        let stays = transition.on_guard_fail == OnGuardFail::Record && states.contains(transition.from.as_str());
        if stays || states.contains(transition.to.as_str()) {
            leads.insert(&transition.event);
        }
    }
    open.iter().copied().filter(|event| leads.contains(event.name.as_str())).collect()
}

/// The context variables that can be set.
struct SettableVariables<'a> {
    /// Variables that some `sets` or payload schema names.
    names: BTreeSet<&'a str>,
    /// Events that can set variables that they do not name.
    open: Vec<&'a EventKind>,
}

impl<'a> SettableVariables<'a> {
    fn from_process(process: &'a Process) -> Self {
        let mut names: BTreeSet<&str> = process.sets.iter().flatten().map(String::as_str).collect();
        for event in &process.events {
            match (&event.sets, &event.payload_schema) {
                (Some(sets), _) => names.extend(sets.iter().map(String::as_str)),
                (None, Some(schema)) => names.extend(schema.property_names()),
                (None, None) => {}
            }
        }
        let is_open = |event: &&EventKind| {
            let is_closed = event.payload_schema.as_ref().is_some_and(Schema::is_closed);
            event.sets.is_none() && !is_closed && event.name != OVERRIDE_GUARD
        };
        Self { names, open: process.events.iter().filter(is_open).collect() }
    }

    fn can_set(&self, process: &Process, variable: &str) -> bool {
        let is_open = !self.open.is_empty() || process.sets.is_none();
        process.initial_context.contains_key(variable)
            || process.from_campaign.contains_key(variable)
            || self.names.contains(variable)
            || (is_open && !process.reads.contains(variable))
    }
}
