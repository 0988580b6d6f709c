//! Checks the names in a process: each is declared once, and every reference resolves.

use std::collections::BTreeSet;

use super::Checker;
use crate::gate::finding::{Rule, join_pointer, suggest_word};
use crate::gate::process::OVERRIDE_GUARD;

pub(super) fn check(checker: &mut Checker<'_>) {
    let process = checker.process;
    let states: Vec<&str> = process.states.iter().map(|state| state.name.as_str()).collect();
    let events: Vec<&str> = process.events.iter().map(|event| event.name.as_str()).collect();
    let artifacts: Vec<&str> = process.artifacts.iter().map(|artifact| artifact.name.as_str()).collect();
    let roles: Vec<&str> = process.roles.iter().map(|role| role.name.as_str()).collect();
    check_unique(checker, Rule::DuplicateStateName, "/states", "name", &states);
    check_unique(checker, Rule::DuplicateEventName, "/events", "name", &events);
    check_unique(checker, Rule::DuplicateArtifactType, "/artifacts", "type", &artifacts);
    check_unique(checker, Rule::DuplicateRoleName, "/roles", "name", &roles);

    let known = KnownNames { states: &states, events: &events, artifacts: &artifacts };
    let initial = &process.initial_state;
    check_reference(checker, Rule::InvalidInitialState, "/process/initial_state", "state", initial, known.states);
    for (index, transition) in process.transitions.iter().enumerate() {
        let path = join_pointer("/transitions", index);
        check_reference(
            checker,
            Rule::InvalidTransitionFrom,
            &join_pointer(&path, "from"),
            "state",
            &transition.from,
            known.states,
        );
        check_reference(
            checker,
            Rule::InvalidTransitionTo,
            &join_pointer(&path, "to"),
            "state",
            &transition.to,
            known.states,
        );
        check_reference(
            checker,
            Rule::InvalidTransitionEvent,
            &join_pointer(&path, "event"),
            "event",
            &transition.event,
            known.events,
        );
        if transition.event == OVERRIDE_GUARD {
            let message = format!("{OVERRIDE_GUARD:?} takes the transitions of other events, it has none of its own");
            let hint = "remove the transition; the event's allowed_roles say who may override";
            checker.report(Rule::InvalidTransitionEvent, &join_pointer(&path, "event"), message, hint);
        }
    }
    for (index, state) in process.states.iter().enumerate() {
        for (place, name) in state.required_artifacts.iter().enumerate() {
            let path = format!("/states/{index}/required_artifacts/{place}");
            check_reference(checker, Rule::InvalidRequiredArtifact, &path, "artifact type", name, known.artifacts);
        }
    }
    check_unenforced_references(checker, &known);
    check_initial_context(checker);
}

struct KnownNames<'a> {
    states: &'a [&'a str],
    events: &'a [&'a str],
    artifacts: &'a [&'a str],
}

fn check_unique(checker: &mut Checker<'_>, rule: Rule, list: &str, key: &str, names: &[&str]) {
    let mut seen = BTreeSet::new();
    for (index, name) in names.iter().enumerate() {
        if !seen.insert(*name) {
            let path = format!("{list}/{index}/{key}");
            checker.report(rule, &path, format!("{name:?} is there already"), "give it another name, or remove one");
        }
    }
}

fn check_reference(checker: &mut Checker<'_>, rule: Rule, path: &str, thing: &str, name: &str, known: &[&str]) {
    if !known.contains(&name) && !checker.is_full() {
        checker.report(rule, path, format!("there is no {thing} {name:?}"), suggest_word(name, known));
    }
}

/// Checks references in artifacts and roles. These lists are not enforced, so unknown names are only warnings.
fn check_unenforced_references(checker: &mut Checker<'_>, known: &KnownNames<'_>) {
    let process = checker.process;
    let pairs: Vec<String> =
        process.transitions.iter().map(|transition| format!("{}->{}", transition.from, transition.to)).collect();
    let pairs: Vec<&str> = pairs.iter().map(String::as_str).collect();
    for (index, artifact) in process.artifacts.iter().enumerate() {
        for (place, name) in artifact.required_in_states.iter().enumerate() {
            let path = format!("/artifacts/{index}/required_in_states/{place}");
            check_reference(checker, Rule::UnknownReference, &path, "state", name, known.states);
        }
        for (place, name) in artifact.required_for_transitions.iter().enumerate() {
            let path = format!("/artifacts/{index}/required_for_transitions/{place}");
            let name = name.split("->").map(str::trim).collect::<Vec<_>>().join("->");
            check_reference(checker, Rule::UnknownReference, &path, "transition", &name, &pairs);
        }
    }
    for (index, role) in process.roles.iter().enumerate() {
        for (place, name) in role.allowed_events.iter().enumerate().filter(|(_, name)| *name != "*") {
            let path = format!("/roles/{index}/allowed_events/{place}");
            check_reference(checker, Rule::UnknownReference, &path, "event", name, known.events);
        }
    }
}

fn check_initial_context(checker: &mut Checker<'_>) {
    let Some(schema) = &checker.process.context_schema else { return };
    let context = serde_json::Value::Object(checker.process.initial_context.clone());
    // A variable that the schema requires may still be set when a run is created.
    let prefix = "/process/initial_context";
    let misfits = schema.misfits(&context, prefix).into_iter().filter(|misfit| misfit.path != prefix);
    for misfit in misfits {
        checker.report(
            Rule::InvalidInitialContext,
            &misfit.path,
            misfit.message,
            "change it to fit context_schema, or change the schema",
        );
    }
}
