//! Resource changes of a campaign: the URIs whose content changes with a journal record.

use std::collections::BTreeSet;

use crate::ResourceChange;
use skald_journal::Record;

/// The resource changes of a record. Event types are matched by prefix, so that new versions of an event match.
pub(crate) fn changes_of_record(record: &Record) -> Vec<ResourceChange> {
    let Ok(events) = serde_json::from_str::<Vec<serde_json::Value>>(&record.body) else { return Vec::new() };
    let campaign = format!("campaign://{}", record.stream.id());
    let mut uris = BTreeSet::from([format!("{campaign}/events")]);
    let mut is_created = false;
    for event in &events {
        let kind = event.get("type").and_then(serde_json::Value::as_str).unwrap_or_default();
        is_created |= kind.starts_with("campaign.created");
        let part = kind.split('.').next().unwrap_or_default();
        match part {
            "participant" | "tracker" => {
                uris.extend([format!("{campaign}/participants"), format!("{campaign}/actors")]);
            }
            "actor" => uris.extend([format!("{campaign}/actors")]),
            "session" | "note" | "roll" => uris.extend([format!("{campaign}/sessions")]),
            _ => {}
        }
        let moves_trackers = event.get("changes").is_some();
        if moves_trackers {
            uris.extend([format!("{campaign}/actors"), format!("{campaign}/participants")]);
        }
        // What the campaign itself shows beside its record: trackers, and the spotlight, which follows rolls.
        if moves_trackers || ["tracker", "spotlight"].contains(&part) || event.get("actor_id").is_some() {
            uris.insert(campaign.clone());
        }
        if !["note", "roll", "tracker", "spotlight"].contains(&part) {
            uris.extend([campaign.clone(), "campaigns://list".to_owned()]);
        }
    }
    let resources = uris.into_iter().map(|uri| ResourceChange::Resource(uri.into()));
    resources.chain(is_created.then_some(ResourceChange::ResourceList)).collect()
}
