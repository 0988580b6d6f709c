//! Places labels where they cover no disc and no other label. The most important choose first; those without room are
//! counted.

use super::distance_scale::length;
use super::draw_body::tail_line;
use super::map_layout::Panel;
use super::system::sort_key;
use super::{Point, SceneBody, SceneBodyKind, UniverseScene};
use crate::measure_and_format_text::{BOLD, shorten, text_width};
use crate::panel_area::PanelArea;

/// Half the height of a text with a little air, as a factor of its size.
const HALF_HEIGHT: f64 = 0.62;
/// From the middle of a text down to its baseline, as a factor of its size.
const BASELINE: f64 = 0.35;
/// Square units of a panel for each label in it.
const ROOM: f64 = 7_500.0;

/// What a label names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Style {
    Star,
    SceneBody,
    Minor,
    /// A belt, a disk or a cloud.
    Region,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    Start,
    Middle,
    End,
}

/// A name in its place.
#[derive(Debug, Clone)]
pub(super) struct Label {
    pub(super) text: String,
    pub(super) size: f64,
    pub(super) style: Style,
    pub(super) at: Point,
    pub(super) align: Align,
    pub(super) area: PanelArea,
    /// A thin line to the named object, if the label is not next to it.
    pub(super) leader: Option<(Point, Point)>,
}

/// A label to place, with its candidate positions.
#[derive(Debug, Clone)]
pub(super) struct LabelRequest {
    text: String,
    size: f64,
    style: Style,
    rank: (SceneBodyKind, u64),
    /// The best first.
    spots: Vec<LabelSpot>,
}

#[derive(Debug, Clone, Copy)]
struct LabelSpot {
    at: Point,
    /// The direction in which the text extends.
    towards: Point,
    leader: Option<Point>,
}

impl LabelRequest {
    /// The name of a body: next to its disc, preferably outside the orbits of its moons.
    pub(super) fn for_body(
        body: &SceneBody,
        (reach, clear): (f64, f64),
        at: Point,
        parent_at: Option<Point>,
        factor: f64,
    ) -> Self {
        let (style, size, room) = match body.kind {
            SceneBodyKind::Star | SceneBodyKind::BlackHole => (Style::Star, 13.5, 190.0),
            SceneBodyKind::Planet | SceneBodyKind::Other => (Style::SceneBody, 12.0, 150.0),
            SceneBodyKind::Comet => (Style::SceneBody, 11.0, 120.0),
            SceneBodyKind::Moon | SceneBodyKind::Asteroid | SceneBodyKind::LagrangePoint => (Style::Minor, 9.5, 90.0),
        };
        let size = size * factor.max(0.86);
        // A moon's name goes away from its planet; any other begins to the right.
        let outward = parent_at.map_or((1.0, 0.0), |parent| (at.0 - parent.0, at.1 - parent.1));
        let outward = if length(outward) > 0.0 { outward.1.atan2(outward.0) } else { 0.0 };
        let mut spots = Vec::new();
        let quarter = std::f64::consts::FRAC_PI_4;
        let around = |first: f64| [0.0, 4.0, 2.0, -2.0, 1.0, -1.0, 3.0, -3.0].map(|step| first + step * quarter);
        let turned = |first: f64| [0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 4.0].map(|step| first + step * quarter);
        let angles = if parent_at.is_some() { turned(outward) } else { around(0.0) };
        for near in [clear, reach].into_iter().filter(|near| *near > 0.0) {
            spots.extend(angles.map(|angle| LabelSpot::new(at, angle, near + 3.5, None)));
        }
        for distance in [13.0, 22.0, 32.0, 44.0] {
            for angle in angles.into_iter().chain(angles.map(|angle| angle + quarter / 2.0)) {
                let edge = (at.0 + angle.cos() * (reach + 1.0), at.1 + angle.sin() * (reach + 1.0));
                spots.push(LabelSpot::new(at, angle, reach + distance, Some(edge)));
            }
        }
        let bold = if style == Style::Star { BOLD } else { 1.0 };
        Self { text: shorten(body.name.trim(), size * bold, room), size, style, rank: sort_key(body), spots }
    }

    /// The name of a belt, at angles along it.
    pub(super) fn for_belt(name: &str, at: Point, radius: f64, number: usize, factor: f64) -> Self {
        let first = if number.is_multiple_of(2) { 90.0_f64 } else { -90.0 };
        let spots = (0_u8..24).map(|step| {
            let side = if step % 2 == 0 { 1.0 } else { -1.0 };
            let angle = (first + side * f64::from(step.div_ceil(2)) * 15.0).to_radians();
            LabelSpot {
                at: (at.0 + angle.cos() * radius, at.1 + angle.sin() * radius),
                towards: (0.0, 0.0),
                leader: None,
            }
        });
        Self::for_region(name, spots.collect(), factor)
    }

    /// The name of a cloud, in it or at its edge.
    pub(super) fn for_cloud(name: &str, at: Point, size: Point) -> Self {
        let spots = [0.0, 0.45, -0.45, 0.8, -0.8, 1.05, -1.05].map(|share| LabelSpot {
            at: (at.0, at.1 + size.1 * share),
            towards: (0.0, 0.0),
            leader: None,
        });
        Self::for_region(name, spots.to_vec(), 1.0)
    }

    fn for_region(name: &str, spots: Vec<LabelSpot>, factor: f64) -> Self {
        let size = 11.0 * factor.max(0.86);
        // After the planets, before the moons.
        Self {
            text: shorten(name.trim(), size, 150.0),
            size,
            style: Style::Region,
            rank: (SceneBodyKind::Comet, 0),
            spots,
        }
    }

    fn width(&self) -> f64 {
        text_width(&self.text, self.size * if self.style == Style::Star { BOLD } else { 1.0 })
    }

    /// The label at a spot.
    fn label_at(&self, spot: &LabelSpot) -> Label {
        let (width, half) = (self.width(), self.size * HALF_HEIGHT);
        let (align, left) = match spot.towards.0 {
            right if right > 0.35 => (Align::Start, spot.at.0),
            left if left < -0.35 => (Align::End, spot.at.0 - width),
            _ => (Align::Middle, spot.at.0 - width / 2.0),
        };
        let middle = match spot.towards.1 {
            down if down > 0.5 => spot.at.1 + half,
            up if up < -0.5 => spot.at.1 - half,
            _ => spot.at.1,
        };
        Label {
            text: self.text.clone(),
            size: self.size,
            style: self.style,
            at: (spot.at.0, middle + self.size * BASELINE),
            align,
            area: PanelArea { left, top: middle - half, width, height: 2.0 * half },
            leader: spot.leader.map(|edge| (edge, spot.at)),
        }
    }
}

impl LabelSpot {
    fn new(at: Point, angle: f64, distance: f64, leader: Option<Point>) -> Self {
        let (sin, cos) = angle.sin_cos();
        Self { at: (at.0 + cos * distance, at.1 + sin * distance), towards: (cos, sin), leader }
    }
}

/// All labels of a picture.
#[derive(Debug, Default)]
pub(super) struct Labels {
    placed: Vec<Label>,
    unplaced: usize,
}

impl Labels {
    pub(super) fn into_labels(self) -> Vec<Label> {
        self.placed
    }

    pub(super) fn unplaced_count(&self) -> usize {
        self.unplaced
    }

    /// Places labels on a panel, outside of the reserved areas.
    pub(super) fn place(
        &mut self,
        scene: &UniverseScene,
        panel: &Panel,
        reserved: &[PanelArea],
        mut wishes: Vec<LabelRequest>,
    ) {
        wishes.sort_by_key(|wish| wish.rank);
        let mut taken: Vec<PanelArea> = reserved.to_vec();
        taken.extend(
            panel.discs.iter().map(|disc| PanelArea::centered_at(disc.at, disc.outer_radius(&scene.bodies[disc.body]))),
        );
        let tails = panel.discs.iter().filter_map(|disc| tail_line(&scene.bodies[disc.body], disc));
        taken.extend(tails.flat_map(leader_areas));
        let field = panel.area.inset(4.0);
        let mut left = panel.area.width * panel.area.height / ROOM;
        let mut stones_left = (left / 4.0).max(4.0);
        for wish in wishes {
            let fits = |label: &Label| {
                let air = label.area.inset(-1.0);
                let crosses = |area: &PanelArea| {
                    label.leader.is_some_and(|leader| leader_areas(leader).any(|point| area.overlaps(&point)))
                };
                field.contains(&label.area) && !taken.iter().any(|area| area.overlaps(&air) || crosses(area))
            };
            // Limit the labels of asteroids, or they would fill the panel.
            let is_stone = wish.rank.0 == SceneBodyKind::Asteroid;
            let may = left >= 1.0 && (!is_stone || stones_left >= 1.0);
            let found = may.then(|| wish.spots.iter().map(|spot| wish.label_at(spot)).find(fits)).flatten();
            let Some(label) = found else {
                self.unplaced += 1;
                continue;
            };
            left -= 1.0;
            stones_left -= f64::from(u8::from(is_stone));
            taken.push(label.area);
            taken.extend(label.leader.into_iter().flat_map(leader_areas));
            self.placed.push(label);
        }
    }
}

/// Small areas along a leader line, except at its start, which touches a disc.
fn leader_areas((from, to): (Point, Point)) -> impl Iterator<Item = PanelArea> {
    (1_u8..=6).map(move |step| {
        let share = f64::from(step) / 6.0 * 0.96;
        PanelArea::centered_at((from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share), 0.8)
    })
}
