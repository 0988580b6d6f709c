//! Property tests of the gate: invariants hold after any attempts in any generated process.
//!
//! Guards are evaluated a second time by a model that shares no code with the rules: it goes through plain lists.

mod model;
mod process_generators;

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use serde_json::{Value, json};

use self::model::RunModel;
use self::process_generators::{EVENT_NAMES, GeneratedAttempt, ROLES, attempt, principal, process_source};
use super::tests::{RunFixture, submitted_file};
use super::*;
use crate::decider::Decider;

fn try_attempt(fixture: &mut RunFixture, attempt: &GeneratedAttempt) -> Result<(), RunRefusal> {
    match attempt {
        GeneratedAttempt::Emit { who, role, event, payload, files, stale } => {
            fixture.facts.stale = stale.iter().cloned().collect();
            let files = files.iter().map(|(path, content)| submitted_file(path, content)).collect();
            let who = principal(*who);
            fixture.emit((&who, ROLES[*role]), EVENT_NAMES[*event], payload.clone(), files).map(drop)
        }
        GeneratedAttempt::Override { who, role, is_human, event } => {
            fixture.facts = Facts::default();
            let result = fixture.override_guard(&principal(*who), (ROLES[*role], *is_human), EVENT_NAMES[*event]);
            assert!(*is_human || result.is_err(), "only people override");
            result.map(drop)
        }
        GeneratedAttempt::Cancel => {
            let cancel = RunCommand::Cancel { role: "human".to_owned(), reason: None };
            fixture.execute("somebody", &cancel).map(drop)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn no_state_is_entered_but_through_a_guard_that_was_satisfied_or_overridden_and_recorded(
        source in process_source(),
        attempts in proptest::collection::vec(attempt(), 0..40),
    ) {
        let mut fixture = RunFixture::with_run(&source);
        let process = Arc::clone(&fixture.process);
        let mut model = RunModel::default();
        let mut seen = 0;
        for attempt in [None].into_iter().chain(attempts.iter().map(Some)) {
            let before = fixture.state.clone();
            let result = attempt.map_or(Ok(()), |attempt| try_attempt(&mut fixture, attempt));
            if result.is_err() {
                assert_eq!(fixture.state, before);
            }
            for (given, event) in &fixture.journal[seen..] {
                model.apply(&process, event, given);
            }
            seen = fixture.journal.len();
            assert_eq!(fixture.state.state(), model.state);
            let context: BTreeMap<String, Value> =
                fixture.state.context().iter().map(|(name, value)| (name.clone(), value.clone())).collect();
            assert_eq!(context, model.context);
            assert_eq!(fixture.state.visits().values().sum::<u64>(), model.visits.len() as u64);
        }
    }

    #[test]
    fn a_journal_and_a_stored_state_give_the_run_again(
        source in process_source(),
        attempts in proptest::collection::vec(attempt(), 0..30),
    ) {
        let mut fixture = RunFixture::with_run(&source);
        for attempt in &attempts {
            let _ = try_attempt(&mut fixture, attempt);
        }
        let replayed = fixture.journal.iter().fold(RunState::default(), |state, (given, event)| {
            let stored = serde_json::to_string(event).unwrap();
            RunRules::evolve(state, &serde_json::from_str(&stored).unwrap(), given)
        });
        assert_eq!(replayed, fixture.state);
        let stored = serde_json::to_string(&fixture.state).unwrap();
        assert_eq!(serde_json::from_str::<RunState>(&stored).unwrap(), fixture.state);
    }

    #[test]
    fn what_is_listed_as_allowed_is_what_would_be_accepted(
        source in process_source(),
        attempts in proptest::collection::vec(attempt(), 0..15),
    ) {
        let mut fixture = RunFixture::with_run(&source);
        for attempt in &attempts {
            let _ = try_attempt(&mut fixture, attempt);
        }
        for role in ROLES {
            for view in fixture.view_as("principal-0", role).events(true) {
                let mut copy = RunFixture::empty(Arc::clone(&fixture.process));
                (copy.state, copy.facts) = (fixture.state.clone(), fixture.facts.clone());
                let accepted = copy.emit(("principal-0", role), &view.event_name, json!({}), vec![]);
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
    fn a_file_with_a_line_less_is_read_or_explained(source in process_source(), line in 0..40_usize) {
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
        if let Ok(plain) = normalize_artifact_path(&path) {
            assert_eq!(normalize_artifact_path(&plain), Ok(plain.clone()), "what is plain stays as it is");
            assert!(plain.split('/').all(|part| !part.is_empty() && part != "." && part != ".."));
        }
    }
}

#[test]
fn a_path_that_a_dot_hides_is_looked_at_too() {
    for (path, why) in [
        ("./ ", "Empty artifact path"),
        ("./~/x", "Absolute path not allowed"),
        (".//C:x", "Absolute path not allowed"),
        ("a\nb", "Control character in artifact path"),
        ("a\u{202e}b.md", "Invisible or reordering character in artifact path"),
        ("a\u{e0041}b.md", "Invisible or reordering character in artifact path"),
    ] {
        assert_eq!(normalize_artifact_path(path), Err(why), "{path}");
    }
    assert_eq!(normalize_artifact_path("./a//./b.md"), Ok("a/b.md".to_owned()));
    assert_eq!(
        normalize_artifact_path("Bilder/Zoë 日本 👩🏽\u{200d}🚀.md").as_deref(),
        Ok("Bilder/Zoë 日本 👩🏽\u{200d}🚀.md")
    );
}

#[test]
fn the_generated_processes_can_be_gone_through() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut moved, mut recorded, mut refused, mut overridden) = (0, 0, 0, 0);
    let plans = (process_source(), proptest::collection::vec(attempt(), 30));
    for _ in 0..60 {
        let (source, attempts) = plans.new_tree(&mut runner).unwrap().current();
        let mut fixture = RunFixture::with_run(&source);
        refused += attempts.iter().filter(|attempt| try_attempt(&mut fixture, attempt).is_err()).count();
        for (_, event) in &fixture.journal {
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
