//! Tests of the universe document, requirement by requirement, on every surface and every store.

use serde_json::{Value, json};

use crate::program_under_test::{
    CallOptions, Notifications, Surface, TestClient, World, code_and_status, on_every_surface,
};

on_every_surface! {
    req_mcp_6_the_state_is_read,
    req_mcp_7_and_13_the_commands_are_listed,
    req_mcp_8_and_9_a_command_is_done_and_answered,
    req_mcp_14_and_16_what_is_not_there_is_not_found,
    req_mcp_15_and_16_a_refused_command_changes_nothing,
    req_mcp_16_every_error_names_the_universe,
    a_wrong_command_is_named_with_a_right_example,
    what_was_read_can_be_sent_back,
    keys_and_revisions_are_minded,
    universes_are_kept,
}

/// One test per requirement and store.
macro_rules! in_every_world {
    ($($scenario:ident,)+) => {
        in_every_world!(@ registered_memory Memory $($scenario,)+);
        in_every_world!(@ registered_sqlite Sqlite $($scenario,)+);
        mod registered {
            use super::*;
            in_every_world!(@ postgres Postgres $($scenario,)+);
        }
    };
    (@ $module:ident $kind:ident $($scenario:ident,)+) => {
        mod $module {
            $(#[test]
            fn $scenario() {
                super::$scenario(&crate::program_under_test::World::new(crate::program_under_test::StoreKind::$kind));
            })+
        }
    };
}

in_every_world! {
    req_mcp_1_to_5_three_tools_are_registered,
    req_mcp_10_to_12_answers_are_text,
}

pub(crate) const TOOLS: [&str; 3] = ["get_universe_state", "list_universe_commands", "send_universe_command"];
const CATEGORIES: [&str; 10] = [
    "Simulation",
    "Star CRUD",
    "Star hierarchy",
    "Group CRUD",
    "Group hierarchy",
    "Small body fields",
    "Protoplanetary disks",
    "Nebulae",
    "Rings",
    "Snapshot",
];

pub(crate) fn create_universe(seat: &mut TestClient, id: &str) {
    let answer = seat.ok("universe", &json!({"method": "create", "universeId": id, "name": "Sol"}));
    assert_eq!((&answer["universe"]["id"], &answer["universe"]["revision"]), (&json!(id), &json!(1)), "{answer}");
}

fn read_state(seat: &mut TestClient, id: &str) -> Value {
    seat.ok("get_universe_state", &json!({"universeId": id}))
}

pub(crate) fn send_command(seat: &mut TestClient, id: &str, command: &Value) -> Value {
    seat.ok("send_universe_command", &json!({"universeId": id, "command": command}))
}

pub(crate) fn add_star_command(id: &str, parent: Option<&str>) -> Value {
    json!({"type": "addStar", "id": id, "payload": {
        "name": id, "mass": 1, "radius": 1, "color": "#FFD700", "parentId": parent,
        "orbitalDistance": 10, "orbitalSpeed": 1, "orbitalPhase": 0
    }})
}

/// REQ-MCP-6, REQ-MCP-12; scenarios 6a and 6b.
fn req_mcp_6_the_state_is_read(seat: &mut TestClient) {
    create_universe(seat, "u-1");
    let empty = json!({
        "stars": {}, "rootIds": [], "groups": {}, "rootGroupIds": [], "belts": {}, "smallBodyFields": {},
        "protoplanetaryDisks": {}, "nebulae": {}, "time": 0
    });
    assert_eq!(read_state(seat, "u-1"), empty, "nine keys, always");
    for id in ["a", "b", "c"] {
        send_command(seat, "u-1", &add_star_command(id, None));
    }
    let now = read_state(seat, "u-1");
    assert_eq!(
        (&now["rootIds"], now["stars"].as_object().map(serde_json::Map::len)),
        (&json!(["a", "b", "c"]), Some(3))
    );
    let known = json!({"method": "create", "universeId": "u-2", "name": "Copy", "state": now});
    seat.ok("universe", &known);
    assert_eq!(read_state(seat, "u-2"), now, "a state as it was read can be sent");
}

/// REQ-MCP-7, REQ-MCP-13; scenarios 7 and 13.
fn req_mcp_7_and_13_the_commands_are_listed(seat: &mut TestClient) {
    create_universe(seat, "u-1");
    let list = |seat: &mut TestClient, category: Option<&str>| {
        let mut input = json!({"universeId": "u-1"});
        if let Some(category) = category {
            input["category"] = category.into();
        }
        seat.ok("list_universe_commands", &input)
    };
    let before = list(seat, None);
    let names: Vec<&str> = before["categories"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|category| category["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(names, CATEGORIES);
    assert_eq!(before["commandTypes"].as_array().map(Vec::len), Some(25));
    let commands: usize = before["categories"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|category| category["commands"].as_array().map_or(0, Vec::len))
        .sum();
    assert_eq!(commands, 25);
    send_command(seat, "u-1", &add_star_command("a", None));
    assert_eq!(list(seat, None), before, "whatever the universe holds");
    let one = list(seat, Some("star-hierarchy"));
    assert_eq!(one["categories"][0]["title"], "Star Hierarchy");
    assert_eq!(one["categories"][0]["commands"][0]["schema"]["required"], json!(["type", "childId", "parentId"]));
    for spelling in ["Star hierarchy", "Star Hierarchy", "STAR HIERARCHY", " star-hierarchy "] {
        assert_eq!(list(seat, Some(spelling)), one, "{spelling}");
    }
    let fault = seat.call_refused("list_universe_commands", &json!({"universeId": "u-1", "category": "stars"}));
    assert_eq!(
        (code_and_status(&fault).0, &fault["path"], &fault["universeId"]),
        ("INVALID_PARAMS", &json!("/category"), &json!("u-1"))
    );
    assert_eq!(fault["allowed"].as_array().map(Vec::len), Some(10));
}

/// REQ-MCP-8, REQ-MCP-9; scenarios 8 and 9. REST is among the surfaces: it is the same operation there.
fn req_mcp_8_and_9_a_command_is_done_and_answered(seat: &mut TestClient) {
    create_universe(seat, "u-1");
    let answer = send_command(seat, "u-1", &json!({"type": "tick"}));
    assert_eq!(
        (&answer["revision"], &answer["events"], &answer["changed"]),
        (&json!(2), &json!([]), &json!({"time": 1}))
    );
    assert_eq!(answer["nextState"], read_state(seat, "u-1"));
    send_command(seat, "u-1", &add_star_command("sun", None));
    send_command(seat, "u-1", &add_star_command("earth", Some("sun")));
    let answer = send_command(seat, "u-1", &json!({"type": "removeStar", "id": "sun"}));
    let removed = json!(["sun", "earth"]);
    assert_eq!(answer["events"], json!([{"type": "starRemoved", "id": "sun", "removedIds": removed}]));
    assert_eq!((&answer["changed"], &answer["nextState"]["stars"]), (&json!({"stars": removed}), &json!({})));
}

/// REQ-MCP-14, REQ-MCP-16; scenarios 14a, 14b and 16.
fn req_mcp_14_and_16_what_is_not_there_is_not_found(seat: &mut TestClient) {
    for id in ["u-missing", "00000000-0000-0000-0000-000000000000", "", "a/b", "%", "ü"] {
        let calls = [
            (TOOLS[0], json!({"universeId": id})),
            (TOOLS[1], json!({"universeId": id})),
            (TOOLS[2], json!({"universeId": id, "command": {"type": "tick"}})),
        ];
        for (tool, input) in calls {
            let fault = seat.call_refused(tool, &input);
            assert_eq!(code_and_status(&fault), ("NOT_FOUND", "NotFound"), "{tool}");
            assert_eq!(fault["universeId"], id, "{tool}");
            let message = fault["message"].as_str().expect("a message");
            assert!(message.contains("universe not found") && message.contains(id), "{message}");
        }
    }
    assert_eq!(code_and_status(&seat.read("universe://u-missing").expect_err("nothing there")).0, "NOT_FOUND");
}

/// REQ-MCP-15, REQ-MCP-16; scenario 15: the server goes on, and nothing was stored.
fn req_mcp_15_and_16_a_refused_command_changes_nothing(seat: &mut TestClient) {
    create_universe(seat, "u-42");
    send_command(seat, "u-42", &add_star_command("sun", None));
    let before = seat.read_ok("universe://u-42");
    let commands = [
        (json!({"type": "removeStar", "id": "mars"}), json!({"type": "starNotFound", "id": "mars"})),
        (
            json!({"type": "attachStar", "childId": "sun", "parentId": "sun"}),
            json!({"type": "attachFailed", "reason": "cycle", "childId": "sun", "parentId": "sun"}),
        ),
        (
            add_star_command("sun", None),
            json!({"type": "addStarFailed", "reason": "duplicateId", "id": "sun", "field": "/id"}),
        ),
        (json!({"type": "explode"}), json!({"type": "unknownCommand", "command": {"type": "explode"}})),
    ];
    for (command, event) in commands {
        let fault = seat.call_refused(TOOLS[2], &json!({"universeId": "u-42", "command": command}));
        assert_eq!(code_and_status(&fault), ("REJECTED", "FailedPrecondition"), "{fault}");
        assert_eq!((&fault["universeId"], &fault["events"][0]["type"]), (&json!("u-42"), &event["type"]), "{fault}");
        for (field, value) in event.as_object().expect("an object") {
            assert_eq!(&fault["events"][0][field], value, "{fault}");
        }
        assert!(fault["hint"].is_string());
    }
    assert_eq!(seat.read_ok("universe://u-42"), before, "neither its state nor its revision");
    send_command(seat, "u-42", &json!({"type": "tick"}));
}

fn a_wrong_command_is_named_with_a_right_example(seat: &mut TestClient) {
    create_universe(seat, "u-1");
    let mut misspelt = add_star_command("sun", None);
    misspelt["payload"]["colour"] = json!("#FFFFFF");
    let cases = [
        (misspelt, "REJECTED", "/command/payload/colour"),
        (json!({"type": "addStar", "id": "x"}), "REJECTED", "/command/payload"),
        (json!({"type": "tick", "dt": "soon"}), "REJECTED", "/command/dt"),
        (json!({"type": "moveToGroup", "childId": "x", "childType": "moon"}), "REJECTED", "/command/childType"),
        (json!({}), "INVALID_PARAMS", "/command/type"),
        (json!({"type": 7}), "INVALID_PARAMS", "/command/type"),
    ];
    for (command, code, path) in cases {
        let fault = seat.call_refused(TOOLS[2], &json!({"universeId": "u-1", "command": command}));
        assert_eq!((code_and_status(&fault).0, &fault["path"]), (code, &json!(path)), "{fault}");
        assert!(fault["example"]["type"].is_string() && fault["universeId"] == "u-1", "{fault}");
    }
    assert_eq!(
        code_and_status(&seat.call_refused(TOOLS[2], &json!({"command": {"type": "tick"}}))).0,
        "INVALID_PARAMS"
    );
    assert_eq!(seat.read_ok("universe://u-1")["revision"], 1);
}

/// REQ-MCP-16: also if the input cannot be parsed, which is before the universe is looked up.
fn req_mcp_16_every_error_names_the_universe(seat: &mut TestClient) {
    create_universe(seat, "u-42");
    for (tool, input) in [
        (TOOLS[0], json!({"universeId": "u-42", "view": "everything"})),
        (TOOLS[0], json!({"universeId": "u-42", "view": "summary", "limit": 3})),
        (TOOLS[0], json!({"universeId": "u-42", "limit": "many"})),
        (TOOLS[0], json!({"universeId": "u-42", "colour": "red"})),
        (TOOLS[1], json!({"universeId": "u-42", "category": 7})),
        (TOOLS[2], json!({"universeId": "u-42"})),
        (TOOLS[2], json!({"universeId": "u-42", "command": []})),
        (TOOLS[2], json!({"universeId": "u-42", "command": {"type": "tick"}, "state": "some"})),
        ("universe", json!({"universeId": "u-42", "method": "explode"})),
        ("universe", json!({"universeId": "u-42", "method": "rename"})),
        ("universe", json!({"universeId": "u-42", "method": "replace", "state": {"star": {}}})),
    ] {
        let fault = seat.call_refused(tool, &input);
        assert_eq!(
            (code_and_status(&fault).0, &fault["universeId"]),
            ("INVALID_PARAMS", &json!("u-42")),
            "{tool} {input}"
        );
    }
}

/// A client that reads a body and sends it back also sends its derived fields.
fn what_was_read_can_be_sent_back(seat: &mut TestClient) {
    create_universe(seat, "u-1");
    let mut sun = add_star_command("sun", None);
    sun["payload"]["children"] = json!([]);
    sun["payload"]["id"] = json!("sun");
    send_command(seat, "u-1", &sun);
    send_command(seat, "u-1", &add_star_command("earth", Some("sun")));
    send_command(
        seat,
        "u-1",
        &json!({"type": "addGroup", "id": "arm", "payload": {"id": "arm", "name": "Arm", "children": []}}),
    );
    let whole = read_state(seat, "u-1");
    send_command(seat, "u-1", &json!({"type": "updateStar", "id": "sun", "payload": whole["stars"]["sun"]}));
    send_command(seat, "u-1", &json!({"type": "updateStar", "id": "earth", "payload": whole["stars"]["earth"]}));
    send_command(seat, "u-1", &json!({"type": "updateGroup", "id": "arm", "payload": whole["groups"]["arm"]}));
    assert_eq!(read_state(seat, "u-1"), whole);
    let mut mars = add_star_command("mars", None);
    mars["payload"]["children"] = json!(["earth"]);
    for (command, path) in [
        (mars, "/command/payload/children"),
        (json!({"type": "updateStar", "id": "sun", "payload": {"children": []}}), "/command/payload/children"),
        (json!({"type": "updateStar", "id": "earth", "payload": {"parentId": null}}), "/command/payload/parentId"),
    ] {
        let fault = seat.call_refused(TOOLS[2], &json!({"universeId": "u-1", "command": command}));
        assert_eq!((code_and_status(&fault).0, &fault["path"]), ("REJECTED", &json!(path)), "{fault}");
        assert!(fault["hint"].as_str().is_some_and(|hint| hint.contains("attachStar")), "{fault}");
    }
    assert_eq!(read_state(seat, "u-1"), whole);
}

fn keys_and_revisions_are_minded(seat: &mut TestClient) {
    create_universe(seat, "u-1");
    let input = json!({"universeId": "u-1", "command": {"type": "tick", "dt": 5}});
    let how = CallOptions { key: Some("once"), revision: Some(1) };
    let first = seat.call_with(TOOLS[2], &input, how).expect("it stands at 1");
    assert_eq!(seat.call_with(TOOLS[2], &input, how).expect("the same again"), first);
    assert_eq!(read_state(seat, "u-1")["time"], 5);
    let other = json!({"universeId": "u-1", "command": {"type": "tick", "dt": 6}});
    let fault = seat
        .call_with(TOOLS[2], &other, CallOptions { key: Some("once"), revision: None })
        .expect_err("another request");
    assert_eq!(code_and_status(&fault).0, "IDEMPOTENCY_MISMATCH");
    let fault = seat.call_with(TOOLS[2], &other, CallOptions { key: None, revision: Some(1) }).expect_err("it is at 2");
    assert_eq!((code_and_status(&fault).0, &fault["universeId"]), ("REVISION_CONFLICT", &json!("u-1")));
}

fn universes_are_kept(seat: &mut TestClient) {
    assert_eq!(seat.read_ok("universes://list"), json!({"universes": []}));
    let campaign_id = crate::documented_campaign::create_campaign(seat);
    create_universe(seat, "u 1/é");
    let made = seat.ok("universe", &json!({"method": "create", "name": " Mine ", "campaignId": campaign_id}));
    let id = made["universe"]["id"].as_str().expect("an id").to_owned();
    assert!(id.starts_with("univ_") && made["universe"]["name"] == "Mine", "{made}");
    let listed = seat.read_ok("universes://list");
    assert_eq!(listed, seat.ok("universe", &json!({"method": "list"})));
    assert_eq!(
        (&listed["universes"][0]["id"], &listed["universes"][0]["campaignId"]),
        (&json!(id), &json!(campaign_id))
    );
    seat.ok("universe", &json!({"method": "rename", "universeId": id, "name": "Ours"}));
    let read = seat.read_ok(&format!("universe://{id}"));
    assert_eq!((&read["name"], &read["revision"]), (&json!("Ours"), &json!(2)));
    assert_eq!(read["state"], read_state(seat, &id));
    assert_eq!(seat.read_ok("universe://u%201%2F%C3%A9")["name"], "Sol", "any id can be read");
    let gone = seat.ok("universe", &json!({"method": "delete", "universeId": id}));
    assert_eq!((&gone["deleted"], &gone["universe"]["name"]), (&json!(true), &json!("Ours")));
    assert_eq!(code_and_status(&seat.call_refused(TOOLS[0], &json!({"universeId": id}))).0, "NOT_FOUND");
    assert_eq!(seat.read_ok("universes://list")["universes"].as_array().map(Vec::len), Some(1));
}

/// REQ-MCP-1 to 5, scenarios 1 to 5, in both eras and on stdio.
fn req_mcp_1_to_5_three_tools_are_registered(world: &World) {
    let server = world.serve(&["--toolsets", "universe"]);
    let seats = [
        server.client(Surface::Session),
        server.client(Surface::Stateless),
        world.stdio_client(&["--toolsets", "universe"]),
    ];
    for mut seat in seats {
        let listed = seat.request("tools/list", &json!({}));
        let tools = listed["result"]["tools"].as_array().expect("tools");
        assert_eq!(tools.iter().map(|tool| tool["name"].as_str().expect("a name")).collect::<Vec<_>>(), TOOLS);
        for tool in tools {
            assert!(!tool["description"].as_str().expect("a description").is_empty());
            let schema = &tool["inputSchema"];
            assert_eq!(schema["properties"]["universeId"]["type"], "string", "{tool}");
            assert!(schema["required"].as_array().expect("a list").contains(&json!("universeId")), "{tool}");
        }
        let send = &tools[2]["inputSchema"];
        assert_eq!(send["required"], json!(["universeId", "command"]));
        let command = &send["properties"]["command"];
        assert_eq!((&command["type"], &command["required"]), (&json!("object"), &json!(["type"])));
        assert_eq!(command["properties"]["type"]["type"], "string");
        assert_eq!(tools[1]["inputSchema"]["properties"]["category"]["type"], "string");
    }
}

/// REQ-MCP-10 to 12, scenarios 10 to 12: every answer is text, and JSON unless it is a refusal.
fn req_mcp_10_to_12_answers_are_text(world: &World) {
    let (mut seat, _server) = world.client(Surface::Session);
    create_universe(&mut seat, "u-1");
    let calls = [
        (TOOLS[0], json!({"universeId": "u-1"}), false),
        (TOOLS[1], json!({"universeId": "u-1"}), false),
        (TOOLS[2], json!({"universeId": "u-1", "command": {"type": "tick"}}), false),
        (TOOLS[0], json!({"universeId": "u-missing"}), true),
        (TOOLS[1], json!({"universeId": "u-missing"}), true),
        (TOOLS[2], json!({"universeId": "u-1", "command": {"type": "removeStar", "id": "x"}}), true),
        (TOOLS[2], json!({"universeId": 1}), true),
        (TOOLS[0], json!({"universeId": "u-1", "view": "everything"}), true),
        (TOOLS[2], json!({"universeId": "u-1"}), true),
    ];
    for (tool, arguments, is_error) in calls {
        let answer = seat.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        let result = &answer["result"];
        assert_eq!(result["isError"].as_bool().unwrap_or_default(), is_error, "{answer}");
        for entry in result["content"].as_array().expect("content") {
            assert_eq!(entry["type"], "text");
            assert!(!entry["text"].as_str().expect("a text").is_empty());
        }
        // REQ-MCP-16: the id is in the sentence for models and in the object for programs.
        if let Some(id) = arguments["universeId"].as_str().filter(|_| is_error) {
            for entry in result["content"].as_array().expect("content") {
                assert!(entry["text"].as_str().is_some_and(|text| text.contains(id)), "{entry}");
            }
        }
        if !is_error {
            let text = result["content"][0]["text"].as_str().expect("a text");
            assert_eq!(serde_json::from_str::<Value>(text).expect("JSON"), result["structuredContent"]);
        }
    }
}

/// Subscribes, and skips the notifications that the newer MCP revision sends right after that.
pub(crate) fn watch_without_initial(seat: &mut TestClient, surface: Surface, uris: &[&str]) -> Notifications {
    let mut news = seat.watch(uris);
    if surface == Surface::Stateless {
        for uri in uris {
            assert_eq!(&news.next_subject(), uri, "announced once on entry");
        }
    }
    news
}

/// Scenario 8: subscribers are notified of a command, also of one that another process got, but not of a refused one.
#[test]
fn a_change_is_told_to_those_who_watch() {
    let world = World::sqlite();
    create_universe(&mut world.stdio_client(&[]), "u-1");
    let (server, beside) = (world.serve(&[]), world.serve(&[]));
    for (round, surface) in [Surface::Session, Surface::Stateless].into_iter().enumerate() {
        let mut news =
            watch_without_initial(&mut server.client(surface), surface, &["universe://u-1", "universes://list"]);
        let mut writer = beside.client(Surface::Rest);
        send_command(&mut writer, "u-1", &add_star_command(&format!("s{round}"), None));
        assert_eq!(news.next_subject(), "universe://u-1");
        writer.call_refused(TOOLS[2], &json!({"universeId": "u-1", "command": {"type": "removeStar", "id": "nobody"}}));
        writer.ok("universe", &json!({"method": "rename", "universeId": "u-1", "name": "Sun"}));
        assert_eq!([news.next_subject(), news.next_subject()], ["universe://u-1", "universes://list"]);
        writer.ok("universe", &json!({"method": "replace", "universeId": "u-1", "state": {}}));
        assert_eq!(
            [news.next_subject(), news.next_subject()],
            ["universe://u-1", "universes://list"],
            "a state that is put"
        );
        writer.ok("universe", &json!({"method": "create", "name": "Another"}));
        let mut heard = [news.next_subject(), news.next_subject()];
        heard.sort();
        assert_eq!(heard, ["list", "universes://list"]);
    }
}

/// Callers without a role in its campaign get no notification of a universe, not even of its deletion.
#[test]
fn a_change_is_told_to_nobody_else() {
    let world = World::sqlite();
    let mut owner = world.stdio_client(&[]);
    let [campaign_id, other] = [(); 2].map(|()| crate::documented_campaign::create_campaign(&mut owner));
    let (theirs, _) = world.create_token(&["theirs", "--role", "guest", "--for", &campaign_id]);
    let (others, _) = world.create_token(&["others", "--role", "gm", "--for", &other]);
    let server = world.serve(&[]);
    let seat = |token: &str| server.client_with(Surface::Session, Some(token), "test");
    let mut news =
        [&theirs, &others].map(|token| watch_without_initial(&mut seat(token), Surface::Session, &["universe://u-1"]));
    for (id, of) in [("u-1", &campaign_id), ("u-2", &other)] {
        owner.ok("universe", &json!({"method": "create", "universeId": id, "name": "Sol", "campaignId": of}));
    }
    send_command(&mut owner, "u-1", &json!({"type": "tick"}));
    owner.ok("universe", &json!({"method": "delete", "universeId": "u-1"}));
    let [theirs, others] = &mut news;
    assert!(theirs.read_until("universe://u-1").len() <= 2);
    assert_eq!(others.next_subject(), "list", "of u-2, which is theirs");
    assert!(!others.has_notification(), "and nothing of u-1");
}

/// A cursor leads to what is past the first page; and an id that is far too long costs no more time than another.
#[test]
fn everything_is_found_and_nothing_takes_long() {
    let world = World::new(crate::program_under_test::StoreKind::Memory);
    let server = world.serve(&[]);
    let mut seat = server.client(Surface::Session);
    for number in 0..52 {
        create_universe(&mut seat, &format!("u-{number}"));
    }
    let first = seat.read_ok("universes://list");
    assert_eq!(first["universes"].as_array().map(Vec::len), Some(50));
    let cursor = first["nextCursor"].as_str().expect("a cursor");
    let rest = seat.read_ok(&format!("universes://list?cursor={cursor}"));
    assert_eq!((rest["universes"].as_array().map(Vec::len), rest.get("nextCursor")), (Some(2), None));
    let bodies: Vec<Value> = (0..100).map(|number| add_star_command(&format!("body-{number}"), None)).collect();
    for body in &bodies {
        send_command(&mut seat, "u-0", body);
    }
    let began = std::time::Instant::now();
    let fault = seat.call_refused(TOOLS[0], &json!({"universeId": "u-0", "ids": ["b".repeat(2_000_000)]}));
    assert_eq!(code_and_status(&fault).0, "NOT_FOUND");
    let unknown = json!({"universeId": "u-0", "command": {"type": "x".repeat(2_000_000)}});
    let fault = seat.call_refused(TOOLS[2], &unknown);
    assert!(fault.to_string().len() < 20_000, "what was sent is not sent back whole");
    assert!(began.elapsed() < std::time::Duration::from_secs(5), "{:?}", began.elapsed());
}
