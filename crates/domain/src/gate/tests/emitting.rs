//! Tests of emitting events, from submission to transition.

use serde_json::json;

use super::*;
use crate::limits;

/// A run in the state `observe` with two observations.
fn run_with_two_observations() -> RunFixture {
    let mut fixture = RunFixture::with_run(EXPLORATION);
    fixture
        .emit(
            ("robot", "agent"),
            "submit_experiment_plan",
            json!({"plan": "look"}),
            vec![submitted_file("experiment_plan.md", "p")],
        )
        .unwrap();
    fixture.emit_as_agent("submit_observation", vec![submitted_file("observation-001.md", "one")]).unwrap();
    fixture.emit_as_agent("submit_observation", vec![submitted_file("observation-002.md", "two")]).unwrap();
    fixture
}

#[test]
fn a_run_begins_in_the_first_state_with_its_context() {
    let fixture = RunFixture::with_run(EXPLORATION);
    let run = fixture.state.run().unwrap();
    assert_eq!((run.id.as_str(), run.created_by.as_str()), ("run-1", "alice"));
    assert_eq!(run.process.hash, fixture.process.hash);
    assert_eq!((fixture.state.state(), fixture.state.status()), ("experiment", RunStatus::Active));
    assert_eq!(fixture.state.context().get("team_mode"), Some(&json!("solo")));
    assert_eq!(fixture.state.visits().get("experiment"), Some(&1));
}

#[test]
fn what_is_created_is_created_once() {
    let mut fixture = RunFixture::with_run(EXPLORATION);
    let again = fixture.create_command(Map::new());
    assert_eq!(fixture.execute("bob", &again), Err(RunRefusal::RunExists { run_id: "run-1".to_owned() }));
    let mut nothing = RunFixture::empty(load_process(EXPLORATION));
    assert_eq!(nothing.emit_as_agent("submit_observation", vec![]), Err(RunRefusal::RunNotFound));
}

#[test]
fn an_unmet_guard_that_records_keeps_what_was_submitted() {
    let mut fixture = RunFixture::with_run(EXPLORATION);
    fixture
        .emit(
            ("robot", "agent"),
            "submit_experiment_plan",
            json!({"plan": "look"}),
            vec![submitted_file("experiment_plan.md", "p")],
        )
        .unwrap();
    let payload = json!({"findings": "five seconds", "confidence_level": "high", "compared_with": ["a", "b"]});
    let files = vec![
        SubmittedArtifact {
            pointer: "/artifact_paths/0".to_owned(),
            ..submitted_file("./evidence/observation-001.md", "seen")
        },
        SubmittedArtifact {
            pointer: "/artifact_paths/1".to_owned(),
            ..submitted_file("./evidence/screenshots/search-test-001.png", "png")
        },
    ];
    let emitted = fixture.emit(("robot", "agent"), "submit_observation", payload, files).unwrap();
    assert!(emitted.recorded);
    assert_eq!((emitted.from.as_str(), emitted.to.as_str(), emitted.guard), ("observe", "observe", None));
    assert_eq!(emitted.guards[0].missing, ["観察件数が不足 (現在: 1, 必要: 3)"]);
    assert_eq!(fixture.state.context().get("confidence_level"), Some(&json!("high")));
    assert_eq!(fixture.state.evidence().get("evidence/observation-001.md").unwrap().types, ["observation"]);
    assert!(fixture.state.evidence().get("evidence/screenshots/search-test-001.png").unwrap().types.is_empty());
    assert_eq!(fixture.state.visits().get("observe"), Some(&1), "a recorded stay is no visit");
    assert_eq!(fixture.state.attempts().get("submit_observation"), Some(&1));
}

#[test]
fn an_unmet_guard_that_rejects_keeps_nothing() {
    let mut fixture = run_with_two_observations();
    let refusal = fixture.emit_as_agent("finish_observation", vec![submitted_file("notes.md", "n")]).unwrap_err();
    assert_eq!(refusal.kind(), RunRefusalKind::GuardFailed);
    assert_eq!(refusal.to_string(), "Guard conditions not satisfied");
    let lines: Vec<String> = refusal.guards().iter().map(GuardResult::line).collect();
    assert_eq!(lines, ["has_sufficient_observations: 観察件数が不足 (現在: 2, 必要: 3)"]);
}

#[test]
fn a_satisfied_guard_lets_through_and_is_recorded() {
    let mut fixture = run_with_two_observations();
    let emitted =
        fixture.emit_as_agent("submit_observation", vec![submitted_file("observation-003.md", "three")]).unwrap();
    assert_eq!((emitted.to.as_str(), emitted.guard.as_deref()), ("synthesize", Some("has_sufficient_observations")));
    assert_eq!(
        emitted.guards,
        [GuardResult { guard: "has_sufficient_observations".to_owned(), satisfied: true, missing: vec![] }]
    );
    let last = fixture.emit_as_agent("submit_synthesis", vec![submitted_file("final_synthesis.md", "s")]).unwrap();
    assert!(last.is_final);
    assert_eq!(fixture.state.status(), RunStatus::Finished);
    let refusal = fixture.emit_as_agent("submit_synthesis", vec![]).unwrap_err();
    assert_eq!(
        (refusal.kind(), refusal),
        (RunRefusalKind::InvalidEvent, RunRefusal::Finished { state: "decide".to_owned() })
    );
}

#[test]
fn events_that_cannot_happen_say_where_they_can() {
    let mut fixture = RunFixture::with_run(EXPLORATION);
    let refusal = fixture.emit_as_agent("submit_synthesis", vec![]).unwrap_err();
    assert_eq!(refusal.kind(), RunRefusalKind::InvalidEvent);
    assert_eq!(refusal.to_string(), "No transition defined for event 'submit_synthesis' from state 'experiment'");
    assert!(refusal.hint().contains("synthesize"));
    let refusal = fixture.emit_as_agent("submit_synthesys", vec![]).unwrap_err();
    assert_eq!(
        (refusal.kind(), refusal.hint()),
        (RunRefusalKind::InvalidEvent, "did you mean 'submit_synthesis'?".to_owned())
    );
    assert_eq!(refusal.pointer().as_deref(), Some("/event_name"));
    let refusal = fixture.emit(("eve", "guest"), "submit_synthesis", json!({}), vec![]).unwrap_err();
    assert_eq!((refusal.kind(), refusal.value()), (RunRefusalKind::Forbidden, Some("guest")));
}

#[test]
fn a_payload_must_fit_its_schema() {
    let mut fixture = RunFixture::with_run(EXPLORATION);
    for payload in [json!({}), json!({"plan": 5})] {
        let refusal = fixture.emit(("robot", "agent"), "submit_experiment_plan", payload, vec![]).unwrap_err();
        assert_eq!(refusal.kind(), RunRefusalKind::InvalidPayload);
        assert!(refusal.misfits()[0].path.starts_with("/payload"), "{:?}", refusal.misfits());
    }
}

const LOOP: &str = r#"
process: {id: p, version: "1", name: P, initial_state: a, context_schema: {properties: {n: {type: number}}}}
states: [{name: a}, {name: b}, {name: c}, {name: end, is_final: true}]
events: [{name: go, allowed_roles: ["*"], sets: [n]}, {name: stop, allowed_roles: ["*"]}]
transitions:
  - {from: a, event: go, to: end}
  - {from: a, event: go, to: c, guard: few, allowed_roles: [robot]}
  - {from: a, event: go, to: b, guard: small}
  - {from: b, event: go, to: a}
  - {from: c, event: stop, to: end, allowed_roles: [human]}
guards:
  small: {type: context, variable: n, condition: less_than, value: 3}
  few: {type: run, counter: visits, of: a, condition: at_most, value: 1}
roles: [{name: robot, allowed_events: []}, {name: human, allowed_events: []}]
"#;

#[test]
fn guarded_transitions_win_in_the_order_of_the_file_and_see_the_context_before() {
    let mut fixture = RunFixture::with_run(LOOP);
    let emitted = fixture.emit(("x", "robot"), "go", json!({"n": 1, "note": "kept"}), vec![]).unwrap();
    assert_eq!(emitted.to, "c");
    assert_eq!(
        (emitted.set, emitted.payload.len()),
        (vec!["n".to_owned()], 2),
        "what is not set is kept with the event"
    );
    assert!(!fixture.state.context().contains_key("note"));

    let mut fixture = RunFixture::with_run(LOOP);
    let emitted = fixture.emit(("x", "human"), "go", json!({"n": 1}), vec![]).unwrap();
    assert_eq!(
        emitted.to, "end",
        "the payload is not in the context yet, so `small` fails and the way without a guard is taken"
    );
    assert_eq!(emitted.guards[0].missing, ["Context variable 'n' is not defined"]);
    assert_eq!(emitted.guard, None);
}

#[test]
fn transitions_for_other_roles_are_forbidden() {
    let mut fixture = RunFixture::with_run(LOOP);
    fixture.emit(("x", "robot"), "go", json!({}), vec![]).unwrap();
    let refusal = fixture.emit(("x", "robot"), "stop", json!({}), vec![]).unwrap_err();
    assert_eq!(
        (refusal.kind(), refusal.to_string().as_str()),
        (RunRefusalKind::Forbidden, "Permission denied for all available transitions")
    );
}

#[test]
fn the_context_keeps_to_its_schema() {
    let mut fixture = RunFixture::with_run(LOOP);
    let refusal = fixture.emit(("x", "robot"), "go", json!({"n": "one"}), vec![]).unwrap_err();
    assert_eq!((refusal.kind(), refusal.pointer().as_deref()), (RunRefusalKind::InvalidPayload, Some("/payload/n")));
    let mut fixture = RunFixture::empty(load_process(LOOP));
    let create = fixture.create_command(object(json!({"m": 1})));
    fixture.execute("x", &create).unwrap();
    let mut fixture =
        RunFixture::empty(load_process(&LOOP.replace("initial_state: a,", "initial_state: a, sets: [n],")));
    let create = fixture.create_command(object(json!({"n": "one"})));
    assert_eq!(fixture.execute("x", &create).unwrap_err().pointer().as_deref(), Some("/context/n"));
}

#[test]
fn payloads_and_contexts_are_bounded() {
    let mut fixture = RunFixture::with_run(EXPLORATION);
    let plan = "x".repeat(crate::limits::PAYLOAD_BYTES_MAX);
    let refusal =
        fixture.emit(("robot", "agent"), "submit_experiment_plan", json!({ "plan": plan }), vec![]).unwrap_err();
    assert_eq!((refusal.kind(), refusal.pointer().as_deref()), (RunRefusalKind::TooLarge, Some("/payload")));
    let many: Vec<SubmittedArtifact> = (0..101).map(|number| submitted_file(&format!("{number}.md"), "x")).collect();
    let refusal = fixture.emit(("robot", "agent"), "submit_experiment_plan", json!({"plan": "p"}), many).unwrap_err();
    assert_eq!(refusal.kind(), RunRefusalKind::TooLarge);
    let part = "x".repeat(crate::limits::PAYLOAD_BYTES_MAX - 100);
    let grow = |fixture: &mut RunFixture, name: String| {
        let mut payload = object(json!({"plan": "p"}));
        payload.insert(name, json!(part));
        fixture.emit(("robot", "agent"), "submit_experiment_plan", Value::Object(payload), vec![])
    };
    let kept = (0..20).take_while(|number| grow(&mut fixture, format!("v{number}")).is_ok()).count();
    assert_eq!(kept, 10, "1,000,000 bytes in parts of about 99,900");
    assert!(grow(&mut fixture, "v3".to_owned()).is_ok(), "what replaces takes no room");
}

/// Tests a payload at the limit of bytes, and one byte more.
#[test]
fn a_payload_and_its_artifacts_fit_exactly() {
    let mut fixture = RunFixture::with_run(EXPLORATION);
    // The name of the variable and two quotes count too.
    let plan = |bytes: usize| json!({"plan": "x".repeat(bytes - 6)});
    let emits = |fixture: &mut RunFixture, payload: Value, files: usize| {
        let files = (0..files).map(|number| submitted_file(&format!("{number}.md"), "x")).collect();
        fixture.emit(("robot", "agent"), "submit_experiment_plan", payload, files).map(drop)
    };
    let kind = |refused: Result<(), RunRefusal>| refused.unwrap_err().kind();
    assert_eq!(kind(emits(&mut fixture, plan(limits::PAYLOAD_BYTES_MAX + 1), 0)), RunRefusalKind::TooLarge);
    let (most, past) = (limits::ARTIFACTS_SUBMITTED_MAX, limits::ARTIFACTS_SUBMITTED_MAX + 1);
    assert_eq!(kind(emits(&mut fixture, json!({"plan": "p"}), past)), RunRefusalKind::TooLarge);
    emits(&mut fixture, plan(limits::PAYLOAD_BYTES_MAX), most).unwrap();
}

#[test]
fn a_context_fits_exactly() {
    // The name of the variable and two quotes count too.
    let context = |bytes: usize| object(json!({"m": "x".repeat(bytes - 3)}));
    let mut fixture = RunFixture::empty(load_process(LOOP));
    let create = fixture.create_command(context(limits::CONTEXT_BYTES_MAX + 1));
    assert_eq!(fixture.execute("x", &create).unwrap_err().kind(), RunRefusalKind::TooLarge);
    let create = fixture.create_command(context(limits::CONTEXT_BYTES_MAX));
    fixture.execute("x", &create).unwrap();
    let refusal = fixture.emit(("x", "robot"), "go", json!({"n": 1}), vec![]).unwrap_err();
    assert_eq!((refusal.kind(), refusal.pointer().as_deref()), (RunRefusalKind::TooLarge, Some("/payload")));
}

/// One event fills the run with artifacts to just below the limit.
#[test]
fn a_run_has_only_so_many_artifacts() {
    let mut fixture = RunFixture::with_run(EXPLORATION);
    let first = fixture
        .emit(
            ("robot", "agent"),
            "submit_experiment_plan",
            json!({"plan": "p"}),
            vec![submitted_file("experiment_plan.md", "p")],
        )
        .unwrap();
    let artifact = first.artifacts[0].clone();
    let more = (2..limits::ARTIFACTS_MAX).map(|number| Artifact { path: format!("{number}.md"), ..artifact.clone() });
    let event = RunEvent::Emitted(Box::new(Emitted { artifacts: more.collect(), ..first }));
    let given = fixture.journal.last().unwrap().0.clone();
    fixture.state = RunRules::evolve(fixture.state.clone(), &event, &given);
    let revision = fixture.state.revision();
    let mut submit = |name: &str| {
        let payload = json!({"findings": "f"});
        fixture.emit(("robot", "agent"), "submit_observation", payload, vec![submitted_file(name, "x")]).map(drop)
    };
    submit("last.md").unwrap();
    assert_eq!(submit("more.md").unwrap_err().kind(), RunRefusalKind::TooLarge);
    submit("last.md").unwrap();
    assert_eq!(fixture.state.revision(), revision + 2);
}

#[test]
fn a_reason_has_an_end() {
    let cancel = |chars: usize| RunCommand::Cancel { role: "human".to_owned(), reason: Some("x".repeat(chars)) };
    let mut fixture = RunFixture::with_run(EXPLORATION);
    let refusal = fixture.execute("alice", &cancel(limits::TEXT_CHARS_MAX + 1)).unwrap_err();
    assert_eq!(refusal.kind(), RunRefusalKind::TooLarge);
    fixture.execute("alice", &cancel(limits::TEXT_CHARS_MAX)).unwrap();
}

#[test]
fn an_artifact_that_has_a_schema_is_json_that_fits() {
    let source = EXPLORATION
        .replace("description: 統合結果}", "description: 統合結果, schema: {type: object, required: [summary]}}");
    let mut fixture = RunFixture::with_run(&source);
    let submit = |fixture: &mut RunFixture, content: &str| {
        fixture.emit(
            ("robot", "agent"),
            "submit_experiment_plan",
            json!({"plan": "p"}),
            vec![submitted_file("synthesis.json", content)],
        )
    };
    for content in ["no json", "{}", "[]"] {
        let refusal = submit(&mut fixture, content).unwrap_err();
        assert_eq!(
            (refusal.kind(), refusal.pointer().as_deref()),
            (RunRefusalKind::InvalidPayload, Some("/artifact_paths/0"))
        );
    }
    assert!(submit(&mut fixture, r#"{"summary": "done"}"#).is_ok());
}

#[test]
fn an_agent_does_not_cancel() {
    let mut fixture = RunFixture::with_run(EXPLORATION);
    let cancel = |role: &str| RunCommand::Cancel { role: role.to_owned(), reason: None };
    let refused = fixture.execute("alice", &cancel(AGENT)).unwrap_err();
    assert_eq!(refused, RunRefusal::MayNotCancel { role: AGENT.to_owned() });
    assert_eq!((refused.kind(), refused.value()), (RunRefusalKind::Forbidden, Some(AGENT)));
    assert_eq!(fixture.state.status(), RunStatus::Active, "and the run goes on");
    fixture.execute("alice", &cancel("reviewer")).unwrap();
    assert_eq!(fixture.execute("alice", &cancel(AGENT)), Err(refused), "also where there is nothing to cancel");
}

#[test]
fn a_cancelled_run_is_over() {
    let mut fixture = RunFixture::with_run(EXPLORATION);
    let cancel =
        |reason: Option<&str>| RunCommand::Cancel { role: "human".to_owned(), reason: reason.map(str::to_owned) };
    assert_eq!(fixture.execute("alice", &cancel(Some(" "))), Err(RunRefusal::Empty { field: "reason" }));
    fixture.execute("alice", &cancel(None)).unwrap();
    assert_eq!(fixture.state.status(), RunStatus::Cancelled);
    assert_eq!(fixture.execute("alice", &cancel(None)), Err(RunRefusal::Cancelled));
    assert_eq!(fixture.emit_as_agent("submit_observation", vec![]), Err(RunRefusal::Cancelled));
    assert!(fixture.view().allowed_events().is_empty());
}
