//! Tests of emitting events: accepted, recorded, refused, repeated, and listed in the history.

use serde_json::json;
use skald_app::{Caller, Code, Engine, RequestControl};

use super::{
    RUN, call, call_as_owner, create_exploration_run, create_observing_run, emit_event, engine, event_input,
    human_caller, run,
};

#[test]
fn a_run_says_what_to_do_and_moves_when_its_guard_is_satisfied() {
    run(async {
        let engine = engine();
        let created = create_exploration_run(&engine).await;
        assert_eq!(created["success"], true);
        assert_eq!((&created["initial_state"], &created["revision"]), (&json!("experiment"), &json!(1)));
        let state = call_as_owner(&engine, "state_gate.get_state", json!({"run_id": RUN})).await;
        assert_eq!(state["context"], json!({"exploration_mode": "domain", "team_mode": "solo"}));
        assert_eq!(
            state["missing_guards"],
            json!([{
                "guard_name": "has_experiment_plan", "description": "実験計画が必要です",
                "current_status": "成果物 'experiment_plan' が未提出",
            }])
        );
        assert_eq!(
            state["required_artifacts"],
            json!([{"type": "experiment_plan", "description": "実験計画", "status": "missing"}])
        );
        let plan =
            event_input("submit_experiment_plan", 1, "k", &json!({"plan": "ask"}), &[("experiment_plan.md", "text")]);
        let answer = emit_event(&engine, &Caller::owner(), plan).await.unwrap();
        assert_eq!(answer["success"], true, "{answer}");
        let state = call_as_owner(&engine, "state_gate.get_state", json!({"run_id": RUN})).await;
        assert_eq!((&state["current_state"], &state["revision"]), (&json!("observe"), &json!(2)));
    });
}

#[test]
fn a_conflict_a_failed_guard_and_a_recorded_stay_are_answers() {
    run(async {
        let engine = engine();
        create_observing_run(&engine).await;
        let owner = Caller::owner();
        let answer =
            emit_event(&engine, &owner, event_input("finish_observation", 7, "a", &json!({}), &[])).await.unwrap();
        assert_eq!(answer["success"], false);
        assert_eq!(answer["error"]["code"], "REVISION_CONFLICT");
        assert_eq!(answer["error"]["message"], "Expected revision 7, but current is 2");
        assert_eq!(answer["error"]["details"], json!({"current_revision": 2}));

        let one =
            event_input("submit_observation", 2, "b", &json!({"findings": "slow"}), &[("observation-1.md", "one")]);
        let answer = emit_event(&engine, &owner, one).await.unwrap();
        assert_eq!(answer["result"]["transition"], json!({"from_state": "observe", "to_state": "observe"}));
        assert_eq!(answer["result"]["new_revision"], 3);
        let unmet = "has_sufficient_observations: 観察件数が不足 (現在: 1, 必要: 3)";
        assert_eq!(answer["result"]["missing_guards"], json!([unmet]));

        let answer =
            emit_event(&engine, &owner, event_input("finish_observation", 3, "c", &json!({}), &[])).await.unwrap();
        assert_eq!(answer["error"]["code"], "GUARD_FAILED");
        assert_eq!(answer["error"]["message"], "Guard conditions not satisfied");
        assert_eq!(answer["error"]["details"], json!({"missing_guards": [unmet]}));
    });
}

#[test]
fn a_key_answers_its_request_again_and_no_other() {
    run(async {
        let engine = engine();
        create_observing_run(&engine).await;
        let owner = Caller::owner();
        let sent =
            || event_input("submit_observation", 2, "key", &json!({"findings": "x"}), &[("observation-1.md", "one")]);
        let mut first = emit_event(&engine, &owner, sent()).await.unwrap();
        let mut again = emit_event(&engine, &owner, sent()).await.unwrap();
        assert_eq!(again["result"]["replayed"].take(), true);
        assert_eq!(again["result"]["code"].take(), "IDEMPOTENT_REPLAY");
        for answer in [&mut first, &mut again] {
            answer["result"].as_object_mut().unwrap().retain(|_, value| !value.is_null());
        }
        assert_eq!(first, again);
        let other = event_input("submit_observation", 2, "key", &json!({"findings": "y"}), &[]);
        let answer = emit_event(&engine, &owner, other).await.unwrap();
        assert_eq!(answer["error"]["code"], "IDEMPOTENCY_MISMATCH");
        let state = call_as_owner(&engine, "state_gate.get_state", json!({"run_id": RUN})).await;
        assert_eq!(state["revision"], 3);
    });
}

#[test]
fn every_attempt_is_in_the_history() {
    run(async {
        let engine = engine();
        create_observing_run(&engine).await;
        let owner = Caller::owner();
        emit_event(&engine, &owner, event_input("finish_observation", 2, "a", &json!({}), &[])).await.unwrap();
        emit_event(&engine, &owner, event_input("submit_observation", 9, "b", &json!({}), &[])).await.unwrap();
        emit_event(&engine, &owner, event_input("submit_observation", 2, "c", &json!({}), &[("observation.md", "x")]))
            .await
            .unwrap();
        let (mut rows, mut cursor) = (Vec::new(), None);
        loop {
            let mut input = json!({"method": "history", "run_id": RUN, "limit": 2});
            if let Some(cursor) = &cursor {
                input["cursor"] = json!(cursor);
            }
            let page = call_as_owner(&engine, "state_gate.run", input).await;
            rows.extend(page["history"].as_array().unwrap().clone());
            cursor = page["next_cursor"].as_str().map(str::to_owned);
            if cursor.is_none() {
                break;
            }
        }
        let told: Vec<(String, bool)> = rows
            .iter()
            .map(|row| (row["event_name"].as_str().unwrap().to_owned(), row["accepted"].as_bool().unwrap()))
            .collect();
        let expected = [
            ("created", true),
            ("submit_experiment_plan", true),
            ("finish_observation", false),
            ("submit_observation", false),
            ("submit_observation", true),
        ];
        assert_eq!(told, expected.map(|(name, accepted)| (name.to_owned(), accepted)));
        assert_eq!(rows[2]["code"], "GUARD_FAILED");
        assert_eq!(rows[2]["guards"][0]["satisfied"], false);
        assert_eq!((&rows[2]["by"], &rows[2]["role"]), (&json!("owner"), &json!("agent")));
        assert_eq!(rows[3]["code"], "REVISION_CONFLICT");
        assert!(rows.iter().all(|row| row["hash"].as_str().is_some_and(|hash| hash.len() == 64)), "{rows:?}");
    });
}

#[test]
fn a_dry_run_and_a_plan_change_nothing() {
    run(async {
        let engine = engine();
        create_observing_run(&engine).await;
        let check = json!({"method": "check", "run_id": RUN, "event_name": "finish_observation"});
        let checked = call_as_owner(&engine, "state_gate.run", check).await;
        assert_eq!(checked["check"]["would_be_accepted"], false);
        assert_eq!(checked["check"]["error"]["code"], "GUARD_FAILED");
        let every = call_as_owner(&engine, "state_gate.run", json!({"method": "plan", "run_id": RUN})).await;
        assert_eq!(every["plans"].as_array().unwrap().len(), 1, "there is one ending: {every}");
        let steps = every["plans"][0]["steps"].as_array().unwrap();
        assert_eq!(steps.last().unwrap()["to_state"], "decide");
        let one =
            call_as_owner(&engine, "state_gate.run", json!({"method": "plan", "run_id": RUN, "to_state": "decide"}))
                .await;
        assert_eq!((&one["plan"], &one["plans"], &every["plan"]), (&every["plans"][0], &json!(null), &json!(null)));
        let history = call_as_owner(&engine, "state_gate.run", json!({"method": "history", "run_id": RUN})).await;
        assert_eq!(history["history"].as_array().unwrap().len(), 2, "neither is an attempt");
    });
}

/// The nearest final states of a quest are to decline or to fail it; a plan must show the others too.
#[test]
fn a_plan_without_a_target_tells_of_every_ending() {
    run(async {
        let engine = engine();
        call_as_owner(&engine, "state_gate.create_run", json!({"process_id": "quest", "run_id": RUN})).await;
        let answer = call_as_owner(&engine, "state_gate.run", json!({"method": "plan", "run_id": RUN})).await;
        let told: Vec<(&str, usize)> = answer["plans"]
            .as_array()
            .unwrap()
            .iter()
            .map(|plan| (plan["to_state"].as_str().unwrap(), plan["steps"].as_array().unwrap().len()))
            .collect();
        assert_eq!(told, [("declined", 1), ("failed", 2), ("resolved", 4)]);
    });
}

#[test]
fn what_is_not_there_is_not_found_and_says_what_is() {
    run(async {
        let engine = engine();
        let fault =
            call(&engine, &Caller::owner(), "state_gate.get_state", json!({"run_id": "run-1"})).await.unwrap_err();
        assert_eq!(fault.code(), Code::RunNotFound);
        let fault = call(&engine, &Caller::owner(), "state_gate.get_state", json!({})).await.unwrap_err();
        assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::InvalidParams, Some("/run_id")));
        for id in ["../exploration-process", "nothing", ""] {
            let input = json!({"process_id": id});
            let fault = call(&engine, &Caller::owner(), "state_gate.create_run", input).await.unwrap_err();
            assert_eq!(fault.code(), Code::ProcessNotFound, "{id}");
            assert!(fault.body().allowed.contains(&"exploration-process".to_owned()));
        }
        for id in ["", "../x", "a/b", ".hidden", "a b"] {
            let input = json!({"process_id": "exploration-process", "run_id": id});
            let fault = call(&engine, &Caller::owner(), "state_gate.create_run", input).await.unwrap_err();
            assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::InvalidParams, Some("/run_id")), "{id}");
        }
        create_exploration_run(&engine).await;
        let again = json!({"process_id": "exploration-process", "run_id": RUN});
        let fault = call(&engine, &Caller::owner(), "state_gate.create_run", again).await.unwrap_err();
        assert_eq!(fault.code(), Code::Rejected);
    });
}

#[test]
fn what_was_refused_without_a_look_at_the_run_is_in_the_history_too_and_short() {
    run(async {
        let engine = engine();
        create_exploration_run(&engine).await;
        let owner = Caller::owner();
        let no_key = event_input("submit_experiment_plan", 1, "", &json!({}), &[]);
        let answer = emit_event(&engine, &owner, no_key).await.unwrap();
        assert_eq!(answer["error"]["code"], "INVALID_PAYLOAD");
        let errors = &answer["error"]["details"]["validation_errors"];
        assert_eq!(*errors, json!([{"path": "/idempotency_key", "message": "Must not be empty"}]));
        let cancel = json!({"method": "cancel", "run_id": RUN});
        assert_eq!(call(&engine, &owner, "state_gate.run", cancel).await.unwrap_err().code(), Code::Forbidden);
        let long = event_input(&"x".repeat(1_000_000), 1, "k", &json!({}), &[]);
        let fault = emit_event(&engine, &owner, long).await.unwrap_err();
        assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::InvalidParams, Some("/event_name")));
        let unfit = event_input("submit_experiment_plan", 1, "k", &json!({"plan": 7}), &[]);
        emit_event(&engine, &owner, unfit).await.unwrap();
        let history = call_as_owner(&engine, "state_gate.run", json!({"method": "history", "run_id": RUN})).await;
        let rows = history["history"].as_array().unwrap();
        let told: Vec<&str> = rows.iter().filter_map(|row| row["message"].as_str()).collect();
        assert_eq!(told.len(), 3, "{rows:?}");
        assert!(told[0].contains("/idempotency_key: Must not be empty"), "{told:?}");
        assert_eq!(told[1], "role 'agent' may not cancel a run");
        assert!(told[2].contains("/payload/plan"), "{told:?}");
        assert!(history.to_string().len() < 10_000);
    });
}

#[test]
fn runs_are_listed_from_the_newest_on() {
    run(async {
        let engine = engine();
        for id in ["b", "a", "c"] {
            call_as_owner(&engine, "state_gate.create_run", json!({"process_id": "exploration-process", "run_id": id}))
                .await;
        }
        let listed = call_as_owner(&engine, "state_gate.list_runs", json!({})).await;
        let ids: Vec<&str> =
            listed["runs"].as_array().unwrap().iter().map(|run| run["run_id"].as_str().unwrap()).collect();
        assert_eq!(ids, ["c", "a", "b"]);
    });
}

/// The history shows text that others sent: it must be one line without invisible characters.
#[test]
fn keys_and_names_of_refused_attempts_are_one_line() {
    run(async {
        let engine = engine();
        create_observing_run(&engine).await;
        let owner = Caller::owner();
        for key in ["a\nb", "a\u{202e}b", "a\u{e0041}b"] {
            let answer =
                emit_event(&engine, &owner, event_input("finish_observation", 2, key, &json!({}), &[])).await.unwrap();
            assert_eq!(answer["error"]["code"], "INVALID_PAYLOAD", "{answer}");
        }
        let name = "fin\u{202e}ish\n\u{e0041}it";
        let answer =
            emit_event(&engine, &owner, event_input(name, 2, "日本 👩🏽\u{200d}🚀", &json!({}), &[])).await.unwrap();
        assert_eq!(answer["error"]["code"], "INVALID_EVENT", "{answer}");
        let history = call_as_owner(&engine, "state_gate.run", json!({"method": "history", "run_id": RUN})).await;
        let rows = history["history"].as_array().unwrap();
        assert_eq!(rows.last().unwrap()["event_name"], "finish it");
        for row in &rows[2..] {
            let written = row.to_string();
            assert!(!written.contains(['\u{202e}', '\u{e0041}']) && !written.contains("\\n"), "{written}");
        }
    });
}

/// A key and a revision outside the input, in a header or in metadata, used to be ignored.
#[test]
fn a_revision_and_a_key_beside_the_input_are_the_same_or_refused() {
    run(async {
        let engine = engine();
        create_observing_run(&engine).await;
        let note = event_input("submit_observation", 2, "note", &json!({}), &[("observation-1.md", "one")]);
        let beside = |expected_revision: Option<u64>, key: Option<&str>| RequestControl {
            expected_revision,
            idempotency_key: key.map(str::to_owned),
            ..RequestControl::default()
        };
        for (control, field, words) in [
            (beside(Some(1), None), "/expected_revision", ["is 2", "is 1"]),
            (beside(Some(2), Some("other")), "/idempotency_key", ["is note", "is other"]),
        ] {
            let refused =
                engine.call(&Caller::owner(), "state_gate.emit_event", note.clone(), &control).await.unwrap_err();
            assert_eq!((refused.code(), refused.body().path.as_deref()), (Code::InvalidParams, Some(field)));
            assert!(words.iter().all(|word| refused.body().message.contains(word)), "{refused}");
            let cancel = json!({
                "method": "cancel", "run_id": RUN, "expected_revision": 2, "idempotency_key": "note",
            });
            let refused = engine.call(&human_caller("mara"), "state_gate.run", cancel, &control).await.unwrap_err();
            assert_eq!((refused.code(), refused.body().path.as_deref()), (Code::InvalidParams, Some(field)));
        }
        let state = call_as_owner(&engine, "state_gate.get_state", json!({"run_id": RUN})).await;
        assert_eq!(state["revision"], 2, "nothing was done");
        let control = beside(Some(2), Some("note"));
        let answer = engine.call(&Caller::owner(), "state_gate.emit_event", note, &control).await.unwrap();
        assert_eq!(answer["success"], true, "{answer}");
    });
}
