//! Rows of the timeline: what was written and what the journal recorded, in one order.
//!
//! Written events stand on their days. What was recorded stands on the first day that was written for its session, or
//! after all days, in the order of play.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use skald_domain::Moment;
use skald_domain::lore::{DatePrecision, DayKey, DaySpan, LoreState, SortDate, TimelineEvent};
use skald_domain::visibility::Visibility;

use super::access::EnteredLore;
use super::relationship_rows::LinkedEntity;
use super::visible_to::shown_visibility;
use crate::campaign::RecordedEvent;

/// An event: one that was written has an id, one that was recorded has a kind and a moment.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(extend("x-brief" = true))]
pub(super) struct TimelineRow {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// Such as roll or session.started, for what was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// As the table writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sort: Option<SortDate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<DatePrecision>,
    /// When it was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Moment>,
    pub description: String,
    /// The description goes on; ask for it by `event_id`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<LinkedEntity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Whether the whole table may know it, for game masters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_player_known: Option<bool>,
    /// For game masters; left out if the whole table sees it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visible_to: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
}

impl TimelineRow {
    /// A written event. Entities that `is_visible` rejects are left out.
    pub(super) fn written(
        state: &LoreState,
        event: &TimelineEvent,
        sees_private: bool,
        is_visible: impl Fn(u64) -> bool,
    ) -> Self {
        let entities = event.entity_ids.iter().filter(|id| is_visible(**id));
        Self {
            id: Some(event.event_id),
            kind: None,
            date: event.date.as_ref().map(ToString::to_string),
            sort: event.sort,
            precision: Some(event.precision),
            at: None,
            description: event.description.to_string(),
            truncated: event.text.is_some(),
            entities: entities.map(|id| LinkedEntity::new(state, *id)).collect(),
            session_id: event.session_id.as_ref().map(ToString::to_string),
            is_player_known: sees_private.then_some(event.visible_to == Visibility::Table),
            visible_to: shown_visibility(&event.visible_to, sees_private),
            // The revision counts changes that players may not see.
            revision: sees_private.then_some(event.revision),
        }
    }

    fn recorded(event: RecordedEvent, entity: Option<LinkedEntity>) -> Self {
        Self {
            id: None,
            kind: Some(event.kind),
            date: None,
            sort: None,
            precision: None,
            at: Some(Moment::from(event.at)),
            description: event.description,
            truncated: false,
            entities: entity.into_iter().collect(),
            session_id: event.session_id,
            is_player_known: None,
            visible_to: None,
            revision: None,
        }
    }
}

/// The sort key of a row: its day, then its moment, then its serial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RowPlace {
    day: DayKey,
    micros: i64,
    /// The id of a written event; recorded ones follow.
    serial: u64,
}

impl RowPlace {
    pub(super) fn encode(self) -> String {
        format!("{}.{}.{}", self.day, self.micros, self.serial)
    }

    pub(super) fn decode(cursor: &str) -> Option<Self> {
        let mut parts = cursor.split('.');
        let place = Self {
            day: parts.next()?.parse().ok()?,
            micros: parts.next()?.parse().ok()?,
            serial: parts.next()?.parse().ok()?,
        };
        parts.next().is_none().then_some(place)
    }
}

/// What the rows of a query must fit.
#[derive(Debug, Default)]
pub(super) struct TimelineFilter {
    pub span: Option<DaySpan>,
    /// About all of these.
    pub entity_ids: Vec<u64>,
    pub session_id: Option<String>,
}

impl EnteredLore {
    /// The written events that fit and that the caller may see.
    pub(super) fn written_rows(&self, filter: &TimelineFilter) -> Vec<(RowPlace, TimelineRow)> {
        let timeline = self.state().timeline();
        let fits = |event: &TimelineEvent| {
            filter.entity_ids.iter().all(|id| event.entity_ids.contains(id))
                && filter.session_id.as_deref().is_none_or(|id| event.session_id.as_deref() == Some(id))
                && filter.span.is_none_or(|span| event.span().is_some_and(|days| days.overlaps(span)))
                && self.redaction.is_visible(event)
        };
        let row = |event: &TimelineEvent| {
            let micros = event.created_at.as_microsecond();
            let place = RowPlace { day: event.order_key(), micros, serial: event.event_id };
            (place, self.timeline_row(event))
        };
        match filter.entity_ids.first() {
            Some(first) => timeline.of_entity(*first).filter(|event| fits(event)).map(|event| row(event)).collect(),
            None => timeline.in_order().filter(|event| fits(event)).map(|event| row(event)).collect(),
        }
    }

    pub(super) fn timeline_row(&self, event: &TimelineEvent) -> TimelineRow {
        TimelineRow::written(self.state(), event, self.sees_private, |id| self.visible_entity(id).is_some())
    }

    /// Recorded events on the days of their sessions. A roll for an actor is about the entity that the actor is linked to.
    pub(super) fn recorded_rows(
        &self,
        events: Vec<RecordedEvent>,
        filter: &TimelineFilter,
    ) -> Vec<(RowPlace, TimelineRow)> {
        let days = self.session_days();
        let day_of = |event: &RecordedEvent| event.session_id.as_deref().and_then(|id| days.get(id)).copied();
        let entity_of = |event: &RecordedEvent| event.actor_id.as_deref().and_then(|id| self.entity_of_actor(id));
        let fits = |event: &RecordedEvent| {
            (filter.entity_ids.is_empty()
                || entity_of(event).is_some_and(|own| filter.entity_ids.iter().all(|id| *id == own)))
                && (filter.session_id.is_none() || filter.session_id == event.session_id)
                && filter.span.is_none_or(|span| {
                    day_of(event).is_some_and(|day| span.overlaps(DaySpan { first: day, last: day }))
                })
        };
        let events = events.into_iter().filter(fits).enumerate();
        let rows = events.map(|(number, event)| {
            let serial = RECORDED_SERIALS + u64::try_from(number).unwrap_or_default();
            let day = day_of(&event).unwrap_or(DayKey::MAX);
            let place = RowPlace { day, micros: micros(event.at), serial };
            let entity = entity_of(&event).map(|id| LinkedEntity::new(self.state(), id));
            (place, TimelineRow::recorded(event, entity))
        });
        rows.collect()
    }

    /// The first day that was written for each session, as far as the caller sees it.
    fn session_days(&self) -> BTreeMap<&str, DayKey> {
        let mut days = BTreeMap::new();
        for event in self.state().timeline().in_order() {
            if let (Some(session_id), Some(_)) = (&event.session_id, event.sort)
                && self.redaction.is_visible(&**event)
            {
                days.entry(&**session_id).or_insert(event.order_key());
            }
        }
        days
    }
}

/// Serials of recorded events are above the ids of written ones.
const RECORDED_SERIALS: u64 = 1 << 40;

fn micros(at: Timestamp) -> i64 {
    at.as_microsecond()
}
