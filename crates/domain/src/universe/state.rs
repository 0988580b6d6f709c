//! The state of a universe: its identity, its content and its time, and states as clients send them.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::apply_command;
use super::check_bounds::{Check, FieldMisfit, Reason};
use super::check_links;
use super::command::Command;
use super::number::Number;
use super::repair::{self, Repair};
use super::snapshot::{Snapshot, StateParts};
use super::units;

/// The content of a universe and its time: nine keys on the wire. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UniverseState {
    pub(super) snapshot: Snapshot,
    pub(super) time: Number,
}

/// A state as a client sends it. If the time is left out, it does not change.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SentState {
    snapshot: Snapshot,
    time: Option<Number>,
}

/// The schema of what a client sends as a state.
static SCHEMA: LazyLock<Value> = LazyLock::new(|| schemars::schema_for!(StateParts).to_value());

impl SentState {
    /// The sent state with the periods of its bodies converted to speeds.
    pub fn convert_units(sent: &Value) -> Result<Cow<'_, Value>, FieldMisfit> {
        units::convert_state(sent)
    }

    /// Parses a sent state and returns it with its repairs, or the first fault. Bounds are checked when it is used.
    pub fn read(sent: &Value) -> Result<(Self, Vec<Repair>), FieldMisfit> {
        let sent = Self::convert_units(sent)?;
        let (sent, mut repairs) = repair::clean_names(&sent, &SCHEMA);
        let misfit = match Self::read_strict(&sent) {
            Ok(state) => return Ok((state, repairs)),
            Err(misfit) => misfit,
        };
        let (repaired, others) = Self::repair(&sent);
        if others.is_empty() {
            return Err(misfit);
        }
        repairs.extend(others);
        Ok((Self::read_strict(&repaired)?, repairs))
    }

    /// The sent state, repaired as far as possible, and the repairs.
    pub fn repair(sent: &Value) -> (Value, Vec<Repair>) {
        repair::repair_state(sent, &SCHEMA)
    }

    fn read_strict(sent: &Value) -> Result<Self, FieldMisfit> {
        let parts =
            StateParts::deserialize(sent).map_err(|error| FieldMisfit::new(Reason::Unreadable, error.to_string()))?;
        let time = sent.get("time").map(|_| parts.time);
        Ok(Self { snapshot: parts.into_snapshot()?, time })
    }

    /// The state, with the time `now` if none was sent.
    pub(super) fn to_state(&self, now: Number) -> UniverseState {
        UniverseState { snapshot: self.snapshot.clone(), time: self.time.unwrap_or(now) }
    }
}

impl From<UniverseState> for SentState {
    fn from(state: UniverseState) -> Self {
        Self { snapshot: state.snapshot, time: Some(state.time) }
    }
}

impl UniverseState {
    /// The state after more commands. Those that cannot be applied change nothing.
    #[must_use]
    pub fn after_commands<'a>(&self, commands: impl IntoIterator<Item = &'a Command>) -> Self {
        let mut state = self.clone();
        for command in commands {
            apply_command::apply(&mut state, command);
        }
        state
    }

    /// All but the time.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The fields between the bodies, which come first, and the time, which comes last: for a caller that has
    /// serialised the bodies already.
    pub fn without_bodies_and_time(&self) -> StateWithoutBodiesAndTime<'_> {
        StateWithoutBodiesAndTime(self)
    }

    /// The time, for serialisation.
    pub fn serializable_time(&self) -> &impl Serialize {
        &self.time
    }

    /// In simulated seconds.
    pub fn time(&self) -> f64 {
        self.time.0
    }
}

impl UniverseState {
    /// Checks bounds and counts, except the ranges of numbers.
    pub(super) fn check(&self) -> Result<(), FieldMisfit> {
        self.time.check().map_err(|misfit| misfit.in_field("time"))?;
        self.snapshot.check()
    }
}

impl Serialize for UniverseState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("UniverseState", 9)?;
        self.snapshot.write_fields(&mut fields)?;
        fields.serialize_field("time", &self.time)?;
        fields.end()
    }
}

/// Serialises a state without its bodies and its time.
pub struct StateWithoutBodiesAndTime<'a>(&'a UniverseState);

impl Serialize for StateWithoutBodiesAndTime<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("UniverseState", 7)?;
        self.0.snapshot.write_fields_after_stars(&mut fields)?;
        fields.end()
    }
}

impl<'de> Deserialize<'de> for UniverseState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let parts = StateParts::deserialize(deserializer)?;
        let time = parts.time;
        let snapshot =
            parts.into_snapshot().map_err(|misfit| D::Error::custom(check_links::describe_misfit(&misfit)))?;
        Ok(Self { snapshot, time })
    }
}

impl JsonSchema for UniverseState {
    fn schema_name() -> Cow<'static, str> {
        StateParts::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        StateParts::json_schema(generator)
    }
}

/// The identity of a universe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UniverseIdentity {
    pub id: String,
    pub name: String,
    /// The campaign it belongs to, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub campaign_id: Option<String>,
    pub created_at: Timestamp,
}

/// The state of a universe's stream. Empty before it is created and after it is deleted.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Universe {
    pub(super) about: Option<Arc<UniverseIdentity>>,
    pub(super) updated_at: Option<Timestamp>,
    pub(super) state: UniverseState,
}

impl Universe {
    /// `None` if there is no such universe.
    pub fn identity(&self) -> Option<&UniverseIdentity> {
        self.about.as_deref()
    }

    /// When it last changed.
    pub fn updated_at(&self) -> Option<Timestamp> {
        self.updated_at
    }

    pub fn state(&self) -> &UniverseState {
        &self.state
    }
}
