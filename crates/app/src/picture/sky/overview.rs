//! The space between systems: where they are, what clouds are there, and who wanders through it.

use super::around::samples;
use super::labels::{Labels, Wish};
use super::radii::{Radii, bounded, length};
use super::scene::{Area, CloudShape, Disc, Line, LineShape, Panel};
use super::system::{Stock, rank};
use super::{Path, Point};

/// Systems and wanderers that are drawn with a disc.
const MARKERS_MAX: usize = 120;
const CLOUDS_MAX: usize = 40;
/// Between what is drawn and the edge.
const INSET: f64 = 46.0;
/// On a straight way, how finely it is followed.
const STEPS: u8 = 48;

/// From places in the universe to places on the panel.
struct Chart {
    middle: Point,
    radii: Radii,
    factor: f64,
    /// The middle of what is drawn, bent as it is.
    bent: Point,
    at: Point,
}

impl Chart {
    fn new(points: &[Point], area: Area) -> Self {
        let (low, high) = bounds(points);
        let middle = (f64::midpoint(low.0, high.0), f64::midpoint(low.1, high.1));
        let distances: Vec<f64> = points.iter().map(|point| length((point.0 - middle.0, point.1 - middle.1))).collect();
        let far = distances.iter().copied().fold(0.0, f64::max);
        let radii = Radii::new(&distances, far, (8.0, 200.0), 12.0);
        let chart = Self { middle, radii, factor: 1.0, bent: (0.0, 0.0), at: area.middle() };
        let bent: Vec<Point> = points.iter().map(|point| chart.bend(*point)).collect();
        let (low, high) = bounds(&bent);
        let factors = [area.width / (high.0 - low.0), area.height / (high.1 - low.1)];
        let factor = factors.into_iter().filter(|factor| factor.is_finite()).fold(f64::INFINITY, f64::min);
        let bent = (f64::midpoint(low.0, high.0), f64::midpoint(low.1, high.1));
        Self { factor: if factor.is_finite() { factor } else { 1.0 }, bent, ..chart }
    }

    fn bend(&self, point: Point) -> Point {
        self.radii.point((point.0 - self.middle.0, point.1 - self.middle.1))
    }

    fn point(&self, point: Point) -> Point {
        let bent = self.bend(bounded(point));
        (self.at.0 + (bent.0 - self.bent.0) * self.factor, self.at.1 + (bent.1 - self.bent.1) * self.factor)
    }
}

fn bounds(points: &[Point]) -> (Point, Point) {
    let low = |axis: fn(&Point) -> f64| points.iter().map(axis).fold(f64::INFINITY, f64::min);
    let high = |axis: fn(&Point) -> f64| points.iter().map(axis).fold(f64::NEG_INFINITY, f64::max);
    ((low(|point| point.0), low(|point| point.1)), (high(|point| point.0), high(|point| point.1)))
}

pub(super) fn overview<'a>(stock: &mut Stock<'a>, roots: &[usize], area: Area, labels: &mut Labels) -> Panel<'a> {
    let sky = stock.sky;
    let mut panel = Panel::new(area);
    "The space between".clone_into(&mut panel.title);
    let field = area.within(INSET);
    let mut roots = roots.to_vec();
    roots.sort_by(|one, other| rank(&sky.bodies[*one]).cmp(&rank(&sky.bodies[*other])).then(one.cmp(other)));
    let clouds = &sky.clouds[..sky.clouds.len().min(CLOUDS_MAX)];
    let mut points: Vec<Point> = roots.iter().map(|root| bounded(sky.bodies[*root].at)).collect();
    for cloud in clouds {
        let (at, size) = (bounded(cloud.at), bounded(cloud.size));
        points.extend([(at.0 - size.0, at.1 - size.1), at, (at.0 + size.0, at.1 + size.1)].map(bounded));
    }
    let chart = Chart::new(&points, field);
    panel.note = format!("{}, sizes by kind", chart.radii.scale.words());
    let mut wishes = Vec::new();
    for (number, cloud) in clouds.iter().enumerate() {
        let at = chart.point(cloud.at);
        let edge = chart.point((cloud.at.0 + cloud.size.0, cloud.at.1 + cloud.size.1));
        let largest = (area.width / 2.0 - 8.0, area.height / 2.0 - 8.0);
        let half = |from: f64, to: f64, most: f64| (to - from).abs().max(34.0).min(most);
        let size = (half(at.0, edge.0, largest.0), half(at.1, edge.1, largest.1));
        let inner = Area {
            left: area.left + size.0 + 4.0,
            top: area.top + size.1 + 4.0,
            width: area.width - 2.0 * size.0 - 8.0,
            height: area.height - 2.0 * size.1 - 8.0,
        };
        let at = inner.nearest(at);
        panel.clouds.push(CloudShape { cloud: number, at, size });
        if !cloud.name.trim().is_empty() {
            wishes.push(Wish::on(cloud.name, at, size));
        }
    }
    let (marked, rest) = roots.split_at(roots.len().min(MARKERS_MAX));
    let places = spread(marked.iter().map(|root| chart.point(sky.bodies[*root].at)).collect(), field);
    for (root, at) in marked.iter().zip(places) {
        let body = stock.body(*root);
        let radius = if body.is_rogue { 5.0 } else { stock.disc(*root, true) * 0.55 };
        stock.draw(*root);
        panel.discs.push(Disc { body: *root, at, radius, light: None });
        panel.lines.extend(body.is_rogue.then(|| track(&body.path, &chart, area.within(5.0))).into_iter().flatten());
        if !body.name.trim().is_empty() {
            wishes.push(Wish::beside(body, panel.discs.last().map_or(radius, |disc| disc.reach(body)), at, None, 0.9));
        }
    }
    for root in rest {
        if stock.dots_left > 0 && !stock.is_drawn(*root) {
            stock.dots_left -= 1;
            panel.dots.push(field.nearest(chart.point(sky.bodies[*root].at)));
        }
    }
    let title = Area { height: 30.0, width: 180.0, ..area };
    let note = Area { top: area.bottom() - 24.0, height: 24.0, width: 330.0, ..area };
    labels.place(sky, &panel, &[title, note], wishes);
    panel
}

/// The way of a wanderer, as far as it is on the panel.
fn track(path: &Path, chart: &Chart, area: Area) -> Vec<Line> {
    let points: Vec<Point> = match *path {
        Path::Orbit { center, major, minor } => {
            let mut points = samples(bounded(center), bounded(major), bounded(minor));
            points.extend(points.first().copied());
            points
        }
        Path::Straight { from, to } => {
            let (from, to) = (bounded(from), bounded(to));
            let at = |step: u8| f64::from(step) / f64::from(STEPS);
            (0..=STEPS)
                .map(at)
                .map(|share| (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share))
                .collect()
        }
    };
    let places: Vec<Point> = points.into_iter().map(|point| chart.point(point)).collect();
    let is_inside = |point: &Point| area.nearest(*point) == *point;
    // A way that leaves the panel and comes back is several lines.
    let parts = places.split(|point| !is_inside(point)).filter(|part| part.len() > 1);
    parts.map(|part| Line { shape: LineShape::Open(part.to_vec()), is_inner: false, is_dashed: true }).collect()
}

/// Moves apart what stands on one another, and keeps all of it inside.
fn spread(mut places: Vec<Point>, field: Area) -> Vec<Point> {
    const APART: f64 = 46.0;
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
                // What is at the very same place goes to the sides first, where there is more room.
                let turn = f64::from(u32::try_from(other).unwrap_or(0)) * 0.35;
                let away =
                    if distance > 1e-6 { (away.0 / distance, away.1 / distance) } else { (turn.cos(), turn.sin()) };
                let step = (APART - distance) / 2.0 + 0.5;
                places[one] = field.nearest((places[one].0 - away.0 * step, places[one].1 - away.1 * step));
                places[other] = field.nearest((places[other].0 + away.0 * step, places[other].1 + away.1 * step));
            }
        }
        if !has_moved {
            break;
        }
    }
    places.into_iter().map(|place| field.nearest(place)).collect()
}
