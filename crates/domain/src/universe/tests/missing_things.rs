//! Tests of what a refusal says is missing, and of regions that were removed since all of a kind were replaced.

use serde_json::{Value, json, to_value};

use super::super::*;
use super::{UniverseFixture, add_star_json};

fn refusal_of(sky: &mut UniverseFixture, command: &Value) -> Failure {
    let (command, _) = Command::read(command).unwrap();
    let refusal = sky.run(&UniverseCommand::Apply(vec![Arc::new(command)])).expect_err("a refusal");
    refusal.failure().unwrap().clone()
}

#[test]
fn a_refusal_says_what_is_missing() {
    let mut sky = UniverseFixture::example();
    let (body, group) = (ThingKind::Body, ThingKind::Group);
    for (command, kind, id) in [
        (json!({"type": "updateStar", "id": "Earth", "payload": {}}), body, "Earth"),
        (json!({"type": "removeStar", "id": "Earth"}), body, "Earth"),
        (json!({"type": "attachStar", "childId": "Moon", "parentId": "sun"}), body, "Moon"),
        (json!({"type": "attachStar", "childId": "moon", "parentId": "Sun"}), body, "Sun"),
        (json!({"type": "detachStar", "childId": "Moon"}), body, "Moon"),
        (json!({"type": "updateRing", "planetId": "Saturn", "patch": {}}), body, "Saturn"),
        (json!({"type": "removeRing", "planetId": "Saturn"}), body, "Saturn"),
        (add_star_json("mars", json!("Sun")), body, "Sun"),
        (json!({"type": "addGroup", "id": "g", "payload": {"name": "g", "parentGroupId": "Arm"}}), group, "Arm"),
        (
            json!({"type": "addGroup", "id": "g", "payload": {"name": "g", "children": [{"id": "Sun", "type": "system"}]}}),
            body,
            "Sun",
        ),
        (json!({"type": "updateGroup", "id": "Arm", "payload": {}}), group, "Arm"),
        (json!({"type": "removeGroup", "id": "Arm"}), group, "Arm"),
        (json!({"type": "addToGroup", "groupId": "Arm", "child": {"id": "sun", "type": "system"}}), group, "Arm"),
        (json!({"type": "addToGroup", "groupId": "inner", "child": {"id": "Sun", "type": "system"}}), body, "Sun"),
        (json!({"type": "removeFromGroup", "groupId": "arm", "childId": "Sun"}), ThingKind::BodyOrGroup, "Sun"),
        (json!({"type": "moveToGroup", "childId": "Sun", "childType": "system"}), body, "Sun"),
        (json!({"type": "moveToGroup", "childId": "sun", "childType": "system", "targetGroupId": "Arm"}), group, "Arm"),
        (json!({"type": "updateSmallBodyField", "id": "x", "patch": {}}), ThingKind::SmallBodyField, "x"),
        (json!({"type": "updateProtoplanetaryDisk", "id": "x", "patch": {}}), ThingKind::ProtoplanetaryDisk, "x"),
        (json!({"type": "updateNebula", "id": "x", "patch": {}}), ThingKind::Nebula, "x"),
    ] {
        let missing = refusal_of(&mut sky, &command).missing().cloned();
        assert_eq!(missing, Some(MissingItem { kind, id: id.into() }), "{command}");
    }
    for command in [
        json!({"type": "attachStar", "childId": "sun", "parentId": "moon"}),
        json!({"type": "detachStar", "childId": "sun"}),
        json!({"type": "removeRing", "planetId": "earth"}),
        json!({"type": "removeFromGroup", "groupId": "arm", "childId": "moon"}),
    ] {
        assert_eq!(refusal_of(&mut sky, &command).missing(), None, "{command}");
    }
}

#[test]
fn a_region_is_not_removed_by_its_name() {
    let mut sky = UniverseFixture::example();
    for (one, id) in [("SmallBodyField", "main-belt"), ("ProtoplanetaryDisk", "disk"), ("Nebula", "cloud")] {
        let mut small = one.to_owned();
        small[..1].make_ascii_lowercase();
        let (update, remove) = (format!("update{one}"), format!("remove{one}"));
        sky.expect_events(json!({"type": update, "id": id, "patch": {"name": "The Veil"}}));
        let failure = sky.expect_failure(json!({"type": remove, "id": "the veil"}));
        assert_eq!(failure, json!({"type": format!("{small}NotFound"), "id": "the veil"}));
        sky.expect_events(json!({"type": remove, "id": "nothing like it"}));
        sky.expect_events(json!({"type": remove, "id": id}));
        sky.expect_events(json!({"type": remove, "id": "The Veil"}));
    }
}

/// Applies commands and returns what was removed, each as command, ids, and the commands that put it back.
fn removed_by(sky: &mut UniverseFixture, commands: &[Value]) -> Vec<(&'static str, Vec<String>, Vec<Value>)> {
    let before = sky.universe.state().clone();
    let commands: Vec<_> = commands.iter().map(|command| Arc::new(Command::read(command).unwrap().0)).collect();
    sky.run(&UniverseCommand::Apply(commands.clone())).unwrap();
    let removed = removed_regions(&before, commands.iter().map(AsRef::as_ref));
    let shown = |removed: RemovedRegions| {
        let ids = removed.ids.iter().map(ToString::to_string).collect();
        (removed.command, ids, removed.put_back.iter().map(|command| to_value(command).unwrap()).collect())
    };
    removed.into_iter().map(shown).collect()
}

#[test]
fn what_was_replaced_can_be_put_back_beside_the_new() {
    for (map, set, field, id) in [
        ("smallBodyFields", "setSmallBodyFields", "fields", "main-belt"),
        ("protoplanetaryDisks", "setProtoplanetaryDisks", "disks", "disk"),
        ("nebulae", "setNebulae", "nebulae", "cloud"),
    ] {
        let mut sky = UniverseFixture::example();
        let old = sky.value_at(&format!("/{map}/{id}"));
        let mut new = old.clone();
        new["id"] = json!("new");
        let set_new = json!({"type": set, field: {"new": new}});
        let removed = removed_by(&mut sky, std::slice::from_ref(&set_new));
        let expected = if set == "setProtoplanetaryDisks" {
            json!({"type": "addProtoplanetaryDisk", "disk": old})
        } else {
            json!({"type": set, field: {"new": new, id: old}})
        };
        assert_eq!(removed, [(set, vec![id.to_owned()], vec![expected.clone()])]);
        assert_eq!(removed_by(&mut sky, &[expected]), []);
        assert_eq!(sky.value_at(&format!("/{map}")), json!({"new": new, id: old}), "both are there");
        // What a batch removes and brings back is not removed.
        let both = json!({"type": set, field: {"new": new, id: old}});
        assert_eq!(removed_by(&mut sky, &[set_new.clone(), both]), []);
        assert_eq!(removed_by(&mut sky, &[json!({"type": "tick"}), set_new])[0].1, [id]);
    }
    let mut sky = UniverseFixture::example();
    assert_eq!(removed_by(&mut sky, &[json!({"type": "removeNebula", "id": "cloud"})]), [], "this was asked for");
}
