//! Tests of permissions at a gate: roles of tokens, overriding guards, submitting processes, runs of campaigns.

use serde_json::json;
use skald_app::{Caller, CampaignRole, Code, PrincipalKind};

use super::{
    RUN, call, call_as_owner, create_exploration_run, emit_event, engine, event_input, human_caller, run, token_holder,
};

#[test]
fn a_role_is_the_tokens_and_an_agent_neither_cancels_nor_submits() {
    run(async {
        let engine = engine();
        create_exploration_run(&engine).await;
        let cancel = || json!({"method": "cancel", "run_id": RUN, "reason": "enough"});
        let submit = || json!({"source": "process: {}"});
        let agent = token_holder("bot", PrincipalKind::Agent, Some("agent"), CampaignRole::Gm);
        let nobody = token_holder("plain", PrincipalKind::Human, None, CampaignRole::Gm);
        for caller in [&agent, &nobody, &Caller::owner()] {
            let fault = call(&engine, caller, "state_gate.run", cancel()).await.unwrap_err();
            assert_eq!(fault.code(), Code::Forbidden);
            let fault = call(&engine, caller, "state_gate.submit_process", submit()).await.unwrap_err();
            assert_eq!(fault.code(), Code::Forbidden);
        }
        let fault = call(&engine, &human_caller("mara"), "state_gate.submit_process", submit()).await.unwrap_err();
        assert_eq!(fault.code(), Code::InvalidProcess);
        assert!(!fault.body().details["findings"].as_array().unwrap().is_empty());
        let cancelled = call(&engine, &human_caller("mara"), "state_gate.run", cancel()).await.unwrap();
        assert_eq!(cancelled["cancelled"]["revision"], 2);
        let state = call_as_owner(&engine, "state_gate.get_state", json!({"run_id": RUN})).await;
        assert_eq!((&state["status"], &state["current_state"]), (&json!("cancelled"), &json!("experiment")));
        assert_eq!((&state["current_state_prompt"], &state["required_artifacts"]), (&json!(null), &json!([])));
        let late = event_input("submit_experiment_plan", 2, "k", &json!({"plan": "x"}), &[]);
        let answer = emit_event(&engine, &Caller::owner(), late).await.unwrap();
        assert_eq!(answer["error"]["code"], "INVALID_EVENT");
    });
}

const REVIEWED: &str = r#"
process: {id: reviewed, version: "1", name: Reviewed, initial_state: draft}
states: [{name: draft}, {name: review}, {name: done, is_final: true}]
events:
  - {name: submit, allowed_roles: ["*"]}
  - {name: approve, allowed_roles: [human]}
  - {name: override_guard, allowed_roles: [human]}
transitions:
  - {from: draft, event: submit, to: review, guard: has_text}
  - {from: review, event: approve, to: done}
guards: {has_text: {type: artifact, artifact_type: text, condition: exists}}
artifacts: [{type: text}]
roles:
  - {name: agent, allowed_events: [submit]}
  - {name: human, allowed_events: [submit, approve, override_guard], can_approve: true}
"#;

#[test]
fn a_submitted_process_serves_new_runs_and_nobody_approves_their_own_work() {
    run(async {
        let engine = engine();
        let (mara, ilse) = (human_caller("mara"), human_caller("ilse"));
        call(&engine, &mara, "state_gate.submit_process", json!({"source": REVIEWED})).await.unwrap();
        let create = json!({"process_id": "reviewed", "run_id": RUN});
        call(&engine, &mara, "state_gate.create_run", create).await.unwrap();
        let sent = event_input("submit", 1, "s", &json!({}), &[("text.md", "a text")]);
        assert_eq!(emit_event(&engine, &mara, sent).await.unwrap()["success"], true);
        let approve = |key: &str| event_input("approve", 2, key, &json!({}), &[]);
        let own = emit_event(&engine, &mara, approve("a")).await.unwrap();
        assert_eq!(own["error"]["code"], "FORBIDDEN", "{own}");
        let changed = REVIEWED.replace("to: done}", "to: draft}").replace(r#"version: "1""#, r#"version: "2""#);
        call(&engine, &mara, "state_gate.submit_process", json!({"source": changed})).await.unwrap_err();
        let changed = REVIEWED.replace(r#"version: "1""#, r#"version: "2""#);
        call(&engine, &mara, "state_gate.submit_process", json!({"source": changed})).await.unwrap();
        let state = call_as_owner(&engine, "state_gate.get_state", json!({"run_id": RUN})).await;
        assert_eq!(state["process_version"], "1", "a run keeps to the process it began with");
        assert_eq!(emit_event(&engine, &ilse, approve("b")).await.unwrap()["result"]["transition"]["to_state"], "done");
        let next = call(&engine, &ilse, "state_gate.create_run", json!({"process_id": "reviewed"})).await.unwrap();
        let state = call_as_owner(&engine, "state_gate.get_state", json!({"run_id": next["run_id"]})).await;
        assert_eq!(state["process_version"], "2");
    });
}

#[test]
fn only_people_override_a_guard_and_it_is_recorded() {
    run(async {
        let engine = engine();
        let mara = human_caller("mara");
        call(&engine, &mara, "state_gate.submit_process", json!({"source": REVIEWED})).await.unwrap();
        call_as_owner(&engine, "state_gate.create_run", json!({"process_id": "reviewed", "run_id": RUN})).await;
        let input = || json!({"method": "override", "run_id": RUN, "event_name": "submit", "expected_revision": 1, "reason": "it is in the post"});
        let fault = call(&engine, &Caller::owner(), "state_gate.run", input()).await.unwrap_err();
        assert_eq!(fault.code(), Code::Forbidden);
        let done = call(&engine, &mara, "state_gate.run", input()).await.unwrap();
        assert_eq!(done["overridden"]["transition"], json!({"from_state": "draft", "to_state": "review"}));
        let history = call_as_owner(&engine, "state_gate.run", json!({"method": "history", "run_id": RUN})).await;
        let rows = history["history"].as_array().unwrap();
        assert_eq!((&rows[1]["accepted"], &rows[1]["code"]), (&json!(false), &json!("FORBIDDEN")));
        assert_eq!(rows[2]["event_name"], "override_guard");
        assert_eq!((&rows[2]["reason"], &rows[2]["by"]), (&json!("it is in the post"), &json!("token_mara")));
    });
}

#[test]
fn a_run_of_a_campaign_is_its_game_masters_and_of_who_created_it() {
    run(async {
        let engine = engine();
        let campaign = call_as_owner(&engine, "campaign_create", json!({"name": "Bells", "gm_mode": "AI"})).await;
        let id = campaign["id"].as_str().unwrap_or_else(|| panic!("{campaign}")).to_owned();
        let secret = json!({"process_id": "exploration-process", "run_id": RUN, "campaign_id": id});
        call_as_owner(&engine, "state_gate.create_run", secret).await;
        let player = crate::universe::caller_with_roles(&[(&id, CampaignRole::Player)]);
        let gm = crate::universe::caller_with_roles(&[(&id, CampaignRole::Gm)]);
        let read = || json!({"run_id": RUN});
        call(&engine, &gm, "state_gate.get_state", read()).await.unwrap();
        let fault = call(&engine, &player, "state_gate.get_state", read()).await.unwrap_err();
        let nothing = call(&engine, &player, "state_gate.get_state", json!({"run_id": "run-none"})).await.unwrap_err();
        assert_eq!(fault.to_string().replace(RUN, "run-none"), nothing.to_string());
        let own = json!({"process_id": "exploration-process", "campaign_id": id});
        let own = call(&engine, &player, "state_gate.create_run", own).await.unwrap();
        let listed = call(&engine, &player, "state_gate.list_runs", json!({})).await.unwrap();
        let ids: Vec<_> = listed["runs"].as_array().unwrap().iter().map(|run| &run["run_id"]).collect();
        assert_eq!(ids, [&own["run_id"]]);
        let fault = call(&engine, &player, "state_gate.create_run", json!({"process_id": "exploration-process"})).await;
        assert_eq!(fault.unwrap_err().code(), Code::Forbidden);
    });
}
