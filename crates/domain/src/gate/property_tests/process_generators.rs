//! Generators for property tests: valid processes, and attempts on their runs.

use std::fmt::Write;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

const STATES: usize = 5;
const EVENTS: usize = 4;
pub(super) const ROLES: [&str; 3] = ["agent", "human", "reviewer"];
pub(super) const EVENT_NAMES: [&str; EVENTS] = ["e0", "e1", "approve", "reject"];

/// A guard as YAML.
fn guard() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        (0..3_u8, 0..3_u8).prop_map(|(kind, count)| {
            format!("{{type: artifact, artifact_type: t{kind}, condition: count, min_count: {count}}}")
        }),
        (0..3_u8).prop_map(|kind| format!("{{type: artifact, artifact_type: t{kind}, condition: exists}}")),
        (0..3_u8, 0..3_u8).prop_map(|(name, value)| {
            format!("{{type: context, variable: v{name}, condition: equals, value: {value}}}")
        }),
        (0..3_u8).prop_map(|name| format!("{{type: context, variable: v{name}, condition: not_exists}}")),
        (0..3_u8).prop_map(|name| format!("{{type: context, variable: v{name}, condition: at_least, value: 1}}")),
        (0..STATES, 0..4_u8).prop_map(|(state, count)| {
            format!("{{type: run, counter: visits, of: s{state}, condition: less_than, value: {count}}}")
        }),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 1..3).prop_map(|parts| format!("{{all: [{}]}}", parts.join(", "))),
            proptest::collection::vec(inner.clone(), 1..3).prop_map(|parts| format!("{{any: [{}]}}", parts.join(", "))),
            inner.prop_map(|part| format!("{{not: {part}}}")),
        ]
    })
}

/// One transition: from, event, to, guard, `on_guard_fail`, role.
type GeneratedTransition = (usize, usize, usize, Option<usize>, bool, Option<usize>);

fn transition() -> impl Strategy<Value = GeneratedTransition> {
    let guard = prop_oneof![1 => Just(None), 3 => (0..3_usize).prop_map(Some)];
    (0..STATES - 1, 0..EVENTS, 0..STATES, guard, any::<bool>(), proptest::option::weighted(0.2, 0..ROLES.len()))
}

/// A valid process: a chain through all states, so that each can be reached, and random transitions.
pub(super) fn process_source() -> impl Strategy<Value = String> {
    let guards = proptest::collection::vec(guard(), 3);
    (guards, proptest::collection::vec(transition(), 1..10)).prop_map(|(guards, ways)| {
        let mut text = "process: {id: p, version: '1', name: P, initial_state: s0}\nstates:\n".to_owned();
        for state in 0..STATES {
            writeln!(text, "  - {{name: s{state}, is_final: {}}}", state == STATES - 1).unwrap();
        }
        text.push_str("artifacts: [{type: t0}, {type: t1}, {type: t2}]\nevents:\n");
        for (number, name) in EVENT_NAMES.iter().enumerate() {
            let sets = if number == 0 { "sets: [v0, v1, v2], " } else { "" };
            writeln!(text, "  - {{name: {name}, {sets}allowed_roles: ['*']}}").unwrap();
        }
        text.push_str("roles:\n");
        for role in ROLES {
            let flag = role != "agent";
            writeln!(text, "  - {{name: {role}, allowed_events: [], can_approve: {flag}, can_reject: {flag}}}")
                .unwrap();
        }
        text.push_str("guards:\n");
        for (number, guard) in guards.iter().enumerate() {
            writeln!(text, "  g{number}: {guard}").unwrap();
        }
        text.push_str("transitions:\n");
        let chain = (0..STATES - 1).map(|state| (state, state % 2, state + 1, Some(state % 3), false, None));
        for (from, event, to, guard, is_recorded, role) in chain.chain(ways) {
            let guard = guard.map(|guard| format!(", guard: g{guard}")).unwrap_or_default();
            let role = role.map(|role| format!(", allowed_roles: [{}]", ROLES[role])).unwrap_or_default();
            let fail = if is_recorded { ", on_guard_fail: record" } else { "" };
            let event = EVENT_NAMES[event];
            writeln!(text, "  - {{from: s{from}, event: {event}, to: s{to}{guard}{role}{fail}}}").unwrap();
        }
        text
    })
}

/// A command that is tried on a run.
#[derive(Debug, Clone)]
pub(super) enum GeneratedAttempt {
    Emit { who: usize, role: usize, event: usize, payload: Value, files: Vec<(String, String)>, stale: Vec<String> },
    Override { who: usize, role: usize, is_human: bool, event: usize },
    Cancel,
}

pub(super) fn attempt() -> impl Strategy<Value = GeneratedAttempt> {
    let payload = prop_oneof![
        3 => Just(json!({})),
        2 => (0..4_u8, prop_oneof![(0..3_u8).prop_map(Value::from), Just(json!("text")), Just(json!(null))])
            .prop_map(|(name, value)| Value::Object(Map::from_iter([(format!("v{name}"), value)]))),
    ];
    let path = prop_oneof![
        30 => (0..3_u8, 0..3_u8).prop_map(|(kind, number)| format!("t{kind}_{number}.md")),
        6 => (0..3_u8).prop_map(|kind| format!("./t{kind}_0.md")),
        1 => (0..3_u8).prop_map(|kind| format!("t{kind}_0.md/../../t{kind}.md")),
    ];
    let files = proptest::collection::vec((path, prop_oneof![30 => "[abc]", 1 => ""]), 0..3);
    let stale =
        proptest::collection::vec((0..3_u8, 0..3_u8).prop_map(|(kind, number)| format!("t{kind}_{number}.md")), 0..2);
    prop_oneof![
        100 => (0..3_usize, 0..ROLES.len(), event(), payload, files, stale).prop_map(
            |(who, role, event, payload, files, stale)| GeneratedAttempt::Emit { who, role, event, payload, files, stale }
        ),
        8 => (0..3_usize, 0..ROLES.len(), any::<bool>(), event())
            .prop_map(|(who, role, is_human, event)| GeneratedAttempt::Override { who, role, is_human, event }),
        1 => Just(GeneratedAttempt::Cancel),
    ]
}

/// The index of an event, mostly of one that submits.
fn event() -> impl Strategy<Value = usize> {
    prop_oneof![8 => Just(0), 4 => Just(1), 1 => Just(2), 1 => Just(3)]
}

pub(super) fn principal(who: usize) -> String {
    format!("principal-{who}")
}
