//! Earlier versions of an entity, folded from the events of its history.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::entity::TextRef;
use super::event::LoreEvent;
use super::find::name_identity;
use super::reveals::LoreSubject;
use super::state::LoreState;

/// An entity as it was after some of its events.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EntityVersion {
    pub name: String,
    pub subtype: String,
    pub tags: Vec<String>,
    pub aliases: Vec<String>,
    pub is_private: bool,
    pub parent: Option<u64>,
    pub image: Option<String>,
    pub date: Option<String>,
    pub actor_id: Option<String>,
    pub text: Option<TextRef>,
    /// Its posts by id.
    pub posts: BTreeMap<u64, PostVersion>,
}

/// A post as it was.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PostVersion {
    pub name: String,
    pub is_private: bool,
    pub is_archived: bool,
    pub text: Option<TextRef>,
}

/// The entity after these events, which are all about it, the oldest first.
pub fn fold_entity_version<'a>(events: impl IntoIterator<Item = &'a LoreEvent>) -> EntityVersion {
    events.into_iter().fold(EntityVersion::default(), |mut version, event| {
        version.apply_event(event);
        version
    })
}

/// Gives the tags in a past event the names that they have now, so that versions from before and after a tag was renamed
/// have the same tags. `revision` and `at` are those of the event.
pub fn use_current_tag_names(state: &LoreState, event: &mut LoreEvent, revision: u64, at: Timestamp) {
    let current = |name: &mut String| *name = state.current_tag_name(name, revision, at);
    match event {
        LoreEvent::EntityCreated { entity, .. } => entity.tags.iter_mut().for_each(current),
        LoreEvent::EntityUpdated { change, .. } => change.tags.iter_mut().flatten().for_each(current),
        LoreEvent::EntityVersionRestored { steps, .. }
        | LoreEvent::ConflictResolved { steps, .. }
        | LoreEvent::ConflictReopened { steps, .. } => {
            for step in steps {
                use_current_tag_names(state, step, revision, at);
            }
        }
        _ => {}
    }
}

impl EntityVersion {
    fn apply_event(&mut self, event: &LoreEvent) {
        match event {
            LoreEvent::EntityCreated { entity, .. } => {
                *self = Self {
                    name: entity.name.clone(),
                    subtype: entity.subtype.clone(),
                    tags: entity.tags.clone(),
                    aliases: entity.aliases.clone(),
                    is_private: entity.is_private,
                    parent: entity.parent,
                    image: entity.image.clone(),
                    date: entity.date.clone(),
                    actor_id: entity.actor_id.clone(),
                    text: entity.text.clone(),
                    posts: BTreeMap::new(),
                };
            }
            LoreEvent::EntityUpdated { change, .. } => {
                replace(&mut self.name, change.name.as_ref());
                replace(&mut self.subtype, change.subtype.as_ref());
                replace(&mut self.tags, change.tags.as_ref());
                replace(&mut self.aliases, change.aliases.as_ref());
                replace(&mut self.is_private, change.is_private.as_ref());
                replace(&mut self.parent, change.parent.as_ref());
                replace(&mut self.image, change.image.as_ref());
                replace(&mut self.date, change.date.as_ref());
                replace(&mut self.actor_id, change.actor_id.as_ref());
                replace(&mut self.text, change.text.as_ref());
            }
            LoreEvent::EntityRestored { parent_cleared, actor_cleared, .. } => {
                self.parent = self.parent.filter(|_| !parent_cleared);
                self.actor_id.take_if(|_| *actor_cleared);
            }
            LoreEvent::PostCreated { post_id, name, is_private, text, .. } => {
                let post =
                    PostVersion { name: name.clone(), is_private: *is_private, is_archived: false, text: text.clone() };
                self.posts.insert(*post_id, post);
            }
            LoreEvent::PostUpdated { post_id, change, .. } => {
                if let Some(post) = self.posts.get_mut(post_id) {
                    replace(&mut post.name, change.name.as_ref());
                    replace(&mut post.is_private, change.is_private.as_ref());
                    replace(&mut post.text, change.text.as_ref());
                }
            }
            LoreEvent::VisibilityChanged { of, visible_to, .. } => match of {
                LoreSubject::Entity { .. } => self.is_private = !visible_to.is_table(),
                LoreSubject::Post { post_id } => {
                    if let Some(post) = self.posts.get_mut(post_id) {
                        post.is_private = !visible_to.is_table();
                    }
                }
                LoreSubject::TimelineEvent { .. } | LoreSubject::Relationship { .. } => {}
            },
            LoreEvent::PostArchived { post_id, .. } => self.set_archived(*post_id, true),
            LoreEvent::PostRestored { post_id, .. } => self.set_archived(*post_id, false),
            LoreEvent::ArchiveEmptied { post_ids, entity_ids, .. } => {
                self.posts.retain(|post_id, _| !post_ids.contains(post_id));
                self.parent = self.parent.filter(|parent| !entity_ids.contains(parent));
            }
            LoreEvent::EntityVersionRestored { steps, .. }
            | LoreEvent::ConflictResolved { steps, .. }
            | LoreEvent::ConflictReopened { steps, .. } => steps.iter().for_each(|step| self.apply_event(step)),
            LoreEvent::TagDeleted { name, .. } => self.tags.retain(|tag| name_identity(tag) != name_identity(name)),
            LoreEvent::EntityArchived { .. }
            | LoreEvent::EntityMarked { .. }
            | LoreEvent::EntityDied { .. }
            | LoreEvent::ChangeHeld { .. }
            | LoreEvent::ConflictAcknowledged { .. }
            | LoreEvent::FindingReviewed { .. }
            | LoreEvent::EntityRenumbered { .. }
            | LoreEvent::IdsReserved { .. }
            | LoreEvent::TagCreated { .. }
            | LoreEvent::TagRenamed { .. }
            | LoreEvent::RelationshipAdded { .. }
            | LoreEvent::RelationshipUpdated { .. }
            | LoreEvent::RelationshipRemoved { .. }
            | LoreEvent::TimelineEventAdded { .. }
            | LoreEvent::TimelineEventUpdated { .. }
            | LoreEvent::TimelineEventRemoved { .. } => {}
        }
    }

    fn set_archived(&mut self, post_id: u64, is_archived: bool) {
        if let Some(post) = self.posts.get_mut(&post_id) {
            post.is_archived = is_archived;
        }
    }
}

fn replace<T: Clone>(field: &mut T, new: Option<&T>) {
    if let Some(new) = new {
        field.clone_from(new);
    }
}
