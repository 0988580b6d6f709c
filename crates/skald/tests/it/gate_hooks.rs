//! Tests of the hooks of a coding agent: JSON in, a decision out.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::gate_workspace::{BUGFIX, GateWorkspace, run_with_input, text};
use crate::process::RunningProgram;

const HOOK: [&str; 3] = ["gate", "hook", "pre-tool-use"];

/// The JSON that an agent sends to the hook before it uses a tool.
fn pre_tool_use_message(workspace: &GateWorkspace, tool: &str, input: &Value) -> Value {
    json!({
        "session_id": "s-1", "transcript_path": "/tmp/t.jsonl", "cwd": workspace.file("."), "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input, "tool_use_id": "toolu_1",
    })
}

/// The decision and the reason in the output of the hook.
fn parse_decision(output: &std::process::Output) -> (String, String) {
    assert!(output.status.success(), "{output:?}");
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    let said = &printed["hookSpecificOutput"];
    assert_eq!(said["hookEventName"], "PreToolUse");
    let word = |field: &str| said[field].as_str().expect("a text").to_owned();
    (word("permissionDecision"), word("permissionDecisionReason"))
}

pub(crate) fn ask_hook(workspace: &GateWorkspace, options: &[&str], tool: &str, input: &Value) -> (String, String) {
    parse_decision(
        &workspace
            .run_with_input(&[&HOOK, options].concat(), &pre_tool_use_message(workspace, tool, input).to_string()),
    )
}

pub(crate) fn tool_decision(workspace: &GateWorkspace, tool: &str, input: &Value) -> String {
    ask_hook(workspace, &[], tool, input).0
}

pub(crate) fn bash_decision(workspace: &GateWorkspace, command: &str) -> String {
    tool_decision(workspace, "Bash", &json!({ "command": command }))
}

#[test]
fn tools_are_let_through_as_the_state_says() {
    let workspace = GateWorkspace::new();
    workspace.begin_run();
    assert_eq!(bash_decision(&workspace, "git status"), "allow");
    assert_eq!(tool_decision(&workspace, "Read", &json!({"file_path": "/etc/hosts"})), "allow");
    assert_eq!(tool_decision(&workspace, "WebFetch", &json!({"url": "https://example.org"})), "ask");
    let (decision, reason) = ask_hook(&workspace, &[], "Bash", &json!({"command": "git status; rm -r src"}));
    assert_eq!(decision, "deny");
    assert!(
        reason.starts_with("Bash may not be used so in state 'triage' of run run-1. What to do there: Reproduce"),
        "{reason}"
    );
    assert_eq!(bash_decision(&workspace, "cargo test"), "deny", "it is not among what is allowed");
    assert_eq!(tool_decision(&workspace, "Task", &json!({})), "deny");
    assert_eq!(tool_decision(&workspace, "Edit", &json!({"file_path": "notes/a.md"})), "allow");
    assert_eq!(tool_decision(&workspace, "Edit", &json!({"file_path": "src/main.rs"})), "deny");
    // Agents send absolute paths.
    workspace.write("notes/b.md", "…");
    assert_eq!(tool_decision(&workspace, "Edit", &json!({"file_path": workspace.file("notes/b.md")})), "allow");
    assert_eq!(tool_decision(&workspace, "Edit", &json!({"file_path": workspace.file("src/main.rs")})), "deny");
    assert_eq!(
        tool_decision(&workspace, "Edit", &json!({"file_path": workspace.file("notes/../src/main.rs")})),
        "deny"
    );
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("/etc/hosts", workspace.file("notes/hosts")).unwrap();
        assert_eq!(
            tool_decision(&workspace, "Edit", &json!({"file_path": "notes/hosts"})),
            "deny",
            "it leads elsewhere"
        );
    }

    workspace.write("repro.md", "Press the button twice.");
    workspace.gate_output(&["emit-event", "--event", "submit_repro", "--inline", "repro.md"]);
    assert_eq!(bash_decision(&workspace, "cargo test"), "allow", "the next state says nothing of tools");
    let silent = workspace.run_with_input(
        &[&HOOK[..], &["--when-allowed", "nothing"]].concat(),
        &pre_tool_use_message(&workspace, "Task", &json!({})).to_string(),
    );
    assert!(silent.status.success() && text(&silent.stdout) == "{}\n", "no decision: {silent:?}");
}

#[test]
fn options_stand_in_the_place_of_standard_input() {
    let workspace = GateWorkspace::new();
    workspace.begin_run();
    let given = |input: &str| {
        parse_decision(
            &workspace.run_with_input(&[&HOOK[..], &["--tool-name", "Bash", "--tool-input", input]].concat(), ""),
        )
        .0
    };
    assert_eq!(given(r#"{"command": "git log"}"#), "allow");
    assert_eq!(given(r#"{"command": "rm x"}"#), "deny");
    assert_eq!(given("rm x"), "deny", "what is not understood is not let through");
}

#[test]
fn in_doubt_a_tool_is_denied() {
    let workspace = GateWorkspace::new();
    let ls = json!({"command": "git status"});
    let (decision, reason) = ask_hook(&workspace, &[], "Bash", &ls);
    assert_eq!(decision, "deny", "no run is named");
    assert!(reason.contains("no run is named here") && reason.contains("create-run"), "{reason}");
    for word in ["allow", "ask", "deny"] {
        assert_eq!(ask_hook(&workspace, &["--when-no-run", word], "Bash", &ls).0, word);
    }
    let (decision, reason) = ask_hook(&workspace, &["--run-id", "run-1", "--when-no-run", "allow"], "Bash", &ls);
    assert_eq!(decision, "deny", "there is no store");
    assert!(reason.contains("there is no file"), "{reason}");
    assert!(!workspace.file("world.db").exists(), "a hook makes no store");

    workspace.begin_run();
    let (decision, reason) = ask_hook(&workspace, &["--run-id", "run-9"], "Bash", &ls);
    assert_eq!(decision, "deny");
    assert!(reason.contains("Run 'run-9' not found"), "{reason}");
    let open = ["--when-no-run", "allow"];
    assert_eq!(ask_hook(&workspace, &["--config-path", "none.json", open[0], open[1]], "Bash", &ls).0, "deny");
    for input in ["", "{", "[]", "null", r#"{"tool_input": {}}"#, r#"{"tool_name": "Read", "hook_event_name": "Stop"}"#]
    {
        assert_eq!(parse_decision(&workspace.run_with_input(&[&HOOK[..], &open].concat(), input)).0, "deny", "{input}");
    }
    let mut stranger = workspace.command(&HOOK);
    stranger.env("SKALD_TOKEN", "skald_wrong_token");
    assert_eq!(
        parse_decision(&run_with_input(stranger, &pre_tool_use_message(&workspace, "Bash", &ls).to_string())).0,
        "deny"
    );

    workspace.write(".state_gate/state-gate.json", "not JSON");
    let (decision, reason) = ask_hook(&workspace, &open, "Bash", &ls);
    assert_eq!(decision, "deny", "a file that is broken is no missing one");
    assert!(reason.contains("is not JSON"), "{reason}");
    workspace.write("world.db", "this is no database at all, but long enough to be looked at as one");
    let (decision, reason) = ask_hook(&workspace, &["--run-id", "run-1"], "Bash", &ls);
    assert_eq!(decision, "deny");
    assert!(reason.contains("the store cannot be opened"), "{reason}");
    let wrong = workspace.run_with_input(&[&HOOK[..], &["--no-such-option"]].concat(), "");
    assert_eq!(wrong.status.code(), Some(2), "an agent takes this code for a no");
}

#[test]
fn who_says_nothing_is_not_waited_for() {
    let workspace = GateWorkspace::new();
    let mut command = workspace.command(&HOOK);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    let silent = child.stdin.take().expect("an input");
    let output = child.wait_with_output().expect("it ends");
    drop(silent);
    let (decision, reason) = parse_decision(&output);
    assert_eq!(decision, "deny");
    assert!(reason.starts_with("the gate gave no answer within 5 seconds"), "{reason}");
}

#[test]
fn the_gates_own_tools_are_always_open() {
    let workspace = GateWorkspace::new();
    for tool in ["mcp__skald__state_gate_emit_event", "mcp__state-gate__state_gate.get_state"] {
        assert_eq!(tool_decision(&workspace, tool, &json!({})), "allow", "{tool}");
    }
    for tool in [
        "state_gate_emit_event",
        "mcp__evil__state_gate_emit_event",
        "mcp__evil__state_gate_delete_all",
        "mcp__skald__state_gate_delete_all",
    ] {
        assert_eq!(tool_decision(&workspace, tool, &json!({})), "deny", "{tool}");
    }
    let named = |tool: &str| ask_hook(&workspace, &["--server", "table", "--server", "other one"], tool, &json!({})).0;
    assert_eq!(named("mcp__table__state_gate_run"), "allow");
    assert_eq!(named("mcp__other_one__state_gate.run"), "allow");
    assert_eq!(named("mcp__skald__state_gate_run"), "deny", "who names servers means only these");
}

#[test]
fn each_tool_is_named_by_itself_and_a_star_names_them_all() {
    let workspace = GateWorkspace::new();
    let ways = [
        ("Edit", "file_path"),
        ("Write", "file_path"),
        ("MultiEdit", "file_path"),
        ("NotebookEdit", "notebook_path"),
        ("Read", "file_path"),
        ("mcp__fs__write_file", "path"),
    ];
    for (denied, is_held_back) in [("Edit(secrets/*)", "Edit"), ("*(secrets/*)", "")] {
        let run = if is_held_back.is_empty() { "run-all" } else { "run-one" };
        let permissions = format!("    tool_permissions: {{denied: [\"{denied}\"]}}\n");
        let at = |mark: &str| BUGFIX.find(mark).expect("a part of the process");
        let (head, tail) = (&BUGFIX[..at("    tool_permissions:")], &BUGFIX[at("  - name: fix")..]);
        workspace.write("secretive.yaml", &format!("{head}{permissions}{tail}").replace("id: bugfix", "id: secretive"));
        workspace.gate_output(&["submit", "secretive.yaml", "--role", "human"]);
        workspace.gate_output(&["create-run", "--process-id", "secretive", "--run-id", run]);
        let decided = |tool: &str, input: &Value| ask_hook(&workspace, &["--run-id", run], tool, input).0;
        for (tool, field) in ways {
            let expected = if is_held_back.is_empty() || is_held_back == tool { "deny" } else { "allow" };
            assert_eq!(decided(tool, &json!({field: workspace.file("secrets/key")})), expected, "{denied}: {tool}");
            assert_eq!(decided(tool, &json!({field: workspace.file("src/main.rs")})), "allow", "{denied}: {tool}");
        }
        let expected = if is_held_back.is_empty() { "deny" } else { "allow" };
        assert_eq!(decided("Bash", &json!({"command": "cat secrets/key"})), expected, "{denied}");
    }
}

#[test]
fn the_project_is_where_the_agent_says_it_is() {
    let workspace = GateWorkspace::new();
    workspace.begin_run();
    std::fs::create_dir_all(workspace.file("sub/deep")).expect("a folder");
    let told = |cwd: &str, command: &str| {
        let mut message = pre_tool_use_message(&workspace, "Bash", &json!({ "command": command }));
        message["cwd"] = json!(workspace.file(cwd));
        message.to_string()
    };
    let mut below = workspace.command(&HOOK);
    below.current_dir(workspace.file("sub/deep"));
    assert_eq!(
        parse_decision(&run_with_input(below, &told("sub/deep", "git status"))).0,
        "allow",
        "a folder above names the run"
    );
    let away = GateWorkspace::new();
    let mut elsewhere = workspace.command(&HOOK);
    elsewhere
        .current_dir(away.file("."))
        .env("CLAUDE_PROJECT_DIR", workspace.file("."))
        .env("SKALD_STORE", "sqlite:world.db");
    assert_eq!(parse_decision(&run_with_input(elsewhere, &told(".", "git status"))).0, "allow");
    let mut gone = workspace.command(&HOOK);
    gone.env("CLAUDE_PROJECT_DIR", workspace.file("gone"));
    assert_eq!(parse_decision(&run_with_input(gone, &told(".", "git status"))).0, "deny");
}

#[test]
fn a_server_is_asked_where_the_store_is_not_for_the_agent() {
    let workspace = GateWorkspace::new();
    workspace.begin_run();
    let store = format!("sqlite:{}", workspace.file("world.db").display());
    let (server, _) = RunningProgram::serve(&["--store", &store, "--grpc-addr", "127.0.0.1:0"]);
    let address = server.grpc_address().to_string();
    let asks = |arguments: &[&str], input: &str| {
        let mut command = workspace.command(arguments);
        command.env("SKALD_STORE", "sqlite:/nowhere/world.db").env("SKALD_ADDR", &address);
        run_with_input(command, input)
    };
    let decided = |command: &str| {
        parse_decision(&asks(
            &HOOK,
            &pre_tool_use_message(&workspace, "Bash", &json!({"command": command})).to_string(),
        ))
    };
    assert_eq!(decided("git status").0, "allow");
    assert_eq!(decided("cargo test").0, "deny");
    let printed = asks(&["gate", "hook", "config"], "");
    let line = format!(" gate hook pre-tool-use --addr {address}) && ");
    assert!(text(&printed.stdout).contains(&line), "{printed:?}");
    let state = asks(&["gate", "get-state"], "");
    assert!(state.status.success() && text(&state.stdout).contains("triage"), "{state:?}");
    let role = asks(&["gate", "get-state", "--role", "human"], "");
    assert!(text(&role.stderr).contains("a server is not told by --role human what somebody is"), "{role:?}");
    drop(server);
    assert_eq!(decided("git status").0, "deny", "nobody is there to be asked");
}

#[test]
fn an_agent_is_told_what_to_do_next() {
    let workspace = GateWorkspace::new();
    workspace.begin_run();
    let after = |tool: &str, response: &Value| {
        let message =
            json!({"hook_event_name": "PostToolUse", "tool_name": tool, "tool_input": {}, "tool_response": response});
        let output = workspace.run_with_input(&["gate", "hook", "post-tool-use"], &message.to_string());
        assert!(output.status.success(), "{output:?}");
        text(&output.stdout)
    };
    workspace.write("repro.md", "Press the button twice.");
    let answer = workspace.gate_json(&["emit-event", "--event", "submit_repro", "--inline", "repro.md"]);
    let emit = "mcp__skald__state_gate_emit_event";
    let expected = json!({"hookSpecificOutput": {
        "hookEventName": "PostToolUse",
        "additionalContext": "The run is in state 'fix' now, at revision 2. What to do there:\n\nMend it",
    }});
    let content = json!([{"type": "text", "text": answer.to_string()}]);
    for response in [
        answer.clone(),
        content.clone(),
        json!({"content": content}),
        json!({"structuredContent": answer, "content": []}),
        json!(answer.to_string()),
    ] {
        let printed = after(emit, &response);
        assert_eq!(serde_json::from_str::<Value>(&printed).expect("JSON"), expected, "{response}");
    }
    let bare = json!({"transition": {"to_state": "fix"}, "new_state_prompt": "Mend it"});
    let bare = after(emit, &bare);
    assert!(bare.contains("The run is in state 'fix' now. What to do there:") && !bare.contains("null"), "{bare}");
    assert_eq!(after("Bash", &answer), "");
    assert_eq!(
        after("mcp__skald__state_gate.emit_event", &json!({"success": false, "error": {"code": "FORBIDDEN"}})),
        ""
    );
    let wrong = workspace.run_with_input(&["gate", "hook", "post-tool-use"], "{");
    assert_eq!((wrong.status.code(), wrong.stdout.len()), (Some(1), 0));
}

#[test]
fn an_agent_that_begins_is_told_where_its_run_stands() {
    let workspace = GateWorkspace::new();
    let hook = ["gate", "hook", "session-start"];
    let begun = || {
        let message = json!({"hook_event_name": "SessionStart", "source": "compact", "cwd": workspace.file(".")});
        let output = workspace.run_with_input(&hook, &message.to_string());
        assert!(output.status.success(), "{output:?}");
        text(&output.stdout)
    };
    assert_eq!(begun(), "", "no run is named");
    workspace.begin_run();
    let printed: Value = serde_json::from_str(&begun()).expect("JSON");
    let said = &printed["hookSpecificOutput"];
    assert_eq!(said["hookEventName"], "SessionStart");
    let context = said["additionalContext"].as_str().expect("a text");
    assert!(context.contains("triage (active), revision 1") && context.contains("Reproduce the bug"), "{context}");
    workspace.write(".state_gate/state-gate.json", r#"{"run_id": "run-9"}"#);
    assert!(begun().contains("cannot be read, so tools are denied: Run 'run-9' not found"));
}

#[test]
fn the_settings_are_ready_to_be_pasted() {
    let workspace = GateWorkspace::new();
    let output = workspace.run_with_input(&["gate", "hook", "config", "--when-no-run", "ask"], "");
    let settings: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let hooks = &settings["hooks"];
    assert_eq!(hooks["PreToolUse"][0]["matcher"], "*");
    let command = hooks["PreToolUse"][0]["hooks"][0]["command"].as_str().expect("a command");
    assert!(
        command.contains(" gate hook pre-tool-use --store ") && command.contains(" --when-no-run ask) && "),
        "{command}"
    );
    assert_eq!(hooks["PreToolUse"][0]["hooks"][0]["onFailure"], "block");
    assert_eq!(hooks["PostToolUse"][0]["matcher"], "mcp__(skald|state-gate)__state_gate[_.]emit_event");
    let named = workspace.run_with_input(&["gate", "hook", "config", "--server", "my table"], "");
    let named: Value = serde_json::from_slice(&named.stdout).expect("JSON");
    assert_eq!(named["hooks"]["PostToolUse"][0]["matcher"], "mcp__(my_table)__state_gate[_.]emit_event");
    let other = named["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().expect("a command");
    assert!(other.contains(" --server 'my table') && "), "{other}");
    workspace.begin_run();
    // Run it in a shell, as an agent does.
    let mut shell = std::process::Command::new("sh");
    shell
        .args(["-c", command])
        .current_dir(workspace.file("."))
        .env_remove("SKALD_STORE")
        .env_remove("CLAUDE_PROJECT_DIR");
    let ran =
        run_with_input(shell, &pre_tool_use_message(&workspace, "Bash", &json!({"command": "git status"})).to_string());
    assert_eq!(parse_decision(&ran).0, "allow");
}
