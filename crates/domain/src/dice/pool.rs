//! Rolls pools of equal dice and sums them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DiceRefusal, RandomReport, RandomRequest, Randomness};
use crate::limits;

/// `count` dice of `sides` sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-brief" = true))]
pub struct DiceSpec {
    /// Sides of each die, from 1.
    pub sides: i64,
    /// How many dice, from 1.
    pub count: i64,
}

/// One pool on the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PoolRoll {
    pub sides: u32,
    pub results: Vec<u32>,
    pub total: u64,
}

/// All pools of one call, in the order of the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolRolls {
    pub rolls: Vec<PoolRoll>,
    pub total: u64,
    pub report: RandomReport,
}

/// Rolls the pools in order from one random stream, after all of them pass the limits.
pub fn roll_pools(dice: &[DiceSpec], request: RandomRequest, entropy: [u8; 32]) -> Result<PoolRolls, DiceRefusal> {
    let pools = check_specs(dice)?;
    let mut randomness = Randomness::new(request, entropy)?;
    let rolls: Vec<PoolRoll> = pools
        .into_iter()
        .map(|(sides, count)| {
            let results: Vec<u32> = (0..count).map(|_| randomness.roll_die(sides)).collect();
            let total = results.iter().copied().map(u64::from).sum();
            PoolRoll { sides, results, total }
        })
        .collect();
    let total = rolls.iter().map(|roll| roll.total).sum();
    Ok(PoolRolls { rolls, total, report: randomness.into_report() })
}

/// Checks the specifications against the limits and returns them as (sides, count).
fn check_specs(dice: &[DiceSpec]) -> Result<Vec<(u32, u32)>, DiceRefusal> {
    if dice.is_empty() {
        return Err(DiceRefusal::DiceMissing);
    }
    if dice.len() > limits::DICE_SPECS_MAX {
        return Err(DiceRefusal::SpecsTooMany { given: dice.len() });
    }
    let mut pools = Vec::with_capacity(dice.len());
    let mut given = 0_i64;
    for (index, &DiceSpec { sides, count }) in dice.iter().enumerate() {
        if sides < 1 || count < 1 {
            return Err(DiceRefusal::DiceNotPositive { index, sides, count });
        }
        let sides = u32::try_from(sides)
            .ok()
            .filter(|sides| *sides <= limits::DIE_SIDES_MAX)
            .ok_or(DiceRefusal::SidesTooMany { index, sides })?;
        given = given.saturating_add(count);
        let count = u32::try_from(given)
            .ok()
            .filter(|given| *given <= limits::DICE_MAX)
            .and_then(|_| u32::try_from(count).ok())
            .ok_or(DiceRefusal::DiceTooMany { given })?;
        pools.push((sides, count));
    }
    Ok(pools)
}
