use serde_json::{json, to_value};

use super::super::tests::{EXPLORATION, RunFixture, submitted_file};
use super::super::{Decision, RunCommand};

fn run_with_plan() -> RunFixture {
    let mut fixture = RunFixture::with_run(EXPLORATION);
    let files = vec![submitted_file("experiment_plan.md", "p")];
    fixture.emit(("robot", "agent"), "submit_experiment_plan", json!({"plan": "look"}), files).unwrap();
    fixture
}

#[test]
fn a_state_says_what_is_missing_and_what_may_be_emitted() {
    let fixture = RunFixture::with_run(EXPLORATION);
    let look = fixture.view();
    assert_eq!(
        to_value(look.missing_guards()).unwrap(),
        json!([{
            "guard_name": "has_experiment_plan",
            "description": "実験計画が必要です",
            "current_status": "成果物 'experiment_plan' が未提出",
        }])
    );
    assert_eq!(
        to_value(look.required_artifacts()).unwrap(),
        json!([{"type": "experiment_plan", "description": "実験計画", "status": "missing"}])
    );
    assert_eq!(
        to_value(look.allowed_events()).unwrap(),
        json!([{
            "event_name": "submit_experiment_plan",
            "description": "実験計画を提出",
            "payload_schema": {"type": "object", "required": ["plan"], "properties": {"plan": {"type": "string"}}},
        }])
    );
    assert_eq!(look.prompt("experiment").unwrap(), "domain の実験計画を {context.nothing} 作成してください (solo)");
    assert_eq!(look.prompt("observe"), None);
}

#[test]
fn a_prompt_is_filled_within_bounds() {
    let marks = "{context.x}".repeat(100);
    let source = EXPLORATION.replace("prompt: ", &format!("prompt: '{marks}' # "));
    let mut fixture = RunFixture::empty(super::super::tests::load_process(&source));
    let create = fixture.create_command(super::super::tests::object(json!({"x": "y".repeat(100_000)})));
    fixture.execute("alice", &create).unwrap();
    let prompt = fixture.view().prompt("experiment").unwrap();
    assert!(prompt.starts_with(&"y".repeat(9_999)) && prompt.ends_with("{context.x}") && prompt.len() < 220_000);
}

/// The list would take a minute if each event scanned all states and transitions.
#[test]
fn the_events_of_a_large_process_are_listed_at_once() {
    let mut source = "process: {id: p, version: '1', name: P, initial_state: s0}\nstates:\n".to_owned();
    let lines = |line: fn(usize) -> String| (0..1_000).map(line).collect::<String>();
    source += &lines(|number| format!("  - {{name: s{number}}}\n"));
    source += "  - {name: s1000, is_final: true}\nevents:\n";
    source += &lines(|number| format!("  - {{name: e{number}, allowed_roles: []}}\n"));
    source += "transitions:\n";
    source += &lines(|number| format!("  - {{from: s{number}, event: e{number}, to: s{}}}\n", number + 1));
    let fixture = RunFixture::with_run(&source);
    let events = fixture.view().events(true);
    assert_eq!(events[999].blocked_reason.as_deref(), Some("cannot be emitted in the current state (only in s999)"));
}

#[test]
fn a_guard_without_a_description_says_where_it_leads() {
    let fixture = run_with_plan();
    assert_eq!(fixture.view().missing_guards()[0].description, "状態 'synthesize' への遷移のガード");
    assert_eq!(to_value(fixture.view().required_artifacts()).unwrap()[0]["status"], "missing");
}

#[test]
fn events_are_listed_with_what_blocks_them() {
    let mut fixture = run_with_plan();
    fixture.emit_as_agent("submit_observation", vec![submitted_file("observation-1.md", "one")]).unwrap();
    let listed = to_value(fixture.view().events(true)).unwrap();
    let names: Vec<&str> =
        listed.as_array().unwrap().iter().map(|event| event["event_name"].as_str().unwrap()).collect();
    assert_eq!(names, ["submit_experiment_plan", "submit_observation", "finish_observation", "submit_synthesis"]);
    let unmet = json!([{
        "to_state": "synthesize",
        "guard": "has_sufficient_observations",
        "guard_status": "unsatisfied",
        "missing_requirements": ["観察件数が不足 (現在: 1, 必要: 3)"],
    }]);
    assert_eq!(listed[1]["transitions"], unmet);
    assert_eq!(
        (&listed[1]["is_allowed"], &listed[1]["blocked_reason"]),
        (&json!(true), &json!(null)),
        "it would be recorded"
    );
    assert_eq!(listed[2]["transitions"], unmet);
    assert_eq!(
        (&listed[2]["is_allowed"], &listed[2]["blocked_reason"]),
        (&json!(false), &json!("ガード条件が満たされていません。不足しているものを添えて発行してください"))
    );
    assert_eq!(
        listed[3],
        json!({
            "event_name": "submit_synthesis",
            "description": "統合結果を提出",
            "transitions": [{
                "to_state": "decide",
                "guard": "has_synthesis",
                "guard_status": "unsatisfied",
                "missing_requirements": ["synthesis が必要"],
            }],
            "is_allowed": false,
            "blocked_reason": "現在の状態では発行できません（synthesize 状態でのみ発行可能）",
        })
    );
    let open: Vec<String> = fixture.view().events(false).into_iter().map(|event| event.event_name).collect();
    assert_eq!(open, ["submit_observation"]);
    let foreign = to_value(fixture.view_as("eve", "guest").events(true)).unwrap();
    assert_eq!(foreign[1]["blocked_reason"], "ロール 'guest' では発行できません");
    assert!(fixture.view_as("eve", "guest").allowed_events().is_empty());
}

/// Events that are listed as allowed are accepted, and all others are refused.
#[test]
fn what_is_allowed_is_what_would_be_accepted() {
    let mut fixture = run_with_plan();
    for _ in 0..2 {
        for view in fixture.view().events(true) {
            let mut copy = RunFixture::with_run(EXPLORATION);
            copy.state = fixture.state.clone();
            let payload = if view.event_name == "submit_experiment_plan" { json!({"plan": ""}) } else { json!({}) };
            let accepted = copy.emit(("robot", "agent"), &view.event_name, payload, vec![]);
            assert_eq!(accepted.is_ok(), view.is_allowed, "{}", view.event_name);
        }
        let files =
            (1..4).map(|number| submitted_file(&format!("observation-{number}.md"), &number.to_string())).collect();
        let _ = fixture.emit_as_agent("submit_observation", files);
    }
    assert_eq!(fixture.state.state(), "synthesize");
}

#[test]
fn progress_is_what_was_left_where_it_is_and_what_remains() {
    let mut fixture = run_with_plan();
    let progress = |fixture: &RunFixture| to_value(fixture.view().progress()).unwrap();
    assert_eq!(
        progress(&fixture),
        json!({"completed_states": ["experiment"], "current_state": "observe", "remaining_states": ["synthesize", "decide"]})
    );
    let files = (1..4).map(|number| submitted_file(&format!("observation-{number}.md"), &number.to_string())).collect();
    fixture.emit_as_agent("submit_observation", files).unwrap();
    fixture.emit_as_agent("submit_synthesis", vec![submitted_file("synthesis.md", "s")]).unwrap();
    assert_eq!(
        progress(&fixture),
        json!({
            "completed_states": ["experiment", "observe", "synthesize"], "current_state": "decide", "remaining_states": [],
        })
    );
    assert_eq!(fixture.view().events(true)[0].blocked_reason.as_deref(), Some("この実行は終了しています"));
    assert!(fixture.view().missing_guards().is_empty());
}

const WAYS: &str = r#"
process: {id: p, version: "1", name: P, initial_state: a}
states: [{name: a}, {name: b}, {name: "c: \"x\"; #1"}, {name: end, is_final: true}]
events:
  - {name: go, allowed_roles: [agent, human]}
  - {name: leap, allowed_roles: ["*"]}
  - {name: approve, allowed_roles: [human]}
transitions:
  - {from: a, event: go, to: a}
  - {from: a, event: go, to: b, guard: noted, allowed_roles: [human]}
  - {from: b, event: go, to: 'c: "x"; #1'}
  - {from: 'c: "x"; #1', event: go, to: a}
  - {from: 'c: "x"; #1', event: approve, to: end}
  - {from: b, event: leap, to: end, allowed_roles: [agent]}
guards: {noted: {type: artifact, artifact_type: note, condition: exists}}
artifacts: [{type: note}]
roles: [{name: agent, allowed_events: []}, {name: human, allowed_events: [], can_approve: true}]
"#;

#[test]
fn a_plan_is_the_shortest_way_and_what_is_missing_on_it() {
    let fixture = RunFixture::with_run(WAYS);
    let plan = fixture.view().plan("end").unwrap();
    assert_eq!(
        to_value(plan).unwrap(),
        json!({
            "from_state": "a",
            "to_state": "end",
            "steps": [
                {
                    "event_name": "go", "from_state": "a", "to_state": "b", "allowed_roles": ["human"], "guard": "noted",
                    "guard_status": "unsatisfied", "missing_requirements": ["Artifact 'note' does not exist"],
                },
                {
                    "event_name": "leap", "from_state": "b", "to_state": "end", "allowed_roles": ["agent"],
                    "guard_status": "no_guard",
                },
            ],
        })
    );
    let anybody = WAYS.replace("{name: approve, allowed_roles: [human]}", "{name: approve, allowed_roles: ['*']}");
    let decided =
        RunFixture::with_run(&anybody.replace("  - {from: b, event: leap, to: end, allowed_roles: [agent]}\n", ""));
    let steps = decided.view().plan("end").unwrap().steps;
    assert_eq!(steps.last().unwrap().allowed_roles, ["human"], "who may emit it and may approve");
    assert!(fixture.view().plan("a").unwrap().steps.is_empty());
    assert_eq!(fixture.view().plan("nowhere"), None);
    let mut done = RunFixture::with_run(EXPLORATION);
    done.override_guard("hanna", ("human", true), "submit_experiment_plan").unwrap();
    assert_eq!(done.view().plan("experiment"), None, "there is no way back");
}

#[test]
fn without_a_target_there_is_a_plan_for_each_ending() {
    let source = WAYS
        .replace("{name: end, is_final: true}", "{name: end, is_final: true}, {name: lost, is_final: true}")
        .replace("guards: {", "  - {from: a, event: leap, to: lost}\nguards: {");
    let fixture = RunFixture::with_run(&source);
    let plans = fixture.view().plans();
    let told: Vec<(&str, usize)> = plans.iter().map(|plan| (plan.to_state.as_str(), plan.steps.len())).collect();
    assert_eq!(told, [("lost", 1), ("end", 2)]);
    assert_eq!(fixture.view().plan("end"), Some(plans[1].clone()));
}

#[test]
fn a_cancelled_run_has_nothing_to_do_and_nothing_ahead() {
    let mut fixture = RunFixture::with_run(EXPLORATION);
    assert!(fixture.view().prompt("experiment").is_some() && !fixture.view().required_artifacts().is_empty());
    let cancel = RunCommand::Cancel { role: "human".to_owned(), reason: None };
    fixture.execute("hanna", &cancel).unwrap();
    let look = fixture.view();
    assert_eq!((look.prompt("experiment"), look.required_artifacts(), look.missing_guards()), (None, vec![], vec![]));
    assert_eq!(
        to_value(look.progress()).unwrap(),
        json!({"completed_states": [], "current_state": "experiment", "remaining_states": []})
    );
    assert_eq!((look.plan("decide"), look.plans()), (None, vec![]));
}

/// Guards are evaluated without new evidence; what is missing may come with the event.
#[test]
fn an_event_that_its_guard_blocks_is_accepted_with_what_is_missing() {
    let mut fixture = RunFixture::with_run(
        &WAYS
            .replace("to: b, guard: noted, allowed_roles: [human]", "to: b, guard: noted")
            .replace("  - {from: a, event: go, to: a}\n", ""),
    );
    let go = fixture.view().events(true).remove(0);
    assert!(!go.is_allowed);
    assert_eq!(go.blocked_reason.as_deref(), Some("Guard conditions not satisfied; emit it with what is missing"));
    assert_eq!(fixture.emit_as_agent("go", vec![submitted_file("note.md", "n")]).unwrap().to, "b");
}

#[test]
fn a_process_is_drawn_with_any_names() {
    let fixture = RunFixture::with_run(WAYS);
    let expected = r#"stateDiagram-v2
    state "a" as s0
    state "b" as s1
    state "c#58; #34;x#34;#59; #35;1" as s2
    state "end" as s3
    [*] --> s0
    s0 --> s0 : go
    s0 --> s1 : go [noted]
    s1 --> s2 : go
    s2 --> s0 : go
    s2 --> s3 : approve
    s1 --> s3 : leap
    s3 --> [*]
"#;
    assert_eq!(fixture.process.mermaid(None), expected);
    let marked = fixture.process.mermaid(Some("b"));
    assert!(marked.starts_with(expected) && marked.ends_with("    class s1 current\n"));
}

#[test]
fn who_submitted_is_not_shown_that_they_may_decide() {
    let mut fixture = RunFixture::with_run(WAYS);
    fixture.emit(("hanna", "human"), "go", json!({}), vec![submitted_file("note.md", "n")]).unwrap();
    fixture.emit(("hanna", "human"), "go", json!({}), vec![]).unwrap();
    let reason = |principal: &str| {
        let events = fixture.view_as(principal, "human").events(true);
        events.into_iter().find(|event| Decision::from_event(&event.event_name).is_some()).unwrap().blocked_reason
    };
    assert_eq!(reason("hanna").as_deref(), Some("'hanna' submitted to this run, and may not decide on it"));
    assert_eq!(reason("rex"), None);
    let mut japanese = RunFixture::with_run(&WAYS.replace("version: \"1\"", "version: \"1\", locale: ja"));
    japanese.emit(("hanna", "human"), "go", json!({}), vec![submitted_file("note.md", "n")]).unwrap();
    japanese.emit(("hanna", "human"), "go", json!({}), vec![]).unwrap();
    let events = japanese.view_as("hanna", "human").events(true);
    let approve = events.into_iter().find(|event| Decision::from_event(&event.event_name).is_some()).unwrap();
    assert_eq!(approve.blocked_reason.as_deref(), Some("'hanna' はこの実行に提出しているため判断できません"));
    let cancel = RunCommand::Cancel { role: "human".to_owned(), reason: None };
    fixture.execute("hanna", &cancel).unwrap();
    let events = fixture.view_as("rex", "human").events(true);
    assert!(events.iter().all(|event| event.blocked_reason.as_deref() == Some("the run is over")));
}
