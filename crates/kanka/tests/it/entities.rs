//! The routes of `/entities`, what a client learns with `lastSync`, search, and what of the account is told.

use serde_json::{Value, json};

use crate::api_server::{ApiServer, expect_status};
use crate::typed_entities::KINDS;

#[test]
fn entities_of_all_kinds_are_listed() {
    let server = ApiServer::start();
    for (plural, _, _) in KINDS {
        server.post(plural, json!({"name": format!("A {plural}")}));
    }
    let rows = server.rows("entities");
    let listed: Vec<(&Value, &Value)> = rows.iter().map(|row| (&row["type"], &row["type_id"])).collect();
    let kinds: Vec<(Value, Value)> = KINDS.iter().map(|(_, code, type_id)| (json!(code), json!(type_id))).collect();
    assert_eq!(listed, kinds.iter().map(|(code, type_id)| (code, type_id)).collect::<Vec<_>>());
    assert!(rows.iter().all(|row| row.get("entry").is_none() && row["campaign_id"] == server.number));
    assert_eq!(
        rows[3]["module"],
        json!({"id": 4, "code": "organisation", "singular": "Organisation", "plural": "Organisations", "is_enabled": true})
    );
    assert_eq!(server.names("entities?types=character,quest"), ["A characters", "A quests"]);
    assert_eq!(server.names("entities?type_id[]=1&type_id[]=3"), ["A characters", "A locations"]);
    assert_eq!(server.rows("entities?types=").len(), KINDS.len(), "no type is every type");
    assert!(server.rows("entities?types=family").is_empty());
    assert_eq!(server.rows("entities?image=1")[0]["child"]["has_custom_image"], false);
    server.post("entities/1/posts", json!({"name": "News", "entry": ""}));
    let related = server.rows("entities?related=1");
    assert_eq!(related[0]["posts"][0]["name"], "News", "{}", related[0]);
    for field in ["entity_assets", "relations", "attributes", "parents", "children"] {
        assert!(related[1][field].is_array(), "{field}");
        assert_eq!(server.rows("entities")[1].get(field), None, "{field}");
    }
    let only = server.rows("entities?fields=id,name");
    assert_eq!(only[0], json!({"id": 1, "name": "A characters"}));
    let recent = server.names("entities/recent?amount=2");
    assert_eq!(recent, ["A characters", "A events"], "the one with a new post first");
    assert_eq!(server.rows("entities/recent?amount=99").len(), 10);
}

#[test]
fn an_entity_is_changed_by_its_number() {
    let server = ApiServer::start();
    let tag = server.post("tags", json!({"name": "Elf"}))["id"].clone();
    server.post("quests", json!({"name": "Find it", "tags": [tag]}));
    let changed =
        server.patch("entities/1", json!({"name": "Find her", "type": "Main", "is_private": true, "tags": []}));
    assert_eq!(
        json!([changed["name"], changed["type_field"], changed["is_private"]]),
        json!(["Find her", "Main", true])
    );
    assert_eq!(changed["child"]["tags"], json!([tag]), "tags are not taken here");
    let refusal = server.refusal("DELETE", "entities/1", None, 405);
    assert!(refusal["error"].as_str().unwrap().contains("quests/1"), "{refusal}");
    server.refusal("PATCH", "entities/2", Some(&json!({"name": "x"})), 404);
}

#[test]
fn a_client_asks_for_what_changed() {
    let server = ApiServer::start();
    server.post("characters", json!({"name": "Ann"}));
    server.post("characters", json!({"name": "Ben"}));
    let sync = server.get("entities")["sync"].as_str().unwrap().to_owned();
    let since = |list: &str, sync: &str| server.names(&format!("{list}?lastSync={}", sync.replace('+', "%2B")));
    assert!(since("entities", &sync).is_empty());
    server.patch("characters/2", json!({"entry": "<p>New</p>"}));
    assert_eq!(
        (since("entities", &sync), since("characters", &sync)),
        (vec!["Ben".to_owned()], vec!["Ben".to_owned()])
    );
    let sync = server.get("characters")["sync"].as_str().unwrap().to_owned();
    server.post("entities/1/posts", json!({"name": "News", "entry": ""}));
    assert_eq!(since("entities", &sync), ["Ann"], "a post is a change of its entity");
    let sync = server.get("tags")["sync"].as_str().unwrap().to_owned();
    server.post("tags", json!({"name": "Elf"}));
    assert_eq!(since("tags", &sync), ["Elf"]);
    let sync = server.get("entities/1/posts")["sync"].as_str().unwrap().to_owned();
    server.post("entities/1/posts", json!({"name": "Rumour", "entry": ""}));
    assert_eq!(since("entities/1/posts", &sync), ["Rumour"], "posts too");
    server.delete("characters/2");
    assert_eq!(since("entities/archived", &sync), ["Ben"]);
    let sync = server.get("entities")["sync"].as_str().unwrap().to_owned();
    assert_eq!((since("entities/archived", &sync), since("entities/1/posts", &sync)), (Vec::new(), Vec::new()));
    server.post("characters", json!({"name": "Ben"}));
    assert_eq!(since("entities", "2020-01-01"), ["Ann", "Ben"], "a day is a moment");
    for list in ["entities", "characters", "tags", "entities/1/posts", "entities/archived"] {
        let refusal = server.refusal("GET", &format!("{list}?lastSync=yesterday"), None, 422);
        assert!(refusal["fields"]["lastSync"].is_array(), "{refusal}");
    }
}

#[test]
fn the_archive_has_what_was_deleted() {
    let server = ApiServer::start();
    server.post("notes", json!({"name": "Plan"}));
    server.delete("notes/1");
    assert!(server.rows("entities").is_empty());
    assert_eq!(server.names("entities/archived"), ["Plan"]);
    server.refusal("GET", "entities/1", None, 404);
}

#[test]
fn names_and_texts_are_searched() {
    let server = ApiServer::start();
    server.post("characters", json!({"name": "Aelysh the Grey", "entry": "<p>Keeper of the lantern</p>"}));
    server.post("locations", json!({"name": "Grey Harbour"}));
    server.post("notes", json!({"name": "Plan", "entry": "<p>steal the lantern</p>"}));
    server.post("entities/2/posts", json!({"name": "Secret", "entry": "<p>smugglers</p>"}));
    assert_eq!(server.names("search/grey"), ["Aelysh the Grey", "Grey Harbour"]);
    assert_eq!(server.names("search/the%20grey"), ["Aelysh the Grey"]);
    assert_eq!(server.names("search?q=harbour"), ["Grey Harbour"]);
    assert!(server.rows("search/lantern").is_empty(), "names alone");
    let mut found = server.names("fulltext-search?term=lantern");
    found.sort();
    assert_eq!(found, ["Aelysh the Grey", "Plan"]);
    assert_eq!(server.names("fulltext-search?term=smugglers"), ["Grey Harbour"]);
    let row = &server.rows("search/aelysh")[0];
    for field in ["id", "entity_id", "name", "type", "url", "is_private", "tags", "created_at", "updated_at"] {
        assert!(row.get(field).is_some(), "{field}: {row}");
    }
    for number in 0..12 {
        server.post("items", json!({"name": format!("Lamp {number}")}));
    }
    assert_eq!(server.rows("search/lamp").len(), 10);
    server.refusal("GET", "search?q=", None, 422);
    server.refusal("GET", "fulltext-search", None, 422);
}

#[test]
fn the_account_and_the_campaigns_are_told() {
    let server = ApiServer::start();
    let get = |path: &str| expect_status(&server.send_as(None, "GET", path, None), 200, path);
    let profile = get("profile")["data"].clone();
    assert_eq!(json!([profile["id"], profile["default_pagination"]]), json!([1, 45]));
    assert_eq!(profile["last_campaign_id"], server.number);
    assert!(profile["rate_limit"].as_u64().unwrap() >= 30);
    let campaign = get(&format!("campaigns/{}", server.number))["data"].clone();
    assert_eq!((&campaign["name"], &campaign["members"][0]["user"]["id"]), (&json!("Bells"), &json!(1)));
    assert_eq!(get("campaigns")["data"], json!([campaign]));
    let visibilities = get("visibilities")["data"].clone();
    assert_eq!((visibilities[1]["id"].clone(), visibilities[1]["code"].clone()), (json!(2), json!("admin")));
    let kinds = get("entity-types")["data"].clone();
    assert_eq!((kinds.as_array().unwrap().len(), &kinds[19]["code"]), (20, &json!("creature")));
    assert_eq!(get("health")["status"], "ok");
    assert!(get("version")["version"].is_string());
    assert_eq!(server.rows("users")[0]["id"], 1);
    assert_eq!(server.rows("roles").len(), 3);
}

/// A number is valid wherever an id is, and two campaigns have two.
#[test]
fn each_campaign_has_a_number() {
    let server = ApiServer::start();
    let other = server.create_campaign("Tides");
    let campaigns = server.call("list_numbered_campaigns", json!({}));
    let numbers: Vec<u64> =
        campaigns["campaigns"].as_array().unwrap().iter().map(|row| row["number"].as_u64().unwrap()).collect();
    assert_eq!((numbers.len(), numbers[1]), (2, server.number), "the newest first, and the older one keeps its number");
    assert_ne!(numbers[0], numbers[1]);
    let input =
        |campaign_id: Value| json!({"campaign_id": campaign_id, "entities": [{"entity_type": "item", "name": "Bell"}]});
    server.call("create_entities", input(json!(numbers[0].to_string())));
    let found = server.call("find_entities", json!({"campaign_id": other}));
    assert_eq!(found["entities"][0]["name"], "Bell");
    assert!(server.rows("items").is_empty(), "the other campaign");
    // The campaign's own id and its name work in the path too.
    for campaign in [other.as_str(), "Tides", &numbers[0].to_string()] {
        let path = format!("campaigns/{campaign}/items");
        assert_eq!(server.send_as(None, "GET", &path, None).json()["meta"]["total"], 1, "{path}");
    }
}
