//! Tests over the texts of all refusals: none teaches the way around the gate.

use std::mem::discriminant;

use super::*;

/// Words by which a refusal would name the place of processes, or how to change one, or how to take another role.
const WAYS_AROUND: [&str; 12] = [
    "process folder",
    "processes",
    ".yaml",
    ".yml",
    ".state_gate",
    "process-dir",
    "put a file",
    "edit",
    "submit_process",
    "token create",
    "gate-role",
    "--role",
];

/// One refusal of each variant, and of each text that a variant can have.
fn every_refusal() -> Vec<RunRefusal> {
    let text = || "x".to_owned();
    let misfit = || SchemaMisfit { path: "/x".to_owned(), message: text() };
    let guards = || vec![GuardResult { guard: text(), satisfied: false, missing: vec![text()] }];
    vec![
        RunRefusal::RunNotFound,
        RunRefusal::RunExists { run_id: text() },
        RunRefusal::OtherProcess { expected: text(), given: text() },
        RunRefusal::OutOfDate { facts_of: 1, revision: 2 },
        RunRefusal::Finished { state: text() },
        RunRefusal::Cancelled,
        RunRefusal::EventNotFound { event: text(), nearest: Some(text()), known: vec![text()] },
        RunRefusal::EventNotFound { event: text(), nearest: None, known: vec![text()] },
        RunRefusal::NoTransition { event: text(), state: text(), states: vec![] },
        RunRefusal::NoTransition { event: text(), state: text(), states: vec![text()] },
        RunRefusal::RoleForbidden { event: text(), role: text(), allowed: vec![] },
        RunRefusal::RoleForbidden { event: text(), role: text(), allowed: vec![text()] },
        RunRefusal::TransitionsForbidden { event: text(), role: text() },
        RunRefusal::MayNotDecide { role: text(), decision: Decision::Approve },
        RunRefusal::OwnWork { principal: text() },
        RunRefusal::NotHuman { role: text() },
        RunRefusal::MayNotCancel { role: text() },
        RunRefusal::KeyMisfit { misfit: misfit() },
        RunRefusal::PayloadMisfits { misfits: vec![misfit()] },
        RunRefusal::ContextMisfits { misfits: vec![misfit()], settable: None },
        RunRefusal::ContextMisfits { misfits: vec![misfit()], settable: Some(vec![]) },
        RunRefusal::ContextMisfits { misfits: vec![misfit()], settable: Some(vec![text()]) },
        RunRefusal::ArtifactMisfits { misfits: vec![misfit()] },
        RunRefusal::GuardFailed { results: guards() },
        RunRefusal::NothingToOverride { guard: text(), event: text() },
        RunRefusal::Empty { field: "x" },
        RunRefusal::TooLarge { field: "x", what: "x", unit: "x", count: 2, count_max: 1 },
    ]
}

/// Does not compile if a variant joins: add it to `every_refusal` and count it here.
fn variant_count(refusal: &RunRefusal) -> usize {
    match refusal {
        RunRefusal::RunNotFound
        | RunRefusal::RunExists { .. }
        | RunRefusal::OtherProcess { .. }
        | RunRefusal::OutOfDate { .. }
        | RunRefusal::Finished { .. }
        | RunRefusal::Cancelled
        | RunRefusal::EventNotFound { .. }
        | RunRefusal::NoTransition { .. }
        | RunRefusal::RoleForbidden { .. }
        | RunRefusal::TransitionsForbidden { .. }
        | RunRefusal::MayNotDecide { .. }
        | RunRefusal::OwnWork { .. }
        | RunRefusal::NotHuman { .. }
        | RunRefusal::MayNotCancel { .. }
        | RunRefusal::KeyMisfit { .. }
        | RunRefusal::PayloadMisfits { .. }
        | RunRefusal::ContextMisfits { .. }
        | RunRefusal::ArtifactMisfits { .. }
        | RunRefusal::GuardFailed { .. }
        | RunRefusal::NothingToOverride { .. }
        | RunRefusal::Empty { .. }
        | RunRefusal::TooLarge { .. } => 22,
    }
}

#[test]
fn no_refusal_names_the_process_folder_or_how_to_change_a_process() {
    let refusals = every_refusal();
    let mut variants: Vec<_> = refusals.iter().map(discriminant).collect();
    variants.sort_unstable_by_key(|variant| format!("{variant:?}"));
    variants.dedup();
    assert_eq!(variants.len(), variant_count(&refusals[0]));
    for refusal in refusals {
        let text = format!("{refusal}; {}", refusal.hint()).to_lowercase();
        for way in WAYS_AROUND {
            assert!(!text.contains(way), "{way:?} is told: {text}");
        }
    }
}
