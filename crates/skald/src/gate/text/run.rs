//! Lists of runs, created runs, and accepted or refused events as text.

use serde_json::Value;

use super::{TextPage, items, table, word};

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
        let mut row = fields.map(|field| word(&run[field])).to_vec();
        row[1] = format!("{} {}", row[1], word(&run["process_version"]));
        row
    });
    let rows: Vec<Vec<String>> = std::iter::once(head.map(str::to_owned).to_vec()).chain(rows).collect();
    table(&rows).join("\n")
}

pub(in crate::gate) fn created(run: &Value) -> String {
    let mut page = TextPage::default();
    page.fields(&[
        ("Run", word(&run["run_id"])),
        ("State", format!("{}, revision {}", word(&run["initial_state"]), run["revision"])),
        ("Artifacts in", word(&run["artifact_base_path"])),
        ("Named in", word(&run["config_path"])),
    ]);
    page.prompt(&run["current_state_prompt"]);
    page.text()
}

/// An event that was accepted.
pub(in crate::gate) fn emitted(result: &Value) -> String {
    let mut page = TextPage::default();
    let moved = &result["transition"];
    let replayed = if result["replayed"] == true { ", accepted before under the same key" } else { "" };
    page.line(format!(
        "accepted: {} -> {}, revision {}, {}{replayed}",
        word(&moved["from_state"]),
        word(&moved["to_state"]),
        result["new_revision"],
        word(&result["event_id"]),
    ));
    page.section("Recorded only, since this is missing", items(&result["missing_guards"]).map(word).collect());
    page.prompt(&result["new_state_prompt"]);
    page.text()
}

/// An event that was refused.
pub(in crate::gate) fn refused(error: &Value) -> String {
    let mut page = TextPage::default();
    page.line(format!("skald: {}: {}", word(&error["code"]), word(&error["message"])));
    let details = &error["details"];
    page.lines(items(&details["missing_guards"]).map(|guard| format!("  {}", word(guard))));
    let wrong = items(&details["validation_errors"]);
    page.lines(wrong.map(|error| format!("  {}: {}", word(&error["path"]), word(&error["message"]))));
    if let Some(revision) = details["current_revision"].as_u64() {
        page.line(format!("  the current revision is {revision}"));
    }
    if error["hint"].is_string() {
        page.line(format!("  {}", word(&error["hint"])));
    }
    page.text()
}

pub(in crate::gate) fn cancelled(answer: &Value) -> String {
    let ended = &answer["cancelled"];
    let replayed = if answer["replayed"] == true { ", done before under the same key" } else { "" };
    let (run, state) = (word(&answer["run_id"]), word(&ended["state"]));
    format!("cancelled: run {run} in state {state}, revision {}{replayed}", ended["revision"])
}
