//! Tests of deletions on one side while the other changes the entity.

use serde_json::{Value, json};
use skald_app::SyncScope;

use super::MirrorPair;
use super::kanka_stub::LinkedToStub;

/// An entity with a post that both sides have.
async fn pair_with_entity(seed: u64) -> (MirrorPair, u64, u64) {
    let pair = MirrorPair::new(seed).await;
    let ann = pair.there.create("character", "Ann", "Old.").await;
    let post = json!({"entity_id": ann, "name": "Past", "entry": "Long ago."});
    let post = pair.there.batch("create_posts", "posts", post).await["post_id"].as_u64().unwrap();
    pair.link(json!({})).await.unwrap();
    pair.pull().await;
    (pair, ann, post)
}

async fn restore(pair: &MirrorPair, entity_id: u64, post_id: Option<u64>) {
    let mut undelete = json!({"method": "undelete", "entity_id": entity_id});
    if let Some(post_id) = post_id {
        undelete["post_id"] = json!(post_id);
    }
    pair.here.call("lore_history", undelete).await;
}

/// The conflicts as `field: ours / theirs`.
async fn conflict_lines(pair: &MirrorPair) -> Vec<String> {
    let line = |row: &Value| format!("{}: {} / {}", row["field"], row["ours"], row["theirs"]).replace('"', "");
    pair.conflicts().await.iter().map(line).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_of_a_deleted_entity_survives_that_it_is_restored_here() {
    for (number, scope) in [SyncScope::Everything, SyncScope::Changes, SyncScope::Send].into_iter().enumerate() {
        let (pair, ann, post) = pair_with_entity(70 + number as u64).await;
        pair.here.call("delete_entities", json!({"entity_ids": [ann]})).await;
        pair.there.update(ann, json!({"entry": "New.", "tags": ["npc"]})).await;
        let change = json!({"entity_id": ann, "post_id": post, "entry": "Yesterday."});
        pair.there.batch("update_posts", "updates", change).await;
        let added = json!({"entity_id": ann, "name": "Plans", "entry": "Tomorrow."});
        pair.there.batch("create_posts", "posts", added).await;
        pair.pull().await;
        assert_eq!(conflict_lines(&pair).await, ["deleted: deleted / changed"], "{scope:?}");

        restore(&pair, ann, None).await;
        pair.sync(scope).await.unwrap();
        let there = pair.there.get(ann).await;
        assert_eq!(there["entry"], "New.", "{scope:?}: what was written there stays");
        assert_eq!(there["posts"].as_array().unwrap().len(), 2, "{scope:?}: {there}");
        assert_eq!(conflict_lines(&pair).await, ["entry: Old. / New.", "entry: Long ago. / Yesterday."], "{scope:?}");
        let here = pair.here.get(ann).await;
        assert_eq!((&here["tags"], here["posts"].as_array().unwrap().len()), (&json!(["npc"]), 2), "{scope:?}: {here}");

        pair.mirror("resolve", json!({"entity_id": ann, "keep": "theirs"})).await;
        pair.mirror("resolve", json!({"entity_id": ann, "post_id": post, "keep": "ours"})).await;
        pair.pull().await;
        assert_eq!(pair.here.lore().await, pair.there.lore().await, "{scope:?}");
        let there = pair.there.get(ann).await;
        assert!(there["entry"] == "New." && there.to_string().contains("Long ago."), "{scope:?}: {there}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_of_a_deleted_post_survives_that_it_is_restored_here() {
    for (number, scope) in [SyncScope::Everything, SyncScope::Changes, SyncScope::Send].into_iter().enumerate() {
        let (pair, ann, post) = pair_with_entity(75 + number as u64).await;
        let place = json!({"entity_id": ann, "post_id": post});
        pair.here.batch("delete_posts", "deletions", place).await;
        let change = json!({"entity_id": ann, "post_id": post, "entry": "Yesterday."});
        pair.there.batch("update_posts", "updates", change).await;
        pair.pull().await;
        assert_eq!(conflict_lines(&pair).await, ["deleted: deleted / changed"], "{scope:?}");
        restore(&pair, ann, Some(post)).await;
        pair.sync(scope).await.unwrap();
        assert_eq!(pair.there.get(ann).await["posts"][0]["entry"], "Yesterday.", "{scope:?}");
        assert_eq!(conflict_lines(&pair).await, ["entry: Long ago. / Yesterday."], "{scope:?}");
        pair.mirror("resolve", json!({"entity_id": ann, "post_id": post, "keep": "theirs"})).await;
        pair.pull().await;
        assert_eq!(
            (pair.here.lore().await, conflict_lines(&pair).await),
            (pair.there.lore().await, vec![]),
            "{scope:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conflict_of_an_entity_that_is_removed_for_good_ends() {
    let (pair, ann, _) = pair_with_entity(80).await;
    pair.here.call("delete_entities", json!({"entity_ids": [ann]})).await;
    pair.there.update(ann, json!({"entry": "New."})).await;
    pair.pull().await;
    assert_eq!(conflict_lines(&pair).await.len(), 1);
    pair.here.call("lore_history", json!({"method": "empty"})).await;
    let status = pair.mirror("status", json!({})).await;
    assert_eq!((&status["conflict_count"], conflict_lines(&pair).await.len()), (&json!(0), 0), "{status}");
    pair.pull().await;
    // What was written there after the deletion is worth more than the removal.
    assert_eq!((pair.here.get(ann).await["entry"].clone(), conflict_lines(&pair).await.len()), (json!("New."), 0));
    assert_eq!(pair.here.lore().await, pair.there.lore().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_both_sides_deleted_is_no_conflict() {
    let (pair, ann, _) = pair_with_entity(81).await;
    pair.there.call("delete_entities", json!({"entity_ids": [ann]})).await;
    pair.here.update(ann, json!({"entry": "New."})).await;
    pair.pull().await;
    assert_eq!(conflict_lines(&pair).await, ["deleted: changed / deleted"]);
    pair.here.call("delete_entities", json!({"entity_ids": [ann]})).await;
    pair.sync(SyncScope::Send).await.unwrap();
    let status = pair.mirror("status", json!({})).await;
    assert_eq!((&status["conflict_count"], &status["pending"]), (&json!(0), &json!(0)), "{status}");
    assert!(pair.there.ids().await.is_empty() && conflict_lines(&pair).await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entity_that_is_deleted_there_while_it_is_sent_is_a_conflict_and_no_problem() {
    for is_failing_before in [false, true] {
        let mut ann = 0;
        let pair = LinkedToStub::new(|stub| ann = stub.create("character", "Ann")).await;
        pair.pull().await;
        pair.here.update(ann, json!({"entry": "From here."})).await;
        if is_failing_before {
            pair.stub().failing_writes.insert(ann);
            pair.sync(SyncScope::Send).await.unwrap();
            assert_eq!(pair.status().await["problems"].as_array().map(Vec::len), Some(1));
            pair.stub().entities.remove(&ann);
        } else {
            let own_id = pair.stub().entities[&ann].id;
            pair.stub().later_deletion = Some((format!("/characters/{own_id}"), ann));
        }
        for scope in [SyncScope::Send, SyncScope::Everything] {
            pair.sync(scope).await.unwrap();
        }
        let status = pair.status().await;
        assert_eq!((&status["conflict_count"], status.get("problems")), (&json!(1), None), "{status}");
        pair.here.call("kanka_mirror", json!({"method": "resolve", "entity_id": ann, "keep": "ours"})).await;
        pair.sync(SyncScope::Send).await.unwrap();
        assert_eq!(pair.stub().find("Ann").1.entry.as_deref(), Some("<p>From here.</p>"));
    }
}
