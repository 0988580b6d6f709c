//! Resource changes of a campaign: the URIs whose content changes with a journal record.

use std::collections::BTreeSet;

use serde_json::Value;
use skald_domain::campaign::CampaignEvent;

use super::CampaignStream;
use crate::ResourceChange;
use skald_journal::{Record, parse_events};

/// Whether nothing in a record is for everybody at the table. A notification would tell others that something is there.
pub(super) fn is_secret_record(record: &Record) -> bool {
    // An event that this version cannot read may be about anything.
    parse_events::<CampaignStream>(record).map_or(true, |events| events.iter().all(is_secret))
}

fn is_secret(event: &CampaignEvent) -> bool {
    !event.visibility().is_table()
}

/// The events by which resources change: of a record that everybody hears of, those that everybody may see.
fn announced_events(record: &Record) -> Vec<Value> {
    let events: Vec<Value> = serde_json::from_str(&record.body).unwrap_or_default();
    let Ok(parsed) = parse_events::<CampaignStream>(record) else { return events };
    if parsed.iter().all(is_secret) || parsed.len() != events.len() {
        return events;
    }
    events.into_iter().zip(&parsed).filter(|(_, event)| !is_secret(event)).map(|(value, _)| value).collect()
}

/// The resource changes of a record. Event types are matched by prefix, so that new versions of an event match.
pub(crate) fn changes_of_record(record: &Record) -> Vec<ResourceChange> {
    let events = announced_events(record);
    let campaign = format!("campaign://{}", record.stream.id());
    let mut uris = BTreeSet::from([format!("{campaign}/events")]);
    let mut is_created = false;
    for event in &events {
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        is_created |= kind.starts_with("campaign.created");
        let part = kind.split('.').next().unwrap_or_default();
        match part {
            "participant" | "tracker" => {
                uris.extend([format!("{campaign}/participants"), format!("{campaign}/actors")]);
            }
            "actor" => uris.extend([format!("{campaign}/actors")]),
            // What was revealed or hidden may be of any of them.
            "visibility" => {
                uris.extend(["actors", "participants", "sessions"].map(|part| format!("{campaign}/{part}")));
            }
            "session" | "note" | "roll" => uris.extend([format!("{campaign}/sessions")]),
            _ => {}
        }
        let changes = event.get("changes").and_then(Value::as_array).into_iter().flatten();
        let moves_trackers = changes.filter(|change| change.get("visible_to").is_none()).count() > 0;
        if moves_trackers {
            uris.extend([format!("{campaign}/actors"), format!("{campaign}/participants")]);
        }
        // What the campaign itself shows beside its record: trackers, and the spotlight, which follows rolls.
        if moves_trackers || ["tracker", "spotlight", "visibility"].contains(&part) || event.get("actor_id").is_some() {
            uris.insert(campaign.clone());
        }
        if !["note", "roll", "tracker", "spotlight", "visibility"].contains(&part) {
            uris.extend([campaign.clone(), "campaigns://list".to_owned()]);
        }
    }
    let resources = uris.into_iter().map(|uri| ResourceChange::Resource(uri.into()));
    resources.chain(is_created.then_some(ResourceChange::ResourceList)).collect()
}
