//! `odds`: exact odds of any dice expression.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::dice::notation::{self, Dialect, Roll};
use skald_domain::dice::odds::{self, ComputationBudget, Exact, LineOdds, OddsSummary, ValueChance, sample_odds};
use skald_domain::dice::{Outcome, RandomReport, RandomRequest, Randomness};
use skald_domain::limits;

use super::expression_odds::{compute_odds, odds_fault, parse_expression, sample_fault};
use super::odds_picture::{PictureView, compute_overlay_odds};
use super::roll_summary::{format_percent, shorten_expression};
use crate::{Allowed, App, Call, Caller, Code, Fault, Operation, OperationKind, PermissionClass, Route, Toolset};
use skald_picture::Theme;

/// The most rows of an answer without `from` and `to`.
const ROWS_DEFAULT_MAX: usize = 60;
/// The most rows of an answer with `from` or `to`.
const ROWS_IN_RANGE_MAX: usize = 200;

/// The longest expression that a sentence names.
const NAME_CHARS_IN_SUMMARY: usize = 20;

pub(super) struct OddsOperation;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OddsInput {
    /// Dice notation: 4d6kh3, 2d20kh1+5 >= 15, 2d6+3 vs 1d20, duality(+2, dc 15, adv).
    #[schemars(extend("examples" = ["2d20kh1+5 >= 15", "4d6kh3", "2d6+3 vs 1d20", "duality(+2, dc 15, adv)", "10d10!"]))]
    expression: String,
    /// Found out if left out.
    #[serde(default)]
    dialect: Dialect,
    /// A chance from 0 to 1: also answer what gives it.
    #[schemars(range(min = 0, max = 1))]
    target: Option<f64>,
    /// `table` lists the chance of each value, the 60 in the middle.
    #[serde(default)]
    detail: OddsDetail,
    /// The first value to list, up to 200 of them.
    from: Option<i64>,
    /// The last value to list.
    to: Option<i64>,
    /// Also show a picture.
    #[serde(default)]
    picture: bool,
    /// A second expression to compare with.
    #[schemars(extend("examples" = ["1d20", "3d6"]))]
    against: Option<String>,
    /// Estimate by so many rolls: only for what is too much to count.
    #[schemars(range(min = 1, max = limits::SIMULATED_ROLLS_MAX))]
    simulate: Option<u32>,
    /// Only to repeat a simulation.
    rng: Option<RandomRequest>,
}

/// How much odds answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum OddsDetail {
    #[default]
    Short,
    Table,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct OddsOutput {
    /// The answer as a sentence.
    summary: String,
    /// The expression in its canonical form.
    expression: String,
    /// The chance that the comparison holds, or that the left side is higher.
    #[serde(skip_serializing_if = "Option::is_none")]
    success_chance: Option<Exact>,
    /// The chance that both sides are equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unlisted" = true))]
    tie: Option<Exact>,
    #[serde(flatten)]
    totals: Option<TotalsSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    need: Option<Need>,
    /// Why nothing gives the chance that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unlisted" = true))]
    need_unknown: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compared: Option<OddsComparison>,
    /// The chance that a die would have exploded more often than it may.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unlisted" = true))]
    beyond_cap: Option<Exact>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-unlisted" = true))]
    outcomes: Vec<OutcomeChance>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    values: Vec<ValueChance>,
    /// Whether values are missing: some of those between from and to, or those around the middle if neither was given.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("x-unlisted" = true))]
    truncated: bool,
    /// Present where these are estimates: all numbers are shares of the rolls that were made.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unlisted" = true))]
    simulated: Option<SimulatedOdds>,
    /// An SVG, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    picture: Option<String>,
}

/// The totals of a line in four numbers.
#[derive(Debug, Serialize, JsonSchema)]
struct TotalsSummary {
    lowest: i64,
    highest: i64,
    mean: Exact,
    #[schemars(extend("x-unlisted" = true))]
    standard_deviation: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct OutcomeChance {
    outcome: Outcome,
    exactly: Exact,
}

/// What gives the chance that was asked for.
#[derive(Debug, Serialize, JsonSchema)]
struct Need {
    /// The highest total to ask for.
    #[serde(skip_serializing_if = "Option::is_none")]
    difficulty: Option<i64>,
    /// What to add to the left side as it is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    add: Option<i64>,
    /// The modifier of a Duality roll, in place of the written one.
    #[serde(skip_serializing_if = "Option::is_none")]
    modifier_needed: Option<i64>,
    success_chance: Exact,
}

/// The second expression, and how its totals compare with those of the first.
#[derive(Debug, Serialize, JsonSchema)]
struct OddsComparison {
    expression: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    success_chance: Option<Exact>,
    mean: Exact,
    /// The chance that the first is higher.
    higher: Exact,
    equal: Exact,
    lower: Exact,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SimulatedOdds {
    rolls: u32,
    /// Nineteen times in twenty, a share is no further than this from the chance.
    margin_of_error: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    rng: Option<RandomReport>,
}

impl Operation for OddsOperation {
    const NAME: &'static str = "odds";
    const TITLE: &'static str = "Odds of an expression";
    const SUMMARY: &'static str = "Exact odds of any dice expression, comparison or opposed roll, or of two compared; \
        with target, what difficulty or modifier gives that chance. Rolls nothing unless simulate is set.";
    const TOOLSET: Toolset = Toolset::Dice;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::Anyone;
    const CLASS: PermissionClass = PermissionClass::Reference;
    const ROUTES: &'static [Route] = &[Route::get("/api/v1/odds")];
    const PICTURE: Option<&'static str> = Some("picture");
    type Input = OddsInput;
    type Output = OddsOutput;

    async fn run(app: &App, _: &Call<'_>, input: OddsInput) -> Result<OddsOutput, Fault> {
        check_input(&input)?;
        let entropy = app.entropy.bytes();
        app.compute(move |budget| compute_output(&input, entropy, budget)).await
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
    if input.rng.is_some() && input.simulate.is_none() {
        let fault = Fault::new(Code::InvalidParams, "rng is given, but exact odds roll nothing");
        return Err(fault.with_path("/rng").hint("leave rng out, or say how many rolls to simulate"));
    }
    Ok(())
}

fn compute_output(input: &OddsInput, entropy: [u8; 32], budget: &ComputationBudget) -> Result<OddsOutput, Fault> {
    let notation = parse_expression(&input.expression, input.dialect, "expression")?;
    let (odds, simulated) = match input.simulate {
        None => (compute_odds(&notation, "expression", budget)?, None),
        Some(rolls) => {
            let mut randomness = Randomness::new(input.rng.unwrap_or_default(), entropy)?;
            let odds =
                sample_odds(&notation, rolls, &mut |sides| randomness.roll_die(sides), budget).map_err(sample_fault)?;
            // The 95 % margin, which is widest for a chance of one half: 1.96 · √(¼ / n).
            let margin_of_error = 0.98 / f64::from(rolls).sqrt();
            (odds, Some(SimulatedOdds { rolls, margin_of_error, rng: Some(randomness.into_report()) }))
        }
    };
    let other = compute_overlay_odds(input.against.as_deref(), input.dialect, budget)?;
    let against = other.as_ref().map(|(name, odds)| (name.clone(), &odds.distribution));
    let picture =
        input.picture.then(|| PictureView { notation: &notation, odds: &odds, against }.svg(None, Theme::Auto));
    let detail = if input.from.or(input.to).is_some() { OddsDetail::Table } else { input.detail };
    let number = |exact: Exact| if detail == OddsDetail::Short { exact.shorten() } else { exact };
    let compared = match &other {
        Some((name, other)) => Some(compare_odds(name, (&odds, other), number, budget)?),
        None => None,
    };
    let (need, need_unknown) = match input.target.map(|target| odds.need(target)) {
        Some(Ok(need)) => (Some(Need::new(need, number)), None),
        Some(Err(why)) => (None, Some(why)),
        None => (None, None),
    };
    let summary = summarize_odds(&notation.roll, &odds, compared.as_ref(), (input.target, need.as_ref()));
    let summary = if simulated.is_some() { format!("about {summary}") } else { summary };
    let table = (detail == OddsDetail::Table).then(|| {
        let rows_max = if input.from.or(input.to).is_some() { ROWS_IN_RANGE_MAX } else { ROWS_DEFAULT_MAX };
        odds.distribution.table(input.from, input.to, rows_max)
    });
    // A short answer about a comparison has its chance, and not the totals.
    let totals = (table.is_some() || odds.success.is_none()).then(|| TotalsSummary::new(&odds, number));
    let expression = notation.roll.to_string();
    let output = OddsOutput {
        summary,
        expression: if table.is_some() { expression } else { shorten_expression(expression) },
        success_chance: odds.success.map(number),
        tie: odds.tie.map(number),
        totals,
        need,
        need_unknown,
        compared,
        beyond_cap: odds.beyond_cap.map(number),
        outcomes: Vec::new(),
        values: Vec::new(),
        truncated: false,
        simulated,
        picture,
    };
    let Some(table) = table else {
        let shows_seed = input.rng.is_some();
        let simulated = output.simulated.map(|made| SimulatedOdds { rng: made.rng.filter(|_| shows_seed), ..made });
        return Ok(OddsOutput { simulated, ..output });
    };
    let outcomes = odds.outcomes.into_iter().map(|(outcome, exactly)| OutcomeChance { outcome, exactly }).collect();
    Ok(OddsOutput { outcomes, values: table.rows, truncated: table.is_part, ..output })
}

fn compare_odds(
    name: &str,
    (odds, other): (&LineOdds, &LineOdds),
    number: impl Fn(Exact) -> Exact,
    budget: &ComputationBudget,
) -> Result<OddsComparison, Fault> {
    let [higher, equal, lower] = odds.compare_with(other, budget).map_err(|refusal| odds_fault(&refusal, "against"))?;
    Ok(OddsComparison {
        expression: shorten_expression(name.to_owned()),
        success_chance: other.success.clone().map(&number),
        mean: number(other.summary().mean),
        higher: number(higher),
        equal: number(equal),
        lower: number(lower),
    })
}

impl TotalsSummary {
    fn new(odds: &LineOdds, number: impl Fn(Exact) -> Exact) -> Self {
        let OddsSummary { lowest, highest, mean, standard_deviation } = odds.summary();
        let standard_deviation = number(Exact { fraction: None, decimal: standard_deviation }).decimal;
        Self { lowest, highest, mean: number(mean), standard_deviation }
    }
}

impl Need {
    fn new(need: odds::NeededNumber, number: impl Fn(Exact) -> Exact) -> Self {
        Self {
            difficulty: need.difficulty,
            add: need.add,
            modifier_needed: need.modifier_needed,
            success_chance: number(need.chance),
        }
    }
}

/// The numbers that were asked for, as a sentence: "80 % (36 with Hope, 36 with Fear, 8 critical)".
fn summarize_odds(
    roll: &Roll,
    odds: &LineOdds,
    compared: Option<&OddsComparison>,
    (target, need): (Option<f64>, Option<&Need>),
) -> String {
    let mut summary = summarize_line(roll, odds);
    if let Some(compared) = compared {
        let OddsComparison { expression, higher, equal, lower, .. } = compared;
        let _ = match &compared.success_chance {
            Some(chance) => write!(summary, "; the other {}", format_percent(chance.decimal)),
            None => write!(
                summary,
                "; higher than {} in {}, equal in {}, lower in {}",
                if expression.chars().count() <= NAME_CHARS_IN_SUMMARY { expression } else { "the other" },
                format_percent(higher.decimal),
                format_percent(equal.decimal),
                format_percent(lower.decimal)
            ),
        };
    }
    if let (Some(target), Some(need)) = (target, need) {
        let words = match (need.difficulty, need.add, need.modifier_needed) {
            (Some(difficulty), _, Some(modifier)) => format!("difficulty {difficulty}, or modifier {modifier:+}"),
            (Some(difficulty), ..) => format!("difficulty {difficulty}"),
            (None, Some(add), _) => format!("add {add:+}"),
            (None, None, _) => String::new(),
        };
        let (target, chance) = (format_percent(target), format_percent(need.success_chance.decimal));
        let _ = write!(summary, "; for {target}: {words} ({chance})");
    }
    summary
}

fn summarize_line(roll: &Roll, odds: &LineOdds) -> String {
    let share = |wanted: fn(Outcome) -> bool| {
        let found = odds.outcomes.iter().filter(|(outcome, _)| wanted(*outcome));
        format!("{:.0}", found.map(|(_, chance)| chance.decimal).sum::<f64>() * 100.0)
    };
    let critical = share(|outcome| outcome == Outcome::CriticalSuccess);
    let success = odds.success.as_ref().map(|chance| format_percent(chance.decimal));
    match (roll, success) {
        (Roll::Repeat { roll, times }, _) => format!("each of {times}: {}", summarize_line(roll, odds)),
        (Roll::Duality(_), Some(success)) => {
            let hope = share(|outcome| outcome == Outcome::SuccessWithHope);
            let fear = share(|outcome| outcome == Outcome::SuccessWithFear);
            format!("{success} ({hope} with Hope, {fear} with Fear, {critical} critical)")
        }
        (Roll::Duality(_), None) => {
            let hope = share(|outcome| outcome == Outcome::RollWithHope);
            let fear = share(|outcome| outcome == Outcome::RollWithFear);
            format!("{hope} % with Hope, {fear} % with Fear, {critical} % critical; {}", summarize_totals(odds))
        }
        (Roll::Versus { .. }, Some(success)) => {
            let tie = odds.tie.as_ref().map(|tie| format!(", {} tie", format_percent(tie.decimal)));
            format!("{success} that the left side is higher{}", tie.unwrap_or_default())
        }
        (_, Some(success)) => format!("{success} chance of success"),
        (_, None) => summarize_totals(odds),
    }
}

fn summarize_totals(odds: &LineOdds) -> String {
    let OddsSummary { lowest, highest, mean, .. } = odds.summary();
    format!("{lowest} to {highest}, {} on average", (mean.decimal * 100.0).round() / 100.0)
}
