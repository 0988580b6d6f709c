//! Repairs an inconsistent state that a client sent, rather than refusing it. It may be hours of somebody's work, and
//! the editor of the original writes such states. Each repair is reported to the sender.
//!
//! Repairs are made on JSON, before it is parsed into types: names always, everything else only if the state cannot be
//! parsed as it is. The result is checked like any other state, so an insufficient repair ends in a refusal and never
//! in a broken universe.

mod links;
mod names;
mod nulls;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::check_bounds::truncate_for_message;
pub(super) use names::clean_names;

/// Something that was changed in a state, so that it could be kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Repair {
    /// A JSON pointer to what was changed.
    pub path: String,
    /// What was wrong, and what became of it.
    pub reason: String,
}

/// Collects the repairs of one state.
#[derive(Default)]
struct Repairs(Vec<Repair>);

impl Repairs {
    fn add(&mut self, path: &[&str], reason: String) {
        let names: Vec<String> = path.iter().map(|name| name.replace('~', "~0").replace('/', "~1")).collect();
        self.0.push(Repair { path: format!("/{}", names.join("/")), reason });
    }
}

/// The maps whose keys are the ids of their entries.
const MAPS_BY_ID: [&str; 6] = ["stars", "groups", "belts", "smallBodyFields", "protoplanetaryDisks", "nebulae"];

/// A state or a snapshot, repaired as far as possible, and the repairs. `schema` is the JSON schema of the expected
/// type.
pub(super) fn repair_state(sent: &Value, schema: &Value) -> (Value, Vec<Repair>) {
    let (mut state, mut repairs) = (sent.clone(), Repairs::default());
    if let Value::Object(fields) = &mut state {
        if fields.get("time").is_some_and(Value::is_null) {
            fields.shift_remove("time");
            repairs.add(&["time"], "is null, as a number that is none is written; the time stays as it is".to_owned());
        }
        nulls::fill_nulls(fields, schema, &mut repairs);
        for map in MAPS_BY_ID {
            set_ids_to_keys(fields, map, &mut repairs);
        }
        links::BODIES.repair(fields, &mut repairs);
        links::GROUPS.repair(fields, &mut repairs);
    }
    (state, repairs.0)
}

/// Sets the id of each entry to its key.
fn set_ids_to_keys(state: &mut Map<String, Value>, map: &str, repairs: &mut Repairs) {
    let Some(Value::Object(things)) = state.get_mut(map) else { return };
    for (key, thing) in things {
        let Value::Object(thing) = thing else { continue };
        let id = thing.get("id").and_then(Value::as_str);
        if id != Some(key) {
            let was = id.map_or_else(
                || "is missing".to_owned(),
                |id| format!("is {:?}, and not the key", truncate_for_message(id)),
            );
            repairs.add(&[map, key, "id"], format!("{was}; it is {:?} now", truncate_for_message(key)));
            thing.insert("id".to_owned(), key.as_str().into());
        }
    }
}
