//! Tests of `entity_search`, `entity_compare`, `campaign_overview` and the resources beside them, by the shapes that
//! clients of Imagineer know.

use serde_json::{Value, json};
use skald_app::{Caller, CampaignRole, Code, Engine, Fault, RequestControl, limits};

use super::{LoreCampaign, ids, keys, names, numbered_places, rows};
use crate::universe::{caller_with_roles, run};

async fn town() -> LoreCampaign {
    let lore = LoreCampaign::new().await;
    lore.create(json!([
        {"entity_type": "npc", "name": "Mira Voss", "entry": "Keeps the [[Gilded Hand]].", "tags": ["elf"]},
        {"entity_type": "faction", "name": "The Gilded Hand", "aliases": ["Gilded Hand"], "entry": "A guild of thieves."},
        {"entity_type": "location", "name": "Port Orlen", "entry": "A harbour of thieves."},
        {"entity_type": "character", "name": "Hidden Mira", "is_private": true, "entry": "zqsecret"},
    ]))
    .await;
    lore
}

#[test]
fn the_search_answers_as_its_clients_know_it() {
    run(async {
        let lore = town().await;
        let search = async |input: Value| {
            let mut input = input;
            input["campaign_id"] = lore.campaign_id.clone().into();
            lore.call("entity_search", input).await
        };
        let found = search(json!({"query": "mira", "entity_type": "npc"})).await;
        let mira = json!({
            "id": "1", "entity_id": 1, "name": "Mira Voss", "type": "npc", "description": "Keeps the The Gilded Hand."
        });
        assert_eq!(keys(&found), ["entities", "total"].into());
        assert_eq!((rows(&found, "entities").len(), &found["total"]), (1, &json!(1)));
        assert_eq!(keys(&rows(&found, "entities")[0]), keys(&mira));
        assert_eq!(rows(&found, "entities")[0]["type"], "npc");
        let listed = search(json!({})).await;
        assert_eq!((rows(&listed, "entities").len(), &listed["total"]), (4, &json!(4)));
        let types: Vec<&Value> = rows(&listed, "entities").iter().map(|row| &row["type"]).collect();
        assert!(types.contains(&&json!("faction")) && types.contains(&&json!("location")), "{types:?}");
        assert_eq!(names(&search(json!({"entity_type": "faction"})).await), ["The Gilded Hand"]);
        let page = search(json!({"limit": 3})).await;
        assert_eq!((rows(&page, "entities").len(), &page["total"]), (3, &json!(4)));
        let rest = search(json!({"cursor": page["next_cursor"]})).await;
        assert_eq!((rows(&rest, "entities").len(), rest.get("next_cursor")), (1, None));
        // The id that it answers is taken as it is.
        let map = lore.call("relationships", json!({"method": "map", "entity_id": "1"})).await;
        assert_eq!(map["center"]["name"], "Mira Voss");
    });
}

#[test]
fn the_steps_of_the_search_are_in_their_order() {
    run(async {
        let lore = town().await;
        let stranger = caller_with_roles(&[("camp_elsewhere", CampaignRole::Gm)]);
        let player = lore.caller(CampaignRole::Player);
        let fault = async |caller, input| lore.call_as(caller, "entity_search", input).await.expect_err("a refusal");
        // Parameters come first, then the campaign.
        let fault_of_input = fault(&stranger, json!({"query": "mira"})).await;
        assert_eq!(
            (fault_of_input.code(), fault_of_input.body().path.as_deref()),
            (Code::InvalidParams, Some("/campaign_id"))
        );
        let foreign = fault(&stranger, json!({"campaign_id": lore.campaign_id})).await;
        assert_eq!(foreign.code(), Code::NotFound);
        let body = foreign.envelope();
        assert_eq!(body["error"]["code"], "NOT_FOUND");
        assert!(body["error"]["message"].is_string());
        let wrong = fault(&player, json!({"campaign_id": lore.campaign_id, "entity_type": "dragon"})).await;
        assert_eq!(wrong.code(), Code::InvalidParams);
        // What the role may not see is neither found nor counted.
        let input = json!({"campaign_id": lore.campaign_id, "query": "mira"});
        let seen = lore.call_as(&player, "entity_search", input.clone()).await.expect("an answer");
        assert_eq!((names(&seen), &seen["total"]), (vec!["Mira Voss".to_owned()], &json!(1)));
        assert_eq!(lore.call("entity_search", input).await["total"], 2);
    });
}

#[test]
fn the_search_goes_on_in_posts_the_timeline_and_notes() {
    run(async {
        let lore = town().await;
        lore.create_post(json!({"entity_id": 3, "name": "Prices", "entry": "Herring is dear."})).await;
        lore.create_post(
            json!({"entity_id": 3, "name": "Secret", "entry": "Herring is poisoned.", "is_private": true}),
        )
        .await;
        for (description, is_known) in [("The herring war.", true), ("The herring plot.", false)] {
            let event = json!({"method": "add", "description": description, "is_player_known": is_known});
            lore.call("timeline", event).await;
        }
        let note = lore.call("session_note", json!({"text": "They ate herring."})).await["id"].clone();
        lore.call("session_note", json!({"text": "They slept."})).await;
        let input = json!({
            "campaign_id": lore.campaign_id, "query": "herring", "in": ["posts", "timeline", "notes"]
        });
        let found = lore.call("entity_search", input.clone()).await;
        assert_eq!((rows(&found, "posts").len(), rows(&found, "timeline").len()), (2, 2));
        assert_eq!(found["notes"], json!([{"note_id": note, "description": "They ate herring."}]));
        let player = lore.caller(CampaignRole::Player);
        let seen = lore.call_as(&player, "entity_search", input).await.expect("an answer");
        let post = json!([{"post_id": 1, "entity_id": 3, "name": "Prices", "description": "Herring is dear."}]);
        assert_eq!((&seen["posts"], rows(&seen, "timeline").len()), (&post, 1));
        assert_eq!(rows(&seen, "timeline")[0]["description"], "The herring war.");
    });
}

/// The ids of all pages of a search, its first page and its last.
async fn walk_search(lore: &LoreCampaign, caller: &Caller, query: &str) -> (Vec<u64>, Value, Value) {
    let search = async |cursor: &Value| {
        let input = json!({"campaign_id": lore.campaign_id, "query": query, "limit": 100, "cursor": cursor});
        lore.call_as(caller, "entity_search", input).await.expect("an answer")
    };
    let first = search(&Value::Null).await;
    let (mut walked, mut last) = (ids(&first), first.clone());
    while last["next_cursor"].is_string() {
        last = search(&last["next_cursor"]).await;
        assert!(!ids(&last).is_empty(), "no page is empty: {last}");
        walked.extend(ids(&last));
    }
    (walked, first, last)
}

/// Checks that every hit comes once, and that `more` says whether there are hits past the ranked ones.
async fn check_walk(lore: &LoreCampaign, caller: &Caller, query: &str, expected: &[u64]) {
    let (mut walked, first, last) = walk_search(lore, caller, query).await;
    walked.sort_unstable();
    assert!(walked == expected, "{query}: {} of {} hits, each once", walked.len(), expected.len());
    let more = (expected.len() > limits::RANKED_HITS_MAX).then_some(json!(["entities"]));
    assert_eq!(first.get("more"), more.as_ref(), "{query}: {} hits", expected.len());
    let end = (&last["total"], last.get("more"), last.get("next_cursor"));
    assert_eq!(end, (&json!(expected.len()), None, None), "{query}");
}

#[test]
fn every_hit_is_found_once_past_those_that_are_ranked() {
    run(async {
        let lore = LoreCampaign::new().await;
        let (owner, player) = (Caller::owner(), lore.caller(CampaignRole::Player));
        let hidden: Vec<u64> = (1..=3).map(|number| number * 600).collect();
        let count = u64::try_from(limits::RANKED_HITS_MAX).expect("a number");
        for begin in (0..limits::RANKED_HITS_MAX).step_by(limits::BATCH_ITEMS_MAX) {
            let end = begin + limits::BATCH_ITEMS_MAX;
            let mut places = numbered_places(begin..end, Some("a stone"));
            for id in hidden.iter().map(|id| usize::try_from(*id).expect("a number")) {
                if (begin + 1..=end).contains(&id) {
                    places[id - begin - 1]["is_private"] = true.into();
                }
            }
            lore.create(places).await;
        }
        for added in 0..=u64::try_from(hidden.len()).expect("a number") + 1 {
            if added > 0 {
                lore.create(json!([{"entity_type": "item", "name": format!("Thing {added}"), "entry": "a stone"}]))
                    .await;
            }
            let all: Vec<u64> = (1..=count + added).collect();
            let public: Vec<u64> = all.iter().copied().filter(|id| !hidden.contains(id)).collect();
            check_walk(&lore, &owner, "stone", &all).await;
            check_walk(&lore, &player, "stone", &public).await;
            check_walk(&lore, &player, "ston", &public).await;
        }
    });
}

/// A hit by name is not counted among the texts that follow the ranked ones.
#[test]
fn a_hit_by_name_leaves_nothing_for_a_page_of_its_own() {
    run(async {
        let lore = LoreCampaign::new().await;
        let named = lore.create_one(json!({"entity_type": "item", "name": "Stone", "entry": "a stone"})).await;
        for begin in (0..limits::RANKED_HITS_MAX).step_by(limits::BATCH_ITEMS_MAX) {
            let entry = Some("a stone on [[Stone]]");
            lore.create(numbered_places(begin..begin + limits::BATCH_ITEMS_MAX, entry)).await;
        }
        let (walked, first, last) = walk_search(&lore, &Caller::owner(), "stone").await;
        let mut sorted = walked.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!((walked[0], walked.len(), sorted.len()), (named, 2_001, 2_001));
        assert_eq!((first.get("more"), &first["total"], &last["total"]), (None, &json!(2_001), &json!(2_001)));
    });
}

/// More entities mention what was found by name than texts are ranked.
#[test]
fn every_entity_that_mentions_a_hit_is_found() {
    run(async {
        let lore = LoreCampaign::new().await;
        lore.create_one(json!({"entity_type": "character", "name": "Ilse", "entry": "A queen."})).await;
        let count = limits::RANKED_HITS_MAX + limits::BATCH_ITEMS_MAX;
        for begin in (0..count).step_by(limits::BATCH_ITEMS_MAX) {
            lore.create(numbered_places(begin..begin + limits::BATCH_ITEMS_MAX, Some("Sworn to [entity:1]."))).await;
        }
        let (mut walked, _, last) = walk_search(&lore, &Caller::owner(), "ilse").await;
        walked.sort_unstable();
        walked.dedup();
        assert_eq!((walked.len(), &last["total"]), (count + 1, &json!(count + 1)));
    });
}

#[test]
fn a_cursor_that_the_search_did_not_answer_is_refused() {
    run(async {
        let lore = town().await;
        for cursor in ["x", "", "-1", "1.2.3", "9.2.3.4"] {
            let input = json!({"campaign_id": lore.campaign_id, "query": "mira", "cursor": cursor});
            let fault = lore.refusal("entity_search", input).await;
            assert_eq!(
                (fault.code(), fault.body().path.as_deref()),
                (Code::InvalidParams, Some("/cursor")),
                "{cursor}"
            );
        }
    });
}

#[test]
fn two_entities_are_compared_field_by_field() {
    run(async {
        let lore = town().await;
        let fault = lore.refusal("entity_compare", json!({"entity_id_1": 1})).await;
        assert_eq!(fault.code(), Code::InvalidParams);
        assert_eq!(fault.body().message, "Both entity IDs required");
        lore.call("relationships", json!({"method": "add", "entity_id": 1, "target_id": 2, "type": "leads"})).await;
        let compared = lore.call("entity_compare", json!({"entity_id_1": "1", "entity_id_2": 2})).await;
        assert_eq!(compared["entities"], json!([{"id": 1, "name": "Mira Voss"}, {"id": 2, "name": "The Gilded Hand"}]));
        assert_eq!(compared["different"]["name"], json!(["Mira Voss", "The Gilded Hand"]));
        assert_eq!(compared["different"]["entity_type"], json!(["npc", "faction"]));
        assert_eq!(compared["same"], json!({"is_private": false}));
        assert!(compared["summary"].as_str().expect("a text").starts_with("Mira Voss leads The Gilded Hand;"));
        let player = lore.caller(CampaignRole::Player);
        let hidden = lore.call_as(&player, "entity_compare", json!({"entity_id_1": 1, "entity_id_2": 4})).await;
        let missing = lore.call_as(&player, "entity_compare", json!({"entity_id_1": 1, "entity_id_2": 99})).await;
        let (hidden, missing) = (hidden.expect_err("hidden"), missing.expect_err("missing"));
        assert_eq!((hidden.code(), hidden.to_string().replace('4', "99")), (Code::NotFound, missing.to_string()));
    });
}

#[test]
fn an_overview_counts_what_the_caller_sees() {
    run(async {
        let lore = town().await;
        lore.call("relationships", json!({"method": "add", "entity_id": 1, "target_id": 4, "type": "knows"})).await;
        lore.call("timeline", json!({"method": "add", "description": "A secret."})).await;
        lore.call("session_start", json!({"name": "Low tide"})).await;
        let overview = lore.call("campaign_overview", json!({})).await;
        assert_eq!((&overview["id"], &overview["name"]), (&json!(lore.campaign_id), &json!("Bells")));
        let stats = json!({
            "entities": {"npc": 1, "faction": 1, "location": 1, "character": 1}, "relationships": 1, "sessions": 1,
            "timeline": 1, "participants": 0, "actors": 0, "open_conflicts": 0
        });
        assert_eq!(overview["stats"], stats);
        assert!(overview["summary"].as_str().expect("a text").contains("Low tide, is being played"));
        let player = lore.caller(CampaignRole::Player);
        let seen = lore.call_as(&player, "campaign_overview", json!({})).await.expect("an overview");
        let stats = &seen["stats"];
        assert_eq!((&stats["relationships"], &stats["timeline"]), (&json!(0), &json!(0)));
        assert_eq!(stats["entities"], json!({"npc": 1, "faction": 1, "location": 1}));
        lore.call("campaign_create", json!({"name": "Another", "gm_mode": "AI"})).await;
        let all = lore.call("campaign_overview", json!({})).await;
        assert_eq!(rows(&all, "campaigns").len(), 2);
        assert_eq!(keys(&rows(&all, "campaigns")[0]), ["id", "name", "system"].into());
    });
}

/// Reads a resource of the game master.
async fn read(lore: &LoreCampaign, uri: &str) -> Result<Value, Fault> {
    let gm = lore.caller(CampaignRole::Gm);
    let (resource, uri_fields) = lore.engine.catalogue().resolve(uri)?;
    let input = uri_fields.iter().map(|(name, text)| ((*name).to_owned(), json!(text)));
    let input: serde_json::Map<String, Value> = input.collect();
    lore.engine.call(&gm, resource.operation, input.into(), &RequestControl::default()).await
}

#[test]
fn resources_of_imagineer_are_read_and_others_are_unknown() {
    run(async {
        let lore = town().await;
        let template =
            lore.engine.catalogue().resources().iter().find(|resource| resource.title == "Campaign Entities");
        let template = template.expect("a template");
        assert!(template.uri.starts_with("imagineer://campaigns/{campaign_id}/entities"), "{}", template.uri);
        assert_eq!((template.summary, template.mime_type), ("List of entities in the campaign", "application/json"));
        let campaign = format!("imagineer://campaigns/{}", lore.campaign_id);
        assert_eq!(read(&lore, &format!("{campaign}/entities")).await.expect("a list")["total"], 4);
        assert_eq!(read(&lore, &format!("{campaign}/timeline")).await.expect("a list")["total"], 0);
        for unknown in [format!("{campaign}/chapters"), campaign, "imagineer://users/1".to_owned()] {
            let fault = read(&lore, &unknown).await.expect_err("an unknown resource");
            assert!(fault.body().message.starts_with("unknown resource"), "{fault}");
        }
        for code in ["daggerheart", "coc-7e", "gurps-4e", "fitd", "dnd-5e-2024"] {
            let system = read(&lore, &format!("imagineer://systems/{code}")).await.expect("a system");
            assert_eq!(system["code"], code);
        }
        let fault = read(&lore, "imagineer://systems/chess").await.expect_err("no system");
        assert_eq!(fault.code(), Code::NotFound);
        assert!(fault.to_string().contains("chess") && fault.envelope().to_string().contains("coc-7e"), "{fault}");
    });
}
