//! Tests of the gate's quotas: stored refused attempts, inline content of runs and campaigns, versions of processes.

use std::sync::Arc;

use serde_json::{Value, json};
use skald_app::{Caller, Code, LocalEngine};
use skald_domain::limits;
use skald_journal::SideRows as _;

use super::{
    RUN, app_with, call, call_as_owner, create_exploration_run, create_observing_run, emit_event, engine, engine_with,
    event_input, human_caller, run,
};

#[test]
fn of_too_many_refused_attempts_the_oldest_are_summed_up() {
    run(async {
        let engine = engine();
        create_observing_run(&engine).await;
        let refuse = async |number: usize| {
            let event = event_input("finish_observation", 2, &format!("k{number}"), &json!({}), &[]);
            let answer = emit_event(&engine, &Caller::owner(), event).await.unwrap();
            assert_eq!(answer["error"]["code"], "GUARD_FAILED");
        };
        let history = async || {
            let (mut rows, mut cursor) = (Vec::new(), Value::Null);
            loop {
                let input = json!({"method": "history", "run_id": RUN, "limit": 200, "cursor": cursor});
                let page = call_as_owner(&engine, "state_gate.run", input).await;
                rows.extend(page["history"].as_array().unwrap().iter().cloned());
                cursor = page["next_cursor"].clone();
                if cursor.is_null() {
                    return rows;
                }
            }
        };
        for number in 0..limits::ATTEMPTS_MAX {
            refuse(number).await;
        }
        let kept = history().await;
        assert_eq!(kept.len(), 2 + limits::ATTEMPTS_MAX, "the run's two events, and every attempt");
        for number in 0..3 {
            refuse(limits::ATTEMPTS_MAX + number).await;
        }
        let kept = history().await;
        assert_eq!(kept.len(), 3 + limits::ATTEMPTS_MAX, "one more row for three more attempts");
        let summed = &kept[0];
        assert_eq!((&summed["event_name"], &summed["accepted"]), (&json!("refused_attempts"), &json!(false)));
        assert_eq!(summed["message"], "3 refused attempts are no longer kept one by one: 3 GUARD_FAILED");
        assert!(summed["hash"].as_str().is_some_and(|hash| hash.len() == 64), "{summed}");
    });
}

#[test]
fn a_run_keeps_only_so_much_content() {
    run(async {
        let engine = engine();
        create_observing_run(&engine).await;
        let send = async |revision: u64, key: &str, sizes: &[(&str, usize)]| {
            let contents: Vec<(String, String)> = sizes
                .iter()
                .map(|(name, size)| {
                    (format!("observation-{key}-{name}.md"), format!("{key}{name}{}", "x".repeat(*size)))
                })
                .collect();
            let contents: Vec<(&str, &str)> =
                contents.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
            let event = event_input("submit_observation", revision, key, &json!({"findings": "x"}), &contents);
            emit_event(&engine, &Caller::owner(), event).await.unwrap()
        };
        let names: Vec<String> = (10..60).map(|number| number.to_string()).collect();
        // The plan has three bytes; each content begins with four of its own.
        let full: Vec<(&str, usize)> = names.iter().map(|name| (name.as_str(), limits::INLINE_BYTES_MAX - 4)).collect();
        let nearly = [&full[..49], &[("59", limits::INLINE_BYTES_MAX - 4 - 3)]].concat();
        let answer = send(2, "ab", &nearly).await;
        assert_eq!(answer["success"], true, "exactly as much as is kept: {}", answer["error"]);
        let answer = send(3, "cd", &[("1", 1)]).await;
        assert_eq!(answer["error"]["code"], "TOO_LARGE", "{answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.starts_with(&format!("a run keeps {} bytes", limits::INLINE_RUN_BYTES_MAX)), "{message}");
        assert!(answer["error"]["hint"].as_str().unwrap().contains("artifact_paths"), "{answer}");
        let state = call_as_owner(&engine, "state_gate.get_state", json!({"run_id": RUN})).await;
        assert_eq!(state["revision"], 3, "nothing came of it");
    });
}

#[test]
fn content_that_is_handed_in_has_a_most() {
    run(async {
        let engine = engine();
        create_observing_run(&engine).await;
        let send = async |revision: u64, bytes: usize| {
            let text = "x".repeat(bytes);
            let contents = [("observation-1.md", text.as_str())];
            let event =
                event_input("submit_observation", revision, &bytes.to_string(), &json!({"findings": "x"}), &contents);
            emit_event(&engine, &Caller::owner(), event).await.unwrap()
        };
        let answer = send(2, limits::INLINE_BYTES_MAX + 1).await;
        assert_eq!(answer["success"], false, "{answer}");
        let why = &answer["error"]["details"]["validation_errors"][0];
        assert!(why["message"].as_str().unwrap().ends_with("at most 1000000 can be handed in"), "{answer}");
        let answer = send(2, limits::INLINE_BYTES_MAX).await;
        assert_eq!(answer["success"], true, "{}", answer["error"]);
    });
}

/// The bytes of a campaign are counted in a side row, which the test sets close to the limit.
#[test]
fn the_runs_of_a_campaign_keep_only_so_much_content() {
    run(async {
        let journal = Arc::new(skald_store::Memory::new());
        let engine = engine_with(journal.clone());
        // A run without a campaign counts for the caller who created it.
        let counted = (limits::INLINE_CAMPAIGN_BYTES_MAX - 10).to_string();
        journal.put("inline-bytes", "principal/owner", counted).await.unwrap();
        create_exploration_run(&engine).await;
        let plan = async |key: &str, text: &str| {
            let plan =
                event_input("submit_experiment_plan", 1, key, &json!({"plan": "p"}), &[("experiment_plan.md", text)]);
            emit_event(&engine, &Caller::owner(), plan).await.unwrap()
        };
        let answer = plan("a", "12345678901").await;
        assert_eq!(answer["error"]["code"], "TOO_LARGE", "{answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("keeps 500000000 bytes of content that is handed in"), "{message}");
        let answer = plan("b", "1234567890").await;
        assert_eq!(answer["success"], true, "exactly as much as is kept: {}", answer["error"]);
    });
}

/// The versions that a token submitted are counted in a side row, which the test sets close to the limit.
#[test]
fn versions_of_processes_that_a_token_submits_have_an_end() {
    run(async {
        let journal = Arc::new(skald_store::Memory::new());
        let engine = engine_with(journal.clone());
        let mara = human_caller("mara");
        let counted = (limits::PROCESS_VERSIONS_PER_TOKEN_MAX - 2).to_string();
        journal.put("process-versions", mara.id(), counted).await.unwrap();
        let submit = async |engine: &LocalEngine, caller: &Caller, id: &str, version: u32| {
            let source = format!(
                "process: {{id: {id}, version: \"{version}\", name: P, initial_state: a}}\n\
                 states: [{{name: a}}, {{name: b, is_final: true}}]\n\
                 events: [{{name: go, allowed_roles: [\"*\"]}}]\n\
                 transitions: [{{from: a, event: go, to: b}}]\n\
                 roles: [{{name: agent, allowed_events: []}}]\n"
            );
            call(engine, caller, "state_gate.submit_process", json!({"source": source})).await
        };
        submit(&engine, &mara, "p", 1).await.expect("the last but one fits");
        submit(&engine, &mara, "p", 2).await.expect("the last one fits");
        let refused = submit(&engine, &mara, "p", 3).await.unwrap_err();
        assert_eq!(refused.code(), Code::TooLarge);
        let words = "whoever has a token has at most 1000 submitted versions of processes; there are 1000";
        assert_eq!(refused.body().message, words);
        assert!(refused.body().hint.as_ref().is_some_and(|hint| hint.contains("owner")), "{refused}");
        submit(&engine, &mara, "p", 1).await.expect("a version that is there is no further one");
        submit(&engine, &human_caller("nils"), "q", 1).await.expect("each token has its own");
        let mut app = app_with(journal);
        app.gate_role = "human".to_owned();
        submit(&LocalEngine::new(app), &Caller::owner(), "p", 3).await.expect("the owner is not bound");
    });
}
