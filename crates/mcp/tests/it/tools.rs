//! Tests of tools as clients list and call them.

use serde_json::{Map, Value, json};
use skald_app::Engine;
use skald_testkit::mcp_messages::{request, tool_call};

use crate::server::{Server, default_engine, panic_and_slow_engine, snapshot};

fn call_tool(server: &Server, tool: &str, arguments: &Value) -> Value {
    server.post_modern(&tool_call(tool, arguments)).json()["result"].clone()
}

/// The error object of a refused call. Checks the form of the refusal as well.
fn refusal(server: &Server, tool: &str, arguments: &Value) -> Value {
    let result = call_tool(server, tool, arguments);
    assert_eq!(result["isError"], true, "{result}");
    assert_eq!(result.get("structuredContent"), None, "an error is not what the output schema promises");
    let texts: Vec<&str> =
        result["content"].as_array().unwrap().iter().map(|block| block["text"].as_str().unwrap()).collect();
    let [sentence, object] = texts[..] else { panic!("two texts, not {texts:?}") };
    let object: Value = serde_json::from_str(object).unwrap();
    assert_eq!(object["error"], result["_meta"]["skald/error"]);
    let code = object["error"]["code"].as_str().unwrap();
    assert!(sentence.starts_with(&format!("{code}: ")), "{sentence}");
    assert!(sentence.contains(object["error"]["message"].as_str().unwrap()));
    object["error"].clone()
}

/// The id that is generated for a prefix: always the same one, since entropy is constant here.
fn generated_id(prefix: &str) -> String {
    format!("{prefix}_a4dqobyha4dqobyha4dqobyha4")
}

/// A process of two states.
const SMALL: &str = "process: {id: small, version: '1', name: Small, initial_state: open}\n\
    states: [{name: open}, {name: shut, is_final: true}]\n\
    events: [{name: shut, allowed_roles: ['*']}]\n\
    transitions: [{from: open, event: shut, to: shut}]\n";

/// One good call of each tool, in an order in which each is possible.
fn good_calls() -> Vec<(&'static str, Value)> {
    let replay = json!({"seed": 42, "roll_mode": "replay"});
    vec![
        ("duality_rules_version", json!({})),
        ("duality_action_roll", json!({"modifier": 2, "difficulty": 15, "rng": replay})),
        ("duality_outcome", json!({"hope": 8, "fear": 5, "modifier": 2, "difficulty": 15})),
        ("duality_explain", json!({"hope": 8, "fear": 5, "modifier": 2, "difficulty": 15, "request_id": "req_123"})),
        ("duality_probability", json!({"modifier": 2, "difficulty": 15})),
        ("roll_dice", json!({"dice": [{"sides": 20, "count": 2}, {"sides": 6, "count": 1}], "rng": replay})),
        ("roll", json!({"expression": "4d6!kh3 + 1d4[cold] # brr", "rng": replay, "detail": "full"})),
        (
            "group_roll",
            json!({"rolls": [{"actor_id": "Ilse"}, {"actor_id": "Oan", "modifier": 1, "lead": true}], "difficulty": 10}),
        ),
        ("odds", json!({"expression": "2d20kh1+5 >= 15", "target": 0.8, "from": 23})),
        (
            "campaign_create",
            json!({"name": "The Lost Expedition", "gm_mode": "HUMAN", "theme_prompt": "A cursed forest"}),
        ),
        ("participant_create", json!({"campaign_id": generated_id("camp"), "display_name": "Alice", "role": "PLAYER"})),
        ("actor_create", json!({"campaign_id": generated_id("camp"), "name": "Thorin Ironforge", "kind": "PC"})),
        ("actor_control_set", json!({"actor_id": generated_id("actor"), "controller": generated_id("part")})),
        (
            "tracker",
            json!({"method": "set", "trackers": [{"actor_id": generated_id("actor"), "name": "HP", "max": 6}]}),
        ),
        ("session_start", json!({"name": "Session 1"})),
        (
            "set_context",
            json!({"campaign_id": generated_id("camp"), "session_id": generated_id("sess"), "participant_id": generated_id("part")}),
        ),
        ("session_note", json!({"text": "They met a bear."})),
        ("session_recap", json!({})),
        ("luck", json!({})),
        ("session_end", json!({})),
        ("campaign_read", json!({"view": "actors", "limit": 1})),
        ("events_list", json!({"types": ["session."], "order": "oldest"})),
        ("campaign_update", json!({"name": "The Found Expedition"})),
        ("participant_update", json!({"participant_id": generated_id("part"), "display_name": "Alicia"})),
        ("actor_update", json!({"actor_id": generated_id("actor"), "method": "remove"})),
        ("visibility", json!({"method": "who_knows"})),
        ("find_entities", json!({"query": "warden", "entity_type": "character", "limit": 5})),
        (
            "create_entities",
            json!({"entities": [
                {
                    "entity_type": "character", "name": "Aelysh", "type": "NPC", "tags": ["elf"],
                    "entry": "Grove Warden of [[Willow Hall]]."
                },
                {"entity_type": "location", "name": "Willow Hall"},
                {"entity_type": "note", "name": " "}
            ]}),
        ),
        ("update_entities", json!({"updates": [{"entity_id": 1, "name": "Aelysh", "entry_append": "She sings."}]})),
        ("get_entities", json!({"entity_ids": [1, 9], "include_posts": true})),
        ("delete_entities", json!({"entity_ids": [2]})),
        ("create_posts", json!({"posts": [{"entity_id": "Aelysh", "name": "Rumour", "entry": "She is a ghost."}]})),
        ("update_posts", json!({"updates": [{"entity_id": 1, "post_id": 1, "name": "Rumour", "is_private": true}]})),
        ("delete_posts", json!({"deletions": [{"entity_id": 1, "post_id": 1}]})),
        ("check_entity_updates", json!({"entity_ids": [1, 2], "last_synced": "2025-05-30T10:00:00Z"})),
        ("lore_history", json!({"entity_id": 1, "limit": 2})),
        ("canon", json!({"method": "check"})),
        ("kanka_mirror", json!({})),
        ("entity_search", json!({"campaign_id": generated_id("camp"), "entity_type": "npc", "in": ["timeline"]})),
        ("relationships", json!({"method": "map", "entity_id": "Aelysh", "depth": 2})),
        (
            "timeline",
            json!({"method": "add", "date": "3rd of Rain, 1204", "sort": "1204-03-03", "description": "The bells fell.", "entity_ids": [1]}),
        ),
        ("entity_compare", json!({"entity_id_1": 1, "entity_id_2": "Aelysh"})),
        ("campaign_overview", json!({})),
        (
            "universe",
            json!({"method": "create", "universeId": "u-1", "name": "Sol", "campaignId": generated_id("camp")}),
        ),
        ("get_universe_state", json!({"universeId": "u-1"})),
        ("list_universe_commands", json!({"universeId": "u-1", "category": "Star hierarchy"})),
        ("send_universe_command", json!({"universeId": "u-1", "command": {"type": "tick"}})),
        ("state_gate.get_state", json!({"run_id": "run-1"})),
        ("state_gate.list_events", json!({"run_id": "run-1", "include_blocked": true})),
        (
            "state_gate.emit_event",
            json!({
                "run_id": "run-1", "event_name": "submit_experiment_plan", "payload": {"plan": "Ask ten people."},
                "expected_revision": 1, "idempotency_key": "plan-1",
                "artifacts": [{"path": "experiment_plan.md", "text": "Ask ten people."}]
            }),
        ),
        ("state_gate.create_run", json!({"process_id": "quest", "run_id": "run-2"})),
        ("state_gate.list_runs", json!({"limit": 1})),
        ("state_gate.run", json!({"method": "history", "run_id": "run-1"})),
        ("state_gate.submit_process", json!({"source": SMALL, "check_only": true})),
    ]
}

#[test]
fn a_picture_is_an_image_beside_the_numbers() {
    let server = Server::start(default_engine());
    let arguments = json!({"expression": "duality(+2, dc 15)", "picture": true});
    let result = call_tool(&server, "odds", &arguments);
    let [text, image] = &result["content"].as_array().unwrap()[..] else { panic!("two blocks: {result}") };
    assert_eq!(image["type"], "image");
    assert_eq!(image["mimeType"], "image/png");
    // It begins like a PNG in base64 and has a plausible size.
    let data = image["data"].as_str().unwrap();
    assert!(data.starts_with("iVBORw0KGgo") && data.len() > 10_000, "{} characters", data.len());
    let plain = call_tool(&server, "odds", &json!({"expression": "duality(+2, dc 15)"}));
    assert_eq!(result["structuredContent"], plain["structuredContent"], "the numbers are the same");
    assert_eq!(text, &plain["content"][0]);
    assert_eq!(plain["content"].as_array().unwrap().len(), 1, "nobody asked for a picture");
}

#[test]
fn luck_is_an_image_beside_the_numbers() {
    let server = Server::start(default_engine());
    let campaign = call_tool(&server, "campaign_create", &json!({"name": "Bells", "gm_mode": "AI"}));
    let input = json!({"campaign_id": campaign["structuredContent"]["id"], "picture": true});
    let result = call_tool(&server, "luck", &input);
    assert_eq!(result["content"][1]["mimeType"], "image/png", "{result}");
    assert!(result["content"][1]["data"].as_str().unwrap().starts_with("iVBORw0KGgo"));
    assert_eq!(result["structuredContent"].get("picture"), None, "the image is not sent twice");
}

#[test]
fn every_tool_answers_what_its_schema_promises() {
    let server = Server::start(default_engine());
    let engine = default_engine();
    let (tools, catalogue) = (skald_mcp::tools(&*engine), engine.catalogue());
    let calls = good_calls();
    // The list of tools reads a run before it creates one, so this run is created first.
    call_tool(&server, "state_gate.create_run", &json!({"process_id": "exploration-process", "run_id": "run-1"}));
    assert_eq!(
        tools.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        calls.iter().map(|(name, _)| *name).collect::<Vec<_>>()
    );
    for ((name, tool), (_, arguments)) in tools.iter().zip(calls) {
        let result = call_tool(&server, name, &arguments);
        assert_eq!(result["isError"], false, "{name}: {result}");
        let structured = &result["structuredContent"];
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        let entry = catalogue.operation(name).unwrap();
        let shown = entry.text_field.map_or(structured, |field| &structured[field]);
        assert_eq!(&text, shown, "{name}: the text is the same JSON");
        assert_eq!(result["content"].as_array().unwrap().len(), 1);
        let [input, output] = [&entry.input, &entry.output].map(|schema| Value::Object(Map::clone(schema)));
        // What the tool list shows is less than what programs are told in the OpenAPI file, and both are true.
        for (schema, value) in [
            (&tool["inputSchema"], &arguments),
            (&tool["outputSchema"], structured),
            (&input, &arguments),
            (&output, structured),
        ] {
            let validator = jsonschema::validator_for(schema).unwrap();
            let errors: Vec<String> = validator.iter_errors(value).map(|error| error.to_string()).collect();
            // Enum values are accepted in any case, but the schema has only the canonical ones.
            assert!(errors.iter().all(|error| error.contains("replay")), "{name} {schema}: {errors:?}");
        }
        snapshot!(name.as_str(), structured);
    }
}

/// The tools that change nothing.
const READS: [&str; 18] = [
    "duality_rules_version",
    "duality_probability",
    "odds",
    "session_recap",
    "luck",
    "campaign_read",
    "events_list",
    "find_entities",
    "get_entities",
    "check_entity_updates",
    "entity_search",
    "entity_compare",
    "campaign_overview",
    "get_universe_state",
    "list_universe_commands",
    "state_gate.get_state",
    "state_gate.list_events",
    "state_gate.list_runs",
];

/// The tools that can delete or replace existing data.
const DESTRUCTIVE: [&str; 10] = [
    "relationships",
    "timeline",
    "kanka_mirror",
    "delete_entities",
    "delete_posts",
    "lore_history",
    "universe",
    "send_universe_command",
    "state_gate.run",
    "state_gate.submit_process",
];

#[test]
fn the_whole_list_keeps_the_rules() {
    let tools = skald_mcp::tools(&*default_engine());
    for (name, tool) in &tools {
        let text = |field: &str| tool[field].as_str().unwrap_or_default();
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'.')), "{name}");
        assert!(!text("title").is_empty() && text("description").len() < 300, "{name}");
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object", "{name} {schema}");
            for word in ["oneOf", "anyOf", "allOf"] {
                assert_eq!(tool[schema].get(word), None, "{name}: {schema} has a top-level {word}");
            }
        }
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{name} takes unknown fields");
        let annotations = &tool["annotations"];
        let reads = READS.contains(&name.as_str());
        // Hints that the protocol assumes by itself, or that mean nothing on a read, are left out.
        let expected = if reads {
            json!({"readOnlyHint": true, "openWorldHint": false})
        } else {
            json!({"destructiveHint": DESTRUCTIVE.contains(&name.as_str()), "openWorldHint": false})
        };
        assert_eq!(*annotations, expected, "{name}");
    }
}

/// Characters that count as one token.
const TOKEN_CHARS: usize = 4;
/// Tokens of the whole tool list, as it is served.
const LIST_TOKENS_MAX: usize = 16_000;
/// Tokens of the tools of dice, campaign, gate and universe.
const LIST_WITHOUT_LORE_TOKENS_MAX: usize = 10_000;
/// Tokens of the tools of the lore.
const LORE_TOKENS_MAX: usize = 3_500;
/// What the toolset `canon` may add.
const CANON_TOKENS_MAX: usize = 2_500;

#[test]
fn the_whole_list_is_cheap() {
    let server = Server::start(default_engine());
    let listed = |toolsets: &str| {
        let headers = [("X-MCP-Toolsets", toolsets)];
        let listed = server.post_modern_with(&request(1, "tools/list", &json!({})), &headers).json();
        listed["result"]["tools"].clone()
    };
    let tokens = |value: &Value| value.to_string().chars().count().div_ceil(TOKEN_CHARS);
    for (toolsets, tokens_max) in [
        ("all", LIST_TOKENS_MAX),
        ("dice, campaign, gate, universe", LIST_WITHOUT_LORE_TOKENS_MAX),
        ("lore", LORE_TOKENS_MAX),
        ("canon", CANON_TOKENS_MAX),
    ] {
        let tools = listed(toolsets);
        let mut each: Vec<(usize, &str)> =
            tools.as_array().unwrap().iter().map(|tool| (tokens(tool), tool["name"].as_str().unwrap())).collect();
        each.sort_unstable();
        let all = tokens(&tools);
        assert!(all < tokens_max, "the tools of {toolsets} cost {all} tokens, allowed: {tokens_max}: {each:?}");
    }
}

/// The text of a page is the bare list, so a client that reads texts alone took a page for everything.
#[test]
fn a_page_that_is_not_everything_says_so_in_a_text_of_its_own() {
    let server = Server::start(default_engine());
    call_tool(&server, "campaign_create", &json!({"name": "Bells", "gm_mode": "AI"}));
    let entities: Vec<Value> =
        (0..3).map(|number| json!({"entity_type": "item", "name": format!("Bell {number}")})).collect();
    call_tool(&server, "create_entities", &json!({"entities": entities}));
    let page = call_tool(&server, "find_entities", &json!({"limit": 2}));
    let texts: Vec<Value> = page["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| serde_json::from_str(block["text"].as_str().unwrap()).unwrap())
        .collect();
    assert_eq!((texts.len(), texts[0].as_array().map(Vec::len)), (2, Some(2)));
    assert_eq!(texts[1], json!({"sync_info": page["structuredContent"]["sync_info"]}));
    assert_eq!(
        (&texts[1]["sync_info"]["total_count"], texts[1]["sync_info"]["next_cursor"].is_string()),
        (&json!(3), true)
    );
    let rest =
        call_tool(&server, "find_entities", &json!({"limit": 2, "cursor": texts[1]["sync_info"]["next_cursor"]}));
    assert_eq!(rest["content"].as_array().map(Vec::len), Some(1), "{rest}");
}

/// Clients of Kanka's tools read the text and expect an array; programs read the envelope.
#[test]
fn the_text_of_lore_tools_is_the_bare_array() {
    let server = Server::start(default_engine());
    call_tool(&server, "campaign_create", &json!({"name": "Bells", "gm_mode": "AI"}));
    let entities =
        json!({"entities": [{"entity_type": "character", "name": "Aelysh"}, {"entity_type": "note", "name": " "}]});
    for (tool, arguments, envelope, field, count) in [
        ("create_entities", entities, &["results", "went_to"][..], "results", 2),
        ("find_entities", json!({"query": "aelysh"}), &["entities", "sync_info"], "entities", 1),
        ("get_entities", json!({"entity_ids": [1, 9]}), &["results"], "results", 2),
        (
            "update_entities",
            json!({"updates": [{"entity_id": 1, "type": "NPC"}]}),
            &["results", "went_to"],
            "results",
            1,
        ),
        ("create_posts", json!({"posts": [{"entity_id": 1, "name": "Rumour"}]}), &["results", "went_to"], "results", 1),
        (
            "update_posts",
            json!({"updates": [{"entity_id": 1, "post_id": 1, "name": "Fact"}]}),
            &["results", "went_to"],
            "results",
            1,
        ),
        ("delete_posts", json!({"deletions": [{"entity_id": 1, "post_id": 1}]}), &["results", "went_to"], "results", 1),
        ("delete_entities", json!({"entity_ids": [1]}), &["results", "went_to"], "results", 1),
    ] {
        let result = call_tool(&server, tool, &arguments);
        assert_eq!(result["isError"], false, "{tool}: {result}");
        let structured = result["structuredContent"].as_object().unwrap();
        assert_eq!(structured.keys().collect::<Vec<_>>(), envelope, "{tool}");
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!((&text, text.as_array().map(Vec::len)), (&structured[field], Some(count)), "{tool}");
    }
}

/// The output schemas of the list say what a program branches on, and leave open what is inside it.
#[test]
fn output_schemas_are_shallow() {
    for (name, tool) in skald_mcp::tools(&*default_engine()) {
        let schema = tool["outputSchema"].as_object().unwrap();
        assert!(schema.keys().all(|key| key == "type" || key == "properties"), "{name}: {schema:?}");
        for (field, kind) in schema["properties"].as_object().unwrap() {
            let kind = kind.as_object().unwrap();
            assert!(kind.keys().all(|key| key == "type" || key == "enum"), "{name}.{field}: {kind:?}");
        }
    }
}

#[test]
fn a_refusal_teaches() {
    let server = Server::start(default_engine());
    let refused = |tool, arguments| refusal(&server, tool, &arguments);
    snapshot!(
        "refusals",
        json!({
            "die out of range": refused("duality_outcome", json!({"hope": 13, "fear": 5})),
            "unknown field": refused("duality_outcome", json!({"hope": 8, "fear": 5, "dificulty": 15})),
            "missing field": refused("duality_outcome", json!({"hope": 8})),
            "wrong type": refused("duality_outcome", json!({"hope": "eight", "fear": 5})),
            "too wide": refused("duality_outcome", json!({"hope": 8, "fear": 5, "modifier": 3_000_000_000_u64})),
            "fraction": refused("duality_probability", json!({"difficulty": 1.5})),
            "negative difficulty": refused("duality_probability", json!({"difficulty": -1})),
            "no field at all": refused("duality_rules_version", json!({"x": 1})),
            "unknown word": refused("roll_dice", json!({"dice": [], "rng": {"roll_mode": "LIFE"}})),
            "no dice": refused("roll_dice", json!({"dice": []})),
            "dice without sides": refused("roll_dice", json!({"dice": [{"sides": 6, "count": 1}, {"sides": 0, "count": 1}]})),
            "too many dice": refused("roll_dice", json!({"dice": [{"sides": 6, "count": 1001}]})),
            "nested unknown field": refused("roll_dice", json!({"dice": [{"side": 6, "count": 1}]})),
            "seed of a wrong kind": refused("duality_action_roll", json!({"rng": {"seed": true}})),
            "seed of a wrong length": refused("duality_action_roll", json!({"rng": {"seed": "abc", "roll_mode": "REPLAY"}})),
            "not notation": refused("roll", json!({"expression": "4d6kh3 ? 2"})),
            "too costly": refused("odds", json!({"expression": "1000d1000kh500"})),
            "no chance": refused("odds", json!({"expression": "1d6", "target": 1.5})),
            "divided by zero": refused("odds", json!({"expression": "1d6/(1d6-1)"})),
            "replay without a seed": refused("duality_action_roll", json!({"rng": {"roll_mode": "REPLAY"}})),
        })
    );
}

#[test]
fn a_whole_number_is_an_integer_however_it_is_written() {
    let server = Server::start(default_engine());
    let result = call_tool(&server, "duality_outcome", &json!({"hope": 8.0, "fear": 5, "difficulty": 15.0}));
    assert_eq!(result["structuredContent"]["difficulty"], 15, "{result}");
}

#[test]
fn a_live_roll_ignores_the_clients_seed() {
    let server = Server::start(default_engine());
    let roll = |rng: Value| call_tool(&server, "roll_dice", &json!({"dice": [{"sides": 20, "count": 10}], "rng": rng}));
    let live = roll(json!({"seed": 42}))["structuredContent"].clone();
    assert_eq!(live["rng"]["seed_used"], "07".repeat(32));
    assert_eq!((&live["rng"]["seed_source"], &live["rng"]["roll_mode"]), (&json!("SERVER"), &json!("LIVE")));
    let again = roll(json!({"seed": live["rng"]["seed_used"], "roll_mode": "REPLAY"}))["structuredContent"].clone();
    assert_eq!(again["rolls"], live["rolls"]);
    assert_eq!(again["rng"]["seed_source"], "CLIENT");
}

#[test]
fn an_unknown_tool_is_a_protocol_error_that_names_the_known() {
    let server = Server::start(default_engine());
    for (tool, meant) in [("rol_dice", "roll_dice"), ("duality_rules", "duality_rules_version")] {
        let error = &server.post_modern(&tool_call(tool, &json!({}))).json()["error"];
        assert_eq!(error["code"], -32602);
        assert!(error["message"].as_str().unwrap().ends_with(&format!("did you mean {meant}?")), "{error}");
        assert_eq!(error.to_string().matches("session_recap").count(), 1, "the others are named once: {error}");
    }
}

#[test]
fn a_list_has_one_page() {
    let server = Server::start(default_engine());
    let error = &server.post_modern(&request(1, "tools/list", &json!({"cursor": "x"}))).json()["error"];
    assert_eq!(error["code"], -32602);
}

#[test]
fn a_panic_is_one_requests_failure() {
    let server = Server::start(panic_and_slow_engine());
    let session = server.open_session("2025-11-25");
    let result = server.call(&session, &tool_call("panics", &json!({})))["result"].clone();
    let error = &result["_meta"]["skald/error"];
    assert_eq!(error["code"], "INTERNAL_ERROR");
    assert!(error["request_id"].as_str().unwrap().starts_with("req_"));
    assert!(!result.to_string().contains("secret"), "the cause is for the log: {result}");
    assert_eq!(
        server.call(&session, &tool_call("slow", &json!({})))["result"]["isError"],
        false,
        "the session goes on"
    );
}
