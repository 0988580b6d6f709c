//! Parses the request of an agent to a hook: JSON on standard input, or the same by options.

use std::io::{IsTerminal, Read};
use std::path::PathBuf;

use serde_json::Value;
use skald_app::truncate_for_message;

/// Most bytes that are read. The input of a tool may contain a large file.
const INPUT_BYTES_MAX: u64 = 64 << 20;

#[derive(Debug)]
pub(super) struct HookRequest {
    pub tool_name: String,
    pub tool_input: Value,
    pub tool_response: Value,
    /// The agent's working folder.
    pub cwd: Option<PathBuf>,
}

impl HookRequest {
    /// Reads the request from the options, or else from standard input. `event` is the event of this hook.
    pub(super) fn read(event: &str, tool_name: Option<&str>, argument: Option<&str>) -> Result<Self, String> {
        let Some(tool_name) = tool_name else { return Self::parse(event, &read_standard_input()?) };
        let argument = match argument {
            None => Value::Null,
            Some(text) => serde_json::from_str(text)
                .map_err(|error| format!("{} is not JSON: {error}", truncate_for_message(text)))?,
        };
        let tool_name = require_tool_name(&tool_name.into())?;
        Ok(Self { tool_name, tool_input: argument.clone(), tool_response: argument, cwd: None })
    }

    fn parse(event: &str, text: &str) -> Result<Self, String> {
        let mut message: Value =
            serde_json::from_str(text).map_err(|error| format!("standard input is not JSON: {error}"))?;
        if !message.is_object() {
            return Err("standard input is no JSON object".to_owned());
        }
        match &message["hook_event_name"] {
            Value::Null => {}
            Value::String(name) if name == event => {}
            other => {
                return Err(format!("this hook is for {event}, not for {}", truncate_for_message(&other.to_string())));
            }
        }
        Ok(Self {
            tool_name: require_tool_name(&message["tool_name"])?,
            cwd: message["cwd"].as_str().filter(|cwd| !cwd.is_empty()).map(PathBuf::from),
            tool_input: message["tool_input"].take(),
            tool_response: message["tool_response"].take(),
        })
    }
}

fn require_tool_name(name: &Value) -> Result<String, String> {
    let name = name.as_str().filter(|name| !name.trim().is_empty());
    name.map(str::to_owned).ok_or_else(|| "no tool is named in tool_name".to_owned())
}

fn read_standard_input() -> Result<String, String> {
    let input = std::io::stdin();
    if input.is_terminal() {
        return Err("a hook reads JSON from standard input, or takes --tool-name".to_owned());
    }
    let mut text = String::new();
    let read = input.lock().take(INPUT_BYTES_MAX + 1).read_to_string(&mut text);
    read.map_err(|error| format!("standard input cannot be read: {error}"))?;
    if text.len() as u64 > INPUT_BYTES_MAX {
        return Err(format!("standard input has more than {INPUT_BYTES_MAX} bytes"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_must_make_sense() {
        let request =
            HookRequest::parse("PreToolUse", r#"{"tool_name": "Bash", "tool_input": {"command": "ls"}}"#).unwrap();
        assert_eq!((request.tool_name.as_str(), request.tool_input["command"].as_str()), ("Bash", Some("ls")));
        for (text, expected) in [
            ("", "standard input is not JSON"),
            ("[]", "standard input is no JSON object"),
            ("{}", "no tool is named"),
            (r#"{"tool_name": 7}"#, "no tool is named"),
            (r#"{"tool_name": "Bash", "hook_event_name": "Stop"}"#, "this hook is for PreToolUse, not for \"Stop\""),
        ] {
            let why = HookRequest::parse("PreToolUse", text).unwrap_err();
            assert!(why.starts_with(expected), "{why}");
        }
    }
}
