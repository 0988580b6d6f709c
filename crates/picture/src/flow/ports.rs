//! Points where arrows touch their boxes: ordered by where they lead, spread apart, as straight as possible.

use super::count_to_f64;
use super::graph::{Graph, PORT_INSET, PORTS_APART};
use super::placement::place_apart;

pub(super) struct Ports {
    /// The x coordinates of each edge's ends: at the bottom of its upper stop, and at the top of its lower one.
    pub(super) of_way: Vec<(f64, f64)>,
}

impl Ports {
    pub(super) fn new(graph: &Graph, x: &[f64]) -> Self {
        let mut of_way = vec![(0.0, 0.0); graph.ways.len()];
        // For each stop the edges below and above it, each with the x coordinate of its next item.
        let mut below: Vec<Vec<(f64, usize)>> = vec![Vec::new(); graph.shapes.len()];
        let mut above = below.clone();
        for (index, way) in graph.ways.iter().enumerate() {
            if let [top, next, ..] = way.items[..] {
                below[top].push((x[next], index));
            }
            if let ([.., before, bottom], false) = (&way.items[..], way.is_cut) {
                above[*bottom].push((x[*before], index));
            }
        }
        for (stop, shape) in graph.shapes.iter().enumerate() {
            let sides = (x[stop] - shape.width / 2.0, x[stop] + shape.width / 2.0);
            for (port, way) in spread_ports(&mut below[stop], sides) {
                of_way[way].0 = port;
            }
            for (port, way) in spread_ports(&mut above[stop], sides) {
                of_way[way].1 = port;
            }
        }
        Self { of_way }
    }
}

fn spread_ports(ways: &mut [(f64, usize)], (left, right): (f64, f64)) -> Vec<(f64, usize)> {
    ways.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let wanted: Vec<(f64, f64)> = ways.iter().map(|(next, _)| (*next, 1.0)).collect();
    let count = ways.len();
    let ports = place_apart(&wanted, |_| PORTS_APART).into_iter().enumerate().map(|(index, port)| {
        let first = left + PORT_INSET + count_to_f64(index) * PORTS_APART;
        let last = right - PORT_INSET - count_to_f64(count - 1 - index) * PORTS_APART;
        // The box is wide enough for all ports, except for rounding errors.
        port.clamp(first, last.max(first))
    });
    ports.zip(ways.iter().map(|(_, way)| *way)).collect()
}
