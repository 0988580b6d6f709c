//! The tools of a coding agent: which it may use in a state, and with which arguments.
//!
//! A pattern is a tool's name, or a name and a pattern of its argument: `Read`, `mcp__*`, `Bash(git *)`, `Edit(src/*)`;
//! `*` stands for anything, and `Bash(git:*)` for `git` alone or with more. In doubt a call is held back:
//!
//! - To be let through, every command of a command line and every path must be covered, and a path that goes up by `..`
//!   never is. A command line is taken apart at what joins commands, so that `git status; rm -r .` is not let through by
//!   `Bash(git *)`; where output goes is a part of its own, so that `> git rm -r .` is not either.
//! - To be held back, it is enough that some words of it, in any case, without quotes, are what is denied: `Bash(rm *)`
//!   also holds back `sudo /bin/rm -r .` and `sh -c "rm -r ."`, and `Edit(secrets/*)` also `/home/me/./secrets/key`.

#[cfg(test)]
mod tests;

use serde_json::Value;

/// What a state says of the tools, as patterns.
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

/// What joins commands in a shell, or begins one inside another.
const JOINTS: &[char] = &[';', '&', '|', '\n', '\r', '`', '(', ')', '{', '}'];
/// The arguments by which tools are told where to go.
const PLACES: [&str; 4] = ["file_path", "notebook_path", "path", "url"];

impl ToolPermissions {
    /// Whether a tool may be used with this input. What is denied is denied, whatever else is said; then comes what is
    /// asked for. If anything is allowed, what is not is denied; if nothing is, everything else is allowed.
    pub fn of(&self, tool: &str, input: &Value) -> Permission {
        let call = Call::new(tool, input);
        let any = |patterns: &[String]| patterns.iter().any(|pattern| call.touches(pattern));
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

    /// Whether a pattern has the form of one.
    pub(super) fn is_pattern(pattern: &str) -> bool {
        match pattern.split_once('(') {
            Some((name, argument)) => !name.is_empty() && argument.ends_with(')'),
            None => !pattern.contains(')'),
        }
    }
}

/// A call of a tool.
struct Call<'a> {
    tool: &'a str,
    /// Its commands and paths as they are, each of which must be allowed.
    parts: Vec<String>,
    /// The same in the plainest form, in which what is denied is looked for.
    plain: Vec<String>,
    goes_up: bool,
}

impl<'a> Call<'a> {
    fn new(tool: &'a str, input: &Value) -> Self {
        let command = input.get("command").and_then(words);
        let mut places: Vec<String> =
            PLACES.iter().filter_map(|name| Some(input.get(name)?.as_str()?.to_owned())).collect();
        if let Some(pattern) = input.get("pattern").and_then(Value::as_str) {
            // A pattern of files is looked for below a path, unless it leads away from it.
            if places.is_empty() || pattern.starts_with(['/', '~']) || goes_up(pattern) {
                places.push(pattern.to_owned());
            }
        }
        if command.is_none() && places.is_empty() {
            places.push(input.to_string());
        }
        let goes_up = command.iter().chain(&places).any(|text| goes_up(text));
        let mut parts = command.as_deref().map(commands).unwrap_or_default();
        let mut plain: Vec<String> = command.iter().map(|command| plain_command(command)).collect();
        plain.extend(parts.iter().map(|part| plain_command(part)));
        plain.extend(places.iter().flat_map(|place| [plain_place(place), resolved(place)]));
        parts.extend(places);
        Self { tool, parts, plain, goes_up }
    }

    /// Whether a pattern is about this call, or about any part of it.
    fn touches(&self, pattern: &str) -> bool {
        let (name, argument) = taken_apart(pattern);
        let is_like_any = |argument: &str| {
            let argument = argument.to_lowercase();
            let forms = [argument.clone(), format!("* {argument}"), format!("*/{argument}")];
            self.plain.iter().any(|text| forms.iter().any(|form| is_like(form, text)))
        };
        is_like(&name.to_lowercase(), &self.tool.to_lowercase())
            && argument.is_none_or(|argument| meant(argument).iter().any(|argument| is_like_any(argument)))
    }

    /// Whether every part of the call is let through by some pattern.
    fn is_covered_by(&self, patterns: &[String]) -> bool {
        let patterns = patterns.iter().map(|pattern| taken_apart(pattern));
        let of_tool: Vec<Option<&str>> =
            patterns.filter(|(name, _)| is_like(name, self.tool)).map(|(_, argument)| argument).collect();
        if of_tool.contains(&None) {
            return true;
        }
        let arguments: Vec<String> = of_tool.into_iter().flatten().flat_map(meant).collect();
        let is_covered = |text: &String| arguments.iter().any(|argument| is_like(argument, text));
        !arguments.is_empty() && !self.goes_up && self.parts.iter().all(is_covered)
    }
}

/// A command line, as a text or as a list of words.
fn words(command: &Value) -> Option<String> {
    match command {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => Some(words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")),
        _ => None,
    }
}

fn goes_up(text: &str) -> bool {
    text.split(|character: char| matches!(character, '/' | '\\') || character.is_whitespace()).any(|part| part == "..")
}

/// The commands of a command line. A redirection begins a part that says so, since the word after it is no command.
fn commands(line: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for character in line.chars() {
        if JOINTS.contains(&character) || matches!(character, '<' | '>') {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut().filter(|_| !JOINTS.contains(&character)) {
            part.push(character);
        }
    }
    let trimmed = parts.iter().map(|part| part.trim_matches(['$', ' ', '\t']).to_owned());
    trimmed.filter(|part| !part.is_empty()).collect()
}

/// A command in lower case, without quotes, and with one space between words.
fn plain_command(command: &str) -> String {
    let spaced = command.replace("${IFS}", " ").replace("$IFS", " ").replace(['<', '>'], " ");
    let bare = spaced.replace(['\'', '"', '\\'], "").to_lowercase();
    bare.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A path in lower case, without steps that lead nowhere.
fn plain_place(path: &str) -> String {
    let path = path.to_lowercase().replace('\\', "/");
    let (root, rest) = match path.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (if path.starts_with('/') { "/" } else { "" }.to_owned(), path.as_str()),
    };
    let steps: Vec<&str> = rest.split('/').filter(|step| !matches!(*step, "" | ".")).collect();
    root + &steps.join("/")
}

/// A path where every `..` was taken.
fn resolved(path: &str) -> String {
    let path = plain_place(path);
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

/// The name of a pattern, and the pattern of the argument, if it has one.
fn taken_apart(pattern: &str) -> (&str, Option<&str>) {
    match pattern.strip_suffix(')').and_then(|pattern| pattern.split_once('(')) {
        Some((name, argument)) => (name, Some(argument)),
        None => (pattern, None),
    }
}

/// What an argument pattern stands for: `git:*` is `git`, alone or with more.
fn meant(argument: &str) -> Vec<String> {
    match argument.strip_suffix(":*") {
        Some(command) => vec![command.to_owned(), format!("{command} *")],
        None => vec![argument.to_owned()],
    }
}

/// Whether a text is like a pattern in which `*` stands for anything; found in one pass with one place to come back to.
fn is_like(pattern: &str, text: &str) -> bool {
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
