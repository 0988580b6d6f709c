//! Test helper: a served gate with folders for processes and artifacts, and clients that emit events.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::gate_document::{CREATE, EMIT, GET_STATE};
use crate::program_under_test::{Server, StoreKind, TestClient, World};

/// Notes are collected, two of them open the review, and another person approves. A run that a human vouched for needs
/// no notes.
pub(crate) const PROOF: &str = r#"
process: {id: proof, version: "1", name: Proof, initial_state: collect}
states:
  - {name: collect, required_artifacts: [note]}
  - {name: review}
  - {name: done, is_final: true}
events:
  - {name: submit_note, allowed_roles: [agent, human, reviewer]}
  - {name: finish, allowed_roles: [agent, human, reviewer]}
  - {name: skip, allowed_roles: [agent, human, reviewer]}
  - {name: vouch, allowed_roles: [human], sets: [vouched]}
  - {name: approve, allowed_roles: [human, reviewer]}
transitions:
  - {from: collect, event: submit_note, to: collect}
  - {from: collect, event: vouch, to: collect}
  - {from: collect, event: finish, to: review, guard: two_notes}
  - {from: collect, event: skip, to: review, guard: is_vouched}
  - {from: review, event: approve, to: done}
guards:
  two_notes: {type: artifact, artifact_type: note, condition: count, min_count: 2, message: "notes: {current} of {required}"}
  is_vouched: {type: context, variable: vouched, condition: equals, value: true}
artifacts: [{type: note}]
roles:
  - {name: agent, allowed_events: [submit_note, finish, skip]}
  - {name: human, allowed_events: ["*"], can_approve: true}
  - {name: reviewer, allowed_events: [submit_note, finish, skip, approve], can_approve: true}
"#;

/// A world whose gates have folders of their own.
pub(crate) struct Gate {
    pub(crate) world: World,
}

impl Gate {
    pub(crate) fn new(kind: StoreKind) -> Self {
        let gate = Self { world: World::new(kind) };
        gate.write_process("proof", PROOF);
        gate
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.world.folder().join(name)
    }

    pub(crate) fn write_process(&self, id: &str, source: &str) {
        let folder = self.folder("processes");
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join(format!("{id}.yaml")), source).expect("a file");
    }

    fn folder_options(&self) -> [String; 4] {
        let [processes, artifacts] = ["processes", "artifacts"].map(|name| self.folder(name).display().to_string());
        ["--process-dir".to_owned(), processes, "--artifact-dir".to_owned(), artifacts]
    }

    pub(crate) fn serve(&self, arguments: &[&str]) -> Server {
        let folders = self.folder_options();
        let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
        self.world.serve(&[folders.as_slice(), arguments].concat())
    }

    /// Like `serve`, in this working folder.
    pub(crate) fn serve_in(&self, working: &Path, arguments: &[&str]) -> Server {
        let folders = self.folder_options();
        let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
        self.world.serve_in(working, &[folders.as_slice(), arguments].concat())
    }

    /// A client on stdio, with a process of its own.
    pub(crate) fn stdio_client(&self) -> TestClient {
        TestClient::over_stdio(self.stdio_command())
    }

    pub(crate) fn stdio_command(&self) -> Command {
        let folders = self.folder_options();
        self.world.command(&[&["mcp"], folders.each_ref().map(String::as_str).as_slice()].concat())
    }

    /// A node that shares no folder of artifacts with others.
    pub(crate) fn serve_without_artifacts(&self) -> Server {
        self.world.serve(&["--process-dir", &self.folder_options()[1]])
    }
}

/// A run, and its artifact folder.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) id: String,
    folder: Option<PathBuf>,
}

impl Run {
    pub(crate) fn create(seat: &mut TestClient, process: &str) -> Self {
        Self::from_answer(&seat.ok(CREATE, &json!({"process_id": process})))
    }

    /// The run that an answer of `create_run` describes.
    pub(crate) fn from_answer(created: &Value) -> Self {
        let folder = created["artifact_base_path"].as_str().map(PathBuf::from);
        Self { id: created["run_id"].as_str().expect("an id").to_owned(), folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.as_deref().expect("a folder for artifacts")
    }

    pub(crate) fn has_folder(&self) -> bool {
        self.folder.is_some()
    }

    pub(crate) fn summary_uri(&self) -> String {
        format!("stategate://runs/{}/summary", self.id)
    }

    /// Writes a file of evidence, and the folders that it is in.
    pub(crate) fn write(&self, path: &str, content: &str) {
        let file = self.folder().join(path);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        std::fs::write(file, content).expect("a file");
    }

    pub(crate) fn state(&self, seat: &mut TestClient) -> Value {
        seat.ok(GET_STATE, &json!({"run_id": self.id}))
    }

    /// The input of an event at the current revision, with an idempotency key and additional fields.
    pub(crate) fn event_input(&self, seat: &mut TestClient, name: &str, fields: &Value) -> Value {
        let revision = &self.state(seat)["revision"];
        let mut input = json!({
            "run_id": self.id, "event_name": name, "expected_revision": revision,
            "idempotency_key": format!("{name} at {revision}")
        });
        for (field, value) in fields.as_object().into_iter().flatten() {
            input[field] = value.clone();
        }
        input
    }

    /// Emits an event, and returns the answer.
    pub(crate) fn emit(&self, seat: &mut TestClient, name: &str, fields: &Value) -> Value {
        let input = self.event_input(seat, name, fields);
        seat.ok(EMIT, &input)
    }

    /// Emits an event that must be accepted, and returns its result.
    pub(crate) fn emit_accepted(&self, seat: &mut TestClient, name: &str, fields: &Value) -> Value {
        let answer = self.emit(seat, name, fields);
        assert_eq!(answer["success"], true, "{name} {fields}: {answer}");
        answer["result"].clone()
    }

    /// Emits an event that must be refused, and returns the code and the error.
    pub(crate) fn emit_refused(&self, seat: &mut TestClient, name: &str, fields: &Value) -> (String, Value) {
        let answer = self.emit(seat, name, fields);
        assert_eq!(answer["success"], false, "{name} {fields} was let through: {answer}");
        (answer["error"]["code"].as_str().expect("a code").to_owned(), answer["error"].clone())
    }

    /// All entries of the run's history, the oldest first.
    pub(crate) fn history(&self, seat: &mut TestClient) -> Vec<Value> {
        let (mut entries, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let mut input = json!({"method": "history", "run_id": self.id, "limit": 40});
            if cursor.is_string() {
                input["cursor"] = cursor;
            }
            let page = seat.ok("state_gate.run", &input);
            entries.extend(page["history"].as_array().expect("a history").clone());
            cursor = page["next_cursor"].clone();
            if cursor.is_null() {
                return entries;
            }
        }
    }
}
