//! The Duality roll: two d12s, Hope and Fear, and the rules that turn them into an outcome.

use schemars::JsonSchema;
use serde::Serialize;

use super::notation::{Duality, Edge};
use super::{DiceRefusal, RandomReport, RandomRequest, Randomness};
use crate::case_insensitive_enum::case_insensitive_enum;

/// Sides of the Hope die and of the Fear die.
pub const DUALITY_SIDES: u32 = 12;
/// Sides of the die of an advantage or disadvantage.
pub(super) const EDGE_SIDES: u32 = 6;
/// The version of the rules that a judgement follows.
pub const RULES_VERSION: &str = "1.0.0";

/// What a Duality roll comes to.
// The numbers are part of the wire: an explanation carries them as `outcome_code`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Outcome {
    RollWithHope = 1,
    RollWithFear = 2,
    SuccessWithHope = 3,
    SuccessWithFear = 4,
    FailureWithHope = 5,
    FailureWithFear = 6,
    CriticalSuccess = 7,
}

case_insensitive_enum!(Outcome {
    RollWithHope = "ROLL_WITH_HOPE",
    RollWithFear = "ROLL_WITH_FEAR",
    SuccessWithHope = "SUCCESS_WITH_HOPE",
    SuccessWithFear = "SUCCESS_WITH_FEAR",
    FailureWithHope = "FAILURE_WITH_HOPE",
    FailureWithFear = "FAILURE_WITH_FEAR",
    CriticalSuccess = "CRITICAL_SUCCESS",
});

impl Outcome {
    /// Every outcome, in the order of its number.
    pub const ALL: [Self; 7] = [
        Self::RollWithHope,
        Self::RollWithFear,
        Self::SuccessWithHope,
        Self::SuccessWithFear,
        Self::FailureWithHope,
        Self::FailureWithFear,
        Self::CriticalSuccess,
    ];

    /// The outcome as text for people.
    pub fn label(self) -> &'static str {
        match self {
            Self::RollWithHope => "Roll with hope",
            Self::RollWithFear => "Roll with fear",
            Self::SuccessWithHope => "Success with hope",
            Self::SuccessWithFear => "Success with fear",
            Self::FailureWithHope => "Failure with hope",
            Self::FailureWithFear => "Failure with fear",
            Self::CriticalSuccess => "Critical success",
        }
    }
}

/// A Duality roll, judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Judgement {
    pub hope: i32,
    pub fear: i32,
    pub modifier: i32,
    /// What the die of an advantage adds, or that of a disadvantage takes away.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unlisted" = true))]
    pub edge: Option<i32>,
    /// What the bonus die adds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unlisted" = true))]
    pub bonus: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difficulty: Option<i32>,
    pub total: i64,
    pub is_crit: bool,
    /// Whether the roll reaches the difficulty; a crit always does. False when there is no difficulty.
    pub meets_difficulty: bool,
    pub outcome: Outcome,
}

/// Works out the total and outcome of two dice that are already rolled.
pub fn judge(hope: i32, fear: i32, modifier: i32, difficulty: Option<i32>) -> Result<Judgement, DiceRefusal> {
    for (die, value) in [("hope", hope), ("fear", fear)] {
        if !(1..=12).contains(&value) {
            return Err(DiceRefusal::DualityDieOutOfRange { die, value });
        }
    }
    check_difficulty(difficulty)?;
    let total = i64::from(hope) + i64::from(fear) + i64::from(modifier);
    let is_crit = hope == fear;
    let meets_difficulty = difficulty.is_some_and(|difficulty| is_crit || total >= i64::from(difficulty));
    let outcome = match (difficulty, meets_difficulty, hope > fear) {
        _ if is_crit => Outcome::CriticalSuccess,
        (None, _, true) => Outcome::RollWithHope,
        (None, _, false) => Outcome::RollWithFear,
        (Some(_), true, true) => Outcome::SuccessWithHope,
        (Some(_), true, false) => Outcome::SuccessWithFear,
        (Some(_), false, true) => Outcome::FailureWithHope,
        (Some(_), false, false) => Outcome::FailureWithFear,
    };
    Ok(Judgement {
        hope,
        fear,
        modifier,
        edge: None,
        bonus: None,
        difficulty,
        total,
        is_crit,
        meets_difficulty,
        outcome,
    })
}

pub(super) fn check_difficulty(difficulty: Option<i32>) -> Result<(), DiceRefusal> {
    match difficulty {
        Some(value) if value < 0 => Err(DiceRefusal::DifficultyNegative { value }),
        _ => Ok(()),
    }
}

/// Judges Hope and Fear with what further dice showed: `edge` is negative for a disadvantage, and each is 0 without its
/// die.
pub(super) fn judge_duality(
    duality: Duality,
    (hope, fear): (i32, i32),
    edge: i32,
    bonus: i32,
) -> Result<Judgement, DiceRefusal> {
    let modifier = duality.modifier.saturating_add(edge).saturating_add(bonus);
    let judgement = judge(hope, fear, modifier, duality.difficulty)?;
    Ok(Judgement {
        modifier: duality.modifier,
        edge: (duality.edge != Edge::None).then_some(edge),
        bonus: duality.bonus_die.map(|_| bonus),
        ..judgement
    })
}

/// Draws Hope, Fear, the d6 of an advantage or disadvantage and the bonus die, in this order, and judges them.
pub(super) fn draw_duality(duality: Duality, draw: &mut dyn FnMut(u32) -> u32) -> Result<Judgement, DiceRefusal> {
    check_difficulty(duality.difficulty)?;
    let mut draw = |sides: u32| i32::try_from(draw(sides)).unwrap_or_default();
    let dice = (draw(DUALITY_SIDES), draw(DUALITY_SIDES));
    let edge = match duality.edge {
        Edge::None => 0,
        Edge::Advantage => draw(EDGE_SIDES),
        Edge::Disadvantage => -draw(EDGE_SIDES),
    };
    let bonus = duality.bonus_die.map_or(0, draw);
    judge_duality(duality, dice, edge, bonus)
}

/// Rolls the dice of a Duality roll and judges them.
pub fn roll_duality(
    duality: Duality,
    request: RandomRequest,
    entropy: [u8; 32],
) -> Result<(Judgement, RandomReport), DiceRefusal> {
    check_difficulty(duality.difficulty)?;
    let mut randomness = Randomness::new(request, entropy)?;
    let judgement = draw_duality(duality, &mut |sides| randomness.roll_die(sides))?;
    Ok((judgement, randomness.into_report()))
}

/// The semantics that a judgement follows, as data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RulesVersion {
    pub system: &'static str,
    pub module: &'static str,
    pub rules_version: &'static str,
    pub dice_model: &'static str,
    pub total_formula: &'static str,
    pub crit_rule: &'static str,
    pub difficulty_rule: &'static str,
    pub outcomes: &'static [Outcome],
}

pub fn rules_version() -> RulesVersion {
    RulesVersion {
        system: "Daggerheart",
        module: "Duality",
        rules_version: RULES_VERSION,
        dice_model: "DUALITY_D12_V1",
        total_formula: "hope + fear + modifier",
        crit_rule: "HOPE_EQUALS_FEAR_IS_CRITICAL",
        difficulty_rule: "TOTAL_MEETS_OR_EXCEEDS_DIFFICULTY",
        outcomes: &Outcome::ALL,
    }
}
