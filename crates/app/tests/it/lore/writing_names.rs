//! Tests of names in what is written into the lore: links, parents, aliases, tags and words of other clients.

use serde_json::{Value, json};
use skald_app::{CampaignRole, Code};

use super::{LoreCampaign, character, failure, fields, named, numbered_places, successful_id};
use crate::universe::run;

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
        let villain = lore.get(created[2]).await;
        assert_eq!((&villain["type"], &villain["tags"]), (&json!("Villain"), &json!(["NPC"])));
        assert_eq!(lore.find_names(json!({"entity_type": "npc"})).await, ["Mira", "Oan"]);
        assert_eq!(lore.find_names(json!({"entity_type": "npc", "type": "villain"})).await, ["Oan"]);
        assert_eq!(lore.find_names(json!({"entity_type": "faction"})).await, ["The Hand"]);
        assert_eq!(lore.find_names(json!({"entity_type": "organization"})).await, ["The Hand", "The Guild"]);
        // Each is found by the word that it was created with, also in the search that answers in these words.
        lore.create(json!([{"entity_type": "faction", "name": "Guild2", "type": "Cult", "tags": ["faction"]}])).await;
        assert_eq!(lore.get("Guild2").await["tags"], json!(["faction"]), "not twice");
        assert_eq!(lore.find_names(json!({"entity_type": "faction"})).await, ["The Hand", "Guild2"]);
        for (word, names) in [("npc", ["Mira", "Oan"]), ("faction", ["The Hand", "Guild2"])] {
            let search = json!({"campaign_id": lore.campaign_id, "entity_type": word});
            let found = lore.call("entity_search", search).await;
            let found: Vec<(&Value, &Value)> =
                found["entities"].as_array().unwrap().iter().map(|row| (&row["name"], &row["type"])).collect();
            let (first, second) = (json!(names[0]), json!(names[1]));
            assert_eq!(found, [(&first, &json!(word)), (&second, &json!(word))]);
        }
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
