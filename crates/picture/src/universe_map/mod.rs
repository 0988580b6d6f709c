//! Map of a universe at a time, seen from above: systems with orbits, the space between them, clouds, rogue planets.
//!
//! Distances in a real system span orders of magnitude, so each system is drawn on the truest scale that keeps its
//! orbits apart (`radii.rs`), and moons on a scale of their own around their planet. The layout is computed first
//! (`layout.rs`, `system.rs`, `overview.rs`), then labels are placed (`labels.rs`), and then the SVG is written
//! (`draw.rs`, `shapes.rs`). The work and the size are bounded, however large the universe is.

mod captions_and_description;
mod chosen_colour;
mod distance_scale;
mod draw;
mod draw_body;
mod interstellar_layout;
mod labels;
mod legend;
mod map_layout;
mod orbits;
mod paths_and_gradients;
mod system;
#[cfg(test)]
mod tests;

use super::Theme;

/// The contents of a universe at one time.
#[derive(Debug, Clone)]
pub struct UniverseScene<'a> {
    pub title: &'a str,
    /// In simulated seconds.
    pub time: f64,
    /// Parents come before their children.
    pub bodies: Vec<SceneBody<'a>>,
    pub clouds: Vec<Cloud<'a>>,
    /// The names of groups.
    pub groups: Vec<&'a str>,
    pub theme: Theme,
}

/// Coordinates to the right and downwards.
pub type Point = (f64, f64);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SceneBodyKind {
    Star,
    BlackHole,
    Planet,
    Comet,
    Moon,
    Other,
    Asteroid,
    LagrangePoint,
}

#[derive(Debug, Clone)]
pub struct SceneBody<'a> {
    /// By which a reader of the picture finds it again.
    pub id: &'a str,
    pub name: &'a str,
    pub kind: SceneBodyKind,
    /// As #RRGGBB.
    pub color: &'a str,
    pub mass: f64,
    pub radius: f64,
    /// The index of the body that it moves around.
    pub parent: Option<usize>,
    /// Its position relative to its parent.
    pub at: Point,
    pub path: Path,
    /// Whether it belongs to no system.
    pub is_rogue: bool,
    pub ring: Option<Ring<'a>>,
    /// The colour of a comet's tail.
    pub tail: Option<&'a str>,
    /// The colour of a black hole's disk.
    pub accretion: Option<&'a str>,
    pub bands: Vec<Band<'a>>,
}

/// The path of a body, relative to its parent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Path {
    /// `center + major · cos + minor · sin` over a whole turn.
    Orbit { center: Point, major: Point, minor: Point },
    /// Where it comes from and where it goes.
    Straight { from: Point, to: Point },
}

/// The ring of a planet, in radii of the planet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ring<'a> {
    pub outer: f64,
    pub color: &'a str,
}

/// A belt, a field of small bodies or a disk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Band<'a> {
    pub name: &'a str,
    pub color: &'a str,
    pub inner: f64,
    pub outer: f64,
    /// From 0 to 1.
    pub opacity: f64,
    /// Whether it is a disk of dust and gas, and not single stones.
    pub is_disk: bool,
}

/// A nebula.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cloud<'a> {
    pub name: &'a str,
    pub color: &'a str,
    pub accent: &'a str,
    pub at: Point,
    /// Half of its width and height.
    pub size: Point,
    /// From 0 to 1.
    pub density: f64,
}

impl UniverseScene<'_> {
    /// The picture, as SVG.
    pub fn svg(&self) -> String {
        draw::draw(self, &map_layout::MapLayout::new(self))
    }
}
