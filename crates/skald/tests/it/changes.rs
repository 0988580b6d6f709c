//! Tests of change notifications: in both MCP eras and across processes, and only to those who may see the change.

use serde_json::json;
use skald_testkit::message;

use crate::process::Running;
use crate::program_under_test::{News, Seat, Server, Surface, World, told};
use crate::table::create_campaign;

const ERAS: [Surface; 2] = [Surface::Session, Surface::Stateless];

/// Skips the notifications that the newer MCP revision sends right after subscribing.
fn settle(surface: Surface, news: &mut News, uris: &[&str]) {
    if surface == Surface::Stateless {
        for uri in uris {
            assert_eq!(&news.next(), uri, "announced once on entry");
        }
    }
}

/// The sorted notifications that a watcher of these resources gets for a deed. A change of `last` marks the end. It is
/// made only after the expected number of notifications: simultaneous changes are announced together, in the order of
/// their URIs.
fn heard(
    server: &Server,
    surface: Surface,
    uris: &[String],
    last: &str,
    expected: usize,
    deed: impl FnOnce(),
) -> Vec<String> {
    let last_uri = format!("campaign://{last}");
    let uris: Vec<&str> = uris.iter().map(String::as_str).chain([last_uri.as_str()]).collect();
    let mut news = server.seat(surface).watch(&uris);
    settle(surface, &mut news, &uris);
    deed();
    let mut heard: Vec<String> = (0..expected).map(|_| news.next()).collect();
    touch(&mut server.seat(Surface::Rest), last);
    heard.append(&mut news.until(&last_uri));
    heard.pop();
    heard.sort();
    heard
}

fn touch(seat: &mut Seat, campaign_id: &str) {
    seat.ok("campaign_update", &json!({"campaign_id": campaign_id, "theme_prompt": "x"}));
}

/// Campaigns that exist before the server starts, so that it sends no notifications of their creation.
fn campaigns<const N: usize>(world: &World) -> [String; N] {
    let mut seat = world.stdio(&[]);
    std::array::from_fn(|_| create_campaign(&mut seat))
}

#[test]
fn changes_reach_those_who_watch_also_from_another_process() {
    let world = World::sqlite();
    let [campaign_id, other, last] = campaigns(&world);
    let server = world.serve(&[]);
    let of = |part: &str| format!("campaign://{campaign_id}{part}");
    let uris =
        [of(""), of("/actors"), of("/events"), of("/participants"), of("/sessions"), format!("campaign://{other}")];
    let about = |input: serde_json::Value| {
        let mut input = input;
        input["campaign_id"] = json!(campaign_id);
        input
    };
    let deeds = [
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
        for mut seat in [server.seat(Surface::Rest), beside.seat(Surface::Stateless), world.stdio(&[])] {
            for (tool, input, expected) in &deeds {
                let told = heard(&server, surface, &uris, &last, expected.len(), || drop(seat.ok(tool, input)));
                assert_eq!(&told, expected, "{tool} {surface:?}");
            }
        }
    }
}

#[test]
fn a_client_on_stdio_hears_too() {
    let world = World::sqlite();
    let server = world.serve(&[]);
    let mut owner = server.seat(Surface::Rest);
    let campaign_id = create_campaign(&mut owner);
    let mut seat = world.stdio(&[]);
    let uri = format!("campaign://{campaign_id}/actors");
    seat.ask("resources/subscribe", &json!({"uri": uri}));
    owner.ok("actor_create", &json!({"campaign_id": campaign_id, "name": "Thorin", "kind": "PC"}));
    assert_eq!(told(&seat.process().hear().expect("news")), uri);
    create_campaign(&mut owner);
    assert_eq!(told(&seat.process().hear().expect("news")), "list");
}

#[test]
fn a_new_campaign_is_told_to_those_who_watch_the_list() {
    let world = World::sqlite();
    let server = world.serve(&[]);
    for surface in ERAS {
        let mut news = server.seat(surface).watch(&["campaigns://list"]);
        settle(surface, &mut news, &["campaigns://list"]);
        create_campaign(&mut server.seat(Surface::Rest));
        let mut both = [news.next(), news.next()];
        both.sort();
        assert_eq!(both, ["campaigns://list", "list"], "{surface:?}");
    }
}

const CONTEXT: &str = "context://current";

#[test]
fn a_context_is_told_to_its_own_conversation_only() {
    let world = World::sqlite();
    let [first, second] = campaigns(&world);
    let (secret, _) = world.token(&["Alice", "--role", "player"]);
    let server = world.serve(&[]);
    let set = |seat: &mut Seat, campaign_id: &str| drop(seat.ok("set_context", &json!({"campaign_id": campaign_id})));
    let fence = format!("campaign://{first}");
    for surface in ERAS {
        let mut own = server.seat(surface);
        let mut news = own.watch(&[CONTEXT, &fence]);
        settle(surface, &mut news, &[CONTEXT, &fence]);
        // Simultaneous changes are announced together, so an unwanted one would come before the first fence or right
        // after it.
        let nothing_comes = |news: &mut News| {
            for _ in 0..2 {
                touch(&mut server.seat(Surface::Rest), &first);
                assert_eq!(news.next(), fence, "{surface:?}");
            }
        };
        for (token, name) in [(Some(secret.as_str()), "test"), (None, "another")] {
            set(&mut server.seat_of(surface, token, name), &first);
        }
        set(&mut server.seat(Surface::Rest), &first);
        nothing_comes(&mut news);
        set(&mut own, &second);
        assert_eq!(news.next(), CONTEXT, "{surface:?}");
        set(&mut own, &first);
        assert_eq!(news.next(), CONTEXT, "{surface:?}");
        set(&mut own, &first);
        nothing_comes(&mut news);
    }
}

#[test]
fn a_client_on_stdio_hears_of_its_context() {
    let world = World::sqlite();
    let [campaign_id] = campaigns(&world);
    let context = json!({"campaign_id": campaign_id});
    let mut seat = world.stdio(&[]);
    seat.ask("resources/subscribe", &json!({"uri": CONTEXT}));
    seat.ok("set_context", &context);
    assert_eq!(told(&seat.process().hear().expect("news")), CONTEXT);
    let mut running = Running::start(world.command(&["mcp"]));
    let filter = json!({"notifications": {"resourceSubscriptions": [CONTEXT]}});
    let listen = message::modern(message::request(5, "subscriptions/listen", &filter));
    assert_eq!(running.ask(&listen)["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(told(&running.hear().expect("an announcement")), CONTEXT);
    assert_eq!(running.answer(&message::modern(message::call("set_context", &context)))["result"]["isError"], false);
    assert_eq!(told(&running.hear().expect("news")), CONTEXT);
}

/// A notification of the other campaign would come before the one of the caller's own.
#[test]
fn strangers_hear_nothing() {
    let world = World::sqlite();
    let [theirs, other] = campaigns(&world);
    let server = world.serve(&[]);
    let mut owner = server.seat(Surface::Rest);
    let (secret, _) = world.token(&["Alice", "--role", "player", "--for", &theirs]);
    for surface in ERAS {
        let mut seat = server.seat_of(surface, Some(&secret), "test");
        let (own, foreign) = (format!("campaign://{theirs}"), format!("campaign://{other}"));
        if surface == Surface::Session {
            let refused = seat.ask("resources/subscribe", &json!({"uri": foreign}));
            let missing = seat.ask("resources/subscribe", &json!({"uri": "campaign://camp_abc123"}));
            let words = |answer: &serde_json::Value, id: &str| answer["error"].to_string().replace(id, "ID");
            assert_eq!(words(&refused, &other), words(&missing, "camp_abc123"));
        }
        let uris: &[&str] = if surface == Surface::Session {
            &["campaigns://list", &own]
        } else {
            &["campaigns://list", &own, &foreign]
        };
        let mut news = seat.watch(uris);
        settle(surface, &mut news, &["campaigns://list", &own]);
        touch(&mut owner, &other);
        owner.ok("session_start", &json!({"campaign_id": other}));
        owner.ok("session_end", &json!({"campaign_id": other}));
        create_campaign(&mut owner);
        touch(&mut owner, &theirs);
        let mut both = [news.next(), news.next()];
        both.sort();
        assert_eq!(both, [own.as_str(), "campaigns://list"], "{surface:?}");
        // No late notification follows either.
        touch(&mut owner, &theirs);
        let mut both = [news.next(), news.next()];
        both.sort();
        assert_eq!(both, [own.as_str(), "campaigns://list"], "{surface:?}");
    }
}

#[test]
fn a_role_given_later_counts_and_a_revoked_token_does_not() {
    let world = World::sqlite();
    let server = world.serve(&[]);
    let mut owner = server.seat(Surface::Rest);
    let first = create_campaign(&mut owner);
    for surface in ERAS {
        let (secret, id) = world.token(&["Alice", "--role", "gm", "--for", &first]);
        let mut seat = server.seat_of(surface, Some(&secret), "test");
        let second = create_campaign(&mut seat);
        let uri = format!("campaign://{second}/events");
        let mut news = seat.watch(&[&uri]);
        settle(surface, &mut news, &[&uri]);
        let note = json!({"campaign_id": second, "theme_prompt": "x"});
        owner.ok("campaign_update", &note);
        assert_eq!(news.until(&uri).last(), Some(&uri), "{surface:?}");
        assert!(world.run(&["token", "revoke", &id]).status.success());
        let mut own = server.seat(surface).watch(&[&uri]);
        settle(surface, &mut own, &[&uri]);
        owner.ok("campaign_update", &note);
        own.until(&uri);
        assert!(!news.comes(), "{surface:?}");
    }
}
