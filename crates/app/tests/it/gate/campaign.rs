//! Tests of guards that read the campaign of their run.

use serde_json::json;
use skald_app::{Caller, Code, Engine};

use super::{RUN, call, call_as_owner, emit_event, engine, event_input, human_caller, run};

const PLAYED: &str = r#"
process: {id: played, version: "1", name: Played, initial_state: before}
states: [{name: before}, {name: after, is_final: true}]
events: [{name: report, allowed_roles: ["*"]}]
transitions: [{from: before, event: report, to: after, guard: has_played}]
guards:
  has_played:
    type: cel
    expression: >-
      campaign.sessions.exists(session, session.status == "ENDED") && campaign.rolls.size() > 0
      && campaign.universe_count == 1
    message: nobody has played yet
"#;

#[test]
fn a_guard_knows_the_sessions_rolls_and_universes_and_the_event_keeps_them() {
    run(async {
        let engine = engine();
        call(&engine, &human_caller("mara"), "state_gate.submit_process", json!({"source": PLAYED})).await.unwrap();
        let campaign = call_as_owner(&engine, "campaign_create", json!({"name": "Bells", "gm_mode": "AI"})).await;
        let id = campaign["id"].as_str().unwrap();
        call_as_owner(
            &engine,
            "state_gate.create_run",
            json!({"process_id": "played", "run_id": RUN, "campaign_id": id}),
        )
        .await;
        let sent = |key: &str| event_input("report", 1, key, &json!({}), &[]);
        let early = emit_event(&engine, &Caller::owner(), sent("a")).await.unwrap();
        assert_eq!(early["error"]["details"]["missing_guards"], json!(["has_played: nobody has played yet"]));

        let following = {
            let engine = engine.clone();
            tokio::spawn(async move { engine.follow(None).await })
        };
        tokio::task::yield_now().await;
        let owner = Caller::owner();
        let session = call_as_owner(&engine, "session_start", json!({"campaign_id": id, "name": "Low tide"})).await;
        let session_id = session["id"].as_str().unwrap_or_else(|| panic!("{session}"));
        call_as_owner(&engine, "roll", json!({"expression": "1d20", "session_id": session_id})).await;
        call_as_owner(&engine, "universe", json!({"method": "create", "name": "Sol", "campaignId": id})).await;
        let mut changes = engine.changes(&owner, None).await;
        call_as_owner(&engine, "session_end", json!({"session_id": session_id})).await;
        let uri = format!("stategate://runs/{RUN}/summary");
        let (mut is_run_told, mut is_list_told) = (false, false);
        while !(is_run_told && is_list_told) {
            let news = changes.next().await.expect("the journal goes on");
            is_run_told |= engine.is_changed(&news, &owner, &uri);
            is_list_told |= news.concerns_list(&owner);
        }
        following.abort();

        let moved = emit_event(&engine, &owner, sent("b")).await.unwrap();
        assert_eq!(moved["result"]["transition"]["to_state"], "after", "{moved}");
        let history = call_as_owner(&engine, "state_gate.run", json!({"method": "history", "run_id": RUN})).await;
        let kept = &history["history"].as_array().unwrap().last().unwrap()["campaign"];
        assert_eq!((&kept["session_count"], &kept["roll_count"]), (&json!(1), &json!(1)), "{kept}");
        assert_eq!(kept["rolls"][0]["expression"], "1d20");
        assert_eq!(kept["universes"][0]["name"], "Sol");
    });
}

#[test]
fn a_run_in_a_campaign_takes_its_numbers_from_there() {
    run(async {
        let engine = engine();
        let campaign = call_as_owner(&engine, "campaign_create", json!({"name": "Bells", "gm_mode": "AI"})).await;
        let id = campaign["id"].as_str().unwrap();
        let join = async |name: &str, role: &str| {
            let input = json!({"campaign_id": id, "display_name": name, "role": role});
            call_as_owner(&engine, "participant_create", input).await;
        };
        let context =
            async || call_as_owner(&engine, "state_gate.get_state", json!({"run_id": RUN})).await["context"].clone();
        for (name, role) in [("Ana", "PLAYER"), ("Ben", "PLAYER"), ("Mara", "GM")] {
            join(name, role).await;
        }
        let create = |context: serde_json::Value| json!({"process_id": "session-preparation", "run_id": RUN, "campaign_id": id, "context": context});
        let lie = call(&engine, &Caller::owner(), "state_gate.create_run", create(json!({"party_size": 1}))).await;
        let fault = lie.unwrap_err();
        assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::InvalidPayload, Some("/context/party_size")));
        assert!(fault.body().message.contains("comes from the campaign of this run, where it is 2"), "{fault:?}");
        call_as_owner(&engine, "state_gate.create_run", create(json!({"hours": 2}))).await;
        assert_eq!(context().await["party_size"], 2);
        assert_eq!(context().await["open_sessions"], 0);

        join("Cai", "PLAYER").await;
        let session = call_as_owner(&engine, "session_start", json!({"campaign_id": id, "name": "Low tide"})).await;
        assert_eq!((&context().await["party_size"], &context().await["open_sessions"]), (&json!(3), &json!(1)));
        let recap = "They crossed the mere at low tide and found the bell. ".repeat(5);
        let sent = |key: &str| event_input("submit_recap", 1, key, &json!({}), &[("recap.md", &recap)]);
        let early = emit_event(&engine, &Caller::owner(), sent("a")).await.unwrap();
        assert_eq!(
            early["error"]["details"]["missing_guards"],
            json!(["may_begin: open sessions: 1; end the session before its recap is written"])
        );
        call_as_owner(&engine, "session_end", json!({"session_id": session["id"]})).await;
        let moved = emit_event(&engine, &Caller::owner(), sent("b")).await.unwrap();
        assert_eq!(moved["result"]["transition"]["to_state"], "outline", "{moved}");
        let prompt = moved["result"]["new_state_prompt"].as_str().unwrap();
        assert!(prompt.contains("Plan 2 hours for 3 players"), "{prompt}");
    });
}

const COUNTED: &str = r#"
process: {id: counted, version: "1", name: Counted, initial_state: before}
states: [{name: before}, {name: after, is_final: true}]
events: [{name: report, allowed_roles: ["*"]}]
transitions: [{from: before, event: report, to: after, guard: right}]
guards:
  right:
    type: cel
    expression: campaign.player_count == 1 && campaign.actor_count == 2 && campaign.open_session_count == 1
    message: the numbers are others
"#;

#[test]
fn an_expression_sees_players_actors_and_open_sessions() {
    run(async {
        let engine = engine();
        call(&engine, &human_caller("mara"), "state_gate.submit_process", json!({"source": COUNTED})).await.unwrap();
        let campaign = call_as_owner(&engine, "campaign_create", json!({"name": "Bells", "gm_mode": "AI"})).await;
        let id = campaign["id"].as_str().unwrap();
        for (name, role) in [("Ana", "PLAYER"), ("Mara", "GM")] {
            let input = json!({"campaign_id": id, "display_name": name, "role": role});
            call_as_owner(&engine, "participant_create", input).await;
        }
        for (name, kind) in [("Wren", "PC"), ("The Abbot", "NPC")] {
            call_as_owner(&engine, "actor_create", json!({"campaign_id": id, "name": name, "kind": kind})).await;
        }
        call_as_owner(&engine, "session_start", json!({"campaign_id": id, "name": "Low tide"})).await;
        let create = json!({"process_id": "counted", "run_id": RUN, "campaign_id": id});
        call_as_owner(&engine, "state_gate.create_run", create).await;
        let moved =
            emit_event(&engine, &Caller::owner(), event_input("report", 1, "a", &json!({}), &[])).await.unwrap();
        assert_eq!(moved["result"]["transition"]["to_state"], "after", "{moved}");
    });
}

const PREPARED: &str = r#"
process: {id: prepared, version: "1", name: Prepared, initial_state: before}
states: [{name: before}, {name: after, is_final: true}]
events: [{name: report, allowed_roles: ["*"]}]
transitions: [{from: before, event: report, to: after, guard: has_place}]
guards:
  has_place:
    type: cel
    expression: >-
      campaign.entity_count == 2
      && campaign.entities.exists(entity, entity.entity_type == "location" && entity.tags.exists(tag, tag == "coast"))
    message: there is no place on the coast yet
"#;

#[test]
fn a_guard_knows_the_public_entities_and_the_event_keeps_no_private_ones() {
    run(async {
        let engine = engine();
        call(&engine, &human_caller("mara"), "state_gate.submit_process", json!({"source": PREPARED})).await.unwrap();
        let campaign = call_as_owner(&engine, "campaign_create", json!({"name": "Bells", "gm_mode": "AI"})).await;
        let id = campaign["id"].as_str().unwrap();
        let create = json!({"process_id": "prepared", "run_id": RUN, "campaign_id": id});
        call_as_owner(&engine, "state_gate.create_run", create).await;
        let sent = |key: &str| event_input("report", 1, key, &json!({}), &[]);
        let early = emit_event(&engine, &Caller::owner(), sent("a")).await.unwrap();
        assert_eq!(
            early["error"]["details"]["missing_guards"],
            json!(["has_place: there is no place on the coast yet"])
        );

        let entities = json!([
            {"entity_type": "location", "name": "Dunmere", "type": "Town", "tags": ["coast"]},
            {"entity_type": "character", "name": "Ruane", "entry": "The abbess."},
            {"entity_type": "note", "name": "Who rings the bell"},
            {"entity_type": "character", "name": "The drowned king", "is_private": true, "tags": ["coast"]},
            {"entity_type": "location", "name": "Old Dunmere", "tags": ["coast"]},
        ]);
        call_as_owner(&engine, "create_entities", json!({"campaign_id": id, "entities": entities})).await;
        let superseded = json!({"campaign_id": id, "method": "mark", "entity_id": 5, "confidence": "SUPERSEDED"});
        call_as_owner(&engine, "canon", superseded).await;
        let moved = emit_event(&engine, &Caller::owner(), sent("b")).await.unwrap();
        assert_eq!(moved["result"]["transition"]["to_state"], "after", "{moved}");
        let history = call_as_owner(&engine, "state_gate.run", json!({"method": "history", "run_id": RUN})).await;
        let kept = &history["history"].as_array().unwrap().last().unwrap()["campaign"];
        assert_eq!(kept["entity_count"], 2, "{kept}");
        assert_eq!(
            kept["entities"],
            json!([
                {"id": 2, "name": "Ruane", "entity_type": "character", "type": "", "tags": []},
                {"id": 1, "name": "Dunmere", "entity_type": "location", "type": "Town", "tags": ["coast"]},
            ])
        );
    });
}
