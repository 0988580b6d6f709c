//! Tests of contexts: their owner, their lifetime, and the default campaign of calls that name none.

use serde_json::{Value, json};
use skald_testkit::message;

use crate::process::Running;
use crate::program_under_test::{Kind, Seat, Surface, World, at_every_table, named};
use crate::table::create_campaign;

at_every_table! {
    a_context_is_replaced_as_a_whole_or_not_at_all,
    a_call_without_a_campaign_is_about_the_context_then_the_only_one,
    a_client_may_have_an_odd_name,
}

fn context(seat: &mut Seat) -> Value {
    seat.listing("context://current")["context"].clone()
}

pub(crate) fn unset() -> Value {
    json!({"campaign_id": null, "session_id": null, "participant_id": null})
}

/// A context with nothing but a campaign.
fn within(campaign_id: &str) -> Value {
    json!({"campaign_id": campaign_id, "session_id": null, "participant_id": null})
}

fn a_context_is_replaced_as_a_whole_or_not_at_all(seat: &mut Seat) {
    assert_eq!(context(seat), unset());
    let campaign_id = create_campaign(seat);
    let session = seat.ok("session_start", &json!({"campaign_id": campaign_id}));
    let input = json!({"campaign_id": campaign_id, "display_name": "Alice", "role": "PLAYER"});
    let participant = seat.ok("participant_create", &input);
    let whole = json!({"campaign_id": campaign_id, "session_id": session["id"], "participant_id": participant["id"]});
    seat.ok("set_context", &whole);
    assert_eq!(context(seat), whole);
    let wrong = [
        json!({"campaign_id": "camp_abc123"}),
        json!({"campaign_id": ""}),
        json!({"campaign_id": campaign_id, "session_id": "sess_ghi789"}),
        json!({"campaign_id": campaign_id, "session_id": session["id"], "participant_id": "part_xyz789"}),
        json!({"campaign_id": campaign_id, "session": "x"}),
        json!({}),
    ];
    for input in wrong {
        seat.refused("set_context", &input);
        assert_eq!(context(seat), whole, "after {input}");
    }
    let without_session = json!({"campaign_id": campaign_id, "participant_id": participant["id"]});
    assert_eq!(seat.ok("set_context", &without_session)["context"], without_session, "what is unset is left out");
    let read = json!({"campaign_id": campaign_id, "session_id": null, "participant_id": participant["id"]});
    assert_eq!(context(seat), read, "and null where it is read");
    seat.ok("set_context", &json!({"campaign_id": campaign_id, "session_id": null}));
    assert_eq!(context(seat), within(&campaign_id));
}

/// The campaign of a call that names none.
fn meant(seat: &mut Seat) -> String {
    let read = seat.ok("campaign_read", &json!({}));
    read["campaign"]["id"].as_str().expect("an id").to_owned()
}

fn a_call_without_a_campaign_is_about_the_context_then_the_only_one(seat: &mut Seat) {
    assert_eq!(named(&seat.refused("session_start", &json!({}))), ("NOT_FOUND", "NotFound"), "there is none yet");
    let first = create_campaign(seat);
    assert_eq!(meant(seat), first, "the only one");
    assert_eq!(seat.ok("session_start", &json!({"name": "One"}))["campaign_id"], json!(first));
    let second = create_campaign(seat);
    let fault = seat.refused("actor_create", &json!({"name": "Thorin", "kind": "PC"}));
    assert_eq!(named(&fault), ("INVALID_PARAMS", "InvalidArgument"));
    let mut allowed: Vec<String> = serde_json::from_value(fault["allowed"].clone()).expect("ids");
    allowed.sort();
    let mut both = vec![first.clone(), second.clone()];
    both.sort();
    assert_eq!((allowed, &fault["path"]), (both, &json!("/campaign_id")));
    seat.ok("set_context", &json!({"campaign_id": second}));
    assert_eq!(meant(seat), second, "that of the context");
    let actor = seat.ok("actor_create", &json!({"name": "Thorin", "kind": "PC"}));
    assert_eq!(actor["campaign_id"], json!(second));
    let actor = seat.ok("actor_create", &json!({"campaign_id": first, "name": "Thorin", "kind": "PC"}));
    assert_eq!(actor["campaign_id"], json!(first), "as it says");
}

/// PostgreSQL accepts neither name as a key: one is too long, and one has a NUL.
fn a_client_may_have_an_odd_name(seat: &mut Seat) {
    let long = (0..2_000).map(|number| format!("{number:x}")).collect::<Vec<_>>().join("ä");
    let campaign_id = create_campaign(seat);
    for name in [long.as_str(), "nul\0"] {
        seat.rename(name);
        seat.ok("set_context", &json!({"campaign_id": campaign_id}));
        assert_eq!(context(seat), within(&campaign_id));
    }
}

#[test]
fn the_command_line_comes_after_the_context() {
    let world = World::sqlite();
    let (first, second) = {
        let mut seat = world.stdio(&[]);
        (create_campaign(&mut seat), create_campaign(&mut seat))
    };
    let mut seat = world.stdio(&["--campaign", &first]);
    assert_eq!(meant(&mut seat), first);
    seat.ok("set_context", &json!({"campaign_id": second}));
    assert_eq!(meant(&mut seat), second);
    let mut seat = world.stdio(&["--campaign", "camp_abc123"]);
    assert_eq!(named(&seat.refused("campaign_read", &json!({}))), ("NOT_FOUND", "NotFound"));
}

#[test]
fn each_session_has_its_own() {
    let world = World::new(Kind::Memory);
    let server = world.serve(&[]);
    let (mut one, mut other) = (server.seat(Surface::Session), server.seat(Surface::Session));
    let (first, second) = (create_campaign(&mut one), create_campaign(&mut one));
    one.ok("set_context", &json!({"campaign_id": first}));
    assert_eq!(context(&mut other), unset());
    other.ok("set_context", &json!({"campaign_id": second}));
    assert_eq!((meant(&mut one), meant(&mut other)), (first, second));
    for surface in [Surface::Stateless, Surface::Rest] {
        assert_eq!(context(&mut server.seat(surface)), unset(), "{surface:?}");
    }
}

#[test]
fn a_process_on_stdio_has_its_own_and_forgets_it() {
    let world = World::sqlite();
    let (mut one, mut other) = (world.stdio(&[]), world.stdio(&[]));
    let campaign_id = create_campaign(&mut one);
    one.ok("set_context", &json!({"campaign_id": campaign_id}));
    assert_eq!(context(&mut one), within(&campaign_id));
    assert_eq!(context(&mut other), unset());
    drop(one);
    assert_eq!(context(&mut world.stdio(&[])), unset());
}

#[test]
fn a_process_on_stdio_has_its_own_also_without_a_handshake() {
    let world = World::sqlite();
    let campaign_id = create_campaign(&mut world.stdio(&[]));
    let (mut one, mut other) = (Running::start(world.command(&["mcp"])), Running::start(world.command(&["mcp"])));
    let set = message::modern(message::call("set_context", &json!({"campaign_id": campaign_id})));
    assert_eq!(one.answer(&set)["result"]["isError"], false);
    let read = message::modern(message::call("campaign_read", &json!({"view": "context"})));
    assert_eq!(one.answer(&read)["result"]["structuredContent"]["context"], within(&campaign_id));
    assert_eq!(other.answer(&read)["result"]["structuredContent"]["context"], unset());
}

#[test]
fn a_client_without_a_session_is_known_by_its_token_and_name_also_after_a_restart() {
    let world = World::sqlite();
    let (alice, _) = world.token(&["Alice", "--role", "gm"]);
    let (bob, _) = world.token(&["Bob", "--role", "gm"]);
    let campaign_id = {
        let server = world.serve(&[]);
        let mut seat = server.seat_of(Surface::Stateless, Some(&alice), "inspector");
        let campaign_id = create_campaign(&mut seat);
        seat.ok("set_context", &json!({"campaign_id": campaign_id}));
        campaign_id
    };
    let server = world.serve(&[]);
    let kept = |token: Option<&str>, name: &str| context(&mut server.seat_of(Surface::Stateless, token, name));
    assert_eq!(kept(Some(&alice), "inspector"), within(&campaign_id));
    assert_eq!(kept(Some(&alice), "another"), unset());
    assert_eq!(kept(Some(&bob), "inspector"), unset());
    assert_eq!(kept(None, "inspector"), unset());
    assert_eq!(context(&mut server.seat_of(Surface::Rest, Some(&alice), "inspector")), unset());
}
