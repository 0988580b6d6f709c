//! Tests of attempts to bypass a gate: each of them fails.

use serde_json::json;

use super::*;

fn run_in_observe() -> RunFixture {
    let mut fixture = RunFixture::with_run(EXPLORATION);
    fixture
        .emit(
            ("robot", "agent"),
            "submit_experiment_plan",
            json!({"plan": "p"}),
            vec![submitted_file("experiment_plan.md", "p")],
        )
        .unwrap();
    fixture
}

/// Submits files and returns how many observations count then.
fn submit_and_count(fixture: &mut RunFixture, files: Vec<SubmittedArtifact>) -> u64 {
    let emitted = fixture.emit_as_agent("submit_observation", files).unwrap();
    assert!(emitted.recorded, "the gate stays closed");
    fixture.state.evidence().count_distinct("observation", &fixture.facts.stale)
}

#[test]
fn repeated_and_aliased_paths_count_once() {
    let mut fixture = run_in_observe();
    let paths = ["observation.md", "./observation.md", "observation.md", ".//observation.md", "././observation.md"];
    assert_eq!(submit_and_count(&mut fixture, paths.iter().map(|path| submitted_file(path, "seen")).collect()), 1);
    assert_eq!(submit_and_count(&mut fixture, vec![submitted_file("./observation.md", "seen")]), 1);
    assert_eq!(fixture.state.evidence().len(), 2, "the plan and one observation");
}

#[test]
fn equal_content_under_other_names_counts_once() {
    let mut fixture = run_in_observe();
    let files = (1..9).map(|number| submitted_file(&format!("observation-{number}.md"), "the same")).collect();
    assert_eq!(submit_and_count(&mut fixture, files), 1);
}

#[test]
fn a_path_with_different_contents_is_refused() {
    let mut fixture = run_in_observe();
    let files = vec![
        submitted_file("observation.md", "one"),
        submitted_file("./observation.md", "two"),
        submitted_file("observation.md", "three"),
    ];
    let refusal = fixture.emit_as_agent("submit_observation", files).unwrap_err();
    assert_eq!((refusal.kind(), refusal.misfits().len()), (RunRefusalKind::InvalidPayload, 2));
}

#[test]
fn a_path_that_is_submitted_again_replaces_itself() {
    let mut fixture = run_in_observe();
    assert_eq!(submit_and_count(&mut fixture, vec![submitted_file("observation.md", "one")]), 1);
    assert_eq!(submit_and_count(&mut fixture, vec![submitted_file("observation.md", "two")]), 1);
    assert_eq!(submit_and_count(&mut fixture, vec![submitted_file("observation.md", "three")]), 1);
}

#[test]
fn empty_files_and_paths_that_lead_out_are_refused_each_with_its_reason() {
    let mut fixture = run_in_observe();
    let cases = [
        ("", "Empty artifact path"),
        (" ", "Empty artifact path"),
        ("../observation.md", "Path traversal detected"),
        ("a/../../observation.md", "Path traversal detected"),
        ("/etc/observation.md", "Absolute path not allowed"),
        ("C:\\observation.md", "Absolute path not allowed"),
        ("\\\\server\\observation.md", "Absolute path not allowed"),
        ("~/observation.md", "Absolute path not allowed"),
        ("a\\..\\observation.md", "Backslash not allowed"),
        ("observation/", "Artifact path names a folder"),
        ("./.", "Artifact path names a folder"),
        ("observation\n.md", "Control character"),
    ];
    let files: Vec<SubmittedArtifact> = cases
        .iter()
        .enumerate()
        .map(|(index, (path, _))| SubmittedArtifact {
            pointer: format!("/artifact_paths/{index}"),
            ..submitted_file(path, "x")
        })
        .collect();
    let refusal = fixture.emit_as_agent("submit_observation", files).unwrap_err();
    assert_eq!(refusal.misfits().len(), cases.len(), "all of them are told");
    for (index, (misfit, (path, reason))) in refusal.misfits().iter().zip(cases).enumerate() {
        assert_eq!(misfit.path, format!("/artifact_paths/{index}"));
        assert!(misfit.message.starts_with(reason), "{path}: {}", misfit.message);
    }
    let refusal = fixture.emit_as_agent("submit_observation", vec![submitted_file("observation.md", "")]).unwrap_err();
    assert_eq!(refusal.misfits()[0].message, "Artifact 'observation.md' is empty");
    let long = format!("observation-{}.md", "x".repeat(crate::limits::ARTIFACT_PATH_BYTES_MAX));
    assert!(fixture.emit_as_agent("submit_observation", vec![submitted_file(&long, "x")]).is_err());
}

#[test]
fn dots_and_semicolons_in_names_are_only_names() {
    let mut fixture = run_in_observe();
    let files = vec![submitted_file("x;/observation.md", "a"), submitted_file("observation_a..b.md", "b")];
    assert_eq!(submit_and_count(&mut fixture, files), 2);
    assert!(fixture.state.evidence().get("x;/observation.md").is_some());
    assert_eq!(
        submit_and_count(&mut fixture, vec![submitted_file("observation;observation-2.md;observation-3.md", "c")]),
        2
    );
}

#[test]
fn evidence_that_changed_does_not_count_and_says_so() {
    let mut fixture = run_in_observe();
    let files = (1..3).map(|number| submitted_file(&format!("observation-{number}.md"), &number.to_string())).collect();
    fixture.emit_as_agent("submit_observation", files).unwrap();
    fixture.facts.stale.insert("observation-1.md".to_owned());
    fixture.facts.stale.insert("never-submitted.md".to_owned());
    let emitted = fixture.emit_as_agent("submit_observation", vec![submitted_file("observation-3.md", "3")]).unwrap();
    assert!(emitted.recorded);
    assert_eq!(
        emitted.guards[0].missing,
        [
            "観察件数が不足 (現在: 2, 必要: 3)".to_owned(),
            "成果物ファイル 'observation-1.md' は提出後に変更または削除されています".to_owned()
        ]
    );
    assert_eq!(emitted.stale, ["observation-1.md"]);
    // A copy of the same content elsewhere still counts.
    let emitted =
        fixture.emit_as_agent("submit_observation", vec![submitted_file("observation-copy.md", "1")]).unwrap();
    assert_eq!(emitted.to, "synthesize");
}

#[test]
fn evidence_that_is_submitted_again_is_stale_no_longer() {
    let mut fixture = run_in_observe();
    fixture
        .emit_as_agent(
            "submit_observation",
            vec![submitted_file("observation-1.md", "1"), submitted_file("observation-2.md", "2")],
        )
        .unwrap();
    fixture.facts.stale.extend(["observation-1.md".to_owned(), "observation-2.md".to_owned()]);
    let files = vec![submitted_file("observation-1.md", "1, again"), submitted_file("observation-3.md", "3")];
    let emitted = fixture.emit_as_agent("submit_observation", files).unwrap();
    assert_eq!(emitted.guards[0].missing[0], "観察件数が不足 (現在: 2, 必要: 3)");
    assert_eq!(emitted.stale, ["observation-2.md"]);
}

#[test]
fn a_file_of_two_declared_types_counts_as_both() {
    let mut fixture = run_in_observe();
    let declared =
        |name: &str| SubmittedArtifact { artifact_type: Some(name.to_owned()), ..submitted_file("free-name.md", "x") };
    assert_eq!(submit_and_count(&mut fixture, vec![declared("observation"), declared("synthesis")]), 1);
    assert_eq!(fixture.state.evidence().get("free-name.md").unwrap().types, ["observation", "synthesis"]);
}

#[test]
fn an_edited_process_does_not_serve_a_run_that_goes_on() {
    let mut fixture = run_in_observe();
    fixture.process = load_process(&EXPLORATION.replace("min_count: 3", "min_count: 1"));
    let refusal = fixture.emit_as_agent("submit_observation", vec![submitted_file("observation.md", "x")]).unwrap_err();
    assert_eq!(refusal.kind(), RunRefusalKind::Rejected);
    assert!(matches!(refusal, RunRefusal::OtherProcess { .. }));
}

const APPROVED: &str = r#"
process: {id: p, version: "1", name: P, initial_state: a, initial_context: {approved: false}}
states: [{name: a}, {name: end, is_final: true}]
events:
  - {name: note, allowed_roles: [agent]}
  - {name: finish, allowed_roles: [agent]}
  - {name: sign, allowed_roles: [human], payload_schema: {properties: {approved: {type: boolean}}}}
transitions:
  - {from: a, event: note, to: a}
  - {from: a, event: sign, to: a}
  - {from: a, event: finish, to: end, guard: is_approved}
guards:
  is_approved: {type: context, variable: approved, condition: equals, value: true}
roles: [{name: agent, allowed_events: [note, finish]}, {name: human, allowed_events: [sign]}]
"#;

#[test]
fn a_payload_cannot_set_what_a_guard_reads() {
    let mut fixture = RunFixture::with_run(APPROVED);
    for event in ["note", "finish"] {
        let refusal = fixture.emit(("robot", "agent"), event, json!({"approved": true}), vec![]).unwrap_err();
        assert_eq!(
            (refusal.kind(), refusal.pointer().as_deref()),
            (RunRefusalKind::InvalidPayload, Some("/payload/approved"))
        );
    }
    assert_eq!(fixture.emit_as_agent("finish", vec![]).unwrap_err().kind(), RunRefusalKind::GuardFailed);
    fixture.emit(("hanna", "human"), "sign", json!({"approved": true}), vec![]).unwrap();
    assert!(fixture.emit_as_agent("finish", vec![]).unwrap().is_final);
}

#[test]
fn a_creation_cannot_set_what_a_guard_reads() {
    let mut fixture = RunFixture::empty(load_process(APPROVED));
    let create = fixture.create_command(object(json!({"approved": true})));
    let refusal = fixture.execute("robot", &create).unwrap_err();
    assert_eq!(
        (refusal.kind(), refusal.pointer().as_deref()),
        (RunRefusalKind::InvalidPayload, Some("/context/approved"))
    );
    assert!(fixture.state.run().is_none());
}

#[test]
fn what_an_expression_reads_is_guarded_too() {
    let expression = "{type: cel, expression: 'context.approved == true'}";
    let source = APPROVED.replace("{type: context, variable: approved, condition: equals, value: true}", expression);
    let mut fixture = RunFixture::with_run(&source);
    assert!(fixture.emit(("robot", "agent"), "note", json!({"approved": true}), vec![]).is_err());
    assert!(fixture.emit(("robot", "agent"), "note", json!({"other": true}), vec![]).is_ok());
    let source = source
        .replace("context.approved == true", "context.exists(name, name == \"approved\" && context[name] == true)");
    let source = source.replace("sign, allowed_roles: [human],", "sign, allowed_roles: [human], sets: [approved],");
    let mut fixture = RunFixture::with_run(&source);
    assert!(
        fixture.emit(("robot", "agent"), "note", json!({"other": true}), vec![]).is_err(),
        "it may read any of them"
    );
    fixture.emit(("hanna", "human"), "sign", json!({"approved": true}), vec![]).unwrap();
    assert!(fixture.emit_as_agent("finish", vec![]).unwrap().is_final);
}

#[test]
fn a_declared_type_must_be_one_of_the_process() {
    let mut fixture = run_in_observe();
    let declared =
        |name: &str| SubmittedArtifact { artifact_type: Some(name.to_owned()), ..submitted_file("free-name.md", "x") };
    let refusal = fixture.emit_as_agent("submit_observation", vec![declared("observations")]).unwrap_err();
    assert!(refusal.misfits()[0].message.contains("known: experiment_plan, observation, synthesis"));
    assert_eq!(submit_and_count(&mut fixture, vec![declared("observation")]), 1);
}

#[test]
fn a_hash_that_is_none_is_refused() {
    let mut fixture = run_in_observe();
    let forged = SubmittedArtifact { sha256: "0".to_owned(), ..submitted_file("observation.md", "x") };
    assert!(fixture.emit_as_agent("submit_observation", vec![forged]).is_err());
}
