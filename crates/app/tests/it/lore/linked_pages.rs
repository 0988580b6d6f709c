//! Tests of notifications: whoever watches an entity hears of it when another one links to it, or links to it no more.

use std::collections::BTreeSet;

use serde_json::json;
use skald_app::{Caller, Changes, Engine};

use super::LoreCampaign;
use super::privacy::ChangeListener;
use crate::universe::run;

/// Of the URIs, the entities whose pages they are.
fn pages(uris: &BTreeSet<String>) -> BTreeSet<u64> {
    uris.iter().filter_map(|uri| uri.rsplit_once("/entity/")?.1.parse().ok()).collect()
}

async fn heard(listener: &mut ChangeListener<'_>) -> (BTreeSet<u64>, BTreeSet<u64>) {
    let (gm, player) = listener.heard().await;
    (pages(&gm), pages(&player))
}

fn both(ids: &[u64]) -> (BTreeSet<u64>, BTreeSet<u64>) {
    let ids: BTreeSet<u64> = ids.iter().copied().collect();
    (ids.clone(), ids)
}

/// Ann (1), Bela (2), Cora (3), and Dora (4), whom only game masters see.
async fn four_people() -> LoreCampaign {
    let lore = LoreCampaign::new().await;
    let person = |name: &str| json!({"entity_type": "character", "name": name, "is_private": name == "Dora"});
    lore.create(json!([person("Ann"), person("Bela"), person("Cora"), person("Dora")])).await;
    lore
}

#[test]
fn what_is_mentioned_hears_of_it_and_of_the_end_of_it() {
    run(async {
        let lore = four_people().await;
        let mut listener = ChangeListener::new(&lore).await;
        lore.update(json!({"entity_id": 1, "entry": "Knows [[Bela]] and [entity:4]."})).await;
        let (gm, player) = heard(&mut listener).await;
        assert_eq!((gm, player), (BTreeSet::from([1, 2, 4]), BTreeSet::from([1, 2])), "who may know of each");
        lore.update(json!({"entity_id": 1, "entry": "Knows [[Cora]]."})).await;
        let (gm, player) = heard(&mut listener).await;
        assert_eq!((gm, player), (BTreeSet::from([1, 2, 3, 4]), BTreeSet::from([1, 2, 3])), "added and removed");
        let post_id = lore.create_post(json!({"entity_id": 1, "name": "News", "entry": "Of [[Bela]]."})).await;
        assert_eq!(heard(&mut listener).await, both(&[1, 2]), "a post");
        let update = json!({"entity_id": 1, "post_id": post_id, "entry": "Of nobody."});
        lore.call("update_posts", json!({"updates": [update]})).await;
        assert_eq!(heard(&mut listener).await, both(&[1, 2]), "a post that mentions it no more");
        lore.update(json!({"entity_id": 4, "entry": "Knows [[Ann]]."})).await;
        assert_eq!(heard(&mut listener).await, (BTreeSet::from([1, 4]), BTreeSet::new()), "a secret link");
    });
}

#[test]
fn parents_hear_of_their_children() {
    run(async {
        let lore = four_people().await;
        let mut listener = ChangeListener::new(&lore).await;
        lore.update(json!({"entity_id": 3, "parent": "Ann"})).await;
        assert_eq!(heard(&mut listener).await, both(&[1, 3]));
        lore.update(json!({"entity_id": 3, "parent": "Bela"})).await;
        assert_eq!(heard(&mut listener).await, both(&[1, 2, 3]), "the old one and the new one");
        lore.create_one(json!({"entity_type": "character", "name": "Emma", "parent": 2})).await;
        assert_eq!(heard(&mut listener).await, both(&[2, 5]));
    });
}

#[test]
fn a_new_name_and_a_deletion_are_heard_of_by_all_that_is_linked() {
    run(async {
        let lore = four_people().await;
        lore.update(json!({"entity_id": 2, "entry": "Knows [[Ann]]."})).await;
        lore.update(json!({"entity_id": 3, "parent": "Ann"})).await;
        let mut listener = ChangeListener::new(&lore).await;
        lore.update(json!({"entity_id": 1, "name": "Anna"})).await;
        assert_eq!(heard(&mut listener).await, both(&[1, 2, 3]));
        lore.delete(1).await;
        assert_eq!(heard(&mut listener).await, both(&[1, 2, 3]));
        lore.history(json!({"method": "undelete", "entity_id": 1})).await;
        assert_eq!(heard(&mut listener).await, both(&[1, 2, 3]));
    });
}

/// A URI may have a name, and changes are announced by number.
#[test]
fn whoever_watches_an_entity_by_name_hears_of_changes() {
    run(async {
        let lore = four_people().await;
        lore.engine.journal_end().await;
        let owner = Caller::owner();
        let start: Changes = lore.engine.changes(&owner, None).await;
        lore.update(json!({"entity_id": 1, "entry": "News."})).await;
        let mut changes = lore.engine.changes(&owner, Some(&start.place().expect("a place"))).await;
        let news = changes.next().await.expect("news");
        let uri = |end: &str| format!("lore://{}/{end}", lore.campaign_id);
        assert!(lore.engine.is_changed(&news, &owner, &uri("entity/Ann")));
        assert!(lore.engine.is_changed(&news, &owner, &uri("relationships/Ann?depth=2")));
        assert!(!lore.engine.is_changed(&news, &owner, &uri("entity/2")));
    });
}
