//! The state of a run and its events as text.

use serde_json::Value;

use super::{TextPage, align_columns, list_items, one_line};

pub(in crate::gate) fn state(state: &Value) -> String {
    let mut page = TextPage::default();
    let status_line = format!(
        "{} ({}), revision {}",
        one_line(&state["current_state"]),
        one_line(&state["status"]),
        state["revision"]
    );
    page.add_fields(&[
        ("Run", one_line(&state["run_id"])),
        ("Process", format!("{} {}", one_line(&state["process_id"]), one_line(&state["process_version"]))),
        ("State", status_line),
        ("Updated", one_line(&state["updated_at"])),
        ("Campaign", one_line(&state["campaign_id"])),
        ("Artifacts in", one_line(&state["artifact_base_path"])),
    ]);
    page.add_prompt(&state["current_state_prompt"]);
    let required = list_items(&state["required_artifacts"]);
    let required = required.map(|row| ["status", "type", "description"].map(|field| one_line(&row[field])).to_vec());
    page.add_section("Artifacts", align_columns(&required.collect::<Vec<_>>()));
    page.add_section(
        "Changed since they were submitted",
        list_items(&state["stale_artifacts"]).map(one_line).collect(),
    );
    let missing = list_items(&state["missing_guards"]).flat_map(|guard| {
        let [name, description, status] =
            ["guard_name", "description", "current_status"].map(|field| one_line(&guard[field]));
        [format!("{name}: {description}"), format!("  {status}")]
    });
    page.add_section("Missing", missing.collect());
    page.add_section("Events", list_items(&state["allowed_events"]).flat_map(event_lines).collect());
    let context = state["context"].as_object().into_iter().flatten();
    page.add_section(
        "Context",
        context.map(|(name, value)| format!("{} = {}", one_line(&name.as_str().into()), json(value))).collect(),
    );
    page.into_text()
}

pub(in crate::gate) fn events(events: &Value) -> String {
    let mut page = TextPage::default();
    page.add_fields(&[("Run", one_line(&events["run_id"])), ("State", one_line(&events["current_state"]))]);
    for found in list_items(&events["events"]) {
        page.add_line("");
        let mut lines = event_lines(found).into_iter();
        let first = lines.next().unwrap_or_default();
        match found["blocked_reason"].as_str() {
            None => page.add_line(first),
            Some(_) => page.add_line(format!("{first} [blocked: {}]", one_line(&found["blocked_reason"]))),
        };
        page.add_lines(lines.map(|line| format!("  {line}")));
        for transition in list_items(&found["transitions"]) {
            let guard = match transition["guard"].as_str() {
                None => String::new(),
                Some(_) => {
                    format!(", guard {}: {}", one_line(&transition["guard"]), one_line(&transition["guard_status"]))
                }
            };
            page.add_line(format!("  -> {}{guard}", one_line(&transition["to_state"])));
            page.add_lines(
                list_items(&transition["missing_requirements"]).map(|missing| format!("       {}", one_line(missing))),
            );
        }
    }
    if list_items(&events["events"]).next().is_none() {
        page.add_line("").add_line(
            "As things stand, without new evidence or payload, no event would be accepted; \
             --include-blocked shows them all, and why.",
        );
    }
    page.into_text()
}

/// An event's name and description, and the shape of its payload.
fn event_lines(event: &Value) -> Vec<String> {
    let description = event["description"].as_str().filter(|text| !text.is_empty());
    let name = one_line(&event["event_name"]);
    let first = description.map_or_else(|| name.clone(), |_| format!("{name}: {}", one_line(&event["description"])));
    let schema = event.get("payload_schema").map(|schema| format!("  payload {}", one_line(schema)));
    [Some(first), schema].into_iter().flatten().collect()
}

/// A variable as JSON, so that the text "1" is not taken for the number.
fn json(value: &Value) -> String {
    one_line(&value.to_string().into())
}
