//! Tests of evidence with substance in a run: it is measured when it is submitted, and never again.

use serde_json::json;

use super::*;

const SCENES: &str = r#"
process: {id: scenes, version: "1", name: Scenes, initial_state: a}
states: [{name: a}, {name: b, is_final: true}]
events: [{name: go, allowed_roles: ["*"]}, {name: end, allowed_roles: ["*"]}]
transitions:
  - {from: a, event: go, to: b, guard: two_scenes, on_guard_fail: record}
  - {from: a, event: end, to: b, guard: two_scenes}
guards:
  two_scenes: {type: artifact, artifact_type: scene, condition: count, min_count: 2, min_bytes: 9, contains: [Place]}
artifacts: [{type: scene}, {type: map}]
"#;

/// A file that was measured for a process when it was read.
fn measured_file(process: &Process, path: &str, content: &str) -> SubmittedArtifact {
    let measure = ContentMeasure::from_content(content.as_bytes(), process.searched_words());
    SubmittedArtifact { measure: Some(measure), ..submitted_file(path, content) }
}

#[test]
fn evidence_without_substance_is_kept_and_does_not_count() {
    let mut fixture = RunFixture::with_run(SCENES);
    let process = Arc::clone(&fixture.process);
    let file = |path: &str, content: &str| measured_file(&process, path, content);
    let thin = vec![file("scene-1.md", "a"), file("scene-2.md", "b"), file("map.md", "Place: here")];
    let emitted = fixture.emit_as_agent("go", thin).unwrap();
    assert!(emitted.recorded);
    assert_eq!(emitted.guards[0].missing.len(), 3, "{:?}", emitted.guards);
    let map = emitted.artifacts.iter().find(|artifact| artifact.path == "map.md").unwrap();
    assert_eq!(map.measure, None, "no guard asks what is on a map");
    let emitted = fixture.emit_as_agent("go", vec![file("scene-1.md", "Place: the mill")]).unwrap();
    let stored = emitted.artifacts[0].measure.clone();
    assert_eq!(stored, Some(ContentMeasure { bytes: 15, lines: 1, contains: vec!["Place".to_owned()] }));
    assert!(fixture.emit_as_agent("end", vec![]).is_err());
    let emitted = fixture.emit_as_agent("go", vec![file("scene-2.md", "Place: the ford")]).unwrap();
    assert_eq!((emitted.recorded, emitted.to.as_str()), (false, "b"));
}

/// The content is not stored with the run: what was measured decides, also after the run was read from its events.
#[test]
fn a_run_that_is_read_again_decides_as_before() {
    let mut fixture = RunFixture::with_run(SCENES);
    let process = Arc::clone(&fixture.process);
    let files =
        vec![measured_file(&process, "scene-1.md", "Place: the mill"), measured_file(&process, "scene-2.md", "x")];
    fixture.emit_as_agent("go", files).unwrap();
    let mut state = RunState::default();
    for (given, event) in &fixture.journal {
        let stored = serde_json::to_string(event).unwrap();
        state = RunRules::evolve(state, &serde_json::from_str(&stored).unwrap(), given);
    }
    assert_eq!(state, fixture.state);
    let snapshot = serde_json::to_string(&state).unwrap();
    fixture.state = serde_json::from_str(&snapshot).unwrap();
    let refusal = fixture.emit_as_agent("end", vec![]).unwrap_err();
    assert_eq!(
        refusal.guards()[0].missing[1],
        "Artifact 'scene-2.md' does not count: bytes of text: 1, required 9; without 'Place'"
    );
    fixture.emit_as_agent("end", vec![measured_file(&process, "scene-2.md", "Place: the ford")]).unwrap();
}

#[test]
fn one_file_of_two_types_is_measured_for_both() {
    let mut fixture = RunFixture::with_run(SCENES);
    let process = Arc::clone(&fixture.process);
    let declared = |name: &str| SubmittedArtifact {
        artifact_type: Some(name.to_owned()),
        ..measured_file(&process, "free-name.md", "Place: the mill")
    };
    let emitted = fixture.emit_as_agent("go", vec![declared("map"), declared("scene")]).unwrap();
    assert_eq!(emitted.artifacts[0].types, ["map", "scene"]);
    assert!(emitted.artifacts[0].measure.is_some());
}

#[test]
fn what_is_missing_is_seen_before_anything_is_submitted() {
    let fixture = RunFixture::with_run(SCENES);
    let missing = fixture.view().missing_guards();
    assert_eq!(
        serde_json::to_value(&missing[0].current_status).unwrap(),
        json!("Artifact 'scene' count is 0, required 2 (each with at least 9 bytes of text, 'Place')")
    );
}
