//! The servers that are compared, and one measurement of one of them.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context;

use super::BenchOptions;
use super::call_mode::CallMode;
use super::instructions::InstructionCounter;
use super::load::{self, Load};
use super::server_process::BenchServer;

/// One of the servers that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    Skald,
    Bare,
    TypeScript,
    Python,
}

impl Peer {
    pub(crate) const ALL: [Self; 4] = [Self::Skald, Self::Bare, Self::TypeScript, Self::Python];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Skald => "skald",
            Self::Bare => "bare rmcp",
            Self::TypeScript => "TypeScript",
            Self::Python => "Python",
        }
    }

    /// Whether the server is installed and supports the mode.
    pub(crate) fn can_serve(self, mode: CallMode, options: &BenchOptions) -> bool {
        match self {
            Self::Skald | Self::Bare => true,
            // Version 1 of its SDK knows no revision as new as 2026-07-28.
            Self::TypeScript => options.typescript.is_some() && mode != CallMode::Modern,
            Self::Python => options.python.is_some(),
        }
    }

    /// A function that makes the command to start the server on a port. `None` if the server is not installed.
    pub(crate) fn command(self, mode: CallMode, options: &BenchOptions) -> Option<impl FnOnce(u16) -> Command> {
        let mut command = match self {
            Self::Skald => Command::new(&options.skald),
            Self::Bare => Command::new(&options.bare),
            Self::TypeScript => script_command(options.typescript.as_ref()?),
            Self::Python => script_command(options.python.as_ref()?),
        };
        Some(move |port: u16| {
            if self == Self::Skald {
                command.args(["serve", "--store", "memory", "--http-addr", &format!("127.0.0.1:{port}")]);
                command.args(["--grpc-addr", "127.0.0.1:0"]);
                command.args(["--sessions", if mode.has_sessions() { "on" } else { "off" }]);
            } else {
                command.arg(if mode.has_sessions() { "session" } else { "stateless" });
                command.arg(port.to_string());
            }
            command
        })
    }
}

fn script_command((interpreter, script): &(impl AsRef<Path>, impl AsRef<Path>)) -> Command {
    let mut command = Command::new(interpreter.as_ref());
    command.arg(script.as_ref());
    command
}

/// The load of one measurement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PeerPlan {
    pub connections: u32,
    /// Calls of each connection before the measurement, which let pools, caches and compilers settle.
    pub warm_up_calls: u32,
    pub calls: u32,
    pub counts_instructions: bool,
}

/// The result of one measurement.
#[derive(Debug)]
pub(crate) struct Sample {
    pub load: Load,
    pub processor_time: Duration,
    pub instructions: Option<f64>,
}

impl Sample {
    pub(crate) fn microseconds_per_call(&self) -> f64 {
        const MICROSECONDS: f64 = 1e6;
        self.processor_time.as_secs_f64() * MICROSECONDS / f64::from(self.load.calls)
    }

    pub(crate) fn instructions_per_call(&self) -> Option<f64> {
        Some(self.instructions? / f64::from(self.load.calls))
    }
}

/// Starts a server, calls it as planned, and ends it: no round inherits memory or sessions from the one before.
pub(crate) fn measure(peer: Peer, mode: CallMode, plan: PeerPlan, options: &BenchOptions) -> anyhow::Result<Sample> {
    try_measure(peer, mode, plan, options).with_context(|| format!("{} in {} mode", peer.name(), mode.name()))
}

fn try_measure(peer: Peer, mode: CallMode, plan: PeerPlan, options: &BenchOptions) -> anyhow::Result<Sample> {
    let server = start_server(peer, mode, options)?;
    let mut callers = load::open_clients(server.address, mode, plan.connections)?;
    load::run_clients(&mut callers, plan.warm_up_calls)?;
    let counter = plan.counts_instructions.then(|| InstructionCounter::start(server.process.id())).transpose()?;
    let before = server.process.processor_time()?;
    let load = load::run_clients(&mut callers, plan.calls)?;
    let processor_time = server.process.processor_time()?.saturating_sub(before);
    let instructions = counter.map(|counter| counter.finish(server.process)).transpose()?;
    Ok(Sample { load, processor_time, instructions })
}

/// Starts a server and waits until it accepts connections.
pub(crate) fn start_server(peer: Peer, mode: CallMode, options: &BenchOptions) -> anyhow::Result<BenchServer> {
    let command = peer.command(mode, options).with_context(|| format!("there is no {} server", peer.name()))?;
    BenchServer::start(command, Stdio::null())
}
