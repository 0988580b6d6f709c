//! `skald gate hook`: hooks of coding agents, which deny tools that the state of the run does not allow.
//!
//! An agent goes on when a hook fails, so this one does not fail: any error, also a panic or a store that does not
//! answer, becomes a decision against the tool.

mod after_tool;
mod before_tool;
mod command_folder_changes;
mod decision;
mod guarded_paths;
mod hook_program_paths;
mod match_globs;
mod own_tools;
mod refuse_command_line;
mod refuse_folder_changes;
mod request;
mod resolve_paths;
mod session_start;
mod settings;

use std::process::ExitCode;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use skald_app::{Code, Fault};

use super::engine_access::EngineAccess;
use crate::arguments::{GateCallArguments, GateCommand, HookCommand};
use crate::output::{print_lines, print_note};
use decision::HookDecision;

/// How long a hook may take: an agent waits for it before each of its steps.
const HOOK_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the store has to close cleanly.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(200);
/// The environment variable with the agent's project folder. The agent's working folder may change meanwhile.
const PROJECT_VARIABLE: &str = "CLAUDE_PROJECT_DIR";

pub(crate) fn run(arguments: GateCallArguments) -> ExitCode {
    let GateCommand::Hook(hook) = &arguments.command else { return ExitCode::FAILURE };
    match hook.command.clone() {
        HookCommand::PreToolUse(pre) => {
            let decided = run_with_timeout(HOOK_TIMEOUT, move || before_tool::decide(&arguments, &pre));
            decided
                .unwrap_or_else(|why| HookDecision::deny(&format!("{why}; ask a person to look at the gate")))
                .print()
        }
        HookCommand::PostToolUse(post) => {
            print_context(run_with_timeout(HOOK_TIMEOUT, move || after_tool::new_state_context(&post)))
        }
        HookCommand::SessionStart(run) => {
            print_context(run_with_timeout(HOOK_TIMEOUT, move || Ok(session_start::run_context(&arguments, &run))))
        }
        HookCommand::Config(pre) => settings::print(&arguments, &pre),
    }
}

/// Prints the context for the agent, if there is any.
fn print_context(found: Result<Result<Option<String>, String>, String>) -> ExitCode {
    match found.and_then(|found| found) {
        Ok(None) => ExitCode::SUCCESS,
        Ok(Some(text)) => {
            print_lines(&text);
            ExitCode::SUCCESS
        }
        Err(why) => {
            print_note(&format!("skald: {why}"));
            ExitCode::FAILURE
        }
    }
}

/// Runs work on a thread of its own, with a timeout. A panic and a hang become errors.
fn run_with_timeout<T: Send + 'static>(
    timeout: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    let (sender, receiver) = mpsc::channel();
    let started = std::thread::Builder::new().spawn(move || {
        // An error means that the timeout has passed and the receiver is gone.
        let _ = sender.send(work());
    });
    started.map_err(|error| format!("the gate cannot be asked: {error}"))?;
    receiver.recv_timeout(timeout).map_err(|error| match error {
        RecvTimeoutError::Timeout => format!("the gate gave no answer within {} seconds", timeout.as_secs_f32()),
        RecvTimeoutError::Disconnected => "the gate failed inside".to_owned(),
    })
}

/// Changes the working folder to the project, so that relative paths are found there.
fn enter_project() -> Result<(), Fault> {
    let Some(project) = std::env::var_os(PROJECT_VARIABLE).filter(|project| !project.is_empty()) else { return Ok(()) };
    std::env::set_current_dir(&project).map_err(|error| {
        let message = format!("{PROJECT_VARIABLE} is {}, which is no folder to work in: {error}", project.display());
        Fault::new(Code::Unavailable, message).hint("start the agent in a folder that is there")
    })
}

/// Calls the gate's engine, on a runtime of its own.
fn call_gate<T>(
    arguments: &GateCallArguments,
    question: impl AsyncFnOnce(EngineAccess) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| Fault::new(Code::Unavailable, error.to_string()))?;
    let answer = runtime.block_on(async { question(EngineAccess::open_existing(arguments).await?).await });
    runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
    answer
}

/// A fault as text for the agent: the message and the hint.
fn fault_text(fault: &Fault) -> String {
    match &fault.body().hint {
        Some(hint) => format!("{}; {hint}", fault.body().message),
        None => fault.body().message.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_becomes_of_the_work_there_is_an_answer() {
        assert_eq!(run_with_timeout(HOOK_TIMEOUT, || 7), Ok(7));
        let (_open, endless) = mpsc::channel::<()>();
        let waited = run_with_timeout(Duration::from_millis(20), move || endless.recv().is_ok());
        assert_eq!(waited, Err("the gate gave no answer within 0.02 seconds".to_owned()));
        let panicked = run_with_timeout(HOOK_TIMEOUT, || assert!(std::hint::black_box(false), "a panic on purpose"));
        assert_eq!(panicked, Err("the gate failed inside".to_owned()));
    }
}
