//! Distributions as tables: a row for each value, with its chance.

use num_bigint::BigUint;
use num_traits::Zero;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Distribution, Exact};

/// Some values of a distribution.
#[derive(Debug, Clone, PartialEq)]
pub struct OddsTable {
    pub rows: Vec<ValueChance>,
    /// Whether requested values were left out.
    pub is_part: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ValueChance {
    pub value: i64,
    pub exactly: Exact,
    pub at_least: Exact,
    pub at_most: Exact,
}

impl Distribution {
    /// At most `rows_max` rows: the first from `from` to `to`, or without both those around the median.
    pub fn table(&self, from: Option<i64>, to: Option<i64>, rows_max: usize) -> OddsTable {
        let is_asked = |value: i64| from.is_none_or(|from| value >= from) && to.is_none_or(|to| value <= to);
        let asked: Vec<&(i64, BigUint)> = self.weights().iter().filter(|(value, _)| is_asked(*value)).collect();
        let begin = if from.is_some() || to.is_some() { 0 } else { self.first_row_around_median(rows_max) };
        let mut below = self.weight_where(|value| asked.get(begin).is_some_and(|(first, _)| value < *first));
        let number = asked.len();
        let rows: Vec<ValueChance> = asked
            .into_iter()
            .skip(begin)
            .take(rows_max)
            .map(|(value, weight)| {
                let at_least = Exact::new(&(self.total_weight() - &below), self.total_weight());
                below += weight;
                let at_most = Exact::new(&below, self.total_weight());
                ValueChance { value: *value, exactly: Exact::new(weight, self.total_weight()), at_least, at_most }
            })
            .collect();
        OddsTable { is_part: rows.len() < number, rows }
    }

    /// The index of the first row such that the median is in the middle of `rows_max` rows.
    fn first_row_around_median(&self, rows_max: usize) -> usize {
        let (mut sum, half) = (BigUint::zero(), self.total_weight() / 2_u32);
        let median = self.weights().iter().position(|(_, weight)| {
            sum += weight;
            sum > half
        });
        let last = self.weights().len().saturating_sub(rows_max);
        median.unwrap_or_default().saturating_sub(rows_max / 2).min(last)
    }
}
