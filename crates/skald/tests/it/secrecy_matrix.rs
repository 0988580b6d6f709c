//! The secrecy matrix: a marker stands in every secret, and everything that the server offers is asked for by everybody.
//!
//! The walk is over what the server lists: the paths of its OpenAPI file, its mounted routes, its tools, resources,
//! templates and prompts, and over the routes of the Kanka-compatible API. A new operation, route or page is in the matrix
//! without a line here. A new secret needs a marker in `SecretWorld`; `planted_records.rs` asks for it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use skald_kanka::{API_PATH, API_ROUTES, ENTITY_KINDS};
use skald_testkit::Client;
use skald_testkit::mcp_messages::{JSON, request};

use crate::process::RunningProgram;
use crate::program_under_test::{Surface, TestClient, World};
use crate::request_filler::RequestFiller;
use crate::secret_world::{PROBE, SecretWorld, markers_in};

/// The caller without a token on the machine of the server.
const OWNER: &str = "owner";
/// The caller without a token from elsewhere.
const NOBODY: &str = "nobody";

/// What filters and goes on in lists of the web page.
const PAGE_QUERIES: [&str; 4] = ["?q=qzprobe", "?tag=qzprobe", "?type=character", "?cursor=1"];

/// One caller, who asks for everything.
struct Walk<'a> {
    world: &'a SecretWorld,
    /// The token; none for the owner, and for nobody, whose requests come through a proxy.
    token: Option<String>,
    role: &'a str,
    client: Client,
    /// The markers that came, with the request whose answer had them.
    seen: BTreeMap<String, String>,
    requests: usize,
    /// Pages that were answered.
    pages: usize,
    /// Names and values of the fields that a noun declares secret.
    secret_fields: Vec<String>,
    /// Tools that were called.
    tools: BTreeSet<String>,
    /// Requests that were answered with something else than 401.
    admitted: usize,
}

impl<'a> Walk<'a> {
    fn new(world: &'a SecretWorld, role: &'a str) -> Self {
        let client = Client::connect(world.server.address);
        Self {
            world,
            secret_fields: world.secret_fields(),
            token: (!matches!(role, OWNER | NOBODY)).then(|| world.token(role)),
            role,
            client,
            seen: BTreeMap::new(),
            requests: 0,
            pages: 0,
            tools: BTreeSet::new(),
            admitted: 0,
        }
    }

    fn note(&mut self, request: &str, answer: &str) {
        self.requests += 1;
        for secret in &self.secret_fields {
            assert!(!answer.contains(secret), "{request} answers the secret field {secret}: {answer}");
        }
        for marker in markers_in(answer) {
            self.seen.entry(marker).or_insert_with(|| format!("{request}: {answer}"));
        }
    }

    /// The header that says who asks.
    fn caller_header(&self) -> Option<(&'static str, String)> {
        match &self.token {
            Some(token) => Some(("Authorization", format!("Bearer {token}"))),
            // A request through a proxy needs a token.
            None => (self.role == NOBODY).then(|| ("X-Forwarded-For", "203.0.113.5".to_owned())),
        }
    }

    fn send(&mut self, method: &str, path: &str, body: &str) {
        let caller = self.caller_header();
        let caller = caller.as_ref().map(|(name, value)| (*name, value.as_str()));
        let headers: Vec<(&str, &str)> = [JSON].into_iter().chain(caller).collect();
        let mut reply = self.client.try_send(method, path, &headers, body.as_bytes());
        if reply.is_err() {
            // The server closes a connection after some refusals. What fails on a new one is not answered at all.
            self.client = Client::connect(self.world.server.address);
            if !is_endless(path) {
                reply = self.client.try_send(method, path, &headers, body.as_bytes());
            }
        }
        match reply {
            Ok(reply) => {
                assert!(reply.status < 500, "{method} {path} {body}: {}", reply.text());
                let is_page = reply.header("content-type").is_some_and(|kind| kind.starts_with("text/html"));
                self.pages += usize::from(reply.status == 200 && is_page);
                self.admitted += usize::from(reply.status != 401);
                self.note(&format!("{} {method} {path} {body}", self.role), &reply.text());
            }
            Err(error) => assert!(is_endless(path), "{} {method} {path} {body} has no answer: {error}", self.role),
        }
    }

    /// Every path of the OpenAPI file, with every value that its parameters and fields have.
    fn walk_openapi(&mut self, methods: &[&str]) {
        // Of the owner, since nobody else has to see it.
        let document = self.client.send("GET", "/api/v1/openapi.json", &[], b"").json();
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
                let pages = self.pages;
                self.send("GET", &path, "");
                // Only a page reads these.
                let queries = if self.pages > pages { &PAGE_QUERIES[..] } else { &[] };
                for query in queries {
                    self.send("GET", &format!("{path}{query}"), "");
                }
            }
        }
        self.walk_kanka();
    }

    /// Every route of the Kanka-compatible API, of each kind of entity, with the parameters that change an answer.
    fn walk_kanka(&mut self) {
        let mut values = RequestFiller::new(PROBE);
        values.add(&["campaign"], &self.world.values.of("kanka_campaign")[0]);
        for id in 1..8 {
            values.add(&["id", "post_id", "tag_id", "asset_id"], &json!(id));
        }
        for part in ["relations", "attributes", "reminders"] {
            values.add(&["part"], &json!(part));
        }
        for kind in ENTITY_KINDS.iter().filter(|kind| kind.entity_type.is_some()) {
            values.add(&["plural"], &json!(kind.plural));
        }
        for route in API_ROUTES {
            let path = format!("{API_PATH}/1.0/{route}");
            for path in values.fill_path(&path, &Value::Null) {
                let is_list = !path.ends_with(|character: char| character.is_ascii_digit());
                let queries: &[&str] =
                    if is_list { &["", "?related=1", "?name=qzprobe", "?is_private=1"] } else { &["", "?related=1"] };
                for query in queries {
                    self.send("GET", &format!("{path}{query}"), "");
                }
            }
        }
    }

    /// Every tool, resource, template, prompt and completion of MCP. Tools that change something are called if
    /// `with_commands`.
    fn walk_mcp(&mut self, with_commands: bool) {
        let token = self.token.clone();
        let mut session = self.world.server.client_with(Surface::Session, token.as_deref(), "test");
        self.walk_mcp_with(&mut session);
        self.walk_tools(&mut session, with_commands);
        // A bridge asks over gRPC.
        let mut bridge = self.world.server.bridge_command(&[]);
        bridge.envs(token.map(|token| ("SKALD_TOKEN", token)));
        let mut bridge = TestClient::over_stdio(bridge);
        self.walk_mcp_with(&mut bridge);
        self.walk_tools(&mut bridge, false);
    }

    /// Every tool, with every value that its fields have.
    fn walk_tools(&mut self, client: &mut TestClient, with_commands: bool) {
        let listed = client.request("tools/list", &json!({}));
        let tools = listed["result"]["tools"].as_array().expect("tools").clone();
        for tool in tools.iter().filter(|tool| with_commands || tool["annotations"]["readOnlyHint"] == true) {
            let schema = &tool["inputSchema"];
            let request_body = json!({"content": {"application/json": {"schema": schema}}});
            for input in self.world.values.fill_body(&request_body, schema) {
                let arguments: Value = serde_json::from_str(&input).expect("JSON");
                let answer = client.request("tools/call", &json!({"name": tool["name"], "arguments": arguments}));
                assert!(answer["result"].is_object(), "{} {input}: {answer}", tool["name"]);
                self.note(&format!("{} tools/call {} {input}", self.role, tool["name"]), &answer.to_string());
                self.tools.insert(tool["name"].to_string());
            }
        }
    }

    /// What nobody is answered over MCP: no session, no list and no call.
    fn walk_mcp_as_nobody(&mut self) {
        let calls = [
            ("initialize", json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x"}})),
            ("tools/list", json!({})),
            ("resources/list", json!({})),
            ("resources/read", json!({"uri": "campaigns://list"})),
            ("tools/call", json!({"name": "campaign_read", "arguments": {"view": "list"}})),
            ("subscriptions/listen", json!({"notifications": {"resourceSubscriptions": ["campaigns://list"]}})),
        ];
        for (method, params) in calls {
            self.send("POST", "/mcp", &request(1, method, &params).to_string());
        }
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
    route == "/mcp"
        || route.starts_with("/changes/")
        || ["/events", "/live", "/changes", "/changes/{page}"].iter().any(|end| route.ends_with(end))
}

/// The routes that this server has mounted, from its log.
pub(crate) fn logged_routes(server: &RunningProgram) -> Vec<String> {
    const MOUNTED: &str = "routes mounted";
    server.wait_for_stderr(MOUNTED);
    let log = server.stderr();
    let line = log.lines().find(|line| line.contains(MOUNTED)).expect("the routes");
    let line: Value = serde_json::from_str(line).expect("a line of JSON");
    line["fields"]["paths"].as_str().expect("paths").split(' ').map(str::to_owned).collect()
}

/// The routes that a server has mounted.
pub(crate) fn mounted_routes() -> Vec<String> {
    let world = World::sqlite();
    let mut command = world.command(&["serve", "--http-addr", "127.0.0.1:0", "--log-format", "json"]);
    command.env("SKALD_LOG", "skald_http=debug");
    let (server, _) = RunningProgram::start_server(command);
    logged_routes(&server)
}

/// Who sees all secrets only reads, so that these stay as they are.
fn walk_reads<'a>(world: &'a SecretWorld, role: &'a str, routes: &[String]) -> Walk<'a> {
    let mut walk = Walk::new(world, role);
    walk.walk_openapi(&["get"]);
    walk.walk_routes(routes);
    walk.walk_mcp(false);
    walk.look_closely();
    walk
}

#[test]
fn a_secret_reaches_those_who_may_see_it_and_nobody_else() {
    let world = SecretWorld::new();
    let routes = mounted_routes();
    // The owner and game masters see every secret; otherwise the walk looks in the wrong places.
    for role in [OWNER, "gm"] {
        let walk = walk_reads(&world, role, &routes);
        let seen: BTreeSet<String> = walk.seen.keys().cloned().collect();
        let secrets = &world.planted | &world.shared_with_ana;
        let missing: Vec<_> = secrets.difference(&seen).collect();
        assert!(missing.is_empty(), "{role} does not see {missing:?}");
        assert!(seen.intersection(&world.for_members).count() > 5, "{role} sees what everybody may see");
        let known = &(&secrets | &world.for_members) | &world.replaced;
        let unknown: Vec<_> = seen.difference(&known).map(|marker| &walk.seen[marker]).collect();
        assert!(unknown.is_empty(), "markers that nobody planted: {unknown:#?}");
        assert!(walk.pages > 15, "{role} saw {} pages", walk.pages);
    }
    for role in ["Ana", "player", "guest", "stranger"] {
        let mut walk = Walk::new(&world, role);
        walk.walk_routes(&routes);
        walk.walk_mcp(true);
        walk.walk_openapi(&["get", "post", "put", "patch", "delete"]);
        walk.look_closely();
        let mut allowed = if role == "stranger" { BTreeSet::new() } else { world.for_members.clone() };
        if role == "Ana" {
            allowed.extend(world.shared_with_ana.iter().cloned());
        }
        let seen: BTreeSet<String> = walk.seen.keys().cloned().collect();
        let wrong: Vec<_> = seen.difference(&allowed).map(|marker| &walk.seen[marker]).collect();
        assert!(wrong.is_empty(), "{role}: {wrong:#?}");
        if role == "Ana" {
            let missing: Vec<_> = world.shared_with_ana.difference(&seen).collect();
            assert!(missing.is_empty(), "Ana does not see {missing:?}");
        }
        assert!(role == "stranger" || walk.pages > 10, "{role} saw {} pages", walk.pages);
        assert!(walk.requests > 1_000, "{role} asked {} times", walk.requests);
        assert!(walk.tools.len() > 40, "{role} called {:?}", walk.tools);
    }
}

/// A request without a token, where one is required: it is answered on public routes alone, and with no marker.
#[test]
fn nobody_sees_anything() {
    let world = SecretWorld::new();
    let mut walk = Walk::new(&world, NOBODY);
    walk.walk_routes(&mounted_routes());
    walk.walk_openapi(&["get", "post", "put", "patch", "delete"]);
    walk.look_closely();
    let public = walk.admitted;
    walk.walk_mcp_as_nobody();
    assert_eq!(walk.admitted, public, "MCP is not public");
    assert!(walk.seen.is_empty(), "{:#?}", walk.seen);
    assert!(walk.requests > 1_000 && walk.admitted < 40, "{} of {} are public", walk.admitted, walk.requests);
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
