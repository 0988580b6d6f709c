//! Tests over the refusals of the gate: none says where processes are kept, how one is changed, or how to take another
//! role.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use skald_app::{Caller, CampaignRole, LocalEngine, PrincipalKind};
use skald_domain::limits;
use skald_store::Memory;

use super::folder::{MemoryFolder, engine_with_folder};
use super::{RUN, call, create_exploration_run, human_caller, run, token_holder};

const WAYS_AROUND: [&str; 9] = [
    "process folder",
    "state_gate/processes",
    ".yaml",
    "process-dir",
    "put a file",
    "change the file",
    "token create",
    "gate-role",
    "--role",
];

fn assert_teaches_no_way_around(text: &str) {
    let lower = text.to_lowercase();
    for way in WAYS_AROUND {
        assert!(!lower.contains(way), "{way:?} is told: {text}");
    }
}

fn write_unusable_processes(folder: &MemoryFolder) {
    folder.write_process("broken", "process: {id: broken}\nguards: {g: {type: artifact}}");
    folder.write_process("other", "process: {id: another, version: '1', name: A, initial_state: a}\nstates: [{name: a, is_final: true}]\nevents: []\ntransitions: []");
    folder.write_process("kept", "process: {id: kept, version: '1', name: K, initial_state: a}\nstates: [{name: a, is_final: true}]\nevents: []\ntransitions: []");
    let unreadable = Err("cannot be read: Permission denied (os error 13)".to_owned());
    folder.processes.lock().expect("no panic").insert("locked".to_owned(), unreadable);
}

/// Calls that the gate refuses, most of them to everybody.
fn refused_calls() -> Vec<(&'static str, Value)> {
    let kept = "process: {id: kept, version: '2', name: K, initial_state: a}\nstates: [{name: a, is_final: true}]\n\
                events: []\ntransitions: []";
    let mut calls = vec![
        ("state_gate.submit_process", json!({"source": kept})),
        ("state_gate.submit_process", json!({"source": kept.replace("id: kept", "id: quest")})),
        ("state_gate.submit_process", json!({"source": "process: {}"})),
        ("state_gate.submit_process", json!({"source": "process: {}", "check_only": true})),
        ("state_gate.run", json!({"method": "cancel", "run_id": RUN, "reason": "enough"})),
        (
            "state_gate.run",
            json!({"method": "override", "run_id": RUN, "event_name": "finish_observation", "reason": "x"}),
        ),
        ("state_gate.run", json!({"method": "artifact", "run_id": RUN, "path": "none.md"})),
        ("state_gate.run", json!({"method": "plan", "run_id": RUN, "to_state": "nowhere"})),
        ("state_gate.run", json!({"method": "history", "run_id": "none"})),
        ("state_gate.get_state", json!({})),
        ("state_gate.get_state", json!({"run_id": "none"})),
        ("state_gate.read", json!({"view": "processes"})),
        ("state_gate.create_run", json!({"process_id": "quest", "context": {"clock": 4}})),
        ("state_gate.create_run", json!({"process_id": "quest", "run_id": "../x"})),
        ("state_gate.create_run", json!({"process_id": "quest", "campaign_id": "none"})),
    ];
    for process in ["broken", "other", "locked", "none", "../quest", "/etc/passwd"] {
        calls.push(("state_gate.create_run", json!({"process_id": process})));
        calls.push(("state_gate.document", json!({"process_id": process})));
    }
    for (key, event, fields) in [
        ("a", "finish_observation", json!({})),
        ("b", "submit_experiment_plan", json!({"payload": {}})),
        ("c", "submit_experiment_plan", json!({"artifact_paths": ["../plan.md", "none.md"]})),
        ("d", "approve", json!({})),
        ("", "submit_experiment_plan", json!({})),
        ("e", "submit_experiment_plan", json!({"expected_revision": 9})),
        ("f", "submit_experiment_plan", json!({"payload": {"plan": "x".repeat(limits::PAYLOAD_BYTES_MAX)}})),
    ] {
        let mut input = json!({"run_id": RUN, "event_name": event, "expected_revision": 1, "idempotency_key": key});
        input.as_object_mut().expect("an object").extend(fields.as_object().expect("an object").clone());
        calls.push(("state_gate.emit_event", input));
    }
    calls
}

async fn assert_refusals_teach_nothing(engine: &LocalEngine, caller: &Caller) -> usize {
    let mut refused = 0;
    for (operation, input) in refused_calls() {
        match call(engine, caller, operation, input).await {
            Err(fault) => {
                refused += 1;
                assert_teaches_no_way_around(&serde_json::to_string(fault.body()).expect("JSON"));
            }
            Ok(answer) => {
                refused += usize::from(answer["success"] == false);
                assert_teaches_no_way_around(&answer.to_string());
            }
        }
    }
    refused
}

#[test]
fn no_refusal_teaches_the_way_around_the_gate() {
    run(async {
        let (engine, folder) = engine_with_folder(Arc::new(Memory::new()));
        write_unusable_processes(&folder);
        create_exploration_run(&engine).await;
        let agent = token_holder("bot", PrincipalKind::Agent, Some("agent"), CampaignRole::Gm);
        let player = token_holder("ana", PrincipalKind::Human, Some("human"), CampaignRole::Player);
        for caller in [&agent, &player, &Caller::owner(), &human_caller("mara")] {
            let refused = assert_refusals_teach_nothing(&engine, caller).await;
            assert!(refused > 25, "{} was refused {refused} times", caller.id());
        }
    });
}

#[test]
fn who_may_not_submit_a_process_is_sent_to_a_game_master() {
    run(async {
        let (engine, _) = engine_with_folder(Arc::new(Memory::new()));
        let agent = token_holder("bot", PrincipalKind::Agent, Some("agent"), CampaignRole::Gm);
        let input = json!({"source": "process: {}"});
        let fault = call(&engine, &agent, "state_gate.submit_process", input).await.unwrap_err();
        assert_eq!(
            fault.body().hint.as_deref(),
            Some("let a game master of another gate role submit it; with check_only it is checked")
        );
    });
}

/// Also of refusals that are hard to bring about, no text names a way around.
#[test]
fn no_text_in_the_source_of_the_gate_teaches_the_way_around_it() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = std::fs::read_dir(source.join("gate")).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let mut seen = 0;
    for path in files.chain([source.join("creation_quota.rs")]) {
        let text = std::fs::read_to_string(&path).unwrap();
        let (code, _) = text.split_once("#[cfg(test)]").unwrap_or((&text, ""));
        for line in code.lines().map(str::trim).filter(|line| line.contains('"') && !line.starts_with("//")) {
            // The texts of shipped processes are included by the names of their files.
            if !line.contains("include_str!") {
                assert_teaches_no_way_around(line);
                seen += 1;
            }
        }
    }
    assert!(seen > 200, "{seen} lines were read");
}
