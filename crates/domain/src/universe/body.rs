//! `Star`, a body of any kind: star, planet, moon, asteroid, comet, Lagrange point or black hole. The wire format calls
//! all of them stars.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::body_parts::{BlackHoleProperties, CometMeta, LagrangePointMeta, PlanetaryRing, RoguePlanetMeta};
use super::check_bounds::{Check, FieldMisfit};
use super::id_name_color::{Extensions, Id, Name, UniverseColor};
use super::number::{Fraction, Number, NumberInRange};
use super::ordered_list::{ListSlot, OrderedList};
use super::patch::{Change, Clearable};
use super::wire_struct_macros::{wire_enum, wire_patch};

wire_enum! {
    BodyType { Star, Planet, Moon, Asteroid, Comet, LagrangePoint, BlackHole, }
}

wire_enum! {
    AsteroidSubType { MainBelt, KuiperBelt, Generic, }
}

/// Generates `Star`, `StarPayload` and `StarPatch` from one list of fields.
macro_rules! body {
    (
        required { $($(#[$required_about:meta])* $required:ident: $required_kind:ty,)* }
        optional { $($(#[$optional_about:meta])* $optional:ident: $optional_kind:ty,)* }
    ) => {
        /// A body as it stands in a universe.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub struct Star {
            pub id: Id,
            $($(#[$required_about])* pub $required: $required_kind,)*
            /// Where in its orbit it is at time 0, in degrees.
            #[serde(default)]
            pub orbital_phase: Number,
            /// The body it moves around; null for none.
            #[serde(default)]
            pub parent_id: Option<Id>,
            /// The bodies that move around it, in the order in which they came.
            #[serde(default)]
            pub children: OrderedList<Id>,
            $(
                $(#[$optional_about])*
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $optional: Option<$optional_kind>,
            )*
            /// Whatever else a client wants to keep here.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub extensions: Option<Extensions>,
            /// Where its parent, or the list of roots, has it. A rogue planet may be in neither.
            #[serde(skip)]
            pub(super) place: Option<ListSlot>,
        }

        /// A body to add: its id comes with the command, and it has no children yet.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub struct StarPayload {
            /// May repeat the id of the command.
            #[serde(default, skip_serializing_if = "crate::universe::patch::is_keep")]
            pub id: Change<Id>,
            $($(#[$required_about])* pub $required: $required_kind,)*
            /// Where in its orbit it is at time 0, in degrees; 0 if left out.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub orbital_phase: Option<Number>,
            /// The body it moves around; null or left out for none.
            #[serde(default, skip_serializing_if = "crate::universe::patch::is_keep")]
            pub parent_id: Clearable<Id>,
            /// May be empty, as of every new body.
            #[serde(default, skip_serializing_if = "crate::universe::patch::is_keep")]
            pub children: Change<Vec<Id>>,
            $(
                $(#[$optional_about])*
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $optional: Option<$optional_kind>,
            )*
            /// Whatever else a client wants to keep here.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub extensions: Option<Extensions>,
        }

        impl StarPayload {
            pub(super) fn to_star(&self, id: &Id, place: ListSlot) -> Star {
                Star {
                    id: id.clone(),
                    $($required: self.$required.clone(),)*
                    orbital_phase: self.orbital_phase.unwrap_or_default(),
                    parent_id: self.parent_id.value().cloned(),
                    children: OrderedList::default(),
                    $($optional: self.$optional.clone(),)*
                    extensions: self.extensions.clone(),
                    place: Some(place),
                }
            }
        }

        /// Checks all fields except the links.
        impl Check for Star {
            fn check(&self) -> Result<(), FieldMisfit> {
                self.id.check().map_err(|misfit| misfit.in_field("id"))?;
                $(self.$required.check().map_err(|misfit| misfit.in_rust_field(stringify!($required)))?;)*
                self.orbital_phase.check().map_err(|misfit| misfit.in_field("orbitalPhase"))?;
                $(self.$optional.check().map_err(|misfit| misfit.in_rust_field(stringify!($optional)))?;)*
                self.extensions.check().map_err(|misfit| misfit.in_field("extensions"))
            }

            fn check_except_ranges(&self) -> Result<(), FieldMisfit> {
                self.id.check().map_err(|misfit| misfit.in_field("id"))?;
                $(self.$required
                    .check_except_ranges()
                    .map_err(|misfit| misfit.in_rust_field(stringify!($required)))?;)*
                self.orbital_phase.check().map_err(|misfit| misfit.in_field("orbitalPhase"))?;
                $(self.$optional
                    .check_except_ranges()
                    .map_err(|misfit| misfit.in_rust_field(stringify!($optional)))?;)*
                self.extensions.check().map_err(|misfit| misfit.in_field("extensions"))
            }

            fn clamp_ranges(&mut self) {
                $(self.$required.clamp_ranges();)*
                $(self.$optional.clamp_ranges();)*
            }

            fn text_bytes(&self) -> usize {
                let required: usize = [$(self.$required.text_bytes()),*].iter().sum();
                let optional: usize = [$(self.$optional.text_bytes()),*].iter().sum();
                self.id.text_bytes() + required + optional + self.extensions.text_bytes()
            }
        }

        impl Check for StarPayload {
            fn check(&self) -> Result<(), FieldMisfit> {
                $(self.$required.check().map_err(|misfit| misfit.in_rust_field(stringify!($required)))?;)*
                self.orbital_phase.check().map_err(|misfit| misfit.in_field("orbitalPhase"))?;
                $(self.$optional.check().map_err(|misfit| misfit.in_rust_field(stringify!($optional)))?;)*
                self.extensions.check().map_err(|misfit| misfit.in_field("extensions"))
            }

            /// Without the id, which is counted with the command.
            fn text_bytes(&self) -> usize {
                let required: usize = [$(self.$required.text_bytes()),*].iter().sum();
                let optional: usize = [$(self.$optional.text_bytes()),*].iter().sum();
                required + optional + self.extensions.text_bytes()
            }
        }

        wire_patch! {
            /// A change to a body: what is left out stays, null clears an optional field. The links (id, parentId,
            /// children) may be repeated as they are, and are changed by other commands.
            StarPatch of Star {
                linked {
                    id: Change<Id>,
                    parent_id: Clearable<Id>,
                    children: Change<Vec<Id>>,
                }
                required {
                    $($(#[$required_about])* $required: $required_kind,)*
                    /// Where in its orbit it is at time 0, in degrees.
                    orbital_phase: Number,
                }
                optional { $($(#[$optional_about])* $optional: $optional_kind,)* }
            }
        }
    };
}

body! {
    required {
        name: Name,
        /// In units of the universe's own.
        mass: Number,
        /// In world units.
        radius: Number,
        color: UniverseColor,
        /// The radius of a circular orbit, in world units.
        orbital_distance: Number,
        /// In degrees per simulated second.
        orbital_speed: Number,
    }
    optional {
        body_type: BodyType,
        ring: Arc<PlanetaryRing>,
        /// The belt an asteroid belongs to.
        parent_belt_id: Id,
        asteroid_sub_type: AsteroidSubType,
        comet: Arc<CometMeta>,
        lagrange_point: Arc<LagrangePointMeta>,
        /// The Lagrange marker a Trojan belongs to.
        lagrange_host_id: Id,
        black_hole: Arc<BlackHoleProperties>,
        is_rogue_planet: bool,
        rogue_planet: Arc<RoguePlanetMeta>,
        /// Instead of orbitalDistance, where it is given.
        semi_major_axis: Number,
        /// Above 0 the parent is in a focus of the ellipse.
        eccentricity: Fraction,
        /// Moves the whole ellipse away from the parent.
        orbit_offset_x: Number,
        orbit_offset_y: Number,
        orbit_offset_z: Number,
        /// In degrees; Z is turned first, then Y, then X.
        orbit_rot_x: Number,
        orbit_rot_y: Number,
        orbit_rot_z: Number,
    }
}

/// Views clamp eccentricities to this: at 1 an orbit would be a line, and above 1 it is not an ellipse.
const ECCENTRICITY_MAX: f64 = 0.99;

/// An eccentricity, clamped for views.
pub(super) fn clamp_eccentricity(eccentricity: f64) -> f64 {
    eccentricity.clamp(0.0, ECCENTRICITY_MAX)
}

impl Star {
    /// A copy for views, with every number clamped to its range.
    pub(super) fn with_clamped_numbers(&self) -> Self {
        let mut star = self.clone();
        star.clamp_ranges();
        star.eccentricity = star.eccentricity.map(|eccentricity| NumberInRange(clamp_eccentricity(eccentricity.0)));
        star
    }

    /// Whether it is a rogue planet, which may be missing from the list of roots.
    pub fn is_rogue(&self) -> bool {
        self.is_rogue_planet == Some(true)
    }
}
