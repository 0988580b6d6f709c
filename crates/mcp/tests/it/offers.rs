//! Tests of toolsets, resources, prompts and completions.

use serde_json::{Value, json};
use skald_app::{ToolsetFilter, Toolsets};
use skald_mcp::McpOptions;
use skald_testkit::mcp_messages::{ACCEPT_BOTH, JSON, request, tool_call};

use crate::server::{Server, default_engine, snapshot};

fn tool_names(server: &Server, headers: &[(&str, &str)]) -> Vec<String> {
    let listed = server.post_modern_with(&request(1, "tools/list", &json!({})), headers).json();
    let tools = listed["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn call_method(server: &Server, method: &str, params: &Value) -> Value {
    server.post_modern(&request(1, method, params)).json()
}

const LORE_TOOLS: [&str; 11] = [
    "find_entities",
    "create_entities",
    "update_entities",
    "get_entities",
    "delete_entities",
    "create_posts",
    "update_posts",
    "delete_posts",
    "check_entity_updates",
    "lore_history",
    "kanka_mirror",
];

#[test]
fn a_header_narrows_the_toolsets() {
    let server = Server::start(default_engine());
    assert_eq!(tool_names(&server, &[]).len(), 54);
    assert_eq!(tool_names(&server, &[("X-MCP-Toolsets", "dice, lore")]).len(), 20);
    assert_eq!(tool_names(&server, &[("X-MCP-Toolsets", "all")]).len(), 54);
    let elsewhere = ("X-MCP-Toolsets", "lore");
    assert_eq!(tool_names(&server, &[elsewhere]), LORE_TOOLS);
    for (method, list) in [
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("prompts/list", "prompts"),
    ] {
        let listed = server.post_modern_with(&request(1, method, &json!({})), &[elsewhere]).json();
        let names: Vec<&str> =
            listed["result"][list].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
        let expected: &[&str] = match method {
            "resources/list" => &["kanka_context"],
            "resources/templates/list" => &["entities", "entity", "lore_graph"],
            _ => &[],
        };
        assert_eq!(names, expected, "{method}");
    }
    let hidden = [
        tool_call("roll_dice", &json!({"dice": [{"sides": 6, "count": 1}]})),
        request(1, "resources/read", &json!({"uri": "dice://rules/duality"})),
        request(
            1,
            "completion/complete",
            &json!({
                "ref": {"type": "ref/prompt", "name": "explain_odds"}, "argument": {"name": "outcome", "value": ""}
            }),
        ),
        request(1, "prompts/get", &json!({"name": "explain_odds", "arguments": {"difficulty": "15"}})),
    ];
    for message in hidden {
        let error = &server.post_modern_with(&message, &[elsewhere]).json()["error"];
        assert!(error["message"].as_str().unwrap().contains("hidden"), "{error}");
        assert_eq!(error["data"]["error"]["code"], "NOT_FOUND");
    }
}

#[test]
fn an_unknown_toolset_is_named_with_the_known() {
    let server = Server::start(default_engine());
    let session = server.open_session("2025-11-25");
    let headers = [JSON, ACCEPT_BOTH, ("Mcp-Session-Id", session.as_str()), ("X-MCP-Toolsets", "dices")];
    let error = &server.post(&headers, &request(1, "tools/list", &json!({}))).json()["error"];
    assert_eq!(error["code"], -32602);
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("dices") && message.contains("dice, campaign, lore, canon, gate, universe"), "{message}");
}

#[test]
fn read_only_hides_what_rolls() {
    let server = Server::start(default_engine());
    for value in ["true", "TRUE", "1"] {
        let read_only = [("X-MCP-Readonly", value)];
        let listed = tool_names(&server, &read_only);
        assert!(
            listed.iter().all(|tool| !["roll", "roll_dice", "duality_action_roll"].contains(&tool.as_str())),
            "{listed:?}"
        );
        assert_eq!(listed.len(), 18);
        let roll = tool_call("roll_dice", &json!({"dice": [{"sides": 6, "count": 1}]}));
        assert_eq!(server.post_modern_with(&roll, &read_only).json()["error"]["code"], -32602);
    }
    assert_eq!(tool_names(&server, &[("X-MCP-Readonly", "false")]).len(), 54);
    let unclear = server.post_modern_with(&request(1, "tools/list", &json!({})), &[("X-MCP-Readonly", "yes")]).json();
    assert_eq!(unclear["error"]["code"], -32602, "a wish for safety is not overheard");
}

#[test]
fn of_repeated_headers_each_narrows() {
    let server = Server::start(default_engine());
    let twice = [
        ("X-MCP-Readonly", "false"),
        ("X-MCP-Readonly", "true"),
        ("X-MCP-Toolsets", "all"),
        ("X-MCP-Toolsets", "dice"),
    ];
    assert_eq!(tool_names(&server, &twice).len(), 3);
    for unclear in ["bogus", ",", ""] {
        let headers = [("X-MCP-Toolsets", "dice"), ("X-MCP-Toolsets", unclear)];
        let answer = server.post_modern_with(&request(1, "tools/list", &json!({})), &headers).json();
        assert_eq!(answer["error"]["code"], -32602, "{unclear:?}");
    }
}

#[test]
fn a_header_cannot_widen_what_the_server_offers() {
    let visible = ToolsetFilter { toolsets: "dice".parse::<Toolsets>().unwrap(), read_only: true };
    let server = Server::start_with(default_engine(), McpOptions { visible, ..McpOptions::default() });
    let headers = [("X-MCP-Toolsets", "all"), ("X-MCP-Readonly", "false")];
    assert_eq!(tool_names(&server, &headers).len(), 3);
}

#[test]
fn resources_are_listed_and_read() {
    let server = Server::start(default_engine());
    snapshot!(
        "lists",
        json!({
            "resources": call_method(&server, "resources/list", &json!({}))["result"]["resources"],
            "templates": call_method(&server, "resources/templates/list", &json!({}))["result"]["resourceTemplates"],
            "prompts": call_method(&server, "prompts/list", &json!({}))["result"]["prompts"],
        })
    );
    let read = |uri: &str| call_method(&server, "resources/read", &json!({"uri": uri}));
    let rules = &read("dice://rules/duality")["result"]["contents"][0];
    assert_eq!((&rules["uri"], &rules["mimeType"]), (&json!("dice://rules/duality"), &json!("text/markdown")));
    assert!(rules["text"].as_str().unwrap().starts_with("# Duality dice"));
    let odds = &read("dice://duality/odds/2/15")["result"]["contents"][0];
    let odds: Value = serde_json::from_str(odds["text"].as_str().unwrap()).unwrap();
    assert_eq!((&odds["success_count"], &odds["failure_count"]), (&json!(84), &json!(60)));
}

#[test]
fn a_resource_that_is_not_there_is_not_found_in_each_eras_words() {
    let server = Server::start(default_engine());
    let session = server.open_session("2025-11-25");
    for uri in ["campaign://camp_abc123", "nowhere://x", "x"] {
        let message = request(1, "resources/read", &json!({"uri": uri}));
        assert_eq!(server.call(&session, &message)["error"]["code"], -32002, "{uri}");
        let error = &server.post_modern(&message).json()["error"];
        assert_eq!(error["code"], -32602, "{uri}");
        assert_eq!((&error["data"]["error"]["code"], &error["data"]["uri"]), (&json!("NOT_FOUND"), &json!(uri)));
    }
    for uri in
        ["dice://rules/chess", "dice://duality/odds/2", "dice://duality/odds/2/15/more", "dice://duality/odds//15"]
    {
        let message = request(1, "resources/read", &json!({"uri": uri}));
        for answer in [server.call(&session, &message), server.post_modern(&message).json()] {
            let error = &answer["error"];
            assert_eq!((&error["code"], &error["data"]["error"]["code"]), (&json!(-32602), &json!("INVALID_PARAMS")));
            assert!(error["message"].as_str().unwrap().contains("did you mean dice://"), "{error}");
        }
    }
    for (uri, path) in [("dice://duality/odds/2/hard", "/difficulty"), ("dice://duality/odds/2/-1", "/difficulty")] {
        let error = &server.post_modern(&request(1, "resources/read", &json!({"uri": uri}))).json()["error"];
        assert_eq!((&error["code"], &error["data"]["error"]["path"]), (&json!(-32602), &json!(path)), "{uri}");
    }
}

#[test]
fn a_prompt_has_the_odds_counted() {
    let server = Server::start(default_engine());
    let get = |arguments: Value| {
        call_method(&server, "prompts/get", &json!({"name": "explain_odds", "arguments": arguments}))
    };
    let result = &get(json!({"modifier": "2", "difficulty": "15", "outcome": "critical_success"}))["result"];
    snapshot!("prompt", result["messages"]);
    assert_eq!(get(json!({"difficulty": "15"}))["result"]["messages"][0]["role"], "user");
    for arguments in [
        json!({}),
        json!({"difficulty": "high"}),
        json!({"difficulty": "15", "mood": "grim"}),
        json!({"difficulty": "15", "outcome": "win"}),
    ] {
        assert_eq!(get(arguments.clone())["error"]["code"], -32602, "{arguments}");
    }
    let unknown = call_method(&server, "prompts/get", &json!({"name": "no_such_prompt"}));
    assert_eq!(unknown["error"]["code"], -32602);
}

#[test]
fn arguments_are_completed_from_their_schemas() {
    let server = Server::start(default_engine());
    let complete = |reference: Value, name: &str, value: &str| {
        call_method(
            &server,
            "completion/complete",
            &json!({"ref": reference, "argument": {"name": name, "value": value}}),
        )
    };
    let prompt = json!({"type": "ref/prompt", "name": "explain_odds"});
    let values = |answer: &Value| answer["result"]["completion"]["values"].clone();
    assert_eq!(values(&complete(prompt.clone(), "outcome", "crit")), json!(["CRITICAL_SUCCESS"]));
    assert_eq!(values(&complete(prompt.clone(), "outcome", "")).as_array().unwrap().len(), 7);
    assert_eq!(values(&complete(prompt.clone(), "difficulty", "2")), json!(["20", "25"]));
    assert_eq!(values(&complete(prompt.clone(), "no_such_argument", "")), json!([]));
    let template = json!({"type": "ref/resource", "uri": "dice://duality/odds/{modifier}/{difficulty}"});
    assert_eq!(values(&complete(template.clone(), "difficulty", "1")), json!(["10", "15"]));
    assert_eq!(values(&complete(template, "modifier", "-")), json!(["-1", "-2"]));
    for unknown in [json!({"type": "ref/prompt", "name": "x"}), json!({"type": "ref/resource", "uri": "x://"})] {
        assert_eq!(complete(unknown.clone(), "difficulty", "")["error"]["code"], -32602, "{unknown}");
    }
}

#[test]
fn a_malformed_uri_is_refused_in_short() {
    let server = Server::start(default_engine());
    let session = server.open_session("2025-11-25");
    let read = |uri: &str, toolsets: &str| {
        let headers = [JSON, ACCEPT_BOTH, ("Mcp-Session-Id", session.as_str()), ("X-MCP-Toolsets", toolsets)];
        server.post(&headers, &request(2, "resources/read", &json!({"uri": uri}))).json()
    };
    let answer = read("campaign://x/bogus", "campaign");
    assert_eq!(
        (&answer["error"]["code"], &answer["error"]["data"]["error"]["status"]),
        (&json!(-32602), &json!("InvalidArgument"))
    );
    let text = answer.to_string();
    assert_eq!(
        text.matches("campaign://{campaign_id}/sessions\"").count(),
        1,
        "each template stands there once: {text}"
    );
    assert!(!text.contains("dice://"), "templates of other schemes are not named: {text}");
    let answer = read("campaign://x", "campaign");
    assert_eq!(
        (&answer["error"]["code"], &answer["error"]["data"]["error"]["status"]),
        (&json!(-32002), &json!("NotFound"))
    );
    // Templates of hidden toolsets are not named either.
    let answer = read("campaign://x/bogus", "universe");
    assert!(!answer.to_string().contains("{campaign_id}"), "{answer}");
    assert!(read("campaign://x", "universe").to_string().contains("hidden"));
}
