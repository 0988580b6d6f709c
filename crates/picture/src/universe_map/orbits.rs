//! Draws everything that moves around a body: belts, orbits, disks, moons and their moons.

use super::distance_scale::{Radii, clamp_point, length};
use super::labels::LabelRequest;
use super::map_layout::{BandShape, Disc, LineShape, MapLine, MapPath};
use super::system::SystemPlacer;
use super::{Path, Point, SceneBody, SceneBodyKind};

/// Orbits that are drawn around one body; more would become a grey patch.
const ORBITS_MAX: usize = 70;
/// With more bodies than this, asteroids are drawn without orbits.
const STONES_WITH_ORBITS: usize = 24;
/// Bodies drawn around one that itself moves around another.
const MOONS_MAX: usize = 14;
/// Belts and disks drawn around one body.
const BANDS_MAX: usize = 12;
/// Moons of moons are the last that are drawn.
const DEPTH_MAX: usize = 3;
/// Points of an orbit that is no circle.
const SAMPLES: u16 = 96;

impl SystemPlacer<'_, '_> {
    /// Places the belts, orbits and moons of a body whose disc is at `at`, within `reach`.
    pub(super) fn place_around(
        &mut self,
        host: usize,
        at: Point,
        disc: f64,
        reach: f64,
        depth: usize,
    ) -> Option<Radii> {
        let body_index = &*self.body_index;
        let (body, all) = (body_index.body(host), body_index.children(host));
        let most = if depth == 1 { self.discs_left } else { MOONS_MAX.min(self.discs_left) };
        let shown: Vec<usize> = all.iter().copied().take(most).collect();
        let rest: Vec<usize> = all.iter().copied().skip(most).collect();
        let bands: Vec<_> = body.bands.iter().filter(|band| band.outer > 0.0).take(BANDS_MAX).collect();
        if shown.is_empty() && bands.is_empty() {
            return None;
        }
        self.discs_left -= shown.len();
        let ways: Vec<OrbitPath> = shown.iter().map(|child| OrbitPath::from_body(body_index.body(*child))).collect();
        let mut distances: Vec<f64> = ways.iter().map(|way| way.usual).collect();
        distances
            .extend(bands.iter().flat_map(|band| [band.inner, band.outer]).filter(|distance| distance.is_finite()));
        let dots = rest.iter().map(|child| length(clamp_point(body_index.body(*child).at)));
        let ends = ways.iter().map(|way| way.farthest).chain(bands.iter().map(|band| band.outer));
        let far = ends.chain(dots).fold(0.0, f64::max);
        let widest = shown.iter().map(|child| body_index.disc_radius(*child, false)).fold(0.0, f64::max) * self.factor;
        // The outermost body must stay inside the panel with its moons.
        let has_moons = shown.iter().any(|child| !body_index.children(*child).is_empty());
        let inset = if depth > 1 {
            0.0
        } else if has_moons {
            widest + 12.0
        } else {
            widest + 3.0
        };
        let from = if depth == 1 { disc + 16.0 * self.factor } else { disc + 4.0 };
        let apart = if depth == 1 { 30.0 * self.factor } else { 6.0 };
        let radii = Radii::new(&distances, far, (from, (reach - inset).max(from + 2.0)), apart);
        for (number, band) in bands.iter().enumerate() {
            let (inner, outer) =
                (radii.radius(band.inner), radii.radius(band.outer).max(radii.radius(band.inner) + 2.0));
            let (color, opacity, is_disk) = (band.color, band.opacity, band.is_disk);
            self.panel.bands.push(BandShape { at, inner, outer, color, opacity, is_disk });
            if depth == 1 && !band.name.trim().is_empty() {
                let middle = f64::midpoint(inner, outer);
                self.wishes.push(LabelRequest::for_belt(band.name, at, middle, number, self.factor));
            }
        }
        for child in rest {
            self.place_dot(child, at, &radii);
        }
        let places: Vec<f64> = ways.iter().map(|way| radii.radius(way.usual)).collect();
        for (number, (child, way)) in shown.iter().zip(&ways).enumerate() {
            let kind = self.body_index.body(*child).kind;
            // A Lagrange point is on the orbit of another body.
            let is_plain = kind == SceneBodyKind::LagrangePoint
                || (kind == SceneBodyKind::Asteroid && shown.len() > STONES_WITH_ORBITS);
            let has_line = number < ORBITS_MAX && !is_plain;
            if has_line && let Some(shape) = way.line_shape(at, &radii) {
                let way = match (self.body_index.body(*child).is_rogue, depth) {
                    (true, _) => MapPath::Wanderer,
                    (false, 1) => MapPath::Orbit,
                    (false, _) => MapPath::Moon,
                };
                self.panel.lines.push(MapLine { shape, way });
            }
            let gap = moon_room(&places, places[number], disc, reach);
            self.place_child(*child, number, (at, disc), (&radii, gap), depth);
        }
        Some(radii)
    }

    fn place_child(
        &mut self,
        child: usize,
        number: usize,
        (host_at, host): (Point, f64),
        (radii, gap): (&Radii, f64),
        depth: usize,
    ) {
        let body = self.body_index.body(child);
        let scale = if depth > 2 { 0.6 } else { self.factor };
        let radius = (self.body_index.disc_radius(child, false) * scale).max(1.2);
        let offset = push_outward(radii.project(clamp_point(body.at)), host + radius + 2.0, number);
        let at = (host_at.0 + offset.0, host_at.1 + offset.1);
        let at = self.panel.area.inset(radius + 3.0).clamp(at);
        self.body_index.mark_drawn(child);
        let light = (body.kind != SceneBodyKind::Star).then_some(self.middle);
        self.panel.discs.push(Disc { body: child, at, radius, light });
        let host_at = (depth > 1).then_some(host_at);
        if depth == DEPTH_MAX || !self.body_index.has_satellites(child) {
            self.request_label(child, at, radius, (host_at, 0.0));
        } else {
            let cap = if matches!(body.kind, SceneBodyKind::Star | SceneBodyKind::BlackHole) { 120.0 } else { 42.0 };
            // Moons stay outside of a ring.
            let inner = Disc { body: child, at, radius, light }.outer_radius(body);
            let least = inner + if depth == 1 { 11.0 } else { 4.0 };
            let reach = (gap * 1.1).clamp(least, (cap * self.factor).max(least));
            // One moon leaves room for the name beside its planet.
            let clear = if reach < 50.0 && self.body_index.children(child).len() > 1 { reach } else { 0.0 };
            self.request_label(child, at, radius, (host_at, clear));
            self.place_around(child, at, inner, reach, depth + 1);
        }
    }

    fn place_dot(&mut self, child: usize, at: Point, radii: &Radii) {
        if self.body_index.dots_left == 0 {
            return;
        }
        self.body_index.dots_left -= 1;
        let offset = radii.project(clamp_point(self.body_index.body(child).at));
        let dot = self.panel.area.inset(2.0).clamp((at.0 + offset.0, at.1 + offset.1));
        self.panel.dots.push(dot);
    }
}

/// How far the moons of a body may reach: half of the gap to the nearest other orbit.
fn moon_room(places: &[f64], place: f64, disc: f64, reach: f64) -> f64 {
    let others = places.iter().copied().filter(|other| (other - place).abs() > 4.0);
    let nearest = others.map(|other| (other - place).abs()).fold(f64::INFINITY, f64::min);
    (nearest / 2.0).min(place - disc).min((reach - place).max(nearest / 2.0))
}

/// Moves a point to at least `least` from the middle. A point in the middle gets an angle by its number.
fn push_outward(point: Point, least: f64, number: usize) -> Point {
    // Multiples of the golden angle stay apart for hundreds of points.
    const GOLDEN: f64 = 2.399_963_229_728_653;
    let distance = length(point);
    if distance >= least {
        return point;
    }
    if distance > 1e-9 {
        return (point.0 / distance * least, point.1 / distance * least);
    }
    let turn = f64::from(u32::try_from(number).unwrap_or(0)) * GOLDEN;
    (turn.cos() * least, turn.sin() * least)
}

/// The orbit of a body around its parent.
struct OrbitPath {
    path: Path,
    /// Its typical distance from its parent.
    usual: f64,
    farthest: f64,
}

impl OrbitPath {
    fn from_body(body: &SceneBody) -> Self {
        match body.path {
            Path::Orbit { center, major, minor } => {
                let (center, major, minor) = (clamp_point(center), clamp_point(major), clamp_point(minor));
                let path = Path::Orbit { center, major, minor };
                let usual = (length(major).hypot(length(minor)) / 2_f64.sqrt()).hypot(length(center));
                let samples = ellipse_points(center, major, minor);
                Self { path, usual, farthest: samples.into_iter().map(length).fold(usual, f64::max) }
            }
            // A straight path does not go around the parent: only the current position counts.
            Path::Straight { .. } => {
                let usual = length(clamp_point(body.at));
                Self { path: body.path, usual, farthest: usual }
            }
        }
    }

    /// The orbit on the picture; `None` for a straight path or a body at rest in the middle.
    fn line_shape(&self, at: Point, radii: &Radii) -> Option<LineShape> {
        let Path::Orbit { center, major, minor } = self.path else { return None };
        if self.farthest <= 0.0 {
            return None;
        }
        let (long, short) = (length(major), length(minor));
        let slant = (major.0 * minor.0 + major.1 * minor.1).abs();
        let is_circle =
            length(center) <= long * 1e-3 && (long - short).abs() <= long * 1e-3 && slant <= long * long * 1e-3;
        if is_circle {
            return Some(LineShape::Circle(at, radii.radius(long)));
        }
        let points = ellipse_points(center, major, minor).into_iter().map(|point| {
            let place = radii.project(point);
            (at.0 + place.0, at.1 + place.1)
        });
        Some(LineShape::Closed(points.collect()))
    }
}

/// Points of an ellipse, all the way round.
pub(super) fn ellipse_points(center: Point, major: Point, minor: Point) -> Vec<Point> {
    let turn = std::f64::consts::TAU / f64::from(SAMPLES);
    let point = |index: u16| {
        let (sin, cos) = (f64::from(index) * turn).sin_cos();
        (center.0 + major.0 * cos + minor.0 * sin, center.1 + major.1 * cos + minor.1 * sin)
    };
    (0..SAMPLES).map(point).collect()
}
