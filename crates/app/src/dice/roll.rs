//! `roll`: rolls any dice expression.

use futures::future::{BoxFuture, ready};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use skald_domain::dice::notation::{Dialect, Notation};
use skald_domain::dice::odds::Exact;
use skald_domain::dice::{self, RandomReport, RandomRequest, Randomness, RollResult};

use super::expression_odds::{compute_odds, parse_expression};
use crate::campaign::{CampaignAnswer, Recorded, RollDetails, RollPlace};
use crate::{Allowed, App, Call, CommandAnswer, Fault, Operation, OperationKind, Toolset};

pub(super) struct RollOperation;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RollInput {
    /// Dice notation: 4d6kh3+1, 2d20kh1+5 >= 15, 3d6!, 5d10cs>=8, 6x(4d6kh3), duality(+2, dc 15).
    #[schemars(extend("examples" = ["1d20+5", "2d20kh1+5 >= 15", "4d6kh3", "6x(4d6kh3)", "duality(+2, dc 15)"]))]
    expression: String,
    /// Whose habits it is written in; found out by itself if left out.
    #[serde(default)]
    dialect: Dialect,
    /// Only to repeat an earlier roll: its seed, with roll_mode REPLAY.
    rng: Option<RandomRequest>,
    /// The session to record the roll in; that of the context if left out.
    session_id: Option<String>,
    /// For whom the dice fall, in a recorded roll.
    actor_id: Option<String>,
    /// false: a Duality roll leaves Hope, Fear and countdowns as they are.
    #[serde(default, rename = "apply")]
    _apply: Option<bool>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct RollOutput {
    /// The expression in its canonical form.
    expression: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
    #[serde(flatten)]
    result: Option<Rolled>,
    /// Each roll of a repeated one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rolls: Vec<Rolled>,
    /// The chance of success, where there is something to reach.
    #[serde(skip_serializing_if = "Option::is_none")]
    success_chance: Option<Exact>,
    /// Why the chances are left out, where they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    chance_unknown: Option<String>,
    rng: RandomReport,
    /// Where the roll was recorded, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<Recorded>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Rolled {
    #[serde(flatten)]
    result: RollResult,
    /// The chance of this result or a better one: as high, or as low for < and <=, or as near for =.
    #[serde(skip_serializing_if = "Option::is_none")]
    chance: Option<Exact>,
}

impl Operation for RollOperation {
    const NAME: &'static str = "roll";
    const TITLE: &'static str = "Roll an expression";
    const SUMMARY: &'static str = "Roll any dice expression: keep, drop, explode, reroll, count successes, compare, repeat. \
        Answers every die, what became of it, and how likely the result was.";
    const TOOLSET: Toolset = Toolset::Dice;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::Anyone;
    type Input = RollInput;
    type Output = CommandAnswer<CampaignAnswer<RollOutput>>;

    async fn run(
        app: &App,
        call: &Call<'_>,
        input: RollInput,
    ) -> Result<CommandAnswer<CampaignAnswer<RollOutput>>, Fault> {
        let notation = parse_expression(&input.expression, input.dialect, "expression")?;
        let place = RollPlace { session_id: input.session_id, actor_id: input.actor_id };
        let roll = roll_expression(app, notation, input.rng.unwrap_or_default());
        app.roll_and_record::<Self, _>(call, &place, roll, roll_details, |output, recorded| {
            output.recorded = Some(recorded);
        })
        .await
    }
}

fn roll_details<'a>(_: &'a App, output: &'a RollOutput) -> BoxFuture<'a, RollDetails> {
    let result = match &output.result {
        Some(rolled) => json!(rolled.result),
        None => json!({"rolls": output.rolls}),
    };
    // The chance of success is recorded if there is one, otherwise the chance of the result.
    let own = output.result.as_ref().and_then(|rolled| rolled.chance.clone());
    let (expression, chance) = (Some(output.expression.clone()), output.success_chance.clone().or(own));
    Box::pin(ready(RollDetails { expression, result, chance, rng: output.rng.clone() }))
}

async fn roll_expression(app: &App, notation: Notation, rng: RandomRequest) -> Result<RollOutput, Fault> {
    let mut randomness = Randomness::new(rng, app.entropy.bytes())?;
    let results = dice::roll_notation(&notation, &mut |sides| randomness.roll_die(sides))?;
    let ResultsWithChances { mut rolls, success_chance, chance_unknown } = add_chances(app, &notation, results).await;
    let is_repeated = rolls.len() > 1;
    let result = (!is_repeated).then(|| rolls.remove(0));
    Ok(RollOutput {
        expression: notation.roll.to_string(),
        comment: notation.comment,
        result,
        rolls,
        success_chance,
        chance_unknown,
        rng: randomness.into_report(),
        recorded: None,
    })
}

/// Results with their chances, or the reason why the chances are unknown.
struct ResultsWithChances {
    rolls: Vec<Rolled>,
    success_chance: Option<Exact>,
    chance_unknown: Option<String>,
}

async fn add_chances(app: &App, notation: &Notation, results: Vec<RollResult>) -> ResultsWithChances {
    let (notation, thrown) = (notation.clone(), results.clone());
    let chances = app.compute(move |effort| {
        let odds = compute_odds(&notation, "expression", effort)?;
        let chances: Vec<Exact> = thrown.iter().map(|result| odds.chance_of(result)).collect();
        Ok((chances, odds.success))
    });
    match chances.await {
        Ok((chances, success_chance)) => {
            let rolls = results.into_iter().zip(chances);
            let rolls = rolls.map(|(result, chance)| Rolled { result, chance: Some(chance) }).collect();
            ResultsWithChances { rolls, success_chance, chance_unknown: None }
        }
        Err(fault) => {
            let rolls = results.into_iter().map(|result| Rolled { result, chance: None }).collect();
            ResultsWithChances { rolls, success_chance: None, chance_unknown: Some(fault.body().message.clone()) }
        }
    }
}
