//! `roll_dice`: rolls pools of dice and sums them.

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use skald_domain::dice::notation::{Dialect, Notation, parse};
use skald_domain::dice::odds::ComputationBudget;
use skald_domain::dice::{self, DiceSpec, PoolRoll, RandomReport, RandomRequest, RollResult};

use super::expression_odds::compute_odds;
use crate::campaign::{CampaignAnswer, RecordedRollAnswer, RollDetails, RollOdds, RollPlace};
use crate::{Allowed, App, Call, CommandAnswer, Fault, Operation, OperationKind, PermissionClass, Toolset};

pub(super) struct RollDice;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RollDiceInput {
    /// Pools of equal dice: 2d20 is {"sides": 20, "count": 2}.
    dice: Vec<DiceSpec>,
    /// gm, or names.
    visible_to: Option<Vec<String>>,
    /// Only to repeat an earlier roll.
    rng: Option<RandomRequest>,
    /// The one that is going on if left out.
    session_id: Option<String>,
    /// For whom the dice fall.
    actor_id: Option<String>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct RollDiceOutput {
    rolls: Vec<PoolRoll>,
    total: u64,
    rng: RandomReport,
    /// Where the roll was recorded, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<RecordedRollAnswer>,
}

impl Operation for RollDice {
    const NAME: &'static str = "roll_dice";
    const TITLE: &'static str = "Roll dice";
    const SUMMARY: &'static str = "Roll pools of any dice; answers every die, the sum of each pool and of all.";
    const TOOLSET: Toolset = Toolset::Dice;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::Anyone;
    const CLASS: PermissionClass = PermissionClass::Dice;
    type Input = RollDiceInput;
    type Output = CommandAnswer<CampaignAnswer<RollDiceOutput>>;

    async fn run(
        app: &App,
        call: &Call<'_>,
        input: RollDiceInput,
    ) -> Result<CommandAnswer<CampaignAnswer<RollDiceOutput>>, Fault> {
        let roll_place = RollPlace::new(input.session_id, input.actor_id, None, input.visible_to)?;
        let roll = async {
            let rolled = dice::roll_pools(&input.dice, input.rng.unwrap_or_default(), app.entropy.bytes())?;
            Ok(RollDiceOutput { rolls: rolled.rolls, total: rolled.total, rng: rolled.report, recorded: None })
        };
        app.roll_and_record::<Self, _>(call, &roll_place, roll, roll_details, |output, recorded| {
            output.recorded = Some(recorded);
        })
        .await
    }
}

fn roll_details<'a>(app: &'a App, output: &'a RollDiceOutput) -> BoxFuture<'a, RollDetails> {
    Box::pin(async {
        let result = json!({"rolls": output.rolls, "total": output.total});
        let pools = output.rolls.iter().map(|pool| format!("{}d{}", pool.results.len(), pool.sides));
        // Pools with more dice than an expression may have are recorded without an expression.
        let notation = parse(&pools.collect::<Vec<_>>().join("+"), Dialect::Auto).ok();
        let expression = notation.as_ref().map(|notation| notation.roll.to_string());
        let odds = match notation {
            Some(notation) => odds_of_total(app, notation, output.total).await.unwrap_or_default(),
            None => RollOdds::default(),
        };
        RollDetails { expression, result, odds, rng: Some(output.rng.clone()) }
    })
}

/// How likely this total was. `None` if that is too costly to compute.
async fn odds_of_total(app: &App, notation: Notation, total: u64) -> Option<RollOdds> {
    let total = i64::try_from(total).ok()?;
    let result = RollResult { total, success: None, against: None, duality: None, pools: Vec::new() };
    let compute = move |budget: &ComputationBudget| {
        let odds = compute_odds(&notation, "dice", budget)?;
        let at_least_chance = Some(odds.chance_of_at_least(total));
        Ok(RollOdds { at_least_chance, success_chance: None, luck: Some(odds.luck_of(&result)) })
    };
    app.compute(compute).await.ok()
}
