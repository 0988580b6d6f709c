//! Tests of commands on groups: every row of the original's table, with its effects and failures.

use serde_json::{Value, json};

use super::UniverseFixture;

#[test]
fn add_group() {
    let mut sky = UniverseFixture::example();
    let group = |id: &str, payload: Value| json!({"type": "addGroup", "id": id, "payload": payload});
    assert_eq!(sky.expect_events(group("far", json!({"name": "Far"}))), json!([{"type": "groupAdded", "id": "far"}]));
    assert_eq!(sky.value_at("/groups/far"), json!({"id": "far", "name": "Far", "children": [], "parentGroupId": null}));
    assert_eq!(sky.value_at("/rootGroupIds"), json!(["arm", "far"]));
    let children = json!([{"id": "saturn", "type": "system"}, {"id": "inner", "type": "group"}]);
    sky.expect_events(group("near", json!({"name": "Near", "parentGroupId": "far", "children": children})));
    assert_eq!(sky.value_at("/groups/near/children"), children);
    assert_eq!(sky.value_at("/groups/far/children"), json!([{"id": "near", "type": "group"}]));
    // A group leaves its previous parent.
    assert_eq!(sky.value_at("/groups/inner/parentGroupId"), "near");
    assert_eq!(sky.value_at("/groups/arm/children"), json!([{"id": "sun", "type": "system"}]));

    sky.expect_events(group("same", json!({"id": "same", "name": "Same", "children": [], "parentGroupId": "far"})));
    assert_eq!(sky.value_at("/groups/same/parentGroupId"), "far");

    let failed = |reason: &str, id: &str, field: &str| json!({"type": "addGroupFailed", "reason": reason, "id": id, "field": field});
    assert_eq!(
        sky.expect_failure(group("x", json!({"id": "y", "name": "x"}))),
        failed("linkChange", "x", "/payload/id")
    );
    assert_eq!(sky.expect_failure(group("far", json!({"name": "Far"}))), failed("duplicateId", "far", "/id"));
    assert_eq!(sky.expect_failure(group("valueOf", json!({"name": "x"}))), failed("forbiddenId", "valueOf", "/id"));
    let under = |parent: &str, children: Value| json!({"name": "x", "parentGroupId": parent, "children": children});
    assert_eq!(
        sky.expect_failure(group("x", under("x", json!([])))),
        failed("selfParent", "x", "/payload/parentGroupId")
    );
    assert_eq!(
        sky.expect_failure(group("x", under("?", json!([])))),
        failed("unknownParent", "x", "/payload/parentGroupId")
    );
    let child = |id: &str, kind: &str| json!({"id": id, "type": kind});
    let listed = |children: Value| under("near", children);
    assert_eq!(
        sky.expect_failure(group("x", listed(json!([child("?", "system")])))),
        failed("notFound", "x", "/payload/children/0")
    );
    assert_eq!(
        sky.expect_failure(group("x", listed(json!([child("sun", "group")])))),
        failed("notFound", "x", "/payload/children/0")
    );
    let twice = listed(json!([child("sun", "system"), child("sun", "system")]));
    assert_eq!(sky.expect_failure(group("x", twice)), failed("listedTwice", "x", "/payload/children/1"));
    assert_eq!(
        sky.expect_failure(group("x", listed(json!([child("far", "group")])))),
        failed("cycle", "x", "/payload/children/0")
    );
    assert_eq!(sky.expect_failure(group("x", json!({"children": []})))["reason"], "unreadable");
    let nowhere = json!({"name": "x", "position": {"x": 0, "y": 0}});
    assert_eq!(sky.expect_failure(group("x", nowhere))["reason"], "unreadable");
}

#[test]
fn update_group() {
    let mut sky = UniverseFixture::example();
    let update = |id: &str, payload: Value| json!({"type": "updateGroup", "id": id, "payload": payload});
    let looks = json!({"name": "Arm", "color": "#123456", "position": {"x": 1, "y": 2, "z": 3}, "icon": "spiral"});
    assert_eq!(sky.expect_events(update("arm", looks)), json!([{"type": "groupUpdated", "id": "arm"}]));
    assert_eq!((sky.value_at("/groups/arm/name"), sky.value_at("/groups/arm/position/z")), (json!("Arm"), json!(3)));
    sky.expect_events(update("arm", json!({"color": null})));
    assert_eq!(sky.value_at("/groups/arm/color"), Value::Null);
    let whole = sky.value_at("/groups/inner");
    sky.expect_events(update("inner", whole.clone()));
    assert_eq!(sky.value_at("/groups/inner"), whole);
    assert_eq!(sky.expect_failure(update("x", json!({}))), json!({"type": "groupNotFound", "id": "x"}));
    for (field, changed) in
        [("id", json!("x")), ("parentGroupId", Value::Null), ("children", json!([{"id": "sun", "type": "system"}]))]
    {
        let failed = sky.expect_failure(update("inner", json!({ field: changed })));
        assert_eq!((&failed["type"], &failed["reason"]), (&json!("updateGroupFailed"), &json!("linkChange")));
    }
    assert_eq!(sky.expect_failure(update("arm", json!({"color": "blue"})))["reason"], "badColor");
    assert_eq!(sky.expect_failure(update("arm", json!({"name": null})))["reason"], "unreadable");
}

#[test]
fn remove_group() {
    let mut sky = UniverseFixture::example();
    let group = |id: &str, parent: &str| json!({"type": "addGroup", "id": id, "payload": {"name": id, "parentGroupId": parent}});
    sky.expect_events(group("one", "inner"));
    sky.expect_events(group("two", "inner"));
    assert_eq!(
        sky.expect_events(json!({"type": "removeGroup", "id": "inner"})),
        json!([{"type": "groupRemoved", "id": "inner"}])
    );
    let child = |id: &str, kind: &str| json!({"id": id, "type": kind});
    assert_eq!(
        sky.value_at("/groups/arm/children"),
        json!([child("sun", "system"), child("one", "group"), child("two", "group")])
    );
    assert_eq!(sky.value_at("/groups/two/parentGroupId"), "arm");
    sky.expect_events(json!({"type": "removeGroup", "id": "arm"}));
    assert_eq!(sky.value_at("/rootGroupIds"), json!(["one", "two"]));
    assert_eq!(sky.value_at("/groups/one/parentGroupId"), Value::Null);
    assert!(sky.universe.state().snapshot().group_places.is_empty());
    assert_eq!(sky.value_at("/stars/sun/name"), "Sun");
    assert_eq!(
        sky.expect_failure(json!({"type": "removeGroup", "id": "arm"})),
        json!({"type": "groupNotFound", "id": "arm"})
    );
}

#[test]
fn add_to_group() {
    let mut sky = UniverseFixture::example();
    let put = |group: &str, id: &str, kind: &str| json!({"type": "addToGroup", "groupId": group, "child": {"id": id, "type": kind}});
    let added = json!([{"type": "childAddedToGroup", "groupId": "inner", "childId": "sun"}]);
    assert_eq!(sky.expect_events(put("inner", "sun", "system")), added);
    // A system may be in several groups.
    assert_eq!(sky.value_at("/groups/arm/children/0/id"), "sun");
    sky.expect_events(json!({"type": "addGroup", "id": "far", "payload": {"name": "Far"}}));
    sky.expect_events(put("far", "inner", "group"));
    assert_eq!(sky.value_at("/groups/inner/parentGroupId"), "far");
    assert_eq!(sky.value_at("/groups/arm/children"), json!([{"id": "sun", "type": "system"}]));
    sky.expect_events(put("inner", "arm", "group"));
    assert_eq!(sky.value_at("/rootGroupIds"), json!(["far"]));

    let named = |name: &str, group: &str, child: &str| json!({"type": name, "groupId": group, "childId": child});
    assert_eq!(sky.expect_failure(put("inner", "sun", "system")), named("childAlreadyInGroup", "inner", "sun"));
    assert_eq!(sky.expect_failure(put("far", "inner", "group")), named("childAlreadyInGroup", "far", "inner"));
    assert_eq!(sky.expect_failure(put("x", "sun", "system")), json!({"type": "groupNotFound", "id": "x"}));
    let failed = |reason: &str, group: &str, child: &str| json!({"type": "addToGroupFailed", "reason": reason, "groupId": group, "childId": child});
    assert_eq!(sky.expect_failure(put("arm", "far", "group")), failed("cycle", "arm", "far"));
    assert_eq!(sky.expect_failure(put("arm", "arm", "group")), failed("cycle", "arm", "arm"));
    assert_eq!(sky.expect_failure(put("arm", "pluto", "system")), failed("notFound", "arm", "pluto"));
    assert_eq!(sky.expect_failure(put("arm", "x", "group")), failed("notFound", "arm", "x"));
    assert_eq!(sky.expect_failure(put("arm", "sun", "planet"))["reason"], "unreadable");
}

#[test]
fn remove_from_group() {
    let mut sky = UniverseFixture::example();
    let take = |group: &str, child: &str| json!({"type": "removeFromGroup", "groupId": group, "childId": child});
    let named = |name: &str, group: &str, child: &str| json!({"type": name, "groupId": group, "childId": child});
    assert_eq!(sky.expect_events(take("arm", "inner")), json!([named("childRemovedFromGroup", "arm", "inner")]));
    assert_eq!(
        (sky.value_at("/rootGroupIds"), sky.value_at("/groups/inner/parentGroupId")),
        (json!(["arm", "inner"]), Value::Null)
    );
    sky.expect_events(take("arm", "sun"));
    assert_eq!(sky.value_at("/groups/arm/children"), json!([]));
    assert_eq!(sky.expect_failure(take("arm", "sun")), named("childNotInGroup", "arm", "sun"));
    assert_eq!(sky.expect_failure(take("x", "sun")), json!({"type": "groupNotFound", "id": "x"}));
}

#[test]
fn move_to_group() {
    let mut sky = UniverseFixture::example();
    let moves = |id: &str, kind: &str, target: Value| json!({"type": "moveToGroup", "childId": id, "childType": kind, "targetGroupId": target});
    let came = |id: &str, target: Value| json!([{"type": "movedToGroup", "childId": id, "targetGroupId": target}]);
    assert_eq!(sky.expect_events(moves("sun", "system", json!("inner"))), came("sun", json!("inner")));
    assert_eq!(sky.value_at("/groups/arm/children"), json!([{"id": "inner", "type": "group"}]));
    assert_eq!(sky.value_at("/groups/inner/children"), json!([{"id": "sun", "type": "system"}]));
    assert_eq!(sky.expect_events(moves("sun", "system", Value::Null)), came("sun", Value::Null));
    assert_eq!(sky.value_at("/groups/inner/children"), json!([]));
    sky.expect_events(moves("inner", "group", Value::Null));
    assert_eq!(sky.value_at("/rootGroupIds"), json!(["arm", "inner"]));
    sky.expect_events(moves("arm", "group", Value::Null));
    assert_eq!(sky.value_at("/rootGroupIds"), json!(["arm", "inner"]));
    sky.expect_events(moves("arm", "group", json!("inner")));
    assert_eq!(
        (sky.value_at("/rootGroupIds"), sky.value_at("/groups/arm/parentGroupId")),
        (json!(["inner"]), json!("inner"))
    );

    let failed = |reason: &str, id: &str, target: Value| json!({"type": "moveToGroupFailed", "reason": reason, "childId": id, "targetGroupId": target});
    assert_eq!(sky.expect_failure(moves("inner", "group", json!("arm"))), failed("cycle", "inner", json!("arm")));
    assert_eq!(sky.expect_failure(moves("arm", "group", json!("arm"))), failed("cycle", "arm", json!("arm")));
    assert_eq!(sky.expect_failure(moves("pluto", "system", json!("arm"))), failed("notFound", "pluto", json!("arm")));
    assert_eq!(sky.expect_failure(moves("pluto", "system", Value::Null)), failed("notFound", "pluto", Value::Null));
    assert_eq!(sky.expect_failure(moves("sun", "system", json!("x"))), json!({"type": "groupNotFound", "id": "x"}));
}
