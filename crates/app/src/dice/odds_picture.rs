//! `odds_picture`: odds as an SVG picture, a chart of totals or the grid of a Duality roll.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::dice::judge;
use skald_domain::dice::notation::{self, Comparison, Dialect, Duality, Edge, Expression, Notation, Roll};
use skald_domain::dice::odds::{ComputationBudget, Distribution, LineOdds, ratio_to_f64};

use super::expression_odds::{compute_odds, parse_expression};
use crate::{Allowed, App, Call, Caller, Exposed, Fault, Operation, OperationKind, PermissionClass, Route, Toolset};
use skald_picture::{Cell, Chart, ChartMode, Grid, Mark, Series, Theme};

pub(super) struct OddsPicture;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OddsPictureInput {
    /// Dice notation.
    #[schemars(extend("examples" = ["4d6kh3", "2d20kh1+5 >= 15", "2d6+3 vs 1d20", "duality(+2, dc 15)"]))]
    expression: String,
    /// A second expression, drawn over the first.
    #[schemars(extend("examples" = ["1d20"]))]
    against: Option<String>,
    /// Whose habits they are written in; found out by itself if left out.
    #[serde(default)]
    dialect: Dialect,
    /// What the bars show; exactly if left out. A Duality roll is drawn as a grid unless this is given.
    mode: Option<ChartMode>,
    /// The colours; those that the reader prefers if left out.
    #[serde(default)]
    theme: Theme,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct OddsPictureOutput {
    /// The picture, as SVG.
    text: String,
}

impl Operation for OddsPicture {
    const NAME: &'static str = "odds_picture";
    const TITLE: &'static str = "Odds as a picture";
    const SUMMARY: &'static str =
        "A chart of exact odds as SVG, of one expression or of two laid over each other; a grid for a Duality roll.";
    const TOOLSET: Toolset = Toolset::Dice;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::Anyone;
    const CLASS: PermissionClass = PermissionClass::Reference;
    const EXPOSED: Exposed = Exposed::NotAsTool;
    const ROUTES: &'static [Route] = &[Route::document("/api/v1/odds.svg", "image/svg+xml")];
    type Input = OddsPictureInput;
    type Output = OddsPictureOutput;

    async fn run(app: &App, _: &Call<'_>, input: OddsPictureInput) -> Result<OddsPictureOutput, Fault> {
        app.compute(move |budget| draw_picture(&input, budget).map(|text| OddsPictureOutput { text })).await
    }

    async fn complete(_: &App, _: &Caller, field: &str, typed: &str) -> Option<Vec<String>> {
        ["expression", "against"].contains(&field).then(|| notation::completions(typed))
    }
}

fn draw_picture(input: &OddsPictureInput, budget: &ComputationBudget) -> Result<String, Fault> {
    let notation = parse_expression(&input.expression, input.dialect, "expression")?;
    let odds = compute_odds(&notation, "expression", budget)?;
    let other = compute_overlay_odds(input.against.as_deref(), input.dialect, budget)?;
    let against = other.as_ref().map(|(name, odds)| (name.clone(), &odds.distribution));
    Ok(PictureView { notation: &notation, odds: &odds, against }.svg(input.mode, input.theme))
}

/// The name and the odds of the second expression, which is drawn over the first.
pub(super) fn compute_overlay_odds(
    against: Option<&str>,
    dialect: Dialect,
    budget: &ComputationBudget,
) -> Result<Option<(String, LineOdds)>, Fault> {
    let Some(against) = against else { return Ok(None) };
    let against = parse_expression(against, dialect, "against")?;
    let odds = compute_odds(&against, "against", budget)?;
    Ok(Some((against.roll.to_string(), odds)))
}

/// The content of an odds picture.
pub(super) struct PictureView<'a> {
    pub notation: &'a Notation,
    pub odds: &'a LineOdds,
    /// The name and the odds of the second expression, which is drawn over the first.
    pub against: Option<(String, &'a Distribution)>,
}

impl PictureView<'_> {
    pub(super) fn svg(&self, mode: Option<ChartMode>, theme: Theme) -> String {
        let title = self.notation.roll.to_string();
        match (&self.notation.roll, mode, &self.against) {
            (Roll::Duality(duality), None, None) if !has_more_dice(duality) => {
                let subtitle = self.subtitle();
                grid_svg(*duality, &Grid { title: &title, subtitle: &subtitle, theme })
            }
            _ => self.chart_svg(&title, mode.unwrap_or(ChartMode::Exactly), theme),
        }
    }

    fn chart_svg(&self, title: &str, mode: ChartMode, theme: Theme) -> String {
        let sides = opposed_sides(&self.notation.roll);
        let name = sides.as_ref().map_or_else(|| title.to_owned(), |(left, _)| left.clone());
        let of_line = sides.and_then(|(_, right)| Some((right, self.odds.against.as_ref()?)));
        let against = self.against.as_ref().map(|(name, odds)| (name.clone(), *odds)).or(of_line);
        let title = match &self.against {
            Some((other, _)) => format!("{title} and {other}"),
            None => title.to_owned(),
        };
        let (bars, other_bars) = (bars(&self.odds.distribution), against.as_ref().map(|(_, odds)| bars(odds)));
        let against = against.as_ref().zip(other_bars.as_deref()).map(|((name, _), bars)| Series { name, bars });
        let subtitle = self.subtitle();
        let series = Series { name: &name, bars: &bars };
        let chart =
            Chart { title: &title, subtitle: &subtitle, series, against, mode, mark: self.success_mark(), theme };
        chart.svg()
    }

    /// The chances that no bar shows.
    fn subtitle(&self) -> String {
        let percent = |chance: f64| format!("{:.2}%", chance * 100.0);
        // A mark or a grid shows success already, but a mark ignores critical successes: with an edge, both are shown.
        let has_edge = matches!(&self.notation.roll, Roll::Duality(duality) if has_more_dice(duality));
        let success = self.odds.success.as_ref().filter(|_| has_edge || opposed_sides(&self.notation.roll).is_some());
        let success = success.map(|chance| format!("success {}", percent(chance.decimal)));
        let tie = self.odds.tie.as_ref().map(|chance| format!("tie {}", percent(chance.decimal)));
        let beyond = self.odds.beyond_cap.as_ref().map(|chance| format!("beyond the cap {:.2e}", chance.decimal));
        [success, tie, beyond].into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }

    /// The totals that succeed, if the total alone decides. Critical successes are ignored.
    fn success_mark(&self) -> Option<Mark> {
        match &self.notation.roll {
            Roll::Duality(duality) if has_more_dice(duality) => {
                duality.difficulty.map(|difficulty| Mark { mode: ChartMode::AtLeast, value: difficulty.into() })
            }
            Roll::Check { comparison, right: Expression::Number(number), .. } => Some(match comparison {
                Comparison::Equal => Mark { mode: ChartMode::Exactly, value: *number },
                Comparison::AtLeast => Mark { mode: ChartMode::AtLeast, value: *number },
                Comparison::Over => Mark { mode: ChartMode::AtLeast, value: number.checked_add(1)? },
                Comparison::AtMost => Mark { mode: ChartMode::AtMost, value: *number },
                Comparison::Under => Mark { mode: ChartMode::AtMost, value: number.checked_sub(1)? },
            }),
            _ => None,
        }
    }
}

/// Whether Hope and Fear alone do not decide the total, so that no grid can show it.
fn has_more_dice(duality: &Duality) -> bool {
    duality.edge != Edge::None || duality.bonus_die.is_some()
}

/// Both sides of an opposed roll, as they are written.
fn opposed_sides(roll: &Roll) -> Option<(String, String)> {
    match roll {
        Roll::Versus { left, right } => Some((left.to_string(), right.to_string())),
        Roll::Check { left, right, .. } if !matches!(right, Expression::Number(_)) => {
            Some((left.to_string(), right.to_string()))
        }
        _ => None,
    }
}

fn bars(distribution: &Distribution) -> Vec<(i64, f64)> {
    distribution
        .weights()
        .iter()
        .map(|(value, weight)| (*value, ratio_to_f64(weight, distribution.total_weight())))
        .collect()
}

fn grid_svg(duality: Duality, grid: &Grid) -> String {
    grid.svg(|hope, fear| {
        let judgement = judge(hope, fear, duality.modifier, duality.difficulty);
        let judgement = judgement.expect("a grid has faces of dice, and a difficulty that was read");
        Cell { total: judgement.total, outcome: judgement.outcome }
    })
}
