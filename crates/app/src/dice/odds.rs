//! Exact odds of any expression.

use domain::dice::notation::Dialect;
use domain::dice::odds::{Exact, LineOdds, OddsRefusal, line_odds};
use num_bigint::BigUint;
use num_traits::Zero;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::roll::read;
use crate::{Allowed, App, Caller, Code, Fault, Kind, Operation, Route, Toolset, Verb};

/// Rows that an answer has at most.
const ROWS_MAX: usize = 60;

pub(super) struct Odds;

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
    /// The first value to list.
    from: Option<i64>,
    /// The last value to list.
    to: Option<i64>,
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
    /// The chance that a die would have exploded more often than it may.
    #[serde(skip_serializing_if = "Option::is_none")]
    beyond_cap: Option<Exact>,
    values: Vec<ValueChance>,
    /// Whether there are more values than are listed; ask for them by from and to.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ValueChance {
    value: i64,
    exactly: Exact,
    at_least: f64,
    at_most: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct OutcomeChance {
    outcome: domain::dice::Outcome,
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

impl Operation for Odds {
    const NAME: &'static str = "odds";
    const TITLE: &'static str = "Odds of an expression";
    const SUMMARY: &'static str = "Exact odds of any dice expression, comparison or opposed roll, as fractions and decimals; \
        with target, what difficulty or modifier gives that chance. Rolls nothing.";
    const TOOLSET: Toolset = Toolset::Dice;
    const KIND: Kind = Kind::Read;
    const ALLOWED: Allowed = Allowed::Anyone;
    const ROUTES: &'static [Route] = &[Route { verb: Verb::Get, path: "/odds" }];
    type Input = OddsInput;
    type Output = OddsOutput;

    async fn run(app: &App, _: &Caller, input: OddsInput) -> Result<OddsOutput, Fault> {
        if let Some(target) = input.target.filter(|target| !(0.0..=1.0).contains(target)) {
            let fault = Fault::new(Code::InvalidParams, format!("target is {target}, allowed: 0 to 1"));
            return Err(fault.at("/target").hint("send a chance, as in 0.6 for 60 %"));
        }
        // Large expressions take a while; others go on meanwhile.
        let work = tokio::task::spawn_blocking(move || answer(&input));
        work.await.unwrap_or_else(|error| Err(Fault::internal(error, app.request_id())))
    }
}

fn answer(input: &OddsInput) -> Result<OddsOutput, Fault> {
    let notation = read(&input.expression, input.dialect)?;
    let odds = line_odds(&notation.roll).map_err(refused)?;
    let (numerator, denominator) = odds.distribution.mean();
    let (values, truncated) = values(&odds, input.from, input.to);
    Ok(OddsOutput {
        expression: notation.roll.to_string(),
        lowest: odds.distribution.lowest(),
        highest: odds.distribution.highest(),
        mean: Exact::signed(&numerator, &denominator),
        standard_deviation: odds.distribution.standard_deviation(),
        need: input.target.and_then(|target| odds.need(target)).map(|need| Need {
            difficulty: need.difficulty,
            modifier: need.modifier,
            chance: need.chance,
        }),
        outcomes: odds
            .outcomes
            .iter()
            .map(|(outcome, chance)| OutcomeChance { outcome: *outcome, chance: chance.clone() })
            .collect(),
        success: odds.success,
        tie: odds.tie,
        beyond_cap: odds.beyond_cap,
        values,
        truncated,
    })
}

fn refused(refusal: OddsRefusal) -> Fault {
    let (code, hint) = match refusal {
        OddsRefusal::TooCostly => (Code::TooLarge, "ask for fewer dice, smaller ones, or keep fewer of them"),
        OddsRefusal::DivisionByZero => (Code::InvalidParams, "divide by something that is never zero"),
        OddsRefusal::NumberTooLarge => (Code::InvalidParams, "use smaller numbers"),
    };
    Fault::new(code, refusal.to_string()).at("/expression").hint(hint)
}

/// The values that were asked for, or those around the mean; and whether there are more.
fn values(odds: &LineOdds, from: Option<i64>, to: Option<i64>) -> (Vec<ValueChance>, bool) {
    let distribution = &odds.distribution;
    let whole = distribution.whole();
    let asked = |value: i64| from.is_none_or(|from| value >= from) && to.is_none_or(|to| value <= to);
    let weights: Vec<&(i64, BigUint)> = distribution.weights().iter().filter(|(value, _)| asked(*value)).collect();
    let window = if from.is_some() || to.is_some() { 0 } else { middle(odds, weights.len()) };
    let mut below: BigUint =
        distribution.weight_where(|value| weights.get(window).is_some_and(|(first, _)| value < *first));
    let mut rows = Vec::new();
    for (value, weight) in weights.iter().skip(window).take(ROWS_MAX) {
        let at_least = Exact::new(&(whole - &below), whole).decimal;
        below += weight;
        let at_most = Exact::new(&below, whole).decimal;
        rows.push(ValueChance { value: *value, exactly: Exact::new(weight, whole), at_least, at_most });
    }
    let truncated = rows.len() < distribution.weights().len();
    (rows, truncated)
}

/// Where to begin so that the middle of the distribution is listed.
fn middle(odds: &LineOdds, rows: usize) -> usize {
    let distribution = &odds.distribution;
    let (mut sum, half) = (BigUint::zero(), distribution.whole() / 2_u32);
    let median = distribution.weights().iter().position(|(_, weight)| {
        sum += weight;
        sum > half
    });
    median.unwrap_or_default().saturating_sub(ROWS_MAX / 2).min(rows.saturating_sub(ROWS_MAX))
}
