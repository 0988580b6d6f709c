//! The OpenAPI 3.1 description of the REST routes, rendered from the catalogue.

use serde_json::{Map, Value, json};
use skald_app::{
    API_PREFIX, Allowed, Catalogue, FaultShape, MIME_JSON, MIME_YAML, OperationEntry, RedeemedInvitation, RequestBody,
    Route, Success, ToolsetFilter,
};

use crate::invitations::REDEEM;

pub fn document(catalogue: &Catalogue, visible: ToolsetFilter) -> Value {
    let (mut paths, mut beside_api) = (Map::new(), Map::new());
    let mut schemas = Map::from_iter([("Fault".to_owned(), catalogue.fault_schema())]);
    for entry in catalogue.operations().iter().filter(|entry| visible.admits(entry)) {
        if entry.exposed.has_post_route() {
            paths.insert(format!("{API_PREFIX}/{}", entry.name), json!({"post": post_operation(entry)}));
        }
        for route in entry.routes {
            let section = if route.path.starts_with(API_PREFIX) { &mut paths } else { &mut beside_api };
            let path = section.entry(route.path).or_insert_with(|| json!({}));
            let method = &mut path[route.method.name().to_ascii_lowercase()];
            if method.is_null() {
                *method = route_operation(entry, route);
            } else {
                add_alternative_body(method, entry, route);
            }
        }
    }
    paths.insert(REDEEM.to_owned(), json!({"post": redeem_operation()}));
    paths.extend(beside_api);
    let mut paths = Value::Object(paths);
    hoist_definitions(&mut paths, &mut schemas);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Skald",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "One server that keeps a tabletop world.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"}
        },
        "servers": [{"url": "/"}],
        // On this machine the owner needs no token, unless the server was started so.
        "security": [{}, {"token": []}],
        "paths": paths,
        "components": {
            "headers": {"Revision": {
                "description": "The current revision of the campaign: send it as If-Match, and the command is refused if somebody changed the campaign meanwhile.",
                "schema": {"type": "string", "examples": ["\"8\""]}
            }},
            "securitySchemes": {"token": {
                "type": "http",
                "scheme": "bearer",
                "description": "A token of skald token create, or an access token of the authorization server."
            }},
            "responses": {"Fault": fault_response(), "UniverseFault": universe_fault_response()},
            "schemas": schemas
        }
    })
}

/// The only route without an operation: its callers have no token yet.
fn redeem_operation() -> Value {
    let mut redeemed = json!(schemars::schema_for!(RedeemedInvitation));
    if let Some(fields) = redeemed.as_object_mut() {
        fields.retain(|name, _| !["$schema", "title", "description"].contains(&name.as_str()));
    }
    json!({
        "operationId": "redeem_invitation",
        "summary": "Redeem an invitation",
        "description": "Redeems the code of an invitation for a token, once. It needs no token.",
        "tags": ["access"],
        "security": [],
        "requestBody": {"required": true, "content": {"application/json": {"schema": {
            "type": "object",
            "properties": {"code": {"type": "string", "description": "The code of skald invite create."}},
            "required": ["code"],
            "additionalProperties": false
        }}}},
        "responses": {
            "201": {"description": "The token.", "content": {"application/json": {"schema": redeemed}}},
            "default": {"$ref": "#/components/responses/Fault"}
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

/// Moves `$defs` of single schemas to the document's components, and rewrites the references.
fn hoist_definitions(value: &mut Value, schemas: &mut Map<String, Value>) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::Object(definitions)) = fields.remove("$defs") {
                for (name, mut definition) in definitions {
                    hoist_definitions(&mut definition, schemas);
                    schemas.insert(name, definition);
                }
            }
            if let Some(Value::String(reference)) = fields.get_mut("$ref")
                && let Some(name) = reference.strip_prefix("#/$defs/")
            {
                *reference = format!("#/components/schemas/{name}");
            }
            fields.values_mut().for_each(|field| hoist_definitions(field, schemas));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| hoist_definitions(item, schemas)),
        _ => {}
    }
}

fn post_operation(entry: &OperationEntry) -> Value {
    let mut operation = base_operation(entry, entry.name);
    operation["requestBody"] = json!({
        "required": entry.input.contains_key("required"),
        "content": {"application/json": {"schema": **entry.input}}
    });
    operation
}

fn route_operation(entry: &OperationEntry, route: &Route) -> Value {
    let required = entry.input.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let in_path = |field: &str| route.path_fields().find(|(_, of)| *of == field).map(|(name, _)| name);
    let in_query = properties(entry).filter(|(field, schema)| !is_in_body(route, field) && fits_query(schema));
    let parameters: Vec<Value> = in_query
        .map(|(field, schema)| {
            let name = in_path(field);
            let is_required = name.is_some() || required.iter().any(|required| required == field);
            json!({
                "name": name.unwrap_or(field),
                "in": if name.is_some() { "path" } else { "query" },
                "required": is_required,
                "schema": schema
            })
        })
        .collect();
    let mut operation = base_operation(entry, &operation_id(entry, route));
    operation["parameters"] = parameters.into();
    let body = request_body(entry, route);
    if !body.is_null() {
        operation["requestBody"] = json!({"required": true, "content": {"application/json": {"schema": body}}});
    }
    let mut answer = operation["responses"]["200"].take();
    match route.success {
        Success::Ok | Success::Events if route.mime_type != MIME_JSON => {
            // Readers parse YAML, so its schema is not that of a text.
            let schema = if route.mime_type == MIME_YAML { json!({}) } else { json!({"schema": {"type": "string"}}) };
            answer["content"] = json!({route.mime_type: schema});
        }
        Success::Ok | Success::Events => {}
        Success::Page(field) => answer["content"][MIME_JSON]["schema"] = entry.output["properties"][field].clone(),
        Success::Created(path) => {
            answer["headers"]["Location"] = json!({"description": path, "schema": {"type": "string"}});
        }
        Success::NoContent => answer = json!({"description": "It is done."}),
    }
    if let (Success::Events, Some(answer)) = (route.success, answer.as_object_mut()) {
        answer.shift_remove("headers");
    }
    let fault = match route.fault_shape {
        FaultShape::Object | FaultShape::StatusAndSentence => "#/components/responses/Fault",
        FaultShape::Sentence => "#/components/responses/UniverseFault",
    };
    operation["responses"] = json!({route.success.status().to_string(): answer, "default": {"$ref": fault}});
    operation
}

/// Ids of routes outside the API prefix are made from their paths.
fn operation_id(entry: &OperationEntry, route: &Route) -> String {
    let method = route.method.name().to_ascii_lowercase();
    if route.path.starts_with(API_PREFIX) {
        return format!("{method}_{}", entry.name);
    }
    format!("{method}_{}", route.path.trim_matches('/').replace(['/', '{', '}'], "_"))
}

fn properties(entry: &OperationEntry) -> impl Iterator<Item = (&String, &Value)> {
    entry.input.get("properties").and_then(Value::as_object).into_iter().flatten()
}

/// Whether a field can be written in a query: lists of objects cannot.
fn fits_query(schema: &Value) -> bool {
    schema.pointer("/items/type").is_none_or(|kind| kind != "object")
}

fn is_in_body(route: &Route, field: &str) -> bool {
    match route.body {
        RequestBody::None => false,
        RequestBody::Fields => !route.path_fields().any(|(_, of)| of == field),
        RequestBody::Field(body) | RequestBody::Items(body) => body == field,
    }
}

/// The schema of a route's body; null if it has none.
fn request_body(entry: &OperationEntry, route: &Route) -> Value {
    match route.body {
        RequestBody::None => Value::Null,
        RequestBody::Field(field) | RequestBody::Items(field) => entry.input["properties"][field].clone(),
        RequestBody::Fields => {
            let mut schema = Map::clone(&entry.input);
            for (_, field) in route.path_fields() {
                if let Some(Value::Object(properties)) = schema.get_mut("properties") {
                    properties.shift_remove(field);
                }
                if let Some(Value::Array(required)) = schema.get_mut("required") {
                    required.retain(|required| required != field);
                }
            }
            schema.retain(|key, value| key != "required" || value.as_array().is_some_and(|names| !names.is_empty()));
            schema.into()
        }
    }
}

/// Adds another operation of the same route, as an alternative body.
fn add_alternative_body(operation: &mut Value, entry: &OperationEntry, route: &Route) {
    let schema = &mut operation["requestBody"]["content"][MIME_JSON]["schema"];
    *schema = json!({"oneOf": [schema.take(), request_body(entry, route)]});
    let description = operation["description"].as_str().unwrap_or_default();
    operation["description"] = format!("{description} {}", entry.summary).into();
}

fn base_operation(entry: &OperationEntry, id: &str) -> Value {
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
