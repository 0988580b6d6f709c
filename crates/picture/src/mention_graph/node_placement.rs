//! Fits the layout to the card: sizes of the card and of the circles, and circles far enough apart for their names.

use super::drawn_graph::DrawnGraph;
use super::entity_groups::{EntityGroup, group_counts};
use super::force_layout;
use crate::measure_and_format_text::text_width;
use crate::panel_area::PanelArea;
use crate::{HEADING_BOTTOM, MARGIN, Point, SUBTITLE_HEIGHT, WIDTH, count_to_f64};

/// Units across, of a graph of more than a few entities.
const WIDTH_LARGE: f64 = 960.0;
/// The most entities of a narrow card.
const SMALL_GRAPH: usize = 8;
/// The most entities whose names and circles have their full size.
const MIDDLE_GRAPH: usize = 30;
/// The most units for a distance of 1 in the layout, across and down.
const STRETCH_MAX: Point = (170.0, 120.0);
/// The width that is kept free for a name beside its circle.
const NAME_ROOM: f64 = 96.0;
/// How often circles that are too close are moved apart.
const SEPARATIONS: usize = 120;

/// Text size of the legend.
pub(super) const LEGEND_SIZE: f64 = 12.0;
pub(super) const LEGEND_ROW: f64 = 20.0;
/// From the start of a legend entry to its text, and from the end of its text to the next entry.
pub(super) const LEGEND_GAPS: (f64, f64) = (18.0, 20.0);
/// Distance from the panel to the first baseline of the legend.
pub(super) const LEGEND_TOP: f64 = 24.0;
/// Height of the note below the legend.
const NOTE_HEIGHT: f64 = 18.0;

/// An entity's circle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct EntityCircle {
    pub(super) at: Point,
    pub(super) radius: f64,
}

/// An entry of the legend at its left end.
pub(super) struct LegendEntry {
    pub(super) at: Point,
    pub(super) group: EntityGroup,
    pub(super) text: String,
}

/// Where everything is, except for lines and names.
pub(super) struct NodePlacement {
    pub(super) width: f64,
    pub(super) height: f64,
    /// The part of the card that the graph is drawn in.
    pub(super) panel: PanelArea,
    /// In the order of the entities.
    pub(super) circles: Vec<EntityCircle>,
    pub(super) legend: Vec<LegendEntry>,
    /// The baseline of the note below the legend.
    pub(super) note_y: f64,
    pub(super) name_size: f64,
}

impl NodePlacement {
    pub(super) fn new(graph: &DrawnGraph) -> Self {
        let count = graph.entities.len();
        let width = if count <= SMALL_GRAPH { WIDTH } else { WIDTH_LARGE };
        let panel = PanelArea {
            left: MARGIN,
            top: HEADING_BOTTOM + SUBTITLE_HEIGHT + 6.0,
            width: width - 2.0 * MARGIN,
            height: (250.0 + 8.5 * count_to_f64(count)).clamp(290.0, 1_000.0).round(),
        };
        let legend = place_legend(graph, &panel);
        let legend_bottom = legend.last().map_or(panel.bottom() + 4.0, |entry| entry.at.1);
        let note_y = legend_bottom + NOTE_HEIGHT + 2.0;
        let has_note = count > 0 || graph.left_out > 0;
        let height = if has_note { note_y + MARGIN - 6.0 } else { panel.bottom() + MARGIN };
        let name_size = if count <= MIDDLE_GRAPH { 12.0 } else { 11.0 };
        let circles = place_circles(graph, &panel, name_size);
        Self { width, height, panel, circles, legend, note_y, name_size }
    }
}

/// Lays the legend out in rows.
fn place_legend(graph: &DrawnGraph, panel: &PanelArea) -> Vec<LegendEntry> {
    let (mut x, mut y) = (panel.left, panel.bottom() + LEGEND_TOP);
    let mut entries = Vec::new();
    for (group, text) in group_counts(graph) {
        let end = x + LEGEND_GAPS.0 + text_width(&text, LEGEND_SIZE);
        if end > panel.right() && x > panel.left {
            (x, y) = (panel.left, y + LEGEND_ROW);
        }
        let at = (x, y);
        x += LEGEND_GAPS.0 + text_width(&text, LEGEND_SIZE) + LEGEND_GAPS.1;
        entries.push(LegendEntry { at, group, text });
    }
    entries
}

fn place_circles(graph: &DrawnGraph, panel: &PanelArea, name_size: f64) -> Vec<EntityCircle> {
    let most = graph.entities.iter().map(|entity| entity.degree).max().unwrap_or(0).max(1);
    let (small, large) = if graph.entities.len() <= MIDDLE_GRAPH { (6.0, 17.0) } else { (4.5, 13.0) };
    // The area grows with the degree.
    let share = |degree: usize| (count_to_f64(degree) / count_to_f64(most)).min(1.0).sqrt();
    let radii = graph.entities.iter().map(|entity| small + (large - small) * share(entity.degree));
    let field = panel.inset(large + name_size + 6.0);
    let places = fit(&force_layout::lay_out(graph), &field);
    let mut circles: Vec<EntityCircle> =
        places.into_iter().zip(radii).map(|(at, radius)| EntityCircle { at, radius }).collect();
    let halves: Vec<Point> = graph
        .entities
        .iter()
        .zip(&circles)
        .map(|(entity, circle)| {
            let name = text_width(&entity.name, name_size).min(NAME_ROOM);
            ((circle.radius + 8.0).max(name / 2.0 + 6.0), circle.radius + name_size * 0.75 + 3.0)
        })
        .collect();
    separate(&mut circles, &halves, &field);
    circles
}

/// Scales positions to a field, in the middle of it. Both directions are scaled alike, within limits.
fn fit(places: &[Point], field: &PanelArea) -> Vec<Point> {
    let bounds = PanelArea::around(places);
    let across = (field.width / bounds.width.max(0.01)).min(STRETCH_MAX.0);
    let down = (field.height / bounds.height.max(0.01)).min(STRETCH_MAX.1);
    let (across, down) = (across.min(down * 2.0), down.min(across * 1.2));
    let (middle, old) = (field.middle(), bounds.middle());
    let moved = |place: &Point| (middle.0 + (place.0 - old.0) * across, middle.1 + (place.1 - old.1) * down);
    places.iter().map(moved).collect()
}

/// Moves circles apart whose boxes overlap, the shortest way, and keeps them in the field.
fn separate(circles: &mut [EntityCircle], halves: &[Point], field: &PanelArea) {
    for _ in 0..SEPARATIONS {
        let mut is_moved = false;
        for index in 1..circles.len() {
            for other in 0..index {
                let (one, two) = (circles[index].at, circles[other].at);
                let apart = (one.0 - two.0, one.1 - two.1);
                let across = halves[index].0 + halves[other].0 - apart.0.abs();
                let down = halves[index].1 + halves[other].1 - apart.1.abs();
                if across <= 0.0 || down <= 0.0 {
                    continue;
                }
                is_moved = true;
                let by = if across < down {
                    (0.3 * across * if apart.0 < 0.0 { -1.0 } else { 1.0 }, 0.0)
                } else {
                    (0.0, 0.3 * down * if apart.1 < 0.0 { -1.0 } else { 1.0 })
                };
                circles[index].at = field.clamp((one.0 + by.0, one.1 + by.1));
                circles[other].at = field.clamp((two.0 - by.0, two.1 - by.1));
            }
        }
        if !is_moved {
            break;
        }
    }
}
