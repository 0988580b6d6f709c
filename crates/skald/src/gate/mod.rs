//! `skald gate`: commands for processes, runs and their events, and the hooks of coding agents.
//!
//! Each command calls an operation of the engine: this module builds its input from arguments and prints its answer.
//! The run is determined first, and always passed to the operation.

mod all_pages;
mod change_run;
mod check;
mod create;
mod diagram;
mod engine_access;
mod event_arguments;
mod find_run_id;
mod hook;
mod print_reply;
mod read_process_source;
mod text;
mod write_run_file;

use std::process::ExitCode;

use serde_json::json;
use skald_app::Fault;

use crate::arguments::{GateCallArguments, GateCommand};
use engine_access::EngineAccess;
use print_reply::CommandReply;

pub(crate) use hook::run as hook;

const GET_STATE: &str = "state_gate.get_state";
const RUN: &str = "state_gate.run";

pub(crate) async fn run(arguments: &GateCallArguments) -> ExitCode {
    match run_command(arguments).await {
        Ok(reply) => reply.print(arguments.json),
        Err(fault) => print_reply::print_fault(&fault, arguments.json),
    }
}

async fn run_command(arguments: &GateCallArguments) -> Result<CommandReply, Fault> {
    let there = || EngineAccess::open_existing(arguments);
    match &arguments.command {
        GateCommand::Check(check) => check::run(check).await,
        GateCommand::Processes => {
            let processes = EngineAccess::open_existing(arguments)
                .await?
                .call("state_gate.read", json!({"view": "processes"}))
                .await?;
            Ok(CommandReply::success(text::processes(&processes), processes))
        }
        GateCommand::Submit { file } => {
            let source = read_process_source::read_source(file)?;
            let engine_access = EngineAccess::open(arguments).await?;
            let kept = engine_access.call("state_gate.submit_process", json!({"source": source})).await?;
            Ok(CommandReply::success(text::submitted_process(&read_process_source::source_name(file), &kept), kept))
        }
        GateCommand::CreateRun(create) => create::run(arguments, create).await,
        GateCommand::ListRuns(list) => all_pages::list_runs(&there().await?, list).await,
        GateCommand::GetState(run) => {
            let input = json!({"run_id": find_run_id::require_run_id(run)?});
            let state = there().await?.call(GET_STATE, input).await?;
            Ok(CommandReply::success(text::state(&state), state))
        }
        GateCommand::ListEvents { run, include_blocked } => {
            let input = json!({"run_id": find_run_id::require_run_id(run)?, "include_blocked": include_blocked});
            let events = there().await?.call("state_gate.list_events", input).await?;
            Ok(CommandReply::success(text::events(&events), events))
        }
        GateCommand::EmitEvent { run, evidence, change } => {
            let input = event_arguments::build_event_input(&find_run_id::require_run_id(run)?, evidence)?;
            change_run::emit_event(&there().await?, input, change).await
        }
        GateCommand::CheckEvent { run, evidence } => {
            let mut input = event_arguments::build_event_input(&find_run_id::require_run_id(run)?, evidence)?;
            input["method"] = json!("check");
            let answer = there().await?.call(RUN, input).await?;
            let text = text::check_result(&answer["check"]);
            let would_be_accepted = answer["check"]["would_be_accepted"] == true;
            Ok(if would_be_accepted {
                CommandReply::success(text, answer)
            } else {
                CommandReply::negative(text, answer)
            })
        }
        GateCommand::History(run) => all_pages::list_history(&there().await?, &find_run_id::require_run_id(run)?).await,
        GateCommand::Plan { run, to } => {
            let input = json!({"method": "plan", "run_id": find_run_id::require_run_id(run)?, "to_state": to});
            let answer = there().await?.call(RUN, input).await?;
            Ok(CommandReply::success(text::plans(&answer), answer))
        }
        GateCommand::Override { run, event, to, reason, change } => {
            let run_id = find_run_id::require_run_id(run)?;
            let input =
                json!({"method": "override", "run_id": run_id, "event_name": event, "to_state": to, "reason": reason});
            change_run::override_or_cancel(&there().await?, input, change).await
        }
        GateCommand::Cancel { run, reason, change } => {
            let input = json!({"method": "cancel", "run_id": find_run_id::require_run_id(run)?, "reason": reason});
            change_run::override_or_cancel(&there().await?, input, change).await
        }
        GateCommand::Diagram(diagram) => diagram::run(arguments, diagram).await,
        GateCommand::Hook(_) => unreachable!("a hook is run by itself, so that nothing keeps it from an answer"),
    }
}
