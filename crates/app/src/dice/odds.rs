//! `odds`: exact odds of any dice expression.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::dice::notation::{self, Dialect};
use skald_domain::dice::odds::{self, ComputationBudget, Exact, ValueChance, sample_odds};
use skald_domain::dice::{RandomReport, RandomRequest, Randomness};
use skald_domain::limits;

use super::expression_odds::{compute_odds, parse_expression, sample_fault};
use super::odds_picture::{PictureView, compute_overlay_odds};
use crate::{Allowed, App, Call, Caller, Code, Fault, Operation, OperationKind, Route, Toolset};
use skald_picture::Theme;

/// The most rows of an answer without `from` and `to`.
const ROWS_DEFAULT_MAX: usize = 60;
/// The most rows of an answer with `from` or `to`.
const ROWS_IN_RANGE_MAX: usize = 200;

pub(super) struct OddsOperation;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OddsInput {
    /// Dice notation: 4d6kh3, 2d20kh1+5 >= 15, 2d6+3 vs 1d20, duality(+2, dc 15, adv).
    #[schemars(extend("examples" = ["2d20kh1+5 >= 15", "4d6kh3", "2d6+3 vs 1d20", "duality(+2, dc 15, adv)", "10d10!"]))]
    expression: String,
    /// Whose habits it is written in; found out by itself if left out.
    #[serde(default)]
    dialect: Dialect,
    /// A chance from 0 to 1: also answer the difficulty or the modifier that gives it.
    #[schemars(range(min = 0, max = 1))]
    target: Option<f64>,
    /// The first value to list; then up to 200 are listed instead of the 60 in the middle.
    from: Option<i64>,
    /// The last value to list.
    to: Option<i64>,
    /// Also show a picture.
    #[serde(default)]
    picture: bool,
    /// A second expression, laid over the first in the picture.
    #[schemars(extend("examples" = ["1d20", "3d6"]))]
    against: Option<String>,
    /// Estimate by so many rolls instead of counting: only for what is too much to count.
    #[schemars(range(min = 1, max = limits::SIMULATED_ROLLS_MAX))]
    simulate: Option<u32>,
    /// Only to repeat an earlier simulation: its seed, with roll_mode REPLAY.
    rng: Option<RandomRequest>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct OddsOutput {
    /// The expression in its canonical form.
    expression: String,
    lowest: i64,
    highest: i64,
    mean: Exact,
    standard_deviation: f64,
    /// The chance that the comparison holds, or that the left side is higher.
    #[serde(skip_serializing_if = "Option::is_none")]
    success: Option<Exact>,
    /// The chance that both sides are equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    tie: Option<Exact>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outcomes: Vec<OutcomeChance>,
    #[serde(skip_serializing_if = "Option::is_none")]
    need: Option<Need>,
    /// Why nothing gives the chance that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    need_unknown: Option<&'static str>,
    /// The chance that a die would have exploded more often than it may.
    #[serde(skip_serializing_if = "Option::is_none")]
    beyond_cap: Option<Exact>,
    values: Vec<ValueChance>,
    /// Whether values are missing: some of those between from and to, or those around the middle if neither was given.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    /// Present where these are estimates: all numbers are shares of the rolls that were made.
    #[serde(skip_serializing_if = "Option::is_none")]
    simulated: Option<Simulated>,
    /// An SVG, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    picture: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct OutcomeChance {
    outcome: skald_domain::dice::Outcome,
    chance: Exact,
}

/// What gives the chance that was asked for.
#[derive(Debug, Serialize, JsonSchema)]
struct Need {
    /// The highest total to ask for.
    #[serde(skip_serializing_if = "Option::is_none")]
    difficulty: Option<i64>,
    /// What to add to the left side.
    #[serde(skip_serializing_if = "Option::is_none")]
    modifier: Option<i64>,
    chance: Exact,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Simulated {
    rolls: u32,
    /// Nineteen times in twenty, a share is no further than this from the chance.
    margin_of_error: f64,
    rng: RandomReport,
}

impl Operation for OddsOperation {
    const NAME: &'static str = "odds";
    const TITLE: &'static str = "Odds of an expression";
    const SUMMARY: &'static str = "Exact odds of any dice expression, comparison or opposed roll, as fractions and decimals; \
        with target, what difficulty or modifier gives that chance. Rolls nothing unless told to simulate.";
    const TOOLSET: Toolset = Toolset::Dice;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::Anyone;
    const ROUTES: &'static [Route] = &[Route::get("/api/v1/odds")];
    const PICTURE: Option<&'static str> = Some("picture");
    type Input = OddsInput;
    type Output = OddsOutput;

    async fn run(app: &App, _: &Call<'_>, input: OddsInput) -> Result<OddsOutput, Fault> {
        check_input(&input)?;
        let entropy = app.entropy.bytes();
        app.compute(move |effort| compute_output(&input, entropy, effort)).await
    }

    async fn complete(_: &App, _: &Caller, field: &str, typed: &str) -> Option<Vec<String>> {
        ["expression", "against"].contains(&field).then(|| notation::completions(typed))
    }
}

fn check_input(input: &OddsInput) -> Result<(), Fault> {
    if let Some(target) = input.target.filter(|target| !(0.0..=1.0).contains(target)) {
        let fault = Fault::new(Code::InvalidParams, format!("target is {target}, allowed: 0 to 1"));
        return Err(fault.with_path("/target").hint("send a chance, as in 0.6 for 60 %"));
    }
    if let Some(rolls) = input.simulate.filter(|rolls| !(1..=limits::SIMULATED_ROLLS_MAX).contains(rolls)) {
        let most = limits::SIMULATED_ROLLS_MAX;
        let fault = Fault::new(Code::InvalidParams, format!("simulate is {rolls}, allowed: 1 to {most}"));
        return Err(fault.with_path("/simulate").hint("10000 rolls are right to about one percent"));
    }
    if let Some((from, to)) = input.from.zip(input.to).filter(|(from, to)| from > to) {
        let fault = Fault::new(Code::InvalidParams, format!("from is {from}, which is over to, {to}"));
        return Err(fault.with_path("/from").hint("send the lower one as from"));
    }
    if input.against.is_some() && !input.picture {
        let fault = Fault::new(Code::InvalidParams, "against is given, but only a picture shows it");
        return Err(fault
            .with_path("/against")
            .hint("send picture: true as well; for an opposed roll write 2d6 vs 1d20"));
    }
    if input.rng.is_some() && input.simulate.is_none() {
        let fault = Fault::new(Code::InvalidParams, "rng is given, but exact odds roll nothing");
        return Err(fault.with_path("/rng").hint("leave rng out, or say how many rolls to simulate"));
    }
    Ok(())
}

fn compute_output(input: &OddsInput, entropy: [u8; 32], effort: &ComputationBudget) -> Result<OddsOutput, Fault> {
    let notation = parse_expression(&input.expression, input.dialect, "expression")?;
    let (odds, simulated) = match input.simulate {
        None => (compute_odds(&notation, "expression", effort)?, None),
        Some(rolls) => {
            let mut randomness = Randomness::new(input.rng.unwrap_or_default(), entropy)?;
            let odds =
                sample_odds(&notation, rolls, &mut |sides| randomness.roll_die(sides), effort).map_err(sample_fault)?;
            // The 95 % margin, which is widest for a chance of one half: 1.96 · √(¼ / n).
            let margin_of_error = 0.98 / f64::from(rolls).sqrt();
            (odds, Some(Simulated { rolls, margin_of_error, rng: randomness.into_report() }))
        }
    };
    let other = compute_overlay_odds(input.against.as_deref(), input.dialect, effort)?;
    let against = other.as_ref().map(|(name, odds)| (name.clone(), &odds.distribution));
    let picture =
        input.picture.then(|| PictureView { notation: &notation, odds: &odds, against }.svg(None, Theme::Auto));
    let summary = odds.summary();
    let rows_max = if input.from.or(input.to).is_some() { ROWS_IN_RANGE_MAX } else { ROWS_DEFAULT_MAX };
    let table = odds.distribution.table(input.from, input.to, rows_max);
    let (need, need_unknown) = match input.target.map(|target| odds.need(target)) {
        Some(Ok(need)) => (Some(need.into()), None),
        Some(Err(why)) => (None, Some(why)),
        None => (None, None),
    };
    Ok(OddsOutput {
        expression: notation.roll.to_string(),
        lowest: summary.lowest,
        highest: summary.highest,
        mean: summary.mean,
        standard_deviation: summary.standard_deviation,
        need,
        need_unknown,
        outcomes: odds.outcomes.into_iter().map(|(outcome, chance)| OutcomeChance { outcome, chance }).collect(),
        success: odds.success,
        tie: odds.tie,
        beyond_cap: odds.beyond_cap,
        values: table.rows,
        truncated: table.is_part,
        simulated,
        picture,
    })
}

impl From<odds::Need> for Need {
    fn from(need: odds::Need) -> Self {
        Self { difficulty: need.difficulty, modifier: need.modifier, chance: need.chance }
    }
}
