//! Tests of the routes under `/universes`: long lists, the OpenAPI description, and refused input.

use futures::StreamExt;
use futures::stream;
use serde_json::{Value, json};
use skald_app::{Caller, RequestControl, ToolsetFilter, limits};
use skald_testkit::Client;
use std::collections::BTreeSet;

use crate::Server;

impl Server {
    /// Creates universes, many at once.
    fn create_universes(&self, numbers: std::ops::Range<usize>) {
        let created = stream::iter(numbers).for_each_concurrent(64, async |number| {
            let input = json!({"method": "create", "universeId": format!("u-{number:05}"), "name": "Sol"});
            let (caller, control) = (Caller::owner(), RequestControl::default());
            self.engine.call(&caller, "universe", input, &control).await.unwrap();
        });
        self.runtime.block_on(created);
    }

    /// The ids of one answer, and the link to the next page.
    fn list_universes(&self, path: &str) -> (BTreeSet<String>, Option<String>) {
        let reply = self.get(path);
        assert_eq!(reply.status, 200, "{}", reply.text());
        let listed: Vec<Value> = serde_json::from_slice(&reply.body).expect("a bare array");
        let ids: BTreeSet<String> = listed.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect();
        assert_eq!(ids.len(), listed.len(), "none twice");
        let next = reply.header("link").map(|link| {
            let link = link.strip_prefix('<').and_then(|link| link.strip_suffix(">; rel=\"next\""));
            link.expect("a link to the next page").to_owned()
        });
        (ids, next)
    }
}

/// Clients of the original show the answer to one request and follow no pages.
#[test]
fn all_universes_are_listed_at_once_up_to_a_limit() {
    let server = Server::start(ToolsetFilter::EVERYTHING);
    server.create_universes(0..205);
    let (ids, next) = server.list_universes("/universes");
    assert_eq!((ids.len(), next), (205, None), "more than a page");
    assert_eq!(server.list_universes("/universes?limit=200").0.len(), 200);
    server.create_universes(205..limits::UNIVERSES_LISTED_MAX);
    let (ids, next) = server.list_universes("/universes");
    assert_eq!((ids.len(), next), (limits::UNIVERSES_LISTED_MAX, None), "at the limit");
    server.create_universes(limits::UNIVERSES_LISTED_MAX..limits::UNIVERSES_LISTED_MAX + 2);
    let (ids, next) = server.list_universes("/universes");
    assert_eq!(ids.len(), limits::UNIVERSES_LISTED_MAX, "past the limit");
    let (rest, next) = server.list_universes(&next.expect("a link to the rest"));
    assert_eq!((rest.len(), next), (2, None));
    assert!(ids.is_disjoint(&rest));
}

/// The description contains everything that clients of the original rely on.
#[test]
fn the_routes_are_described_with_their_statuses() {
    let server = Server::start(ToolsetFilter::EVERYTHING);
    let paths = server.get("/api/v1/openapi.json").json()["paths"].take();
    for (method, path, status, taken, answered) in [
        ("get", "/universes", "200", None, Some("/application~1json/schema/items/properties/id")),
        ("post", "/universes", "201", Some("/properties/name"), Some("/application~1json/schema/properties/repaired")),
        ("get", "/universes/{id}", "200", None, Some("/application~1json/schema/properties/state")),
        ("put", "/universes/{id}", "200", Some("/properties/state"), Some("/application~1json/schema/properties/id")),
        ("delete", "/universes/{id}", "204", None, None),
        (
            "post",
            "/universes/{id}/commands",
            "200",
            Some("/oneOf/1/items"),
            Some("/application~1json/schema/properties/events"),
        ),
        ("get", "/universes/{id}/events", "200", None, Some("/text~1event-stream/schema")),
    ] {
        let operation = &paths[path][method];
        assert_eq!(operation["tags"], json!(["universe"]), "{method} {path}");
        let statuses: Vec<&String> = operation["responses"].as_object().unwrap().keys().collect();
        assert_eq!(statuses, [status, "default"], "{method} {path}");
        let body = &operation["requestBody"]["content"]["application/json"]["schema"];
        assert_eq!(taken.is_some(), !body.is_null(), "{method} {path}");
        assert!(taken.is_none_or(|pointer| body.pointer(pointer).is_some()), "{method} {path}: {body}");
        assert_eq!(body.pointer("/properties/universeId"), None, "the path has it");
        let content = &operation["responses"][status]["content"];
        assert_eq!(answered.is_some(), !content.is_null(), "{method} {path}");
        assert!(answered.is_none_or(|pointer| content.pointer(pointer).is_some()), "{method} {path}: {content}");
        let in_path = operation["parameters"].as_array().unwrap().iter().filter(|field| field["in"] == "path");
        let in_path: Vec<&Value> = in_path.map(|field| &field["name"]).collect();
        assert_eq!(in_path, if path.contains("{id}") { vec!["id"] } else { vec![] }, "{method} {path}");
    }
    for name in ["universe_list", "universe_create", "universe_replace", "universe_delete", "universe_events"] {
        let path = format!("/api/v1/{name}");
        assert_eq!((paths.get(&path), server.post(&path, "{}").status), (None, 404), "{path}");
    }
}

#[test]
fn no_field_is_passed_over_or_given_twice() {
    let server = Server::start(ToolsetFilter::EVERYTHING);
    server.create_universes(0..1);
    let send = |method: &str, path: &str, body: &str| {
        let reply = Client::connect(server.address).send(method, path, &[], body.as_bytes());
        let fault = reply.json();
        assert_eq!((reply.status, fault["error"].is_string()), (400, true), "{method} {path}: {fault}");
        fault
    };
    assert_eq!(send("GET", "/universes/u-00000?view=all", "")["path"], "/view");
    assert_eq!(send("DELETE", "/universes/u-00000?force=1", "")["path"], "/force");
    assert_eq!(send("PUT", "/universes/u-00000", r#"{"universeId": "u-1"}"#)["path"], "/universeId");
    let twice = send("PUT", "/universes/u-00000?name=a", r#"{"name": "b"}"#);
    assert_eq!((&twice["path"], &twice["universeId"]), (&json!("/name"), &json!("u-00000")));
    let whole = send("PUT", "/universes/u-00000", "[]");
    assert!(whole["message"].as_str().unwrap().contains("expected an object"), "{whole}");
    assert_eq!(server.get("/universes/u-00000").json()["revision"], 1, "nothing of it was done");
}

/// The surface that a path belongs to is known from the routes, also while the server stops.
#[test]
fn a_stopping_server_refuses_universes_in_their_shape() {
    let server = Server::start(ToolsetFilter { toolsets: "dice".parse().unwrap(), read_only: false });
    let (nothing, elsewhere) = (server.get("/universes/u-1"), server.get("/universe"));
    assert_eq!((nothing.status, nothing.json()["error"].is_string()), (404, true), "though nothing is mounted there");
    assert_eq!((elsewhere.status, elsewhere.json()["error"].is_object()), (404, true));
    server.readiness.stop();
    let refused = server.get("/universes");
    assert_eq!((refused.status, &refused.json()["code"]), (503, &json!("UNAVAILABLE")));
    assert!(refused.json()["error"].is_string() && refused.header("retry-after").is_some());
    assert_eq!(server.get("/universe").status, 404, "what is not there stays so");
}
