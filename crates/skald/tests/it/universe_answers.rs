//! Tests of answers to universe commands, over MCP and REST alike.

use serde_json::{Value, json};

use crate::program_under_test::{Server, Surface, TestClient, on_every_store};
use crate::universe::{TOOLS, add_star_command};
use crate::universe_rest::UniversesClient;

on_every_store! {
    nothing_to_do_is_an_answer,
    a_long_answer_says_how_to_read_the_rest,
}

/// The seed script of the original counts `childAlreadyInGroup` as a success.
fn nothing_to_do_is_an_answer(server: &Server) {
    let (mut program, mut agent) = (UniversesClient::connect(server), server.client(Surface::Session));
    program.create_universe("u-1");
    let groups = json!([
        add_star_command("sun", None),
        {"type": "addGroup", "id": "arm", "payload": {"name": "Arm"}},
        {"type": "addGroup", "id": "spur", "payload": {"name": "Spur", "parentGroupId": "arm"}},
        {"type": "addToGroup", "groupId": "arm", "child": {"id": "sun", "type": "system"}},
    ]);
    program.send_command("u-1", &groups);
    let before = program.get("/universes/u-1").json();
    let again =
        |id: &str, kind: &str| json!({"type": "addToGroup", "groupId": "arm", "child": {"id": id, "type": kind}});
    let already = |id: &str| json!({"type": "childAlreadyInGroup", "groupId": "arm", "childId": id});
    for (id, kind) in [("sun", "system"), ("spur", "group")] {
        let reply =
            program.send_with_headers("POST", "/universes/u-1/commands", &[("Idempotency-Key", id)], &again(id, kind));
        assert_eq!((reply.status, reply.header("etag")), (200, Some("\"2\"")), "{}", reply.text());
        let answer = reply.json();
        assert_eq!((&answer["events"], &answer["revision"]), (&json!([already(id)]), &json!(2)), "{answer}");
        assert_eq!((&answer["changed"], &answer["nextState"]), (&json!({}), &before["state"]), "{answer}");
        let by_mcp = agent.ok(TOOLS[2], &json!({"universeId": "u-1", "command": again(id, kind)}));
        assert_eq!(by_mcp, answer, "no error there either");
    }
    assert_eq!(program.get("/universes/u-1").json(), before, "nothing is stored");

    // In a list of commands it is skipped, and the others are applied.
    let some = json!([again("sun", "system"), {"type": "tick"}, again("spur", "group"), add_star_command("earth", Some("sun"))]);
    let answer = program.send_command("u-1", &some);
    let events = json!([already("sun"), already("spur"), {"type": "starAdded", "id": "earth"}]);
    assert_eq!((&answer["events"], &answer["revision"], &answer["nextState"]["time"]), (&events, &json!(3), &json!(1)));
    let all = json!([again("sun", "system"), again("spur", "group")]);
    let answer = program.send_command("u-1", &all);
    assert_eq!((&answer["events"], &answer["revision"]), (&json!([already("sun"), already("spur")]), &json!(3)));
    // A refusal still names the index in the list as it was sent.
    let wrong = json!([again("sun", "system"), {"type": "removeStar", "id": "mars"}]);
    let (status, fault) = program.send_refused("POST", "/universes/u-1/commands", &wrong);
    assert_eq!((status, &fault["path"]), (422, &json!("/commands/1")), "{fault}");
    let late = [("If-Match", "\"2\"")];
    let reply = program.send_with_headers("POST", "/universes/u-1/commands", &late, &again("sun", "system"));
    assert_eq!(reply.status, 409, "an expected revision is minded all the same");
}

/// The hint is the same over MCP and REST.
fn a_long_answer_says_how_to_read_the_rest(server: &Server) {
    let (mut program, mut agent) = (UniversesClient::connect(server), server.client(Surface::Session));
    program.create_universe("u-1");
    let stars: Vec<Value> = (0..200).map(|number| add_star_command(&format!("s{number}"), None)).collect();
    for some in stars.chunks(100) {
        program.send_command("u-1", &json!(some));
    }
    let mut send = |program: &mut UniversesClient, command: &Value, state: &str| {
        let by_mcp = agent.ok(TOOLS[2], &json!({"universeId": "u-1", "command": command, "state": state}));
        let by_rest = program.send("POST", &format!("/universes/u-1/commands?state={state}"), &json!({"type": "tick"}));
        assert_eq!(by_mcp.get("hint"), by_rest.json().get("hint"));
        by_mcp
    };
    let small = send(&mut program, &json!({"type": "tick"}), "auto");
    assert!(small.get("hint").is_none() && small["nextState"].is_object(), "{small}");
    let large = send(&mut program, &add_star_command("one-more", None), "auto");
    let hint = large["hint"].as_str().expect("a hint");
    assert!(large.get("nextState").is_none() && hint.contains("201") && hint.contains(TOOLS[0]), "{hint}");
    let rest = read_as_hinted(&mut server.client(Surface::Session));
    assert_eq!(rest, program.get("/universes/u-1").json()["state"]);
    for state in ["full", "none"] {
        let answer = send(&mut program, &json!({"type": "tick"}), state);
        assert_eq!((answer.get("hint"), answer.get("nextState").is_some()), (None, state == "full"), "{state}");
    }
}

/// Reads as the hint says: a page of bodies, and the whole state, which is returned.
fn read_as_hinted(agent: &mut TestClient) -> Value {
    let page = agent.ok(TOOLS[0], &json!({"universeId": "u-1", "view": "bodies", "limit": 200}));
    assert_eq!((&page["total"], page["items"].as_array().map(Vec::len)), (&json!(201), Some(200)));
    agent.ok(TOOLS[0], &json!({"universeId": "u-1"}))
}
