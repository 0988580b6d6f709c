//! Lines of mentions: curves that pass beside the circles of other entities, with arrowheads.

use super::drawn_graph::{DrawnGraph, MentionLine};
use super::force_layout::length;
use super::node_placement::{EntityCircle, NodePlacement};
use crate::Point;
use crate::panel_area::PanelArea;
use crate::svg::format_point;

/// How far a curve may bend, as shares of its length. The best first.
const BENDS: [f64; 8] = [0.12, -0.12, 0.22, -0.22, 0.34, -0.34, 0.5, -0.5];
/// Distance between a circle and the lines that end there.
const GAP: f64 = 3.0;
/// Distance that a line should keep from the circles it passes.
const CLEARANCE: f64 = 4.0;
/// An arrowhead: its length, and half its width.
const HEAD: (f64, f64) = (7.0, 2.9);
/// How many points of a line an arrowhead counts for, if a name covers it.
const COST_OF_HEAD: usize = 6;
/// Points along a curve that are compared with circles and names.
const SAMPLES: u8 = 28;

/// A drawn mention: a quadratic curve and its arrowheads.
pub(super) struct MentionCurve {
    from: Point,
    control: Point,
    to: Point,
    /// The tip and the direction of each arrowhead.
    heads: Vec<(Point, Point)>,
    samples: Vec<Point>,
    /// The box around all samples, which rules most comparisons out.
    bounds: PanelArea,
}

/// The curves of all lines, in their order.
pub(super) fn curves(graph: &DrawnGraph, placement: &NodePlacement) -> Vec<MentionCurve> {
    graph.lines.iter().map(|line| choose_curve(line, placement)).collect()
}

impl MentionCurve {
    fn new(one: &EntityCircle, other: &EntityCircle, bend: f64, is_mutual: bool, panel: &PanelArea) -> Self {
        let across = (other.at.0 - one.at.0, other.at.1 - one.at.1);
        let middle = (f64::midpoint(one.at.0, other.at.0), f64::midpoint(one.at.1, other.at.1));
        let control = panel.inset(6.0).clamp((middle.0 - across.1 * bend, middle.1 + across.0 * bend));
        // Towards an entity, seen from the control point.
        let direction = |circle: &EntityCircle| {
            let towards = (circle.at.0 - control.0, circle.at.1 - control.1);
            let far = length(towards).max(1e-9);
            (towards.0 / far, towards.1 / far)
        };
        let before = |circle: &EntityCircle, distance: f64| {
            let towards = direction(circle);
            let distance = circle.radius + distance;
            (circle.at.0 - towards.0 * distance, circle.at.1 - towards.1 * distance)
        };
        let mut heads = vec![(before(other, GAP), direction(other))];
        if is_mutual {
            heads.push((before(one, GAP), direction(one)));
        }
        // The line ends inside of the arrowhead, whose tip is thinner than the line.
        let (from, to) =
            (before(one, if is_mutual { GAP + HEAD.0 - 1.0 } else { GAP }), before(other, GAP + HEAD.0 - 1.0));
        let sample = |step: u8| {
            let after = f64::from(step) / f64::from(SAMPLES);
            let left = 1.0 - after;
            let along = |from: f64, control: f64, to: f64| {
                left * left * from + 2.0 * left * after * control + after * after * to
            };
            (along(from.0, control.0, to.0), along(from.1, control.1, to.1))
        };
        let samples: Vec<Point> = (0..=SAMPLES).map(sample).collect();
        // Arrowheads reach beyond the ends of the line.
        let bounds = PanelArea::around(&samples).inset(-HEAD.0);
        Self { from, control, to, heads, samples, bounds }
    }

    /// How much of the curve an area covers: its points in the area, and more for each arrowhead.
    pub(super) fn covered_by(&self, area: &PanelArea) -> usize {
        let is_inside = |(x, y): &Point| area.left <= *x && *x <= area.right() && area.top <= *y && *y <= area.bottom();
        if !area.overlaps(&self.bounds) {
            return 0;
        }
        let heads = self.heads.iter().filter(|(tip, _)| is_inside(tip)).count();
        self.samples.iter().filter(|point| is_inside(point)).count() + COST_OF_HEAD * heads
    }

    /// Whether the curve touches a circle or comes too close to it.
    fn is_near(&self, circle: &EntityCircle) -> bool {
        let reach = circle.radius + CLEARANCE;
        let is_close = |point: &Point| length((point.0 - circle.at.0, point.1 - circle.at.1)) < reach;
        PanelArea::centered_at(circle.at, reach).overlaps(&self.bounds) && self.samples.iter().any(is_close)
    }

    /// The curve as path data.
    pub(super) fn path(&self) -> String {
        format!("M{}Q{} {}", format_point(self.from), format_point(self.control), format_point(self.to))
    }

    /// The arrowheads, each as path data.
    pub(super) fn head_paths(&self) -> impl Iterator<Item = String> {
        self.heads.iter().map(|((x, y), (right, down))| {
            let back = (x - right * HEAD.0, y - down * HEAD.0);
            let (one, other) =
                ((back.0 + down * HEAD.1, back.1 - right * HEAD.1), (back.0 - down * HEAD.1, back.1 + right * HEAD.1));
            format!("M{}L{}L{}Z", format_point((*x, *y)), format_point(one), format_point(other))
        })
    }
}

/// The curve of a line that crosses the fewest circles. Of equal ones, the straightest.
fn choose_curve(line: &MentionLine, placement: &NodePlacement) -> MentionCurve {
    let circles = &placement.circles;
    let curve =
        |bend: f64| MentionCurve::new(&circles[line.from], &circles[line.to], bend, line.is_mutual, &placement.panel);
    let crossed = |curve: &MentionCurve| {
        let others = circles.iter().enumerate().filter(|(index, _)| *index != line.from && *index != line.to);
        others.filter(|(_, circle)| curve.is_near(circle)).count()
    };
    let mut best = curve(BENDS[0]);
    let mut fewest = crossed(&best);
    for bend in &BENDS[1..] {
        if fewest == 0 {
            break;
        }
        let next = curve(*bend);
        let count = crossed(&next);
        if count < fewest {
            (best, fewest) = (next, count);
        }
    }
    best
}
