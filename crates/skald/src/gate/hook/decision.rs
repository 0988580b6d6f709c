//! The hook's decision on a tool, printed as JSON in the format of a coding agent, with its exit code.

use std::io::Write;
use std::process::ExitCode;

use serde_json::json;

use crate::output::print_note;

/// The exit code that denies a tool, whatever was printed. After any other failure an agent goes on.
pub(super) const BLOCKING_EXIT_CODE: u8 = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HookVerdict {
    Allow,
    Ask,
    Deny,
    /// The agent's own settings decide.
    Silent,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HookDecision {
    pub verdict: HookVerdict,
    pub reason: String,
}

impl HookDecision {
    pub(super) fn new(verdict: HookVerdict, reason: impl Into<String>) -> Self {
        Self { verdict, reason: reason.into() }
    }

    pub(super) fn deny(reason: &str) -> Self {
        Self::new(HookVerdict::Deny, reason)
    }

    pub(super) fn print(&self) -> ExitCode {
        let word = match self.verdict {
            HookVerdict::Allow => Some("allow"),
            HookVerdict::Ask => Some("ask"),
            HookVerdict::Deny => Some("deny"),
            HookVerdict::Silent => None,
        };
        // Print an empty object rather than nothing: the installed command line denies the tool if the output is empty.
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
        // If the decision cannot be printed, the exit code must deny the tool.
        print_note(&format!("skald: {}", self.reason));
        ExitCode::from(BLOCKING_EXIT_CODE)
    }
}
