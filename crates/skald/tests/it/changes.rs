//! Tests of change notifications: in both MCP eras and across processes, and only to those who may see the change.

use serde_json::json;
use skald_testkit::mcp_messages;

use crate::documented_campaign::create_campaign;
use crate::process::RunningProgram;
use crate::program_under_test::{Notifications, Server, Surface, TestClient, World, notification_subject};

const ERAS: [Surface; 2] = [Surface::Session, Surface::Stateless];

/// Skips the notifications that the newer MCP revision sends right after subscribing.
fn skip_initial_notifications(surface: Surface, news: &mut Notifications, uris: &[&str]) {
    if surface == Surface::Stateless {
        for uri in uris {
            assert_eq!(&news.next_subject(), uri, "announced once on entry");
        }
    }
}

/// The sorted notifications that a watcher of these resources gets for an action. A change of `last` marks the end. It is
/// made only after all expected notifications: simultaneous changes are announced together, in the order of their URIs.
fn collect_notifications(
    server: &Server,
    surface: Surface,
    uris: &[String],
    last: &str,
    expected: &[impl AsRef<str>],
    action: impl FnOnce(),
) -> Vec<String> {
    let last_uri = format!("campaign://{last}");
    let uris: Vec<&str> = uris.iter().map(String::as_str).chain([last_uri.as_str()]).collect();
    let mut news = server.client(surface).watch(&uris);
    skip_initial_notifications(surface, &mut news, &uris);
    action();
    let mut heard = Vec::new();
    while !expected.iter().all(|subject| heard.iter().any(|one| one == subject.as_ref())) {
        heard.push(news.next_subject());
    }
    update_campaign(&mut server.client(Surface::Rest), last);
    heard.append(&mut news.read_until(&last_uri));
    heard.pop();
    heard.sort();
    heard
}

fn update_campaign(seat: &mut TestClient, campaign_id: &str) {
    seat.ok("campaign_update", &json!({"campaign_id": campaign_id, "theme_prompt": "x"}));
}

/// Campaigns that exist before the server starts, so that it sends no notifications of their creation.
fn create_campaigns<const N: usize>(world: &World) -> [String; N] {
    let mut seat = world.stdio_client(&[]);
    std::array::from_fn(|_| create_campaign(&mut seat))
}

#[test]
fn changes_reach_those_who_watch_also_from_another_process() {
    let world = World::sqlite();
    let [campaign_id, other, last] = create_campaigns(&world);
    let server = world.serve(&[]);
    let of = |part: &str| format!("campaign://{campaign_id}{part}");
    let uris =
        [of(""), of("/actors"), of("/events"), of("/participants"), of("/sessions"), format!("campaign://{other}")];
    let about = |input: serde_json::Value| {
        let mut input = input;
        input["campaign_id"] = json!(campaign_id);
        input
    };
    let actions = [
        (
            "participant_create",
            about(json!({"display_name": "Alice", "role": "PLAYER"})),
            vec![of(""), of("/actors"), of("/events"), of("/participants")],
        ),
        ("actor_create", about(json!({"name": "Thorin", "kind": "PC"})), vec![of(""), of("/actors"), of("/events")]),
        ("session_start", about(json!({})), vec![of(""), of("/events"), of("/sessions")]),
        ("session_note", about(json!({"text": "They set out."})), vec![of("/events"), of("/sessions")]),
        ("session_end", about(json!({})), vec![of(""), of("/events"), of("/sessions")]),
    ];
    let beside = world.serve(&[]);
    for surface in ERAS {
        // Writers on the same server, on another server of the same file, and on stdio.
        for mut seat in [server.client(Surface::Rest), beside.client(Surface::Stateless), world.stdio_client(&[])] {
            for (tool, input, expected) in &actions {
                let told = collect_notifications(&server, surface, &uris, &last, expected, || {
                    drop(seat.ok(tool, input));
                });
                assert_eq!(&told, expected, "{tool} {surface:?}");
            }
        }
    }
}

/// What the timeline has beside written events.
#[test]
fn the_timeline_is_told_with_what_stands_in_it() {
    let world = World::sqlite();
    let [campaign_id, last] = create_campaigns(&world);
    let server = world.serve(&["--role", "human"]);
    let timeline = format!("imagineer://campaigns/{campaign_id}/timeline");
    let mut owner = server.client(Surface::Rest);
    let mut told = |tool: &str, input: serde_json::Value, expected: &[&str]| {
        let mut answer = json!(null);
        let uris = [timeline.clone()];
        let mut heard = collect_notifications(&server, Surface::Session, &uris, &last, expected, || {
            answer = owner.ok(tool, &input);
        });
        // The folder of a new run is watched, so the list may be announced for it too, a moment after the record.
        heard.dedup_by(|one, other| one == other && one == "list");
        assert_eq!(heard, expected, "{tool} {input}");
        answer
    };
    let about = |mut input: serde_json::Value| {
        input["campaign_id"] = json!(campaign_id);
        input
    };
    let (alone, with_list) = (&[timeline.as_str()][..], &[timeline.as_str(), "list"][..]);
    let session = told("session_start", about(json!({"name": "Low tide"})), alone)["id"].clone();
    told("session_note", about(json!({"scene": "The quay"})), alone);
    let note = told("session_note", about(json!({"text": "They set out.", "visible_to": ["gm"]})), &[]);
    told("roll", json!({"expression": "1d20", "session_id": session}), alone);
    told("visibility", about(json!({"method": "reveal", "note_id": note["id"]})), alone);
    told("session_end", about(json!({})), alone);
    // Universes and runs are resources, so the list of these changes as well.
    let universe = json!({"method": "create", "universeId": "sol", "name": "Sol", "campaignId": campaign_id});
    told("universe", universe, with_list);
    told("universe", json!({"method": "rename", "universeId": "sol", "name": "The sun"}), alone);
    let process = "exploration-process";
    told("state_gate.create_run", json!({"process_id": process, "campaign_id": campaign_id}), with_list);
    told("state_gate.create_run", json!({"process_id": process}), &["list"]);
}

#[test]
fn a_client_on_stdio_hears_too() {
    let world = World::sqlite();
    let server = world.serve(&[]);
    let mut owner = server.client(Surface::Rest);
    let campaign_id = create_campaign(&mut owner);
    let mut seat = world.stdio_client(&[]);
    let uri = format!("campaign://{campaign_id}/actors");
    seat.request("resources/subscribe", &json!({"uri": uri}));
    owner.ok("actor_create", &json!({"campaign_id": campaign_id, "name": "Thorin", "kind": "PC"}));
    assert_eq!(notification_subject(&seat.process().next_notification().expect("news")), uri);
    create_campaign(&mut owner);
    assert_eq!(notification_subject(&seat.process().next_notification().expect("news")), "list");
}

#[test]
fn a_new_campaign_is_told_to_those_who_watch_the_list() {
    let world = World::sqlite();
    let server = world.serve(&[]);
    for surface in ERAS {
        let mut news = server.client(surface).watch(&["campaigns://list"]);
        skip_initial_notifications(surface, &mut news, &["campaigns://list"]);
        create_campaign(&mut server.client(Surface::Rest));
        let mut both = [news.next_subject(), news.next_subject()];
        both.sort();
        assert_eq!(both, ["campaigns://list", "list"], "{surface:?}");
    }
}

const CONTEXT: &str = "context://current";

#[test]
fn a_context_is_told_to_its_own_conversation_only() {
    let world = World::sqlite();
    let [first, second] = create_campaigns(&world);
    let (secret, _) = world.create_token(&["Alice", "--role", "player"]);
    let server = world.serve(&[]);
    let set =
        |seat: &mut TestClient, campaign_id: &str| drop(seat.ok("set_context", &json!({"campaign_id": campaign_id})));
    let fence = format!("campaign://{first}");
    for surface in ERAS {
        let mut own = server.client(surface);
        let mut news = own.watch(&[CONTEXT, &fence]);
        skip_initial_notifications(surface, &mut news, &[CONTEXT, &fence]);
        // Simultaneous changes are announced together, so an unwanted one would come before the first fence or right
        // after it.
        let nothing_comes = |news: &mut Notifications| {
            for _ in 0..2 {
                update_campaign(&mut server.client(Surface::Rest), &first);
                assert_eq!(news.next_subject(), fence, "{surface:?}");
            }
        };
        for (token, name) in [(Some(secret.as_str()), "test"), (None, "another")] {
            set(&mut server.client_with(surface, token, name), &first);
        }
        set(&mut server.client(Surface::Rest), &first);
        nothing_comes(&mut news);
        set(&mut own, &second);
        assert_eq!(news.next_subject(), CONTEXT, "{surface:?}");
        set(&mut own, &first);
        assert_eq!(news.next_subject(), CONTEXT, "{surface:?}");
        set(&mut own, &first);
        nothing_comes(&mut news);
    }
}

#[test]
fn a_client_on_stdio_hears_of_its_context() {
    let world = World::sqlite();
    let [campaign_id] = create_campaigns(&world);
    let context = json!({"campaign_id": campaign_id});
    let mut seat = world.stdio_client(&[]);
    seat.request("resources/subscribe", &json!({"uri": CONTEXT}));
    seat.ok("set_context", &context);
    assert_eq!(notification_subject(&seat.process().next_notification().expect("news")), CONTEXT);
    let mut running = RunningProgram::start(world.command(&["mcp"]));
    let filter = json!({"notifications": {"resourceSubscriptions": [CONTEXT]}});
    let listen = mcp_messages::with_modern_meta(mcp_messages::request(5, "subscriptions/listen", &filter));
    assert_eq!(running.send_and_receive(&listen)["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(notification_subject(&running.next_notification().expect("an announcement")), CONTEXT);
    assert_eq!(
        running.request(&mcp_messages::with_modern_meta(mcp_messages::tool_call("set_context", &context)))["result"]["isError"],
        false
    );
    assert_eq!(notification_subject(&running.next_notification().expect("news")), CONTEXT);
}

/// A notification of the other campaign would come before the one of the caller's own.
#[test]
fn strangers_hear_nothing() {
    let world = World::sqlite();
    let [theirs, other] = create_campaigns(&world);
    let server = world.serve(&[]);
    let mut owner = server.client(Surface::Rest);
    let (secret, _) = world.create_token(&["Alice", "--role", "player", "--for", &theirs]);
    for surface in ERAS {
        let mut seat = server.client_with(surface, Some(&secret), "test");
        let (own, foreign) = (format!("campaign://{theirs}"), format!("campaign://{other}"));
        if surface == Surface::Session {
            let refused = seat.request("resources/subscribe", &json!({"uri": foreign}));
            let missing = seat.request("resources/subscribe", &json!({"uri": "campaign://camp_abc123"}));
            let words = |answer: &serde_json::Value, id: &str| answer["error"].to_string().replace(id, "ID");
            assert_eq!(words(&refused, &other), words(&missing, "camp_abc123"));
        }
        let uris: &[&str] = if surface == Surface::Session {
            &["campaigns://list", &own]
        } else {
            &["campaigns://list", &own, &foreign]
        };
        let mut news = seat.watch(uris);
        skip_initial_notifications(surface, &mut news, &["campaigns://list", &own]);
        update_campaign(&mut owner, &other);
        owner.ok("session_start", &json!({"campaign_id": other}));
        owner.ok("session_end", &json!({"campaign_id": other}));
        create_campaign(&mut owner);
        update_campaign(&mut owner, &theirs);
        let mut both = [news.next_subject(), news.next_subject()];
        both.sort();
        assert_eq!(both, [own.as_str(), "campaigns://list"], "{surface:?}");
        // No late notification follows either.
        update_campaign(&mut owner, &theirs);
        let mut both = [news.next_subject(), news.next_subject()];
        both.sort();
        assert_eq!(both, [own.as_str(), "campaigns://list"], "{surface:?}");
    }
}

#[test]
fn a_role_given_later_counts_and_a_revoked_token_does_not() {
    let world = World::sqlite();
    let server = world.serve(&[]);
    let mut owner = server.client(Surface::Rest);
    let first = create_campaign(&mut owner);
    for surface in ERAS {
        let (secret, id) = world.create_token(&["Alice", "--role", "gm", "--for", &first]);
        let mut seat = server.client_with(surface, Some(&secret), "test");
        let second = create_campaign(&mut seat);
        let uri = format!("campaign://{second}/events");
        let mut news = seat.watch(&[&uri]);
        skip_initial_notifications(surface, &mut news, &[&uri]);
        let note = json!({"campaign_id": second, "theme_prompt": "x"});
        owner.ok("campaign_update", &note);
        assert_eq!(news.read_until(&uri).last(), Some(&uri), "{surface:?}");
        assert!(world.run(&["token", "revoke", &id]).status.success());
        let mut own = server.client(surface).watch(&[&uri]);
        skip_initial_notifications(surface, &mut own, &[&uri]);
        owner.ok("campaign_update", &note);
        own.read_until(&uri);
        assert!(!news.has_notification(), "{surface:?}");
    }
}
