//! Requests that are wrong: refused with a status, the field and a sentence, and nothing changes.

use serde_json::{Value, json};
use skald_app::limits;
use skald_testkit::Client;

use crate::api_server::{ApiServer, check_error, expect_status};

#[test]
fn fields_that_do_not_fit_are_named() {
    let server = ApiServer::start();
    server.post("characters", json!({"name": "Ann"}));
    let long = "x".repeat(limits::ENTRY_CHARS_MAX + 1);
    for (body, field) in [
        (json!({}), "name"),
        (json!({"name": ""}), "name"),
        (json!({"name": null}), "name"),
        (json!({"name": ["a"]}), "name"),
        (json!({"name": "a\u{202e}b"}), "name"),
        (json!({"name": "x".repeat(limits::NAME_CHARS_MAX + 1)}), "name"),
        (json!({"name": "a", "entry": 1.5e300, "tags": "x"}), "tags"),
        (json!({"name": "a", "entry": long}), "entry"),
        (json!({"name": "a", "entry": []}), "entry"),
        (json!({"name": "a", "tags": [77]}), "tags"),
        (json!({"name": "a", "tags": [[]]}), "tags"),
        (json!({"name": "a", "tags": [4_294_967_296_u64]}), "tags"),
        (json!({"name": "a", "is_private": "perhaps"}), "is_private"),
        (json!({"name": "a", "parent_id": 99}), "parent_id"),
        (json!({"name": "a", "type": "x".repeat(limits::NAME_CHARS_MAX + 1)}), "type"),
        (json!({"name": "a", "parent_id": {}}), "parent_id"),
    ] {
        let refusal = server.refusal("POST", "characters", Some(&body), 422);
        let named: Vec<&String> = refusal["fields"].as_object().unwrap().keys().collect();
        assert_eq!(named, [field], "{refusal}");
    }
    server.refusal("PATCH", "characters/1", Some(&json!({"name": ""})), 422);
    assert_eq!(server.names("characters"), ["Ann"]);
}

#[test]
fn fields_that_are_not_kept_are_passed_over() {
    let server = ApiServer::start();
    let row =
        server.post("characters", json!({"name": "Ann", "title": "Dame", "is_template": true, "traits": [1], "x": {}}));
    assert_eq!(json!([row["name"], row["title"], row["is_template"]]), json!(["Ann", null, false]));
    let again = server.patch("characters/1", json!({"age": "30"}));
    assert_eq!(again["updated_at"], row["updated_at"], "nothing that is kept was changed");
}

#[test]
fn bodies_that_are_no_objects_are_refused() {
    let server = ApiServer::start();
    let path = format!("/api/kanka/1.0/{}", server.path("characters"));
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    for body in ["[]", "1", "\"a\"", "{", "{\"name\": \"a\",}", "name=Ann", "\u{0}", "null", &deep] {
        let reply = Client::connect(server.address).send("POST", &path, &[], body.as_bytes());
        let short: String = body.chars().take(20).collect();
        check_error(&expect_status(&reply, 422, &short), 422);
    }
    let not_text = Client::connect(server.address).send("POST", &path, &[], b"{\"name\": \"\xff\"}");
    assert_eq!(not_text.status, 422);
    let large = format!("{{\"name\": \"a\", \"entry\": \"{}\"}}", "x".repeat(limits::BODY_BYTES_MAX));
    let reply = Client::connect(server.address).try_send("POST", &path, &[], large.as_bytes());
    // A body that is far too large may be cut off before the answer is read.
    assert!(reply.is_err() || reply.is_ok_and(|reply| [413, 422].contains(&reply.status)));
    assert!(server.rows("characters").is_empty());
}

#[test]
fn paths_and_methods_that_are_not_there() {
    let server = ApiServer::start();
    server.post("characters", json!({"name": "Ann"}));
    for (method, below, status) in [
        ("GET", "characters/x", 404),
        ("GET", "characters/-1", 404),
        ("GET", "characters/99999999999999999999", 404),
        ("GET", "characters/1/2/3", 404),
        ("GET", "entities/x", 404),
        ("GET", "entities/0", 404),
        ("GET", "tags/4294967296", 404),
        ("GET", "entities/1/posts/x", 404),
        ("GET", "search/%FF", 404),
        ("GET", "..%2f..%2fetc", 404),
        ("GET", "", 200),
        ("POST", "characters/1", 405),
        ("DELETE", "characters", 405),
        ("PATCH", "entities", 405),
        ("POST", "search/a", 405),
        ("DELETE", "entities/1/mentions", 405),
        ("TRACE", "characters", 405),
    ] {
        let reply = server.send(method, below, None);
        assert_eq!(reply.status, status, "{method} {below}: {}", reply.text());
        if status != 200 {
            check_error(&reply.json(), status);
        }
    }
    for campaign in ["0", "x", "99999999999999999999999", "-1", "camp_nothing", "%2e%2e"] {
        let path = format!("campaigns/{campaign}/characters");
        let reply = server.send_as(None, "GET", &path, None);
        assert!([404, 422].contains(&reply.status), "{path}: {}", reply.text());
        assert!(!reply.text().contains('`'), "a hint names a tool that nobody has here: {}", reply.text());
        check_error(&reply.json(), reply.status);
    }
}

/// Names with anything in them come back as they were sent.
#[test]
fn texts_are_not_interpreted() {
    let server = ApiServer::start();
    for name in ["Robert'); DROP TABLE--", "<b>Ann</b>", "100% \\ \"x\"", "東京都庁", "a;b", "😀"] {
        let row = server.post("items", json!({"name": name, "entry": name, "type": name}));
        assert_eq!((&row["name"], &row["entry"], &row["type"]), (&json!(name), &json!(name), &json!(name)));
    }
    let odd: Value = server.get("items?name=%25");
    assert_eq!(odd["data"].as_array().unwrap().len(), 1, "a percent sign is no wildcard");
}

#[test]
fn what_kanka_does_and_skald_does_not_is_said() {
    let server = ApiServer::start();
    server.post("characters", json!({"name": "Ann"}));
    for action in ["transform", "transfer", "recover", "permissions/test"] {
        let body = json!({"entities": [1], "entity_type_id": 6});
        let refusal = server.refusal("POST", action, Some(&body), 405);
        assert!(refusal["error"].as_str().unwrap().contains("not done here"), "{refusal}");
    }
    for kind in ["families", "maps", "calendars", "timelines", "abilities"] {
        let refusal = server.refusal("POST", kind, Some(&json!({"name": "A"})), 405);
        assert!(refusal["error"].as_str().unwrap().contains(kind), "{refusal}");
    }
    assert_eq!(server.names("entities"), ["Ann"]);
}
