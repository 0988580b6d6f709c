//! Pages by number over rows that are in memory, with the number of all rows.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Code, Fault, limits};

/// Which page of how many rows.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RowPage {
    /// From 1. A page past the end is empty.
    number: usize,
    /// Up to 100.
    rows: usize,
}

impl RowPage {
    pub(super) fn check(self) -> Result<Self, Fault> {
        if self.number == 0 {
            let fault = Fault::new(Code::InvalidParams, "the first page is number 1, this is 0");
            return Err(fault.with_path("/page/number").hint("count pages from 1"));
        }
        if !(1..=limits::LISTED_ROWS_MAX).contains(&self.rows) {
            let message =
                format!("a page of {} rows is not possible, allowed: 1 to {}", self.rows, limits::LISTED_ROWS_MAX);
            return Err(Fault::new(Code::InvalidParams, message).with_path("/page/rows").hint("ask for several pages"));
        }
        Ok(self)
    }

    pub(super) fn cut<T>(self, rows: &[T]) -> &[T] {
        let begin = (self.number - 1).saturating_mul(self.rows).min(rows.len());
        &rows[begin..(begin + self.rows).min(rows.len())]
    }
}

/// A moment with all its digits, always as many: programs compare them as texts.
pub(super) fn exact_moment(at: Timestamp) -> String {
    format!("{at:.6}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_cover_all_rows_once() {
        let rows: Vec<u32> = (0..10).collect();
        let page = |number| RowPage { number, rows: 4 }.check().unwrap();
        assert_eq!((page(1).cut(&rows), page(3).cut(&rows)), (&rows[..4], &rows[8..]));
        assert!(page(4).cut(&rows).is_empty() && page(usize::MAX).cut(&rows).is_empty());
        assert!(RowPage { number: 1, rows: limits::LISTED_ROWS_MAX }.check().is_ok());
        for (number, rows) in [(0, 4), (1, 0), (1, limits::LISTED_ROWS_MAX + 1)] {
            assert_eq!(RowPage { number, rows }.check().unwrap_err().code(), Code::InvalidParams);
        }
    }

    #[test]
    fn moments_have_one_width() {
        let text = |text: &str| exact_moment(text.parse().unwrap());
        assert_eq!(text("2026-01-15T12:00:00Z"), "2026-01-15T12:00:00.000000Z");
        assert_eq!(text("2026-01-15T12:00:00.25Z"), "2026-01-15T12:00:00.250000Z");
    }
}
