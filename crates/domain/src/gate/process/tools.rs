//! The tools of a coding agent: which it may use in a state, and with which arguments.
//!
//! A pattern is a tool's name, or a name and a pattern of its argument: `Read`, `mcp__*`, `Bash(git *)`; `*` stands for
//! anything. A command line is taken apart at what joins commands, so that `git status; rm -r .` is not let through by
//! `Bash(git *)`, and is held back by `Bash(rm *)`. Quotes are not looked at: in doubt a command is held back. A path that
//! goes up by `..` is let through by no pattern of paths.

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
const JOINTS: &[char] = &[';', '&', '|', '\n', '\r', '`', '(', ')', '{', '}', '<', '>'];

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
}

/// A call of a tool, with the parts of its argument.
struct Call<'a> {
    tool: &'a str,
    whole: String,
    parts: Vec<String>,
}

impl<'a> Call<'a> {
    fn new(tool: &'a str, input: &Value) -> Self {
        let command = input.get("command").and_then(Value::as_str);
        let named = ["file_path", "notebook_path", "path", "url", "pattern"];
        let argument = command.or_else(|| named.iter().find_map(|name| input.get(name)?.as_str()));
        let whole = argument.map_or_else(|| input.to_string(), str::to_owned);
        let parts = match command {
            Some(command) => command.split(JOINTS).map(|part| part.trim_matches(['$', ' ', '\t']).to_owned()).collect(),
            None => vec![whole.clone()],
        };
        Self { tool, whole, parts: parts.into_iter().filter(|part| !part.is_empty()).collect() }
    }

    /// Whether a pattern is about this call, or about any part of it.
    fn touches(&self, pattern: &str) -> bool {
        let (name, argument) = taken_apart(pattern);
        let texts = self.parts.iter().chain([&self.whole]);
        is_like(name, self.tool)
            && argument.is_none_or(|argument| texts.into_iter().any(|text| is_like(argument, text)))
    }

    /// Whether every part of the call is let through by some pattern.
    fn is_covered_by(&self, patterns: &[String]) -> bool {
        let patterns: Vec<(&str, Option<&str>)> = patterns.iter().map(|pattern| taken_apart(pattern)).collect();
        let mut of_tool = patterns.into_iter().filter(|(name, _)| is_like(name, self.tool)).peekable();
        if of_tool.peek().is_none() {
            return false;
        }
        let of_tool: Vec<Option<&str>> = of_tool.map(|(_, argument)| argument).collect();
        let goes_up = self.whole.split(['/', '\\']).any(|part| part == "..");
        if goes_up && !of_tool.contains(&None) {
            return false;
        }
        let covers =
            |text: &String| of_tool.iter().any(|argument| argument.is_none_or(|argument| is_like(argument, text)));
        self.parts.iter().all(covers)
    }
}

/// The name of a pattern, and the pattern of the argument, if it has one.
fn taken_apart(pattern: &str) -> (&str, Option<&str>) {
    match pattern.strip_suffix(')').and_then(|pattern| pattern.split_once('(')) {
        Some((name, argument)) => (name, Some(argument)),
        None => (pattern, None),
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn permissions(allowed: &[&str], denied: &[&str], ask: &[&str]) -> ToolPermissions {
        let owned = |patterns: &[&str]| patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
        ToolPermissions { allowed: owned(allowed), denied: owned(denied), ask: owned(ask) }
    }

    fn bash(permissions: &ToolPermissions, command: &str) -> Permission {
        permissions.of("Bash", &json!({ "command": command }))
    }

    #[test]
    fn what_is_denied_comes_first_then_what_is_asked_for() {
        let mixed = permissions(&["Read", "Bash", "Edit"], &["Edit"], &["Bash"]);
        let of = |tool: &str| mixed.of(tool, &json!({}));
        assert_eq!([of("Read"), of("Bash"), of("Edit")], [Permission::Allow, Permission::Ask, Permission::Deny]);
        assert_eq!(of("Write"), Permission::Deny, "something is allowed, and this is not it");
        assert_eq!(permissions(&[], &["Edit"], &[]).of("Write", &json!({})), Permission::Allow);
        assert_eq!(ToolPermissions::default().of("Anything", &json!(null)), Permission::Allow);
    }

    #[test]
    fn names_and_arguments_are_patterns() {
        let some = permissions(&["mcp__state-gate__*", "Edit(src/*)", "Bash(cargo test*)", "Bash(ls)"], &[], &[]);
        assert_eq!(some.of("mcp__state-gate__get_state", &json!({})), Permission::Allow);
        assert_eq!(some.of("mcp__other", &json!({})), Permission::Deny);
        assert_eq!(some.of("Edit", &json!({"file_path": "src/gate/mod.rs"})), Permission::Allow);
        assert_eq!(some.of("Edit", &json!({"file_path": "tests/x.rs"})), Permission::Deny);
        assert_eq!(some.of("Edit", &json!({"file_path": "src/../../x.rs"})), Permission::Deny);
        assert_eq!(bash(&some, "cargo test -p domain"), Permission::Allow);
        assert_eq!(bash(&some, "ls && cargo test"), Permission::Allow, "each part is allowed by some pattern");
        assert_eq!(bash(&some, "cargo run"), Permission::Deny);
    }

    #[test]
    fn a_command_cannot_ride_on_another() {
        let git = permissions(&["Bash(git *)"], &[], &[]);
        assert_eq!(bash(&git, "git status"), Permission::Allow);
        for command in [
            "git status; rm -r .",
            "git status && rm -r .",
            "git status | sh",
            "git log $(rm -r .)",
            "git log `rm -r .`",
            "git log\nrm -r .",
            "git log & rm -r .",
            "git show > ~/.profile",
            "rm -r . # git *",
        ] {
            assert_eq!(bash(&git, command), Permission::Deny, "{command}");
        }
        let no_rm = permissions(&[], &["Bash(rm *)"], &[]);
        assert_eq!(bash(&no_rm, "cd x; rm -r ."), Permission::Deny);
        assert_eq!(bash(&no_rm, "ls $(rm -r .)"), Permission::Deny);
        assert_eq!(bash(&no_rm, "ls"), Permission::Allow);
    }

    #[test]
    fn stars_stand_for_anything_and_cost_little() {
        assert!(is_like("*", "") && is_like("a*c", "abbc") && is_like("*b*", "abc") && is_like("", ""));
        assert!(!is_like("a*c", "abcd") && !is_like("", "a") && !is_like("a", "") && !is_like("ab", "a"));
        assert!(!is_like(&"*a".repeat(50), &"b".repeat(10_000)));
    }
}
