//! Tests of both eras of MCP, with sessions and stateless, on one path.

use serde_json::json;
use skald_testkit::mcp_messages::{self, ACCEPT_BOTH, JSON, LEGACY, MODERN, initialize, request, tool_call};

use crate::server::{Server, default_engine};

#[test]
fn every_revision_with_a_handshake_is_spoken() {
    let server = Server::start(default_engine());
    for version in LEGACY {
        let opened = server.post(&[JSON, ACCEPT_BOTH], &initialize(version));
        assert_eq!(opened.json()["result"]["protocolVersion"], version);
        let session = opened.header("mcp-session-id").unwrap();
        let headers = [JSON, ACCEPT_BOTH, ("Mcp-Session-Id", session), ("MCP-Protocol-Version", version)];
        let dice = json!({"hope": 8, "fear": 5, "modifier": 2, "difficulty": 15});
        let called = server.post(&headers, &tool_call("duality_outcome", &dice)).json();
        assert_eq!(called["result"]["structuredContent"]["outcome"], "SUCCESS_WITH_HOPE", "{version}");
        assert_eq!(called["result"].get("resultType"), None, "{version} knows no result type");
    }
}

#[test]
fn the_stateless_revision_needs_no_session() {
    let server = Server::start(default_engine());
    let discovered = server.post_modern(&request(1, "server/discover", &json!({})));
    assert_eq!((discovered.status, discovered.header("mcp-session-id")), (200, None));
    let result = &discovered.json()["result"];
    assert_eq!(result["supportedVersions"].as_array().unwrap().len(), 5);
    assert_eq!(result["resultType"], "complete");
    assert!(result["ttlMs"].is_u64() && result["cacheScope"].is_string());
    assert!(result["instructions"].as_str().unwrap().contains("duality_action_roll"));

    let dice = json!({"hope": 8, "fear": 5, "modifier": 2, "difficulty": 15});
    let called = server.post_modern(&tool_call("duality_outcome", &dice));
    assert_eq!((called.status, called.header("content-type")), (200, Some("application/json")));
    assert_eq!(called.json()["result"]["structuredContent"]["total"], 15);
    assert_eq!(called.json()["result"]["resultType"], "complete");
}

#[test]
fn lists_and_reads_say_how_long_they_keep() {
    let server = Server::start(default_engine());
    for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
        let result = &server.post_modern(&request(1, method, &json!({}))).json()["result"];
        assert_eq!((&result["cacheScope"], &result["resultType"]), (&json!("private"), &json!("complete")), "{method}");
        assert!(result["ttlMs"].is_u64(), "{method}");
    }
    let read = server.post_modern(&request(1, "resources/read", &json!({"uri": "dice://rules/duality"})));
    assert_eq!(read.json()["result"]["cacheScope"], "private");
}

#[test]
fn only_the_stateless_revision_has_fields_for_caches() {
    let server = Server::start(default_engine());
    for version in LEGACY {
        let session = server.open_session(version);
        let reads = [
            request(2, "tools/list", &json!({})),
            request(2, "resources/list", &json!({})),
            request(2, "resources/templates/list", &json!({})),
            request(2, "prompts/list", &json!({})),
            request(2, "resources/read", &json!({"uri": "dice://rules/duality"})),
            request(2, "prompts/get", &json!({"name": "explain_odds", "arguments": {"difficulty": "15"}})),
            tool_call("duality_rules_version", &json!({})),
        ];
        for message in reads {
            let answer = server.call(&session, &message);
            let result = answer["result"].as_object().unwrap_or_else(|| panic!("{version}: {answer}"));
            for field in ["ttlMs", "cacheScope", "resultType"] {
                assert!(!result.contains_key(field), "{version}: {} answers with {field}", message["method"]);
            }
        }
    }
}

#[test]
fn headers_must_agree_with_the_body() {
    let server = Server::start(default_engine());
    let message = mcp_messages::with_modern_meta(tool_call("duality_rules_version", &json!({})));
    let post = |headers: &[(&str, &str)]| {
        let reply = server.post(headers, &message);
        (reply.status, reply.json()["error"]["code"].as_i64())
    };
    let version = ("MCP-Protocol-Version", MODERN);
    let (method, name) = (("Mcp-Method", "tools/call"), ("Mcp-Name", "duality_rules_version"));
    assert_eq!(post(&[JSON, ACCEPT_BOTH, version, method, name]), (200, None));
    assert_eq!(post(&[JSON, ACCEPT_BOTH, version, name]), (400, Some(-32020)), "no Mcp-Method");
    assert_eq!(post(&[JSON, ACCEPT_BOTH, version, method]), (400, Some(-32020)), "no Mcp-Name");
    assert_eq!(post(&[JSON, ACCEPT_BOTH, version, ("Mcp-Method", "tools/list"), name]), (400, Some(-32020)));
    assert_eq!(post(&[JSON, ACCEPT_BOTH, version, method, ("Mcp-Name", "roll_dice")]), (400, Some(-32020)));
    assert_eq!(post(&[JSON, ACCEPT_BOTH, ("MCP-Protocol-Version", "2025-11-25"), method, name]), (400, Some(-32020)));
}

#[test]
fn what_the_stateless_revision_does_not_have_is_not_found() {
    let server = Server::start(default_engine());
    for method in ["ping", "logging/setLevel", "resources/subscribe", "no/such/method"] {
        let reply = server.post_modern(&request(1, method, &json!({"uri": "x", "level": "info"})));
        assert_eq!((reply.status, reply.json()["error"]["code"].as_i64()), (404, Some(-32601)), "{method}");
        let bare = server.post_modern(&request(1, method, &json!({})));
        assert_eq!((bare.status, bare.json()["error"]["code"].as_i64()), (404, Some(-32601)), "{method}");
    }
    let misfit = server.post_modern(&request(1, "tools/call", &json!({"name": "roll_dice", "arguments": 7})));
    assert_eq!(misfit.json()["error"]["code"], -32602);
    for method in ["GET", "DELETE"] {
        let reply = server.client().send(method, "/mcp", &[("MCP-Protocol-Version", MODERN)], b"");
        assert_eq!(reply.status, 405, "{method}");
    }
}

#[test]
fn a_version_of_the_future_is_told_what_is_spoken() {
    let server = Server::start(default_engine());
    let mut message = mcp_messages::with_modern_meta(request(1, "tools/list", &json!({})));
    message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let headers = [JSON, ACCEPT_BOTH, ("MCP-Protocol-Version", "2099-01-01"), ("Mcp-Method", "tools/list")];
    let reply = server.post(&headers, &message);
    assert_eq!((reply.status, reply.json()["error"]["code"].as_i64()), (400, Some(-32022)));
    assert!(reply.json()["error"]["data"]["supported"].as_array().unwrap().contains(&json!(MODERN)));
}

#[test]
fn metadata_is_required_where_it_is_the_handshake() {
    let server = Server::start(default_engine());
    let headers = [JSON, ACCEPT_BOTH, ("MCP-Protocol-Version", MODERN), ("Mcp-Method", "tools/list")];
    let reply = server.post(&headers, &request(1, "tools/list", &json!({})));
    assert_eq!((reply.status, reply.json()["error"]["code"].as_i64()), (400, Some(-32602)));
}
