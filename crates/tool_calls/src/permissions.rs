//! Permission check of tool calls: matches a tool and its arguments against the patterns of a state.
//!
//! A pattern is a tool's name, or a name and a pattern of its argument: `Read`, `mcp__*`, `Bash(git *)`, `Edit(src/*)`;
//! `*` stands for anything, and `Bash(git:*)` for `git` with or without arguments. In doubt a call is denied:
//!
//! - A call is allowed if every command of its command lines and every path is matched by some pattern. A path that
//!   goes up by `..` never is. Commands are matched as written, so `git diff *` does not allow `git -C . diff`. A part
//!   that is known only when the line runs (`$x`, `$(…)`) is matched only by `*`. So is a command that another command
//!   runs, unless a pattern spells it out or matches it by itself, and an option that names a program, unless a pattern
//!   spells it out.
//! - A call is denied if any part of it matches a denied pattern, regardless of case and quotes: `Bash(rm *)` also
//!   denies `sudo /bin/rm -r .` and `sh -c "rm -r ."`, `Bash(git push *)` also `git -C . push`, and `Edit(secrets/*)`
//!   also `/home/me/./secrets/key`. A program that is known only when the line runs could be a denied one, so it counts
//!   as a match.

#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::call_strings::{self, CallString};
use crate::shell::{self, CommandLine, ShellCommand};

/// The tool permissions of a state, as patterns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolPermissions {
    pub allowed: Vec<String>,
    pub denied: Vec<String>,
    pub ask: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    Allow,
    Ask,
    Deny,
}

/// Characters that separate commands in a shell, or begin a nested one.
const COMMAND_SEPARATORS: &[char] = &[';', '&', '|', '\n', '\r', '`', '(', ')', '{', '}'];
/// Further characters that end a word of code in a command line.
const CODE_SEPARATORS: &[char] = &['\'', '"', ',', '[', ']'];
/// The pattern that allows everything.
const ANYTHING: &str = "*";
/// Tool arguments that contain a path or a URL.
const PATH_FIELDS: [&str; 4] = ["file_path", "notebook_path", "path", "url"];

impl ToolPermissions {
    /// The permission of a tool call. `denied` has precedence over `ask`, and `ask` over `allowed`. A call that matches
    /// nothing is denied, or allowed if `allowed` is empty.
    pub fn check_call(&self, tool: &str, input: &Value) -> Permission {
        let call = PreparedCall::new(tool, input);
        let any = |patterns: &[String]| patterns.iter().any(|pattern| call.matches_any_part(pattern));
        if any(&self.denied) {
            Permission::Deny
        } else if any(&self.ask) {
            Permission::Ask
        } else if self.allowed.is_empty() || call.is_covered_by(&self.allowed) {
            Permission::Allow
        } else {
            Permission::Deny
        }
    }

    /// Splits a pattern into the tool's name and the argument's pattern, if it has one.
    pub fn split_pattern(pattern: &str) -> (&str, Option<&str>) {
        match pattern.strip_suffix(')').and_then(|pattern| pattern.split_once('(')) {
            Some((name, argument)) => (name, Some(argument)),
            None => (pattern, None),
        }
    }

    /// Expands an argument pattern: `git:*` becomes `git` and `git *`.
    pub fn expand_argument(argument: &str) -> Vec<String> {
        match argument.strip_suffix(":*") {
            Some(command) => vec![command.to_owned(), format!("{command} *")],
            None => vec![argument.to_owned()],
        }
    }

    /// Whether a pattern is well-formed.
    pub fn is_pattern(pattern: &str) -> bool {
        match pattern.split_once('(') {
            Some((name, argument)) => !name.is_empty() && argument.ends_with(')'),
            None => !pattern.contains(')'),
        }
    }
}

/// A tool call, prepared for matching.
struct PreparedCall<'a> {
    tool: &'a str,
    /// Its command lines, all of whose commands must be allowed.
    lines: Vec<CommandLine>,
    /// Its paths and URLs, all of which must be allowed.
    places: Vec<String>,
    /// All its texts in normalized form, for matching denied patterns.
    plain: Vec<String>,
    goes_up: bool,
}

impl<'a> PreparedCall<'a> {
    fn new(tool: &'a str, input: &Value) -> Self {
        let command = input.get("command").and_then(command_text);
        let mut places: Vec<String> =
            PATH_FIELDS.iter().filter_map(|name| Some(input.get(name)?.as_str()?.to_owned())).collect();
        for pattern in ["pattern", "glob"].iter().filter_map(|name| input.get(name)?.as_str()) {
            // A file pattern is relative to the path, unless it is absolute or goes up.
            if places.is_empty() || pattern.starts_with(['/', '~']) || has_parent_component(pattern) {
                places.push(pattern.to_owned());
            }
        }
        let is_named = |name: &str| ["command", "pattern", "glob"].contains(&name) || PATH_FIELDS.contains(&name);
        let strings = call_strings::strings(tool, input);
        let others = strings.iter().filter(|string| !(string.is_top && is_named(string.field)));
        let (commands, others): (Vec<&CallString>, Vec<&CallString>) = others.partition(|string| string.is_command());
        let is_bare = command.is_none() && places.is_empty();
        places.extend(others.iter().filter(|string| string.is_path()).map(|string| string.text.to_owned()));
        if is_bare {
            places.push(input.to_string());
        }
        let texts: Vec<String> =
            command.into_iter().chain(commands.iter().map(|string| string.text.to_owned())).collect();
        let joined = call_strings::joined_commands(input);
        let looked_at = texts.iter().map(String::as_str).chain(joined.iter().map(String::as_str));
        let looked_at =
            looked_at.chain(others.iter().filter(|string| !string.field.is_empty()).map(|string| string.text));
        let mut plain: Vec<String> = looked_at.flat_map(normalize_commands).collect();
        plain.extend(places.iter().flat_map(|place| [normalize_path(place), resolve_parents(place)]));
        let lines: Vec<CommandLine> = texts.iter().map(|text| shell::read(text)).collect();
        let words = lines.iter().flat_map(CommandLine::all_commands).flat_map(|command| &command.words);
        let goes_up = words.map(|word| &word.text).chain(&texts).chain(&places).any(|text| has_parent_component(text));
        Self { tool, lines, places, plain, goes_up }
    }

    /// Whether a pattern matches the tool and any part of the call.
    fn matches_any_part(&self, pattern: &str) -> bool {
        let (name, argument) = ToolPermissions::split_pattern(pattern);
        let is_like_any = |argument: &str| {
            let argument = argument.to_lowercase();
            let forms = [argument.clone(), format!("* {argument}"), format!("*/{argument}")];
            self.plain.iter().any(|text| forms.iter().any(|form| matches_denied(form, text))) || self.can_run(&argument)
        };
        matches_glob(&name.to_lowercase(), &self.tool.to_lowercase())
            && argument.is_none_or(|argument| {
                ToolPermissions::expand_argument(argument).iter().any(|argument| is_like_any(argument))
            })
    }

    /// Whether a command of the call matches a pattern, or may do so when the line runs.
    fn can_run(&self, pattern: &str) -> bool {
        let program = pattern.split_whitespace().next().filter(|program| !program.contains(['/', '*']));
        self.lines.iter().any(|line| {
            (program.is_some() && line.has_unknown_program())
                || line.all_commands().iter().any(|command| {
                    let forms = command.normal_forms();
                    (program.is_some() && command.program().as_deref() == program && command.is_subcommand_unknown())
                        || forms.iter().any(|form| matches_denied(pattern, form))
                })
        })
    }

    /// Whether every part of the call matches some pattern.
    fn is_covered_by(&self, patterns: &[String]) -> bool {
        let patterns = patterns.iter().map(|pattern| ToolPermissions::split_pattern(pattern));
        let of_tool: Vec<Option<&str>> =
            patterns.filter(|(name, _)| matches_glob(name, self.tool)).map(|(_, argument)| argument).collect();
        if of_tool.contains(&None) {
            return true;
        }
        let arguments: Vec<String> = of_tool.into_iter().flatten().flat_map(ToolPermissions::expand_argument).collect();
        let is_covered = |place: &String| arguments.iter().any(|argument| matches_glob(argument, place));
        !arguments.is_empty()
            && !self.goes_up
            && self.places.iter().all(is_covered)
            && self.lines.iter().all(|line| is_line_covered(line, &arguments))
    }
}

/// Whether every command of a line matches some pattern.
fn is_line_covered(line: &CommandLine, patterns: &[String]) -> bool {
    let is_covered = |command: &ShellCommand| is_command_covered(command, patterns);
    patterns.iter().any(|pattern| pattern == ANYTHING) || (line.is_understood && line.commands.iter().all(is_covered))
}

fn is_command_covered(command: &ShellCommand, patterns: &[String]) -> bool {
    let source = command.source();
    let is_redirected_well = command.redirections.iter().all(|redirection| {
        redirection.is_harmless() || patterns.iter().any(|pattern| matches_glob(pattern, &redirection.source()))
    });
    let says = |pattern: &str, at: usize| spells_out(pattern, command, at);
    command.is_literal()
        && is_redirected_well
        && (source.is_empty()
            || patterns.iter().any(|pattern| {
                matches_glob(pattern, &source)
                    && command.program_option_index().is_none_or(|at| says(pattern, at))
                    && command.inner.iter().all(|inner| {
                        says(pattern, inner.at)
                            || inner.line.as_ref().is_some_and(|line| is_line_covered(line, patterns))
                    })
            }))
}

/// Whether a pattern spells out a command up to and including a word, before its first `*`.
fn spells_out(pattern: &str, command: &ShellCommand, at: usize) -> bool {
    let Some(words) = command.words.get(..=at) else { return false };
    let words = command.assignments.iter().chain(words).map(|word| word.source.as_str());
    let literal = pattern.split('*').next().unwrap_or_default();
    literal.starts_with(&words.collect::<Vec<_>>().join(" "))
}

/// A command line, given as a text or as a list of words.
fn command_text(command: &Value) -> Option<String> {
    match command {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => Some(words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")),
        _ => None,
    }
}

fn has_parent_component(text: &str) -> bool {
    text.split(|character: char| matches!(character, '/' | '\\') || character.is_whitespace()).any(|part| part == "..")
}

/// Normalized forms of a command line: lower case, without quotes, with one space between words. The second form also
/// replaces separators of commands by spaces, the third those of code too.
fn normalize_commands(line: &str) -> [String; 3] {
    let spaced = line.replace("${IFS}", " ").replace("$IFS", " ").replace(['<', '>'], " ").to_lowercase();
    let bare = |text: &str| {
        let text = text.replace(['\'', '"', '\\'], "");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let apart = spaced.replace(COMMAND_SEPARATORS, " ");
    [bare(&spaced), bare(&apart), bare(&apart.replace(CODE_SEPARATORS, " "))]
}

/// A path in lower case, without empty components and `.`.
fn normalize_path(path: &str) -> String {
    let path = path.to_lowercase().replace('\\', "/");
    let (root, rest) = match path.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (if path.starts_with('/') { "/" } else { "" }.to_owned(), path.as_str()),
    };
    let steps: Vec<&str> = rest.split('/').filter(|step| !matches!(*step, "" | ".")).collect();
    root + &steps.join("/")
}

/// A normalized path in which every `..` is resolved.
fn resolve_parents(path: &str) -> String {
    let path = normalize_path(path);
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/') {
        if step == ".." && steps.last().is_some_and(|last| !last.is_empty()) {
            steps.pop();
        } else {
            steps.push(step);
        }
    }
    steps.join("/")
}

/// Whether a text matches a denied pattern. `git push *` also matches `git push` without arguments.
fn matches_denied(pattern: &str, text: &str) -> bool {
    matches_glob(pattern, text) || (pattern.ends_with(" *") && matches_glob(pattern, &format!("{text} ")))
}

/// Whether a text matches a pattern in which `*` stands for anything. Backtracks only to the last `*`.
fn matches_glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut place) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while place < text.len() {
        match (pattern.get(at), back) {
            (Some('*'), _) => {
                back = Some((at + 1, place));
                at += 1;
            }
            (Some(character), _) if *character == text[place] => {
                at += 1;
                place += 1;
            }
            (_, Some((after, seen))) => {
                back = Some((after, seen + 1));
                (at, place) = (after, seen + 1);
            }
            (_, None) => return false,
        }
    }
    pattern[at..].iter().all(|character| *character == '*')
}
