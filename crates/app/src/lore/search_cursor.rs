//! The cursor of a search over the lore: which rows of the ranked hits were answered, or where the hits go on that are not
//! ranked.

use super::search::{SearchSection, UnrankedRest};
use crate::Fault;
use crate::list_page::invalid_cursor_fault;

/// Where a page of a search begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct SearchCursor {
    /// Rows to skip, of the ranked ones or of those from `rest` on.
    pub skipped: usize,
    /// For rows past the ranked ones.
    pub rest: Option<UnrankedRest>,
    /// How many were found before those.
    pub found_before: usize,
}

impl SearchCursor {
    pub(super) fn skipping(skipped: usize) -> Self {
        Self { skipped, ..Self::default() }
    }

    pub(super) fn parse(cursor: &str) -> Result<Self, Fault> {
        Self::decode(cursor).ok_or_else(|| invalid_cursor_fault(cursor))
    }

    /// The cursor of the next page, if this page ends at row `end` of the `found` rows that this cursor leads to.
    pub(super) fn next_page(&self, end: usize, found: usize, rest: Option<UnrankedRest>) -> Option<String> {
        if end < found {
            return Some(Self { skipped: end, ..*self }.encode());
        }
        let next = Self { skipped: 0, rest: Some(rest?), found_before: self.total(found) };
        Some(next.encode())
    }

    /// All rows up to here, if this cursor leads to `found` rows.
    pub(super) fn total(&self, found: usize) -> usize {
        self.found_before.saturating_add(found)
    }

    fn decode(cursor: &str) -> Option<Self> {
        let parts: Vec<&str> = cursor.split('.').collect();
        Some(match *parts {
            [skipped] => Self::skipping(skipped.parse().ok()?),
            [section, below, found_before, skipped] => Self {
                skipped: skipped.parse().ok()?,
                rest: Some(UnrankedRest {
                    section: SearchSection::from_number(section.parse().ok()?)?,
                    below: below.parse().ok()?,
                }),
                found_before: found_before.parse().ok()?,
            },
            _ => return None,
        })
    }

    fn encode(&self) -> String {
        match self.rest {
            Some(UnrankedRest { section, below }) => {
                format!("{}.{below}.{}.{}", section as u32, self.found_before, self.skipped)
            }
            None => self.skipped.to_string(),
        }
    }
}
