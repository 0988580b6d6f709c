//! Tests of `/universes` over REST, and together with MCP on the same server, on every store.

use serde_json::{Value, json};
use skald_testkit::mcp_messages::{ACCEPT_BOTH, JSON, initialize, request};
use skald_testkit::{Client, Reply};

use crate::process::RunningProgram;
use crate::program_under_test::{Server, StoreKind, Surface, World, on_every_store};
use crate::universe::{TOOLS, add_star_command};

on_every_store! {
    a_universe_lives_and_dies,
    a_universe_is_created_as_it_was_sent,
    universes_are_listed_in_pages,
    commands_come_alone_or_together,
    what_is_wrong_is_refused,
    revisions_are_minded,
    a_universe_of_ten_mebibytes_is_taken,
    req_mcp_8_the_same_service_is_behind_both,
    req_mcp_17_to_23_sessions_begin_and_end,
    req_mcp_24_the_other_routes_answer_beside_it,
}

/// A REST client of `/universes` with one connection.
pub(crate) struct UniversesClient(Client);

impl UniversesClient {
    pub(crate) fn connect(server: &Server) -> Self {
        Self(Client::connect(server.address))
    }

    pub(crate) fn send(&mut self, method: &str, path: &str, body: &Value) -> Reply {
        self.send_with_headers(method, path, &[], body)
    }

    pub(crate) fn send_with_headers(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Reply {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.0.send(method, path, &[&[JSON], headers].concat(), body.as_bytes())
    }

    pub(crate) fn get(&mut self, path: &str) -> Reply {
        self.send("GET", path, &Value::Null)
    }

    pub(crate) fn create_universe(&mut self, id: &str) -> Value {
        let reply = self.send("POST", "/universes", &json!({"id": id, "name": id, "state": {}}));
        assert_eq!(reply.status, 201, "{}", reply.text());
        reply.json()
    }

    pub(crate) fn send_command(&mut self, id: &str, command: &Value) -> Value {
        let reply = self.send("POST", &format!("/universes/{id}/commands"), command);
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.json()
    }

    /// The status and the error of a request that must fail. Asserts that its `error` is a sentence of message and
    /// hint.
    pub(crate) fn send_refused(&mut self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let reply = self.send(method, path, body);
        let fault = reply.json();
        let sentence = fault["error"].as_str().unwrap_or_else(|| panic!("{method} {path}: {fault}"));
        let message = fault["message"].as_str().expect("a message");
        assert!(sentence.starts_with(message), "{fault}");
        assert_eq!(fault["hint"].as_str().map(|hint| sentence.ends_with(hint)), Some(true), "{fault}");
        if let Some(id) = path.split('?').next().and_then(|path| path.split('/').nth(2)) {
            assert_eq!((&fault["universeId"], sentence.contains(id)), (&json!(id), true), "{fault}");
        }
        (reply.status, fault)
    }
}

fn a_universe_lives_and_dies(server: &Server) {
    let mut program = UniversesClient::connect(server);
    let made = program.send("POST", "/universes", &json!({"name": "  Sol ", "state": {}}));
    assert_eq!((made.status, made.header("etag")), (201, Some("\"1\"")));
    let record = made.json();
    let id = record["id"].as_str().expect("an id");
    let path = format!("/universes/{id}");
    assert_eq!(made.header("location"), Some(path.as_str()));
    assert_eq!((&record["name"], &record["state"]["stars"]), (&json!("Sol"), &json!({})));
    for moment in ["createdAt", "updatedAt"] {
        let text = record[moment].as_str().expect("a moment");
        assert!(text.len() == 24 && text.ends_with('Z') && &text[19..20] == ".", "{text}");
    }
    let shown = program.get(&path);
    assert_eq!((shown.status, shown.header("etag"), shown.json()), (200, Some("\"1\""), record.clone()));
    for tags in ["\"1\"", "W/\"1\"", "\"7\", \"1\"", "*"] {
        let known = program.send_with_headers("GET", &path, &[("If-None-Match", tags)], &Value::Null);
        assert_eq!((known.status, known.body.as_slice()), (304, b"".as_slice()), "{tags}");
    }
    assert_eq!(program.send_with_headers("GET", &path, &[("If-None-Match", "\"2\"")], &Value::Null).status, 200);

    let renamed = program.send("PUT", &path, &json!({"name": "Sun"})).json();
    assert_eq!(
        (&renamed["name"], &renamed["state"], &renamed["revision"]),
        (&json!("Sun"), &record["state"], &json!(2))
    );
    let touched = program.send("PUT", &path, &json!({})).json();
    assert_eq!((&touched["name"], &touched["revision"]), (&json!("Sun"), &json!(3)), "nothing is a change too");
    program.send_command(id, &add_star_command("sun", None));
    let state = json!({"time": 7, "stars": {}, "rootIds": []});
    let replaced = program.send("PUT", &path, &json!({"state": state})).json();
    assert_eq!((&replaced["state"]["time"], &replaced["state"]["stars"]), (&json!(7), &json!({})));
    assert_eq!(program.get(&path).json(), replaced);

    let gone = program.send("DELETE", &path, &Value::Null);
    assert_eq!((gone.status, gone.body.as_slice()), (204, b"".as_slice()));
    for method in ["GET", "PUT", "DELETE"] {
        let (status, fault) = program.send_refused(method, &path, &json!({}));
        let message = fault["message"].as_str().expect("a message");
        assert!(status == 404 && message.contains(id) && fault["universeId"] == id, "{method}: {fault}");
    }
}

fn a_universe_is_created_as_it_was_sent(server: &Server) {
    let mut program = UniversesClient::connect(server);
    program.create_universe("u-1");
    program.send_command("u-1", &add_star_command("sun", None));
    let state = program.get("/universes/u-1").json()["state"].take();
    let reply = program.send("POST", "/universes", &json!({"id": "a b/ü", "name": "Copy", "state": state}));
    assert_eq!((reply.status, reply.header("location")), (201, Some("/universes/a%20b%2F%C3%BC")));
    assert_eq!(program.get("/universes/a%20b%2F%C3%BC").json()["state"], state);
    let (status, fault) = program.send_refused("POST", "/universes", &json!({"id": "u-1", "name": "x", "state": {}}));
    assert_eq!((status, &fault["code"], &fault["value"]), (422, &json!("REJECTED"), &json!("u-1")));
    for (body, path) in [
        (json!({"state": {}}), "/name"),
        (json!({"name": "", "state": {}}), "/name"),
        (json!({"name": 7, "state": {}}), "/name"),
        (json!({"name": "x"}), "/state"),
        (json!({"name": "x", "state": []}), "/state"),
        (json!({"name": "x", "state": {"time": "soon"}}), "/state/time"),
        (json!({"name": "x", "state": {"star": {}}}), "/state/star"),
        (json!({"name": "x", "state": {}, "colour": 1}), "/colour"),
        (json!({"name": "x", "state": {}, "method": "delete"}), "/method"),
        (json!({"name": "x", "state": {}, "id": ".."}), "/universeId"),
    ] {
        let (status, fault) = program.send_refused("POST", "/universes", &body);
        assert_eq!((status, &fault["path"]), (400, &json!(path)), "{body}: {fault}");
        assert!(fault["hint"].is_string(), "{fault}");
    }
    assert_eq!(program.get("/universes").json().as_array().map(Vec::len), Some(2), "nothing else was created");
    let twice = [("Idempotency-Key", "once")];
    let body = json!({"name": "Twice", "state": {}});
    let first = program.send_with_headers("POST", "/universes", &twice, &body).json();
    assert_eq!(program.send_with_headers("POST", "/universes", &twice, &body).json()["id"], first["id"]);
}

fn universes_are_listed_in_pages(server: &Server) {
    let mut program = UniversesClient::connect(server);
    assert_eq!(program.get("/universes").json(), json!([]));
    let ids = ["u-0", "u-1", "u-2", "u-3", "u-4"];
    for id in ids {
        program.create_universe(id);
    }
    program.send_command("u-3", &json!({"type": "tick"}));
    assert!(program.get("/universes").header("link").is_none(), "all of them");
    for query in ["?limit=2", "?limit=2&state=full"] {
        let (mut path, mut listed) = (format!("/universes{query}"), Vec::new());
        loop {
            let page = program.get(&path);
            assert_eq!(page.status, 200);
            listed.extend(page.json().as_array().expect("an array").clone());
            let Some(link) = page.header("link") else { break };
            let next = link.strip_prefix('<').and_then(|link| link.strip_suffix(">; rel=\"next\""));
            next.expect("a link to the next page").clone_into(&mut path);
        }
        let newest_first: Vec<&str> = listed.iter().map(|universe| universe["id"].as_str().expect("an id")).collect();
        assert_eq!(newest_first, ["u-4", "u-3", "u-2", "u-1", "u-0"]);
        for universe in &listed {
            assert_eq!(universe.get("state").is_some(), query.ends_with("full"), "{universe}");
        }
        assert_eq!((&listed[1]["revision"], &listed[2]["revision"]), (&json!(2), &json!(1)));
        let whole = program.get("/universes/u-3").json();
        assert_eq!(listed[1]["updatedAt"], whole["updatedAt"]);
        if query.ends_with("full") {
            assert_eq!(listed[1], whole);
        }
    }
    for (query, path) in [
        ("limit=0", "/limit"),
        ("limit=many", "/limit"),
        ("limit=11&state=full", "/limit"),
        ("cursor=x", "/cursor"),
        ("order=oldest", "/order"),
    ] {
        let (status, fault) = program.send_refused("GET", &format!("/universes?{query}"), &Value::Null);
        assert_eq!((status, &fault["path"]), (400, &json!(path)), "{query}: {fault}");
    }
}

fn commands_come_alone_or_together(server: &Server) {
    let mut program = UniversesClient::connect(server);
    program.create_universe("u-1");
    let one = program.send_command("u-1", &add_star_command("sun", None));
    assert_eq!((&one["revision"], &one["events"]), (&json!(2), &json!([{"type": "starAdded", "id": "sun"}])));
    assert_eq!(one["nextState"]["rootIds"], json!(["sun"]));
    let several = json!([add_star_command("earth", Some("sun")), add_star_command("moon", Some("earth")), {"type": "tick", "dt": 2}]);
    let all = program.send_command("u-1", &several);
    let events = json!([{"type": "starAdded", "id": "earth"}, {"type": "starAdded", "id": "moon"}]);
    assert_eq!((&all["revision"], &all["events"], &all["nextState"]["time"]), (&json!(3), &events, &json!(2)));

    let before = program.get("/universes/u-1").json();
    let wrong = json!([{"type": "tick"}, {"type": "removeStar", "id": "mars"}, {"type": "tick"}]);
    let (status, fault) = program.send_refused("POST", "/universes/u-1/commands", &wrong);
    assert_eq!((status, &fault["path"]), (422, &json!("/commands/1")), "{fault}");
    assert_eq!(fault["events"], json!([{"type": "starNotFound", "id": "mars"}]));
    let unread = json!([{"type": "tick"}, {"type": "tick", "dt": "soon"}]);
    let (status, fault) = program.send_refused("POST", "/universes/u-1/commands", &unread);
    assert_eq!((status, &fault["path"]), (422, &json!("/commands/1/dt")), "{fault}");
    assert_eq!(program.get("/universes/u-1").json(), before, "all or nothing");

    let quiet = program.send("POST", "/universes/u-1/commands?state=none", &json!({"type": "tick"})).json();
    assert!(quiet.get("nextState").is_none() && quiet["changed"]["time"] == 3, "{quiet}");
    let many: Vec<Value> = (0..201).map(|number| add_star_command(&format!("s{number}"), None)).collect();
    assert_eq!(program.send_refused("POST", "/universes/u-1/commands", &json!(many)).0, 413, "too many at once");
    for some in many.chunks(100) {
        let large = program.send_command("u-1", &json!(some));
        assert_eq!(large["changed"]["stars"].as_array().map(Vec::len), Some(some.len()));
        let bodies = program.get("/universes/u-1").json()["state"]["stars"].as_object().map_or(0, serde_json::Map::len);
        assert_eq!(large.get("nextState").is_some(), bodies <= 200, "of what is large, what changed and no more");
    }
    let whole = program.send("POST", "/universes/u-1/commands?state=full", &json!({"type": "tick"})).json();
    assert_eq!(whole["nextState"], program.get("/universes/u-1").json()["state"]);
}

fn what_is_wrong_is_refused(server: &Server) {
    let mut program = UniversesClient::connect(server);
    program.create_universe("u-1");
    let commands = "/universes/u-1/commands";
    for body in [json!({}), json!({"type": ""}), json!({"type": "  "}), json!({"type": 7}), json!("tick"), json!([])] {
        let (status, fault) = program.send_refused("POST", commands, &body);
        assert_eq!((status, &fault["code"]), (400, &json!("INVALID_PARAMS")), "{body}: {fault}");
    }
    // An invalid command is refused before the universe is looked up.
    assert_eq!(program.send_refused("POST", "/universes/nowhere/commands", &json!({})).0, 400);
    let (status, fault) = program.send_refused("POST", "/universes/nowhere/commands", &json!({"type": "tick"}));
    assert!(status == 404 && fault["message"].as_str().is_some_and(|message| message.contains("nowhere")), "{fault}");
    let (status, fault) =
        program.send_refused("POST", commands, &json!({"type": "attachStar", "childId": "a", "parentId": "b"}));
    let failed = json!([{"type": "attachFailed", "reason": "notFound", "childId": "a", "parentId": "b"}]);
    assert_eq!((status, &fault["events"], &fault["universeId"]), (422, &failed, &json!("u-1")));
    let (status, fault) = program.send_refused("POST", commands, &json!({"type": "explode"}));
    assert_eq!((status, &fault["events"][0]["type"]), (422, &json!("unknownCommand")));
    let (status, fault) = program.send_refused("POST", &format!("{commands}?state=some"), &json!({"type": "tick"}));
    assert_eq!((status, &fault["path"]), (400, &json!("/state")), "{fault}");
    for method in ["POST", "PUT"] {
        let path = if method == "POST" { commands } else { "/universes/u-1" };
        let reply = program.0.send(method, path, &[JSON], b"{\"type\": ");
        let fault = reply.json();
        assert_eq!(
            (reply.status, &fault["code"], &fault["universeId"]),
            (400, &json!("INVALID_PARAMS"), &json!("u-1"))
        );
        assert!(fault["error"].is_string(), "{fault}");
        let large = vec![b' '; 10_485_761];
        let reply = Client::connect(server.address).try_send(method, path, &[JSON], &large);
        // The server may close the connection before the whole body is sent.
        assert!(reply.is_err() || reply.is_ok_and(|reply| reply.status == 413));
    }
    let (status, fault) = program.send_refused("PUT", "/universes/u-1", &json!({"title": "x"}));
    assert_eq!((status, &fault["path"]), (400, &json!("/title")));
    let (status, fault) = program.send_refused("PUT", "/universes/u-1", &json!({"name": " "}));
    assert_eq!((status, &fault["path"]), (400, &json!("/name")), "{fault}");
    let patched = program.send("PATCH", "/universes/u-1", &json!({}));
    assert_eq!((patched.status, patched.json()["error"].is_string()), (405, true));
    let nowhere = program.get("/universes/u-1/moons");
    assert_eq!((nowhere.status, nowhere.json()["error"].is_string()), (404, true));
    let elsewhere = program.get("/api/v1/universes/nowhere/summary");
    assert_eq!((elsewhere.status, &elsewhere.json()["error"]["code"]), (404, &json!("NOT_FOUND")));
    assert_eq!(program.get("/universes/u-1").json()["revision"], 1, "nothing of it was stored");
}

fn revisions_are_minded(server: &Server) {
    let mut program = UniversesClient::connect(server);
    program.create_universe("u-1");
    let tick = json!({"type": "tick"});
    let pinned = |program: &mut UniversesClient, revision: &str, method: &str, path: &str, body: &Value| {
        program.send_with_headers(method, path, &[("If-Match", revision)], body)
    };
    let commands = "/universes/u-1/commands";
    let ticked = pinned(&mut program, "\"1\"", "POST", commands, &tick);
    assert_eq!((ticked.status, ticked.header("etag")), (200, Some("\"2\"")));
    for (method, path, body) in [
        ("POST", commands, &tick),
        ("PUT", "/universes/u-1", &json!({"name": "x"})),
        ("DELETE", "/universes/u-1", &Value::Null),
    ] {
        let late = pinned(&mut program, "\"1\"", method, path, body);
        assert_eq!((late.status, &late.json()["code"]), (409, &json!("REVISION_CONFLICT")), "{method}");
    }
    assert_eq!(pinned(&mut program, "x", "POST", commands, &tick).status, 400);
    // A universe that is yet to be created has no revision to expect.
    let another = json!({"id": "u-1", "name": "x", "state": {}});
    assert_eq!(pinned(&mut program, "\"99\"", "POST", "/universes", &another).status, 400);
    assert_eq!(pinned(&mut program, "\"2\"", "DELETE", "/universes/u-1", &Value::Null).status, 204);
}

/// The generator of the original makes states of more than 10 MB, and its server takes bodies of 10 MiB.
fn a_universe_of_ten_mebibytes_is_taken(server: &Server) {
    let mut program = UniversesClient::connect(server);
    program.create_universe("u-1");
    let stars: serde_json::Map<String, Value> = (0..2_000)
        .map(|number| {
            let id = format!("s{number}");
            let mut body = add_star_command(&id, None)["payload"].take();
            body["id"] = json!(id);
            body["name"] = "n".repeat(300).into();
            body["extensions"] = json!({"notes": "x".repeat(4_500)});
            (id, body)
        })
        .collect();
    let root_ids: Vec<&String> = stars.keys().collect();
    let mut sent = json!({"state": {"rootIds": root_ids, "stars": stars}}).to_string();
    assert!((9_000_000..10_485_760).contains(&sent.len()), "{}", sent.len());
    sent.extend(std::iter::repeat_n(' ', 10_485_760 - sent.len()));
    let put = program.0.send("PUT", "/universes/u-1", &[JSON], sent.as_bytes());
    assert_eq!((put.status, &put.json()["revision"]), (200, &json!(2)));
    let kept = program.get("/universes/u-1").json()["state"].take();
    assert_eq!((&kept["stars"]["s7"]["name"], &kept["rootIds"]), (&stars["s7"]["name"], &json!(root_ids)));
    sent.push(' ');
    let reply = Client::connect(server.address).try_send("PUT", "/universes/u-1", &[JSON], sent.as_bytes());
    // The server may close the connection before the whole body is sent.
    assert!(reply.is_err() || reply.is_ok_and(|reply| reply.status == 413), "one byte more");
}

/// REQ-MCP-8, scenario 8: the same commands get the same answers and refusals over MCP and over REST.
fn req_mcp_8_the_same_service_is_behind_both(server: &Server) {
    let (mut program, mut agent) = (UniversesClient::connect(server), server.client(Surface::Session));
    program.create_universe("by-rest");
    program.create_universe("by-mcp");
    let commands = [
        json!({"type": "tick"}),
        add_star_command("sun", None),
        add_star_command("earth", Some("sun")),
        add_star_command("earth", Some("sun")),
        json!({"type": "attachStar", "childId": "sun", "parentId": "earth"}),
        json!({"type": "updateRing", "planetId": "earth", "patch": {"opacity": 0.5}}),
        json!({"type": "tick", "dt": "soon"}),
        json!({"type": "implode"}),
        json!({}),
        json!({"type": "removeStar", "id": "sun"}),
    ];
    for command in commands {
        let reply = program.send("POST", "/universes/by-rest/commands", &command);
        let mut over_rest = reply.json();
        // REST adds a sentence for people to the fields of an error.
        let is_refused = over_rest.as_object_mut().is_some_and(|fields| fields.shift_remove("error").is_some());
        let over_rest = if is_refused { Err(over_rest) } else { Ok(over_rest) };
        let over_mcp = agent.call(TOOLS[2], &json!({"universeId": "by-mcp", "command": command}));
        let alike = |answer: Value| answer.to_string().replace("by-rest", "by-mcp");
        assert_eq!(over_rest.map(alike).map_err(alike), over_mcp.map(alike).map_err(alike), "{command}");
    }
    let state =
        |program: &mut UniversesClient, id: &str| program.get(&format!("/universes/{id}")).json()["state"].take();
    assert_eq!(state(&mut program, "by-rest"), state(&mut program, "by-mcp"));
    assert_eq!(state(&mut program, "by-mcp"), agent.ok(TOOLS[0], &json!({"universeId": "by-rest"})));
}

/// REQ-MCP-17 to 23, scenarios 17 to 23.
fn req_mcp_17_to_23_sessions_begin_and_end(server: &Server) {
    UniversesClient::connect(server).create_universe("u-1");
    let mut client = Client::connect(server.address);
    let mut post = |headers: &[(&str, &str)], message: &Value| {
        client.send("POST", "/mcp", &[&[JSON, ACCEPT_BOTH], headers].concat(), message.to_string().as_bytes())
    };
    // 17, 20 and 21: a handshake without a session begins one.
    let opened = post(&[], &initialize("2025-11-25"));
    assert_eq!((opened.status, &opened.json()["result"]["serverInfo"]["name"]), (200, &json!("skald")));
    let session = opened.header("mcp-session-id").expect("a session").to_owned();
    assert!(!session.is_empty());
    // 19: each client gets its own.
    let other = post(&[], &initialize("2025-11-25"));
    assert_ne!(other.header("mcp-session-id"), Some(session.as_str()));
    // 18a: a call within the session.
    let within = [("mcp-session-id", session.as_str())];
    let call = request(2, "tools/call", &json!({"name": TOOLS[0], "arguments": {"universeId": "u-1"}}));
    let called = post(&within, &call);
    assert_eq!((called.status, &called.json()["result"]["structuredContent"]["time"]), (200, &json!(0)));
    // 21: a request that is no handshake and names no session gets none.
    let lost = post(&[], &call);
    assert_eq!((lost.status, lost.header("mcp-session-id")), (400, None));
    // 18b: the stream for notifications.
    let events = Client::connect(server.address).open("GET", "/mcp", &within, b"");
    assert_eq!((events.status, events.kind.as_str()), (200, "text/event-stream"));
    drop(events);
    // 18c and 22: the session ends, and requests that name it get 404.
    let send = |method: &str, id: &str| {
        Client::connect(server.address).send(method, "/mcp", &[ACCEPT_BOTH, ("mcp-session-id", id)], b"").status
    };
    assert_eq!(send("DELETE", &session), 200);
    for method in ["GET", "DELETE"] {
        assert_eq!(send(method, &session), 404, "{method}");
        // 23: the same as for a session that never existed.
        assert_eq!(send(method, "session-expired"), 404, "{method}");
    }
}

/// REQ-MCP-24, scenario 24: with a session open on `/mcp`.
fn req_mcp_24_the_other_routes_answer_beside_it(server: &Server) {
    let mut agent = server.client(Surface::Session);
    let mut program = UniversesClient::connect(server);
    let health = program.get("/health").json();
    assert!(health["ok"] == true && health["uptime"].is_u64(), "{health}");
    program.create_universe("u-1");
    assert_eq!(program.get("/universes").json()[0]["id"], "u-1");
    program.send_command("u-1", &json!({"type": "tick", "dt": 3}));
    assert_eq!(agent.ok(TOOLS[0], &json!({"universeId": "u-1"}))["time"], 3);
}

/// Pages of allowed origins may call, and read the headers that they need.
#[test]
fn pages_of_allowed_origins_may_call() {
    let world = World::new(StoreKind::Memory);
    let server = world.serve(&["--allowed-origins", "https://maps.example"]);
    let mut client = Client::connect(server.address);
    let asks = [
        ("Origin", "https://maps.example"),
        ("Access-Control-Request-Method", "PUT"),
        ("Access-Control-Request-Headers", "if-match, last-event-id"),
    ];
    let preflight = client.send("OPTIONS", "/universes/u-1", &asks, b"");
    let header = |reply: &Reply, name: &str| reply.header(name).unwrap_or_default().to_ascii_lowercase();
    assert_eq!(
        (preflight.status, header(&preflight, "access-control-allow-origin").as_str()),
        (204, "https://maps.example")
    );
    for method in ["get", "post", "put", "delete"] {
        assert!(header(&preflight, "access-control-allow-methods").contains(method), "{method}");
    }
    for name in ["if-match", "if-none-match", "last-event-id", "mcp-session-id", "idempotency-key"] {
        assert!(header(&preflight, "access-control-allow-headers").contains(name), "{name}");
    }
    let listed = client.send("GET", "/universes", &asks[..1], b"");
    for name in ["mcp-session-id", "etag", "link", "location"] {
        assert!(header(&listed, "access-control-expose-headers").contains(name), "{name}");
    }
    let stranger = client.send("GET", "/universes", &[("Origin", "https://elsewhere.example")], b"");
    assert_eq!((stranger.status, stranger.header("access-control-allow-origin")), (403, None));
    assert!(stranger.json()["error"].is_string(), "{}", stranger.text());
}

/// Toolsets, read-only mode and roles restrict these routes too.
#[test]
fn toolsets_and_roles_hold_here_too() {
    let world = World::sqlite();
    let server = world.serve(&[]);
    UniversesClient::connect(&server).create_universe("u-1");
    let reading = world.serve(&["--read-only"]);
    let mut program = UniversesClient::connect(&reading);
    assert_eq!(program.get("/universes/u-1").status, 200);
    assert_eq!(program.send("POST", "/universes/u-1/commands", &json!({"type": "tick"})).status, 404);
    assert_eq!(program.send("DELETE", "/universes/u-1", &Value::Null).status, 405);
    let dice = world.serve(&["--toolsets", "dice"]);
    assert_eq!(UniversesClient::connect(&dice).get("/universes").status, 404);
    let (token, _) = world.create_token(&["guest", "--role", "guest"]);
    let bearer = format!("Bearer {token}");
    let guest = [("Authorization", bearer.as_str())];
    let mut program = UniversesClient::connect(&server);
    assert_eq!(program.send_with_headers("GET", "/universes/u-1", &guest, &Value::Null).status, 200);
    let tick = json!({"type": "tick"});
    assert_eq!(program.send_with_headers("POST", "/universes/u-1/commands", &guest, &tick).status, 403);
    let missing = program.send_with_headers("POST", "/universes/u-missing/commands", &guest, &tick);
    assert_eq!((missing.status, &missing.json()["universeId"]), (404, &json!("u-missing")));
    let wrong = program.send_with_headers("GET", "/universes/u-1", &[("Authorization", "Bearer nobody")], &Value::Null);
    assert_eq!((wrong.status, wrong.json()["error"].is_string()), (401, true));
}

/// A bridge has all routes except the stream of commands, which only the server with the store has.
#[test]
fn a_bridge_has_the_same_routes() {
    let world = World::sqlite();
    let server = world.serve(&[]);
    let (_bridge, address) =
        RunningProgram::start_server(server.bridge_command(&["--transport", "http", "--http-addr", "127.0.0.1:0"]));
    let mut program = UniversesClient(Client::connect(address));
    let made = program.send("POST", "/universes", &json!({"id": "a b", "name": "Sol", "state": {}}));
    assert_eq!((made.status, made.header("location")), (201, Some("/universes/a%20b")), "{}", made.text());
    assert_eq!((made.header("etag"), made.json()), (Some("\"1\""), program.get("/universes/a%20b").json()));
    program.create_universe("u-1");
    let page = program.get("/universes?limit=1&state=full");
    assert_eq!((page.status, &page.json()[0]["id"], &page.json()[0]["state"]["time"]), (200, &json!("u-1"), &json!(0)));
    let next =
        page.header("link").and_then(|link| link.strip_prefix('<')?.split_once('>')).expect("a link").0.to_owned();
    assert!(next.ends_with("&limit=1&state=full"), "{next}");
    assert_eq!(program.get(&next).json()[0]["id"], "a b");
    let (status, fault) = program.send_refused("GET", "/universes/u-1/events", &Value::Null);
    assert_eq!((status, &fault["code"]), (404, &json!("NOT_FOUND")), "{fault}");
    assert_eq!(program.send("DELETE", "/universes/u-1", &Value::Null).status, 204);
    assert_eq!(UniversesClient::connect(&server).get("/universes").json().as_array().map(Vec::len), Some(1));
}
