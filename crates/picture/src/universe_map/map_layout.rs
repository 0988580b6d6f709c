//! Layout of the universe map: what is drawn and at which position, before any SVG is written.

use super::distance_scale::Radii;
use super::labels::{Label, Labels};
use super::system::{BodyIndex, SystemPlacer};
use super::{Point, SceneBody, SceneBodyKind, UniverseScene, interstellar_layout};
use crate::panel_area::PanelArea;
use crate::{HEADING_BOTTOM, MARGIN, SUBTITLE_HEIGHT};

/// Units across.
pub(super) const WIDTH: f64 = 960.0;
/// Systems with a panel of their own.
pub(super) const PANELS_MAX: usize = 9;
/// Distance between panels.
const GAP: f64 = 14.0;
/// Height of the overview above the panels of systems.
const OVERVIEW_HEIGHT: f64 = 300.0;
/// Height of the overview without panels below it.
const OVERVIEW_ALONE: f64 = 620.0;
/// Height of the legend and the notes below the panels.
pub(super) const FOOT: f64 = 64.0;

/// A body on the picture.
#[derive(Debug, Clone, Copy)]
pub(super) struct Disc {
    pub(super) body: usize,
    pub(super) at: Point,
    pub(super) radius: f64,
    /// Where its light comes from.
    pub(super) light: Option<Point>,
}

impl Disc {
    /// The radius including rings and similar parts.
    pub(super) fn outer_radius(&self, body: &SceneBody) -> f64 {
        let wide = match body.kind {
            SceneBodyKind::BlackHole if body.accretion.is_some() => 2.3,
            SceneBodyKind::BlackHole => 1.5,
            _ => body.ring.map_or(1.0, |ring| ring_outer_radius(ring.outer)),
        };
        self.radius * wide + 1.0
    }
}

/// The outer radius of a ring on the picture, in radii of the planet.
pub(super) fn ring_outer_radius(outer: f64) -> f64 {
    if outer.is_nan() { 1.9 } else { outer.clamp(1.6, 2.1) }
}

/// The path of a body on the picture.
#[derive(Debug, Clone)]
pub(super) struct MapLine {
    pub(super) shape: LineShape,
    pub(super) way: MapPath,
}

/// The kind of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MapPath {
    Orbit,
    /// The orbit of a moon, drawn lighter.
    Moon,
    Wanderer,
    /// The arrowhead at the end of a rogue body's path.
    Arrow,
}

#[derive(Debug, Clone)]
pub(super) enum LineShape {
    Circle(Point, f64),
    Closed(Vec<Point>),
    Open(Vec<Point>),
}

/// A belt or a disk on the picture.
#[derive(Debug, Clone, Copy)]
pub(super) struct BandShape<'a> {
    pub(super) at: Point,
    pub(super) inner: f64,
    pub(super) outer: f64,
    pub(super) color: &'a str,
    pub(super) opacity: f64,
    pub(super) is_disk: bool,
}

/// A nebula on the picture.
#[derive(Debug, Clone, Copy)]
pub(super) struct CloudShape {
    pub(super) cloud: usize,
    pub(super) at: Point,
    pub(super) size: Point,
}

/// A system, or the space between systems.
#[derive(Debug)]
pub(super) struct Panel<'a> {
    pub(super) area: PanelArea,
    pub(super) title: String,
    /// The scale of distances, in words.
    pub(super) note: String,
    /// The distances of a system, and the middle of it.
    pub(super) ruler: Option<(Point, Radii)>,
    pub(super) clouds: Vec<CloudShape>,
    pub(super) bands: Vec<BandShape<'a>>,
    pub(super) lines: Vec<MapLine>,
    /// Bodies that are drawn as dots.
    pub(super) dots: Vec<Point>,
    pub(super) discs: Vec<Disc>,
}

impl Panel<'_> {
    pub(super) fn new(area: PanelArea) -> Self {
        Self {
            area,
            title: String::new(),
            note: String::new(),
            ruler: None,
            clouds: Vec::new(),
            bands: Vec::new(),
            lines: Vec::new(),
            dots: Vec::new(),
            discs: Vec::new(),
        }
    }
}

pub(super) struct MapLayout<'a> {
    pub(super) height: f64,
    pub(super) panels: Vec<Panel<'a>>,
    pub(super) labels: Vec<Label>,
    /// Names for which there was no room.
    pub(super) unlabelled: usize,
    /// Bodies that are only dots.
    pub(super) dotted: usize,
    /// Bodies and clouds that are not drawn at all.
    pub(super) undrawn: usize,
    /// Systems for whose panels there was no room.
    pub(super) panelless: usize,
}

impl<'a> MapLayout<'a> {
    pub(super) fn new(scene: &'a UniverseScene<'a>) -> Self {
        let top = HEADING_BOTTOM + SUBTITLE_HEIGHT + 6.0;
        let mut body_index = BodyIndex::new(scene);
        let roots: Vec<usize> = (0..scene.bodies.len()).filter(|index| scene.bodies[*index].parent.is_none()).collect();
        let chosen = choose_systems(scene, &body_index, &roots);
        let has_overview =
            roots.len() > 1 || !scene.clouds.is_empty() || roots.iter().any(|root| scene.bodies[*root].is_rogue);
        let mut labels = Labels::default();
        let mut panels = Vec::new();
        let mut bottom = top;
        if has_overview {
            let height = if chosen.is_empty() { OVERVIEW_ALONE } else { OVERVIEW_HEIGHT };
            let area = PanelArea { left: MARGIN, top, width: WIDTH - 2.0 * MARGIN, height };
            panels.push(interstellar_layout::lay_out_overview(&mut body_index, &roots, area, &mut labels));
            bottom = area.bottom() + GAP;
        }
        for (root, area) in chosen.iter().zip(panel_areas(chosen.len(), bottom)) {
            let is_named = chosen.len() > 1 || has_overview;
            let share = chosen.len();
            panels.push(SystemPlacer::new(&mut body_index, area, share).place_system(*root, is_named, &mut labels));
            bottom = bottom.max(area.bottom() + GAP);
        }
        if panels.is_empty() {
            bottom += 330.0;
        }
        let dotted: usize = panels.iter().map(|panel| panel.dots.len()).sum();
        let drawn = body_index.drawn_count();
        let clouds: usize = panels.iter().map(|panel| panel.clouds.len()).sum();
        let undrawn = (scene.bodies.len() + scene.clouds.len()).saturating_sub(drawn + dotted + clouds);
        let unlabelled = labels.unplaced_count();
        let with_more = roots.iter().filter(|root| body_index.has_satellites(**root)).count();
        let panelless = with_more.saturating_sub(chosen.len());
        Self { height: bottom + FOOT, panels, labels: labels.into_labels(), unlabelled, dotted, undrawn, panelless }
    }
}

/// The systems that get a panel: those with the most bodies, in their original order.
fn choose_systems(scene: &UniverseScene, body_index: &BodyIndex, roots: &[usize]) -> Vec<usize> {
    if let [root] = roots
        && !scene.bodies[*root].is_rogue
    {
        return vec![*root];
    }
    let mut systems: Vec<usize> = roots.iter().copied().filter(|root| body_index.has_satellites(*root)).collect();
    systems.sort_by_key(|root| std::cmp::Reverse(body_index.children(*root).len()));
    systems.truncate(PANELS_MAX);
    systems.sort_unstable();
    systems
}

/// The areas of `count` panels.
fn panel_areas(count: usize, top: f64) -> Vec<PanelArea> {
    let (columns, across, height) = match count {
        0 | 1 => (1, 1.0, 790.0),
        2..=4 => (2, 2.0, 480.0),
        _ => (3, 3.0, 340.0),
    };
    let width = (WIDTH - 2.0 * MARGIN - (across - 1.0) * GAP) / across;
    let mut areas = Vec::new();
    let (mut left, mut top) = (MARGIN, top);
    for index in 0..count {
        if index > 0 && index % columns == 0 {
            (left, top) = (MARGIN, top + height + GAP);
        }
        areas.push(PanelArea { left, top, width, height });
        left += width + GAP;
    }
    areas
}
