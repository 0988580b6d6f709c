//! The `skald` binary: command line, configuration, wiring, shutdown. Nothing else.

mod arguments;
mod audit;
mod bridge;
mod campaign;
mod client_configurations;
mod connect_snippets;
mod dice;
mod doctor;
mod export_folder;
mod gate;
mod gate_folders;
mod invite;
mod kanka;
mod kanka_token;
mod listen_addresses;
mod log;
mod lore;
mod open_files_limit;
mod open_store;
mod output;
mod reachable_server;
mod running_server;
mod seal;
mod serve;
mod serve_banner;
mod signals;
mod token;
mod universe;
mod verify_rebuild_backup;
mod write_generated_files;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

use crate::arguments::{Arguments, Command, McpArguments, Transport, command_line_words};

/// How long the runtime waits for its threads at the end, so that the store closes cleanly. A thread that reads from a
/// terminal cannot be interrupted and is left behind.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(300);

fn main() -> ExitCode {
    let arguments = Arguments::parse_from(command_line_words(std::env::args_os()));
    log::start(&arguments.log, &arguments.command);
    match run(arguments) {
        Ok(code) => code,
        Err(error) => {
            output::print_error(&error);
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let command = match arguments.command {
        // A hook has to answer even if the runtime cannot be started.
        Command::Gate(gate) if gate.is_hook() => return Ok(gate::hook(gate)),
        command => command,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = match command {
        Command::Serve(serve) => runtime.block_on(serve::run_server(&serve)).map(|()| ExitCode::SUCCESS),
        Command::Mcp(mcp) => runtime.block_on(serve_mcp(&mcp)).map(|()| ExitCode::SUCCESS),
        Command::Roll(roll) => runtime.block_on(dice::roll(&roll)).map(|()| ExitCode::SUCCESS),
        Command::Odds(odds) => runtime.block_on(dice::odds(&odds)).map(|()| ExitCode::SUCCESS),
        Command::Campaign(campaign) => runtime.block_on(campaign::run(&campaign)).map(|()| ExitCode::SUCCESS),
        Command::Universe(universe) => runtime.block_on(universe::run(&universe)).map(|()| ExitCode::SUCCESS),
        Command::Gate(gate) => Ok(runtime.block_on(gate::run(&gate))),
        Command::Import(import) => runtime.block_on(lore::import(&import)).map(|()| ExitCode::SUCCESS),
        Command::Export(export) => runtime.block_on(lore::export(&export)).map(|()| ExitCode::SUCCESS),
        Command::Kanka(kanka) => runtime.block_on(kanka::run(&kanka)).map(|()| ExitCode::SUCCESS),
        Command::Token(token) => runtime.block_on(token::run(&token)).map(|()| ExitCode::SUCCESS),
        Command::Invite(invite) => runtime.block_on(invite::run(&invite)).map(|()| ExitCode::SUCCESS),
        Command::Audit(audit) => runtime.block_on(audit::run(&audit)).map(|()| ExitCode::SUCCESS),
        Command::Verify(verify) => runtime.block_on(verify_rebuild_backup::verify(&verify)),
        Command::Seal(seal) => runtime.block_on(seal::run(&seal)),
        Command::Rebuild(store) => runtime.block_on(verify_rebuild_backup::rebuild(&store)),
        Command::Backup(backup) => runtime.block_on(verify_rebuild_backup::backup(&backup)),
        Command::Doctor(doctor) => runtime.block_on(doctor::run(&doctor)),
        Command::Version => {
            output::print_lines(&format!("skald {}", env!("CARGO_PKG_VERSION")));
            Ok(ExitCode::SUCCESS)
        }
        Command::Reference(reference) => {
            runtime.block_on(write_generated_files::write(&reference)).map(|()| ExitCode::SUCCESS)
        }
    };
    runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
    outcome
}

async fn serve_mcp(arguments: &McpArguments) -> anyhow::Result<()> {
    match (arguments.transport, &arguments.addr) {
        (Transport::Http, _) if arguments.token.read()?.is_some() => {
            anyhow::bail!("a token is for stdio: over HTTP each client sends its own; unset SKALD_TOKEN")
        }
        (Transport::Stdio, None) => serve::serve_stdio(arguments).await,
        (Transport::Stdio, Some(address)) => bridge::serve_mcp_stdio(address, arguments).await,
        (Transport::Http, None) => serve::run_server(&arguments.to_serve_arguments()).await,
        (Transport::Http, Some(address)) => bridge::serve_mcp_http(address, arguments).await,
    }
}
