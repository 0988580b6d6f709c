//! Builds the program with the `dist` profile, strips it, and has its man pages and completions written.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use super::{copy, empty_folder};
use crate::{paths, print_line, run, startup_order};

/// Builds the program in a target folder, with the functions of its start side by side, and returns its path. Paths of
/// this machine are not written into it, so that a build in another folder with the same order of functions gives the same
/// bytes. Two traces of a start may differ in a few functions, so the order is part of a release.
pub(super) fn build(target: &Path) -> anyhow::Result<PathBuf> {
    ensure_function_order()?;
    build_once(target)
}

/// Has the order of functions traced, unless there is one.
pub(crate) fn ensure_function_order() -> anyhow::Result<()> {
    if !function_order_file().exists() {
        startup_order::trace_start(&build_once(&paths::target())?, &function_order_folder())?;
    }
    Ok(())
}

/// Takes the order of functions of an earlier build of the same commit.
pub(super) fn take_function_order(file: &Path) -> anyhow::Result<()> {
    copy(file, &function_order_file())
}

/// Forgets the order, so that the next build traces the program as it is now.
pub(super) fn forget_function_order() {
    // If it cannot be removed, the functions of an earlier program come first, which is harmless.
    let _ = fs::remove_dir_all(function_order_folder());
}

fn function_order_folder() -> PathBuf {
    paths::target().join("function-order")
}

pub(super) fn function_order_file() -> PathBuf {
    function_order_folder().join(startup_order::FILE)
}

fn build_once(target: &Path) -> anyhow::Result<PathBuf> {
    let mut command = run::cargo_command(&["build", "--quiet", "--locked", "--profile", "dist", "--package", "skald"]);
    set_release_flags(command.arg("--target-dir").arg(target), target)?;
    run::run_shown(&mut command)?;
    Ok(target.join("dist/skald"))
}

/// Sets the flags of rustc with which a release is built in a target folder.
pub(crate) fn set_release_flags(command: &mut Command, target: &Path) -> anyhow::Result<()> {
    command.env("CARGO_ENCODED_RUSTFLAGS", remap_flags(target)?);
    if function_order_file().exists() {
        command.env(startup_order::VARIABLE, function_order_file());
    }
    Ok(())
}

/// Flags for rustc, separated as Cargo wants it. The last rule that fits counts.
fn remap_flags(target: &Path) -> anyhow::Result<String> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo"))).context("no home folder")?;
    let root = paths::root();
    let rules = [(home.as_path(), "cargo"), (&root, "skald"), (target, "target")];
    let flags = rules.map(|(path, name)| format!("--remap-path-prefix={}={name}", path.display()));
    Ok(flags.join("\u{1f}"))
}

/// Copies the program without its symbols.
pub(super) fn strip(program: &Path, staging: &Path) -> anyhow::Result<PathBuf> {
    let stripped = staging.join("skald");
    copy(program, &stripped)?;
    run::run_captured(Command::new("strip").arg("--strip-all").arg(&stripped))?;
    Ok(stripped)
}

/// Checks with the example that the tests have built that there are man pages and completions for every shell.
pub(super) fn check_command_line_files() -> anyhow::Result<()> {
    let folder = paths::target().join("command-line-files");
    empty_folder(&folder)?;
    let example = paths::built_binary("debug", "examples/command_line_files");
    run::run_captured(Command::new(example).arg(&folder))?;
    for (file, text) in [
        ("man/man1/skald.1", "skald\\-serve(1)"),
        ("man/man1/skald-serve.1", "SKALD_HTTP_ADDR"),
        ("man/man1/skald-token-create.1", "gate\\-role"),
        ("completions/skald.bash", "complete -F _skald"),
        ("completions/_skald", "#compdef skald"),
        ("completions/skald.fish", "complete -c skald"),
        ("completions/_skald.ps1", "Register-ArgumentCompleter"),
    ] {
        let found = fs::read_to_string(folder.join(file)).with_context(|| format!("{file} is not written"))?;
        ensure!(found.contains(text), "{file} has no {text}");
    }
    for (shell, file) in [("bash", "skald.bash"), ("zsh", "_skald"), ("fish", "skald.fish")] {
        if run::is_installed(shell) {
            run::run_captured(Command::new(shell).arg("-n").arg(folder.join("completions").join(file)))?;
        } else {
            print_line(&format!("NOT RUN: completions for {shell}, which is not installed, are not parsed"));
        }
    }
    Ok(())
}

/// Has the man pages and completions written into a folder.
pub(super) fn write_command_line_files(folder: &Path) -> anyhow::Result<PathBuf> {
    empty_folder(folder)?;
    let mut command = run::cargo_command(&[
        "run",
        "--quiet",
        "--locked",
        "--package",
        "skald",
        "--example",
        "command_line_files",
        "--",
    ]);
    run::run_captured(command.arg(folder))?;
    Ok(folder.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_this_machine_are_replaced() {
        let flags = remap_flags(Path::new("/a/target")).unwrap();
        let flags: Vec<&str> = flags.split('\u{1f}').collect();
        assert_eq!(flags.len(), 3);
        assert_eq!(flags[1], format!("--remap-path-prefix={}=skald", paths::root().display()));
        assert_eq!(flags[2], "--remap-path-prefix=/a/target=target");
    }
}
