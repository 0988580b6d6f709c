//! Tests of the MCP document of an entity database: its tool, its resources and its error codes, over MCP of its revision.

use serde_json::{Value, json};
use skald_testkit::Client;
use skald_testkit::mcp_messages::{ACCEPT_BOTH, JSON, initialize, request};

use crate::documented_campaign::create_campaign;
use crate::program_under_test::{Server, Surface, World};

/// The revision that the document names.
const REVISION: &str = "2024-11-05";

/// The definition of the tool as the document has it, with the words that it lists of an enumeration.
fn documented_tool() -> Value {
    json!({
        "name": "entity_search",
        "inputSchema": {
            "type": "object",
            "properties": {
                "campaign_id": {"type": "string"},
                "query": {"type": "string"},
                "entity_type": {"type": "string", "enum": ["npc", "location", "item"]}
            },
            "required": ["campaign_id"]
        }
    })
}

/// What of a documented value is missing or is another: of lists, each documented item has to be there.
fn differences(documented: &Value, actual: &Value, path: &str) -> Vec<String> {
    match documented {
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(name, value)| differences(value, &actual[name], &format!("{path}/{name}")))
            .collect(),
        Value::Array(items) => {
            let actual = actual.as_array().map(Vec::as_slice).unwrap_or_default();
            items.iter().filter(|item| !actual.contains(item)).map(|item| format!("{path} has no {item}")).collect()
        }
        value if value == actual => Vec::new(),
        value => vec![format!("{path} is {actual}, not {value}")],
    }
}

/// A session of a client of the documented revision.
struct OldClient {
    client: Client,
    session: String,
    bearer: String,
}

impl OldClient {
    fn open(server: &Server, token: &str) -> Self {
        let (mut client, bearer) = (Client::connect(server.address), format!("Bearer {token}"));
        let sent = [JSON, ACCEPT_BOTH, ("Authorization", bearer.as_str())];
        let opened = client.send("POST", "/mcp", &sent, initialize(REVISION).to_string().as_bytes());
        let answer = opened.json();
        assert_eq!(answer["result"]["protocolVersion"], REVISION, "{answer}");
        // The document has flags here; the protocol has objects.
        for capability in ["tools", "resources"] {
            assert!(answer["result"]["capabilities"][capability].is_object(), "{answer}");
        }
        for field in ["name", "version"] {
            assert!(answer["result"]["serverInfo"][field].is_string(), "{answer}");
        }
        let session = opened.header("mcp-session-id").expect("a session").to_owned();
        Self { client, session, bearer }
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        let sent =
            [JSON, ACCEPT_BOTH, ("Authorization", self.bearer.as_str()), ("Mcp-Session-Id", self.session.as_str())];
        self.client.send("POST", "/mcp", &sent, request(7, method, params).to_string().as_bytes()).json()
    }

    /// The error body of a refused call, as the document has it, in the text that models and programs read.
    fn error_of(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        let result = &answer["result"];
        assert_eq!(result["isError"], true, "{answer}");
        let body: Value = serde_json::from_str(result["content"][1]["text"].as_str().expect("a text")).expect("JSON");
        assert!(body["error"]["message"].is_string(), "{body}");
        body["error"].clone()
    }
}

#[test]
fn the_tool_and_the_resources_are_as_documented() {
    let world = World::sqlite();
    let server = world.serve(&[]);
    let (token, _) = world.create_token(&["Ana", "--role", "gm"]);
    let mut client = OldClient::open(&server, &token);
    let tools = client.request("tools/list", &json!({}))["result"]["tools"].clone();
    let tools = tools.as_array().expect("tools");
    let tool = tools.iter().find(|tool| tool["name"] == "entity_search").expect("the tool of the document");
    assert_eq!(differences(&documented_tool(), tool, ""), [""; 0]);
    assert_eq!(tool["inputSchema"]["required"], json!(["campaign_id"]), "nothing else is required");
    assert!(tool["description"].as_str().is_some_and(|text| text.starts_with("Search for entities by name or type")));
    let templates = client.request("resources/templates/list", &json!({}))["result"]["resourceTemplates"].clone();
    for part in ["entities", "timeline"] {
        let uri = format!("imagineer://campaigns/{{campaign_id}}/{part}");
        let rows = templates.as_array().expect("templates");
        let is_it = |row: &&Value| row["uriTemplate"].as_str().is_some_and(|template| template.starts_with(&uri));
        let template = rows.iter().find(is_it).unwrap_or_else(|| panic!("{uri}: {templates}"));
        assert_eq!(template["mimeType"], "application/json");
        assert!(template["name"].is_string() && template["description"].is_string(), "{template}");
    }
}

#[test]
fn a_search_answers_the_documented_fields() {
    let world = World::sqlite();
    let server = world.serve(&[]);
    let mut owner = server.client(Surface::Rest);
    let campaign_id = create_campaign(&mut owner);
    let (token, _) = world.create_token(&["Ana", "--role", "gm"]);
    let mut client = OldClient::open(&server, &token);
    let rows = json!([
        {"entity_type": "character", "name": "Mira", "type": "NPC", "entry": "A smith."},
        {"entity_type": "location", "name": "Holm", "entry": "A town of smiths."}
    ]);
    owner.ok("create_entities", &json!({"campaign_id": campaign_id, "entities": rows}));
    let mut search = |arguments: &Value| {
        let answer = client.request("tools/call", &json!({"name": "entity_search", "arguments": arguments}));
        let content = answer["result"]["structuredContent"].clone();
        for entity in content["entities"].as_array().unwrap_or_else(|| panic!("{answer}")) {
            for field in ["id", "name", "type", "description"] {
                assert!(!entity[field].is_null(), "{field}: {entity}");
            }
        }
        content
    };
    assert_eq!(search(&json!({"campaign_id": campaign_id}))["total"], 2, "without a query it lists");
    let found = search(&json!({"campaign_id": campaign_id, "query": "Mira", "entity_type": "npc"}));
    assert_eq!((&found["total"], &found["entities"][0]["name"]), (&json!(1), &json!("Mira")));
    let uri = format!("imagineer://campaigns/{campaign_id}/entities");
    let read = client.request("resources/read", &json!({"uri": uri}));
    let contents = &read["result"]["contents"][0];
    assert_eq!((&contents["uri"], &contents["mimeType"]), (&json!(uri), &json!("application/json")));
    let contents: Value = serde_json::from_str(contents["text"].as_str().expect("a text")).expect("JSON");
    assert_eq!(contents["total"], 2);
    let unknown =
        client.request("resources/read", &json!({"uri": format!("imagineer://campaigns/{campaign_id}/moons")}));
    assert_eq!(unknown["error"]["data"]["error"]["code"], "NOT_FOUND", "{unknown}");
    assert!(unknown["error"]["message"].as_str().is_some_and(|text| text.contains("unknown resource")), "{unknown}");
}

/// The fifth code, `INTERNAL_ERROR`, needs a server that fails: a test of the MCP crate has one.
#[test]
fn refusals_have_the_documented_codes() {
    let world = World::sqlite();
    let (owner, _) = world.create_token(&["Owner", "--role", "gm"]);
    let server = world.serve(&["--require-token"]);
    let campaign_id = create_campaign(&mut server.client_with(Surface::Rest, Some(&owner), "test"));
    let (player, _) = world.create_token(&["Ana", "--role", "player", "--for", &campaign_id]);
    let mut client = OldClient::open(&server, &player);
    let missing = client.error_of("entity_search", &json!({}));
    let dragon = client.error_of("entity_search", &json!({"campaign_id": campaign_id, "entity_type": "dragon"}));
    let nowhere = client.error_of("entity_search", &json!({"campaign_id": "camp_nowhere"}));
    let forbidden = client.error_of("campaign_update", &json!({"campaign_id": campaign_id, "name": "Mine"}));
    let codes = [missing, dragon, nowhere, forbidden].map(|error| error["code"].as_str().expect("a code").to_owned());
    assert_eq!(codes, ["INVALID_PARAMS", "INVALID_PARAMS", "NOT_FOUND", "FORBIDDEN"]);
    let search = request(1, "tools/call", &json!({"name": "entity_search", "arguments": {"campaign_id": campaign_id}}));
    for headers in [&[JSON, ACCEPT_BOTH][..], &[JSON, ACCEPT_BOTH, ("Authorization", "Bearer skald_a_b")]] {
        let mut client = Client::connect(server.address);
        let refused = client.send("POST", "/mcp", headers, search.to_string().as_bytes());
        assert_eq!((refused.status, &refused.json()["error"]["code"]), (401, &json!("UNAUTHORIZED")));
    }
}
