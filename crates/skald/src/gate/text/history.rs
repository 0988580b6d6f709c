//! The history of a run as text, one attempt after the other.

use serde_json::Value;

use super::{TextPage, items, word};

pub(in crate::gate) fn history(history: &[Value]) -> String {
    let mut page = TextPage::default();
    for entry in history {
        tell(&mut page, entry);
    }
    page.text()
}

fn tell(page: &mut TextPage, entry: &Value) {
    let [at, by, role, event] = ["at", "by", "role", "event_name"].map(|field| word(&entry[field]));
    let what = match (entry["from_state"].is_string(), entry["to_state"].is_string()) {
        (true, true) => format!("{event}: {} -> {}", word(&entry["from_state"]), word(&entry["to_state"])),
        (false, true) => format!("{event}: in {}", word(&entry["to_state"])),
        (true, false) => format!("{event}: in {}", word(&entry["from_state"])),
        (false, false) => event,
    };
    let outcome = match (entry["accepted"] == true, entry["recorded"] == true) {
        (true, true) => " [recorded only]",
        (true, false) => "",
        (false, _) => " [refused]",
    };
    page.line(format!("{:>4}  {at}  {what}{outcome}, by {by} as {role}", word(&entry["revision"])));
    let mut detail = |text: String| {
        page.line(format!("      {text}"));
    };
    let token = &entry["token"];
    if token.is_object() {
        let [name, person, at, by, with] =
            ["name", "person", "made_at", "made_by", "made_with"].map(|field| word(&token[field]));
        let revoked = &token["revoked_at"];
        let revoked = if revoked.is_string() { format!(", revoked {}", word(revoked)) } else { String::new() };
        detail(format!("token {name} of {person}, made {at} by {by} with {with}{revoked}"));
    }
    match (entry["code"].is_string(), entry["message"].is_string()) {
        (true, _) => detail(format!("{}: {}", word(&entry["code"]), word(&entry["message"]))),
        (false, true) => detail(word(&entry["message"])),
        (false, false) => {}
    }
    if entry["reason"].is_string() {
        detail(format!("reason: {}", word(&entry["reason"])));
    }
    for guard in items(&entry["guards"]) {
        let status = if guard["satisfied"] == true { "satisfied" } else { "not satisfied" };
        let missing: Vec<String> = items(&guard["missing"]).map(word).collect();
        let missing = if missing.is_empty() { String::new() } else { format!(": {}", missing.join(", ")) };
        detail(format!("guard {} {status}{missing}", word(&guard["guard"])));
    }
    if entry["payload"].is_object() {
        detail(format!("payload {}", word(&entry["payload"])));
    }
    for artifact in items(&entry["artifacts"]) {
        let types: Vec<String> = items(&artifact["types"]).map(word).collect();
        let types = if types.is_empty() { String::new() } else { format!(" as {}", types.join(", ")) };
        let [path, hash] = ["path", "sha256"].map(|field| word(&artifact[field]));
        detail(format!("artifact {path}{types}, {} bytes, sha256 {hash}", artifact["bytes"]));
    }
    for stale in items(&entry["stale"]) {
        detail(format!("changed since it was submitted: {}", word(stale)));
    }
    if !entry["campaign"].is_null() {
        detail(format!("campaign {}", word(&entry["campaign"])));
    }
}
