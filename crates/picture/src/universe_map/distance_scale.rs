//! Scales distances in a universe to distances on the picture: as true as there is room for.

use super::Point;

/// Larger distances are clamped to this, so that their squares stay finite.
const DISTANCE_MAX: f64 = 1e140;
/// Smaller distances count as zero.
const DISTANCE_MIN: f64 = 1e-140;
/// Distances with a smaller ratio count as the same orbit.
const SAME_ORBIT_RATIO: f64 = 1.03;

/// How distances are scaled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scale {
    /// In proportion.
    True,
    /// By a power of the distance.
    Power(f64),
    Logarithm,
}

impl Scale {
    const ALL: [Self; 4] = [Self::True, Self::Power(0.5), Self::Power(0.25), Self::Logarithm];

    /// Applies the scale to a distance of at least one.
    fn apply(self, distance: f64) -> f64 {
        match self {
            Self::True => distance,
            Self::Power(power) => distance.powf(power),
            Self::Logarithm => distance.ln(),
        }
    }

    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::True => "distances to scale",
            Self::Power(_) => "far distances are drawn closer together",
            Self::Logarithm => "distances on a logarithmic scale",
        }
    }
}

/// The distances from one body, and where they are on the picture.
#[derive(Debug, Clone, Copy)]
pub(super) struct Radii {
    pub(super) scale: Scale,
    /// The nearest and the farthest distance that count.
    pub(super) near: f64,
    pub(super) far: f64,
    /// The radii of those on the picture.
    near_px: f64,
    pub(super) far_px: f64,
}

impl Radii {
    /// A scale for things at some distances, none further than `far`, between two radii on the picture. `apart` is how
    /// far from each other they should be.
    pub(super) fn new(distances: &[f64], far: f64, (near_px, far_px): (f64, f64), apart: f64) -> Self {
        let mut distances: Vec<f64> =
            distances.iter().copied().map(clamp_distance).filter(|distance| *distance > 0.0).collect();
        distances.sort_by(f64::total_cmp);
        distances.dedup_by(|next, kept| *next < *kept * SAME_ORBIT_RATIO);
        let far = clamp_distance(far).max(distances.last().copied().unwrap_or(0.0)).max(DISTANCE_MIN);
        // A single orbit is not drawn at the very edge.
        let is_alone =
            distances.len() < 2 && distances.first().is_none_or(|distance| far <= distance * SAME_ORBIT_RATIO);
        let far = if is_alone { far * 1.4 } else { far };
        // Bounds the ratio of far to near.
        let near = distances.first().copied().unwrap_or(far).clamp(far * 1e-12, far);
        let of = |scale| Self { scale, near, far, near_px, far_px };
        let gaps = |scale| -> f64 {
            let radii = of(scale);
            let gaps = distances.windows(2).map(|pair| radii.radius(pair[1]) - radii.radius(pair[0]));
            gaps.map(|gap| gap.min(apart)).sum()
        };
        let mut best = (Scale::Logarithm, f64::NEG_INFINITY);
        for scale in Scale::ALL {
            // On a linear scale the nearest orbit may overlap the central disc.
            if scale == Scale::True && near / far * far_px < near_px {
                continue;
            }
            let sum = gaps(scale);
            // Scales are tried from true to distorted: a later one must separate orbits clearly better.
            if sum > best.1 * 1.08 + 1e-6 {
                best = (scale, sum);
            }
        }
        of(best.0)
    }

    /// The radius on the picture for a distance.
    pub(super) fn radius(&self, distance: f64) -> f64 {
        let distance = clamp_distance(distance);
        if self.scale == Scale::True {
            return distance / self.far * self.far_px;
        }
        if distance <= self.near {
            return distance / self.near * self.near_px;
        }
        let bend = |distance: f64| self.scale.apply(distance / self.near) - self.scale.apply(1.0);
        let all = bend(self.far);
        // `near` and `far` may be equal.
        if all <= 0.0 {
            return self.far_px;
        }
        self.near_px + (self.far_px - self.near_px) * bend(distance) / all
    }

    /// The position of a point on the picture, relative to the middle.
    pub(super) fn project(&self, point: Point) -> Point {
        let distance = length(point);
        if distance <= 0.0 {
            return (0.0, 0.0);
        }
        let place = self.radius(distance);
        (point.0 / distance * place, point.1 / distance * place)
    }

    /// Round distances, so far apart that their labels have room.
    pub(super) fn ticks(&self, width: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut ticks: Vec<f64> = Vec::new();
        let apart = |one: f64, other: f64| f64::midpoint(width(one), width(other));
        let (first, last) = (self.near.log10().floor(), self.far.log10().ceil());
        // A universe of many decades has no room for more lines than this.
        let decades = (0_u16..320).map(|index| first + f64::from(index)).take_while(|decade| *decade <= last);
        let values: Vec<f64> =
            decades.flat_map(|decade| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powf(decade))).collect();
        // Decades come first: 1 and 10 are better than 2 and 20.
        for step in [3, 1] {
            for value in values.iter().copied().step_by(step).filter(|value| *value <= self.far * 1.001) {
                let place = self.radius(value);
                let has_room = |tick: &f64| (self.radius(*tick) - place).abs() >= apart(*tick, value);
                if has_room(&0.0) && ticks.iter().all(has_room) {
                    ticks.push(value);
                }
            }
        }
        ticks.sort_by(f64::total_cmp);
        ticks
    }
}

/// Clamps a distance to a finite range.
fn clamp_distance(distance: f64) -> f64 {
    if distance > DISTANCE_MIN { distance.min(DISTANCE_MAX) } else { 0.0 }
}

/// Clamps both coordinates to `DISTANCE_MAX`, keeping the direction. NaN becomes 0.
pub(super) fn clamp_point(point: Point) -> Point {
    let [x, y] = [point.0, point.1].map(|axis| if axis.is_nan() { 0.0 } else { axis.clamp(f64::MIN, f64::MAX) });
    let most = x.abs().max(y.abs());
    if most <= DISTANCE_MAX {
        return (x, y);
    }
    (x / most * DISTANCE_MAX, y / most * DISTANCE_MAX)
}

pub(super) fn length(point: Point) -> f64 {
    point.0.hypot(point.1)
}
