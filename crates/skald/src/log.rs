//! Sets up the log on standard error. It never contains the content of a call.

use std::io::IsTerminal;

use tracing_subscriber::filter::{EnvFilter, FilterExt, filter_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry, fmt};

use crate::arguments::{Command, LogArguments, LogFormat};

/// Log targets that are left out. rmcp logs whole messages with their content, and every disconnect as an error. The
/// libraries below gRPC log every frame.
const SILENCED_TARGETS: [&str; 5] = ["rmcp", "h2::", "hyper::", "tonic::", "tower::"];

/// Starts the log. Of a command that prints its result and ends, the default shows warnings only: what it did is printed.
pub(crate) fn start(arguments: &LogArguments, command: &Command) {
    let is_server = matches!(command, Command::Serve(_) | Command::Mcp(_));
    let default_filter = if is_server { "info" } else { "warn" };
    let filter = EnvFilter::builder().parse_lossy(arguments.filter.as_deref().unwrap_or(default_filter));
    let quiet = filter_fn(|metadata| !SILENCED_TARGETS.iter().any(|name| metadata.target().starts_with(name)));
    let filter = filter.and(quiet);
    let lines = fmt::layer().with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal());
    let lines: Box<dyn Layer<Registry> + Send + Sync> = match arguments.format {
        LogFormat::Text => lines.with_filter(filter).boxed(),
        LogFormat::Json => lines.json().with_filter(filter).boxed(),
    };
    tracing_subscriber::registry().with(lines).init();
    std::panic::set_hook(Box::new(|panic| {
        // Log only the location: the message of a panic may have content of a call.
        let place = panic.location().map(ToString::to_string);
        tracing::error!(place, "a panic");
    }));
}
