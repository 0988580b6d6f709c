//! Tests of guards over the substance of evidence, and of runs that began before their process asked for any.

use std::sync::Arc;

use serde_json::{Value, json};
use skald_app::{Caller, LocalEngine};
use skald_store::Memory;

use super::folder::engine_with_folder;
use super::{RUN, call_as_owner, emit_event, engine_with, run};

/// `session-preparation` as it came with Skald before it asked for substance.
const OLD_PREPARATION: &str = include_str!("session-preparation-1.0.0.yaml");

const RECAP: &str = "The party fled from the burning inn into the reeds. They want the smith's daughter back, they owe the \
                     ferryman a favour, and the baron's men are on the road behind them. Two threads are open: the key, \
                     and the bell that rings under the mere.";

fn scene(place: &str) -> String {
    format!(
        "# {place}\n\nPlace: {place}, at dusk, with the water rising around it.\nWants: Oda, who wants her boat back \
         and will say nothing before.\nNow: the baron's men come with the next ferry.\nWays out: by boat, through the \
         cellar, or by giving Oda what she asks for.\n"
    )
}

/// Emits an event at the run's revision, with artifacts by path or with their content.
async fn emit(engine: &LocalEngine, run_id: &str, event: &str, payload: Value, artifacts: Value) -> Value {
    let state = call_as_owner(engine, "state_gate.get_state", json!({"run_id": run_id})).await;
    let key = format!("{event} at {}", state["revision"]);
    let input = json!({
        "run_id": run_id, "event_name": event, "payload": payload, "expected_revision": state["revision"],
        "idempotency_key": key, "artifacts": artifacts,
    });
    emit_event(engine, &Caller::owner(), input).await.expect("an answer")
}

fn outline() -> Value {
    json!({"goal": "free the smith's daughter", "strong_start": "The inn is on fire."})
}

fn state_after(answer: &Value) -> &str {
    answer["result"]["transition"]["to_state"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

/// Evidence by path and with its content counts alike.
#[test]
fn scenes_of_one_character_and_a_recap_of_one_space_do_not_pass() {
    run(async {
        let (engine, folder) = engine_with_folder(Arc::new(Memory::new()));
        for is_inline in [true, false] {
            let run_id = format!("run-{is_inline}");
            let create = json!({"process_id": "session-preparation", "run_id": run_id});
            call_as_owner(&engine, "state_gate.create_run", create).await;
            let hand_in = |files: &[(&str, &str)]| -> Value {
                let one = |(path, content): &(&str, &str)| {
                    folder.write_artifact(path, content);
                    if is_inline { json!({"path": path, "text": content}) } else { json!({"path": path}) }
                };
                files.iter().map(one).collect()
            };
            let blank = emit(&engine, &run_id, "submit_recap", json!({}), hand_in(&[("recap.md", " ")])).await;
            assert_eq!(
                blank["error"]["details"]["missing_guards"],
                json!([
                    "may_begin: hand in recap.md first, 200 bytes at least, Artifact 'recap.md' does not count: bytes \
                        of text: 0, required 200"
                ]),
                "{blank}"
            );
            let check = json!({
                "method": "check", "run_id": run_id, "event_name": "submit_recap",
                "artifacts": hand_in(&[("recap.md", " ")]),
            });
            let checked = call_as_owner(&engine, "state_gate.run", check).await;
            assert!(checked.to_string().contains("required 200"), "{checked}");
            let told = emit(&engine, &run_id, "submit_recap", json!({}), hand_in(&[("recap.md", RECAP)])).await;
            assert_eq!(state_after(&told), "outline");
            emit(&engine, &run_id, "submit_outline", outline(), json!([])).await;
            let thin = hand_in(&[("scene-1.md", "a"), ("scene-2.md", "b"), ("scene-3.md", "c")]);
            let kept = emit(&engine, &run_id, "submit_scene", json!({}), thin).await;
            assert_eq!(state_after(&kept), "scenes");
            let missing = kept["result"]["missing_guards"][0].as_str().unwrap();
            assert!(missing.contains("scenes: 0 of 3") && missing.contains("'scene-1.md' does not count"), "{missing}");
            let [mill, ford, tower] = ["The mill", "The ford", "The tower"].map(scene);
            let full = hand_in(&[("scene-1.md", &mill), ("scene-2.md", &ford), ("scene-3.md", &tower)]);
            let moved = emit(&engine, &run_id, "submit_scene", json!({}), full).await;
            assert_eq!(state_after(&moved), "secrets");
            let history = json!({"method": "history", "run_id": run_id});
            let history = call_as_owner(&engine, "state_gate.run", history).await.to_string();
            assert!(history.contains(r#""contains":["Now","Place","Wants","Ways out"]"#), "{history}");
        }
    });
}

/// A run is pinned to the content of its process: a new version of Skald does not move the posts of a run under way.
#[test]
fn a_run_of_an_older_shipped_process_goes_on_by_its_own_rules() {
    run(async {
        let journal = Arc::new(Memory::new());
        let (engine, folder) = engine_with_folder(Arc::<Memory>::clone(&journal) as _);
        folder.write_process("session-preparation", OLD_PREPARATION);
        let create = json!({"process_id": "session-preparation", "run_id": RUN, "context": {"party_size": 1}});
        call_as_owner(&engine, "state_gate.create_run", create).await;
        let text = |path: &str, text: &str| json!({"path": path, "text": text});
        let old = emit(&engine, RUN, "submit_recap", json!({}), json!([text("recap.md", " ")])).await;
        assert_eq!(state_after(&old), "outline");

        // Another process on the same store, which has only the processes that come with Skald.
        let engine = engine_with(journal);
        let state = call_as_owner(&engine, "state_gate.get_state", json!({"run_id": RUN})).await;
        assert_eq!((&state["process_version"], &state["context"]["party_size"]), (&json!("1.0.0"), &json!(1)));
        emit(&engine, RUN, "submit_outline", outline(), json!([])).await;
        let scenes = json!([text("scene-1.md", "a"), text("scene-2.md", "b"), text("scene-3.md", "c")]);
        let moved = emit(&engine, RUN, "submit_scene", json!({}), scenes).await;
        assert_eq!(state_after(&moved), "secrets", "what was asked for at its beginning is asked for now");

        let create = json!({"process_id": "session-preparation", "run_id": "run-new"});
        call_as_owner(&engine, "state_gate.create_run", create).await;
        let state = call_as_owner(&engine, "state_gate.get_state", json!({"run_id": "run-new"})).await;
        assert_eq!(state["process_version"], "1.1.0");
        let new = emit(&engine, "run-new", "submit_recap", json!({}), json!([text("recap.md", " ")])).await;
        assert_eq!(new["error"]["code"], "GUARD_FAILED", "{new}");
    });
}
