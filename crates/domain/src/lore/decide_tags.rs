//! Decides commands about tags: one that is created by itself, its name, and its end.

use super::check_fields::check_tag_name;
use super::decide::LoreDecision;
use super::event::LoreEvent;
use super::refusal::LoreRefusal;
use super::state::LoreState;
use crate::limits;

/// A tag of that name that entities have already becomes one that is kept.
pub(super) fn create_tag(state: &LoreState, name: &str) -> LoreDecision {
    let name = check_tag_name(name)?;
    if let Some(tag) = state.find_tag(&name).and_then(|tag_id| state.tag(tag_id)) {
        if tag.is_kept {
            return Err(LoreRefusal::Unchanged);
        }
        return Ok(LoreEvent::TagCreated { tag_id: tag.id, name: tag.name.to_string() });
    }
    if state.tags.len() >= limits::LORE_CAMPAIGN_TAGS_MAX {
        return Err(LoreRefusal::TooMany { things: "tags", count_max: limits::LORE_CAMPAIGN_TAGS_MAX });
    }
    Ok(LoreEvent::TagCreated { tag_id: state.highest.tag_id + 1, name })
}

pub(super) fn rename_tag(state: &LoreState, tag_id: u32, name: &str) -> LoreDecision {
    let tag = state.tag(tag_id).ok_or(LoreRefusal::TagNotFound { tag_id })?;
    let name = check_tag_name(name)?;
    if *name == *tag.name {
        return Err(LoreRefusal::Unchanged);
    }
    if let Some(other) = state.find_tag(&name).filter(|other| *other != tag_id) {
        return Err(LoreRefusal::TagNameTaken { name, tag_id: other });
    }
    Ok(LoreEvent::TagRenamed { tag_id, name, hidden: is_hidden(state, tag_id) })
}

pub(super) fn delete_tag(state: &LoreState, tag_id: u32) -> LoreDecision {
    let tag = state.tag(tag_id).ok_or(LoreRefusal::TagNotFound { tag_id })?;
    let tagged = state.all_entities().filter(|entity| entity.tags.contains(&tag_id));
    let entity_ids = tagged.map(|entity| entity.entity_id).collect();
    Ok(LoreEvent::TagDeleted { tag_id, name: tag.name.to_string(), entity_ids, hidden: is_hidden(state, tag_id) })
}

/// Whether only game masters see an entity that has the tag.
fn is_hidden(state: &LoreState, tag_id: u32) -> bool {
    !state.entities().any(|entity| !entity.is_private && entity.tags.contains(&tag_id))
}
