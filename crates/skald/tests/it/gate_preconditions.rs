//! Tests of expected revisions and idempotency keys in gate commands.

use serde_json::json;

use crate::gate_workspace::{GateWorkspace, text};

const OVERRIDE: [&str; 7] = ["override", "--event", "submit_repro", "--reason", "seen it", "--role", "human"];
const CANCEL: [&str; 3] = ["cancel", "--role", "human"];

#[test]
fn a_key_of_ones_own_comes_with_the_revision() {
    let workspace = GateWorkspace::new();
    workspace.begin_run();
    workspace.write("repro.md", "Press the button twice.");
    let emit = ["emit-event", "--event", "submit_repro", "--inline", "repro.md"];
    for command in [&emit[..], &OVERRIDE, &CANCEL] {
        let keyed = [command, &["--idempotency-key", "fixed"]].concat();
        let refused = workspace.gate_error(&keyed);
        assert!(refused.starts_with("skald: INVALID_PARAMS: the key \"fixed\" says nothing"), "{refused}");
        assert!(refused.contains("give --expected-revision with a key of your own"), "{refused}");
        let told = workspace.gate_error_json(&keyed);
        assert_eq!(told["error"]["path"], "/expected_revision", "{told}");
    }
    assert_eq!(workspace.gate_json(&["history"])["history"].as_array().map(Vec::len), Some(1), "nothing was tried");
    let whole = [&emit[..], &["--idempotency-key", "fixed", "--expected-revision", "1"]].concat();
    assert_eq!(workspace.gate_json(&whole)["result"]["new_revision"], 2);
    assert_eq!(workspace.gate_json(&whole)["result"]["replayed"], true, "a retry is the same request");
}

#[test]
fn overrides_and_cancellations_are_made_on_the_revision_that_was_seen() {
    let workspace = GateWorkspace::new();
    workspace.begin_run();
    let done = |arguments: &[&str], revision: &str| {
        let output = workspace.run_gate(arguments);
        assert!(output.status.success(), "{output:?}");
        let said = text(&output.stderr);
        assert!(said.contains("idempotency key: cli-") && said.contains(revision), "{said}");
    };
    done(&OVERRIDE, ", expected revision: 1\n");
    for command in [&OVERRIDE[..], &CANCEL] {
        let late = workspace.gate_error(&[command, &["--expected-revision", "1"]].concat());
        assert!(late.contains("skald: REVISION_CONFLICT: "), "{late}");
    }
    done(&CANCEL, ", expected revision: 2\n");
    assert_eq!(workspace.gate_json(&["get-state"])["status"], json!("cancelled"));
}

#[test]
fn where_an_override_leads_is_named_as_in_the_operation() {
    let workspace = GateWorkspace::new();
    workspace.begin_run();
    let wrong = workspace.run_gate(&[&OVERRIDE[..], &["--to-state", "nowhere"]].concat());
    assert_eq!(wrong.status.code(), Some(1), "{wrong:?}");
    let done = workspace.gate_output(&[&OVERRIDE[..], &["--to-state", "fix"]].concat());
    assert!(done.starts_with("accepted: triage -> fix, revision 2"), "{done}");
    assert_eq!(workspace.gate_json(&["plan", "--to-state", "closed"])["plan"]["to_state"], "closed");
}
