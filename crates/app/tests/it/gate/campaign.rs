//! Tests of guards that read the campaign of their run.

use serde_json::json;
use skald_app::{Caller, Engine};

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
