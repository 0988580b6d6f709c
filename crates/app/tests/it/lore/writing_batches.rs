//! Tests of batches that write into the lore: items in order, items that do not fit, retries and limits.

use futures::future::{join, join_all};
use serde_json::{Value, json};
use skald_app::{Caller, Code, Engine, RequestControl, limits};

use super::{LoreCampaign, character, failure, ids, numbered_places, rows, successful_id};
use crate::universe::run;

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
        let control = RequestControl { expected_revision: Some(7), ..RequestControl::default() };
        let input = json!({"entities": [character("Ann")]});
        let fault = lore.engine.call(&Caller::owner(), "create_entities", input, &control).await.unwrap_err();
        assert_eq!(fault.code(), Code::InvalidParams);
        assert!(fault.to_string().contains("If-Match") && fault.to_string().contains('7'), "{fault}");
        assert_eq!(lore.stream_revision().await, 0);
    });
}

/// Each item was prepared on the state before the call: a text that equalled the one of then changed nothing.
#[test]
fn the_last_of_several_items_about_one_thing_has_the_last_word() {
    run(async {
        let lore = LoreCampaign::new().await;
        let entity_id = lore.create_one(json!({"entity_type": "journal", "name": "Log", "entry": "B"})).await;
        let post_id = lore.create_post(json!({"entity_id": entity_id, "name": "Side", "entry": "B"})).await;
        let revisions = |results: &[Value]| -> Vec<Value> {
            assert!(results.iter().all(|result| result["success"] == true), "{results:?}");
            results.iter().map(|result| result["revision"].clone()).collect()
        };
        let updates = json!([
            {"entity_id": entity_id, "entry": "A", "expected_revision": 1},
            {"entity_id": "Log", "entry": "B", "expected_revision": 2}
        ]);
        assert_eq!(revisions(&lore.results("update_entities", json!({"updates": updates})).await), [2, 3]);
        assert_eq!(lore.get(entity_id).await["entry"], "B");
        for (text, expected) in [(json!({"entry": "A"}), "B"), (json!({"entry_append": "A"}), "B")] {
            let mut first = text;
            first["entity_id"] = entity_id.into();
            // With others between them, in more items than are prepared at once.
            let mut updates = vec![first.clone()];
            updates.extend((0..40).map(|_| json!({"entity_id": entity_id, "type": "Log"})));
            updates.push(json!({"entity_id": entity_id, "entry": "B"}));
            revisions(&lore.results("update_entities", json!({"updates": updates})).await);
            assert_eq!(lore.get(entity_id).await["entry"], expected, "{first}");
        }
        let update = |text: &str| json!({"entity_id": entity_id, "post_id": post_id, "entry": text});
        let updates = json!({"updates": [update("A"), update("B")]});
        assert_eq!(revisions(&lore.results("update_posts", updates).await), [2, 3]);
        assert_eq!(lore.get(entity_id).await["posts"][0]["entry"], "B");
        let update = |text: &str, revision: u64| json!({"entity_id": entity_id, "post_id": post_id, "entry": text, "expected_revision": revision});
        let updates = json!({"updates": [update("A", 3), update("B", 4), update("B", 5)]});
        assert_eq!(revisions(&lore.results("update_posts", updates).await), [4, 5, 5]);
        assert_eq!(lore.get(entity_id).await["posts"][0]["entry"], "B");
    });
}

#[test]
fn a_name_that_an_item_gives_is_known_to_the_items_after_it() {
    run(async {
        let lore = LoreCampaign::new().await;
        let created = lore.create(json!([character("X"), character("Child")])).await;
        let updates = json!([
            {"entity_id": created[0], "name": "Y"}, {"entity_id": "Y", "tags": ["old"]},
            {"entity_id": "Child", "parent": "Y"}, {"entity_id": "Nobody", "name": "Z"}
        ]);
        let results = lore.results("update_entities", json!({"updates": updates})).await;
        for (result, entity_id) in results.iter().zip([created[0], created[0], created[1]]) {
            assert_eq!((&result["success"], &result["entity_id"]), (&json!(true), &json!(entity_id)), "{result}");
        }
        failure(&results[3], Code::NotFound);
        let renamed = lore.get("Y").await;
        assert_eq!((&renamed["tags"], &renamed["children"][0]["name"]), (&json!(["old"]), &json!("Child")));
        let twice = lore.results("delete_entities", json!({"entity_ids": [created[0], created[0]]})).await;
        assert_eq!(twice[0]["success"], true);
        failure(&twice[1], Code::NotFound);
    });
}
