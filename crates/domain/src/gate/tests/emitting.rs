//! Tests of emitting events, from submission to transition.

use serde_json::json;

use super::*;
use crate::limits;

/// A run in the state `observe` with two observations.
fn run_with_two_observations() -> RunFixture {
    let mut desk = RunFixture::with_run(EXPLORATION);
    desk.emit(
        ("robot", "agent"),
        "submit_experiment_plan",
        json!({"plan": "look"}),
        vec![submitted_file("experiment_plan.md", "p")],
    )
    .unwrap();
    desk.emit_as_agent("submit_observation", vec![submitted_file("observation-001.md", "one")]).unwrap();
    desk.emit_as_agent("submit_observation", vec![submitted_file("observation-002.md", "two")]).unwrap();
    desk
}

#[test]
fn a_run_begins_in_the_first_state_with_its_context() {
    let desk = RunFixture::with_run(EXPLORATION);
    let run = desk.state.run().unwrap();
    assert_eq!((run.id.as_str(), run.created_by.as_str()), ("run-1", "alice"));
    assert_eq!(run.process.hash, desk.process.hash);
    assert_eq!((desk.state.state(), desk.state.status()), ("experiment", RunStatus::Active));
    assert_eq!(desk.state.context().get("team_mode"), Some(&json!("solo")));
    assert_eq!(desk.state.visits().get("experiment"), Some(&1));
}

#[test]
fn what_is_created_is_created_once() {
    let mut desk = RunFixture::with_run(EXPLORATION);
    let again = desk.create_command(Map::new());
    assert_eq!(desk.execute("bob", &again), Err(RunRefusal::RunExists { run_id: "run-1".to_owned() }));
    let mut nothing = RunFixture::empty(load_process(EXPLORATION));
    assert_eq!(nothing.emit_as_agent("submit_observation", vec![]), Err(RunRefusal::RunNotFound));
}

#[test]
fn an_unmet_guard_that_records_keeps_what_was_submitted() {
    let mut desk = RunFixture::with_run(EXPLORATION);
    desk.emit(
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
    let emitted = desk.emit(("robot", "agent"), "submit_observation", payload, files).unwrap();
    assert!(emitted.recorded);
    assert_eq!((emitted.from.as_str(), emitted.to.as_str(), emitted.guard), ("observe", "observe", None));
    assert_eq!(emitted.guards[0].missing, ["観察件数が不足 (現在: 1, 必要: 3)"]);
    assert_eq!(desk.state.context().get("confidence_level"), Some(&json!("high")));
    assert_eq!(desk.state.evidence().get("evidence/observation-001.md").unwrap().types, ["observation"]);
    assert!(desk.state.evidence().get("evidence/screenshots/search-test-001.png").unwrap().types.is_empty());
    assert_eq!(desk.state.visits().get("observe"), Some(&1), "a recorded stay is no visit");
    assert_eq!(desk.state.attempts().get("submit_observation"), Some(&1));
}

#[test]
fn an_unmet_guard_that_rejects_keeps_nothing() {
    let mut desk = run_with_two_observations();
    let refusal = desk.emit_as_agent("finish_observation", vec![submitted_file("notes.md", "n")]).unwrap_err();
    assert_eq!(refusal.kind(), RunRefusalKind::GuardFailed);
    assert_eq!(refusal.to_string(), "Guard conditions not satisfied");
    let lines: Vec<String> = refusal.guards().iter().map(GuardResult::line).collect();
    assert_eq!(lines, ["has_sufficient_observations: 観察件数が不足 (現在: 2, 必要: 3)"]);
}

#[test]
fn a_satisfied_guard_lets_through_and_is_recorded() {
    let mut desk = run_with_two_observations();
    let emitted =
        desk.emit_as_agent("submit_observation", vec![submitted_file("observation-003.md", "three")]).unwrap();
    assert_eq!((emitted.to.as_str(), emitted.guard.as_deref()), ("synthesize", Some("has_sufficient_observations")));
    assert_eq!(
        emitted.guards,
        [GuardResult { guard: "has_sufficient_observations".to_owned(), satisfied: true, missing: vec![] }]
    );
    let last = desk.emit_as_agent("submit_synthesis", vec![submitted_file("final_synthesis.md", "s")]).unwrap();
    assert!(last.is_final);
    assert_eq!(desk.state.status(), RunStatus::Finished);
    let refusal = desk.emit_as_agent("submit_synthesis", vec![]).unwrap_err();
    assert_eq!(
        (refusal.kind(), refusal),
        (RunRefusalKind::InvalidEvent, RunRefusal::Finished { state: "decide".to_owned() })
    );
}

#[test]
fn events_that_cannot_happen_say_where_they_can() {
    let mut desk = RunFixture::with_run(EXPLORATION);
    let refusal = desk.emit_as_agent("submit_synthesis", vec![]).unwrap_err();
    assert_eq!(refusal.kind(), RunRefusalKind::InvalidEvent);
    assert_eq!(refusal.to_string(), "No transition defined for event 'submit_synthesis' from state 'experiment'");
    assert!(refusal.hint().contains("synthesize"));
    let refusal = desk.emit_as_agent("submit_synthesys", vec![]).unwrap_err();
    assert_eq!(
        (refusal.kind(), refusal.hint()),
        (RunRefusalKind::InvalidEvent, "did you mean 'submit_synthesis'?".to_owned())
    );
    assert_eq!(refusal.pointer().as_deref(), Some("/event_name"));
    let refusal = desk.emit(("eve", "guest"), "submit_synthesis", json!({}), vec![]).unwrap_err();
    assert_eq!((refusal.kind(), refusal.value()), (RunRefusalKind::Forbidden, Some("guest")));
}

#[test]
fn a_payload_must_fit_its_schema() {
    let mut desk = RunFixture::with_run(EXPLORATION);
    for payload in [json!({}), json!({"plan": 5})] {
        let refusal = desk.emit(("robot", "agent"), "submit_experiment_plan", payload, vec![]).unwrap_err();
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
    let mut desk = RunFixture::with_run(LOOP);
    let emitted = desk.emit(("x", "robot"), "go", json!({"n": 1, "note": "kept"}), vec![]).unwrap();
    assert_eq!(emitted.to, "c");
    assert_eq!(
        (emitted.set, emitted.payload.len()),
        (vec!["n".to_owned()], 2),
        "what is not set is kept with the event"
    );
    assert!(!desk.state.context().contains_key("note"));

    let mut desk = RunFixture::with_run(LOOP);
    let emitted = desk.emit(("x", "human"), "go", json!({"n": 1}), vec![]).unwrap();
    assert_eq!(
        emitted.to, "end",
        "the payload is not in the context yet, so `small` fails and the way without a guard is taken"
    );
    assert_eq!(emitted.guards[0].missing, ["Context variable 'n' is not defined"]);
    assert_eq!(emitted.guard, None);
}

#[test]
fn transitions_for_other_roles_are_forbidden() {
    let mut desk = RunFixture::with_run(LOOP);
    desk.emit(("x", "robot"), "go", json!({}), vec![]).unwrap();
    let refusal = desk.emit(("x", "robot"), "stop", json!({}), vec![]).unwrap_err();
    assert_eq!(
        (refusal.kind(), refusal.to_string().as_str()),
        (RunRefusalKind::Forbidden, "Permission denied for all available transitions")
    );
}

#[test]
fn the_context_keeps_to_its_schema() {
    let mut desk = RunFixture::with_run(LOOP);
    let refusal = desk.emit(("x", "robot"), "go", json!({"n": "one"}), vec![]).unwrap_err();
    assert_eq!((refusal.kind(), refusal.pointer().as_deref()), (RunRefusalKind::InvalidPayload, Some("/payload/n")));
    let mut desk = RunFixture::empty(load_process(LOOP));
    let create = desk.create_command(object(json!({"m": 1})));
    desk.execute("x", &create).unwrap();
    let mut desk = RunFixture::empty(load_process(&LOOP.replace("initial_state: a,", "initial_state: a, sets: [n],")));
    let create = desk.create_command(object(json!({"n": "one"})));
    assert_eq!(desk.execute("x", &create).unwrap_err().pointer().as_deref(), Some("/context/n"));
}

#[test]
fn payloads_and_contexts_are_bounded() {
    let mut desk = RunFixture::with_run(EXPLORATION);
    let plan = "x".repeat(crate::limits::PAYLOAD_BYTES_MAX);
    let refusal = desk.emit(("robot", "agent"), "submit_experiment_plan", json!({ "plan": plan }), vec![]).unwrap_err();
    assert_eq!((refusal.kind(), refusal.pointer().as_deref()), (RunRefusalKind::TooLarge, Some("/payload")));
    let many: Vec<SubmittedArtifact> = (0..101).map(|number| submitted_file(&format!("{number}.md"), "x")).collect();
    let refusal = desk.emit(("robot", "agent"), "submit_experiment_plan", json!({"plan": "p"}), many).unwrap_err();
    assert_eq!(refusal.kind(), RunRefusalKind::TooLarge);
    let part = "x".repeat(crate::limits::PAYLOAD_BYTES_MAX - 100);
    let grow = |desk: &mut RunFixture, name: String| {
        let mut payload = object(json!({"plan": "p"}));
        payload.insert(name, json!(part));
        desk.emit(("robot", "agent"), "submit_experiment_plan", Value::Object(payload), vec![])
    };
    let kept = (0..20).take_while(|number| grow(&mut desk, format!("v{number}")).is_ok()).count();
    assert_eq!(kept, 10, "1,000,000 bytes in parts of about 99,900");
    assert!(grow(&mut desk, "v3".to_owned()).is_ok(), "what replaces takes no room");
}

/// Tests a payload at the limit of bytes, and one byte more.
#[test]
fn a_payload_and_its_artifacts_fit_exactly() {
    let mut desk = RunFixture::with_run(EXPLORATION);
    // The name of the variable and two quotes count too.
    let plan = |bytes: usize| json!({"plan": "x".repeat(bytes - 6)});
    let emits = |desk: &mut RunFixture, payload: Value, files: usize| {
        let files = (0..files).map(|number| submitted_file(&format!("{number}.md"), "x")).collect();
        desk.emit(("robot", "agent"), "submit_experiment_plan", payload, files).map(drop)
    };
    let kind = |refused: Result<(), RunRefusal>| refused.unwrap_err().kind();
    assert_eq!(kind(emits(&mut desk, plan(limits::PAYLOAD_BYTES_MAX + 1), 0)), RunRefusalKind::TooLarge);
    let (most, past) = (limits::ARTIFACTS_SUBMITTED_MAX, limits::ARTIFACTS_SUBMITTED_MAX + 1);
    assert_eq!(kind(emits(&mut desk, json!({"plan": "p"}), past)), RunRefusalKind::TooLarge);
    emits(&mut desk, plan(limits::PAYLOAD_BYTES_MAX), most).unwrap();
}

#[test]
fn a_context_fits_exactly() {
    // The name of the variable and two quotes count too.
    let context = |bytes: usize| object(json!({"m": "x".repeat(bytes - 3)}));
    let mut desk = RunFixture::empty(load_process(LOOP));
    let create = desk.create_command(context(limits::CONTEXT_BYTES_MAX + 1));
    assert_eq!(desk.execute("x", &create).unwrap_err().kind(), RunRefusalKind::TooLarge);
    let create = desk.create_command(context(limits::CONTEXT_BYTES_MAX));
    desk.execute("x", &create).unwrap();
    let refusal = desk.emit(("x", "robot"), "go", json!({"n": 1}), vec![]).unwrap_err();
    assert_eq!((refusal.kind(), refusal.pointer().as_deref()), (RunRefusalKind::TooLarge, Some("/payload")));
}

/// One event fills the run with artifacts to just below the limit.
#[test]
fn a_run_has_only_so_many_artifacts() {
    let mut desk = RunFixture::with_run(EXPLORATION);
    let first = desk
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
    let given = desk.journal.last().unwrap().0.clone();
    desk.state = RunRules::evolve(desk.state.clone(), &event, &given);
    let revision = desk.state.revision();
    let mut submit = |name: &str| {
        let payload = json!({"findings": "f"});
        desk.emit(("robot", "agent"), "submit_observation", payload, vec![submitted_file(name, "x")]).map(drop)
    };
    submit("last.md").unwrap();
    assert_eq!(submit("more.md").unwrap_err().kind(), RunRefusalKind::TooLarge);
    submit("last.md").unwrap();
    assert_eq!(desk.state.revision(), revision + 2);
}

#[test]
fn a_reason_has_an_end() {
    let cancel = |chars: usize| RunCommand::Cancel { role: "human".to_owned(), reason: Some("x".repeat(chars)) };
    let mut desk = RunFixture::with_run(EXPLORATION);
    let refusal = desk.execute("alice", &cancel(limits::TEXT_CHARS_MAX + 1)).unwrap_err();
    assert_eq!(refusal.kind(), RunRefusalKind::TooLarge);
    desk.execute("alice", &cancel(limits::TEXT_CHARS_MAX)).unwrap();
}

#[test]
fn an_artifact_that_has_a_schema_is_json_that_fits() {
    let source = EXPLORATION
        .replace("description: 統合結果}", "description: 統合結果, schema: {type: object, required: [summary]}}");
    let mut desk = RunFixture::with_run(&source);
    let submit = |desk: &mut RunFixture, content: &str| {
        desk.emit(
            ("robot", "agent"),
            "submit_experiment_plan",
            json!({"plan": "p"}),
            vec![submitted_file("synthesis.json", content)],
        )
    };
    for content in ["no json", "{}", "[]"] {
        let refusal = submit(&mut desk, content).unwrap_err();
        assert_eq!(
            (refusal.kind(), refusal.pointer().as_deref()),
            (RunRefusalKind::InvalidPayload, Some("/artifact_paths/0"))
        );
    }
    assert!(submit(&mut desk, r#"{"summary": "done"}"#).is_ok());
}

#[test]
fn an_agent_does_not_cancel() {
    let mut desk = RunFixture::with_run(EXPLORATION);
    let cancel = |role: &str| RunCommand::Cancel { role: role.to_owned(), reason: None };
    let refused = desk.execute("alice", &cancel(AGENT)).unwrap_err();
    assert_eq!(refused, RunRefusal::MayNotCancel { role: AGENT.to_owned() });
    assert_eq!((refused.kind(), refused.value()), (RunRefusalKind::Forbidden, Some(AGENT)));
    assert_eq!(desk.state.status(), RunStatus::Active, "and the run goes on");
    desk.execute("alice", &cancel("reviewer")).unwrap();
    assert_eq!(desk.execute("alice", &cancel(AGENT)), Err(refused), "also where there is nothing to cancel");
}

#[test]
fn a_cancelled_run_is_over() {
    let mut desk = RunFixture::with_run(EXPLORATION);
    let cancel =
        |reason: Option<&str>| RunCommand::Cancel { role: "human".to_owned(), reason: reason.map(str::to_owned) };
    assert_eq!(desk.execute("alice", &cancel(Some(" "))), Err(RunRefusal::Empty { field: "reason" }));
    desk.execute("alice", &cancel(None)).unwrap();
    assert_eq!(desk.state.status(), RunStatus::Cancelled);
    assert_eq!(desk.execute("alice", &cancel(None)), Err(RunRefusal::Cancelled));
    assert_eq!(desk.emit_as_agent("submit_observation", vec![]), Err(RunRefusal::Cancelled));
    assert!(desk.view().allowed_events().is_empty());
}
