//! What the command line itself says. Nothing else in the workspace prints.

use std::io::Write;

/// A line, or several, on standard output.
pub(crate) fn say(text: &str) {
    // Whoever closed our standard output does not want to read it.
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// A whole document on standard output, as it is.
pub(crate) fn put(text: &str) -> std::io::Result<()> {
    std::io::stdout().write_all(text.as_bytes())
}

/// An error with its causes, on standard error.
pub(crate) fn complain(error: &anyhow::Error) {
    let _ = writeln!(std::io::stderr(), "skald: {error:#}");
}

/// A note beside the output, on standard error.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// A name on one line: what would move the cursor of a terminal does not.
pub(crate) fn printable(name: &str) -> String {
    name.chars().map(|character| if character.is_control() { '\u{fffd}' } else { character }).collect()
}

/// What long work says while it goes on: a line that moves on a terminal, nothing elsewhere.
pub(crate) struct Progress(indicatif::ProgressBar);

impl Progress {
    pub(crate) fn start(what: &'static str) -> Self {
        let bar = indicatif::ProgressBar::new_spinner();
        bar.set_prefix(what);
        if let Ok(style) = indicatif::ProgressStyle::with_template("{spinner} {prefix} {msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(std::time::Duration::from_millis(100));
        Self(bar)
    }

    pub(crate) fn set(&self, message: &str) {
        self.0.set_message(message.to_owned());
    }

    pub(crate) fn end(&self) {
        self.0.finish_and_clear();
    }
}
