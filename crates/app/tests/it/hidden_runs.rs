//! Tests of runs that not everybody may see: they are announced, listed and watched by those who may and nobody else.

use serde_json::{Value, json};
use skald_app::{Caller, CampaignRole, Code, Engine, PrincipalKind};

use crate::gate::token_holder;
use crate::reveals::{Listener, run};
use crate::secrets::{Table, owner};

async fn create_run(table: &Table, caller: &Caller, run_id: &str) {
    let input =
        json!({"process_id": "exploration-process", "run_id": run_id, "campaign_id": table.campaign_id.as_str()});
    table.call(caller, "state_gate.create_run", input).await;
}

#[test]
fn a_run_is_announced_to_game_masters_and_to_who_created_it() {
    run(async {
        let table = Table::new().await;
        let mut listener = Listener::new(&table).await;
        for (caller, run_id, readers) in
            [(&owner(), "the-ambush", &["gm"][..]), (&table.ana, "token_Ana-1", &["gm", "Ana"])]
        {
            create_run(&table, caller, run_id).await;
            let heard = listener.heard().await;
            assert_eq!(heard[&format!("stategate://runs/{run_id}/summary")], readers, "{heard:?}");
            assert!(heard.values().all(|names| names == readers), "{heard:?}");
        }
        // Nobody learns by a subscription which runs there are.
        let can_subscribe = async |caller: &Caller, run_id: &str| {
            table.engine.can_subscribe(caller, &format!("stategate://runs/{run_id}/summary")).await
        };
        for caller in [&table.ana, &table.ben, &table.unbound, &table.guest] {
            assert!(!can_subscribe(caller, "the-ambush").await && !can_subscribe(caller, "run-none").await);
        }
        assert!(can_subscribe(&table.ana, "token_Ana-1").await && !can_subscribe(&table.ben, "token_Ana-1").await);
        assert!(can_subscribe(&owner(), "the-ambush").await && !can_subscribe(&owner(), "run-none").await);
    });
}

/// Missed changes of files are announced as a change of the list, to whoever may see a run.
#[test]
fn the_list_of_runs_changes_for_those_who_see_one() {
    run(async {
        let table = Table::new().await;
        create_run(&table, &owner(), "the-ambush").await;
        let mut changes = table.engine.changes(&owner(), None).await;
        table.engine.app().announce_changed_runs().await.expect("the store answers");
        let news = changes.next().await.expect("news");
        for (caller, hears) in [(&owner(), true), (&table.ana, false), (&table.guest, false)] {
            assert_eq!(news.concerns(caller, "stategate://runs"), hears);
            assert_eq!(news.concerns_list(caller), hears);
        }
    });
}

/// Hosts give players tokens for all campaigns. Only a token for gates shows the runs of others.
#[test]
fn a_run_without_a_campaign_is_for_its_creator_and_for_reviewers() {
    run(async {
        let table = Table::new().await;
        let player = |name, gate_role| token_holder(name, PrincipalKind::Human, gate_role, CampaignRole::Player);
        let (ana, ben, reviewer) = (player("Ana", None), player("Ben", None), player("Rea", Some("human")));
        let gm = token_holder("Gia", PrincipalKind::Human, None, CampaignRole::Gm);
        for (caller, run_id) in [(&owner(), "the-ambush"), (&ana, "token_Ana-1")] {
            let input = json!({"process_id": "exploration-process", "run_id": run_id});
            table.call(caller, "state_gate.create_run", input).await;
        }
        for (caller, seen) in [
            (&owner(), &["token_Ana-1", "the-ambush"][..]),
            (&gm, &["token_Ana-1", "the-ambush"]),
            (&reviewer, &["token_Ana-1", "the-ambush"]),
            (&ana, &["token_Ana-1"]),
            (&ben, &[]),
            (&table.ana, &[]),
        ] {
            let listed = table.call(caller, "state_gate.list_runs", json!({})).await;
            let ids: Vec<&str> = listed["runs"].as_array().expect("runs").iter().map(id_of).collect();
            assert_eq!(ids, seen, "{}", caller.id());
            for run_id in ["the-ambush", "token_Ana-1"] {
                let read = table.try_call(caller, "state_gate.get_state", json!({"run_id": run_id})).await;
                let code = read.map_or_else(|fault| Some(fault.code()), |_| None);
                assert_eq!(code, (!seen.contains(&run_id)).then_some(Code::RunNotFound), "{} {run_id}", caller.id());
            }
        }
    });
}

fn id_of(run: &Value) -> &str {
    run["run_id"].as_str().expect("an id")
}

#[test]
fn a_cursor_of_the_runs_names_no_hidden_run() {
    run(async {
        let table = Table::new().await;
        for number in 0..3 {
            create_run(&table, &table.ana, &format!("token_Ana-{number}")).await;
            create_run(&table, &owner(), &format!("hidden-{number}")).await;
        }
        for filter in [json!({}), json!({"process_id": "exploration-process"}), json!({"status": "active"})] {
            let (mut ids, mut cursor) = (Vec::new(), Value::Null);
            loop {
                let mut input = filter.clone();
                input["limit"] = json!(1);
                if cursor.is_string() {
                    input["cursor"] = cursor;
                }
                let page = table.call(&table.ana, "state_gate.list_runs", input).await;
                assert!(!page.to_string().contains("hidden"), "{page}");
                ids.extend(page["runs"].as_array().expect("runs").iter().map(|run| run["run_id"].clone()));
                cursor = page["next_cursor"].clone();
                if cursor.is_null() {
                    break;
                }
            }
            assert_eq!(ids, ["token_Ana-2", "token_Ana-1", "token_Ana-0"], "{filter}");
        }
    });
}
