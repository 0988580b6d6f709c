//! What is decided of a tool, in the words of a coding agent.

use std::io::Write;
use std::process::ExitCode;

use serde_json::json;

use crate::output::note;

/// With this code an agent takes the tool as denied, whatever was printed. It goes on after any other failure.
pub(super) const BLOCKED: u8 = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Allow,
    Ask,
    Deny,
    /// The agent's own settings decide.
    Silent,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decision {
    pub verdict: Verdict,
    pub reason: String,
}

impl Decision {
    pub(super) fn new(verdict: Verdict, reason: impl Into<String>) -> Self {
        Self { verdict, reason: reason.into() }
    }

    pub(super) fn deny(reason: &str) -> Self {
        Self::new(Verdict::Deny, reason)
    }

    pub(super) fn print(&self) -> ExitCode {
        let word = match self.verdict {
            Verdict::Allow => Some("allow"),
            Verdict::Ask => Some("ask"),
            Verdict::Deny => Some("deny"),
            Verdict::Silent => None,
        };
        // An answer without a decision is an answer too: a program that says nothing did not run.
        let output = word.map_or_else(
            || json!({}),
            |word| {
                json!({"hookSpecificOutput": {
                    "hookEventName": "PreToolUse", "permissionDecision": word, "permissionDecisionReason": self.reason,
                }})
            },
        );
        let mut stdout = std::io::stdout();
        if writeln!(stdout, "{output}").and_then(|()| stdout.flush()).is_ok() {
            return ExitCode::SUCCESS;
        }
        // A decision that nobody can read must not let the tool through.
        note(&format!("skald: {}", self.reason));
        ExitCode::from(BLOCKED)
    }
}
