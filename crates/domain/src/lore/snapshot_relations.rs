//! Stored form of relationships and the timeline in the first part of a snapshot. Indexes are built again.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::entity::TextRef;
use super::relationship::{Relationship, Relationships, Tone};
use super::snapshot_parts::{Micros, moment};
use super::timeline::{Timeline, TimelineEvent};
use super::timeline_date::{DatePrecision, SortDate};
use crate::visibility::Visibility;

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct StoredRelationships {
    highest_id: u64,
    all: Vec<StoredRelationship>,
}

/// Ids of the relationship, its source and target, both words, and the rest.
#[derive(Debug, Serialize, Deserialize)]
struct StoredRelationship(u64, u64, u64, Arc<str>, Arc<str>, Tone, Option<u8>, Box<str>, Visibility, StoredChanges);

/// A revision and two moments.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct StoredChanges(u64, Micros, Micros);

impl StoredChanges {
    fn new(revision: u64, created_at: Timestamp, updated_at: Timestamp) -> Self {
        Self(revision, created_at.as_microsecond(), updated_at.as_microsecond())
    }
}

impl StoredRelationships {
    pub(super) fn is_unused(&self) -> bool {
        self.highest_id == 0
    }

    pub(super) fn new(relationships: &Relationships) -> Self {
        let stored = |one: &Arc<Relationship>| {
            let changes = StoredChanges::new(one.revision, one.created_at, one.updated_at);
            let (relation, inverse) = (one.relation.clone(), one.inverse.clone());
            let (description, visible_to) = (one.description.clone(), one.visible_to.clone());
            let ids = (one.relationship_id, one.source_id, one.target_id);
            let (tone, strength) = (one.tone, one.strength);
            StoredRelationship(ids.0, ids.1, ids.2, relation, inverse, tone, strength, description, visible_to, changes)
        };
        Self { highest_id: relationships.highest_id, all: relationships.all().map(stored).collect() }
    }

    /// `None` if a moment is out of range.
    pub(super) fn into_relationships(self) -> Option<Relationships> {
        let mut relationships = Relationships::default();
        for stored in self.all {
            let StoredRelationship(
                relationship_id,
                source_id,
                target_id,
                relation,
                inverse,
                tone,
                strength,
                description,
                visible_to,
                StoredChanges(revision, created, updated),
            ) = stored;
            relationships.put(Relationship {
                relationship_id,
                source_id,
                target_id,
                relation: relationships.shared_word(&relation),
                inverse: relationships.shared_word(&inverse),
                tone,
                strength,
                description,
                visible_to,
                revision,
                created_at: moment(created)?,
                updated_at: moment(updated)?,
            });
        }
        relationships.highest_id = self.highest_id;
        Some(relationships)
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct StoredTimeline {
    highest_id: u64,
    all: Vec<StoredEvent>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredEvent {
    id: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    date: Option<Box<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sort: Option<SortDate>,
    #[serde(default, skip_serializing_if = "DatePrecision::is_exact")]
    precision: DatePrecision,
    description: Box<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<TextRef>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    entities: Box<[u64]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<Box<str>>,
    #[serde(default, skip_serializing_if = "Visibility::is_table")]
    visible_to: Visibility,
    changes: StoredChanges,
}

impl StoredTimeline {
    pub(super) fn is_unused(&self) -> bool {
        self.highest_id == 0
    }

    pub(super) fn new(timeline: &Timeline) -> Self {
        let stored = |event: &Arc<TimelineEvent>| StoredEvent {
            id: event.event_id,
            date: event.date.clone(),
            sort: event.sort,
            precision: event.precision,
            description: event.description.clone(),
            text: event.text.clone(),
            entities: event.entity_ids.clone(),
            session: event.session_id.clone(),
            visible_to: event.visible_to.clone(),
            changes: StoredChanges::new(event.revision, event.created_at, event.updated_at),
        };
        Self { highest_id: timeline.highest_id, all: timeline.all().map(stored).collect() }
    }

    /// `None` if a moment is out of range.
    pub(super) fn into_timeline(self) -> Option<Timeline> {
        let mut timeline = Timeline::default();
        for event in self.all {
            let StoredChanges(revision, created, updated) = event.changes;
            timeline.put(TimelineEvent {
                event_id: event.id,
                date: event.date,
                sort: event.sort,
                precision: event.precision,
                description: event.description,
                text: event.text,
                entity_ids: event.entities,
                session_id: event.session,
                visible_to: event.visible_to,
                revision,
                created_at: moment(created)?,
                updated_at: moment(updated)?,
            });
        }
        timeline.highest_id = self.highest_id;
        Some(timeline)
    }
}
