//! Aligns two sequences: which item of the one is which of the other, in order. Linear but for one sort; it finds less
//! than a full comparison where many equal items were moved about.

use std::collections::HashMap;
use std::hash::Hash;

/// Pairs of indices of equal items, both rising.
pub(crate) fn align<T: Eq + Hash>(left: &[T], right: &[T]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut from = (0, 0);
    for anchor in unique_in_both(left, right).into_iter().chain([(left.len(), right.len())]) {
        // Prefix and suffix between two anchors; the first and last anchor are the ends of the sequences.
        let (mut start, mut end) = (from, anchor);
        while start.0 < end.0 && start.1 < end.1 && left[start.0] == right[start.1] {
            pairs.push(start);
            start = (start.0 + 1, start.1 + 1);
        }
        let mut suffix = Vec::new();
        while start.0 < end.0 && start.1 < end.1 && left[end.0 - 1] == right[end.1 - 1] {
            end = (end.0 - 1, end.1 - 1);
            suffix.push(end);
        }
        pairs.extend(suffix.into_iter().rev());
        if anchor.0 < left.len() {
            pairs.push(anchor);
        }
        from = (anchor.0 + 1, anchor.1 + 1);
    }
    pairs
}

/// Items that occur once in each sequence, as the longest run of pairs that rises on both sides.
fn unique_in_both<T: Eq + Hash>(left: &[T], right: &[T]) -> Vec<(usize, usize)> {
    let mut counts: HashMap<&T, (usize, usize, usize)> = HashMap::new();
    for item in left {
        counts.entry(item).or_default().0 += 1;
    }
    for (index, item) in right.iter().enumerate() {
        let entry = counts.entry(item).or_default();
        entry.1 += 1;
        entry.2 = index;
    }
    let unique = left.iter().enumerate().filter_map(|(index, item)| match counts.get(item) {
        Some((1, 1, other)) => Some((index, *other)),
        _ => None,
    });
    longest_rising(&unique.collect::<Vec<_>>())
}

fn longest_rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // `ends[n]` is the pair with the smallest right side that ends a run of n + 1 pairs.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (index, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < pair.1);
        previous.push(length.checked_sub(1).map(|before| ends[before]));
        if length == ends.len() { ends.push(index) } else { ends[length] = index }
    }
    let mut run = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(index) = next {
        run.push(pairs[index]);
        next = previous[index];
    }
    run.reverse();
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(left: &str, right: &str) -> Vec<(usize, usize)> {
        align(&left.chars().collect::<Vec<_>>(), &right.chars().collect::<Vec<_>>())
    }

    #[test]
    fn equal_items_are_paired_in_order() {
        assert_eq!(pairs("abc", "abc"), [(0, 0), (1, 1), (2, 2)]);
        assert_eq!(pairs("abc", "axc"), [(0, 0), (2, 2)]);
        assert_eq!(pairs("a-b-c-", "b-a-c-"), [(2, 0), (3, 1), (4, 4), (5, 5)]);
        assert_eq!(pairs("", "abc"), []);
        assert_eq!(pairs("----", "--x--"), [(0, 0), (1, 1), (2, 3), (3, 4)]);
    }
}
