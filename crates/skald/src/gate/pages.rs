//! Lists that come page by page, put together.

use serde_json::{Value, json};
use skald_app::{Fault, limits};

use super::desk::Desk;
use super::reply::Reply;
use super::{RUN, text};
use crate::arguments::ListRunsArguments;

pub(super) async fn runs(desk: &Desk, list: &ListRunsArguments) -> Result<Reply, Fault> {
    let input = json!({"process_id": list.process_id, "campaign_id": list.campaign_id, "status": list.status});
    let runs = all(desk, "state_gate.list_runs", input, "runs").await?;
    Ok(Reply::done(text::runs(&runs), json!({"runs": runs})))
}

pub(super) async fn history(desk: &Desk, run_id: &str) -> Result<Reply, Fault> {
    let history = all(desk, RUN, json!({"method": "history", "run_id": run_id}), "history").await?;
    Ok(Reply::done(text::history(&history), json!({"run_id": run_id, "history": history})))
}

async fn all(desk: &Desk, operation: &str, mut input: Value, field: &str) -> Result<Vec<Value>, Fault> {
    input["limit"] = json!(limits::PAGE_MAX);
    let mut rows = Vec::new();
    loop {
        let mut page = desk.call(operation, input.clone()).await?;
        if let Value::Array(more) = page[field].take() {
            rows.extend(more);
        }
        match page["next_cursor"].take() {
            Value::Null => return Ok(rows),
            cursor => input["cursor"] = cursor,
        }
    }
}
