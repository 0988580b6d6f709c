//! Resource changes of a campaign: the URIs whose content changes with a journal record, and who may know it.

use std::collections::BTreeMap;

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;
use skald_domain::campaign::CampaignEvent;
use skald_domain::visibility::Visibility;

use super::CampaignStream;
use crate::{CampaignStates, ChangeReaders, RecordSecrecy, ResourceChange};
use skald_journal::{Record, StoreError, parse_events};

/// A notification tells whoever gets it that something is there, so only those who may know of it get one.
pub(super) const SECRECY: RecordSecrecy =
    RecordSecrecy { is_secret: is_secret_record, changes: secret_changes_of_record };

fn is_secret_record(record: &Record) -> bool {
    changed_uris(record).values().any(|seen_by| !seen_by.is_table())
}

/// The resource changes of a record that everybody at the table may know of.
pub(super) fn changes_of_record(record: &Record) -> Vec<ResourceChange> {
    let resources = changed_uris(record).into_keys().map(|uri| ResourceChange::Resource(uri.into()));
    resources.chain(creates_campaign(record).then_some(ResourceChange::ResourceList)).collect()
}

fn secret_changes_of_record<'a>(
    record: &'a Record,
    states: &'a CampaignStates,
) -> BoxFuture<'a, Result<Vec<(ResourceChange, ChangeReaders)>, StoreError>> {
    async move {
        let campaign = states.campaign(record.stream.id()).await?;
        let readers = |seen_by: &Visibility| ChangeReaders::new(seen_by, &campaign.state);
        let changes = changed_uris(record).into_iter();
        Ok(changes.map(|(uri, seen_by)| (ResourceChange::Resource(uri.into()), readers(&seen_by))).collect())
    }
    .boxed()
}

fn creates_campaign(record: &Record) -> bool {
    raw_events(record).iter().any(|event| kind_of(event).starts_with("campaign.created"))
}

/// The URIs that a record changes, each with who sees a change of it.
fn changed_uris(record: &Record) -> BTreeMap<String, Visibility> {
    let campaign_id = record.stream.id();
    let events = raw_events(record);
    let parsed = parse_events::<CampaignStream>(record).unwrap_or_default();
    let mut uris: BTreeMap<String, Visibility> = BTreeMap::new();
    let mut add = |uri: String, seen_by: &Visibility| {
        let all = uris.get(&uri).map_or_else(|| seen_by.clone(), |known| known.union(seen_by));
        uris.insert(uri, all);
    };
    for (at, event) in events.iter().enumerate() {
        // An event that this version cannot read may be about anything.
        let seen_by = parsed.get(at).map_or(Visibility::GameMasters, event_readers);
        for uri in uris_of_event(campaign_id, event) {
            add(uri, &seen_by);
        }
        for tracker_seen_by in parsed.get(at).into_iter().flat_map(secret_trackers) {
            for part in ["", "/actors", "/participants", "/events"] {
                add(format!("campaign://{campaign_id}{part}"), &tracker_seen_by);
            }
        }
    }
    uris
}

/// Who may know of an event: whoever sees what it is about. What was hidden is gone for those who saw it before.
fn event_readers(event: &CampaignEvent) -> Visibility {
    match event {
        CampaignEvent::VisibilityChanged { visible_to, was, .. } => visible_to.union(was),
        event => event.visibility(),
    }
}

/// Who sees each secret tracker that an event sets or moves beside what it is about.
fn secret_trackers(event: &CampaignEvent) -> Vec<Visibility> {
    let all: Vec<&Visibility> = match event {
        CampaignEvent::RollRecorded(roll) => roll.changes.iter().map(|change| &change.visible_to).collect(),
        CampaignEvent::ActorSheetSet { trackers, .. } => trackers.iter().map(|tracker| &tracker.visible_to).collect(),
        _ => Vec::new(),
    };
    all.into_iter().filter(|seen_by| !seen_by.is_table()).cloned().collect()
}

/// The URIs that an event changes for those who see it. Event types are matched by prefix, so that new versions of an
/// event match.
fn uris_of_event(campaign_id: &str, event: &Value) -> Vec<String> {
    let campaign = format!("campaign://{campaign_id}");
    let mut uris = vec![format!("{campaign}/events")];
    let kind = kind_of(event);
    let part = kind.split('.').next().unwrap_or_default();
    match part {
        "participant" | "tracker" => {
            uris.extend([format!("{campaign}/participants"), format!("{campaign}/actors")]);
        }
        // Whoever plays an actor knows what it knows: notes, rolls, and private lore.
        "actor" if kind.starts_with("actor.control_set") => {
            let lore = ["entities", "graph.svg"].map(|part| format!("lore://{campaign_id}/{part}"));
            let world = [format!("imagineer://campaigns/{campaign_id}/entities"), timeline_uri(campaign_id)];
            uris.extend(["actors", "participants", "sessions"].map(|part| format!("{campaign}/{part}")));
            uris.extend(lore.into_iter().chain(world));
        }
        "actor" => uris.extend([format!("{campaign}/actors")]),
        // The secret may belong to an actor, a participant or a session.
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
        uris.push(campaign.clone());
    }
    let begins_scene = part == "spotlight" && event.get("scene").is_some();
    if begins_scene || ["session", "roll", "visibility"].contains(&part) {
        uris.push(timeline_uri(campaign_id));
    }
    if !["note", "roll", "tracker", "spotlight", "visibility"].contains(&part) {
        uris.extend([campaign, "campaigns://list".to_owned()]);
    }
    uris
}

/// The timeline of a campaign, which also has sessions, scenes, rolls, reveals, steps of runs and times of universes.
pub(crate) fn timeline_uri(campaign_id: &str) -> String {
    format!("imagineer://campaigns/{campaign_id}/timeline")
}

fn kind_of(event: &Value) -> &str {
    event.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn raw_events(record: &Record) -> Vec<Value> {
    serde_json::from_str(&record.body).unwrap_or_default()
}
