//! Test helper: a working folder under a gate, and the program run in it.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::process::skald_command;
use skald_testkit::TemporaryFolder;

/// A process with a guard over evidence, a payload with a schema, a decision for people, and tools for each state.
pub(crate) const BUGFIX: &str = r#"process:
  id: bugfix
  version: "1.2.0"
  name: Bug fix loop
  initial_state: triage
  initial_context: {severity: low}
states:
  - name: triage
    description: The bug is looked at
    prompt: Reproduce the bug, which is {context.severity}, and hand in repro.md
    required_artifacts: [repro]
    tool_permissions:
      allowed: [Read, Grep, "Bash(git status *)", "Bash(git status)", "Bash(git log)", "Bash(rm *)", "Edit(notes/*)", Write]
      denied: ["Bash(rm *)"]
      ask: [WebFetch]
  - name: fix
    prompt: Mend it
  - {name: closed, is_final: true}
events:
  - name: submit_repro
    description: The bug can be reproduced
    allowed_roles: [agent, human]
    payload_schema: {type: object, properties: {severity: {enum: [low, high]}}}
  - {name: approve, allowed_roles: [human]}
transitions:
  - {from: triage, event: submit_repro, to: fix, guard: has_repro}
  - {from: fix, event: approve, to: closed, allowed_roles: [human]}
guards:
  has_repro: {type: artifact, artifact_type: repro, condition: exists}
artifacts: [{type: repro, description: Reproduction steps}]
roles:
  - {name: agent, allowed_events: [submit_repro]}
  - {name: human, allowed_events: [submit_repro, approve], can_approve: true}
"#;

/// A working folder with a store of its own.
pub(crate) struct GateWorkspace(TemporaryFolder);

impl GateWorkspace {
    pub(crate) fn new() -> Self {
        Self(TemporaryFolder::new())
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.file(name)
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        let path = self.file(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, content).expect("a file");
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = skald_command(arguments);
        command.current_dir(self.file(".")).env("SKALD_STORE", format!("sqlite:{}", self.file("world.db").display()));
        for name in ["SKALD_ROLE", "SKALD_TOKEN", "CLAUDE_PROJECT_DIR"] {
            command.env_remove(name);
        }
        command
    }

    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &str) -> Output {
        run_with_input(self.command(arguments), input)
    }

    pub(crate) fn run_gate(&self, arguments: &[&str]) -> Output {
        self.run_with_input(&[&["gate"], arguments].concat(), "")
    }

    /// The output of a gate command that must succeed.
    pub(crate) fn gate_output(&self, arguments: &[&str]) -> String {
        let output = self.run_gate(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        text(&output.stdout)
    }

    pub(crate) fn gate_json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.gate_output(&[arguments, &["--json"]].concat())).expect("JSON")
    }

    /// The error of a gate command that must fail.
    pub(crate) fn gate_error(&self, arguments: &[&str]) -> String {
        let output = self.run_gate(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {output:?}");
        assert!(output.stdout.is_empty(), "{output:?}");
        text(&output.stderr)
    }

    /// The JSON output of a gate command that must fail.
    pub(crate) fn gate_error_json(&self, arguments: &[&str]) -> Value {
        let output = self.run_gate(&[arguments, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {output:?}");
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    /// Submits the process, and creates a run that the folder's `state-gate.json` names.
    pub(crate) fn begin_run(&self) {
        self.write("bugfix.yaml", BUGFIX);
        self.gate_output(&["submit", "bugfix.yaml", "--role", "human"]);
        self.gate_output(&["create-run", "--process-id", "bugfix", "--run-id", "run-1", "--write-config"]);
    }

    /// A token of a person, and its id.
    pub(crate) fn create_token(&self, name: &str) -> (String, String) {
        let made =
            self.run_with_input(&["token", "create", name, "--role", "gm", "--gate-role", "human", "--json"], "");
        let made: Value = serde_json::from_slice(&made.stdout).expect("JSON");
        let field = |field: &str| made[field].as_str().expect("a text").to_owned();
        (field("token"), field("id"))
    }

    pub(crate) fn emit(&self, arguments: &[&str]) -> Output {
        self.run_gate(&[&["emit-event", "--event", "submit_repro"], arguments].concat())
    }
}

pub(crate) fn run_with_input(mut command: Command, input: &str) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    // A program that reads nothing may have ended already.
    let _ = child.stdin.take().expect("an input").write_all(input.as_bytes());
    child.wait_with_output().expect("it ends")
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
