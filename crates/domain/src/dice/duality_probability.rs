//! Exact odds of a Duality roll, by counting all 144 pairs.

use schemars::JsonSchema;
use serde::Serialize;

use super::duality::check_difficulty;
use super::{DiceRefusal, Outcome, judge};

/// How many of the 144 pairs come to each outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Probability {
    pub total_outcomes: u32,
    pub crit_count: u32,
    /// Crits included.
    pub success_count: u32,
    pub failure_count: u32,
    pub outcome_counts: Vec<OutcomeCount>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OutcomeCount {
    pub outcome: Outcome,
    pub count: u32,
}

/// The outcomes of a roll against a difficulty, in the order of the answer.
const COUNTED_OUTCOMES: [Outcome; 5] = [
    Outcome::CriticalSuccess,
    Outcome::SuccessWithHope,
    Outcome::SuccessWithFear,
    Outcome::FailureWithHope,
    Outcome::FailureWithFear,
];

pub fn probability(modifier: i32, difficulty: i32) -> Result<Probability, DiceRefusal> {
    check_difficulty(Some(difficulty))?;
    let mut counts = COUNTED_OUTCOMES.map(|outcome| OutcomeCount { outcome, count: 0 });
    for hope in 1..=12 {
        for fear in 1..=12 {
            let outcome = judge(hope, fear, modifier, Some(difficulty))?.outcome;
            counts.iter_mut().filter(|row| row.outcome == outcome).for_each(|row| row.count += 1);
        }
    }
    let [crit, success_hope, success_fear, failure_hope, failure_fear] = counts.map(|row| row.count);
    Ok(Probability {
        total_outcomes: 144,
        crit_count: crit,
        success_count: crit + success_hope + success_fear,
        failure_count: failure_hope + failure_fear,
        outcome_counts: counts.to_vec(),
    })
}
