//! Medians and percentiles: a mean would let one disturbed round decide.

use std::time::Duration;

/// The middle value; not a number when there is none.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        length if length % 2 == 0 => f64::midpoint(sorted[middle - 1], sorted[middle]),
        _ => sorted[middle],
    }
}

/// The smallest and the largest value: how far the rounds lay apart.
pub(crate) fn extremes(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let start = (f64::INFINITY, f64::NEG_INFINITY);
    values.into_iter().fold(start, |(low, high), value| (low.min(value), high.max(value)))
}

/// The value below which the given share of sorted times lies.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a rank among some thousands of values is exact as a float, and never negative"
)]
pub(crate) fn percentile(sorted: &[Duration], share: f64) -> Duration {
    let rank = (sorted.len() as f64 * share) as usize;
    sorted.get(rank.min(sorted.len().saturating_sub(1))).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert!((median([3.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
        assert!((median([4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < f64::EPSILON);
        assert!(median([]).is_nan());
    }

    #[test]
    fn a_percentile_stays_within_the_values() {
        let times = [1, 2, 3, 4].map(Duration::from_millis);
        assert_eq!(percentile(&times, 0.5), Duration::from_millis(3));
        assert_eq!(percentile(&times, 1.0), Duration::from_millis(4));
        assert_eq!(percentile(&[], 0.5), Duration::ZERO);
    }
}
