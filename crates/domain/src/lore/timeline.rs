//! Written events of the timeline: when something happened, to whom, and who may know of it.

use std::sync::Arc;

use imbl::{OrdMap, OrdSet};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::command::null_removes;
use super::entity::TextRef;
use super::timeline_date::{DatePrecision, DayKey, DaySpan, SortDate};
use crate::visibility::Visibility;

#[derive(Debug, Clone, PartialEq)]
pub enum TimelineCommand {
    Add(Box<NewTimelineEvent>),
    /// Here and below: with an expected revision that is not the current one, the command is refused.
    Update {
        event_id: u64,
        expected_revision: Option<u64>,
        change: Box<TimelineEventChange>,
    },
    Remove {
        event_id: u64,
        expected_revision: Option<u64>,
    },
}

/// An event to add.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NewTimelineEvent {
    /// As the table writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort: Option<SortDate>,
    #[serde(default, skip_serializing_if = "DatePrecision::is_exact")]
    pub precision: DatePrecision,
    /// What happened: all of it, or its beginning if there is a text.
    pub description: String,
    /// The whole description, if it is long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<TextRef>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entity_ids: Vec<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(default, skip_serializing_if = "Visibility::is_table")]
    #[schemars(with = "Vec<String>")]
    pub visible_to: Visibility,
}

impl NewTimelineEvent {
    /// An event that only game masters know of.
    pub fn new(description: &str) -> Self {
        Self {
            date: None,
            sort: None,
            precision: DatePrecision::Exact,
            description: description.to_owned(),
            text: None,
            entity_ids: Vec::new(),
            session_id: None,
            visible_to: Visibility::GameMasters,
        }
    }
}

/// Changes of an event. A field that is `None` stays; where the value is optional, `Some(None)` removes it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TimelineEventChange {
    #[serde(default, deserialize_with = "null_removes", skip_serializing_if = "Option::is_none")]
    pub date: Option<Option<String>>,
    #[serde(default, deserialize_with = "null_removes", skip_serializing_if = "Option::is_none")]
    pub sort: Option<Option<SortDate>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<DatePrecision>,
    /// Changes together with the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, deserialize_with = "null_removes", skip_serializing_if = "Option::is_none")]
    pub text: Option<Option<TextRef>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity_ids: Option<Vec<u64>>,
    #[serde(default, deserialize_with = "null_removes", skip_serializing_if = "Option::is_none")]
    pub session_id: Option<Option<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<String>>")]
    pub visible_to: Option<Visibility>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineEvent {
    pub event_id: u64,
    pub date: Option<Box<str>>,
    pub sort: Option<SortDate>,
    pub precision: DatePrecision,
    /// All of it, or its beginning if there is a text.
    pub description: Box<str>,
    pub text: Option<TextRef>,
    pub entity_ids: Box<[u64]>,
    pub session_id: Option<Box<str>>,
    pub visible_to: Visibility,
    /// Counts its changes, from 1.
    pub revision: u64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl TimelineEvent {
    /// The days on which it may have happened; `None` if that is unknown.
    pub fn span(&self) -> Option<DaySpan> {
        self.sort?.span_with(self.precision)
    }

    /// Where it stands: the first day on which it may have happened. Without a date, after all others.
    pub fn order_key(&self) -> DayKey {
        self.sort.map_or(DayKey::MAX, |sort| sort.span().first)
    }

    fn bytes(&self) -> usize {
        let length = |text: &Option<Box<str>>| text.as_ref().map_or(0, |text| text.len());
        self.description.len() + length(&self.date) + length(&self.session_id) + 8 * self.entity_ids.len() + EVENT_BYTES
    }

    pub(super) fn apply_change(&mut self, change: &TimelineEventChange) {
        if let Some(date) = &change.date {
            self.date = date.as_deref().map(Into::into);
        }
        self.sort = change.sort.unwrap_or(self.sort);
        self.precision = change.precision.unwrap_or(self.precision);
        if let Some(description) = &change.description {
            self.description = description.as_str().into();
        }
        if let Some(text) = &change.text {
            self.text.clone_from(text);
        }
        if let Some(entity_ids) = &change.entity_ids {
            self.entity_ids = entity_ids.as_slice().into();
        }
        if let Some(session_id) = &change.session_id {
            self.session_id = session_id.as_deref().map(Into::into);
        }
        if let Some(visible_to) = &change.visible_to {
            self.visible_to = visible_to.clone();
        }
    }
}

/// What an event counts towards the limit of a campaign's heads, besides its texts.
const EVENT_BYTES: usize = 64;

/// All written events of a campaign. Empty, it needs no memory.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Timeline {
    pub(super) highest_id: u64,
    by_id: OrdMap<u64, Arc<TimelineEvent>>,
    // What follows is derived.
    /// Events by their days.
    order: OrdSet<(DayKey, u64)>,
    /// Pairs of an entity and an event about it.
    entities: OrdSet<(u64, u64)>,
    pub(super) bytes: usize,
}

impl Timeline {
    pub fn get(&self, event_id: u64) -> Option<&Arc<TimelineEvent>> {
        self.by_id.get(&event_id)
    }

    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// All events by the days on which they happened, those without a date last.
    pub fn in_order(&self) -> impl Iterator<Item = &Arc<TimelineEvent>> {
        self.order.iter().filter_map(|(_, event_id)| self.by_id.get(event_id))
    }

    /// The events about an entity, by id.
    pub fn of_entity(&self, entity_id: u64) -> impl Iterator<Item = &Arc<TimelineEvent>> {
        self.entities.range((entity_id, 0)..=(entity_id, u64::MAX)).filter_map(|(_, event_id)| self.by_id.get(event_id))
    }

    /// All events by id.
    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<TimelineEvent>> {
        self.by_id.values()
    }

    /// Adds or replaces one.
    pub(super) fn put(&mut self, event: TimelineEvent) {
        let event_id = event.event_id;
        self.remove(event_id);
        self.highest_id = self.highest_id.max(event_id);
        self.bytes += event.bytes();
        self.order.insert((event.order_key(), event_id));
        self.entities.extend(event.entity_ids.iter().map(|entity_id| (*entity_id, event_id)));
        self.by_id.insert(event_id, Arc::new(event));
    }

    pub(super) fn remove(&mut self, event_id: u64) {
        let Some(event) = self.by_id.remove(&event_id) else { return };
        self.bytes -= event.bytes();
        self.order.remove(&(event.order_key(), event_id));
        for entity_id in &event.entity_ids {
            self.entities.remove(&(*entity_id, event_id));
        }
    }

    /// Takes an entity that is gone out of all events.
    pub(super) fn remove_entity(&mut self, entity_id: u64) {
        self.replace_entity(entity_id, None);
    }

    pub(super) fn renumber_entity(&mut self, entity_id: u64, new_entity_id: u64) {
        self.replace_entity(entity_id, Some(new_entity_id));
    }

    fn replace_entity(&mut self, entity_id: u64, new_entity_id: Option<u64>) {
        let touched: Vec<Arc<TimelineEvent>> = self.of_entity(entity_id).cloned().collect();
        for event in touched {
            let current = |id: &u64| if *id == entity_id { new_entity_id } else { Some(*id) };
            let entity_ids = event.entity_ids.iter().filter_map(current).collect();
            self.put(TimelineEvent { entity_ids, ..TimelineEvent::clone(&event) });
        }
    }
}
