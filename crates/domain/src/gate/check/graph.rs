//! Checks the graph of a process: unreachable states, dead ends, missing final states, shadowed transitions.

use std::collections::{BTreeMap, BTreeSet};

use super::Checker;
use crate::gate::finding::Rule;
use crate::gate::process::{Transition, is_role_allowed};

pub(super) fn check(checker: &mut Checker<'_>) {
    check_reachable(checker);
    check_final_states(checker);
    check_shadowed(checker);
    check_required_artifacts(checker);
}

/// The states that can be reached along the edges, including the start; guards and roles are ignored.
pub(super) fn reachable_states<'a>(
    next: &BTreeMap<&'a str, Vec<&'a str>>,
    from: impl IntoIterator<Item = &'a str>,
) -> BTreeSet<&'a str> {
    let mut reached: BTreeSet<&str> = from.into_iter().collect();
    let mut waiting: Vec<&str> = reached.iter().copied().collect();
    while let Some(state) = waiting.pop() {
        waiting.extend(next.get(state).into_iter().flatten().copied().filter(|state| reached.insert(state)));
    }
    reached
}

/// The neighbours of each state, along the transitions or against them. Transitions out of final states are left out.
pub(super) fn edges<'a>(checker: &Checker<'a>, is_backwards: bool) -> BTreeMap<&'a str, Vec<&'a str>> {
    let process = checker.process;
    let mut edges: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for Transition { from, to, .. } in process.transitions.iter().filter(|edge| !process.is_final(&edge.from)) {
        let (from, to) = if is_backwards { (to, from) } else { (from, to) };
        edges.entry(from).or_default().push(to);
    }
    edges
}

fn check_reachable(checker: &mut Checker<'_>) {
    let process = checker.process;
    let reached = reachable_states(&edges(checker, false), [process.initial_state.as_str()]);
    for (index, state) in process.states.iter().enumerate() {
        if !reached.contains(state.name.as_str()) {
            let message = format!("no way leads from {:?} to {:?}", process.initial_state, state.name);
            let path = format!("/states/{index}/name");
            checker.report(Rule::UnreachableState, &path, message, "write a transition to it, or remove it");
        }
    }
}

fn check_final_states(checker: &mut Checker<'_>) {
    let process = checker.process;
    let finals: Vec<&str> =
        process.states.iter().filter(|state| state.is_final).map(|state| state.name.as_str()).collect();
    if finals.is_empty() {
        let message = "no state is final, so a run never ends";
        checker.report(Rule::NoFinalState, "/states", message, "write is_final: true on the states that end a run");
        return;
    }
    let ending = reachable_states(&edges(checker, true), finals);
    for (index, state) in process.states.iter().enumerate() {
        let path = format!("/states/{index}/name");
        let is_left = process.transitions.iter().any(|transition| transition.from == state.name);
        if state.is_final && is_left {
            let message = format!("{:?} is final, and transitions out of it are never taken", state.name);
            checker.report(Rule::FinalStateLeft, &path, message, "remove them, or is_final");
        } else if !state.is_final && !is_left {
            let message = format!("no transition leaves {:?}, and it is not final", state.name);
            checker.report(Rule::DeadEnd, &path, message, "write a transition out of it, or is_final: true");
        } else if !ending.contains(state.name.as_str()) {
            let message = format!("no way leads from {:?} to a final state", state.name);
            checker.report(Rule::NoWayToFinal, &path, message, "write a transition towards the end");
        }
    }
}

/// Reports transitions that are never taken because an earlier one always is.
fn check_shadowed(checker: &mut Checker<'_>) {
    let process = checker.process;
    let covers = |earlier: &Transition, later: &Transition| match (&earlier.allowed_roles, &later.allowed_roles) {
        (None, _) => true,
        (Some(earlier), Some(later)) => later.iter().all(|role| is_role_allowed(earlier, role)),
        (Some(earlier), None) => is_role_allowed(earlier, "*"),
    };
    for (index, later) in process.transitions.iter().enumerate() {
        let is_same = |earlier: &&Transition| {
            (&earlier.from, &earlier.event, &earlier.guard) == (&later.from, &later.event, &later.guard)
        };
        if process.transitions[..index].iter().filter(is_same).any(|earlier| covers(earlier, later)) {
            let guard = if later.guard.is_some() { "with the same guard" } else { "without a guard" };
            let message = format!(
                "an earlier transition from {:?} by {:?} {guard} is always taken first",
                later.from, later.event
            );
            let path = format!("/transitions/{index}");
            checker.report(
                Rule::ShadowedTransition,
                &path,
                message,
                "remove it, or give it a guard or roles of its own",
            );
        }
    }
}

/// Reports required artifacts that no guard asks for: `required_artifacts` is shown to the agent, but not enforced.
fn check_required_artifacts(checker: &mut Checker<'_>) {
    let process = checker.process;
    for (index, state) in process.states.iter().enumerate().filter(|(_, state)| !state.is_final) {
        for (place, name) in state.required_artifacts.iter().enumerate() {
            let leaving = process.transitions_from(&state.name).filter_map(|transition| transition.guard.as_deref());
            let asked = process.referenced_guards(leaving);
            if !asked.values().any(|guard| guard.artifact_types().iter().any(|(_, asked)| asked == name)) {
                let message = format!("{name:?} is shown as required in {:?}, but no guard asks for it", state.name);
                let path = format!("/states/{index}/required_artifacts/{place}");
                let hint = "put a guard of type artifact on a transition out of the state";
                checker.report(Rule::RequiredArtifactNotGuarded, &path, message, hint);
            }
        }
    }
}
