//! Prints the result of a gate command: JSON for programs, text for people.

use std::process::ExitCode;

use serde_json::Value;
use skald_app::Fault;

use super::text;
use crate::output::{print_lines, print_note, to_printable};

pub(super) struct CommandReply {
    answer: Value,
    text: String,
    outcome: ReplyOutcome,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReplyOutcome {
    Done,
    /// The command worked, but its result is negative, such as errors in a process file.
    Negative,
    /// The run refused the event.
    Refused,
}

impl CommandReply {
    pub(super) fn success(text: String, answer: Value) -> Self {
        Self { answer, text, outcome: ReplyOutcome::Done }
    }

    pub(super) fn negative(text: String, answer: Value) -> Self {
        Self { answer, text, outcome: ReplyOutcome::Negative }
    }

    pub(super) fn refusal(text: String, answer: Value) -> Self {
        Self { answer, text, outcome: ReplyOutcome::Refused }
    }

    pub(super) fn print(&self, json: bool) -> ExitCode {
        let text = self.text.trim_end();
        if json {
            print_lines(&format!("{:#}", self.answer));
        } else if self.outcome == ReplyOutcome::Refused {
            print_note(text);
        } else if !text.is_empty() {
            print_lines(text);
        }
        match self.outcome {
            ReplyOutcome::Done => ExitCode::SUCCESS,
            ReplyOutcome::Negative | ReplyOutcome::Refused => ExitCode::FAILURE,
        }
    }
}

/// Prints an error: as JSON on standard output, or as text on standard error.
pub(super) fn print_fault(fault: &Fault, json: bool) -> ExitCode {
    if json {
        print_lines(&format!("{:#}", fault.envelope()));
        return ExitCode::FAILURE;
    }
    let body = fault.body();
    let message: Vec<String> = body.message.lines().map(to_printable).collect();
    print_note(&format!("skald: {}: {}", body.code.name(), message.join("\n")));
    for finding in body.details.get("findings").and_then(Value::as_array).into_iter().flatten() {
        print_note(&format!("  {}", to_printable(&text::finding_in_file(finding))));
    }
    if !body.allowed.is_empty() {
        print_note(&format!("  there is: {}", to_printable(&body.allowed.join(", "))));
    }
    if let Some(hint) = &body.hint {
        print_note(&format!("  {}", to_printable(hint)));
    }
    ExitCode::FAILURE
}
