//! Decides lore commands into one event each, or a refusal. Checks run in this order: what is named exists, its revision
//! is the expected one, the fields are valid, something is different, what is new fits.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::canon_decide::{decide_canon, decide_in_order, hold_against_canon};
use super::check_fields::{
    check_aliases, check_id, check_name, check_optional, check_source, check_subtype, check_tags, check_text,
};
use super::command::{EntityChange, ExplicitIds, LoreCommand, NewEntity, NewPost, PostChange};
use super::decide_relationship::decide_relationship;
use super::decide_tags::{create_tag, delete_tag, rename_tag};
use super::decide_timeline::decide_timeline;
use super::entity::{Entity, EntityType, ImportSource, Post, TextKey, TextRef, lost_mentions};
use super::event::LoreEvent;
use super::refusal::LoreRefusal;
use super::reveals::decide_visibility;
use super::state::LoreState;
use crate::decider::DecisionContext;
use crate::limits;

pub(super) type LoreDecision = Result<LoreEvent, LoreRefusal>;

/// Decides a command. What would change an authoritative value is held instead.
pub(super) fn decide(state: &LoreState, command: &LoreCommand, given: &DecisionContext) -> LoreDecision {
    let (command, tool) = match command {
        LoreCommand::FromTool { tool, command } => (&**command, *tool),
        command => (command, ""),
    };
    if let LoreCommand::SameValue(command) = command {
        return decide_freely(state, command, given);
    }
    hold_against_canon(state, decide_freely(state, command, given)?, tool)
}

/// Decides a command as if nothing were authoritative.
pub(super) fn decide_freely(state: &LoreState, command: &LoreCommand, given: &DecisionContext) -> LoreDecision {
    use LoreCommand as C;
    match command {
        C::Canon(command) => decide_canon(state, command, given),
        C::FromTool { command, .. } | C::SameValue(command) => decide_freely(state, command, given),
        C::RestoreVersion { entity_id, change, posts } => restore_version(state, *entity_id, change, posts, given),
        C::CreateEntity(new) => create_entity(state, new),
        C::UpdateEntity { entity_id, expected_revision, change } => {
            update_entity(state, *entity_id, *expected_revision, change)
        }
        C::ArchiveEntity { entity_id, expected_revision } => {
            let entity = state.require_entity("entity_id", *entity_id)?;
            check_revision(*expected_revision, entity.revision)?;
            let (entity_id, hidden) = (*entity_id, entity.is_private);
            Ok(LoreEvent::EntityArchived { entity_id, name: entity.name.to_string(), hidden })
        }
        C::RestoreEntity { entity_id } => restore_entity(state, *entity_id),
        C::CreatePost(new) => create_post(state, new),
        C::UpdatePost { entity_id, post_id, expected_revision, change } => {
            update_post(state, *entity_id, *post_id, *expected_revision, change)
        }
        C::ArchivePost { entity_id, post_id, expected_revision } => {
            let (entity, post) = state.require_live_post(*entity_id, *post_id)?;
            check_revision(*expected_revision, post.revision)?;
            let (name, hidden) = (post.name.to_string(), entity.is_private || post.is_private);
            Ok(LoreEvent::PostArchived { entity_id: *entity_id, post_id: *post_id, name, hidden })
        }
        C::RestorePost { entity_id, post_id } => {
            let (entity, post) = state.require_post(*entity_id, *post_id)?;
            if !post.is_archived() {
                return Err(LoreRefusal::PostNotArchived { post_id: *post_id });
            }
            let hidden = entity.is_private || post.is_private;
            Ok(LoreEvent::PostRestored { entity_id: *entity_id, post_id: *post_id, hidden })
        }
        C::CreateTag { name } => create_tag(state, name),
        C::RenameTag { tag_id, name } => rename_tag(state, *tag_id, name),
        C::DeleteTag { tag_id } => delete_tag(state, *tag_id),
        C::EmptyArchive { entity_ids, posts, text_keys } => empty_archive(state, entity_ids, posts, text_keys),
        C::RenumberEntity { entity_id, ids } => renumber_entity(state, *entity_id, *ids),
        C::ReserveIds { above } => {
            check_id("above", *above)?;
            if state.has_reserved_ids(*above) {
                return Err(LoreRefusal::Unchanged);
            }
            Ok(LoreEvent::IdsReserved { above: *above })
        }
        C::Relationship(command) => decide_relationship(state, command),
        C::Timeline(command) => decide_timeline(state, command),
        C::Visibility(command) => decide_visibility(state, command),
    }
}

fn renumber_entity(state: &LoreState, entity_id: u64, ids: ExplicitIds) -> LoreDecision {
    let missing = LoreRefusal::EntityNotFound { field: "entity_id", entity_id };
    let entity = state.entity(entity_id).ok_or(missing)?;
    if (entity.entity_id, entity.id) == (ids.entity_id, ids.id) {
        return Err(LoreRefusal::Unchanged);
    }
    check_free_ids(state, entity.entity_type, ids, Some(entity.entity_id))?;
    Ok(LoreEvent::EntityRenumbered {
        entity_id: entity.entity_id,
        new_entity_id: ids.entity_id,
        new_id: ids.id,
        hidden: entity.is_private,
    })
}

fn create_entity(state: &LoreState, new: &NewEntity) -> LoreDecision {
    let ExplicitIds { id, entity_id } = new_ids(state, new)?;
    if state.entity_total >= limits::LORE_ENTITIES_MAX {
        return Err(LoreRefusal::TooMany { things: "entities", count_max: limits::LORE_ENTITIES_MAX });
    }
    let name = check_name("name", &new.name)?;
    let subtype = check_subtype(&new.subtype)?;
    let tags = check_tags(state, &new.tags)?;
    let aliases = check_aliases(&new.aliases)?;
    if let Some(parent) = new.parent {
        check_parent(state, entity_id, parent)?;
    }
    let image = check_optional("image", new.image.as_ref(), limits::LORE_IMAGE_CHARS_MAX)?;
    let date = check_optional("date", new.date.as_ref(), limits::NAME_CHARS_MAX)?;
    let actor_id = check_optional("actor_id", new.actor_id.as_ref(), limits::ID_CHARS_MAX)?;
    check_actor_free(state, entity_id, actor_id.as_deref())?;
    let text = new.text.as_ref().map(check_text).transpose()?;
    let source = new.source.as_ref().map(check_source).transpose()?;
    check_source_free(state, entity_id, source.as_ref().map(|source| source.id.as_str()))?;
    let parent = new.parent.map(|parent| state.current_id(parent));
    let entity =
        NewEntity { name, subtype, parent, tags, aliases, image, date, actor_id, text, source, ids: None, ..*new };
    check_head_bytes(state, 0, new_head_bytes(&entity))?;
    Ok(LoreEvent::EntityCreated { entity_id, id, entity: Box::new(entity) })
}

/// The given ids if they are free, or the next ones.
fn new_ids(state: &LoreState, new: &NewEntity) -> Result<ExplicitIds, LoreRefusal> {
    let highest = state.highest.ids[new.entity_type.place()];
    let ids = new.ids.unwrap_or(ExplicitIds { id: highest + 1, entity_id: state.highest.entity_id + 1 });
    check_free_ids(state, new.entity_type, ids, None)?;
    Ok(ids)
}

/// Refuses ids that another entity than `own` has.
fn check_free_ids(
    state: &LoreState,
    entity_type: EntityType,
    ids: ExplicitIds,
    own: Option<u64>,
) -> Result<(), LoreRefusal> {
    check_id("id", ids.id)?;
    check_id("entity_id", ids.entity_id)?;
    if state.numbered_entity(ids.entity_id).is_some_and(|entity| Some(entity.entity_id) != own) {
        return Err(LoreRefusal::IdTaken { field: "entity_id", id: ids.entity_id });
    }
    // Only an id from elsewhere can be below the highest, and then the entities of the type have to be looked at.
    let is_same = |entity: &Arc<Entity>| {
        entity.entity_type == entity_type && entity.id == ids.id && Some(entity.entity_id) != own
    };
    if ids.id <= state.highest.ids[entity_type.place()] && state.all_entities().any(is_same) {
        return Err(LoreRefusal::IdTaken { field: "id", id: ids.id });
    }
    Ok(())
}

fn update_entity(
    state: &LoreState,
    entity_id: u64,
    expected_revision: Option<u64>,
    change: &EntityChange,
) -> LoreDecision {
    let entity = state.require_entity("entity_id", entity_id)?;
    check_revision(expected_revision, entity.revision)?;
    let change = differences(state, entity, change)?;
    if change == EntityChange::default() {
        return Err(LoreRefusal::Unchanged);
    }
    let mut after = Entity::clone(entity);
    after.apply_change(&change);
    check_head_bytes(state, entity.head_bytes(), after.head_bytes())?;
    let (unlinked_ids, hidden) = (entity.links_lost_in(&after), entity.is_private && after.is_private);
    Ok(LoreEvent::EntityUpdated { entity_id, change: Box::new(change), unlinked_ids, hidden })
}

/// The valid fields of a change that are different from those of the entity.
fn differences(state: &LoreState, entity: &Entity, change: &EntityChange) -> Result<EntityChange, LoreRefusal> {
    let name = change.name.as_ref().map(|name| check_name("name", name)).transpose()?;
    let subtype = change.subtype.as_ref().map(|subtype| check_subtype(subtype)).transpose()?;
    let tags = change.tags.as_ref().map(|tags| check_tags(state, tags)).transpose()?;
    let aliases = change.aliases.as_ref().map(|aliases| check_aliases(aliases)).transpose()?;
    let optional = |field, given: Option<&Option<String>>, known: Option<&str>, chars_max| {
        let checked = given.map(|text| check_optional(field, text.as_ref(), chars_max)).transpose()?;
        Ok(checked.filter(|text| text.as_deref() != known))
    };
    let parent = change.parent.map(|parent| parent.map(|parent| state.current_id(parent)));
    let parent = parent.filter(|parent| *parent != entity.details().parent);
    if let Some(Some(parent)) = parent {
        check_parent(state, entity.entity_id, parent)?;
    }
    let actor_id =
        optional("actor_id", change.actor_id.as_ref(), entity.details().actor_id.as_deref(), limits::ID_CHARS_MAX)?;
    check_actor_free(state, entity.entity_id, actor_id.as_ref().and_then(|actor_id| actor_id.as_deref()))?;
    let source = change.source.as_ref().map(check_source).transpose()?;
    check_source_free(state, entity.entity_id, source.as_ref().map(|source| source.id.as_str()))?;
    Ok(EntityChange {
        name: name.filter(|name| **name != *entity.name),
        subtype: subtype.filter(|subtype| **subtype != *entity.subtype),
        tags: tags.filter(|tags| !has_tags(state, entity, tags)),
        aliases: aliases
            .filter(|aliases| !aliases.iter().map(String::as_str).eq(entity.details().aliases.iter().map(|a| &**a))),
        is_private: change.is_private.filter(|is_private| *is_private != entity.is_private),
        parent,
        image: optional(
            "image",
            change.image.as_ref(),
            entity.details().image.as_deref(),
            limits::LORE_IMAGE_CHARS_MAX,
        )?,
        date: optional("date", change.date.as_ref(), entity.details().date.as_deref(), limits::NAME_CHARS_MAX)?,
        actor_id,
        text: text_difference(change.text.as_ref(), entity.text.as_ref())?,
        source: source.filter(|source| entity.details().source.as_deref() != Some(source)),
    })
}

/// Whether an entity has exactly these tags, in any order.
fn has_tags(state: &LoreState, entity: &Entity, tags: &[String]) -> bool {
    let is_on = |tag: &String| state.find_tag(tag).is_some_and(|tag_id| entity.tags.contains(&tag_id));
    tags.len() == entity.tags.len() && tags.iter().all(is_on)
}

#[expect(clippy::option_option, reason = "unchanged, removed and set are three things")]
fn text_difference(
    given: Option<&Option<TextRef>>,
    known: Option<&TextRef>,
) -> Result<Option<Option<TextRef>>, LoreRefusal> {
    let Some(given) = given else { return Ok(None) };
    let text = given.as_ref().map(check_text).transpose()?;
    Ok(Some(text).filter(|text| text.as_ref() != known))
}

fn restore_entity(state: &LoreState, entity_id: u64) -> LoreDecision {
    let missing = LoreRefusal::EntityNotFound { field: "entity_id", entity_id };
    let entity = state.entity(entity_id).ok_or(missing)?;
    if !entity.is_archived() {
        return Err(LoreRefusal::EntityNotArchived { entity_id });
    }
    let is_gone = |parent: u64| state.entity(parent).is_none();
    let is_taken = |actor_id: &str| state.entity_of_actor(actor_id).is_some();
    Ok(LoreEvent::EntityRestored {
        entity_id,
        parent_cleared: entity.details().parent.is_some_and(is_gone),
        actor_cleared: entity.details().actor_id.as_deref().is_some_and(is_taken),
        hidden: entity.is_private,
    })
}

/// Decides the commands of a restored version one after the other, each on what the one before left.
fn restore_version(
    state: &LoreState,
    entity_id: u64,
    change: &EntityChange,
    posts: &[(u64, PostChange)],
    given: &DecisionContext,
) -> LoreDecision {
    let missing = LoreRefusal::EntityNotFound { field: "entity_id", entity_id };
    let entity = state.entity(entity_id).ok_or(missing)?;
    let mut commands = Vec::new();
    if entity.is_archived() {
        commands.push(LoreCommand::RestoreEntity { entity_id });
    }
    let change = Box::new(change.clone());
    commands.push(LoreCommand::UpdateEntity { entity_id, expected_revision: None, change });
    for (post_id, change) in posts {
        let (post_id, change) = (*post_id, Box::new(change.clone()));
        if state.require_post(entity_id, post_id)?.1.is_archived() {
            commands.push(LoreCommand::RestorePost { entity_id, post_id });
        }
        commands.push(LoreCommand::UpdatePost { entity_id, post_id, expected_revision: None, change });
    }
    let steps = decide_in_order(state, &commands, given)?.steps;
    if steps.is_empty() {
        return Err(LoreRefusal::Unchanged);
    }
    let hidden = steps.iter().all(LoreEvent::is_private);
    Ok(LoreEvent::EntityVersionRestored { entity_id, steps, hidden })
}

fn create_post(state: &LoreState, new: &NewPost) -> LoreDecision {
    let NewPost { entity_id, is_private, .. } = *new;
    let entity = state.require_entity("entity_id", entity_id)?;
    let post_id = new.post_id.unwrap_or(state.highest.post_id + 1);
    check_id("post_id", post_id)?;
    if state.post(post_id).is_some() {
        return Err(LoreRefusal::IdTaken { field: "post_id", id: post_id });
    }
    let (count, count_max) = (entity.details().posts.len() + 1, limits::LORE_ENTITY_POSTS_MAX);
    if count > count_max {
        return Err(LoreRefusal::TooManyOnOne { things: "posts", field: "entity_id", count, count_max });
    }
    if state.post_total >= limits::LORE_POSTS_MAX {
        return Err(LoreRefusal::TooMany { things: "posts", count_max: limits::LORE_POSTS_MAX });
    }
    let name = check_name("name", &new.name)?;
    let text = new.text.as_ref().map(check_text).transpose()?;
    check_head_bytes(state, 0, name.len() + mention_bytes(text.as_ref()))?;
    Ok(LoreEvent::PostCreated { entity_id, post_id, name, is_private, text, hidden: entity.is_private })
}

fn update_post(
    state: &LoreState,
    entity_id: u64,
    post_id: u64,
    expected_revision: Option<u64>,
    change: &PostChange,
) -> LoreDecision {
    let (entity, post) = state.require_live_post(entity_id, post_id)?;
    check_revision(expected_revision, post.revision)?;
    let name = change.name.as_ref().map(|name| check_name("name", name)).transpose()?;
    let change = PostChange {
        name: name.filter(|name| **name != *post.name),
        is_private: change.is_private.filter(|is_private| *is_private != post.is_private),
        text: text_difference(change.text.as_ref(), post.text.as_ref())?,
    };
    if change == PostChange::default() {
        return Err(LoreRefusal::Unchanged);
    }
    let mut after = Post::clone(post);
    after.apply_change(&change);
    let bytes = |post: &Post| post.name.len() + mention_bytes(post.text.as_ref());
    check_head_bytes(state, bytes(post), bytes(&after))?;
    let unlinked_ids = lost_mentions(post.text.as_ref(), after.text.as_ref());
    let hidden = entity.is_private || (post.is_private && after.is_private);
    Ok(LoreEvent::PostUpdated { entity_id, post_id, change: Box::new(change), unlinked_ids, hidden })
}

/// Removes the named entities and posts, or all archived ones.
fn empty_archive(state: &LoreState, entity_ids: &[u64], posts: &[(u64, u64)], history: &[TextKey]) -> LoreDecision {
    let mut removed: BTreeSet<u64> = BTreeSet::new();
    for entity_id in entity_ids {
        let missing = LoreRefusal::EntityNotFound { field: "entity_ids", entity_id: *entity_id };
        if !state.entity(*entity_id).ok_or(missing)?.is_archived() {
            return Err(LoreRefusal::EntityNotArchived { entity_id: *entity_id });
        }
        removed.insert(state.current_id(*entity_id));
    }
    let mut removed_posts: BTreeSet<u64> = BTreeSet::new();
    for (entity_id, post_id) in posts {
        if !find_post(state, *entity_id, *post_id)?.1.is_archived() {
            return Err(LoreRefusal::PostNotArchived { post_id: *post_id });
        }
        removed_posts.insert(*post_id);
    }
    let is_all = entity_ids.is_empty() && posts.is_empty();
    if is_all {
        removed.extend(state.archived_ids.iter());
    }
    let is_gone = |post: &Post| post.is_archived() && (is_all || removed_posts.contains(&post.post_id));
    let history: BTreeSet<TextKey> = history.iter().copied().collect();
    let (mut post_ids, mut text_keys) = (BTreeSet::new(), history.clone());
    let mut kept_keys = BTreeSet::new();
    for entity in state.all_entities() {
        if removed.contains(&entity.entity_id) {
            post_ids.extend(entity.details().posts.iter().map(|post| post.post_id));
            text_keys.extend(entity.text_keys());
            continue;
        }
        let (gone, kept): (Vec<_>, Vec<_>) = entity.details().posts.iter().partition(|post| is_gone(post));
        post_ids.extend(gone.iter().map(|post| post.post_id));
        text_keys.extend(gone.iter().filter_map(|post| Some(post.text.as_ref()?.key)));
        let texts = entity.text.iter().chain(kept.iter().filter_map(|post| post.text.as_ref()));
        // Whatever else is named, a text that is still shown stays.
        kept_keys.extend(texts.map(|text| text.key).filter(|key| history.contains(key)));
    }
    if removed.is_empty() && post_ids.is_empty() {
        return Err(LoreRefusal::ArchiveEmpty);
    }
    let children = removed.iter().flat_map(|entity_id| state.children(*entity_id)).collect::<BTreeSet<u64>>();
    Ok(LoreEvent::ArchiveEmptied {
        orphan_ids: children.difference(&removed).copied().collect(),
        entity_ids: removed.into_iter().collect(),
        post_ids: post_ids.into_iter().collect(),
        text_keys: text_keys.difference(&kept_keys).copied().collect(),
    })
}

/// A post of an entity, both archived or not.
fn find_post(state: &LoreState, entity_id: u64, post_id: u64) -> Result<(&Arc<Entity>, &Arc<Post>), LoreRefusal> {
    let missing = LoreRefusal::EntityNotFound { field: "entity_id", entity_id };
    let entity = state.entity(entity_id).ok_or(missing)?;
    let post = entity.post(post_id).ok_or(LoreRefusal::PostNotFound { entity_id, post_id })?;
    Ok((entity, post))
}

impl LoreState {
    pub(super) fn require_entity(&self, field: &'static str, entity_id: u64) -> Result<&Arc<Entity>, LoreRefusal> {
        let entity = self.entity(entity_id).ok_or(LoreRefusal::EntityNotFound { field, entity_id })?;
        if entity.is_archived() { Err(LoreRefusal::EntityArchived { field, entity_id }) } else { Ok(entity) }
    }

    fn require_post(&self, entity_id: u64, post_id: u64) -> Result<(&Arc<Entity>, &Arc<Post>), LoreRefusal> {
        let entity = self.require_entity("entity_id", entity_id)?;
        let post = entity.post(post_id).ok_or(LoreRefusal::PostNotFound { entity_id, post_id })?;
        Ok((entity, post))
    }

    /// Whether an entity can lie in another one, which must be there and not below it.
    pub fn may_have_parent(&self, entity_id: u64, parent: u64) -> bool {
        check_parent(self, entity_id, parent).is_ok()
    }

    fn require_live_post(&self, entity_id: u64, post_id: u64) -> Result<(&Arc<Entity>, &Arc<Post>), LoreRefusal> {
        let (entity, post) = self.require_post(entity_id, post_id)?;
        if post.is_archived() { Err(LoreRefusal::PostArchived { post_id }) } else { Ok((entity, post)) }
    }
}

pub(super) fn check_revision(expected: Option<u64>, current: u64) -> Result<(), LoreRefusal> {
    match expected {
        Some(expected) if expected != current => Err(LoreRefusal::RevisionConflict { expected, current }),
        _ => Ok(()),
    }
}

/// The parent exists, is not archived, and is not below the entity. Archived entities count as steps on the way up, so
/// that restoring one never closes a circle.
fn check_parent(state: &LoreState, entity_id: u64, parent: u64) -> Result<(), LoreRefusal> {
    if parent == entity_id {
        return Err(LoreRefusal::ParentCycle { parent });
    }
    let mut above = Some(state.require_entity("parent", parent)?.entity_id);
    // There is no circle, and if a state had one, this would end nevertheless.
    for _ in 0..=state.entity_total {
        match above {
            None => return Ok(()),
            Some(above_id) if above_id == entity_id => break,
            Some(above_id) => above = state.entity(above_id).and_then(|entity| entity.details().parent),
        }
    }
    Err(LoreRefusal::ParentCycle { parent })
}

fn check_actor_free(state: &LoreState, entity_id: u64, actor_id: Option<&str>) -> Result<(), LoreRefusal> {
    match actor_id.and_then(|actor_id| Some((actor_id, state.entity_of_actor(actor_id)?))) {
        Some((actor_id, other)) if other != entity_id => {
            Err(LoreRefusal::ActorLinked { actor_id: actor_id.to_owned(), entity_id: other })
        }
        _ => Ok(()),
    }
}

fn check_source_free(state: &LoreState, entity_id: u64, source_id: Option<&str>) -> Result<(), LoreRefusal> {
    match source_id.and_then(|source_id| Some((source_id, state.entity_of_source(source_id)?))) {
        Some((source_id, other)) if other != entity_id => {
            Err(LoreRefusal::SourceTaken { source_id: source_id.to_owned(), entity_id: other })
        }
        _ => Ok(()),
    }
}

/// Refuses heads past the limit. Lore that is already past it may shrink but not grow.
pub(super) fn check_head_bytes(state: &LoreState, gone: usize, come: usize) -> Result<(), LoreRefusal> {
    let bytes_max = limits::LORE_HEAD_BYTES_MAX;
    let bytes = state.head_bytes + state.relationships.bytes + state.timeline.bytes;
    let bytes_after = (bytes + come).saturating_sub(gone);
    if bytes_after <= bytes_max || come <= gone {
        return Ok(());
    }
    Err(LoreRefusal::TooMuchText { bytes, bytes_after, bytes_max })
}

fn new_head_bytes(new: &NewEntity) -> usize {
    let aliases: usize = new.aliases.iter().map(String::len).sum();
    let fields = [&new.image, &new.date, &new.actor_id];
    let fields: usize = fields.into_iter().flatten().map(String::len).sum();
    let source = new.source.as_ref().map_or(0, ImportSource::head_bytes);
    new.name.len() + new.subtype.len() + aliases + fields + source + mention_bytes(new.text.as_ref())
}

fn mention_bytes(text: Option<&TextRef>) -> usize {
    text.map_or(0, TextRef::mention_bytes)
}
