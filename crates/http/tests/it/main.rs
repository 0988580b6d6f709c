//! Tests of the HTTP surface over real sockets.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod events;
mod universes;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::{Value, json};
use skald_app::{
    App, Caller, Class, Clock, ERROR_TABLE, Engine, Entropy, LocalEngine, RequestControl, ToolsetFilter, Toolsets,
    limits,
};
use skald_http::{Access, Allowlist, Calls, Exposition, Readiness};
use skald_testkit::{Client, Reply};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

struct ConstantEntropy;

impl Entropy for ConstantEntropy {
    fn bytes(&self) -> [u8; 32] {
        [7; 32]
    }
}

/// A clock with a fixed time.
struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::from_second(1_768_478_400).expect("a moment")
    }
}

struct Server {
    address: SocketAddr,
    readiness: Readiness,
    engine: Arc<dyn Engine>,
    local: Arc<LocalEngine>,
    runtime: Runtime,
}

/// A process has one recorder of metrics, so these tests share it.
fn exposition() -> Exposition {
    static SHARED: OnceLock<Exposition> = OnceLock::new();
    SHARED.get_or_init(|| Exposition::install().expect("the only recorder")).clone()
}

impl Server {
    fn start(visible: ToolsetFilter) -> Self {
        Self::with_heartbeat(visible, Duration::from_secs(limits::HEARTBEAT_SECONDS))
    }

    fn with_heartbeat(visible: ToolsetFilter, heartbeat: Duration) -> Self {
        let exposition = exposition();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let address = listener.local_addr().unwrap();
        let mut app = App::new(Arc::new(ConstantEntropy), Arc::new(FixedClock), Arc::new(skald_store::Memory::new()));
        app.heartbeat = heartbeat;
        let local = LocalEngine::new(app);
        let (following, from) = (Arc::clone(&local), runtime.block_on(local.journal_end()));
        runtime.spawn(async move { following.follow(from).await });
        let engine: Arc<dyn Engine> = Arc::clone(&local) as _;
        let readiness = Readiness::default();
        let routes = skald_http::routes(&engine, visible, &readiness, exposition, &Calls::default());
        let closing = CancellationToken::new();
        let access = Access { engine: Arc::clone(&engine), is_token_required: false, protected_resource: None };
        runtime.spawn(skald_http::serve(listener, routes, Allowlist::default(), access, readiness.clone(), closing));
        Self { address, readiness, engine, local, runtime }
    }

    fn get(&self, path: &str) -> Reply {
        Client::connect(self.address).send("GET", path, &[], b"")
    }

    fn post(&self, path: &str, body: &str) -> Reply {
        Client::connect(self.address).send("POST", path, &[], body.as_bytes())
    }

    fn call_or_envelope(&self, operation: &str, input: Value) -> Value {
        let (caller, control) = (Caller::owner(), RequestControl::default());
        match self.runtime.block_on(self.engine.call(&caller, operation, input, &control)) {
            Ok(answer) => answer,
            Err(fault) => fault.envelope(),
        }
    }
}

#[test]
fn odds_are_drawn() {
    let server = Server::start(ToolsetFilter::EVERYTHING);
    for query in [
        "expression=4d6kh3",
        "expression=2d20kh1%2B5+%3E%3D+15&mode=at_least",
        "expression=4d6kh3&against=3d6&mode=at_most&theme=dark",
        "expression=2d6%2B3+vs+1d20",
        "expression=duality(%2B2,+dc+15)",
    ] {
        let reply = server.get(&format!("/api/v1/odds.svg?{query}"));
        assert_eq!(reply.status, 200, "{query}: {}", reply.text());
        assert_eq!(reply.header("content-type"), Some("image/svg+xml"));
        assert!(reply.header("content-security-policy").is_some_and(|policy| policy.contains("default-src 'none'")));
        assert!(reply.text().starts_with("<svg") && reply.text().trim_end().ends_with("</svg>"), "{}", reply.text());
    }
    assert!(server.get("/api/v1/odds.svg?expression=duality()").text().contains("Hope"), "a grid");
    assert!(!server.get("/api/v1/odds.svg?expression=duality()&mode=exactly").text().contains("Hope"), "a chart");
    for (query, path) in [
        ("expression=4d6zz", "/expression"),
        ("expression=1d6&against=1000d1000kh500", "/against"),
        ("expression=1d6&mode=mostly", "/mode"),
        ("", "/expression"),
    ] {
        let reply = server.get(&format!("/api/v1/odds.svg?{query}"));
        assert_eq!(reply.header("content-type"), Some("application/json"), "{query}");
        assert_eq!(reply.json()["error"]["path"], path, "{query}: {}", reply.text());
    }
}

#[test]
fn an_operation_answers_the_same_as_over_the_engine() {
    let server = Server::start(ToolsetFilter::EVERYTHING);
    for (operation, input, status) in [
        ("duality_rules_version", json!({}), 200),
        ("duality_rules", json!({}), 200),
        ("duality_action_roll", json!({"modifier": 2, "difficulty": 15}), 200),
        ("duality_outcome", json!({"hope": 8, "fear": 5, "modifier": 2, "difficulty": 15}), 200),
        ("duality_explain", json!({"hope": 8, "fear": 5}), 200),
        ("duality_probability", json!({"modifier": 2, "difficulty": 15}), 200),
        ("roll_dice", json!({"dice": [{"sides": 20, "count": 2}]}), 200),
        ("duality_outcome", json!({"hope": 13, "fear": 5}), 400),
        ("duality_outcome", json!({"hop": 8}), 400),
        ("duality_outcome", json!([]), 400),
    ] {
        let reply = server.post(&format!("/api/v1/{operation}"), &input.to_string());
        assert_eq!((reply.status, reply.header("content-type")), (status, Some("application/json")), "{operation}");
        assert_eq!(reply.json(), server.call_or_envelope(operation, input), "{operation}");
    }
    assert_eq!(server.post("/api/v1/duality_rules_version", "").status, 200, "no body is no input");
}

#[test]
fn reads_have_routes_of_their_own() {
    let server = Server::start(ToolsetFilter::EVERYTHING);
    let probability = server.get("/api/v1/duality/probability?modifier=2&difficulty=15");
    assert_eq!(probability.json()["success_count"], 84);
    assert_eq!(server.get("/api/v1/duality/outcome?hope=8&fear=5").json()["outcome"], "ROLL_WITH_HOPE");
    assert_eq!(server.get("/api/v1/duality/explanation?hope=8&fear=5&request_id=7").status, 200);
    assert_eq!(server.get("/api/v1/duality/rules_version").json()["module"], "Duality");
    for (query, path) in [
        ("difficulty=hard", "/difficulty"),
        ("difficulty=1&difficulty=2", "/difficulty"),
        ("dificulty=15", "/dificulty"),
        ("", "/difficulty"),
    ] {
        let reply = server.get(&format!("/api/v1/duality/probability?{query}"));
        assert_eq!((reply.status, &reply.json()["error"]["path"]), (400, &json!(path)), "{query}");
    }
}

#[test]
fn what_is_not_there_says_where_to_look() {
    let server = Server::start(ToolsetFilter::EVERYTHING);
    let nowhere = server.get("/api/v1/caverns");
    assert_eq!((nowhere.status, &nowhere.json()["error"]["code"]), (404, &json!("NOT_FOUND")));
    assert!(nowhere.json()["error"]["hint"].as_str().unwrap().contains("openapi.json"));
    let wrong_method = server.get("/api/v1/roll_dice");
    assert_eq!((wrong_method.status, wrong_method.header("allow")), (405, Some("POST")));
    assert_eq!(wrong_method.json()["error"]["code"], "INVALID_PARAMS");
}

#[test]
fn bad_bodies_are_refused() {
    let server = Server::start(ToolsetFilter::EVERYTHING);
    let refused = |body: &str| {
        let reply = server.post("/api/v1/roll_dice", body);
        (reply.status, reply.json()["error"]["code"].clone())
    };
    assert_eq!(refused("{"), (400, json!("INVALID_PARAMS")));
    assert_eq!(refused(&"[".repeat(100)), (400, json!("INVALID_PARAMS")));
    let right = r#"{"dice": [{"sides": 6, "count": 1}]}"#;
    let padded = |bytes: usize| format!("{right}{}", " ".repeat(bytes - right.len()));
    assert_eq!(refused(&padded(skald_app::limits::BODY_BYTES_MAX)), (200, Value::Null));
    assert_eq!(refused(&padded(skald_app::limits::BODY_BYTES_MAX + 1)), (413, json!("TOO_LARGE")));
}

#[test]
fn a_narrowed_server_has_fewer_routes() {
    let read_only = Server::start(ToolsetFilter { toolsets: Toolsets::ALL, read_only: true });
    assert_eq!(read_only.post("/api/v1/roll_dice", "{}").status, 404);
    assert_eq!(read_only.post("/api/v1/duality_rules_version", "{}").status, 200);
    assert_eq!(read_only.get("/api/v1/openapi.json").json()["paths"].get("/api/v1/roll_dice"), None);
    let elsewhere = Server::start(ToolsetFilter { toolsets: "lore".parse().unwrap(), read_only: false });
    assert_eq!(elsewhere.post("/api/v1/duality_rules_version", "{}").status, 404);
}

#[test]
fn health_and_readiness_differ_when_stopping() {
    let server = Server::start(ToolsetFilter::EVERYTHING);
    for path in ["/health", "/ready", "/mcp/health"] {
        assert_eq!(server.get(path).status, 200, "{path}");
    }
    server.readiness.stop();
    assert_eq!(server.get("/health").status, 200, "it still lives");
    for path in ["/ready", "/mcp/health"] {
        let reply = server.get(path);
        assert_eq!((reply.status, &reply.json()["status"]), (503, &json!("stopping")), "{path}");
    }
    let refused = server.post("/api/v1/duality_rules_version", "{}");
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (503, &json!("UNAVAILABLE")));
    assert_eq!(refused.header("retry-after"), Some("1"));
}

#[test]
fn metrics_count_requests_and_operations() {
    let server = Server::start(ToolsetFilter::EVERYTHING);
    server.post("/api/v1/duality_rules_version", "{}");
    server.post("/api/v1/duality_outcome", "{}");
    let metrics = server.get("/metrics").text();
    for line in [
        "skald_operations_total{operation=\"duality_rules_version\",outcome=\"ok\"}",
        "skald_operations_total{operation=\"duality_outcome\",outcome=\"INVALID_PARAMS\"}",
        "skald_http_requests_total{surface=\"rest\",status=\"2xx\"}",
        "skald_http_request_seconds_bucket{surface=\"rest\",le=\"0.001\"}",
    ] {
        assert!(metrics.contains(line), "{line} is not in\n{metrics}");
    }
}

#[test]
fn strangers_are_turned_away_from_every_route() {
    let server = Server::start(ToolsetFilter::EVERYTHING);
    for path in ["/health", "/metrics", "/api/v1/openapi.json", "/nowhere"] {
        for stranger in [("Origin", "https://evil.example"), ("Host", "evil.example")] {
            let reply = Client::connect(server.address).send("GET", path, &[stranger], b"");
            assert_eq!(
                (reply.status, &reply.json()["error"]["code"]),
                (403, &json!("FORBIDDEN")),
                "{path} {stranger:?}"
            );
        }
    }
}

#[test]
fn a_page_that_may_call_may_also_read() {
    let server = Server::start(ToolsetFilter::EVERYTHING);
    let origin = "http://localhost:3000";
    let ask = |headers: &[(&str, &str)]| Client::connect(server.address).send("OPTIONS", "/mcp", headers, b"");
    let preflight = ask(&[("Origin", origin), ("Access-Control-Request-Method", "POST")]);
    assert_eq!((preflight.status, preflight.header("access-control-allow-origin")), (204, Some(origin)));
    assert!(preflight.header("access-control-allow-headers").unwrap().contains("mcp-session-id"));
    assert_eq!(preflight.header("access-control-allow-methods"), Some("GET,POST,PUT,PATCH,DELETE"));
    assert_eq!(preflight.header("access-control-max-age"), Some("600"));
    assert_eq!(preflight.header("access-control-allow-credentials"), None);
    assert_eq!(ask(&[("Origin", origin)]).status, 404, "without a method that is asked for, it is no preflight");
    assert_eq!(ask(&[("Origin", "https://evil.example"), ("Access-Control-Request-Method", "POST")]).status, 403);
    let read = Client::connect(server.address).send("GET", "/health", &[("Origin", origin)], b"");
    assert_eq!(read.header("access-control-allow-origin"), Some(origin));
    assert_eq!(read.header("vary"), Some("origin"));
    assert_eq!(
        read.header("access-control-expose-headers"),
        Some(
            "mcp-session-id,etag,link,location,retry-after,www-authenticate,x-ratelimit-limit,x-ratelimit-remaining,x-ratelimit-reset,x-skald-synced-at,x-skald-stale"
        )
    );
    assert_eq!(server.get("/health").header("access-control-allow-origin"), None);
}

#[test]
fn every_answer_tells_browsers_to_run_and_embed_nothing() {
    let server = Server::start(ToolsetFilter::EVERYTHING);
    let svg = "/api/v1/odds.svg?expression=2d6";
    let strange_host = [("Host", "evil.example")];
    for (path, headers) in
        [("/health", &[][..]), ("/nowhere", &[]), ("/api/v1/campaigns", &[]), ("/health", &strange_host)]
    {
        let answer = Client::connect(server.address).send("GET", path, headers, b"");
        let expected = [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("x-frame-options", "DENY"),
            ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cache-control", "private, no-cache"),
        ];
        for (name, value) in expected {
            assert_eq!(answer.header(name), Some(value), "{path} {headers:?} {name}");
        }
    }
    let picture = server.get(svg);
    assert_eq!(picture.header("content-security-policy"), Some("default-src 'none'; style-src 'unsafe-inline'"));
}

#[test]
fn the_description_is_whole() {
    let server = Server::start(ToolsetFilter::EVERYTHING);
    let document = server.get("/api/v1/openapi.json").json();
    assert_eq!(document["openapi"], "3.1.0");
    let mut references = Vec::new();
    find_references(&document, &mut references);
    assert!(!references.is_empty());
    for reference in references {
        let pointer = reference.strip_prefix('#').expect("a reference within the document");
        assert!(document.pointer(pointer).is_some(), "{reference} leads nowhere");
    }
    for path in document["paths"].as_object().unwrap().keys().filter(|path| !path.contains('{')) {
        assert_ne!(server.get(path).status, 404, "{path} is described and not there");
    }
}

fn find_references(value: &Value, references: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            references.extend(fields.get("$ref").and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|field| find_references(field, references));
        }
        Value::Array(items) => items.iter().for_each(|item| find_references(item, references)),
        _ => {}
    }
}

#[test]
fn every_class_has_its_status() {
    let expected = |class: Class| match class {
        Class::Invalid => 400,
        Class::Unauthenticated => 401,
        Class::Denied => 403,
        Class::NotFound => 404,
        Class::Conflict => 409,
        Class::TooLarge => 413,
        Class::Refused => 422,
        Class::Limited => 429,
        Class::Internal => 500,
        Class::Unavailable => 503,
    };
    for row in ERROR_TABLE {
        assert_eq!(skald_http::status(row.class).as_u16(), expected(row.class), "{}", row.name);
    }
}
