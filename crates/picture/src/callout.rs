//! Callouts of a chart: dashed lines with labels for its means and its mark.

use super::chart::{ChartMode, Mark};
use super::chart_series::RollSeries;
use super::measure_and_format_text::{BOLD, format_decimal, format_percent, text_width};
use super::palette::Ink;
use super::scale::{PlotArea, Totals};
use super::svg::Svg;

const SIZE: f64 = 11.0;
const ROW_HEIGHT: f64 = 17.0;

/// A dashed line with its label. Labels are placed in rows above the bars, so that they never overlap.
struct Callout {
    x: f64,
    middle: f64,
    row: u8,
    text: String,
    ink: Ink,
    text_ink: Ink,
    dashes: &'static str,
    has_line: bool,
}

/// All of a chart's callouts.
pub(super) struct Callouts {
    all: Vec<Callout>,
    rows: u8,
    /// The baseline of the highest row.
    first_baseline: f64,
}

impl Callouts {
    pub(super) fn new(rolls: &[RollSeries], mark: Option<Mark>, totals: Totals, area: PlotArea) -> Self {
        let mut callouts: Vec<Callout> = Vec::new();
        for (roll, ink) in rolls.iter().zip([Ink::First, Ink::Second]) {
            let Some(mean) = roll.mean().filter(|_| roll.bars.len() > 1) else { continue };
            let (ink, text_ink) = if rolls.len() > 1 { (ink, ink) } else { (Ink::Text, Ink::Muted) };
            let x = totals.x_between(mean).clamp(area.left, area.right);
            let text = format!("mean {}", format_decimal(mean));
            callouts.push(Callout { x, middle: x, row: 0, text, ink, text_ink, dashes: "2 3", has_line: true });
        }
        callouts.extend(mark.map(|mark| Callout::from_mark(mark, rolls, totals, area)));
        for index in 0..callouts.len() {
            let (placed, rest) = callouts.split_at_mut(index);
            rest[0].place(placed, area);
        }
        let rows = callouts.iter().map(|callout| callout.row + 1).max().unwrap_or(0);
        Self { all: callouts, rows, first_baseline: area.top + SIZE + 2.0 }
    }

    pub(super) fn height(&self) -> f64 {
        ROW_HEIGHT * f64::from(self.rows)
    }

    fn baseline(&self, callout: &Callout) -> f64 {
        self.first_baseline + ROW_HEIGHT * f64::from(self.rows - 1 - callout.row)
    }

    pub(super) fn draw_lines(&self, svg: &mut Svg, bottom: f64) {
        for callout in self.all.iter().filter(|callout| callout.has_line) {
            let line = svg.line((callout.x, self.baseline(callout) + 4.0), (callout.x, bottom));
            line.stroke(callout.ink, 1.5).attribute("stroke-dasharray", callout.dashes).end();
        }
    }

    pub(super) fn draw_labels(&self, svg: &mut Svg) {
        for callout in &self.all {
            let text = svg.label(callout.middle, self.baseline(callout), SIZE).attribute("text-anchor", "middle");
            text.attribute("font-weight", "bold").fill(callout.text_ink).halo().text(&callout.text);
        }
    }
}

impl Callout {
    fn from_mark(mark: Mark, rolls: &[RollSeries], totals: Totals, area: PlotArea) -> Self {
        let chances: Vec<String> = rolls.iter().map(|roll| format_percent(roll.chance(mark), 2)).collect();
        let x = match mark.mode {
            ChartMode::Exactly => totals.slot_middle(mark.value),
            ChartMode::AtLeast => totals.slot_start(mark.value),
            ChartMode::AtMost => totals.slot_end(mark.value),
        };
        let x = x.clamp(area.left, area.right);
        let text = format!("{}: {}", mark.label(), chances.join(" against "));
        let ink = if rolls.len() > 1 { Ink::Text } else { Ink::Success };
        // For an exact value its bar is highlighted, so no line is needed.
        let has_line = mark.mode != ChartMode::Exactly && totals.contains(mark.value);
        Self { x, middle: x, row: 0, text, ink, text_ink: ink, dashes: "6 3", has_line }
    }

    fn half_width(&self) -> f64 {
        text_width(&self.text, SIZE * BOLD) / 2.0
    }

    /// Moves the label inside the area and above all labels that it would overlap.
    fn place(&mut self, placed: &[Self], area: PlotArea) {
        let half = self.half_width();
        self.middle = self.x.clamp(area.left + half, (area.right - half).max(area.left + half));
        let meets = |other: &&Self| (other.middle - self.middle).abs() < half + other.half_width() + 8.0;
        self.row = placed.iter().filter(meets).map(|other| other.row + 1).max().unwrap_or(0);
    }
}
