//! Texts of the map: its subtitle, its notes, and the description for screen readers.

use super::map_layout::{MapLayout, MapPath};
use super::{SceneBodyKind, UniverseScene};
use crate::measure_and_format_text::format_decimal;
use skald_domain::deceptive_characters::truncate_for_message;

/// Bodies that a description names.
const NAMED_MAX: usize = 60;
/// Groups that a note names.
const GROUPS_MAX: usize = 5;

const KINDS: [SceneBodyKind; 8] = [
    SceneBodyKind::Star,
    SceneBodyKind::BlackHole,
    SceneBodyKind::Planet,
    SceneBodyKind::Moon,
    SceneBodyKind::Comet,
    SceneBodyKind::Asteroid,
    SceneBodyKind::LagrangePoint,
    SceneBodyKind::Other,
];

impl SceneBodyKind {
    fn noun(self, count: usize) -> &'static str {
        let (one, many) = match self {
            Self::Star => ("star", "stars"),
            Self::BlackHole => ("black hole", "black holes"),
            Self::Planet => ("planet", "planets"),
            Self::Comet => ("comet", "comets"),
            Self::Moon => ("moon", "moons"),
            Self::Other => ("other body", "other bodies"),
            Self::Asteroid => ("asteroid", "asteroids"),
            Self::LagrangePoint => ("Lagrange point", "Lagrange points"),
        };
        if count == 1 { one } else { many }
    }
}

/// The number of bodies of each kind that occurs, with its noun.
pub(super) fn kind_counts(scene: &UniverseScene) -> Vec<(SceneBodyKind, String)> {
    let count = |kind: SceneBodyKind| scene.bodies.iter().filter(|body| body.kind == kind).count();
    KINDS
        .into_iter()
        .map(|kind| (kind, count(kind)))
        .filter(|(_, count)| *count > 0)
        .map(|(kind, count)| (kind, format!("{count} {}", kind.noun(count))))
        .collect()
}

pub(super) fn region_counts(scene: &UniverseScene) -> Vec<String> {
    let bands = || scene.bodies.iter().flat_map(|body| &body.bands);
    let belts = bands().filter(|band| !band.is_disk).count();
    let disks = bands().filter(|band| band.is_disk).count();
    let some = |count: usize, one: &str, many: &str| {
        (count > 0).then(|| format!("{count} {}", if count == 1 { one } else { many }))
    };
    [some(belts, "belt", "belts"), some(disks, "disk", "disks"), some(scene.clouds.len(), "nebula", "nebulae")]
        .into_iter()
        .flatten()
        .collect()
}

/// A number with few significant digits.
pub(super) fn format_figure(value: f64) -> String {
    let size = value.abs();
    if size >= 1e12 || (size > 0.0 && size < 0.005) {
        return format!("{value:.2e}").replace('-', "−");
    }
    format_decimal(value)
}

pub(super) fn subtitle(scene: &UniverseScene) -> String {
    let mut parts: Vec<String> = kind_counts(scene).into_iter().map(|(_, words)| words).collect();
    parts.extend(region_counts(scene));
    if parts.is_empty() {
        parts.push("nothing in it yet".to_owned());
    }
    format!("time {} · {}", format_figure(scene.time), parts.join(", "))
}

/// Notes below the map: scales, and what the picture leaves out.
pub(super) fn notes(layout: &MapLayout) -> String {
    let mut notes = Vec::new();
    if layout.panels.iter().any(|panel| panel.ruler.is_some()) {
        notes.push("seen from above, sizes by kind".to_owned());
    }
    if layout.panels.iter().flat_map(|panel| &panel.lines).any(|line| line.way == MapPath::Moon) {
        notes.push("the ways of moons on a scale of their own".to_owned());
    }
    if layout.panelless > 0 {
        notes.push(format!("{} systems without a panel", layout.panelless));
    }
    if layout.dotted > 0 {
        notes.push(format!("{} bodies as dots", layout.dotted));
    }
    if layout.undrawn > 0 {
        notes.push(format!("{} bodies not drawn", layout.undrawn));
    }
    if layout.unlabelled > 0 {
        notes.push(format!("+{} without a label", layout.unlabelled));
    }
    notes.join(" · ")
}

pub(super) fn groups_note(scene: &UniverseScene) -> String {
    if scene.groups.is_empty() {
        return String::new();
    }
    let more = scene.groups.len().saturating_sub(GROUPS_MAX);
    let named =
        scene.groups.iter().take(GROUPS_MAX).map(|name| truncate_for_message(name)).collect::<Vec<_>>().join(", ");
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("groups: {named}{more}")
}

pub(super) fn description(scene: &UniverseScene, layout: &MapLayout) -> String {
    if scene.bodies.is_empty() && scene.clouds.is_empty() {
        return format!("A map of {}: there is nothing in it yet.", scene.title);
    }
    let mut sentences = vec![format!("A map of {}, {}.", scene.title, subtitle(scene))];
    let mut named = 0;
    for (root, body) in scene.bodies.iter().enumerate().filter(|(_, body)| body.parent.is_none()) {
        if named >= NAMED_MAX {
            break;
        }
        named += 1;
        let children = scene.bodies.iter().filter(|child| child.parent == Some(root)).take(NAMED_MAX - named);
        let children: Vec<String> = children
            .map(|child| format!("{} at {}", child.name, format_figure(child.at.0.hypot(child.at.1))))
            .chain(body.bands.iter().take(GROUPS_MAX).map(|band| {
                format!("{} from {} to {}", band.name, format_figure(band.inner), format_figure(band.outer))
            }))
            .collect();
        named += children.len();
        sentences.push(match (children.is_empty(), body.is_rogue) {
            (true, false) => format!("{}.", body.name),
            (true, true) => format!("{}, a rogue planet.", body.name),
            (false, _) => format!("Around {}: {}.", body.name, children.join(", ")),
        });
    }
    sentences.extend(scene.clouds.iter().take(GROUPS_MAX).map(|cloud| format!("The nebula {}.", cloud.name)));
    let notes = notes(layout);
    if !notes.is_empty() {
        sentences.push(format!("{notes}."));
    }
    sentences.join(" ")
}
