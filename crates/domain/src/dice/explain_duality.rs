//! Explains the outcome of a Duality roll in five steps.

use schemars::JsonSchema;
use serde::Serialize;

use super::{DiceRefusal, Judgement, Outcome, RULES_VERSION, judge};

/// A judgement with the way that led to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Explanation {
    #[serde(flatten)]
    pub judgement: Judgement,
    pub rules_version: &'static str,
    pub intermediates: Intermediates,
    pub steps: Vec<Step>,
}

/// What the steps found on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "the shape is the wire's")]
pub struct Intermediates {
    pub base_total: i64,
    pub total: i64,
    pub is_crit: bool,
    pub meets_difficulty: bool,
    pub hope_gt_fear: bool,
    pub fear_gt_hope: bool,
}

/// One step: what was done, in words, and with which numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Step {
    pub code: StepCode,
    pub message: &'static str,
    pub data: StepData,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum StepCode {
    SumDice,
    ApplyModifier,
    CheckCrit,
    CheckDifficulty,
    SelectOutcome,
}

/// The numbers of a step; each step fills its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(default)]
pub struct StepData {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hope: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fear: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_total: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modifier: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_crit: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difficulty: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meets_difficulty: Option<bool>,
    /// Whether a crit stood in for a total below the difficulty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critical_override: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Verdict>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome_code: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome_label: Option<&'static str>,
}

/// The outcome without its Hope or Fear. `ROLL` is a roll without a difficulty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Verdict {
    Roll,
    Success,
    Failure,
    CriticalSuccess,
}

impl From<Outcome> for Verdict {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::RollWithHope | Outcome::RollWithFear => Self::Roll,
            Outcome::SuccessWithHope | Outcome::SuccessWithFear => Self::Success,
            Outcome::FailureWithHope | Outcome::FailureWithFear => Self::Failure,
            Outcome::CriticalSuccess => Self::CriticalSuccess,
        }
    }
}

pub fn explain(hope: i32, fear: i32, modifier: i32, difficulty: Option<i32>) -> Result<Explanation, DiceRefusal> {
    let judgement = judge(hope, fear, modifier, difficulty)?;
    let base_total = i64::from(hope) + i64::from(fear);
    Ok(Explanation {
        judgement,
        rules_version: RULES_VERSION,
        intermediates: Intermediates {
            base_total,
            total: judgement.total,
            is_crit: judgement.is_crit,
            meets_difficulty: judgement.meets_difficulty,
            hope_gt_fear: hope > fear,
            fear_gt_hope: fear > hope,
        },
        steps: steps(&judgement, base_total),
    })
}

fn steps(judgement: &Judgement, base_total: i64) -> Vec<Step> {
    let Judgement { hope, fear, modifier, edge: _, bonus: _, difficulty, total, is_crit, meets_difficulty, outcome } =
        *judgement;
    let none = StepData::default();
    vec![
        Step {
            code: StepCode::SumDice,
            message: "Sum hope and fear dice",
            data: StepData { hope: Some(hope), fear: Some(fear), base_total: Some(base_total), ..none },
        },
        Step {
            code: StepCode::ApplyModifier,
            message: "Apply modifier to base total",
            data: StepData { base_total: Some(base_total), modifier: Some(modifier), total: Some(total), ..none },
        },
        Step {
            code: StepCode::CheckCrit,
            message: "Check for critical outcome",
            data: StepData { hope: Some(hope), fear: Some(fear), is_crit: Some(is_crit), ..none },
        },
        Step {
            code: StepCode::CheckDifficulty,
            message: "Compare total against difficulty",
            data: StepData {
                total: Some(total),
                difficulty,
                meets_difficulty: Some(meets_difficulty),
                critical_override: Some(difficulty.is_some_and(|difficulty| is_crit && total < i64::from(difficulty))),
                ..none
            },
        },
        Step {
            code: StepCode::SelectOutcome,
            message: "Select final outcome based on roll",
            data: StepData {
                outcome: Some(outcome.into()),
                outcome_code: Some(outcome as u8),
                outcome_label: Some(outcome.label()),
                ..none
            },
        },
    ]
}
