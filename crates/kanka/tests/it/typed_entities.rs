//! Entities at their typed routes: created, read, changed and deleted, of every kind that the lore has.

use std::sync::Arc;

use serde_json::{Value, json};
use skald_app::limits;

use crate::api_server::{ApiServer, ServerSettings};

/// The lists of the kinds that the lore has, with their codes and numbers.
pub(crate) const KINDS: [(&str, &str, u64); 10] = [
    ("characters", "character", 1),
    ("creatures", "creature", 20),
    ("locations", "location", 3),
    ("organisations", "organisation", 4),
    ("races", "race", 9),
    ("notes", "note", 6),
    ("journals", "journal", 11),
    ("quests", "quest", 10),
    ("items", "item", 5),
    ("events", "event", 7),
];

#[test]
fn every_kind_is_created_read_changed_and_deleted() {
    write_every_kind(&ApiServer::start());
}

#[test]
fn every_kind_is_written_to_a_file() {
    let folder = skald_testkit::TemporaryFolder::new();
    let path = format!("sqlite:{}", folder.file("lore.db").display());
    let server = ApiServer::on_store(
        |runtime| runtime.block_on(skald_store::open(&path)).unwrap_or_else(|error| panic!("{path}: {error}")),
        ServerSettings::default(),
    );
    write_every_kind(&server);
}

fn write_every_kind(server: &ApiServer) {
    let elf = server.post("tags", json!({"name": "Elf"}))["id"].as_u64().unwrap();
    for (plural, code, type_id) in KINDS {
        let entry = "<p>One</p><p><br></p><table><tr><td colspan=\"2\">x|y</td></tr></table>";
        let created = server.post(plural, json!({"name": "First", "type": "Old", "entry": entry, "tags": [elf]}));
        let (id, entity_id) = (created["id"].as_u64().unwrap(), created["entity_id"].as_u64().unwrap());
        let of = |row: &Value| json!([row["name"], row["type"], row["entry"], row["tags"], row["is_private"]]);
        assert_eq!(of(&created), json!(["First", "Old", entry, [elf], false]), "{plural}");
        let item = format!("{plural}/{id}");
        assert_eq!(of(&server.get(&item)["data"]), of(&created), "{plural}");

        let changed = server.patch(&item, json!({"name": "Second"}));
        assert_eq!(of(&changed), json!(["Second", "Old", entry, [elf], false]), "{plural}: only the name");
        assert!(changed["updated_at"].as_str() > created["updated_at"].as_str(), "{plural}");
        let put = server.send("PUT", &item, Some(&json!({"tags": [], "type": null, "is_private": true}))).json();
        assert_eq!(of(&put["data"]), json!(["Second", null, entry, [], true]), "{plural}: PUT changes a part");

        let entity = &server.get(&format!("entities/{entity_id}"))["data"];
        assert_eq!(json!([entity["type"], entity["type_id"], entity["child_id"]]), json!([code, type_id, id]));
        assert_eq!((&entity["child"]["id"], &entity["child"]["entry"]), (&json!(id), &json!(entry)));
        let through_engine = server.call("get_entities", json!({"entity_ids": [entity_id]}));
        assert_eq!(through_engine["results"][0]["name"], "Second");

        assert_eq!(server.names(plural), ["Second"]);
        server.delete(&item);
        assert!(server.rows(plural).is_empty());
        server.refusal("GET", &item, None, 404);
        server.refusal("DELETE", &item, None, 404);
    }
}

/// What is read and written back must not look like a change.
#[test]
fn an_entry_that_is_written_back_changes_nothing() {
    let server = ApiServer::start();
    let entry = "<p>He said: &amp; <em>left</em> [character:1|him] {attribute:5}</p>\n<ul><li>a</li></ul>";
    let created = server.post("characters", json!({"name": "Ann", "entry": entry}));
    let again = server.patch("characters/1", json!({"name": "Ann", "entry": entry, "tags": [], "is_private": false}));
    assert_eq!((&again["entry"], &again["updated_at"]), (&json!(entry), &created["updated_at"]));
    // A text that came as Markdown is HTML here, and the same HTML is no change either.
    let made = json!({"entities": [{"entity_type": "location", "name": "Port", "entry": "# Port\n\n| a | b |\n|---|---|\n| 1 | 2 |"}]});
    server.call("create_entities", made);
    let port = server.get("locations/1")["data"].clone();
    assert!(port["entry"].as_str().unwrap().contains("<table>"), "{port}");
    let again = server.patch("locations/1", json!({"entry": port["entry"]}));
    assert_eq!(again["updated_at"], port["updated_at"]);
    let entry = server.call("get_entities", json!({"entity_ids": ["Port"]}))["results"][0]["entry"].clone();
    assert!(entry.as_str().unwrap().starts_with("# Port"), "the Markdown stays: {entry}");
}

#[test]
fn what_is_written_through_the_engine_is_here() {
    let server = ApiServer::start();
    let entities = json!([
        {"entity_type": "clue", "name": "Footprints", "tags": ["Murder"]},
        {"entity_type": "document", "name": "Letter", "type": "Forgery"},
        {"entity_type": "other", "name": "Thing"},
        {"entity_type": "note", "name": "Plan", "is_private": false},
        {"entity_type": "npc", "name": "Ann", "aliases": ["The Grey"], "image": "https://example.org/a.png"},
    ]);
    server.call("create_entities", json!({"entities": entities}));
    let notes = server.rows("notes");
    let of = |row: &Value| json!([row["name"], row["type"], row["entity_id"]]);
    let expected = [("Footprints", "Clue", 1), ("Letter", "Forgery", 2), ("Thing", "Other", 3)]
        .map(|(name, word, id)| json!([name, word, id]));
    assert_eq!(notes[..3].iter().map(of).collect::<Vec<_>>(), expected);
    assert_eq!(of(&notes[3]), json!(["Plan", null, 4]));
    let ids: Vec<u64> = notes.iter().map(|row| row["id"].as_u64().unwrap()).collect();
    assert_eq!(ids[3], 1, "a note has its own number");
    assert!(ids.iter().all(|id| *id < 1 << 31) && ids[0] != ids[1], "{ids:?}");
    // Written back as it was read, a clue stays a clue without a subtype.
    let clue = server.patch(&format!("notes/{}", ids[0]), json!({"name": "Prints", "type": "Clue"}));
    assert_eq!((&clue["name"], &clue["id"]), (&json!("Prints"), &json!(ids[0])));
    let found = server.call("find_entities", json!({"entity_type": "clue"}));
    assert_eq!((&found["entities"][0]["name"], found["entities"][0].get("type")), (&json!("Prints"), None));
    server.delete(&format!("notes/{}", ids[1]));
    assert_eq!(server.names("notes"), ["Prints", "Thing", "Plan"]);
    let ann = server.get("characters/1?related=1")["data"].clone();
    assert_eq!((&ann["image_full"], &ann["type"]), (&json!("https://example.org/a.png"), &json!("NPC")));
    assert_eq!(ann["entity_assets"][0]["name"], "The Grey");
}

#[test]
fn parents_are_named_by_either_id() {
    let server = ApiServer::start();
    server.post("characters", json!({"name": "Ann"}));
    let land = server.post("locations", json!({"name": "Land"}));
    let port = server.post("locations", json!({"name": "Port", "parent_location_id": land["id"]}));
    assert_eq!((&port["parent_location_id"], &port["parent_id"]), (&json!(1), &json!(2)));
    let port = server.patch("locations/2", json!({"parent_id": null}));
    assert_eq!((&port["parent_location_id"], &port["parent_id"]), (&Value::Null, &Value::Null));
    let port = server.patch("locations/2", json!({"parent_id": 2}));
    assert_eq!(port["parent_location_id"], 1);
    let land = server.get("locations/1?related=1")["data"].clone();
    assert_eq!(land["children"], json!([3]));
    assert_eq!(server.names("locations?parent_id=2"), ["Port"]);
    let refusal = server.refusal("PATCH", "locations/2", Some(&json!({"parent_location_id": 99})), 422);
    assert!(refusal["fields"]["parent_location_id"][0].as_str().unwrap().contains("99"), "{refusal}");
    server.refusal("PATCH", "locations/1", Some(&json!({"parent_id": 3})), 422);
}

#[test]
fn a_list_is_read_page_by_page() {
    let server = ApiServer::start();
    let count = 2 * limits::KANKA_PAGE_ROWS + 3;
    let numbers: Vec<usize> = (0..count).collect();
    for part in numbers.chunks(limits::BATCH_ITEMS_MAX) {
        let entities: Vec<Value> =
            part.iter().map(|number| json!({"entity_type": "race", "name": format!("Race {number:03}")})).collect();
        server.call("create_entities", json!({"entities": entities}));
    }
    let (mut names, mut next, mut pages) = (Vec::new(), Some(server.path("races?related=1&name=Race")), 0);
    while let Some(path) = next {
        let page = server.send_as(None, "GET", &path, None).json();
        pages += 1;
        let rows = page["data"].as_array().unwrap();
        names.extend(rows.iter().map(|row| row["name"].as_str().unwrap().to_owned()));
        let meta = &page["meta"];
        assert_eq!(json!([meta["current_page"], meta["last_page"], meta["total"]]), json!([pages, 3, count]));
        assert_eq!((&meta["per_page"], &meta["to"]), (&json!(limits::KANKA_PAGE_ROWS), &json!(names.len())));
        let base = format!("http://{}/api/kanka/1.0/", server.address);
        next = page["links"]["next"].as_str().map(|link| link.strip_prefix(&base).unwrap().to_owned());
    }
    assert_eq!((pages, names.len()), (3, count));
    assert!(names.is_sorted());
    let past = server.get("races?page=9");
    assert_eq!(
        (&past["data"], &past["meta"]["from"], &past["links"]["next"]),
        (&json!([]), &Value::Null, &Value::Null)
    );
    for first in ["races?page=0", "races?page=x", "races?page=-1", "races?page=", "races?limit=5&per_page=7"] {
        assert_eq!(server.rows(first).len(), limits::KANKA_PAGE_ROWS, "{first}");
    }
    assert_eq!(server.rows("races?page=99999999999999999999").len(), 0);
}

#[test]
fn up_to_20_entities_are_created_at_once_or_none() {
    let server = ApiServer::start();
    let most = limits::KANKA_BULK_ENTITIES_MAX;
    let items =
        |count: usize| -> Vec<Value> { (0..count).map(|number| json!({"name": format!("Item {number}")})).collect() };
    let created = server.post("entities/5", json!({"entities": items(most)}));
    assert_eq!(created.as_array().unwrap().len(), most);
    assert_eq!((&created[3]["type"], &created[3]["child"]["name"]), (&json!("item"), &json!("Item 3")));
    server.refusal("POST", "entities/5", Some(&json!({"entities": items(most + 1)})), 422);
    server.refusal("POST", "entities/5", Some(&json!({"entities": []})), 422);
    server.refusal("POST", "entities/5", Some(&json!({})), 422);
    let mut wrong = items(3);
    wrong[2] = json!({"name": "x".repeat(limits::NAME_CHARS_MAX + 1)});
    let refusal = server.refusal("POST", "entities/5", Some(&json!({"entities": wrong})), 422);
    assert!(refusal["error"].as_str().unwrap().starts_with("entities.2: "), "{refusal}");
    assert_eq!(server.get("items")["meta"]["total"], most, "nothing of a refused request is stored");
    server.refusal("POST", "entities/17", Some(&json!({"entities": items(1)})), 405);
    server.refusal("POST", "entities/99", Some(&json!({"entities": items(1)})), 422);
    let by_module = server.post("entities", json!({"entities": [{"module": "quest", "name": "Find it"}]}));
    assert_eq!(by_module[0]["type"], "quest");
}

/// The same request under the same key creates one entity.
#[test]
fn a_request_with_a_key_is_done_once() {
    let server = Arc::new(ApiServer::start());
    let send = || {
        let body = json!({"name": "Ann"}).to_string();
        let path = format!("/api/kanka/1.0/{}", server.path("characters"));
        let headers = [("Idempotency-Key", "key-1")];
        skald_testkit::Client::connect(server.address).send("POST", &path, &headers, body.as_bytes())
    };
    let (first, second) = (send(), send());
    assert_eq!((first.status, second.status), (201, 201));
    assert_eq!(first.json()["data"]["id"], second.json()["data"]["id"]);
    assert_eq!(server.names("characters"), ["Ann"]);
}
