//! Checks the guards of a process: references resolve, no cycles, no guard is unused or always true.

use std::collections::{BTreeMap, BTreeSet};

use super::Checker;
use crate::gate::finding::{Rule, join_pointer, suggest_word};
use crate::gate::guard::{Counter, Test};
use crate::gate::process::OnGuardFail;
use crate::limits;

pub(super) fn check(checker: &mut Checker<'_>) {
    check_references(checker);
    check_cycles_and_depth(checker);
    check_tests(checker);
    check_unused(checker);
    check_word_count(checker);
    for (index, transition) in checker.process.transitions.iter().enumerate() {
        if transition.guard.is_none() && transition.on_guard_fail == OnGuardFail::Record {
            let path = format!("/transitions/{index}/on_guard_fail");
            let message = "a transition without a guard never fails, so nothing is recorded instead";
            checker.report(Rule::RecordWithoutGuard, &path, message, "name a guard, or leave on_guard_fail out");
        }
    }
}

fn check_references(checker: &mut Checker<'_>) {
    let process = checker.process;
    let known: Vec<&str> = process.guards.keys().map(String::as_str).collect();
    let of_transitions = process.transitions.iter().enumerate().filter_map(|(index, transition)| {
        transition.guard.as_deref().map(|guard| (format!("/transitions/{index}/guard"), guard))
    });
    let of_guards = process.guards.iter().flat_map(|(name, guard)| {
        guard
            .referenced_names()
            .into_iter()
            .map(move |(path, named)| (format!("{}{path}", join_pointer("/guards", name)), named))
    });
    for (path, name) in of_transitions.chain(of_guards).collect::<Vec<_>>() {
        if !process.guards.contains_key(name) && !checker.is_full() {
            let message = format!("there is no guard {name:?}");
            checker.report(Rule::InvalidGuardReference, &path, message, suggest_word(name, &known));
        }
    }
}

/// Reports guards that refer to each other in a cycle or are nested too deeply. A topological sort without recursion,
/// so that a long chain cannot overflow the stack.
fn check_cycles_and_depth(checker: &mut Checker<'_>) {
    let process = checker.process;
    let mut named_by: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut waits_for: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, guard) in &process.guards {
        let known = guard
            .referenced_names()
            .into_iter()
            .map(|(_, named)| named)
            .filter(|named| process.guards.contains_key(*named));
        let known: BTreeSet<&str> = known.collect();
        waits_for.insert(name, known.len());
        for named in known {
            named_by.entry(named).or_default().push(name);
        }
    }
    let mut ready: Vec<&str> = waits_for.iter().filter(|(_, count)| **count == 0).map(|(name, _)| *name).collect();
    let mut depth = 0;
    while !ready.is_empty() {
        depth += 1;
        let mut next = Vec::new();
        for name in ready {
            waits_for.remove(name);
            if depth > limits::PROCESS_DEPTH_MAX {
                let message = format!("guards name each other at most {} deep", limits::PROCESS_DEPTH_MAX);
                checker.report(Rule::TooDeep, &join_pointer("/guards", name), message, "write fewer steps");
            }
            for waiting in named_by.get(name).into_iter().flatten() {
                if let Some(count) = waits_for.get_mut(waiting) {
                    *count -= 1;
                    next.extend((*count == 0).then_some(*waiting));
                }
            }
        }
        ready = next;
    }
    for name in waits_for.into_keys() {
        let message = format!("guard {name:?} leads back to itself, or to a circle of guards");
        checker.report(
            Rule::GuardCycle,
            &join_pointer("/guards", name),
            message,
            "let one of them name no other guard",
        );
    }
}

fn check_tests(checker: &mut Checker<'_>) {
    let process = checker.process;
    let artifacts: Vec<&str> = process.artifacts.iter().map(|artifact| artifact.name.as_str()).collect();
    let states: Vec<&str> = process.states.iter().map(|state| state.name.as_str()).collect();
    let events: Vec<&str> = process.events.iter().map(|event| event.name.as_str()).collect();
    for (name, guard) in &process.guards {
        let path = join_pointer("/guards", name);
        for (below, artifact_type) in guard.artifact_types() {
            if !artifacts.contains(&artifact_type) {
                let message = format!("there is no artifact type {artifact_type:?}");
                let hint = suggest_word(artifact_type, &artifacts);
                checker.report(Rule::InvalidGuardArtifactType, &format!("{path}{below}"), message, hint);
            }
        }
        for (below, guard) in guard.inline_guards() {
            let path = format!("{path}{below}");
            match &guard.test {
                Test::ArtifactCount { min_count: 0, .. } => {
                    let message = "at least 0 is always satisfied, so this guard lets everything through";
                    let path = format!("{path}/min_count");
                    checker.report(
                        Rule::GuardAlwaysSatisfied,
                        &path,
                        message,
                        "ask for at least 1, or remove the guard",
                    );
                }
                Test::Run { counter, of, .. } => {
                    let (thing, known) = match counter {
                        Counter::Attempts => ("event", &events),
                        Counter::Visits => ("state", &states),
                    };
                    if !known.contains(&of.as_str()) {
                        let message = format!("{} counts by {thing}, there is no {thing} {of:?}", counter.as_str());
                        let hint = suggest_word(of, known);
                        checker.report(Rule::InvalidGuardCounter, &format!("{path}/of"), message, hint);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Every submitted artifact is searched for all words, so their number is limited.
fn check_word_count(checker: &mut Checker<'_>) {
    let (count, most) = (checker.process.searched_words().len(), limits::GUARD_WORDS_MAX);
    if count > most {
        let message = format!("the guards of a process look for at most {most} different words, these for {count}");
        checker.report(Rule::TooLarge, "/guards", message, "ask for fewer words in contains");
    }
}

fn check_unused(checker: &mut Checker<'_>) {
    let process = checker.process;
    let used =
        process.referenced_guards(process.transitions.iter().filter_map(|transition| transition.guard.as_deref()));
    for name in process.guards.keys().filter(|name| !used.contains_key(name.as_str())) {
        let message = format!("no transition has the guard {name:?}");
        checker.report(
            Rule::UnusedGuard,
            &join_pointer("/guards", name),
            message,
            "put it on a transition, or remove it",
        );
    }
}
