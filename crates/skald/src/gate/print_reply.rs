//! Prints the result of a gate command: JSON for programs, text for people.

use std::process::ExitCode;

use serde_json::Value;
use skald_app::Fault;

use super::text;
use crate::output::{note, printable, say};

pub(super) struct PrintedReply {
    answer: Value,
    text: String,
    standing: RunStatusLine,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunStatusLine {
    Done,
    /// The command worked, but its result is negative, such as errors in a process file.
    Wanting,
    /// The run refused the event.
    Refused,
}

impl PrintedReply {
    pub(super) fn done(text: String, answer: Value) -> Self {
        Self { answer, text, standing: RunStatusLine::Done }
    }

    pub(super) fn wanting(text: String, answer: Value) -> Self {
        Self { answer, text, standing: RunStatusLine::Wanting }
    }

    pub(super) fn refused(text: String, answer: Value) -> Self {
        Self { answer, text, standing: RunStatusLine::Refused }
    }

    pub(super) fn print(&self, json: bool) -> ExitCode {
        let text = self.text.trim_end();
        if json {
            say(&format!("{:#}", self.answer));
        } else if self.standing == RunStatusLine::Refused {
            note(text);
        } else if !text.is_empty() {
            say(text);
        }
        match self.standing {
            RunStatusLine::Done => ExitCode::SUCCESS,
            RunStatusLine::Wanting | RunStatusLine::Refused => ExitCode::FAILURE,
        }
    }
}

/// Prints an error: as JSON on standard output, or as text on standard error.
pub(super) fn complain(fault: &Fault, json: bool) -> ExitCode {
    if json {
        say(&format!("{:#}", fault.envelope()));
        return ExitCode::FAILURE;
    }
    let body = fault.body();
    let message: Vec<String> = body.message.lines().map(printable).collect();
    note(&format!("skald: {}: {}", body.code.name(), message.join("\n")));
    for finding in body.details.get("findings").and_then(Value::as_array).into_iter().flatten() {
        note(&format!("  {}", printable(&text::finding_in_file(finding))));
    }
    if !body.allowed.is_empty() {
        note(&format!("  there is: {}", printable(&body.allowed.join(", "))));
    }
    if let Some(hint) = &body.hint {
        note(&format!("  {}", printable(hint)));
    }
    ExitCode::FAILURE
}
