//! The lore's stream kind: its events in the journal, its search rows, and the faults for its refusals.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::json;
use skald_domain::lore::{
    Conflict, Entity, LoreEvent, LoreRefusal, LoreRefusalKind, LoreRules, LoreState, LoreStatePart, LoreSubject, Post,
    TextRef,
};

use skald_domain::visibility::Visibility;

use super::texts::{SEARCHED_FIELDS, text_kind};
use crate::redaction::RevealedLoreCache;
use crate::{Code, Fault};
use skald_journal::{
    Document, ReadModelChange, SearchBody, SearchClass, SearchText, SnapshotPart, StreamKind, StreamName,
};

/// The read model with a search row for each entity.
pub(super) const ENTITIES: &str = "lore_entities";
/// The read model with a search row for each post.
pub(super) const POSTS: &str = "lore_posts";
/// The read model with a search row for each written event of the timeline.
pub(super) const TIMELINE: &str = "lore_timeline";

/// The stream kind of lore, one stream for each campaign.
pub(crate) struct LoreStream;

impl StreamKind for LoreStream {
    type Rules = LoreRules;
    const NAME: &'static str = "lore";
    type Parts = LorePart;
    type ReadCache = RevealedLoreCache;
    // 5: the state has reveals. Snapshots of earlier versions lack them and are not read.
    const SNAPSHOT_VERSION: u32 = 5;
    const USES_SNAPSHOTS: bool = true;

    fn next_read_cache(_: &RevealedLoreCache) -> RevealedLoreCache {
        RevealedLoreCache::default()
    }

    fn event_kind(event: &LoreEvent) -> &'static str {
        event.kind()
    }

    fn read_model_changes(stream: &StreamName, state: &LoreState, events: &[LoreEvent]) -> Vec<ReadModelChange> {
        events.iter().flat_map(|event| changes_of_event(stream.id(), state, event)).collect()
    }

    fn referenced_side_rows(stream: &StreamName, state: &LoreState) -> Vec<(Cow<'static, str>, String)> {
        let kind: Arc<str> = text_kind(stream.id()).into();
        let entities = state.entities().chain(state.archived());
        let texts = entities.flat_map(|entity| {
            let posts = entity.details().posts.iter().filter_map(|post| post.text.as_ref());
            entity.text.iter().chain(posts)
        });
        let timeline = state.timeline().in_order().filter_map(|event| event.text.as_ref());
        let held = state.conflicts().flat_map(Conflict::text_keys);
        let keys = texts.chain(timeline).map(|text| text.key).chain(held);
        keys.map(|key| (Cow::Owned(kind.to_string()), key.to_string())).collect()
    }

    fn removed_side_rows(stream: &StreamName, events: &[LoreEvent]) -> Vec<(String, String)> {
        let keys = events.iter().flat_map(|event| match event {
            LoreEvent::ArchiveEmptied { text_keys, .. } => text_keys.as_slice(),
            LoreEvent::TimelineEventUpdated { replaced_text_key: key, .. }
            | LoreEvent::TimelineEventRemoved { text_key: key, .. } => key.as_slice(),
            _ => &[],
        });
        keys.map(|key| (text_kind(stream.id()), key.to_string())).collect()
    }
}

/// A part of the snapshot of a campaign's lore.
pub(crate) struct LorePart(LoreStatePart);

impl SnapshotPart<LoreState> for LorePart {
    fn write(state: &LoreState) -> Result<Vec<String>, serde_json::Error> {
        state.to_parts().iter().map(serde_json::to_string).collect()
    }

    fn read(text: &str, _is_first: bool) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text).map(Self)
    }

    fn join(parts: Vec<Self>) -> Option<LoreState> {
        LoreState::from_parts(parts.into_iter().map(|part| part.0).collect())
    }
}

pub(crate) fn lore_stream(campaign_id: &str) -> StreamName {
    StreamName::new(LoreStream::NAME, campaign_id)
}

fn changes_of_event(campaign_id: &str, state: &LoreState, event: &LoreEvent) -> Vec<ReadModelChange> {
    match event {
        // Archived entities and posts have no documents any more.
        LoreEvent::ArchiveEmptied { .. } => return Vec::new(),
        // The names of its tags are among the words of an entity.
        LoreEvent::TagRenamed { tag_id, .. } => {
            let tagged = state.entities().filter(|entity| entity.tags.contains(tag_id));
            return tagged.map(|entity| entity_document(campaign_id, state, entity)).collect();
        }
        LoreEvent::TagDeleted { entity_ids, .. } => {
            let entities = entity_ids.iter().filter_map(|entity_id| state.entity(*entity_id));
            return entities.map(|entity| entity_document(campaign_id, state, entity)).collect();
        }
        LoreEvent::TimelineEventAdded { event_id, .. }
        | LoreEvent::TimelineEventUpdated { event_id, .. }
        | LoreEvent::TimelineEventRemoved { event_id, .. }
        | LoreEvent::VisibilityChanged { of: LoreSubject::TimelineEvent { event_id }, .. } => {
            return vec![timeline_document(campaign_id, state, *event_id)];
        }
        _ => {}
    }
    let Some(entity) = event.entity_id().and_then(|entity_id| state.entity(entity_id)) else { return Vec::new() };
    let mut changes = vec![entity_document(campaign_id, state, entity)];
    if let LoreEvent::EntityRenumbered { entity_id, new_entity_id, .. } = event
        && entity_id != new_entity_id
    {
        let id = document_id(campaign_id, *entity_id);
        changes.push(ReadModelChange::Delete { collection: ENTITIES.to_owned(), id });
    }
    match event.post_id() {
        Some(post_id) => changes.extend(
            entity
                .details()
                .posts
                .iter()
                .filter(|post| post.post_id == post_id)
                .map(|post| post_document(campaign_id, entity, post)),
        ),
        // The visibility of an entity is that of its posts too.
        None => changes.extend(entity.details().posts.iter().map(|post| post_document(campaign_id, entity, post))),
    }
    changes
}

fn document_id(campaign_id: &str, number: u64) -> String {
    format!("{campaign_id}/{number}")
}

fn search_class(is_private: bool) -> SearchClass {
    if is_private { SearchClass::GameMaster } else { SearchClass::Public }
}

fn search_body(campaign_id: &str, text: Option<&TextRef>) -> SearchBody {
    match text {
        Some(text) => {
            SearchBody::SideRow { kind: text_kind(campaign_id), key: text.key.to_string(), fields: &SEARCHED_FIELDS }
        }
        None => SearchBody::None,
    }
}

/// The document of an entity, with its search row; a deletion if the entity is archived.
fn entity_document(campaign_id: &str, state: &LoreState, entity: &Entity) -> ReadModelChange {
    let id = document_id(campaign_id, entity.entity_id);
    // Superseded entities stay stored, but searches do not find them.
    if entity.details().archived_at.is_some() || entity.is_superseded() {
        return ReadModelChange::Delete { collection: ENTITIES.to_owned(), id };
    }
    let mut extra: Vec<&str> = entity.details().aliases.iter().map(AsRef::as_ref).collect();
    extra.push(&entity.subtype);
    extra.extend(state.tag_names(entity));
    ReadModelChange::Put(Document {
        collection: ENTITIES.to_owned(),
        partition: campaign_id.to_owned(),
        id,
        rank: i64::try_from(entity.entity_id).unwrap_or(i64::MAX),
        body: "{}".to_owned(),
        search: Some(SearchText {
            serial: serial(entity.entity_id),
            class: search_class(entity.is_private),
            name: entity.name.to_string(),
            extra: extra.join(" \n "),
            body: search_body(campaign_id, entity.text.as_ref()),
        }),
    })
}

fn post_document(campaign_id: &str, entity: &Entity, post: &Post) -> ReadModelChange {
    let id = document_id(campaign_id, post.post_id);
    if entity.details().archived_at.is_some() || entity.is_superseded() || post.archived_at.is_some() {
        return ReadModelChange::Delete { collection: POSTS.to_owned(), id };
    }
    ReadModelChange::Put(Document {
        collection: POSTS.to_owned(),
        partition: campaign_id.to_owned(),
        id,
        rank: i64::try_from(post.post_id).unwrap_or(i64::MAX),
        body: json!({"entity_id": entity.entity_id}).to_string(),
        search: Some(SearchText {
            serial: serial(post.post_id),
            class: search_class(entity.is_private || post.is_private),
            name: post.name.to_string(),
            extra: String::new(),
            body: search_body(campaign_id, post.text.as_ref()),
        }),
    })
}

/// The document of a written event, with its search row; a deletion if it was removed.
fn timeline_document(campaign_id: &str, state: &LoreState, event_id: u64) -> ReadModelChange {
    let id = document_id(campaign_id, event_id);
    let Some(event) = state.timeline().get(event_id) else {
        return ReadModelChange::Delete { collection: TIMELINE.to_owned(), id };
    };
    let class = match event.visible_to {
        Visibility::Table => SearchClass::Public,
        Visibility::GameMasters => SearchClass::GameMaster,
        Visibility::People(_) => SearchClass::NamedPeople,
    };
    ReadModelChange::Put(Document {
        collection: TIMELINE.to_owned(),
        partition: campaign_id.to_owned(),
        id,
        rank: i64::try_from(event_id).unwrap_or(i64::MAX),
        body: "{}".to_owned(),
        search: Some(SearchText {
            serial: serial(event_id),
            class,
            name: event.description.to_string(),
            extra: event.date.as_deref().unwrap_or_default().to_owned(),
            body: search_body(campaign_id, event.text.as_ref()),
        }),
    })
}

/// Ids fit 32 bits, see `limits::LORE_ID_MAX`.
fn serial(id: u64) -> u32 {
    u32::try_from(id).unwrap_or(u32::MAX)
}

/// The fault for a refusal, on every surface.
pub(super) fn refusal_fault(refusal: &LoreRefusal) -> Fault {
    let code = match refusal.kind() {
        LoreRefusalKind::NotFound => Code::NotFound,
        LoreRefusalKind::Invalid => Code::InvalidParams,
        LoreRefusalKind::TooLarge => Code::TooLarge,
        LoreRefusalKind::RevisionConflict => Code::RevisionConflict,
        LoreRefusalKind::Held => Code::Held,
        LoreRefusalKind::Forbidden => Code::Forbidden,
        LoreRefusalKind::Unchanged | LoreRefusalKind::Rejected => Code::Rejected,
    };
    let mut fault = Fault::new(code, refusal.to_string()).hint(refusal.hint());
    if let Some(pointer) = refusal.pointer() {
        fault = fault.with_path(pointer);
    }
    if let Some(value) = refusal.value() {
        fault = fault.value(&value);
    }
    fault
}
