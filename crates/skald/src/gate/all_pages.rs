//! Reads all pages of a list (runs, history) and joins them.

use serde_json::{Value, json};
use skald_app::{Fault, limits};

use super::engine_access::EngineAccess;
use super::print_reply::CommandReply;
use super::{RUN, text};
use crate::arguments::ListRunsArguments;

pub(super) async fn list_runs(engine_access: &EngineAccess, list: &ListRunsArguments) -> Result<CommandReply, Fault> {
    let input = json!({"process_id": list.process_id, "campaign_id": list.campaign_id, "status": list.status});
    let runs = read_all_pages(engine_access, "state_gate.list_runs", input, "runs").await?;
    Ok(CommandReply::success(text::runs(&runs), json!({"runs": runs})))
}

pub(super) async fn list_history(engine_access: &EngineAccess, run_id: &str) -> Result<CommandReply, Fault> {
    let list_history =
        read_all_pages(engine_access, RUN, json!({"method": "history", "run_id": run_id}), "history").await?;
    Ok(CommandReply::success(text::history(&list_history), json!({"run_id": run_id, "history": list_history})))
}

async fn read_all_pages(
    engine_access: &EngineAccess,
    operation: &str,
    mut input: Value,
    field: &str,
) -> Result<Vec<Value>, Fault> {
    input["limit"] = json!(limits::PAGE_MAX);
    let mut rows = Vec::new();
    loop {
        let mut page = engine_access.call(operation, input.clone()).await?;
        if let Value::Array(more) = page[field].take() {
            rows.extend(more);
        }
        match page["next_cursor"].take() {
            Value::Null => return Ok(rows),
            cursor => input["cursor"] = cursor,
        }
    }
}
