//! Repairs nulls: replaces each by a usual number, an empty list or an empty map, by its schema. JSON has no NaN, so a
//! client's NaN, such as that of an empty input field, arrives as null.

use serde_json::{Map, Value, json};

use super::Repairs;

/// Fields that become 1 instead of 0: a body without mass or size would be invisible.
const FIELDS_SET_TO_ONE: [&str; 2] = ["mass", "radius"];

pub(super) fn fill_nulls(state: &mut Map<String, Value>, schema: &Value, repairs: &mut Repairs) {
    let mut walk = NullWalk { root: schema, path: Vec::new(), repairs };
    walk.visit_fields(schema, state);
}

/// Walks a schema and a value side by side.
struct NullWalk<'a> {
    root: &'a Value,
    path: Vec<String>,
    repairs: &'a mut Repairs,
}

impl NullWalk<'_> {
    fn visit_fields(&mut self, schema: &Value, fields: &mut Map<String, Value>) {
        for (name, field) in fields {
            let known = schema.get("properties").and_then(|properties| properties.get(name));
            let Some(schema) = known.or_else(|| schema.get("additionalProperties")) else { continue };
            self.path.push(name.clone());
            self.visit_value(schema, field);
            self.path.pop();
        }
    }

    fn visit_value(&mut self, schema: &Value, value: &mut Value) {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let root = self.root;
            if let Some(schema) = root.pointer(reference.trim_start_matches('#')) {
                self.visit_value(schema, value);
            }
            return;
        }
        if let Some(branches) = schema.get("anyOf").and_then(Value::as_array) {
            // The schema allows null here.
            if let Some(branch) = branches.iter().find(|branch| branch["type"] != "null").filter(|_| !value.is_null()) {
                self.visit_value(branch, value);
            }
            return;
        }
        match value {
            Value::Null => self.fill_null(schema, value),
            Value::Object(fields) => self.visit_fields(schema, fields),
            Value::Array(items) => {
                let Some(schema) = schema.get("items") else { return };
                for (at, item) in items.iter_mut().enumerate() {
                    self.path.push(at.to_string());
                    self.visit_value(schema, item);
                    self.path.pop();
                }
            }
            Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn fill_null(&mut self, schema: &Value, value: &mut Value) {
        let name = self.path.last().map(String::as_str).unwrap_or_default();
        let usual = match schema.get("type").and_then(Value::as_str) {
            Some("number" | "integer") if FIELDS_SET_TO_ONE.contains(&name) => json!(1),
            Some("number" | "integer") => schema.get("minimum").cloned().unwrap_or_else(|| json!(0)),
            Some("array") => json!([]),
            Some("object") if schema.get("additionalProperties").is_some_and(Value::is_object) => json!({}),
            _ => return,
        };
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        self.repairs.add(&path, format!("is null; it is {usual} now"));
        *value = usual;
    }
}
