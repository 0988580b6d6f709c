//! Tests of rate limits: each class on each surface, tokens with limits of their own, and two nodes.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skald_app::limits;
use skald_testkit::{Client, Reply};

use crate::program_under_test::{OVER_HTTP, Server, StoreKind, Surface, TestClient, World, code_and_status};

/// So few that a test meets them, and so many that connecting does not.
const LIMITS: [&str; 6] = ["--limit-calls", "6", "--limit-reads", "4", "--limit-lists", "3"];
const VERSION: &str = "duality_rules_version";

/// How many calls in a row succeed, and the fault of the next.
fn count_until_refused(mut call: impl FnMut() -> Result<Value, Value>) -> (usize, Value) {
    for taken in 0..200 {
        if let Err(fault) = call() {
            assert_eq!(code_and_status(&fault), ("RATE_LIMITED", "ResourceExhausted"), "{fault}");
            assert!(fault["retry_after_ms"].as_u64().is_some_and(|wait| (1..=60_000).contains(&wait)), "{fault}");
            assert_eq!(fault["retryable"], true);
            return (taken, fault);
        }
    }
    panic!("200 calls were not refused");
}

fn protocol_list(client: &mut TestClient, method: &str) -> Result<Value, Value> {
    let answer = client.request(method, &json!({}));
    match &answer["error"] {
        Value::Null => Ok(answer["result"].clone()),
        error => Err(error["data"]["error"].clone()),
    }
}

#[test]
fn every_class_is_limited_on_every_surface_and_the_owner_never() {
    let world = World::sqlite();
    let server = world.serve(&LIMITS);
    for surface in OVER_HTTP {
        let (token, _) = world.create_token(&["Ana"]);
        let mut client = server.client_with(surface, Some(&token), "test");
        assert_eq!(count_until_refused(|| client.call(VERSION, &json!({}))).0, 6, "{surface:?}");
        let reads = count_until_refused(|| match surface {
            Surface::Rest => client.read("campaigns://list"),
            _ => read_resource(&mut client),
        });
        assert_eq!(reads.0, 4, "{surface:?}");
        let lists = count_until_refused(|| match surface {
            Surface::Rest => client.call("state_gate.list_runs", &json!({})),
            _ => protocol_list(&mut client, "tools/list"),
        });
        assert_eq!(lists.0, 9, "three times as many lists may come at once: {surface:?}");
        // A list operation and a list of the protocol share a bucket.
        assert_eq!(code_and_status(&client.call_refused("state_gate.list_runs", &json!({}))).0, "RATE_LIMITED");
        let mut owner = server.client(surface);
        (0..20).for_each(|_| drop(owner.ok(VERSION, &json!({}))));
    }
}

fn read_resource(client: &mut TestClient) -> Result<Value, Value> {
    let answer = client.request("resources/read", &json!({"uri": "dice://notation"}));
    match &answer["error"] {
        Value::Null => Ok(answer["result"].clone()),
        error => Err(error["data"]["error"].clone()),
    }
}

#[test]
fn http_says_when_to_come_back() {
    let world = World::sqlite();
    let server = world.serve(&LIMITS);
    let (token, _) = world.create_token(&["Ana"]);
    let bearer = format!("Bearer {token}");
    let mut client = Client::connect(server.address);
    let reply = (0..10)
        .map(|_| client.send("POST", "/api/v1/duality_rules_version", &[("Authorization", &bearer)], b"{}"))
        .find(|reply| reply.status != 200)
        .expect("a refusal");
    assert_eq!((reply.status, reply.header("retry-after")), (429, Some("10")), "{}", reply.text());
}

#[test]
fn a_token_may_have_limits_of_its_own() {
    let world = World::sqlite();
    let server = world.serve(&LIMITS);
    let (few, _) = world.create_token(&["Few", "--calls", "2"]);
    let (many, _) = world.create_token(&["Many", "--calls", "0"]);
    let mut few = server.client_with(Surface::Rest, Some(&few), "test");
    assert_eq!(count_until_refused(|| few.call(VERSION, &json!({}))).0, 2);
    let mut many = server.client_with(Surface::Rest, Some(&many), "test");
    (0..50).for_each(|_| drop(many.ok(VERSION, &json!({}))));
    let listed = world.run(&["token", "list"]);
    let listed = String::from_utf8_lossy(&listed.stdout);
    assert!(listed.contains(", 2 calls a minute") && listed.contains(", any number of calls"), "{listed}");
}

#[test]
fn without_options_the_limits_are_those_of_the_reference() {
    let world = World::sqlite();
    let mut command = world.command(&["serve", "--http-addr", "127.0.0.1:0"]);
    for class in ["CALLS", "READS", "LISTS"] {
        command.env_remove(format!("SKALD_LIMIT_{class}"));
    }
    let (running, address) = crate::process::RunningProgram::start_server(command);
    let (token, _) = world.create_token(&["Ana"]);
    let bearer = format!("Bearer {token}");
    let mut client = Client::connect(address);
    let mut count_allowed = |method: &str, path: &str| {
        let status = |_| client.send(method, path, &[("Authorization", bearer.as_str())], b"{}").status;
        (0..200).map(status).filter(|status| *status == 200).count()
    };
    // A second may pass meanwhile, in which another call is allowed.
    let few_more = |limit: u32, allowed: usize| (limit as usize..=limit as usize + 4).contains(&allowed);
    assert!(few_more(limits::CALLS_PER_MINUTE, count_allowed("POST", "/api/v1/duality_rules_version")));
    assert!(few_more(limits::READS_PER_MINUTE, count_allowed("GET", "/api/v1/campaigns")));
    assert!(few_more(limits::LIST_BURST, count_allowed("POST", "/api/v1/state_gate.list_runs")));
    assert_eq!(limits::LIST_BURST, 3 * limits::LISTS_PER_MINUTE);
    running.kill();
}

#[test]
fn a_token_that_expired_or_has_a_narrow_scope_is_refused_by_name() {
    let world = World::sqlite();
    let server = world.serve(&[]);
    let (reader, _) = world.create_token(&["Reader", "--role", "gm", "--scope", "read"]);
    for surface in OVER_HTTP {
        let mut client = server.client_with(surface, Some(&reader), "test");
        client.ok(VERSION, &json!({}));
        let rest = matches!(surface, Surface::Rest);
        let create = json!({"name": "Mine", "gm_mode": "HUMAN"});
        if rest {
            let fault = client.call_refused("campaign_create", &create);
            assert_eq!(code_and_status(&fault), ("INSUFFICIENT_SCOPE", "PermissionDenied"));
            assert_eq!(fault["scope"], "skald:gm");
        }
    }
    let refused = world.run(&["token", "create", "Late", "--expires", "2020-01-01T00:00:00Z"]);
    assert!(!refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("is past"));
}

/// How many requests in a row are answered with 200, and the answer to the next.
fn count_ok(server: &Server, path: &str, token: &str) -> (usize, Reply) {
    let bearer = format!("Bearer {token}");
    let mut client = Client::connect(server.address);
    for taken in 0..50 {
        let reply = client.send("GET", path, &[("Authorization", &bearer)], b"");
        if reply.status != 200 {
            return (taken, reply);
        }
    }
    panic!("50 requests to {path} were answered");
}

#[test]
fn the_page_and_the_kanka_api_have_limits_of_a_server_and_of_a_token() {
    let world = World::sqlite();
    let server = world.serve(&["--limit-page", "6", "--kanka-rate-limit", "4"]);
    let (usual, _) = world.create_token(&["Usual", "--role", "gm"]);
    let (own, _) = world.create_token(&["Own", "--role", "gm", "--page", "3", "--kanka", "2"]);
    let (free, _) = world.create_token(&["Free", "--role", "gm", "--page", "0", "--kanka", "0"]);
    let kanka = "/api/kanka/1.0/campaigns";
    for (token, pages, requests) in [(&usual, 6, 4), (&own, 3, 2)] {
        let (taken, refused) = count_ok(&server, "/", token);
        assert_eq!((taken, refused.status), (pages, 429), "{}", refused.text());
        assert_eq!(refused.header("retry-after"), Some((60 / pages).to_string().as_str()));
        assert!(refused.header("content-type").is_some_and(|kind| kind.starts_with("text/html")), "it is a page");
        assert!(refused.text().contains("requests of the page a minute"), "{}", refused.text());
        let (taken, refused) = count_ok(&server, kanka, token);
        assert_eq!((taken, refused.status), (requests, 429), "{}", refused.text());
        let seconds: u64 = refused.header("retry-after").expect("a time").parse().expect("seconds");
        assert!((1..=31).contains(&seconds), "{seconds}");
        assert_eq!(refused.header("x-ratelimit-limit"), Some(requests.to_string().as_str()));
    }
    let bearer = format!("Bearer {free}");
    let mut client = Client::connect(server.address);
    for path in ["/", kanka] {
        let status = |_| client.send("GET", path, &[("Authorization", &bearer)], b"").status;
        assert!((0..20).map(status).all(|status| status == 200), "{path}");
    }
}

/// What calls no operation is counted as well: documents, subscriptions and metrics.
#[test]
fn requests_beside_operations_are_counted_too() {
    let world = World::sqlite();
    let server = world.serve(&LIMITS);
    let new_token = || world.create_token(&["Ana", "--role", "gm"]).0;
    for path in ["/api/v1/openapi.json", "/metrics"] {
        let bearer = format!("Bearer {}", new_token());
        let mut client = Client::connect(server.address);
        let mut get = || client.send("GET", path, &[("Authorization", &bearer)], b"");
        assert_eq!((0..4).map(|_| get().status).collect::<Vec<_>>(), [200; 4], "{path}");
        let refused = get();
        assert_eq!((refused.status, refused.header("retry-after")), (429, Some("15")), "{path}");
        assert_eq!(code_and_status(&refused.json()["error"]).0, "RATE_LIMITED");
    }
    let token = new_token();
    let mut session = server.client_with(Surface::Session, Some(&token), "test");
    let subscribe = |client: &mut TestClient| {
        let answer = client.request("resources/subscribe", &json!({"uri": "campaigns://list"}));
        if answer["result"].is_object() { Ok(answer) } else { Err(answer["error"]["data"]["error"].clone()) }
    };
    assert_eq!(count_until_refused(|| subscribe(&mut session)).0, 4);
    for _ in 0..20 {
        let answer = session.request("resources/unsubscribe", &json!({"uri": "campaigns://list"}));
        assert_eq!(answer["result"], json!({}), "it counts against no limit");
    }
    let listen = json!({"notifications": {"resourceSubscriptions": ["campaigns://list"]}});
    let mut stateless = server.client_with(Surface::Stateless, Some(&token), "test");
    let answer = stateless.request("subscriptions/listen", &listen);
    assert_eq!(code_and_status(&answer["error"]["data"]["error"]).0, "RATE_LIMITED", "{answer}");
}

/// How many of some calls two nodes allow together.
fn count_allowed(nodes: &[Server; 2], token: &str) -> usize {
    let mut clients = nodes.each_ref().map(|node| node.client_with(Surface::Rest, Some(token), "test"));
    (0..400).filter(|number| clients[number % 2].call(VERSION, &json!({})).is_ok()).count()
}

/// Waits until a server knows of so many nodes.
fn wait_for_nodes(server: &Server, nodes: usize) {
    let deadline = Instant::now() + Duration::from_secs(20);
    let expected = format!("\nskald_nodes {nodes}\n");
    loop {
        let metrics = Client::connect(server.address).send("GET", "/metrics", &[], b"").text();
        if metrics.contains(&expected) {
            return;
        }
        assert!(Instant::now() < deadline, "it does not know of {nodes} nodes: {metrics}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn two_nodes_stay_within_half_more_than_the_limit(kind: StoreKind) {
    let world = World::new(kind);
    let nodes = [(); 2].map(|()| world.serve(&["--limit-calls", "40"]));
    // A process that only its owner calls takes no share.
    let owner = world.stdio_client(&[]);
    for node in &nodes {
        wait_for_nodes(node, 2);
    }
    let (token, _) = world.create_token(&["Ana"]);
    let began = Instant::now();
    let allowed = count_allowed(&nodes, &token);
    // What becomes allowed while the test calls does not count.
    let refilled = 1.5 * 40.0 * began.elapsed().as_secs_f64() / 60.0;
    #[expect(clippy::cast_precision_loss, reason = "some hundreds")]
    let allowed = allowed as f64 - refilled;
    assert!((50.0..=60.0).contains(&allowed), "{allowed} of 40");
    let [one, other] = nodes;
    other.kill();
    wait_for_nodes(&one, 1);
    let (token, _) = world.create_token(&["Bo"]);
    let mut client = one.client_with(Surface::Rest, Some(&token), "test");
    let allowed = (0..100).filter(|_| client.call(VERSION, &json!({})).is_ok()).count();
    assert!((40..=44).contains(&allowed), "the node that is left allows {allowed} of 40");
    owner.close_and_wait();
}

#[test]
fn two_processes_on_one_file_stay_within_half_more_than_the_limit() {
    two_nodes_stay_within_half_more_than_the_limit(StoreKind::Sqlite);
}

mod postgres {
    use super::*;

    #[test]
    fn two_nodes_on_one_database_stay_within_half_more_than_the_limit() {
        two_nodes_stay_within_half_more_than_the_limit(StoreKind::Postgres);
    }
}
