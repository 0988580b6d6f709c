//! Decides commands about the timeline: what it links to is there, and its texts fit.

use std::sync::Arc;

use super::check_fields::{check_description, check_optional, check_text};
use super::decide::{LoreDecision, check_head_bytes, check_revision};
use super::decide_relationship::check_visible_to;
use super::event::LoreEvent;
use super::refusal::LoreRefusal;
use super::state::LoreState;
use super::timeline::{NewTimelineEvent, TimelineCommand, TimelineEvent, TimelineEventChange};
use super::timeline_date::DatePrecision;
use crate::limits;

pub(super) fn decide_timeline(state: &LoreState, command: &TimelineCommand) -> LoreDecision {
    match command {
        TimelineCommand::Add(new) => add(state, new),
        TimelineCommand::Update { event_id, expected_revision, change } => {
            let event = require_event(state, *event_id)?;
            check_revision(*expected_revision, event.revision)?;
            update(state, event, change)
        }
        TimelineCommand::Remove { event_id, expected_revision } => {
            let event = require_event(state, *event_id)?;
            check_revision(*expected_revision, event.revision)?;
            Ok(LoreEvent::TimelineEventRemoved {
                event_id: *event_id,
                text_key: event.text.as_ref().map(|text| text.key),
                was_visible_to: event.visible_to.clone(),
                hidden: !event.visible_to.is_table(),
            })
        }
    }
}

fn add(state: &LoreState, new: &NewTimelineEvent) -> LoreDecision {
    let date = check_optional("date", new.date.as_ref(), limits::NAME_CHARS_MAX)?;
    let description = check_timeline_description(&new.description)?;
    let text = new.text.as_ref().map(check_text).transpose()?;
    let entity_ids = check_entity_ids(state, &new.entity_ids)?;
    let session_id = check_optional("session_id", new.session_id.as_ref(), limits::ID_CHARS_MAX)?;
    check_visible_to(&new.visible_to)?;
    let count_max = limits::LORE_TIMELINE_EVENTS_MAX;
    if state.timeline.len() >= count_max {
        return Err(LoreRefusal::TooMany { things: "timeline events", count_max });
    }
    check_head_bytes(state, 0, description.len() + date.as_ref().map_or(0, String::len))?;
    let is_dated = date.is_some() || new.sort.is_some();
    let precision = if is_dated { new.precision } else { DatePrecision::Unknown };
    let hidden = !new.visible_to.is_table();
    let event = NewTimelineEvent { date, precision, description, text, entity_ids, session_id, ..new.clone() };
    let event_id = state.timeline.highest_id + 1;
    Ok(LoreEvent::TimelineEventAdded { event_id, event: Box::new(event), hidden })
}

fn update(state: &LoreState, event: &TimelineEvent, change: &TimelineEventChange) -> LoreDecision {
    let optional = |field, given: Option<&Option<String>>, known: Option<&str>, chars_max| {
        let checked = given.map(|text| check_optional(field, text.as_ref(), chars_max)).transpose()?;
        Ok(checked.filter(|text| text.as_deref() != known))
    };
    let description = change.description.as_deref().map(check_timeline_description).transpose()?;
    let text = change.text.as_ref().map(|text| text.as_ref().map(check_text).transpose()).transpose()?;
    let entity_ids = change.entity_ids.as_ref().map(|ids| check_entity_ids(state, ids)).transpose()?;
    if let Some(visible_to) = &change.visible_to {
        check_visible_to(visible_to)?;
    }
    let session_id = change.session_id.as_ref();
    let change = TimelineEventChange {
        date: optional("date", change.date.as_ref(), event.date.as_deref(), limits::NAME_CHARS_MAX)?,
        sort: change.sort.filter(|sort| *sort != event.sort),
        precision: change.precision.filter(|precision| *precision != event.precision),
        description: description.filter(|description| **description != *event.description),
        text: text.filter(|text| *text != event.text),
        entity_ids: entity_ids.filter(|ids| **ids != *event.entity_ids),
        session_id: optional("session_id", session_id, event.session_id.as_deref(), limits::ID_CHARS_MAX)?,
        visible_to: change.visible_to.clone().filter(|visible_to| *visible_to != event.visible_to),
    };
    if change == TimelineEventChange::default() {
        return Err(LoreRefusal::Unchanged);
    }
    let mut after = event.clone();
    after.apply_change(&change);
    check_head_bytes(state, event.description.len(), after.description.len())?;
    let replaced = event.text.as_ref().filter(|_| change.text.is_some()).map(|text| text.key);
    // A link to a private entity changes nothing for those who do not see it.
    let is_hidden_link = TimelineEventChange { entity_ids: None, ..change.clone() } == TimelineEventChange::default()
        && public_ids(state, &event.entity_ids) == public_ids(state, &after.entity_ids);
    let hidden = is_hidden_link || (!event.visible_to.is_table() && !after.visible_to.is_table());
    Ok(LoreEvent::TimelineEventUpdated {
        event_id: event.event_id,
        change: Box::new(change),
        replaced_text_key: replaced,
        was_visible_to: event.visible_to.clone(),
        hidden,
    })
}

fn public_ids<'a>(state: &LoreState, entity_ids: &'a [u64]) -> Vec<&'a u64> {
    let is_public = |id: &u64| state.entity(*id).is_some_and(|entity| !entity.is_private && !entity.is_archived());
    entity_ids.iter().filter(|id| is_public(id)).collect()
}

fn check_timeline_description(description: &str) -> Result<String, LoreRefusal> {
    let description = check_description(description, limits::TIMELINE_SUMMARY_CHARS_MAX)?;
    if description.is_empty() { Err(LoreRefusal::Empty { field: "description" }) } else { Ok(description) }
}

/// The current ids of entities that are there, each once, in the given order.
fn check_entity_ids(state: &LoreState, entity_ids: &[u64]) -> Result<Vec<u64>, LoreRefusal> {
    let (count, count_max) = (entity_ids.len(), limits::TIMELINE_ENTITIES_MAX);
    if count > count_max {
        return Err(LoreRefusal::TooManyOnOne { things: "linked entities", field: "entity_ids", count, count_max });
    }
    let mut checked = Vec::with_capacity(count);
    for entity_id in entity_ids {
        let entity_id = state.require_entity("entity_ids", *entity_id)?.entity_id;
        if !checked.contains(&entity_id) {
            checked.push(entity_id);
        }
    }
    Ok(checked)
}

fn require_event(state: &LoreState, event_id: u64) -> Result<&Arc<TimelineEvent>, LoreRefusal> {
    state.timeline.get(event_id).ok_or(LoreRefusal::TimelineEventNotFound { event_id })
}
