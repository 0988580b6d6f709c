//! Filters of lists, and Kanka's value operators.

use serde_json::json;
use skald_app::limits;

use crate::api_server::ApiServer;

fn filled_server() -> ApiServer {
    let server = ApiServer::start();
    for name in ["Elf", "North", "Spy"] {
        server.post("tags", json!({"name": name}));
    }
    for (name, word, tags, is_private, entry) in [
        ("Aelysh", "NPC", vec![1, 2], false, "<p>a</p>"),
        ("Ann", "NPC", vec![1], true, ""),
        ("Ben", "", vec![], false, ""),
        ("Élan", "Hero of the North", vec![2, 3], false, ""),
    ] {
        let body = json!({"name": name, "type": word, "tags": tags, "is_private": is_private, "entry": entry});
        server.post("characters", body);
    }
    server
}

#[test]
fn value_operators_filter_names_and_types() {
    let server = filled_server();
    for (query, names) in [
        ("name=el", vec!["Aelysh", "Élan"]),
        ("name=ann!", vec!["Ann"]),
        ("name=an!", vec![]),
        ("name=!an", vec!["Aelysh", "Ben"]),
        ("name=a%3B!nn", vec!["Aelysh", "Élan"]),
        ("name=a;n;l", vec!["Élan"]),
        ("type=npc", vec!["Aelysh", "Ann"]),
        ("type=!!", vec!["Ben"]),
        ("type=!npc", vec!["Ben", "Élan"]),
        ("type=npc!", vec!["Aelysh", "Ann"]),
        ("is_private=1", vec!["Ann"]),
        ("is_private=false&name=a", vec!["Aelysh", "Élan"]),
        ("name=", vec!["Aelysh", "Ann", "Ben", "Élan"]),
        ("unknown=1", vec!["Aelysh", "Ann", "Ben", "Élan"]),
    ] {
        assert_eq!(server.names(&format!("characters?{query}")), names, "{query}");
        assert_eq!(server.names(&format!("entities?{query}")), names, "entities?{query}");
    }
}

#[test]
fn tags_are_all_any_excluded_or_none() {
    let server = filled_server();
    for (query, names) in [
        ("tags[]=1&tags[]=2", vec!["Aelysh"]),
        ("tags=1,2", vec!["Aelysh"]),
        ("tag_id=2", vec!["Aelysh", "Élan"]),
        ("tags[]=1&tags[]=3&tags_option=any", vec!["Aelysh", "Ann", "Élan"]),
        ("tags[]=1&tags_option=exclude", vec!["Ben", "Élan"]),
        ("tags_option=none", vec!["Ben"]),
        ("tags[]=99", vec![]),
    ] {
        assert_eq!(server.names(&format!("characters?{query}")), names, "{query}");
    }
    assert_eq!(server.names("entities?tags[]=1&tags[]=3"), ["Aelysh", "Ann", "Élan"], "any of them");
}

#[test]
fn other_filters_of_typed_lists() {
    let server = filled_server();
    server.post("entities/3/posts", json!({"name": "News", "entry": ""}));
    for (query, names) in [
        ("has_entry=1", vec!["Aelysh"]),
        ("has_entry=0", vec!["Ann", "Ben", "Élan"]),
        ("has_posts=1", vec!["Ben"]),
        ("has_image=1", vec![]),
        ("template=1", vec![]),
        ("is_template=true", vec![]),
        ("created_by=1&name=ben", vec!["Ben"]),
        ("updated_by=2", vec![]),
        // What is not kept cannot be found by.
        ("race_id=4", vec![]),
        ("locations=5", vec![]),
        ("locations[]=5", vec![]),
        ("races[]=1&races[]=2", vec![]),
        ("families%5B%5D=2", vec![]),
        ("families[0]=2", vec![]),
        ("families[]=!!&name=ben", vec!["Ben"]),
        ("families[]=&name=ben", vec!["Ben"]),
        ("attribute_name=HP", vec![]),
        ("has_attributes=0&name=ben", vec!["Ben"]),
        ("title=!!&name=ben", vec!["Ben"]),
    ] {
        assert_eq!(server.names(&format!("characters?{query}")), names, "{query}");
    }
    server.refusal("GET", "characters?parent_id=x", None, 422);
}

/// Each entity would be compared with each of them.
#[test]
fn a_filter_names_few_things() {
    let server = filled_server();
    let query = |name: &str, count: usize| {
        format!("characters?{name}={}", vec!["1"; count].join(if name == "name" { ";" } else { "," }))
    };
    for name in ["name", "tags"] {
        server.get(&query(name, limits::FILTER_TERMS_MAX));
        let refusal = server.refusal("GET", &query(name, limits::FILTER_TERMS_MAX + 1), None, 422);
        assert!(refusal["fields"][name].is_array(), "{refusal}");
    }
}

#[test]
fn journals_are_filtered_by_date() {
    let server = ApiServer::start();
    for (name, date) in [("One", json!("2025-05-01")), ("Two", json!("2025-05-30")), ("None", json!(null))] {
        let journal = server.post("journals", json!({"name": name, "date": date}));
        assert_eq!(journal["date"], date);
    }
    for (query, names) in [
        ("date=2025-05-30", vec!["Two"]),
        ("date_start=2025-05-02", vec!["Two"]),
        ("date_start=2025-05-01&date_end=2025-05-30", vec!["One", "Two"]),
        ("date_end=2025-05-01", vec!["One"]),
        ("date=!!", vec!["None"]),
    ] {
        assert_eq!(server.names(&format!("journals?{query}")), names, "{query}");
    }
    let refusal = server.refusal("GET", "journals?date_start=soon", None, 422);
    assert!(refusal["fields"]["date_start"].is_array(), "{refusal}");
}

#[test]
fn an_empty_parent_is_a_filter() {
    let server = ApiServer::start();
    let inn = server.post("locations", json!({"name": "Inn"}))["entity_id"].clone();
    server.post("locations", json!({"name": "Cellar", "parent_id": inn}));
    assert_eq!(server.names("locations?parent_id=!!"), ["Inn"]);
    assert_eq!(server.names(&format!("locations?parent_id={inn}")), ["Cellar"]);
    server.refusal("GET", "locations?parent_id=x", None, 422);
}

#[test]
fn kinds_are_named_in_each_form_of_a_list() {
    let server = filled_server();
    server.post("notes", json!({"name": "Plan"}));
    server.post("locations", json!({"name": "Inn"}));
    for query in [
        "types=note,location",
        "types[]=note&types[]=location",
        "types%5B%5D=note&types%5B%5D=location",
        "types[0]=note&types[1]=location",
        "types[]=note,location",
        "type_id[]=6&type_id[]=3",
        "type_id=6,3",
        "types[]=note&type_id[]=3",
        "types[]=note&types[]=location&types[]=nothing",
    ] {
        assert_eq!(server.names(&format!("entities?{query}")), ["Plan", "Inn"], "{query}");
    }
    assert_eq!(server.names("entities?types[]=nothing"), [""; 0]);
}

#[test]
fn the_total_is_what_all_pages_have() {
    let server = filled_server();
    for number in 0..100 {
        server.post("notes", json!({"name": format!("N{number}"), "tags": [1], "is_private": number % 2 == 0}));
    }
    for number in 0..50 {
        server.post("entities/1/posts", json!({"name": format!("P{number}"), "entry": ""}));
    }
    for list in [
        "notes",
        "notes?is_private=1",
        "notes?name=n1",
        "characters",
        "entities",
        "entities?types[]=note&is_private=0",
        "entities?lastSync=2000-01-01T00:00:00Z",
        "tags",
        "tags?name=s",
        "entities/1/posts",
        "entities/1/entity_tags",
        "families",
        "notes?page=99",
    ] {
        let sign = if list.contains('?') { '&' } else { '?' };
        let (mut count, mut page_number, whole) = (0, 1, server.get(list));
        loop {
            let page = server
                .get(&format!("{}{sign}page={page_number}", list.replace("?page=99", "")).replace("notes&", "notes?"));
            count += page["data"].as_array().unwrap().len();
            assert_eq!(page["meta"]["total"], whole["meta"]["total"], "{list}");
            if page["links"]["next"].is_null() {
                break;
            }
            page_number += 1;
        }
        assert_eq!(whole["meta"]["total"], count, "{list}");
    }
}
