//! The history of a run as text, one attempt after the other.

use serde_json::Value;

use super::{TextPage, list_items, one_line};

pub(in crate::gate) fn history(history: &[Value]) -> String {
    let mut page = TextPage::default();
    for entry in history {
        add_entry(&mut page, entry);
    }
    page.into_text()
}

fn add_entry(page: &mut TextPage, entry: &Value) {
    let [at, by, role, event] = ["at", "by", "role", "event_name"].map(|field| one_line(&entry[field]));
    let what = match (entry["from_state"].is_string(), entry["to_state"].is_string()) {
        (true, true) => format!("{event}: {} -> {}", one_line(&entry["from_state"]), one_line(&entry["to_state"])),
        (false, true) => format!("{event}: in {}", one_line(&entry["to_state"])),
        (true, false) => format!("{event}: in {}", one_line(&entry["from_state"])),
        (false, false) => event,
    };
    let outcome = match (entry["accepted"] == true, entry["recorded"] == true) {
        (true, true) => " [recorded only]",
        (true, false) => "",
        (false, _) => " [refused]",
    };
    page.add_line(format!("{:>4}  {at}  {what}{outcome}, by {by} as {role}", one_line(&entry["revision"])));
    let mut detail = |text: String| {
        page.add_line(format!("      {text}"));
    };
    let token = &entry["token"];
    if token.is_object() {
        let [name, person, at, by, with] =
            ["name", "person", "made_at", "made_by", "made_with"].map(|field| one_line(&token[field]));
        let revoked = &token["revoked_at"];
        let revoked = if revoked.is_string() { format!(", revoked {}", one_line(revoked)) } else { String::new() };
        detail(format!("token {name} of {person}, made {at} by {by} with {with}{revoked}"));
    }
    match (entry["code"].is_string(), entry["message"].is_string()) {
        (true, _) => detail(format!("{}: {}", one_line(&entry["code"]), one_line(&entry["message"]))),
        (false, true) => detail(one_line(&entry["message"])),
        (false, false) => {}
    }
    if entry["reason"].is_string() {
        detail(format!("reason: {}", one_line(&entry["reason"])));
    }
    for guard in list_items(&entry["guards"]) {
        let status = if guard["satisfied"] == true { "satisfied" } else { "not satisfied" };
        let missing: Vec<String> = list_items(&guard["missing"]).map(one_line).collect();
        let missing = if missing.is_empty() { String::new() } else { format!(": {}", missing.join(", ")) };
        detail(format!("guard {} {status}{missing}", one_line(&guard["guard"])));
    }
    if entry["payload"].is_object() {
        detail(format!("payload {}", one_line(&entry["payload"])));
    }
    for artifact in list_items(&entry["artifacts"]) {
        let types: Vec<String> = list_items(&artifact["types"]).map(one_line).collect();
        let types = if types.is_empty() { String::new() } else { format!(" as {}", types.join(", ")) };
        let [path, hash] = ["path", "sha256"].map(|field| one_line(&artifact[field]));
        detail(format!("artifact {path}{types}, {} bytes, sha256 {hash}", artifact["bytes"]));
    }
    for stale in list_items(&entry["stale"]) {
        detail(format!("gone or changed since it was submitted: {}", one_line(stale)));
    }
    if !entry["campaign"].is_null() {
        detail(format!("campaign {}", one_line(&entry["campaign"])));
    }
}
