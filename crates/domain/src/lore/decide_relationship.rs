//! Decides commands about relationships: both ends are there, the type has an inverse, and nothing is said twice.

use std::sync::Arc;

use super::check_fields::check_description;
use super::decide::{LoreDecision, check_head_bytes, check_revision};
use super::event::LoreEvent;
use super::refusal::LoreRefusal;
use super::relationship::{NewRelationship, Relationship, RelationshipChange, RelationshipCommand};
use super::relationship_types::relation_word;
use super::state::LoreState;
use crate::limits;
use crate::visibility::Visibility;

pub(super) fn decide_relationship(state: &LoreState, command: &RelationshipCommand) -> LoreDecision {
    match command {
        RelationshipCommand::Add(new) => add(state, new),
        RelationshipCommand::Update { relationship_id, expected_revision, change } => {
            let relationship = require_relationship(state, *relationship_id)?;
            check_revision(*expected_revision, relationship.revision)?;
            update(state, relationship, change)
        }
        RelationshipCommand::Remove { relationship_id, expected_revision } => {
            let relationship = require_relationship(state, *relationship_id)?;
            check_revision(*expected_revision, relationship.revision)?;
            let hidden = is_hidden(state, relationship, &relationship.visible_to);
            Ok(LoreEvent::RelationshipRemoved {
                relationship_id: *relationship_id,
                entity_ids: relationship.ends(),
                was_visible_to: relationship.visible_to.clone(),
                hidden,
            })
        }
    }
}

fn add(state: &LoreState, new: &NewRelationship) -> LoreDecision {
    let source = state.require_entity("entity_id", new.source_id)?;
    let target = state.require_entity("target_id", new.target_id)?;
    let (source_id, target_id) = (source.entity_id, target.entity_id);
    if source_id == target_id {
        return Err(LoreRefusal::SelfRelationship { entity_id: source_id });
    }
    let (relation, inverse) = relation_and_inverse(state, &new.relation, new.inverse.as_deref())?;
    if let Some(relationship_id) = state.relationships.find_same(source_id, target_id, &relation, &inverse) {
        return Err(LoreRefusal::RelationshipExists { relationship_id });
    }
    check_strength(new.strength)?;
    let description = check_description(&new.description, limits::RELATIONSHIP_DESCRIPTION_CHARS_MAX)?;
    check_visible_to(&new.visible_to)?;
    let count_max = limits::LORE_RELATIONSHIPS_MAX;
    if state.relationships.len() >= count_max {
        return Err(LoreRefusal::TooMany { things: "relationships", count_max });
    }
    check_head_bytes(state, 0, description.len())?;
    let hidden = source.is_private || target.is_private || !new.visible_to.is_table();
    let relationship = NewRelationship {
        source_id,
        target_id,
        relation: relation.to_string(),
        inverse: Some(inverse.to_string()),
        description,
        ..new.clone()
    };
    let relationship_id = state.relationships.highest_id + 1;
    Ok(LoreEvent::RelationshipAdded { relationship_id, relationship: Box::new(relationship), hidden })
}

/// The words of a type from both ends. A type that is neither well known nor in use needs its inverse.
fn relation_and_inverse(
    state: &LoreState,
    relation: &str,
    inverse: Option<&str>,
) -> Result<(Arc<str>, Arc<str>), LoreRefusal> {
    let word = check_word("type", relation)?;
    let given = inverse.map(|inverse| check_word("inverse", inverse)).transpose()?;
    let differs = |relation: &str, known: &str| LoreRefusal::InverseDiffers {
        relation: relation.to_owned(),
        known: known.to_owned(),
    };
    if let Some((relation, known)) = state.relationships.find_type(&word) {
        // The inverse may be given by another word for it.
        let same = |given: &String| {
            let spelled = state.relationships.find_type(given).map_or_else(|| given.as_str().into(), |(word, _)| word);
            spelled == known
        };
        return match given.as_ref().filter(|given| !same(given)) {
            Some(_) => Err(differs(&relation, &known)),
            None => Ok((relation, known)),
        };
    }
    let Some(inverse) = given else { return Err(LoreRefusal::InverseMissing { relation: word }) };
    if let Some((inverse, known)) = state.relationships.find_type(&inverse) {
        return Err(differs(&inverse, &known));
    }
    Ok((word.into(), inverse.into()))
}

fn check_word(field: &'static str, text: &str) -> Result<String, LoreRefusal> {
    let (chars, chars_max) = (text.trim().chars().count(), limits::RELATION_CHARS_MAX);
    if chars > chars_max {
        return Err(LoreRefusal::TooLong { field, chars, chars_max });
    }
    relation_word(text).ok_or_else(|| LoreRefusal::RelationMalformed { field, word: text.to_owned() })
}

fn check_strength(strength: Option<u8>) -> Result<(), LoreRefusal> {
    match strength {
        Some(strength) if !(1..=limits::RELATIONSHIP_STRENGTH_MAX).contains(&strength) => {
            Err(LoreRefusal::StrengthOutOfRange { strength })
        }
        _ => Ok(()),
    }
}

pub(super) fn check_visible_to(visible_to: &Visibility) -> Result<(), LoreRefusal> {
    let Visibility::People(ids) = visible_to else { return Ok(()) };
    let (count, count_max) = (ids.len(), limits::VISIBLE_TO_MAX);
    if count > count_max {
        return Err(LoreRefusal::TooManyOnOne { things: "people who see it", field: "visible_to", count, count_max });
    }
    Ok(())
}

fn update(state: &LoreState, relationship: &Relationship, change: &RelationshipChange) -> LoreDecision {
    check_strength(change.strength)?;
    let chars_max = limits::RELATIONSHIP_DESCRIPTION_CHARS_MAX;
    let description = change.description.as_ref().map(|text| check_description(text, chars_max)).transpose()?;
    if let Some(visible_to) = &change.visible_to {
        check_visible_to(visible_to)?;
    }
    let visible_to = change.visible_to.clone().filter(|visible_to| *visible_to != relationship.visible_to);
    let change = RelationshipChange {
        tone: change.tone.filter(|tone| *tone != relationship.tone),
        strength: change.strength.filter(|strength| Some(*strength) != relationship.strength),
        description: description.filter(|description| **description != *relationship.description),
        visible_to,
    };
    if change == RelationshipChange::default() {
        return Err(LoreRefusal::Unchanged);
    }
    if let Some(description) = &change.description {
        check_head_bytes(state, relationship.description.len(), description.len())?;
    }
    let after = change.visible_to.as_ref().unwrap_or(&relationship.visible_to);
    let hidden = is_hidden(state, relationship, &relationship.visible_to) && is_hidden(state, relationship, after);
    Ok(LoreEvent::RelationshipUpdated {
        relationship_id: relationship.relationship_id,
        change: Box::new(change),
        entity_ids: relationship.ends(),
        was_visible_to: relationship.visible_to.clone(),
        hidden,
    })
}

/// Whether not everybody sees a relationship: it or one of its ends is for some alone.
pub(super) fn is_hidden(state: &LoreState, relationship: &Relationship, visible_to: &Visibility) -> bool {
    let is_private = |id| state.entity(id).is_none_or(|entity| entity.is_private || entity.is_archived());
    !visible_to.is_table() || is_private(relationship.source_id) || is_private(relationship.target_id)
}

fn require_relationship(state: &LoreState, relationship_id: u64) -> Result<&Arc<Relationship>, LoreRefusal> {
    state.relationships.get(relationship_id).ok_or(LoreRefusal::RelationshipNotFound { relationship_id })
}
