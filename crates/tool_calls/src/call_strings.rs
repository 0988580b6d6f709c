//! Extracts the strings of a tool call that may name a file or contain a command, whatever the fields are called.
//!
//! Text that a known tool writes, searches for or says is content and left out: it may mention a file without touching
//! it. Of an unknown tool every string is returned.

use serde_json::Value;

/// The fields of known tools that contain only content.
const CONTENT_FIELDS: &[(&str, &[&str])] = &[
    ("Write", &["content"]),
    ("Edit", &["old_string", "new_string"]),
    ("MultiEdit", &["old_string", "new_string"]),
    ("NotebookEdit", &["new_source", "cell_id", "cell_type", "edit_mode"]),
    ("Bash", &["description"]),
    ("Grep", &["pattern", "type", "output_mode"]),
    ("Task", &["prompt", "description", "subagent_type"]),
    ("Agent", &["prompt", "description", "subagent_type"]),
    ("WebFetch", &["prompt"]),
    ("WebSearch", &["query"]),
    ("TodoWrite", &["content", "activeForm", "status", "id"]),
    ("TaskCreate", &["subject", "description", "activeForm"]),
    ("TaskUpdate", &["subject", "description", "activeForm"]),
    ("ExitPlanMode", &["plan"]),
    ("AskUserQuestion", &["question", "header", "label", "description"]),
];

/// Names of fields that contain a command line or a part of one.
const COMMAND_FIELDS: [&str; 12] = [
    "command",
    "commands",
    "cmd",
    "script",
    "args",
    "argv",
    "arguments",
    "program",
    "executable",
    "shell",
    "code",
    "line",
];

/// Longest text that is taken for a path.
const PATH_BYTES_MAX: usize = 4096;

/// A string of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallString<'a> {
    /// The field that contains it, directly or in a list; empty if the string is itself a field's name.
    pub field: &'a str,
    pub text: &'a str,
    /// Whether the field is at the top level of the input.
    pub is_top: bool,
}

impl CallString<'_> {
    /// Whether its field contains a command line.
    pub fn is_command(&self) -> bool {
        COMMAND_FIELDS.contains(&self.field.to_lowercase().as_str())
    }

    /// Whether it looks like the path of a file, or like a URL.
    pub fn is_path(&self) -> bool {
        let text = self.text.strip_prefix("file:").unwrap_or(self.text);
        let is_rooted = text.starts_with(['/', '~', '\\']) || text.starts_with("./") || text.get(1..3) == Some(":\\");
        let has_blank = text.contains(char::is_whitespace);
        let goes_up = text.split(['/', '\\']).any(|part| part == "..");
        let is_short = !text.is_empty() && text.len() <= PATH_BYTES_MAX && !text.contains('\n');
        is_short && (is_rooted || goes_up || (!has_blank && text.contains(['/', '\\'])))
    }
}

/// All strings of a call except content, including the names of fields.
pub fn strings<'a>(tool: &str, input: &'a Value) -> Vec<CallString<'a>> {
    let content = CONTENT_FIELDS.iter().find(|(name, _)| *name == tool).map_or(&[][..], |(_, fields)| *fields);
    let mut found = Vec::new();
    collect_strings(input, "", true, content, &mut found);
    found
}

/// Whether a tool is known, with its content fields.
pub fn is_known_tool(tool: &str) -> bool {
    CONTENT_FIELDS.iter().any(|(name, _)| *name == tool)
}

/// Replaces the paths of a call. Content, commands, patterns and URLs stay as they are.
pub fn map_paths(tool: &str, input: &mut Value, path: &dyn Fn(&str) -> String) {
    let content = CONTENT_FIELDS.iter().find(|(name, _)| *name == tool).map_or(&[][..], |(_, fields)| *fields);
    map_paths_in(input, "", content, path);
}

fn map_paths_in(value: &mut Value, field: &str, content: &[&str], path: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => {
            let string = CallString { field, text, is_top: false };
            let is_named = ["file_path", "notebook_path", "path"].contains(&field);
            let stays = string.is_command() || text.contains("://") || ["pattern", "glob"].contains(&field);
            if is_named || (string.is_path() && !stays) {
                *text = path(text);
            }
        }
        Value::Array(values) => {
            for value in values {
                map_paths_in(value, field, content, path);
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut().filter(|(name, _)| !content.contains(&name.as_str())) {
                map_paths_in(value, name, content, path);
            }
        }
        _ => {}
    }
}

/// The command lines of a call whose words are separate strings: `{"command": "rm", "args": ["-r", "x"]}`.
pub fn joined_commands(input: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect_joined(input, &mut found);
    found
}

fn collect_strings<'a>(
    value: &'a Value,
    field: &'a str,
    is_top: bool,
    content: &[&str],
    found: &mut Vec<CallString<'a>>,
) {
    match value {
        Value::String(text) => found.push(CallString { field, text, is_top }),
        Value::Array(values) => {
            for value in values {
                collect_strings(value, field, is_top, content, found);
            }
        }
        Value::Object(fields) => {
            let is_top = is_top && field.is_empty();
            for (name, value) in fields.iter().filter(|(name, _)| !content.contains(&name.as_str())) {
                found.push(CallString { field: "", text: name, is_top: false });
                collect_strings(value, name, is_top, content, found);
            }
        }
        _ => {}
    }
}

fn collect_joined(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(values) => {
            let words: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
            if words.len() > 1 {
                found.push(words.join(" "));
            }
            for value in values {
                collect_joined(value, found);
            }
        }
        Value::Object(fields) => {
            let is_command = |name: &str| COMMAND_FIELDS.contains(&name.to_lowercase().as_str());
            let named = || fields.iter().filter(|(name, _)| is_command(name)).map(|(_, value)| value);
            let programs: Vec<&str> = named().filter_map(Value::as_str).collect();
            for arguments in named().filter_map(Value::as_array) {
                let arguments: Vec<&str> = arguments.iter().filter_map(Value::as_str).collect();
                found.extend(programs.iter().map(|program| format!("{program} {}", arguments.join(" "))));
            }
            for value in fields.values() {
                collect_joined(value, found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn texts(tool: &str, input: &Value) -> Vec<String> {
        let strings = strings(tool, input);
        strings.iter().filter(|string| !string.field.is_empty()).map(|string| string.text.to_owned()).collect()
    }

    #[test]
    fn every_string_that_is_no_content_is_listed() {
        let input = json!({"file_path": "a", "content": "b"});
        assert_eq!(texts("Write", &input), ["a"]);
        assert_eq!(texts("mcp__fs__write", &input), ["a", "b"], "what this tool does with its fields is not known");
        let edits = json!({"file_path": "a", "edits": [{"old_string": "b", "new_string": "c", "other": "d"}]});
        assert_eq!(texts("MultiEdit", &edits), ["a", "d"]);
        assert_eq!(texts("x", &json!({"deep": [{"er": ["a", {"est": "b"}]}, 7, null]})), ["a", "b"]);
        let keys = json!({"files": {"a/b": 1}});
        assert!(strings("x", &keys).iter().any(|string| string.text == "a/b"));
    }

    #[test]
    fn words_that_are_given_apart_are_one_command() {
        assert_eq!(joined_commands(&json!({"args": ["-r", "x"], "cmd": "rm"})), ["rm -r x", "-r x"]);
        assert_eq!(joined_commands(&json!({"a": {"command": ["rm", "x"]}})), ["rm x"]);
    }

    #[test]
    fn paths_are_written_anew_and_nothing_else() {
        let mut input =
            json!({"file_path": "a", "content": "/b", "to": ["/c", "d e"], "url": "http://e/f", "cmd": "/g"});
        map_paths("Write", &mut input, &|path| format!("<{path}>"));
        let expected =
            json!({"file_path": "<a>", "content": "/b", "to": ["</c>", "d e"], "url": "http://e/f", "cmd": "/g"});
        assert_eq!(input, expected);
    }

    #[test]
    fn paths_are_told_from_other_texts() {
        for text in ["/a b", "~/a", "./a", "a/b", "../a", "a\\b", "C:\\a", "file:///a", "https://a/b"] {
            assert!(CallString { field: "x", text, is_top: true }.is_path(), "{text}");
        }
        for text in ["", "a", "a b/c", "a.rs", "either/or is\na text"] {
            assert!(!CallString { field: "x", text, is_top: true }.is_path(), "{text}");
        }
    }
}
