//! The OpenAPI 3.1 description of the REST routes, rendered from the catalogue.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use skald_app::{Allowed, Catalogue, Entry, FaultBody, JSON, Route, Verb, Visible};

use crate::universes;

pub fn document(catalogue: &Catalogue, visible: Visible) -> Value {
    let mut paths = Map::new();
    let mut schemas = Map::from_iter([("Fault".to_owned(), fault_schema())]);
    for entry in catalogue.operations().iter().filter(|entry| visible.admits(entry)) {
        paths.insert(format!("/api/v1/{}", entry.name), json!({"post": by_body(entry)}));
        for route in entry.routes {
            let path = paths.entry(format!("/api/v1{}", route.path)).or_insert_with(|| json!({}));
            path[verb(route.verb)] = by_fields(entry, *route);
        }
    }
    paths.extend(universes::described(catalogue, visible));
    let mut paths = Value::Object(paths);
    hoist(&mut paths, &mut schemas);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Skald",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "One server that keeps a tabletop world.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"}
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "headers": {"Revision": {
                "description": "Where the campaign stands now: send it as If-Match to insist on it.",
                "schema": {"type": "string", "examples": ["\"8\""]}
            }},
            "responses": {"Fault": fault_response(), "UniverseFault": universe_fault_response()},
            "schemas": schemas
        }
    })
}

fn fault_response() -> Value {
    json!({
        "description": "An error: its code, what went wrong, and what to do next.",
        "content": {"application/json": {"schema": {
            "type": "object",
            "properties": {"error": {"$ref": "#/components/schemas/Fault"}},
            "required": ["error"]
        }}}
    })
}

fn universe_fault_response() -> Value {
    json!({
        "description": "An error: a sentence for people, and beside it the same fields as everywhere.",
        "content": {"application/json": {"schema": {
            "allOf": [
                {
                    "type": "object",
                    "properties": {"error": {
                        "type": "string",
                        "description": "What went wrong, and what to do next."
                    }},
                    "required": ["error"]
                },
                {"$ref": "#/components/schemas/Fault"}
            ]
        }}}
    })
}

/// Moves definitions out of single schemas to where references within the document find them.
fn hoist(value: &mut Value, schemas: &mut Map<String, Value>) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::Object(definitions)) = fields.remove("$defs") {
                for (name, mut definition) in definitions {
                    hoist(&mut definition, schemas);
                    schemas.insert(name, definition);
                }
            }
            if let Some(Value::String(reference)) = fields.get_mut("$ref")
                && let Some(name) = reference.strip_prefix("#/$defs/")
            {
                *reference = format!("#/components/schemas/{name}");
            }
            fields.values_mut().for_each(|field| hoist(field, schemas));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| hoist(item, schemas)),
        _ => {}
    }
}

fn fault_schema() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    settings.into_generator().into_root_schema_for::<FaultBody>().to_value()
}

fn verb(verb: Verb) -> &'static str {
    match verb {
        Verb::Get => "get",
    }
}

fn by_body(entry: &Entry) -> Value {
    let mut operation = described(entry, entry.name);
    operation["requestBody"] = json!({
        "required": entry.input.contains_key("required"),
        "content": {"application/json": {"schema": **entry.input}}
    });
    operation
}

fn by_fields(entry: &Entry, route: Route) -> Value {
    let required = entry.input.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let properties = entry.input.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let parameters: Vec<Value> = properties
        .iter()
        .map(|(name, schema)| {
            let in_path = route.path.contains(&format!("{{{name}}}"));
            let is_required = in_path || required.iter().any(|field| field == name);
            json!({
                "name": name,
                "in": if in_path { "path" } else { "query" },
                "required": is_required,
                "schema": schema
            })
        })
        .collect();
    let mut operation = described(entry, &format!("{}_{}", verb(route.verb), entry.name));
    operation["parameters"] = parameters.into();
    if route.mime_type != JSON {
        operation["responses"]["200"]["content"] = json!({route.mime_type: {"schema": {"type": "string"}}});
    }
    operation
}

fn described(entry: &Entry, id: &str) -> Value {
    let mut operation = json!({
        "operationId": id,
        "summary": entry.title,
        "description": entry.summary,
        "tags": [entry.toolset.name()],
        "responses": {
            "200": {
                "description": "The answer.",
                "content": {"application/json": {"schema": **entry.output}}
            },
            "default": {"$ref": "#/components/responses/Fault"}
        }
    });
    if entry.allowed != Allowed::Anyone {
        operation["responses"]["200"]["headers"] = json!({"ETag": {"$ref": "#/components/headers/Revision"}});
    }
    operation
}
