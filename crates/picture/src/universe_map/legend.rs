//! The legend below the panels: kinds of bodies, and a note about what the picture leaves out.

use super::captions_and_description::{groups_note, kind_counts, notes};
use super::map_layout::{Disc, FOOT, MapLayout, WIDTH};
use super::{Band, Path, Ring, SceneBody, SceneBodyKind, UniverseScene, draw_body};
use crate::MARGIN;
use crate::measure_and_format_text::{shorten, text_width};
use crate::palette::Ink;
use crate::svg::Svg;

const SIZE: f64 = 12.0;

pub(super) fn draw(svg: &mut Svg, scene: &UniverseScene, layout: &MapLayout) {
    let y = layout.height - FOOT + 22.0;
    let mut x = MARGIN + 2.0;
    for (kind, words) in kind_counts(scene) {
        let room = text_width(&words, SIZE) + 42.0;
        if x + room > WIDTH - MARGIN {
            break;
        }
        let radius = match kind {
            SceneBodyKind::Star | SceneBodyKind::BlackHole | SceneBodyKind::Planet => 5.0,
            SceneBodyKind::Moon | SceneBodyKind::Asteroid => 2.4,
            _ => 3.4,
        };
        // The tail of a comet needs room to its left.
        let (at, radius, light) = match kind {
            SceneBodyKind::Star => ((x + 9.0, y - 4.0), radius, None),
            SceneBodyKind::Comet => ((x + 16.0, y - 4.0), 1.9, Some((x + 90.0, y - 8.0))),
            _ => ((x + 9.0, y - 4.0), radius, Some((x - 40.0, y + 10.0))),
        };
        draw_body::draw_body(svg, &sample_body(kind), &Disc { body: 0, at, radius, light });
        svg.label(x + 24.0, y, SIZE).fill(Ink::Text).text(&words);
        x += room;
    }
    let lines = [notes(layout), groups_note(scene)].into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>();
    let line = lines.join(" · ");
    let size = 11.0;
    svg.label(MARGIN, layout.height - 16.0, size).fill(Ink::Muted).text(&shorten(&line, size, WIDTH - 2.0 * MARGIN));
}

/// A sample body of a kind.
fn sample_body(kind: SceneBodyKind) -> SceneBody<'static> {
    let color = match kind {
        SceneBodyKind::Star => "#ffd23f",
        SceneBodyKind::Planet => "#4f8fe0",
        SceneBodyKind::Comet => "#bfe3ff",
        _ => "#a7b0bd",
    };
    SceneBody {
        id: "",
        name: "",
        kind,
        color,
        mass: 0.0,
        radius: 0.0,
        parent: None,
        at: (0.0, 0.0),
        path: Path::Straight { from: (0.0, 0.0), to: (0.0, 0.0) },
        is_rogue: false,
        ring: None::<Ring>,
        tail: (kind == SceneBodyKind::Comet).then_some("#9fd0ff"),
        accretion: None,
        bands: Vec::<Band>::new(),
    }
}
