//! Tests of the file that names a run: where it is searched for, and what is refused.

use serde_json::{Value, json};

use crate::gate_workspace::{GateWorkspace, run_with_input, text};

#[cfg(unix)]
#[test]
fn what_is_no_ordinary_file_is_told_and_not_waited_for() {
    use std::process::{Command, Stdio};
    use std::time::Instant;

    use crate::gate_hooks::ask_hook;
    use crate::process::PATIENCE;

    let workspace = GateWorkspace::new();
    workspace.begin_run();
    let naming = workspace.file(".state_gate/state-gate.json");
    let checked = || {
        let mut command = workspace.command(&["gate", "get-state"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        let begun = Instant::now();
        while child.try_wait().expect("a child").is_none() {
            if begun.elapsed() > PATIENCE {
                child.kill().expect("a child");
                panic!("a command waits for a file that never ends");
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(text(&output.stderr).contains("state-gate.json is no ordinary file"), "{output:?}");
        let (decision, reason) =
            ask_hook(&workspace, &["--when-no-run", "allow"], "Bash", &json!({"command": "git status"}));
        assert_eq!(decision, "deny");
        assert!(reason.contains("state-gate.json is no ordinary file"), "{reason}");
    };
    std::fs::remove_file(&naming).expect("a file");
    assert!(Command::new("mkfifo").arg(&naming).status().expect("mkfifo").success());
    checked();
    std::fs::remove_file(&naming).expect("a pipe");
    std::os::unix::fs::symlink("/dev/zero", &naming).expect("a link");
    checked();
}

#[test]
fn commands_and_servers_look_in_the_same_folders() {
    let workspace = GateWorkspace::new();
    workspace.begin_run();
    workspace.write("deep/er/notes.md", "below the folder that names the run");
    let named = |home: &str| {
        let placed = |arguments: &[&str], input: &str| {
            let mut command = workspace.command(arguments);
            command
                .current_dir(workspace.file("deep/er"))
                .env("HOME", workspace.file(home))
                .env("USERPROFILE", workspace.file(home));
            text(&run_with_input(command, input).stdout)
        };
        let shown: Value = serde_json::from_str(&placed(&["gate", "get-state", "--json"], "")).expect("JSON");
        let begin = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
        }});
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "state_gate.get_state", "arguments": {},
        }});
        let answers = placed(&["mcp"], &format!("{begin}\n{ready}\n{call}\n"));
        let answers = answers.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let served = answers.into_iter().find(|answer| answer["id"] == 2).expect("an answer");
        (shown["run_id"].clone(), served["result"]["structuredContent"]["run_id"].clone())
    };
    assert_eq!(named("nowhere"), (json!("run-1"), json!("run-1")), "a folder above names it");
    assert_eq!(named("."), (json!("run-1"), json!("run-1")), "the home is looked into");
    assert_eq!(named("deep"), (Value::Null, Value::Null), "what lies above the home is not the caller's");
}
