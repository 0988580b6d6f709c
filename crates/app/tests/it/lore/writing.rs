//! Tests of writing into the lore: conflicts, fields that change nothing or are cleared, texts and their limits.

use serde_json::{Value, json};
use skald_app::{Code, limits};

use super::{LoreCampaign, character, failure, fields, named, rows};
use crate::universe::run;

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
