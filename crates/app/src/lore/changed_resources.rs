//! Resource changes of the lore: the URIs whose content changes with a journal record, and who may hear of it.

use serde_json::Value;

use super::stream::LoreStream;
use crate::ResourceChange;
use skald_domain::lore::LoreEvent;
use skald_journal::Record;

pub(super) fn changes_of_record(record: &Record) -> Vec<ResourceChange> {
    let lore = format!("lore://{}", record.stream.id());
    let mut uris = vec![format!("{lore}/entities"), format!("{lore}/graph.svg")];
    uris.extend(events(record).iter().filter_map(|event| {
        let entity_id = event.get("entity_id")?.as_u64()?;
        Some(format!("{lore}/entity/{entity_id}"))
    }));
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

/// The list of all entities, whichever page of it is read.
pub(super) fn containing_list_uri(uri: &str) -> Option<String> {
    let (list, query) = uri.split_once('?')?;
    (uri.starts_with("lore://") && list.ends_with("/entities") && !query.is_empty()).then(|| list.to_owned())
}
