//! Places names beside their circles, where they cover no circle and no other name, and few lines.

use super::curved_lines::MentionCurve;
use super::drawn_graph::DrawnGraph;
use super::node_placement::{EntityCircle, NodePlacement};
use crate::measure_and_format_text::{BOLD, shorten, text_width};
use crate::panel_area::PanelArea;
use crate::{Point, count_to_f64};

/// How wide a name may be. A name without room is shortened further.
const ROOMS: [f64; 4] = [170.0, 118.0, 76.0, 46.0];
/// Distance between a circle and its name.
const GAP: f64 = 4.0;
/// Height of a line of text, and its ascent, as factors of its size.
const HEIGHT: f64 = 1.2;
const ASCENT: f64 = 0.93;
/// How often every name chooses again, now that it knows the places of the others.
const ROUNDS: usize = 3;
/// How many points of lines a name rather covers than being shortened, or being at a corner of its circle.
const COST_OF_SHORTENING: f64 = 20.0;
const COST_OF_CORNER: f64 = 4.0;
const COST_OF_NO_NAME: f64 = 1_000.0;
/// Directions from the circle to the name: beside, below, above, then the corners.
const DIRECTIONS: [Point; 8] =
    [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0), (0.7, 0.7), (0.7, -0.7), (-0.7, 0.7), (-0.7, -0.7)];

/// A name in its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NameLabel {
    pub(super) text: String,
    pub(super) size: f64,
    pub(super) is_bold: bool,
    pub(super) area: PanelArea,
}

impl NameLabel {
    /// Where the text begins, at its baseline.
    pub(super) fn start(&self) -> Point {
        (self.area.left, self.area.top + self.size * ASCENT)
    }
}

/// The names of all entities in their order; `None` for a name without room.
pub(super) fn place_names(
    graph: &DrawnGraph,
    placement: &NodePlacement,
    curves: &[MentionCurve],
) -> Vec<Option<NameLabel>> {
    let mut places = LabelPlaces::new(graph, placement, curves);
    // Names with the fewest possible places choose first.
    let mut order: Vec<usize> = (0..graph.entities.len()).collect();
    order.sort_by_key(|index| places.candidates[*index].len());
    for _ in 0..ROUNDS {
        for index in order.iter().copied() {
            places.choose(index);
        }
        for index in order.iter().copied() {
            places.improve_two(index);
        }
    }
    (0..graph.entities.len()).map(|index| places.chosen_label(index).cloned()).collect()
}

/// All places that names may have, and those that are chosen.
struct LabelPlaces {
    /// The possible labels of each name and what each costs, the cheapest first.
    candidates: Vec<Vec<(NameLabel, f64)>>,
    /// The index of the chosen candidate of each name.
    chosen: Vec<Option<usize>>,
}

impl LabelPlaces {
    fn new(graph: &DrawnGraph, placement: &NodePlacement, curves: &[MentionCurve]) -> Self {
        let circles = &placement.circles;
        let field = placement.panel.inset(4.0);
        let discs: Vec<PanelArea> =
            circles.iter().map(|circle| PanelArea::centered_at(circle.at, circle.radius + 1.5)).collect();
        let of_name = |index: usize| {
            let name = &graph.entities[index].name;
            let mut candidates = label_candidates(name, &circles[index], placement.name_size, is_hub(graph, index));
            candidates.retain(|(label, _)| {
                field.contains(&label.area) && !discs.iter().any(|disc| disc.overlaps(&label.area))
            });
            for (label, cost) in &mut candidates {
                *cost += count_to_f64(curves.iter().map(|curve| curve.covered_by(&label.area)).sum());
            }
            // Stable, so that equal ones keep their order.
            candidates.sort_by(|one, other| one.1.total_cmp(&other.1));
            candidates
        };
        Self { candidates: (0..circles.len()).map(of_name).collect(), chosen: vec![None; circles.len()] }
    }

    fn chosen_label(&self, index: usize) -> Option<&NameLabel> {
        self.chosen[index].map(|choice| &self.candidates[index][choice].0)
    }

    fn cost(&self, index: usize) -> f64 {
        self.chosen[index].map_or(COST_OF_NO_NAME, |choice| self.candidates[index][choice].1)
    }

    /// The other names whose chosen places overlap an area.
    fn conflicts(&self, index: usize, area: &PanelArea) -> impl Iterator<Item = usize> {
        let air = area.inset(-1.5);
        let is_hit = move |other: &usize| self.chosen_label(*other).is_some_and(|label| label.area.overlaps(&air));
        (0..self.chosen.len()).filter(move |other| *other != index).filter(is_hit)
    }

    /// Chooses the cheapest place that is free.
    fn choose(&mut self, index: usize) {
        let is_free = |(label, _): &(NameLabel, f64)| self.conflicts(index, &label.area).next().is_none();
        self.chosen[index] = self.candidates[index].iter().position(is_free);
    }

    /// Takes the place of one other name, if that name has another place and both together cost less.
    fn improve_two(&mut self, index: usize) {
        for choice in 0..self.chosen[index].unwrap_or(self.candidates[index].len()) {
            let mut conflicts = self.conflicts(index, &self.candidates[index][choice].0.area);
            let (Some(other), None) = (conflicts.next(), conflicts.next()) else {
                continue;
            };
            drop(conflicts);
            let before = (self.chosen[index], self.chosen[other]);
            let cost_before = self.cost(index) + self.cost(other);
            self.chosen[index] = Some(choice);
            self.choose(other);
            if self.cost(index) + self.cost(other) < cost_before {
                return;
            }
            (self.chosen[index], self.chosen[other]) = before;
        }
    }
}

/// Whether an entity is one of the few with the most mentions, whose names are bold.
fn is_hub(graph: &DrawnGraph, index: usize) -> bool {
    let degree = graph.entities[index].degree;
    index < graph.entities.len() / 8 && degree > 2 && degree >= graph.entities[0].degree / 2
}

/// All places of a name with what each costs.
fn label_candidates(name: &str, circle: &EntityCircle, size: f64, is_bold: bool) -> Vec<(NameLabel, f64)> {
    let measured_size = if is_bold { size * BOLD } else { size };
    let mut candidates: Vec<(NameLabel, f64)> = Vec::new();
    let mut cost_of_text = 0.0;
    for room in ROOMS {
        let text = shorten(name, measured_size, room);
        if candidates.last().is_some_and(|(label, _)| label.text == text) {
            continue;
        }
        let width = text_width(&text, measured_size);
        for (step, direction) in DIRECTIONS.into_iter().enumerate() {
            let corner = if step < 4 { 0.0 } else { COST_OF_CORNER };
            let area = area_next_to(circle, direction, (width, size * HEIGHT));
            let label = NameLabel { text: text.clone(), size, is_bold, area };
            candidates.push((label, cost_of_text + corner + 0.4 * count_to_f64(step)));
        }
        cost_of_text += COST_OF_SHORTENING;
    }
    candidates
}

/// The area of a text in a direction from a circle.
fn area_next_to(circle: &EntityCircle, (right, down): Point, (width, height): Point) -> PanelArea {
    let away = circle.radius + GAP;
    let (x, y) = (circle.at.0 + right * away, circle.at.1 + down * away);
    let along = |direction: f64, at: f64, size: f64| match direction {
        after if after > 0.1 => at,
        before if before < -0.1 => at - size,
        _ => at - size / 2.0,
    };
    // Text has air above and below it, so it may start a little closer to the circle.
    let closer = 2.0 * down;
    PanelArea { left: along(right, x, width), top: along(down, y, height) - closer, width, height }
}
