//! Writes the laid-out flow chart of a process as SVG: arrows first, then boxes, then the legend.

use std::fmt::Write;

use super::graph::{BoxShape, FlowEdge, Graph, ItemKind, LOOP_ROOM, NAME, START_ROOM};
use super::labels_and_description::{self, Lines};
use super::placement::Layout;
use super::{Flow, FlowProgress};
use crate::measure_and_format_text::{BOLD, text_width};
use crate::palette::Ink;
use crate::svg::{Svg, format_number};
use crate::{HEADING_BOTTOM, Heading, MARGIN, SUBTITLE_HEIGHT, WIDTH, begin_card};

/// The least width, if the title is short.
const WIDTH_MIN: f64 = 360.0;
const LEGEND_HEIGHT: f64 = 30.0;
/// An arrowhead: its length, and half its width.
const POINT: (f64, f64) = (9.0, 4.0);
const LINE: f64 = 1.4;

type Spot = (f64, f64);

pub(super) fn draw(flow: &Flow, graph: &Graph, layout: &Layout) -> String {
    let description = labels_and_description::describe_flow(flow);
    let heading = Heading { title: flow.title, subtitle: flow.subtitle, description: &description };
    let titles = text_width(flow.title, 17.0 * BOLD).max(text_width(flow.subtitle, 12.5)).min(WIDTH - 2.0 * MARGIN);
    let wide = (layout.width.max(titles) + 2.0 * MARGIN).max(WIDTH_MIN).ceil();
    let top = HEADING_BOTTOM + if flow.subtitle.is_empty() { 0.0 } else { SUBTITLE_HEIGHT } + 18.0;
    let legend = legend_entries(flow);
    let below = if legend.is_empty() { 0.0 } else { LEGEND_HEIGHT };
    let high = (top + layout.height + below + MARGIN).ceil();
    let (mut svg, _) = begin_card(&heading, (wide, high), flow.theme);
    let sheet = FlowDrawing { flow, graph, layout, origin: ((wide - layout.width) / 2.0, top) };
    for (index, way) in graph.ways.iter().enumerate() {
        sheet.draw_edge(&mut svg, index, way);
    }
    for (index, shape) in graph.shapes.iter().enumerate() {
        sheet.draw_stop(&mut svg, index, shape);
    }
    draw_legend(&mut svg, &legend, high - MARGIN);
    svg.finish()
}

struct FlowDrawing<'a> {
    flow: &'a Flow<'a>,
    graph: &'a Graph,
    layout: &'a Layout,
    /// Where the layout begins on the card.
    origin: Spot,
}

impl FlowDrawing<'_> {
    fn x(&self, item: usize) -> f64 {
        self.origin.0 + self.layout.x[item]
    }

    /// Top and bottom of a row.
    fn row_span(&self, row: usize) -> (f64, f64) {
        let (top, bottom) = self.layout.rows[row];
        (self.origin.1 + top, self.origin.1 + bottom)
    }

    /// Top and bottom of an item, which is in the middle of its row.
    fn item_span(&self, item: usize) -> (f64, f64) {
        let item = &self.graph.items[item];
        let (top, bottom) = self.row_span(item.row);
        let middle = f64::midpoint(top, bottom);
        (middle - item.height / 2.0, middle + item.height / 2.0)
    }

    fn draw_edge(&self, svg: &mut Svg, index: usize, way: &FlowEdge) {
        let ports = self.layout.ports.of_way[index];
        let (upper, lower) = (self.origin.0 + ports.0, self.origin.0 + ports.1);
        let mut path = String::new();
        let mut at: Spot = (upper, self.item_span(way.items[0]).1);
        let mut tip = (at, -1.0);
        let last = way.items.len() - 1;
        let mut label = None;
        for (step, item) in way.items.iter().copied().enumerate() {
            let (row_top, row_bottom) = self.row_span(self.graph.items[item].row);
            let (top, bottom) = self.item_span(item);
            let is_end = step == last && !way.is_cut;
            // The line is vertical behind the arrowhead.
            if step == 0 {
                at.1 = row_bottom + if way.is_up { POINT.0 } else { 0.0 };
                let _ = write!(path, "M{}V{}", format_point((upper, bottom)), format_number(at.1));
                continue;
            }
            let x = if is_end { lower } else { self.x(item) };
            let is_pointed = is_end && !way.is_up || step == last && way.is_cut;
            append_curve(&mut path, at, (x, row_top - if is_pointed { POINT.0 } else { 0.0 }));
            at = (x, row_bottom);
            if is_end {
                if !way.is_up {
                    tip = ((x, top), 1.0);
                }
                let _ = write!(path, "V{}", format_number(top));
            } else if self.graph.items[item].what == ItemKind::Label {
                label = Some((x, top));
                let _ = write!(path, "V{}", format_number(top));
                if step < last {
                    let _ = write!(path, "M{}V{}", format_point((x, bottom)), format_number(row_bottom));
                } else {
                    tip = ((x, top), 1.0);
                }
            } else {
                let _ = write!(path, "V{}", format_number(row_bottom));
            }
        }
        let ink = if way.is_up { Ink::Second } else { Ink::Muted };
        svg.element("g").attribute("class", "transition").open();
        svg.element("title").text(&labels_and_description::describe_arrow(self.flow, &self.flow.arrows[way.arrow]));
        svg.element("path").attribute("d", &path).attribute("fill", "none").stroke(ink, LINE).end();
        let ((x, y), down) = tip;
        draw_arrowhead(svg, (x, y), (0.0, down), ink);
        if let Some((x, top)) = label {
            draw_lines(svg, &way.lines, (x, top), Some("middle"));
        }
        svg.close("g");
    }

    fn draw_stop(&self, svg: &mut Svg, index: usize, shape: &BoxShape) {
        let stop = &self.flow.stops[index];
        let (x, (top, bottom)) = (self.x(index), self.item_span(index));
        let (left, middle) = (x - shape.width / 2.0, f64::midpoint(top, bottom));
        if self.flow.start == Some(index) {
            let from = left - START_ROOM + 6.0;
            svg.element("circle").number("cx", from).number("cy", middle).number("r", 6.0).fill(Ink::Outline).end();
            svg.line((from, middle), (left - 2.0, middle)).stroke(Ink::Outline, LINE).end();
            draw_arrowhead(svg, (left, middle), (1.0, 0.0), Ink::Outline);
        }
        self.draw_loops(svg, shape, (left + shape.width, top));
        let (fill, text, line) = match stop.progress {
            FlowProgress::Current => (Ink::Current, Ink::OnCurrent, 2.4),
            FlowProgress::Visited => (Ink::Visited, Ink::OnVisited, LINE),
            FlowProgress::Ahead => (Ink::Sky, Ink::Text, LINE),
        };
        svg.element("g").attribute("class", "state").open();
        svg.element("title").text(stop.name);
        let rect = |svg: &mut Svg, inset: f64, fill: Option<Ink>, stroke: Ink, line: f64| {
            let element = svg.element("rect").number("x", left + inset).number("y", top + inset);
            let element = element.number("width", shape.width - 2.0 * inset);
            let element = element.number("height", shape.height - 2.0 * inset).number("rx", 10.0 - inset);
            let element = match fill {
                Some(fill) => element.fill(fill),
                None => element.attribute("fill", "none"),
            };
            element.stroke(stroke, line).end();
        };
        rect(svg, 0.0, Some(fill), Ink::Outline, line);
        if stop.is_last {
            rect(svg, 4.0, None, if stop.progress == FlowProgress::Current { text } else { Ink::Outline }, 1.1);
        }
        let name = svg.label(x, middle + 5.0, NAME).attribute("text-anchor", "middle").attribute("font-weight", "bold");
        name.fill(text).text(&shape.name);
        svg.close("g");
    }

    /// The arrows from a box to itself, one below the other on its right side.
    fn draw_loops(&self, svg: &mut Svg, shape: &BoxShape, (right, top): Spot) {
        let slots: f64 = shape.loops.iter().map(|(_, lines)| lines.loop_height()).sum();
        let mut y = top + (shape.height - slots) / 2.0;
        for (arrow, lines) in &shape.loops {
            let middle = y + lines.loop_height() / 2.0;
            let (begin, end, far) = (middle - 8.0, middle + 8.0, right + LOOP_ROOM - 4.0);
            svg.element("g").attribute("class", "transition").open();
            svg.element("title").text(&labels_and_description::describe_arrow(self.flow, &self.flow.arrows[*arrow]));
            let (begin_at, upper, lower) =
                (format_point((right, begin)), format_point((far, begin - 7.0)), format_point((far, end + 7.0)));
            let path = format!("M{begin_at}C{upper} {lower} {}", format_point((right + POINT.0 - 2.0, end)));
            svg.element("path").attribute("d", &path).attribute("fill", "none").stroke(Ink::Second, LINE).end();
            draw_arrowhead(svg, (right, end), (-1.0, 0.0), Ink::Second);
            draw_lines(svg, lines, (right + LOOP_ROOM, middle - lines.height() / 2.0), None);
            svg.close("g");
            y += lines.loop_height();
        }
    }
}

/// Appends a curve that starts and ends vertically.
fn append_curve(path: &mut String, from: Spot, to: Spot) {
    if (from.0 - to.0).abs() < 0.5 {
        let _ = write!(path, "L{}", format_point(to));
        return;
    }
    let middle = f64::midpoint(from.1, to.1);
    let _ = write!(path, "C{} {} {}", format_point((from.0, middle)), format_point((to.0, middle)), format_point(to));
}

/// Draws an arrowhead that points in a direction.
fn draw_arrowhead(svg: &mut Svg, tip: Spot, (right, down): Spot, ink: Ink) {
    let back = (tip.0 - right * POINT.0, tip.1 - down * POINT.0);
    let (one, other) =
        ((back.0 + down * POINT.1, back.1 + right * POINT.1), (back.0 - down * POINT.1, back.1 - right * POINT.1));
    let path = format!("M{}L{}L{}Z", format_point(tip), format_point(one), format_point(other));
    svg.element("path").attribute("d", &path).fill(ink).end();
}

fn draw_lines(svg: &mut Svg, lines: &Lines, (x, top): Spot, anchor: Option<&str>) {
    for (below, line) in lines.baselines() {
        let text = svg.label(x, top + below, line.size);
        let text = match anchor {
            Some(anchor) => text.attribute("text-anchor", anchor),
            None => text,
        };
        text.fill(if line.is_condition { Ink::Muted } else { Ink::Text }).text(&line.text);
    }
}

/// Legend of the box colours that occur in the chart.
fn legend_entries(flow: &Flow) -> Vec<(Ink, &'static str)> {
    let all = [(FlowProgress::Current, Ink::Current, "current"), (FlowProgress::Visited, Ink::Visited, "visited")];
    let is_there = |progress: FlowProgress| flow.stops.iter().any(|stop| stop.progress == progress);
    all.into_iter().filter(|(progress, ..)| is_there(*progress)).map(|(_, ink, word)| (ink, word)).collect()
}

fn draw_legend(svg: &mut Svg, legend: &[(Ink, &str)], y: f64) {
    let mut x = MARGIN;
    for (ink, word) in legend {
        let swatch = svg.element("rect").number("x", x).number("y", y - 10.0).number("width", 16.0);
        swatch.number("height", 12.0).number("rx", 3.5).fill(*ink).stroke(Ink::Outline, 1.0).end();
        svg.label(x + 22.0, y, 12.0).fill(Ink::Muted).text(word);
        x += 22.0 + text_width(word, 12.0) + 18.0;
    }
}

fn format_point((x, y): Spot) -> String {
    format!("{} {}", format_number(x), format_number(y))
}
