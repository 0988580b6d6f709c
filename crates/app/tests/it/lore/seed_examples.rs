//! The examples of the Kanka tools document, with its inputs: results field by field, ids by their shape.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use skald_app::Code;

use super::{LoreCampaign, failure, fields, ids, keys, names, numbered_places, rows, successful_id};
use crate::universe::run;

const FULL_FIELDS: [&str; 8] = ["id", "entity_id", "name", "entity_type", "type", "entry", "tags", "is_private"];
/// The fields of a full row that the document does not have.
const ADDED_FIELDS: [&str; 3] = ["revision", "created_at", "updated_at"];

fn aelysh() -> Value {
    json!({
        "entity_type": "character", "name": "Aelysh", "type": "NPC", "entry": "Grove Warden of the eastern woods...",
        "tags": ["elf"]
    })
}

fn thorin() -> Value {
    json!({
        "entity_type": "character", "name": "Thorin Ironforge", "type": "Player Character", "entry": "A cleric.",
        "tags": ["pc", "dwarf"]
    })
}

/// The example "Create multiple entities at once".
fn batch_of_three() -> Value {
    json!([
        {
            "entity_type": "character", "name": "Osanna von Carstein", "type": "NPC", "entry": "Vampire noble...",
            "tags": ["vampire", "von-carstein"]
        },
        {
            "entity_type": "note", "name": "Digest: Session 2025-05-30", "type": "Session Digest",
            "entry": "## Chronological Log\n1. Party arrives at...", "tags": ["digest", "draft"], "is_private": true
        },
        {
            "entity_type": "journal", "name": "Session 23: The Mansion Mystery", "type": "Session Summary",
            "entry": "**Date: 2025-05-30**\n\nThe party cleared out a mansion...", "tags": ["session-summary", "published"]
        }
    ])
}

fn summary(name: &str, entry: &str) -> Value {
    json!({"entity_type": "journal", "name": name, "type": "Session Summary", "entry": entry})
}

/// A post as `get_entities` shows it.
fn post(id: u64, name: &str, entry: &str, is_private: bool, revision: u64) -> Value {
    json!({"id": id, "name": name, "entry": entry, "is_private": is_private, "revision": revision})
}

#[test]
fn a_batch_creates_entities_and_says_how_to_mention_them() {
    run(async {
        let lore = LoreCampaign::new().await;
        let sent = batch_of_three();
        let results = lore.results("create_entities", json!({"entities": sent})).await;
        let mut before = 0;
        for (result, sent) in results.iter().zip(sent.as_array().unwrap()) {
            let (id, entity_id) = (result["id"].as_u64().unwrap(), result["entity_id"].as_u64().unwrap());
            let expected = json!({
                "id": id, "entity_id": entity_id, "name": sent["name"], "mention": format!("[entity:{entity_id}]"),
                "success": true, "revision": 1
            });
            assert_eq!(*result, expected);
            assert!(id > 0 && entity_id > before, "ids are given in the order of the input: {results:?}");
            before = entity_id;
            let read = lore.get(entity_id).await;
            for field in ["name", "entity_type", "type", "entry", "tags"] {
                assert_eq!(read[field], sent[field], "{read}");
            }
            assert_eq!(read["is_private"], json!(sent["entity_type"] == "note"));
            assert_eq!((&read["success"], &read["posts"]), (&json!(true), &json!([])));
        }
        assert_eq!(results.len(), 3);
    });
}

#[test]
fn a_note_is_private_unless_told_otherwise_and_nothing_else_is() {
    run(async {
        let lore = LoreCampaign::new().await;
        let types = ["character", "creature", "location", "organization", "race", "note", "journal", "quest"];
        let plain: Value =
            types.iter().map(|kind| json!({"entity_type": kind, "name": format!("One {kind}")})).collect();
        for (entity_id, kind) in lore.create(plain).await.into_iter().zip(types) {
            let read = lore.get(entity_id).await;
            assert_eq!((&read["entity_type"], &read["is_private"]), (&json!(kind), &json!(kind == "note")));
            assert_eq!((&read["entry"], &read["tags"]), (&json!(""), &json!([])));
        }
        let told = json!({"entity_type": "note", "name": "Handout", "is_private": false});
        let entity_id = lore.create_one(told).await;
        assert_eq!(lore.get(entity_id).await["is_private"], false);
    });
}

#[test]
fn a_misspelt_name_is_found_by_likeness() {
    run(async {
        let lore = LoreCampaign::new().await;
        let entity_id = lore.create(json!([aelysh(), thorin()])).await[0];
        let found = lore.find(json!({"entity_type": "character", "name": "Aylysh", "name_fuzzy": true})).await;
        let [row] = rows(&found, "entities") else { panic!("{found}") };
        let expected = json!({
            "id": 1, "entity_id": entity_id, "name": "Aelysh", "entity_type": "character", "type": "NPC",
            "entry": "Grove Warden of the eastern woods...", "tags": ["elf"], "is_private": false
        });
        assert_eq!(fields(row, &FULL_FIELDS), expected);
        assert_eq!(row["match_score"], json!(0.83));
        let all: BTreeSet<&str> = FULL_FIELDS.into_iter().chain(ADDED_FIELDS).chain(["match_score"]).collect();
        assert_eq!(keys(row), all);
        // Without name_fuzzy there is no score, and a misspelling finds nothing.
        assert_eq!(lore.find_names(json!({"name": "Aylysh"})).await, [""; 0]);
        let plain = lore.find(json!({"name": "aely"})).await;
        assert_eq!((names(&plain), plain["entities"][0].get("match_score")), (vec!["Aelysh".to_owned()], None));
    });
}

#[test]
fn a_known_misspelling_is_found_in_the_text() {
    run(async {
        let lore = LoreCampaign::new().await;
        let entity_id = lore.create(json!([aelysh(), thorin()])).await[0];
        let query = json!({"query": "Aylysh", "entity_type": "character"});
        assert_eq!(lore.find_names(query.clone()).await, [""; 0]);
        let entry =
            "Grove Warden of the eastern woods...\n\n[Known misspellings from transcripts: Aylysh, Ailish, Alesh]";
        let updated = lore.update(json!({"entity_id": entity_id, "name": "Aelysh", "entry": entry})).await;
        assert_eq!(updated, json!({"entity_id": entity_id, "success": true, "revision": 2}));
        let found = lore.find(query).await;
        let [row] = rows(&found, "entities") else { panic!("{found}") };
        let expected = json!({"entity_id": entity_id, "name": "Aelysh", "entity_type": "character", "entry": entry});
        assert_eq!(fields(row, &["entity_id", "name", "entity_type", "entry"]), expected);
        assert!(row["snippet"].as_str().unwrap().contains("Aylysh"), "{row}");
        // What was not sent stays.
        let kept = json!({"type": "NPC", "tags": ["elf"], "is_private": false});
        assert_eq!(fields(row, &["type", "tags", "is_private"]), kept);
    });
}

#[test]
fn all_player_characters_are_found_by_their_type() {
    run(async {
        let lore = LoreCampaign::new().await;
        let ilse = json!({"entity_type": "character", "name": "Ilse", "type": "player character"});
        let club = json!({"entity_type": "organization", "name": "The Club", "type": "Player Character"});
        lore.create(json!([aelysh(), thorin(), ilse, club])).await;
        let found = lore.find(json!({"entity_type": "character", "type": "Player Character"})).await;
        assert_eq!(names(&found), ["Thorin Ironforge", "Ilse"]);
        let expected = json!({"entry": "A cleric.", "tags": ["pc", "dwarf"]});
        assert_eq!(fields(&found["entities"][0], &["entry", "tags"]), expected);
    });
}

#[test]
fn session_summaries_are_found_by_the_date_in_their_text() {
    run(async {
        let lore = LoreCampaign::new().await;
        let mut entities = batch_of_three();
        entities.as_array_mut().unwrap().extend([
            summary("Session 1", "**Date: 2025-05-01**\n\nFirst."),
            summary("Session 24", "**Date: 2025-05-31**\n\nLast."),
            summary("Session 25", "**Date: 2025-06-01**\n\nToo late."),
            summary("Session 0", "**Date: 2025-04-30**\n\nToo early."),
            summary("Session X", "It was on some day."),
        ]);
        lore.create(entities).await;
        let range = json!({
            "entity_type": "journal", "type": "Session Summary", "date_range": {"start": "2025-05-01", "end": "2025-05-31"}
        });
        let found = lore.find(range).await;
        assert_eq!(names(&found), ["Session 23: The Mansion Mystery", "Session 1", "Session 24"], "both ends count");
        assert_eq!(found["sync_info"]["total_count"], 3);
    });
}

#[test]
fn entities_with_all_of_several_tags_are_found_without_a_type() {
    run(async {
        let lore = LoreCampaign::new().await;
        let tagged = |kind: &str, name: &str, tags: &[&str]| json!({"entity_type": kind, "name": name, "tags": tags});
        lore.create(json!([
            tagged("character", "Osanna", &["noble", "vampire"]),
            tagged("character", "Bat", &["vampire"]),
            tagged("location", "Crypt", &["Vampire", "Noble", "dark"]),
            tagged("character", "Duke", &["noble"]),
            tagged("character", "Nobody", &[]),
        ]))
        .await;
        assert_eq!(lore.find_names(json!({"tags": ["vampire", "noble"]})).await, ["Osanna", "Crypt"]);
        assert_eq!(lore.find_names(json!({"tags": ["vampire", "unheard-of"]})).await, [""; 0]);
        assert_eq!(lore.find_names(json!({"tags": []})).await.len(), 5);
    });
}

#[test]
fn an_update_after_a_session_changes_what_it_names_and_tags_replace() {
    run(async {
        let lore = LoreCampaign::new().await;
        let created = lore.create(json!([aelysh(), thorin()])).await;
        let entry = "[existing content]\n\n## Session 23 Update\nAelysh revealed she needs elderberries for...";
        let tags = json!(["pc", "dwarf", "cleric", "paranoid-about-fey"]);
        let updates = json!([
            {"entity_id": created[0], "name": "Aelysh", "entry": entry},
            {"entity_id": created[1], "name": "Thorin Ironforge", "tags": tags}
        ]);
        let results = lore.results("update_entities", json!({"updates": updates})).await;
        let result = |entity_id: u64| json!({"entity_id": entity_id, "success": true, "revision": 2});
        assert_eq!(results, [result(created[0]), result(created[1])]);
        let (first, second) = (lore.get(created[0]).await, lore.get(created[1]).await);
        assert_eq!((&first["entry"], &first["tags"]), (&json!(entry), &json!(["elf"])));
        assert_eq!((&second["entry"], &second["tags"]), (&json!("A cleric."), &tags));
        lore.update(json!({"entity_id": created[1], "name": "Thorin Ironforge", "tags": []})).await;
        assert_eq!(lore.get(created[1]).await["tags"], json!([]), "an empty list takes all tags away");
    });
}

#[test]
fn a_failed_item_leaves_the_others_alone() {
    run(async {
        let lore = LoreCampaign::new().await;
        let nameless = json!({"entity_type": "character", "name": "  "});
        let results = lore.results("create_entities", json!({"entities": [aelysh(), nameless, thorin()]})).await;
        let (first, last) = (successful_id(&results[0], "entity_id"), successful_id(&results[2], "entity_id"));
        assert!(failure(&results[1], Code::InvalidParams).contains("name"));
        assert_eq!(results[1]["name"], "  ", "a failed item is known by its name");

        let updates = json!([
            {"entity_id": first, "name": "Aelysh the Warden"},
            {"entity_id": 999, "name": "Nobody"},
            {"entity_id": last, "name": "Thorin"}
        ]);
        let results = lore.results("update_entities", json!({"updates": updates})).await;
        assert_eq!(results.iter().map(|result| &result["entity_id"]).collect::<Vec<_>>(), [first, 999, last]);
        assert!(failure(&results[1], Code::NotFound).contains("Entity 999 not found"));
        assert_eq!((successful_id(&results[0], "revision"), successful_id(&results[2], "revision")), (2, 2));

        let read = lore.results("get_entities", json!({"entity_ids": [last, 999, first]})).await;
        assert_eq!((&read[0]["name"], &read[2]["name"]), (&json!("Thorin"), &json!("Aelysh the Warden")));
        assert_eq!((&read[0]["success"], read[0].get("posts")), (&json!(true), None));
        assert_eq!((&read[1]["entity_id"], &read[1]["success"]), (&json!(999), &json!(false)));
        assert!(read[1]["error"].as_str().unwrap().contains("Entity 999 not found"), "{}", read[1]);
        assert_eq!(keys(&read[1]), BTreeSet::from(["entity_id", "success", "error"]));

        let deleted = lore.results("delete_entities", json!({"entity_ids": [first, 999, first]})).await;
        assert_eq!(deleted[0], json!({"entity_id": first, "success": true}));
        failure(&deleted[1], Code::NotFound);
        failure(&deleted[2], Code::NotFound);
        assert_eq!(deleted.iter().map(|result| &result["entity_id"]).collect::<Vec<_>>(), [first, 999, first]);
        assert_eq!(lore.find_names(json!({})).await, ["Thorin"]);
        assert_eq!(lore.get(first).await["success"], false);
    });
}

#[test]
fn posts_are_created_changed_and_deleted() {
    run(async {
        let lore = LoreCampaign::new().await;
        let entity_id = lore.create_one(aelysh()).await;
        let posts = json!([
            {"entity_id": entity_id, "name": "Rumour", "entry": "She **sings** at night."},
            {"entity_id": 999, "name": "Lost"},
            {"entity_id": entity_id, "name": "Secret", "entry": "She is a ghost.", "is_private": true},
            {"entity_id": entity_id, "name": "Empty"}
        ]);
        let results = lore.results("create_posts", json!({"posts": posts})).await;
        let post_ids = [0, 2, 3].map(|place: usize| successful_id(&results[place], "post_id"));
        let created = json!({"post_id": post_ids[0], "entity_id": entity_id, "success": true, "revision": 1});
        assert_eq!(results[0], created);
        assert!(failure(&results[1], Code::NotFound).contains("Entity 999 not found"));
        assert_eq!(results[1]["entity_id"], 999);
        let expected = json!([
            post(post_ids[0], "Rumour", "She **sings** at night.", false, 1),
            post(post_ids[1], "Secret", "She is a ghost.", true, 1),
            post(post_ids[2], "Empty", "", false, 1)
        ]);
        assert_eq!(lore.get(entity_id).await["posts"], expected);

        let updates = json!([
            {"entity_id": entity_id, "post_id": post_ids[0], "name": "Rumour", "entry": "She sings by day."},
            {"entity_id": entity_id, "post_id": 999, "name": "Nothing"},
            {"entity_id": entity_id, "post_id": post_ids[1], "name": "Known", "is_private": false}
        ]);
        let results = lore.results("update_posts", json!({"updates": updates})).await;
        let changed = json!({"post_id": post_ids[0], "entity_id": entity_id, "success": true, "revision": 2});
        assert_eq!(results[0], changed);
        failure(&results[1], Code::NotFound);
        assert_eq!((&results[1]["entity_id"], &results[1]["post_id"]), (&json!(entity_id), &json!(999)));
        successful_id(&results[2], "post_id");

        let deletions = json!([
            {"entity_id": entity_id, "post_id": post_ids[2]},
            {"entity_id": 999, "post_id": post_ids[0]},
            {"entity_id": entity_id, "post_id": post_ids[2]}
        ]);
        let results = lore.results("delete_posts", json!({"deletions": deletions})).await;
        assert_eq!(results[0], json!({"entity_id": entity_id, "post_id": post_ids[2], "success": true}));
        failure(&results[1], Code::NotFound);
        assert_eq!((&results[1]["entity_id"], &results[1]["post_id"]), (&json!(999), &json!(post_ids[0])));
        failure(&results[2], Code::NotFound);
        let expected = json!([
            post(post_ids[0], "Rumour", "She sings by day.", false, 2),
            post(post_ids[1], "Known", "She is a ghost.", false, 2)
        ]);
        let read = lore.get(entity_id).await;
        assert_eq!((&read["posts"], &read["revision"]), (&expected, &json!(1)), "posts have their own revisions");
    });
}

#[test]
fn pages_have_25_rows_or_as_many_as_asked_for() {
    run(async {
        let lore = LoreCampaign::new().await;
        lore.create(numbered_places(0..100, None)).await;
        lore.create(numbered_places(100..130, None)).await;
        let page = async |filter: Value| {
            let found = lore.find(filter).await;
            let sync_info = &found["sync_info"];
            assert_eq!((&sync_info["total_count"], sync_info.get("more")), (&json!(130), None), "{sync_info}");
            assert_eq!(sync_info["returned_count"], rows(&found, "entities").len());
            assert!(sync_info["request_timestamp"].is_string());
            ids(&found)
        };
        let all = page(json!({"limit": 0})).await;
        assert_eq!(all.len(), 130);
        assert_eq!(page(json!({})).await, all[..25]);
        assert_eq!(page(json!({"limit": 25, "page": 1})).await, all[..25]);
        assert_eq!(page(json!({"page": 6})).await, all[125..]);
        assert_eq!(page(json!({"page": 7})).await, [0; 0], "past the end");
        assert_eq!(page(json!({"page": 1_000_000_000_000_u64})).await, [0; 0], "far past the end");
        assert_eq!(page(json!({"limit": 100})).await, all[..100]);
        assert_eq!(page(json!({"limit": 100, "page": 2})).await, all[100..]);
        assert_eq!(page(json!({"limit": 0, "page": 2})).await, [0; 0]);
        let (mut walked, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let found = lore.find(json!({"limit": 40, "cursor": cursor})).await;
            walked.extend(ids(&found));
            cursor = found["sync_info"]["next_cursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        assert_eq!(walked, all);
    });
}

/// The document's most is 100 rows; mcp-kanka answers 100 if more are asked for.
#[test]
fn more_than_100_rows_are_never_a_page() {
    run(async {
        let lore = LoreCampaign::new().await;
        lore.create(numbered_places(0..100, None)).await;
        lore.create(numbered_places(100..130, None)).await;
        assert_eq!(ids(&lore.find(json!({"limit": 101})).await).len(), 100);
        assert_eq!(ids(&lore.find(json!({"limit": 500, "page": 2})).await).len(), 30);
    });
}

#[test]
fn short_rows_have_three_fields() {
    run(async {
        let lore = LoreCampaign::new().await;
        lore.create(json!([aelysh(), thorin()])).await;
        let short = BTreeSet::from(["entity_id", "name", "entity_type"]);
        for filter in [json!({}), json!({"name": "e"}), json!({"tags": ["elf"]}), json!({"entity_type": "character"})] {
            let mut filter = filter;
            filter["include_full"] = false.into();
            let found = lore.find(filter.clone()).await;
            assert!(!rows(&found, "entities").is_empty(), "{filter}");
            for row in rows(&found, "entities") {
                assert_eq!(keys(row), short, "{filter}");
            }
        }
    });
}

/// Scores and snippets are details too: who asks for short rows reads many of them.
#[test]
fn short_rows_have_three_fields_also_with_a_query_or_a_fuzzy_name() {
    run(async {
        let lore = LoreCampaign::new().await;
        lore.create(json!([aelysh(), thorin()])).await;
        for filter in [json!({"query": "warden"}), json!({"name": "Aylysh", "name_fuzzy": true})] {
            let mut filter = filter;
            filter["include_full"] = false.into();
            let found = lore.find(filter.clone()).await;
            let [row] = rows(&found, "entities") else { panic!("{found}") };
            assert_eq!(keys(row), BTreeSet::from(["entity_id", "name", "entity_type"]), "{filter}");
        }
    });
}

#[test]
fn the_context_has_the_keys_of_the_document() {
    run(async {
        let lore = LoreCampaign::new().await;
        let mut context = lore.call("kanka_context", json!({})).await;
        let added = context.as_object_mut().and_then(|context| context.remove("skald"));
        assert!(added.is_some_and(|added| added.is_object()), "what is added has a key of its own");
        let document = json!({
            "description": "Kanka is a worldbuilding and campaign management tool. This MCP server provides limited access to manage core entity types and their descriptions.",
            "supported_entities": {
                "character": "People in your world (PCs, NPCs, etc)",
                "creature": "Monster types and animals (templates, not individuals)",
                "location": "Places, regions, buildings, landmarks",
                "organization": "Groups, guilds, governments, companies",
                "race": "Species and ancestries",
                "note": "Private GM notes and session digests",
                "journal": "Session summaries and campaign chronicles",
                "quest": "Missions, objectives, and story arcs"
            },
            "core_fields": {
                "name": "Required. The entity's name",
                "type": "Optional. Subtype like 'NPC', 'City', 'Guild' (user-defined)",
                "entry": "Optional. Main description in Markdown format",
                "tags": "Optional. String array for categorization",
                "is_private": "Optional. If true, only campaign admins can see"
            },
            "terminology": {
                "entity_type": "The main category (character, location, etc.) - fixed list",
                "type": "User-defined subtype within a category (e.g., 'NPC' for characters, 'City' for locations)"
            },
            "posts": "Additional notes/comments can be attached to any entity",
            "mentions": {
                "description": "Cross-reference entities using [entity:ID] or [entity:ID|custom text] in entry fields",
                "examples": ["[entity:1234]", "[entity:1234|the ancient dragon]"],
                "note": "The MCP server preserves these during Markdown/HTML conversion"
            },
            "limitations": "This MCP server only supports basic fields. Advanced features like attributes, relations, abilities, and most entity-specific fields are not available."
        });
        assert_eq!(context, document);
    });
}
