//! Levels of a flow chart's nodes, and detection of the arrows that lead back up.

use super::Flow;

pub(super) struct Levels {
    /// The level of each stop, from 0.
    pub(super) of_stop: Vec<usize>,
    /// Whether each arrow is a back edge, which leads up to an earlier stop.
    pub(super) is_back: Vec<bool>,
}

#[derive(Clone, Copy, PartialEq)]
enum VisitState {
    Never,
    /// On the current depth-first path.
    Open,
    Done,
}

impl Levels {
    /// Depth-first search from the start, in the order of the stops. An arrow to a stop on the current path is a back
    /// edge. Without back edges the graph has no cycle, and the longest path to a stop is its level.
    pub(super) fn new(flow: &Flow) -> Self {
        let count = flow.stops.len();
        let mut next: Vec<Vec<(usize, usize)>> = vec![Vec::new(); count];
        for (index, arrow) in flow.arrows.iter().enumerate().filter(|(_, arrow)| arrow.from != arrow.to) {
            next[arrow.from].push((arrow.to, index));
        }
        for arrows in &mut next {
            arrows.sort_unstable();
        }
        let mut is_back = vec![false; flow.arrows.len()];
        let mut seen = vec![VisitState::Never; count];
        let mut done = Vec::with_capacity(count);
        for root in flow.start.into_iter().filter(|start| *start < count).chain(0..count) {
            if seen[root] != VisitState::Never {
                continue;
            }
            let mut way = vec![(root, 0)];
            seen[root] = VisitState::Open;
            while let Some((stop, taken)) = way.last_mut() {
                let Some((to, arrow)) = next[*stop].get(*taken).copied() else {
                    seen[*stop] = VisitState::Done;
                    done.push(*stop);
                    way.pop();
                    continue;
                };
                *taken += 1;
                match seen[to] {
                    VisitState::Open => is_back[arrow] = true,
                    VisitState::Never => {
                        seen[to] = VisitState::Open;
                        way.push((to, 0));
                    }
                    VisitState::Done => {}
                }
            }
        }
        let mut of_stop = vec![0; count];
        for stop in done.into_iter().rev() {
            for (to, arrow) in next[stop].iter().copied() {
                if !is_back[arrow] {
                    of_stop[to] = of_stop[to].max(of_stop[stop] + 1);
                }
            }
        }
        Self { of_stop, is_back }
    }
}
