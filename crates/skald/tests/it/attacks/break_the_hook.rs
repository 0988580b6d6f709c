//! Attack: preventing the hook from running. An agent goes on when its hook fails, unless the configured command
//! blocks.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::gate_workspace::{GateWorkspace, run_with_input, text};

/// Copies the program under test with `cp`. If this process wrote the file, a child that a parallel test forks could
/// hold it open for writing, and the file could not be executed (ETXTBSY).
fn copy_program_to(program: &Path) {
    let copied = Command::new("cp").args([Path::new(env!("CARGO_BIN_EXE_skald")), program]).status();
    assert!(copied.expect("cp runs").success());
}

/// The configured hook command, for a copy of the program in the working folder.
fn configured_hook_command(workspace: &GateWorkspace, options: &[&str]) -> String {
    let program = workspace.file("bin/skald");
    fs::create_dir_all(workspace.file("bin")).expect("a folder");
    copy_program_to(&program);
    let mut command = Command::new(&program);
    command.args(["gate", "hook", "config"]).args(options).current_dir(workspace.file("."));
    command.env("SKALD_STORE", format!("sqlite:{}", workspace.file("world.db").display()));
    let settings: Value = serde_json::from_slice(&run_with_input(command, "").stdout).expect("settings");
    settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().expect("a line").to_owned()
}

/// Runs a hook command in a shell, as an agent does.
fn run_hook_command(workspace: &GateWorkspace, line: &str) -> Output {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", line])
        .current_dir(workspace.file("."))
        .env_remove("SKALD_STORE")
        .env_remove("CLAUDE_PROJECT_DIR");
    let call = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": workspace.file("."),
        "tool_input": {"command": "git status"}});
    run_with_input(shell, &call.to_string())
}

/// A description, and the change that it makes to the program file.
type Attack = (&'static str, fn(&Path));

const ATTACKS: &[Attack] = &[
    ("removed", |program| fs::remove_file(program).expect("a file")),
    ("not executable", |program| {
        fs::set_permissions(program, fs::Permissions::from_mode(0o644)).expect("permissions");
    }),
    ("a folder", |program| {
        fs::remove_file(program).expect("a file");
        fs::create_dir(program).expect("a folder");
    }),
    ("a link to nothing", |program| {
        fs::remove_file(program).expect("a file");
        std::os::unix::fs::symlink("gone", program).expect("a link");
    }),
    ("empty", |program| fs::write(program, "").expect("a file")),
    ("cut", |program| {
        fs::File::options().write(true).open(program).and_then(|file| file.set_len(1000)).expect("a file");
    }),
    ("killed", |program| fs::write(program, "#!/bin/sh\nkill -9 $$\n").expect("a file")),
    ("failing", |program| fs::write(program, "#!/bin/sh\nexit 1\n").expect("a file")),
];

#[test]
fn a_hook_that_does_not_run_denies() {
    let workspace = GateWorkspace::new();
    let line = configured_hook_command(&workspace, &[]);
    workspace.begin_run();
    let ran = run_hook_command(&workspace, &line);
    assert!(ran.status.success() && text(&ran.stdout).contains("\"allow\""), "{ran:?}");
    let program = workspace.file("bin/skald");
    for (what, attack) in ATTACKS {
        attack(&program);
        let ran = run_hook_command(&workspace, &line);
        assert_eq!(ran.status.code(), Some(2), "{what}: {ran:?}");
        assert!(ran.stdout.is_empty(), "{what}: {ran:?}");
        assert!(text(&ran.stderr).contains("the hook of the gate did not run, so no tool is used"), "{what}: {ran:?}");
        let _ = fs::remove_file(&program).or_else(|_| fs::remove_dir(&program));
        copy_program_to(&program);
    }
}

#[test]
fn a_hook_that_leaves_the_decision_to_the_agent_says_so() {
    let workspace = GateWorkspace::new();
    let line = configured_hook_command(&workspace, &["--when-allowed", "nothing"]);
    workspace.begin_run();
    let ran = run_hook_command(&workspace, &line);
    assert!(ran.status.success() && text(&ran.stdout) == "{}\n", "{ran:?}");
}
