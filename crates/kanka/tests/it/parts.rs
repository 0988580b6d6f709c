//! Parts of entities: posts, tags, aliases and mentions; and tags by themselves.

use serde_json::{Value, json};
use skald_app::limits;

use crate::api_server::ApiServer;

#[test]
fn posts_are_created_read_changed_and_deleted() {
    let server = ApiServer::start();
    server.post("characters", json!({"name": "Ann"}));
    let post = server.post("entities/1/posts", json!({"name": "Secret", "entry": "<p>s</p>", "visibility_id": 2}));
    let of = |post: &Value| json!([post["id"], post["entity_id"], post["name"], post["entry"], post["visibility_id"]]);
    assert_eq!(of(&post), json!([1, 1, "Secret", "<p>s</p>", 2]));
    server.post("entities/1/posts", json!({"name": "News"}));
    let rows = server.rows("entities/1/posts");
    assert_eq!(rows.iter().map(of).collect::<Vec<_>>(), [of(&post), json!([2, 1, "News", "", 1])]);
    assert_eq!(of(&server.get("entities/1/posts/1")["data"]), of(&post));
    let changed = server.patch("entities/1/posts/1", json!({"name": "Open", "visibility_id": 1}));
    assert_eq!(of(&changed), json!([1, 1, "Open", "<p>s</p>", 1]));
    assert_eq!(server.get("characters/1?related=1")["data"]["posts"].as_array().unwrap().len(), 2);
    assert_eq!(server.rows("entities/1/entity_notes").len(), 2, "the old name of posts");
    server.delete("entities/1/posts/1");
    server.refusal("GET", "entities/1/posts/1", None, 404);
    server.refusal("PATCH", "entities/1/posts/1", Some(&json!({"name": "x"})), 404);
    assert_eq!(server.names("entities/1/posts"), ["News"]);
    server.refusal("POST", "entities/1/posts", Some(&json!({"entry": "x"})), 422);
    server.refusal("POST", "entities/1/posts", Some(&json!({"name": "x", "visibility_id": 9})), 422);
    server.refusal("POST", "entities/9/posts", Some(&json!({"name": "x"})), 404);
}

/// A page with everything must fit into memory, and a row that were left out would look deleted.
#[test]
fn a_page_with_too_many_posts_is_refused_whole() {
    let server = ApiServer::start();
    let chars = limits::ENTRY_CHARS_MAX - 10;
    let posts = limits::ENTITY_TEXTS_BYTES_MAX / 2 / chars + 1;
    for name in ["Ann", "Ben", "Cid"] {
        let entity_id = server.post("characters", json!({"name": name}))["entity_id"].clone();
        let post = json!({"entity_id": entity_id, "name": "Long", "entry": "x".repeat(chars)});
        server.call("create_posts", json!({"posts": vec![post; posts]}));
    }
    assert_eq!(server.names("characters"), ["Ann", "Ben", "Cid"]);
    let refusal = server.refusal("GET", "characters?related=1", None, 422);
    assert!(refusal["fields"]["related"].is_array(), "{refusal}");
    assert_eq!(server.rows("characters?related=1&name=a").len(), 1);
    assert_eq!(server.rows("entities/3/posts").len(), posts);
}

#[test]
fn tags_stay_without_entities_and_are_renamed_and_deleted() {
    let server = ApiServer::start();
    let elf = server.post("tags", json!({"name": "Elf"}));
    assert_eq!(server.post("tags", json!({"name": "ELF"}))["id"], elf["id"], "a name belongs to one tag");
    assert_eq!(server.names("tags"), ["Elf"]);
    server.post("characters", json!({"name": "Ann", "tags": [1, "new:North", "South"]}));
    assert_eq!(server.names("tags"), ["Elf", "North", "South"]);
    assert_eq!(server.get("tags/1")["data"]["entities"], json!([1]));
    assert_eq!(server.names("tags?name=or"), ["North"]);
    assert_eq!(server.patch("tags/1", json!({"name": "Elves"}))["name"], "Elves");
    let found = server.call("find_entities", json!({"tags": ["elves"]}));
    assert_eq!(found["entities"][0]["name"], "Ann");
    let found = server.call("find_entities", json!({"query": "elves"}));
    assert_eq!(found["entities"][0]["name"], "Ann", "the words of the search are new too");
    server.refusal("PATCH", "tags/1", Some(&json!({"name": "north"})), 422);
    server.delete("tags/1");
    assert_eq!(server.get("characters/1")["data"]["tags"], json!([2, 3]));
    server.refusal("GET", "tags/1", None, 404);
    server.refusal("DELETE", "tags/1", None, 404);
    let refusal = server.refusal("PATCH", "characters/1", Some(&json!({"tags": [1]})), 422);
    assert!(refusal["fields"]["tags"].is_array(), "{refusal}");
    server.patch("characters/1", json!({"tags": []}));
    assert!(server.rows("tags").is_empty(), "tags that only entities brought go with them");
    server.refusal("POST", "tags", Some(&json!({"name": " "})), 422);
}

#[test]
fn a_tag_is_put_on_an_entity_and_taken_off() {
    let server = ApiServer::start();
    server.post("items", json!({"name": "Bell"}));
    server.post("tags", json!({"name": "Loud"}));
    let row = json!({"id": 1, "entity_id": 1, "tag_id": 1});
    assert_eq!(server.post("entities/1/entity_tags", json!({"tag_id": 1})), row);
    assert_eq!(server.post("entities/1/entity_tags", json!({"tag_id": 1})), row, "once more changes nothing");
    assert_eq!(server.rows("entities/1/entity_tags"), [row]);
    assert_eq!(server.get("items/1")["data"]["tags"], json!([1]));
    server.delete("entities/1/entity_tags/1");
    assert!(server.rows("entities/1/entity_tags").is_empty());
    server.refusal("DELETE", "entities/1/entity_tags/1", None, 404);
    server.refusal("POST", "entities/1/entity_tags", Some(&json!({"tag_id": 7})), 422);
    server.refusal("POST", "entities/1/entity_tags", Some(&json!({})), 422);
}

/// Each of these requests reads the tags of the entity and writes them again.
#[test]
fn tags_that_are_added_at_once_are_all_there() {
    let server = ApiServer::start();
    server.post("items", json!({"name": "Bell"}));
    let tags: Vec<Value> =
        (0..24).map(|number| server.post("tags", json!({"name": format!("Tag {number}")}))["id"].clone()).collect();
    std::thread::scope(|scope| {
        for part in tags.chunks(3) {
            let server = &server;
            scope.spawn(move || {
                for tag_id in part {
                    server.post("entities/1/entity_tags", json!({"tag_id": tag_id}));
                }
            });
        }
    });
    assert_eq!(server.rows("entities/1/entity_tags").len(), tags.len());
}

#[test]
fn aliases_are_assets() {
    let server = ApiServer::start();
    server.post("characters", json!({"name": "Ann"}));
    let asset = server.post("entities/1/entity_assets", json!({"type_id": 3, "name": "The Grey"}));
    assert_eq!(json!([asset["type_id"], asset["name"], asset["_alias"]]), json!([3, "The Grey", true]));
    server.post("entities/1/entity_assets", json!({"type_id": 3, "name": "Annie"}));
    let found = server.call("find_entities", json!({"name": "the grey", "name_exact": true}));
    assert_eq!(found["entities"][0]["aliases"], json!(["The Grey", "Annie"]));
    let item = format!("entities/1/entity_assets/{}", asset["id"]);
    assert_eq!(server.get(&item)["data"]["name"], "The Grey");
    let renamed = server.patch(&item, json!({"name": "The White"}));
    assert_eq!(server.names("entities/1/entity_assets"), ["The White", "Annie"]);
    server.refusal("GET", &item, None, 404);
    server.delete(&format!("entities/1/entity_assets/{}", renamed["id"]));
    assert_eq!(server.names("entities/1/entity_assets"), ["Annie"]);
    let refusal = server.refusal("POST", "entities/1/entity_assets", Some(&json!({"type_id": 2, "name": "x"})), 422);
    assert!(refusal["errors"]["type_id"].is_array(), "{refusal}");
}

#[test]
fn mentions_are_found_from_the_other_side() {
    let server = ApiServer::start();
    server.post("characters", json!({"name": "Ann <b>", "entry": "<p>See [location:2]</p>"}));
    server.post("locations", json!({"name": "Port", "entry": "<p>[character:1] and [entity:1|her] live here</p>"}));
    server.post("entities/2/posts", json!({"name": "News", "entry": "<p>[character:1] left</p>"}));
    let rows = server.rows("entities/1/mentions");
    let places: Vec<Value> =
        rows.iter().map(|row| json!([row["entity_id"], row["post_id"], row["target_id"]])).collect();
    assert_eq!(places, [json!([2, null, 1]), json!([2, 1, 1])]);
    let port = server.get("locations/1")["data"].clone();
    assert_eq!(port["entry_parsed"], "<p>Ann &lt;b&gt; and her live here</p>");
    // Nothing is created because a text asks for it.
    server.post("notes", json!({"name": "Plan", "entry": "<p>[new:character|Ben]</p>"}));
    assert_eq!(server.names("characters"), ["Ann <b>"]);
}

#[test]
fn what_is_shown_is_safe() {
    let server = ApiServer::start();
    let entry = "<p onclick=\"x()\">a<script>alert(1)</script></p><img src=x onerror=alert(1)>";
    let row = server.post("notes", json!({"name": "Plan", "entry": entry}));
    assert_eq!(row["entry"], entry, "the source is as it was written");
    let shown = row["entry_parsed"].as_str().unwrap();
    assert!(!["script", "onclick", "onerror"].iter().any(|word| shown.contains(word)), "{shown}");
}

#[test]
fn what_is_not_kept_is_empty_and_cannot_be_written() {
    let server = ApiServer::start();
    server.post("characters", json!({"name": "Ann"}));
    for list in [
        "families",
        "calendars",
        "maps",
        "timelines",
        "abilities",
        "dice_rolls",
        "conversations",
        "relations",
        "category_statuses",
    ] {
        let page = server.get(list);
        assert_eq!((&page["data"], &page["meta"]["total"]), (&json!([]), &json!(0)), "{list}");
        server.refusal("POST", list, Some(&json!({"name": "x"})), 405);
        server.refusal("GET", &format!("{list}/1"), None, 404);
        server.refusal("PATCH", &format!("{list}/1"), Some(&json!({"name": "x"})), 405);
    }
    for part in ["attributes", "relations", "inventory", "entity_abilities", "reminders", "entity_events"] {
        assert!(server.rows(&format!("entities/1/{part}")).is_empty());
        server.refusal("POST", &format!("entities/1/{part}"), Some(&json!({"name": "x"})), 405);
        server.refusal("GET", &format!("entities/9/{part}"), None, 404);
    }
    server.refusal("GET", "entities/1/nothing", None, 404);
    server.refusal("GET", "nothing", None, 404);
}
