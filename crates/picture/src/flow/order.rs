//! Orders the items of each row to reduce crossings. Each item moves to the middle of its neighbours, row after row,
//! down and up again, and then adjacent items are swapped where that helps. The best order found is used.

use super::count_to_f64;
use super::graph::Graph;

const ROUNDS: usize = 16;
/// Above this many items, adjacent swaps are skipped to bound the work.
const SWAPPED_MAX: usize = 3_000;

/// The rows, in order.
pub(super) fn order_rows(graph: &Graph) -> Vec<Vec<usize>> {
    let mut sorting = Sorting { graph, rows: graph.rows.clone(), place: vec![0; graph.items.len()] };
    sorting.update_places();
    let mut best = (sorting.crossings(), sorting.rows.clone());
    for round in 0..ROUNDS {
        if best.0 == 0 && round > 0 {
            break;
        }
        sorting.sweep(round % 2 == 0);
        if graph.items.len() <= SWAPPED_MAX {
            sorting.swap_neighbours();
        }
        let crossings = sorting.crossings();
        if crossings < best.0 || round == 0 && crossings == best.0 {
            best = (crossings, sorting.rows.clone());
        }
    }
    best.1
}

struct Sorting<'a> {
    graph: &'a Graph,
    rows: Vec<Vec<usize>>,
    /// The index of each item in its row.
    place: Vec<usize>,
}

impl Sorting<'_> {
    fn update_places(&mut self) {
        for row in &self.rows {
            for (place, item) in row.iter().enumerate() {
                self.place[*item] = place;
            }
        }
    }

    fn sweep(&mut self, is_down: bool) {
        let count = self.rows.len();
        for step in 1..count {
            let row = if is_down { step } else { count - 1 - step };
            let joined = if is_down { &self.graph.above } else { &self.graph.below };
            let middle = |item: &usize| {
                let places = joined[*item].iter().map(|other| count_to_f64(self.place[*other]));
                match joined[*item].len() {
                    // Items without neighbours keep their index.
                    0 => count_to_f64(self.place[*item]),
                    count => places.sum::<f64>() / count_to_f64(count),
                }
            };
            let mut items: Vec<(f64, usize)> = self.rows[row].iter().map(|item| (middle(item), *item)).collect();
            items.sort_by(|a, b| a.0.total_cmp(&b.0));
            self.rows[row] = items.into_iter().map(|(_, item)| item).collect();
            for (place, item) in self.rows[row].iter().enumerate() {
                self.place[*item] = place;
            }
        }
    }

    /// Swaps adjacent items where that reduces crossings.
    fn swap_neighbours(&mut self) {
        for row in 0..self.rows.len() {
            for place in 1..self.rows[row].len() {
                let (left, right) = (self.rows[row][place - 1], self.rows[row][place]);
                if self.pair_crossings(right, left) < self.pair_crossings(left, right) {
                    self.rows[row].swap(place - 1, place);
                    (self.place[left], self.place[right]) = (place, place - 1);
                }
            }
        }
    }

    /// Crossings of the lines of two neighbours, in this order.
    fn pair_crossings(&self, left: usize, right: usize) -> usize {
        let count = |joined: &[Vec<usize>]| {
            let mut others: Vec<usize> = joined[right].iter().map(|other| self.place[*other]).collect();
            others.sort_unstable();
            let crossed = |other: &usize| others.partition_point(|place| *place < self.place[*other]);
            joined[left].iter().map(crossed).sum::<usize>()
        };
        count(&self.graph.above) + count(&self.graph.below)
    }

    fn crossings(&self) -> usize {
        self.rows.iter().map(|row| self.crossings_below(row)).sum()
    }

    /// Crossings below a row: pairs of lines whose lower ends are in the other order.
    fn crossings_below(&self, row: &[usize]) -> usize {
        let mut ends: Vec<usize> = Vec::new();
        for item in row {
            let from = ends.len();
            ends.extend(self.graph.below[*item].iter().map(|other| self.place[*other]));
            ends[from..].sort_unstable();
        }
        count_inversions(&ends)
    }
}

/// Counts pairs in descending order, with a Fenwick tree.
fn count_inversions(values: &[usize]) -> usize {
    let size = values.iter().max().map_or(0, |largest| largest + 1);
    let mut sums = vec![0_usize; size + 1];
    let mut found = 0;
    for (seen, value) in values.iter().enumerate() {
        let mut at = value + 1;
        let mut smaller_or_equal = 0;
        while at > 0 {
            smaller_or_equal += sums[at];
            at &= at - 1;
        }
        found += seen - smaller_or_equal;
        at = value + 1;
        while at <= size {
            sums[at] += 1;
            at += at & at.wrapping_neg();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::count_inversions;

    #[test]
    fn inversions_are_counted() {
        for (values, count) in [(&[][..], 0), (&[1, 1, 1], 0), (&[0, 1, 2], 0), (&[2, 1, 0], 3), (&[1, 0, 1, 0], 3)] {
            assert_eq!(count_inversions(values), count, "{values:?}");
        }
    }
}
