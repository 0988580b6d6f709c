//! Positions of a flow chart's nodes. Each row is moved as near as possible to its neighbours above and below, in its
//! order and without overlap; this repeats down and up through the rows until it hardly changes.

use super::graph::{Graph, PORT_INSET, What};
use super::order::order;
use super::ports::Ports;
use super::real;

/// Times that the rows are settled.
const ROUNDS: usize = 40;
/// Items that are settled, over all rounds.
const SETTLED_MAX: usize = 200_000;
/// Between two neighbours.
const APART: f64 = 22.0;
/// Between two rows at least, and what a line that goes far to the side adds to it.
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
        let rows = order(graph);
        let mut x = packed(graph, &rows);
        let rounds = (SETTLED_MAX / graph.items.len().max(1)).clamp(4, ROUNDS);
        for round in 0..rounds {
            let pull = if round + 6 > rounds { Pull::Both } else { Pull::Centres };
            for step in 0..rows.len() {
                let row = if round % 2 == 0 { step } else { rows.len() - 1 - step };
                settle_row(graph, &rows[row], &mut x, (pull, round % 2 == 0));
            }
        }
        straighten(graph, &rows, &mut x);
        let left = graph.items.iter().zip(&x).map(|(item, x)| x - item.left).fold(f64::MAX, f64::min);
        for x in &mut x {
            *x -= left;
        }
        let width = graph.items.iter().zip(&x).map(|(item, x)| x + item.right).fold(0.0, f64::max);
        let ports = Ports::new(graph, &x);
        let rows = heights(graph, &x, &ports);
        let height = rows.last().map_or(0.0, |row| row.1);
        Self { x, rows, ports, width, height }
    }
}

/// What a row is drawn to.
#[derive(Clone, Copy, PartialEq)]
enum Pull {
    /// The middle of what is joined with it on the side where the round comes from.
    Centres,
    /// Both sides, and any place right below or above a box is as good as its middle.
    Both,
}

/// Each row as narrow as it can be.
fn packed(graph: &Graph, rows: &[Vec<usize>]) -> Vec<f64> {
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

fn settle_row(graph: &Graph, row: &[usize], x: &mut [f64], (pull, is_down): (Pull, bool)) {
    let wanted = |item: usize| {
        let sides = match (pull, is_down) {
            (Pull::Both, _) => [&graph.above[item][..], &graph.below[item]],
            (Pull::Centres, true) => [&graph.above[item][..], &[]],
            (Pull::Centres, false) => [&graph.below[item][..], &[]],
        };
        let (mut sum, mut weight) = (0.0, 0.0);
        for other in sides.into_iter().flatten().copied() {
            let (place, strength) = drawn_to(graph, x, (item, other), pull);
            sum += place * strength;
            weight += strength;
        }
        if weight > 0.0 { (sum / weight, weight) } else { (x[item], 0.01) }
    };
    let wanted: Vec<(f64, f64)> = row.iter().map(|item| wanted(*item)).collect();
    let apart = |place: usize| graph.items[row[place]].right + APART + graph.items[row[place + 1]].left;
    for (item, place) in row.iter().zip(settle(&wanted, apart)) {
        x[*item] = place;
    }
}

/// Lines that pass several rows become straight where there is room for it.
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
            let middle = straight.iter().map(|item| x[*item]).sum::<f64>() / real(count);
            if least <= most {
                for item in straight {
                    x[*item] = middle.clamp(least, most);
                }
            }
            passed = rest;
        }
    }
}

/// Where an item is drawn to by another, and how strongly: lines that pass several rows are to be straight.
fn drawn_to(graph: &Graph, x: &[f64], (item, other): (usize, usize), pull: Pull) -> (f64, f64) {
    match (graph.items[item].what, graph.items[other].what) {
        (What::Stop(_), _) => (x[other], 1.0),
        (_, What::Stop(stop)) => {
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

/// Places in order, each as near as can be to the wanted one, by its weight, and at least so far apart from the next.
///
/// Neighbours that want to be too near to each other become a block, which goes where its parts want to be on average.
pub(super) fn settle(wanted: &[(f64, f64)], apart: impl Fn(usize) -> f64) -> Vec<f64> {
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

/// Rows from top to bottom: as high as what is in them, with more room between where lines go far to the side.
fn heights(graph: &Graph, x: &[f64], ports: &Ports) -> Vec<(f64, f64)> {
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
