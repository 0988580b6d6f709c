//! The `PostToolUse` hook: after a tool moved the run, prints what to do in the new state.

use serde_json::{Value, json};

use super::own_tools;
use super::request::HookRequest;
use crate::arguments::PostToolUseArguments;

/// How deep an answer is searched: content lists, JSON in a text, the answer and its result are nested.
const DEPTH_MAX: u32 = 12;

pub(super) fn new_state_context(post: &PostToolUseArguments) -> Result<Option<String>, String> {
    let request = HookRequest::read("PostToolUse", post.tool_name.as_deref(), post.tool_response.as_deref())?;
    if !own_tools::is_emit_event(&request.tool_name) {
        return Ok(None);
    }
    let Some(result) = find_new_state(&request.tool_response, DEPTH_MAX) else { return Ok(None) };
    let revision = result["new_revision"].as_u64().map(|revision| format!(", at revision {revision}"));
    let context = format!(
        "The run is in state '{}' now{}. What to do there:\n\n{}",
        result["transition"]["to_state"].as_str().unwrap_or("?"),
        revision.unwrap_or_default(),
        result["new_state_prompt"].as_str().unwrap_or_default(),
    );
    let output = json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": context}});
    Ok(Some(output.to_string()))
}

/// The part of an answer that has the prompt of a new state, however the answer is wrapped.
fn find_new_state(answer: &Value, depth: u32) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    match answer {
        Value::Object(fields) if fields.get("new_state_prompt").is_some_and(Value::is_string) => Some(answer.clone()),
        Value::Object(fields) => fields.values().find_map(|value| find_new_state(value, depth)),
        Value::Array(values) => values.iter().find_map(|value| find_new_state(value, depth)),
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
            find_new_state(&serde_json::from_str(text).ok()?, depth)
        }
        _ => None,
    }
}
