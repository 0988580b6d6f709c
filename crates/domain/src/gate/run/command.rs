//! Commands of a run. They contain ids, hashes and facts, since the rules do no lookups.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::super::campaign_numbers::CampaignNumbers;
use super::super::content_measure::ContentMeasure;
use super::super::facts::Facts;
use super::super::json_schema::SchemaMisfit;
use super::super::process::Process;

#[derive(Debug, Clone, PartialEq)]
pub enum RunCommand {
    Create {
        id: String,
        process: Arc<Process>,
        role: String,
        /// Overrides the process's initial context.
        context: Map<String, Value>,
        /// The campaign it belongs to, if any.
        campaign_id: Option<String>,
        /// The numbers of that campaign, if the process takes any from it.
        campaign_numbers: Option<CampaignNumbers>,
        /// The folder of its artifacts, if it has one.
        folder: Option<String>,
    },
    Emit(Box<Emit>),
    Override(Box<Override>),
    /// Refused for agents: an agent must not end the work that it is given.
    Cancel {
        role: String,
        reason: Option<String>,
    },
}

/// The role of a program that works for somebody, and the default role.
pub const AGENT: &str = "agent";

/// The caller's role. It follows from the caller's identity, never from the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActingRole {
    pub role: String,
    /// Whether the caller is a person, and not a program that acts for one.
    pub is_human: bool,
}

/// An event for a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Emit {
    /// Must have the hash that the run is pinned to.
    pub process: Arc<Process>,
    pub role: String,
    pub event: String,
    pub payload: Map<String, Value>,
    pub artifacts: Vec<SubmittedArtifact>,
    /// Artifacts in the request that cannot be submitted, each with the reason.
    pub unfit: Vec<SchemaMisfit>,
    pub facts: Facts,
    /// The revision of the run for which the facts were looked up.
    pub facts_of: u64,
}

/// A guarded transition that a person takes although its guard is not satisfied.
#[derive(Debug, Clone, PartialEq)]
pub struct Override {
    pub process: Arc<Process>,
    pub acting_role: ActingRole,
    /// The event of the transition.
    pub event: String,
    /// The target state, if the event has several guarded transitions.
    pub to: Option<String>,
    pub reason: String,
    pub facts: Facts,
    /// The revision of the run for which the facts were looked up.
    pub facts_of: u64,
}

/// A file that is submitted as evidence. It was already read: as an ordinary file below the artifact folder, or from
/// the request.
#[derive(Debug, Clone, PartialEq)]
pub struct SubmittedArtifact {
    /// JSON pointer to it in the request.
    pub pointer: String,
    pub path: String,
    /// SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
    pub bytes: u64,
    /// The declared type, if any; otherwise the types follow from its name.
    pub artifact_type: Option<String>,
    /// Whether its content came with the request.
    pub inline: bool,
    /// Its content, if that is JSON; required if its type has a schema.
    pub json: Option<Value>,
    /// What guards know of its content; required if a guard asks for the substance of its type.
    pub measure: Option<ContentMeasure>,
}
