//! Counts the instructions of a call by running the server under cachegrind: slow, but the same on every machine.
//!
//! The count replaces a hardware counter, which a virtual machine seldom has. Kernel work is not included.

use std::process::{Command, Stdio};

use anyhow::Context;

use super::BenchOptions;
use super::call_mode::CallMode;
use super::load;
use super::peer::Peer;
use super::server_process::BenchServer;

const PROGRAM: &str = "valgrind";
const ARGUMENTS: [&str; 3] = ["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"];
/// The words before the count in cachegrind's report. Versions differ in the space between them.
const COUNT_LABEL: [&str; 2] = ["I", "refs:"];
/// The count covers the whole life of a server. The difference between many calls and few is the cost of the calls
/// alone.
const CALLS_FEW: u32 = 200;
const CALLS_MANY: u32 = 1_200;
/// One, because cachegrind lets only one thread run at a time: more would count how they wait for each other.
const CONNECTIONS: u32 = 1;

/// Whether cachegrind is installed.
pub(crate) fn is_installed() -> bool {
    let asked = Command::new(PROGRAM).arg("--version").stdin(Stdio::null()).output();
    asked.is_ok_and(|output| output.status.success())
}

/// The instructions that a server executes for one call.
pub(crate) fn instructions_per_call(peer: Peer, mode: CallMode, options: &BenchOptions) -> anyhow::Result<f64> {
    let count = |calls| {
        count_instructions(peer, mode, options, calls)
            .with_context(|| format!("{} in {} mode under cachegrind", peer.name(), mode.name()))
    };
    Ok((count(CALLS_MANY)? - count(CALLS_FEW)?) / f64::from(CALLS_MANY - CALLS_FEW))
}

fn count_instructions(peer: Peer, mode: CallMode, options: &BenchOptions, calls: u32) -> anyhow::Result<f64> {
    let command = peer.command(mode, options).context("there is no such server")?;
    let server = BenchServer::start(|port| wrap_in_cachegrind(&command(port)), Stdio::piped())?;
    let mut callers = load::open_clients(server.address, mode, CONNECTIONS)?;
    load::run_clients(&mut callers, calls)?;
    drop(callers);
    let report = server.process.terminate()?;
    parse_count(&report).with_context(|| format!("cachegrind counted nothing: {report}"))
}

/// Wraps a command so that it runs under cachegrind.
fn wrap_in_cachegrind(command: &Command) -> Command {
    let mut observed = Command::new(PROGRAM);
    observed.args(ARGUMENTS).arg(command.get_program()).args(command.get_args());
    observed
}

fn parse_count(report: &str) -> Option<f64> {
    let words: Vec<&str> = report.split_whitespace().collect();
    let label = words.windows(COUNT_LABEL.len()).rposition(|pair| pair == COUNT_LABEL)?;
    words.get(label + COUNT_LABEL.len())?.replace(',', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_count_behind_the_log() {
        let report = "serving\n==7== \n==7== I   refs:      1,234,567\n";
        assert_eq!(parse_count(report), Some(1_234_567.0));
        assert_eq!(parse_count("serving\n"), None);
    }
}
