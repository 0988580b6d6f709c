//! Benchmarks of Skald against bare servers, other SDKs and mcp-kanka, of the gateway, the bridge, odds, universes, the
//! gate, the lore and the web page.
//!
//! Only ratios are judged: both sides run on the same machine in the same minute, in rounds that take turns.

mod bridge;
mod cachegrind;
mod call_mode;
mod cost;
mod dice;
mod example_figures;
mod gate;
mod instructions;
mod journal;
mod kanka;
mod lists;
mod load;
mod lore;
mod page;
mod peer;
mod profiles;
mod rate;
mod report;
mod server_process;
mod startup;
mod statistics;
mod token;
mod universe;

use std::path::PathBuf;

use crate::install::ForeignClients;

/// The programs that are compared, and how.
#[derive(Debug, Clone)]
pub(crate) struct BenchOptions {
    pub skald: PathBuf,
    pub bare: PathBuf,
    /// The domain's examples, which measure odds.
    pub speed: PathBuf,
    pub bounds: PathBuf,
    /// The domain's example that measures work on whole universe states.
    pub universe: PathBuf,
    /// The binary's example, which reads the commands of a universe many times over.
    pub readers: PathBuf,
    /// The binary's example, which creates and searches lore.
    pub lore: PathBuf,
    /// The page's example: a bare server with constant pages.
    pub constant_page: PathBuf,
    /// The store's example, which measures the journal.
    pub journal: PathBuf,
    /// The examples of the gRPC crate: a bare server, and a client that calls.
    pub echo: PathBuf,
    pub calls: PathBuf,
    /// Node and the server's script.
    pub typescript: Option<(PathBuf, PathBuf)>,
    /// Python and the server's script.
    pub python: Option<(PathBuf, PathBuf)>,
    /// Other programs, for parts that need more than one of them.
    pub foreign: Option<ForeignClients>,
    /// More rounds, for steadier figures.
    pub long: bool,
    /// The only part to run; all parts if `None`.
    pub only: Option<String>,
}

/// The parts of the bench, in the order in which they run.
pub(crate) const PARTS: [&str; 14] = [
    "dice", "journal", "universe", "gate", "lists", "lore", "page", "kanka", "cost", "rate", "token", "bridge",
    "startup", "profiles",
];

/// Runs all comparisons and prints them. Returns whether every target is met.
pub(crate) fn run(options: &BenchOptions) -> anyhow::Result<bool> {
    let mut gates = Vec::new();
    for part in PARTS.into_iter().filter(|part| options.only.as_deref().is_none_or(|only| only == *part)) {
        gates.extend(match part {
            "dice" => dice::compare(options)?,
            "journal" => journal::compare(options)?,
            "universe" => universe::compare(options)?,
            "gate" => gate::compare(options)?,
            "lists" => lists::compare(options)?,
            "lore" => lore::compare(options)?,
            "page" => page::compare(options)?,
            "kanka" => kanka::compare(options)?,
            "cost" => cost::compare(options)?,
            "rate" => rate::compare(options).map(|()| Vec::new())?,
            "token" => token::compare(options)?,
            "bridge" => bridge::compare(options)?,
            "startup" => startup::compare(options)?,
            _ => profiles::compare(options)?,
        });
    }
    Ok(report::print_verdicts(&gates))
}
