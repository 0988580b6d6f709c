//! Runs other programs, with their output shown or captured.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, bail};

use crate::{paths, print_line};

/// Cargo in the workspace.
pub(crate) fn cargo_command(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(paths::root());
    command
}

/// Runs a command and shows its output.
pub(crate) fn run_shown(command: &mut Command) -> anyhow::Result<()> {
    print_line(&format!("$ {}", command_line(command)));
    let status =
        command.stdin(Stdio::null()).status().with_context(|| format!("cannot start {}", command_line(command)))?;
    if !status.success() {
        bail!("{} ended with {status}", command_line(command));
    }
    Ok(())
}

/// Runs a command and returns its output. A failure includes its standard error.
pub(crate) fn run_captured(command: &mut Command) -> anyhow::Result<String> {
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("cannot start {}", command_line(command)))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!("{} ended with {}\n{text}{errors}", command_line(command), output.status);
    }
    Ok(text)
}

/// Runs a command without pipes, since it may leave a process running.
pub(crate) fn run_silently(command: &mut Command) -> anyhow::Result<()> {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = command.status().with_context(|| format!("cannot start {}", command_line(command)))?;
    if !status.success() {
        bail!("{} ended with {status}", command_line(command));
    }
    Ok(())
}

/// Whether a program is on the path.
pub(crate) fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// A command as one would type it, without the folders.
fn command_line(command: &Command) -> String {
    let name = |word: &OsStr| Path::new(word).file_name().unwrap_or(word).to_string_lossy().into_owned();
    let words = command.get_args().map(|word| word.to_string_lossy().into_owned());
    std::iter::once(name(command.get_program())).chain(words).collect::<Vec<_>>().join(" ")
}
