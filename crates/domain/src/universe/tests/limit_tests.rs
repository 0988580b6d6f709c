//! Tests of a universe's limits: exactly at each limit, and one past it.

use serde_json::{Map, Value, json};

use super::super::*;
use super::{UniverseFixture, add_star_json, body_json, create_command, with_field};
use crate::limits;

fn read_state(sent: &Value) -> SentState {
    SentState::read(sent).unwrap().0
}

/// Bodies `b0`, `b1` and so on, with these bytes of text each, ids included.
fn bodies_with_text(sizes: impl IntoIterator<Item = usize>) -> Value {
    let (mut stars, mut roots) = (Map::new(), Vec::new());
    for (number, size) in sizes.into_iter().enumerate() {
        let id = format!("b{number}");
        let mut star = body_json("x", Value::Null);
        // The colour has 7 bytes, the name 1, and the extension 3 besides its text.
        let filling = size - id.len() - 7 - 1 - 3;
        star["id"] = json!(id);
        star["extensions"] = json!({"t": "x".repeat(filling)});
        stars.insert(id.clone(), star);
        roots.push(json!(id));
    }
    json!({"stars": stars, "rootIds": roots})
}

const FULL_BODIES: usize = limits::UNIVERSE_TEXT_BYTES_MAX / limits::EXTENSIONS_BYTES_MAX;

fn full_sizes() -> Vec<usize> {
    vec![limits::EXTENSIONS_BYTES_MAX; FULL_BODIES]
}

#[test]
fn texts_of_a_universe_have_an_end() {
    let mut sky = UniverseFixture::uncreated();
    let mut sizes = full_sizes();
    sizes[0] += 1;
    let refusal = sky.run(&create_command(Some(read_state(&bodies_with_text(sizes))))).unwrap_err();
    assert_eq!((refusal.kind(), refusal.pointer().as_deref()), (UniverseRefusalKind::TooLarge, Some("/state")));
    assert_eq!(
        refusal.to_string(),
        "state would have 20000001 bytes of ids, names, colours and extensions, at most 20000000 are kept; it has 0 now"
    );
    sky.run(&create_command(Some(read_state(&bodies_with_text(full_sizes()))))).unwrap();
    assert_eq!(sky.universe.state.snapshot.text_bytes, limits::UNIVERSE_TEXT_BYTES_MAX);

    // At the limit: every command that adds text is refused.
    let cloud = |name: &str| {
        let example: Value = serde_json::from_str(EXAMPLE_STATE).unwrap();
        let cloud = with_field(example["nebulae"]["cloud"].clone(), "/name", json!(name));
        json!({"type": "setNebulae", "nebulae": {"cloud": cloud}})
    };
    for command in [
        add_star_json("more", Value::Null),
        json!({"type": "updateStar", "id": "b0", "payload": {"name": "xx"}}),
        json!({"type": "updateRing", "planetId": "b0", "patch": {}}),
        json!({"type": "addGroup", "id": "g", "payload": {"name": "g"}}),
        cloud("c"),
    ] {
        let failure = sky.expect_failure(command);
        assert_eq!((&failure["reason"], &failure["field"]), (&json!("tooMany"), &json!("")), "{failure}");
    }
    // Commands that add no more text than they remove are accepted.
    sky.expect_events(json!({"type": "updateStar", "id": "b0", "payload": {"name": "y", "mass": 2}}));
    sky.expect_events(json!({"type": "tick"}));
    sky.expect_events(json!({"type": "updateStar", "id": "b0", "payload": {"extensions": null}}));
    sky.expect_events(json!({"type": "updateRing", "planetId": "b0", "patch": {}}));
    sky.expect_events(cloud("c"));
    sky.expect_events(add_star_json("more", Value::Null));
    let snapshot = sky.universe.state.snapshot();
    assert_eq!(snapshot.text_bytes, snapshot.count_text_bytes());
}

/// A universe stored before the limit existed can be read, and may shrink but not grow.
#[test]
fn a_universe_past_the_limit_can_shrink() {
    let older: UniverseState =
        serde_json::from_value(bodies_with_text(full_sizes().into_iter().chain([500, 500]))).unwrap();
    let event = UniverseEvent::Replaced(Replaced { name: None, state: Some(older) });
    let mut sky = UniverseFixture::empty();
    let given = sky.given();
    sky.universe = UniverseRules::evolve(sky.universe, &event, &given);
    assert_eq!(sky.universe.state.snapshot.text_bytes, limits::UNIVERSE_TEXT_BYTES_MAX + 1_000);
    assert_eq!(sky.expect_failure(add_star_json("more", Value::Null))["reason"], "tooMany");
    sky.expect_events(json!({"type": "updateStar", "id": "b0", "payload": {"name": ""}}));
    sky.expect_events(json!({"type": "removeStar", "id": format!("b{FULL_BODIES}")}));
    assert_eq!(sky.expect_failure(add_star_json("more", Value::Null))["reason"], "tooMany", "still past it");
    let smaller = read_state(&bodies_with_text(full_sizes().into_iter().chain([400])));
    sky.run(&UniverseCommand::Replace { name: None, state: Some(smaller) }).unwrap();
    let larger = read_state(&bodies_with_text(full_sizes().into_iter().chain([401])));
    let refusal = sky.run(&UniverseCommand::Replace { name: None, state: Some(larger) }).unwrap_err();
    assert_eq!(refusal.kind(), UniverseRefusalKind::TooLarge);
}

fn state_with_groups(count: usize) -> Value {
    let ids: Vec<String> = (0..count).map(|number| format!("g{number}")).collect();
    let group = |id: &String| (id.clone(), json!({"id": id, "name": "g", "children": [], "parentGroupId": null}));
    json!({"groups": ids.iter().map(group).collect::<Map<_, _>>(), "rootGroupIds": ids})
}

#[test]
fn groups_have_an_end() {
    let mut sky = UniverseFixture::uncreated();
    let refusal = sky.run(&create_command(Some(read_state(&state_with_groups(limits::GROUPS_MAX + 1))))).unwrap_err();
    assert_eq!((refusal.kind(), refusal.pointer().as_deref()), (UniverseRefusalKind::TooLarge, Some("/state/groups")));
    sky.run(&create_command(Some(read_state(&state_with_groups(limits::GROUPS_MAX - 1))))).unwrap();
    let group = |id: &str| json!({"type": "addGroup", "id": id, "payload": {"name": id}});
    sky.expect_events(group("last"));
    assert_eq!(sky.expect_failure(group("more"))["reason"], "tooMany");
}

/// Groups with `count` children in total, up to a thousand in each.
fn state_with_group_children(count: usize) -> Value {
    let mut sent = state_with_groups(count.div_ceil(1_000));
    for number in 0..count {
        let children = &mut sent["groups"][format!("g{}", number / 1_000)]["children"];
        children.as_array_mut().unwrap().push(json!({"id": format!("s{}", number % 1_000), "type": "system"}));
    }
    sent["stars"] = json!({"sun": with_field(body_json("sun", Value::Null), "/id", json!("sun"))});
    sent["rootIds"] = json!(["sun"]);
    sent
}

#[test]
fn places_in_groups_have_an_end() {
    let mut sky = UniverseFixture::uncreated();
    let refusal = sky
        .run(&create_command(Some(read_state(&state_with_group_children(limits::GROUP_PLACES_MAX + 1)))))
        .unwrap_err();
    assert_eq!((refusal.kind(), refusal.pointer().as_deref()), (UniverseRefusalKind::TooLarge, Some("/state/groups")));
    sky.run(&create_command(Some(read_state(&state_with_group_children(limits::GROUP_PLACES_MAX - 1))))).unwrap();
    let into = |group: &str| json!({"type": "addToGroup", "groupId": group, "child": {"id": "sun", "type": "system"}});
    sky.expect_events(into("g0"));
    assert_eq!(sky.expect_failure(into("g1"))["reason"], "tooMany");
}

#[test]
fn regions_have_an_end() {
    let example: Value = serde_json::from_str(EXAMPLE_STATE).unwrap();
    let disks = |count: usize| {
        let disk = |number: usize| {
            let id = format!("d{number}");
            (id.clone(), with_field(example["protoplanetaryDisks"]["disk"].clone(), "/id", json!(id)))
        };
        json!({"type": "setProtoplanetaryDisks", "disks": (0..count).map(disk).collect::<Map<_, _>>()})
    };
    let mut sky = UniverseFixture::empty();
    assert_eq!(sky.expect_failure(disks(limits::REGIONS_MAX + 1))["reason"], "tooMany");
    sky.expect_events(disks(limits::REGIONS_MAX));
    let more = |id: &str| {
        let disk = with_field(example["protoplanetaryDisks"]["disk"].clone(), "/id", json!(id));
        json!({"type": "addProtoplanetaryDisk", "disk": disk})
    };
    assert_eq!(sky.expect_failure(more("more"))["reason"], "tooMany");
    sky.expect_events(more("d0"));
}

#[test]
fn extensions_of_one_thing_have_an_end() {
    let mut sky = UniverseFixture::empty();
    sky.expect_events(add_star_json("sun", Value::Null));
    // Besides the text, the name of the extension and two quotes count.
    let extend = |bytes: usize| {
        let extensions = json!({"t": "x".repeat(bytes - 3)});
        json!({"type": "updateStar", "id": "sun", "payload": {"extensions": extensions}})
    };
    sky.expect_events(extend(limits::EXTENSIONS_BYTES_MAX));
    let failure = sky.expect_failure(extend(limits::EXTENSIONS_BYTES_MAX + 1));
    assert_eq!((&failure["reason"], &failure["field"]), (&json!("tooLong"), &json!("/payload/extensions")));
}

/// Lists of ids in regions are limited too, and their ids are checked.
#[test]
fn lists_of_ids_have_an_end() {
    let mut sky = UniverseFixture::example();
    let associate =
        |ids: Vec<String>| json!({"type": "updateNebula", "id": "cloud", "patch": {"associatedGroupIds": ids}});
    sky.expect_events(associate(vec!["g".to_owned(); limits::BODIES_MAX]));
    assert_eq!(sky.expect_failure(associate(vec!["g".to_owned(); limits::BODIES_MAX + 1]))["reason"], "tooMany");
    let failure = sky.expect_failure(associate(vec!["g".to_owned(), "a\u{202e}".to_owned()]));
    let field = json!("/patch/associatedGroupIds/1");
    assert_eq!((&failure["reason"], &failure["field"]), (&json!("forbiddenId"), &field));
}
