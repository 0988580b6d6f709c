//! Lists of runs, created runs, and accepted or refused events as text.

use serde_json::Value;

use super::{TextPage, align_columns, list_items, one_line};

pub(in crate::gate) fn runs(runs: &[Value]) -> String {
    if runs.is_empty() {
        return "There are no runs. `skald gate create-run --process-id ID` makes one.".to_owned();
    }
    let head = ["RUN", "PROCESS", "STATE", "STATUS", "REVISION", "CREATED", "CHANGED", "BY", "CAMPAIGN"];
    let fields = [
        "run_id",
        "process_id",
        "current_state",
        "status",
        "revision",
        "created_at",
        "updated_at",
        "created_by",
        "campaign_id",
    ];
    let rows = runs.iter().map(|run| {
        let mut row = fields.map(|field| one_line(&run[field])).to_vec();
        row[1] = format!("{} {}", row[1], one_line(&run["process_version"]));
        row
    });
    let rows: Vec<Vec<String>> = std::iter::once(head.map(str::to_owned).to_vec()).chain(rows).collect();
    align_columns(&rows).join("\n")
}

pub(in crate::gate) fn created_run(run: &Value) -> String {
    let mut page = TextPage::default();
    page.add_fields(&[
        ("Run", one_line(&run["run_id"])),
        ("State", format!("{}, revision {}", one_line(&run["initial_state"]), run["revision"])),
        ("Artifacts in", one_line(&run["artifact_base_path"])),
        ("Named in", one_line(&run["config_path"])),
    ]);
    page.add_prompt(&run["current_state_prompt"]);
    page.into_text()
}

/// An event that was accepted.
pub(in crate::gate) fn accepted_event(result: &Value) -> String {
    let mut page = TextPage::default();
    let moved = &result["transition"];
    let replayed = if result["replayed"] == true { ", accepted before under the same key" } else { "" };
    page.add_line(format!(
        "accepted: {} -> {}, revision {}, {}{replayed}",
        one_line(&moved["from_state"]),
        one_line(&moved["to_state"]),
        result["new_revision"],
        one_line(&result["event_id"]),
    ));
    page.add_section(
        "Recorded only, since this is missing",
        list_items(&result["missing_guards"]).map(one_line).collect(),
    );
    page.add_prompt(&result["new_state_prompt"]);
    page.into_text()
}

/// An event that was refused.
pub(in crate::gate) fn refused_event(error: &Value) -> String {
    let mut page = TextPage::default();
    page.add_line(format!("skald: {}: {}", one_line(&error["code"]), one_line(&error["message"])));
    let details = &error["details"];
    page.add_lines(list_items(&details["missing_guards"]).map(|guard| format!("  {}", one_line(guard))));
    let wrong = list_items(&details["validation_errors"]);
    page.add_lines(wrong.map(|error| format!("  {}: {}", one_line(&error["path"]), one_line(&error["message"]))));
    if let Some(revision) = details["current_revision"].as_u64() {
        page.add_line(format!("  the current revision is {revision}"));
    }
    if error["hint"].is_string() {
        page.add_line(format!("  {}", one_line(&error["hint"])));
    }
    page.into_text()
}

pub(in crate::gate) fn cancelled_run(answer: &Value) -> String {
    let ended = &answer["cancelled"];
    let replayed = if answer["replayed"] == true { ", done before under the same key" } else { "" };
    let (run, state) = (one_line(&answer["run_id"]), one_line(&ended["state"]));
    format!("cancelled: run {run} in state {state}, revision {}{replayed}", ended["revision"])
}
