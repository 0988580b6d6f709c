//! Parses the top level of a process file: `process`, and the lists next to it.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::super::finding::{Finding, Rule, join, short};
use super::super::guard::Guard;
use super::super::yaml::Node;
use super::fields::{Fields, Reader};
use super::{Locale, Process, Reads, guards, parts};

const TOP: &[&str] = &["process", "states", "events", "transitions", "guards", "artifacts", "roles"];
const PROCESS: &[&str] =
    &["id", "version", "name", "description", "locale", "initial_state", "initial_context", "context_schema", "sets"];

/// Parses a process; `None` if the form of the file has errors. Also returns all findings about the form.
pub(super) fn process(node: &Node, hash: String) -> (Option<Process>, Vec<Finding>) {
    let mut reader = Reader::default();
    let process = top(&mut reader, node, hash);
    let is_right = !reader.findings.iter().any(Finding::is_error);
    (process.filter(|_| is_right), reader.findings)
}

fn top(reader: &mut Reader, node: &Node, hash: String) -> Option<Process> {
    let file = reader.fields(node, "", TOP)?;
    let head = reader.required(&file, "process").and_then(|node| reader.fields(node, "/process", PROCESS));
    let states = items(reader, &file, "states", true, parts::state);
    if states.is_empty() && file.get("states").is_some() {
        let place = file.get("states").map_or(file.place, |node| node.place);
        reader.report(Rule::InvalidValue, "/states", place, "/states has at least one state", "write one");
    }
    let events = items(reader, &file, "events", true, parts::event);
    let transitions = items(reader, &file, "transitions", true, parts::transition);
    let guards = all_guards(reader, &file);
    let artifacts = items(reader, &file, "artifacts", false, parts::artifact);
    let roles = items(reader, &file, "roles", false, parts::role);
    let head = head?;
    Some(Process {
        hash,
        id: id(reader, &head),
        version: reader.required_name(&head, "version"),
        name: reader.required_name(&head, "name"),
        description: reader.optional_text(&head, "description"),
        locale: reader.word(&head, "locale", Locale::WORDS).unwrap_or_default(),
        initial_state: reader.required_name(&head, "initial_state"),
        initial_context: context(reader, &head),
        context_schema: reader.schema(&head, "context_schema"),
        sets: reader.names(&head, "sets"),
        states,
        events,
        transitions,
        reads: reads(&guards),
        guards,
        artifacts,
        roles,
    })
}

/// Ids are used as file names and in URIs, so only plain characters are allowed.
fn id(reader: &mut Reader, head: &Fields<'_>) -> String {
    let id = reader.required_name(head, "id");
    let is_plain = |character: char| character.is_alphanumeric() || matches!(character, '-' | '_' | '.');
    if id.starts_with('.') || !id.chars().all(is_plain) {
        let place = head.get("id").map_or(head.place, |node| node.place);
        let message = format!("{:?} is no id of a process", short(&id));
        let hint = "use letters, digits, '-', '_' and '.', and do not begin with '.'";
        reader.report(Rule::InvalidValue, "/process/id", place, message, hint);
    }
    id
}

fn context(reader: &mut Reader, head: &Fields<'_>) -> Map<String, Value> {
    let mapping = head.get("initial_context").and_then(|node| reader.mapping(node, "/process/initial_context"));
    mapping
        .map(|mapping| mapping.entries().iter().map(|(key, node)| (key.text.clone(), node.json())).collect())
        .unwrap_or_default()
}

type ReadItem<T> = fn(&mut Reader, &Node, &str) -> Option<T>;

fn items<T>(reader: &mut Reader, file: &Fields<'_>, key: &str, is_required: bool, read: ReadItem<T>) -> Vec<T> {
    let node = if is_required { reader.required(file, key) } else { file.get(key) };
    let Some(node) = node else { return Vec::new() };
    let path = join("", key);
    let list = reader.list(node, &path);
    list.iter().enumerate().filter_map(|(index, item)| read(reader, item, &join(&path, index))).collect()
}

fn all_guards(reader: &mut Reader, file: &Fields<'_>) -> BTreeMap<String, Guard> {
    let Some(mapping) = file.get("guards").and_then(|node| reader.mapping(node, "/guards")) else {
        return BTreeMap::new();
    };
    let mut found = BTreeMap::new();
    for (key, node) in mapping.entries() {
        if let Some(guard) = guards::guard(reader, node, &join("/guards", &key.text)) {
            found.insert(key.text.clone(), guard);
        }
    }
    found
}

fn reads(guards: &BTreeMap<String, Guard>) -> Reads {
    let mut reads = Reads::default();
    for guard in guards.values() {
        guard.reads(&mut reads);
    }
    reads
}
