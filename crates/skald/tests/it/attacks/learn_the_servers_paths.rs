//! Attack: learning paths on the server's disk from answers and refusals.

use std::path::Path;

use serde_json::{Value, json};
use skald_testkit::Client;

use crate::documented_campaign::create_campaign;
use crate::gate_document::{CREATE, EMIT, GET_STATE};
use crate::gate_server::{Gate, PROOF, Run};
use crate::program_under_test::{Server, StoreKind, Surface, TestClient};

/// Writes processes that cannot be used, each for a different reason whose message could name a file.
fn write_unusable_processes(gate: &Gate) {
    gate.write_process("broken", "process: {id: broken}");
    gate.write_process("other", PROOF);
    gate.write_process("binary", "\u{0}");
    let folder = gate.world.folder().join("processes/folder.yaml");
    std::fs::create_dir_all(folder).expect("a folder");
}

/// Calls everything whose answer could name a path, and collects the answers.
struct PathProbe<'a> {
    seat: &'a mut TestClient,
    answers: Vec<String>,
}

impl PathProbe<'_> {
    fn call(&mut self, operation: &str, input: &Value) -> Value {
        // These operations are not MCP tools.
        if !self.seat.is_rest() && ["state_gate.read", "state_gate.document"].contains(&operation) {
            return Value::Null;
        }
        let answer = match self.seat.call(operation, input) {
            Ok(answer) | Err(answer) => answer,
        };
        self.answers.push(format!("{operation} {input}: {answer}"));
        answer
    }

    fn call_everything(&mut self, owners: &Run, campaign_id: &str) {
        for process in ["broken", "other", "binary", "folder", "none", "../proof", "/etc/passwd"] {
            self.call(CREATE, &json!({"process_id": process, "campaign_id": campaign_id}));
            self.call("state_gate.document", &json!({"process_id": process}));
        }
        self.call("state_gate.read", &json!({"view": "processes"}));
        for id in ["proof", "broken"] {
            let source = PROOF.replacen("id: proof", &format!("id: {id}"), 1);
            self.call("state_gate.submit_process", &json!({"source": source}));
        }
        let own = self.call(CREATE, &json!({"process_id": "proof", "campaign_id": campaign_id}));
        let own = own["run_id"].as_str().expect("a run").to_owned();
        for run_id in [json!(own), json!(owners.id), json!("none"), Value::Null] {
            let about = |mut input: Value| {
                input["run_id"] = run_id.clone();
                input
            };
            for operation in [GET_STATE, "state_gate.list_events", "state_gate.document"] {
                self.call(operation, &about(json!({})));
            }
            for view in ["summary", "history"] {
                self.call("state_gate.read", &about(json!({"view": view})));
            }
            for method in ["history", "plan"] {
                self.call("state_gate.run", &about(json!({"method": method})));
            }
            self.call("state_gate.run", &about(json!({"method": "artifact", "path": "note.md"})));
            for path in ["missing.md", "gone/missing.md", "..", "/etc/passwd", ""] {
                let check = json!({"method": "check", "event_name": "submit_note", "artifact_paths": [path]});
                self.call("state_gate.run", &about(check));
                for revision in [1, 2] {
                    let emit = json!({
                        "event_name": "submit_note", "artifact_paths": [path], "expected_revision": revision,
                        "idempotency_key": format!("{path} at {revision}")
                    });
                    self.call(EMIT, &about(emit));
                }
            }
        }
        for operation in ["universe", "get_universe_state", "send_universe_command", "list_universe_commands"] {
            for input in [json!({}), json!({"method": "list"}), json!({"universeId": "none", "command": {}})] {
                self.call(operation, &input);
            }
        }
    }
}

fn assert_no_path(answers: &[String], folders: &[&Path]) {
    for folder in folders {
        let folder = folder.to_str().expect("UTF-8");
        for answer in answers {
            assert!(!answer.contains(folder), "{folder} is told: {answer}");
        }
    }
}

fn collect_answers(server: &Server, token: &str, owners: &Run, campaign_id: &str) -> Vec<String> {
    let mut answers = Vec::new();
    for surface in [Surface::Rest, Surface::Session, Surface::Stateless] {
        let mut seat = server.client_with(surface, Some(token), "test");
        let mut walk = PathProbe { seat: &mut seat, answers: Vec::new() };
        walk.call_everything(owners, campaign_id);
        answers.append(&mut walk.answers);
    }
    let bearer = format!("Bearer {token}");
    for path in ["/ready", "/health", "/metrics", "/api/v1/openapi.json", "/api/v1/processes", "/universes"] {
        let answer = Client::connect(server.address).send("GET", path, &[("Authorization", &bearer)], b"");
        answers.push(format!("{path}: {}", answer.text()));
    }
    answers
}

/// The gate's folders are below the working folder of the first server, and outside of that of the second.
#[test]
fn no_answer_names_a_folder_of_the_server() {
    let gate = Gate::new(StoreKind::Sqlite);
    write_unusable_processes(&gate);
    let folder = gate.world.folder().clone();
    let here = std::env::current_dir().expect("a folder");
    for working in [folder.as_path(), here.as_path()] {
        let server = gate.serve_in(working, &[]);
        let mut owner = server.client(Surface::Rest);
        let campaign_id = create_campaign(&mut owner);
        let owners = owner.ok(CREATE, &json!({"process_id": "proof", "campaign_id": campaign_id}));
        let owners = Run::from_answer(&owners);
        // The owner gets paths in answers, and the run's history keeps them.
        assert!(owners.folder().starts_with(&folder));
        owners.write("note.md", "one");
        owners.emit_accepted(&mut owner, "submit_note", &json!({"artifact_paths": ["note.md"]}));
        let (_, error) = owners.emit_refused(&mut owner, "submit_note", &json!({"artifact_paths": ["missing.md"]}));
        let told = owners.folder().join("missing.md").display().to_string();
        assert!(error.to_string().contains(&told), "{error}");
        std::fs::remove_dir_all(owners.folder()).expect("a folder");
        std::fs::write(folder.join("state-gate.json"), r#"{"run_id": 7}"#).expect("a file");
        for role in ["gm", "player"] {
            let (token, _) =
                gate.world.create_token(&["Ada", "--role", role, "--for", &campaign_id, "--gate-role", "human"]);
            let answers = collect_answers(&server, &token, &owners, &campaign_id);
            assert_no_path(&answers, &[&folder, &here]);
            let is_told = |text: &str| answers.iter().any(|answer| answer.contains(text));
            assert!(is_told("'missing.md'"), "evidence was looked for");
            assert_eq!(is_told(r#""artifact_base_path":"artifacts/run-"#), working == folder, "{role} in {working:?}");
        }
        std::fs::remove_file(folder.join("state-gate.json")).expect("a file");
    }
}

/// Only callers who may see a run are told that the working folder names it.
#[test]
fn the_run_that_the_working_folder_names_is_not_told() {
    let gate = Gate::new(StoreKind::Sqlite);
    let server = gate.serve_in(gate.world.folder(), &[]);
    let mut owner = server.client(Surface::Rest);
    let (theirs, other) = (create_campaign(&mut owner), create_campaign(&mut owner));
    let create = json!({"process_id": "proof", "campaign_id": other, "run_id": "the-ambush"});
    owner.ok(CREATE, &create);
    let (token, _) = gate.world.create_token(&["Ada", "--role", "gm", "--for", &theirs]);
    let mut seat = server.client_with(Surface::Rest, Some(&token), "test");
    let unnamed = seat.call_refused(GET_STATE, &json!({}));
    assert_eq!(unnamed["code"], "INVALID_PARAMS");
    let naming = gate.world.folder().join("state-gate.json");
    for content in [r#"{"run_id": "the-ambush"}"#, r#"{"run_id": ["the-ambush"]}"#, "the-ambush"] {
        std::fs::write(&naming, content).expect("a file");
        assert_eq!(seat.call_refused(GET_STATE, &json!({})), unnamed, "{content}");
    }
    std::fs::write(&naming, r#"{"run_id": "the-ambush"}"#).expect("a file");
    assert_eq!(owner.ok(GET_STATE, &json!({}))["run_id"], "the-ambush");
}
