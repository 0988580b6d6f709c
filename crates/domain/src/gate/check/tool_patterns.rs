//! Checks patterns of allowed tools for those that let any shell command through. `Bash(git *)` also allows `git -c
//! alias.x='!…' x`, and `Bash(find *)` also `-delete`.

use super::Checker;
use super::launcher_programs::{LAUNCHER_PROGRAMS, LauncherProgram, OpenArguments};
use crate::gate::finding::{Rule, shorten};
use crate::gate::process::ToolPermissions;
use skald_tool_calls::shell::{self, ShellCommand};

/// Parts of the names of tools that run command lines.
const SHELL_TOOLS: [&str; 4] = ["bash", "shell", "terminal", "exec"];

pub(super) fn check(checker: &mut Checker<'_>) {
    let process = checker.process;
    for (state, permissions) in process.states.iter().enumerate() {
        let allowed = permissions.tool_permissions.iter().flat_map(|permissions| &permissions.allowed);
        for (place, pattern) in allowed.enumerate() {
            let Some(why) = too_wide_reason(pattern) else { continue };
            let path = format!("/states/{state}/tool_permissions/allowed/{place}");
            let message = format!("{:?} lets a shell through: {why}", shorten(pattern));
            let hint = "allow only what the state needs, as in Bash(git diff *); if a whole shell is meant, write Bash";
            checker.report(Rule::ToolPatternTooWide, &path, message, hint);
        }
    }
}

/// Why a pattern allows any shell command, if it does.
fn too_wide_reason(pattern: &str) -> Option<&'static str> {
    let (tool, argument) = ToolPermissions::split_pattern(pattern);
    let tool = tool.to_lowercase();
    if !tool.contains('*') && !SHELL_TOOLS.iter().any(|name| tool.contains(name)) {
        return None;
    }
    ToolPermissions::expand_argument(argument?).iter().find_map(|argument| argument_reason(argument))
}

fn argument_reason(argument: &str) -> Option<&'static str> {
    let (literal, _) = argument.split_once('*')?;
    let line = shell::read(literal);
    // Whether the `*` begins a new word.
    let is_whole = literal.ends_with(char::is_whitespace);
    match line.commands.last().filter(|command| !command.words.is_empty()) {
        None if literal.contains('/') => None,
        None => Some("it is any program"),
        Some(command) => command_reason(command, is_whole),
    }
}

fn command_reason(command: &ShellCommand, is_whole: bool) -> Option<&'static str> {
    let program = command.program()?;
    if command.words.len() == 1 && !is_whole {
        let begins = |launcher: &&LauncherProgram| launcher.names.iter().any(|name| name.starts_with(&program));
        return LAUNCHER_PROGRAMS
            .iter()
            .filter(|launcher| launcher.subcommand.is_empty())
            .find(begins)
            .map(|launcher| launcher.why);
    }
    let inner = command.inner.iter().filter_map(|inner| inner.line.as_ref()?.commands.last());
    let inner: Vec<&ShellCommand> = inner.filter(|inner| !inner.words.is_empty()).collect();
    if let Some(inner) = inner.last() {
        return command_reason(inner, is_whole);
    }
    let at = command.first_argument_index()?;
    let argument = command.words.get(at).map(|word| word.text.as_str()).filter(|text| !text.starts_with('-'));
    let is_whole = is_whole || at + 1 < command.words.len();
    let is_too_wide = |launcher: &&LauncherProgram| {
        let is_open = match (launcher.subcommand, launcher.open_arguments) {
            ("", OpenArguments::AnyArgument) => true,
            ("", OpenArguments::FirstArgument) => argument.is_none(),
            (subcommand, _) if is_whole => argument == Some(subcommand),
            (subcommand, _) => argument.is_some_and(|begin| subcommand.starts_with(begin)),
        };
        is_open && launcher.names.contains(&program.as_str())
    };
    LAUNCHER_PROGRAMS.iter().find(is_too_wide).map(|launcher| launcher.why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_the_shell_parser_knows_to_run_other_programs_is_too_wide() {
        for name in shell::launcher_names() {
            let pattern = format!("Bash({name} *)");
            assert!(too_wide_reason(&pattern).is_some(), "{pattern}");
        }
        for (name, subcommand) in shell::launcher_subcommands() {
            let pattern = format!("Bash({name} {subcommand} *)");
            assert!(too_wide_reason(&pattern).is_some(), "{pattern}");
        }
    }

    #[test]
    fn patterns_that_allow_a_shell_are_told_from_others() {
        for pattern in [
            "Bash(*)",
            "Bash(* --help)",
            "Bash(git *)",
            "Bash(git:*)",
            "Bash(git*)",
            "Bash(git -C *)",
            "Bash(git config *)",
            "Bash(git conf*)",
            "Bash(git rebase *)",
            "Bash(/usr/bin/git *)",
            "Bash(cargo *)",
            "Bash(car*)",
            "Bash(find *)",
            "Bash(find src -name *)",
            "Bash(xargs *)",
            "Bash(xargs -n 1 *)",
            "Bash(xargs sh *)",
            "Bash(env *)",
            "Bash(env A=1 *)",
            "Bash(npm *)",
            "Bash(npm run *)",
            "Bash(npx *)",
            "Bash(make *)",
            "Bash(python *)",
            "Bash(python3 -c *)",
            "Bash(python3 -m *)",
            "Bash(bash *)",
            "Bash(bash -c *)",
            "Bash(sudo *)",
            "Bash(timeout 60 *)",
            "Bash(timeout 60 git *)",
            "Bash(sed *)",
            "Bash(sed -n *)",
            "Bash(awk *)",
            "Bash(vim *)",
            "Bash(ssh host *)",
            "Bash(docker *)",
            "Bash(docker run *)",
            "Bash(eval *)",
            "*(git *)",
            "mcp__my_shell__run(git *)",
        ] {
            assert!(too_wide_reason(pattern).is_some(), "{pattern}");
        }
        for pattern in [
            "Bash",
            "Bash(ls *)",
            "Bash(git status)",
            "Bash(git status *)",
            "Bash(git diff *)",
            "Bash(git diff:*)",
            "Bash(git -C sub log *)",
            "Bash(cargo test *)",
            "Bash(cargo test*)",
            "Bash(npm test *)",
            "Bash(npm run lint)",
            "Bash(make test)",
            "Bash(make test *)",
            "Bash(python3 scripts/check.py *)",
            "Bash(python3 -m pytest *)",
            "Bash(bash scripts/check.sh *)",
            "Bash(timeout 60 cargo test *)",
            "Bash(xargs grep -l *)",
            "Bash(sed -n 1,20p *)",
            "Bash(grep *)",
            "Bash(find src -name a)",
            "Edit(src/*)",
            "Edit(git *)",
            "*(src/*)",
            "WebFetch(https://*)",
        ] {
            assert_eq!(too_wide_reason(pattern), None, "{pattern}");
        }
    }
}
