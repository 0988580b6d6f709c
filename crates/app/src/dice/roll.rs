//! `roll`: rolls any dice expression.

use futures::future::ready;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use skald_domain::dice::notation::{Dialect, Edge, Notation};
use skald_domain::dice::odds::{ComputationBudget, Exact};
use skald_domain::dice::{self, Judgement, Outcome, RandomReport, RandomRequest, Randomness, RollResult, RolledPool};
use skald_domain::{deceptive_characters, limits};

use super::expression_odds::{compute_odds, parse_expression};
use super::roll_summary::{RollDetail, shorten_expression, summarize_result};
use crate::campaign::{CampaignAnswer, RecordedRollAnswer, RollDetails, RollOdds, RollPlace};
use crate::{Allowed, App, Call, Code, CommandAnswer, Fault, Operation, OperationKind, PermissionClass, Toolset};

/// Totals of a repeated roll in a short answer.
const TOTALS_SHORT: usize = 12;

pub(super) struct RollOperation;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RollInput {
    /// Dice notation: 4d6kh3+1, 2d20kh1+5 >= 15, 3d6!, 5d10cs>=8, 6x(4d6kh3), duality(+2, dc 15).
    #[schemars(extend("examples" = ["1d20+5", "2d20kh1+5 >= 15", "4d6kh3", "6x(4d6kh3)", "duality(+2, dc 15)"]))]
    expression: String,
    /// Found out if left out.
    #[serde(default)]
    dialect: Dialect,
    /// Rolls the d20 twice and keeps the higher.
    #[serde(default)]
    advantage: bool,
    /// Keeps the lower.
    #[serde(default)]
    disadvantage: bool,
    /// What it is for.
    reason: Option<String>,
    /// Who sees it: gm, or names.
    visible_to: Option<Vec<String>>,
    /// `full` adds every die and the seed.
    #[serde(default)]
    detail: RollDetail,
    /// Only to repeat an earlier roll.
    rng: Option<RandomRequest>,
    /// The one that is going on if left out.
    session_id: Option<String>,
    /// For whom the dice fall.
    actor_id: Option<String>,
    /// false: a Duality roll leaves Hope, Fear and countdowns as they are.
    #[serde(default, rename = "apply")]
    _apply: Option<bool>,
}

#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub(super) struct RollOutput {
    /// The result as a sentence.
    summary: String,
    /// The expression in its canonical form.
    expression: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unlisted" = true))]
    comment: Option<String>,
    #[serde(flatten)]
    result: Option<RolledLine>,
    /// The totals of a repeated roll, the first 12 unless `detail` is full.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-unlisted" = true))]
    totals: Vec<i64>,
    /// How many of a repeated roll succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unlisted" = true))]
    successes: Option<usize>,
    /// Each roll of a repeated one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-unlisted" = true))]
    rolls: Vec<RolledLine>,
    /// The chance of success, where there is something to reach.
    #[serde(skip_serializing_if = "Option::is_none")]
    success_chance: Option<Exact>,
    /// Why the chances are left out, where they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unlisted" = true))]
    chance_unknown: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rng: Option<RandomReport>,
    /// Where the roll was recorded, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<RecordedRollAnswer>,
    #[serde(skip)]
    details: RollDetails,
}

/// One result, as much of it as was asked for.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub(super) struct RolledLine {
    total: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    success: Option<bool>,
    /// What a Duality roll came to.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<Outcome>,
    /// The total of the other side.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unlisted" = true))]
    against: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unlisted" = true))]
    duality: Option<Judgement>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-unlisted" = true))]
    pools: Vec<RolledPool>,
    /// The chance of this total or more, where there is nothing to reach.
    #[serde(skip_serializing_if = "Option::is_none")]
    at_least_chance: Option<Exact>,
}

impl RolledLine {
    pub(super) fn new(result: RollResult, at_least_chance: Option<Exact>, detail: RollDetail) -> Self {
        let outcome = result.duality.map(|judgement| judgement.outcome);
        match detail {
            // The outcome says whether a Duality roll succeeded.
            RollDetail::Short => Self {
                total: result.total,
                success: result.success.filter(|_| outcome.is_none()),
                outcome,
                at_least_chance: at_least_chance.map(|chance| chance.shorten()),
                ..Self::default()
            },
            RollDetail::Full => Self {
                total: result.total,
                success: result.success,
                outcome,
                against: result.against,
                duality: result.duality,
                pools: result.pools,
                at_least_chance,
            },
        }
    }
}

impl Operation for RollOperation {
    const NAME: &'static str = "roll";
    const TITLE: &'static str = "Roll an expression";
    const SUMMARY: &'static str = "Roll any dice expression: keep, drop, explode, reroll, count successes, compare, repeat; \
        also as people say it, such as 4d6 drop lowest. Answers the result and how likely it was.";
    const TOOLSET: Toolset = Toolset::Dice;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::Anyone;
    const CLASS: PermissionClass = PermissionClass::Dice;
    type Input = RollInput;
    type Output = CommandAnswer<CampaignAnswer<RollOutput>>;

    async fn run(
        app: &App,
        call: &Call<'_>,
        input: RollInput,
    ) -> Result<CommandAnswer<CampaignAnswer<RollOutput>>, Fault> {
        let notation = parse_expression(&input.expression, input.dialect, "expression")?;
        let notation = add_edge(notation, &input)?;
        let reason = input.reason.or_else(|| notation.comment.clone().filter(|comment| is_reason(comment)));
        let roll_place = RollPlace::new(input.session_id, input.actor_id, reason, input.visible_to)?;
        let roll = roll_expression(app, notation, input.rng, input.detail);
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

/// Whether a comment can be recorded as the reason.
fn is_reason(comment: &str) -> bool {
    comment.chars().count() <= limits::NAME_CHARS_MAX && deceptive_characters::first_deceptive(comment).is_none()
}

fn add_edge(notation: Notation, input: &RollInput) -> Result<Notation, Fault> {
    let edge = Edge::from_flags(input.advantage, input.disadvantage);
    if let Some(roll) = notation.roll.with_edge(edge) {
        Ok(Notation { roll, ..notation })
    } else {
        let field = if input.advantage { "advantage" } else { "disadvantage" };
        let message = format!("{field} is for one die that is rolled twice, and {} has none", notation.roll);
        Err(Fault::new(Code::InvalidParams, message)
            .with_path(format!("/{field}"))
            .value(&true.into())
            .hint("roll 1d20+5 with advantage, or write which dice are kept, as in 2d20kh1+5 or 4d6kh3"))
    }
}

async fn roll_expression(
    app: &App,
    notation: Notation,
    rng: Option<RandomRequest>,
    detail: RollDetail,
) -> Result<RollOutput, Fault> {
    let shows_seed = detail == RollDetail::Full || rng.is_some();
    let mut randomness = Randomness::new(rng.unwrap_or_default(), app.entropy.bytes())?;
    let results = dice::roll_notation(&notation, &mut |sides| randomness.roll_die(sides))?;
    let (line, report) = (notation.roll.to_string(), randomness.into_report());
    let chances = compute_chances(app, &notation, results.clone()).await;
    let (chances, chance_unknown) = match chances {
        Ok(chances) => (chances, None),
        Err(fault) => (LineChances::default(), Some(fault.body().message.clone())),
    };
    let details = record_details(&results, &chances, line.clone(), report.clone());
    let is_short = detail == RollDetail::Short;
    let output = RollOutput {
        summary: summarize_results(&results, &chances, is_short),
        expression: if is_short { shorten_expression(line) } else { line },
        comment: notation.comment.filter(|_| !is_short),
        success_chance: chances
            .success
            .as_ref()
            .map(|chance| if is_short { Exact { fraction: None, ..chance.shorten() } } else { chance.clone() }),
        chance_unknown,
        rng: shows_seed.then_some(report),
        details,
        ..RollOutput::default()
    };
    let mut lines = results
        .into_iter()
        .enumerate()
        .map(|(at, result)| RolledLine::new(result, chances.at_least.get(at).cloned(), detail));
    if lines.len() == 1 {
        return Ok(RollOutput { result: lines.next(), ..output });
    }
    let lines: Vec<RolledLine> = lines.collect();
    let successes = lines.iter().any(|line| line.success.is_some() || chances.success.is_some()).then(|| {
        lines.iter().filter(|line| line.success == Some(true) || line.outcome.is_some_and(is_success)).count()
    });
    let shown = if is_short { TOTALS_SHORT } else { lines.len() };
    let totals = lines.iter().take(shown).map(|line| line.total).collect();
    let rolls = if is_short { Vec::new() } else { lines };
    Ok(RollOutput { totals, successes, rolls, ..output })
}

fn is_success(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::SuccessWithHope | Outcome::SuccessWithFear | Outcome::CriticalSuccess)
}

fn summarize_results(results: &[RollResult], chances: &LineChances, is_short: bool) -> String {
    if let [result] = results {
        return summarize_result(result, chances.success.as_ref(), chances.at_least.first());
    }
    let totals = results.iter().map(|result| result.total);
    let (lowest, highest) = (totals.clone().min().unwrap_or_default(), totals.max().unwrap_or_default());
    let cut = if is_short && results.len() > TOTALS_SHORT {
        format!("; the first {TOTALS_SHORT} are shown, detail: full has all")
    } else {
        String::new()
    };
    format!("{} rolls from {lowest} to {highest}{cut}", results.len())
}

/// What is recorded: whole results, whatever the answer shows.
fn record_details(results: &[RollResult], chances: &LineChances, line: String, rng: RandomReport) -> RollDetails {
    let (result, at_least_chance) = match results {
        [result] => (json!(result), chances.at_least.first().cloned()),
        results => {
            let lines = results.iter().enumerate();
            let lines = lines.map(|(at, result)| {
                RolledLine::new(result.clone(), chances.at_least.get(at).cloned(), RollDetail::Full)
            });
            (json!({"rolls": lines.collect::<Vec<_>>()}), None)
        }
    };
    let odds = RollOdds { at_least_chance, success_chance: chances.success.clone(), luck: chances.luck };
    RollDetails { expression: Some(line), result, odds, rng: Some(rng) }
}

/// How likely the results of a line were.
#[derive(Default)]
struct LineChances {
    success: Option<Exact>,
    /// Of each result; empty where there is something to reach.
    at_least: Vec<Exact>,
    /// Of a roll that is not repeated.
    luck: Option<f64>,
}

async fn compute_chances(app: &App, notation: &Notation, results: Vec<RollResult>) -> Result<LineChances, Fault> {
    let notation = notation.clone();
    let compute = move |budget: &ComputationBudget| {
        let odds = compute_odds(&notation, "expression", budget)?;
        let at_least = if odds.success.is_none() {
            results.iter().map(|result| odds.chance_of_at_least(result.total)).collect()
        } else {
            Vec::new()
        };
        let luck = match results.as_slice() {
            [result] => Some(odds.luck_of(result)),
            _ => None,
        };
        Ok(LineChances { success: odds.success, at_least, luck })
    };
    app.compute(compute).await
}
