//! Commands of a run. They bring ids, hashes and facts with them: looking those up is not a rule.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::super::facts::Facts;
use super::super::process::Process;
use super::super::schema::SchemaMisfit;

#[derive(Debug, Clone, PartialEq)]
pub enum RunCommand {
    Create {
        id: String,
        process: Arc<Process>,
        role: String,
        /// Over the process's initial context.
        context: Map<String, Value>,
        /// The campaign it belongs to, if any.
        campaign_id: Option<String>,
        /// Where its artifacts are looked for, if anywhere.
        folder: Option<String>,
    },
    Emit(Box<Emit>),
    Override(Box<Override>),
    /// An agent may not: whoever is to do the work does not end it.
    Cancel {
        role: String,
        reason: Option<String>,
    },
}

/// The role of a program that works for somebody, and of whoever has no other.
pub const AGENT: &str = "agent";

/// As whom somebody acts. It follows from who they are, never from what they ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    pub role: String,
    /// Whether a person acts, and not a program for them.
    pub is_human: bool,
}

/// An event for a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Emit {
    /// The process of the hash that the run is pinned to.
    pub process: Arc<Process>,
    pub role: String,
    pub event: String,
    pub payload: Map<String, Value>,
    pub artifacts: Vec<Submitted>,
    /// Artifacts that were named and cannot be submitted, each with the reason.
    pub unfit: Vec<SchemaMisfit>,
    pub facts: Facts,
    /// The revision of the run for which the facts were looked up.
    pub facts_of: u64,
}

/// A guarded transition that a person takes although its guard is not satisfied.
#[derive(Debug, Clone, PartialEq)]
pub struct Override {
    pub process: Arc<Process>,
    pub standing: Standing,
    /// The event of the transition.
    pub event: String,
    /// Where it leads, if the event has several guarded transitions.
    pub to: Option<String>,
    pub reason: String,
    pub facts: Facts,
    /// The revision of the run for which the facts were looked up.
    pub facts_of: u64,
}

/// A file that is handed in as evidence: it was found, it is an ordinary file below the artifact folder, and this is
/// what it holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Submitted {
    /// Where in the request it stands, as a JSON pointer.
    pub pointer: String,
    pub path: String,
    /// SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
    pub bytes: u64,
    /// The type that was declared, if any; otherwise its name tells.
    pub artifact_type: Option<String>,
    /// Whether its content came with the request.
    pub inline: bool,
    /// Its content, if that is JSON; needed where its type has a schema.
    pub json: Option<Value>,
}
