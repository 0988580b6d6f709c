//! Resource changes of the lore: the URIs whose content changes with a journal record, and who may know it.

use std::collections::{BTreeMap, BTreeSet};

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;
use skald_domain::campaign::CampaignState;

use super::lore_privacy::lore_visibility;
use super::stream::LoreStream;
use crate::{CampaignStates, ChangeReaders, RecordSecrecy, ResourceChange};
use skald_domain::lore::{LoreEvent, LoreState, LoreSubject, Relationship, TextRef};
use skald_domain::visibility::Visibility;
use skald_journal::{Record, StoreError, parse_events};

/// A notification reveals that something exists, so only those who may know of it get one.
pub(super) const SECRECY: RecordSecrecy = RecordSecrecy { is_secret: needs_readers, changes: secret_changes_of_record };

/// The most entities whose pages are announced with a change of another one.
const LINKED_MAX: usize = 1_000;

/// The resource changes of a record that everybody may know of.
pub(super) fn changes_of_record(record: &Record) -> Vec<ResourceChange> {
    let events = raw_events(record);
    let uris = events.iter().flat_map(|event| uris_of_event(record.stream.id(), event));
    uris.map(|uri| ResourceChange::Resource(uri.into())).collect()
}

/// Whether the readers of a record must be looked up: something in it is private, or it changes the pages of other
/// entities, which may be private.
fn needs_readers(record: &Record) -> bool {
    // An event that this version cannot decode counts as private.
    let events = parse_events::<LoreStream>(record);
    events.map_or(true, |events| events.iter().any(|event| event.is_private() || changes_linked_pages(event)))
}

/// Whether an event can change what the pages of other entities have: their children, what they mention, and what
/// mentions them.
fn changes_linked_pages(event: &LoreEvent) -> bool {
    match event {
        LoreEvent::EntityCreated { entity, .. } => entity.parent.is_some() || !mentions(&entity.text).is_empty(),
        LoreEvent::EntityUpdated { change, .. } => {
            change.name.is_some() || change.is_private.is_some() || change.parent.is_some() || change.text.is_some()
        }
        LoreEvent::PostCreated { text, .. } => !mentions(text).is_empty(),
        LoreEvent::PostUpdated { change, .. } => change.is_private.is_some() || change.text.is_some(),
        LoreEvent::VisibilityChanged { of, .. } => {
            matches!(of, LoreSubject::Entity { .. } | LoreSubject::Post { .. })
        }
        LoreEvent::EntityArchived { .. }
        | LoreEvent::EntityRestored { .. }
        | LoreEvent::EntityRenumbered { .. }
        | LoreEvent::PostArchived { .. }
        | LoreEvent::PostRestored { .. } => true,
        _ => steps_of_event(event).iter().any(changes_linked_pages),
    }
}

fn steps_of_event(event: &LoreEvent) -> &[LoreEvent] {
    match event {
        LoreEvent::EntityVersionRestored { steps, .. }
        | LoreEvent::ConflictResolved { steps, .. }
        | LoreEvent::ConflictReopened { steps, .. } => steps,
        _ => &[],
    }
}

/// An event and the steps that it consists of.
fn with_steps(event: &LoreEvent) -> Vec<&LoreEvent> {
    std::iter::once(event).chain(steps_of_event(event).iter().flat_map(with_steps)).collect()
}

#[expect(clippy::ref_option, reason = "events have optional texts, and iterators hand over references to them")]
fn mentions(text: &Option<TextRef>) -> &[u64] {
    text.as_ref().map_or(&[], |text| &text.mentions)
}

fn secret_changes_of_record<'a>(
    record: &'a Record,
    states: &'a CampaignStates,
) -> BoxFuture<'a, Result<Vec<(ResourceChange, ChangeReaders)>, StoreError>> {
    async move {
        let (campaign, lore) = (states.campaign(record.stream.id()).await?, states.lore(record.stream.id()).await?);
        Ok(changes_by_readers(record, &campaign.state, &lore.state))
    }
    .boxed()
}

fn changes_by_readers(
    record: &Record,
    campaign: &CampaignState,
    lore: &LoreState,
) -> Vec<(ResourceChange, ChangeReaders)> {
    let parsed = parse_events::<LoreStream>(record).unwrap_or_default();
    let states = LoreReaders { campaign, lore };
    let mut uris: BTreeMap<String, ChangeReaders> = BTreeMap::new();
    let mut add = |uri: String, readers: ChangeReaders| {
        let known = uris.remove(&uri);
        uris.insert(uri, known.map_or_else(|| readers.clone(), |known| known.or(readers.clone())));
    };
    for (at, event) in raw_events(record).iter().enumerate() {
        let readers = parsed.get(at).map_or(ChangeReaders::GAME_MASTERS, |event| states.of_event(event));
        for uri in uris_of_event(record.stream.id(), event) {
            add(uri, readers.clone());
        }
    }
    for event in parsed.iter().flat_map(with_steps) {
        let readers = states.of_event(event);
        let linked = states.linked_by_event(event).into_iter().filter(|id| lore.entity(*id).is_some());
        for entity_id in linked.take(LINKED_MAX) {
            let uri = format!("lore://{}/entity/{entity_id}", record.stream.id());
            add(uri, readers.clone().and(states.of_entity(entity_id)));
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
        // The timeline and relationships name visible entities only, so they read differently too.
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
                    // Everybody sees the event; only readers of its private entities see that these are linked to it.
                    ChangeReaders::Members => {
                        let linked = change.entity_ids.iter().flatten().map(|id| self.of_entity(*id));
                        any_of(linked.filter(|readers| *readers != ChangeReaders::Members))
                    }
                    readers @ ChangeReaders::GameMastersAnd(_) => readers,
                }
            }
            LoreEvent::TimelineEventRemoved { was_visible_to, .. } => match self.readers(was_visible_to) {
                // Records of earlier versions lack the visibility and are read as visible to all, so treat it as private.
                ChangeReaders::Members => ChangeReaders::GAME_MASTERS,
                readers @ ChangeReaders::GameMastersAnd(_) => readers,
            },
            // Only game masters read canon, ids and the archive.
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

    /// The entities whose pages read differently after an event of another one: what it mentions or mentioned, and its
    /// parents. Where its name changes, or who sees it, all that its page has a link to or from.
    fn linked_by_event(&self, event: &LoreEvent) -> BTreeSet<u64> {
        match event {
            LoreEvent::EntityCreated { entity, .. } => {
                mentions(&entity.text).iter().copied().chain(entity.parent).collect()
            }
            LoreEvent::EntityUpdated { entity_id, change, unlinked_ids, .. } => {
                let is_about_all = change.name.is_some() || change.is_private.is_some();
                let all = if is_about_all { self.linked_to_entity(*entity_id) } else { BTreeSet::new() };
                let mentioned = change.text.iter().flat_map(mentions);
                let ids = all.into_iter().chain(unlinked_ids.iter().chain(mentioned).copied());
                ids.chain(change.parent.flatten()).collect()
            }
            LoreEvent::PostCreated { text, .. } => mentions(text).iter().copied().collect(),
            LoreEvent::PostUpdated { post_id, change, unlinked_ids, .. } => {
                let all = if change.is_private.is_some() { self.mentioned_in_post(*post_id) } else { BTreeSet::new() };
                let mentioned = change.text.iter().flat_map(mentions);
                all.into_iter().chain(unlinked_ids.iter().chain(mentioned).copied()).collect()
            }
            LoreEvent::PostArchived { post_id, .. }
            | LoreEvent::PostRestored { post_id, .. }
            | LoreEvent::VisibilityChanged { of: LoreSubject::Post { post_id }, .. } => {
                self.mentioned_in_post(*post_id)
            }
            LoreEvent::EntityArchived { entity_id, .. }
            | LoreEvent::EntityRestored { entity_id, .. }
            | LoreEvent::EntityRenumbered { new_entity_id: entity_id, .. }
            | LoreEvent::VisibilityChanged { of: LoreSubject::Entity { entity_id }, .. } => {
                self.linked_to_entity(*entity_id)
            }
            _ => BTreeSet::new(),
        }
    }

    /// What an entity and its posts mention, what mentions it, its parent and its children.
    fn linked_to_entity(&self, entity_id: u64) -> BTreeSet<u64> {
        let Some(entity) = self.lore.entity(entity_id) else { return BTreeSet::new() };
        let texts = entity.details().posts.iter().map(|post| &post.text).chain([&entity.text]);
        let mentioning = self.lore.mentioned_by(entity_id).into_iter().map(|place| place.entity_id);
        let of_family = self.lore.children(entity_id).into_iter().chain(entity.details().parent);
        texts.flat_map(mentions).copied().chain(mentioning).chain(of_family).collect()
    }

    fn mentioned_in_post(&self, post_id: u64) -> BTreeSet<u64> {
        let found = self.lore.post(post_id);
        found.map(|(_, post)| mentions(&post.text).iter().copied().collect()).unwrap_or_default()
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

/// The readers of at least one of them.
fn any_of(all: impl Iterator<Item = ChangeReaders>) -> ChangeReaders {
    all.fold(ChangeReaders::GAME_MASTERS, ChangeReaders::or)
}

/// The resource whose changes also change what this URI answers. For a page or a part of a list, it is the list. For an
/// entity by its name, it is the resource of all entities: another entity may have that name by now.
pub(super) fn containing_resource_uri(uri: &str) -> Option<String> {
    let (list, query) = uri.split_once('?').unwrap_or((uri, ""));
    if let Some(all) = resource_of_all_entities(list) {
        return Some(all);
    }
    let is_list = match list.split_once("://")? {
        ("lore", path) => path.ends_with("/entities") || path.contains("/relationships/"),
        ("imagineer", path) => path.ends_with("/entities") || path.ends_with("/timeline"),
        _ => false,
    };
    (is_list && !query.is_empty()).then(|| list.to_owned())
}

/// For a URI with the name of an entity: the resource that is announced when any entity changes.
fn resource_of_all_entities(uri: &str) -> Option<String> {
    let mut parts = uri.strip_prefix("lore://")?.split('/');
    let (campaign_id, kind, reference) = (parts.next()?, parts.next()?, parts.next()?);
    let is_name = reference.parse::<u64>().is_err();
    match kind {
        "entity" if is_name => Some(format!("lore://{campaign_id}/entities")),
        "relationships" if is_name => Some(format!("lore://{campaign_id}/graph.svg")),
        _ => None,
    }
}
