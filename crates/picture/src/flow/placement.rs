//! Positions of a flow chart's nodes. Each row is moved as near as possible to its neighbours above and below, in its
//! order and without overlap; this repeats down and up through the rows until it hardly changes.

use super::count_to_f64;
use super::graph::{Graph, ItemKind, PORT_INSET};
use super::order::order_rows;
use super::ports::Ports;

/// Passes over the rows.
const ROUNDS: usize = 40;
/// Limit on placed items over all rounds, which bounds the work.
const SETTLED_MAX: usize = 200_000;
/// Least distance between two neighbours.
const APART: f64 = 22.0;
/// Least distance between two rows, and what a line that goes far to the side adds to it.
const GAP: f64 = 30.0;
const GAP_SLOPE: f64 = 0.13;
const GAP_MAX: f64 = 96.0;

pub(super) struct Layout {
    /// The middle of each item, from the left.
    pub(super) x: Vec<f64>,
    /// Top and bottom of each row.
    pub(super) rows: Vec<(f64, f64)>,
    pub(super) ports: Ports,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Layout {
    pub(super) fn new(graph: &Graph) -> Self {
        let rows = order_rows(graph);
        let mut x = pack_rows(graph, &rows);
        let rounds = (SETTLED_MAX / graph.items.len().max(1)).clamp(4, ROUNDS);
        for round in 0..rounds {
            let pull = if round + 6 > rounds { Pull::Both } else { Pull::Centres };
            for step in 0..rows.len() {
                let row = if round % 2 == 0 { step } else { rows.len() - 1 - step };
                place_row(graph, &rows[row], &mut x, (pull, round % 2 == 0));
            }
        }
        straighten(graph, &rows, &mut x);
        let left = graph.items.iter().zip(&x).map(|(item, x)| x - item.left).fold(f64::MAX, f64::min);
        for x in &mut x {
            *x -= left;
        }
        let width = graph.items.iter().zip(&x).map(|(item, x)| x + item.right).fold(0.0, f64::max);
        let ports = Ports::new(graph, &x);
        let rows = row_spans(graph, &x, &ports);
        let height = rows.last().map_or(0.0, |row| row.1);
        Self { x, rows, ports, width, height }
    }
}

/// The neighbours that a row is moved towards.
#[derive(Clone, Copy, PartialEq)]
enum Pull {
    /// The middles of the neighbours in the row placed before.
    Centres,
    /// The neighbours on both sides; any position directly below or above a box counts as aligned.
    Both,
}

/// Initial positions: each row packed from the left.
fn pack_rows(graph: &Graph, rows: &[Vec<usize>]) -> Vec<f64> {
    let mut x = vec![0.0; graph.items.len()];
    for row in rows {
        let mut right = 0.0;
        for item in row {
            x[*item] = right + graph.items[*item].left;
            right = x[*item] + graph.items[*item].right + APART;
        }
    }
    x
}

fn place_row(graph: &Graph, row: &[usize], x: &mut [f64], (pull, is_down): (Pull, bool)) {
    let wanted = |item: usize| {
        let sides = match (pull, is_down) {
            (Pull::Both, _) => [&graph.above[item][..], &graph.below[item]],
            (Pull::Centres, true) => [&graph.above[item][..], &[]],
            (Pull::Centres, false) => [&graph.below[item][..], &[]],
        };
        let (mut sum, mut weight) = (0.0, 0.0);
        for other in sides.into_iter().flatten().copied() {
            let (place, strength) = wanted_position(graph, x, (item, other), pull);
            sum += place * strength;
            weight += strength;
        }
        if weight > 0.0 { (sum / weight, weight) } else { (x[item], 0.01) }
    };
    let wanted: Vec<(f64, f64)> = row.iter().map(|item| wanted(*item)).collect();
    let apart = |place: usize| graph.items[row[place]].right + APART + graph.items[row[place + 1]].left;
    for (item, place) in row.iter().zip(place_apart(&wanted, apart)) {
        x[*item] = place;
    }
}

/// Straightens lines that pass several rows, where there is space.
fn straighten(graph: &Graph, rows: &[Vec<usize>], x: &mut [f64]) {
    let mut place = vec![0; graph.items.len()];
    for row in rows {
        for (index, item) in row.iter().enumerate() {
            place[*item] = index;
        }
    }
    // How far an item may go to both sides.
    let room = |x: &[f64], item: usize| {
        let (row, at, own) = (&rows[graph.items[item].row], place[item], &graph.items[item]);
        let before = at.checked_sub(1).map(|at| row[at]);
        let after = row.get(at + 1).copied();
        (
            before.map_or(f64::MIN, |other| x[other] + graph.items[other].right + APART + own.left),
            after.map_or(f64::MAX, |other| x[other] - graph.items[other].left - APART - own.right),
        )
    };
    for way in &graph.ways {
        let mut passed = &way.items[1..way.items.len() - usize::from(!way.is_cut)];
        while !passed.is_empty() {
            let (mut least, mut most, mut count) = (f64::MIN, f64::MAX, 0);
            for item in passed {
                let (left, right) = room(x, *item);
                if count > 0 && least.max(left) > most.min(right) {
                    break;
                }
                (least, most, count) = (least.max(left), most.min(right), count + 1);
            }
            let (straight, rest) = passed.split_at(count);
            let middle = straight.iter().map(|item| x[*item]).sum::<f64>() / count_to_f64(count);
            if least <= most {
                for item in straight {
                    x[*item] = middle.clamp(least, most);
                }
            }
            passed = rest;
        }
    }
}

/// The position that a neighbour wants for an item, and its weight. Lines that pass several rows weigh more.
fn wanted_position(graph: &Graph, x: &[f64], (item, other): (usize, usize), pull: Pull) -> (f64, f64) {
    match (graph.items[item].what, graph.items[other].what) {
        (ItemKind::Stop(_), _) => (x[other], 1.0),
        (_, ItemKind::Stop(stop)) => {
            let half = graph.shapes[stop].width / 2.0 - PORT_INSET;
            let place = match pull {
                Pull::Centres => x[other],
                Pull::Both => x[item].clamp(x[other] - half, x[other] + half),
            };
            (place, 1.0)
        }
        _ => (x[other], 4.0),
    }
}

/// Ordered positions, each as near as possible to the wanted one by weight, and at least `apart` from the next.
///
/// Neighbours that would be too close are merged into a block at the weighted average of their wanted positions.
pub(super) fn place_apart(wanted: &[(f64, f64)], apart: impl Fn(usize) -> f64) -> Vec<f64> {
    struct Block {
        sum: f64,
        weight: f64,
        count: usize,
    }
    let mut offset = 0.0;
    let mut offsets = Vec::with_capacity(wanted.len());
    let mut blocks: Vec<Block> = Vec::new();
    for (index, (place, weight)) in wanted.iter().enumerate() {
        offsets.push(offset);
        let mut block = Block { sum: (place - offset) * weight, weight: *weight, count: 1 };
        while let Some(before) = blocks.pop_if(|before| before.sum * block.weight >= block.sum * before.weight) {
            block.sum += before.sum;
            block.weight += before.weight;
            block.count += before.count;
        }
        blocks.push(block);
        if index + 1 < wanted.len() {
            offset += apart(index);
        }
    }
    let starts = blocks.into_iter().flat_map(|block| std::iter::repeat_n(block.sum / block.weight, block.count));
    starts.zip(offsets).map(|(start, offset)| start + offset).collect()
}

/// Top and bottom of each row. Rows are as high as their items, with wider gaps where lines run far to the side.
fn row_spans(graph: &Graph, x: &[f64], ports: &Ports) -> Vec<(f64, f64)> {
    let mut farthest = vec![0.0_f64; graph.rows.len()];
    for (way, ends) in graph.ways.iter().zip(&ports.of_way) {
        for (step, pair) in way.items.windows(2).enumerate() {
            let from = if step == 0 { ends.0 } else { x[pair[0]] };
            let to = if step + 2 == way.items.len() && !way.is_cut { ends.1 } else { x[pair[1]] };
            let row = graph.items[pair[0]].row;
            farthest[row] = farthest[row].max((to - from).abs());
        }
    }
    let mut top = 0.0;
    let mut rows = Vec::with_capacity(graph.rows.len());
    for (row, far) in graph.rows.iter().zip(farthest) {
        let height = row.iter().map(|item| graph.items[*item].height).fold(0.0, f64::max);
        rows.push((top, top + height));
        top += height + (GAP + far * GAP_SLOPE).min(GAP_MAX);
    }
    rows
}
