//! Stories: scenarios in Markdown, whose `json` blocks are calls and their expected answers.
//!
//! `scenarios/README.md` says how to write one. The test that plays a story makes the calls, so that this file depends
//! on no surface.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::expectation::compare;

/// A parsed story, which can be played any number of times.
#[derive(Debug)]
pub struct Story {
    steps: Vec<StoryStep>,
}

/// The caller of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StoryCaller {
    /// The person who started the server.
    Owner,
    GameMaster,
    Player,
    Guest,
    /// Somebody who has no role in the campaign.
    Nobody,
}

impl StoryCaller {
    fn parse(word: &str) -> Result<Self, String> {
        match word {
            "owner" => Ok(Self::Owner),
            "game master" => Ok(Self::GameMaster),
            "player" => Ok(Self::Player),
            "guest" => Ok(Self::Guest),
            "nobody" => Ok(Self::Nobody),
            _ => Err(format!("{word:?} does not speak here; by is owner, game master, player, guest or nobody")),
        }
    }
}

/// One call of a story.
#[derive(Debug, Clone, PartialEq)]
struct StoryStep {
    line: usize,
    by: StoryCaller,
    call: String,
    with: Value,
    key: Option<String>,
    expected: Expected,
    keep: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
enum Expected {
    Answer(Value),
    Refusal(Value),
}

/// A call as a surface makes it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StoryCall<'a> {
    pub by: StoryCaller,
    pub operation: &'a str,
    pub input: &'a Value,
    /// The idempotency key.
    pub key: Option<&'a str>,
}

/// Makes a call and returns the answer or the error.
pub type CallHandler<'a> = dyn FnMut(StoryCall<'_>) -> Result<Value, Value> + 'a;

impl Story {
    /// Parses a story. The error names the line of a faulty block.
    pub fn parse(markdown: &str) -> Result<Self, String> {
        let mut steps = Vec::new();
        let mut block: Option<(usize, String)> = None;
        for (number, line) in (1..).zip(markdown.lines()) {
            match (&mut block, line.trim_end()) {
                (None, "```json") => block = Some((number, String::new())),
                (Some((begun, text)), "```") => {
                    steps.push(parse_step(*begun, text).map_err(|why| format!("the block in line {begun}: {why}"))?);
                    block = None;
                }
                (Some((_, text)), line) => {
                    let _ = writeln!(text, "{line}");
                }
                (None, _) => {}
            }
        }
        match block {
            Some((begun, _)) => Err(format!("the block in line {begun} does not end")),
            None if steps.is_empty() => Err("nothing happens in it".to_owned()),
            None => Ok(Self { steps }),
        }
    }

    /// The number of calls.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Whether a step has another caller than the owner.
    pub fn has_other_callers(&self) -> bool {
        self.steps.iter().any(|step| step.by != StoryCaller::Owner)
    }

    /// Makes every call in order. Stops at the first unexpected answer, with its line and the difference.
    pub fn play(&self, play: &mut CallHandler<'_>) -> Result<(), String> {
        let mut kept = BTreeMap::new();
        for step in &self.steps {
            self::play_step(step, &mut kept, play)
                .map_err(|why| format!("line {}, {}: {why}", step.line, step.call))?;
        }
        Ok(())
    }
}

fn parse_step(line: usize, text: &str) -> Result<StoryStep, String> {
    let mut block: Map<String, Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut word = |name: &str| match block.remove(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(format!("{name} is a text, not {other}")),
    };
    let call = word("call")?.ok_or("call is missing: which operation is called")?;
    let (key, keep) = (word("key")?, word("keep")?);
    let by = word("by")?.map_or(Ok(StoryCaller::Owner), |word| StoryCaller::parse(&word))?;
    let with = block.remove("with").unwrap_or_else(|| Value::Object(Map::new()));
    let expected = match (block.remove("answers"), block.remove("refused")) {
        (Some(answer), None) => Expected::Answer(answer),
        (None, Some(error)) => Expected::Refusal(error),
        _ => return Err("it has either answers or refused".to_owned()),
    };
    match block.keys().next() {
        Some(unknown) => {
            Err(format!("{unknown:?} is unknown; a block has by, call, with, key, answers or refused, keep"))
        }
        None => Ok(StoryStep { line, by, call, with, key, expected, keep }),
    }
}

fn play_step(step: &StoryStep, kept: &mut BTreeMap<String, Value>, play: &mut CallHandler<'_>) -> Result<(), String> {
    let input = fill_placeholders(&step.with, kept)?;
    let key = match &step.key {
        Some(key) => Some(value_text(&fill_placeholders(&Value::String(key.clone()), kept)?)),
        None => None,
    };
    let outcome = play(StoryCall { by: step.by, operation: &step.call, input: &input, key: key.as_deref() });
    let found = match (&step.expected, outcome) {
        (Expected::Answer(expected), Ok(found)) | (Expected::Refusal(expected), Err(found)) => {
            compare(&fill_placeholders(expected, kept)?, &found, "")?;
            found
        }
        (Expected::Answer(_), Err(found)) => return Err(format!("it was refused: {found}")),
        (Expected::Refusal(_), Ok(found)) => return Err(format!("it was not refused: {found}")),
    };
    if let Some(name) = &step.keep {
        kept.insert(name.clone(), found);
    }
    Ok(())
}

/// Replaces the placeholders in a value. A text that is only a placeholder becomes the kept value with its own type.
fn fill_placeholders(value: &Value, kept: &BTreeMap<String, Value>) -> Result<Value, String> {
    match value {
        Value::String(given) => {
            if let Some(path) = given.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"))
                && !path.contains("{{")
            {
                return find_kept(path, kept).cloned();
            }
            let mut rest = given.as_str();
            let mut whole = String::new();
            while let Some((before, after)) = rest.split_once("{{") {
                let (path, after) = after.split_once("}}").ok_or_else(|| format!("{given:?} has no end"))?;
                whole.push_str(before);
                whole.push_str(&value_text(find_kept(path, kept)?));
                rest = after;
            }
            whole.push_str(rest);
            Ok(Value::String(whole))
        }
        Value::Array(items) => {
            items.iter().map(|item| fill_placeholders(item, kept)).collect::<Result<_, _>>().map(Value::Array)
        }
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| Ok((name.clone(), fill_placeholders(value, kept)?)));
            fields.collect::<Result<_, String>>().map(Value::Object)
        }
        plain => Ok(plain.clone()),
    }
}

/// The kept value at a path like `campaign.id` or `session.notes.0`.
fn find_kept<'a>(path: &str, kept: &'a BTreeMap<String, Value>) -> Result<&'a Value, String> {
    let mut parts = path.trim().split('.');
    let first = kept.get(parts.next().unwrap_or_default());
    let found = parts.fold(first, |value, part| match part.parse::<usize>() {
        Ok(at) => value?.get(at),
        Err(_) => value?.get(part),
    });
    found.ok_or_else(|| format!("{{{{{path}}}}} leads nowhere"))
}

fn value_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const STORY: &str = "Somebody comes.\n\n```json\n{\"call\": \"greet\", \"with\": {\"name\": \"Ada\"}, \
        \"answers\": {\"id\": \"…\"}, \"keep\": \"guest\"}\n```\n\nAnd goes.\n\n```json\n{\"by\": \"guest\", \"call\": \"leave\", \
        \"with\": {\"id\": \"{{guest.id}}\", \"text\": \"{{guest.id}} left\"}, \"key\": \"k\", \
        \"refused\": {\"code\": \"STAY\"}}\n```\n";

    #[test]
    fn a_story_is_played_in_order() {
        let story = Story::parse(STORY).unwrap();
        let mut calls = Vec::new();
        let played = story.play(&mut |call| {
            calls.push((call.by, call.operation.to_owned(), call.input.clone(), call.key.map(str::to_owned)));
            if calls.len() == 1 { Ok(json!({"id": 7})) } else { Err(json!({"code": "STAY", "message": "no"})) }
        });
        assert_eq!(played, Ok(()));
        let leave = (StoryCaller::Guest, "leave".to_owned(), json!({"id": 7, "text": "7 left"}), Some("k".to_owned()));
        assert_eq!(calls, [(StoryCaller::Owner, "greet".to_owned(), json!({"name": "Ada"}), None), leave]);
        assert!(story.has_other_callers());
    }

    #[test]
    fn what_goes_otherwise_is_named_with_its_line() {
        let story = Story::parse(STORY).unwrap();
        let silent = story.play(&mut |_| Ok(json!({})));
        assert_eq!(silent, Err("line 3, greet: at \"/id\" expected \"…\", found null".to_owned()));
        let kind = story.play(&mut |_| Ok(json!({"id": 1})));
        assert_eq!(kind, Err("line 9, leave: it was not refused: {\"id\":1}".to_owned()));
    }

    #[test]
    fn what_is_no_story_is_told() {
        for (text, why) in [
            ("Nothing.", "nothing happens in it"),
            ("```json\n{", "the block in line 1 does not end"),
            ("```json\n{}\n```", "the block in line 1: call is missing: which operation is called"),
            ("```json\n{\"call\": \"x\"}\n```", "the block in line 1: it has either answers or refused"),
        ] {
            assert_eq!(Story::parse(text).map(|story| story.len()), Err(why.to_owned()), "{text}");
        }
        let stranger = Story::parse("```json\n{\"call\": \"x\", \"by\": \"bard\", \"answers\": {}}\n```").unwrap_err();
        assert!(stranger.contains("\"bard\" does not speak here"), "{stranger}");
        let unknown = Story::parse("```json\n{\"call\": \"x\", \"answers\": {}, \"expects\": 1}\n```").unwrap_err();
        assert!(unknown.contains("\"expects\" is unknown"), "{unknown}");
    }
}
