//! Resource changes of the lore: the URIs whose content changes with a journal record, and who may know it.

use std::collections::BTreeMap;

use serde_json::Value;
use skald_domain::campaign::CampaignState;

use super::lore_privacy::lore_visibility;
use super::stream::LoreStream;
use crate::{ChangeReaders, RecordSecrecy, ResourceChange};
use skald_domain::lore::{LoreEvent, LoreState, LoreSubject, Relationship};
use skald_domain::visibility::Visibility;
use skald_journal::{Record, parse_events};

/// A notification tells whoever gets it that something is there, so only those who may know of it get one.
pub(super) const SECRECY: RecordSecrecy =
    RecordSecrecy { is_secret: is_private_record, changes: secret_changes_of_record };

/// The resource changes of a record that everybody may know of.
pub(super) fn changes_of_record(record: &Record) -> Vec<ResourceChange> {
    let events = raw_events(record);
    let uris = events.iter().flat_map(|event| uris_of_event(record.stream.id(), event));
    uris.map(|uri| ResourceChange::Resource(uri.into())).collect()
}

fn is_private_record(record: &Record) -> bool {
    // An event that this version cannot read may be about anything.
    parse_events::<LoreStream>(record).map_or(true, |events| events.iter().any(LoreEvent::is_private))
}

fn secret_changes_of_record(
    record: &Record,
    campaign: &CampaignState,
    lore: &LoreState,
) -> Vec<(ResourceChange, ChangeReaders)> {
    let parsed = parse_events::<LoreStream>(record).unwrap_or_default();
    let states = LoreReaders { campaign, lore };
    let mut uris: BTreeMap<String, ChangeReaders> = BTreeMap::new();
    for (at, event) in raw_events(record).iter().enumerate() {
        let readers = parsed.get(at).map_or(ChangeReaders::GAME_MASTERS, |event| states.of_event(event));
        for uri in uris_of_event(record.stream.id(), event) {
            let known = uris.remove(&uri);
            let all = known.map_or_else(|| readers.clone(), |known| known.or(readers.clone()));
            uris.insert(uri, all);
        }
    }
    uris.into_iter().map(|(uri, readers)| (ResourceChange::Resource(uri.into()), readers)).collect()
}

fn uris_of_event(campaign_id: &str, event: &Value) -> Vec<String> {
    let lore = format!("lore://{campaign_id}");
    let campaign = format!("imagineer://campaigns/{campaign_id}");
    let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
    let is_visibility_of = |thing: &str| kind.starts_with("lore_visibility.") && event["of"].get(thing).is_some();
    if kind.starts_with("timeline_event.") || is_visibility_of("timeline_event") {
        return vec![format!("{campaign}/timeline")];
    }
    let mut uris = vec![format!("{lore}/graph.svg")];
    if kind.starts_with("relationship.") || is_visibility_of("relationship") {
        let ends = ["source_id", "target_id"].into_iter().filter_map(|end| event["relationship"][end].as_u64());
        let ends = ends.chain(numbers(event, "entity_ids"));
        uris.extend(ends.map(|entity_id| format!("{lore}/relationships/{entity_id}")));
        return uris;
    }
    uris.extend([format!("{lore}/entities"), format!("{campaign}/entities")]);
    let several = numbers(event, "entity_ids").filter(|_| kind == "tag.deleted.v1");
    let entity_ids = event.get("entity_id").and_then(Value::as_u64).into_iter().chain(several);
    uris.extend(entity_ids.map(|entity_id| format!("{lore}/entity/{entity_id}")));
    if is_visibility_of("entity") {
        // Events and relationships name entities that the reader sees.
        uris.push(format!("{campaign}/timeline"));
        let entity_id = event.get("entity_id").and_then(Value::as_u64).unwrap_or_default();
        uris.push(format!("{lore}/relationships/{entity_id}"));
    }
    uris
}

fn numbers<'a>(event: &'a Value, field: &str) -> impl Iterator<Item = u64> + use<'a> {
    event.get(field).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_u64)
}

fn raw_events(record: &Record) -> Vec<Value> {
    serde_json::from_str(&record.body).unwrap_or_default()
}

/// Who may know of an event, by what was revealed to whom.
struct LoreReaders<'a> {
    campaign: &'a CampaignState,
    lore: &'a LoreState,
}

impl LoreReaders<'_> {
    fn of_event(&self, event: &LoreEvent) -> ChangeReaders {
        if !event.is_private() {
            return ChangeReaders::Members;
        }
        match event {
            LoreEvent::VisibilityChanged { of, entity_id, visible_to, was, .. } => {
                let own = self.readers(&visible_to.union(was));
                match of {
                    LoreSubject::Post { .. } => own.and(self.of_entity(entity_id.unwrap_or_default())),
                    LoreSubject::Relationship { relationship_id } => own.and(self.of_ends(*relationship_id)),
                    LoreSubject::Entity { .. } | LoreSubject::TimelineEvent { .. } => own,
                }
            }
            LoreEvent::EntityVersionRestored { steps, .. }
            | LoreEvent::ConflictResolved { steps, .. }
            | LoreEvent::ConflictReopened { steps, .. } => any_of(steps.iter().map(|step| self.of_event(step))),
            LoreEvent::TagRenamed { tag_id, .. } => any_of(self.revealed_entities().filter_map(|entity_id| {
                let entity = self.lore.entity(entity_id).filter(|entity| entity.tags.contains(tag_id));
                entity.map(|_| self.of_entity(entity_id))
            })),
            LoreEvent::TagDeleted { entity_ids, .. } => any_of(entity_ids.iter().map(|id| self.of_entity(*id))),
            LoreEvent::RelationshipAdded { relationship, .. } => {
                let ends = [relationship.source_id, relationship.target_id].map(|id| self.of_entity(id));
                ends.into_iter().fold(self.readers(&relationship.visible_to), ChangeReaders::and)
            }
            LoreEvent::RelationshipUpdated { entity_ids, was_visible_to, change, .. } => {
                let after = change.visible_to.as_ref().unwrap_or(was_visible_to);
                self.of_relationship(entity_ids, &after.union(was_visible_to))
            }
            LoreEvent::RelationshipRemoved { entity_ids, was_visible_to, .. } => {
                self.of_relationship(entity_ids, was_visible_to)
            }
            LoreEvent::TimelineEventAdded { event, .. } => self.readers(&event.visible_to),
            LoreEvent::TimelineEventUpdated { was_visible_to, change, .. } => {
                let after = change.visible_to.as_ref().unwrap_or(was_visible_to);
                match self.readers(&after.union(was_visible_to)) {
                    // Everybody sees the event, and not the private entities that it is linked to.
                    ChangeReaders::Members => {
                        let linked = change.entity_ids.iter().flatten().map(|id| self.of_entity(*id));
                        any_of(linked.filter(|readers| *readers != ChangeReaders::Members))
                    }
                    readers @ ChangeReaders::GameMastersAnd(_) => readers,
                }
            }
            LoreEvent::TimelineEventRemoved { was_visible_to, .. } => match self.readers(was_visible_to) {
                // It was written before an event said who could see it.
                ChangeReaders::Members => ChangeReaders::GAME_MASTERS,
                readers @ ChangeReaders::GameMastersAnd(_) => readers,
            },
            // Canon, ids and the archive are the game masters' business.
            LoreEvent::EntityMarked { .. }
            | LoreEvent::EntityDied { .. }
            | LoreEvent::ChangeHeld { .. }
            | LoreEvent::ConflictAcknowledged { .. }
            | LoreEvent::FindingReviewed { .. }
            | LoreEvent::TagCreated { .. }
            | LoreEvent::ArchiveEmptied { .. }
            | LoreEvent::IdsReserved { .. } => ChangeReaders::GAME_MASTERS,
            LoreEvent::EntityCreated { .. }
            | LoreEvent::EntityUpdated { .. }
            | LoreEvent::EntityArchived { .. }
            | LoreEvent::EntityRestored { .. }
            | LoreEvent::EntityRenumbered { .. }
            | LoreEvent::PostCreated { .. }
            | LoreEvent::PostUpdated { .. }
            | LoreEvent::PostArchived { .. }
            | LoreEvent::PostRestored { .. } => {
                let entity = event.entity_id().map_or(ChangeReaders::GAME_MASTERS, |id| self.of_entity(id));
                match event.post_id() {
                    Some(post_id) => entity.and(self.of_subject(LoreSubject::Post { post_id })),
                    None => entity,
                }
            }
        }
    }

    fn readers(&self, visibility: &Visibility) -> ChangeReaders {
        ChangeReaders::new(visibility, self.campaign)
    }

    fn of_subject(&self, of: LoreSubject) -> ChangeReaders {
        let visibility = lore_visibility(self.campaign, self.lore, of);
        visibility.map_or(ChangeReaders::GAME_MASTERS, |visibility| self.readers(&visibility))
    }

    fn of_entity(&self, entity_id: u64) -> ChangeReaders {
        self.of_subject(LoreSubject::Entity { entity_id: self.lore.current_id(entity_id) })
    }

    fn of_ends(&self, relationship_id: u64) -> ChangeReaders {
        let ends = |one: &Relationship| self.of_entity(one.source_id).and(self.of_entity(one.target_id));
        self.lore.relationships().get(relationship_id).map_or(ChangeReaders::GAME_MASTERS, |one| ends(one))
    }

    /// A relationship is seen by whoever sees it and both of its ends. An event of an earlier version names no ends.
    fn of_relationship(&self, entity_ids: &[u64], visible_to: &Visibility) -> ChangeReaders {
        if entity_ids.is_empty() {
            return ChangeReaders::GAME_MASTERS;
        }
        entity_ids.iter().map(|id| self.of_entity(*id)).fold(self.readers(visible_to), ChangeReaders::and)
    }

    fn revealed_entities(&self) -> impl Iterator<Item = u64> {
        self.lore.revealed_subjects().filter_map(|of| match of {
            LoreSubject::Entity { entity_id } => Some(entity_id),
            _ => None,
        })
    }
}

/// Whoever is a reader of one of them.
fn any_of(all: impl Iterator<Item = ChangeReaders>) -> ChangeReaders {
    all.fold(ChangeReaders::GAME_MASTERS, ChangeReaders::or)
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
