//! Error messages for invalid input to a universe: the field, the values it takes, and a valid example.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde_json::{Value, json};
use skald_domain::universe::{
    Command, CommandEntry, Failure, FieldMisfit, Reason, Repair, SentState, UnitField, UniverseState, command_entry,
    unit_fields,
};

use crate::{Code, Fault, input, json_schema, limits, truncate_for_message};

/// A longer unknown command is shortened in the error.
const COMMAND_BYTES_MAX: usize = 2_000;

/// The command that contains a whole state.
const REPLACE_SNAPSHOT: &str = "replaceSnapshot";

/// The schema of each command, as clients see it and in full.
static COMMANDS: LazyLock<BTreeMap<&str, (Value, Value)>> = LazyLock::new(|| {
    let of = |name: &'static str| {
        let (mut shown, mut full) =
            json_schema::custom_schema(|generator| Command::schema_of(name, generator).unwrap_or_default());
        add_unit_fields(name, &mut shown);
        add_unit_fields(name, &mut full);
        allow_unit_fields_alone(name, &mut shown);
        if name == REPLACE_SNAPSHOT {
            remove_ranges(&mut full);
        }
        (name, (shown, full))
    };
    Command::NAMES.iter().copied().map(of).collect()
});

/// The schema of a state in full.
static STATE: LazyLock<Value> = LazyLock::new(|| {
    let (_, mut full) = json_schema::custom_schema(UniverseState::json_schema);
    remove_ranges(&mut full);
    full
});

/// The schema of the object in a command that takes fields in units for people, and these fields.
fn unit_schema<'a>(name: &str, schema: &'a mut Value) -> (Option<&'a mut Value>, &'static [UnitField]) {
    let (within, fields) = unit_fields(name);
    match within {
        Some(field) => (schema.pointer_mut(&format!("/properties/{field}")), fields),
        None => (Some(schema), fields),
    }
}

/// Adds the fields that are converted before a command is parsed, each after the one that it replaces.
fn add_unit_fields(name: &str, schema: &mut Value) {
    let (Some(object), fields) = unit_schema(name, schema) else { return };
    let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for field in fields.iter().rev() {
        let place = properties.keys().position(|name| name == field.replaces).map_or(properties.len(), |at| at + 1);
        let shape = json!({"type": "number", "description": field.description});
        properties.shift_insert(place, field.name.to_owned(), shape);
    }
}

/// Drops the requirement of fields that others can replace. The schema for comparing keeps it: it is compared with the
/// converted command.
fn allow_unit_fields_alone(name: &str, schema: &mut Value) {
    let (Some(object), fields) = unit_schema(name, schema) else { return };
    if let Some(required) = object.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| fields.iter().all(|field| name != field.replaces));
    }
}

/// Removes ranges from a schema. Numbers in a whole state may be out of range, so a range never explains a refusal.
fn remove_ranges(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.retain(|name, _| name != "minimum" && name != "maximum");
            if fields.get("type").is_some_and(|kind| kind == "integer") {
                fields.insert("type".to_owned(), "number".into());
            }
            fields.values_mut().for_each(remove_ranges);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_ranges),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

pub(super) fn client_schema(command: &str) -> Option<&'static Value> {
    COMMANDS.get(command).map(|(shown, _)| shown)
}

/// A valid example of a command.
pub(super) fn command_example(entry: &CommandEntry) -> Value {
    serde_json::from_str(entry.example).unwrap_or_default()
}

/// The `type` of a sent command. Every command is an object that has one.
pub(super) fn command_type<'a>(within: &str, sent: &'a Value) -> Result<&'a str, Fault> {
    let name = sent.get("type").and_then(Value::as_str).filter(|name| !name.trim().is_empty());
    name.ok_or_else(|| {
        let message =
            format!("a command is {}, expected an object with a \"type\"", truncate_for_message(&sent.to_string()));
        let example = json!({"type": "tick", "dt": 60});
        Fault::new(Code::InvalidParams, message)
            .with_path(format!("{within}/type"))
            .hint("send an object as the example has it")
            .allowed(Command::NAMES.iter().copied())
            .example(example)
    })
}

/// Parses a command, and lists the repairs that it needed. `within` is the input field that contains it.
pub(super) fn parse_command(within: &str, sent: &Value) -> Result<(Command, Vec<Repair>), Fault> {
    let name = command_type(within, sent)?;
    let full = COMMANDS.get(name).map(|(_, full)| full);
    let sent =
        &*Command::convert_units(sent).map_err(|failure| invalid_command_fault(within, name, sent, None, &failure))?;
    // serde would read an array as the fields of an object, in order.
    let is_shaped = full.is_none_or(|full| input::has_allowed_shape(full, full, sent));
    let failure = match Command::read(sent) {
        Ok((command, repairs)) if is_shaped => return Ok((command, prefix_repairs(within, repairs))),
        Ok(_) => Failure::unreadable_command(sent, "an array stands where an object should"),
        Err(failure) => failure,
    };
    Err(match full {
        None => unknown_command_fault(within, name, &failure),
        Some(full) => invalid_command_fault(within, name, &Command::repair_snapshot(sent).0, Some(full), &failure),
    })
}

/// Prefixes the paths of repairs with the input field, and limits how many are listed.
fn prefix_repairs(within: &str, mut repairs: Vec<Repair>) -> Vec<Repair> {
    for repair in &mut repairs {
        repair.path.insert_str(0, within);
    }
    let more = repairs.len().saturating_sub(limits::REPAIRS_TOLD_MAX);
    if more > 0 {
        repairs.truncate(limits::REPAIRS_TOLD_MAX);
        repairs.push(Repair { path: within.to_owned(), reason: format!("{more} more repairs were made") });
    }
    repairs
}

fn unknown_command_fault(within: &str, name: &str, failure: &Failure) -> Fault {
    let nearest = input::nearest_word(name, Command::NAMES);
    let hint = match nearest {
        Some(word) => format!("did you mean {word}? {}", failure.hint()),
        None => failure.hint().to_owned(),
    };
    let fault = Fault::new(Code::Rejected, failure.to_string())
        .with_path(format!("{within}/type"))
        .value(&name.into())
        .hint(hint)
        .allowed(Command::NAMES.iter().copied())
        .events([shorten_event(json!(failure))]);
    match nearest.and_then(command_entry) {
        Some(entry) => fault.example(command_example(entry)),
        None => fault,
    }
}

/// The event of an unknown command, which contains the whole command unless that is long.
fn shorten_event(mut event: Value) -> Value {
    let is_long = |text: &Value| text.to_string().len() > COMMAND_BYTES_MAX;
    if event.get("command").is_some_and(is_long) {
        let name = truncate_for_message(event["command"]["type"].as_str().unwrap_or_default());
        event["command"] = json!({"type": name});
    }
    event
}

/// The fault for a known command with invalid content. With its schema, the first difference from that is explained.
fn invalid_command_fault(within: &str, name: &str, sent: &Value, full: Option<&Value>, failure: &Failure) -> Fault {
    let full = full.filter(|_| failure.reason() == Some(Reason::Unreadable));
    let differs = full.and_then(|full| input::find_misfit(full, sent));
    let mut event = json!(failure);
    let fault = if let Some(found) = &differs {
        let body = found.body();
        let path = body.path.as_deref().unwrap_or_default();
        event["field"] = path.into();
        let message = format!("{name} cannot be read: {}", body.message);
        let fault =
            Fault::new(Code::Rejected, message).with_path(format!("{within}{path}")).allowed(body.allowed.clone());
        let fault = body.value.iter().fold(fault, Fault::value);
        body.hint.iter().fold(fault, Fault::hint)
    } else {
        let path = failure.pointer().unwrap_or_default();
        let fault =
            Fault::new(Code::Rejected, failure.to_string()).with_path(format!("{within}{path}")).hint(failure.hint());
        failure.pointer().and_then(|pointer| sent.pointer(pointer)).into_iter().fold(fault, Fault::value)
    };
    let fault = fault.events([event]);
    let Some(entry) = command_entry(name) else { return fault };
    let hint = fault.body().hint.clone().unwrap_or_default();
    fault.hint(format!("{hint}; the example is a right {name}")).example(command_example(entry))
}

/// Parses a sent state, and lists the repairs that it needed.
pub(super) fn parse_state(sent: &Value) -> Result<(SentState, Vec<Repair>), Fault> {
    let sent = &*SentState::convert_units(sent).map_err(state_misfit_fault)?;
    let read = if input::has_allowed_shape(&STATE, &STATE, sent) {
        SentState::read(sent).map(|(state, repairs)| (state, prefix_repairs("/state", repairs)))
    } else {
        Err(FieldMisfit::new(Reason::Unreadable, "an array stands where an object should, or the other way round"))
    };
    read.map_err(|misfit| {
        let differs = || input::find_misfit(&STATE, &SentState::repair(sent).0);
        let differs = (misfit.reason == Reason::Unreadable).then(differs).flatten();
        if let Some(found) = differs {
            let path = found.body().path.clone().unwrap_or_default();
            if path.is_empty() {
                let message = format!("state is {}, expected object", truncate_for_message(&sent.to_string()));
                let fault = Fault::new(Code::InvalidParams, message).with_path("/state").value(sent);
                return fault.hint("send an object as `get_universe_state` answers it");
            }
            return found.with_path(format!("/state{path}"));
        }
        state_misfit_fault(misfit)
    })
}

fn state_misfit_fault(misfit: FieldMisfit) -> Fault {
    let misfit = misfit.in_field("state");
    Fault::new(Code::InvalidParams, misfit.to_string()).with_path(misfit.pointer).hint(misfit.reason.hint())
}

#[cfg(test)]
mod tests {
    use skald_domain::universe::{CATEGORIES, EXAMPLE_STATE};

    use super::*;

    #[test]
    fn every_example_is_what_its_schema_says() {
        let entries = CATEGORIES.iter().flat_map(|category| category.commands);
        for entry in entries {
            let example = command_example(entry);
            let (_, full) = &COMMANDS[entry.name];
            assert!(
                input::find_misfit(full, &example).is_none(),
                "{}: {:?}",
                entry.name,
                input::find_misfit(full, &example)
            );
            assert!(parse_command("/command", &example).is_ok(), "{}", entry.name);
        }
        let example: Value = serde_json::from_str(EXAMPLE_STATE).unwrap();
        assert!(parse_state(&example).is_ok() && input::find_misfit(&STATE, &example).is_none());
    }

    #[test]
    fn schemas_have_units_for_people() {
        let tick = client_schema("tick").unwrap();
        let fields: Vec<&str> = tick["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(fields, ["type", "dt", "hours", "days", "years"]);
        for (name, is_required) in [("addStar", true), ("updateStar", false)] {
            let (shown, full) = &COMMANDS[name];
            assert_eq!(shown.pointer("/properties/payload/properties/orbitalPeriodDays/type"), Some(&json!("number")));
            let requires = |schema: &Value| {
                let required = schema.pointer("/properties/payload/required").and_then(Value::as_array);
                required.is_some_and(|required| required.iter().any(|field| field == "orbitalSpeed"))
            };
            assert_eq!((requires(shown), requires(full)), (false, is_required), "{name}");
        }
    }

    #[test]
    fn only_so_many_repairs_are_told() {
        let repairs = |count: usize| vec![Repair { path: "/a".to_owned(), reason: "b".to_owned() }; count];
        let all = prefix_repairs("/state", repairs(limits::REPAIRS_TOLD_MAX));
        assert_eq!(all.len(), limits::REPAIRS_TOLD_MAX);
        assert!(all.iter().all(|repair| repair.path == "/state/a"));
        let more = prefix_repairs("/state", repairs(limits::REPAIRS_TOLD_MAX + 1));
        assert_eq!(more.len(), limits::REPAIRS_TOLD_MAX + 1);
        assert_eq!(more.last().unwrap().reason, "1 more repairs were made");
    }

    #[test]
    fn what_is_wrong_is_named_with_a_right_example() {
        let wrong = |sent: Value| parse_command("/command", &sent).unwrap_err();
        let star = |payload: Value| json!({"type": "addStar", "id": "mars", "payload": payload});
        let right = json!({
            "name": "Mars", "mass": 1, "radius": 1, "color": "#C1440E", "parentId": null,
            "orbitalDistance": 0, "orbitalSpeed": 0, "orbitalPhase": 0
        });
        let with = |field: &str, value: Value| {
            let mut payload = right.clone();
            payload[field] = value;
            star(payload)
        };
        let cases = [
            (with("mas", json!(1)), "/command/payload/mas"),
            (with("mass", json!("heavy")), "/command/payload/mass"),
            (with("bodyType", json!("sun")), "/command/payload/bodyType"),
            (json!({"type": "addStar", "id": "mars"}), "/command/payload"),
            (star(json!(["Mars"])), "/command/payload"),
            (json!({"type": "removeStar"}), "/command/id"),
            (json!({"type": "addstar"}), "/command/type"),
        ];
        for (sent, path) in cases {
            let fault = wrong(sent.clone());
            let body = fault.body();
            assert_eq!((fault.code(), body.path.as_deref()), (Code::Rejected, Some(path)), "{sent}: {fault}");
            assert!(body.details["events"][0]["type"].is_string() && body.example.is_some(), "{sent}: {body:?}");
            assert!(!fault.to_string().contains('{'), "the example stands in its field alone: {fault}");
        }
        assert!(wrong(with("mas", json!(1))).to_string().contains("mass"), "the nearest right name");
        let period = wrong(with("orbitalPeriodDay", json!(1)));
        assert!(period.body().hint.as_ref().is_some_and(|hint| hint.contains("orbitalPeriodDays")), "{period:?}");
        for (sent, path, value) in [
            (with("orbitalPeriodDays", json!("year")), "/command/payload/orbitalPeriodDays", json!("year")),
            (with("orbitalPeriodDays", json!(9)), "/command/payload/orbitalPeriodDays", json!(9)),
            (json!({"type": "tick", "days": "2"}), "/command/days", json!("2")),
            (json!({"type": "tick", "days": 2, "dt": 5}), "/command/days", json!(2)),
        ] {
            let fault = wrong(sent.clone());
            let body = fault.body();
            assert_eq!((body.path.as_deref(), &body.value), (Some(path), &Some(value)), "{sent}: {fault}");
            assert!(body.hint.is_some() && body.example.is_some(), "{sent}");
        }
        for sent in [json!({}), json!({"type": " "}), json!({"type": 7}), json!("tick")] {
            let fault = wrong(sent);
            assert_eq!(fault.code(), Code::InvalidParams);
            assert!(fault.body().example.is_some() && fault.body().path.as_deref() == Some("/command/type"));
        }
    }
}
