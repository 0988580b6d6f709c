//! Tests of commands on bodies: every row of the original's table, with its effects and failures.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::*;
use super::{UniverseFixture, add_star_json, body_json, with_field};

#[test]
fn add_star() {
    let mut sky = UniverseFixture::empty();
    assert_eq!(sky.expect_events(add_star_json("sun", Value::Null)), json!([{"type": "starAdded", "id": "sun"}]));
    assert_eq!(sky.expect_events(add_star_json("earth", json!("sun"))), json!([{"type": "starAdded", "id": "earth"}]));
    let mut without_parent = add_star_json("lone", Value::Null);
    without_parent["payload"].as_object_mut().unwrap().remove("parentId");
    sky.expect_events(without_parent);
    assert_eq!(
        sky.value_at("/stars/earth"),
        json!({
            "id": "earth", "name": "earth", "mass": 1, "radius": 1, "color": "#FFFFFF", "orbitalDistance": 5,
            "orbitalSpeed": 2, "orbitalPhase": 0, "parentId": "sun", "children": [],
        })
    );
    assert_eq!(
        (sky.value_at("/stars/sun/children"), sky.value_at("/rootIds")),
        (json!(["earth"]), json!(["sun", "lone"]))
    );

    let failed = |reason: &str, id: &str, field: &str| json!({"type": "addStarFailed", "reason": reason, "id": id, "field": field});
    assert_eq!(sky.expect_failure(add_star_json("sun", Value::Null)), failed("duplicateId", "sun", "/id"));
    assert_eq!(
        sky.expect_failure(add_star_json("x", json!("nobody"))),
        failed("unknownParent", "x", "/payload/parentId")
    );
    assert_eq!(sky.expect_failure(add_star_json("x", json!(""))), failed("unknownParent", "x", "/payload/parentId"));
    assert_eq!(sky.expect_failure(add_star_json("x", json!("x"))), failed("selfParent", "x", "/payload/parentId"));
    assert_eq!(
        sky.expect_failure(add_star_json("constructor", Value::Null)),
        failed("forbiddenId", "constructor", "/id")
    );
    assert_eq!(sky.expect_failure(add_star_json("", Value::Null)), failed("forbiddenId", "", "/id"));
    let colored = with_field(add_star_json("x", Value::Null), "/payload/color", json!("yellow"));
    assert_eq!(sky.expect_failure(colored), failed("badColor", "x", "/payload/color"));
    let eccentric = with_field(add_star_json("x", Value::Null), "/payload/eccentricity", json!(1.5));
    assert_eq!(sky.expect_failure(eccentric), failed("outOfRange", "x", "/payload/eccentricity"));
    for (field, wrong) in [
        ("/payload/bodyType", json!("dwarf")),
        ("/payload/mass", json!("heavy")),
        ("/payload/mass", Value::Null),
        ("/payload/orbitalRadius", json!(1)),
        ("/payload/children", json!("none")),
        ("/parentId", json!("sun")),
        ("/payload", Value::Null),
    ] {
        let unreadable = json!({"type": "addStarFailed", "reason": "unreadable", "id": "x"});
        let mut failed = sky.expect_failure(with_field(add_star_json("x", Value::Null), field, wrong));
        failed.as_object_mut().unwrap().remove("parentId");
        assert_eq!(failed, unreadable, "{field}");
    }
    assert_eq!(sky.expect_failure(json!({"type": "addStar", "id": "x"}))["type"], "addStarFailed");
}

#[test]
fn what_follows_from_the_rest_may_be_sent_back() {
    let mut sky = UniverseFixture::empty();
    let sent_back = |id: &str, payload_id: &str, children: Value| {
        let payload = with_field(add_star_json(id, Value::Null), "/payload/id", json!(payload_id));
        with_field(payload, "/payload/children", children)
    };
    sky.expect_events(sent_back("sun", "sun", json!([])));
    assert_eq!((sky.value_at("/stars/sun/children"), sky.value_at("/rootIds")), (json!([]), json!(["sun"])));
    let failed = |field: &str| json!({"type": "addStarFailed", "reason": "linkChange", "id": "x", "field": field});
    assert_eq!(sky.expect_failure(sent_back("x", "y", json!([]))), failed("/payload/id"));
    assert_eq!(sky.expect_failure(sent_back("x", "x", json!(["sun"]))), failed("/payload/children"));
}

#[test]
fn update_star() {
    let mut sky = UniverseFixture::example();
    let update = |id: &str, payload: Value| json!({"type": "updateStar", "id": id, "payload": payload});
    let updated = json!([{"type": "starUpdated", "id": "saturn"}]);
    assert_eq!(sky.expect_events(update("saturn", json!({"mass": 96, "eccentricity": 0.05, "ring": null}))), updated);
    assert_eq!((sky.value_at("/stars/saturn/mass"), sky.value_at("/stars/saturn/ring")), (json!(96), Value::Null));
    assert_eq!(sky.expect_events(update("saturn", json!({"eccentricity": null}))), updated);
    assert_eq!(sky.value_at("/stars/saturn/eccentricity"), Value::Null);
    // An update may repeat links that do not change.
    let whole = sky.value_at("/stars/earth");
    sky.expect_events(update("earth", whole.clone()));
    assert_eq!(sky.value_at("/stars/earth"), whole);

    assert_eq!(sky.expect_failure(update("pluto", json!({}))), json!({"type": "starNotFound", "id": "pluto"}));
    for (field, changed) in [
        ("id", json!("terra")),
        ("parentId", Value::Null),
        ("parentId", json!("saturn")),
        ("parentId", json!("earth")),
        ("children", json!([])),
        ("children", json!(["moon", "sun"])),
    ] {
        let failed = sky.expect_failure(update("earth", json!({ field: changed })));
        let expected = json!({"type": "updateStarFailed", "reason": "linkChange", "id": "earth", "field": format!("/payload/{field}")});
        assert_eq!(failed, expected);
    }
    assert_eq!(sky.expect_failure(update("earth", json!({"mass": null})))["reason"], "unreadable");
    assert_eq!(sky.expect_failure(update("earth", json!({"colour": "#FFF"})))["reason"], "unreadable");
    let black = with_field(json!({"ring": sky.value_at("/stars/saturn/ring")}), "/color", json!("black"));
    assert_eq!(sky.expect_failure(update("earth", black))["reason"], "badColor");
}

#[test]
fn remove_star() {
    let mut sky = UniverseFixture::example();
    sky.expect_events(json!({"type": "addToGroup", "groupId": "inner", "child": {"id": "moon", "type": "system"}}));
    let removed = json!([{"type": "starRemoved", "id": "sun", "removedIds": ["sun", "earth", "moon", "saturn"]}]);
    assert_eq!(sky.expect_events(json!({"type": "removeStar", "id": "sun"})), removed);
    assert_eq!((sky.value_at("/stars"), sky.value_at("/rootIds")), (json!({}), json!([])));
    // Groups drop removed bodies; fields and disks keep their references.
    assert_eq!(sky.value_at("/groups/arm/children"), json!([{"id": "inner", "type": "group"}]));
    assert_eq!(sky.value_at("/groups/inner/children"), json!([]));
    assert_eq!(sky.value_at("/smallBodyFields/main-belt/hostStarId"), json!("sun"));
    assert_eq!(sky.value_at("/protoplanetaryDisks/disk/centralStarId"), json!("sun"));
    for id in ["sun", "constructor", "", "__proto__"] {
        assert_eq!(
            sky.expect_failure(json!({"type": "removeStar", "id": id})),
            json!({"type": "starNotFound", "id": id})
        );
    }
}

#[test]
fn attach_star() {
    let mut sky = UniverseFixture::example();
    let attach = |child: &str, parent: &str| json!({"type": "attachStar", "childId": child, "parentId": parent});
    let failed = |reason: &str, child: &str, parent: &str| json!({"type": "attachFailed", "reason": reason, "childId": child, "parentId": parent});
    assert_eq!(
        sky.expect_events(attach("earth", "sun")),
        json!([{"type": "starAttached", "childId": "earth", "parentId": "sun"}])
    );
    assert_eq!(sky.value_at("/stars/sun/children"), json!(["saturn", "earth"]));
    sky.expect_events(attach("earth", "saturn"));
    assert_eq!(
        (sky.value_at("/stars/sun/children"), sky.value_at("/stars/saturn/children")),
        (json!(["saturn"]), json!(["earth"]))
    );
    assert_eq!(sky.value_at("/stars/earth/parentId"), "saturn");
    sky.expect_events(add_star_json("lone", Value::Null));
    sky.expect_events(attach("sun", "lone"));
    assert_eq!((sky.value_at("/rootIds"), sky.value_at("/stars/lone/children")), (json!(["lone"]), json!(["sun"])));

    assert_eq!(sky.expect_failure(attach("pluto", "sun")), failed("notFound", "pluto", "sun"));
    assert_eq!(sky.expect_failure(attach("sun", "pluto")), failed("notFound", "sun", "pluto"));
    assert_eq!(sky.expect_failure(attach("sun", "moon")), failed("cycle", "sun", "moon"));
    assert_eq!(sky.expect_failure(attach("moon", "moon")), failed("cycle", "moon", "moon"));
}

#[test]
fn detach_star() {
    let mut sky = UniverseFixture::example();
    let detach = |child: &str| json!({"type": "detachStar", "childId": child});
    assert_eq!(sky.expect_events(detach("earth")), json!([{"type": "starDetached", "childId": "earth"}]));
    assert_eq!(
        (sky.value_at("/rootIds"), sky.value_at("/stars/sun/children")),
        (json!(["sun", "earth"]), json!(["saturn"]))
    );
    assert_eq!(
        (sky.value_at("/stars/earth/parentId"), sky.value_at("/stars/earth/orbitalDistance")),
        (Value::Null, json!(0))
    );
    assert_eq!(sky.value_at("/stars/earth/children"), json!(["moon"]));
    for id in ["earth", "pluto"] {
        assert_eq!(
            sky.expect_failure(detach(id)),
            json!({"type": "detachFailed", "reason": "notAttached", "childId": id})
        );
    }
}

#[test]
fn rings() {
    let mut sky = UniverseFixture::example();
    let update = |id: &str, patch: Value| json!({"type": "updateRing", "planetId": id, "patch": patch});
    assert_eq!(
        sky.expect_events(update("earth", json!({"opacity": 0.25}))),
        json!([{"type": "ringUpdated", "planetId": "earth"}])
    );
    let ring = json!({
        "innerRadiusMultiplier": 1.5, "outerRadiusMultiplier": 3, "thickness": 0.06, "opacity": 0.25, "albedo": 0.8,
        "color": "#2E86DE", "density": 0.6,
    });
    assert_eq!(sky.value_at("/stars/earth/ring"), ring);
    sky.expect_events(update("earth", json!({"density": 1, "seed": 7})));
    sky.expect_events(update("earth", json!({"seed": null})));
    assert_eq!(sky.value_at("/stars/earth/ring"), with_field(ring, "/density", json!(1)));
    assert_eq!(sky.expect_failure(update("x", json!({}))), json!({"type": "starNotFound", "id": "x"}));
    let failed =
        json!({"type": "updateRingFailed", "reason": "outOfRange", "planetId": "earth", "field": "/patch/opacity"});
    assert_eq!(sky.expect_failure(update("earth", json!({"opacity": 2}))), failed);
    assert_eq!(sky.expect_failure(update("earth", json!({"opacity": null})))["reason"], "unreadable");

    let remove = |id: &str| json!({"type": "removeRing", "planetId": id});
    assert_eq!(sky.expect_events(remove("earth")), json!([{"type": "ringRemoved", "planetId": "earth"}]));
    assert_eq!(sky.value_at("/stars/earth/ring"), Value::Null);
    for id in ["earth", "x"] {
        assert_eq!(sky.expect_failure(remove(id)), json!({"type": "ringNotFound", "planetId": id}));
    }
}

#[test]
fn rogue_planets_may_stand_outside_the_roots() {
    let mut sky = UniverseFixture::example();
    let mut rogue = body_json("rogue", Value::Null);
    (rogue["id"], rogue["isRoguePlanet"]) = (json!("rogue"), json!(true));
    sky.expect_events(json!({"type": "replaceSnapshot", "snapshot": {"stars": {"rogue": rogue}, "rootIds": []}}));
    assert_eq!(sky.value_at("/rootIds"), json!([]));
    assert_eq!(sky.expect_failure(json!({"type": "detachStar", "childId": "rogue"}))["reason"], "notAttached");
    // Once it is not a rogue planet any more, it is an ordinary root.
    sky.expect_events(json!({"type": "updateStar", "id": "rogue", "payload": {"isRoguePlanet": null}}));
    assert_eq!(sky.value_at("/rootIds"), json!(["rogue"]));
    sky.expect_events(json!({"type": "updateStar", "id": "rogue", "payload": {"isRoguePlanet": true}}));
    assert_eq!(sky.value_at("/rootIds"), json!(["rogue"]));
    sky.expect_events(json!({"type": "removeStar", "id": "rogue"}));
    assert_eq!(sky.value_at("/rootIds"), json!([]));
}

/// A new name is refused; one that was stored before this check stays as it is.
#[test]
fn a_name_of_several_lines_is_refused() {
    let mut sky = UniverseFixture::empty();
    sky.expect_events(add_star_json("sun", Value::Null));
    for (name, problem) in [("a\nb", "U+000A"), ("a\u{202e}b", "U+202E"), ("a\u{e0041}b", "U+E0041")] {
        let refused = sky.expect_failure(with_field(add_star_json("x", Value::Null), "/payload/name", json!(name)));
        assert_eq!(
            refused,
            json!({"type": "addStarFailed", "reason": "notPlain", "id": "x", "field": "/payload/name"}),
            "{problem}"
        );
        let update = json!({"type": "updateStar", "id": "sun", "payload": {"name": name}});
        assert_eq!(sky.expect_failure(update)["reason"], "notPlain");
        let group = json!({"type": "addGroup", "id": "g", "payload": {"name": name}});
        assert_eq!(sky.expect_failure(group)["field"], "/payload/name");
        let renamed = sky.run(&UniverseCommand::Rename { name: name.to_owned() }).unwrap_err();
        assert_eq!((renamed.kind(), renamed.pointer().as_deref()), (UniverseRefusalKind::Invalid, Some("/name")));
        assert!(renamed.to_string().contains(problem), "{renamed}");

        // As if it came from an event of an older store.
        let old: Command =
            serde_json::from_value(with_field(add_star_json("old", Value::Null), "/payload/name", json!(name)))
                .unwrap();
        let event = UniverseEvent::Commanded(Commanded { command: Arc::new(old), events: Vec::new() });
        let mut before = UniverseFixture::empty();
        let given = before.given();
        before.universe = UniverseRules::evolve(before.universe, &event, &given);
        assert_eq!(before.value_at("/stars/old/name"), name);
        before.expect_events(json!({"type": "updateStar", "id": "old", "payload": {"mass": 2}}));
        assert_eq!(before.value_at("/stars/old/name"), name);
    }
}
