//! Repairs names with forbidden characters: line breaks, control characters, bidirectional overrides and tags. In a
//! whole state they are cleaned, since somebody's work would be lost for a stray character. Ids are not cleaned:
//! references to them would be lost, and two could become one.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{Repair, Repairs};
use crate::deceptive_characters::{clean_name, code_point, first_deceptive};
use crate::universe::check_bounds::truncate_for_message;
use crate::universe::id_name_color::is_name_schema;

/// A state or a snapshot with its names cleaned, and the repairs. `schema` is the JSON schema of the expected type.
pub(in crate::universe) fn clean_names<'a>(sent: &'a Value, schema: &Value) -> (Cow<'a, Value>, Vec<Repair>) {
    // Nearly always there is nothing to clean, so avoid the copy.
    if !has_deceptive_text(sent) {
        return (Cow::Borrowed(sent), Vec::new());
    }
    let (mut state, mut repairs) = (sent.clone(), Repairs::default());
    let mut walk = NameWalk { root: schema, path: Vec::new(), repairs: &mut repairs };
    walk.visit_value(schema, &mut state);
    (Cow::Owned(state), repairs.0)
}

fn has_deceptive_text(value: &Value) -> bool {
    match value {
        Value::String(text) => first_deceptive(text).is_some(),
        Value::Array(items) => items.iter().any(has_deceptive_text),
        Value::Object(fields) => fields.values().any(has_deceptive_text),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Walks a schema and a value side by side.
struct NameWalk<'a> {
    root: &'a Value,
    path: Vec<String>,
    repairs: &'a mut Repairs,
}

impl NameWalk<'_> {
    fn visit_value(&mut self, schema: &Value, value: &mut Value) {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let root = self.root;
            if let Some(schema) = root.pointer(reference.trim_start_matches('#')) {
                self.visit_value(schema, value);
            }
            return;
        }
        if let Some(branches) = schema.get("anyOf").and_then(Value::as_array) {
            if let Some(branch) = branches.iter().find(|branch| branch["type"] != "null") {
                self.visit_value(branch, value);
            }
            return;
        }
        match value {
            Value::Object(fields) => self.visit_fields(schema, fields),
            Value::String(text) if is_name_schema(schema) => self.repair_name(text),
            _ => {}
        }
    }

    fn visit_fields(&mut self, schema: &Value, fields: &mut Map<String, Value>) {
        for (name, field) in fields {
            let known = schema.get("properties").and_then(|properties| properties.get(name));
            let Some(schema) = known.or_else(|| schema.get("additionalProperties")) else { continue };
            self.path.push(name.clone());
            self.visit_value(schema, field);
            self.path.pop();
        }
    }

    fn repair_name(&mut self, name: &mut String) {
        let (Some(character), Some(clean)) = (first_deceptive(name), clean_name(name)) else { return };
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        let (was, now) = (truncate_for_message(name), truncate_for_message(&clean));
        self.repairs.add(&path, format!("is {was:?} with the character {}; it is {now:?} now", code_point(character)));
        *name = clean;
    }
}
