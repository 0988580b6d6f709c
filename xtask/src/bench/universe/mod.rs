//! Benchmark of universes of four sizes on one server: commands, whole reads, opening, and readers of the feed.

mod commands;
mod opening;
mod read_whole_universe;
mod readers;
mod universe_server;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use super::BenchOptions;
use super::report::BenchTarget;

pub(crate) fn compare(options: &BenchOptions) -> anyhow::Result<Vec<BenchTarget>> {
    let (server, mut gates) = opening::compare(universe_server::UniverseServer::build(options)?, options)?;
    gates.extend(commands::compare(&server)?);
    gates.extend(read_whole_universe::compare(&server, options)?);
    gates.extend(readers::compare(&server, options)?);
    Ok(gates)
}

/// Runs a part of an example, and parses its output, lines of `name: number`.
fn read_figures(example: &Path, part: &str) -> anyhow::Result<BTreeMap<String, f64>> {
    let text = crate::run::run_captured(Command::new(example).arg(part))?;
    let lines = text.lines().filter_map(|line| line.rsplit_once(": "));
    Ok(lines.filter_map(|(name, figure)| Some((name.to_owned(), figure.parse().ok()?))).collect())
}
