//! Writes the universe map as SVG: from back to front, labels last.

use std::fmt::Write;

use super::chosen_colour::HexColour;
use super::labels::{Align, Label, Style};
use super::map_layout::{BandShape, CloudShape, LineShape, MapLayout, MapLine, MapPath, Panel, WIDTH};
use super::paths_and_gradients::{Scatter, dots_path, gradient_id, line_path, write_gradients};
use super::{Point, UniverseScene, captions_and_description, draw_body, legend};
use crate::measure_and_format_text::{BOLD, shorten, text_width};
use crate::palette::Ink;
use crate::panel_area::PanelArea;
use crate::svg::{Svg, format_point};
use crate::{Heading, begin_card};

/// Square units of a panel for each star of its background.
const SPECKLE: f64 = 3_600.0;

pub(super) fn draw(scene: &UniverseScene, layout: &MapLayout) -> String {
    let (subtitle, description) =
        (captions_and_description::subtitle(scene), captions_and_description::description(scene, layout));
    let title = if scene.title.trim().is_empty() { "A universe" } else { scene.title };
    let heading = Heading { title, subtitle: &subtitle, description: &description };
    let (mut svg, bottom) = begin_card(&heading, (WIDTH, layout.height), scene.theme);
    if layout.panels.is_empty() {
        draw_empty(&mut svg, bottom, layout.height);
        return svg.finish();
    }
    write_gradients(&mut svg, scene, &layout.panels);
    for (number, panel) in layout.panels.iter().enumerate() {
        draw_panel(&mut svg, scene, panel, number);
    }
    // A page that zooms places the names of bodies anew, and leaves those of regions.
    let is_region = |label: &&Label| label.style == Style::Region;
    for (class, is_regions) in [("region-names", true), ("body-names", false)] {
        svg.element("g").attribute("class", class).open();
        for label in layout.labels.iter().filter(|label| is_region(label) == is_regions) {
            draw_label(&mut svg, label);
        }
        svg.close("g");
    }
    legend::draw(&mut svg, scene, layout);
    svg.finish()
}

/// A card for a universe in which there is nothing.
fn draw_empty(svg: &mut Svg, top: f64, height: f64) {
    let area = PanelArea { left: 24.0, top: top + 6.0, width: WIDTH - 48.0, height: height - top - 30.0 };
    draw_backdrop(svg, &Panel::new(area), 1);
    let (x, y) = area.middle();
    for (text, size, ink, down) in [
        ("An empty sky", 20.0, Ink::Text, -8.0),
        ("Nothing shines here yet. A command addStar puts the first light into it.", 13.0, Ink::Muted, 20.0),
    ] {
        svg.label(x, y + down, size).attribute("text-anchor", "middle").fill(ink).halo_on(Ink::Sky).text(text);
    }
}

fn draw_panel(svg: &mut Svg, scene: &UniverseScene, panel: &Panel, number: usize) {
    draw_backdrop(svg, panel, number);
    // A nested SVG clips glows and tails at the edge of the panel.
    let area = panel.area;
    let [left, top, width, height] = [area.left, area.top, area.width, area.height];
    let inner = svg.element("svg").number("x", left).number("y", top).number("width", width).number("height", height);
    inner.attribute("viewBox", &format!("{} {}", format_point((left, top)), format_point((width, height)))).open();
    for cloud in &panel.clouds {
        draw_cloud(svg, scene, cloud);
    }
    for (index, band) in panel.bands.iter().enumerate() {
        draw_band(svg, band, index);
    }
    for line in &panel.lines {
        draw_line(svg, line);
    }
    if !panel.dots.is_empty() {
        let path = svg.element("path").attribute("d", &dots_path(panel.dots.iter().copied())).attribute("fill", "none");
        path.stroke(Ink::Dust, 1.8).attribute("stroke-linecap", "round").end();
    }
    // The last bodies are the smallest, so draw them on top.
    for disc in &panel.discs {
        let body = &scene.bodies[disc.body];
        let group = svg.element("g").attribute("class", "body").attribute("data-body", body.id);
        let group = group.attribute("data-name", body.name).number("data-x", disc.at.0).number("data-y", disc.at.1);
        group.number("data-r", disc.outer_radius(body)).open();
        draw_body::draw_body(svg, body, disc);
        svg.close("g");
    }
    svg.close("svg");
    if !panel.title.is_empty() {
        let text = shorten(&panel.title, 13.0 * BOLD, area.width * 0.55);
        let title = svg.label(area.left + 12.0, area.top + 21.0, 13.0).attribute("font-weight", "bold");
        title.fill(Ink::Muted).halo_on(Ink::Sky).text(&text);
    }
    if !panel.note.is_empty() {
        let note = svg.label(area.left + 12.0, area.bottom() - 11.0, 10.5).fill(Ink::Muted).halo_on(Ink::Sky);
        note.text(&shorten(&panel.note, 10.5, area.width / 2.0 - 24.0));
    }
    draw_ruler(svg, panel);
}

/// The sky behind everything, with faint stars.
fn draw_backdrop(svg: &mut Svg, panel: &Panel, number: usize) {
    let area = panel.area;
    let rect = svg.element("rect").number("x", area.left).number("y", area.top).number("width", area.width);
    rect.number("height", area.height).number("rx", 10.0).fill(Ink::Sky).stroke(Ink::Border, 1.0).end();
    let mut scatter = Scatter::new(number + 1);
    for (size, share) in [(1.1, 0.75), (1.9, 0.25)] {
        let count = (area.width * area.height / SPECKLE * share).max(1.0);
        let field = area.inset(6.0);
        let mut stars: Vec<Point> = Vec::new();
        while f64::from(u16::try_from(stars.len()).unwrap_or(u16::MAX)) < count {
            stars.push((field.left + scatter.next() * field.width, field.top + scatter.next() * field.height));
        }
        let path = svg.element("path").attribute("d", &dots_path(stars)).attribute("fill", "none");
        path.stroke(Ink::Speckle, size).attribute("stroke-linecap", "round").end();
    }
}

/// A heap of soft blobs, denser in the middle.
fn draw_cloud(svg: &mut Svg, scene: &UniverseScene, shape: &CloudShape) {
    let cloud = &scene.clouds[shape.cloud];
    let mut scatter = Scatter::new(shape.cloud + 1_000);
    let (base, accent) = (HexColour::parse(cloud.color), HexColour::parse(cloud.accent));
    let opacity = 0.28 + 0.4 * cloud.density.clamp(0.0, 1.0);
    let whole = svg.element("ellipse").number("cx", shape.at.0).number("cy", shape.at.1);
    let whole = whole.number("rx", shape.size.0).number("ry", shape.size.1);
    whole.attribute("fill", &format!("url(#{})", gradient_id(base))).number("opacity", opacity * 0.6).end();
    for index in 0..18 {
        let (turn, away) = (scatter.next() * std::f64::consts::TAU, scatter.next().sqrt() * 0.56);
        let (wide, high) = (0.24 + scatter.next() * 0.2, 0.24 + scatter.next() * 0.2);
        let colour = if index % 3 == 2 { accent } else { base };
        let blob = svg.element("ellipse").number("cx", shape.at.0 + turn.cos() * away * shape.size.0);
        let blob = blob.number("cy", shape.at.1 + turn.sin() * away * shape.size.1);
        let blob = blob.number("rx", shape.size.0 * wide).number("ry", shape.size.1 * high);
        blob.attribute("fill", &format!("url(#{})", gradient_id(colour))).number("opacity", opacity).end();
    }
}

/// A soft annulus: of stones, or of dust that is brightest towards its star.
fn draw_band(svg: &mut Svg, band: &BandShape, number: usize) {
    let colour = HexColour::parse(band.color).hex();
    let (middle, width) = (f64::midpoint(band.inner, band.outer), band.outer - band.inner);
    let opacity = band.opacity.clamp(0.3, 1.0);
    let (inwards, strength) = if band.is_disk { (0.22, 0.105) } else { (0.5, 0.07) };
    // Layer on layer, each narrower than the one below it.
    for layer in 0_u8..9 {
        let taken = f64::from(layer) / 9.0 * width;
        let (inner, outer) = (band.inner + taken * inwards, band.outer - taken * (1.0 - inwards));
        let ring = svg.element("circle").number("cx", band.at.0).number("cy", band.at.1);
        let ring = ring.number("r", f64::midpoint(inner, outer)).attribute("fill", "none");
        let ring = ring.attribute("stroke", &colour).number("stroke-width", outer - inner);
        ring.number("opacity", strength * opacity).end();
    }
    let mut scatter = Scatter::new(number + 77);
    let count = (middle * width / 26.0).clamp(24.0, 320.0);
    let mut stones = Vec::new();
    while f64::from(u16::try_from(stones.len()).unwrap_or(u16::MAX)) < count {
        let turn = scatter.next() * std::f64::consts::TAU;
        // The sum of two uniform numbers clusters in the middle of the band.
        let away = band.inner + width * f64::midpoint(scatter.next(), scatter.next());
        stones.push((band.at.0 + turn.cos() * away, band.at.1 + turn.sin() * away));
    }
    let path = svg.element("path").attribute("d", &dots_path(stones)).attribute("fill", "none");
    let path = path.attribute("stroke", &colour).number("stroke-width", if band.is_disk { 1.0 } else { 1.5 });
    path.attribute("stroke-linecap", "round").number("opacity", 0.85 * opacity.max(0.6)).end();
}

fn draw_line(svg: &mut Svg, drawn: &MapLine) {
    let element = match &drawn.shape {
        LineShape::Circle(at, radius) => {
            svg.element("circle").number("cx", at.0).number("cy", at.1).number("r", *radius)
        }
        LineShape::Closed(points) => svg.element("path").attribute("d", &line_path(points, true)),
        LineShape::Open(points) => svg.element("path").attribute("d", &line_path(points, false)),
    };
    let element = element.attribute("fill", "none");
    match drawn.way {
        MapPath::Orbit => element.stroke(Ink::Orbit, 1.0).end(),
        MapPath::Moon => element.stroke(Ink::Orbit, 0.6).end(),
        MapPath::Wanderer => element.stroke(Ink::Muted, 1.1).attribute("stroke-dasharray", "5 4").end(),
        MapPath::Arrow => element.stroke(Ink::Muted, 1.4).attribute("stroke-linejoin", "round").end(),
    }
}

/// Round distances from the middle to the right.
fn draw_ruler(svg: &mut Svg, panel: &Panel) {
    let Some((middle, radii)) = &panel.ruler else { return };
    let y = panel.area.bottom() - 24.0;
    svg.line((middle.0, y), (middle.0 + radii.far_px, y)).stroke(Ink::Orbit, 1.0).end();
    let zero = svg.label(middle.0, y + 14.0, 10.0).attribute("text-anchor", "middle");
    zero.fill(Ink::Muted).text("0");
    let mut path = format!("M{}v6", format_point((middle.0, y - 3.0)));
    for tick in radii.ticks(|tick| text_width(&captions_and_description::format_figure(tick), 10.0) + 12.0) {
        let x = middle.0 + radii.radius(tick);
        let _ = write!(path, "M{}v6", format_point((x, y - 3.0)));
        let text = svg.label(x, y + 14.0, 10.0).attribute("text-anchor", "middle");
        text.fill(Ink::Muted).text(&captions_and_description::format_figure(tick));
    }
    svg.element("path").attribute("d", &path).attribute("fill", "none").stroke(Ink::Muted, 1.0).end();
}

fn draw_label(svg: &mut Svg, label: &Label) {
    if let Some((from, to)) = label.leader {
        svg.line(from, to).stroke(Ink::Muted, 0.7).end();
    }
    let text = svg.label(label.at.0, label.at.1, label.size);
    let text = match label.align {
        Align::Start => text,
        Align::Middle => text.attribute("text-anchor", "middle"),
        Align::End => text.attribute("text-anchor", "end"),
    };
    let text = match label.style {
        Style::Star => text.attribute("font-weight", "bold").fill(Ink::Text),
        Style::SceneBody => text.fill(Ink::Text),
        Style::Minor => text.fill(Ink::Muted),
        Style::Region => text.attribute("font-style", "italic").fill(Ink::Muted),
    };
    text.halo_on(Ink::Sky).text(&label.text);
}
