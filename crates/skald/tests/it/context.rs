//! Tests of contexts: their owner, their lifetime, and the default campaign of calls that name none.

use serde_json::{Value, json};
use skald_testkit::mcp_messages;

use crate::documented_campaign::create_campaign;
use crate::process::RunningProgram;
use crate::program_under_test::{StoreKind, Surface, TestClient, World, code_and_status, on_every_surface};

on_every_surface! {
    a_context_is_replaced_as_a_whole_or_not_at_all,
    a_call_without_a_campaign_is_about_the_context_then_the_only_one,
    a_client_may_have_an_odd_name,
}

fn read_context(seat: &mut TestClient) -> Value {
    seat.read_ok("context://current")["context"].clone()
}

pub(crate) fn empty_context() -> Value {
    json!({"campaign_id": null, "session_id": null, "participant_id": null})
}

/// A context with nothing but a campaign.
fn context_with_campaign(campaign_id: &str) -> Value {
    json!({"campaign_id": campaign_id, "session_id": null, "participant_id": null})
}

fn a_context_is_replaced_as_a_whole_or_not_at_all(seat: &mut TestClient) {
    assert_eq!(read_context(seat), empty_context());
    let campaign_id = create_campaign(seat);
    let session = seat.ok("session_start", &json!({"campaign_id": campaign_id}));
    let input = json!({"campaign_id": campaign_id, "display_name": "Alice", "role": "PLAYER"});
    let participant = seat.ok("participant_create", &input);
    let whole = json!({"campaign_id": campaign_id, "session_id": session["id"], "participant_id": participant["id"]});
    seat.ok("set_context", &whole);
    assert_eq!(read_context(seat), whole);
    let wrong = [
        json!({"campaign_id": "camp_abc123"}),
        json!({"campaign_id": ""}),
        json!({"campaign_id": campaign_id, "session_id": "sess_ghi789"}),
        json!({"campaign_id": campaign_id, "session_id": session["id"], "participant_id": "part_xyz789"}),
        json!({"campaign_id": campaign_id, "session": "x"}),
        json!({}),
    ];
    for input in wrong {
        seat.call_refused("set_context", &input);
        assert_eq!(read_context(seat), whole, "after {input}");
    }
    let without_session = json!({"campaign_id": campaign_id, "participant_id": participant["id"]});
    assert_eq!(seat.ok("set_context", &without_session)["context"], without_session, "what is unset is left out");
    let read = json!({"campaign_id": campaign_id, "session_id": null, "participant_id": participant["id"]});
    assert_eq!(read_context(seat), read, "and null where it is read");
    seat.ok("set_context", &json!({"campaign_id": campaign_id, "session_id": null}));
    assert_eq!(read_context(seat), context_with_campaign(&campaign_id));
}

/// The campaign of a call that names none.
fn default_campaign(seat: &mut TestClient) -> String {
    let read = seat.ok("campaign_read", &json!({}));
    read["campaign"]["id"].as_str().expect("an id").to_owned()
}

fn a_call_without_a_campaign_is_about_the_context_then_the_only_one(seat: &mut TestClient) {
    assert_eq!(
        code_and_status(&seat.call_refused("session_start", &json!({}))),
        ("NOT_FOUND", "NotFound"),
        "there is none yet"
    );
    let first = create_campaign(seat);
    assert_eq!(default_campaign(seat), first, "the only one");
    assert_eq!(seat.ok("session_start", &json!({"name": "One"}))["campaign_id"], json!(first));
    let second = create_campaign(seat);
    assert_eq!(default_campaign(seat), second, "a new campaign is the context");
    seat.ok("set_context", &json!({"clear": true}));
    let fault = seat.call_refused("actor_create", &json!({"name": "Thorin", "kind": "PC"}));
    assert_eq!(code_and_status(&fault), ("INVALID_PARAMS", "InvalidArgument"));
    let mut allowed: Vec<String> = serde_json::from_value(fault["allowed"].clone()).expect("ids");
    allowed.sort();
    let mut both = vec![first.clone(), second.clone()];
    both.sort();
    assert_eq!((allowed, &fault["path"]), (both, &json!("/campaign_id")));
    seat.ok("set_context", &json!({"campaign_id": second}));
    assert_eq!(default_campaign(seat), second, "that of the context");
    let actor = seat.ok("actor_create", &json!({"name": "Thorin", "kind": "PC"}));
    assert_eq!(actor["campaign_id"], json!(second));
    let actor = seat.ok("actor_create", &json!({"campaign_id": first, "name": "Thorin", "kind": "PC"}));
    assert_eq!(actor["campaign_id"], json!(first), "as it says");
}

/// PostgreSQL accepts neither name as a key: one is too long, and one has a NUL.
fn a_client_may_have_an_odd_name(seat: &mut TestClient) {
    let long = (0..2_000).map(|number| format!("{number:x}")).collect::<Vec<_>>().join("ä");
    let campaign_id = create_campaign(seat);
    for name in [long.as_str(), "nul\0"] {
        seat.set_client_name(name);
        seat.ok("set_context", &json!({"campaign_id": campaign_id}));
        assert_eq!(read_context(seat), context_with_campaign(&campaign_id));
    }
}

#[test]
fn the_command_line_comes_after_the_context() {
    let world = World::sqlite();
    let (first, second) = {
        let mut seat = world.stdio_client(&[]);
        (create_campaign(&mut seat), create_campaign(&mut seat))
    };
    let mut seat = world.stdio_client(&["--campaign", &first]);
    assert_eq!(default_campaign(&mut seat), first);
    seat.ok("set_context", &json!({"campaign_id": second}));
    assert_eq!(default_campaign(&mut seat), second);
    let mut seat = world.stdio_client(&["--campaign", "camp_abc123"]);
    assert_eq!(code_and_status(&seat.call_refused("campaign_read", &json!({}))), ("NOT_FOUND", "NotFound"));
}

#[test]
fn each_session_has_its_own() {
    let world = World::new(StoreKind::Memory);
    let server = world.serve(&[]);
    let (mut one, mut other) = (server.client(Surface::Session), server.client(Surface::Session));
    let (first, second) = (create_campaign(&mut one), create_campaign(&mut one));
    one.ok("set_context", &json!({"campaign_id": first}));
    assert_eq!(read_context(&mut other), empty_context());
    other.ok("set_context", &json!({"campaign_id": second}));
    assert_eq!((default_campaign(&mut one), default_campaign(&mut other)), (first, second));
    for surface in [Surface::Stateless, Surface::Rest] {
        assert_eq!(read_context(&mut server.client(surface)), empty_context(), "{surface:?}");
    }
}

#[test]
fn a_process_on_stdio_has_its_own_and_forgets_it() {
    let world = World::sqlite();
    let (mut one, mut other) = (world.stdio_client(&[]), world.stdio_client(&[]));
    let campaign_id = create_campaign(&mut one);
    one.ok("set_context", &json!({"campaign_id": campaign_id}));
    assert_eq!(read_context(&mut one), context_with_campaign(&campaign_id));
    assert_eq!(read_context(&mut other), empty_context());
    drop(one);
    assert_eq!(read_context(&mut world.stdio_client(&[])), empty_context());
}

#[test]
fn a_process_on_stdio_has_its_own_also_without_a_handshake() {
    let world = World::sqlite();
    let campaign_id = create_campaign(&mut world.stdio_client(&[]));
    let (mut one, mut other) =
        (RunningProgram::start(world.command(&["mcp"])), RunningProgram::start(world.command(&["mcp"])));
    let set =
        mcp_messages::with_modern_meta(mcp_messages::tool_call("set_context", &json!({"campaign_id": campaign_id})));
    assert_eq!(one.request(&set)["result"]["isError"], false);
    let read = mcp_messages::with_modern_meta(mcp_messages::tool_call("campaign_read", &json!({"view": "context"})));
    assert_eq!(one.request(&read)["result"]["structuredContent"]["context"], context_with_campaign(&campaign_id));
    assert_eq!(other.request(&read)["result"]["structuredContent"]["context"], empty_context());
}

#[test]
fn a_client_without_a_session_is_known_by_its_token_and_name_also_after_a_restart() {
    let world = World::sqlite();
    let (alice, _) = world.create_token(&["Alice", "--role", "gm"]);
    let (bob, _) = world.create_token(&["Bob", "--role", "gm"]);
    let campaign_id = {
        let server = world.serve(&[]);
        let mut seat = server.client_with(Surface::Stateless, Some(&alice), "inspector");
        let campaign_id = create_campaign(&mut seat);
        seat.ok("set_context", &json!({"campaign_id": campaign_id}));
        campaign_id
    };
    let server = world.serve(&[]);
    let kept = |token: Option<&str>, name: &str| read_context(&mut server.client_with(Surface::Stateless, token, name));
    assert_eq!(kept(Some(&alice), "inspector"), context_with_campaign(&campaign_id));
    assert_eq!(kept(Some(&alice), "another"), empty_context());
    assert_eq!(kept(Some(&bob), "inspector"), empty_context());
    assert_eq!(kept(None, "inspector"), empty_context());
    assert_eq!(read_context(&mut server.client_with(Surface::Rest, Some(&alice), "inspector")), empty_context());
}
