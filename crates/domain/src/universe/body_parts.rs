//! Optional parts of bodies: rings, tails, Lagrange points, black holes, paths of rogue planets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check_bounds::{Check, FieldMisfit};
use super::id_name_color::{Id, Name, UniverseColor};
use super::number::{Fraction, IntegerInRange, Number, NumberInRange, Seed};
use super::wire_struct_macros::{wire_enum, wire_struct};

/// A place or a direction in space, in world units.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Position {
    pub x: Number,
    pub y: Number,
    pub z: Number,
}

impl Check for Position {
    fn check(&self) -> Result<(), FieldMisfit> {
        let axes = [("x", self.x), ("y", self.y), ("z", self.z)];
        axes.iter().try_for_each(|(axis, number)| number.check().map_err(|misfit| misfit.in_field(axis)))
    }
}

wire_struct! {
    /// The ring of a planet.
    PlanetaryRing, patch RingPatch {
        required {
            /// In multiples of the planet's radius.
            inner_radius_multiplier: Number,
            /// In multiples of the planet's radius.
            outer_radius_multiplier: Number,
            /// Half its height, in world units.
            thickness: Number,
            opacity: Fraction,
            albedo: Number,
            color: UniverseColor,
            density: Fraction,
        }
        optional {
            warp_factor: Number,
            seed: Seed,
        }
    }
}

wire_struct! {
    /// What makes a body a comet.
    CometMeta {
        required {
            is_periodic: bool,
            /// a(1 - e).
            perihelion_distance: Number,
            /// a(1 + e).
            aphelion_distance: Number,
            has_tail: bool,
            tail_length_base: Number,
            tail_width_base: Number,
            tail_color: UniverseColor,
            tail_opacity_base: Fraction,
            activity_falloff_distance: Number,
        }
        optional {
            /// In simulated seconds.
            last_perihelion_time: Number,
            seed: Seed,
        }
    }
}

wire_enum! {
    /// Which two bodies a Lagrange point stands between.
    LagrangePairType { StarPlanet, PlanetMoon, }
}

wire_struct! {
    /// Which Lagrange point a marker marks.
    LagrangePointMeta {
        required {
            primary_id: Id,
            secondary_id: Id,
            /// L1 to L5.
            point_index: IntegerInRange<1, 5>,
            /// True for L4 and L5.
            stable: bool,
            pair_type: LagrangePairType,
        }
        optional {
            /// Such as "Earth L4".
            label: Name,
        }
    }
}

wire_struct! {
    /// What makes a body a black hole.
    BlackHoleProperties {
        required {
            has_accretion_disk: bool,
            has_relativistic_jet: bool,
            has_photon_ring: bool,
            spin: Fraction,
            shadow_radius: Number,
            /// Greater than the shadow's radius.
            accretion_inner_radius: Number,
            accretion_outer_radius: Number,
            disk_thickness: Number,
            disk_brightness: Fraction,
            disk_opacity: Fraction,
            /// In kelvin, more or less.
            disk_temperature: Number,
            disk_clumpiness: Fraction,
            jet_length: Number,
            /// In degrees.
            jet_opening_angle: Number,
            jet_brightness: Fraction,
            doppler_beaming_strength: Fraction,
            lensing_strength: Fraction,
            rotation_speed_multiplier: Number,
            seed: Seed,
        }
        optional {
            disk_turbulence_scale: Fraction,
            disk_inner_color: UniverseColor,
            disk_outer_color: UniverseColor,
            disk_streakiness: Fraction,
            jet_base_color: UniverseColor,
            jet_tip_color: UniverseColor,
            /// 2 if left out.
            jet_gradient_power: Number,
            /// 2 if left out.
            photon_ring_multi_image_count: IntegerInRange<1, 3>,
            /// In radii of the shadow; 0.4 if left out.
            photon_ring_width: Number,
            /// In radians.
            disk_tilt: Number,
            /// In radians.
            disk_tilt_axis_angle: Number,
        }
    }
}

wire_struct! {
    /// How a planet without a star moves.
    RoguePlanetMeta {
        required {
            seed: Seed,
            initial_position: Position,
            /// In world units per simulated second.
            velocity: Position,
        }
        optional {
            color_override: UniverseColor,
            /// 0 or left out: a straight path.
            path_curvature: Fraction,
            semi_major_axis: Number,
            eccentricity: NumberInRange<0, 99>,
            path_offset_x: Number,
            path_offset_y: Number,
            path_offset_z: Number,
            /// In degrees.
            orbit_rot_x: Number,
            /// In degrees.
            orbit_rot_y: Number,
            /// In degrees.
            orbit_rot_z: Number,
            /// In simulated seconds.
            path_period: Number,
            show_trajectory: bool,
            /// In simulated seconds.
            trajectory_past_window: Number,
            /// In simulated seconds.
            trajectory_future_window: Number,
        }
    }
}
