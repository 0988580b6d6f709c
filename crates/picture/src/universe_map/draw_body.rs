//! Draws a body by its kind, in its colour, lit by its star.

use super::chosen_colour::HexColour;
use super::distance_scale::length;
use super::map_layout::{Disc, ring_outer_radius};
use super::paths_and_gradients::gradient_id;
use super::{Point, SceneBody, SceneBodyKind};
use crate::palette::Ink;
use crate::svg::{Svg, format_point};

/// How far a ring is tipped towards the reader, and turned.
const RING_FLATNESS: f64 = 0.34;
const RING_TURN: f64 = -18.0;
/// The tail of a comet, in radii of its disc.
const TAIL: f64 = 12.0;

pub(super) fn draw_body(svg: &mut Svg, body: &SceneBody, disc: &Disc) {
    match body.kind {
        SceneBodyKind::Star => draw_star(svg, body, disc),
        SceneBodyKind::BlackHole => draw_black_hole(svg, body, disc),
        SceneBodyKind::LagrangePoint => draw_cross(svg, disc),
        SceneBodyKind::Comet => {
            draw_tail(svg, body, disc);
            draw_ball(svg, body, disc);
        }
        SceneBodyKind::Planet | SceneBodyKind::Moon | SceneBodyKind::Asteroid | SceneBodyKind::Other => {
            draw_ball(svg, body, disc);
        }
    }
}

fn circle(svg: &mut Svg, at: Point, radius: f64) -> crate::svg::Element<'_> {
    svg.element("circle").number("cx", at.0).number("cy", at.1).number("r", radius)
}

fn draw_star(svg: &mut Svg, body: &SceneBody, disc: &Disc) {
    let colour = HexColour::parse(body.color);
    let fill = format!("url(#{})", gradient_id(colour));
    circle(svg, disc.at, disc.radius * 2.9).attribute("fill", &fill).end();
    circle(svg, disc.at, disc.radius).attribute("fill", &colour.hex()).stroke(Ink::Outline, 0.9).end();
    let heart = circle(svg, disc.at, disc.radius * 0.62).attribute("fill", &HexColour::WHITE.hex());
    heart.attribute("opacity", "0.35").end();
}

fn draw_black_hole(svg: &mut Svg, body: &SceneBody, disc: &Disc) {
    let colour = body.accretion.map_or(HexColour::EMBER, HexColour::parse);
    let fill = format!("url(#{})", gradient_id(colour));
    circle(svg, disc.at, disc.radius * 2.6).attribute("fill", &fill).end();
    if body.accretion.is_some() {
        draw_ring(svg, disc, 2.2, colour, disc.radius * 0.38);
    }
    circle(svg, disc.at, disc.radius * 1.12).attribute("fill", &colour.hex()).end();
    circle(svg, disc.at, disc.radius).attribute("fill", &HexColour::SHADOW.hex()).stroke(Ink::Outline, 0.7).end();
    if body.accretion.is_some() {
        draw_ring_front(svg, disc, 2.2, colour, disc.radius * 0.38);
    }
}

fn draw_cross(svg: &mut Svg, disc: &Disc) {
    let ((x, y), reach) = (disc.at, disc.radius);
    let path = format!(
        "M{}L{}M{}L{}",
        format_point((x - reach, y)),
        format_point((x + reach, y)),
        format_point((x, y - reach)),
        format_point((x, y + reach))
    );
    svg.element("path").attribute("d", &path).attribute("fill", "none").stroke(Ink::Muted, 1.2).end();
}

/// A planet, a moon or a stone, with its night side and its ring.
fn draw_ball(svg: &mut Svg, body: &SceneBody, disc: &Disc) {
    let outer = body.ring.map(|ring| (ring_outer_radius(ring.outer), HexColour::parse(ring.color)));
    let width = disc.radius * 0.34;
    if let Some((outer, colour)) = outer {
        draw_ring(svg, disc, outer, colour, width);
    }
    let outline = if disc.radius > 3.0 { 0.8 } else { 0.6 };
    let fill = HexColour::parse(body.color).hex();
    circle(svg, disc.at, disc.radius).attribute("fill", &fill).stroke(Ink::Outline, outline).end();
    draw_night_side(svg, disc);
    if let Some((outer, colour)) = outer {
        draw_ring_front(svg, disc, outer, colour, width);
    }
}

/// Draws the half that faces away from the light.
fn draw_night_side(svg: &mut Svg, disc: &Disc) {
    let Some(light) = disc.light.filter(|_| disc.radius > 2.4) else { return };
    let towards = (light.0 - disc.at.0, light.1 - disc.at.1);
    let distance = length(towards);
    if distance <= 0.0 {
        return;
    }
    let radius = disc.radius - 0.3;
    let side = (-towards.1 / distance * radius, towards.0 / distance * radius);
    let (one, other) = ((disc.at.0 + side.0, disc.at.1 + side.1), (disc.at.0 - side.0, disc.at.1 - side.1));
    // The return arc is flatter, which makes a crescent instead of a half disc.
    let path = format!(
        "M{}A{r:.2} {r:.2} 0 0 1 {}A{b:.2} {b:.2} 0 0 0 {}Z",
        format_point(one),
        format_point(other),
        format_point(one),
        r = radius,
        b = radius * 1.5
    );
    let night = svg.element("path").attribute("d", &path).attribute("fill", &HexColour::SHADOW.hex());
    night.attribute("opacity", "0.36").end();
}

fn draw_ring(svg: &mut Svg, disc: &Disc, outer: f64, colour: HexColour, width: f64) {
    let ellipse = svg.element("ellipse").number("cx", disc.at.0).number("cy", disc.at.1);
    let reach = disc.radius * outer - width / 2.0;
    let ellipse =
        ellipse.number("rx", reach).number("ry", reach * RING_FLATNESS).attribute("transform", &ring_rotation(disc.at));
    let ellipse = ellipse.attribute("fill", "none").attribute("stroke", &colour.hex()).number("stroke-width", width);
    ellipse.attribute("opacity", "0.85").end();
}

/// The part of a ring in front of its planet.
fn draw_ring_front(svg: &mut Svg, disc: &Disc, outer: f64, colour: HexColour, width: f64) {
    let reach = disc.radius * outer - width / 2.0;
    let (left, right) = ((disc.at.0 - reach, disc.at.1), (disc.at.0 + reach, disc.at.1));
    let path = format!("M{}A{reach:.2} {:.2} 0 0 0 {}", format_point(left), reach * RING_FLATNESS, format_point(right));
    let arc = svg.element("path").attribute("d", &path).attribute("transform", &ring_rotation(disc.at));
    arc.attribute("fill", "none").attribute("stroke", &colour.hex()).number("stroke-width", width).end();
}

fn ring_rotation((x, y): Point) -> String {
    format!("rotate({RING_TURN} {x:.1} {y:.1})")
}

/// Where the tail of a comet begins and ends: it points away from the light.
pub(super) fn tail_line(body: &SceneBody, disc: &Disc) -> Option<(Point, Point)> {
    let light = disc.light.filter(|_| body.kind == SceneBodyKind::Comet && body.tail.is_some())?;
    let away = (disc.at.0 - light.0, disc.at.1 - light.1);
    let reach = disc.radius * TAIL / length(away);
    reach.is_finite().then_some((disc.at, (disc.at.0 + away.0 * reach, disc.at.1 + away.1 * reach)))
}

/// Draws overlapping strands, so that the tail gets wider and fainter.
fn draw_tail(svg: &mut Svg, body: &SceneBody, disc: &Disc) {
    let Some((from, to)) = tail_line(body, disc) else { return };
    let (along, colour) = ((to.0 - from.0, to.1 - from.1), HexColour::parse(body.tail.unwrap_or_default()).hex());
    let side = (-along.1 / TAIL * 0.7, along.0 / TAIL * 0.7);
    for (share, spread) in [(1.0, 2.4), (0.86, 2.1), (0.72, 1.8), (0.58, 1.5), (0.44, 1.2), (0.3, 0.9)] {
        let end = (from.0 + along.0 * share, from.1 + along.1 * share);
        let path = format!(
            "M{}L{}L{}L{}Z",
            format_point((from.0 + side.0, from.1 + side.1)),
            format_point((end.0 + side.0 * spread, end.1 + side.1 * spread)),
            format_point((end.0 - side.0 * spread, end.1 - side.1 * spread)),
            format_point((from.0 - side.0, from.1 - side.1))
        );
        svg.element("path").attribute("d", &path).attribute("fill", &colour).attribute("opacity", "0.17").end();
    }
}
