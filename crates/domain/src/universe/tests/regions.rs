//! Tests of commands on fields, disks, nebulae and whole snapshots, with their failures.

use serde_json::{Value, json, to_value};

use super::super::*;
use super::{UniverseFixture, add_star_json, body_json, create_command, with_field};
use crate::limits;

/// For each kind of region: its map, the command that sets the map, the field of that command, the kind's name in other
/// commands, and the id of an example.
#[test]
fn regions() {
    let example: Value = serde_json::from_str(EXAMPLE_STATE).unwrap();
    for (map, set, field, one, id) in [
        ("smallBodyFields", "setSmallBodyFields", "fields", "SmallBodyField", "main-belt"),
        ("protoplanetaryDisks", "setProtoplanetaryDisks", "disks", "ProtoplanetaryDisk", "disk"),
        ("nebulae", "setNebulae", "nebulae", "Nebula", "cloud"),
    ] {
        let mut sky = UniverseFixture::example();
        let mut small = one.to_owned();
        small[..1].make_ascii_lowercase();
        let (update, remove) = (format!("update{one}"), format!("remove{one}"));
        let patch = |patch: Value| json!({"type": update, "id": id, "patch": patch});
        assert_eq!(
            sky.expect_events(patch(json!({"seed": "other", "name": "Other"}))),
            json!([{"type": format!("{small}Updated"), "id": id}])
        );
        assert_eq!(sky.value_at(&format!("/{map}/{id}/name")), "Other");
        sky.expect_events(patch(json!({ "id": id, "extensions": {"mine": [1]} })));
        assert_eq!(sky.value_at(&format!("/{map}/{id}/extensions")), json!({"mine": [1]}));
        assert_eq!(sky.expect_failure(patch(json!({"id": "x"})))["reason"], "linkChange");
        assert_eq!(sky.expect_failure(patch(json!({"seed": null})))["reason"], "unreadable");
        assert_eq!(sky.expect_failure(patch(json!({"baseColor": "brown"})))["reason"], "badColor");
        let missing = json!({"type": update, "id": "x", "patch": {}});
        assert_eq!(sky.expect_failure(missing), json!({"type": format!("{small}NotFound"), "id": "x"}));

        let removed = json!([{"type": format!("{small}Removed"), "id": id}]);
        for _ in 0..2 {
            assert_eq!(sky.expect_events(json!({"type": remove, "id": id})), removed);
            assert_eq!(sky.value_at(&format!("/{map}")), json!({}));
        }

        let things = |things: Value| json!({"type": set, field: things});
        let thing = example[map][id].clone();
        assert_eq!(sky.expect_events(things(json!({ id: thing }))), json!([{"type": format!("{map}Set")}]));
        assert_eq!(sky.value_at(&format!("/{map}")), json!({ id: thing }));
        assert_eq!(sky.expect_failure(things(json!({ "x": thing })))["reason"], "wrongKey");
        assert_eq!(
            sky.expect_failure(things(json!({ "__proto__": with_field(thing.clone(), "/id", json!("__proto__")) })))["reason"],
            "forbiddenId"
        );
        assert_eq!(
            sky.expect_failure(things(json!({ id: with_field(thing.clone(), "/brightness", Value::Null) })))["reason"],
            "unreadable"
        );
        assert_eq!(sky.expect_failure(json!({ "type": set }))["reason"], "unreadable");
        sky.expect_events(things(json!({})));
    }
}

#[test]
fn add_protoplanetary_disk() {
    let mut sky = UniverseFixture::example();
    let disk = sky.value_at("/protoplanetaryDisks/disk");
    let disk = |id: &str, style: &str| json!({"type": "addProtoplanetaryDisk", "disk": with_field(with_field(disk.clone(), "/id", json!(id)), "/style", json!(style))});
    assert_eq!(sky.expect_events(disk("new", "thin")), json!([{"type": "protoplanetaryDiskAdded", "id": "new"}]));
    sky.expect_events(disk("new", "extreme"));
    assert_eq!(sky.value_at("/protoplanetaryDisks/new/style"), "extreme");
    assert_eq!(sky.expect_failure(disk("toString", "thin"))["reason"], "forbiddenId");
    assert_eq!(sky.expect_failure(disk("x", "scattered"))["reason"], "unreadable");
    assert_eq!(sky.expect_failure(json!({"type": "addProtoplanetaryDisk"}))["type"], "addProtoplanetaryDiskFailed");
}

#[test]
fn replace_snapshot() {
    let mut sky = UniverseFixture::example();
    sky.expect_events(json!({"type": "tick", "dt": 5}));
    let mut snapshot = UniverseFixture::example().state_json();
    snapshot.as_object_mut().unwrap().remove("time");
    let replace = |snapshot: Value| json!({"type": "replaceSnapshot", "snapshot": snapshot});
    let replaced = json!([{"type": "snapshotReplaced"}]);
    assert_eq!(sky.expect_events(replace(json!({"stars": {}, "rootIds": []}))), replaced);
    assert_eq!(
        (sky.value_at("/stars"), sky.value_at("/groups"), sky.value_at("/time")),
        (json!({}), json!({}), json!(5))
    );
    assert_eq!(sky.expect_events(replace(snapshot.clone())), replaced);
    assert_eq!(sky.value_at("/time"), json!(5));
    for broken in [json!({"stars": {}}), json!({"rootIds": []}), json!([]), Value::Null] {
        assert_eq!(sky.expect_failure(replace(broken))["type"], "replaceSnapshotFailed");
    }
    assert_eq!(
        sky.expect_failure(replace(with_field(snapshot, "/stars/sun/color", json!("gold"))))["field"],
        "/snapshot/stars/sun/color"
    );
}

#[test]
fn links_that_do_not_agree_are_found_and_repaired() {
    let mut snapshot = UniverseFixture::example().state_json();
    snapshot.as_object_mut().unwrap().remove("time");
    for (pointer, broken, says) in [
        ("/stars/sun/id", json!("sol"), "/stars/sun/id is \"sol\", and stands under another key"),
        (
            "/stars/sun/children",
            json!(["earth"]),
            "/stars/saturn/parentId is \"sun\", which does not list it as a child",
        ),
        ("/stars/sun/children", json!(["earth", "saturn", "x"]), "/stars/sun/children names \"x\", which is not there"),
        ("/stars/sun/children", json!(["earth", "saturn", "earth"]), "/stars/sun/children names \"earth\" twice"),
        (
            "/stars/sun/children",
            json!(["earth", "saturn", "moon"]),
            "/stars/sun/children names \"moon\", whose parentId says otherwise",
        ),
        ("/stars/moon/parentId", json!("x"), "/stars/earth/children names \"moon\", whose parentId says otherwise"),
        ("/rootIds", json!([]), "/stars/sun/parentId is null, and the list of roots does not have it"),
        ("/rootIds", json!(["sun", "sun"]), "/rootIds names \"sun\" twice"),
        ("/rootIds", json!(["sun", "earth"]), "/rootIds names \"earth\", whose parentId says otherwise"),
        ("/rootIds", json!(["x"]), "/rootIds names \"x\", which is not there"),
        ("/rootGroupIds", json!([]), "/groups/arm/parentGroupId is null, and the list of roots does not have it"),
        (
            "/groups/inner/parentGroupId",
            Value::Null,
            "/groups/arm/children names \"inner\", whose parentGroupId says otherwise",
        ),
        (
            "/groups/arm/children",
            json!([]),
            "/groups/inner/parentGroupId is \"arm\", which does not list it as a child",
        ),
        ("/groups/arm/children/1", json!({"id": "sun", "type": "system"}), "/groups/arm/children names \"sun\" twice"),
        ("/nebulae/cloud/id", json!("x"), "/nebulae/cloud/id is \"x\", and stands under another key"),
    ] {
        let sent = with_field(snapshot.clone(), pointer, broken);
        let offence = Snapshot::find_broken_link(&sent).unwrap();
        let said = format!("{} {offence}", offence.pointer.rsplit_once('/').unwrap().0);
        assert_eq!(said.replacen(' ', "/", 1), says);
        assert!(serde_json::from_value::<Snapshot>(sent.clone()).is_err(), "what is stored is never repaired");
        let (_, repairs) = Command::read(&json!({"type": "replaceSnapshot", "snapshot": sent})).unwrap();
        let (state, of_state) = SentState::read(&sent).unwrap();
        assert!(!repairs.is_empty() && repairs.len() == of_state.len(), "{says}: {repairs:?}");
        assert!(repairs.iter().all(|repair| repair.path.starts_with("/snapshot/")), "{repairs:?}");
        assert_eq!(UniverseFixture::uncreated().run(&create_command(Some(state))).map(|events| events.len()), Ok(1));
    }
    // A cycle without a root.
    let mut ring = snapshot.clone();
    ring["stars"]["sun"]["parentId"] = json!("moon");
    ring["stars"]["moon"]["children"] = json!(["sun"]);
    ring["rootIds"] = json!([]);
    assert!(Snapshot::find_broken_link(&ring).unwrap().to_string().contains("leads in a ring"));
    assert_eq!(SentState::read(&ring).unwrap().1.len(), 3, "the parent, the list of children, and the roots");
}

#[test]
fn a_universe_is_full_at_its_limit() {
    let mut state = json!({"stars": {}, "rootIds": []});
    let put = |state: &mut Value, id: &str| {
        let mut star = body_json(id, Value::Null);
        star["id"] = json!(id);
        state["stars"][id] = star;
        state["rootIds"].as_array_mut().unwrap().push(json!(id));
    };
    for number in 0..limits::BODIES_MAX {
        put(&mut state, &format!("s{number}"));
    }
    let mut sky = UniverseFixture::uncreated();
    sky.run(&create_command(Some(SentState::read(&state).unwrap().0))).unwrap();
    let more = Command::read(&add_star_json("more", Value::Null)).unwrap().0;
    let more = UniverseCommand::Apply(vec![Arc::new(more)]);
    let refusal = sky.run(&more).unwrap_err();
    assert_eq!(refusal.failure().unwrap().reason(), Some(Reason::TooMany));
    sky.expect_events(json!({"type": "removeStar", "id": "s7"}));
    sky.run(&more).unwrap();
    put(&mut state, "more");
    let full = create_command(Some(SentState::read(&state).unwrap().0));
    assert_eq!(UniverseFixture::uncreated().run(&full).unwrap_err().kind(), UniverseRefusalKind::TooLarge);
}

#[test]
fn every_field_of_every_thing_is_kept() {
    let state: Value = serde_json::from_str(include_str!("../golden/state.json")).unwrap();
    let read: UniverseState = serde_json::from_value(state.clone()).unwrap();
    assert_eq!(read.check(), Ok(()));
    assert_eq!(to_value(&read).unwrap(), state);
}

/// A recursive walk over a chain of bodies this deep would overflow the stack.
#[test]
fn nothing_is_too_deep() {
    let depth = 20_000;
    let mut stars = serde_json::Map::new();
    for number in 0..depth {
        let parent = if number == 0 { Value::Null } else { json!(format!("b{}", number - 1)) };
        let mut star = body_json("deep", parent);
        star["id"] = json!(format!("b{number}"));
        star["children"] = if number + 1 < depth { json!([format!("b{}", number + 1)]) } else { json!([]) };
        stars.insert(format!("b{number}"), star);
    }
    let mut sky = UniverseFixture::uncreated();
    let deep = SentState::read(&json!({"stars": stars, "rootIds": ["b0"]})).unwrap().0;
    sky.run(&create_command(Some(deep))).unwrap();
    let last = format!("b{}", depth - 1);
    assert_eq!(sky.expect_failure(json!({"type": "attachStar", "childId": "b0", "parentId": last}))["reason"], "cycle");
    let removed = sky.expect_events(json!({"type": "removeStar", "id": "b1"}));
    assert_eq!(removed[0]["removedIds"].as_array().unwrap().len(), depth - 1);
    assert_eq!(sky.value_at("/stars/b0/children"), json!([]));
}
