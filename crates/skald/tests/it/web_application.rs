//! Tests with a model of the original's 3D web application, over REST and server-sent events. A page here is a small
//! model of that client: it lists, creates, loads, edits its own copy, saves it whole, and applies what others do.

use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Map, Value, json};
use skald_testkit::{Client, Event, Reply};

use crate::program_under_test::{Server, StoreKind, Surface, World, on_every_store};
use crate::universe::add_star_command;

on_every_store! {
    two_pages_edit_and_nothing_is_lost,
    what_the_editor_makes_is_stored,
    a_repair_is_told,
    null_is_neither_a_name_nor_a_state,
    errors_can_be_printed,
}

/// How long a page waits for an event.
const PATIENCE: Duration = Duration::from_secs(10);

/// One page of the application, with its own copy of a universe.
struct Page<'a> {
    server: &'a Server,
    client: Client,
    id: String,
    state: Value,
    heard: Option<Receiver<Event>>,
    /// The toasts it has shown: the type of each command of others that it applied.
    toasts: Vec<String>,
}

impl<'a> Page<'a> {
    fn open(server: &'a Server) -> Self {
        let client = Client::connect(server.address);
        Self { server, client, id: String::new(), state: Value::Null, heard: None, toasts: Vec::new() }
    }

    /// Sends a request. The application shows an error to its user as `status — error`.
    fn send(&mut self, method: &str, path: &str, body: &Value) -> Result<Reply, String> {
        let headers = [("Content-Type", "application/json"), ("Origin", "http://localhost:5173")];
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let reply = self.client.send(method, path, &headers, body.as_bytes());
        assert_eq!(reply.header("access-control-allow-origin"), Some("http://localhost:5173"));
        if (200..300).contains(&reply.status) {
            return Ok(reply);
        }
        let error = reply.json()["error"].as_str().map(str::to_owned);
        Err(format!("{} — {}", reply.status, error.unwrap_or_else(|| "[object Object]".to_owned())))
    }

    /// The application shows the whole array, and has no pagination.
    fn list(&mut self) -> Vec<Value> {
        self.send("GET", "/universes", &Value::Null).expect("a list").json().as_array().expect("a bare array").clone()
    }

    fn create(&mut self, name: &str, state: &Value) -> String {
        let made = self.send("POST", "/universes", &json!({"name": name, "state": state})).expect("a universe");
        assert_eq!(made.status, 201);
        made.json()["id"].as_str().expect("an id").to_owned()
    }

    /// Reads a universe and follows it from then on.
    fn load(&mut self, id: &str) {
        id.clone_into(&mut self.id);
        let path = format!("/universes/{id}/events");
        let mut events =
            Client::connect(self.server.address).open("GET", &path, &[("Accept", "text/event-stream")], b"");
        assert_eq!(events.next_block().as_deref(), Some(":connected"));
        let (told, heard) = channel();
        std::thread::spawn(move || {
            while let Some(event) = events.next_event() {
                if told.send(event).is_err() {
                    break;
                }
            }
        });
        self.heard = Some(heard);
        self.state = self.send("GET", &format!("/universes/{id}"), &Value::Null).expect("it").json()["state"].take();
    }

    /// Saves the whole state except the time, without checking what others did.
    fn save(&mut self) -> Value {
        let mut body = json!({"state": self.state});
        body["state"].as_object_mut().expect("a state").shift_remove("time");
        self.send("PUT", &format!("/universes/{}", self.id), &body).expect("it is stored").json()
    }

    /// An edit by the user, which changes only this copy.
    fn edit(&mut self, body_id: &str, field: &str, value: Value) {
        self.state["stars"][body_id][field] = value;
    }

    /// Waits for the next event named `command`, the only name that the application listens to, and applies it. Ticks
    /// are ignored.
    fn next_command(&mut self) -> Event {
        loop {
            let event = self.heard.as_ref().and_then(|heard| heard.recv_timeout(PATIENCE).ok()).expect("an event");
            if event.event == "command" && event.data["type"] != "tick" {
                self.apply_command(&event.data);
                return event;
            }
        }
    }

    /// The part of the application's reducer that these tests need.
    fn apply_command(&mut self, command: &Value) {
        let kind = command["type"].as_str().expect("a type").to_owned();
        let state = &mut self.state;
        match kind.as_str() {
            "addStar" => {
                let id = command["id"].as_str().expect("an id");
                let mut body = command["payload"].clone();
                (body["id"], body["children"]) = (json!(id), json!([]));
                let list = match body["parentId"].as_str() {
                    Some(parent) => &mut state["stars"][parent]["children"],
                    None => &mut state["rootIds"],
                };
                list.as_array_mut().expect("a list").push(json!(id));
                state["stars"][id] = body;
            }
            "updateStar" => {
                let id = command["id"].as_str().expect("an id");
                for (field, value) in command["payload"].as_object().expect("fields") {
                    state["stars"][id][field] = value.clone();
                }
            }
            "replaceSnapshot" => {
                for (field, value) in command["snapshot"].as_object().expect("fields") {
                    state[field] = value.clone();
                }
            }
            other => panic!("{other} is not among these edits"),
        }
        self.toasts.push(kind);
    }
}

fn send_command(page: &mut Page, id: &str, command: &Value) {
    let answer = page.send("POST", &format!("/universes/{id}/commands"), command).expect("it is done");
    assert_eq!(answer.status, 200);
}

/// Two pages are open on one universe, and an agent and a script build at the same time. Everything that anybody saved
/// or sent is there in the end, in the universe and on both pages, and the list has every universe.
fn two_pages_edit_and_nothing_is_lost(server: &Server) {
    let (mut one, mut two) = (Page::open(server), Page::open(server));
    let others: Vec<String> = (0..60).map(|number| one.create(&format!("u{number}"), &json!({}))).collect();
    let id = one.create("Sol", &json!({"stars": {}, "rootIds": [], "groups": {}, "rootGroupIds": []}));
    for page in [&mut one, &mut two] {
        let listed: Vec<String> = page.list().iter().map(|row| row["id"].as_str().expect("an id").to_owned()).collect();
        assert_eq!(listed.len(), 61, "all of them, at once");
        assert!(others.iter().chain([&id]).all(|id| listed.contains(id)));
        page.load(&id);
    }
    let mut script = Page::open(server);
    let mut agent = server.client(Surface::Session);
    let mut names = Map::new();
    for round in 0..6 {
        // A script and an agent add bodies, and both pages see them come.
        let by_script = format!("script-{round}");
        send_command(&mut script, &id, &add_star_command(&by_script, None));
        let by_agent = format!("agent-{round}");
        agent.ok(
            "send_universe_command",
            &json!({"universeId": id, "command": add_star_command(&by_agent, Some(&by_script))}),
        );
        send_command(&mut script, &id, &json!({"type": "tick", "dt": 1}));
        for page in [&mut one, &mut two] {
            assert_eq!(
                (page.next_command().data["id"].clone(), page.next_command().data["id"].clone()),
                (json!(by_script), json!(by_agent))
            );
        }
        // On one page the user edits, saves, and edits on while followers are told of the save.
        let (saver, other) = if round % 2 == 0 { (&mut one, &mut two) } else { (&mut two, &mut one) };
        saver.edit(&by_script, "name", json!(format!("saved {round}")));
        saver.save();
        saver.edit(&by_agent, "name", json!(format!("typed meanwhile {round}")));
        let signal = json!({"type": "updateStar", "id": by_script, "payload": {"mass": 100 + round}});
        send_command(&mut script, &id, &signal);
        for page in [&mut *saver, &mut *other] {
            assert_eq!(page.next_command().data, signal, "the save itself is no command");
        }
        let typed = &saver.state["stars"][by_agent.as_str()]["name"];
        assert_eq!(*typed, json!(format!("typed meanwhile {round}")), "its own save does not wipe it");
        saver.save();
        names.insert(by_script, json!(format!("saved {round}")));
        names.insert(by_agent, json!(format!("typed meanwhile {round}")));
        // The other page loads what was saved, as its user does before editing.
        other.load(&id);
    }
    for page in [&mut one, &mut two] {
        page.load(&id);
        for (body_id, name) in &names {
            assert_eq!(page.state["stars"][body_id]["name"], *name, "{body_id}");
        }
        for round in 0..6 {
            let body = &page.state["stars"][format!("script-{round}")];
            assert_eq!((&body["mass"], &body["children"]), (&json!(100 + round), &json!([format!("agent-{round}")])));
        }
        let roots: Vec<String> = (0..6).map(|round| format!("script-{round}")).collect();
        assert_eq!((&page.state["rootIds"], &page.state["time"]), (&json!(roots), &json!(6)));
        assert!(!page.toasts.contains(&"replaceSnapshot".to_owned()), "{:?}", page.toasts);
        assert_eq!(page.list().len(), 61);
    }
    // A snapshot sent as a command comes as an event.
    let snapshot = json!({"type": "replaceSnapshot", "snapshot": {"stars": {}, "rootIds": []}});
    send_command(&mut script, &id, &snapshot);
    assert_eq!(one.next_command().data["type"], "replaceSnapshot");
    assert_eq!((&one.state["stars"], &two.next_command().data["type"]), (&json!({}), &json!("replaceSnapshot")));
    // Deleting it again, from another page, is a 404.
    assert_eq!(one.send("DELETE", &format!("/universes/{id}"), &Value::Null).expect("gone").status, 204);
    let again = two.send("DELETE", &format!("/universes/{id}"), &Value::Null).expect_err("gone already");
    assert!(again.starts_with("404 — ") && again.contains(&id), "{again}");
    assert_eq!(two.list().len(), 60);
}

/// A body as the application's inspector may save it.
fn editor_body(id: &str, fields: &Value) -> Value {
    let mut body = add_star_command(id, None)["payload"].take();
    (body["id"], body["children"]) = (json!(id), json!([]));
    for (field, value) in fields.as_object().expect("fields") {
        body[field] = value.clone();
    }
    body
}

/// What the editor saves is stored unchanged and without repairs, also values out of range. Views clamp those to what
/// can be drawn.
fn what_the_editor_makes_is_stored(server: &Server) {
    let mut page = Page::open(server);
    let ring = json!({
        "innerRadiusMultiplier": 1.5, "outerRadiusMultiplier": 3, "thickness": 0.1, "opacity": 1.5, "albedo": 0.8,
        "color": "#FFFFFF", "density": 2
    });
    let rogue = json!({"seed": 7, "initialPosition": {"x": 1, "y": 2, "z": 3}, "velocity": {"x": 1, "y": 0, "z": 0}});
    let disk = json!({
        "id": "disk", "systemId": "far", "centralStarId": "far", "innerRadius": 1, "outerRadius": 5, "thickness": 0.3,
        "particleCount": 5000.5, "baseColor": "#D4A574", "highlightColor": "#FFD700", "opacity": 1.75, "brightness": 0.5,
        "clumpiness": -0.25, "rotationSpeedMultiplier": 0.3, "seed": 1, "style": "moderate", "bandFrequency": 40
    });
    let long = "n".repeat(300);
    let state = json!({
        "stars": {
            "far": editor_body("far", &json!({"eccentricity": 1.2, "semiMajorAxis": 10, "ring": ring})),
            "long": editor_body("long", &json!({"name": long})),
            "rogue": editor_body("rogue", &json!({"isRoguePlanet": true, "roguePlanet": rogue})),
        },
        "rootIds": ["far", "long"],
        "protoplanetaryDisks": {"disk": disk},
    });
    let id = page.create(&long, &state);
    page.load(&id);
    send_command(&mut page, &id, &json!({"type": "tick", "dt": 90}));
    let saved = page.send("PUT", &format!("/universes/{id}"), &json!({"state": state})).expect("it is stored").json();
    assert_eq!((saved.get("repaired"), &saved["state"]["time"]), (None, &json!(90)), "without a time it stays");
    assert_eq!(saved["name"], json!(long));
    for map in ["stars", "protoplanetaryDisks"] {
        assert_eq!(saved["state"][map], state[map], "as it was sent");
    }
    assert_eq!(saved["state"]["rootIds"], state["rootIds"]);
    let mut agent = server.client(Surface::Session);
    let view = agent.ok("get_universe_state", &json!({"universeId": id, "view": "body", "ids": ["far"]}));
    let shown = &view["body"]["body"];
    assert_eq!((&shown["eccentricity"], &shown["ring"]["opacity"]), (&json!(0.99), &json!(1)));
    // The body is on an ellipse with its parent in a focus.
    let (major, minor) = (10.0, 10.0 * f64::sqrt(1.0 - 0.99 * 0.99));
    let [x, z] = ["x", "z"].map(|axis| view["body"]["position"][axis].as_f64().expect("a number"));
    let is_on_ellipse = |centre: f64| (((x - centre) / major).powi(2) + (z / minor).powi(2) - 1.0).abs() < 1e-9;
    assert!(is_on_ellipse(0.99 * major) || is_on_ellipse(-0.99 * major), "{x}, {z}");
    let map = page.send("GET", &format!("/api/v1/universes/{id}/map.svg"), &Value::Null).expect("a picture").text();
    assert!(map.starts_with("<svg") && !map.contains("1.75") && !map.contains("NaN"), "{map}");
    // A single command with such a number is refused.
    let wrong = json!({"type": "updateStar", "id": "far", "payload": {"eccentricity": 1.2}});
    let told = page.send("POST", &format!("/universes/{id}/commands"), &wrong).expect_err("out of range");
    assert!(told.starts_with("422 — ") && told.contains("allowed: 0 to 1"), "{told}");
}

fn a_repair_is_told(server: &Server) {
    let mut page = Page::open(server);
    let group = |id: &str, parent: Value| json!({"id": id, "name": id, "children": [], "parentGroupId": parent});
    // The middle of three nested groups was removed, three others are in a cycle, and a field was left empty.
    let state = json!({
        "stars": {"sun": editor_body("sun", &json!({"mass": null}))},
        "rootIds": ["sun"],
        "groups": {
            "top": group("top", Value::Null), "low": group("low", json!("top")),
            "a": group("a", json!("c")), "b": group("b", json!("a")), "c": group("c", json!("b")),
        },
        "rootGroupIds": ["top"],
    });
    let made =
        page.send("POST", "/universes", &json!({"id": "u-1", "name": "Sol", "state": state})).expect("it is stored");
    assert_eq!(made.status, 201);
    let paths = |answer: &Value| {
        let repaired = answer["repaired"].as_array().unwrap_or_else(|| panic!("{answer}"));
        assert!(repaired.iter().all(|repair| repair["reason"].is_string()), "{answer}");
        repaired.iter().map(|repair| repair["path"].as_str().expect("a path").to_owned()).collect::<Vec<_>>()
    };
    let expected = [
        "/state/stars/sun/mass",
        "/state/groups/a/parentGroupId",
        "/state/rootGroupIds",
        "/state/groups/top/children",
        "/state/groups/a/children",
        "/state/groups/b/children",
    ];
    assert_eq!(paths(&made.json()), expected);
    page.load("u-1");
    let kept = page.state.clone();
    assert_eq!((&kept["rootGroupIds"], &kept["stars"]["sun"]["mass"]), (&json!(["top", "a"]), &json!(1)));
    assert_eq!(kept["groups"]["top"]["children"], json!([{"id": "low", "type": "group"}]));
    // The page goes on with its own copy, and saves it again.
    page.state = state.clone();
    assert_eq!(paths(&page.save()), expected);
    page.load("u-1");
    assert_eq!(page.state, kept);
    assert!(page.save().get("repaired").is_none(), "what was read needs no repair");
    // The same repairs by a command, and over MCP.
    let command = json!({"type": "replaceSnapshot", "snapshot": state});
    let answer = page.send("POST", "/universes/u-1/commands", &command).expect("it is done").json();
    assert!(paths(&answer).contains(&"/command/snapshot/groups/top/children".to_owned()), "{answer}");
    let mut agent = server.client(Surface::Session);
    let replace = json!({"method": "replace", "universeId": "u-1", "state": state});
    assert_eq!(paths(&agent.ok("universe", &replace)), expected);
    // Of many repairs, the first are listed and the others counted.
    let many: Map<String, Value> = (0..150)
        .map(|number| {
            let id = format!("s{number}");
            (id.clone(), editor_body(&id, &json!({"mass": null})))
        })
        .collect();
    let ids: Vec<&String> = many.keys().collect();
    let put = json!({"state": {"stars": many, "rootIds": ids}});
    let repaired = page.send("PUT", "/universes/u-1", &put).expect("it is stored").json()["repaired"].take();
    assert_eq!(repaired.as_array().map(Vec::len), Some(101));
    assert_eq!(repaired[100], json!({"path": "/state", "reason": "50 more repairs were made"}));
}

fn null_is_neither_a_name_nor_a_state(server: &Server) {
    let mut page = Page::open(server);
    let id = page.create("Sol", &json!({}));
    let path = format!("/universes/{id}");
    for (method, path, body, says) in [
        ("PUT", path.as_str(), json!({"name": null}), "\"name\" must be a non-empty string when provided"),
        ("PUT", &path, json!({"name": " "}), "non-empty string"),
        ("PUT", &path, json!({"state": null}), "\"state\" must be a JSON object when provided"),
        ("PUT", &path, json!({"name": "x", "state": null}), "\"state\" must be a JSON object when provided"),
        ("PUT", &path, json!({"state": []}), "\"state\" must be a JSON object when provided"),
        (
            "POST",
            "/universes",
            json!({"name": null, "state": {}}),
            "\"name\" is required and must be a non-empty string",
        ),
        ("POST", "/universes", json!({"name": "x", "state": null}), "\"state\" is required and must be a JSON object"),
        ("POST", "/universes", json!({"name": "x"}), "\"state\" is required and must be a JSON object"),
    ] {
        let told = page.send(method, path, &body).expect_err("refused");
        assert!(told.starts_with("400 — ") && told.contains(says), "{body}: {told}");
    }
    page.load(&id);
    let record = page.send("GET", &path, &Value::Null).expect("it").json();
    assert_eq!((&record["name"], &record["revision"]), (&json!("Sol"), &json!(1)), "nothing of it was stored");
    assert_eq!(page.list().len(), 1);
}

fn errors_can_be_printed(server: &Server) {
    let mut page = Page::open(server);
    let id = page.create("Sol", &json!({}));
    let commands = format!("/universes/{id}/commands");
    for (method, path, body, status) in [
        ("GET", "/universes/nowhere", Value::Null, 404),
        ("PUT", "/universes/nowhere", json!({"name": "x"}), 404),
        ("POST", commands.as_str(), json!({}), 400),
        ("POST", &commands, json!({"type": "removeStar", "id": "mars"}), 422),
        ("POST", "/universes", json!({"name": "x", "state": {"stars": {"sun": {"colour": 1}}}}), 400),
        ("GET", "/universes?limit=none", Value::Null, 400),
        ("PATCH", "/universes", json!({}), 405),
    ] {
        let told = page.send(method, path, &body).expect_err("refused");
        assert!(
            told.starts_with(&format!("{status} — ")) && !told.contains("[object Object]"),
            "{method} {path}: {told}"
        );
    }
}

/// The application's origins: its development server, which is on loopback, needs no option, and its published page
/// does.
#[test]
fn the_published_page_may_call_where_it_is_allowed() {
    let world = World::new(StoreKind::Memory);
    let origin = ("Origin", "https://adrianmartinezcode.github.io");
    for (options, status) in [(&[][..], 403), (&["--allowed-origins", "https://adrianmartinezcode.github.io"][..], 200)]
    {
        let server = world.serve(options);
        assert_eq!(Client::connect(server.address).send("GET", "/universes", &[origin], b"").status, status);
    }
}
