//! Any dice, rolled and summed.

use domain::dice::{self, DiceSpec, PoolRoll, RandomReport, RandomRequest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Allowed, App, Caller, Fault, Kind, Operation, Toolset};

pub(super) struct RollDice;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RollDiceInput {
    /// Pools of equal dice, rolled in order: 2d20 is {"sides": 20, "count": 2}.
    dice: Vec<DiceSpec>,
    /// Only to repeat an earlier roll.
    rng: Option<RandomRequest>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RollDiceOutput {
    rolls: Vec<PoolRoll>,
    total: u64,
    rng: RandomReport,
}

impl Operation for RollDice {
    const NAME: &'static str = "roll_dice";
    const TITLE: &'static str = "Roll dice";
    const SUMMARY: &'static str = "Roll pools of any dice; answers every die, the sum of each pool and of all.";
    const TOOLSET: Toolset = Toolset::Dice;
    const KIND: Kind = Kind::Command;
    const ALLOWED: Allowed = Allowed::Anyone;
    type Input = RollDiceInput;
    type Output = RollDiceOutput;

    async fn run(app: &App, _: &Caller, input: RollDiceInput) -> Result<RollDiceOutput, Fault> {
        let rolled = dice::roll_pools(&input.dice, input.rng.unwrap_or_default(), app.entropy.bytes())?;
        Ok(RollDiceOutput { rolls: rolled.rolls, total: rolled.total, rng: rolled.report })
    }
}
