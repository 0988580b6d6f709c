//! Flow chart of a process: its states as boxes from the first to the last, and transitions as labelled arrows.
//!
//! Boxes stand in rows, each as far down as the longest path from the first box leads, back arrows aside (`levels.rs`).
//! Between two rows of boxes there is a row for the labels of arrows, and an arrow that passes a row has a place of its
//! own in it (`graph.rs`); so nothing overlaps, once every row has an order (`order.rs`) and its positions
//! (`placement.rs`). An arrow bends only between the rows. Arrows that would take too many places to follow are cut
//! short and name their target, which bounds the work and the size.

mod draw;
mod graph;
mod labels_and_description;
mod levels;
mod order;
mod placement;
mod ports;
#[cfg(test)]
mod tests;

use super::{Theme, count_to_f64};

#[derive(Debug, Clone)]
pub struct Flow<'a> {
    pub title: &'a str,
    pub subtitle: &'a str,
    pub stops: Vec<Stop<'a>>,
    /// Which stop is the first.
    pub start: Option<usize>,
    pub arrows: Vec<Arrow<'a>>,
    pub theme: Theme,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stop<'a> {
    pub name: &'a str,
    pub is_last: bool,
    pub progress: FlowProgress,
}

/// Progress of a run relative to a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FlowProgress {
    /// Not visited yet, or the chart shows no run.
    #[default]
    Ahead,
    Visited,
    Current,
}

/// A transition from one stop to another, or to itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrow<'a> {
    pub from: usize,
    pub to: usize,
    pub name: &'a str,
    /// What must be true, shown in brackets.
    pub condition: Option<&'a str>,
    /// The role that the transition requires, if any.
    pub by: Option<&'a str>,
}

impl Flow<'_> {
    /// The picture as SVG. Arrows from or to an unknown stop are left out.
    pub fn svg(&self) -> String {
        let arrows = self.arrows.iter().copied();
        let is_known = |arrow: &Arrow| arrow.from.max(arrow.to) < self.stops.len();
        let flow = Flow { arrows: arrows.filter(is_known).collect(), ..self.clone() };
        let graph = graph::Graph::new(&flow);
        let layout = placement::Layout::new(&graph);
        draw::draw(&flow, &graph, &layout)
    }
}
