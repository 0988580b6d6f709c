//! The `PreToolUse` hook: decides whether an agent may use a tool.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skald_app::Fault;
use skald_tool_calls::call_strings;

use super::decision::{HookDecision, HookVerdict};
use super::guarded_paths::GuardedPaths;
use super::request::HookRequest;
use super::resolve_paths::resolve_links;
use super::{call_gate, enter_project, fault_text, own_tools};
use crate::arguments::{GateCallArguments, PreToolUseArguments, WhenAllowed, WhenNoRun};
use crate::gate::find_run_id;

pub(super) fn decide(arguments: &GateCallArguments, pre: &PreToolUseArguments) -> HookDecision {
    let mut decision = decide_by_request(arguments, pre).unwrap_or_else(|refusal| HookDecision::deny(&refusal));
    if decision.verdict == HookVerdict::Allow && pre.when_allowed == WhenAllowed::Nothing {
        decision.verdict = HookVerdict::Silent;
    }
    decision
}

fn decide_by_request(arguments: &GateCallArguments, pre: &PreToolUseArguments) -> Result<HookDecision, String> {
    let closed = |fault: &Fault| format!("the gate cannot be asked, so no tool is used: {}", fault_text(fault));
    let request = HookRequest::read("PreToolUse", pre.tool_name.as_deref(), pre.tool_input.as_deref())
        .map_err(|why| format!("the gate does not understand the agent, so no tool is used: {why}"))?;
    if own_tools::is_gate_tool(&request.tool_name, &pre.servers) {
        return Ok(HookDecision::new(
            HookVerdict::Allow,
            "the tools of the gate are always open: by them a run goes on",
        ));
    }
    let working = request.cwd.clone().map_or_else(std::env::current_dir, Ok).unwrap_or_else(|_| PathBuf::from("/"));
    enter_project().map_err(|fault| closed(&fault))?;
    if let Some(why) = GuardedPaths::new(&working, arguments, pre).refuse_call(&request.tool_name, &request.tool_input)
    {
        return Ok(HookDecision::deny(&why));
    }
    match find_run_id::find_run_id(&pre.run).map_err(|fault| closed(&fault))? {
        None => Ok(decide_without_run(pre.when_no_run)),
        Some(run_id) => {
            let input = make_paths_relative(&working, &request.tool_name, request.tool_input);
            decide_in_run(arguments, &run_id, &request.tool_name, &input).map_err(|fault| closed(&fault))
        }
    }
}

fn decide_without_run(when: WhenNoRun) -> HookDecision {
    let verdict = match when {
        WhenNoRun::Allow => HookVerdict::Allow,
        WhenNoRun::Ask => HookVerdict::Ask,
        WhenNoRun::Deny => HookVerdict::Deny,
    };
    HookDecision::new(
        verdict,
        "no run is named here; ask a person to begin one with `skald gate create-run --process-id ID --write-config`, \
         or to give the hook --run-id",
    )
}

/// Makes the paths in a tool's input relative to the project, as processes write them; agents send absolute paths. A
/// file outside of the project, also behind a symbolic link, keeps its absolute path.
fn make_paths_relative(working: &Path, tool: &str, mut input: Value) -> Value {
    let Ok(project) = std::env::current_dir().and_then(|project| project.canonicalize()) else { return input };
    call_strings::map_paths(tool, &mut input, &|path| {
        let found = resolve_links(working, path);
        let shown = found.strip_prefix(&project).unwrap_or(&found).to_string_lossy().into_owned();
        // The project folder itself would become an empty path.
        if shown.is_empty() { path.to_owned() } else { shown }
    });
    input
}

fn decide_in_run(
    arguments: &GateCallArguments,
    run_id: &str,
    tool: &str,
    tool_input: &Value,
) -> Result<HookDecision, Fault> {
    let input = json!({"run_id": run_id, "tool_name": tool, "tool_input": tool_input});
    let answer =
        call_gate(arguments, async |engine_access| engine_access.call("state_gate.tool_permission", input).await)?;
    let verdict = match answer["decision"].as_str() {
        Some("allow") => HookVerdict::Allow,
        Some("ask") => HookVerdict::Ask,
        _ => HookVerdict::Deny,
    };
    let reason = answer["reason"].as_str().unwrap_or("the gate gave no reason");
    // With a denial, tell the agent what to do instead.
    let prompt = answer["current_state_prompt"].as_str().filter(|_| verdict == HookVerdict::Deny);
    let reason = prompt.map_or_else(|| reason.to_owned(), |prompt| format!("{reason}. What to do there: {prompt}"));
    Ok(HookDecision { verdict, reason })
}
