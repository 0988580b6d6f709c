//! The secrecy matrix: a marker stands in every secret, and everything that the server offers is asked for by everybody.
//!
//! The walk is over what the server lists: the paths of its OpenAPI file, its mounted routes, its tools, resources,
//! templates and prompts. A new operation, route or page is in the matrix without a line here. A new secret needs a
//! marker in [`plant`].

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use skald_testkit::Client;
use skald_testkit::mcp_messages::JSON;

use crate::gate_document::CREATE;
use crate::gate_server::{Gate, Run};
use crate::process::RunningProgram;
use crate::program_under_test::{Server, StoreKind, Surface, TestClient, World};
use crate::request_filler::{RequestFiller, text_of};

/// Every marker begins so. No request contains it, so whatever contains it was disclosed.
const MARKER: &str = "qzmarker";
/// A word beside every marker, for searches. A refusal may repeat it.
const PROBE: &str = "qzprobe";

/// A text with a marker of its own.
fn secret(name: &str) -> String {
    format!("{PROBE} {MARKER}{name}")
}

/// The markers in a text.
fn markers_in(text: &str) -> BTreeSet<String> {
    let text = text.to_lowercase();
    let found = text.match_indices(MARKER).map(|(at, _)| {
        let rest = &text[at + MARKER.len()..];
        rest.chars().take_while(char::is_ascii_lowercase).collect()
    });
    found.collect()
}

/// A server with a secret in every field that can have one.
struct SecretWorld {
    gate: Gate,
    server: Server,
    values: RequestFiller,
    /// The markers that game masters see, and nobody else.
    planted: BTreeSet<String>,
    /// A campaign without secrets.
    elsewhere: String,
}

impl SecretWorld {
    fn new() -> Self {
        let gate = Gate::new(StoreKind::Sqlite);
        let server = gate.serve_in(gate.world.folder(), &[]);
        let mut world = Self {
            gate,
            server,
            values: RequestFiller::new(PROBE),
            planted: BTreeSet::new(),
            elsewhere: String::new(),
        };
        world.plant();
        world
    }

    /// A text with a marker that only game masters may see.
    fn secret(&mut self, name: &str) -> String {
        self.planted.insert(name.to_owned());
        secret(name)
    }

    fn plant(&mut self) {
        let mut owner = self.server.client(Surface::Rest);
        let campaign = owner.ok("campaign_create", &json!({"name": "Bells", "gm_mode": "HUMAN"}));
        let campaign_id = campaign["id"].clone();
        let elsewhere = owner.ok("campaign_create", &json!({"name": "Elsewhere", "gm_mode": "HUMAN"}));
        self.elsewhere = text_of(&elsewhere["id"]);
        self.values.add(&["campaign_id", "campaign", "campaignId"], &campaign_id);
        self.plant_lore(&mut owner, &campaign_id);
        self.plant_campaign(&mut owner, &campaign_id);
        self.plant_gate(&mut owner, &campaign_id);
        let universe = json!({"method": "create", "universeId": "sol", "name": "Sol", "campaignId": campaign_id});
        owner.ok("universe", &universe);
        self.values.add(&["universeId", "universe_id", "universe"], &json!("sol"));
        for word in ["query", "q", "name", "name_fuzzy", "search", "text"] {
            self.values.add(&[word], &json!(PROBE));
        }
        self.values.add(&["tags"], &json!([PROBE]));
    }

    fn plant_lore(&mut self, owner: &mut TestClient, campaign_id: &Value) {
        let holm = json!({"entity_type": "location", "name": "Holm", "entry": "A drowned town, with [[Isa]]."});
        let isa = json!({"entity_type": "character", "name": "Isa", "entry": "She rows."});
        let hidden = json!({
            "entity_type": "character", "name": self.secret("entityname"), "type": self.secret("entitytype"),
            "entry": format!("{} mentions [[Holm]].", self.secret("entityentry")), "tags": [self.secret("entitytag")],
            "aliases": [self.secret("entityalias")], "is_private": true, "image": "https://example.org/qzmarkerimage.png"
        });
        self.planted.insert("image".to_owned());
        let entities = json!({"campaign_id": campaign_id, "entities": [isa, holm, hidden]});
        let created = owner.ok("create_entities", &entities);
        let ids: Vec<Value> = (0..3).map(|at| created["results"][at]["entity_id"].clone()).collect();
        let post = json!({
            "entity_id": ids[1], "name": self.secret("postname"), "entry": self.secret("postentry"), "is_private": true
        });
        let post = owner.ok("create_posts", &json!({"campaign_id": campaign_id, "posts": [post]}));
        let was_private = json!({"entity_id": ids[0], "entry": self.secret("oldentry")});
        // What was written while an entity was private stays in its history.
        for update in [json!({"entity_id": ids[0], "is_private": true}), was_private] {
            owner.ok("update_entities", &json!({"campaign_id": campaign_id, "updates": [update]}));
        }
        let public = json!({"entity_id": ids[0], "entry": "She rows.", "is_private": false});
        owner.ok("update_entities", &json!({"campaign_id": campaign_id, "updates": [public]}));
        for id in &ids {
            self.values.add(&["entity_id", "id", "entity", "id_1", "id_2", "entity_id_1", "entity_id_2"], id);
        }
        let hidden_event = json!({
            "method": "add", "date": self.secret("eventdate"), "sort": "1204-03-03", "description": self.secret("event"),
            "entity_ids": [ids[1]], "is_player_known": false
        });
        owner.ok("timeline", &merge(&json!({"campaign_id": campaign_id}), &hidden_event));
        let hidden_relationship = json!({
            "method": "add", "entity_id": ids[0], "target_id": ids[1], "type": "owns", "tone": "hostile",
            "description": self.secret("relationship"), "visible_to": ["gm"]
        });
        owner.ok("relationships", &merge(&json!({"campaign_id": campaign_id}), &hidden_relationship));
        let mark =
            json!({"campaign_id": campaign_id, "method": "mark", "entity_id": ids[1], "confidence": "AUTHORITATIVE"});
        owner.ok("canon", &mark);
        let proposal = json!({"entity_id": ids[1], "entry": self.secret("heldentry")});
        let held = owner.ok("update_entities", &json!({"campaign_id": campaign_id, "updates": [proposal]}));
        assert!(held["results"][0]["held"].is_string(), "{held}");
        self.values.add(&["conflict_id", "conflict"], &held["results"][0]["held"]);
        self.values.add(&["entity_ids"], &json!(ids));
        self.values.add(&["post_id"], &post["results"][0]["post_id"]);
    }

    fn plant_campaign(&mut self, owner: &mut TestClient, campaign_id: &Value) {
        let of_campaign = |mut input: Value| {
            input["campaign_id"] = campaign_id.clone();
            input
        };
        let participant =
            owner.ok("participant_create", &of_campaign(json!({"display_name": "Ana", "role": "PLAYER"})));
        let actor = owner.ok("actor_create", &of_campaign(json!({"name": "Mira", "kind": "PC"})));
        let session = owner.ok("session_start", &of_campaign(json!({"name": "Low tide"})));
        self.values.add(&["participant_id"], &participant["id"]);
        self.values.add(&["actor_id", "as", "who"], &actor["id"]);
        self.values.add(&["session_id"], &session["id"]);
        self.values.add(&["n", "session", "number"], &json!(1));
        let hidden_actor = json!({"name": "Isolde", "kind": "NPC", "notes": self.secret("actornotes")});
        let hidden_actor = owner.ok("actor_create", &of_campaign(hidden_actor));
        let hide = |subject: Value| of_campaign(merge(&json!({"method": "hide"}), &subject));
        owner.ok("visibility", &hide(json!({"actor_id": hidden_actor["id"]})));
        let note =
            of_campaign(json!({"text": self.secret("note"), "tags": [self.secret("notetag")], "visible_to": ["gm"]}));
        let note = owner.ok("session_note", &note);
        self.values.add(&["note_id"], &note["id"]);
        let tracker = json!({
            "name": self.secret("tracker"), "value": 2, "max": 6, "visible_to": ["gm"],
            "reason": self.secret("trackerreason")
        });
        owner.ok("tracker", &of_campaign(json!({"method": "set", "trackers": [tracker]})));
        let roll = json!({"expression": "2d6", "reason": self.secret("rollreason"), "visible_to": ["gm"]});
        let roll = owner.ok("roll", &merge(&roll, &json!({"session_id": session["id"]})));
        self.values.add(&["roll_id"], &roll["roll_id"]);
    }

    /// Evidence of a run is for game masters and for whoever created the run.
    fn plant_gate(&mut self, owner: &mut TestClient, campaign_id: &Value) {
        let run = owner.ok(CREATE, &json!({"process_id": "proof", "campaign_id": campaign_id}));
        let run = Run::from_answer(&run);
        run.write("note.md", &self.secret("evidence"));
        run.emit_accepted(owner, "submit_note", &json!({"artifact_paths": ["note.md"], "payload": {}}));
        self.values.add(&["run_id", "run"], &json!(run.id));
        self.values.add(&["path"], &json!("note.md"));
        self.values.add(&["process_id"], &json!("proof"));
    }

    /// A token with a role in the campaign; in another one for a stranger.
    fn token(&self, role: &str) -> String {
        let campaign_id = text_of(&self.values.of("campaign_id")[0]);
        let (role, campaign_id) = if role == "stranger" { ("gm", &self.elsewhere) } else { (role, &campaign_id) };
        self.gate.world.create_token(&["Ada", "--role", role, "--for", campaign_id, "--calls", "0"]).0
    }
}

/// One caller, who asks for everything.
struct Walk<'a> {
    world: &'a SecretWorld,
    token: String,
    role: &'a str,
    client: Client,
    /// The markers that came, with the request whose answer had them.
    seen: BTreeMap<String, String>,
    requests: usize,
    /// Pages that were answered.
    pages: usize,
}

impl<'a> Walk<'a> {
    fn new(world: &'a SecretWorld, role: &'a str) -> Self {
        let client = Client::connect(world.server.address);
        Self {
            world,
            token: format!("Bearer {}", world.token(role)),
            role,
            client,
            seen: BTreeMap::new(),
            requests: 0,
            pages: 0,
        }
    }

    fn note(&mut self, request: &str, answer: &str) {
        self.requests += 1;
        for marker in markers_in(answer) {
            self.seen.entry(marker).or_insert_with(|| format!("{request}: {answer}"));
        }
    }

    fn send(&mut self, method: &str, path: &str, body: &str) {
        let token = self.token.clone();
        let headers = [JSON, ("Authorization", token.as_str())];
        match self.client.try_send(method, path, &headers, body.as_bytes()) {
            Ok(reply) => {
                assert!(reply.status < 500, "{method} {path} {body}: {}", reply.text());
                let is_page = reply.header("content-type").is_some_and(|kind| kind.starts_with("text/html"));
                self.pages += usize::from(reply.status == 200 && is_page);
                self.note(&format!("{} {method} {path} {body}", self.role), &reply.text());
            }
            // A stream does not end, and a refused connection is opened anew.
            Err(_) => self.client = Client::connect(self.world.server.address),
        }
    }

    /// Every path of the OpenAPI file, with every value that its parameters and fields have.
    fn walk_openapi(&mut self, methods: &[&str]) {
        let token = self.token.clone();
        let document =
            self.client.send("GET", "/api/v1/openapi.json", &[("Authorization", token.as_str())], b"").json();
        for (template, operations) in document["paths"].as_object().expect("paths") {
            for (method, operation) in operations.as_object().expect("operations") {
                if !methods.contains(&method.as_str()) || template.ends_with("/events") && template.starts_with("/u") {
                    continue;
                }
                for path in self.world.values.fill_path(template, &operation["parameters"]) {
                    for body in self.world.values.fill_body(&operation["requestBody"], &document) {
                        self.send(&method.to_uppercase(), &path, &body);
                    }
                }
            }
        }
    }

    /// Every mounted route with GET: pages and other surfaces are not in the OpenAPI file.
    fn walk_routes(&mut self, routes: &[String]) {
        for template in routes.iter().filter(|route| !route.starts_with("/api/v1/") && !is_endless(route)) {
            for path in self.world.values.fill_path(template, &Value::Null) {
                self.send("GET", &path, "");
            }
        }
        let number = self.kanka_campaign();
        let kinds = ["characters", "locations", "organisations", "notes", "quests", "journals", "races", "creatures"];
        for path in kinds.iter().chain(&["entities", "tags", &format!("search/{PROBE}"), "posts"]) {
            for query in ["", "?related=1", &format!("?name={PROBE}"), "?is_private=1", "?types=character"] {
                self.send("GET", &format!("/api/kanka/1.0/campaigns/{number}/{path}{query}"), "");
            }
            for id in 1..4 {
                for below in ["", "/posts", "/mentions", "/entity_assets", "/entity_tags"] {
                    self.send("GET", &format!("/api/kanka/1.0/campaigns/{number}/{path}/{id}{below}"), "");
                }
            }
        }
    }

    fn kanka_campaign(&mut self) -> u64 {
        let token = self.token.clone();
        let listed = self.client.send("GET", "/api/kanka/1.0/campaigns", &[("Authorization", token.as_str())], b"");
        listed.json()["data"][0]["id"].as_u64().unwrap_or(1)
    }

    /// Every resource, template, prompt and completion of MCP.
    fn walk_mcp(&mut self) {
        let token = self.token.trim_start_matches("Bearer ").to_owned();
        self.walk_mcp_with(&mut self.world.server.client_with(Surface::Session, Some(&token), "test"));
        // A bridge asks over gRPC.
        let mut bridge = self.world.server.bridge_command(&[]);
        bridge.env("SKALD_TOKEN", &token);
        self.walk_mcp_with(&mut TestClient::over_stdio(bridge));
    }

    fn walk_mcp_with(&mut self, client: &mut TestClient) {
        let mut ask = |walk: &mut Self, method: &str, params: &Value| {
            let answer = client.request(method, params);
            walk.note(&format!("{} {method} {params}", walk.role), &answer.to_string());
            answer
        };
        let resources = ask(self, "resources/list", &json!({}))["result"]["resources"].clone();
        let templates = ask(self, "resources/templates/list", &json!({}))["result"]["resourceTemplates"].clone();
        let prompts = ask(self, "prompts/list", &json!({}))["result"]["prompts"].clone();
        for resource in resources.as_array().into_iter().flatten() {
            ask(self, "resources/read", &json!({"uri": resource["uri"]}));
        }
        for template in templates.as_array().into_iter().flatten() {
            let template = template["uriTemplate"].as_str().expect("a template");
            for uri in self.world.values.fill_path(template, &Value::Null) {
                ask(self, "resources/read", &json!({"uri": uri}));
            }
            for name in template.split('{').skip(1).filter_map(|part| part.split('}').next()) {
                for value in ["", PROBE, "q"] {
                    let argument = json!({"name": name, "value": value});
                    let reference = json!({"type": "ref/resource", "uri": template});
                    ask(self, "completion/complete", &json!({"ref": reference, "argument": argument}));
                }
            }
        }
        for prompt in prompts.as_array().into_iter().flatten() {
            let mut arguments = Map::new();
            for argument in prompt["arguments"].as_array().into_iter().flatten() {
                let name = argument["name"].as_str().expect("a name");
                if let Some(value) = self.world.values.of(name).first() {
                    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    arguments.insert(name.to_owned(), text.into());
                }
                let reference = json!({"type": "ref/prompt", "name": prompt["name"]});
                let argument = json!({"name": name, "value": ""});
                ask(self, "completion/complete", &json!({"ref": reference, "argument": argument}));
            }
            ask(self, "prompts/get", &json!({"name": prompt["name"], "arguments": arguments}));
        }
    }
}

/// One object with the fields of another.
fn merge(one: &Value, other: &Value) -> Value {
    let mut merged = one.clone();
    for (name, value) in other.as_object().into_iter().flatten() {
        merged[name] = value.clone();
    }
    merged
}

/// Streams that end only with the connection.
fn is_endless(route: &str) -> bool {
    route == "/mcp" || route.ends_with("/events") || route.ends_with("/live")
}

/// The routes that a server has mounted, as it logs them.
fn mounted_routes() -> Vec<String> {
    let world = World::sqlite();
    let mut command = world.command(&["serve", "--http-addr", "127.0.0.1:0", "--log-format", "json"]);
    command.env("SKALD_LOG", "skald_http=debug");
    let (server, _) = RunningProgram::start_server(command);
    server.wait_for_stderr("routes mounted");
    let said = server.stderr();
    let line = said.lines().find(|line| line.contains("routes mounted")).expect("the routes");
    let line: Value = serde_json::from_str(line).expect("a line of JSON");
    line["fields"]["paths"].as_str().expect("paths").split(' ').map(str::to_owned).collect()
}

#[test]
fn a_secret_reaches_those_who_may_see_it_and_nobody_else() {
    let world = SecretWorld::new();
    let routes = mounted_routes();
    // Game masters see every secret; otherwise the walk looks in the wrong places.
    let mut gm = Walk::new(&world, "gm");
    gm.walk_openapi(&["get"]);
    gm.walk_routes(&routes);
    gm.walk_mcp();
    gm.look_closely();
    let seen: BTreeSet<String> = gm.seen.keys().cloned().collect();
    assert_eq!(seen, world.planted, "what game masters see");
    assert!(gm.pages > 15, "{} pages", gm.pages);
    for role in ["player", "guest", "stranger"] {
        let mut walk = Walk::new(&world, role);
        walk.walk_routes(&routes);
        walk.walk_mcp();
        walk.walk_openapi(&["get", "post", "put", "patch", "delete"]);
        walk.look_closely();
        assert!(walk.seen.is_empty(), "{:#?}", walk.seen);
        assert!(role == "stranger" || walk.pages > 10, "{role} saw {} pages", walk.pages);
        assert!(walk.requests > 1_000, "{role} asked {} times", walk.requests);
    }
}

impl Walk<'_> {
    /// Reads that take more than one field at once.
    fn look_closely(&mut self) {
        let campaign_id = self.world.values.of("campaign_id")[0].clone();
        let run_id = self.world.values.of("run_id")[0].clone();
        let reads = [
            ("find_entities", json!({"campaign_id": campaign_id, "query": PROBE})),
            ("find_entities", json!({"campaign_id": campaign_id, "include_full": true})),
            ("events_list", json!({"campaign_id": campaign_id, "limit": 200})),
            ("state_gate.run", json!({"run_id": run_id, "method": "artifact", "path": "note.md"})),
            ("state_gate.run", json!({"run_id": run_id, "method": "history"})),
            ("timeline", json!({"campaign_id": campaign_id, "include": "all"})),
            ("relationships", json!({"campaign_id": campaign_id})),
            ("canon", json!({"campaign_id": campaign_id, "method": "list"})),
            ("canon", json!({"campaign_id": campaign_id, "method": "get", "id": "c1"})),
            ("visibility", json!({"campaign_id": campaign_id, "method": "who_knows"})),
            ("campaign_read", json!({"campaign_id": campaign_id, "view": "actors"})),
            ("campaign_read", json!({"campaign_id": campaign_id, "view": "campaign"})),
            ("session_recap", json!({"campaign_id": campaign_id, "audience": "mine"})),
        ];
        for (operation, input) in &reads {
            self.send("POST", &format!("/api/v1/{operation}"), &input.to_string());
        }
        for entity_id in self.world.values.of("entity_id").to_vec() {
            let input = json!({"campaign_id": campaign_id, "entity_ids": [entity_id], "include_posts": true});
            self.send("POST", "/api/v1/get_entities", &input.to_string());
            for to in 1..5 {
                for method in ["list", "diff"] {
                    let input = json!({"campaign_id": campaign_id, "entity_id": entity_id, "method": method, "to": to});
                    self.send("POST", "/api/v1/lore_history", &input.to_string());
                }
            }
        }
    }
}
