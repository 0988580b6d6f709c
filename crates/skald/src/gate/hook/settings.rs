//! Prints the agent settings that install the hooks.

use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

use super::decision::BLOCKING_EXIT_CODE;
use super::own_tools;
use crate::arguments::{GATE_SERVERS, GateCallArguments, PreToolUseArguments, WhenAllowed, WhenNoRun};
use crate::open_store;
use crate::output::{print_error, print_lines, print_note};

/// Seconds after which an agent aborts a hook: longer than the hook's own timeout.
const TIMEOUT_SECONDS: u32 = 10;
/// The message to the agent when the hook did not run. It is put between single quotes, so it must contain none.
const HOOK_FAILED: &str = "the hook of the gate did not run, so no tool is used; ask a person to look at its settings";

pub(super) fn print(arguments: &GateCallArguments, pre: &PreToolUseArguments) -> ExitCode {
    let (postgres_command, address) = match (std::env::current_exe(), open_store::store_address(&arguments.store)) {
        (Ok(postgres_command), Ok(address)) => (postgres_command, address),
        (Err(error), _) => {
            print_error(&anyhow::Error::from(error).context("this program cannot be found"));
            return ExitCode::FAILURE;
        }
        (_, Err(error)) => {
            print_error(&error);
            return ExitCode::FAILURE;
        }
    };
    let asked = match &arguments.addr {
        Some(server) => vec!["--addr".to_owned(), server.clone()],
        None => store_options(&address),
    };
    print_lines(&format!("{:#}", settings(&postgres_command, &asked, pre)));
    print_note("Paste this into .claude/settings.json of the project, which the hooks then guard.");
    ExitCode::SUCCESS
}

/// The options that name the store's file by an absolute path, since hooks are started in any folder. Other addresses
/// may contain a password, so they are not written to the settings.
fn store_options(address: &str) -> Vec<String> {
    let Some(path) = address.strip_prefix("sqlite:") else {
        print_note("The hooks read SKALD_STORE where the agent is started: set it there, too.");
        return Vec::new();
    };
    let path = std::path::absolute(path).unwrap_or_else(|_| path.into());
    vec!["--store".to_owned(), format!("sqlite:{}", path.display())]
}

fn settings(program: &Path, store: &[String], pre: &PreToolUseArguments) -> Value {
    let mut named: Vec<String> = Vec::new();
    if let Some(run_id) = &pre.run.run_id {
        named.extend(["--run-id".to_owned(), run_id.clone()]);
    }
    if let Some(path) = &pre.run.config_path {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        named.extend(["--config-path".to_owned(), path.display().to_string()]);
    }
    let mut decided = named.clone();
    match pre.when_no_run {
        WhenNoRun::Allow => decided.extend(["--when-no-run".to_owned(), "allow".to_owned()]),
        WhenNoRun::Ask => decided.extend(["--when-no-run".to_owned(), "ask".to_owned()]),
        WhenNoRun::Deny => {}
    }
    if pre.when_allowed == WhenAllowed::Nothing {
        decided.extend(["--when-allowed".to_owned(), "nothing".to_owned()]);
    }
    if pre.servers != GATE_SERVERS {
        decided.extend(pre.servers.iter().flat_map(|server| ["--server".to_owned(), server.clone()]));
    }
    let servers: Vec<String> = pre.servers.iter().map(|server| own_tools::server_in_tool_name(server)).collect();
    let emitting = format!("mcp__({})__state_gate[_.]emit_event", servers.join("|"));
    let command = |name: &str, options: &[&[String]]| {
        let words = [program.display().to_string(), "gate".to_owned(), "hook".to_owned(), name.to_owned()];
        let words = words.into_iter().chain(options.concat()).map(|word| quote_for_shell(&word));
        words.collect::<Vec<_>>().join(" ")
    };
    let hook = |command: String| json!({"type": "command", "command": command, "timeout": TIMEOUT_SECONDS});
    let mut pre_tool_use = hook(block_on_failure(&command("pre-tool-use", &[store, &decided])));
    // Agents that support this field also deny a tool when the hook times out. Others ignore it.
    pre_tool_use["onFailure"] = json!("block");
    json!({"hooks": {
        "PreToolUse": [{"matcher": "*", "hooks": [pre_tool_use]}],
        "PostToolUse": [{"matcher": emitting, "hooks": [hook(command("post-tool-use", &[]))]}],
        "SessionStart": [{"hooks": [hook(command("session-start", &[store, &named]))]}],
    }})
}

/// Wraps a hook's command line so that its failure denies the tool. An agent goes on when a hook cannot be started, is
/// killed or prints nothing, unless the line itself exits with the code that blocks.
fn block_on_failure(command: &str) -> String {
    format!(
        "answer=$({command}) && [ -n \"$answer\" ] && printf '%s\\n' \"$answer\" || \
         {{ echo 'skald: {HOOK_FAILED}' >&2; exit {BLOCKING_EXIT_CODE}; }}"
    )
}

/// A word quoted for a shell.
fn quote_for_shell(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=@%+".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
