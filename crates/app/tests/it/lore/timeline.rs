//! Tests of `timeline` through the engine: dates in the table's own words, precision, and what was recorded beside it.

use std::sync::Arc;

use serde_json::{Value, json};
use skald_app::{Caller, CampaignRole, Code, Holder, Principal, PrincipalKind};
use skald_domain::limits;

use super::{LoreCampaign, fields, rows};
use crate::universe::run;

fn descriptions(answer: &Value) -> Vec<&str> {
    rows(answer, "events").iter().map(|row| row["description"].as_str().expect("a text")).collect()
}

async fn bells() -> LoreCampaign {
    let lore = LoreCampaign::new().await;
    lore.create(json!([
        {"entity_type": "location", "name": "Tower"},
        {"entity_type": "character", "name": "Ghost", "is_private": true},
    ]))
    .await;
    for event in [
        json!({"date": "3rd of Rain, 1204", "sort": "1204-03-03", "description": "The bells fall.", "entity_ids": ["Tower", "Ghost"], "is_player_known": true}),
        json!({"date": "in the year 1204", "sort": "1204", "description": "The year of rain."}),
        json!({"date": "1205-01-01", "precision": "month", "description": "The tower is mended.", "entity_ids": [1]}),
        json!({"sort": "-44", "description": "The founding.", "precision": "decade"}),
        json!({"description": "Nobody knows when."}),
    ] {
        let mut event = event;
        event["method"] = "add".into();
        lore.call("timeline", event).await;
    }
    lore
}

#[test]
fn events_are_in_the_order_of_their_days() {
    run(async {
        let lore = bells().await;
        let all = lore.call("timeline", json!({})).await;
        let expected =
            ["The founding.", "The year of rain.", "The bells fall.", "The tower is mended.", "Nobody knows when."];
        assert_eq!(descriptions(&all), expected);
        let bells = json!({
            "id": 1, "date": "3rd of Rain, 1204", "sort": "1204-03-03", "precision": "exact",
            "description": "The bells fall.", "entities": [{"id": 1, "name": "Tower"}, {"id": 2, "name": "Ghost"}],
            "is_player_known": true, "revision": 1
        });
        assert_eq!(rows(&all, "events")[2], bells);
        assert_eq!(rows(&all, "events")[3]["sort"], "1205-01-01", "a date that can be read is sorted by itself");
        let page = lore.call("timeline", json!({"limit": 2})).await;
        assert_eq!((descriptions(&page), &page["total"]), (expected[..2].to_vec(), &json!(5)));
        let rest = lore.call("timeline", json!({"cursor": page["next_cursor"]})).await;
        assert_eq!((descriptions(&rest), rest.get("next_cursor")), (expected[2..].to_vec(), None));
    });
}

#[test]
fn a_range_has_what_may_have_happened_in_it() {
    run(async {
        let lore = bells().await;
        let cases = [
            (json!({"start_date": "1204-03", "end_date": "1204-03"}), vec!["The year of rain.", "The bells fall."]),
            (json!({"start_date": "1205-01-20"}), vec!["The tower is mended."]),
            (json!({"end_date": "-50"}), vec!["The founding."]),
            (json!({"start_date": "1204-04", "end_date": "1204-05"}), vec!["The year of rain."]),
            (json!({"entity_ids": ["Tower"]}), vec!["The bells fall.", "The tower is mended."]),
        ];
        for (query, expected) in cases {
            assert_eq!(descriptions(&lore.call("timeline", query.clone()).await), expected, "{query}");
        }
        for (input, code, path) in [
            (json!({"start_date": "the third of Rain"}), Code::InvalidParams, "/start_date"),
            (json!({"start_date": "1205", "end_date": "1204"}), Code::InvalidParams, "/end_date"),
            (json!({"method": "add", "date": "1204"}), Code::InvalidParams, "/description"),
            (json!({"method": "add", "description": "x", "sort": "Rain"}), Code::InvalidParams, "/sort"),
            (json!({"method": "add", "description": "x", "entity_ids": [77]}), Code::NotFound, "/entity_ids/0"),
            (json!({"method": "add", "description": "x", "session_id": "Nowhere"}), Code::NotFound, "/session_id"),
            (json!({"method": "update", "event_id": 77, "description": "x"}), Code::NotFound, "/event_id"),
            (json!({"cursor": "x"}), Code::InvalidParams, "/cursor"),
            (json!({"method": "remove"}), Code::InvalidParams, "/event_id"),
        ] {
            let fault = lore.refusal("timeline", input.clone()).await;
            assert_eq!((fault.code(), fault.body().path.as_deref()), (code, Some(path)), "{input}: {fault}");
        }
    });
}

#[test]
fn players_see_what_they_may_know() {
    run(async {
        let lore = bells().await;
        let player = lore.caller(CampaignRole::Player);
        let seen = lore.call_as(&player, "timeline", json!({})).await.expect("a timeline");
        let expected = json!({
            "id": 1, "date": "3rd of Rain, 1204", "sort": "1204-03-03", "precision": "exact",
            "description": "The bells fall.", "entities": [{"id": 1, "name": "Tower"}]
        });
        assert_eq!((seen["events"].clone(), &seen["total"]), (json!([expected]), &json!(1)));
        let (hidden, missing) = (json!({"event_id": 2}), json!({"event_id": 99}));
        let hidden = lore.call_as(&player, "timeline", hidden).await.expect_err("hidden").to_string();
        let missing = lore.call_as(&player, "timeline", missing).await.expect_err("missing").to_string();
        assert_eq!(hidden.replace('2', "99"), missing);
        lore.call("timeline", json!({"method": "update", "event_id": 2, "is_player_known": true})).await;
        let seen = lore.call_as(&player, "timeline", json!({})).await.expect("a timeline");
        assert_eq!(descriptions(&seen), ["The year of rain.", "The bells fall."]);
        let write = json!({"method": "remove", "event_id": 1});
        assert_eq!(lore.call_as(&player, "timeline", write).await.expect_err("no").code(), Code::Forbidden);
    });
}

#[test]
fn a_long_description_is_whole_by_its_id_and_gone_when_it_is_removed() {
    run(async {
        let lore = LoreCampaign::new().await;
        let long = format!("It began {}", "and went on ".repeat(100));
        let added = lore.call("timeline", json!({"method": "add", "description": long, "is_player_known": true})).await;
        let row = &rows(&added, "events")[0];
        assert_eq!(
            (&row["truncated"], row["description"].as_str().map(|text| text.chars().count() <= 300)),
            (&json!(true), Some(true))
        );
        let whole = lore.call("timeline", json!({"event_id": 1})).await;
        assert_eq!(rows(&whole, "events")[0]["description"], long.trim());
        // It is found by words past its beginning.
        let search = json!({"campaign_id": lore.campaign_id, "query": "went", "in": ["timeline"]});
        assert_eq!(rows(&lore.call("entity_search", search.clone()).await, "timeline").len(), 1);
        lore.call("timeline", json!({"method": "remove", "event_id": 1})).await;
        assert_eq!(rows(&lore.call("entity_search", search).await, "timeline").len(), 0);
        assert_eq!(lore.call("timeline", json!({"include": "written"})).await["total"], 0);
    });
}

#[test]
fn what_was_recorded_stands_beside_what_was_written() {
    run(async {
        let lore = bells().await;
        let session = lore.call("session_start", json!({"name": "Low tide"})).await["id"].clone();
        lore.advance(60);
        lore.call("roll", json!({"expression": "1d6", "session_id": session})).await;
        lore.advance(60);
        lore.call("session_end", json!({})).await;
        let story = lore.call("timeline", json!({})).await;
        let kinds = |answer: &Value| {
            let kinds = rows(answer, "events").iter().map(|row| row["kind"].as_str().unwrap_or("written").to_owned());
            kinds.collect::<Vec<_>>()
        };
        assert_eq!(kinds(&story)[5..], ["session.started", "session.ended"], "after all days");
        let all = lore.call("timeline", json!({"include": "recorded"})).await;
        assert_eq!(kinds(&all), ["session.started", "roll", "session.ended"]);
        // A session stands on the day that was written for it.
        lore.call("timeline", json!({"method": "update", "event_id": 1, "session_id": "Low tide"})).await;
        let placed = lore.call("timeline", json!({"start_date": "1204-03-03", "end_date": "1204-03-03"})).await;
        assert_eq!(kinds(&placed), ["written", "written", "session.started", "session.ended"]);
        let of_session = lore.call("timeline", json!({"session_id": session, "include": "all"})).await;
        assert_eq!(kinds(&of_session), ["written", "session.started", "roll", "session.ended"]);
        let started = fields(&rows(&of_session, "events")[1], &["description", "session_id", "at"]);
        let expected =
            json!({"description": "session started: Low tide", "session_id": session, "at": "2026-01-15T12:00:00Z"});
        assert_eq!(started, expected);
    });
}

/// The rolls of an actor are about the entity that the actor is linked to, for those who may see both.
#[test]
fn the_timeline_of_an_entity_has_the_rolls_of_its_actor() {
    run(async {
        let lore = LoreCampaign::new().await;
        let actor =
            async |name: &str| lore.call("actor_create", json!({"name": name, "kind": "PC"})).await["id"].clone();
        let (mira, duke) = (actor("Mira").await, actor("Duke").await);
        let entity = |name: &str, actor: &Value, is_private: bool| json!({"entity_type": "character", "name": name, "actor_id": actor, "is_private": is_private});
        let ids = lore.create(json!([entity("Mira", &mira, false), entity("Duke", &duke, true)])).await;
        lore.call("session_start", json!({"name": "Low tide"})).await;
        for (reason, actor, visible_to) in [
            ("open", &mira, "table"),
            ("hush", &mira, "gm"),
            ("plot", &duke, "table"),
            ("nobody's", &Value::Null, "table"),
        ] {
            let roll = json!({"expression": "1d6", "reason": reason, "actor_id": actor, "visible_to": [visible_to]});
            lore.call("roll", roll).await;
        }
        let reasons = async |caller: &Caller, query: Value| {
            let mut query = query;
            (query["campaign_id"], query["include"]) = (json!(lore.campaign_id), json!("all"));
            let answer = lore.call_as(caller, "timeline", query).await.expect("a timeline");
            let events = rows(&answer, "events").iter().map(|row| {
                let words = ["open", "hush", "plot", "nobody's"];
                let description = row["description"].as_str().expect("a text").to_owned();
                let word = words.into_iter().find(|word| description.contains(word)).unwrap_or("other");
                let about: Vec<u64> = row["entities"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(|entity| entity["id"].as_u64())
                    .collect();
                (word, about)
            });
            events.collect::<Vec<_>>()
        };
        let (owner, player) = (Caller::owner(), lore.caller(CampaignRole::Player));
        let of = |id: u64| json!({"entity_ids": [id]});
        let both = [("open", vec![ids[0]]), ("hush", vec![ids[0]])];
        assert_eq!(reasons(&owner, of(ids[0])).await, both);
        assert_eq!(reasons(&player, of(ids[0])).await, both[..1]);
        assert_eq!(reasons(&owner, of(ids[1])).await, [("plot", vec![ids[1]])]);
        assert_eq!(reasons(&owner, json!({"entity_ids": ids})).await, []);
        // The roll is public, but which entity it is about is not.
        let seen = [("open", vec![ids[0]]), ("plot", vec![]), ("nobody's", vec![])];
        let mut listed = reasons(&player, json!({})).await;
        listed.retain(|(word, _)| *word != "other");
        assert_eq!(listed, seen);
        let hidden = json!({"entity_ids": [ids[1]], "campaign_id": lore.campaign_id, "include": "all"});
        assert_eq!(lore.call_as(&player, "timeline", hidden).await.expect_err("hidden").code(), Code::NotFound);
        let story = lore.call("timeline", json!({"entity_ids": [ids[0]]})).await;
        assert_eq!(story["total"], 0, "rolls are no part of the story");
    });
}

#[test]
fn people_who_are_named_see_an_event_and_find_it() {
    run(async {
        let lore = LoreCampaign::new().await;
        let person = json!({"display_name": "Ana", "role": "PLAYER"});
        let ana = lore.call("participant_create", person).await["id"].as_str().expect("an id").to_owned();
        let event = json!({"method": "add", "description": "The herring plot.", "visible_to": ["ana"]});
        let added = lore.call("timeline", event).await;
        let row = fields(&rows(&added, "events")[0], &["visible_to", "is_player_known"]);
        assert_eq!(row, json!({"visible_to": [ana], "is_player_known": false}));
        let roles = [(lore.campaign_id.clone(), CampaignRole::Player)].into();
        let mut holder = Holder::new("token_ana", "ana", PrincipalKind::Human, roles);
        holder.participants = [ana].into();
        let named = Caller { principal: Principal::Holder(Arc::new(holder)), ..Caller::owner() };
        let search = json!({"campaign_id": lore.campaign_id, "query": "herring", "in": ["timeline"]});
        for (caller, count) in [(named, 1), (lore.caller(CampaignRole::Player), 0), (lore.caller(CampaignRole::Gm), 1)]
        {
            let seen = lore.call_as(&caller, "timeline", json!({})).await.expect("a timeline");
            let found = lore.call_as(&caller, "entity_search", search.clone()).await.expect("an answer");
            assert_eq!((rows(&seen, "events").len(), rows(&found, "timeline").len()), (count, count));
        }
    });
}

#[test]
fn a_description_has_an_end() {
    run(async {
        let lore = LoreCampaign::new().await;
        let chars_max = limits::TIMELINE_DESCRIPTION_CHARS_MAX;
        // Characters count, not bytes, and spaces around do not.
        let (longest, longer) = ("é".repeat(chars_max), "é".repeat(chars_max + 1));
        let add = |description: &str| json!({"method": "add", "description": description});
        let update = |description: &str| json!({"method": "update", "event_id": 1, "description": description});
        lore.call("timeline", add(&format!(" {longest} "))).await;
        lore.call("timeline", update("Short.")).await;
        lore.call("timeline", update(&longest)).await;
        for input in [add(&longer), update(&longer)] {
            let fault = lore.refusal("timeline", input).await;
            let expected = (Code::InvalidParams, Some("/description"));
            assert_eq!((fault.code(), fault.body().path.as_deref()), expected, "{fault}");
        }
        let whole = lore.call("timeline", json!({"event_id": 1})).await;
        assert_eq!(rows(&whole, "events")[0]["description"], longest);
        assert_eq!(lore.call("timeline", json!({"include": "written"})).await["total"], 1);
    });
}

#[test]
fn what_was_revealed_stands_in_the_timeline_of_game_masters() {
    run(async {
        let lore = bells().await;
        let participant = json!({"display_name": "Ana", "role": "PLAYER"});
        let ana = lore.call("participant_create", participant).await;
        let reveal = json!({"method": "reveal", "entity_id": 2, "who": [ana["id"]]});
        lore.call("visibility", reveal).await;
        let recorded = lore.call("timeline", json!({"include": "recorded"})).await;
        assert!(descriptions(&recorded).contains(&"the entity 2 is revealed to Ana"), "{recorded}");
        let player = Holder::new(
            "token_ben",
            "Ben",
            PrincipalKind::Human,
            [("*".to_owned(), CampaignRole::Player)].into_iter().collect(),
        );
        let player = Caller { principal: Principal::Holder(Arc::new(player)), ..Caller::owner() };
        let recorded = json!({"include": "recorded", "campaign_id": lore.campaign_id});
        let seen = lore.call_as(&player, "timeline", recorded).await;
        assert!(!seen.expect("an answer").to_string().contains("revealed"), "others are not told");
    });
}
