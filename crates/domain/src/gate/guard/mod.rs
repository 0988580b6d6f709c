//! Guards: conditions that must hold before a transition is taken.
//!
//! A guard sees what it is handed and nothing else: the context before the event, the payload, the evidence, the run's
//! counters, and facts that were looked up beforehand. Its result is satisfied, or what is missing, in the process's
//! language. A guard that cannot be evaluated is not satisfied, nor is its negation, and it says why.

mod cel;
mod cost;
mod evaluate;
mod messages;
#[cfg(test)]
mod tests;

pub use cel::CelExpression;
pub use evaluate::{GuardInputs, GuardResult};
pub(super) use messages::GuardMessages;

use serde_json::{Number, Value};

use super::content_measure::ContentMeasure;
use super::process::ReadVariables;
use crate::case_insensitive_enum::case_insensitive_enum;

#[derive(Debug, Clone, PartialEq)]
pub struct Guard {
    /// What it requires; shown while it is not satisfied.
    pub description: Option<String>,
    /// Replaces the gate's own message; `{current}` and `{required}` are filled in.
    pub message: Option<String>,
    pub test: Test,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    ArtifactExists {
        artifact_type: String,
        requirement: ContentRequirement,
    },
    /// Counts distinct contents, not paths.
    ArtifactCount {
        artifact_type: String,
        min_count: u64,
        requirement: ContentRequirement,
    },
    Context {
        variable: String,
        test: ContextTest,
    },
    Run {
        counter: Counter,
        of: String,
        comparison: GuardComparison,
        value: Number,
    },
    Cel(CelExpression),
    All(Vec<GuardPart>),
    Any(Vec<GuardPart>),
    Not(Box<GuardPart>),
}

/// What the content of an artifact must have to count. Without any of it, everything that was submitted counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContentRequirement {
    pub min_bytes: u64,
    pub min_lines: u64,
    /// Words and headings, see [`ContentMeasure`].
    pub contains: Vec<String>,
}

impl ContentRequirement {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a content has all of it. A content that was not measured has none.
    fn is_met(&self, measure: &ContentMeasure) -> bool {
        measure.bytes >= self.min_bytes
            && measure.lines >= self.min_lines
            && self.contains.iter().all(|word| measure.contains.contains(word))
    }
}

/// All tests but the last two fail while the variable is not defined, including `NotEquals` and `NotIn`.
#[derive(Debug, Clone, PartialEq)]
pub enum ContextTest {
    Equals(Value),
    NotEquals(Value),
    In(Vec<Value>),
    NotIn(Vec<Value>),
    Compare(GuardComparison, Number),
    /// A variable that is null exists.
    Exists,
    NotExists,
}

/// A part of a combined guard.
#[derive(Debug, Clone, PartialEq)]
pub enum GuardPart {
    Named(String),
    Inline(Box<Guard>),
}

/// The counters of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counter {
    /// How often an event was accepted.
    Attempts,
    /// How often a state was entered, including the initial state at creation.
    Visits,
}

case_insensitive_enum!(Counter { Attempts = "attempts", Visits = "visits" });

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuardComparison {
    LessThan,
    AtMost,
    GreaterThan,
    AtLeast,
}

case_insensitive_enum!(GuardComparison {
    LessThan = "less_than",
    AtMost = "at_most",
    GreaterThan = "greater_than",
    AtLeast = "at_least",
});

impl Guard {
    /// The direct parts of a combined guard, named and inline.
    pub(super) fn parts(&self) -> &[GuardPart] {
        match &self.test {
            Test::All(parts) | Test::Any(parts) => parts,
            Test::Not(part) => std::slice::from_ref(part.as_ref()),
            _ => &[],
        }
    }

    /// JSON pointer from this guard to one of its parts.
    fn part_pointer(&self, index: usize) -> String {
        match self.test {
            Test::All(_) => format!("/all/{index}"),
            Test::Any(_) => format!("/any/{index}"),
            _ => "/not".to_owned(),
        }
    }

    /// This guard and all inline guards in it, each with its path relative to this one.
    pub(super) fn inline_guards(&self) -> Vec<(String, &Guard)> {
        let mut written = vec![(String::new(), self)];
        for (index, part) in self.parts().iter().enumerate() {
            if let GuardPart::Inline(guard) = part {
                let path = self.part_pointer(index);
                written
                    .extend(guard.inline_guards().into_iter().map(|(below, guard)| (format!("{path}{below}"), guard)));
            }
        }
        written
    }

    /// The names of the guards that it refers to, with their paths relative to this one.
    pub(super) fn referenced_names(&self) -> Vec<(String, &str)> {
        let mut named = Vec::new();
        for (path, guard) in self.inline_guards() {
            for (index, part) in guard.parts().iter().enumerate() {
                if let GuardPart::Named(name) = part {
                    named.push((format!("{path}{}", guard.part_pointer(index)), name.as_str()));
                }
            }
        }
        named
    }

    /// The artifact types that it asks for, with their paths relative to this one.
    pub(super) fn artifact_types(&self) -> Vec<(String, &str)> {
        let written = self.inline_guards().into_iter();
        let asked = written.filter_map(|(path, guard)| match &guard.test {
            Test::ArtifactExists { artifact_type, .. } | Test::ArtifactCount { artifact_type, .. } => {
                Some((format!("{path}/artifact_type"), artifact_type.as_str()))
            }
            _ => None,
        });
        asked.collect()
    }

    /// The artifact types whose content it measures, each with what it asks for.
    pub(super) fn content_requirements(&self) -> Vec<(&str, &ContentRequirement)> {
        let written = self.inline_guards().into_iter();
        let asked = written.filter_map(|(_, guard)| match &guard.test {
            Test::ArtifactExists { artifact_type, requirement }
            | Test::ArtifactCount { artifact_type, requirement, .. } => Some((artifact_type.as_str(), requirement)),
            _ => None,
        });
        asked.filter(|(_, requirement)| !requirement.is_empty()).collect()
    }

    /// Whether an expression in this guard uses a variable such as `campaign`. Guards that it refers to are not
    /// searched.
    pub(super) fn uses_variable(&self, variable: &str) -> bool {
        self.inline_guards()
            .iter()
            .any(|(_, guard)| matches!(&guard.test, Test::Cel(expression) if expression.uses_variable(variable)))
    }

    /// Adds the context variables that it reads, without those of guards that it refers to.
    pub(super) fn collect_reads(&self, reads: &mut ReadVariables) {
        for (_, guard) in self.inline_guards() {
            match &guard.test {
                Test::Context { variable, .. } => {
                    reads.variables.insert(variable.clone());
                }
                Test::Cel(expression) => expression.collect_reads(reads),
                _ => {}
            }
        }
    }
}
