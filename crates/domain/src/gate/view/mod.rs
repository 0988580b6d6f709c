//! Views of a run: allowed events, missing guards and artifacts, progress, plan and diagram.
//!
//! All of them follow from the same rules that decide, evaluated without a payload.

mod events;
mod mermaid;
mod plan;
mod progress;
#[cfg(test)]
mod tests;

pub use events::{AllowedEvent, EventView, GuardStatus, MissingGuard, Presence, RequiredArtifact, TransitionView};
pub use plan::{Plan, Step};
pub use progress::Progress;

use serde_json::{Map, Value};

use super::facts::Facts;
use super::finding::clipped;
use super::guard::{GuardResult, Words};
use super::process::{MARK, Process};
use super::run::{RunState, RunStatus};
use crate::limits;

/// Bytes of a prompt after which nothing more is filled in.
const PROMPT_BYTES_MAX: usize = 200_000;

/// A run as somebody sees it.
#[derive(Debug, Clone, Copy)]
pub struct Look<'a> {
    pub process: &'a Process,
    pub run: &'a RunState,
    pub facts: &'a Facts,
    /// Who looks, and as what.
    pub principal: &'a str,
    pub role: &'a str,
}

impl Look<'_> {
    fn words(&self) -> Words {
        Words(self.process.locale)
    }

    /// Whether the run was given up where it is, so that nothing is needed there and nothing lies ahead.
    fn is_cancelled(&self) -> bool {
        self.run.status() == RunStatus::Cancelled
    }

    fn evaluate(&self, guard: &str) -> GuardResult {
        let payload = Map::new();
        self.run.scene(self.process, self.run.evidence(), &payload, self.facts).evaluate(guard)
    }

    /// The prompt of a state, with `{context.x}` filled in; what is not in the context stays as it is written, and so
    /// does what would make a prompt that nobody can read. A run that was cancelled has nothing to do anywhere.
    pub fn prompt(&self, state: &str) -> Option<String> {
        if self.is_cancelled() {
            return None;
        }
        let prompt = self.process.state(state)?.prompt.as_deref()?;
        let mut filled = String::with_capacity(prompt.len());
        let mut rest = prompt;
        while let Some(start) = rest.find(MARK) {
            let (before, marked) = rest.split_at(start);
            filled.push_str(before);
            let end = marked.find('}').map_or(marked.len(), |end| end + 1);
            let (mark, after) = marked.split_at(end);
            let name = mark.trim_start_matches(MARK).trim_end_matches('}');
            match self.run.context().get(name).filter(|_| filled.len() < PROMPT_BYTES_MAX) {
                Some(Value::String(text)) => filled.push_str(&clipped(text, limits::TEXT_CHARS_MAX)),
                Some(other) => filled.push_str(&clipped(&other.to_string(), limits::TEXT_CHARS_MAX)),
                None => filled.push_str(mark),
            }
            rest = after;
        }
        filled.push_str(rest);
        Some(filled)
    }
}
