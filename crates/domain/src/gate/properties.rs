//! What holds after any attempts whatever, in any process whatever.
//!
//! Guards are evaluated a second time by a model that knows nothing of how the rules are built: it keeps plain lists and
//! goes through all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use serde_json::{Map, Value, json};

use super::tests::{Desk, file};
use super::*;
use crate::decider::{Decider, Given};

const STATES: usize = 5;
const EVENTS: usize = 4;
const ROLES: [&str; 3] = ["agent", "human", "reviewer"];
const EVENT_NAMES: [&str; EVENTS] = ["e0", "e1", "approve", "reject"];

/// A guard's name, and how it is written.
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
type Way = (usize, usize, usize, Option<usize>, bool, Option<usize>);

fn way() -> impl Strategy<Value = Way> {
    let guard = prop_oneof![1 => Just(None), 3 => (0..3_usize).prop_map(Some)];
    (0..STATES - 1, 0..EVENTS, 0..STATES, guard, any::<bool>(), proptest::option::weighted(0.2, 0..ROLES.len()))
}

/// A process that can be loaded: a chain through all states, so that each can be reached, and ways across it.
fn source() -> impl Strategy<Value = String> {
    let guards = proptest::collection::vec(guard(), 3);
    (guards, proptest::collection::vec(way(), 1..10)).prop_map(|(guards, ways)| {
        let mut text = "process: {id: p, version: '1', name: P, initial_state: s0}\nstates:\n".to_owned();
        for state in 0..STATES {
            text.push_str(&format!("  - {{name: s{state}, is_final: {}}}\n", state == STATES - 1));
        }
        text.push_str("artifacts: [{type: t0}, {type: t1}, {type: t2}]\nevents:\n");
        for (number, name) in EVENT_NAMES.iter().enumerate() {
            let sets = if number == 0 { "sets: [v0, v1, v2], " } else { "" };
            text.push_str(&format!("  - {{name: {name}, {sets}allowed_roles: ['*']}}\n"));
        }
        text.push_str("roles:\n");
        for role in ROLES {
            let flag = role != "agent";
            text.push_str(&format!(
                "  - {{name: {role}, allowed_events: [], can_approve: {flag}, can_reject: {flag}}}\n"
            ));
        }
        text.push_str("guards:\n");
        for (number, guard) in guards.iter().enumerate() {
            text.push_str(&format!("  g{number}: {guard}\n"));
        }
        text.push_str("transitions:\n");
        let chain = (0..STATES - 1).map(|state| (state, state % 2, state + 1, Some(state % 3), false, None));
        for (from, event, to, guard, is_recorded, role) in chain.chain(ways) {
            let guard = guard.map(|guard| format!(", guard: g{guard}")).unwrap_or_default();
            let role = role.map(|role| format!(", allowed_roles: [{}]", ROLES[role])).unwrap_or_default();
            let fail = if is_recorded { ", on_guard_fail: record" } else { "" };
            let event = EVENT_NAMES[event];
            text.push_str(&format!("  - {{from: s{from}, event: {event}, to: s{to}{guard}{role}{fail}}}\n"));
        }
        text
    })
}

/// Something that somebody tries.
#[derive(Debug, Clone)]
enum Attempt {
    Emit { who: usize, role: usize, event: usize, payload: Value, files: Vec<(String, String)>, stale: Vec<String> },
    Override { who: usize, role: usize, is_human: bool, event: usize },
    Cancel,
}

fn attempt() -> impl Strategy<Value = Attempt> {
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
            |(who, role, event, payload, files, stale)| Attempt::Emit { who, role, event, payload, files, stale }
        ),
        8 => (0..3_usize, 0..ROLES.len(), any::<bool>(), event())
            .prop_map(|(who, role, is_human, event)| Attempt::Override { who, role, is_human, event }),
        1 => Just(Attempt::Cancel),
    ]
}

/// Mostly one that submits.
fn event() -> impl Strategy<Value = usize> {
    prop_oneof![8 => Just(0), 4 => Just(1), 1 => Just(2), 1 => Just(3)]
}

fn principal(who: usize) -> String {
    format!("principal-{who}")
}

/// The run as plain lists.
#[derive(Debug, Default)]
struct Model {
    state: String,
    context: BTreeMap<String, Value>,
    /// Path, content and the one type, the last of a path being the one that counts.
    files: Vec<(String, String, String)>,
    visits: Vec<String>,
    submitters: BTreeSet<String>,
}

impl Model {
    fn count(&self, kind: &str, stale: &[String]) -> u64 {
        let mut last: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
        for (path, content, kind) in &self.files {
            last.insert(path, (content, kind));
        }
        let counted = last.iter().filter(|(path, (_, of))| *of == kind && !stale.iter().any(|stale| stale == *path));
        counted.map(|(_, (content, _))| *content).collect::<BTreeSet<_>>().len() as u64
    }

    /// `None` if it cannot be told.
    fn holds(&self, guard: &Guard, stale: &[String]) -> Option<bool> {
        let parts = |parts: &[Part]| -> Vec<Option<bool>> {
            let inline = parts.iter().map(|part| match part {
                Part::Inline(guard) => self.holds(guard, stale),
                Part::Named(name) => panic!("{name} is not written out"),
            });
            inline.collect()
        };
        match &guard.test {
            Test::ArtifactExists { artifact_type } => Some(self.count(artifact_type, stale) > 0),
            Test::ArtifactCount { artifact_type, min_count } => Some(self.count(artifact_type, stale) >= *min_count),
            Test::Context { variable, test } => match (self.context.get(variable), test) {
                (found, ContextTest::NotExists) => Some(found.is_none()),
                (None, _) => Some(false),
                (Some(found), ContextTest::Equals(value)) => Some(found == value),
                (Some(found), ContextTest::Compare(Comparison::AtLeast, bound)) => {
                    found.as_u64().map(|found| found >= bound.as_u64().unwrap())
                }
                other => panic!("{other:?} is not made here"),
            },
            Test::Run { of, value, .. } => {
                let visits = self.visits.iter().filter(|state| *state == of).count() as u64;
                Some(visits < value.as_u64().unwrap())
            }
            Test::Cel(_) => panic!("expressions are not made here"),
            Test::All(all) => {
                let all = parts(all);
                if all.contains(&Some(false)) {
                    Some(false)
                } else if all.contains(&None) {
                    None
                } else {
                    Some(true)
                }
            }
            Test::Any(any) => {
                let any = parts(any);
                if any.contains(&Some(true)) {
                    Some(true)
                } else if any.contains(&None) {
                    None
                } else {
                    Some(false)
                }
            }
            Test::Not(part) => parts(std::slice::from_ref(part.as_ref()))[0].map(|holds| !holds),
        }
    }

    /// Takes over what an event says, after checking that it could be said.
    fn follows(&mut self, process: &Process, event: &RunEvent, given: &Given) {
        match event {
            RunEvent::Created(created) => {
                self.state = created.state.clone();
                self.visits.push(created.state.clone());
            }
            RunEvent::Emitted(emitted) => self.follows_emitted(process, emitted, given),
            RunEvent::Overridden(overridden) => {
                assert_eq!(overridden.from, self.state);
                let guard = &process.guards[&overridden.guard];
                assert_ne!(self.holds(guard, &[]), Some(true), "what is satisfied is not overridden");
                assert!(!overridden.reason.is_empty());
                assert!(process.transitions.iter().any(|way| {
                    way.from == overridden.from
                        && way.to == overridden.to
                        && way.guard.as_ref() == Some(&overridden.guard)
                }));
                self.enter(&overridden.to);
            }
            RunEvent::Cancelled(_) => {}
        }
    }

    fn follows_emitted(&mut self, process: &Process, emitted: &Emitted, given: &Given) {
        assert_eq!(emitted.from, self.state);
        assert!(!process.is_final(&self.state), "final states are final");
        let decides = ["approve", "reject"].contains(&emitted.event.as_str());
        assert_eq!(emitted.decision, decides);
        if decides {
            assert!(!self.submitters.contains(&given.by), "who submitted decides nothing");
            assert_ne!(emitted.role, "agent");
        } else {
            self.submitters.insert(given.by.clone());
        }
        for artifact in &emitted.artifacts {
            let kind = artifact.types.first().cloned().unwrap_or_default();
            self.files.push((artifact.path.clone(), artifact.sha256.clone(), kind));
        }
        for result in &emitted.guards {
            let holds = self.holds(&process.guards[&result.guard], &emitted.stale);
            assert_eq!(result.satisfied, holds == Some(true), "{result:?} in {self:?}");
            assert_eq!(result.satisfied, result.missing.is_empty());
        }
        if emitted.recorded {
            assert_eq!(emitted.to, self.state, "what is recorded moves nothing");
            assert!(emitted.guards.iter().all(|result| !result.satisfied));
        } else {
            let is_way = |way: &&Transition| {
                (&way.from, &way.event, &way.to, &way.guard)
                    == (&emitted.from, &emitted.event, &emitted.to, &emitted.guard)
                    && way.allowed_roles.as_ref().is_none_or(|roles| roles.contains(&emitted.role))
            };
            assert!(process.transitions.iter().any(|way| is_way(&way)), "{emitted:?}");
            match &emitted.guard {
                Some(guard) => {
                    let last = emitted.guards.last().expect("the guard that let it through is recorded");
                    assert!(last.guard == *guard && last.satisfied);
                }
                // A way without a guard is taken only where no guarded one could be.
                None => assert!(emitted.guards.iter().all(|result| !result.satisfied)),
            }
        }
        for name in &emitted.set {
            assert!(
                emitted.event == "e0" || !["v0", "v1", "v2"].contains(&name.as_str()) || !process.reads.contains(name)
            );
            self.context.insert(name.clone(), emitted.payload[name].clone());
        }
        if !emitted.recorded {
            self.enter(&emitted.to);
        }
    }

    fn enter(&mut self, state: &str) {
        self.state = state.to_owned();
        self.visits.push(state.to_owned());
    }
}

fn tries(desk: &mut Desk, attempt: &Attempt) -> Result<(), RunRefusal> {
    match attempt {
        Attempt::Emit { who, role, event, payload, files, stale } => {
            desk.facts.stale = stale.iter().cloned().collect();
            let files = files.iter().map(|(path, content)| file(path, content)).collect();
            let who = principal(*who);
            desk.emits((&who, ROLES[*role]), EVENT_NAMES[*event], payload.clone(), files).map(drop)
        }
        Attempt::Override { who, role, is_human, event } => {
            desk.facts = Facts::default();
            let result = desk.overrides(&principal(*who), (ROLES[*role], *is_human), EVENT_NAMES[*event]);
            assert!(*is_human || result.is_err(), "only people override");
            result.map(drop)
        }
        Attempt::Cancel => {
            let cancel = RunCommand::Cancel { role: "human".to_owned(), reason: None };
            desk.tries("somebody", &cancel).map(drop)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn no_state_is_entered_but_through_a_guard_that_was_satisfied_or_overridden_and_recorded(
        source in source(),
        attempts in proptest::collection::vec(attempt(), 0..40),
    ) {
        let mut desk = Desk::begun(&source);
        let process = Arc::clone(&desk.process);
        let mut model = Model::default();
        let mut seen = 0;
        for attempt in [None].into_iter().chain(attempts.iter().map(Some)) {
            let before = desk.state.clone();
            let result = attempt.map_or(Ok(()), |attempt| tries(&mut desk, attempt));
            if result.is_err() {
                assert_eq!(desk.state, before);
            }
            for (given, event) in &desk.journal[seen..] {
                model.follows(&process, event, given);
            }
            seen = desk.journal.len();
            assert_eq!(desk.state.state(), model.state);
            let context: BTreeMap<String, Value> =
                desk.state.context().iter().map(|(name, value)| (name.clone(), value.clone())).collect();
            assert_eq!(context, model.context);
            assert_eq!(desk.state.visits().values().sum::<u64>(), model.visits.len() as u64);
        }
    }

    #[test]
    fn a_journal_and_a_stored_state_give_the_run_again(
        source in source(),
        attempts in proptest::collection::vec(attempt(), 0..30),
    ) {
        let mut desk = Desk::begun(&source);
        for attempt in &attempts {
            let _ = tries(&mut desk, attempt);
        }
        let replayed = desk.journal.iter().fold(RunState::default(), |state, (given, event)| {
            let stored = serde_json::to_string(event).unwrap();
            RunRules::evolve(state, &serde_json::from_str(&stored).unwrap(), given)
        });
        assert_eq!(replayed, desk.state);
        let stored = serde_json::to_string(&desk.state).unwrap();
        assert_eq!(serde_json::from_str::<RunState>(&stored).unwrap(), desk.state);
    }

    #[test]
    fn what_is_listed_as_allowed_is_what_would_be_accepted(
        source in source(),
        attempts in proptest::collection::vec(attempt(), 0..15),
    ) {
        let mut desk = Desk::begun(&source);
        for attempt in &attempts {
            let _ = tries(&mut desk, attempt);
        }
        for role in ROLES {
            for view in desk.look_as("principal-0", role).events(true) {
                let mut copy = Desk::empty(Arc::clone(&desk.process));
                (copy.state, copy.facts) = (desk.state.clone(), desk.facts.clone());
                let accepted = copy.emits(("principal-0", role), &view.event_name, json!({}), vec![]);
                assert_eq!(accepted.is_ok(), view.is_allowed, "{view:?} {accepted:?}");
            }
        }
    }

    #[test]
    fn any_text_is_read_or_explained(text in "[a-z:{}\\[\\],&*!|>'\"\n \\-#?0-9]{0,200}") {
        let loaded = load(&text);
        assert!(loaded.process.is_none() && !loaded.findings.is_empty());
    }

    #[test]
    fn a_file_with_a_line_less_is_read_or_explained(source in source(), line in 0..40_usize) {
        let cut: Vec<&str> = source.lines().enumerate().filter(|(number, _)| *number != line).map(|(_, line)| line).collect();
        let lines = cut.len();
        let loaded = load(&cut.join("\n"));
        assert!(loaded.process.is_some() != loaded.findings.iter().any(Finding::is_error));
        for finding in &loaded.findings {
            assert!((1..=lines + 1).contains(&finding.line) && finding.column > 0, "{finding}");
        }
    }

    #[test]
    fn any_path_is_plain_and_inside_or_refused(path in "[a./\\\\~:; \n]{0,12}") {
        if let Ok(plain) = plain_path(&path) {
            assert_eq!(plain_path(&plain), Ok(plain.clone()), "what is plain stays as it is");
            assert!(plain.split('/').all(|part| !part.is_empty() && part != "." && part != ".."));
        }
    }
}

#[test]
fn the_generated_processes_can_be_gone_through() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut moved, mut recorded, mut refused, mut overridden) = (0, 0, 0, 0);
    let plans = (source(), proptest::collection::vec(attempt(), 30));
    for _ in 0..60 {
        let (source, attempts) = plans.new_tree(&mut runner).unwrap().current();
        let mut desk = Desk::begun(&source);
        refused += attempts.iter().filter(|attempt| tries(&mut desk, attempt).is_err()).count();
        for (_, event) in &desk.journal {
            match event {
                RunEvent::Emitted(emitted) if emitted.recorded => recorded += 1,
                RunEvent::Emitted(emitted) if emitted.guard.is_some() => moved += 1,
                RunEvent::Overridden(_) => overridden += 1,
                _ => {}
            }
        }
    }
    assert!(
        moved > 60 && recorded > 10 && refused > 100 && overridden > 5,
        "{moved} {recorded} {refused} {overridden}"
    );
}
