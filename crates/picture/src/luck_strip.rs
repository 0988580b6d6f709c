//! Draws luck: a row for each name, a dot for each roll between unlucky and lucky, and a bar at their average.

use super::measure_and_format_text::shorten;
use super::palette::Ink;
use super::svg::Svg;
use super::{Heading, MARGIN, Theme, begin_card};

const WIDTH: f64 = 480.0;
const ROW_HEIGHT: f64 = 30.0;
const NAME_WIDTH: f64 = 150.0;
const FOOTER_HEIGHT: f64 = 34.0;
const SMALL: f64 = 11.0;
const DOT_RADIUS: f64 = 3.5;
/// Dots of a row; earlier rolls are left out.
const DOTS_MAX: usize = 200;

/// The rolls of one name, each from 0, unlucky, to 1, lucky.
#[derive(Debug, Clone, Copy)]
pub struct LuckStripRow<'a> {
    pub name: &'a str,
    pub places: &'a [f64],
}

/// All that is on the picture.
#[derive(Debug, Clone, Copy)]
pub struct LuckStrip<'a> {
    pub title: &'a str,
    pub rows: &'a [LuckStripRow<'a>],
    pub theme: Theme,
}

impl LuckStrip<'_> {
    /// The picture as an SVG document.
    pub fn svg(&self) -> String {
        #[expect(clippy::cast_precision_loss, reason = "a picture has few rows")]
        let rows_height = ROW_HEIGHT * self.rows.len().max(1) as f64;
        let height = super::HEADING_BOTTOM + rows_height + FOOTER_HEIGHT;
        let description = self.description();
        let heading = Heading { title: self.title, subtitle: "", description: &description };
        let (mut svg, top) = begin_card(&heading, (WIDTH, height), self.theme);
        let (left, right, bottom) = (MARGIN + NAME_WIDTH, WIDTH - MARGIN, top + rows_height);
        let middle = f64::midpoint(left, right);
        svg.line((middle, top), (middle, bottom)).stroke(Ink::Rule, 1.0).end();
        let mut y = top + ROW_HEIGHT / 2.0;
        for row in self.rows {
            draw_row(&mut svg, row, y, (left, right));
            y += ROW_HEIGHT;
        }
        if self.rows.is_empty() {
            svg.label(MARGIN, y + 4.0, SMALL).fill(Ink::Muted).text("no rolls yet");
        }
        for (x, anchor, text) in [(left, "start", "unlucky"), (middle, "middle", "as likely"), (right, "end", "lucky")]
        {
            let label = svg.label(x, bottom + 18.0, SMALL).attribute("text-anchor", anchor);
            label.fill(Ink::Muted).text(text);
        }
        svg.finish()
    }

    fn description(&self) -> String {
        let rows = self.rows.iter().filter_map(|row| {
            let average = average(row.places)?;
            Some(format!(
                "{}: {} rolls, {:.0}% of the way from unlucky to lucky.",
                row.name,
                row.places.len(),
                average * 100.0
            ))
        });
        rows.collect::<Vec<_>>().join(" ")
    }
}

fn draw_row(svg: &mut Svg, row: &LuckStripRow, y: f64, (left, right): (f64, f64)) {
    let name = shorten(row.name, 12.5, NAME_WIDTH - 12.0);
    svg.label(MARGIN, y + 4.0, 12.5).fill(Ink::Text).text(&name);
    svg.line((left, y), (right, y)).stroke(Ink::Rule, 1.0).end();
    let x = |place: f64| left + place.clamp(0.0, 1.0) * (right - left);
    let places = row.places.iter().copied().filter(|place| place.is_finite());
    for place in places.skip(row.places.len().saturating_sub(DOTS_MAX)) {
        let ink = if place > 0.5 { Ink::Success } else { Ink::Second };
        let dot = svg.element("circle").number("cx", x(place)).number("cy", y).number("r", DOT_RADIUS);
        dot.attribute("fill-opacity", "0.6").fill(ink).end();
    }
    if let Some(average) = average(row.places) {
        svg.line((x(average), y - 9.0), (x(average), y + 9.0)).stroke(Ink::Text, 2.5).end();
    }
}

fn average(places: &[f64]) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "there are fewer rolls than a float has whole numbers")]
    let average = places.iter().sum::<f64>() / places.len() as f64;
    average.is_finite().then_some(average)
}
