//! Applies events to the state of lore. It never fails: an event about something unknown changes nothing but the
//! revision.

use std::sync::Arc;

use jiff::Timestamp;

use super::chunk::chunk_number;
use super::command::{EntityChange, NewEntity, PostChange};
use super::entity::{Entity, Post};
use super::event::LoreEvent;
use super::short_list::ShortList;
use super::state::LoreState;
use crate::decider::DecisionContext;

/// Entities nearby with which a new subtype is compared.
const SUBTYPES_COMPARED: usize = 32;

pub(super) fn evolve(mut state: LoreState, event: &LoreEvent, given: &DecisionContext) -> LoreState {
    use LoreEvent as E;
    // A snapshot stores microseconds, and a state that was loaded must equal one that was not.
    let at = Timestamp::from_microsecond(given.at.as_microsecond()).unwrap_or(given.at);
    state.revision += 1;
    match event {
        E::EntityCreated { entity_id, id, entity } => state.create_entity(*entity_id, *id, entity, at),
        E::EntityUpdated { entity_id, change, .. } => state.update_entity(*entity_id, change, at),
        E::EntityArchived { entity_id, .. } => {
            state.change_entity(*entity_id, at, |entity| {
                entity.revision += 1;
                entity.archived_at = Some(at);
            });
        }
        E::EntityRestored { entity_id, parent_cleared, actor_cleared, .. } => {
            state.change_entity(*entity_id, at, |entity| {
                entity.revision += 1;
                entity.archived_at = None;
                entity.parent = entity.parent.filter(|_| !parent_cleared);
                entity.actor_id.take_if(|_| *actor_cleared);
            });
        }
        E::PostCreated { entity_id, post_id, name, is_private, text, .. } => {
            state.highest.post_id = state.highest.post_id.max(*post_id);
            let post = Post {
                post_id: *post_id,
                name: name.as_str().into(),
                is_private: *is_private,
                revision: 1,
                created_at: at,
                updated_at: at,
                archived_at: None,
                text: text.clone(),
            };
            state.change_posts(*entity_id, |entity| {
                let others = entity.posts.iter().filter(|known| known.post_id != *post_id).cloned();
                entity.posts = others.chain([Arc::new(post)]).collect();
            });
        }
        E::PostUpdated { entity_id, post_id, change, .. } => {
            state.change_post(*entity_id, *post_id, at, |post| post.apply_change(change));
        }
        E::PostArchived { entity_id, post_id, .. } => {
            state.change_post(*entity_id, *post_id, at, |post| post.archived_at = Some(at));
        }
        E::PostRestored { entity_id, post_id, .. } => {
            state.change_post(*entity_id, *post_id, at, |post| post.archived_at = None);
        }
        E::ArchiveEmptied { entity_ids, post_ids, orphan_ids, .. } => {
            state.empty_archive(entity_ids, post_ids, orphan_ids, at);
        }
    }
    state
}

impl LoreState {
    fn create_entity(&mut self, entity_id: u64, id: u64, new: &NewEntity, at: Timestamp) {
        let tags = new.tags.iter().map(|tag| self.tag_id(tag)).collect();
        self.highest.entity_id = self.highest.entity_id.max(entity_id);
        let highest = &mut self.highest.ids[new.entity_type.place()];
        *highest = (*highest).max(id);
        self.put_entity(Entity {
            id,
            entity_id,
            entity_type: new.entity_type,
            is_private: new.is_private,
            name: new.name.as_str().into(),
            subtype: self.shared_subtype(entity_id, &new.subtype),
            tags,
            aliases: new.aliases.iter().map(|alias| alias.as_str().into()).collect(),
            parent: new.parent,
            image: new.image.as_deref().map(Into::into),
            date: new.date.as_deref().map(Into::into),
            actor_id: new.actor_id.as_deref().map(Into::into),
            created_at: at,
            updated_at: at,
            archived_at: None,
            revision: 1,
            changes: ShortList::from_iter([self.stream_revision()]),
            text: new.text.clone(),
            posts: Box::default(),
            source: new.source.clone().map(Box::new),
        });
    }

    fn update_entity(&mut self, entity_id: u64, change: &EntityChange, at: Timestamp) {
        if self.entity(entity_id).is_none() {
            return;
        }
        let tags = change.tags.as_ref().map(|tags| tags.iter().map(|tag| self.tag_id(tag)).collect());
        let subtype = change.subtype.as_ref().map(|subtype| self.shared_subtype(entity_id, subtype));
        self.change_entity(entity_id, at, |entity| {
            entity.revision += 1;
            entity.apply_change(change);
            entity.tags = tags.unwrap_or_else(|| entity.tags.clone());
            entity.subtype = subtype.unwrap_or_else(|| entity.subtype.clone());
        });
    }

    /// Applies a change of an entity's own fields at this revision of the stream.
    fn change_entity(&mut self, entity_id: u64, at: Timestamp, change: impl FnOnce(&mut Entity)) {
        self.change_posts(entity_id, |entity| {
            entity.updated_at = at;
            change(entity);
        });
    }

    /// Applies a change of an entity's posts, which have their own moments.
    fn change_posts(&mut self, entity_id: u64, change: impl FnOnce(&mut Entity)) {
        let Some(entity) = self.entity(entity_id) else { return };
        let mut entity = Entity::clone(entity);
        if entity.changes.last() != Some(&self.stream_revision()) {
            entity.changes.push(self.stream_revision());
        }
        change(&mut entity);
        self.put_entity(entity);
    }

    fn change_post(&mut self, entity_id: u64, post_id: u64, at: Timestamp, change: impl FnOnce(&mut Post)) {
        if self.entity(entity_id).is_none_or(|entity| entity.post(post_id).is_none()) {
            return;
        }
        self.change_posts(entity_id, |entity| {
            if let Some(post) = entity.posts.iter_mut().find(|post| post.post_id == post_id) {
                let post = Arc::make_mut(post);
                post.revision += 1;
                post.updated_at = at;
                change(post);
            }
        });
    }

    fn empty_archive(&mut self, entity_ids: &[u64], post_ids: &[u64], orphan_ids: &[u64], at: Timestamp) {
        for entity_id in entity_ids {
            self.remove_entity(*entity_id);
        }
        // Posts of the entities above are gone with them.
        for post_id in post_ids {
            let Some((entity, _)) = self.post(*post_id) else { continue };
            let entity_id = entity.entity_id;
            // What nobody saw any more does not count as a change of the entity.
            self.change_posts(entity_id, |entity| {
                entity.posts = entity.posts.iter().filter(|post| post.post_id != *post_id).cloned().collect();
            });
        }
        for entity_id in orphan_ids {
            self.change_entity(*entity_id, at, |entity| {
                entity.revision += 1;
                entity.parent = None;
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
        if let Some(aliases) = &change.aliases {
            self.aliases = aliases.iter().map(|alias| alias.as_str().into()).collect();
        }
        self.is_private = change.is_private.unwrap_or(self.is_private);
        self.parent = change.parent.unwrap_or(self.parent);
        set_optional_text(&mut self.image, change.image.as_ref());
        set_optional_text(&mut self.date, change.date.as_ref());
        set_optional_text(&mut self.actor_id, change.actor_id.as_ref());
        if let Some(text) = &change.text {
            self.text.clone_from(text);
        }
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
