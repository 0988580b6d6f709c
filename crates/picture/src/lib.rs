//! Draws SVG pictures: charts of totals, grids of Duality rolls, strips of luck, maps of universes, flow charts of
//! processes, and graphs of entities that mention each other.
//!
//! The same input gives the same text every time. Nothing here knows an operation or a rule of the game. Each element
//! has its light colours as attributes, and a style sheet turns them dark where the reader prefers that; a renderer
//! without media queries shows the light card.

mod callout;
mod chart;
mod chart_bars;
mod chart_series;
mod duality_grid;
mod flow;
mod luck_strip;
mod measure_and_format_text;
mod mention_graph;
mod palette;
mod panel_area;
mod scale;
mod svg;
#[cfg(test)]
mod tests;
mod universe_map;

pub use chart::{Chart, ChartMode, Mark, Series};
pub use duality_grid::{Cell, Grid};
pub use flow::{Arrow, Flow, FlowProgress, Stop};
pub use luck_strip::{LuckStrip, LuckStripRow};
pub use mention_graph::{GraphRelationship, MentionGraph, MentionGraphEdge, MentionGraphNode};
pub use palette::palette;
pub use universe_map::{Band, Cloud, Path, Point, Ring, SceneBody, SceneBodyKind, UniverseScene};

use schemars::JsonSchema;
use serde::Deserialize;

use measure_and_format_text::shorten;
use palette::Ink;
use svg::Svg;

/// Units across, of a chart or a grid.
const WIDTH: f64 = 720.0;
/// Distance between the card's edge and its contents.
const MARGIN: f64 = 24.0;
/// Bottom of the heading without a subtitle.
const HEADING_BOTTOM: f64 = 48.0;
/// What a subtitle adds to that.
const SUBTITLE_HEIGHT: f64 = 20.0;

/// Which colours a picture has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Theme {
    /// Light, or dark where the reader prefers that.
    #[default]
    Auto,
    Light,
    Dark,
}

/// The heading of a picture.
struct Heading<'a> {
    title: &'a str,
    subtitle: &'a str,
    /// Text description for screen readers.
    description: &'a str,
}

/// Starts an SVG card with its heading. Also returns the y coordinate below the heading.
fn begin_card(heading: &Heading, (width, height): (f64, f64), theme: Theme) -> (Svg, f64) {
    let mut svg = Svg::new(width, height, theme);
    svg.element("title").text(heading.title);
    svg.element("desc").text(heading.description);
    let card = svg.element("rect").number("x", 0.5).number("y", 0.5);
    let card = card.number("width", width - 1.0).number("height", height - 1.0).number("rx", 12.0);
    card.fill(Ink::Card).stroke(Ink::Border, 1.0).end();
    let room = width - 2.0 * MARGIN;
    let title = svg.label(MARGIN, 38.0, 17.0).attribute("font-weight", "bold").fill(Ink::Text);
    title.text(&shorten(heading.title, 17.0 * measure_and_format_text::BOLD, room));
    if heading.subtitle.is_empty() {
        return (svg, HEADING_BOTTOM);
    }
    svg.label(MARGIN, 59.0, 12.5).fill(Ink::Muted).text(&shorten(heading.subtitle, 12.5, room));
    (svg, HEADING_BOTTOM + SUBTITLE_HEIGHT)
}

/// A count as a float.
fn count_to_f64(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::MAX, f64::from)
}
