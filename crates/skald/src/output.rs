//! What the command line itself says. Nothing else in the workspace prints.

use std::io::Write;

/// A line, or several, on standard output.
pub(crate) fn say(text: &str) {
    // Whoever closed our standard output does not want to read it.
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// An error with its causes, on standard error.
pub(crate) fn complain(error: &anyhow::Error) {
    let _ = writeln!(std::io::stderr(), "skald: {error:#}");
}
