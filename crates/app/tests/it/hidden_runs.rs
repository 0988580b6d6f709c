//! Tests of runs that not everybody may see: they are announced, listed and watched by those who may and nobody else.

use serde_json::{Value, json};
use skald_app::{Caller, Engine};

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
