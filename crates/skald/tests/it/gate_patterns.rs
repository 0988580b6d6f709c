//! Tests that no tool pattern in documents and shipped processes lets a shell through. A pattern that does is reported.

use std::path::{Path, PathBuf};

use crate::gate_workspace::{BUGFIX, GateWorkspace, text};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Collects the documents and processes below a folder.
fn collect_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect_files(&path, found);
        } else if path.extension().is_some_and(|ending| ["md", "yaml", "yml"].iter().any(|known| ending == *known)) {
            found.push(path);
        }
    }
}

/// The lists of allowed tools in a text.
fn allowed_lists(text: &str) -> Vec<&str> {
    let lists = text.split("allowed: [").skip(1);
    lists.filter_map(|list| list.split_once(']').map(|(list, _)| list)).filter(|list| list.contains('(')).collect()
}

fn process_with_allowed(list: &str) -> String {
    let begin = BUGFIX.find("allowed: [").expect("a list");
    let end = begin + BUGFIX[begin..].find(']').expect("its end");
    format!("{}allowed: [{list}{}", &BUGFIX[..begin], &BUGFIX[end..])
}

#[test]
fn no_example_lets_a_shell_through() {
    let workspace = GateWorkspace::new();
    let mut paths = vec![Path::new(ROOT).join("README.md")];
    for folder in ["docs", "examples", "scenarios", "crates/app/src/gate/processes"] {
        collect_files(&Path::new(ROOT).join(folder), &mut paths);
    }
    let mut lists = 0;
    for path in paths {
        let content = std::fs::read_to_string(&path).expect("a text");
        for list in allowed_lists(&content) {
            workspace.write("example.yaml", &process_with_allowed(list));
            let output = workspace.run_gate(&["check", "--strict", "example.yaml"]);
            assert!(output.status.success(), "{}: [{list}]: {}", path.display(), text(&output.stdout));
            lists += 1;
        }
    }
    assert!(lists > 0, "an example of patterns");
}

#[test]
fn a_shell_in_disguise_is_told_with_its_place() {
    let workspace = GateWorkspace::new();
    workspace.write("wide.yaml", &process_with_allowed("Read, \"Bash(git *)\""));
    let output = workspace.run_gate(&["check", "wide.yaml"]);
    assert!(output.status.success(), "a warning: {output:?}");
    let line = 1 + BUGFIX.lines().position(|line| line.contains("allowed: [")).expect("the line");
    let told = text(&output.stdout);
    let expected = format!("wide.yaml:{line}:23: warning TOOL_PATTERN_TOO_WIDE: \"Bash(git *)\" lets a shell through");
    assert!(told.starts_with(&expected), "{told}");
}
