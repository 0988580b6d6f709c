//! The state of a campaign's lore: heads of all entities in chunks, tags, and indexes that follow from the entities.
//!
//! Texts are not here: a head has the key of the row that holds its text. Every map is persistent, so that a clone is
//! cheap and a change copies one chunk and a few nodes.

use std::sync::Arc;

use imbl::{OrdMap, OrdSet};
use jiff::Timestamp;

use super::canon::CanonState;
use super::entity::{Entity, EntityType, Post, Tag};
use super::entity_chunk::{EntityChunk, chunk_number};
use super::find::{fold_name, name_identity};
use super::index_keys::{EntityIndexes, index_id, text_hash};
use super::relationship::Relationships;
use super::reveals::Reveals;
use super::short_list::ShortList;
use super::timeline::Timeline;
use crate::text_fold::folds_to;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct LoreState {
    /// Counts the events.
    pub(super) revision: u64,
    /// Entities by the chunk of their id, archived ones included. No chunk is empty.
    pub(super) chunks: OrdMap<u64, Arc<EntityChunk>>,
    /// Highest ids ever given, so that none is given twice.
    pub(super) highest: HighestIds,
    pub(super) tags: OrdMap<u32, Tag>,
    /// Names that tags had, each with the revision in which it was given up: by a new name, or with the tag.
    pub(super) earlier_tags: OrdMap<(Arc<str>, u64), u32>,
    /// Ids that entities had before they were renumbered, and those that they have now.
    pub(super) renumbered: OrdMap<u64, u64>,
    pub(super) canon: CanonState,
    pub(super) relationships: Relationships,
    pub(super) timeline: Timeline,
    pub(super) reveals: Reveals,
    // What follows is derived from entities and tags; a snapshot leaves it out.
    pub(super) entity_total: usize,
    pub(super) post_total: usize,
    /// Bytes of the short texts of all heads.
    pub(super) head_bytes: usize,
    pub(super) archived_ids: OrdSet<u64>,
    /// Tags by the identities of their names.
    pub(super) tag_ids: OrdMap<Arc<str>, u32>,
    pub(super) indexes: EntityIndexes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct HighestIds {
    pub(super) entity_id: u64,
    pub(super) post_id: u64,
    pub(super) tag_id: u32,
    /// By the place of the type.
    pub(super) ids: [u64; EntityType::ALL.len()],
}

/// A place in which an entity is mentioned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MentionPlace {
    pub entity_id: u64,
    /// The post, or `None` for the entity's own text.
    pub post_id: Option<u64>,
}

impl LoreState {
    /// The revision of the stream: every command yields one event.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    pub fn relationships(&self) -> &Relationships {
        &self.relationships
    }

    /// The written events of the timeline.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// The entity of this id, archived or not. An id that it had before it was renumbered is as good.
    pub fn entity(&self, entity_id: u64) -> Option<&Arc<Entity>> {
        self.numbered_entity(entity_id).or_else(|| self.numbered_entity(*self.renumbered.get(&entity_id)?))
    }

    /// The entity that has exactly this id now.
    pub(super) fn numbered_entity(&self, entity_id: u64) -> Option<&Arc<Entity>> {
        self.chunks.get(&chunk_number(entity_id))?.get(entity_id)
    }

    /// The id that an entity has now, given one that it has or had.
    pub fn current_id(&self, entity_id: u64) -> u64 {
        if self.renumbered.is_empty() {
            return entity_id;
        }
        self.entity(entity_id).map_or(entity_id, |entity| entity.entity_id)
    }

    /// The highest id of an entity that was ever given.
    pub fn highest_entity_id(&self) -> u64 {
        self.highest.entity_id
    }

    /// The id that the next post gets.
    pub fn next_post_id(&self) -> u64 {
        self.highest.post_id + 1
    }

    /// Whether all ids that are given from now on are above this one.
    pub(super) fn has_reserved_ids(&self, above: u64) -> bool {
        let HighestIds { entity_id, post_id, ids, .. } = &self.highest;
        *entity_id >= above && *post_id >= above && ids.iter().all(|id| *id >= above)
    }

    /// All entities that are not archived, by `entity_id`.
    pub fn entities(&self) -> impl Iterator<Item = &Arc<Entity>> {
        self.all_entities().filter(|entity| !entity.is_archived())
    }

    /// All entities that are not archived, the highest `entity_id` first.
    pub fn newest_entities(&self) -> impl Iterator<Item = &Arc<Entity>> {
        let entities = self.chunks.values().rev().flat_map(|chunk| chunk.entities().iter().rev());
        entities.filter(|entity| !entity.is_archived())
    }

    /// All archived entities, by `entity_id`.
    pub fn archived(&self) -> impl Iterator<Item = &Arc<Entity>> {
        self.archived_ids.iter().filter_map(|entity_id| self.entity(*entity_id))
    }

    /// All archived posts of entities that are not archived themselves.
    pub fn archived_posts(&self) -> impl Iterator<Item = (&Arc<Entity>, &Arc<Post>)> {
        let posts = self.entities().flat_map(|entity| entity.details().posts.iter().map(move |post| (entity, post)));
        posts.filter(|(_, post)| post.is_archived())
    }

    pub(super) fn all_entities(&self) -> impl Iterator<Item = &Arc<Entity>> {
        self.chunks.values().flat_map(|chunk| chunk.entities())
    }

    /// How many entities there are, without archived ones.
    pub fn entity_count(&self) -> usize {
        self.entity_total - self.archived_ids.len()
    }

    /// How many entities there are that are neither archived nor private.
    pub fn public_entity_count(&self) -> usize {
        self.chunks.values().map(|chunk| chunk.index().public.len()).sum()
    }

    /// The name of a tag, empty if there is none of this id.
    pub fn tag_name(&self, tag_id: u32) -> &str {
        self.tags.get(&tag_id).map_or("", |tag| &tag.name)
    }

    /// The names of an entity's tags, in its order.
    pub fn tag_names(&self, entity: &Entity) -> Vec<&str> {
        entity.tags.iter().map(|tag_id| self.tag_name(*tag_id)).collect()
    }

    /// The tag of this id.
    pub fn tag(&self, tag_id: u32) -> Option<&Tag> {
        self.tags.get(&tag_id)
    }

    /// All tags, in the order in which they were created or first used.
    pub fn tags(&self) -> impl Iterator<Item = &Tag> {
        self.tags.values()
    }

    /// The tag of this name, in any case.
    pub fn find_tag(&self, name: &str) -> Option<u32> {
        self.tag_ids.get(name_identity(name).as_str()).copied()
    }

    /// The tags that have this name, whatever their accents are.
    pub fn tags_like(&self, name: &str) -> Vec<u32> {
        let folded = fold_name(name);
        self.tag_ids.iter().filter(|(known, _)| folds_to(known, &folded)).map(|(_, tag_id)| *tag_id).collect()
    }

    /// The tag that an event of this revision names. It may have another name by now, or be gone.
    fn tag_at(&self, name: &str, revision: u64) -> Option<u32> {
        let key: Arc<str> = name_identity(name).into();
        let mut later = self.earlier_tags.range((Arc::clone(&key), revision + 1)..=(key, u64::MAX));
        later.next().map(|(_, tag_id)| *tag_id)
    }

    /// The name that a tag has now, given the one in an event of this revision and moment. Of a tag that was deleted it is
    /// the last one.
    pub(super) fn current_tag_name(&self, name: &str, revision: u64, at: Timestamp) -> String {
        let Some(tag_id) = self.tag_at(name, revision) else { return name.to_owned() };
        if let Some(tag) = self.tag(tag_id) {
            // A later tag of the same name is another one.
            return if tag.created_at <= at { tag.name.to_string() } else { name.to_owned() };
        }
        let earlier = self.earlier_tags.iter().filter(|(_, known)| **known == tag_id);
        let last = earlier.max_by_key(|((_, until), _)| *until).map(|((last, _), _)| last);
        last.filter(|last| ***last != *name_identity(name)).map_or(name.to_owned(), ToString::to_string)
    }

    /// The post of this id and its entity, archived or not.
    pub fn post(&self, post_id: u64) -> Option<(&Arc<Entity>, &Arc<Post>)> {
        let entities = self.indexes.posts.entities_of(u32::try_from(post_id).ok()?);
        entities.into_iter().find_map(|entity_id| {
            let entity = self.entity(entity_id)?;
            Some((entity, entity.post(post_id)?))
        })
    }

    /// The entity that describes an actor, unless it is archived.
    pub fn entity_of_actor(&self, actor_id: &str) -> Option<u64> {
        let entities = self.indexes.actors.entities_of(text_hash(actor_id)).into_iter();
        let mut entities = entities.filter_map(|entity_id| self.live_entity(entity_id));
        entities.find(|entity| entity.details().actor_id.as_deref() == Some(actor_id)).map(|entity| entity.entity_id)
    }

    /// The entity that was imported from this source, archived or not.
    pub fn entity_of_source(&self, source_id: &str) -> Option<u64> {
        let entities = self.indexes.sources.entities_of(text_hash(source_id)).into_iter();
        let mut entities = entities.filter_map(|entity_id| self.entity(entity_id));
        let is_source =
            |entity: &&Arc<Entity>| entity.details().source.as_ref().is_some_and(|source| source.id == source_id);
        entities.find(is_source).map(|entity| entity.entity_id)
    }

    /// The entities whose parent this one is, without archived ones, by id.
    pub fn children(&self, entity_id: u64) -> Vec<u64> {
        let children = self.indexes.children.entities_of(index_id(entity_id)).into_iter();
        children.filter(|child| self.live_entity(*child).is_some()).collect()
    }

    /// Where an entity is mentioned, by ids, without archived entities and posts.
    pub fn mentioned_by(&self, entity_id: u64) -> Vec<MentionPlace> {
        let mentioned = index_id(entity_id);
        let keys = self.indexes.mentions.between((mentioned, 0, 0), (mentioned, u32::MAX, u32::MAX));
        let places = keys.into_iter().map(|(_, entity_id, post_id)| MentionPlace {
            entity_id: u64::from(entity_id),
            post_id: (post_id != 0).then_some(u64::from(post_id)),
        });
        let is_live = |place: &MentionPlace| {
            let post = |entity: &Entity, post_id| entity.post(post_id).is_some_and(|post| !post.is_archived());
            self.live_entity(place.entity_id).is_some_and(|entity| place.post_id.is_none_or(|id| post(entity, id)))
        };
        places.filter(is_live).collect()
    }

    /// The entities with exactly this name, in any case, by id; if there are none, those with this alias.
    pub fn entities_named(&self, name: &str, sees_private: bool) -> Vec<u64> {
        self.visible_entities_named(name, |entity| sees_private || !entity.is_private)
    }

    /// The same among the entities that somebody may see.
    pub fn visible_entities_named(&self, name: &str, is_visible: impl Fn(&Entity) -> bool) -> Vec<u64> {
        let (folded, identity) = (fold_name(name), name_identity(name));
        let entities = self.indexes.names.entities_of(text_hash(&folded)).into_iter();
        let seen = entities.filter_map(|entity_id| self.live_entity(entity_id)).filter(|entity| is_visible(entity));
        let (named, others): (Vec<_>, Vec<_>) = seen.partition(|entity| folds_to(&entity.name, &folded));
        // Names with the same accents come before those that differ in them.
        let ids = |entities: Vec<&Arc<Entity>>, is_exact: &dyn Fn(&Entity) -> bool| -> Vec<u64> {
            let exact: Vec<u64> =
                entities.iter().filter(|entity| is_exact(entity)).map(|entity| entity.entity_id).collect();
            if exact.is_empty() { entities.into_iter().map(|entity| entity.entity_id).collect() } else { exact }
        };
        if !named.is_empty() {
            return ids(named, &|entity| name_identity(&entity.name) == identity);
        }
        let has_alias = |entity: &&Arc<Entity>| entity.details().aliases.iter().any(|alias| folds_to(alias, &folded));
        ids(others.into_iter().filter(has_alias).collect(), &|entity| {
            entity.details().aliases.iter().any(|alias| name_identity(alias) == identity)
        })
    }

    /// The entity of this id, unless it is archived.
    pub(super) fn live_entity(&self, entity_id: u64) -> Option<&Arc<Entity>> {
        self.entity(entity_id).filter(|entity| !entity.is_archived())
    }

    /// Adds or replaces an entity, and updates everything that follows from it.
    pub(super) fn put_entity(&mut self, entity: Entity) {
        let entity = Arc::new(entity);
        let before = self.numbered_entity(entity.entity_id).cloned();
        Arc::make_mut(self.chunks.entry(chunk_number(entity.entity_id)).or_default()).put(entity.clone());
        self.update_indexes(before.as_deref(), Some(&entity));
    }

    pub(super) fn remove_entity(&mut self, entity_id: u64) {
        let Some(before) = self.numbered_entity(entity_id).cloned() else { return };
        if let Some(chunk) = self.chunks.get_mut(&chunk_number(entity_id)) {
            let chunk = Arc::make_mut(chunk);
            chunk.remove(entity_id);
            if chunk.is_empty() {
                self.chunks.remove(&chunk_number(entity_id));
            }
        }
        self.update_indexes(Some(&before), None);
    }

    /// Updates totals and indexes after an entity changed. Indexes of fields that are the same are left alone.
    pub(super) fn update_indexes(&mut self, before: Option<&Entity>, after: Option<&Entity>) {
        let count = |entity: Option<&Entity>| {
            entity.map_or((0, 0, 0), |entity| (1, entity.details().posts.len(), entity.head_bytes()))
        };
        let ((entities_gone, posts_gone, bytes_gone), (entities, posts, bytes)) = (count(before), count(after));
        self.entity_total = self.entity_total + entities - entities_gone;
        self.post_total = self.post_total + posts - posts_gone;
        self.head_bytes = self.head_bytes + bytes - bytes_gone;

        for (entity, is_after) in [(before, false), (after, true)] {
            if let Some(entity) = entity.filter(|entity| entity.is_archived()) {
                if is_after {
                    self.archived_ids.insert(entity.entity_id);
                } else {
                    self.archived_ids.remove(&entity.entity_id);
                }
            }
        }
        self.indexes.replace(before, after);
        self.count_tag_uses(before, after);
    }

    /// Counts how many entities have each tag, and drops a tag that none has any more, unless it is kept.
    fn count_tag_uses(&mut self, before: Option<&Entity>, after: Option<&Entity>) {
        let tags = |entity: Option<&Entity>| entity.map(|entity| entity.tags.clone()).unwrap_or_default();
        let (gone, come): (ShortList, ShortList) = (tags(before), tags(after));
        if gone == come {
            return;
        }
        for tag_id in &come {
            if let Some(tag) = self.tags.get_mut(tag_id) {
                tag.uses += 1;
            }
        }
        for tag_id in &gone {
            let Some(tag) = self.tags.get_mut(tag_id) else { continue };
            tag.uses = tag.uses.saturating_sub(1);
            if tag.uses == 0 && !tag.is_kept {
                self.remove_tag(*tag_id);
            }
        }
    }

    /// The tag of this name, which is added if it is new. Only an entity that has it keeps it.
    pub(super) fn tag_id(&mut self, name: &str, at: Timestamp) -> u32 {
        if let Some(tag_id) = self.find_tag(name) {
            return tag_id;
        }
        let id = self.highest.tag_id + 1;
        self.add_tag(Tag { id, name: name.into(), uses: 0, is_kept: false, created_at: at, updated_at: at });
        id
    }

    pub(super) fn add_tag(&mut self, tag: Tag) {
        self.highest.tag_id = self.highest.tag_id.max(tag.id);
        self.tag_ids.insert(name_identity(&tag.name).into(), tag.id);
        self.tags.insert(tag.id, tag);
    }

    pub(super) fn remove_tag(&mut self, tag_id: u32) {
        if let Some(tag) = self.tags.remove(&tag_id) {
            self.tag_ids.remove(name_identity(&tag.name).as_str());
        }
    }
}
