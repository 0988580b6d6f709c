//! Tests of commands to universes as people give them: several at once, in days and years, and with names for ids.

use serde_json::{Value, json};
use skald_app::{Caller, Code, Engine, Fault, LocalEngine, RequestControl, limits};
use skald_domain::universe::EXAMPLE_STATE;

use crate::engine::engine;
use crate::universe::{call, call_as_owner, caller_with_roles, run};

async fn engine_with_example() -> std::sync::Arc<LocalEngine> {
    let engine = engine();
    let state: Value = serde_json::from_str(EXAMPLE_STATE).expect("JSON");
    let input = json!({"method": "create", "universeId": "sol", "name": "The Solar System", "state": state});
    call_as_owner(&engine, "universe", input).await;
    engine
}

async fn send(engine: &LocalEngine, command: Value, commands: Value) -> Result<Value, Fault> {
    let input = json!({"universeId": "sol", "command": command, "commands": commands});
    call(engine, &Caller::owner(), "send_universe_command", input).await
}

async fn refusal(engine: &LocalEngine, command: Value, commands: Value) -> Fault {
    send(engine, command, commands).await.expect_err("it is refused")
}

async fn read_state(engine: &LocalEngine, extra: Value) -> Value {
    let mut input = json!({"universeId": "sol"});
    input.as_object_mut().expect("an object").extend(extra.as_object().expect("an object").clone());
    call_as_owner(engine, "get_universe_state", input).await
}

fn add_star(id: &str, parent: &str) -> Value {
    json!({"type": "addStar", "id": id, "payload": {
        "name": format!("The {id}"), "mass": 1, "radius": 1, "color": "#FFD700", "parentId": parent,
        "orbitalDistance": 3, "orbitalPeriodDays": 10
    }})
}

#[test]
fn commands_follow_the_first_in_one_revision_all_or_none() {
    run(async {
        let engine = engine_with_example().await;
        let more = json!([add_star("deimos", "mars"), {"type": "tick", "days": 1}]);
        let answer = send(&engine, add_star("mars", "sun"), more).await.expect("all are done");
        assert_eq!((&answer["revision"], &answer["changed"]["stars"]), (&json!(2), &json!(["mars", "deimos"])));
        let added = |id: &str| json!({"type": "starAdded", "id": id});
        assert_eq!(answer["events"], json!([added("mars"), added("deimos")]));
        assert_eq!(answer["nextState"]["time"], 86_400);
        let alone = send(&engine, json!({"type": "tick"}), json!([])).await.expect("none follows");
        assert_eq!(alone["revision"], 3);

        let before = read_state(&engine, json!({})).await;
        let cases = [
            (json!({"type": "removeStar", "id": "pluto"}), json!([{"type": "tick"}]), "/command"),
            (json!({"type": "tick"}), json!([{"type": "tick"}, {"type": "removeStar", "id": "pluto"}]), "/commands/1"),
            (json!({"type": "tick"}), json!([add_star("x", "y")]), "/commands/0/payload/parentId"),
            (json!({"type": "tick"}), json!([{"type": "removeStar"}]), "/commands/0/id"),
            (json!({"type": "tick"}), json!([{"id": "sun"}]), "/commands/0/type"),
            (json!({"type": "tick"}), json!(["tick"]), "/commands/0/type"),
            (json!({"type": "tick"}), json!({"type": "tick"}), "/commands"),
        ];
        for (command, commands, path) in cases {
            let fault = refusal(&engine, command, commands.clone()).await;
            assert_eq!(fault.body().path.as_deref(), Some(path), "{commands}: {fault}");
            assert!(fault.body().hint.is_some(), "{commands}: {fault}");
        }
        assert_eq!(read_state(&engine, json!({})).await, before, "none is done");
        let many = |count: usize| json!(vec![json!({"type": "tick"}); count]);
        let fault = refusal(&engine, json!({"type": "tick"}), many(limits::COMMANDS_MAX)).await;
        assert_eq!(fault.code(), Code::TooLarge);
        send(&engine, json!({"type": "tick"}), many(limits::COMMANDS_MAX - 1)).await.expect("so many are done");
        let missing = json!({"universeId": "sol", "commands": [{"type": "tick"}]});
        let fault = call(&engine, &Caller::owner(), "send_universe_command", missing).await.expect_err("no command");
        assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::InvalidParams, Some("/command")));
    });
}

#[test]
fn days_and_periods_are_shown_in_views_only() {
    run(async {
        let engine = engine_with_example().await;
        let answer = send(&engine, json!({"type": "tick", "years": 1}), json!([add_star("mars", "sun")])).await;
        let answer = answer.expect("both are done");
        let speed = json!(360.0 / 864_000.0);
        assert_eq!(answer["nextState"]["stars"]["mars"]["orbitalSpeed"], speed);
        let state = read_state(&engine, json!({})).await;
        assert_eq!((&state, &state["time"]), (&answer["nextState"], &json!(31_557_600)));
        assert!(!state.to_string().contains("Days"), "{state}");
        let bodies = read_state(&engine, json!({"ids": ["mars", "sun"]})).await;
        let [mars, sun] = [0, 1].map(|at: usize| &bodies["items"][at]);
        assert_eq!((&mars["orbitalPeriodDays"], &mars["orbitalSpeed"]), (&json!(10), &speed));
        assert_eq!(sun.get("orbitalPeriodDays"), None, "it stands still");
        let mars = read_state(&engine, json!({"view": "body", "ids": ["mars"]})).await;
        assert_eq!((&mars["body"]["orbitalPeriodDays"], &mars["body"]["timeDays"]), (&json!(10), &json!(365.25)));
        assert_eq!(read_state(&engine, json!({"view": "summary"})).await["summary"]["timeDays"], 365.25);
        let positions = read_state(&engine, json!({"view": "positions", "ids": ["mars"], "t": 43_200})).await;
        assert_eq!((&positions["time"], &positions["timeDays"]), (&json!(43_200), &json!(0.5)));
        // A whole state takes periods as well.
        let mut whole = state.clone();
        let body = whole["stars"]["mars"].as_object_mut().expect("a body");
        body.remove("orbitalSpeed");
        body.insert("orbitalPeriodDays".to_owned(), json!(20));
        let create = json!({"method": "create", "universeId": "twin", "name": "Twin", "state": whole});
        call_as_owner(&engine, "universe", create).await;
        let twin = call_as_owner(&engine, "get_universe_state", json!({"universeId": "twin"})).await;
        assert_eq!(twin["stars"]["mars"]["orbitalSpeed"], json!(360.0 / 1_728_000.0));
        whole["stars"]["mars"]["orbitalPeriodDays"] = json!(0);
        let create = json!({"method": "create", "name": "Broken", "state": whole});
        let fault = call(&engine, &Caller::owner(), "universe", create).await.expect_err("it is refused");
        let path = "/state/stars/mars/orbitalPeriodDays";
        assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::InvalidParams, Some(path)), "{fault}");
    });
}

#[test]
fn an_eccentric_body_is_near_its_parent_and_far_from_it() {
    run(async {
        let engine = engine_with_example().await;
        let mut comet = add_star("comet", "sun");
        let payload = comet["payload"].as_object_mut().expect("a payload");
        payload.extend([("semiMajorAxis".to_owned(), json!(20)), ("eccentricity".to_owned(), json!(0.9))]);
        send(&engine, comet, json!([])).await.expect("it is added");
        for (days, x) in [(0.0, 2.0), (5.0, -38.0), (10.0, 2.0)] {
            let at = json!({"view": "positions", "ids": ["comet"], "t": days * 86_400.0});
            let position = read_state(&engine, at).await["items"][0]["position"].clone();
            assert!((position["x"].as_f64().expect("a number") - x).abs() < 1e-9, "{days}: {position}");
            let view = json!({"view": "body", "ids": ["comet"], "t": days * 86_400.0});
            assert_eq!(read_state(&engine, view).await["body"]["position"], position);
        }
        let map = |t: f64| json!({"universeId": "sol", "t": t});
        let near = call_as_owner(&engine, "universe_map", map(0.0)).await;
        let far = call_as_owner(&engine, "universe_map", map(432_000.0)).await;
        assert!(near != far && near["text"].as_str().is_some_and(|text| text.contains(">The comet</text>")));
    });
}

#[test]
fn what_was_replaced_is_told_with_commands_that_put_it_back() {
    run(async {
        let engine = engine_with_example().await;
        let state = read_state(&engine, json!({})).await;
        for (map, set, field, id) in [
            ("smallBodyFields", "setSmallBodyFields", "fields", "main-belt"),
            ("protoplanetaryDisks", "setProtoplanetaryDisks", "disks", "disk"),
            ("nebulae", "setNebulae", "nebulae", "cloud"),
        ] {
            let old = state[map][id].clone();
            let mut new = old.clone();
            new["id"] = json!("new");
            let answer = send(&engine, json!({"type": set, field: {"new": new}}), json!([])).await.expect("it is set");
            assert_eq!(answer["nextState"][map], json!({"new": new}), "all are replaced, as in the original");
            let removed = &answer["removed"][0];
            assert_eq!((&removed["by"], &removed["ids"]), (&json!(set), &json!([id])), "{answer}");
            let put_back = removed["putBack"].as_array().expect("commands").clone();
            let expected = if map == "protoplanetaryDisks" { "addProtoplanetaryDisk" } else { set };
            assert_eq!((put_back.len(), &put_back[0]["type"]), (1, &json!(expected)));
            assert!(removed["hint"].as_str().is_some_and(|hint| hint.contains("replaces all")), "{removed}");
            let answer = send(&engine, put_back[0].clone(), json!([])).await.expect("it is put back");
            assert_eq!(answer["nextState"][map], json!({"new": new, id: old}));
            assert_eq!(answer.get("removed"), None, "{answer}");
        }
    });
}

#[test]
fn commands_that_put_much_back_are_left_out() {
    run(async {
        let engine = engine_with_example().await;
        let cloud = read_state(&engine, json!({})).await["nebulae"]["cloud"].clone();
        let clouds = |count: usize| {
            let one = |number: usize| {
                let mut cloud = cloud.clone();
                cloud["id"] = json!(format!("n{number}"));
                (format!("n{number}"), cloud)
            };
            json!({"type": "setNebulae", "nebulae": (0..count).map(one).collect::<serde_json::Map<_, _>>()})
        };
        let none = json!({"type": "setNebulae", "nebulae": {}});
        for (count, is_short) in [(5, true), (200, false)] {
            send(&engine, clouds(count), json!([])).await.expect("they are set");
            let answer = send(&engine, none.clone(), json!([])).await.expect("all are gone");
            let removed = &answer["removed"][0];
            assert_eq!(removed["ids"].as_array().map(Vec::len), Some(count));
            let bytes = removed.get("putBack").map_or(0, |commands| commands.to_string().len());
            assert_eq!((bytes > 0, bytes <= limits::PUT_BACK_BYTES_MAX), (is_short, true), "{count}");
        }
    });
}

#[test]
fn a_name_for_an_id_is_refused_with_the_id() {
    run(async {
        let engine = engine_with_example().await;
        let move_to = |child: &str| json!({"type": "moveToGroup", "childId": child, "childType": "system"});
        let child = |id: &str| json!({"id": id, "type": "system"});
        let cases = [
            (json!({"type": "removeStar", "id": "Earth"}), "\"earth\""),
            (json!({"type": "removeStar", "id": "eart"}), "\"earth\""),
            (json!({"type": "updateStar", "id": "SATURN ", "payload": {"mass": 2}}), "\"saturn\""),
            (json!({"type": "attachStar", "childId": "moon", "parentId": "Sun"}), "\"sun\""),
            (json!({"type": "detachStar", "childId": "Moon"}), "\"moon\""),
            (json!({"type": "updateRing", "planetId": "Saturn", "patch": {"opacity": 0.5}}), "\"saturn\""),
            (json!({"type": "removeRing", "planetId": "Saturn"}), "\"saturn\""),
            (add_star("mars", "Sun"), "\"sun\""),
            (json!({"type": "removeGroup", "id": "Orion Arm"}), "\"arm\""),
            (json!({"type": "addToGroup", "groupId": "Orion Arm", "child": child("sun")}), "\"arm\""),
            (json!({"type": "addToGroup", "groupId": "inner", "child": child("Sun")}), "\"sun\""),
            (json!({"type": "removeFromGroup", "groupId": "arm", "childId": "Sun"}), "\"sun\""),
            (move_to("Sun"), "\"sun\""),
            (json!({"type": "removeStar", "id": "arm"}), "it is a group"),
            (json!({"type": "removeGroup", "id": "sun"}), "it is a body"),
            (json!({"type": "updateNebula", "id": "clud", "patch": {"density": 0.1}}), "\"cloud\""),
            (json!({"type": "updateProtoplanetaryDisk", "id": "disc", "patch": {"opacity": 0.1}}), "\"disk\""),
            (json!({"type": "updateSmallBodyField", "id": "main belt", "patch": {"opacity": 0.1}}), "\"main-belt\""),
        ];
        for (command, meant) in cases {
            let fault = refusal(&engine, command.clone(), json!([])).await;
            assert_eq!(fault.code(), Code::Rejected, "{command}: {fault}");
            assert!(fault.body().value.is_some() && !fault.body().details["events"].is_null(), "{command}: {fault}");
            let hint = fault.body().hint.clone().expect("a hint");
            assert!(hint.contains(meant), "{command}: {hint}");
        }
        // What an earlier command of the request adds counts too.
        let fault = refusal(&engine, add_star("m-4", "sun"), json!([{"type": "removeStar", "id": "the M-4"}])).await;
        assert!(fault.body().hint.as_ref().is_some_and(|hint| hint.contains("\"m-4\"")), "{fault}");
        for id in ["twin-a", "twin-b"] {
            let mut twin = add_star(id, "sun");
            twin["payload"]["name"] = json!("Twin");
            send(&engine, twin, json!([])).await.expect("it is added");
        }
        let fault = refusal(&engine, json!({"type": "removeStar", "id": "twin"}), json!([])).await;
        let hint = fault.body().hint.clone().expect("a hint");
        assert!(hint.contains("\"twin-a\" or \"twin-b\""), "{hint}");
    });
}

#[test]
fn the_name_of_a_universe_is_refused_with_its_id() {
    run(async {
        let engine = engine_with_example().await;
        let read = |id: &str| json!({"universeId": id});
        for given in ["the solar system", "soll"] {
            let fault = call(&engine, &Caller::owner(), "get_universe_state", read(given)).await.expect_err("no id");
            assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::NotFound, Some("/universeId")));
            assert!(fault.body().hint.as_ref().is_some_and(|hint| hint.contains("\"sol\"")), "{fault}");
        }
        let stranger = caller_with_roles(&[("camp_other", skald_app::CampaignRole::Gm)]);
        let fault = call(&engine, &stranger, "get_universe_state", read("soll")).await.expect_err("hidden");
        assert!(!fault.body().hint.as_ref().is_some_and(|hint| hint.contains("\"sol\"")), "{fault}");
    });
}

#[test]
fn a_retry_is_told_again_what_was_removed() {
    run(async {
        let (engine, owner) = (engine_with_example().await, Caller::owner());
        let input = json!({"universeId": "sol", "command": {"type": "setNebulae", "nebulae": {}}});
        let keyed = RequestControl { idempotency_key: Some("one".to_owned()), ..RequestControl::default() };
        let first = engine.call(&owner, "send_universe_command", input.clone(), &keyed).await.expect("done");
        assert_eq!(first["removed"][0]["ids"], json!(["cloud"]));
        assert_eq!(engine.call(&owner, "send_universe_command", input, &keyed).await.expect("again"), first);
    });
}
