//! Parser of shell command lines, as `sh`, `bash` and `zsh` read them. It finds commands, their words without quotes,
//! and the commands that they run in turn (`sudo rm x`, `sh -c 'rm x'`, `find . -exec rm {} +`).
//!
//! Nothing is expanded that is known only when the line runs. A word with such a part is not literal, and a line with
//! syntax that this parser does not support is not understood; callers must treat both as unknown.

mod braces;
mod inner_commands;
mod lexer;
mod normal_form;
mod programs;
mod quotes_and_expansions;
#[cfg(test)]
mod tests;

pub use programs::{launcher_names, launcher_subcommands};

/// Longer lines are not parsed, and so not understood.
pub const LINE_BYTES_MAX: usize = 1 << 18;
/// Maximum nesting of command lines (`sh -c "sh -c …"`).
const DEPTH_MAX: usize = 12;

/// A command line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandLine {
    /// Its commands in the order of the text, including those of subshells and substitutions.
    pub commands: Vec<ShellCommand>,
    /// Whether all of the text was parsed. If not, there may be commands that are not listed.
    pub is_understood: bool,
}

/// One command: a program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShellCommand {
    /// `NAME=value` before the program.
    pub assignments: Vec<Word>,
    /// The program and its arguments.
    pub words: Vec<Word>,
    pub redirections: Vec<Redirection>,
    /// Whether it gets more arguments when it runs, like a command of `xargs`.
    pub has_more_words: bool,
    /// Whether it reads the output of the command before it.
    pub is_piped_into: bool,
    /// The text of its here-document or here-string.
    pub input: Option<String>,
    /// The commands that it runs.
    pub inner: Vec<InnerCommands>,
}

/// Commands that a command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InnerCommands {
    /// Index of the outer command's word that contains or begins them.
    pub at: usize,
    /// The commands; `None` if they are not written in the line, as with `… | sh`.
    pub line: Option<CommandLine>,
}

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Word {
    /// As it is written.
    pub source: String,
    /// Without quotes, and with the values of variables that the line itself sets. An unknown part stays as written.
    pub text: String,
    /// Whether the shell uses `text` as it is, except for file patterns.
    pub is_literal: bool,
    /// Whether `*`, `?` or `[` stand in it without quotes.
    pub has_pattern: bool,
}

/// Where a command reads from or writes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// `<`, `>`, `>>`, `&>` and so on, without the number before it.
    pub operator: &'static str,
    pub target: Word,
}

/// Parses a command line.
pub fn read(text: &str) -> CommandLine {
    read_nested(text, 0)
}

fn read_nested(text: &str, depth: usize) -> CommandLine {
    if text.len() > LINE_BYTES_MAX || depth > DEPTH_MAX {
        return CommandLine::default();
    }
    let mut line = lexer::read(text, depth);
    for command in &mut line.commands {
        command.inner = inner_commands::find(command, depth);
    }
    line
}

impl CommandLine {
    /// All commands, including those that other commands run.
    pub fn all_commands(&self) -> Vec<&ShellCommand> {
        let mut all = Vec::new();
        self.collect_commands(&mut all);
        all
    }

    fn collect_commands<'a>(&'a self, all: &mut Vec<&'a ShellCommand>) {
        for command in &self.commands {
            all.push(command);
            for inner in command.inner.iter().filter_map(|inner| inner.line.as_ref()) {
                inner.collect_commands(all);
            }
        }
    }

    /// Whether all of it was parsed, including nested command lines.
    pub fn is_understood_throughout(&self) -> bool {
        let inner = |inner: &InnerCommands| inner.line.as_ref().is_some_and(Self::is_understood_throughout);
        self.is_understood && self.commands.iter().all(|command| command.inner.iter().all(inner))
    }
}

impl ShellCommand {
    /// The program without its folder, in lower case: `git` for `/usr/bin/Git.exe`. `None` if it is known only when the
    /// line runs, or if there is none.
    pub fn program(&self) -> Option<String> {
        // Only the file name counts: `$(dirname x)/git` is `git`.
        let name = self.words.first()?.text.rsplit('/').next()?.trim_start_matches('=').to_lowercase();
        let is_test = matches!(name.as_str(), "[" | "[[");
        let is_known =
            is_test || !name.is_empty() && !name.contains(['$', '`', '(', ')', '{', '}', '*', '?', '[', ' ']);
        is_known.then(|| name.strip_suffix(".exe").map(str::to_owned).unwrap_or(name))
    }

    /// As it is written, with one blank between words and without redirections.
    pub fn source(&self) -> String {
        let words = self.assignments.iter().chain(&self.words);
        words.map(|word| word.source.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// Whether every word of it is known before it runs.
    pub fn is_literal(&self) -> bool {
        let targets = self.redirections.iter().map(|redirection| &redirection.target);
        self.assignments.iter().chain(&self.words).chain(targets).all(|word| word.is_literal)
    }
}

impl Redirection {
    /// Whether it neither reads nor writes a file: `2>&1`, `>/dev/null`.
    pub fn is_harmless(&self) -> bool {
        let target = self.target.text.as_str();
        let is_descriptor = !target.is_empty() && target.chars().all(|letter| letter.is_ascii_digit() || letter == '-');
        match self.operator {
            ">&" | "<&" => is_descriptor,
            _ => target == "/dev/null",
        }
    }

    pub fn source(&self) -> String {
        format!("{} {}", self.operator, self.target.source)
    }
}
