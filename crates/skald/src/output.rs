//! Output of the command line to standard output and standard error. Nothing else in the workspace prints.

use std::io::{IsTerminal, Write};

use anyhow::anyhow;
use skald_app::Fault;
use skald_app::deceptive_characters::{is_deceptive, is_zero_width};

/// Prints one line or several to standard output.
pub(crate) fn print_lines(text: &str) {
    // Ignore the error: a closed standard output has no reader.
    let _ = writeln!(std::io::stdout(), "{}", to_printable_lines(text));
}

/// Prints a document to standard output: unchanged to a program, without deceptive characters to a terminal.
pub(crate) fn print_document(text: &str) -> std::io::Result<()> {
    let mut output = std::io::stdout();
    if output.is_terminal() {
        return output.write_all(to_printable_lines(text).as_bytes());
    }
    output.write_all(text.as_bytes())
}

/// Prints an error with its causes to standard error.
pub(crate) fn print_error(error: &anyhow::Error) {
    let _ = writeln!(std::io::stderr(), "skald: {}", to_printable_lines(&format!("{error:#}")));
}

/// Prints a note to standard error.
pub(crate) fn print_note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", to_printable_lines(text));
}

/// Asks a question on a terminal. Anything but a yes is a no.
pub(crate) fn ask_yes_or_no(question: &str) -> std::io::Result<bool> {
    let mut output = std::io::stderr();
    write!(output, "{} [y/N] ", to_printable(question))?;
    output.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

/// The error of a command line for the fault of an operation.
pub(crate) fn error_from_fault(fault: &Fault) -> anyhow::Error {
    let body = fault.body();
    match &body.hint {
        Some(hint) => anyhow!("{}; {hint}", body.message),
        None => anyhow!("{}", body.message),
    }
}

/// A text for one line of a terminal: characters that move the cursor, change the reading order or are invisible become
/// U+FFFD.
pub(crate) fn to_printable(name: &str) -> String {
    let mark =
        |character: char| if is_deceptive(character) || is_zero_width(character) { '\u{fffd}' } else { character };
    name.chars().map(mark).collect()
}

/// The same for several lines: line breaks and tabs stay.
fn to_printable_lines(text: &str) -> String {
    let lines = text.split('\n').map(|line| line.split('\t').map(to_printable).collect::<Vec<_>>().join("\t"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The progress of long work: one line on a terminal. Elsewhere nothing, unless the total is known.
pub(crate) struct ProgressBar(indicatif::ProgressBar);

impl ProgressBar {
    pub(crate) fn start(what: &'static str) -> Self {
        let bar = indicatif::ProgressBar::new_spinner();
        bar.set_prefix(what);
        if let Ok(style) = indicatif::ProgressStyle::with_template("{spinner} {prefix} {msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(std::time::Duration::from_millis(100));
        Self(bar)
    }

    pub(crate) fn set_message(&self, message: &str) {
        self.0.set_message(message.to_owned());
    }

    /// Shows how much of a known total is done: a bar on a terminal. Elsewhere a line, but not for every step.
    pub(crate) fn set_done(&self, what: &str, done: usize, total: usize) {
        if self.0.length() != Some(total as u64) {
            let template = "{prefix} [{bar:30}] {pos} of {len} {msg} {elapsed}";
            if let Ok(style) = indicatif::ProgressStyle::with_template(template) {
                self.0.set_style(style.progress_chars("=> "));
            }
            self.0.set_length(total as u64);
            self.0.set_message(what.to_owned());
        }
        let before = self.0.position();
        self.0.set_position(done as u64);
        // A tenth is a line, so that a log of a large world stays short.
        let tenth = |done: u64| done * 10 / (total.max(1) as u64);
        if !std::io::stderr().is_terminal() && (tenth(before) < tenth(done as u64)) {
            print_note(&format!("{done} of {total} {what}"));
        }
    }

    pub(crate) fn end(&self) {
        self.0.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_not_deceived() {
        assert_eq!(to_printable("a\u{1b}[2J\nb\u{202e}c\u{200b}d"), "a\u{fffd}[2J\u{fffd}b\u{fffd}c\u{fffd}d");
        assert_eq!(to_printable_lines("a\tb\n\u{1b}c\r\n"), "a\tb\n\u{fffd}c\u{fffd}\n");
    }
}
