//! Applies events to the state of lore. It never fails: an event about something unknown changes nothing but the
//! revision.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::command::{EntityChange, NewEntity, PostChange};
use super::entity::{Entity, EntityDetails, Post, Tag, TextRef};
use super::entity_chunk::chunk_number;
use super::event::LoreEvent;
use super::find::name_identity;
use super::index_keys::index_id;
use super::relationship::{NewRelationship, Relationship, RelationshipChange};
use super::reveals::LoreSubject;
use super::short_list::ShortList;
use super::state::LoreState;
use super::timeline::{NewTimelineEvent, TimelineEvent, TimelineEventChange};
use crate::decider::DecisionContext;

/// Entities nearby with which a new subtype is compared.
const SUBTYPES_COMPARED: usize = 32;
/// The end of a range of index keys.
const MAX: u32 = u32::MAX;

pub(super) fn evolve(mut state: LoreState, event: &LoreEvent, given: &DecisionContext) -> LoreState {
    // A snapshot stores microseconds, and a state that was loaded must equal one that was not.
    let at = Timestamp::from_microsecond(given.at.as_microsecond()).unwrap_or(given.at);
    state.revision += 1;
    state.apply_event(event, at, &given.by);
    state
}

impl LoreState {
    pub(super) fn apply_event(&mut self, event: &LoreEvent, at: Timestamp, by: &str) {
        use LoreEvent as E;
        match event {
            E::EntityVersionRestored { steps, .. } => steps.iter().for_each(|step| self.apply_event(step, at, by)),
            E::EntityCreated { entity_id, id, entity } => self.create_entity(*entity_id, *id, entity, at),
            E::EntityUpdated { entity_id, change, .. } => self.update_entity(*entity_id, change, at),
            E::EntityArchived { entity_id, .. } => {
                self.change_entity(*entity_id, at, |entity| {
                    entity.revision += 1;
                    entity.change_details(|details| details.archived_at = Some(at));
                });
            }
            E::EntityRestored { entity_id, parent_cleared, actor_cleared, .. } => {
                self.change_entity(*entity_id, at, |entity| {
                    entity.revision += 1;
                    entity.change_details(|details| {
                        details.archived_at = None;
                        details.parent = details.parent.filter(|_| !parent_cleared);
                        details.actor_id.take_if(|_| *actor_cleared);
                    });
                });
            }
            E::PostCreated { entity_id, post_id, name, is_private, text, .. } => {
                self.highest.post_id = self.highest.post_id.max(*post_id);
                let post = Post {
                    post_id: *post_id,
                    name: name.as_str().into(),
                    is_private: *is_private,
                    revision: 1,
                    created_at: at,
                    updated_at: at,
                    archived_at: None,
                    text: text.as_ref().map(|text| self.with_current_mentions(text)),
                };
                self.change_posts(*entity_id, |entity| {
                    entity.change_details(|details| {
                        let others = details.posts.iter().filter(|known| known.post_id != *post_id).cloned();
                        details.posts = others.chain([Arc::new(post)]).collect();
                    });
                });
            }
            E::PostUpdated { entity_id, post_id, change, .. } => {
                let text = change.text.as_ref().map(|text| text.as_ref().map(|text| self.with_current_mentions(text)));
                let change = PostChange { text, ..PostChange::clone(change) };
                self.change_post(*entity_id, *post_id, at, |post| post.apply_change(&change));
            }
            E::PostArchived { entity_id, post_id, .. } => {
                self.change_post(*entity_id, *post_id, at, |post| post.archived_at = Some(at));
            }
            E::PostRestored { entity_id, post_id, .. } => {
                self.change_post(*entity_id, *post_id, at, |post| post.archived_at = None);
            }
            E::TagCreated { tag_id, name } => self.keep_tag(*tag_id, name, at),
            E::TagRenamed { tag_id, name, .. } => self.rename_tag(*tag_id, name, at),
            E::TagDeleted { tag_id, entity_ids, .. } => self.delete_tag(*tag_id, entity_ids, at),
            E::ArchiveEmptied { entity_ids, post_ids, orphan_ids, .. } => {
                self.empty_archive(entity_ids, post_ids, orphan_ids, at);
            }
            E::EntityRenumbered { entity_id, new_entity_id, new_id, .. } => {
                self.renumber_entity(*entity_id, *new_entity_id, *new_id);
            }
            E::IdsReserved { above } => {
                let highest = &mut self.highest;
                highest.entity_id = highest.entity_id.max(*above);
                highest.post_id = highest.post_id.max(*above);
                highest.ids = highest.ids.map(|id| id.max(*above));
            }
            E::EntityMarked { .. }
            | E::EntityDied { .. }
            | E::ChangeHeld { .. }
            | E::ConflictAcknowledged { .. }
            | E::ConflictResolved { .. }
            | E::ConflictReopened { .. }
            | E::FindingReviewed { .. } => self.apply_canon_event(event, at, by),
            E::RelationshipAdded { relationship_id, relationship, .. } => {
                self.add_relationship(*relationship_id, relationship, at);
            }
            E::RelationshipUpdated { relationship_id, change, .. } => {
                self.update_relationship(*relationship_id, change, at);
            }
            E::RelationshipRemoved { relationship_id, .. } => {
                self.relationships.remove(*relationship_id);
                self.forget_reveals([LoreSubject::Relationship { relationship_id: *relationship_id }]);
            }
            E::TimelineEventAdded { event_id, event, .. } => self.add_timeline_event(*event_id, event, at),
            E::TimelineEventUpdated { event_id, change, .. } => self.update_timeline_event(*event_id, change, at),
            E::TimelineEventRemoved { event_id, .. } => {
                self.timeline.remove(*event_id);
                self.forget_reveals([LoreSubject::TimelineEvent { event_id: *event_id }]);
            }
            E::VisibilityChanged { of, visible_to, session_id, .. } => {
                self.change_visibility(*of, visible_to, session_id.as_ref(), at);
            }
        }
    }

    fn update_relationship(&mut self, relationship_id: u64, change: &RelationshipChange, at: Timestamp) {
        let Some(relationship) = self.relationships.get(relationship_id) else { return };
        let mut after = Relationship::clone(relationship);
        after.apply_change(change);
        (after.revision, after.updated_at) = (after.revision + 1, at);
        self.relationships.put(after);
        if let Some(visible_to) = &change.visible_to {
            self.record_visibility(LoreSubject::Relationship { relationship_id }, visible_to, None, at);
        }
    }

    fn update_timeline_event(&mut self, event_id: u64, change: &TimelineEventChange, at: Timestamp) {
        let Some(event) = self.timeline.get(event_id) else { return };
        let mut after = TimelineEvent::clone(event);
        after.apply_change(change);
        (after.revision, after.updated_at) = (after.revision + 1, at);
        self.timeline.put(after);
        if let Some(visible_to) = &change.visible_to {
            self.record_visibility(LoreSubject::TimelineEvent { event_id }, visible_to, None, at);
        }
    }

    fn create_entity(&mut self, entity_id: u64, id: u64, new: &NewEntity, at: Timestamp) {
        let tags = new.tags.iter().map(|tag| self.tag_id(tag, at)).collect();
        // From now on the id is its own, and not an earlier one of another entity.
        self.renumbered.remove(&entity_id);
        self.highest.entity_id = self.highest.entity_id.max(entity_id);
        let highest = &mut self.highest.ids[new.entity_type.place()];
        *highest = (*highest).max(id);
        let parent = new.parent.map(|parent| self.current_id(parent));
        let text = new.text.as_ref().map(|text| self.with_current_mentions(text));
        let mut entity = Entity {
            id,
            entity_id,
            entity_type: new.entity_type,
            is_private: new.is_private,
            name: new.name.as_str().into(),
            subtype: self.shared_subtype(entity_id, &new.subtype),
            tags,
            created_at: at,
            updated_at: at,
            revision: 1,
            changes: ShortList::from_iter([self.stream_revision()]),
            text,
            details: None,
        };
        entity.change_details(|details| {
            *details = EntityDetails {
                aliases: new.aliases.iter().map(|alias| alias.as_str().into()).collect(),
                parent,
                image: new.image.as_deref().map(Into::into),
                date: new.date.as_deref().map(Into::into),
                actor_id: new.actor_id.as_deref().map(Into::into),
                archived_at: None,
                posts: Box::default(),
                source: new.source.clone().map(Box::new),
                canon: None,
            };
        });
        self.put_entity(entity);
    }

    fn add_relationship(&mut self, relationship_id: u64, new: &NewRelationship, at: Timestamp) {
        self.relationships.put(Relationship {
            relationship_id,
            source_id: self.current_id(new.source_id),
            target_id: self.current_id(new.target_id),
            relation: self.relationships.shared_word(&new.relation),
            inverse: self.relationships.shared_word(new.inverse.as_ref().unwrap_or(&new.relation)),
            tone: new.tone,
            strength: new.strength,
            description: new.description.as_str().into(),
            visible_to: new.visible_to.clone(),
            revision: 1,
            created_at: at,
            updated_at: at,
        });
    }

    fn add_timeline_event(&mut self, event_id: u64, new: &NewTimelineEvent, at: Timestamp) {
        self.timeline.put(TimelineEvent {
            event_id,
            date: new.date.as_deref().map(Into::into),
            sort: new.sort,
            precision: new.precision,
            description: new.description.as_str().into(),
            text: new.text.clone(),
            entity_ids: new.entity_ids.iter().map(|entity_id| self.current_id(*entity_id)).collect(),
            session_id: new.session_id.as_deref().map(Into::into),
            visible_to: new.visible_to.clone(),
            revision: 1,
            created_at: at,
            updated_at: at,
        });
    }

    fn update_entity(&mut self, entity_id: u64, change: &EntityChange, at: Timestamp) {
        if self.entity(entity_id).is_none() {
            return;
        }
        let tags = change.tags.as_ref().map(|tags| tags.iter().map(|tag| self.tag_id(tag, at)).collect());
        let subtype = change.subtype.as_ref().map(|subtype| self.shared_subtype(entity_id, subtype));
        let parent = change.parent.map(|parent| parent.map(|parent| self.current_id(parent)));
        let text = change.text.as_ref().map(|text| text.as_ref().map(|text| self.with_current_mentions(text)));
        let change = &EntityChange { parent, text, ..change.clone() };
        self.change_entity(entity_id, at, |entity| {
            entity.revision += 1;
            entity.apply_change(change);
            entity.tags = tags.unwrap_or_else(|| entity.tags.clone());
            entity.subtype = subtype.unwrap_or_else(|| entity.subtype.clone());
        });
    }

    /// Gives an entity other ids. Parents and mentions follow; a text that has the old id in it is found nevertheless,
    /// since the old id stays another name.
    fn renumber_entity(&mut self, entity_id: u64, new_entity_id: u64, new_id: u64) {
        let Some(before) = self.entity(entity_id).cloned() else { return };
        let entity_id = before.entity_id;
        let children = self.indexes.children.entities_of(index_id(entity_id));
        let mentions = self.indexes.mentions.between((index_id(entity_id), 0, 0), (index_id(entity_id), MAX, MAX));
        self.highest.entity_id = self.highest.entity_id.max(new_entity_id);
        let highest = &mut self.highest.ids[before.entity_type.place()];
        *highest = (*highest).max(new_id);
        let mut entity = Entity { entity_id: new_entity_id, id: new_id, ..Entity::clone(&before) };
        entity.changes.push(self.stream_revision());
        // Added before it is removed, so that a tag that it alone has is not dropped.
        self.put_entity(entity);
        if entity_id != new_entity_id {
            self.remove_entity(entity_id);
            self.relationships.renumber_entity(entity_id, new_entity_id);
            self.timeline.renumber_entity(entity_id, new_entity_id);
            self.renumber_reveal(entity_id, new_entity_id);
            let earlier: Vec<u64> =
                self.renumbered.iter().filter(|(_, id)| **id == entity_id).map(|(old, _)| *old).collect();
            self.renumbered.extend(earlier.into_iter().chain([entity_id]).map(|old| (old, new_entity_id)));
        }
        self.renumbered.remove(&new_entity_id);
        self.renumber_conflicts(entity_id, new_entity_id);
        let mentioning = mentions.into_iter().map(|(_, mentioning, _)| u64::from(mentioning));
        let touched: BTreeSet<u64> = children.into_iter().chain(mentioning).map(|id| self.current_id(id)).collect();
        for id in touched {
            let Some(entity) = self.entity(id) else { continue };
            let mut entity = Entity::clone(entity);
            entity.text = entity.text.as_ref().map(|text| self.with_current_mentions(text));
            entity.change_details(|details| {
                details.parent = details.parent.map(|parent| self.current_id(parent));
                for post in &mut details.posts {
                    let text = post.text.as_ref().map(|text| self.with_current_mentions(text));
                    if text != post.text {
                        Arc::make_mut(post).text = text;
                    }
                }
            });
            self.put_entity(entity);
        }
    }

    /// The reference of a text, with the ids that the entities it mentions have now.
    fn with_current_mentions(&self, text: &TextRef) -> TextRef {
        if self.renumbered.is_empty() {
            return text.clone();
        }
        let mentions: BTreeSet<u64> = text.mentions.iter().map(|id| self.current_id(*id)).collect();
        TextRef { key: text.key, mentions: mentions.into_iter().collect() }
    }

    /// Applies a change of an entity's own fields at this revision of the stream.
    pub(super) fn change_entity(&mut self, entity_id: u64, at: Timestamp, change: impl FnOnce(&mut Entity)) {
        self.change_posts(entity_id, |entity| {
            entity.updated_at = at;
            change(entity);
        });
    }

    /// Applies a change of an entity's posts, which have their own moments.
    pub(super) fn change_posts(&mut self, entity_id: u64, change: impl FnOnce(&mut Entity)) {
        let Some(entity) = self.entity(entity_id) else { return };
        let mut entity = Entity::clone(entity);
        if entity.changes.last() != Some(&self.stream_revision()) {
            entity.changes.push(self.stream_revision());
        }
        change(&mut entity);
        self.put_entity(entity);
    }

    pub(super) fn change_post(&mut self, entity_id: u64, post_id: u64, at: Timestamp, change: impl FnOnce(&mut Post)) {
        if self.entity(entity_id).is_none_or(|entity| entity.post(post_id).is_none()) {
            return;
        }
        self.change_posts(entity_id, |entity| {
            entity.change_details(|details| {
                if let Some(post) = details.posts.iter_mut().find(|post| post.post_id == post_id) {
                    let post = Arc::make_mut(post);
                    post.revision += 1;
                    post.updated_at = at;
                    change(post);
                }
            });
        });
    }

    fn keep_tag(&mut self, tag_id: u32, name: &str, at: Timestamp) {
        match self.tags.get_mut(&tag_id) {
            Some(tag) => tag.is_kept = true,
            None => self.add_tag(Tag {
                id: tag_id,
                name: name.into(),
                uses: 0,
                is_kept: true,
                created_at: at,
                updated_at: at,
            }),
        }
    }

    fn rename_tag(&mut self, tag_id: u32, name: &str, at: Timestamp) {
        let Some(tag) = self.tags.get(&tag_id).cloned() else { return };
        self.record_earlier_tag(&tag);
        self.remove_tag(tag_id);
        self.add_tag(Tag { name: name.into(), updated_at: at, ..tag });
    }

    fn delete_tag(&mut self, tag_id: u32, entity_ids: &[u64], at: Timestamp) {
        for entity_id in entity_ids {
            self.change_entity(*entity_id, at, |entity| {
                entity.revision += 1;
                entity.tags = entity.tags.iter().copied().filter(|tag| *tag != tag_id).collect();
            });
        }
        if let Some(tag) = self.tags.get(&tag_id).cloned() {
            self.record_earlier_tag(&tag);
        }
        self.remove_tag(tag_id);
    }

    fn record_earlier_tag(&mut self, tag: &Tag) {
        self.earlier_tags.insert((name_identity(&tag.name).into(), self.revision), tag.id);
    }

    fn empty_archive(&mut self, entity_ids: &[u64], post_ids: &[u64], orphan_ids: &[u64], at: Timestamp) {
        for entity_id in entity_ids {
            let entity_id = self.current_id(*entity_id);
            self.remove_entity(entity_id);
            self.relationships.remove_entity(entity_id);
            self.timeline.remove_entity(entity_id);
        }
        if !self.renumbered.is_empty() {
            let renumbered = std::mem::take(&mut self.renumbered);
            self.renumbered = renumbered.into_iter().filter(|(_, id)| !entity_ids.contains(id)).collect();
        }
        self.remove_conflicts_of(entity_ids, post_ids);
        self.forget_reveals(entity_ids.iter().map(|entity_id| LoreSubject::Entity { entity_id: *entity_id }));
        self.forget_reveals(post_ids.iter().map(|post_id| LoreSubject::Post { post_id: *post_id }));
        // Posts of the entities above are gone with them.
        for post_id in post_ids {
            let Some((entity, _)) = self.post(*post_id) else { continue };
            let entity_id = entity.entity_id;
            // An archived post was visible to no reader, so purging it leaves the entity's time of change as it is.
            self.change_posts(entity_id, |entity| {
                entity.change_details(|details| {
                    details.posts = details.posts.iter().filter(|post| post.post_id != *post_id).cloned().collect();
                });
            });
        }
        for entity_id in orphan_ids {
            self.change_entity(*entity_id, at, |entity| {
                entity.revision += 1;
                entity.change_details(|details| details.parent = None);
            });
        }
    }

    /// A subtype, in the memory of an entity nearby if one has the same.
    fn shared_subtype(&self, entity_id: u64, subtype: &str) -> Arc<str> {
        let near = self.chunks.get(&chunk_number(entity_id)).map_or(&[][..], |chunk| chunk.entities());
        let same = near.iter().rev().take(SUBTYPES_COMPARED).find(|entity| *entity.subtype == *subtype);
        same.map_or_else(|| subtype.into(), |entity| entity.subtype.clone())
    }

    fn stream_revision(&self) -> u32 {
        u32::try_from(self.revision).unwrap_or(u32::MAX)
    }
}

impl Entity {
    /// Applies a change, except for its tags, whose ids only the state knows.
    pub(super) fn apply_change(&mut self, change: &EntityChange) {
        set_text(&mut self.name, change.name.as_ref());
        if let Some(subtype) = &change.subtype {
            self.subtype = subtype.as_str().into();
        }
        self.is_private = change.is_private.unwrap_or(self.is_private);
        if let Some(text) = &change.text {
            self.text.clone_from(text);
        }
        self.change_details(|details| details.apply_change(change));
    }
}

impl EntityDetails {
    fn apply_change(&mut self, change: &EntityChange) {
        if let Some(aliases) = &change.aliases {
            self.aliases = aliases.iter().map(|alias| alias.as_str().into()).collect();
        }
        self.parent = change.parent.unwrap_or(self.parent);
        set_optional_text(&mut self.image, change.image.as_ref());
        set_optional_text(&mut self.date, change.date.as_ref());
        set_optional_text(&mut self.actor_id, change.actor_id.as_ref());
        if let Some(source) = &change.source {
            self.source = Some(Box::new(source.clone()));
        }
    }
}

impl Post {
    pub(super) fn apply_change(&mut self, change: &PostChange) {
        set_text(&mut self.name, change.name.as_ref());
        self.is_private = change.is_private.unwrap_or(self.is_private);
        if let Some(text) = &change.text {
            self.text.clone_from(text);
        }
    }
}

fn set_text(field: &mut Box<str>, text: Option<&String>) {
    if let Some(text) = text {
        *field = text.as_str().into();
    }
}

fn set_optional_text(field: &mut Option<Box<str>>, text: Option<&Option<String>>) {
    if let Some(text) = text {
        *field = text.as_deref().map(Into::into);
    }
}
