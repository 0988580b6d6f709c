//! Resource changes of the lore: the URIs whose content changes with a journal record, and who may hear of it.

use serde_json::Value;

use super::stream::LoreStream;
use crate::ResourceChange;
use skald_domain::lore::LoreEvent;
use skald_journal::Record;

pub(super) fn changes_of_record(record: &Record) -> Vec<ResourceChange> {
    let lore = format!("lore://{}", record.stream.id());
    let campaign = format!("imagineer://campaigns/{}", record.stream.id());
    let mut uris = Vec::new();
    for event in &events(record) {
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        if kind.starts_with("timeline_event.") {
            uris.push(format!("{campaign}/timeline"));
            continue;
        }
        uris.push(format!("{lore}/graph.svg"));
        if kind.starts_with("relationship.") {
            let ends = ["source_id", "target_id"].into_iter().filter_map(|end| event["relationship"][end].as_u64());
            uris.extend(ends.map(|entity_id| format!("{lore}/relationships/{entity_id}")));
            continue;
        }
        uris.extend([format!("{lore}/entities"), format!("{campaign}/entities")]);
        let is_tag_deleted = event.get("type").is_some_and(|kind| kind == "tag.deleted.v1");
        let several = event.get("entity_ids").filter(|_| is_tag_deleted).and_then(Value::as_array);
        let several = several.into_iter().flatten();
        let entity_ids = event.get("entity_id").into_iter().chain(several).filter_map(Value::as_u64);
        uris.extend(entity_ids.map(|entity_id| format!("{lore}/entity/{entity_id}")));
    }
    uris.into_iter().map(|uri| ResourceChange::Resource(uri.into())).collect()
}

/// Whether a record is about something that only game masters see. A notification would tell others that it is there.
pub(super) fn is_private_record(record: &Record) -> bool {
    let events = skald_journal::parse_events::<LoreStream>(record);
    // An event that this version cannot read may be about anything.
    events.map_or(true, |events| events.iter().any(LoreEvent::is_private))
}

fn events(record: &Record) -> Vec<Value> {
    serde_json::from_str(&record.body).unwrap_or_default()
}

/// The list of which a page or a part is read: all entities, the timeline, the relationships of an entity.
pub(super) fn containing_list_uri(uri: &str) -> Option<String> {
    let (list, query) = uri.split_once('?')?;
    let is_list = match list.split_once("://")? {
        ("lore", path) => path.ends_with("/entities") || path.contains("/relationships/"),
        ("imagineer", path) => path.ends_with("/entities") || path.ends_with("/timeline"),
        _ => false,
    };
    (is_list && !query.is_empty()).then(|| list.to_owned())
}
