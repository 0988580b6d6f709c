//! `RecordedRoll`, a roll as a campaign stores it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::tracker::TrackerChange;
use crate::Moment;
use crate::dice::odds::Exact;
use crate::dice::{Outcome, RandomReport};
use crate::visibility::Visibility;

/// A roll as the journal keeps it: enough to read it, and to roll it again and compare.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Why it was rolled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether it is a reaction, which brings neither Hope nor Fear.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reaction: bool,
    /// The chance of this total or more, where there was nothing to reach.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least_chance: Option<Exact>,
    /// The chance of success, where there was something to reach.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub success_chance: Option<Exact>,
    /// Only in old records: either of the two above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chance: Option<Exact>,
    /// The share of results that are worse, from 0 to 1, with half of those that are equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub luck: Option<f64>,
    /// How the dice came about. Left out for dice that fell on a real table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rng: Option<RandomReport>,
    /// Who may see it; everybody if left out.
    #[serde(default, skip_serializing_if = "Visibility::is_table")]
    #[schemars(with = "Vec<String>")]
    pub visible_to: Visibility,
    /// What its outcome changed. Decided with the roll; what a command brings is replaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<TrackerChange>,
}

impl RecordedRoll {
    /// The outcome of every Duality roll in it.
    pub fn outcomes(&self) -> Vec<Outcome> {
        read_outcomes(&self.result)
    }
}

/// A Duality roll has its outcome at the top or under `duality`; a repeated roll has a list of them.
fn read_outcomes(result: &Value) -> Vec<Outcome> {
    let own = result.get("outcome").or_else(|| result.pointer("/duality/outcome"));
    let own = own.and_then(|outcome| Outcome::deserialize(outcome).ok());
    let rolls = result.get("rolls").and_then(Value::as_array).into_iter().flatten();
    own.into_iter().chain(rolls.flat_map(read_outcomes)).collect()
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
