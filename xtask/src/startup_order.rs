//! Orders the functions of the shipped program: those that a start runs come first, side by side.
//!
//! The kernel maps 64 KiB around every page that is touched. Without an order a start touches half of the program; with
//! it, a twentieth. The functions are found by a trace of a start, so the program is linked twice.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use serde_json::json;

use crate::install::install_programs;
use crate::run;

/// The variable by which the build script of the program gets the file with the order.
pub(crate) const VARIABLE: &str = "SKALD_FUNCTION_ORDER";
/// The name of the file with the order.
pub(crate) const FILE: &str = "functions.txt";
/// Fewer functions than a start needs: a trace with so few has gone wrong.
const FUNCTIONS_MIN: usize = 1_000;

/// Starts a program with symbols, and writes the functions that ran until its first answers into a file.
pub(crate) fn trace_start(program: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    install_programs(&[("valgrind", "valgrind"), ("nm", "binutils")])?;
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder)?;
    let trace = folder.join("trace.out");
    run_traced(program, folder, &trace)?;
    let symbols = run::run_captured(Command::new("nm").arg("--defined-only").arg(program))?;
    let symbols: BTreeSet<&str> = symbols.lines().filter_map(|line| line.split(' ').nth(2)).collect();
    let traced = fs::read_to_string(&trace)?;
    let functions: BTreeSet<&str> = traced_functions(&traced).filter(|name| symbols.contains(name)).collect();
    ensure!(functions.len() >= FUNCTIONS_MIN, "the trace of a start has only {} functions", functions.len());
    let order = folder.join(FILE);
    let lines: Vec<&str> = functions.into_iter().collect();
    fs::write(&order, lines.join("\n") + "\n")?;
    Ok(order)
}

/// A client on stdio that connects, lists the tools and calls one.
fn run_traced(program: &Path, folder: &Path, trace: &Path) -> anyhow::Result<()> {
    let mut child = Command::new("valgrind")
        .args(["--tool=callgrind", "--demangle=no", "--quiet"])
        .arg(format!("--callgrind-out-file={}", trace.display()))
        .arg(program)
        .args(["mcp", "--store", &format!("sqlite:{}", folder.join("world.db").display())])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("valgrind does not start")?;
    let mut input = child.stdin.take().context("there is no input")?;
    let mut output = BufReader::new(child.stdout.take().context("there is no output")?);
    let client =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "trace", "version": "1"}});
    let call = json!({"name": "roll", "arguments": {"expression": "2d6"}});
    for (id, (method, params)) in
        [("initialize", client), ("tools/list", json!({})), ("tools/call", call)].iter().enumerate()
    {
        writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let mut answer = String::new();
        output.read_line(&mut answer)?;
        ensure!(answer.contains("\"result\""), "{method} was answered: {answer}");
    }
    drop(input);
    let status = child.wait()?;
    ensure!(status.success(), "the traced program ended with {status}");
    Ok(())
}

/// The names in a profile of callgrind. A name stands behind its number where it occurs first.
fn traced_functions(trace: &str) -> impl Iterator<Item = &str> {
    let named = trace.lines().filter_map(|line| line.strip_prefix("fn=").or_else(|| line.strip_prefix("cfn=")));
    // A recursive call has its depth behind the name.
    named.filter_map(|rest| rest.split_once(") ")).map(|(_, name)| name.split('\'').next().unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_read_from_a_trace() {
        let trace = "fl=(1) a.rs\nfn=(1) main\n16 400\ncfn=(2) run'2\ncalls=1 50\nfn=(1)\n16 4\n";
        assert_eq!(traced_functions(trace).collect::<Vec<_>>(), ["main", "run"]);
    }
}
