//! The binary: command line, configuration, wiring, shutdown. Nothing else.

mod arguments;
mod clients;
mod dice;
mod doctor;
mod keeping;
mod log;
mod output;
mod reference;
mod serve;
mod stopping;
mod token;
mod world;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

use crate::arguments::{Arguments, Command, Transport};

/// How long the store has to close in good order. A read of a terminal cannot be interrupted: whatever time this is, a
/// thread that waits in it is left behind.
const CLOSING: Duration = Duration::from_millis(300);

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    log::start(&arguments.log);
    match run(arguments) {
        Ok(code) => code,
        Err(error) => {
            output::complain(&error);
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = match arguments.command {
        Command::Serve(serve) => runtime.block_on(serve::http(&serve)).map(|()| ExitCode::SUCCESS),
        Command::Mcp(mcp) => match mcp.transport {
            Transport::Stdio => runtime.block_on(serve::stdio(&mcp)).map(|()| ExitCode::SUCCESS),
            Transport::Http if mcp.token.is_some() => {
                Err(anyhow::anyhow!("a token is for stdio: over HTTP each client sends its own; unset SKALD_TOKEN"))
            }
            Transport::Http => runtime.block_on(serve::http(&mcp.as_serve())).map(|()| ExitCode::SUCCESS),
        },
        Command::Roll(roll) => runtime.block_on(dice::roll(&roll)).map(|()| ExitCode::SUCCESS),
        Command::Odds(odds) => runtime.block_on(dice::odds(&odds)).map(|()| ExitCode::SUCCESS),
        Command::Token(token) => runtime.block_on(token::run(&token)).map(|()| ExitCode::SUCCESS),
        Command::Verify(store) => runtime.block_on(keeping::verify(&store)),
        Command::Rebuild(store) => runtime.block_on(keeping::rebuild(&store)),
        Command::Backup(backup) => runtime.block_on(keeping::backup(&backup)),
        Command::Doctor(doctor) => runtime.block_on(doctor::run(&doctor)),
        Command::Reference(reference) => reference::write(&reference).map(|()| ExitCode::SUCCESS),
    };
    runtime.shutdown_timeout(CLOSING);
    outcome
}
