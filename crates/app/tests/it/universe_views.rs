//! Tests of views of a universe: their content, their pages, and refusals.

use serde_json::{Value, json};
use skald_app::{Caller, Code, CompletionRequest, CompletionTarget, Engine, Fault, LocalEngine, RequestControl};
use skald_domain::universe::EXAMPLE_STATE;

use crate::engine::engine;
use crate::universe::{call, call_as_owner, caller_with_roles, run, tick_command};

/// An engine with two universes: the example state of the command docs, and one with 121 bodies.
async fn engine_with_universes() -> std::sync::Arc<LocalEngine> {
    let engine = engine();
    let state: Value = serde_json::from_str(EXAMPLE_STATE).expect("JSON");
    call_as_owner(&engine, "universe", json!({"method": "create", "universeId": "sol", "name": "Sol", "state": state}))
        .await;
    let body = |id: &str, parent: Value, children: Value| {
        json!({
            "id": id, "name": format!("The {id}"), "mass": 1, "radius": 1, "color": "#FFFFFF", "parentId": parent,
            "children": children, "orbitalDistance": 10, "orbitalSpeed": 1, "orbitalPhase": 0
        })
    };
    let ids: Vec<String> = (0..120).map(|number| format!("m{number:03}")).collect();
    let mut stars = serde_json::Map::new();
    stars.insert("hub".to_owned(), body("hub", Value::Null, json!(ids)));
    stars.extend(ids.iter().map(|id| (id.clone(), body(id, json!("hub"), json!([])))));
    let state = json!({"stars": stars, "rootIds": ["hub"]});
    call_as_owner(
        &engine,
        "universe",
        json!({"method": "create", "universeId": "crowd", "name": "Crowd", "state": state}),
    )
    .await;
    engine
}

async fn read_state(engine: &LocalEngine, input: Value) -> Value {
    call_as_owner(engine, "get_universe_state", input).await
}

async fn state_refusal(engine: &LocalEngine, input: Value) -> Fault {
    call(engine, &Caller::owner(), "get_universe_state", input).await.expect_err("it is refused")
}

async fn read_resource(engine: &LocalEngine, uri: &str) -> Result<Value, Fault> {
    let contents = engine.read(&Caller::owner(), uri, &RequestControl::default()).await?;
    assert_eq!(contents.mime_type, "application/json");
    Ok(serde_json::from_str(&contents.into_text()).expect("JSON"))
}

fn item_ids(part: &Value) -> Vec<&str> {
    part["items"].as_array().expect("items").iter().map(|item| item["id"].as_str().expect("an id")).collect()
}

#[test]
fn without_a_view_all_of_it_is_answered() {
    run(async {
        let engine = engine_with_universes().await;
        let whole = read_state(&engine, json!({"universeId": "sol"})).await;
        assert_eq!(whole.as_object().expect("an object").len(), 9);
        assert_eq!(read_state(&engine, json!({"universeId": "sol", "view": "full"})).await, whole);
    });
}

#[test]
fn each_view_is_a_part_beside_id_and_revision() {
    run(async {
        let engine = engine_with_universes().await;
        call_as_owner(&engine, "send_universe_command", tick_command("sol")).await;
        let whole = read_state(&engine, json!({"universeId": "sol"})).await;
        let summary = read_state(&engine, json!({"universeId": "sol", "view": "summary"})).await;
        assert_eq!((&summary["universeId"], &summary["revision"]), (&json!("sol"), &json!(2)));
        assert_eq!((&summary["summary"]["bodyCount"], &summary["summary"]["time"]), (&json!(4), &json!(1)));
        let bodies = read_state(&engine, json!({"universeId": "sol", "view": "bodies"})).await;
        assert_eq!((item_ids(&bodies), &bodies["total"]), (vec!["earth", "moon", "saturn", "sun"], &json!(4)));
        assert_eq!(bodies["items"][2]["ring"], whole["stars"]["saturn"]["ring"]);
        assert_eq!((&bodies["items"][3]["kind"], &bodies["items"][3]["childCount"]), (&json!("star"), &json!(2)));
        let two = read_state(&engine, json!({"universeId": "sol", "ids": ["sun", "earth"]})).await;
        assert_eq!((item_ids(&two), two.get("nextCursor")), (vec!["sun", "earth"], None));
        let groups = read_state(&engine, json!({"universeId": "sol", "view": "groups", "ids": ["inner"]})).await;
        assert_eq!((item_ids(&groups), &groups["total"]), (vec!["inner"], &json!(2)));
        let at = |t: f64| json!({"universeId": "sol", "view": "positions", "ids": ["earth", "moon"], "t": t});
        let (then, turned) = (read_state(&engine, at(0.0)).await, read_state(&engine, at(90.0)).await);
        assert_eq!(then["items"][0]["position"], json!({"x": 15, "y": 0, "z": 0}));
        assert_eq!((&then["time"], &turned["time"]), (&json!(0), &json!(90)));
        assert!((turned["items"][0]["position"]["z"].as_f64().expect("a number") - 15.0).abs() < 1e-9);
        let now = read_state(&engine, json!({"universeId": "sol", "view": "positions"})).await;
        assert_eq!((&now["time"], item_ids(&now).len()), (&json!(1), 4));
        let earth = read_state(&engine, json!({"universeId": "sol", "view": "body", "ids": ["earth"], "t": 0})).await;
        assert_eq!((&earth["body"]["parent"]["id"], &earth["body"]["period"]), (&json!("sun"), &json!(360)));
        assert_eq!(earth["body"]["worldPosition"], then["items"][0]["position"]);
    });
}

#[test]
fn lists_are_paged_and_what_a_thing_holds_is_cut() {
    run(async {
        let engine = engine_with_universes().await;
        for view in ["positions", "bodies"] {
            let (mut seen, mut cursor, mut pages) = (Vec::new(), Value::Null, 0);
            loop {
                let mut input = json!({"universeId": "crowd", "view": view});
                if !cursor.is_null() {
                    input["cursor"] = cursor;
                }
                let page = read_state(&engine, input).await;
                assert!(item_ids(&page).len() <= 50, "{view}");
                seen.extend(item_ids(&page).into_iter().map(str::to_owned));
                (cursor, pages) = (page["nextCursor"].clone(), pages + 1);
                // Later pages of positions keep the time of the first.
                assert!(view != "positions" || page["time"] == json!(0), "{page}");
                if cursor.is_null() {
                    break;
                }
                call_as_owner(&engine, "send_universe_command", tick_command("crowd")).await;
            }
            assert_eq!((seen.len(), pages), (121, 3), "{view}");
            assert!(seen.is_sorted(), "{view}");
        }
        let hub = read_state(&engine, json!({"universeId": "crowd", "ids": ["hub"]})).await;
        assert_eq!(hub["items"][0]["children"].as_array().map(Vec::len), Some(50));
        assert_eq!(hub["items"][0]["childCount"], 120);
        let first =
            read_state(&engine, json!({"universeId": "crowd", "view": "body", "ids": ["hub"], "limit": 100})).await;
        let rest = json!({"universeId": "crowd", "view": "body", "ids": ["hub"], "cursor": first["nextCursor"]});
        let rest = read_state(&engine, rest).await;
        let count = |part: &Value| part["body"]["children"].as_array().map(Vec::len);
        assert_eq!((count(&first), count(&rest), rest.get("nextCursor")), (Some(100), Some(20), None));
    });
}

#[test]
fn what_does_not_go_together_is_named() {
    run(async {
        let engine = engine_with_universes().await;
        let of_bodies = read_state(&engine, json!({"universeId": "sol", "view": "bodies", "limit": 1})).await;
        let of_bodies = &of_bodies["nextCursor"];
        let children = json!({"universeId": "sol", "view": "body", "ids": ["sun"], "limit": 1});
        let of_sun = read_state(&engine, children).await["nextCursor"].clone();
        let of_time = read_state(&engine, json!({"universeId": "sol", "view": "positions", "t": 5, "limit": 1})).await;
        let of_time = &of_time["nextCursor"];
        let bad = Code::InvalidParams;
        let many: Vec<String> = (0..201).map(|number| number.to_string()).collect();
        let cases = [
            (json!({"view": "body", "ids": ["sun", "earth"]}), bad, "/ids"),
            (json!({"view": "body"}), bad, "/ids"),
            (json!({"view": "stars"}), bad, "/view"),
            (json!({"view": "bodies", "ids": []}), bad, "/ids"),
            (json!({"view": "bodies", "ids": many}), bad, "/ids"),
            (json!({"view": "bodies", "ids": "sun"}), bad, "/ids"),
            (json!({"view": "bodies", "ids": ["sun"], "limit": 2}), bad, "/limit"),
            (json!({"view": "bodies", "ids": ["sun"], "cursor": of_bodies}), bad, "/cursor"),
            (json!({"view": "bodies", "t": 5}), bad, "/t"),
            (json!({"view": "bodies", "limit": 0}), bad, "/limit"),
            (json!({"view": "bodies", "limit": 201}), bad, "/limit"),
            (json!({"view": "bodies", "limit": -1}), bad, "/limit"),
            (json!({"view": "positions", "t": "noon"}), bad, "/t"),
            (json!({"view": "positions", "t": null, "cursor": "positions:NaN:earth"}), bad, "/cursor"),
            (json!({"view": "positions", "cursor": of_time, "t": 6}), bad, "/t"),
            (json!({"view": "groups", "cursor": of_bodies}), bad, "/cursor"),
            (json!({"view": "positions", "cursor": of_bodies}), bad, "/cursor"),
            (json!({"view": "bodies", "cursor": of_time}), bad, "/cursor"),
            (json!({"view": "bodies", "cursor": "?"}), bad, "/cursor"),
            (json!({"view": "body", "ids": ["earth"], "cursor": of_sun}), bad, "/cursor"),
            (json!({"view": "body", "ids": ["sun"], "cursor": "children:sun:moon"}), bad, "/cursor"),
            (json!({"view": "summary", "limit": 5}), bad, "/limit"),
            (json!({"view": "full", "ids": ["sun"]}), bad, "/ids"),
            (json!({"limit": 5}), bad, "/limit"),
            (json!({"t": 5}), bad, "/t"),
            (json!({"cursor": of_bodies}), bad, "/cursor"),
            (json!({"ids": ["sun", "pluto"]}), Code::NotFound, "/ids/1"),
            (json!({"view": "groups", "ids": ["sun"]}), Code::NotFound, "/ids/0"),
            (json!({"view": "positions", "ids": ["arm"]}), Code::NotFound, "/ids/0"),
            (json!({"view": "body", "ids": [""]}), Code::NotFound, "/ids/0"),
        ];
        for (mut input, code, path) in cases {
            input["universeId"] = json!("sol");
            let fault = state_refusal(&engine, input.clone()).await;
            assert_eq!((fault.code(), fault.body().path.as_deref()), (code, Some(path)), "{input}: {fault}");
            assert!(fault.body().hint.is_some(), "{input}: {fault}");
        }
        let hint = |fault: Fault| fault.body().hint.clone().expect("a hint");
        assert!(
            hint(state_refusal(&engine, json!({"universeId": "sol", "ids": ["eart"]})).await).contains("\"earth\"")
        );
        let named = state_refusal(&engine, json!({"universeId": "sol", "view": "groups", "ids": ["Orion Arm"]})).await;
        assert_eq!(named.body().details.get("universeId").and_then(serde_json::Value::as_str), Some("sol"));
        assert!(hint(named).contains("\"arm\""), "by its name");
        assert!(
            hint(state_refusal(&engine, json!({"universeId": "sol", "ids": ["arm"]})).await).contains("view groups")
        );
        let time = json!({"universeId": "sol", "view": "positions", "cursor": of_time, "t": 5});
        assert_eq!(read_state(&engine, time).await["time"], 5, "the same time may be repeated");
    });
}

#[test]
fn resources_read_the_same_parts() {
    run(async {
        let engine = engine_with_universes().await;
        for view in ["summary", "bodies", "groups", "positions"] {
            let part = read_state(&engine, json!({"universeId": "sol", "view": view})).await;
            assert_eq!(read_resource(&engine, &format!("universe://sol/{view}")).await.expect("a part"), part);
        }
        let page = read_resource(&engine, "universe://crowd/positions?limit=3&t=1.5").await.expect("a page");
        assert_eq!((item_ids(&page), &page["time"]), (vec!["hub", "m000", "m001"], &json!(1.5)));
        let cursor = page["nextCursor"].as_str().expect("a cursor");
        let next = read_resource(&engine, &format!("universe://crowd/positions?cursor={cursor}&limit=1"))
            .await
            .expect("a page");
        assert_eq!((item_ids(&next), &next["time"]), (vec!["m002"], &json!(1.5)));
        let earth = read_resource(&engine, "universe://sol/body/earth?t=0").await.expect("a body");
        assert_eq!(earth["body"]["body"]["name"], "Earth");
        let moons = read_resource(&engine, "universe://crowd/body/hub?limit=2").await.expect("a body");
        let cursor = moons["nextCursor"].as_str().expect("a cursor");
        let moons = read_resource(&engine, &format!("universe://crowd/body/hub?limit=2&cursor={cursor}"))
            .await
            .expect("a body");
        assert_eq!(moons["body"]["children"][0]["id"], "m002");
        let some = json!({"view": "bodies", "universeId": "sol", "ids": ["moon"]});
        assert_eq!(item_ids(&call_as_owner(&engine, "universe_read", some).await), ["moon"]);
        let cases = [
            ("universe://sol/body/eart", Code::NotFound, Some("/bodyId")),
            ("universe://sol/body/earth?t=NaN", Code::InvalidParams, Some("/t")),
            ("universe://sol/positions?t=1e999", Code::InvalidParams, Some("/t")),
            ("universe://sol/bodies?limit=0", Code::InvalidParams, Some("/limit")),
            ("universe://sol/groups?cursor=bodies:earth", Code::InvalidParams, Some("/cursor")),
            ("universe://none/summary", Code::NotFound, Some("/universeId")),
            ("universe://sol/bodies?t=1", Code::InvalidParams, None),
            ("universe://sol/stars", Code::InvalidParams, None),
        ];
        for (uri, code, path) in cases {
            let fault = read_resource(&engine, uri).await.expect_err("it is refused");
            assert_eq!((fault.code(), fault.body().path.as_deref()), (code, path), "{uri}: {fault}");
        }
        let cases = [
            (json!({"view": "body", "universeId": "sol"}), "/bodyId"),
            (json!({"view": "body", "universeId": "sol", "bodyId": "sun", "ids": ["sun"]}), "/ids"),
            (json!({"view": "bodies", "universeId": "sol", "bodyId": "sun"}), "/bodyId"),
            (json!({"view": "summary"}), "/universeId"),
        ];
        for (input, path) in cases {
            let fault =
                call(&engine, &Caller::owner(), "universe_read", input.clone()).await.expect_err("it is refused");
            let found = (fault.code(), fault.body().path.as_deref());
            assert_eq!(found, (Code::InvalidParams, Some(path)), "{input}: {fault}");
        }
    });
}

#[test]
fn a_body_is_completed_in_its_universe_by_id_and_then_by_name() {
    run(async {
        let engine = engine_with_universes().await;
        let complete = async |caller: &Caller, universe_id: Option<&str>, typed: &str| {
            let target =
                CompletionTarget::Resource("universe://{universeId}/body/{bodyId}{?t,cursor,limit}".to_owned());
            let given = universe_id.map(|id| ("universeId".to_owned(), id.to_owned())).into_iter().collect();
            let request = CompletionRequest { target, argument: "bodyId".to_owned(), typed: typed.to_owned(), given };
            engine.complete(caller, &request, &RequestControl::default()).await.expect("a completion")
        };
        let owner = Caller::owner();
        assert_eq!(complete(&owner, Some("sol"), "S").await.values, ["saturn", "sun"]);
        assert_eq!(complete(&owner, Some("sol"), "").await.values, ["earth", "moon", "saturn", "sun"]);
        assert_eq!(complete(&owner, Some("crowd"), "the m11").await.values.len(), 10, "by name");
        let all = complete(&owner, Some("crowd"), "").await;
        assert_eq!((all.values.len(), all.total), (100, 121));
        for (caller, universe_id) in [(&owner, None), (&owner, Some("none")), (&caller_with_roles(&[]), Some("sol"))] {
            assert_eq!(complete(caller, universe_id, "").await.total, 0, "{universe_id:?}");
        }
    });
}
