//! Tags of Kanka that have another name here, or of which there are several of one name.

use serde_json::{Value, json};
use skald_app::{SyncScope, limits};

use super::kanka_stub::LinkedToStub;

/// The ids of the tags of an entity there, and how many tags there are.
fn tags_there(pair: &LinkedToStub, name: &str) -> (Vec<u64>, usize) {
    let stub = pair.stub();
    let mut ids = stub.find(name).1.tags.clone();
    ids.sort_unstable();
    (ids, stub.tags.len())
}

/// Adds a tag here to those that an entity has, and sends it.
async fn add_a_tag(pair: &LinkedToStub, entity_id: u64, added: &str) {
    let mut tags = pair.here.get(entity_id).await["tags"].as_array().cloned().unwrap_or_default();
    tags.push(json!(added));
    pair.here.update(entity_id, json!({"tags": tags})).await;
    pair.sync(SyncScope::Send).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tag_with_another_name_here_stays_itself_there() {
    let long = "a".repeat(60);
    for name in [long.as_str(), "two\nlines", "  wide  ", "zero\u{200b}width"] {
        let mut ann = 0;
        let pair = LinkedToStub::new(|stub| {
            stub.tags.insert(500, (name.to_owned(), false));
            stub.tags.insert(501, ("red".to_owned(), false));
            ann = stub.create("character", "Ann");
            stub.entities.get_mut(&ann).unwrap().tags = vec![500];
        })
        .await;
        pair.pull().await;
        let shown = pair.here.get(ann).await["tags"].clone();
        assert_eq!(shown.as_array().map(Vec::len), Some(1), "{name:?}: {shown}");
        add_a_tag(&pair, ann, "red").await;
        assert_eq!(tags_there(&pair, "Ann"), (vec![500, 501], 2), "{name:?}");
        pair.pull().await;
        assert_eq!(pair.here.get(ann).await["tags"].as_array().map(Vec::len), Some(2), "{name:?}");
        // Taken off here, it is taken off there.
        pair.here.update(ann, json!({"tags": ["red"]})).await;
        pair.sync(SyncScope::Send).await.unwrap();
        assert_eq!(tags_there(&pair, "Ann"), (vec![501], 2), "{name:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tags_that_are_one_here_do_not_take_the_place_of_each_other_there() {
    let begin = "a".repeat(limits::TAG_CHARS_MAX);
    let (mut ann, mut ben) = (0, 0);
    let pair = LinkedToStub::new(|stub| {
        stub.tags.insert(500, (format!("{begin} one"), false));
        stub.tags.insert(501, (format!("{begin} two"), false));
        stub.tags.insert(502, ("red".to_owned(), false));
        (ann, ben) = (stub.create("character", "Ann"), stub.create("character", "Ben"));
        stub.entities.get_mut(&ann).unwrap().tags = vec![500, 501];
        stub.entities.get_mut(&ben).unwrap().tags = vec![501];
    })
    .await;
    pair.pull().await;
    for id in [ann, ben] {
        add_a_tag(&pair, id, "red").await;
    }
    assert_eq!((tags_there(&pair, "Ann").0, tags_there(&pair, "Ben").0), (vec![500, 501, 502], vec![501, 502]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tags_that_are_too_many_here_stay_there() {
    let (mut ann, count) = (0, limits::LORE_TAGS_MAX as u64 + 2);
    let pair = LinkedToStub::new(|stub| {
        for number in 0..count {
            stub.tags.insert(500 + number, (format!("t{number}"), false));
        }
        ann = stub.create("character", "Ann");
        stub.entities.get_mut(&ann).unwrap().tags = (500..500 + count).collect();
    })
    .await;
    pair.pull().await;
    let mut tags = pair.here.get(ann).await["tags"].as_array().unwrap().clone();
    assert_eq!(tags.len(), limits::LORE_TAGS_MAX);
    tags.retain(|tag| *tag != "t7");
    pair.here.update(ann, json!({"tags": tags})).await;
    pair.sync(SyncScope::Send).await.unwrap();
    let expected: Vec<u64> = (500..500 + count).filter(|id| *id != 507).collect();
    assert_eq!(tags_there(&pair, "Ann").0, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_renamed_tag_of_which_kanka_has_two_is_renamed_for_each_entity() {
    let pair = LinkedToStub::new(|stub| {
        stub.tags.insert(500, ("npc".to_owned(), false));
        stub.tags.insert(501, ("npc".to_owned(), false));
        for (name, tag) in [("Ann", 500), ("Ben", 501)] {
            let id = stub.create("character", name);
            stub.entities.get_mut(&id).unwrap().tags = vec![tag];
        }
    })
    .await;
    pair.pull().await;
    let tags = pair.here.call("list_tags", json!({"page": {"number": 1, "rows": 45}})).await;
    let rename = json!({"rename_tag": {"tag_id": tags["rows"][0]["id"], "name": "figure"}});
    pair.here.call("write_lore", json!({"changes": [rename]})).await;
    pair.sync(SyncScope::Send).await.unwrap();
    pair.pull().await;
    for name in ["Ann", "Ben"] {
        let (entity_id, names) = {
            let stub = pair.stub();
            let (entity_id, there) = stub.find(name);
            let names: Vec<String> = there.tags.iter().map(|id| stub.tags[id].0.clone()).collect();
            (entity_id, names)
        };
        assert_eq!(names, ["figure"], "{name}");
        assert_eq!(pair.here.get(entity_id).await["tags"], json!(["figure"]), "{name}");
    }
    let status: Value = pair.status().await;
    assert_eq!((&status["conflict_count"], &status["pending"]), (&json!(0), &json!(0)), "{status}");
}
