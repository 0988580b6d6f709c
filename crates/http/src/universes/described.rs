//! The routes under `/universes`, for the OpenAPI document. What they take and answer is what their operations do.

use serde_json::{Map, Value, json};
use skald_app::{Catalogue, Toolset, Visible};

use super::UNIVERSES;

/// The schema of a body, from the input of the operation.
type Body = fn(&Map<String, Value>) -> Value;

/// One route: what it is for, the operation that it calls, the status of its answer, and what is beside the fields.
struct Told {
    path: &'static str,
    verb: &'static str,
    summary: &'static str,
    operation: &'static str,
    status: &'static str,
    body: Option<Body>,
    query: &'static [&'static str],
}

const ONE: &str = "/universes/{id}";

const ROUTES: [Told; 7] = [
    Told {
        path: UNIVERSES,
        verb: "get",
        summary: "List all universes, the newest first, or with limit or cursor a page of them; the link header leads to what follows.",
        operation: "universe_read",
        status: "200",
        body: None,
        query: &["state", "cursor", "limit"],
    },
    Told {
        path: UNIVERSES,
        verb: "post",
        summary: "Create a universe, under an id of your own choice if you send one.",
        operation: "universe",
        status: "201",
        body: Some(|_| {
            let text = json!({"type": "string"});
            let properties = json!({"id": text, "name": text, "state": {"type": "object"}, "campaignId": text});
            json!({"type": "object", "properties": properties, "required": ["name", "state"]})
        }),
        query: &[],
    },
    Told {
        path: ONE,
        verb: "get",
        summary: "Read a universe with all that it holds.",
        operation: "universe_record",
        status: "200",
        body: None,
        query: &[],
    },
    Told {
        path: ONE,
        verb: "put",
        summary: "Write a universe anew: its name, all that it holds, or both.",
        operation: "universe",
        status: "200",
        body: Some(
            |_| json!({"type": "object", "properties": {"name": {"type": "string"}, "state": {"type": "object"}}}),
        ),
        query: &[],
    },
    Told {
        path: ONE,
        verb: "delete",
        summary: "Delete a universe.",
        operation: "universe",
        status: "204",
        body: None,
        query: &[],
    },
    Told {
        path: "/universes/{id}/commands",
        verb: "post",
        summary: "Send a command, or an array of them that are done together or not at all.",
        operation: "send_universe_command",
        status: "200",
        body: Some(|input| {
            let command = &input["properties"]["command"];
            json!({"oneOf": [command, {"type": "array", "items": command}]})
        }),
        query: &["state"],
    },
    Told {
        path: "/universes/{id}/events",
        verb: "get",
        summary: "Follow a universe: its commands as server-sent events. Last-Event-ID goes on where a reader was cut.",
        operation: "get_universe_state",
        status: "200",
        body: None,
        query: &["lastEventId"],
    },
];

/// The routes that may be seen.
pub(crate) fn described(catalogue: &Catalogue, visible: Visible) -> Map<String, Value> {
    let mut paths = Map::new();
    if !visible.toolsets.contains(Toolset::Universe) {
        return paths;
    }
    for told in ROUTES.iter().filter(|told| told.verb == "get" || !visible.read_only) {
        let path = paths.entry(told.path).or_insert_with(|| json!({}));
        path[told.verb] = operation(catalogue, told);
    }
    paths
}

/// A record that was written, with what had to be repaired in its state.
fn record_with_repairs(catalogue: &Catalogue) -> Option<Value> {
    let mut record = json!(**catalogue.operation("universe_record").ok()?.output);
    record["properties"]["repaired"] = catalogue.operation("universe").ok()?.output["properties"]["repaired"].clone();
    Some(record)
}

fn operation(catalogue: &Catalogue, told: &Told) -> Value {
    let text = json!({"type": "string"});
    let id = told.path.contains("{id}").then(|| json!({"name": "id", "in": "path", "required": true, "schema": text}));
    let query = told.query.iter().map(|name| json!({"name": name, "in": "query", "schema": text}));
    let parameters: Vec<Value> = id.into_iter().chain(query).collect();
    let named = |name: &str| catalogue.operation(name).ok();
    let schema = match (told.path, told.verb) {
        (_, "delete") => None,
        (UNIVERSES, "get") => named(told.operation).map(|entry| entry.output["properties"]["universes"].clone()),
        (ONE, "get") => named("universe_record").map(|entry| json!(**entry.output)),
        (UNIVERSES | ONE, _) => record_with_repairs(catalogue),
        _ => named(told.operation).map(|entry| json!(**entry.output)),
    };
    let mut answer = json!({"description": "The answer."});
    if told.path.ends_with("/events") {
        answer["content"] = json!({"text/event-stream": {"schema": text}});
    } else if let Some(schema) = schema {
        answer["content"] = json!({"application/json": {"schema": schema}});
        answer["headers"] = json!({"ETag": {"$ref": "#/components/headers/Revision"}});
    }
    let mut operation = json!({
        "operationId": format!("{}_{}", told.verb, told.path.trim_matches('/').replace(['/', '{', '}'], "_")),
        "summary": told.summary,
        "tags": ["universe"],
        "parameters": parameters,
        "responses": {told.status: answer, "default": {"$ref": "#/components/responses/UniverseFault"}}
    });
    if let (Some(body), Some(entry)) = (told.body, named(told.operation)) {
        let schema = body(&entry.input);
        operation["requestBody"] = json!({"required": true, "content": {"application/json": {"schema": schema}}});
    }
    operation
}
