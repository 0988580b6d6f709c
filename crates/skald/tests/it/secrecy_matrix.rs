//! The secrecy matrix: a marker stands in every secret, and everything that the server offers is asked for by everybody.
//!
//! The walk is over what the server lists: the paths of its OpenAPI file, its mounted routes, its tools, resources,
//! templates and prompts. A new operation, route or page is in the matrix without a line here. A new secret needs a
//! marker in `SecretWorld`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use skald_testkit::Client;
use skald_testkit::mcp_messages::JSON;

use crate::process::RunningProgram;
use crate::program_under_test::{Surface, TestClient, World};
use crate::secret_world::{PROBE, SecretWorld, markers_in};

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

/// Streams that end only with the connection.
pub(crate) fn is_endless(route: &str) -> bool {
    route == "/mcp" || ["/events", "/live", "/changes", "/changes/{page}"].iter().any(|end| route.ends_with(end))
}

/// The routes that a server has mounted, as it logs them.
pub(crate) fn mounted_routes() -> Vec<String> {
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
    assert_eq!(seen, &world.planted | &world.shared_with_ana, "what game masters see");
    assert!(gm.pages > 15, "{} pages", gm.pages);
    for role in ["Ana", "player", "guest", "stranger"] {
        let mut walk = Walk::new(&world, role);
        walk.walk_routes(&routes);
        walk.walk_mcp();
        walk.walk_openapi(&["get", "post", "put", "patch", "delete"]);
        walk.look_closely();
        if role == "Ana" {
            let seen: BTreeSet<String> = walk.seen.keys().cloned().collect();
            let wrong: Vec<_> = seen.difference(&world.shared_with_ana).map(|marker| &walk.seen[marker]).collect();
            assert!(wrong.is_empty(), "{wrong:#?}");
            assert_eq!(seen, world.shared_with_ana, "what is shared with Ana");
        } else {
            assert!(walk.seen.is_empty(), "{:#?}", walk.seen);
        }
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
