//! Tests of many agents who write one campaign's lore at once: what they leave is what a rebuild makes of the journal.

use std::sync::Arc;

use futures::future::join_all;
use serde_json::{Value, json};
use skald_app::{Caller, LocalEngine, Nouns};
use skald_journal::{Document, StoredSearchRow, rebuild};

use super::history::assert_sound;
use super::{LoreCampaign, rows, successful_id};
use crate::universe::{call, run};

const AGENTS: usize = 16;
const TURNS: usize = 6;

/// The documents of the lore and their rows in the search index.
async fn read_models(lore: &LoreCampaign) -> (Vec<Document>, Vec<StoredSearchRow>) {
    let documents = lore.journal.owned_documents(&lore.stream(), ("", ""), usize::MAX).await;
    let rows = lore.journal.owned_search_rows(&lore.stream(), ("", ""), usize::MAX).await;
    (documents.expect("documents"), rows.expect("rows of the index"))
}

/// One agent creates entities that link each other, adds to what all share, writes posts, and deletes some of it.
async fn write_as_agent(engine: &Arc<LocalEngine>, agent: usize) -> Vec<u64> {
    let send = async |operation: &str, input: Value| -> Vec<Value> {
        let answer = call(engine, &Caller::owner(), operation, input.clone()).await;
        let answer = answer.unwrap_or_else(|fault| panic!("{operation} {input}: {fault}"));
        rows(&answer, "results").to_vec()
    };
    let mut ids = Vec::new();
    for turn in 0..TURNS {
        let name = format!("Glade {agent}-{turn}");
        let tag = ["Woods", "WOODS", "Öl", "Ol"][(agent + turn) % 4];
        let created = send("create_entities", json!({"entities": [
            {"entity_type": "location", "name": name, "tags": [tag], "entry": format!("Near [[Cave {agent}-{turn}]].")},
            {"entity_type": "clue", "name": format!("Cave {agent}-{turn}"), "is_private": true, "entry": "Dark."}
        ]}))
        .await;
        let created: Vec<u64> = created.iter().map(|result| successful_id(result, "entity_id")).collect();
        // Whoever comes too late too often is told so, and tries again.
        let update = json!({"updates": [{"entity_id": "Diary", "entry_append": format!("{name};")}]});
        while send("update_entities", update.clone()).await[0]["success"] != true {}
        let posts = send("create_posts", json!({"posts": [{"entity_id": created[0], "name": "News", "entry": name}]}));
        let post_id = successful_id(&posts.await[0], "post_id");
        match turn % 3 {
            0 => drop(send("delete_entities", json!({"entity_ids": [created[1]]})).await),
            1 => {
                let deletion = json!({"entity_id": created[0], "post_id": post_id});
                drop(send("delete_posts", json!({"deletions": [deletion]})).await);
            }
            _ => {
                let update = json!({"entity_id": created[0], "name": "Clearing"});
                drop(send("update_entities", json!({"updates": [update]})).await);
            }
        }
        ids.extend(created);
    }
    ids
}

#[test]
fn what_sixteen_agents_leave_is_what_a_rebuild_makes() {
    run(async {
        let lore = LoreCampaign::new().await;
        lore.create_one(json!({"entity_type": "journal", "name": "Diary", "entry": "Begin."})).await;
        let agents = (0..AGENTS).map(|agent| Box::pin(write_as_agent(&lore.engine, agent)));
        let mut ids: Vec<u64> = join_all(agents).await.concat();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), AGENTS * TURNS * 2, "every id is given once");
        let diary = lore.get("Diary").await["entry"].as_str().expect("a text").to_owned();
        for (agent, turn) in (0..AGENTS).flat_map(|agent| (0..TURNS).map(move |turn| (agent, turn))) {
            assert_eq!(diary.matches(&format!("Glade {agent}-{turn};")).count(), 1, "{diary}");
        }
        assert_sound(&*lore.journal).await;
        let before = read_models(&lore).await;
        rebuild(&*lore.journal, &Nouns::all().stream_kinds()).await.expect("a rebuild");
        let after = read_models(&lore).await;
        assert_eq!(before.0, after.0);
        assert_eq!(before.1, after.1);
        assert_sound(&*lore.journal).await;
    });
}
