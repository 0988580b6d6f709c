//! Drawing helpers of the universe map: coordinates as text, scattered dots, and colours that fade out.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::Point;
use super::chosen_colour::HexColour;
use super::map_layout::Panel;
use super::{SceneBodyKind, UniverseScene};
use crate::svg::{Svg, format_point};

/// Deterministic pseudo-random numbers, so that the same map is the same text.
pub(super) struct Scatter(u64);

impl Scatter {
    pub(super) fn new(seed: usize) -> Self {
        Self(u64::try_from(seed).unwrap_or(0).wrapping_mul(0xD134_2543_DE82_EF95))
    }

    /// From 0 to 1, by `SplitMix64`.
    pub(super) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let bits = u32::try_from((mixed ^ (mixed >> 31)) >> 32).unwrap_or(0);
        f64::from(bits) / f64::from(u32::MAX)
    }
}

/// Dots as one path: each is a line of no length with round ends.
pub(super) fn dots_path(points: impl IntoIterator<Item = Point>) -> String {
    points.into_iter().fold(String::new(), |mut path, point| {
        let _ = write!(path, "M{}h0", format_point(point));
        path
    })
}

/// A line through points.
pub(super) fn line_path(points: &[Point], is_closed: bool) -> String {
    let mut path = String::new();
    for (index, point) in points.iter().enumerate() {
        let _ = write!(path, "{}{}", if index == 0 { 'M' } else { 'L' }, format_point(*point));
    }
    if is_closed {
        path.push('Z');
    }
    path
}

/// The id of a fading gradient. It contains the colour, so two pictures on one page may share the id.
pub(super) fn gradient_id(colour: HexColour) -> String {
    format!("skald-glow-{}", colour.digits())
}

/// Writes the definitions of the fading gradients.
pub(super) fn write_gradients(svg: &mut Svg, scene: &UniverseScene, panels: &[Panel]) {
    let mut colours = BTreeSet::new();
    for panel in panels {
        let bodies = panel.discs.iter().map(|disc| &scene.bodies[disc.body]);
        for body in bodies {
            match body.kind {
                SceneBodyKind::Star => colours.insert(HexColour::parse(body.color)),
                SceneBodyKind::BlackHole => colours.insert(body.accretion.map_or(HexColour::EMBER, HexColour::parse)),
                _ => false,
            };
        }
        for cloud in panel.clouds.iter().map(|shape| &scene.clouds[shape.cloud]) {
            colours.extend([HexColour::parse(cloud.color), HexColour::parse(cloud.accent)]);
        }
    }
    if colours.is_empty() {
        return;
    }
    svg.element("defs").open();
    for colour in colours {
        svg.element("radialGradient").attribute("id", &gradient_id(colour)).open();
        for (offset, opacity) in [(0.0, 0.75), (0.3, 0.42), (0.62, 0.12), (1.0, 0.0)] {
            let stop = svg.element("stop").number("offset", offset).attribute("stop-color", &colour.hex());
            stop.number("stop-opacity", opacity).end();
        }
        svg.close("radialGradient");
    }
    svg.close("defs");
}
