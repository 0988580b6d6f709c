//! Duality operations that roll or count: `duality_action_roll`, `duality_probability`, `duality_rules_version`.

use futures::future::ready;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use skald_domain::dice::notation::{Dialect, Duality, Edge, Notation, Roll, parse};
use skald_domain::dice::odds::{ComputationBudget, Exact, line_odds};
use skald_domain::dice::{self, Judgement, Probability, RandomReport, RandomRequest, RollResult, RulesVersion};

use super::roll_summary::{RollDetail, summarize_judgement};
use crate::campaign::{CampaignAnswer, RecordedRollAnswer, RollDetails, RollOdds, RollPlace};
use crate::{
    Allowed, App, Call, Code, CommandAnswer, Fault, Operation, OperationKind, PermissionClass, Route, Toolset,
    truncate_for_message,
};

/// No fields.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Nothing")]
pub(super) struct NoInput {}

pub(super) struct DualityRulesVersion;

impl Operation for DualityRulesVersion {
    const NAME: &'static str = "duality_rules_version";
    const TITLE: &'static str = "Duality rules version";
    const SUMMARY: &'static str =
        "The ruleset that Duality rolls are judged by: dice, total, crit and difficulty rules, outcomes.";
    const TOOLSET: Toolset = Toolset::Dice;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::Anyone;
    const CLASS: PermissionClass = PermissionClass::Reference;
    const ROUTES: &'static [Route] = &[Route::get("/api/v1/duality/rules_version")];
    type Input = NoInput;
    type Output = RulesVersion;

    async fn run(_: &App, _: &Call<'_>, _: NoInput) -> Result<RulesVersion, Fault> {
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
    /// What the total must reach, if anything.
    difficulty: Option<i32>,
    /// Adds a d6; cancels a disadvantage.
    #[serde(default)]
    advantage: bool,
    /// Takes a d6 away.
    #[serde(default)]
    disadvantage: bool,
    /// A die to add, as d6 or d8.
    bonus_die: Option<String>,
    /// What it is for.
    reason: Option<String>,
    /// Who sees it: gm, or names.
    visible_to: Option<Vec<String>>,
    /// `full` adds the chances and the seed.
    #[serde(default)]
    detail: RollDetail,
    /// Only to repeat an earlier roll.
    rng: Option<RandomRequest>,
    /// The one that is going on if left out.
    session_id: Option<String>,
    /// For whom the dice fall.
    actor_id: Option<String>,
    /// false: nothing follows from it.
    #[serde(default, rename = "apply")]
    _apply: Option<bool>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct DualityActionRollOutput {
    /// The result as a sentence.
    summary: String,
    #[serde(flatten)]
    judgement: Judgement,
    /// The chance of success, where there is a difficulty.
    #[serde(skip_serializing_if = "Option::is_none")]
    success_chance: Option<Exact>,
    /// The chance of this total or more, where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    at_least_chance: Option<Exact>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rng: Option<RandomReport>,
    /// Where the roll was recorded, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<RecordedRollAnswer>,
    #[serde(skip)]
    details: RollDetails,
}

impl Operation for DualityActionRoll {
    const NAME: &'static str = "duality_action_roll";
    const TITLE: &'static str = "Roll Duality dice";
    const SUMMARY: &'static str = "Roll the Hope and Fear d12s for an action and judge them against a difficulty. \
        Use this whenever a player acts; never invent dice.";
    const TOOLSET: Toolset = Toolset::Dice;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::Anyone;
    const CLASS: PermissionClass = PermissionClass::Dice;
    type Input = DualityActionRollInput;
    type Output = CommandAnswer<CampaignAnswer<DualityActionRollOutput>>;

    async fn run(
        app: &App,
        call: &Call<'_>,
        input: DualityActionRollInput,
    ) -> Result<CommandAnswer<CampaignAnswer<DualityActionRollOutput>>, Fault> {
        let duality = Duality {
            modifier: input.modifier,
            difficulty: input.difficulty,
            edge: Edge::from_flags(input.advantage, input.disadvantage),
            bonus_die: input.bonus_die.as_deref().map(parse_bonus_die).transpose()?,
        };
        let roll_place = RollPlace::new(input.session_id, input.actor_id, input.reason, input.visible_to)?;
        let shows_seed = input.detail == RollDetail::Full || input.rng.is_some();
        let roll = async {
            let (judgement, rng) = dice::roll_duality(duality, input.rng.unwrap_or_default(), app.entropy.bytes())?;
            let details = duality_details(duality, &judgement, Some(rng.clone()));
            let shown = (input.detail == RollDetail::Full).then_some(&details.odds);
            Ok(DualityActionRollOutput {
                summary: summarize_judgement(&judgement),
                judgement: match input.detail {
                    // The summary has both.
                    RollDetail::Short => Judgement { edge: None, bonus: None, ..judgement },
                    RollDetail::Full => judgement,
                },
                success_chance: shown.and_then(|odds| odds.success_chance.clone()),
                at_least_chance: shown.and_then(|odds| odds.at_least_chance.clone()),
                rng: shows_seed.then_some(rng),
                recorded: None,
                details,
            })
        };
        app.roll_and_record::<Self, _>(
            call,
            &roll_place,
            roll,
            |_, output| Box::pin(ready(output.details.clone())),
            |output, recorded| output.recorded = Some(recorded),
        )
        .await
    }
}

/// The sides of a bonus die: `d8`, `1d8` or `+d8`.
pub(super) fn parse_bonus_die(text: &str) -> Result<u32, Fault> {
    let die = text.trim().trim_start_matches('+');
    let parsed = parse(&format!("duality(+{die})"), Dialect::Auto);
    let alone = |duality: &Duality| Duality { bonus_die: None, ..*duality } == Duality::default();
    let message = match parsed {
        Ok(Notation { roll: Roll::Duality(duality @ Duality { bonus_die: Some(sides), .. }), .. })
            if alone(&duality) =>
        {
            return Ok(sides);
        }
        Err(error) => error.message,
        Ok(_) => "this is not one die".to_owned(),
    };
    let shown = truncate_for_message(text);
    Err(Fault::new(Code::InvalidParams, format!("bonus_die is {shown:?}: {message}"))
        .with_path("/bonus_die")
        .value(&text.into())
        .hint("send one die, as d6 or d8; a number to add is the modifier"))
}

/// What is recorded of a Duality roll, with its chance: of success where there is a difficulty, otherwise of at least
/// this total.
pub(super) fn duality_details(duality: Duality, judgement: &Judgement, rng: Option<RandomReport>) -> RollDetails {
    let line = Roll::Duality(duality);
    let (total, result) = (judgement.total, json!(judgement));
    let odds = line_odds(&line, &ComputationBudget::default()).ok().map(|odds| RollOdds {
        at_least_chance: odds.success.is_none().then(|| odds.chance_of_at_least(total)),
        luck: Some(odds.luck_of(&RollResult {
            total,
            success: None,
            against: None,
            duality: Some(*judgement),
            pools: Vec::new(),
        })),
        success_chance: odds.success,
    });
    RollDetails { expression: Some(line.to_string()), result, odds: odds.unwrap_or_default(), rng }
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
    const CLASS: PermissionClass = PermissionClass::Reference;
    const ROUTES: &'static [Route] = &[Route::get("/api/v1/duality/probability")];
    type Input = DualityProbabilityInput;
    type Output = Probability;

    async fn run(_: &App, _: &Call<'_>, input: DualityProbabilityInput) -> Result<Probability, Fault> {
        Ok(dice::probability(input.modifier, input.difficulty)?)
    }
}
