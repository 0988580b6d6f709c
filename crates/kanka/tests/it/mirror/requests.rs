//! How many requests the mirror needs.

use serde_json::json;
use skald_app::SyncScope;

use super::MirrorPair;

/// Rows of a page of Kanka.
const PAGE_ROWS: usize = 45;

const ALL_TYPES: [&str; 8] = ["character", "location", "note", "quest", "journal", "organization", "race", "creature"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_first_pull_costs_its_pages_and_little_more() {
    first_pull_of(&ALL_TYPES, 60).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_first_pull_of_one_kind_with_many_tags_costs_no_more() {
    first_pull_of(&["journal"], 200).await;
}

async fn first_pull_of(types: &[&str], tag_count: usize) {
    const ENTITIES: usize = 2_000;
    let pair = MirrorPair::new(20).await;
    for part in 0..ENTITIES / 100 {
        let entity = |number: usize| {
            json!({
                "entity_type": types[number % types.len()], "name": format!("E{number}"), "entry": "Text.",
                "tags": [format!("t{}", number % tag_count)],
            })
        };
        let entities: Vec<_> = (part * 100..part * 100 + 100).map(entity).collect();
        pair.there.call("create_entities", json!({"entities": entities})).await;
    }
    pair.link(json!({})).await.unwrap();
    let report = pair.pull().await;
    assert_eq!((report.pulled, pair.here.ids().await.len()), (ENTITIES, ENTITIES));
    let requests = pair.take_requests().len();
    // The profile and the campaign were read by the link.
    assert!(requests <= ENTITIES / PAGE_ROWS + 20, "{requests} requests");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_costs_one_request_and_a_read_none() {
    let pair = MirrorPair::new(21).await;
    let ann = pair.there.create("character", "Ann", "Old.").await;
    pair.there.update(ann, json!({"tags": ["npc"]})).await;
    pair.link(json!({})).await.unwrap();
    pair.pull().await;
    pair.take_requests();

    let found = pair.here.call("find_entities", json!({"query": "Ann"})).await;
    assert_eq!((found["sync_info"]["total_count"].as_u64(), &found["mirror"]["stale"]), (Some(1), &json!(false)));
    pair.here.get(ann).await;
    assert_eq!(pair.take_requests(), [""; 0]);

    pair.here.update(ann, json!({"entry": "New.", "name": "Anna", "tags": ["npc"], "is_private": true})).await;
    pair.sync(SyncScope::Send).await.unwrap();
    assert_eq!(pair.take_requests(), [format!("PATCH /api/kanka/1.0/campaigns/{}/characters/1", pair.number)]);
    let post = json!({"entity_id": ann, "name": "Past", "entry": "Long ago."});
    let post = pair.here.batch("create_posts", "posts", post).await;
    pair.sync(SyncScope::Send).await.unwrap();
    assert_eq!(pair.take_requests(), [format!("POST /api/kanka/1.0/campaigns/{}/entities/{ann}/posts", pair.number)]);
    let update = json!({"entity_id": ann, "post_id": post["post_id"], "entry": "Not so long ago."});
    pair.here.batch("update_posts", "updates", update).await;
    pair.sync(SyncScope::Send).await.unwrap();
    assert_eq!(pair.take_requests().len(), 1);
    for number in 0..20 {
        pair.here.create("note", &format!("N{number}"), "").await;
    }
    pair.sync(SyncScope::Send).await.unwrap();
    assert_eq!(pair.take_requests(), [format!("POST /api/kanka/1.0/campaigns/{}/entities/6", pair.number)]);
    pair.here.call("delete_entities", json!({"entity_ids": [ann]})).await;
    pair.sync(SyncScope::Send).await.unwrap();
    assert_eq!(pair.take_requests().len(), 1);
    assert_eq!(pair.there.ids().await.len(), 20);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_cost_a_list_and_what_changed() {
    let pair = MirrorPair::new(22).await;
    for number in 0..100 {
        pair.there.create("note", &format!("N{number}"), "Old.").await;
    }
    pair.link(json!({})).await.unwrap();
    pair.pull().await;
    pair.take_requests();
    pair.sync(SyncScope::Changes).await.unwrap();
    // All of them changed within the last seconds, so the list has three pages; none is fetched again.
    assert_eq!(pair.take_requests().len(), 3);
    let id = pair.there.ids().await[5];
    pair.there.update(id, json!({"entry": "New."})).await;
    pair.sync(SyncScope::Changes).await.unwrap();
    let requests = pair.take_requests();
    assert_eq!(requests.iter().filter(|line| line.contains(&format!("entities/{id}?"))).count(), 1, "{requests:?}");
    assert_eq!(requests.len(), 4);
    assert_eq!(pair.here.get(id).await["entry"], "New.");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_written_is_not_fetched_again_later() {
    let pair = MirrorPair::new(23).await;
    let ann = pair.there.create("character", "Ann", "Old.").await;
    pair.link(json!({})).await.unwrap();
    pair.pull().await;
    pair.here.update(ann, json!({"entry": "New."})).await;
    let post = json!({"entity_id": ann, "name": "Past", "entry": "Long ago."});
    let post = pair.here.batch("create_posts", "posts", post).await;
    pair.sync(SyncScope::Send).await.unwrap();
    let update = json!({"entity_id": ann, "post_id": post["post_id"], "entry": "Not so long ago."});
    pair.here.batch("update_posts", "updates", update).await;
    pair.sync(SyncScope::Send).await.unwrap();
    pair.take_requests();
    pair.sync(SyncScope::Changes).await.unwrap();
    let requests = pair.take_requests();
    assert!(requests.len() == 1 && requests[0].contains("lastSync="), "{requests:?}");
    assert_eq!(pair.here.lore().await, pair.there.lore().await);
}
