//! Events of a universe. Their shapes are stable: each has a golden file that must always decode.
//!
//! - The type names the version. A field may be added if it can be left out; any other change is a new version, and the
//!   old one still decodes.
//! - A command is stored as it was accepted, with its effects, so that followers of the universe get both. Each command
//!   is one event, also in a batch.

use std::sync::Arc;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::command::Command;
use super::state::UniverseState;
use super::tagged_objects::{self, Tagged};
use super::wire_event::WireEvent;

/// A universe was created.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Created {
    pub id: String,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub campaign_id: Option<String>,
    /// The initial content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<UniverseState>,
}

/// A universe was renamed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Renamed {
    pub name: String,
}

/// A universe got a new name, a new state, or both. Unlike `replaceSnapshot`, the state includes the time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Replaced {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<UniverseState>,
}

/// A command was accepted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Commanded {
    pub command: Arc<Command>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<WireEvent>,
}

/// A universe was deleted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Deleted {}

macro_rules! events {
    ($($variant:ident = $kind:literal),+ $(,)?) => {
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(tag = "type")]
        pub enum UniverseEvent {
            $(#[serde(rename = $kind)] $variant($variant),)+
        }

        impl UniverseEvent {
            /// The types of all events that are written today.
            pub const KINDS: &'static [&'static str] = &[$($kind),+];

            /// The type under which the event is stored.
            pub fn kind(&self) -> &'static str {
                match self { $(Self::$variant(_) => $kind,)+ }
            }
        }

        impl Tagged for UniverseEvent {
            fn from_fields<'de, D: Deserializer<'de>>(name: &str, fields: D) -> Result<Self, D::Error> {
                match name {
                    $($kind => $variant::deserialize(fields).map(Self::$variant),)+
                    _ => Err(D::Error::unknown_variant(name, Self::KINDS)),
                }
            }
        }
    };
}

events! {
    Created = "universe.created.v1",
    Renamed = "universe.renamed.v1",
    Replaced = "universe.replaced.v1",
    Commanded = "universe.commanded.v1",
    Deleted = "universe.deleted.v1",
}

impl<'de> Deserialize<'de> for UniverseEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tagged_objects::deserialize_tagged(deserializer)
    }
}

impl UniverseEvent {
    /// The effects in the wire format, for the answer.
    pub fn wire_events(&self) -> &[WireEvent] {
        match self {
            Self::Commanded(commanded) => &commanded.events,
            Self::Replaced(Replaced { state: Some(_), .. }) => &[WireEvent::SnapshotReplaced {}],
            Self::Created(_) | Self::Renamed(_) | Self::Replaced(_) | Self::Deleted(_) => &[],
        }
    }
}
