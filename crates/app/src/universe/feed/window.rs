//! The last of what a universe's readers were told: enough for whoever keeps up, and for whoever comes back soon.

use std::collections::VecDeque;
use std::sync::Arc;

use super::told::{Position, Told};
use crate::limits;

/// Bytes that one universe's window holds, unless its last record alone is larger. What is pushed out is still in the
/// journal.
const BYTES_MAX: usize = 8_000_000;

pub(super) struct Window {
    /// One for each revision up to the end, without a gap.
    told: VecDeque<Arc<Told>>,
    bytes: usize,
    end: u64,
}

/// What a reader finds after a position.
pub(super) enum Found {
    Next(Arc<Told>),
    /// Nothing yet.
    Nothing,
    /// So many records, the first of which are only in the journal.
    Behind(u64),
}

impl Window {
    /// Empty, and next to what follows a revision.
    pub(super) fn at(revision: u64) -> Self {
        Self { told: VecDeque::new(), bytes: 0, end: revision }
    }

    /// The revision up to which all is told.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Takes what comes next, and gives up what is oldest.
    pub(super) fn push(&mut self, told: Told) {
        self.end = told.revision;
        self.bytes += told.len();
        self.told.push_back(Arc::new(told));
        let is_over = |window: &Self| window.told.len() > limits::EVENTS_BEHIND_MAX || window.bytes > BYTES_MAX;
        while self.told.len() > 1 && is_over(self) {
            let oldest = self.told.pop_front();
            self.bytes -= oldest.map_or(0, |oldest| oldest.len());
        }
    }

    pub(super) fn after(&self, position: Position) -> Found {
        let Some(behind) = self.end.checked_sub(position.revision).filter(|behind| *behind > 0) else {
            return Found::Nothing;
        };
        let at = usize::try_from(behind).ok().and_then(|behind| self.told.len().checked_sub(behind));
        match at.and_then(|at| self.told.get(at)) {
            Some(told) => Found::Next(Arc::clone(told)),
            None => Found::Behind(behind),
        }
    }
}
