//! A series of a chart, ready to be drawn: sorted totals with their chances, the range to show, and the mean.

use super::chart::{ChartMode, Mark, Series};
use super::scale::to_f64;

/// Totals up to which all are drawn, however unlikely.
const TOTALS_FEW: usize = 40;
/// The most chance that either tail may have to be left out of the range.
const TAIL: f64 = 0.0005;

/// A sorted series: each total once, and only valid chances.
pub(super) struct RollSeries<'a> {
    pub(super) name: &'a str,
    pub(super) bars: Vec<(i64, f64)>,
}

impl<'a> RollSeries<'a> {
    pub(super) fn new(series: Series<'a>) -> Self {
        let mut bars: Vec<(i64, f64)> = series.bars.iter().copied().filter(|(_, chance)| *chance > 0.0).collect();
        merge(&mut bars);
        for (_, chance) in &mut bars {
            *chance = chance.min(1.0);
        }
        Self { name: series.name, bars }
    }

    /// The height of each bar. Cumulative modes also have a height at the totals of the other series.
    pub(super) fn heights(&self, mode: ChartMode, others: &[(i64, f64)]) -> Vec<(i64, f64)> {
        let mut bars = self.bars.clone();
        if mode != ChartMode::Exactly {
            bars.extend(others.iter().map(|(value, _)| (*value, 0.0)));
            merge(&mut bars);
        }
        let mut sum = 0.0;
        let mut add = |(_, chance): &mut (i64, f64)| {
            sum += *chance;
            *chance = f64::min(sum, 1.0);
        };
        match mode {
            ChartMode::Exactly => {}
            ChartMode::AtMost => bars.iter_mut().for_each(add),
            ChartMode::AtLeast => bars.iter_mut().rev().for_each(&mut add),
        }
        bars.retain(|(_, chance)| *chance > 0.0);
        bars
    }

    pub(super) fn bounds(&self) -> Option<(i64, i64)> {
        Some((self.bars.first()?.0, self.bars.last()?.0))
    }

    /// The bounds without tails too small to see.
    pub(super) fn visible_range(&self) -> Option<(i64, i64)> {
        if self.bars.len() <= TOTALS_FEW {
            return self.bounds();
        }
        let tail = TAIL * self.bars.iter().map(|(_, chance)| chance).sum::<f64>();
        let (first, last) = (first_past_tail(tail, self.bars.iter()), first_past_tail(tail, self.bars.iter().rev()));
        first.zip(last).filter(|(first, last)| first <= last).or(self.bounds())
    }

    pub(super) fn mean(&self) -> Option<f64> {
        let weight: f64 = self.bars.iter().map(|(_, chance)| chance).sum();
        let sum: f64 = self.bars.iter().map(|(value, chance)| to_f64(*value) * chance).sum();
        (weight > 0.0).then(|| sum / weight).filter(|mean| mean.is_finite())
    }

    pub(super) fn chance(&self, mark: Mark) -> f64 {
        self.bars.iter().filter(|(value, _)| mark.succeeds(*value)).map(|(_, chance)| chance).sum::<f64>().min(1.0)
    }
}

/// The first total that is not in the tail.
fn first_past_tail<'a>(tail: f64, mut bars: impl Iterator<Item = &'a (i64, f64)>) -> Option<i64> {
    let mut sum = 0.0;
    let found = bars.find(|(_, chance)| {
        sum += chance;
        sum > tail
    });
    found.map(|(value, _)| *value)
}

/// Sorts by total, and adds up the chances of equal ones.
fn merge(bars: &mut Vec<(i64, f64)>) {
    bars.sort_by_key(|(value, _)| *value);
    bars.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        kept.1 += if is_same { next.1 } else { 0.0 };
        is_same
    });
}
