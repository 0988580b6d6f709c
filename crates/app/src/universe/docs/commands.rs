//! Documentation page of all commands, rendered from their catalogue.

use std::collections::BTreeMap;
use std::fmt::Write;

use schemars::JsonSchema;
use serde_json::Value;
use skald_domain::universe::{CATEGORIES, CommandEntry, FailureEntry, Reason, WireEvent, outcome};

use super::super::parse_command_or_state;
use crate::json_schema;

pub(super) fn render_page() -> String {
    let (events, count) = (event_fields(), CATEGORIES.iter().map(|category| category.commands.len()).sum::<usize>());
    let mut page = format!(
        "# Commands\n\nA command is an object with a `type` and fields. `send_universe_command` sends one; every example \
         is accepted by the universe at the end of `docs://universe/structure`. The schema of each of the {count} is the resource \
         `docs://universe/commands/{{command}}`; `list_universe_commands` with a `category` has those of one category.\n",
    );
    for category in CATEGORIES {
        let (title, slug, count) = (category.title, category.slug, category.commands.len());
        let _ = write!(page, "\n## {title} ({count})\n\nCategory `{slug}`.\n\n");
        page.push_str("| command | purpose | required fields |\n|---|---|---|\n");
        for entry in category.commands {
            let required = format_code_list(entry.required.iter().copied());
            let _ = writeln!(page, "| `{}` | {} | {required} |", entry.name, entry.purpose);
        }
        for entry in category.commands {
            render_command(&mut page, entry, &events);
        }
    }
    page
}

fn render_command(page: &mut String, entry: &CommandEntry, events: &BTreeMap<String, Vec<String>>) {
    let example = parse_command_or_state::command_example(entry);
    let _ = write!(page, "\n### {}\n\n```json\n{example:#}\n```\n\n", entry.name);
    let Some(outcome) = outcome(entry.name) else { return };
    let done = match outcome.event {
        None => "no event".to_owned(),
        Some(event) => match events.get(event).filter(|fields| !fields.is_empty()) {
            None => format!("`{event}`"),
            Some(fields) => format!("`{event}` with {}", format_code_list(fields.iter().map(String::as_str))),
        },
    };
    let done = match outcome.no_op_event() {
        Some(event) => format!("{done}; `{event}` where there is nothing to do, and then nothing is stored"),
        None => done,
    };
    let failures: Vec<String> = outcome.failures.iter().map(format_failure).collect();
    let _ = writeln!(page, "Done: {done}. Refused: {}.", failures.join("; "));
}

/// A failure event and its reasons.
pub(super) fn format_failure(entry: &FailureEntry) -> String {
    if entry.reasons.is_empty() {
        return format!("`{}`", entry.event);
    }
    let reasons: Vec<String> = entry.reasons.iter().copied().map(reason_name).collect();
    format!("`{}` ({})", entry.event, reasons.join(", "))
}

/// The spelling of a reason in events.
pub(super) fn reason_name(reason: Reason) -> String {
    serde_json::to_value(reason).ok().and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}

fn format_code_list<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// The fields of each event, without its type.
fn event_fields() -> BTreeMap<String, Vec<String>> {
    let (_, full) = json_schema::custom_schema(WireEvent::json_schema);
    let events = full.get("oneOf").and_then(Value::as_array).cloned().unwrap_or_default();
    let fields = |event: &Value| {
        let properties = event.get("properties")?.as_object()?;
        let name = properties.get("type")?.get("const")?.as_str()?.to_owned();
        Some((name, properties.keys().filter(|field| *field != "type").cloned().collect()))
    };
    events.iter().filter_map(fields).collect()
}

#[cfg(test)]
mod tests {
    use skald_domain::universe::Command;

    use super::*;

    #[test]
    fn every_success_is_an_event_with_known_fields() {
        let events = event_fields();
        let told: Vec<&str> = Command::NAMES.iter().filter_map(|name| outcome(name)?.event).collect();
        assert_eq!(told.len(), Command::NAMES.len() - 1, "all but tick");
        assert!(told.iter().all(|event| events.contains_key(*event)), "{told:?}");
        assert_eq!(events.len(), told.len(), "there are no others");
        assert_eq!(events["starRemoved"], ["id", "removedIds"]);
    }
}
