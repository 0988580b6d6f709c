//! Events of a run. Their shapes are stable: each has a golden file that must always decode.
//!
//! - The type names the version. A field may be added if it can be left out; any other change is a new version, and the
//!   old one still decodes.
//! - The time and the principal are in the journal's record, next to the event.
//! - An event holds all that was decided: replay needs no process and evaluates no guard.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::super::evidence::Artifact;
use super::super::guard::GuardResult;

/// The process that a run is pinned to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessPin {
    pub id: String,
    pub version: String,
    /// SHA-256 of the process file, in hexadecimal digits.
    pub hash: String,
}

/// A run was created.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Created {
    pub run_id: String,
    pub process: ProcessPin,
    pub role: String,
    pub state: String,
    pub context: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub campaign_id: Option<String>,
    /// The folder of its artifacts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// Whether the first state is also the last.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_final: bool,
}

/// An event was accepted: the run moved, or what was submitted was recorded and the run stayed where it was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Emitted {
    pub event: String,
    pub role: String,
    pub from: String,
    pub to: String,
    /// The guard that let it through; none, if the transition has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guard: Option<String>,
    /// Whether it was only recorded, since its guard was not satisfied.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recorded: bool,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub payload: Map<String, Value>,
    /// The keys of the payload that were written to the context.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// Every guard that was evaluated, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<GuardResult>,
    /// Evidence that did not count, since it had changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<String>,
    /// What was known of the campaign, where guards ask for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub campaign: Option<Value>,
    /// Context variables that came from the campaign and had changed.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub campaign_numbers: Map<String, Value>,
    /// Whether it decided on the work of others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub decision: bool,
    /// Whether the run is over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_final: bool,
}

/// A person took a transition whose guard was not satisfied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Overridden {
    pub event: String,
    pub role: String,
    pub from: String,
    pub to: String,
    pub guard: String,
    pub reason: String,
    /// What the guard came to.
    pub guards: Vec<GuardResult>,
    /// Evidence that did not count, since it had changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<String>,
    /// What was known of the campaign, where guards ask for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub campaign: Option<Value>,
    /// Context variables that came from the campaign and had changed.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub campaign_numbers: Map<String, Value>,
    /// Whether it decided on the work of others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub decision: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_final: bool,
}

/// A run was given up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cancelled {
    pub role: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type")]
pub enum RunEvent {
    #[serde(rename = "run.created.v1")]
    Created(Box<Created>),
    #[serde(rename = "run.emitted.v1")]
    Emitted(Box<Emitted>),
    #[serde(rename = "run.overridden.v1")]
    Overridden(Box<Overridden>),
    #[serde(rename = "run.cancelled.v1")]
    Cancelled(Cancelled),
}

macro_rules! kinds {
    ($($variant:ident = $kind:literal),+ $(,)?) => {
        impl RunEvent {
            /// The types of all events that are written today.
            pub const KINDS: &'static [&'static str] = &[$($kind),+];

            /// The type under which the event is stored.
            pub fn kind(&self) -> &'static str {
                match self { $(Self::$variant(_) => $kind),+ }
            }
        }
    };
}

kinds! {
    Created = "run.created.v1",
    Emitted = "run.emitted.v1",
    Overridden = "run.overridden.v1",
    Cancelled = "run.cancelled.v1",
}
