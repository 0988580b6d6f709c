//! Linking, pulling and pushing without faults: what travels, under which ids, and what stays.

use serde_json::json;
use skald_app::{Code, SyncScope};

use super::MirrorPair;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_there_is_pulled_under_its_ids() {
    let pair = MirrorPair::new(1).await;
    let inn = pair.there.create("location", "Inn", "A *low* roof.").await;
    let item = json!({
        "entity_type": "character", "name": "Ann", "entry": "Lives in [[Inn]].", "tags": ["NPC", "Smith"], "type": "NPC",
        "aliases": ["Annie"], "parent": inn, "is_private": true,
    });
    let ann = pair.there.batch("create_entities", "entities", item).await["entity_id"].as_u64().unwrap();
    let post = json!({"entity_id": ann, "name": "Secret", "entry": "She knows.", "is_private": true});
    pair.there.batch("create_posts", "posts", post).await;

    let linked = pair.link(json!({})).await.unwrap();
    assert_eq!((&linked["linked"], &linked["kanka_name"]), (&json!(true), &json!("Bells")), "{linked}");
    let pulled = pair.mirror("pull", json!({})).await;
    assert_eq!((&pulled["pulled"], &pulled["stale"], &pulled["pending"]), (&json!(2), &json!(false), &json!(0)));
    assert_eq!(pair.here.lore().await, pair.there.lore().await);
    let here = pair.here.get(ann).await;
    assert_eq!((&here["parent"]["entity_id"], &here["mentions"][0]["entity_id"]), (&json!(inn), &json!(inn)));

    // A pull of what is known changes nothing here and sends nothing.
    pair.take_requests();
    let again = pair.mirror("pull", json!({})).await;
    assert_eq!((&again["pulled"], &again["sent"]), (&json!(0), &json!(0)));
    assert!(pair.take_requests().iter().all(|line| line.starts_with("GET ")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_written_here_gets_the_ids_of_kanka_and_answers_to_its_own() {
    let pair = MirrorPair::linked(2).await;
    pair.pull().await;
    let inn = pair.here.create("location", "Inn", "").await;
    assert!(inn > 3_000_000_000, "ids that are given here are apart from those of Kanka");
    let ann = pair.here.create("character", "Ann", &format!("In [entity:{inn}|the inn].")).await;
    pair.here.update(inn, json!({"entry": format!("[entity:{ann}] sits here."), "parent": ""})).await;
    let post = json!({"entity_id": ann, "name": "Past", "entry": "Long ago."});
    pair.here.batch("create_posts", "posts", post).await;
    let status = pair.mirror("status", json!({})).await;
    assert_eq!(status["pending"], 2, "entities are counted, not records: {status}");

    pair.sync(SyncScope::Send).await.unwrap();
    let there = pair.there.ids().await;
    assert_eq!((there.len(), pair.here.ids().await), (2, there.clone()));
    assert_eq!(pair.here.lore().await, pair.there.lore().await);
    let old = pair.here.get(ann).await;
    assert!(there.contains(&old["entity_id"].as_u64().unwrap()) && old["name"] == "Ann", "{old}");
    let status = pair.mirror("status", json!({})).await;
    assert_eq!((&status["pending"], &status["conflict_count"]), (&json!(0), &json!(0)), "{status}");

    // A change under the old id goes to the same entity.
    pair.here.update(ann, json!({"type": "NPC"})).await;
    pair.sync(SyncScope::Send).await.unwrap();
    assert_eq!(pair.there.get(old["entity_id"].as_u64().unwrap()).await["type"], "NPC");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entry_that_is_written_back_unchanged_changes_nothing_there() {
    let pair = MirrorPair::new(3).await;
    let html = "<p>One</p><p><br></p><table><tbody><tr><td colspan=\"2\">x</td></tr></tbody></table>";
    let change = json!({"changes": [{"create_entity": {"entity_type": "note", "name": "N", "entry": html}}]});
    pair.there.call("write_lore", change).await;
    pair.link(json!({})).await.unwrap();
    pair.pull().await;
    let id = pair.here.ids().await[0];
    let entry = pair.here.get(id).await["entry"].clone();
    pair.here.update(id, json!({"entry": entry})).await;
    pair.take_requests();
    pair.sync(SyncScope::Send).await.unwrap();
    assert_eq!(pair.take_requests(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_for_a_new_entity_in_a_text_creates_none() {
    let pair = MirrorPair::linked(4).await;
    pair.pull().await;
    pair.here.create("note", "Plan", "Ask [new:character|Zoe] about it.").await;
    pair.sync(SyncScope::Send).await.unwrap();
    let ids = pair.there.ids().await;
    assert_eq!(ids.len(), 1);
    assert_eq!(pair.there.get(ids[0]).await["entry"], "Ask Zoe about it.");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clues_are_notes_of_that_type_there_and_stay_clues_here() {
    let pair = MirrorPair::linked(5).await;
    pair.pull().await;
    pair.here.create("clue", "Torn page", "Ink.").await;
    pair.sync(SyncScope::Send).await.unwrap();
    let there = pair.there.get(pair.there.ids().await[0]).await;
    assert_eq!((&there["entity_type"], &there["type"]), (&json!("note"), &json!("Clue")));
    pair.pull().await;
    let here = pair.here.get(pair.here.ids().await[0]).await;
    assert_eq!((&here["entity_type"], here.get("type")), (&json!("clue"), None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_campaign_with_lore_is_linked_only_if_it_may_be_merged() {
    let pair = MirrorPair::new(6).await;
    let there = pair.there.create("location", "Inn", "There.").await;
    let inn = pair.here.create("location", "Inn", "").await;
    assert_eq!((inn, there), (1, 1), "both sides count from 1");
    pair.here.create("character", "Ann", "Lives in [[Inn]].").await;
    let refused = pair.link(json!({})).await.unwrap_err();
    assert_eq!((refused.code(), refused.body().path.as_deref()), (Code::Rejected, Some("/merge")), "{refused}");
    pair.link(json!({"merge": true})).await.unwrap();
    pair.pull().await;
    assert_eq!(pair.here.lore().await, pair.there.lore().await);
    assert_eq!(pair.there.ids().await.len(), 2, "the inn is one, and Ann is there");
    assert_eq!(pair.here.get(1).await["entry"], "There.");
    let ann = pair.there.ids().await[1];
    assert_eq!(pair.there.get(ann).await["mentions"][0]["entity_id"], 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_deleted_on_one_side_is_gone_on_the_other() {
    let pair = MirrorPair::new(7).await;
    let (a, b) = (pair.there.create("note", "A", "").await, pair.there.create("note", "B", "").await);
    let c = pair.there.create("note", "C", "").await;
    pair.link(json!({})).await.unwrap();
    pair.pull().await;
    pair.there.call("delete_entities", json!({"entity_ids": [a]})).await;
    pair.here.call("delete_entities", json!({"entity_ids": [b]})).await;
    pair.pull().await;
    assert_eq!((pair.here.ids().await, pair.there.ids().await), (vec![c], vec![c]));

    // What comes out of the archive is created there again, and keeps its earlier id as another name.
    pair.here.call("lore_history", json!({"method": "undelete", "entity_id": a})).await;
    pair.pull().await;
    let again = pair.here.get(a).await;
    assert_eq!(again["name"], "A");
    assert_eq!(pair.here.lore().await, pair.there.lore().await);
    assert_eq!(pair.there.ids().await.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unlinked_campaign_keeps_its_lore_and_goes_on_when_it_is_linked_again() {
    let pair = MirrorPair::new(8).await;
    let inn = pair.there.create("location", "Inn", "Old.").await;
    pair.link(json!({})).await.unwrap();
    pair.pull().await;
    let unlinked = pair.mirror("unlink", json!({})).await;
    assert_eq!(unlinked["linked"], false);
    assert!(pair.here.get(inn).await["name"] == "Inn");
    let found = pair.here.call("find_entities", json!({})).await;
    assert_eq!(found.get("mirror"), None, "an answer of an unlinked campaign says nothing of a mirror");
    assert!(pair.sync(SyncScope::Send).await.is_err());
    pair.here.update(inn, json!({"type": "Tavern"})).await;
    pair.there.update(inn, json!({"entry": "New."})).await;
    pair.link(json!({})).await.unwrap();
    pair.pull().await;
    assert_eq!(pair.here.lore().await, pair.there.lore().await);
    assert_eq!(pair.conflicts().await.len(), 0);
    let both = pair.there.get(inn).await;
    assert_eq!((&both["type"], &both["entry"]), (&json!("Tavern"), &json!("New.")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conflicts_are_listed_and_resolved_for_either_side() {
    let pair = MirrorPair::new(9).await;
    let (ann, ben) = (pair.there.create("note", "Ann", "x").await, pair.there.create("note", "Ben", "y").await);
    let (cid, dora) = (pair.there.create("note", "Cid", "z").await, pair.there.create("note", "Dora", "z").await);
    pair.link(json!({})).await.unwrap();
    pair.pull().await;
    for (side, word) in [(&pair.here, "ours"), (&pair.there, "theirs")] {
        side.update(ann, json!({"entry": word, "tags": [word]})).await;
        side.update(ben, json!({"name": format!("Ben {word}"), "type": word})).await;
    }
    pair.here.call("delete_entities", json!({"entity_ids": [cid]})).await;
    pair.there.update(cid, json!({"entry": "changed"})).await;
    pair.there.call("delete_entities", json!({"entity_ids": [dora]})).await;
    pair.here.update(dora, json!({"entry": "changed"})).await;
    pair.pull().await;

    let conflicts = pair.conflicts().await;
    let listed: Vec<(u64, &str, &str, &str)> = conflicts
        .iter()
        .map(|row| {
            let text = |name: &str| row[name].as_str().unwrap();
            (row["entity_id"].as_u64().unwrap(), text("field"), text("ours"), text("theirs"))
        })
        .collect();
    assert_eq!(
        listed,
        [
            (ann, "entry", "ours", "theirs"),
            (ben, "name", "Ben ours", "Ben theirs"),
            (ben, "type", "ours", "theirs"),
            (cid, "deleted", "deleted", "changed"),
            (dora, "deleted", "changed", "deleted"),
        ]
    );
    assert_eq!(pair.here.get(ann).await["entry"], "ours", "each side keeps its own");
    assert_eq!(pair.there.get(ann).await["entry"], "theirs");
    let mut tags = pair.there.get(ann).await["tags"].clone();
    tags.as_array_mut().unwrap().sort_by_key(ToString::to_string);
    assert_eq!(tags, json!(["ours", "theirs"]), "sets merge");

    let unknown =
        pair.here.try_call("kanka_mirror", json!({"method": "resolve", "entity_id": 99, "keep": "ours"})).await;
    assert_eq!(unknown.unwrap_err().code(), Code::NotFound);
    let incomplete = pair.here.try_call("kanka_mirror", json!({"method": "resolve"})).await.unwrap_err();
    assert_eq!(incomplete.body().message, "resolve needs entity_id and keep");
    pair.mirror("resolve", json!({"entity_id": ann, "keep": "ours"})).await;
    pair.mirror("resolve", json!({"entity_id": ben, "keep": "theirs", "field": "name"})).await;
    pair.mirror("resolve", json!({"entity_id": ben, "keep": "ours", "field": "type"})).await;
    pair.mirror("resolve", json!({"entity_id": cid, "keep": "theirs"})).await;
    let status = pair.mirror("resolve", json!({"entity_id": dora, "keep": "ours"})).await;
    assert_eq!((&status["resolved"], &status["conflict_count"]), (&json!(1), &json!(0)), "{status}");
    pair.sync(SyncScope::Changes).await.unwrap();
    assert_eq!(pair.here.lore().await, pair.there.lore().await);
    let (ann, ben) = (pair.there.get(ann).await, pair.there.get(ben).await);
    assert_eq!((&ann["entry"], &ben["name"], &ben["type"]), (&json!("ours"), &json!("Ben theirs"), &json!("ours")));
    assert_eq!(
        (&pair.here.get(cid).await["entry"], &pair.here.get(dora).await["entry"]),
        (&json!("changed"), &json!("changed"))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_owner_links_since_the_token_is_theirs() {
    use skald_app::{CampaignRole, Conversation, Engine, Holder, Principal, PrincipalKind, RequestControl};
    let pair = MirrorPair::new(10).await;
    let roles = std::collections::BTreeMap::from([(pair.here.campaign_id.clone(), CampaignRole::Gm)]);
    let holder = Holder::new("gm", "gm", PrincipalKind::Human, roles);
    let caller = skald_app::Caller {
        principal: Principal::Holder(std::sync::Arc::new(holder)),
        conversation: Conversation::None,
    };
    let input = json!({
        "method": "link", "campaign_id": pair.here.campaign_id, "kanka_campaign": pair.number, "base_url": pair.base_url(),
    });
    let refused = pair.here.engine.call(&caller, "kanka_mirror", input, &RequestControl::default()).await;
    assert_eq!(refused.unwrap_err().code(), Code::Forbidden);
    let status = json!({"campaign_id": pair.here.campaign_id});
    let status = pair.here.engine.call(&caller, "kanka_mirror", status, &RequestControl::default()).await.unwrap();
    assert_eq!(status["linked"], false);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_change_on_both_sides_is_no_conflict() {
    let pair = MirrorPair::new(11).await;
    let inn = pair.there.create("location", "Inn", "Old.").await;
    let cellar = pair.there.create("location", "Cellar", "Old.").await;
    let plan = pair.there.create("journal", "Plan", "Old.").await;
    let post = async |name: &str| {
        let post = json!({"entity_id": cellar, "name": name, "entry": "Old."});
        pair.there.batch("create_posts", "posts", post).await["post_id"].as_u64().unwrap()
    };
    let (edited, deleted) = (post("Edited").await, post("Deleted").await);
    pair.link(json!({})).await.unwrap();
    pair.pull().await;
    for side in [&pair.here, &pair.there] {
        let fields = json!({
            "name": "Vault", "entry": "New *and* [[Inn]].", "type": "Room", "tags": ["wet"], "aliases": ["Hole"],
            "is_private": true, "parent": inn,
        });
        side.update(cellar, fields).await;
        side.update(plan, json!({"date": "2026-01-02"})).await;
        let change = json!({"entity_id": cellar, "post_id": edited, "entry": "New.", "name": "Changed"});
        side.batch("update_posts", "updates", change).await;
        side.batch("delete_posts", "deletions", json!({"entity_id": cellar, "post_id": deleted})).await;
        let added = json!({"entity_id": cellar, "name": "Added", "entry": "On both sides."});
        side.batch("create_posts", "posts", added).await;
    }
    pair.pull().await;
    assert_eq!(pair.conflicts().await, Vec::<serde_json::Value>::new());
    let there = pair.there.get(cellar).await;
    assert_eq!(there["posts"].as_array().unwrap().len(), 2, "{there}");
    assert_eq!(pair.here.lore().await, pair.there.lore().await);
    for side in [&pair.here, &pair.there] {
        side.call("delete_entities", json!({"entity_ids": [plan]})).await;
    }
    pair.pull().await;
    assert_eq!((pair.conflicts().await.len(), pair.here.ids().await), (0, vec![inn, cellar]));
}
