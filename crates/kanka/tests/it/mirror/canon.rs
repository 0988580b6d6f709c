//! Canon on a linked campaign: what is authoritative here is not overwritten by a pull, nor pushed over what is there.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use skald_app::{
    Caller, CampaignRole, Conversation, Engine, Holder, Principal, PrincipalKind, RequestControl, SyncScope,
};

use super::MirrorPair;

/// A person, who may decide about canon.
fn person() -> Caller {
    let roles: BTreeMap<String, CampaignRole> = [("*".to_owned(), CampaignRole::Gm)].into();
    let holder = Holder {
        gate_role: Some("human".to_owned()),
        ..Holder::new("token_mara", "Mara", PrincipalKind::Human, roles)
    };
    Caller { principal: Principal::Holder(Arc::new(holder)), conversation: Conversation::None }
}

/// A linked pair with an authoritative character and its post, and their ids.
async fn canonical_pair(seed: u64) -> (MirrorPair, u64, u64) {
    let pair = MirrorPair::new(seed).await;
    let ann = pair.there.create("character", "Ann", "Brave.").await;
    let post = json!({"entity_id": ann, "name": "Past", "entry": "Long ago."});
    let post = pair.there.batch("create_posts", "posts", post).await["post_id"].as_u64().unwrap();
    pair.link(json!({})).await.unwrap();
    pair.pull().await;
    pair.here.call("canon", json!({"method": "mark", "entity_id": ann, "confidence": "AUTHORITATIVE"})).await;
    (pair, ann, post)
}

async fn held(pair: &MirrorPair) -> Vec<Value> {
    pair.here.call("canon", json!({})).await["rows"].as_array().unwrap().clone()
}

async fn resolve(pair: &MirrorPair, id: &str, choice: &str) {
    let campaign_id = &pair.here.campaign_id;
    let input =
        json!({"campaign_id": campaign_id, "method": "resolve", "id": id, "choice": choice, "reason": "as played"});
    pair.here.engine.call(&person(), "canon", input, &RequestControl::default()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pull_is_held_once_and_the_rest_of_it_is_taken() {
    let (pair, ann, _) = canonical_pair(31).await;
    pair.there.update(ann, json!({"name": "Bea", "entry": "Cowardly.", "tags": ["north"]})).await;
    for _ in 0..3 {
        pair.pull().await;
        let here = pair.here.get(ann).await;
        assert_eq!((&here["name"], &here["entry"]), (&json!("Ann"), &json!("Brave.")));
        assert_eq!(here["tags"], json!(["north"]), "what is no part of canon is taken over");
        let there = pair.there.get(ann).await;
        assert_eq!(
            (&there["name"], &there["entry"]),
            (&json!("Bea"), &json!("Cowardly.")),
            "nothing was pushed over it"
        );
        let rows = held(&pair).await;
        assert_eq!(rows.len(), 1, "{rows:?}");
        assert_eq!((&rows[0]["tool"], &rows[0]["fields"]), (&json!("kanka_mirror"), &json!(["name", "entry"])));
    }
    // The mirror's own list has it too, and there it cannot be taken past a person.
    let conflicts = pair.mirror("conflicts", json!({})).await;
    assert_eq!(conflicts["conflicts"].as_array().unwrap().len(), 2, "{conflicts}");
    resolve(&pair, "c1", "proposed").await;
    pair.pull().await;
    assert_eq!(pair.here.lore().await, pair.there.lore().await);
    let status = pair.mirror("status", json!({})).await;
    assert_eq!((&status["pending"], &status["conflict_count"]), (&json!(0), &json!(0)), "{status}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deletion_and_a_post_are_held() {
    let (pair, ann, post) = canonical_pair(32).await;
    let update = json!({"entity_id": ann, "post_id": post, "entry": "Never."});
    pair.there.batch("update_posts", "updates", update).await;
    for _ in 0..2 {
        pair.pull().await;
        assert_eq!(pair.here.get(ann).await["posts"][0]["entry"], "Long ago.");
        assert_eq!(pair.there.get(ann).await["posts"][0]["entry"], "Never.");
        assert_eq!(held(&pair).await.len(), 1);
    }
    pair.there.call("delete_entities", json!({"entity_ids": [ann]})).await;
    for _ in 0..2 {
        pair.pull().await;
        pair.sync(SyncScope::Send).await.unwrap();
        assert_eq!(pair.here.get(ann).await["name"], "Ann");
        assert!(pair.there.ids().await.is_empty());
        assert_eq!(held(&pair).await.len(), 2);
    }
    resolve(&pair, "c2", "proposed").await;
    pair.pull().await;
    assert!(pair.here.ids().await.is_empty());
}
