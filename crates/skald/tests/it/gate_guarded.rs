//! Tests of guarded paths: an agent touches none of them in any state, by files, links or commands.

use serde_json::json;

use crate::gate_hooks::{ask_hook, bash_decision, tool_decision};
use crate::gate_workspace::GateWorkspace;

#[test]
fn what_makes_the_gate_is_not_touched_by_files() {
    let workspace = GateWorkspace::new();
    workspace.begin_run();
    // A state without tool permissions: whatever is denied here is denied by the hook itself.
    workspace.gate_output(&["override", "--event", "submit_repro", "--reason", "on", "--role", "human"]);
    let path = |name: &str| workspace.file(name).display().to_string();
    let write =
        |tool: &str, field: &str, path: &str| tool_decision(&workspace, tool, &json!({field: path, "content": "x"}));
    assert_eq!(write("Write", "file_path", &path("src/main.rs")), "allow");
    assert_eq!(write("Write", "file_path", &path(".state_gate/artifacts/run-1/repro.md")), "allow");
    for name in [
        ".state_gate/state-gate.json",
        "state-gate.json",
        "sub/state-gate.json",
        ".state_gate/processes/bugfix.yaml",
        ".state_gate/artifacts/../processes/bugfix.yaml",
        ".State_Gate/State-Gate.JSON",
        "src/../.state_gate/x",
        "../../it/../.state_gate/x",
        "world.db",
        "world.db-wal",
        "world.db-shm",
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".mcp.json",
    ] {
        for (tool, field) in
            [("Write", "file_path"), ("NotebookEdit", "notebook_path"), ("mcp__fs__write_file", "path")]
        {
            assert_eq!(write(tool, field, &path(name)), "deny", "{tool} {name}");
        }
        assert_eq!(write("Edit", "file_path", name), "deny", "relative: {name}");
        assert_eq!(write("Read", "file_path", &path(name)), "allow", "it may be read: {name}");
    }
    let moved = json!({"source": "a.txt", "destination": path(".state_gate/state-gate.json")});
    assert_eq!(tool_decision(&workspace, "mcp__fs__move_file", &moved), "deny");
    let (_, reason) = ask_hook(&workspace, &[], "Write", &json!({"file_path": path("state-gate.json")}));
    assert!(reason.contains("it names the run") && reason.contains(".state_gate/artifacts"), "{reason}");
    let named =
        ask_hook(&workspace, &["--config-path", ".state_gate/state-gate.json"], "Write", &json!({"file_path": "x"})).0;
    assert_eq!(named, "allow");
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_around_the_gate() {
    use std::os::unix::fs::symlink;
    let workspace = GateWorkspace::new();
    workspace.begin_run();
    workspace.gate_output(&["override", "--event", "submit_repro", "--reason", "on", "--role", "human"]);
    workspace.write(".state_gate/artifacts/run-1/note.md", "a note");
    std::fs::create_dir_all(workspace.file("away/deep")).expect("a folder");
    symlink(workspace.file(".state_gate"), workspace.file("harmless")).expect("a link");
    symlink("../../state-gate.json", workspace.file(".state_gate/artifacts/run-1/evidence.md")).expect("a link");
    symlink(workspace.file("world.db"), workspace.file("notes.txt")).expect("a link");
    symlink(workspace.file("away/deep"), workspace.file("link")).expect("a link");
    let write =
        |path: &str| tool_decision(&workspace, "Write", &json!({"file_path": workspace.file(path), "content": "x"}));
    assert_eq!(write("harmless/processes/new.yaml"), "deny");
    assert_eq!(write(".state_gate/artifacts/run-1/evidence.md"), "deny");
    assert_eq!(write("notes.txt"), "deny");
    assert_eq!(write("link/../.state_gate/x"), "deny", "by the letter it is the gate's");
    assert_eq!(write("link/plan.md"), "allow");
    assert_eq!(write("harmless/artifacts/run-1/plan.md"), "allow");
    assert_eq!(bash_decision(&workspace, "cat harmless/state"), "deny");
    assert_eq!(bash_decision(&workspace, "cat link/plan.md"), "allow");
}

#[test]
fn what_makes_the_gate_is_not_touched_by_commands() {
    let workspace = GateWorkspace::new();
    workspace.begin_run();
    workspace.gate_output(&["override", "--event", "submit_repro", "--reason", "on", "--role", "human"]);
    for command in [
        "rm .state_gate/state-gate.json",
        "echo '{}' >state-gate.json",
        "cd .state_gate && rm -r .",
        "cp x .state_gate/processes/bugfix.yaml",
        "cp x --target-directory=.state_gate",
        "rm -r .state_*",
        "rm .state_gate/artifacts/../state*",
        "cd .state_gate/artifacts && rm ../processes/a.yaml",
        "sqlite3 world.db 'delete from records'",
        "sqlite3 ./wor?d.db .dump",
        "cat world.db-wal",
        "sed -i s/deny/allow/ .claude/settings.json",
        "cd .claude && rm settings.json",
        "r'm' .st\"ate\"_gate/x",
        "skald gate emit-event --event approve --role human",
        "skald gate emit-event --event approve --to\\\nken x",
        "SKALD_ROLE=human skald gate emit-event --event approve",
        "bash -c \"skald token create me --gate-role human\"",
        "skald gate create-run --process-id lax --write-config --force",
    ] {
        assert_eq!(bash_decision(&workspace, command), "deny", "{command}");
    }
    for command in [
        "ls -l .state_gate/artifacts/run-1",
        "echo done > .state_gate/artifacts/run-1/repro.md",
        "skald gate get-state",
        "skald gate emit-event --event submit_repro --artifact repro.md",
        "cargo test -- gate",
        "ls *.rs",
        "cat ../README.md",
    ] {
        assert_eq!(bash_decision(&workspace, command), "allow", "{command}");
    }
}
