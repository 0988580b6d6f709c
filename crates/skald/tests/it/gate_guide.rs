//! Tests that the first part of the gate's guide works as written.
#![cfg(unix)]

use std::path::Path;
use std::process::Command;

use crate::gate_workspace::{GateWorkspace, run_with_input, text};

const GUIDE: &str = include_str!("../../../../docs/gate.md");

/// All code blocks of a language in the guide's part for beginners, concatenated.
fn code_blocks(kind: &str) -> String {
    let part = GUIDE.split("\n## ").find(|part| part.starts_with("Five minutes\n")).expect("the part");
    let opened = format!("```{kind}\n");
    let blocks = part.split(&opened).skip(1).map(|block| block.split("```").next().expect("a block"));
    blocks.collect()
}

#[test]
fn five_minutes_end_where_the_guide_says() {
    let workspace = GateWorkspace::new();
    let program = Path::new(env!("CARGO_BIN_EXE_skald")).parent().expect("a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").expect("a path"));
    let mut shell = Command::new("sh");
    shell.args(["-e", "-c", &code_blocks("sh")]).current_dir(workspace.file(".")).env("PATH", path);
    shell.env("SKALD_STORE", format!("sqlite:{}", workspace.file("world.db").display()));
    for name in ["SKALD_ROLE", "SKALD_TOKEN", "SKALD_PROCESS_DIR", "SKALD_ARTIFACT_DIR"] {
        shell.env_remove(name);
    }
    let output = run_with_input(shell, "");
    assert!(output.status.success(), "{output:?}");
    let printed = text(&output.stdout);
    let shown = code_blocks("text");
    let shown: Vec<&str> = shown.lines().map(|line| line.trim_end_matches('…')).collect();
    assert_eq!(shown.len(), 3);
    for line in shown {
        assert!(printed.contains(line), "{line:?} is not in\n{printed}");
    }
}
