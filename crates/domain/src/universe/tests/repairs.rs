//! Tests of repairs: whole states as the editor of the original writes them, and the messages about each repair.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json, to_value};

use super::super::*;
use super::{UniverseFixture, body_json, create_command, with_field};

/// Creates a universe from the sent state. Returns its state, and the path and reason of each repair.
fn create_repaired(sent: &Value) -> (Value, Vec<(String, String)>) {
    let (state, repairs) = SentState::read(sent).unwrap_or_else(|misfit| panic!("{sent}: {misfit:?}"));
    let mut sky = UniverseFixture::uncreated();
    sky.run(&create_command(Some(state))).unwrap_or_else(|refusal| panic!("{sent}: {refusal}"));
    let state = sky.state_json();
    let again = SentState::read(&state).expect("what is kept can be sent again");
    assert_eq!(again.1, [], "and then nothing is left to repair");
    (state, repairs.into_iter().map(|repair| (repair.path, repair.reason)).collect())
}

fn star_json(id: &str, parent: Value, children: &[&str]) -> Value {
    let mut star = body_json(id, parent);
    (star["id"], star["children"]) = (json!(id), json!(children));
    star
}

#[expect(clippy::needless_pass_by_value, reason = "parents are made where they are given")]
fn group_json(id: &str, parent: Value, children: &[(&str, &str)]) -> Value {
    let children: Vec<Value> = children.iter().map(|(id, kind)| json!({"id": id, "type": kind})).collect();
    json!({"id": id, "name": id, "parentGroupId": parent, "children": children})
}

fn paths(repairs: &[(String, String)]) -> Vec<&str> {
    repairs.iter().map(|(path, _)| path.as_str()).collect()
}

/// The original's removeGroup makes the group above the parent of the groups below, but does not list them there.
#[test]
fn a_group_that_its_parent_does_not_list_is_listed() {
    let groups = json!({"top": group_json("top", Value::Null, &[]), "low": group_json("low", json!("top"), &[])});
    let (state, repairs) = create_repaired(&json!({"groups": groups, "rootGroupIds": ["top"]}));
    assert_eq!(state["groups"]["top"]["children"], json!([{"id": "low", "type": "group"}]));
    assert_eq!(repairs, [("/groups/top/children".to_owned(), "did not list \"low\"".to_owned())]);
}

#[test]
fn a_parent_that_is_not_there_is_none() {
    let groups =
        json!({"low": group_json("low", json!("gone"), &[("sun", "system"), ("gone", "group"), ("old", "system")])});
    let stars =
        json!({"sun": star_json("sun", json!("gone"), &["gone"]), "own": star_json("own", json!("own"), &["own"])});
    let (state, repairs) = create_repaired(&json!({"groups": groups, "stars": stars, "rootIds": ["gone"]}));
    assert_eq!((&state["rootIds"], &state["rootGroupIds"]), (&json!(["sun", "own"]), &json!(["low"])));
    assert_eq!(state["stars"]["own"]["children"], json!([]));
    // A group may list a system that does not exist: the original leaves such entries.
    assert_eq!(
        state["groups"]["low"]["children"],
        json!([{"id": "sun", "type": "system"}, {"id": "old", "type": "system"}])
    );
    let reason = |path: &str| &repairs.iter().find(|(at, _)| at == path).expect(path).1;
    assert_eq!(reason("/stars/sun/parentId"), "is \"gone\", which is not there; it is null now");
    assert_eq!(reason("/stars/own/parentId"), "is its own id; it is null now");
    assert_eq!(reason("/rootIds"), "listed what does not belong there: \"gone\"; did not list \"sun\", \"own\"");
}

#[test]
fn a_ring_of_groups_is_opened() {
    let ring = json!({
        "a": group_json("a", json!("c"), &[("b", "group")]),
        "b": group_json("b", json!("a"), &[("c", "group")]),
        "c": group_json("c", json!("b"), &[("a", "group")]),
    });
    let (state, repairs) = create_repaired(&json!({"groups": ring, "rootGroupIds": []}));
    assert_eq!(state["rootGroupIds"], json!(["a"]));
    assert_eq!(
        (&state["groups"]["a"]["parentGroupId"], &state["groups"]["b"]["parentGroupId"]),
        (&Value::Null, &json!("a"))
    );
    assert_eq!(paths(&repairs), ["/groups/a/parentGroupId", "/rootGroupIds", "/groups/c/children"]);
}

#[test]
fn what_a_body_says_of_its_parent_counts_and_then_who_lists_it() {
    let stars = json!({
        "sun": star_json("sun", Value::Null, &["moon", "lost", "lost"]),
        "earth": star_json("earth", json!("sun"), &["moon"]),
        "moon": star_json("moon", json!("earth"), &[]),
        "lost": star_json("lost", Value::Null, &[]),
    });
    let (state, repairs) = create_repaired(&json!({"stars": stars, "rootIds": ["lost", "sun", "sun"]}));
    assert_eq!((&state["rootIds"], &state["stars"]["sun"]["children"]), (&json!(["sun"]), &json!(["lost", "earth"])));
    assert_eq!(paths(&repairs), ["/stars/lost/parentId", "/rootIds", "/stars/sun/children"]);
    assert_eq!(repairs[0].1, "is null; it is \"sun\" now, which lists it");
}

/// NaN, such as that of an empty input field, is null in JSON.
#[test]
fn a_number_that_is_none_becomes_a_usual_one() {
    let mut sun = star_json("sun", Value::Null, &[]);
    (sun["mass"], sun["orbitalPhase"], sun["eccentricity"]) = (Value::Null, Value::Null, Value::Null);
    sun["ring"] = json!({
        "innerRadiusMultiplier": 1.5, "outerRadiusMultiplier": 3, "thickness": null, "opacity": 0.6, "albedo": 0.8,
        "color": "#FFFFFF", "density": 0.6,
    });
    sun["children"] = Value::Null;
    let sent = json!({"stars": {"sun": sun}, "rootIds": ["sun"], "groups": null, "time": null});
    let (state, repairs) = create_repaired(&sent);
    let kept = &state["stars"]["sun"];
    assert_eq!((&kept["mass"], &kept["orbitalPhase"], &kept["ring"]["thickness"]), (&json!(1), &json!(0), &json!(0)));
    assert!(kept.get("eccentricity").is_none(), "that may be absent");
    let mut told = paths(&repairs);
    told.sort_unstable();
    let star = "/stars/sun";
    let expected = ["children", "mass", "orbitalPhase", "ring/thickness"].map(|field| format!("{star}/{field}"));
    assert_eq!(told, [&["/groups".to_owned()], &expected[..], &["/time".to_owned()]].concat());
    assert!(repairs.contains(&("/stars/sun/mass".to_owned(), "is null; it is 1 now".to_owned())));
    // A null name has no default.
    let nameless = with_field(sent, "/stars/sun/name", Value::Null);
    assert_eq!(SentState::read(&nameless).unwrap_err().reason, Reason::Unreadable);
}

#[test]
fn numbers_out_of_range_are_kept_and_clamped_by_views() {
    let mut comet = star_json("comet", Value::Null, &[]);
    (comet["eccentricity"], comet["semiMajorAxis"]) = (json!(1.2), json!(10));
    comet["ring"] = json!({
        "innerRadiusMultiplier": 1.5, "outerRadiusMultiplier": 3, "thickness": 1, "opacity": 1.5, "albedo": 0.8,
        "color": "#FFFFFF", "density": -2,
    });
    comet["lagrangePoint"] = json!({
        "primaryId": "a", "secondaryId": "b", "pointIndex": 7.5, "stable": true, "pairType": "starPlanet",
    });
    let sent = json!({"stars": {"comet": comet}, "rootIds": ["comet"], "time": 90});
    let (state, repairs) = create_repaired(&sent);
    assert_eq!(repairs, []);
    for pointer in ["/eccentricity", "/ring/opacity", "/ring/density", "/lagrangePoint/pointIndex"] {
        assert_eq!(state["stars"]["comet"].pointer(pointer), comet.pointer(pointer), "{pointer}");
    }
    let state: UniverseState = serde_json::from_value(state).unwrap();
    let view = to_value(state.body_view("comet", None, None, 5).unwrap()).unwrap();
    let row = to_value(BodyRow::new(state.snapshot().body("comet").unwrap(), 5)).unwrap();
    for shown in [&view["body"], &row] {
        assert_eq!((&shown["eccentricity"], &shown["ring"]["opacity"]), (&json!(0.99), &json!(1)));
        assert_eq!((&shown["ring"]["density"], &shown["lagrangePoint"]["pointIndex"]), (&json!(0), &json!(5)));
    }
    // A command that sets such a number is refused; one that changes other fields of the body is not.
    let mut sky = UniverseFixture::uncreated();
    sky.run(&create_command(Some(state.into()))).unwrap();
    let update = |payload: Value| json!({"type": "updateStar", "id": "comet", "payload": payload});
    assert_eq!(sky.expect_failure(update(json!({"eccentricity": 1.2})))["reason"], "outOfRange");
    sky.expect_events(update(json!({"name": "Halley"})));
    assert_eq!(sky.value_at("/stars/comet/eccentricity"), 1.2);
}

#[test]
fn what_is_out_of_the_question_is_still_refused() {
    let sun = |field: &str, value: Value| json!({"stars": {"sun": with_field(star_json("sun", json!("gone"), &[]), field, value)}, "rootIds": []});
    for (sent, reason) in [
        (sun("/colour", json!("#FFFFFF")), Reason::Unreadable),
        (sun("/mass", json!("heavy")), Reason::Unreadable),
        (sun("/parentId", json!(7)), Reason::Unreadable),
        (json!({"stars": []}), Reason::Unreadable),
        (json!({"star": {}}), Reason::Unreadable),
    ] {
        assert_eq!(SentState::read(&sent).unwrap_err().reason, reason, "{sent}");
    }
    for (field, value) in [("/name", json!("x".repeat(301))), ("/color", json!("gold")), ("/id", json!("constructor"))]
    {
        let (state, _) = SentState::read(&sun(field, value)).unwrap();
        let came = UniverseFixture::uncreated().run(&create_command(Some(state)));
        assert_eq!(came.is_ok(), field == "/id", "{field}: the key is the id");
    }
}

/// This would take minutes if each list were compared with all bodies.
#[test]
fn a_large_state_is_repaired_too() {
    const BODIES: usize = 50_000;
    let id = |number: usize| format!("b{number}");
    let stars: serde_json::Map<String, Value> = (0..BODIES)
        .map(|number| {
            let parent = number.checked_sub(1).map_or(Value::Null, |above| json!(id(above / 2)));
            (id(number), star_json(&id(number), parent, &["b0"]))
        })
        .collect();
    let (state, repairs) = SentState::read(&json!({"stars": stars, "rootIds": []})).unwrap();
    assert_eq!(repairs.len(), 1 + BODIES, "the list of roots, and each list of children");
    assert_eq!(UniverseFixture::uncreated().run(&create_command(Some(state))).map(|events| events.len()), Ok(1));
}

const IDS: [&str; 6] = ["a", "b", "c", "d", "e", "nobody"];

fn id() -> impl Strategy<Value = Value> {
    proptest::sample::select(&IDS[..]).prop_map(Value::from)
}

fn any_parent_id() -> impl Strategy<Value = Value> {
    prop_oneof![2 => Just(Value::Null), 5 => id()]
}

/// Five bodies and five groups with arbitrary links.
fn any_tangled_state() -> impl Strategy<Value = Value> {
    let child = (id(), any::<bool>())
        .prop_map(|(id, is_group)| json!({"id": id, "type": if is_group { "group" } else { "system" }}));
    let bodies =
        proptest::collection::vec((id(), any_parent_id(), proptest::collection::vec(id(), 0..4), any::<bool>()), 5);
    let groups = proptest::collection::vec((any_parent_id(), proptest::collection::vec(child, 0..4)), 5);
    let lists = (proptest::collection::vec(id(), 0..6), proptest::collection::vec(id(), 0..6));
    (bodies, groups, lists).prop_map(|(bodies, groups, (roots, root_groups))| {
        let mut state = json!({"stars": {}, "groups": {}, "rootIds": roots, "rootGroupIds": root_groups});
        for (key, (id, parent, children, is_rogue)) in IDS.iter().zip(bodies) {
            let mut star = star_json(key, parent, &[]);
            (star["id"], star["children"], star["isRoguePlanet"]) = (id, json!(children), json!(is_rogue));
            state["stars"][key] = star;
        }
        for (key, (parent, children)) in IDS.iter().zip(groups) {
            state["groups"][key] = json!({"id": key, "name": key, "parentGroupId": parent, "children": children});
        }
        state
    })
}

proptest! {
    /// Any links can be repaired so that the state is accepted. Only links change, and a repaired state needs no more
    /// repairs.
    #[test]
    fn any_links_are_repaired(sent in any_tangled_state()) {
        let (state, repairs) = create_repaired(&sent);
        for key in &IDS[..5] {
            let (before, after) = (&sent["stars"][key], &state["stars"][key]);
            prop_assert_eq!((&after["id"], &after["name"], &after["mass"]), (&json!(key), &before["name"], &before["mass"]));
            let said = before["parentId"].as_str().filter(|parent| IDS[..5].contains(parent) && parent != key);
            let is_opened = repairs.iter().any(|(path, _)| *path == format!("/stars/{key}/parentId"));
            if let Some(parent) = said.filter(|_| !is_opened) {
                prop_assert_eq!(&after["parentId"], parent);
            }
            prop_assert_eq!(&state["groups"][key]["name"], key);
        }
        let (untouched, none) = create_repaired(&state);
        prop_assert_eq!(&untouched, &state);
        prop_assert!(none.is_empty());
    }
}

/// A name that commands would refuse is cleaned anywhere in a whole state, and the repair is reported.
#[test]
fn names_of_a_whole_state_are_cleaned() {
    let evil = "Sun\u{202e}\nof\u{e0041}";
    let mut sun = star_json("sun", Value::Null, &[]);
    sun["name"] = json!(evil);
    sun["extensions"] = json!({"note": evil});
    let mut group = group_json("g", Value::Null, &[]);
    group["icon"] = json!(evil);
    let state = json!({"stars": {"sun": sun}, "rootIds": ["sun"], "groups": {"g": group}, "rootGroupIds": ["g"]});
    let (kept, repairs) = create_repaired(&state);
    assert_eq!((&kept["stars"]["sun"]["name"], &kept["groups"]["g"]["icon"]), (&json!("Sun of"), &json!("Sun of")));
    assert_eq!(kept["stars"]["sun"]["extensions"]["note"], evil, "extensions are not ours to change");
    let reason = r#"is "Sun\u{202e}\nof\u{e0041}" with the character U+202E; it is "Sun of" now"#.to_owned();
    assert_eq!(repairs, [("/stars/sun/name".to_owned(), reason.clone()), ("/groups/g/icon".to_owned(), reason)]);

    // Other faults are repaired too.
    let broken = with_field(with_field(state.clone(), "/rootIds", json!([])), "/stars/sun/mass", Value::Null);
    let (state_of_broken, repairs) = self::create_repaired(&broken);
    assert_eq!(state_of_broken["stars"]["sun"]["name"], "Sun of");
    assert_eq!(paths(&repairs), ["/stars/sun/name", "/groups/g/icon", "/stars/sun/mass", "/rootIds"]);

    // A snapshot counts as a whole state.
    let (command, repairs) = Command::read(&json!({"type": "replaceSnapshot", "snapshot": state})).unwrap();
    let at: Vec<&str> = repairs.iter().map(|repair| repair.path.as_str()).collect();
    assert_eq!(at, ["/snapshot/stars/sun/name", "/snapshot/groups/g/icon"]);
    UniverseFixture::empty().run(&UniverseCommand::Apply(vec![Arc::new(command)])).unwrap();
}

/// Other things refer to an id, so a bad one is refused rather than changed.
#[test]
fn ids_of_a_whole_state_are_not_cleaned() {
    let (evil, mut sky) = ("s\u{202e}", UniverseFixture::uncreated());
    let asks = |sent: Value| create_command(Some(SentState::read(&sent).unwrap().0));
    let stars = json!({"stars": {evil: star_json(evil, Value::Null, &[])}, "rootIds": [evil]});
    let groups = json!({"groups": {"g": group_json("g", Value::Null, &[(evil, "system")])}, "rootGroupIds": ["g"]});
    for (sent, field) in [(stars, "/state/stars/s\u{202e}/id"), (groups, "/state/groups/g/children")] {
        let refusal = sky.run(&asks(sent)).unwrap_err();
        assert_eq!((refusal.kind(), refusal.pointer().as_deref()), (UniverseRefusalKind::Invalid, Some(field)));
        assert!(!refusal.to_string().contains('\u{202e}'), "{refusal}");
    }
}
