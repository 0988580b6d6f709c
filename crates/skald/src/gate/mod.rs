//! `skald gate`: processes, runs and their events in a terminal, and the hooks of coding agents.
//!
//! Each command is an operation of the engine; here its input is made of arguments and its answer is shown. Which run is
//! meant is settled before: the operation is always told.

mod change;
mod check;
mod config;
mod create;
mod desk;
mod diagram;
mod evidence;
mod hook;
mod named;
mod pages;
mod reply;
mod source;
mod text;

use std::process::ExitCode;

use serde_json::json;
use skald_app::Fault;

use crate::arguments::{GateCallArguments, GateCommand};
use desk::Desk;
use reply::Reply;

pub(crate) use hook::run as hook;

const GET_STATE: &str = "state_gate.get_state";
const RUN: &str = "state_gate.run";

pub(crate) async fn run(arguments: &GateCallArguments) -> ExitCode {
    match answer(arguments).await {
        Ok(reply) => reply.print(arguments.json),
        Err(fault) => reply::complain(&fault, arguments.json),
    }
}

async fn answer(arguments: &GateCallArguments) -> Result<Reply, Fault> {
    let there = || Desk::existing(arguments);
    match &arguments.command {
        GateCommand::Check(check) => check::run(check).await,
        GateCommand::Processes => {
            let processes =
                Desk::existing(arguments).await?.call("state_gate.read", json!({"view": "processes"})).await?;
            Ok(Reply::done(text::processes(&processes), processes))
        }
        GateCommand::Submit { file } => {
            let source = source::read(file)?;
            let desk = Desk::open(arguments).await?;
            let kept = desk.call("state_gate.submit_process", json!({"source": source})).await?;
            Ok(Reply::done(text::submitted(&source::name(file), &kept), kept))
        }
        GateCommand::CreateRun(create) => create::run(arguments, create).await,
        GateCommand::ListRuns(list) => pages::runs(&there().await?, list).await,
        GateCommand::GetState(run) => {
            let input = json!({"run_id": named::run_id(run)?});
            let state = there().await?.call(GET_STATE, input).await?;
            Ok(Reply::done(text::state(&state), state))
        }
        GateCommand::ListEvents { run, include_blocked } => {
            let input = json!({"run_id": named::run_id(run)?, "include_blocked": include_blocked});
            let events = there().await?.call("state_gate.list_events", input).await?;
            Ok(Reply::done(text::events(&events), events))
        }
        GateCommand::EmitEvent { run, evidence, change } => {
            let input = evidence::input(&named::run_id(run)?, evidence)?;
            change::emit(&there().await?, input, change).await
        }
        GateCommand::CheckEvent { run, evidence } => {
            let mut input = evidence::input(&named::run_id(run)?, evidence)?;
            input["method"] = json!("check");
            let answer = there().await?.call(RUN, input).await?;
            let text = text::checked(&answer["check"]);
            let would_be_accepted = answer["check"]["would_be_accepted"] == true;
            Ok(if would_be_accepted { Reply::done(text, answer) } else { Reply::wanting(text, answer) })
        }
        GateCommand::History(run) => pages::history(&there().await?, &named::run_id(run)?).await,
        GateCommand::Plan { run, to } => {
            let input = json!({"method": "plan", "run_id": named::run_id(run)?, "to_state": to});
            let answer = there().await?.call(RUN, input).await?;
            Ok(Reply::done(text::plans(&answer), answer))
        }
        GateCommand::Override { run, event, to, reason, change } => {
            let run_id = named::run_id(run)?;
            let input =
                json!({"method": "override", "run_id": run_id, "event_name": event, "to_state": to, "reason": reason});
            change::change(&there().await?, input, change).await
        }
        GateCommand::Cancel { run, reason, change } => {
            let input = json!({"method": "cancel", "run_id": named::run_id(run)?, "reason": reason});
            change::change(&there().await?, input, change).await
        }
        GateCommand::Diagram(diagram) => diagram::run(arguments, diagram).await,
        GateCommand::Hook(_) => unreachable!("a hook is run by itself, so that nothing keeps it from an answer"),
    }
}
