//! `RecordedRoll`, a roll as a campaign stores it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Moment;
use crate::dice::RandomReport;
use crate::dice::odds::Exact;

/// A roll as the journal keeps it: enough to read it, and to roll it again and compare.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedRoll {
    pub id: String,
    /// The session it belongs to; left out between sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Whose hand threw the dice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participant_id: Option<String>,
    /// For whom they fell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor_id: Option<String>,
    /// The operation that rolled.
    pub tool: String,
    /// The dice in canonical notation, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expression: Option<String>,
    /// What was asked.
    #[schemars(with = "serde_json::Map<String, Value>")]
    pub input: Value,
    /// What was answered.
    #[schemars(with = "serde_json::Map<String, Value>")]
    pub result: Value,
    /// The chance of this result or a better one; of success, where there was something to reach.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chance: Option<Exact>,
    /// How the dice came about. Left out for dice that fell on a real table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rng: Option<RandomReport>,
}

/// A recorded roll with when and by whom, for lists.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LoggedRoll {
    #[serde(flatten)]
    pub roll: RecordedRoll,
    pub at: Moment,
    /// The principal that rolled.
    pub by: String,
}
