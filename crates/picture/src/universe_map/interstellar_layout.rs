//! Layout of the space between systems: positions of systems, clouds and rogue planets.

use super::distance_scale::{Radii, clamp_point, length};
use super::labels::{LabelRequest, Labels};
use super::map_layout::{CloudShape, Disc, LineShape, MapLine, MapPath, Panel};
use super::orbits::ellipse_points;
use super::system::{BodyIndex, sort_key};
use super::{Path, Point};
use crate::panel_area::PanelArea;

/// Systems and wanderers that are drawn with a disc.
const MARKERS_MAX: usize = 120;
const CLOUDS_MAX: usize = 40;
/// Distance between what is drawn and the edge.
const INSET: f64 = 46.0;
/// Sample points of a straight path.
const STEPS: u8 = 48;

/// Maps positions in the universe to positions on the panel.
struct OverviewProjection {
    middle: Point,
    radii: Radii,
    factor: f64,
    /// The middle of the drawn points after scaling by `radii`.
    bent: Point,
    at: Point,
}

impl OverviewProjection {
    fn new(points: &[Point], area: PanelArea) -> Self {
        let (low, high) = bounding_box(points);
        let middle = (f64::midpoint(low.0, high.0), f64::midpoint(low.1, high.1));
        let distances: Vec<f64> = points.iter().map(|point| length((point.0 - middle.0, point.1 - middle.1))).collect();
        let far = distances.iter().copied().fold(0.0, f64::max);
        let radii = Radii::new(&distances, far, (8.0, 200.0), 12.0);
        let chart = Self { middle, radii, factor: 1.0, bent: (0.0, 0.0), at: area.middle() };
        let bent: Vec<Point> = points.iter().map(|point| chart.scale_point(*point)).collect();
        let (low, high) = bounding_box(&bent);
        let factors = [area.width / (high.0 - low.0), area.height / (high.1 - low.1)];
        let factor = factors.into_iter().filter(|factor| factor.is_finite()).fold(f64::INFINITY, f64::min);
        let bent = (f64::midpoint(low.0, high.0), f64::midpoint(low.1, high.1));
        Self { factor: if factor.is_finite() { factor } else { 1.0 }, bent, ..chart }
    }

    fn scale_point(&self, point: Point) -> Point {
        self.radii.project((point.0 - self.middle.0, point.1 - self.middle.1))
    }

    fn project(&self, point: Point) -> Point {
        let bent = self.scale_point(clamp_point(point));
        (self.at.0 + (bent.0 - self.bent.0) * self.factor, self.at.1 + (bent.1 - self.bent.1) * self.factor)
    }
}

fn bounding_box(points: &[Point]) -> (Point, Point) {
    let low = |axis: fn(&Point) -> f64| points.iter().map(axis).fold(f64::INFINITY, f64::min);
    let high = |axis: fn(&Point) -> f64| points.iter().map(axis).fold(f64::NEG_INFINITY, f64::max);
    ((low(|point| point.0), low(|point| point.1)), (high(|point| point.0), high(|point| point.1)))
}

pub(super) fn lay_out_overview<'a>(
    body_index: &mut BodyIndex<'a>,
    roots: &[usize],
    area: PanelArea,
    labels: &mut Labels,
) -> Panel<'a> {
    let scene = body_index.scene;
    let mut panel = Panel::new(area);
    "The space between".clone_into(&mut panel.title);
    let field = area.inset(INSET);
    let mut roots = roots.to_vec();
    roots
        .sort_by(|one, other| sort_key(&scene.bodies[*one]).cmp(&sort_key(&scene.bodies[*other])).then(one.cmp(other)));
    let clouds = &scene.clouds[..scene.clouds.len().min(CLOUDS_MAX)];
    let mut points: Vec<Point> = roots.iter().map(|root| clamp_point(scene.bodies[*root].at)).collect();
    for cloud in clouds {
        let (at, size) = (clamp_point(cloud.at), clamp_point(cloud.size));
        points.extend([(at.0 - size.0, at.1 - size.1), at, (at.0 + size.0, at.1 + size.1)].map(clamp_point));
    }
    let chart = OverviewProjection::new(&points, field);
    let mut wishes = Vec::new();
    for (number, cloud) in clouds.iter().enumerate() {
        let at = chart.project(cloud.at);
        let edge = chart.project((cloud.at.0 + cloud.size.0, cloud.at.1 + cloud.size.1));
        let largest = (area.width / 2.0 - 8.0, area.height / 2.0 - 8.0);
        let half = |from: f64, to: f64, most: f64| (to - from).abs().max(34.0).min(most);
        let size = (half(at.0, edge.0, largest.0), half(at.1, edge.1, largest.1));
        let inner = PanelArea {
            left: area.left + size.0 + 4.0,
            top: area.top + size.1 + 4.0,
            width: area.width - 2.0 * size.0 - 8.0,
            height: area.height - 2.0 * size.1 - 8.0,
        };
        let at = inner.clamp(at);
        panel.clouds.push(CloudShape { cloud: number, at, size });
        if !cloud.name.trim().is_empty() {
            wishes.push(LabelRequest::for_cloud(cloud.name, at, size));
        }
    }
    let (marked, rest) = roots.split_at(roots.len().min(MARKERS_MAX));
    let true_places: Vec<Point> = marked.iter().map(|root| chart.project(scene.bodies[*root].at)).collect();
    let places = spread_markers(true_places.clone(), field);
    // Markers that were moved apart are no longer to scale.
    let is_moved = true_places.iter().zip(&places).any(|(one, other)| length((one.0 - other.0, one.1 - other.1)) > 2.0);
    let moved = if is_moved { "; what is close together is drawn apart" } else { "" };
    panel.note = format!("{}{moved}", chart.radii.scale.describe());
    for (root, at) in marked.iter().zip(places) {
        let body = body_index.body(*root);
        let radius = if body.is_rogue { 5.0 } else { body_index.disc_radius(*root, true) * 0.55 };
        body_index.mark_drawn(*root);
        let disc = Disc { body: *root, at, radius, light: None };
        let reach = disc.outer_radius(body);
        panel.discs.push(disc);
        panel
            .lines
            .extend(body.is_rogue.then(|| rogue_path(&body.path, &chart, area.inset(5.0))).into_iter().flatten());
        if !body.name.trim().is_empty() {
            wishes.push(LabelRequest::for_body(body, (reach, 0.0), at, None, 0.9));
        }
    }
    for root in rest {
        if body_index.dots_left > 0 && !body_index.is_drawn(*root) {
            body_index.dots_left -= 1;
            panel.dots.push(field.clamp(chart.project(scene.bodies[*root].at)));
        }
    }
    let title = PanelArea { height: 30.0, width: 180.0, ..area };
    let note = PanelArea { top: area.bottom() - 24.0, height: 24.0, width: 330.0, ..area };
    labels.place(scene, &panel, &[title, note], wishes);
    panel
}

/// The path of a rogue body, clipped to the panel.
fn rogue_path(path: &Path, chart: &OverviewProjection, area: PanelArea) -> Vec<MapLine> {
    let points: Vec<Point> = match *path {
        Path::Orbit { center, major, minor } => {
            let mut points = ellipse_points(clamp_point(center), clamp_point(major), clamp_point(minor));
            points.extend(points.first().copied());
            points
        }
        Path::Straight { from, to } => {
            let (from, to) = (clamp_point(from), clamp_point(to));
            let at = |step: u8| f64::from(step) / f64::from(STEPS);
            (0..=STEPS)
                .map(at)
                .map(|share| (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share))
                .collect()
        }
    };
    let places: Vec<Point> = points.into_iter().map(|point| chart.project(point)).collect();
    let is_inside = |point: &Point| area.clamp(*point) == *point;
    // A path that leaves the panel and returns becomes several lines.
    let parts: Vec<&[Point]> = places.split(|point| !is_inside(point)).filter(|part| part.len() > 1).collect();
    let arrow = matches!(path, Path::Straight { .. }).then(|| parts.last().and_then(|part| arrowhead(part))).flatten();
    let lines = parts.iter().map(|part| MapLine { shape: LineShape::Open(part.to_vec()), way: MapPath::Wanderer });
    lines.chain(arrow).collect()
}

/// The head of an arrow at the end of a line.
fn arrowhead(points: &[Point]) -> Option<MapLine> {
    let [.., from, to] = points else { return None };
    let along = (to.0 - from.0, to.1 - from.1);
    let distance = length(along);
    if distance <= 0.0 {
        return None;
    }
    let (back, side) =
        ((along.0 / distance * 8.0, along.1 / distance * 8.0), (-along.1 / distance * 4.0, along.0 / distance * 4.0));
    let points =
        vec![(to.0 - back.0 + side.0, to.1 - back.1 + side.1), *to, (to.0 - back.0 - side.0, to.1 - back.1 - side.1)];
    Some(MapLine { shape: LineShape::Open(points), way: MapPath::Arrow })
}

/// Moves overlapping markers apart and keeps them inside the field.
fn spread_markers(mut places: Vec<Point>, field: PanelArea) -> Vec<Point> {
    const APART: f64 = 46.0;
    spread_in_spiral(&mut places, field);
    for _ in 0..60 {
        let mut has_moved = false;
        for one in 0..places.len() {
            for other in one + 1..places.len() {
                let away = (places[other].0 - places[one].0, places[other].1 - places[one].1);
                let distance = length(away);
                if distance >= APART {
                    continue;
                }
                has_moved = true;
                let away = if distance > 1e-6 { (away.0 / distance, away.1 / distance) } else { (1.0, 0.0) };
                let step = (APART - distance) / 2.0 + 0.5;
                places[one] = field.clamp((places[one].0 - away.0 * step, places[one].1 - away.1 * step));
                places[other] = field.clamp((places[other].0 + away.0 * step, places[other].1 + away.1 * step));
            }
        }
        if !has_moved {
            break;
        }
    }
    places.into_iter().map(|place| field.clamp(place)).collect()
}

/// Systems without positions are all at one point: spreads them in a sunflower spiral.
fn spread_in_spiral(places: &mut [Point], field: PanelArea) {
    const GOLDEN: f64 = 2.399_963_229_728_653;
    let all = places.to_vec();
    let mut is_done = vec![false; all.len()];
    for first in 0..all.len() {
        let near = |place: &Point| length((place.0 - all[first].0, place.1 - all[first].1)) < 3.0;
        let heap: Vec<usize> = (first..all.len()).filter(|index| !is_done[*index] && near(&all[*index])).collect();
        if heap.len() < 2 {
            continue;
        }
        let count = f64::from(u32::try_from(heap.len()).unwrap_or(1));
        let step = (field.height / 2.0 / count.sqrt()).min(44.0);
        let wide = (field.width / field.height).clamp(1.0, 2.6);
        for (number, index) in heap.into_iter().enumerate() {
            is_done[index] = true;
            let number = f64::from(u32::try_from(number).unwrap_or(0));
            let (turn, away) = (number * GOLDEN, step * number.sqrt());
            places[index] = field.clamp((all[first].0 + turn.cos() * away * wide, all[first].1 + turn.sin() * away));
        }
    }
}
