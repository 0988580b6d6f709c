//! Checks the dependencies with cargo-deny: licences, sources, banned crates, doubled versions, and known faults.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::{paths, print_line, run};

/// The version that `deny.toml` is written for.
const CARGO_DENY_VERSION: &str = "0.20.2";
/// What needs nothing but the dependencies.
const OFFLINE_CHECKS: [&str; 3] = ["bans", "licenses", "sources"];
/// Entries of `deny.toml` whose reason has gone fail the check, so that the lists stay true.
const STALE_ENTRIES: [&str; 6] = ["-D", "unmatched-skip", "-D", "unnecessary-skip", "-D", "license-not-encountered"];

pub(crate) fn check_dependencies() -> anyhow::Result<()> {
    let program = install_cargo_deny()?;
    let deny = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).current_dir(paths::root());
        command
    };
    run::run_shown(deny(&["check"]).args(STALE_ENTRIES).args(OFFLINE_CHECKS))?;
    // The list of known faults is fetched apart: a machine that cannot reach it is not a dependency with a fault.
    match run::run_captured(&mut deny(&["fetch", "db"])) {
        Ok(_) => run::run_shown(&mut deny(&["check", "--disable-fetch", "advisories"])),
        Err(error) => {
            print_line(&format!("NOT RUN: advisories. Their list cannot be fetched here: {error:#}"));
            Ok(())
        }
    }
}

/// Installs cargo-deny below the target folder, unless this version is there.
fn install_cargo_deny() -> anyhow::Result<PathBuf> {
    let folder = paths::target().join("tools");
    let program = folder.join("bin/cargo-deny");
    let installed = run::run_captured(Command::new(&program).arg("--version"));
    if installed.is_ok_and(|version| version.trim().ends_with(CARGO_DENY_VERSION)) {
        return Ok(program);
    }
    print_line(&format!("installing cargo-deny {CARGO_DENY_VERSION} (cargo)"));
    let build_folder = folder.join("build");
    let mut command = run::cargo_command(&["install", "--quiet", "--locked", "--force", "cargo-deny", "--version"]);
    command.arg(CARGO_DENY_VERSION).arg("--root").arg(&folder).arg("--target-dir").arg(&build_folder);
    run::run_captured(&mut command)?;
    fs::remove_dir_all(build_folder)?;
    Ok(program)
}
