//! Streams while secrets change: server-sent events of every route, and notifications of MCP and of a bridge.
//!
//! Whoever may not know a secret receives the same notifications as if nothing had happened.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use skald_testkit::{Client, EventStream};

use crate::program_under_test::{Notifications, Surface, TestClient};
use crate::secrecy_matrix::{is_endless, mounted_routes};
use crate::secret_world::{SecretWorld, markers_in};

/// Silence after which a stream has sent what it had.
const SILENCE: Duration = Duration::from_millis(700);

/// Reads a stream until it is silent or has ended.
fn read_out(stream: &mut EventStream) -> String {
    stream.set_read_timeout(SILENCE);
    let mut text = String::new();
    while let Some(block) = stream.next_block() {
        text.push_str(&block);
        text.push('\n');
    }
    text
}

/// A public change, which every member is notified of.
fn change_campaign(world: &SecretWorld, owner: &mut TestClient, theme: &str) {
    let campaign_id = &world.values.of("campaign_id")[0];
    owner.ok("campaign_update", &json!({"campaign_id": campaign_id, "theme_prompt": theme}));
}

#[test]
fn a_stream_has_no_secret_of_others() {
    let world = SecretWorld::new();
    let routes: Vec<String> =
        mounted_routes().into_iter().filter(|route| is_endless(route) && route != "/mcp").collect();
    let roles = ["gm", "Ana", "player", "guest", "stranger"];
    let mut open = Vec::new();
    for role in roles {
        let bearer = format!("Bearer {}", world.token(role));
        for path in routes.iter().flat_map(|route| world.values.fill_path(route, &Value::Null)) {
            let client = Client::connect(world.server.address);
            open.push((role, path.clone(), client.open("GET", &path, &[("Authorization", &bearer)], b"")));
        }
    }
    let mut owner = world.server.client(Surface::Rest);
    world.change_secrets(&mut owner, 0);
    change_campaign(&world, &mut owner, "ebb");
    let mut with_later = BTreeSet::new();
    for (role, path, stream) in &mut open {
        let text = read_out(stream);
        let mut markers = markers_in(&text);
        if *role != "stranger" {
            markers.retain(|marker| !world.for_members.contains(marker));
        }
        if *role == "Ana" {
            markers.retain(|marker| !world.shared_with_ana.contains(marker));
        }
        if *role != "gm" {
            assert!(markers.is_empty(), "{role} {path}: {markers:?}: {text}");
        } else if markers.contains("later") {
            with_later.insert(path.clone());
        }
        let may_read = *role != "stranger";
        assert!(!may_read || stream.status < 500, "{role} {path}: {}", stream.status);
    }
    assert!(!with_later.is_empty(), "no stream of a game master has a secret, so this test looks at nothing");
    for ending in ["/live", "/changes", "/changes/sessions", "/changes/lore"] {
        let is_open = |(role, path, stream): &(&str, String, EventStream)| {
            *role == "player" && path.ends_with(ending) && stream.status == 200
        };
        assert!(open.iter().any(is_open), "no player reads {ending}, so nothing is said of it");
    }
}

/// The URIs of all resources and templates that there are, as this client may subscribe to them.
fn all_uris(world: &SecretWorld, client: &mut TestClient) -> Vec<String> {
    let mut of = |method: &str, list: &str, field: &str| -> Vec<String> {
        let answer = client.request(method, &json!({}));
        let rows = answer["result"][list].as_array().cloned().unwrap_or_default();
        rows.iter().filter_map(|row| row[field].as_str().map(str::to_owned)).collect()
    };
    let mut uris = of("resources/list", "resources", "uri");
    for template in of("resources/templates/list", "resourceTemplates", "uriTemplate") {
        uris.extend(world.values.fill_path(&template, &Value::Null));
    }
    uris
}

/// What a watcher is notified of until a public change has come twice: changes at one time are announced together.
fn notified(world: &SecretWorld, owner: &mut TestClient, watcher: &mut Notifications, theme: &str) -> BTreeSet<String> {
    let campaign = format!("campaign://{}", world.values.of("campaign_id")[0].as_str().expect("an id"));
    let mut subjects = BTreeSet::new();
    for round in 0..2 {
        change_campaign(world, owner, &format!("{theme}{round}"));
        subjects.extend(watcher.read_until(&campaign));
    }
    subjects
}

#[test]
fn nobody_is_notified_of_secrets_of_others() {
    let world = SecretWorld::new();
    let mut owner = world.server.client(Surface::Rest);
    for (at, role) in ["gm", "player", "guest"].into_iter().enumerate() {
        let token = world.token(role);
        for (beside, surface) in [Surface::Session, Surface::Stateless].into_iter().enumerate() {
            let mut client = world.server.client_with(surface, Some(&token), "test");
            let uris = all_uris(&world, &mut client);
            let may_watch = |client: &mut TestClient, uri: &str| {
                surface == Surface::Stateless
                    || client.request("resources/subscribe", &json!({"uri": uri})).get("result").is_some()
            };
            let uris: Vec<String> = uris.into_iter().filter(|uri| may_watch(&mut client, uri)).collect();
            let uris: Vec<&str> = uris.iter().map(String::as_str).collect();
            let mut watcher = client.watch(&uris);
            notified(&world, &mut owner, &mut watcher, "flood");
            let usual = notified(&world, &mut owner, &mut watcher, "ebb");
            world.change_secrets(&mut owner, 2 * at + beside);
            let with_secrets = notified(&world, &mut owner, &mut watcher, "neap");
            if role == "gm" {
                assert!(with_secrets.len() > usual.len(), "{surface:?}: {with_secrets:?}");
            } else {
                let more: Vec<_> = with_secrets.difference(&usual).collect();
                assert!(more.is_empty(), "{role} {surface:?} is notified of {more:?}");
            }
        }
    }
}
