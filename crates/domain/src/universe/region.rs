//! Regions of space that are no bodies: belts, fields of small bodies, disks, nebulae.
//!
//! They refer to bodies and groups by id, and keep those ids when the bodies and groups are removed.

use super::body_parts::Position;
use super::check_bounds::{Check, FieldMisfit, Reason};
use super::id_name_color::{Id, Name, UniverseColor};
use super::number::{Count, Fraction, Number, NumberInRange, Seed};
use super::wire_struct_macros::{wire_enum, wire_struct};
use crate::limits;

wire_enum! {
    BeltType { Main, Kuiper, }
}

wire_enum! {
    SmallBodyFieldStyle { Thin, Moderate, Thick, Scattered, }
}

wire_enum! {
    DiskStyle { Thin, Moderate, Thick, Extreme, }
}

/// Ids of other things, at most as many as a universe may have bodies.
impl Check for Vec<Id> {
    fn check(&self) -> Result<(), FieldMisfit> {
        if self.len() > limits::BODIES_MAX {
            let problem = format!("has {} ids, at most {} are allowed", self.len(), limits::BODIES_MAX);
            return Err(FieldMisfit::new(Reason::TooMany, problem));
        }
        let checked = |(number, id): (usize, &Id)| id.check().map_err(|misfit| misfit.in_field(&number.to_string()));
        self.iter().enumerate().try_for_each(checked)
    }

    fn text_bytes(&self) -> usize {
        self.iter().map(|id| id.len()).sum()
    }
}

/// A range from one number to another.
impl Check for [Number; 2] {
    fn check(&self) -> Result<(), FieldMisfit> {
        self.iter().try_for_each(Check::check)
    }
}

wire_struct! {
    /// A belt of asteroids that are bodies. An older form; only snapshots bring it.
    AsteroidBelt {
        required {
            id: Id,
            name: Name,
            parent_id: Id,
            inner_radius: Number,
            outer_radius: Number,
            thickness: Number,
            eccentricity: Number,
            /// In degrees.
            inclination: Number,
            asteroid_count: Count,
            asteroid_ids: Vec<Id>,
        }
        optional {
            color: UniverseColor,
            belt_type: BeltType,
            region_label: Name,
            is_icy: bool,
            inclination_sigma: Number,
            radial_range_hint: [Number; 2],
            lod_level: Number,
            visible: bool,
            seed: Seed,
        }
    }
}

wire_struct! {
    /// A belt of particles around a star.
    SmallBodyField, patch SmallBodyFieldPatch {
        required {
            id: Id,
            system_id: Id,
            host_star_id: Id,
            inner_radius: Number,
            outer_radius: Number,
            /// The standard deviation of the height.
            thickness: Number,
            particle_count: Count,
            base_color: UniverseColor,
            highlight_color: UniverseColor,
            opacity: Fraction,
            brightness: Number,
            clumpiness: Fraction,
            rotation_speed_multiplier: Number,
            belt_type: BeltType,
            region_label: Name,
            is_icy: bool,
            seed: Seed,
            style: SmallBodyFieldStyle,
        }
        optional {
            inclination_sigma: Number,
            name: Name,
            visible: bool,
        }
    }
}

wire_struct! {
    /// The disk of a young star.
    ProtoplanetaryDisk, patch ProtoplanetaryDiskPatch {
        required {
            id: Id,
            system_id: Id,
            central_star_id: Id,
            inner_radius: Number,
            outer_radius: Number,
            /// Half its height.
            thickness: Number,
            particle_count: Count,
            base_color: UniverseColor,
            highlight_color: UniverseColor,
            opacity: Fraction,
            brightness: Number,
            clumpiness: Fraction,
            rotation_speed_multiplier: Number,
            seed: Seed,
            style: DiskStyle,
        }
        optional {
            name: Name,
            band_strength: Fraction,
            band_frequency: NumberInRange<200, 1200>,
            gap_sharpness: Fraction,
            inner_glow_strength: Fraction,
            noise_scale: NumberInRange<50, 300>,
            noise_strength: Fraction,
            spiral_strength: Fraction,
            spiral_arm_count: NumberInRange<100, 400>,
            edge_softness: Fraction,
            temperature_gradient: NumberInRange<50, 300>,
        }
    }
}

wire_struct! {
    /// A cloud among the stars.
    NebulaRegion, patch NebulaPatch {
        required {
            id: Id,
            name: Name,
            position: Position,
            radius: Number,
            density: Fraction,
            brightness: Fraction,
            base_color: UniverseColor,
            accent_color: UniverseColor,
            noise_scale: Number,
            /// Octaves of noise.
            noise_detail: Number,
            seed: Seed,
        }
        optional {
            /// Half its extent in each direction.
            dimensions: Position,
            associated_group_ids: Vec<Id>,
            visible: bool,
        }
    }
}
