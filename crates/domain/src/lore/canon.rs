//! Canon: which values of an entity are authoritative, the changes that were held against them, and what became of them.
//!
//! An entity without a mark is a draft and costs nothing. A conflict holds the event that would have happened.

use std::borrow::Cow;
use std::fmt;

use imbl::{OrdMap, OrdSet};
use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::command::EntityChange;
use super::entity::{Entity, TextKey};
use super::event::LoreEvent;
use super::state::LoreState;
use super::timeline_date::SortDate;
use crate::case_insensitive_enum::case_insensitive_enum;
use crate::gate::ActingRole;

/// How far an entity or a value is established.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Confidence {
    /// Anybody who writes the lore may change it.
    #[default]
    Draft,
    /// A change is held as a conflict until a person decides.
    Authoritative,
    /// Kept, but no longer found.
    Superseded,
}

case_insensitive_enum!(Confidence {
    Draft = "DRAFT",
    Authoritative = "AUTHORITATIVE",
    Superseded = "SUPERSEDED",
});

/// A field of an entity that can be authoritative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CanonField {
    Name,
    Type,
    Entry,
    Aliases,
    Parent,
    Date,
    Posts,
}

case_insensitive_enum!(CanonField {
    Name = "name",
    Type = "type",
    Entry = "entry",
    Aliases = "aliases",
    Parent = "parent",
    Date = "date",
    Posts = "posts",
});

impl CanonField {
    pub const ALL: [Self; 7] =
        [Self::Name, Self::Type, Self::Entry, Self::Aliases, Self::Parent, Self::Date, Self::Posts];
}

/// A set of fields, one bit for each; stored as a list of words.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct CanonFields(u8);

impl CanonFields {
    pub fn all() -> Self {
        CanonField::ALL.into_iter().collect()
    }

    pub fn contains(self, field: CanonField) -> bool {
        self.0 & (1 << field as u8) != 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(super) fn has_none(&self) -> bool {
        self.is_empty()
    }

    pub fn iter(self) -> impl Iterator<Item = CanonField> {
        CanonField::ALL.into_iter().filter(move |field| self.contains(*field))
    }

    /// The words of the fields, in order.
    pub fn field_names(self) -> Vec<&'static str> {
        self.iter().map(CanonField::as_str).collect()
    }

    pub(super) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The fields that a change of an entity is about.
    pub(super) fn of_change(change: &EntityChange) -> Self {
        let fields = [
            (CanonField::Name, change.name.is_some()),
            (CanonField::Type, change.subtype.is_some()),
            (CanonField::Entry, change.text.is_some()),
            (CanonField::Aliases, change.aliases.is_some()),
            (CanonField::Parent, change.parent.is_some()),
            (CanonField::Date, change.date.is_some()),
        ];
        fields.into_iter().filter(|(_, is_changed)| *is_changed).map(|(field, _)| field).collect()
    }
}

impl FromIterator<CanonField> for CanonFields {
    fn from_iter<I: IntoIterator<Item = CanonField>>(fields: I) -> Self {
        Self(fields.into_iter().fold(0, |bits, field| bits | (1 << field as u8)))
    }
}

impl fmt::Debug for CanonFields {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.iter()).finish()
    }
}

impl Serialize for CanonFields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for CanonFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<CanonField>::deserialize(deserializer).map(|fields| fields.into_iter().collect())
    }
}

impl JsonSchema for CanonFields {
    fn schema_name() -> Cow<'static, str> {
        "CanonFields".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "array", "items": { "type": "string", "enum": CanonField::WORDS } })
    }
}

/// The mark of an entity that is not a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CanonMark {
    pub confidence: Confidence,
    /// The fields whose values are authoritative.
    #[serde(default, skip_serializing_if = "CanonFields::has_none")]
    pub fields: CanonFields,
}

impl CanonMark {
    pub(super) const DRAFT: Self = Self { confidence: Confidence::Draft, fields: CanonFields(0) };
}

impl Entity {
    /// How far the entity is established, and which of its fields are authoritative.
    pub fn canon_mark(&self) -> CanonMark {
        self.details().canon.unwrap_or(CanonMark::DRAFT)
    }

    pub fn is_superseded(&self) -> bool {
        self.canon_mark().confidence == Confidence::Superseded
    }
}

/// How far a conflict or a finding has been dealt with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ConflictStatus {
    #[default]
    Detected,
    Acknowledged,
    Resolved,
}

case_insensitive_enum!(ConflictStatus {
    Detected = "DETECTED",
    Acknowledged = "ACKNOWLEDGED",
    Resolved = "RESOLVED",
});

/// Which value a resolution chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ConflictChoice {
    /// What is stored stays.
    Current,
    /// What was held is done.
    Proposed,
    /// Neither: a value that the person gave.
    Value,
}

case_insensitive_enum!(ConflictChoice { Current = "current", Proposed = "proposed", Value = "value" });

/// One step of a conflict: who dealt with it, when and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConflictLogRow {
    /// The status from then on.
    pub status: ConflictStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<ConflictChoice>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    pub by: String,
    pub at: Timestamp,
}

/// A change that was held, since it contradicts an authoritative value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflict {
    pub id: u64,
    pub entity_id: u64,
    /// The authoritative fields that it would have changed.
    pub fields: CanonFields,
    /// What would have happened.
    pub proposed: Box<LoreEvent>,
    /// The operation that proposed it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    pub by: String,
    pub at: Timestamp,
    /// The text that a proposed text was made from, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_before: Option<TextKey>,
    /// Everything that was decided about it, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<ConflictLogRow>,
    /// What its resolution did, if it is resolved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Box<ConflictOutcome>>,
}

/// What a resolution changed, and how to change it back. The values to go back to are the superseded ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConflictOutcome {
    pub steps: Vec<LoreEvent>,
    pub undo: Vec<LoreEvent>,
}

impl Conflict {
    pub fn status(&self) -> ConflictStatus {
        self.log.last().map_or(ConflictStatus::Detected, |row| row.status)
    }

    pub fn is_open(&self) -> bool {
        self.status() != ConflictStatus::Resolved
    }

    /// What the last resolution chose, if it is resolved.
    pub fn choice(&self) -> Option<ConflictChoice> {
        self.log.last()?.choice
    }

    /// Keys of the texts that it needs: the proposed one, and those of its outcome.
    pub fn text_keys(&self) -> impl Iterator<Item = TextKey> {
        let outcome = self.outcome.iter().flat_map(|outcome| outcome.steps.iter().chain(&outcome.undo));
        [&*self.proposed].into_iter().chain(outcome).flat_map(LoreEvent::all_texts).map(|text| text.key)
    }
}

/// What a game master said of something that a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingReview {
    pub status: ConflictStatus,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    pub by: String,
    pub at: Timestamp,
}

/// Conflicts and reviews of a campaign's lore.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct CanonState {
    pub(super) highest_conflict_id: u64,
    pub(super) conflicts: OrdMap<u64, Box<Conflict>>,
    /// By the id of the finding.
    pub(super) reviews: OrdMap<String, FindingReview>,
    /// When entities died, by their ids.
    pub(super) deaths: OrdMap<u64, SortDate>,
    // What follows is derived; a snapshot leaves it out.
    /// Open conflicts, each after its entity.
    pub(super) open: OrdSet<(u64, u64)>,
}

impl CanonState {
    pub(super) fn put_conflict(&mut self, conflict: Conflict) {
        self.remove_conflict(conflict.id);
        if conflict.is_open() {
            self.open.insert((conflict.entity_id, conflict.id));
        }
        self.conflicts.insert(conflict.id, Box::new(conflict));
    }

    pub(super) fn remove_conflict(&mut self, conflict_id: u64) {
        if let Some(conflict) = self.conflicts.remove(&conflict_id) {
            self.open.remove(&(conflict.entity_id, conflict.id));
        }
    }

    pub(super) fn open_of(&self, entity_id: u64) -> impl Iterator<Item = &Conflict> {
        let ids = self.open.range((entity_id, 0)..=(entity_id, u64::MAX));
        ids.filter_map(|(_, conflict_id)| self.conflicts.get(conflict_id).map(|conflict| &**conflict))
    }
}

impl LoreState {
    /// The conflict of this id.
    pub fn conflict(&self, conflict_id: u64) -> Option<&Conflict> {
        self.canon.conflicts.get(&conflict_id).map(|conflict| &**conflict)
    }

    /// All conflicts, the newest first. Of resolved ones the newest are kept.
    pub fn conflicts(&self) -> impl Iterator<Item = &Conflict> {
        self.canon.conflicts.values().rev().map(|conflict| &**conflict)
    }

    /// Conflicts of an entity that are not resolved, the oldest first.
    pub fn open_conflicts_of(&self, entity_id: u64) -> impl Iterator<Item = &Conflict> {
        self.canon.open_of(self.current_id(entity_id))
    }

    pub fn open_conflict_count(&self) -> usize {
        self.canon.open.len()
    }

    /// When an entity died, as far as it was said.
    pub fn death_date(&self, entity_id: u64) -> Option<SortDate> {
        self.canon.deaths.get(&self.current_id(entity_id)).copied()
    }

    /// What was said of a finding.
    pub fn finding_review(&self, finding_id: &str) -> Option<&FindingReview> {
        self.canon.reviews.get(finding_id)
    }
}

/// A command about canon.
#[derive(Debug, Clone, PartialEq)]
pub enum CanonCommand {
    /// Says how far an entity is established. Only a person takes back what is authoritative.
    Mark {
        entity_id: u64,
        confidence: Confidence,
        /// The fields that become authoritative, or drafts; none stands for all.
        fields: CanonFields,
        reason: String,
        acting: ActingRole,
    },
    /// Says when an entity died, or takes that back. Of an entity with authoritative values, only a person says it.
    RecordDeath { entity_id: u64, date: Option<SortDate>, acting: ActingRole },
    /// Says that a conflict was seen.
    Acknowledge { conflict_id: u64, reason: String },
    /// Decides a conflict. A person does.
    Resolve {
        conflict_id: u64,
        choice: ConflictChoice,
        /// The value, if the choice is one.
        change: Option<Box<EntityChange>>,
        reason: String,
        acting: ActingRole,
    },
    /// Takes a resolution back. A person does.
    Reopen { conflict_id: u64, reason: String, acting: ActingRole },
    /// Says what is to be thought of a finding. A person says that it is resolved, or takes that back.
    Review { finding_id: String, status: ConflictStatus, reason: String, acting: ActingRole },
}
