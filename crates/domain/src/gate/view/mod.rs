//! Views of a run: allowed events, missing guards and artifacts, progress, plan and diagram.
//!
//! All of them use the rules that decide commands, evaluated without a payload.

mod events;
mod mermaid;
mod plan;
mod progress;
#[cfg(test)]
mod tests;

pub use events::{
    AllowedEvent, ArtifactStatus, EventView, GuardStatus, MissingGuard, RequiredArtifact, TransitionView,
};
pub use plan::{Plan, Step};
pub use progress::Progress;

use serde_json::{Map, Value};

use super::facts::Facts;
use super::finding::clip;
use super::guard::{GuardMessages, GuardResult};
use super::process::{PLACEHOLDER_START, Process};
use super::run::{RunState, RunStatus};
use crate::limits;

/// Size of a prompt in bytes after which no more placeholders are filled in.
const PROMPT_BYTES_MAX: usize = 200_000;

/// A run, as a principal sees it in a role.
#[derive(Debug, Clone, Copy)]
pub struct RunView<'a> {
    pub process: &'a Process,
    pub run: &'a RunState,
    pub facts: &'a Facts,
    /// The caller, in this role.
    pub principal: &'a str,
    pub role: &'a str,
}

impl RunView<'_> {
    fn messages(&self) -> GuardMessages {
        GuardMessages(self.process.locale)
    }

    /// Whether the run was cancelled, so that nothing is required and no state remains.
    fn is_cancelled(&self) -> bool {
        self.run.status() == RunStatus::Cancelled
    }

    fn variable(&self, name: &str) -> Option<&Value> {
        self.facts.campaign_numbers.get(name).or_else(|| self.run.context().get(name))
    }

    /// The context of the run, with the current numbers of its campaign.
    pub fn context(&self) -> Map<String, Value> {
        let all = self.run.context().iter().chain(&self.facts.campaign_numbers);
        all.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    fn evaluate(&self, guard: &str) -> GuardResult {
        let payload = Map::new();
        self.run.guard_inputs(self.process, self.run.evidence(), &payload, self.facts).evaluate(guard)
    }

    /// The prompt of a state, with `{context.x}` filled in. A placeholder stays if the context lacks the variable, or
    /// if the prompt is already too long. A cancelled run has no prompt.
    pub fn prompt(&self, state: &str) -> Option<String> {
        if self.is_cancelled() {
            return None;
        }
        let prompt = self.process.state(state)?.prompt.as_deref()?;
        let mut filled = String::with_capacity(prompt.len());
        let mut rest = prompt;
        while let Some(start) = rest.find(PLACEHOLDER_START) {
            let (before, marked) = rest.split_at(start);
            filled.push_str(before);
            let end = marked.find('}').map_or(marked.len(), |end| end + 1);
            let (mark, after) = marked.split_at(end);
            let name = mark.trim_start_matches(PLACEHOLDER_START).trim_end_matches('}');
            match self.variable(name).filter(|_| filled.len() < PROMPT_BYTES_MAX) {
                Some(Value::String(text)) => filled.push_str(&clip(text, limits::TEXT_CHARS_MAX)),
                Some(other) => filled.push_str(&clip(&other.to_string(), limits::TEXT_CHARS_MAX)),
                None => filled.push_str(mark),
            }
            rest = after;
        }
        filled.push_str(rest);
        Some(filled)
    }
}
