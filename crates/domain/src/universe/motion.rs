//! Positions and orbits of bodies: functions of the time alone.
//!
//! An orbit is a Kepler ellipse with the parent in a focus: the mean anomaly grows evenly with time, by `orbitalSpeed`
//! from `orbitalPhase`. It is rotated about Z, then Y, then X, and moved by its offset. Circles are as in the original,
//! which has the parent at the centre of every ellipse. The curved path of a rogue planet has no parent, and keeps the
//! original's centre and even eccentric angle.

use std::collections::BTreeMap;

use super::body::{Star, clamp_eccentricity};
use super::body_parts::{Position, RoguePlanetMeta};
use super::id_name_color::Id;
use super::number::Number;
use super::snapshot::Snapshot;

/// The default semi-major axis of a rogue planet's curved path.
const ROGUE_SEMI_MAJOR_AXIS: f64 = 100.0;

/// The position of a body relative to its parent; of a rogue planet, relative to the world's origin.
pub fn local_position(star: &Star, time: f64) -> Position {
    if star.is_rogue()
        && let Some(path) = &star.rogue_planet
    {
        return rogue_position(path, time);
    }
    Ellipse::from_star(star).position_at(angle(time, star.orbital_speed.0, star.orbital_phase.0))
}

/// The orbit of a body relative to its parent: `center + major · cos + minor · sin` over a whole turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Orbit {
    pub center: Position,
    pub major: Position,
    pub minor: Position,
}

/// The orbit of a body; `None` for a rogue planet on a straight path.
pub fn orbit(star: &Star) -> Option<Orbit> {
    let ellipse = match &star.rogue_planet {
        Some(path) if star.is_rogue() => Ellipse::from_rogue_path(path)?,
        _ => Ellipse::from_star(star),
    };
    Some(Orbit {
        center: ellipse.place(-ellipse.focus_distance(), 0.0),
        major: position_from_axes(ellipse.rotate(ellipse.semi_major_axis, 0.0)),
        minor: position_from_axes(ellipse.rotate(0.0, ellipse.semi_minor_axis())),
    })
}

/// The time of one turn; `None` for a body that stands still or moves on a straight path.
pub fn period(star: &Star) -> Option<f64> {
    let period = match &star.rogue_planet {
        Some(path) if star.is_rogue() => {
            path.path_curvature.filter(|curvature| curvature.clamped() > 0.0)?;
            rogue_period(path)
        }
        _ => 360.0 / star.orbital_speed.0,
    };
    Some(period.abs()).filter(|period| period.is_finite() && *period > 0.0)
}

impl Snapshot {
    /// The world position of a body: the sum of its local position and those of its ancestors.
    pub fn world_position(&self, id: &str, time: f64) -> Option<Position> {
        let star = self.stars.get(id)?;
        Some(
            self.ancestors(id)
                .fold(local_position(star, time), |position, star| add_positions(position, local_position(star, time))),
        )
    }

    /// The world position of one of many bodies: `known` caches the positions of bodies that have children.
    pub(super) fn world_position_cached<'a>(
        &'a self,
        star: &'a Star,
        time: f64,
        known: &mut BTreeMap<&'a Id, Position>,
    ) -> Position {
        let (mut way, mut next, mut position) = (Vec::new(), Some(star), Position::default());
        while let Some(star) = next {
            if let Some(reached) = known.get(&star.id) {
                position = *reached;
                break;
            }
            way.push(star);
            next = star.parent_id.as_ref().and_then(|id| self.body(id));
        }
        for star in way.into_iter().rev() {
            position = add_positions(local_position(star, time), position);
            if !star.children.is_empty() {
                known.insert(&star.id, position);
            }
        }
        position
    }

    /// The world positions of all bodies, in order of ids. Each local position is computed once.
    pub fn world_positions(&self, time: f64) -> Vec<(&Id, Position)> {
        let origin = Position::default();
        let mut positions = Vec::with_capacity(self.stars.len());
        let mut waiting: Vec<(&Star, Position)> =
            self.stars.values().filter(|star| star.parent_id.is_none()).map(|star| (star.as_ref(), origin)).collect();
        while let Some((star, parent)) = waiting.pop() {
            let position = add_positions(local_position(star, time), parent);
            positions.push((&star.id, position));
            let children = star.children.iter().filter_map(|id| self.stars.get(id));
            waiting.extend(children.map(|child| (child.as_ref(), position)));
        }
        positions.sort_by_key(|(id, _)| *id);
        positions
    }
}

fn rogue_position(path: &RoguePlanetMeta, time: f64) -> Position {
    let Some(ellipse) = Ellipse::from_rogue_path(path) else {
        let velocity = path.velocity;
        let travelled = [velocity.x, velocity.y, velocity.z].map(|speed| speed.0 * time);
        return add_positions(path.initial_position, position_from_axes(travelled));
    };
    let speed = 360.0 / rogue_period(path);
    ellipse.position_at(if speed.is_finite() { angle(time, speed, 0.0) } else { 0.0 })
}

fn rogue_period(path: &RoguePlanetMeta) -> f64 {
    let axis = path.semi_major_axis.map_or(ROGUE_SEMI_MAJOR_AXIS, |axis| axis.0);
    path.path_period.map_or(5.0 * axis, |period| period.0)
}

/// The angle in degrees, reduced to one turn. The remainder is exact, so many turns add no error.
fn angle(time: f64, speed: f64, phase: f64) -> f64 {
    let turned = time * speed;
    let turned = if turned.is_finite() { turned } else { (time % (360.0 / speed)) * speed };
    (turned % 360.0 + phase % 360.0) % 360.0
}

/// The eccentric anomaly of a mean anomaly by Kepler's equation, both in degrees. The eccentricity is below 1.
fn eccentric_anomaly(mean: f64, eccentricity: f64) -> f64 {
    if eccentricity == 0.0 {
        return mean;
    }
    let turned = mean % 360.0;
    let half_turn = if turned.abs() > 180.0 { turned - 360.0 * turned.signum() } else { turned };
    let mean = half_turn.abs().to_radians();
    // Between 0 and half a turn the equation is convex, and this start is not below its root: Newton's method goes down
    // to the root for every eccentricity below 1.
    let mut eccentric = (mean + eccentricity).min(std::f64::consts::PI);
    for _ in 0..NEWTON_STEPS_MAX {
        let (sin, cos) = eccentric.sin_cos();
        let step = (eccentric - eccentricity * sin - mean) / (1.0 - eccentricity * cos);
        eccentric -= step;
        if step.abs() < NEWTON_STEP_MIN {
            break;
        }
    }
    eccentric.to_degrees() * half_turn.signum()
}

/// Steps that suffice for every mean anomaly at the greatest eccentricity of a view.
const NEWTON_STEPS_MAX: usize = 24;
/// In radians: a smaller step is lost in rounding.
const NEWTON_STEP_MIN: f64 = 1e-14;

struct Ellipse {
    semi_major_axis: f64,
    eccentricity: f64,
    /// About X, Y and Z, in degrees.
    rotation: [f64; 3],
    offset: [f64; 3],
    anchor: Anchor,
}

/// The point of an ellipse that the offset is the position of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Anchor {
    /// The parent's place on a Kepler orbit.
    Focus,
    Center,
}

impl Ellipse {
    fn from_star(star: &Star) -> Self {
        Self {
            semi_major_axis: star.semi_major_axis.map_or(star.orbital_distance.0, |axis| axis.0),
            eccentricity: star.eccentricity.map_or(0.0, |eccentricity| clamp_eccentricity(eccentricity.0)),
            rotation: [star.orbit_rot_x, star.orbit_rot_y, star.orbit_rot_z].map(or_zero),
            offset: [star.orbit_offset_x, star.orbit_offset_y, star.orbit_offset_z].map(or_zero),
            anchor: Anchor::Focus,
        }
    }

    /// None for a straight path.
    fn from_rogue_path(path: &RoguePlanetMeta) -> Option<Self> {
        path.path_curvature.filter(|curvature| curvature.clamped() > 0.0)?;
        let offset = position_from_axes([path.path_offset_x, path.path_offset_y, path.path_offset_z].map(or_zero));
        let center = add_positions(path.initial_position, offset);
        Some(Self {
            semi_major_axis: path.semi_major_axis.map_or(ROGUE_SEMI_MAJOR_AXIS, |axis| axis.0),
            eccentricity: path.eccentricity.map_or(0.0, |eccentricity| clamp_eccentricity(eccentricity.0)),
            rotation: [path.orbit_rot_x, path.orbit_rot_y, path.orbit_rot_z].map(or_zero),
            offset: [center.x.0, center.y.0, center.z.0],
            anchor: Anchor::Center,
        })
    }

    fn semi_minor_axis(&self) -> f64 {
        self.semi_major_axis * (1.0 - self.eccentricity * self.eccentricity).sqrt()
    }

    /// How far the anchor is from the centre, towards the point of the ellipse at angle 0.
    fn focus_distance(&self) -> f64 {
        match self.anchor {
            Anchor::Focus => self.semi_major_axis * self.eccentricity,
            Anchor::Center => 0.0,
        }
    }

    /// The position at an angle that grows evenly with time.
    fn position_at(&self, degrees: f64) -> Position {
        let degrees = match self.anchor {
            Anchor::Focus => eccentric_anomaly(degrees, self.eccentricity),
            Anchor::Center => degrees,
        };
        let (sin, cos) = degrees.to_radians().sin_cos();
        self.place(self.semi_major_axis * cos - self.focus_distance(), self.semi_minor_axis() * sin)
    }

    /// The position of a point in the plane of the orbit, seen from the anchor.
    fn place(&self, x: f64, z: f64) -> Position {
        add_positions(position_from_axes(self.rotate(x, z)), position_from_axes(self.offset))
    }

    fn rotate(&self, x: f64, z: f64) -> [f64; 3] {
        let [turn_x, turn_y, turn_z] = self.rotation.map(|degrees| (degrees % 360.0).to_radians().sin_cos());
        let (x, y) = (x * turn_z.1, x * turn_z.0);
        let (x, z) = (x * turn_y.1 + z * turn_y.0, z * turn_y.1 - x * turn_y.0);
        let (y, z) = (y * turn_x.1 - z * turn_x.0, y * turn_x.0 + z * turn_x.1);
        [x, y, z]
    }
}

fn or_zero(number: Option<Number>) -> f64 {
    number.unwrap_or_default().0
}

/// Clamps each axis to a finite number; NaN becomes 0.
fn position_from_axes(axes: [f64; 3]) -> Position {
    let [x, y, z] = axes.map(|axis| Number(if axis.is_nan() { 0.0 } else { axis.clamp(f64::MIN, f64::MAX) }));
    Position { x, y, z }
}

fn add_positions(one: Position, other: Position) -> Position {
    position_from_axes([one.x.0 + other.x.0, one.y.0 + other.y.0, one.z.0 + other.z.0])
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::super::state::UniverseState;
    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "fields are made where they are given")]
    fn star(fields: Value) -> Star {
        let mut star = json!({
            "id": "a", "name": "a", "mass": 1, "radius": 1, "color": "#FFF", "orbitalDistance": 10, "orbitalSpeed": 1,
        });
        star.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        serde_json::from_value(star).unwrap()
    }

    fn axes(position: Position) -> [f64; 3] {
        [position.x.0, position.y.0, position.z.0]
    }

    fn distance(position: Position) -> f64 {
        axes(position).iter().map(|axis| axis * axis).sum::<f64>().sqrt()
    }

    fn is_near(one: Position, other: [f64; 3], scale: f64) -> bool {
        axes(one).iter().zip(other).all(|(one, other)| (one - other).abs() <= 1e-9 * scale.max(1.0))
    }

    #[test]
    fn positions_on_a_circle_are_those_of_the_original() {
        let at = |fields: Value, time: f64| local_position(&star(fields), time);
        assert!(is_near(at(json!({}), 0.0), [10.0, 0.0, 0.0], 1.0));
        assert!(is_near(at(json!({}), 90.0), [0.0, 0.0, 10.0], 1.0));
        assert!(is_near(at(json!({"orbitalPhase": 180}), 0.0), [-10.0, 0.0, 0.0], 1.0));
        assert!(is_near(
            at(json!({"orbitOffsetX": 1, "orbitOffsetY": 2, "orbitOffsetZ": 3}), 0.0),
            [11.0, 2.0, 3.0],
            1.0
        ));
        assert!(is_near(at(json!({"orbitRotZ": 90}), 0.0), [0.0, 10.0, 0.0], 1.0));
        assert!(is_near(at(json!({"orbitRotY": 90}), 0.0), [0.0, 0.0, -10.0], 1.0));
        assert!(is_near(at(json!({"orbitRotX": 90}), 90.0), [0.0, -10.0, 0.0], 1.0));
        // Z, then Y, then X: the point moves from the X axis to Y, where a turn about Y does nothing, and then to Z.
        assert!(is_near(at(json!({"orbitRotX": 90, "orbitRotY": 77, "orbitRotZ": 90}), 0.0), [0.0, 0.0, 10.0], 1.0));
    }

    #[test]
    fn an_eccentric_body_has_its_parent_in_a_focus() {
        let at = |fields: Value, time: f64| local_position(&star(fields), time);
        let orbit = |extra: Value| {
            let mut fields = json!({"semiMajorAxis": 20, "eccentricity": 0.6});
            fields.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            fields
        };
        assert!(is_near(at(orbit(json!({})), 0.0), [8.0, 0.0, 0.0], 1.0), "nearest");
        assert!(is_near(at(orbit(json!({})), 180.0), [-32.0, 0.0, 0.0], 1.0), "farthest");
        assert!(is_near(at(orbit(json!({"orbitalPhase": 180})), 180.0), [8.0, 0.0, 0.0], 1.0));
        // At the eccentric anomaly 90° the mean anomaly is 90° - 0.6 rad.
        assert!(is_near(at(orbit(json!({})), 90.0 - 0.6_f64.to_degrees()), [-12.0, 0.0, 16.0], 1.0));
        assert!(is_near(at(orbit(json!({})), -90.0 + 0.6_f64.to_degrees()), [-12.0, 0.0, -16.0], 1.0));
        assert!(is_near(at(orbit(json!({"orbitRotZ": 90, "orbitOffsetZ": 3})), 0.0), [0.0, 8.0, 3.0], 1.0));
        for (sent, shown) in [(0.99, 0.99), (1.0, 0.99), (1.2, 0.99), (1e300, 0.99), (-0.5, 0.0)] {
            let body = at(json!({"semiMajorAxis": 20, "eccentricity": sent}), 0.0);
            assert!(is_near(body, [20.0 * (1.0 - shown), 0.0, 0.0], 1.0), "{sent}");
        }
    }

    #[test]
    fn rogue_planets_go_their_own_way() {
        let rogue = |path: Value| {
            let mut meta =
                json!({"seed": 1, "initialPosition": {"x": 1, "y": 2, "z": 3}, "velocity": {"x": 1, "y": 0, "z": -1}});
            meta.as_object_mut().unwrap().extend(path.as_object().unwrap().clone());
            star(json!({"isRoguePlanet": true, "roguePlanet": meta}))
        };
        let straight = rogue(json!({}));
        assert!(is_near(local_position(&straight, 10.0), [11.0, 2.0, -7.0], 1.0));
        assert_eq!(period(&straight), None);
        let curved = rogue(json!({"pathCurvature": 0.5}));
        assert!(is_near(local_position(&curved, 0.0), [101.0, 2.0, 3.0], 1.0));
        assert!(is_near(local_position(&curved, 125.0), [1.0, 2.0, 103.0], 1.0));
        assert_eq!(period(&curved), Some(500.0));
        assert_eq!(orbit(&straight), None);
        assert!(is_near(orbit(&curved).unwrap().center, [1.0, 2.0, 3.0], 1.0));
        let beyond = rogue(json!({"pathCurvature": 7.5, "eccentricity": 3}));
        assert!(is_near(local_position(&beyond, 125.0), [1.0, 2.0, 3.0 + 100.0 * f64::sqrt(1.0 - 0.99 * 0.99)], 1.0));
        assert_eq!(local_position(&rogue(json!({"pathCurvature": -1})), 10.0), local_position(&straight, 10.0));
        let far_off = rogue(json!({"pathCurvature": 1, "pathPeriod": 0, "pathOffsetX": 9}));
        assert!(is_near(local_position(&far_off, 7.0), [110.0, 2.0, 3.0], 1.0));
        // Without a path it moves as every other body does.
        assert!(is_near(local_position(&star(json!({"isRoguePlanet": true})), 0.0), [10.0, 0.0, 0.0], 1.0));
    }

    fn any_orbit() -> impl Strategy<Value = Star> {
        let turn = || -720.0..720.0_f64;
        let place = || -1e3..1e3_f64;
        ((-1e3..1e3_f64, -100.0..100.0_f64, turn(), 0.0..=1.0_f64), (turn(), turn(), turn()), (place(), place(), place())).prop_map(
            |((axis, speed, phase, eccentricity), (x, y, z), (a, b, c))| {
                star(json!({
                    "semiMajorAxis": axis, "orbitalSpeed": speed, "orbitalPhase": phase, "eccentricity": eccentricity,
                    "orbitRotX": x, "orbitRotY": y, "orbitRotZ": z, "orbitOffsetX": a, "orbitOffsetY": b, "orbitOffsetZ": c,
                }))
            },
        )
    }

    /// The position relative to the focus of the orbit, without its offset.
    fn position_from_focus(star: &Star, time: f64) -> Position {
        let offset = [star.orbit_offset_x, star.orbit_offset_y, star.orbit_offset_z].map(|offset| -or_zero(offset));
        add_positions(local_position(star, time), position_from_axes(offset))
    }

    proptest! {
        #[test]
        fn keplers_equation_holds(mean in -360.0..360.0_f64, eccentricity in 0.0..=0.99_f64) {
            let eccentric = eccentric_anomaly(mean, eccentricity).to_radians();
            let back = (eccentric - eccentricity * eccentric.sin()).to_degrees();
            let off = (back - mean).rem_euclid(360.0);
            prop_assert!(off.min(360.0 - off) < 1e-9, "{mean} became {back}");
        }

        /// Kepler's second law: the area that the line to the parent sweeps in a time is the same everywhere.
        #[test]
        fn equal_areas_are_swept_in_equal_times(eccentricity in 0.0..0.9_f64, time in 0.0..360.0_f64) {
            let body = star(json!({"semiMajorAxis": 1, "eccentricity": eccentricity}));
            let [from, to] = [time, time + 1e-3].map(|time| local_position(&body, time));
            let swept = (from.x.0 * to.z.0 - from.z.0 * to.x.0) / 2.0;
            let whole = std::f64::consts::PI * (1.0 - eccentricity * eccentricity).sqrt();
            prop_assert!((swept - whole * 1e-3 / 360.0).abs() < whole * 1e-9, "{swept}");
        }

        #[test]
        fn a_body_is_where_it_was_one_turn_ago(star in any_orbit(), time in -1e6..1e6_f64, turns in -1000..1000_i32) {
            prop_assume!(star.orbital_speed.0.abs() > 1e-3);
            let later = time + f64::from(turns) * period(&star).unwrap();
            // Rounding of the angle counts a hundredfold where a body on a narrow ellipse passes its parent.
            let scale = 1e3 * star.orbital_speed.0.abs() * later.abs().max(time.abs()) * 1e-5;
            prop_assert!(is_near(local_position(&star, later), axes(local_position(&star, time)), scale.max(10.0)));
        }

        #[test]
        fn a_body_is_always_on_its_orbit(star in any_orbit(), time in -1e3..1e3_f64) {
            let found = orbit(&star).unwrap();
            let mean = angle(time, star.orbital_speed.0, star.orbital_phase.0);
            let eccentricity = clamp_eccentricity(star.eccentricity.unwrap().0);
            let (sin, cos) = eccentric_anomaly(mean, eccentricity).to_radians().sin_cos();
            let [center, major, minor] = [found.center, found.major, found.minor].map(axes);
            let on_it = [0, 1, 2].map(|axis: usize| center[axis] + major[axis] * cos + minor[axis] * sin);
            prop_assert!(is_near(local_position(&star, time), on_it, 1e3));
        }

        #[test]
        fn a_phase_is_a_head_start(star in any_orbit(), time in -1e3..1e3_f64, ahead in -1e3..1e3_f64) {
            let mut early = star.clone();
            early.orbital_phase = Number(star.orbital_phase.0 + ahead * star.orbital_speed.0);
            prop_assert!(is_near(local_position(&early, time), axes(local_position(&star, time + ahead)), 1e3));
        }

        #[test]
        fn turning_an_orbit_changes_no_distance(star in any_orbit(), time in -1e3..1e3_f64) {
            let mut flat = star.clone();
            (flat.orbit_rot_x, flat.orbit_rot_y, flat.orbit_rot_z) = (None, None, None);
            let (turned, plain) = (distance(position_from_focus(&star, time)), distance(position_from_focus(&flat, time)));
            prop_assert!((turned - plain).abs() < 1e-6, "{turned} is not {plain}");
            let axis = star.semi_major_axis.unwrap().0.abs();
            let eccentricity = clamp_eccentricity(star.eccentricity.unwrap().0);
            prop_assert!(turned <= axis * (1.0 + eccentricity) + 1e-6 && turned >= axis * (1.0 - eccentricity) - 1e-6);
            // Without rotation the ellipse lies in the XZ plane.
            prop_assert!(position_from_focus(&flat, time).y.0.abs() < 1e-9);
        }

        #[test]
        fn a_circle_is_run_through_at_an_even_distance(star in any_orbit(), time in -1e3..1e3_f64) {
            let mut circle = star.clone();
            circle.eccentricity = None;
            let radius = star.semi_major_axis.unwrap().0.abs();
            prop_assert!((distance(position_from_focus(&circle, time)) - radius).abs() < 1e-6);
        }

        #[test]
        fn the_world_adds_up_all_that_is_above(orbits in proptest::collection::vec(any_orbit(), 1..12), time in -1e3..1e3_f64) {
            let mut stars = serde_json::Map::new();
            for (number, orbit) in orbits.iter().enumerate() {
                let mut star = serde_json::to_value(orbit).unwrap();
                let children = if number + 1 < orbits.len() { json!([format!("b{}", number + 1)]) } else { json!([]) };
                star["id"] = json!(format!("b{number}"));
                star["children"] = children;
                star["parentId"] = if number == 0 { Value::Null } else { json!(format!("b{}", number - 1)) };
                stars.insert(format!("b{number}"), star);
            }
            let state: UniverseState = serde_json::from_value(json!({"stars": stars, "rootIds": ["b0"]})).unwrap();
            let mut expected = [0.0; 3];
            for (number, orbit) in orbits.iter().enumerate() {
                let local = axes(local_position(orbit, time));
                expected = [0, 1, 2].map(|axis: usize| expected[axis] + local[axis]);
                let world = state.snapshot().world_position(&format!("b{number}"), time).unwrap();
                prop_assert!(is_near(world, expected, 1e4));
            }
            let listed: Vec<Position> =
                state.snapshot().world_positions_after(None, time).map(|placed| placed.position).collect();
            let all = state.snapshot().world_positions(time);
            prop_assert_eq!(&listed, &all.iter().map(|(_, position)| *position).collect::<Vec<_>>());
            for (id, position) in all {
                prop_assert!(is_near(position, axes(state.snapshot().world_position(id, time).unwrap()), 1e4));
            }
        }

        #[test]
        fn no_numbers_lead_out_of_numbers(
            numbers in proptest::collection::vec(any::<f64>().prop_filter("a number", |number| number.is_finite()), 12),
            time in any::<f64>().prop_filter("a number", |number| number.is_finite()),
            is_rogue in any::<bool>(),
        ) {
            let mut star = star(json!({}));
            let some = |index: usize| Some(Number(numbers[index]));
            (star.orbital_speed, star.orbital_phase) = (Number(numbers[0]), Number(numbers[1]));
            star.semi_major_axis = some(2);
            (star.orbit_rot_x, star.orbit_rot_y, star.orbit_rot_z) = (some(3), some(4), some(5));
            (star.orbit_offset_x, star.orbit_offset_y, star.orbit_offset_z) = (some(6), some(7), some(8));
            let path = json!({
                "seed": 0, "initialPosition": {"x": numbers[9], "y": numbers[10], "z": numbers[11]},
                "velocity": {"x": numbers[0], "y": numbers[1], "z": numbers[2]}, "pathCurvature": i32::from(numbers[3] > 0.0),
                "semiMajorAxis": numbers[4], "pathPeriod": numbers[5], "orbitRotX": numbers[6],
            });
            star.is_rogue_planet = Some(is_rogue);
            star.rogue_planet = Some(Arc::new(serde_json::from_value(path).unwrap()));
            let position = local_position(&star, time);
            prop_assert!(axes(position).iter().all(|axis| axis.is_finite()), "{position:?}");
            prop_assert!(period(&star).is_none_or(|period| period > 0.0 && period.is_finite()));
        }
    }
}
