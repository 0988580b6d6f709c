//! Draws the grid of a Duality roll: Hope across, Fear down, and the outcome of each of the 144 pairs.
//!
//! Colour is not all that tells outcomes apart: each has a sign of its own, filled where the roll succeeds.

use skald_domain::dice::{DUALITY_SIDES, Outcome};

use super::measure_and_format_text::{format_integer, format_percent, shorten, text_width};
use super::palette::Ink;
use super::svg::{Svg, format_number};
use super::{Heading, MARGIN, Theme, WIDTH, begin_card};

const CELL_WIDTH: f64 = 35.0;
const CELL_HEIGHT: f64 = 26.0;
/// From the card's edge to the first column: space for the numbers of the Fear die.
const LEFT: f64 = 62.0;
const LEGEND_GAP: f64 = 28.0;
const SMALL: f64 = 11.0;
/// Room for a total, beside the sign.
const TOTAL_WIDTH: f64 = 18.5;
/// A total that would be smaller than this is left out.
const TOTAL_SIZE_MIN: f64 = 7.0;
const PAIRS: f64 = 144.0;

/// The result of a pair of dice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    pub total: i64,
    pub outcome: Outcome,
}

/// All that is on a grid.
#[derive(Debug, Clone, Copy)]
pub struct Grid<'a> {
    pub title: &'a str,
    /// A line below the title; may be empty.
    pub subtitle: &'a str,
    pub theme: Theme,
}

impl Grid<'_> {
    /// The grid as an SVG document. Calls `cell` once for each pair of Hope and Fear from 1 to 12.
    pub fn svg(&self, cell: impl Fn(i32, i32) -> Cell) -> String {
        let sides = || 1..=i32::try_from(DUALITY_SIDES).unwrap_or(12);
        let cells: Vec<(i32, i32, Cell)> = sides()
            .flat_map(|fear| sides().map(move |hope| (hope, fear)))
            .map(|(hope, fear)| (hope, fear, cell(hope, fear)))
            .collect();
        let counts = outcome_counts(&cells);
        let description = description(&counts);
        let heading = Heading { title: self.title, subtitle: self.subtitle, description: &description };
        let top = super::HEADING_BOTTOM + if self.subtitle.is_empty() { 0.0 } else { super::SUBTITLE_HEIGHT } + 40.0;
        let height = top + 12.0 * CELL_HEIGHT + MARGIN;
        let (mut svg, _) = begin_card(&heading, (WIDTH, height), self.theme);
        let size = total_size(&cells);
        draw_heads(&mut svg, top);
        for (hope, fear, cell) in &cells {
            let x = LEFT + f64::from(*hope - 1) * CELL_WIDTH;
            let y = top + f64::from(*fear - 1) * CELL_HEIGHT;
            draw_cell(&mut svg, x, y, *cell, size);
        }
        draw_legend(&mut svg, &counts, top);
        svg.finish()
    }
}

/// The number of cells of each outcome, best first.
fn outcome_counts(cells: &[(i32, i32, Cell)]) -> Vec<(Outcome, u8)> {
    let order = [
        Outcome::CriticalSuccess,
        Outcome::SuccessWithHope,
        Outcome::SuccessWithFear,
        Outcome::RollWithHope,
        Outcome::RollWithFear,
        Outcome::FailureWithHope,
        Outcome::FailureWithFear,
    ];
    let count = |outcome| {
        cells.iter().filter(|(_, _, cell)| cell.outcome == outcome).fold(0_u8, |sum, _| sum.saturating_add(1))
    };
    order.into_iter().map(|outcome| (outcome, count(outcome))).filter(|(_, count)| *count > 0).collect()
}

fn description(counts: &[(Outcome, u8)]) -> String {
    let parts: Vec<String> = counts
        .iter()
        .map(|(outcome, count)| {
            format!("{}: {count} of 144, {}", outcome.label(), format_percent(f64::from(*count) / PAIRS, 2))
        })
        .collect();
    format!("Hope die across, Fear die down. {}.", parts.join("; "))
}

/// The faces of both dice, and which die is which.
fn draw_heads(svg: &mut Svg, top: f64) {
    let middle = LEFT + 6.0 * CELL_WIDTH;
    let head = svg.label(middle, top - 24.0, SMALL).attribute("text-anchor", "middle");
    head.attribute("font-weight", "bold").fill(Ink::Text).text("Hope →");
    let (x, y) = (MARGIN + 8.0, top + 6.0 * CELL_HEIGHT);
    let head = svg.label(x, y, SMALL).attribute("text-anchor", "middle");
    let head = head.attribute("transform", &format!("rotate(-90 {} {})", format_number(x), format_number(y)));
    head.attribute("font-weight", "bold").fill(Ink::Text).text("← Fear");
    for face in 1..=12_u8 {
        let offset = f64::from(face) - 0.5;
        let across = svg.label(LEFT + offset * CELL_WIDTH, top - 7.0, SMALL).attribute("text-anchor", "middle");
        across.fill(Ink::Muted).text(&face.to_string());
        let down = svg.label(LEFT - 8.0, top + offset * CELL_HEIGHT + 4.0, SMALL).attribute("text-anchor", "end");
        down.fill(Ink::Muted).text(&face.to_string());
    }
}

/// A cell's colour and sign, and its total where there is room for it.
fn draw_cell(svg: &mut Svg, x: f64, y: f64, cell: Cell, size: Option<f64>) {
    let look = OutcomeStyle::from_outcome(cell.outcome);
    let rect = svg.element("rect").number("x", x + 1.0).number("y", y + 1.0).number("width", CELL_WIDTH - 2.0);
    rect.number("height", CELL_HEIGHT - 2.0).number("rx", 3.0).fill(look.ink).end();
    let middle = y + CELL_HEIGHT / 2.0;
    let Some(size) = size else { return draw_sign(svg, x + CELL_WIDTH / 2.0, middle, 4.6, look) };
    draw_sign(svg, x + 8.5, middle, 3.4, look);
    let label = svg.label(x + CELL_WIDTH - 3.0 - TOTAL_WIDTH / 2.0, middle + size * 0.36, size);
    label.attribute("text-anchor", "middle").fill(look.on).text(&format_integer(cell.total.into()));
}

/// The text size at which all totals fit their cells; `None` if it would be unreadable.
fn total_size(cells: &[(i32, i32, Cell)]) -> Option<f64> {
    let widest =
        cells.iter().map(|(_, _, cell)| text_width(&format_integer(cell.total.into()), 1.0)).fold(0.0, f64::max);
    Some((TOTAL_WIDTH / widest).min(SMALL)).filter(|size| *size >= TOTAL_SIZE_MIN)
}

/// Outcomes with their sign, their count and their share.
fn draw_legend(svg: &mut Svg, counts: &[(Outcome, u8)], top: f64) {
    let left = LEFT + 12.0 * CELL_WIDTH + LEGEND_GAP;
    let right = WIDTH - MARGIN;
    let mut y = top + 1.0;
    for (outcome, count) in counts {
        let look = OutcomeStyle::from_outcome(*outcome);
        let swatch = svg.element("rect").number("x", left).number("y", y).number("width", 22.0).number("height", 22.0);
        swatch.number("rx", 4.0).fill(look.ink).end();
        draw_sign(svg, left + 11.0, y + 11.0, 4.6, look);
        let name = shorten(outcome.label(), 12.5, right - left - 32.0);
        svg.label(left + 32.0, y + 9.5, 12.5).fill(Ink::Text).text(&name);
        let share = format!("{count} of 144 · {}", format_percent(f64::from(*count) / PAIRS, 2));
        svg.label(left + 32.0, y + 25.0, SMALL).fill(Ink::Muted).text(&share);
        y += 44.0;
    }
    let succeeds = |outcome: Outcome| OutcomeStyle::from_outcome(outcome).is_filled && !has_no_difficulty(outcome);
    let has_difficulty =
        counts.iter().any(|(outcome, _)| !has_no_difficulty(*outcome) && *outcome != Outcome::CriticalSuccess);
    if has_difficulty {
        let sum: u16 =
            counts.iter().filter(|(outcome, _)| succeeds(*outcome)).map(|(_, count)| u16::from(*count)).sum();
        svg.line((left, y), (right, y)).stroke(Ink::Rule, 1.0).end();
        let label = svg.label(left, y + 24.0, 12.5).attribute("font-weight", "bold").fill(Ink::Text);
        label.text(&format!("Success: {}", format_percent(f64::from(sum) / PAIRS, 2)));
        svg.label(left, y + 41.0, SMALL).fill(Ink::Muted).text(&format!("{sum} of 144"));
    }
}

/// Whether the outcome is of a roll without a difficulty, so neither success nor failure.
fn has_no_difficulty(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::RollWithHope | Outcome::RollWithFear)
}

/// How an outcome is drawn.
#[derive(Clone, Copy)]
struct OutcomeStyle {
    ink: Ink,
    on: Ink,
    sign: Sign,
    is_filled: bool,
}

#[derive(Clone, Copy)]
enum Sign {
    Diamond,
    Circle,
    Triangle,
}

impl OutcomeStyle {
    fn from_outcome(outcome: Outcome) -> Self {
        let (ink, on, sign, is_filled) = match outcome {
            Outcome::CriticalSuccess => (Ink::Critical, Ink::OnCritical, Sign::Diamond, true),
            Outcome::SuccessWithHope | Outcome::RollWithHope => {
                (Ink::HopeSuccess, Ink::OnHopeSuccess, Sign::Circle, true)
            }
            Outcome::SuccessWithFear | Outcome::RollWithFear => {
                (Ink::FearSuccess, Ink::OnFearSuccess, Sign::Triangle, true)
            }
            Outcome::FailureWithHope => (Ink::HopeFailure, Ink::OnHopeFailure, Sign::Circle, false),
            Outcome::FailureWithFear => (Ink::FearFailure, Ink::OnFearFailure, Sign::Triangle, false),
        };
        Self { ink, on, sign, is_filled }
    }
}

fn draw_sign(svg: &mut Svg, x: f64, y: f64, radius: f64, look: OutcomeStyle) {
    let at = |dx: f64, dy: f64| format!("{} {}", format_number(x + dx * radius), format_number(y + dy * radius));
    let shape = match look.sign {
        Sign::Circle => svg.element("circle").number("cx", x).number("cy", y).number("r", radius * 0.92),
        Sign::Triangle => {
            let path = format!("M{}L{}L{}Z", at(0.0, -1.05), at(1.0, 0.8), at(-1.0, 0.8));
            svg.element("path").attribute("d", &path)
        }
        Sign::Diamond => {
            let path = format!("M{}L{}L{}L{}Z", at(0.0, -1.25), at(1.15, 0.0), at(0.0, 1.25), at(-1.15, 0.0));
            svg.element("path").attribute("d", &path)
        }
    };
    if look.is_filled { shape.fill(look.on).end() } else { shape.fill(look.ink).stroke(look.on, 1.2).end() }
}
