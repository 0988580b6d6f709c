//! Tests of writing into the lore: links by name, conflicts, appended texts, cleared fields, retries and limits.

use futures::future::{join, join_all};
use serde_json::{Value, json};
use skald_app::{Caller, CampaignRole, Code, Engine, RequestControl, limits};

use super::{LoreCampaign, failure, fields, ids, numbered_places, rows, successful_id};
use crate::universe::run;

fn character(name: &str) -> Value {
    json!({"entity_type": "character", "name": name})
}

fn named(entity_id: u64, name: &str) -> Value {
    json!({"entity_id": entity_id, "name": name})
}

#[test]
fn links_by_name_become_mentions() {
    run(async {
        let lore = LoreCampaign::new().await;
        let aelysh = lore.create_one(character("Aelysh")).await;
        let entry =
            "Met [[Aelysh]], [[aelysh|the warden]] and [[Nobody]]. `[[Aelysh]]` is code, ![[Aelysh]] a picture.";
        let entities = json!([{"entity_type": "journal", "name": "Day one", "entry": entry}]);
        let result = lore.results("create_entities", json!({"entities": entities})).await.remove(0);
        assert_eq!(result["unresolved"], json!(["Nobody"]), "{result}");
        let read = lore.get(result["entity_id"].clone()).await;
        let linked = format!(
            "Met [entity:{aelysh}], [entity:{aelysh}|the warden] and [[Nobody]]. `[[Aelysh]]` is code, ![[Aelysh]] a picture."
        );
        assert_eq!((&read["entry"], &read["mentions"]), (&json!(linked), &json!([named(aelysh, "Aelysh")])));
        let mentioned_by = &lore.get(aelysh).await["mentioned_by"];
        assert_eq!(*mentioned_by, json!([named(successful_id(&result, "entity_id"), "Day one")]));
    });
}

#[test]
fn names_that_are_created_in_the_same_call_are_linked() {
    run(async {
        let lore = LoreCampaign::new().await;
        let entities = json!([
            {"entity_type": "character", "name": "Aelysh", "entry": "Lives in [[willow hall]] with [[Nobody]]."},
            {"entity_type": "location", "name": "Willow Hall", "entry": "Home of [[Aelysh|the warden]]."}
        ]);
        let results = lore.results("create_entities", json!({"entities": entities})).await;
        let [aelysh, hall] = [0, 1].map(|place: usize| successful_id(&results[place], "entity_id"));
        assert_eq!((&results[0]["unresolved"], results[1].get("unresolved")), (&json!(["Nobody"]), None));
        let (first, second) = (lore.get(aelysh).await, lore.get(hall).await);
        assert_eq!(first["entry"], format!("Lives in [entity:{hall}] with [[Nobody]]."));
        assert_eq!(second["entry"], format!("Home of [entity:{aelysh}|the warden]."));
        assert_eq!((&first["revision"], results[0].get("revision")), (&json!(2), None), "linked after it was created");
        assert_eq!((&second["revision"], results[1].get("revision")), (&json!(2), None));
    });
}

#[test]
fn a_parent_that_is_created_in_the_same_call_is_set() {
    run(async {
        let lore = LoreCampaign::new().await;
        let entities = json!([
            {"entity_type": "location", "name": "Bell Tower", "parent": "dunmere", "entry": "Stands in [[Dunmere]]."},
            {"entity_type": "location", "name": "Dunmere"},
            {"entity_type": "location", "name": "Crypt", "parent": "Bell Tower"},
            {"entity_type": "location", "name": "Ring", "parent": "Ring"}
        ]);
        let results = lore.results("create_entities", json!({"entities": entities})).await;
        let [tower, dunmere, crypt] = [0, 1, 2].map(|place: usize| successful_id(&results[place], "entity_id"));
        for (place, entity_id, parent) in [(0, tower, dunmere), (2, crypt, tower)] {
            let read = lore.get(entity_id).await;
            assert_eq!((&read["parent"]["entity_id"], &read["revision"]), (&json!(parent), &json!(2)), "{read}");
            assert_eq!((results[place].get("unresolved"), results[place].get("revision")), (None, None));
        }
        assert_eq!(lore.get(tower).await["entry"], format!("Stands in [entity:{dunmere}]."));
        assert_eq!(results[3]["unresolved"], json!(["Ring"]), "nothing is its own parent: {}", results[3]);
    });
}

/// The child is created even if its parent is refused, and says so.
#[test]
fn a_parent_of_the_same_call_that_is_refused_is_reported() {
    run(async {
        let lore = LoreCampaign::new().await;
        let entities = json!([
            {"entity_type": "location", "name": "Crypt", "parent": "Dunmere"},
            {"entity_type": "location", "name": "Dunmere", "parent": "Nowhere"}
        ]);
        let results = lore.results("create_entities", json!({"entities": entities})).await;
        assert_eq!((&results[0]["success"], &results[0]["unresolved"]), (&json!(true), &json!(["Dunmere"])));
        assert_eq!(results[1]["code"], "NOT_FOUND", "{}", results[1]);
    });
}

/// A name that two entities of one call have stayed unlinked, and was not reported.
#[test]
fn an_ambiguous_name_in_the_same_call_is_reported() {
    run(async {
        let lore = LoreCampaign::new().await;
        let entities = json!([
            {"entity_type": "character", "name": "Wolf"},
            {"entity_type": "creature", "name": "wolf"},
            {"entity_type": "note", "name": "Tracks", "entry": "Left by [[Wolf]]."}
        ]);
        let results = lore.results("create_entities", json!({"entities": entities})).await;
        assert_eq!(results[2]["unresolved"], json!(["Wolf"]), "{}", results[2]);
        let read = lore.get(successful_id(&results[2], "entity_id")).await;
        assert_eq!((&read["entry"], &read["revision"]), (&json!("Left by [[Wolf]]."), &json!(1)));
    });
}

#[test]
fn updates_and_posts_report_links_that_lead_nowhere() {
    run(async {
        let lore = LoreCampaign::new().await;
        let entity_id = lore.create_one(character("Aelysh")).await;
        for change in [json!({"entry": "Knows [[Nobody]]."}), json!({"entry_append": "Knows [[Somebody]]."})] {
            let mut update = change;
            update["entity_id"] = entity_id.into();
            let result = lore.update(update.clone()).await;
            assert_eq!(
                (&result["success"], result["unresolved"].as_array().map(Vec::len)),
                (&json!(true), Some(1)),
                "{update}"
            );
        }
        let posts = json!([{"entity_id": entity_id, "name": "Rumour", "entry": "Seen with [[Nobody]]."}]);
        let result = lore.results("create_posts", json!({"posts": posts})).await.remove(0);
        assert_eq!(result["unresolved"], json!(["Nobody"]));
    });
}

#[test]
fn similar_names_are_named() {
    run(async {
        let lore = LoreCampaign::new().await;
        let known = lore.create(json!([character("Aelysh"), character("Thorin Ironforge")])).await;
        let entities = json!([character("Aylysh"), character("aelysh"), character("Mira")]);
        let results = lore.results("create_entities", json!({"entities": entities})).await;
        let similar = json!([named(known[0], "Aelysh")]);
        assert_eq!(
            (&results[0]["similar"], &results[1]["similar"], results[2].get("similar")),
            (&similar, &similar, None)
        );
        // In a large batch only equal names are looked for.
        let mut many = numbered_places(0..20, None);
        many.as_array_mut().unwrap().extend([character("THORIN ironforge"), character("Thorin Ironforged")]);
        let results = lore.results("create_entities", json!({"entities": many})).await;
        assert_eq!(results[20]["similar"], json!([named(known[1], "Thorin Ironforge")]));
        assert_eq!(results[21].get("similar"), None);
    });
}

#[test]
fn an_unexpected_revision_is_a_conflict() {
    run(async {
        let lore = LoreCampaign::new().await;
        let entity_id = lore.create_one(character("Aelysh")).await;
        let update =
            |revision: u64, entry: &str| json!({"entity_id": entity_id, "expected_revision": revision, "entry": entry});
        assert_eq!(lore.update(update(1, "First.")).await["revision"], 2);
        let conflict = lore.update(update(1, "Second.")).await;
        assert!(failure(&conflict, Code::RevisionConflict).contains("the current one is 2"), "{conflict}");
        assert_eq!(conflict["entity_id"], entity_id);
        let read = lore.get(entity_id).await;
        assert_eq!((&read["entry"], &read["revision"]), (&json!("First."), &json!(2)));
        let append = json!({"entity_id": entity_id, "expected_revision": 1, "entry_append": "Third."});
        failure(&lore.update(append).await, Code::RevisionConflict);
        let post_id = lore.create_post(json!({"entity_id": entity_id, "name": "Rumour"})).await;
        let updates = json!([{"entity_id": entity_id, "post_id": post_id, "name": "Fact", "expected_revision": 7}]);
        failure(&lore.results("update_posts", json!({"updates": updates})).await[0], Code::RevisionConflict);
        assert_eq!(lore.get(entity_id).await["posts"][0]["name"], "Rumour");
    });
}

#[test]
fn texts_that_are_added_at_once_are_all_kept() {
    run(async {
        let lore = LoreCampaign::new().await;
        let entity_id = lore.create_one(json!({"entity_type": "journal", "name": "Log", "entry": "Begin."})).await;
        let add = |text: &str| json!({"entity_id": entity_id, "entry_append": text});
        let (one, other) = join(lore.update(add("One.")), lore.update(add("Two."))).await;
        assert_eq!((&one["success"], &other["success"]), (&json!(true), &json!(true)), "{one} {other}");
        let entry = lore.get(entity_id).await["entry"].as_str().unwrap().to_owned();
        let paragraphs: Vec<&str> = entry.split("\n\n").collect();
        assert_eq!((paragraphs.len(), paragraphs[0]), (3, "Begin."), "{entry}");
        assert!(paragraphs.contains(&"One.") && paragraphs.contains(&"Two."), "{entry}");
        let post_id = lore.create_post(json!({"entity_id": entity_id, "name": "Side"})).await;
        let add = |text: String| {
            let update = json!({"entity_id": entity_id, "post_id": post_id, "entry_append": text});
            lore.results("update_posts", json!({"updates": [update]}))
        };
        for results in join_all((0..3).map(|number| add(format!("Line {number}.")))).await {
            successful_id(&results[0], "post_id");
        }
        let entry = lore.get(entity_id).await["posts"][0]["entry"].as_str().unwrap().to_owned();
        assert_eq!(entry.split("\n\n").count(), 3, "{entry}");
    });
}

/// Each was prepared on the text before the others, and only so many attempts were made.
#[test]
fn many_texts_added_to_one_entity_in_one_call_are_all_kept_in_order() {
    run(async {
        let lore = LoreCampaign::new().await;
        let entity_id = lore.create_one(json!({"entity_type": "journal", "name": "Log"})).await;
        let lines: Vec<String> = (0..20).map(|number| format!("Line {number}.")).collect();
        let updates: Vec<Value> =
            lines.iter().map(|line| json!({"entity_id": entity_id, "entry_append": line})).collect();
        for result in lore.results("update_entities", json!({"updates": updates})).await {
            successful_id(&result, "entity_id");
        }
        assert_eq!(lore.get(entity_id).await["entry"], lines.join("\n\n"));
    });
}

#[test]
fn an_entry_that_was_cut_cannot_be_written_back() {
    run(async {
        let lore = LoreCampaign::new().await;
        let long = "A long tale. ".repeat(5_000);
        let entity_id = lore.create_one(json!({"entity_type": "journal", "name": "Tale", "entry": long})).await;
        let cut = lore.find(json!({"name": "Tale"})).await["entities"][0]["entry"].clone();
        assert_ne!(cut, json!(long));
        let refused = lore.update(json!({"entity_id": entity_id, "entry": cut})).await;
        assert!(failure(&refused, Code::InvalidParams).contains("entry_append"), "{}", refused["error"]);
        let longer = format!("{}\n\nAnd then.", cut.as_str().unwrap());
        let refused = lore.update(json!({"entity_id": entity_id, "entry": longer})).await;
        failure(&refused, Code::InvalidParams);
        let posts = json!([{"entity_id": entity_id, "name": "Copy", "entry": cut}]);
        failure(&lore.results("create_posts", json!({"posts": posts})).await[0], Code::InvalidParams);
        let copy = json!([{"entity_type": "journal", "name": "Copy", "entry": cut}]);
        failure(&lore.results("create_entities", json!({"entities": copy})).await[0], Code::InvalidParams);
        assert_eq!(lore.get(entity_id).await["entry"], json!(long));
    });
}

#[test]
fn an_update_that_changes_nothing_succeeds_without_a_record() {
    run(async {
        let lore = LoreCampaign::new().await;
        let entry = "Grove Warden.\n\nOf the east.";
        let entity =
            json!({"entity_type": "character", "name": "Aelysh", "type": "NPC", "entry": entry, "tags": ["elf"]});
        let entity_id = lore.create_one(entity).await;
        let post_id = lore.create_post(json!({"entity_id": entity_id, "name": "Rumour", "entry": "Sings."})).await;
        let before = lore.stream_revision().await;
        for same in [
            json!({"entity_id": entity_id}),
            json!({"entity_id": entity_id, "name": "Aelysh"}),
            json!({"entity_id": "aelysh", "entry": entry}),
            json!({"entity_id": entity_id, "entry": "Grove Warden.\r\n\r\nOf the east.\n"}),
            json!({"entity_id": entity_id, "tags": ["ELF", "elf"], "type": "NPC", "is_private": false, "parent": "", "image": ""}),
        ] {
            let result = lore.update(same.clone()).await;
            assert_eq!(result, json!({"entity_id": entity_id, "success": true, "revision": 1}), "{same}");
        }
        let same = json!([{"entity_id": entity_id, "post_id": post_id, "name": "Rumour", "entry": "Sings."}]);
        let results = lore.results("update_posts", json!({"updates": same})).await;
        let expected = json!({"entity_id": entity_id, "post_id": post_id, "success": true, "revision": 1});
        assert_eq!(results, [expected]);
        assert_eq!(lore.stream_revision().await, before);
    });
}

#[test]
fn an_empty_text_clears_a_field() {
    run(async {
        let lore = LoreCampaign::new().await;
        let actor = lore.call("actor_create", json!({"name": "Mira", "kind": "PC"})).await;
        let hall = lore.create_one(json!({"entity_type": "location", "name": "Hall"})).await;
        let entity = json!({
            "entity_type": "character", "name": "Mira", "type": "NPC", "entry": "A text.", "parent": "hall",
            "image": "https://example.org/mira.png", "date": "2025-05-30", "actor_id": "mira"
        });
        let entity_id = lore.create_one(entity).await;
        let read = lore.get(entity_id).await;
        let expected = json!({
            "type": "NPC", "entry": "A text.", "parent": named(hall, "Hall"), "image": "https://example.org/mira.png",
            "date": "2025-05-30", "actor_id": actor["id"]
        });
        assert_eq!(fields(&read, &["type", "entry", "parent", "image", "date", "actor_id"]), expected);
        assert_eq!(lore.get(hall).await["children"], json!([named(entity_id, "Mira")]));
        let actors = lore.call("campaign_read", json!({"view": "actors"})).await;
        assert_eq!(rows(&actors, "actors")[0]["entity_id"], entity_id, "either finds the other");
        for field in ["image", "date", "parent", "actor_id", "type", "entry"] {
            let result = lore.update(json!({"entity_id": entity_id, field: ""})).await;
            assert_eq!(result["success"], true, "{field}: {result}");
        }
        let read = lore.get(entity_id).await;
        for field in ["image", "date", "parent", "actor_id", "type"] {
            assert_eq!(read.get(field), None, "{read}");
        }
        let actors = lore.call("campaign_read", json!({"view": "actors"})).await;
        assert_eq!(rows(&actors, "actors")[0].get("entity_id"), None);
        assert_eq!((&read["entry"], &read["name"], &read["revision"]), (&json!(""), &json!("Mira"), &json!(7)));
        failure(&lore.update(json!({"entity_id": entity_id, "name": ""})).await, Code::InvalidParams);
    });
}

#[test]
fn parents_are_named_and_never_below_their_children() {
    run(async {
        let lore = LoreCampaign::new().await;
        let place = |name: &str, parent: &str| json!({"entity_type": "location", "name": name, "parent": parent});
        let realm = lore.create_one(place("Realm", "")).await;
        let city = lore.create_one(place("City", "realm")).await;
        let inn = lore.create_one(place("Inn", "City")).await;
        for (entity_id, parent) in [(realm, "Inn"), (realm, "City"), (realm, "Realm"), (city, "inn")] {
            let refused = lore.update(json!({"entity_id": entity_id, "parent": parent})).await;
            assert!(failure(&refused, Code::InvalidParams).contains("parent"), "{entity_id} in {parent}: {refused}");
        }
        let unknown = lore.update(json!({"entity_id": inn, "parent": "Nowhere"})).await;
        assert!(failure(&unknown, Code::NotFound).contains("Nowhere"));
        let close = lore.results("create_entities", json!({"entities": [place("Room", "In")]})).await.remove(0);
        assert!(failure(&close, Code::NotFound).contains("did you mean Inn"), "{close}");
        lore.create(json!([place("City", "")])).await;
        let ambiguous = lore.update(json!({"entity_id": inn, "parent": "city"})).await;
        assert!(failure(&ambiguous, Code::InvalidParams).contains("more than one"), "{ambiguous}");
        assert_eq!(lore.update(json!({"entity_id": inn, "parent": realm})).await["success"], true);
        assert_eq!(lore.get(inn).await["parent"], named(realm, "Realm"));
    });
}

#[test]
fn a_tag_is_there_once_whatever_its_case() {
    run(async {
        let lore = LoreCampaign::new().await;
        let tagged = |name: &str, tags: &[&str]| json!({"entity_type": "character", "name": name, "tags": tags});
        let created = lore
            .create(json!([tagged("Osanna", &["Vampire", "vampire", " VAMPIRE "]), tagged("Bat", &["night"])]))
            .await;
        lore.update(json!({"entity_id": created[1], "tags": ["vampire", "Night"]})).await;
        assert_eq!(lore.get(created[0]).await["tags"], json!(["Vampire"]));
        assert_eq!(lore.get(created[1]).await["tags"], json!(["Vampire", "night"]), "spelled as they were first");
        assert_eq!(lore.find_names(json!({"tags": ["VAMPIRE"]})).await, ["Osanna", "Bat"]);
    });
}

#[test]
fn an_alias_is_found_like_the_name() {
    run(async {
        let lore = LoreCampaign::new().await;
        let warden = json!({"entity_type": "character", "name": "Aelysh", "aliases": ["Aylysh", "The Grove Warden"]});
        let entity_id = lore.create_one(warden).await;
        lore.create(json!([character("Thorin")])).await;
        for filter in [
            json!({"name": "grove"}),
            json!({"name": "AYLYSH", "name_exact": true}),
            json!({"name": "Ayllysh", "name_fuzzy": true}),
            json!({"query": "grove warden"}),
        ] {
            assert_eq!(lore.find_names(filter.clone()).await, ["Aelysh"], "{filter}");
        }
        assert_eq!(lore.get("the grove warden").await["entity_id"], entity_id);
        let note = json!({"entity_type": "note", "name": "Digest", "entry": "[[Aylysh]] came."});
        let note = lore.create_one(note).await;
        assert_eq!(lore.get(note).await["entry"], format!("[entity:{entity_id}] came."));
        // Of a name and an alias, the name is meant.
        let other = lore.create_one(character("Aylysh")).await;
        assert_eq!(lore.get("Aylysh").await["entity_id"], other, "a name wins over an alias");
    });
}

#[test]
fn other_words_of_other_clients_are_understood() {
    run(async {
        let lore = LoreCampaign::new().await;
        let created = lore
            .create(json!([
                {"entity_type": "npc", "name": "Mira", "is_hidden": true},
                {"entity_type": "faction", "name": "The Hand"},
                {"entity_type": "npc", "name": "Oan", "type": "Villain"},
                {"entity_type": "character", "name": "Ilse", "type": "Player Character"},
                {"entity_type": "organization", "name": "The Guild"}
            ]))
            .await;
        let kinds = |read: &Value| fields(read, &["entity_type", "type", "is_private"]);
        let expected = json!({"entity_type": "character", "type": "NPC", "is_private": true});
        assert_eq!(kinds(&lore.get(created[0]).await), expected);
        let expected = json!({"entity_type": "organization", "type": "Faction", "is_private": false});
        assert_eq!(kinds(&lore.get(created[1]).await), expected);
        assert_eq!(lore.get(created[2]).await["type"], "Villain");
        assert_eq!(lore.find_names(json!({"entity_type": "npc"})).await, ["Mira"]);
        assert_eq!(lore.find_names(json!({"entity_type": "faction"})).await, ["The Hand"]);
        assert_eq!(lore.find_names(json!({"entity_type": "organization"})).await, ["The Hand", "The Guild"]);
        lore.update(json!({"entity_id": created[0], "is_hidden": false})).await;
        assert_eq!(lore.get(created[0]).await["is_private"], false);
        let both = lore.update(json!({"entity_id": created[0], "is_hidden": false, "is_private": true})).await;
        assert!(failure(&both, Code::InvalidParams).contains("is_private"), "{both}");
        let post = json!({"entity_id": created[0], "name": "Secret", "is_hidden": true});
        lore.create_post(post).await;
        assert_eq!(lore.get(created[0]).await["posts"][0]["is_private"], true);
    });
}

#[test]
fn an_actor_of_the_table_leads_to_its_entity() {
    run(async {
        let lore = LoreCampaign::new().await;
        let actor = lore.call("actor_create", json!({"name": "Mira", "kind": "PC"})).await["id"].clone();
        let mira = json!({"entity_type": "character", "name": "Mira of the Marsh", "actor_id": actor});
        let entity_id = lore.create_one(mira).await;
        let read = lore.get(actor.clone()).await;
        assert_eq!((&read["entity_id"], &read["actor_id"]), (&json!(entity_id), &actor));
        let twice = json!([{"entity_type": "character", "name": "Her twin", "actor_id": actor}]);
        let refused = lore.results("create_entities", json!({"entities": twice})).await.remove(0);
        assert!(failure(&refused, Code::Rejected).contains(&entity_id.to_string()), "{refused}");
        let unknown = lore.update(json!({"entity_id": entity_id, "actor_id": "actor_nobody"})).await;
        failure(&unknown, Code::NotFound);
        lore.update(json!({"entity_id": entity_id, "actor_id": ""})).await;
        assert_eq!(lore.get(actor).await["success"], false);
    });
}

#[test]
fn a_retry_under_the_same_key_is_answered_as_before() {
    run(async {
        let lore = LoreCampaign::new().await;
        let known = lore.create_one(character("Known")).await;
        let entities = json!([character("Aelysh"), character(" "), {"entity_type": "location", "name": "Grove", "entry": "Of [[Known]]."}]);
        let create = json!({"entities": entities});
        let first = lore.call_with_key("k-1", "create_entities", create.clone()).await;
        let before = lore.stream_revision().await;
        assert_eq!(lore.call_with_key("k-1", "create_entities", create).await, first);
        let entity_id = successful_id(&first["results"][0], "entity_id");
        let append = json!({"updates": [{"entity_id": entity_id, "entry_append": "Once."}]});
        let appended = lore.call_with_key("k-2", "update_entities", append.clone()).await;
        assert_eq!(lore.call_with_key("k-2", "update_entities", append).await, appended);
        let post = json!({"posts": [{"entity_id": entity_id, "name": "Rumour", "entry": "Sings."}]});
        let posted = lore.call_with_key("k-3", "create_posts", post.clone()).await;
        assert_eq!(lore.call_with_key("k-3", "create_posts", post).await, posted);
        assert_eq!(lore.stream_revision().await, before + 2);
        assert_eq!(lore.get(entity_id).await["entry"], "Once.");
        // The same key with another item is no retry.
        let other = json!({"posts": [{"entity_id": known, "name": "Other"}]});
        let mismatch = lore.call_with_key("k-3", "create_posts", other).await;
        failure(&mismatch["results"][0], Code::IdempotencyMismatch);
    });
}

/// The item of a retry was looked up before its key, and what was deleted was not found any more.
#[test]
fn a_retried_deletion_or_renaming_is_answered_as_before() {
    run(async {
        let lore = LoreCampaign::new().await;
        let entity_id = lore.create_one(character("Aelysh")).await;
        let post_id = lore.create_post(json!({"entity_id": entity_id, "name": "Rumour"})).await;
        for (key, operation, input) in [
            ("k-1", "update_entities", json!({"updates": [{"entity_id": "Aelysh", "name": "Aylish"}]})),
            ("k-2", "delete_posts", json!({"deletions": [{"entity_id": entity_id, "post_id": post_id}]})),
            ("k-3", "delete_entities", json!({"entity_ids": [entity_id]})),
        ] {
            let first = lore.call_with_key(key, operation, input.clone()).await;
            assert_eq!(first["results"][0]["success"], true, "{operation}: {first}");
            assert_eq!(lore.call_with_key(key, operation, input).await, first, "{operation}");
        }
    });
}

/// The stored answers were those from before the links were made.
#[test]
fn a_retried_creation_with_links_is_answered_as_before() {
    run(async {
        let lore = LoreCampaign::new().await;
        let entities = json!([
            {"entity_type": "character", "name": "Aelysh", "entry": "Lives in [[Grove]]."},
            {"entity_type": "location", "name": "Grove"}
        ]);
        let create = json!({"entities": entities});
        let first = lore.call_with_key("k-1", "create_entities", create.clone()).await;
        assert_eq!(lore.call_with_key("k-1", "create_entities", create).await, first);
        let entity_id = successful_id(&first["results"][0], "entity_id");
        assert_eq!(
            lore.get(entity_id).await["entry"],
            format!("Lives in {}.", first["results"][1]["mention"].as_str().unwrap())
        );
    });
}

#[test]
fn an_entry_has_a_longest_length() {
    run(async {
        let lore = LoreCampaign::new().await;
        let most = "é".repeat(limits::ENTRY_CHARS_MAX);
        let entity = |entry: &str| json!([{"entity_type": "note", "name": "Long", "entry": entry}]);
        let entity_id = lore.create(entity(&most)).await[0];
        assert_eq!(lore.get(entity_id).await["entry"].as_str().map(str::len), Some(most.len()));
        let past = format!("{most}x");
        let refused = lore.results("create_entities", json!({"entities": entity(&past)})).await.remove(0);
        let sentence = failure(&refused, Code::TooLarge);
        assert!(sentence.contains(&limits::ENTRY_CHARS_MAX.to_string()) && sentence.len() < 500, "{}", sentence.len());
        failure(&lore.update(json!({"entity_id": entity_id, "entry": past})).await, Code::TooLarge);
        failure(&lore.update(json!({"entity_id": entity_id, "entry_append": "x"})).await, Code::TooLarge);
        let posts = json!([{"entity_id": entity_id, "name": "Long", "entry": past}]);
        failure(&lore.results("create_posts", json!({"posts": posts})).await[0], Code::TooLarge);
        assert_eq!(lore.get(entity_id).await["revision"], 1);
    });
}

#[test]
fn a_batch_has_a_most_of_items() {
    run(async {
        let lore = LoreCampaign::new().await;
        let most = limits::BATCH_ITEMS_MAX;
        let created = lore.create(numbered_places(0..most, None)).await;
        assert_eq!(created.len(), most);
        let one_more = || std::iter::repeat_n(created[0], most + 1);
        let updates: Value = one_more().map(|id| json!({"entity_id": id, "name": "X"})).collect();
        let posts: Value = one_more().map(|id| json!({"entity_id": id, "name": "X"})).collect();
        let post_updates: Value = one_more().map(|id| json!({"entity_id": id, "post_id": 1})).collect();
        let entity_ids: Value = one_more().collect();
        for (operation, field, items) in [
            ("create_entities", "entities", numbered_places(0..most + 1, None)),
            ("update_entities", "updates", updates),
            ("get_entities", "entity_ids", entity_ids.clone()),
            ("delete_entities", "entity_ids", entity_ids),
            ("create_posts", "posts", posts),
            ("update_posts", "updates", post_updates.clone()),
            ("delete_posts", "deletions", post_updates),
        ] {
            for items in [items, json!([])] {
                let fault = lore.refusal(operation, json!({field: items})).await;
                let path = format!("/{field}");
                assert_eq!(
                    (fault.code(), fault.body().path.as_ref()),
                    (Code::InvalidParams, Some(&path)),
                    "{operation}"
                );
            }
        }
        let found = lore.find(json!({"limit": 0})).await;
        assert_eq!(ids(&found), created, "nothing was done");
        let read = lore.results("get_entities", json!({"entity_ids": created})).await;
        assert_eq!(read.len(), most);
        assert_eq!(lore.results("delete_entities", json!({"entity_ids": created})).await.len(), most);
        assert_eq!(rows(&lore.find(json!({})).await, "entities").len(), 0);
    });
}

#[test]
fn updates_since_a_moment_are_told_by_id() {
    run(async {
        let lore = LoreCampaign::new().await;
        let created =
            lore.create(json!([character("One"), character("Two"), character("Three"), character("Four")])).await;
        lore.advance(60);
        lore.update(json!({"entity_id": created[1], "name": "Two and more"})).await;
        lore.create_post(json!({"entity_id": created[2], "name": "News"})).await;
        lore.delete(created[3]).await;
        let check = |since: &str| json!({"entity_ids": [created[0], created[1], created[2], created[3], 999], "last_synced": since});
        let checked = lore.call("check_entity_updates", check("2026-01-15T12:00:30Z")).await;
        let expected = json!({
            "modified_entity_ids": [created[1], created[2]], "deleted_entity_ids": [created[3], 999],
            "check_timestamp": "2026-01-15T12:01:00Z"
        });
        assert_eq!(checked, expected);
        let later = lore.call("check_entity_updates", check("2026-01-15T13:01:00+01:00")).await;
        assert_eq!(later["modified_entity_ids"], json!([]));
        assert_eq!(later["deleted_entity_ids"], json!([created[3], 999]));
        let fault = lore.refusal("check_entity_updates", check("last week")).await;
        assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::InvalidParams, Some("/last_synced")));
        let many = |count: usize| {
            let entity_ids: Vec<u64> = (1..).take(count).collect();
            json!({"entity_ids": entity_ids, "last_synced": "2026-01-15"})
        };
        let most = lore.call("check_entity_updates", many(limits::CHECKED_ENTITIES_MAX)).await;
        assert_eq!(rows(&most, "deleted_entity_ids").len(), limits::CHECKED_ENTITIES_MAX - 3);
        let fault = lore.refusal("check_entity_updates", many(limits::CHECKED_ENTITIES_MAX + 1)).await;
        assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::InvalidParams, Some("/entity_ids")));
    });
}

/// One item that does not fit its schema refused the whole call.
#[test]
fn an_item_that_does_not_fit_leaves_the_others_alone() {
    run(async {
        let lore = LoreCampaign::new().await;
        let entities = json!([
            character("Ann"), {"entity_type": "dragon", "name": "Smok"}, {"entity_type": "item"}, character("Ben"), 5,
        ]);
        let input = json!({"entities": entities});
        let results = lore.results("create_entities", input.clone()).await;
        let successes: Vec<bool> = results.iter().map(|result| result["success"] == true).collect();
        assert_eq!(successes, [true, false, false, true, false]);
        for (place, word) in [(1, "dragon"), (2, "entities/2/name"), (4, "entities/4")] {
            let (error, code) = (results[place]["error"].as_str().unwrap(), &results[place]["code"]);
            assert!(error.contains(word) && code == "INVALID_PARAMS", "{error}");
        }
        assert_eq!(lore.find_names(json!({})).await, ["Ann", "Ben"]);
        // A key stands for the place of an item among all that were sent.
        let first = lore.call_with_key("once", "create_entities", input.clone()).await;
        let again = lore.call_with_key("once", "create_entities", input).await;
        assert_eq!((&again, rows(&again, "results").len()), (&first, 5));
        assert_eq!(lore.find_names(json!({})).await.len(), 4);
        let updates = json!({"updates": [{"entity_id": 1, "nam": "x"}, {"entity_id": 1, "name": "Anna"}]});
        let results = lore.results("update_entities", updates).await;
        assert_eq!((&results[0]["success"], &results[1]["success"]), (&json!(false), &json!(true)));
        assert!(results[0]["error"].as_str().unwrap().contains("nam"), "{}", results[0]);
        // If no item fits, there is nothing to do, and the call fails.
        let fault = lore.refusal("create_entities", json!({"entities": [{"entity_type": "item"}]})).await;
        assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::InvalidParams, Some("/entities/0/name")));
    });
}

/// A revision of the whole lore beside a batch was ignored.
#[test]
fn a_batch_takes_no_revision_of_the_lore() {
    run(async {
        let lore = LoreCampaign::new().await;
        let work = RequestControl { expected_revision: Some(7), ..RequestControl::default() };
        let input = json!({"entities": [character("Ann")]});
        let fault = lore.engine.call(&Caller::owner(), "create_entities", input, &work).await.unwrap_err();
        assert_eq!(fault.code(), Code::InvalidParams);
        assert!(fault.to_string().contains("If-Match") && fault.to_string().contains('7'), "{fault}");
        assert_eq!(lore.stream_revision().await, 0);
    });
}

#[test]
fn posts_past_the_texts_of_one_answer_follow_in_the_next() {
    run(async {
        let lore = LoreCampaign::new().await;
        let long = "x".repeat(limits::ENTRY_CHARS_MAX);
        let ann = lore.create_one(character("Ann")).await;
        let count = limits::ENTITY_TEXTS_BYTES_MAX / limits::ENTRY_CHARS_MAX + 20;
        for number in 0..count {
            lore.create_post(json!({"entity_id": ann, "name": format!("P{number}"), "entry": long})).await;
        }
        let other = lore.create_one(character("Bela")).await;
        let (mut found, mut after, mut answers) = (Vec::new(), Value::Null, 0);
        loop {
            let input = json!({"entity_ids": [ann, other], "include_posts": true, "posts_after": after});
            let results = lore.results("get_entities", input).await;
            let posts = rows(&results[0], "posts");
            let bytes: usize = posts.iter().map(|post| post["entry"].as_str().unwrap().len()).sum();
            assert!(bytes < limits::ENTITY_TEXTS_BYTES_MAX + 8 * limits::ENTRY_CHARS_MAX, "{bytes}");
            found.extend(posts.iter().map(|post| post["name"].as_str().unwrap().to_owned()));
            answers += 1;
            after = results[0]["posts_after"].clone();
            assert_eq!(results[1]["success"], after.is_null(), "there is no room beside a full one");
            if after.is_null() {
                break;
            }
        }
        assert_eq!((answers, found), (2, (0..count).map(|number| format!("P{number}")).collect::<Vec<_>>()));
        let read = lore.call("read_entity", json!({"campaign_id": lore.campaign_id, "entity_id": ann})).await;
        let after = &read["entity"]["posts_after"];
        assert!(after.is_u64() && rows(&read["entity"], "posts").len() < count);
        let input = json!({"campaign_id": lore.campaign_id, "entity_id": "Ann", "posts_after": after});
        assert_eq!(lore.call("read_entity", input).await["entity"].get("posts_after"), None);
    });
}

#[test]
fn whole_entities_past_the_texts_of_one_answer_are_refused() {
    run(async {
        let lore = LoreCampaign::new().await;
        let long = "x".repeat(limits::ENTRY_CHARS_MAX);
        let fitting = limits::ENTITY_TEXTS_BYTES_MAX / limits::ENTRY_CHARS_MAX;
        let count = fitting + 20;
        for number in 0..count {
            lore.create_one(json!({"entity_type": "note", "name": format!("N{number}"), "entry": long})).await;
        }
        let all: Vec<usize> = (1..=count).collect();
        let results = lore.results("get_entities", json!({"entity_ids": all})).await;
        let whole = results.iter().take_while(|result| result["success"] == true).count();
        assert!((fitting..fitting + 10).contains(&whole), "{whole} of {count}");
        assert!(results[..whole].iter().all(|result| result["entry"].as_str().unwrap().len() == long.len()));
        let refused = &results[whole..];
        assert!(
            refused.iter().all(|result| result["error"].as_str().unwrap().starts_with("TOO_LARGE")),
            "{}",
            refused[0]
        );
        assert_eq!(lore.get(count as u64).await["success"], true);
    });
}

#[test]
fn a_link_to_a_private_entity_of_the_same_call_never_shows_its_name() {
    run(async {
        let lore = LoreCampaign::new().await;
        let created = lore
            .results("create_entities", json!({"entities": [
                {"entity_type": "location", "name": "Inn", "entry": "Owned by [[Vex]], who is [[The Spider]]; see [[Vex#Past]]."},
                {"entity_type": "character", "name": "Vex", "aliases": ["The Spider"], "is_private": true}
            ]}))
            .await;
        assert!(created.iter().all(|result| result["success"] == true && result["error"].is_null()), "{created:?}");
        let inn = lore.get("Inn").await;
        let vex = created[1]["entity_id"].as_u64().unwrap();
        assert_eq!(inn["entry"], format!("Owned by [entity:{vex}], who is [entity:{vex}]; see [entity:{vex}|Past]."));
        assert_eq!(inn["is_private"], false);
        // The text with the name was stored while only game masters saw the entity.
        let versions = lore.history(json!({"entity_id": "Inn"})).await;
        assert_eq!(versions["versions"][0]["fields"], json!(["entry", "is_private"]));
        let player = lore.caller(CampaignRole::Player);
        for (operation, input) in [
            ("get_entities", json!({"entity_ids": ["Inn"]})),
            ("find_entities", json!({"query": "owned"})),
            ("find_entities", json!({"query": "vex"})),
            ("find_entities", json!({"query": "spider"})),
        ] {
            let answer = lore.call_as(&player, operation, input).await.expect("an answer");
            assert!(!answer.to_string().contains("Vex") && !answer.to_string().contains("Spider"), "{answer}");
        }
    });
}

#[test]
fn a_name_that_was_to_be_private_stays_with_game_masters_if_its_entity_is_refused() {
    run(async {
        let lore = LoreCampaign::new().await;
        let too_many: Vec<String> = (0..60).map(|number| format!("t{number}")).collect();
        let created = lore
            .results(
                "create_entities",
                json!({"entities": [
                    {"entity_type": "location", "name": "Inn", "entry": "Owned by [[Vex]]."},
                    {"entity_type": "character", "name": "Vex", "is_private": true, "tags": too_many}
                ]}),
            )
            .await;
        assert_eq!((&created[0]["success"], &created[1]["success"]), (&json!(true), &json!(false)), "{created:?}");
        assert_eq!(created[0]["unresolved"], json!(["Vex"]));
        assert!(created[0]["error"].as_str().is_some_and(|error| error.starts_with("it stays private")), "{created:?}");
        assert_eq!(lore.get("Inn").await["is_private"], true);
    });
}

#[test]
fn an_empty_text_clears_lists_too() {
    run(async {
        let lore = LoreCampaign::new().await;
        lore.create_one(json!({"entity_type": "item", "name": "Bell", "aliases": ["The Bell"], "tags": ["old"]})).await;
        let cleared = lore.update(json!({"entity_id": "Bell", "aliases": "", "tags": ""})).await;
        assert_eq!(cleared["success"], true, "{cleared}");
        let bell = lore.get("Bell").await;
        assert!(bell["aliases"].as_array().is_none_or(Vec::is_empty) && bell["tags"] == json!([]), "{bell}");
        let refused =
            lore.try_call("update_entities", json!({"updates": [{"entity_id": "Bell", "aliases": "Bim"}]})).await;
        assert_eq!(refused.unwrap_err().code(), Code::InvalidParams);
    });
}

#[test]
fn an_entry_has_to_fit_after_its_links_are_made() {
    run(async {
        let lore = LoreCampaign::new().await;
        lore.create(json!([{"entity_type": "item", "name": "A"}])).await;
        // Each link becomes longer than it was written.
        let entry = "[[A]]".repeat(limits::ENTRY_CHARS_MAX / 5);
        let made = lore
            .results(
                "create_entities",
                json!({"entities": [
                    {"entity_type": "item", "name": "B", "entry": entry}, {"entity_type": "item", "name": "C"}
                ]}),
            )
            .await;
        failure(&made[0], Code::TooLarge);
    });
}

#[test]
fn tags_and_aliases_with_other_accents_are_others() {
    run(async {
        let lore = LoreCampaign::new().await;
        let tagged = |name: &str, tag: &str| json!({"entity_type": "item", "name": name, "tags": [tag]});
        lore.create(json!([tagged("Lamp", "Öl"), tagged("Ole", "Ol"), tagged("Jug", "O\u{308}L")])).await;
        assert_eq!(lore.find_names(json!({"tags": ["öl"]})).await, ["Lamp", "Jug"]);
        assert_eq!(lore.find_names(json!({"tags": ["OL"]})).await, ["Ole"]);
        assert_eq!(
            lore.find_names(json!({"query": "ol", "limit": 10})).await[..1],
            ["Ole"],
            "a name comes before tags"
        );
        lore.create(json!([tagged("Élan", "Èté"), {"entity_type": "item", "name": "Elan", "aliases": ["Ami", "Amí"]}]))
            .await;
        assert_eq!(lore.find_names(json!({"tags": ["ete"]})).await, ["Élan"], "without accents, the only one is meant");
        assert_eq!(lore.find_names(json!({"query": "elan"})).await, ["Elan", "Élan"]);
        assert_eq!(lore.find_names(json!({"query": "élan"})).await, ["Élan", "Elan"]);
        assert_eq!(lore.get("elan").await["name"], "Elan", "a name with its accents is unique");
        assert_eq!(lore.get("Elan").await["aliases"], json!(["Ami", "Amí"]));
    });
}
