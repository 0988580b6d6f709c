//! Draws the bars of a chart: one for each total, or an outline where there are too many to tell apart.

use std::fmt::Write;

use super::chart::{ChartMode, Mark};
use super::measure_and_format_text::{format_percent, text_width};
use super::palette::Ink;
use super::scale::{ChanceScale, PlotArea, Totals};
use super::svg::{Svg, format_number};

/// A slot narrower than this has no bar of its own.
const SLOT_MIN: f64 = 5.0;
/// A narrower slot has no space for the bars of two series.
const SLOT_MIN_OF_TWO: f64 = 15.0;
/// Totals up to which far-apart ones are drawn as sticks.
pub(super) const STICKS_MAX: usize = 120;
const BAR_WIDTH_MAX: f64 = 56.0;
const STICK_WIDTH: f64 = 3.0;
/// Narrower steps of an outline are drawn as one.
const STEP_MIN: f64 = 1.0;
const LABEL_SIZE: f64 = 10.5;

/// How totals are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlotShape {
    Bars,
    /// Thin bars, for few totals that are far apart.
    Sticks,
    Outline,
}

impl PlotShape {
    pub(super) fn choose(series: &[Vec<(i64, f64)>], mode: ChartMode, totals: Totals) -> Self {
        let most = series.iter().map(Vec::len).max().unwrap_or(0);
        let slot_min = if series.len() > 1 { SLOT_MIN_OF_TWO } else { SLOT_MIN };
        let is_sparse = totals.slot < SLOT_MIN && most <= STICKS_MAX;
        match mode {
            _ if totals.slot >= slot_min => Self::Bars,
            ChartMode::Exactly if is_sparse => Self::Sticks,
            _ => Self::Outline,
        }
    }
}

/// Where and how bars are drawn.
pub(super) struct Plot {
    pub(super) totals: Totals,
    pub(super) chances: ChanceScale,
    pub(super) area: PlotArea,
    pub(super) mark: Option<Mark>,
    pub(super) shape: PlotShape,
}

/// A piece of an outline: all of it succeeds, or none.
struct PlotStep {
    from: f64,
    to: f64,
    y: f64,
    succeeds: bool,
}

impl Plot {
    pub(super) fn draw(&self, svg: &mut Svg, series: &[Vec<(i64, f64)>], mode: ChartMode) {
        for (index, heights) in series.iter().enumerate() {
            if self.shape == PlotShape::Outline {
                self.draw_outline(svg, &self.outline_steps(heights, mode), SeriesStyle { index, of: series.len() });
            } else {
                self.draw_bars(svg, heights, SeriesStyle { index, of: series.len() });
            }
        }
    }

    /// Draws percentages above the bars, with as many decimals as fit.
    pub(super) fn draw_bar_labels(&self, svg: &mut Svg, series: &[Vec<(i64, f64)>]) {
        let look = SeriesStyle { index: 0, of: series.len() };
        let room = if look.of > 1 { self.bar_width(look) } else { self.totals.slot };
        let chances = || series.iter().flatten().map(|(_, chance)| *chance);
        let fits = |decimals: &usize| {
            chances().all(|chance| text_width(&format_percent(chance, *decimals), LABEL_SIZE) < room - 1.0)
        };
        let decimals = [1, 0].into_iter().find(fits);
        let Some(decimals) = decimals.filter(|_| self.shape == PlotShape::Bars) else { return };
        for (index, heights) in series.iter().enumerate() {
            let look = SeriesStyle { index, of: series.len() };
            for (value, chance) in heights {
                let x = self.bar_left(*value, look) + self.bar_width(look) / 2.0;
                let label = svg.label(x, self.chances.y(*chance) - 5.0, LABEL_SIZE).attribute("text-anchor", "middle");
                label.fill(Ink::Text).halo().text(&format_percent(*chance, decimals));
            }
        }
    }

    fn succeeds(&self, value: i64) -> bool {
        self.mark.is_none_or(|mark| mark.succeeds(value))
    }

    fn bar_width(&self, look: SeriesStyle) -> f64 {
        match self.shape {
            PlotShape::Sticks => STICK_WIDTH,
            _ if look.of > 1 => (self.totals.slot * 0.84 / 2.0).min(BAR_WIDTH_MAX),
            _ => (self.totals.slot * 0.8).min(BAR_WIDTH_MAX),
        }
    }

    fn bar_left(&self, value: i64, look: SeriesStyle) -> f64 {
        let (width, middle) = (self.bar_width(look), self.totals.slot_middle(value));
        match (look.of, look.index) {
            (1, _) => middle - width / 2.0,
            (_, 0) => middle - width,
            _ => middle,
        }
    }

    fn draw_bars(&self, svg: &mut Svg, heights: &[(i64, f64)], look: SeriesStyle) {
        let width = self.bar_width(look);
        for (value, chance) in heights.iter().filter(|(value, _)| self.totals.contains(*value)) {
            let (x, y) = (self.bar_left(*value, look), self.chances.y(*chance));
            // Every possible total gets a visible bar, however unlikely.
            let y = y.min(self.area.bottom - 0.75);
            let round = (width / 4.0).min(3.0).min(self.area.bottom - y);
            let (left, right) = (format_number(x), format_number(x + width));
            let path = format!(
                "M{left} {bottom}V{shoulder}Q{left} {top} {inner_left} {top}H{inner_right}\
                 Q{right} {top} {right} {shoulder}V{bottom}Z",
                bottom = format_number(self.area.bottom),
                shoulder = format_number(y + round),
                top = format_number(y),
                inner_left = format_number(x + round),
                inner_right = format_number(x + width - round),
            );
            look.fill(svg.element("path").attribute("d", &path), self.mark.is_some(), self.succeeds(*value)).end();
        }
    }

    /// The pieces of an outline from left to right. A gap between them always means a chance of zero.
    fn outline_steps(&self, heights: &[(i64, f64)], mode: ChartMode) -> Vec<PlotStep> {
        let mut steps: Vec<PlotStep> = Vec::new();
        for (index, (value, chance)) in heights.iter().enumerate() {
            let before = index.checked_sub(1).and_then(|before| heights.get(before)).map(|(value, _)| *value);
            let after = heights.get(index + 1).map(|(value, _)| *value);
            let from = match (mode, before) {
                (ChartMode::AtLeast, Some(before)) => self.totals.slot_end(before),
                (ChartMode::AtLeast, None) => self.area.left,
                _ => self.totals.slot_start(*value),
            };
            let to = match (mode, after) {
                (ChartMode::AtMost, Some(after)) => self.totals.slot_start(after),
                (ChartMode::AtMost, None) => self.area.right,
                _ => self.totals.slot_end(*value),
            };
            let (from, to) = (from.max(self.area.left), to.min(self.area.right));
            if to <= from {
                continue;
            }
            let step = PlotStep { from, to, y: self.chances.y(*chance), succeeds: self.succeeds(*value) };
            match steps.last_mut() {
                Some(last)
                    if last.to - last.from < STEP_MIN
                        && step.to - last.from < 2.0 * STEP_MIN
                        && last.succeeds == step.succeeds =>
                {
                    (last.to, last.y) = (step.to, last.y.min(step.y));
                }
                _ => steps.push(step),
            }
        }
        steps
    }

    fn draw_outline(&self, svg: &mut Svg, steps: &[PlotStep], look: SeriesStyle) {
        for run in steps.chunk_by(|one, other| one.succeeds == other.succeeds) {
            let Some(first) = run.first() else { continue };
            let bottom = format_number(self.area.bottom);
            let mut path = format!("M{} {bottom}", format_number(first.from));
            let mut reached = first.from;
            for step in run {
                if step.from > reached + 0.01 {
                    let _ = write!(path, "V{bottom}H{}", format_number(step.from));
                }
                let _ = write!(path, "V{}H{}", format_number(step.y), format_number(step.to));
                reached = step.to;
            }
            let _ = write!(path, "V{bottom}");
            let area = svg.element("path").attribute("d", &path);
            let area = look.fill(area, self.mark.is_some(), first.succeeds);
            if look.of > 1 {
                area.number("fill-opacity", 0.3).stroke(look.ink(), 1.5).attribute("stroke-linejoin", "round").end();
            } else {
                area.end();
            }
        }
    }
}

/// Which of how many series is drawn.
#[derive(Clone, Copy)]
struct SeriesStyle {
    index: usize,
    of: usize,
}

impl SeriesStyle {
    fn ink(self) -> Ink {
        if self.index == 0 { Ink::First } else { Ink::Second }
    }

    fn fill(self, element: super::svg::Element<'_>, is_marked: bool, succeeds: bool) -> super::svg::Element<'_> {
        match (self.of, is_marked, succeeds) {
            (1, true, true) => element.fill(Ink::Success),
            (1, true, false) => element.fill(Ink::Rest),
            (2.., true, false) => element.fill(self.ink()).number("opacity", 0.4),
            _ => element.fill(self.ink()),
        }
    }
}
