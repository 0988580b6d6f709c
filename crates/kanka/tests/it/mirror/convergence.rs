//! Random edits on both sides, with and without faults in between: in the end both sides have the same lore, apart from
//! fields that are listed as conflicts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use skald_app::SyncScope;

use super::{Dice, MirrorPair, Side};

/// Runs of each test, unless `SKALD_SYNC_RUNS` says otherwise.
const RUNS_DEFAULT: u64 = 3;
const ROUNDS: usize = 4;
const TYPES: [&str; 13] = [
    "character",
    "location",
    "note",
    "quest",
    "item",
    "event",
    "journal",
    "organization",
    "race",
    "creature",
    "clue",
    "document",
    "other",
];
const WORDS: [&str; 12] =
    ["amber", "bell", "cinder", "drum", "ember", "fog", "gate", "harbour", "iron", "jade", "keel", "lantern"];

/// What one side wrote into fields of entities that both sides had.
type Writes = BTreeMap<(u64, &'static str), Value>;

fn random_words(dice: &mut Dice, count: u64) -> String {
    let count = 1 + dice.below(count);
    (0..count).map(|_| *dice.pick(&WORDS)).collect::<Vec<_>>().join(" ")
}

/// One random edit of a side. Addresses of images travel in one direction, so only the remote side has them.
async fn edit(side: &Side, is_remote: bool, dice: &mut Dice, writes: &mut Writes) {
    let ids = side.ids().await;
    let choice = dice.below(30);
    if ids.len() < 4 || choice < 4 {
        return create_some(side, &ids, dice).await;
    }
    let id = *dice.pick(&ids);
    match choice {
        4 => drop(side.call("delete_entities", json!({"entity_ids": [id]})).await),
        5..=10 => edit_posts(side, id, choice < 8, dice).await,
        11 => drop(side.update(id, json!({"tags": [random_words(dice, 1), random_words(dice, 1)]})).await),
        12 => drop(side.update(id, json!({"aliases": [random_words(dice, 2)]})).await),
        13 | 14 => {
            let parent = *dice.pick(&ids);
            // A circle is refused, and changes nothing.
            let parent = if dice.below(3) == 0 { json!("") } else { json!(parent) };
            side.update(id, json!({"parent": parent})).await;
        }
        15 => drop(side.update(id, json!({"is_private": dice.below(2) == 0})).await),
        16 | 17 => {
            let name = random_words(dice, 3);
            side.update(id, json!({"name": name})).await;
            writes.insert((id, "name"), json!(name));
        }
        18 => {
            let subtype = random_words(dice, 2);
            side.update(id, json!({"type": subtype})).await;
            writes.insert((id, "type"), json!(subtype));
        }
        19 => {
            let entity_type = side.get(id).await["entity_type"].clone();
            if ["journal", "quest", "event"].contains(&entity_type.as_str().unwrap()) {
                let date = format!("2026-0{}-1{}", 1 + dice.below(9), dice.below(9));
                side.update(id, json!({"date": date})).await;
                writes.insert((id, "date"), json!(date));
            }
        }
        20 if is_remote => {
            let image = format!("https://images.example/{}.png", dice.below(99));
            side.update(id, json!({"image": image})).await;
        }
        21 => edit_a_tag(side, dice).await,
        22 => {
            let archived = side.call("lore_history", json!({"method": "archive"})).await;
            let rows = archived["archived"].as_array();
            if let Some(row) = rows.and_then(|rows| rows.first()) {
                // One in eight is removed for good.
                let method = if dice.below(8) == 0 { "empty" } else { "undelete" };
                let change = json!({"method": method, "entity_id": row["entity_id"]});
                // A post of it, or one whose place is taken, is refused, and changes nothing.
                let _ = side.try_call("lore_history", change).await;
            }
        }
        _ => {
            let entry = random_words(dice, 6);
            side.update(id, json!({"entry": entry})).await;
            writes.insert((id, "entry"), json!(entry));
        }
    }
}

async fn create_some(side: &Side, ids: &[u64], dice: &mut Dice) {
    let mention = ids.first().map(|id| format!(" [entity:{id}]")).unwrap_or_default();
    let item = json!({
        "entity_type": dice.pick(&TYPES), "name": random_words(dice, 3), "entry": format!("{}{mention}", random_words(dice, 6)),
        "tags": [random_words(dice, 1)], "is_private": dice.below(2) == 0,
    });
    side.batch("create_entities", "entities", item).await;
}

async fn edit_posts(side: &Side, id: u64, is_new: bool, dice: &mut Dice) {
    if is_new {
        let post = json!({"entity_id": id, "name": random_words(dice, 2), "entry": random_words(dice, 5), "is_private": dice.below(2) == 0});
        side.batch("create_posts", "posts", post).await;
        return;
    }
    let entity = side.get(id).await;
    let Some(post) = entity["posts"].as_array().and_then(|posts| posts.first()) else { return };
    let mut place = json!({"entity_id": id, "post_id": post["id"]});
    match dice.below(5) {
        0 => return drop(side.batch("delete_posts", "deletions", place).await),
        1 => place["name"] = json!(random_words(dice, 2)),
        2 => place["is_private"] = json!(dice.below(2) == 0),
        _ => place["entry"] = json!(random_words(dice, 5)),
    }
    side.batch("update_posts", "updates", place).await;
}

/// Renames or deletes a tag.
async fn edit_a_tag(side: &Side, dice: &mut Dice) {
    let tags = side.call("list_tags", json!({"page": {"number": 1, "rows": 45}})).await;
    let rows = tags["rows"].as_array().unwrap();
    if rows.is_empty() {
        return;
    }
    let tag_id = dice.pick(rows)["id"].clone();
    let change = if dice.below(2) == 0 {
        json!({"delete_tag": {"tag_id": tag_id}})
    } else {
        json!({"rename_tag": {"tag_id": tag_id, "name": random_words(dice, 2)}})
    };
    // A name that another tag has is refused.
    let _ = side.try_call("write_lore", json!({"changes": [change]})).await;
}

/// Fields in conflict by entity; a conflict of a post stands for all posts of its entity.
async fn conflicting_fields(pair: &MirrorPair) -> BTreeMap<u64, BTreeSet<String>> {
    let mut fields: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
    let mut cursor = None::<Value>;
    loop {
        let input = cursor.take().map_or(json!({}), |cursor| json!({"cursor": cursor}));
        let page = pair.mirror("conflicts", input).await;
        for row in page["conflicts"].as_array().unwrap() {
            let field = if row.get("post_id").is_some() { "posts" } else { row["field"].as_str().unwrap() };
            fields.entry(row["entity_id"].as_u64().unwrap()).or_default().insert(field.to_owned());
        }
        match page.get("next_cursor") {
            Some(next) => cursor = Some(next.clone()),
            None => return fields,
        }
    }
}

/// Checks that both sides are equal apart from what is listed as a conflict, and that listed conflicts are some.
async fn check_equal(pair: &MirrorPair, what: &str) {
    let (mut here, mut there) = (pair.here.lore().await, pair.there.lore().await);
    let conflicts = conflicting_fields(pair).await;
    // A parent that is deleted on one side is shown on the other.
    let is_deleted = |parent: &Value| {
        parent.as_u64().is_some_and(|id| conflicts.get(&id).is_some_and(|fields| fields.contains("deleted")))
    };
    for entity in here.values_mut().chain(there.values_mut()) {
        if is_deleted(&entity["parent"]) {
            entity["parent"].take();
        }
    }
    // An entity that was deleted there and restored here is created there without the address of its image.
    for (entity_id, entity) in &mut here {
        if there.get(entity_id).is_some_and(|entity| entity["image"].is_null()) {
            entity["image"].take();
        }
    }
    // A circle of parents of which each side has one half: one half is a conflict, and the other one is refused there.
    let status = pair.mirror("status", json!({})).await;
    for problem in status["problems"].as_array().into_iter().flatten() {
        assert!(problem["reason"].as_str().unwrap().contains("parent"), "{what}: {problem}");
        let entity_id = problem["entity_id"].as_u64().unwrap();
        for lore in [&mut here, &mut there] {
            lore.get_mut(&entity_id).unwrap()["parent"].take();
        }
    }
    for (entity_id, fields) in conflicts {
        if fields.contains("deleted") {
            assert_ne!(here.contains_key(&entity_id), there.contains_key(&entity_id), "{what}: {entity_id} {fields:?}");
            here.remove(&entity_id);
            there.remove(&entity_id);
            continue;
        }
        for field in &fields {
            let (ours, theirs) = (here.get_mut(&entity_id).unwrap(), there.get_mut(&entity_id).unwrap());
            assert_ne!(ours[field], theirs[field], "{what}: {entity_id} {field}");
            ours[field].take();
            theirs[field].take();
        }
    }
    for (entity_id, ours) in &here {
        assert_eq!(Some(ours), there.get(entity_id), "{what}: entity {entity_id}");
    }
    assert_eq!(here.len(), there.len(), "{what}");
}

/// Resolves every conflict for a random side.
async fn resolve_all(pair: &MirrorPair, dice: &mut Dice) {
    loop {
        let conflicts = pair.conflicts().await;
        let Some(row) = conflicts.first() else { return };
        let keep = *dice.pick(&["ours", "theirs"]);
        let mut input = json!({"entity_id": row["entity_id"], "field": row["field"], "keep": keep});
        if let Some(post_id) = row.get("post_id") {
            input["post_id"] = post_id.clone();
        }
        pair.mirror("resolve", input).await;
    }
}

async fn settle(pair: &MirrorPair, what: &str) {
    pair.faults.per_mille.store(0, Ordering::Relaxed);
    pair.faults.shifts.store(false, Ordering::Relaxed);
    for _ in 0..2 {
        pair.sync(SyncScope::Everything).await.unwrap_or_else(|fault| panic!("{what}: {fault}"));
    }
}

fn run_count() -> u64 {
    std::env::var("SKALD_SYNC_RUNS").map_or(RUNS_DEFAULT, |runs| runs.parse().expect("a number"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_sides_converge_whatever_fails_in_between() {
    for seed in 0..run_count() {
        let what = format!("seed {seed}");
        let mut dice = Dice::new(seed + 1_000);
        let pair = MirrorPair::new(seed).await;
        for _ in 0..6 {
            edit(&pair.there, true, &mut dice, &mut Writes::new()).await;
        }
        if seed == 0 {
            // Lists of several pages, whose rows move.
            let entity = |number: usize| json!({"entity_type": "character", "name": format!("E{number}")});
            let entities: Vec<Value> = (0..95).map(entity).collect();
            pair.there.call("create_entities", json!({"entities": entities})).await;
        }
        pair.link(json!({})).await.unwrap();
        for _ in 0..ROUNDS {
            for _ in 0..3 {
                for _ in 0..dice.below(5) {
                    edit(&pair.here, false, &mut dice, &mut Writes::new()).await;
                }
                for _ in 0..dice.below(5) {
                    edit(&pair.there, true, &mut dice, &mut Writes::new()).await;
                }
                pair.faults.per_mille.store(u32::try_from(dice.below(400)).unwrap(), Ordering::Relaxed);
                pair.faults.shifts.store(dice.below(2) == 0, Ordering::Relaxed);
                let scope = *dice.pick(&[SyncScope::Everything, SyncScope::Changes, SyncScope::Send]);
                let _ = pair.sync(scope).await;
            }
            settle(&pair, &what).await;
            check_equal(&pair, &what).await;
            resolve_all(&pair, &mut dice).await;
        }
        settle(&pair, &what).await;
        assert_eq!(conflicting_fields(&pair).await, BTreeMap::new(), "{what}");
        check_equal(&pair, &what).await;
        let status = pair.mirror("status", json!({})).await;
        assert_eq!((&status["pending"], status.get("problems")), (&json!(0), None), "{what}: {status}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_write_is_lost_in_silence() {
    for seed in 0..run_count() {
        let mut dice = Dice::new(seed + 5_000);
        let pair = MirrorPair::new(seed).await;
        for number in 0..6 {
            pair.there.create("note", &format!("N{number}"), "base").await;
        }
        pair.link(json!({})).await.unwrap();
        pair.pull().await;
        for round in 0..ROUNDS {
            let (mut ours, mut theirs) = (Writes::new(), Writes::new());
            let base = pair.here.lore().await;
            for _ in 0..6 {
                edit(&pair.here, false, &mut dice, &mut ours).await;
                edit(&pair.there, true, &mut dice, &mut theirs).await;
            }
            // Whoever writes what was there has changed nothing.
            let is_change = |(id, field): &(u64, &'static str), value: &mut Value| {
                base.get(id).is_none_or(|entity| entity[*field] != *value)
            };
            ours.retain(is_change);
            theirs.retain(is_change);
            let before: BTreeSet<u64> = pair.here.ids().await.into_iter().collect();
            pair.faults.per_mille.store(300, Ordering::Relaxed);
            for scope in [SyncScope::Changes, SyncScope::Send, SyncScope::Everything] {
                let _ = pair.sync(scope).await;
            }
            pair.faults.per_mille.store(0, Ordering::Relaxed);
            pair.pull().await;
            let conflicts = conflicting_fields(&pair).await;
            let (here, there) = (pair.here.lore().await, pair.there.lore().await);
            for (written, other, own_side, other_side) in
                [(&ours, &theirs, &here, &there), (&theirs, &ours, &there, &here)]
            {
                for ((id, field), value) in written {
                    let what = format!("seed {seed}, round {round}: {field} of {id}, {value}");
                    let listed =
                        conflicts.get(id).is_some_and(|fields| fields.contains(*field) || fields.contains("deleted"));
                    let is_here = |side: &BTreeMap<u64, Value>| side.get(id).map(|entity| entity[field] == *value);
                    match other.get(&(*id, *field)) {
                        Some(another) if another != value => {
                            assert!(listed || !before.contains(id) || is_here(other_side).is_none(), "{what}");
                        }
                        // Deleted by the same side later, or by the other one: then it is listed or gone on both.
                        _ if is_here(own_side).is_none() => assert!(listed || is_here(other_side).is_none(), "{what}"),
                        _ => {
                            assert_eq!(is_here(own_side), Some(true), "{what}");
                            assert!(listed || is_here(other_side) == Some(true), "{what}");
                        }
                    }
                }
            }
            check_equal(&pair, &format!("seed {seed}, round {round}")).await;
            resolve_all(&pair, &mut dice).await;
            pair.pull().await;
        }
    }
}
