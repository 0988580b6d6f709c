//! Draws a chart of totals and their chances, for one roll or for two side by side.

use schemars::JsonSchema;
use serde::Deserialize;

use super::callout::Callouts;
use super::chart_bars::{Plot, PlotShape, STICKS_MAX};
use super::chart_series::RollSeries;
use super::measure_and_format_text::{format_decimal, format_integer, format_percent, shorten, text_width};
use super::palette::Ink;
use super::scale::{ChanceScale, PlotArea, Totals};
use super::svg::Svg;
use super::{Heading, MARGIN, Theme, WIDTH, begin_card};

const HEIGHT: f64 = 400.0;
const LEFT: f64 = 66.0;
const BOTTOM: f64 = 346.0;
const SMALL: f64 = 11.0;
/// Range of totals past which a small number of them is drawn as sticks.
const SPAN_WIDE: i64 = 130;

/// What a bar stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChartMode {
    Exactly,
    AtLeast,
    AtMost,
}

impl ChartMode {
    fn matches(self, value: i64, mark: i64) -> bool {
        match self {
            Self::Exactly => value == mark,
            Self::AtLeast => value >= mark,
            Self::AtMost => value <= mark,
        }
    }

    fn caption(self) -> &'static str {
        match self {
            Self::Exactly => "Chance of each total",
            Self::AtLeast => "Chance of this total or more",
            Self::AtMost => "Chance of this total or less",
        }
    }
}

/// What a total needs to succeed: at least 15, at most 9.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    pub mode: ChartMode,
    pub value: i64,
}

impl Mark {
    pub(super) fn succeeds(self, value: i64) -> bool {
        self.mode.matches(value, self.value)
    }

    pub(super) fn label(self) -> String {
        let value = format_integer(self.value.into());
        match self.mode {
            ChartMode::Exactly => format!("exactly {value}"),
            ChartMode::AtLeast => format!("at least {value}"),
            ChartMode::AtMost => format!("at most {value}"),
        }
    }
}

/// A roll, and each total with the chance of exactly that one.
#[derive(Debug, Clone, Copy)]
pub struct Series<'a> {
    pub name: &'a str,
    pub bars: &'a [(i64, f64)],
}

/// All that is on a chart.
#[derive(Debug, Clone, Copy)]
pub struct Chart<'a> {
    pub title: &'a str,
    /// A line below the title; may be empty.
    pub subtitle: &'a str,
    pub series: Series<'a>,
    /// The series that it is compared with.
    pub against: Option<Series<'a>>,
    pub mode: ChartMode,
    pub mark: Option<Mark>,
    pub theme: Theme,
}

impl Chart<'_> {
    /// The chart as an SVG document.
    pub fn svg(&self) -> String {
        let rolls: Vec<RollSeries> =
            [Some(self.series), self.against].into_iter().flatten().map(RollSeries::new).collect();
        let description = self.description(&rolls);
        let heading = Heading { title: self.title, subtitle: self.subtitle, description: &description };
        let (mut svg, mut top) = begin_card(&heading, (WIDTH, HEIGHT), self.theme);
        if let [first, second] = rolls.as_slice() {
            top += 24.0;
            draw_legend(&mut svg, first, second, top - 7.0);
        }
        let whole_area = PlotArea { left: LEFT, right: WIDTH - MARGIN, top, bottom: BOTTOM };
        if rolls.iter().any(|roll| !roll.bars.is_empty()) {
            self.draw(&mut svg, &rolls, whole_area);
        } else {
            let middle = svg.label(WIDTH / 2.0, HEIGHT / 2.0, 14.0).attribute("text-anchor", "middle");
            middle.fill(Ink::Muted).text("nothing to show");
        }
        svg.finish()
    }

    fn draw(&self, svg: &mut Svg, rolls: &[RollSeries], mut area: PlotArea) {
        let (first, last) = self.visible_range(rolls);
        let totals = Totals::new(first, last, area);
        let callouts = Callouts::new(rolls, self.mark, totals, area);
        // Leave space for the label of the highest bar below the last row of callouts.
        area.top += callouts.height() + 20.0;
        let heights: Vec<Vec<(i64, f64)>> = match rolls {
            [first, second] => vec![first.heights(self.mode, &second.bars), second.heights(self.mode, &first.bars)],
            _ => rolls.iter().map(|roll| roll.heights(self.mode, &[])).collect(),
        };
        let highest = heights.iter().flatten().map(|(_, chance)| *chance).fold(0.0, f64::max);
        let chances = ChanceScale::new(highest, area);
        draw_axes(svg, totals, chances, area);
        let plot =
            Plot { totals, chances, area, mark: self.mark, shape: PlotShape::choose(&heights, self.mode, totals) };
        plot.draw(svg, &heights, self.mode);
        callouts.draw_lines(svg, area.bottom);
        plot.draw_bar_labels(svg, &heights);
        callouts.draw_labels(svg);
        self.draw_footer(svg, rolls, totals);
    }

    /// The first and the last total to draw.
    fn visible_range(&self, rolls: &[RollSeries]) -> (i64, i64) {
        let windows: Vec<(i64, i64)> = rolls.iter().filter_map(RollSeries::visible_range).collect();
        let mut first = windows.iter().map(|window| window.0).min().unwrap_or(0);
        let mut last = windows.iter().map(|window| window.1).max().unwrap_or(0);
        // A distant mark is left out, or it would squeeze the bars.
        let reach = last.saturating_sub(first).max(3);
        let near = first.saturating_sub(reach)..=last.saturating_add(reach);
        if let Some(mark) = self.mark.filter(|mark| near.contains(&mark.value)) {
            (first, last) = (first.min(mark.value), last.max(mark.value));
        }
        let most = rolls.iter().map(|roll| roll.bars.len()).max().unwrap_or(0);
        let span = last.saturating_sub(first);
        if span > SPAN_WIDE && most <= STICKS_MAX {
            // Keep sticks at both ends off the frame.
            (first, last) = (first.saturating_sub(span / 40), last.saturating_add(span / 40));
        }
        (first, last)
    }

    fn draw_footer(&self, svg: &mut Svg, rolls: &[RollSeries], totals: Totals) {
        let y = HEIGHT - 17.0;
        svg.label(LEFT, y, SMALL).fill(Ink::Muted).text(self.mode.caption());
        let is_cut = rolls.iter().flat_map(|roll| &roll.bars).any(|(value, _)| !totals.contains(*value));
        if is_cut {
            let bounds = rolls.iter().filter_map(RollSeries::bounds);
            let (lowest, highest) =
                bounds.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1))).unwrap_or((0, 0));
            let note = format!(
                "not drawn: the least likely of {} to {}, under 0.1% together",
                format_integer(lowest.into()),
                format_integer(highest.into())
            );
            let room = WIDTH - MARGIN - LEFT - text_width(self.mode.caption(), SMALL) - 16.0;
            let label = svg.label(WIDTH - MARGIN, y, SMALL).attribute("text-anchor", "end");
            label.fill(Ink::Muted).text(&shorten(&note, SMALL, room));
        }
    }

    fn description(&self, rolls: &[RollSeries]) -> String {
        let mut sentences = vec![format!("{}.", self.mode.caption())];
        for roll in rolls {
            let Some((lowest, highest)) = roll.bounds() else { continue };
            let mean = roll.mean().map(|mean| format!(", mean {}", format_decimal(mean))).unwrap_or_default();
            sentences.push(format!(
                "{}: {} to {}{mean}.",
                roll.name,
                format_integer(lowest.into()),
                format_integer(highest.into())
            ));
            if let Some(mark) = self.mark {
                sentences.push(format!("The chance of {} is {}.", mark.label(), format_percent(roll.chance(mark), 2)));
            }
        }
        sentences.join(" ")
    }
}

/// The two names, each with its colour.
fn draw_legend(svg: &mut Svg, first: &RollSeries, second: &RollSeries, y: f64) {
    let room = (WIDTH - 2.0 * MARGIN) / 2.0 - 30.0;
    let mut x = MARGIN;
    for (roll, ink) in [(first, Ink::First), (second, Ink::Second)] {
        let swatch = svg.element("rect").number("x", x).number("y", y - 9.5).number("width", 11.0);
        swatch.number("height", 11.0).number("rx", 2.5).fill(ink).end();
        let name = shorten(roll.name, 12.5, room);
        svg.label(x + 17.0, y, 12.5).fill(Ink::Text).text(&name);
        x += 17.0 + text_width(&name, 12.5) + 22.0;
    }
}

/// Lines and labels of both axes.
fn draw_axes(svg: &mut Svg, totals: Totals, chances: ChanceScale, area: PlotArea) {
    for (chance, label) in chances.ticks() {
        let y = chances.y(chance);
        let ink = if chance > 0.0 { Ink::Rule } else { Ink::Muted };
        svg.line((area.left, y), (area.right, y)).stroke(ink, 1.0).end();
        let text = svg.label(area.left - 8.0, y + 4.0, SMALL).attribute("text-anchor", "end");
        text.fill(Ink::Muted).text(&label);
    }
    let widest = [totals.first, totals.last]
        .map(|value| text_width(&format_integer(value.into()), SMALL))
        .into_iter()
        .fold(0.0, f64::max);
    for value in totals.ticks(widest + 8.0) {
        let half = text_width(&format_integer(value.into()), SMALL) / 2.0;
        let x = totals.slot_middle(value).min(WIDTH - MARGIN / 2.0 - half);
        let text = svg.label(x, area.bottom + 17.0, SMALL).attribute("text-anchor", "middle");
        text.fill(Ink::Text).text(&format_integer(value.into()));
    }
}
