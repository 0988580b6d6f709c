//! The five Duality operations, such as `duality_action_roll` and `duality_probability`.

use futures::future::{BoxFuture, ready};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use skald_domain::dice::notation::{Duality, Edge, Roll};
use skald_domain::dice::odds::{ComputationBudget, line_odds};
use skald_domain::dice::{self, Explanation, Judgement, Probability, RandomReport, RandomRequest, RulesVersion};

use crate::campaign::{CampaignAnswer, Recorded, RollDetails, RollPlace};
use crate::{Allowed, App, Call, CommandAnswer, Fault, Operation, OperationKind, Route, Toolset};

/// No fields.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

pub(super) struct DualityRulesVersion;

impl Operation for DualityRulesVersion {
    const NAME: &'static str = "duality_rules_version";
    const TITLE: &'static str = "Duality rules version";
    const SUMMARY: &'static str =
        "The ruleset that Duality rolls are judged by: dice, total, crit and difficulty rules, outcomes.";
    const TOOLSET: Toolset = Toolset::Dice;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::Anyone;
    const ROUTES: &'static [Route] = &[Route::get("/api/v1/duality/rules_version")];
    type Input = Nothing;
    type Output = RulesVersion;

    async fn run(_: &App, _: &Call<'_>, _: Nothing) -> Result<RulesVersion, Fault> {
        Ok(dice::rules_version())
    }
}

pub(super) struct DualityActionRoll;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DualityActionRollInput {
    /// Added to the dice; 0 if left out.
    #[serde(default)]
    modifier: i32,
    /// What the total must reach, from 0; leave out for a roll without one.
    difficulty: Option<i32>,
    /// Only to repeat an earlier roll: its seed, with roll_mode REPLAY.
    rng: Option<RandomRequest>,
    /// The session to record the roll in; that of the context if left out.
    session_id: Option<String>,
    /// For whom the dice fall, in a recorded roll.
    actor_id: Option<String>,
    /// false: Hope, Fear and countdowns stay as they are.
    #[serde(default, rename = "apply")]
    _apply: Option<bool>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct DualityActionRollOutput {
    #[serde(flatten)]
    judgement: Judgement,
    rng: RandomReport,
    /// Where the roll was recorded, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<Recorded>,
}

impl Operation for DualityActionRoll {
    const NAME: &'static str = "duality_action_roll";
    const TITLE: &'static str = "Roll Duality dice";
    const SUMMARY: &'static str = "Roll the Hope and Fear d12s for an action and judge them against a difficulty. \
        Use this whenever a player acts; never invent dice.";
    const TOOLSET: Toolset = Toolset::Dice;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::Anyone;
    type Input = DualityActionRollInput;
    type Output = CommandAnswer<CampaignAnswer<DualityActionRollOutput>>;

    async fn run(
        app: &App,
        call: &Call<'_>,
        input: DualityActionRollInput,
    ) -> Result<CommandAnswer<CampaignAnswer<DualityActionRollOutput>>, Fault> {
        let DualityActionRollInput { modifier, difficulty, rng, session_id, actor_id, .. } = input;
        let place = RollPlace { session_id, actor_id };
        let roll = async {
            let entropy = app.entropy.bytes();
            let (judgement, rng) = dice::roll_duality(modifier, difficulty, rng.unwrap_or_default(), entropy)?;
            Ok(DualityActionRollOutput { judgement, rng, recorded: None })
        };
        app.roll_and_record::<Self, _>(call, &place, roll, roll_details, |output, recorded| {
            output.recorded = Some(recorded);
        })
        .await
    }
}

fn roll_details<'a>(_: &'a App, output: &'a DualityActionRollOutput) -> BoxFuture<'a, RollDetails> {
    let Judgement { modifier, difficulty, total, .. } = output.judgement;
    let line = Roll::Duality(Duality { modifier, difficulty, edge: Edge::None });
    // With a difficulty the chance of success is recorded, otherwise the chance of at least this total.
    let odds = line_odds(&line, &ComputationBudget::default()).ok();
    let chance = odds.map(|odds| odds.success.clone().unwrap_or_else(|| odds.chance_of_at_least(total)));
    let (expression, result) = (Some(line.to_string()), json!(output.judgement));
    Box::pin(ready(RollDetails { expression, result, chance, rng: output.rng.clone() }))
}

pub(super) struct DualityOutcome;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DualityOutcomeInput {
    /// The Hope die, 1 to 12.
    #[schemars(range(min = 1, max = 12))]
    hope: i32,
    /// The Fear die, 1 to 12.
    #[schemars(range(min = 1, max = 12))]
    fear: i32,
    /// Added to the dice; 0 if left out.
    #[serde(default)]
    modifier: i32,
    /// What the total must reach, from 0; leave out for a roll without one.
    difficulty: Option<i32>,
}

impl Operation for DualityOutcome {
    const NAME: &'static str = "duality_outcome";
    const TITLE: &'static str = "Judge Duality dice";
    const SUMMARY: &'static str =
        "Judge Hope and Fear dice that were rolled already, at the table for example. Rolls nothing.";
    const TOOLSET: Toolset = Toolset::Dice;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::Anyone;
    const ROUTES: &'static [Route] = &[Route::get("/api/v1/duality/outcome")];
    type Input = DualityOutcomeInput;
    type Output = Judgement;

    async fn run(_: &App, _: &Call<'_>, input: DualityOutcomeInput) -> Result<Judgement, Fault> {
        Ok(dice::judge(input.hope, input.fear, input.modifier, input.difficulty)?)
    }
}

pub(super) struct DualityExplain;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DualityExplainInput {
    /// The Hope die, 1 to 12.
    #[schemars(range(min = 1, max = 12))]
    hope: i32,
    /// The Fear die, 1 to 12.
    #[schemars(range(min = 1, max = 12))]
    fear: i32,
    /// Added to the dice; 0 if left out.
    #[serde(default)]
    modifier: i32,
    /// What the total must reach, from 0; leave out for a roll without one.
    difficulty: Option<i32>,
    /// Your own name for the request; it changes nothing.
    #[serde(default, rename = "request_id")]
    _request_id: Option<String>,
}

impl Operation for DualityExplain {
    const NAME: &'static str = "duality_explain";
    const TITLE: &'static str = "Explain Duality dice";
    const SUMMARY: &'static str = "Explain step by step how Hope and Fear dice come to their outcome.";
    const TOOLSET: Toolset = Toolset::Dice;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::Anyone;
    const ROUTES: &'static [Route] = &[Route::get("/api/v1/duality/explanation")];
    type Input = DualityExplainInput;
    type Output = Explanation;

    async fn run(_: &App, _: &Call<'_>, input: DualityExplainInput) -> Result<Explanation, Fault> {
        Ok(dice::explain(input.hope, input.fear, input.modifier, input.difficulty)?)
    }
}

pub(super) struct DualityProbability;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DualityProbabilityInput {
    /// Added to the dice; 0 if left out.
    #[serde(default)]
    #[schemars(extend("examples" = [0, 1, 2, 3, 4, -1, -2]))]
    modifier: i32,
    /// What the total must reach, from 0.
    #[schemars(extend("examples" = [5, 10, 15, 20, 25, 30]))]
    difficulty: i32,
}

impl Operation for DualityProbability {
    const NAME: &'static str = "duality_probability";
    const TITLE: &'static str = "Odds of a Duality roll";
    const SUMMARY: &'static str = "Exact odds: how many of the 144 Hope and Fear pairs come to each outcome.";
    const TOOLSET: Toolset = Toolset::Dice;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::Anyone;
    const ROUTES: &'static [Route] = &[Route::get("/api/v1/duality/probability")];
    type Input = DualityProbabilityInput;
    type Output = Probability;

    async fn run(_: &App, _: &Call<'_>, input: DualityProbabilityInput) -> Result<Probability, Fault> {
        Ok(dice::probability(input.modifier, input.difficulty)?)
    }
}
