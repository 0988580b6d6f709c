//! Layout graph of a flow chart: boxes, labels of arrows, and points where arrows pass a row.

use super::labels_and_description::{self, Lines};
use super::levels::Levels;
use super::{Flow, count_to_f64};
use crate::measure_and_format_text::{BOLD, shorten, text_width};

/// Limit on the points where arrows pass rows, over the whole picture. Past it the longest arrows are cut short.
const BENDS_MAX: usize = 4_000;

/// Size of the name of a stop.
pub(super) const NAME: f64 = 14.0;
const NAME_ROOM: f64 = 260.0;
const BOX_HEIGHT: f64 = 42.0;
const BOX_WIDTH_MIN: f64 = 96.0;
/// Distance between the ends of arrows on one side of a box.
pub(super) const PORTS_APART: f64 = 16.0;
/// Distance between the end of an arrow and the corner of its box.
pub(super) const PORT_INSET: f64 = 14.0;
/// Room to the left of the first stop, for the arrow that leads to it.
pub(super) const START_ROOM: f64 = 40.0;
/// Distance between a box and the label of an arrow from it to itself.
pub(super) const LOOP_ROOM: f64 = 34.0;

/// A node of the layout: it occupies space in a row.
pub(super) struct Item {
    pub(super) row: usize,
    /// Distance from its middle to its left and right edges.
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) height: f64,
    pub(super) what: ItemKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemKind {
    /// A stop, by its index.
    Stop(usize),
    /// The name of an arrow.
    Label,
    /// A point where an arrow passes a row.
    Bend,
}

/// The path of an arrow through the rows.
pub(super) struct FlowEdge {
    pub(super) arrow: usize,
    /// The items on its path, from top to bottom. The last is a stop, unless the arrow is cut short after its label.
    pub(super) items: Vec<usize>,
    /// Whether it leads to the stop at its top.
    pub(super) is_up: bool,
    pub(super) is_cut: bool,
    pub(super) lines: Lines,
}

/// A box, and the arrows that lead from it to itself.
pub(super) struct BoxShape {
    pub(super) name: String,
    pub(super) width: f64,
    pub(super) height: f64,
    /// By arrow.
    pub(super) loops: Vec<(usize, Lines)>,
}

pub(super) struct Graph {
    /// Stops come first, in their order.
    pub(super) items: Vec<Item>,
    pub(super) shapes: Vec<BoxShape>,
    pub(super) ways: Vec<FlowEdge>,
    /// The items of each row, unordered.
    pub(super) rows: Vec<Vec<usize>>,
    /// The neighbours of each item in the row above and in the row below.
    pub(super) above: Vec<Vec<usize>>,
    pub(super) below: Vec<Vec<usize>>,
}

impl Graph {
    pub(super) fn new(flow: &Flow) -> Self {
        let levels = Levels::new(flow);
        let spans = arrow_spans(flow, &levels);
        let shapes = box_shapes(flow, &spans);
        let stop = |(index, shape): (usize, &BoxShape)| {
            let loops = shape.loops.iter().map(|(_, lines)| lines.width).fold(0.0, f64::max);
            let start = if flow.start == Some(index) { START_ROOM } else { 0.0 };
            Item {
                row: 2 * levels.of_stop[index],
                left: shape.width / 2.0 + start,
                right: shape.width / 2.0 + if shape.loops.is_empty() { 0.0 } else { LOOP_ROOM + loops },
                height: shape.height,
                what: ItemKind::Stop(index),
            }
        };
        let items = shapes.iter().enumerate().map(stop).collect();
        let mut graph =
            Self { items, shapes, ways: Vec::new(), rows: Vec::new(), above: Vec::new(), below: Vec::new() };
        let mut taken: Vec<f64> = Vec::new();
        for span in spans {
            let arrow = &flow.arrows[span.arrow];
            let lines = labels_and_description::arrow_label(arrow, span.is_cut.then(|| flow.stops[arrow.to].name));
            let first = 2 * levels.of_stop[span.top] + 1;
            let last = if span.is_cut { first } else { 2 * levels.of_stop[span.bottom] - 1 };
            let row = choose_label_row(&mut taken, first, last, span.is_up, lines.width);
            let mut items = vec![span.top];
            for passed in first..=last {
                items.push(graph.items.len());
                graph.items.push(if passed == row { Item::label(row, &lines) } else { Item::bend(passed) });
            }
            items.extend((!span.is_cut).then_some(span.bottom));
            graph.ways.push(FlowEdge { arrow: span.arrow, items, is_up: span.is_up, is_cut: span.is_cut, lines });
        }
        graph.link_neighbours();
        graph
    }

    fn link_neighbours(&mut self) {
        let rows = self.items.iter().map(|item| item.row + 1).max().unwrap_or(0);
        self.rows = vec![Vec::new(); rows];
        for (index, item) in self.items.iter().enumerate() {
            self.rows[item.row].push(index);
        }
        (self.above, self.below) = (vec![Vec::new(); self.items.len()], vec![Vec::new(); self.items.len()]);
        for pair in self.ways.iter().flat_map(|way| way.items.windows(2)) {
            self.below[pair[0]].push(pair[1]);
            self.above[pair[1]].push(pair[0]);
        }
    }
}

impl Item {
    fn label(row: usize, lines: &Lines) -> Self {
        let half = lines.width / 2.0;
        Self { row, left: half, right: half, height: lines.height(), what: ItemKind::Label }
    }

    fn bend(row: usize) -> Self {
        Self { row, left: 0.0, right: 0.0, height: 0.0, what: ItemKind::Bend }
    }
}

/// The label row with the most space left among those that an arrow passes. Ties go to the row nearest to its start.
fn choose_label_row(taken: &mut Vec<f64>, first: usize, last: usize, is_up: bool, width: f64) -> usize {
    if taken.len() <= last {
        taken.resize(last + 1, 0.0);
    }
    let rows = (first..=last).step_by(2);
    let nearest = |row: &usize| if is_up { last - row } else { row - first };
    let best = rows.min_by(|a, b| taken[*a].total_cmp(&taken[*b]).then(nearest(a).cmp(&nearest(b))));
    let row = best.unwrap_or(first);
    taken[row] += width;
    row
}

/// An arrow between two stops, and whether it is cut short.
struct Span {
    arrow: usize,
    top: usize,
    bottom: usize,
    is_up: bool,
    is_cut: bool,
}

/// The arrows between different stops, in order. If together they pass more than `BENDS_MAX` rows, the longest are cut
/// short; those start at their stop and go down, wherever they lead.
fn arrow_spans(flow: &Flow, levels: &Levels) -> Vec<Span> {
    let passed = |index: usize| {
        let arrow = &flow.arrows[index];
        (2 * levels.of_stop[arrow.from].abs_diff(levels.of_stop[arrow.to])).saturating_sub(2)
    };
    let mut shortest: Vec<usize> = (0..flow.arrows.len()).collect();
    shortest.sort_by_key(|index| passed(*index));
    let mut bends = 0;
    let mut is_cut = vec![false; flow.arrows.len()];
    for index in shortest {
        bends += passed(index);
        is_cut[index] = bends > BENDS_MAX;
    }
    let span = |(index, is_cut): (usize, bool)| {
        let arrow = &flow.arrows[index];
        let is_up = levels.is_back[index] && !is_cut;
        let (top, bottom) = if is_up { (arrow.to, arrow.from) } else { (arrow.from, arrow.to) };
        (top != bottom).then_some(Span { arrow: index, top, bottom, is_up, is_cut })
    };
    is_cut.into_iter().enumerate().filter_map(span).collect()
}

/// Box sizes: wide enough for the name and all arrow ends, high enough for its loops.
fn box_shapes(flow: &Flow, spans: &[Span]) -> Vec<BoxShape> {
    let mut shapes: Vec<BoxShape> = flow
        .stops
        .iter()
        .map(|stop| {
            let name = shorten(stop.name, NAME * BOLD, NAME_ROOM);
            let width = (text_width(&name, NAME * BOLD) + 32.0).max(BOX_WIDTH_MIN).ceil();
            BoxShape { name, width, height: BOX_HEIGHT, loops: Vec::new() }
        })
        .collect();
    for (index, arrow) in flow.arrows.iter().enumerate().filter(|(_, arrow)| arrow.from == arrow.to) {
        shapes[arrow.from].loops.push((index, labels_and_description::arrow_label(arrow, None)));
    }
    let (mut above, mut below) = (vec![0; shapes.len()], vec![0; shapes.len()]);
    for span in spans {
        below[span.top] += 1;
        above[span.bottom] += usize::from(!span.is_cut);
    }
    for (shape, ends) in shapes.iter_mut().zip(above.into_iter().zip(below).map(|(above, below)| above.max(below))) {
        let ports = count_to_f64(ends.saturating_sub(1)) * PORTS_APART + 2.0 * PORT_INSET;
        let loops: f64 = shape.loops.iter().map(|(_, lines)| lines.loop_height()).sum();
        shape.width = shape.width.max(ports);
        shape.height = shape.height.max(loops + 8.0);
    }
    shapes
}
