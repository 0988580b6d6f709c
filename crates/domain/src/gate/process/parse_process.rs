//! Parses the top level of a process file: `process`, and the lists next to it.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::super::campaign_numbers::CampaignNumber;
use super::super::finding::{Finding, Rule, join_pointer, shorten};
use super::super::guard::Guard;
use super::super::yaml::Node;
use super::field_reader::{FieldReader, Fields};
use super::{Locale, Process, ReadVariables, parse_guards, parse_states_and_events};

const TOP_LEVEL_KEYS: &[&str] = &["process", "states", "events", "transitions", "guards", "artifacts", "roles"];
const PROCESS_KEYS: &[&str] = &[
    "id",
    "version",
    "name",
    "description",
    "locale",
    "initial_state",
    "initial_context",
    "context_schema",
    "sets",
    "from_campaign",
];

/// Parses a process; `None` if the form of the file has errors. Also returns all findings about the form.
pub(super) fn parse_process(node: &Node, hash: String) -> (Option<Process>, Vec<Finding>) {
    let mut reader = FieldReader::default();
    let process = parse_top_level(&mut reader, node, hash);
    let is_right = !reader.findings.iter().any(Finding::is_error);
    (process.filter(|_| is_right), reader.findings)
}

fn parse_top_level(reader: &mut FieldReader, node: &Node, hash: String) -> Option<Process> {
    let file = reader.fields(node, "", TOP_LEVEL_KEYS)?;
    let head = reader.required_field(&file, "process").and_then(|node| reader.fields(node, "/process", PROCESS_KEYS));
    let states = parse_items(reader, &file, "states", true, parse_states_and_events::parse_state);
    if states.is_empty() && file.get("states").is_some() {
        let place = file.get("states").map_or(file.place, |node| node.place);
        reader.report(Rule::InvalidValue, "/states", place, "/states has at least one state", "write one");
    }
    let events = parse_items(reader, &file, "events", true, parse_states_and_events::parse_event);
    let transitions = parse_items(reader, &file, "transitions", true, parse_states_and_events::parse_transition);
    let guards = parse_guards(reader, &file);
    let artifacts = parse_items(reader, &file, "artifacts", false, parse_states_and_events::parse_artifact);
    let roles = parse_items(reader, &file, "roles", false, parse_states_and_events::parse_role);
    let head = head?;
    Some(Process {
        hash,
        id: parse_id(reader, &head),
        version: reader.required_name(&head, "version"),
        name: reader.required_name(&head, "name"),
        description: reader.optional_text(&head, "description"),
        locale: reader.enum_value(&head, "locale", Locale::WORDS).unwrap_or_default(),
        initial_state: reader.required_name(&head, "initial_state"),
        initial_context: parse_initial_context(reader, &head),
        context_schema: reader.schema(&head, "context_schema"),
        sets: reader.names(&head, "sets"),
        from_campaign: parse_from_campaign(reader, &head),
        states,
        events,
        transitions,
        reads: collect_reads(&guards),
        guards,
        artifacts,
        roles,
    })
}

/// Ids are used as file names and in URIs, so only plain characters are allowed.
fn parse_id(reader: &mut FieldReader, head: &Fields<'_>) -> String {
    let id = reader.required_name(head, "id");
    let is_plain = |character: char| character.is_alphanumeric() || matches!(character, '-' | '_' | '.');
    if id.starts_with('.') || !id.chars().all(is_plain) {
        let place = head.get("id").map_or(head.place, |node| node.place);
        let message = format!("{:?} is no id of a process", shorten(&id));
        let hint = "use letters, digits, '-', '_' and '.', and do not begin with '.'";
        reader.report(Rule::InvalidValue, "/process/id", place, message, hint);
    }
    id
}

fn parse_initial_context(reader: &mut FieldReader, head: &Fields<'_>) -> Map<String, Value> {
    let mapping = head.get("initial_context").and_then(|node| reader.mapping(node, "/process/initial_context"));
    mapping
        .map(|mapping| mapping.entries().iter().map(|(key, node)| (key.text.clone(), node.json())).collect())
        .unwrap_or_default()
}

fn parse_from_campaign(reader: &mut FieldReader, head: &Fields<'_>) -> BTreeMap<String, CampaignNumber> {
    let Some(node) = head.get("from_campaign") else { return BTreeMap::new() };
    let Some(mapping) = reader.mapping(node, "/process/from_campaign") else { return BTreeMap::new() };
    let mut found = BTreeMap::new();
    for (key, _) in mapping.entries() {
        reader.required_field(&mapping, &key.text);
        if let Some(number) = reader.enum_value(&mapping, &key.text, CampaignNumber::WORDS) {
            found.insert(key.text.clone(), number);
        }
    }
    found
}

type ReadItem<T> = fn(&mut FieldReader, &Node, &str) -> Option<T>;

fn parse_items<T>(
    reader: &mut FieldReader,
    file: &Fields<'_>,
    key: &str,
    is_required: bool,
    read: ReadItem<T>,
) -> Vec<T> {
    let node = if is_required { reader.required_field(file, key) } else { file.get(key) };
    let Some(node) = node else { return Vec::new() };
    let path = join_pointer("", key);
    let list = reader.list(node, &path);
    list.iter().enumerate().filter_map(|(index, item)| read(reader, item, &join_pointer(&path, index))).collect()
}

fn parse_guards(reader: &mut FieldReader, file: &Fields<'_>) -> BTreeMap<String, Guard> {
    let Some(mapping) = file.get("guards").and_then(|node| reader.mapping(node, "/guards")) else {
        return BTreeMap::new();
    };
    let mut found = BTreeMap::new();
    for (key, node) in mapping.entries() {
        if let Some(guard) = parse_guards::parse_guard(reader, node, &join_pointer("/guards", &key.text)) {
            found.insert(key.text.clone(), guard);
        }
    }
    found
}

fn collect_reads(guards: &BTreeMap<String, Guard>) -> ReadVariables {
    let mut reads = ReadVariables::default();
    for guard in guards.values() {
        guard.collect_reads(&mut reads);
    }
    reads
}
