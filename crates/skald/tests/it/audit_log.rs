//! Tests of the audit log and of the server's log: what is noted of a call, and that no content is.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use skald_testkit::Client;

use crate::documented_campaign::create_campaign;
use crate::process::{CONTENT_MARKERS, RunningProgram};
use crate::program_under_test::{OVER_HTTP, StoreKind, Surface, World};

/// Text that must never be in a log.
const MARKER: &str = CONTENT_MARKERS[1];

fn export(world: &World, arguments: &[&str]) -> Vec<Value> {
    let output = world.run(&[&["audit", "export"], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn calls_are_noted_with_user_campaign_and_outcome(kind: StoreKind) {
    let world = World::new(kind);
    let server = world.serve(&[]);
    let campaign_id = create_campaign(&mut server.client(Surface::Rest));
    let (token, id) = world.create_token(&["Ana", "--role", "player", "--for", &campaign_id]);
    for surface in OVER_HTTP {
        let mut client = server.client_with(surface, Some(&token), "test");
        client.ok("campaign_read", &json!({"campaign_id": campaign_id}));
        client.call_refused("campaign_update", &json!({"campaign_id": campaign_id, "name": MARKER}));
        client.call_refused("campaign_read", &json!({"campaign_id": MARKER}));
        if surface != Surface::Rest {
            let named = json!({"campaign_id": campaign_id});
            client.request("prompts/get", &json!({"name": "run_scene", "arguments": named}));
            let entity = json!({"type": "ref/resource", "uri": "lore://{campaign_id}/entity/{entity_id}"});
            let argument = json!({"name": "entity_id", "value": MARKER});
            let completion = json!({"ref": entity, "argument": argument, "context": {"arguments": named}});
            client.request("completion/complete", &completion);
        }
    }
    server.stop();
    let rows = export(&world, &[]);
    let fields = |row: &Value| {
        let text = |name: &str| row[name].as_str().unwrap_or("-").to_owned();
        [text("surface"), text("operation"), text("campaign_id"), text("outcome")]
    };
    let expected = ["mcp", "mcp", "rest"].map(|surface| {
        let mut expected = vec![
            [surface, "campaign_read", &campaign_id, "ok"],
            [surface, "campaign_update", &campaign_id, "FORBIDDEN"],
            [surface, "campaign_read", "-", "NOT_FOUND"],
        ];
        if surface == "mcp" {
            expected.push([surface, "run_scene", &campaign_id, "ok"]);
            expected.push([surface, "completion", &campaign_id, "ok"]);
        }
        expected.into_iter().map(|row| row.map(str::to_owned)).collect::<Vec<_>>()
    });
    assert_eq!(rows.iter().map(fields).collect::<Vec<_>>(), expected.concat(), "the owner's calls are not noted");
    assert!(rows.iter().all(|row| row["user"] == json!(id)));
    let ids: BTreeSet<&str> = rows.iter().filter_map(|row| row["request_id"].as_str()).collect();
    assert_eq!(ids.len(), rows.len(), "each request has an id of its own");
    assert!(rows.iter().all(|row| row["at"].is_string() && row["duration_us"].is_u64()));
    assert!(!format!("{rows:?}").contains(MARKER));
    assert_eq!(export(&world, &["--outcome", "FORBIDDEN"]).len(), 3);
    assert_eq!(export(&world, &["--operation", "campaign_read", "--in", &campaign_id]).len(), 3);
    assert_eq!(export(&world, &["--operation", "completion", "--in", &campaign_id]).len(), 2);
    assert_eq!(export(&world, &["--user", "owner"]).len(), 0);
    assert_eq!(export(&world, &["--since", "1h", "--until", "2020-01-01T00:00:00Z"]).len(), 0);
    let listed = world.run(&["audit", "list", "--limit", "2"]);
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(listed.lines().count() == 2 && listed.contains("NOT_FOUND"), "{listed}");
}

#[test]
fn calls_are_noted_on_sqlite() {
    calls_are_noted_with_user_campaign_and_outcome(StoreKind::Sqlite);
}

mod postgres {
    use super::*;

    #[test]
    fn calls_are_noted_on_postgres() {
        calls_are_noted_with_user_campaign_and_outcome(StoreKind::Postgres);
    }
}

#[test]
fn the_owner_is_noted_if_asked_for_and_nobody_if_not() {
    for (audit, expected) in [("all", 2), ("tokens", 1), ("off", 0)] {
        let world = World::sqlite();
        let server = world.serve(&["--audit", audit]);
        let (token, _) = world.create_token(&["Ana"]);
        server.client(Surface::Rest).ok("duality_rules_version", &json!({}));
        server.client_with(Surface::Rest, Some(&token), "test").ok("duality_rules_version", &json!({}));
        server.stop();
        assert_eq!(export(&world, &[]).len(), expected, "{audit}");
    }
}

/// Whoever tries tokens leaves a row for each surface, without the token; a revoked token is named by its id.
#[test]
fn refused_tokens_are_noted_by_surface() {
    let world = World::sqlite();
    let server = world.serve(&[]);
    let (revoked, id) = world.create_token(&["Ana"]);
    assert!(world.run(&["token", "revoke", &id]).status.success());
    let unknown = format!("skald_{MARKER}_{MARKER}");
    let mut client = Client::connect(server.address);
    for _ in 0..5 {
        for token in [&unknown, &revoked] {
            let bearer = format!("Bearer {token}");
            for path in ["/api/v1/roll", "/mcp", "/api/kanka/1.0/campaigns", "/c/x"] {
                assert_eq!(client.send("POST", path, &[("Authorization", &bearer)], b"{}").status, 401, "{path}");
            }
        }
        let forwarded = [("X-Forwarded-For", "203.0.113.5")];
        assert_eq!(client.send("POST", "/api/v1/roll", &forwarded, b"{}").status, 401);
        let no_bearer = [("Authorization", MARKER)];
        assert_eq!(client.send("POST", "/mcp", &no_bearer, b"{}").status, 401);
    }
    let mut bridge = server.bridge_command(&[]);
    bridge.env("SKALD_TOKEN", &unknown);
    assert!(!RunningProgram::start(bridge).wait_for_exit().0.success());
    let stdio = world.command(&["mcp"]).env("SKALD_TOKEN", &unknown).output().expect("it ends");
    assert!(!stdio.status.success());
    let log = server.stop();
    let rows = export(&world, &[]);
    let text = |row: &Value, name: &str| row[name].as_str().unwrap_or("-").to_owned();
    // The next minute has rows of its own.
    let noted: BTreeSet<[String; 4]> =
        rows.iter().map(|row| ["user", "operation", "surface", "outcome"].map(|name| text(row, name))).collect();
    let row =
        |user: &str, operation: &str, surface: &str| [user, operation, surface, "UNAUTHORIZED"].map(str::to_owned);
    let surfaces = ["kanka", "mcp", "page", "rest"];
    let mut expected = BTreeSet::from(surfaces.map(|surface| row(&id, "authenticate", surface)));
    expected.extend(surfaces.map(|surface| row("nobody", "authenticate", surface)));
    expected.insert(row("nobody", "authenticate", "grpc"));
    expected.extend(["mcp", "rest"].map(|surface| row("nobody", "missing_token", surface)));
    assert_eq!(noted, expected);
    assert!(rows.len() <= 2 * (expected.len() + 1), "{} rows of so few sources", rows.len());
    assert!(!format!("{rows:?}{log}").contains(MARKER));
}

#[test]
fn an_export_replaces_no_file() {
    let world = World::sqlite();
    world.create_token(&["Ana"]);
    let file = world.folder().join("audit.jsonl");
    let path = file.to_str().expect("a path");
    assert!(world.run(&["audit", "export", "--out", path]).status.success());
    assert!(!world.run(&["audit", "export", "--out", path]).status.success());
}

/// Calls with a marker wherever a client can put text, at the most talkative level of the log.
#[test]
fn no_log_has_content_of_a_call() {
    let world = World::sqlite();
    let server = world.serve(&["--log", "trace", "--audit", "all"]);
    let (token, id) = world.create_token(&["Ana", "--role", "gm"]);
    let text = |field: &str| format!("{MARKER} {field}");
    for surface in OVER_HTTP {
        let mut client = server.client_with(surface, Some(&token), &text("client"));
        let created = client.ok("campaign_create", &json!({"name": text("name"), "gm_mode": "HUMAN"}));
        let campaign_id = created["id"].as_str().or(created["campaign"]["id"].as_str()).expect("an id").to_owned();
        let calls = [
            ("actor_create", json!({"name": text("actor"), "kind": "NPC", "notes": text("notes")})),
            ("participant_create", json!({"display_name": text("participant"), "role": "PLAYER"})),
            ("session_start", json!({"name": text("session")})),
            ("session_note", json!({"text": text("note"), "tags": [MARKER]})),
            (
                "create_entities",
                json!({"entities": [{"entity_type": "note", "name": text("lore"), "entry": text("entry")}]}),
            ),
            ("find_entities", json!({"query": MARKER})),
            ("roll", json!({"expression": MARKER})),
            ("roll", json!({"expression": "1d6", MARKER: MARKER})),
            ("campaign_read", json!({"campaign_id": MARKER})),
            ("universe", json!({"method": "create", "name": text("universe")})),
        ];
        for (tool, mut input) in calls {
            if !["roll", "campaign_read", "universe"].contains(&tool) {
                input["campaign_id"] = json!(campaign_id);
            }
            // Some of these are refused, which is logged as well.
            let _ = client.call(tool, &input);
        }
        if surface != Surface::Rest {
            client.request("resources/read", &json!({"uri": format!("campaign://{MARKER}")}));
            client.request("prompts/get", &json!({"name": "explain_odds", "arguments": {"expression": MARKER}}));
            client.request("tools/call", &json!({"name": MARKER, "arguments": {}}));
            client.request(MARKER, &json!({"text": MARKER}));
        }
    }
    let mut raw = Client::connect(server.address);
    let bearer = format!("Bearer {token}");
    let sent = [("Authorization", bearer.as_str()), ("Idempotency-Key", MARKER), ("X-Request-Id", MARKER)];
    raw.send("GET", &format!("/api/v1/{MARKER}?query={MARKER}"), &sent, b"");
    raw.send("POST", "/api/v1/roll", &sent, MARKER.as_bytes());
    raw.send("POST", "/api/v1/roll", &[("Authorization", &format!("Bearer {MARKER}"))], b"{}");
    raw.send("POST", "/mcp", &[("Authorization", &bearer)], MARKER.as_bytes());
    let log = server.stop();
    for line in log.lines() {
        assert!(!line.contains(MARKER), "content in the log: {line}");
        assert!(!line.contains(&token[16..]), "a token in the log: {line}");
    }
    let called = log.lines().find(|line| line.contains("skald::calls") && line.contains("session_note"));
    let called = called.expect("a line about a call");
    for field in ["operation=", "campaign=", "user=", "surface=", "outcome=", "duration_us=", "request_id="] {
        assert!(called.contains(field), "{field} {called}");
    }
    assert!(called.contains(&id), "{called}");
    let request_id = called.split("request_id=").nth(1).expect("an id").split_whitespace().next().expect("an id");
    let request_id = request_id.trim_matches('"');
    assert!(export(&world, &[]).iter().any(|row| row["request_id"] == json!(request_id)), "{request_id}");
    assert!(!format!("{:?}", export(&world, &[])).contains(MARKER));
}
