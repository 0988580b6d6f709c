//! Tests of `relationships` through the engine: who is what to whom, from both ends, on maps and paths.

use serde_json::{Value, json};
use skald_app::{CampaignRole, Code};
use skald_domain::limits;

use super::{LoreCampaign, fields, rows};
use crate::universe::run;

/// Anna is the mother of Bela, Bela is a member of the Guild, and the Guild's secret master is the Ghost, whom only game
/// masters know. Cara stands alone.
async fn family() -> LoreCampaign {
    let lore = LoreCampaign::new().await;
    lore.create(json!([
        {"entity_type": "character", "name": "Anna"},
        {"entity_type": "character", "name": "Bela"},
        {"entity_type": "organization", "name": "Guild"},
        {"entity_type": "character", "name": "Ghost", "is_private": true},
        {"entity_type": "character", "name": "Cara"},
    ]))
    .await;
    for (source, word, target) in [
        ("Anna", "parent of", "Bela"),
        ("Bela", "member_of", "Guild"),
        ("Ghost", "leads", "Guild"),
        ("Ghost", "knows", "Cara"),
    ] {
        lore.call("relationships", json!({"method": "add", "entity_id": source, "type": word, "target_id": target}))
            .await;
    }
    lore
}

/// Sentences of the rows of an answer.
fn sentences(answer: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let sentence = |row: &Value| {
        format!("{} {} {}", text(&row["source"]["name"]), text(&row["type"]), text(&row["target"]["name"]))
    };
    rows(answer, "relationships").iter().map(sentence).collect()
}

#[test]
fn a_relationship_is_read_from_both_ends() {
    run(async {
        let lore = family().await;
        let of_bela = lore.call("relationships", json!({"entity_id": "Bela"})).await;
        assert_eq!(sentences(&of_bela), ["Bela child_of Anna", "Bela member_of Guild"]);
        assert_eq!((&of_bela["summary"], &of_bela["total"]), (&json!("2 relationships of Bela"), &json!(2)));
        let row = &rows(&of_bela, "relationships")[0];
        let expected = json!({
            "relationship_id": 1, "source": {"id": 2, "name": "Bela"}, "type": "child_of", "inverse": "parent_of",
            "target": {"id": 1, "name": "Anna"}, "bidirectional": false, "tone": "unknown", "revision": 1
        });
        assert_eq!(*row, expected);
        let typed = lore.call("relationships", json!({"entity_id": "Bela", "types": ["Member of"]})).await;
        assert_eq!(sentences(&typed), ["Bela member_of Guild"]);
        let page = lore.call("relationships", json!({"limit": 3})).await;
        assert_eq!(sentences(&page), ["Anna parent_of Bela", "Bela member_of Guild", "Ghost leads Guild"]);
        let rest = lore.call("relationships", json!({"cursor": page["next_cursor"]})).await;
        assert_eq!((sentences(&rest), rest.get("next_cursor")), (vec!["Ghost knows Cara".to_owned()], None));
    });
}

#[test]
fn a_map_goes_as_far_as_is_asked_and_a_path_is_the_shortest() {
    run(async {
        let lore = family().await;
        let near = lore.call("relationships", json!({"method": "map", "entity_id": "Anna"})).await;
        assert_eq!(near["center"], json!({"id": 1, "name": "Anna"}));
        assert_eq!(sentences(&near), ["Anna parent_of Bela"]);
        let far = lore.call("relationships", json!({"method": "map", "entity_id": "Anna", "depth": 5})).await;
        assert_eq!(
            sentences(&far),
            ["Anna parent_of Bela", "Bela member_of Guild", "Guild led_by Ghost", "Ghost knows Cara"]
        );
        assert_eq!(rows(&far, "relationships")[3]["distance"], 4);
        let path =
            lore.call("relationships", json!({"method": "path", "entity_id": "Anna", "target_id": "Cara"})).await;
        assert_eq!(path["summary"], "Anna parent_of Bela, member_of Guild, led_by Ghost, knows Cara");
        assert_eq!(path["total"], 4);
        // A player neither sees the Ghost nor a path through it.
        let player = lore.caller(CampaignRole::Player);
        let read = async |input: Value| lore.call_as(&player, "relationships", input).await;
        let map = read(json!({"method": "map", "entity_id": "Anna", "depth": 5})).await.expect("a map");
        assert_eq!(sentences(&map), ["Anna parent_of Bela", "Bela member_of Guild"]);
        let path = read(json!({"method": "path", "entity_id": "Anna", "target_id": "Cara"})).await.expect("an answer");
        assert_eq!(path["summary"], "no relationships lead from Anna to Cara");
        assert_eq!((rows(&path, "relationships").len(), path.get("total")), (0, None));
        let all = read(json!({})).await.expect("a list");
        assert_eq!((&all["total"], all.get("next_cursor")), (&json!(2), None));
    });
}

#[test]
fn what_is_wrong_is_refused_with_its_place() {
    run(async {
        let lore = family().await;
        let cases = [
            (
                json!({"method": "add", "entity_id": 1, "target_id": 1, "type": "knows"}),
                Code::InvalidParams,
                "/target_id",
            ),
            (json!({"method": "add", "entity_id": 2, "target_id": 1, "type": "child_of"}), Code::Rejected, "/type"),
            (
                json!({"method": "add", "entity_id": 1, "target_id": 2, "type": "sings to"}),
                Code::InvalidParams,
                "/inverse",
            ),
            (json!({"method": "add", "entity_id": 1, "type": "knows"}), Code::InvalidParams, "/target_id"),
            (json!({"method": "add", "entity_id": 1, "target_id": 99, "type": "knows"}), Code::NotFound, "/target_id"),
            (
                json!({"method": "add", "entity_id": 1, "target_id": 3, "type": "knows", "strength": 11}),
                Code::InvalidParams,
                "/strength",
            ),
            (
                json!({"method": "add", "entity_id": 1, "target_id": 3, "type": "knows", "visible_to": ["Nobody"]}),
                Code::NotFound,
                "/visible_to/0",
            ),
            (json!({"method": "map", "entity_id": 1, "depth": 6}), Code::InvalidParams, "/depth"),
            (json!({"method": "map", "depth": 2}), Code::InvalidParams, "/entity_id"),
            (json!({"method": "remove", "relationship_id": 9}), Code::NotFound, "/relationship_id"),
            (json!({"method": "list", "depth": 2}), Code::InvalidParams, "/depth"),
        ];
        for (input, code, path) in cases {
            let fault = lore.refusal("relationships", input.clone()).await;
            assert_eq!((fault.code(), fault.body().path.as_deref()), (code, Some(path)), "{input}: {fault}");
        }
        let player = lore.caller(CampaignRole::Player);
        let add = json!({"method": "add", "entity_id": 1, "target_id": 3, "type": "knows"});
        let fault = lore.call_as(&player, "relationships", add).await.expect_err("for game masters");
        assert_eq!(fault.code(), Code::Forbidden);
    });
}

#[test]
fn a_relationship_is_changed_hidden_and_removed() {
    run(async {
        let lore = family().await;
        let change = json!({
            "method": "update", "relationship_id": 1, "tone": "hostile", "strength": 8, "description": "Since the flood.",
            "visible_to": ["gm"]
        });
        let answer = lore.call("relationships", change.clone()).await;
        assert_eq!(answer["summary"], "updated: Anna parent_of Bela");
        let row =
            fields(&rows(&answer, "relationships")[0], &["tone", "strength", "description", "visible_to", "revision"]);
        let expected = json!({
            "tone": "hostile", "strength": 8, "description": "Since the flood.", "visible_to": ["gm"], "revision": 2
        });
        assert_eq!(row, expected);
        let revision = lore.stream_revision().await;
        lore.call("relationships", change).await;
        assert_eq!(lore.stream_revision().await, revision, "the same again changes nothing");
        let player = lore.caller(CampaignRole::Player);
        let list = lore.call_as(&player, "relationships", json!({})).await.expect("a list");
        assert_eq!(sentences(&list), ["Bela member_of Guild"]);
        let remove = json!({"method": "remove", "relationship_id": 1});
        let first = lore.call_with_key("once", "relationships", remove.clone()).await;
        assert_eq!((&first["summary"], &first["relationships"]), (&json!("removed: Anna parent_of Bela"), &json!([])));
        assert_eq!(lore.call_with_key("once", "relationships", remove).await, first);
        assert_eq!(lore.call("relationships", json!({"entity_id": "Anna"})).await["total"], 0);
    });
}

#[test]
fn the_picture_of_the_lore_has_relationships() {
    run(async {
        let lore = family().await;
        let picture = async |role| {
            let input = json!({"campaign_id": lore.campaign_id});
            lore.call_as(&lore.caller(role), "lore_graph", input).await.expect("a picture")["text"].to_string()
        };
        assert!(picture(CampaignRole::Gm).await.contains("Ghost leads Guild."));
        let of_player = picture(CampaignRole::Player).await;
        assert!(of_player.contains("Anna parent_of Bela.") && !of_player.contains("Ghost"), "{of_player}");
    });
}

/// People in a row, each of whom knows the next: `Person 0`, `Person 1` and so on.
async fn row_of_people(count: usize) -> LoreCampaign {
    let lore = LoreCampaign::new().await;
    let person = |number| json!({"entity_type": "character", "name": format!("Person {number}")});
    let ids = lore.create((0..count).map(person).collect()).await;
    for pair in ids.windows(2) {
        let knows = json!({"method": "add", "entity_id": pair[0], "type": "knows", "target_id": pair[1]});
        lore.call("relationships", knows).await;
    }
    lore
}

#[test]
fn the_depth_of_a_map_has_an_end() {
    run(async {
        let depth_max = limits::RELATIONSHIP_DEPTH_MAX;
        let lore = row_of_people(depth_max + 2).await;
        let map = |depth: usize| json!({"method": "map", "entity_id": "Person 0", "depth": depth});
        let read = |depth: usize| json!({"campaign_id": lore.campaign_id, "entity_id": "Person 0", "depth": depth});
        for (operation, input) in [("relationships", map(depth_max)), ("read_relationships", read(depth_max))] {
            let answer = lore.call(operation, input).await;
            let distances: Vec<u64> =
                rows(&answer, "relationships").iter().filter_map(|row| row["distance"].as_u64()).collect();
            assert_eq!(distances, (1..=depth_max as u64).collect::<Vec<_>>(), "{operation}");
        }
        for (operation, input) in [
            ("relationships", map(depth_max + 1)),
            ("relationships", map(0)),
            ("read_relationships", read(depth_max + 1)),
        ] {
            let fault = lore.refusal(operation, input).await;
            assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::InvalidParams, Some("/depth")), "{fault}");
        }
    });
}

#[test]
fn the_length_of_a_path_has_an_end() {
    run(async {
        let length_max = limits::RELATIONSHIP_PATH_MAX;
        let lore = row_of_people(length_max + 2).await;
        let path = async |length: usize| {
            let target = format!("Person {length}");
            let input = json!({"method": "path", "entity_id": "Person 0", "target_id": target});
            lore.call("relationships", input).await
        };
        let fits = path(length_max).await;
        assert_eq!((&fits["total"], sentences(&fits).len()), (&json!(length_max), length_max));
        let last = format!("Person {} knows Person {length_max}", length_max - 1);
        assert_eq!(sentences(&fits).last(), Some(&last));
        let past = path(length_max + 1).await;
        let summary = format!("no relationships lead from Person 0 to Person {}", length_max + 1);
        assert_eq!((&past["summary"], past.get("total")), (&json!(summary), None));
        assert_eq!(rows(&past, "relationships").len(), 0);
    });
}
