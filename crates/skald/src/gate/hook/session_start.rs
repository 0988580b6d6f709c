//! The `SessionStart` hook: prints the state of the run when an agent starts or has lost its context.

use serde_json::json;
use skald_app::Fault;

use super::{call_gate, enter_project, fault_text};
use crate::arguments::{GateCallArguments, RunArguments};
use crate::gate::{GET_STATE, find_run_id, text};

pub(super) fn run_context(arguments: &GateCallArguments, run: &RunArguments) -> Option<String> {
    let context = match run_state_text(arguments, run) {
        Ok(None) => return None,
        Ok(Some(text)) => format!(
            "This work is under a gate: the run below says what to do, and moves on only by its events. Send them with the \
             tools of the gate, with the revision as expected_revision.\n\n{text}"
        ),
        // The agent's tools will be denied: tell it why.
        Err(fault) => format!(
            "This work is under a gate that cannot be read, so tools are denied: {}. Ask a person to look at it.",
            fault_text(&fault)
        ),
    };
    let output = json!({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": context}});
    Some(output.to_string())
}

fn run_state_text(arguments: &GateCallArguments, run: &RunArguments) -> Result<Option<String>, Fault> {
    enter_project()?;
    let Some(run_id) = find_run_id::find_run_id(run)? else { return Ok(None) };
    let state =
        call_gate(arguments, async |engine_access| engine_access.call(GET_STATE, json!({"run_id": run_id})).await)?;
    Ok(Some(text::state(&state)))
}
