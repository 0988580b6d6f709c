//! Writes the mention graph as SVG: lines first, then circles, names and the legend.

use super::curved_lines::{self, MentionCurve};
use super::description::{
    HOW_TO_BEGIN, NOTHING_YET, TITLE, describe_entity, describe_graph, left_out_line, note, subtitle,
};
use super::drawn_graph::DrawnGraph;
use super::name_labels::{self, NameLabel};
use super::node_placement::{LEGEND_GAPS, LEGEND_SIZE, NodePlacement};
use crate::measure_and_format_text::{shorten, text_width};
use crate::palette::Ink;
use crate::panel_area::PanelArea;
use crate::svg::Svg;
use crate::{Heading, MARGIN, Point, Theme, begin_card};

const LINE: f64 = 1.2;
/// The line of a relationship.
const BOLD_LINE: f64 = 2.0;
const NOTE_SIZE: f64 = 11.0;
/// Lines of a graph from which they are drawn fainter.
const MANY_LINES: usize = 80;

pub(super) fn draw(graph: &DrawnGraph, placement: &NodePlacement, theme: Theme) -> String {
    let (subtitle, description) = (subtitle(graph), describe_graph(graph));
    let heading = Heading { title: TITLE, subtitle: &subtitle, description: &description };
    let (mut svg, _) = begin_card(&heading, (placement.width, placement.height), theme);
    draw_panel(&mut svg, &placement.panel);
    let mut unnamed = 0;
    if graph.entities.is_empty() {
        draw_empty(&mut svg, &placement.panel);
    } else {
        let curves = curved_lines::curves(graph, placement);
        let labels = name_labels::place_names(graph, placement, &curves);
        unnamed = labels.iter().filter(|label| label.is_none()).count();
        draw_curves(&mut svg, graph, &curves);
        draw_circles(&mut svg, graph, placement);
        for label in labels.iter().flatten() {
            draw_label(&mut svg, label);
        }
    }
    draw_legend(&mut svg, placement);
    draw_notes(&mut svg, graph, placement, unnamed);
    svg.finish()
}

fn draw_panel(svg: &mut Svg, area: &PanelArea) {
    let rect = svg.element("rect").number("x", area.left).number("y", area.top).number("width", area.width);
    rect.number("height", area.height).number("rx", 10.0).fill(Ink::Sky).stroke(Ink::Border, 1.0).end();
}

fn draw_curves(svg: &mut Svg, graph: &DrawnGraph, curves: &[MentionCurve]) {
    let of_kind = |is_related: bool| {
        let lines = graph.lines.iter().zip(curves).filter(move |(line, _)| line.is_related == is_related);
        lines.map(|(_, curve)| curve).collect::<Vec<_>>()
    };
    // The opacity of a whole group does not add up where lines cross.
    let opacity = if curves.len() < MANY_LINES { 0.9 } else { 0.65 };
    draw_curve_group(svg, &of_kind(false), (Ink::Dust, LINE), opacity);
    let related = of_kind(true);
    if !related.is_empty() {
        draw_curve_group(svg, &related, (Ink::Text, BOLD_LINE), opacity);
    }
}

fn draw_curve_group(svg: &mut Svg, curves: &[&MentionCurve], (ink, width): (Ink, f64), opacity: f64) {
    svg.element("g").number("opacity", opacity).open();
    svg.element("g").attribute("fill", "none").stroke(ink, width).open();
    for curve in curves {
        svg.element("path").attribute("d", &curve.path()).end();
    }
    svg.close("g");
    svg.element("g").fill(ink).open();
    for path in curves.iter().flat_map(|curve| curve.head_paths()) {
        svg.element("path").attribute("d", &path).end();
    }
    svg.close("g");
    svg.close("g");
}

fn draw_circles(svg: &mut Svg, graph: &DrawnGraph, placement: &NodePlacement) {
    // The least connected first, so that the most connected is in front.
    for (entity, circle) in graph.entities.iter().zip(&placement.circles).rev() {
        svg.element("g").attribute("class", "entity").open();
        svg.element("title").text(&describe_entity(entity));
        let element = svg.element("circle").number("cx", circle.at.0).number("cy", circle.at.1);
        element.number("r", circle.radius).fill(entity.group.ink).stroke(Ink::Sky, 1.5).end();
        svg.close("g");
    }
}

fn draw_label(svg: &mut Svg, label: &NameLabel) {
    let (x, y) = label.start();
    let text = svg.label(x, y, label.size);
    let text = if label.is_bold { text.attribute("font-weight", "bold") } else { text };
    text.fill(Ink::Text).halo_on(Ink::Sky).text(&label.text);
}

fn draw_legend(svg: &mut Svg, placement: &NodePlacement) {
    for entry in &placement.legend {
        let (x, y) = entry.at;
        let dot = svg.element("circle").number("cx", x + 6.0).number("cy", y - 4.0).number("r", 5.0);
        dot.fill(entry.group.ink).end();
        svg.label(x + LEGEND_GAPS.0, y, LEGEND_SIZE).fill(Ink::Text).text(&entry.text);
    }
}

fn draw_notes(svg: &mut Svg, graph: &DrawnGraph, placement: &NodePlacement, unnamed: usize) {
    let mut right = placement.width - MARGIN;
    if let Some(line) = left_out_line(graph) {
        let label = svg.label(right, placement.note_y, LEGEND_SIZE).attribute("text-anchor", "end");
        label.fill(Ink::Text).text(&line);
        right -= text_width(&line, LEGEND_SIZE) + 16.0;
    }
    // The panel of an empty graph says it in large letters.
    if !graph.entities.is_empty() {
        let text = shorten(&note(graph, unnamed), NOTE_SIZE, right - MARGIN);
        svg.label(MARGIN, placement.note_y, NOTE_SIZE).fill(Ink::Muted).text(&text);
    }
}

/// A sketch of a graph, and how to begin one.
fn draw_empty(svg: &mut Svg, panel: &PanelArea) {
    let (x, y) = (panel.middle().0, panel.middle().1 + 28.0);
    let circles: [(Point, f64); 3] =
        [((x - 96.0, y - 62.0), 13.0), ((x, y - 92.0), 18.0), ((x + 92.0, y - 54.0), 10.0)];
    for (from, control, to) in [
        ((x - 78.0, y - 70.0), (x - 50.0, y - 88.0), (x - 24.0, y - 91.0)),
        ((x + 78.0, y - 62.0), (x + 56.0, y - 82.0), (x + 24.0, y - 88.0)),
    ] {
        let path = format!("M{} {}Q{} {} {} {}", from.0, from.1, control.0, control.1, to.0, to.1);
        let path = svg.element("path").attribute("d", &path).attribute("fill", "none").stroke(Ink::Orbit, 1.4);
        path.attribute("stroke-dasharray", "4 4").end();
    }
    for ((x, y), radius) in circles {
        let circle = svg.element("circle").number("cx", x).number("cy", y).number("r", radius).fill(Ink::Sky);
        circle.stroke(Ink::Orbit, 1.4).attribute("stroke-dasharray", "4 4").end();
    }
    for (text, size, ink, down) in [
        (NOTHING_YET, 20.0, Ink::Text, 4.0),
        (HOW_TO_BEGIN, 13.0, Ink::Muted, 32.0),
        ("Both appear here, with an arrow between them.", 13.0, Ink::Muted, 52.0),
    ] {
        svg.label(x, y + down, size).attribute("text-anchor", "middle").fill(ink).halo_on(Ink::Sky).text(text);
    }
}
