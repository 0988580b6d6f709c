//! Reads mappings of a process file by key. Unknown, missing or mistyped fields become findings, and reading goes on.

use super::super::finding::{FINDINGS_MAX, Finding, Rule, SourcePosition, join_pointer, shorten, suggest_word};
use super::super::json_schema::Schema;
use super::super::schema_cost;
use super::super::yaml::{Content, Node, YamlKey};
use crate::deceptive_characters::{code_point, first_deceptive};
use crate::limits;

/// Reads fields and collects findings.
#[derive(Debug, Default)]
pub(super) struct FieldReader {
    pub(super) findings: Vec<Finding>,
    /// Regex states of all patterns in the schemas read so far.
    states: u64,
}

/// Limit of the regex states in all schemas of a file. They take memory as long as the process is loaded.
const STATES_MAX: u64 = 200_000;

/// One mapping of the file.
#[derive(Debug, Clone)]
pub(super) struct Fields<'a> {
    pub(super) path: String,
    pub(super) place: SourcePosition,
    entries: &'a [(YamlKey, Node)],
}

impl<'a> Fields<'a> {
    /// The value of a key; `None` if it is missing or null.
    pub(super) fn get(&self, key: &str) -> Option<&'a Node> {
        self.get_nullable(key).filter(|node| node.content != Content::Null)
    }

    /// The value of a key, which may be null; `None` if it is missing.
    pub(super) fn get_nullable(&self, key: &str) -> Option<&'a Node> {
        self.entries.iter().find(|(found, _)| found.text == key).map(|(_, node)| node)
    }

    pub(super) fn path(&self, key: &str) -> String {
        join_pointer(&self.path, key)
    }

    pub(super) fn entries(&self) -> &'a [(YamlKey, Node)] {
        self.entries
    }
}

impl FieldReader {
    pub(super) fn report(
        &mut self,
        rule: Rule,
        path: &str,
        place: SourcePosition,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.findings.push(Finding::new(rule, path, place, message, hint));
    }

    fn report_wrong_kind(&mut self, node: &Node, path: &str, wanted: &str) {
        let message = format!("{} is {wanted}, this is {}", display_path(path), node.kind());
        let hint = match (wanted, &node.content) {
            ("a text", Content::Number(_) | Content::Bool(_)) => "put it in quotes",
            (_, Content::Null) => "write it out, or leave the key out",
            ("true or false", _) => "write true or false, without quotes",
            ("a list", _) => "write it as a list: [one, two]",
            ("a mapping", _) => "write it as a mapping, with a key: value on each line",
            _ => "write it as one text",
        };
        self.report(Rule::InvalidValue, path, node.place, message, hint);
    }

    /// A mapping with any keys.
    pub(super) fn mapping<'a>(&mut self, node: &'a Node, path: &str) -> Option<Fields<'a>> {
        let Content::Map(entries) = &node.content else {
            self.report_wrong_kind(node, path, "a mapping");
            return None;
        };
        Some(Fields { path: path.to_owned(), place: node.place, entries })
    }

    /// A mapping with these keys and no others.
    pub(super) fn fields<'a>(&mut self, node: &'a Node, path: &str, allowed: &[&str]) -> Option<Fields<'a>> {
        let fields = self.mapping(node, path)?;
        self.check_keys(&fields, allowed);
        Some(fields)
    }

    pub(super) fn check_keys(&mut self, fields: &Fields<'_>, allowed: &[&str]) {
        for (key, _) in fields.entries.iter().filter(|(key, _)| !allowed.contains(&key.text.as_str())) {
            if self.findings.len() >= FINDINGS_MAX {
                break;
            }
            let place = if fields.path.is_empty() { "the file".to_owned() } else { fields.path.clone() };
            let message = format!("{place} has no key {:?}", shorten(&key.text));
            self.report(
                Rule::UnknownKey,
                &fields.path(&key.text),
                key.place,
                message,
                suggest_word(&key.text, allowed),
            );
        }
    }

    pub(super) fn report_missing(&mut self, fields: &Fields<'_>, key: &str) {
        let (path, message) = (fields.path(key), format!("{} is required", display_path(&fields.path(key))));
        self.report(Rule::MissingRequiredField, &path, fields.place, message, format!("write {key}: …"));
    }

    pub(super) fn required_field<'a>(&mut self, fields: &Fields<'a>, key: &str) -> Option<&'a Node> {
        let node = fields.get(key);
        if node.is_none() {
            self.report_missing(fields, key);
        }
        node
    }

    pub(super) fn text(&mut self, node: &Node, path: &str) -> Option<String> {
        if let Content::Text(text) = &node.content {
            return Some(text.clone());
        }
        self.report_wrong_kind(node, path, "a text");
        None
    }

    pub(super) fn optional_text(&mut self, fields: &Fields<'_>, key: &str) -> Option<String> {
        let node = fields.get(key)?;
        self.text(node, &fields.path(key))
    }

    /// A name: a text that is not empty, not too long, and one line of plain characters.
    pub(super) fn name(&mut self, node: &Node, path: &str) -> Option<String> {
        let text = self.text(node, path)?;
        let chars = text.chars().count();
        let message = if text.trim().is_empty() {
            format!("{} is empty", display_path(path))
        } else if chars > limits::NAME_CHARS_MAX {
            format!("{} has at most {} characters, this one has {chars}", display_path(path), limits::NAME_CHARS_MAX)
        } else if let Some(character) = first_deceptive(&text) {
            format!(
                "{} has the character {}, and is one line of plain characters",
                display_path(path),
                code_point(character)
            )
        } else {
            return Some(text);
        };
        self.report(Rule::InvalidValue, path, node.place, message, "use a short name of one line");
        None
    }

    pub(super) fn required_name(&mut self, fields: &Fields<'_>, key: &str) -> String {
        let node = self.required_field(fields, key);
        node.and_then(|node| self.name(node, &fields.path(key))).unwrap_or_default()
    }

    pub(super) fn flag(&mut self, fields: &Fields<'_>, key: &str) -> Option<bool> {
        let node = fields.get(key)?;
        if let Content::Bool(value) = node.content {
            return Some(value);
        }
        self.report_wrong_kind(node, &fields.path(key), "true or false");
        None
    }

    pub(super) fn list<'a>(&mut self, node: &'a Node, path: &str) -> &'a [Node] {
        if let Content::List(items) = &node.content {
            return items;
        }
        self.report_wrong_kind(node, path, "a list");
        &[]
    }

    /// A list of names without duplicates.
    pub(super) fn names(&mut self, fields: &Fields<'_>, key: &str) -> Option<Vec<String>> {
        let node = fields.get(key)?;
        let path = fields.path(key);
        let mut names: Vec<String> = Vec::new();
        for (index, item) in self.list(node, &path).iter().enumerate() {
            let path = join_pointer(&path, index);
            match self.name(item, &path) {
                Some(name) if names.contains(&name) => {
                    let message = format!("{name:?} is in the list already");
                    self.report(Rule::InvalidValue, &path, item.place, message, "name it once");
                }
                name => names.extend(name),
            }
        }
        Some(names)
    }

    /// A value of an enum, by its word.
    pub(super) fn enum_value<T: std::str::FromStr>(
        &mut self,
        fields: &Fields<'_>,
        key: &str,
        words: &[&str],
    ) -> Option<T> {
        let node = fields.get(key)?;
        let path = fields.path(key);
        let text = self.text(node, &path)?;
        let word = text.parse().ok();
        if word.is_none() {
            let message = format!("{:?} is not allowed, allowed: {}", shorten(&text), words.join(", "));
            self.report(Rule::InvalidValue, &path, node.place, message, suggest_word(&text, words));
        }
        word
    }

    pub(super) fn schema(&mut self, fields: &Fields<'_>, key: &str) -> Option<Schema> {
        let node = fields.get(key)?;
        let path = fields.path(key);
        self.mapping(node, &path)?;
        let json = node.json();
        let states = schema_cost::count_pattern_states(&json);
        self.states = self.states.saturating_add(states);
        if states > 0 && self.states > STATES_MAX {
            let message = "the patterns in the schemas of this file are too large together";
            self.report(Rule::TooLarge, &path, node.place, message, "use fewer patterns, or smaller repetitions");
            return None;
        }
        match Schema::new(json) {
            Ok(schema) => Some(schema),
            Err((pointer, message)) => {
                let hint = "change it to a valid JSON Schema; a $ref leads into the schema itself, nothing is fetched";
                let place = node.place_of(&pointer);
                self.report(Rule::InvalidSchema, &format!("{path}{pointer}"), place, message, hint);
                None
            }
        }
    }
}

/// A JSON pointer for messages; the empty pointer is the whole file.
fn display_path(path: &str) -> &str {
    if path.is_empty() { "the file" } else { path }
}
