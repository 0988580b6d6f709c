//! Layout of one system in its panel: the root in the middle, and everything that moves around it.

use std::collections::BTreeMap;

use super::labels::{LabelRequest, Labels};
use super::map_layout::{Disc, Panel};
use super::{Point, SceneBody, SceneBodyKind, UniverseScene};
use crate::panel_area::PanelArea;

/// Bodies that are drawn as discs with all their details.
const DISCS_MAX: usize = 600;
/// Further bodies that are drawn as dots.
const DOTS_MAX: usize = 20_000;
/// Height of the ruler and the note at the bottom of a panel.
const STRIP: f64 = 38.0;
/// The radius of a system in the largest panel.
const LARGEST: f64 = 360.0;

/// All bodies with their children, and which of them are drawn.
pub(super) struct BodyIndex<'a> {
    pub(super) scene: &'a UniverseScene<'a>,
    children: Vec<Vec<usize>>,
    is_drawn: Vec<bool>,
    /// The least and the greatest radius of each kind, as logarithms.
    sizes: BTreeMap<SceneBodyKind, (f64, f64)>,
    pub(super) dots_left: usize,
}

impl<'a> BodyIndex<'a> {
    pub(super) fn new(scene: &'a UniverseScene<'a>) -> Self {
        let mut children = vec![Vec::new(); scene.bodies.len()];
        let mut sizes: BTreeMap<SceneBodyKind, (f64, f64)> = BTreeMap::new();
        for (index, body) in scene.bodies.iter().enumerate() {
            if let Some(parent) = body.parent {
                children[parent].push(index);
            }
            let size = log_radius(body);
            let range = sizes.entry(body.kind).or_insert((size, size));
            *range = (range.0.min(size), range.1.max(size));
        }
        for siblings in &mut children {
            siblings.sort_by(|one, other| {
                sort_key(&scene.bodies[*one]).cmp(&sort_key(&scene.bodies[*other])).then(one.cmp(other))
            });
        }
        Self { scene, children, is_drawn: vec![false; scene.bodies.len()], sizes, dots_left: DOTS_MAX }
    }

    pub(super) fn body(&self, index: usize) -> &'a SceneBody<'a> {
        &self.scene.bodies[index]
    }

    /// What moves around a body, the most important first.
    pub(super) fn children(&self, index: usize) -> &[usize] {
        &self.children[index]
    }

    /// Whether there is anything around a body.
    pub(super) fn has_satellites(&self, index: usize) -> bool {
        !self.children[index].is_empty() || !self.body(index).bands.is_empty()
    }

    pub(super) fn mark_drawn(&mut self, index: usize) {
        self.is_drawn[index] = true;
    }

    pub(super) fn is_drawn(&self, index: usize) -> bool {
        self.is_drawn[index]
    }

    pub(super) fn drawn_count(&self) -> usize {
        self.is_drawn.iter().filter(|drawn| **drawn).count()
    }

    /// The radius of a body's disc: by its kind, and among its kind by its size.
    pub(super) fn disc_radius(&self, index: usize, is_root: bool) -> f64 {
        let body = self.body(index);
        let (least, greatest) = match body.kind {
            SceneBodyKind::Star if is_root => (14.0, 20.0),
            SceneBodyKind::Star => (8.0, 13.0),
            SceneBodyKind::BlackHole => (9.0, 13.0),
            _ if is_root => (9.0, 13.0),
            SceneBodyKind::Planet => (4.0, 10.0),
            SceneBodyKind::Other => (3.5, 6.5),
            SceneBodyKind::Comet => (2.6, 3.4),
            SceneBodyKind::Moon => (1.9, 3.2),
            SceneBodyKind::Asteroid => (1.6, 2.8),
            SceneBodyKind::LagrangePoint => (3.2, 3.2),
        };
        let (low, high) = self.sizes.get(&body.kind).copied().unwrap_or_default();
        let share = if high - low > 1e-9 { (log_radius(body) - low) / (high - low) } else { 0.5 };
        least + (greatest - least) * share.clamp(0.0, 1.0)
    }
}

fn log_radius(body: &SceneBody) -> f64 {
    body.radius.clamp(1e-12, 1e12).ln()
}

/// Sort key: the most important kind first, then the heavier body.
pub(super) fn sort_key(body: &SceneBody) -> (SceneBodyKind, u64) {
    let mass = if body.mass > 0.0 { body.mass } else { 0.0 };
    // Non-negative floats sort like their bits.
    (body.kind, u64::MAX - mass.to_bits())
}

/// Places one system.
pub(super) struct SystemPlacer<'s, 'a> {
    pub(super) body_index: &'s mut BodyIndex<'a>,
    pub(super) panel: Panel<'a>,
    pub(super) middle: Point,
    /// How large everything is, compared with the largest panel.
    pub(super) factor: f64,
    pub(super) discs_left: usize,
    pub(super) wishes: Vec<LabelRequest>,
}

impl<'s, 'a> SystemPlacer<'s, 'a> {
    /// `share` is how many panels there are.
    pub(super) fn new(body_index: &'s mut BodyIndex<'a>, area: PanelArea, share: usize) -> Self {
        let field = PanelArea { height: area.height - STRIP, ..area };
        let radius = field.width.min(field.height) / 2.0;
        let factor = (radius / LARGEST).clamp(0.62, 1.0);
        let middle = field.middle();
        let discs_left = DISCS_MAX / share.max(1);
        Self { body_index, panel: Panel::new(area), middle, factor, discs_left, wishes: Vec::new() }
    }

    pub(super) fn place_system(mut self, root: usize, is_named: bool, labels: &mut Labels) -> Panel<'a> {
        let body = self.body_index.body(root);
        let radius = self.body_index.disc_radius(root, true) * self.factor;
        if is_named {
            body.name.clone_into(&mut self.panel.title);
        }
        self.body_index.mark_drawn(root);
        self.panel.discs.push(Disc { body: root, at: self.middle, radius, light: None });
        self.request_label(root, self.middle, radius, (None, 0.0));
        let reach = (self.panel.area.width / 2.0).min(self.middle.1 - self.panel.area.top) - 10.0;
        if let Some(radii) = self.place_around(root, self.middle, radius, reach, 1) {
            radii.scale.describe().clone_into(&mut self.panel.note);
            self.panel.ruler = Some((self.middle, radii));
        }
        let strip = PanelArea { top: self.panel.area.bottom() - STRIP, height: STRIP, ..self.panel.area };
        let title = PanelArea {
            height: if is_named { 30.0 } else { 0.0 },
            width: self.panel.area.width * 0.6,
            ..self.panel.area
        };
        labels.place(self.body_index.scene, &self.panel, &[strip, title], self.wishes);
        self.panel
    }

    /// Requests a label for a body, away from its parent and outside of its moons' orbits.
    pub(super) fn request_label(
        &mut self,
        index: usize,
        at: Point,
        radius: f64,
        (parent_at, clear): (Option<Point>, f64),
    ) {
        let body = self.body_index.body(index);
        if body.name.trim().is_empty() {
            return;
        }
        let disc = Disc { body: index, at, radius, light: None };
        self.wishes.push(LabelRequest::for_body(body, (disc.outer_radius(body), clear), at, parent_at, self.factor));
    }
}
