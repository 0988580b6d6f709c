//! The state of a run and its events as text.

use serde_json::Value;

use super::{TextPage, items, table, word};

pub(in crate::gate) fn state(state: &Value) -> String {
    let mut page = TextPage::default();
    let standing =
        format!("{} ({}), revision {}", word(&state["current_state"]), word(&state["status"]), state["revision"]);
    page.fields(&[
        ("Run", word(&state["run_id"])),
        ("Process", format!("{} {}", word(&state["process_id"]), word(&state["process_version"]))),
        ("State", standing),
        ("Updated", word(&state["updated_at"])),
        ("Campaign", word(&state["campaign_id"])),
        ("Artifacts in", word(&state["artifact_base_path"])),
    ]);
    page.prompt(&state["current_state_prompt"]);
    let required = items(&state["required_artifacts"]);
    let required = required.map(|row| ["status", "type", "description"].map(|field| word(&row[field])).to_vec());
    page.section("Artifacts", table(&required.collect::<Vec<_>>()));
    page.section("Changed since they were submitted", items(&state["stale_artifacts"]).map(word).collect());
    let missing = items(&state["missing_guards"]).flat_map(|guard| {
        let [name, description, status] =
            ["guard_name", "description", "current_status"].map(|field| word(&guard[field]));
        [format!("{name}: {description}"), format!("  {status}")]
    });
    page.section("Missing", missing.collect());
    page.section("Events", items(&state["allowed_events"]).flat_map(event).collect());
    let context = state["context"].as_object().into_iter().flatten();
    page.section(
        "Context",
        context.map(|(name, value)| format!("{} = {}", word(&name.as_str().into()), json(value))).collect(),
    );
    page.text()
}

pub(in crate::gate) fn events(events: &Value) -> String {
    let mut page = TextPage::default();
    page.fields(&[("Run", word(&events["run_id"])), ("State", word(&events["current_state"]))]);
    for found in items(&events["events"]) {
        page.line("");
        let mut lines = event(found).into_iter();
        let first = lines.next().unwrap_or_default();
        match found["blocked_reason"].as_str() {
            None => page.line(first),
            Some(_) => page.line(format!("{first} [blocked: {}]", word(&found["blocked_reason"]))),
        };
        page.lines(lines.map(|line| format!("  {line}")));
        for transition in items(&found["transitions"]) {
            let guard = match transition["guard"].as_str() {
                None => String::new(),
                Some(_) => format!(", guard {}: {}", word(&transition["guard"]), word(&transition["guard_status"])),
            };
            page.line(format!("  -> {}{guard}", word(&transition["to_state"])));
            page.lines(items(&transition["missing_requirements"]).map(|missing| format!("       {}", word(missing))));
        }
    }
    if items(&events["events"]).next().is_none() {
        page.line("").line(
            "As things stand, without new evidence or payload, no event would be accepted; \
             --include-blocked shows them all, and why.",
        );
    }
    page.text()
}

/// An event's name and description, and the shape of its payload.
fn event(event: &Value) -> Vec<String> {
    let description = event["description"].as_str().filter(|text| !text.is_empty());
    let name = word(&event["event_name"]);
    let first = description.map_or_else(|| name.clone(), |_| format!("{name}: {}", word(&event["description"])));
    let schema = event.get("payload_schema").map(|schema| format!("  payload {}", word(schema)));
    [Some(first), schema].into_iter().flatten().collect()
}

/// A variable as JSON, so that the text "1" is not taken for the number.
fn json(value: &Value) -> String {
    word(&value.to_string().into())
}
