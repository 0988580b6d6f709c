//! Tests of parts of a universe and of its documentation pages: read, completed and watched on every surface.

use serde_json::{Value, json};

use crate::program_under_test::{OVER_HTTP, StoreKind, Surface, TestClient, World, code_and_status, on_every_surface};
use crate::universe::{add_star_command, create_universe, send_command, watch_without_initial};

on_every_surface! {
    parts_are_read,
    commands_are_told,
}

const TOOL: &str = "get_universe_state";
/// In the order in which they are announced.
const PARTS: [&str; 5] = [
    "universe://u-1/bodies",
    "universe://u-1/body/sun",
    "universe://u-1/groups",
    "universe://u-1/positions?t=5",
    "universe://u-1/summary",
];

fn parts_are_read(seat: &mut TestClient) {
    create_universe(seat, "u-1");
    send_command(seat, "u-1", &add_star_command("sun", None));
    send_command(seat, "u-1", &add_star_command("earth", Some("sun")));
    for view in ["summary", "bodies", "groups", "positions"] {
        let part = seat.ok(TOOL, &json!({"universeId": "u-1", "view": view}));
        assert_eq!((&part["universeId"], &part["revision"]), (&json!("u-1"), &json!(3)), "{part}");
        assert_eq!(seat.read_ok(&format!("universe://u-1/{view}")), part);
    }
    let first = seat.read_ok("universe://u-1/bodies?limit=1");
    assert_eq!((&first["items"][0]["id"], &first["total"]), (&json!("earth"), &json!(2)));
    let cursor = first["nextCursor"].as_str().expect("a cursor");
    let second = seat.read_ok(&format!("universe://u-1/bodies?limit=1&cursor={cursor}"));
    assert_eq!((&second["items"][0]["id"], second.get("nextCursor")), (&json!("sun"), None));
    let then = seat.read_ok("universe://u-1/positions?t=-90");
    assert_eq!((&then["time"], &then["items"][0]["kind"]), (&json!(-90), &json!("unspecified")));
    let sun = seat.read_ok("universe://u-1/body/sun");
    assert_eq!(sun["body"]["children"], json!([{"id": "earth", "name": "earth", "kind": "unspecified"}]));
    let cases = [
        ("universe://u-1/body/eart", "NOT_FOUND", "/bodyId"),
        ("universe://u-1/positions?t=soon", "INVALID_PARAMS", "/t"),
        ("universe://u-1/groups?limit=0", "INVALID_PARAMS", "/limit"),
        ("universe://u-2/summary", "NOT_FOUND", "/universeId"),
    ];
    for (uri, code, path) in cases {
        let fault = seat.read(uri).expect_err("it is refused");
        assert_eq!((code_and_status(&fault).0, &fault["path"]), (code, &json!(path)), "{uri}: {fault}");
    }
    let fault = seat.call_refused(TOOL, &json!({"universeId": "u-1", "ids": ["sum"]}));
    assert_eq!(
        (code_and_status(&fault).0, &fault["path"], &fault["universeId"]),
        ("NOT_FOUND", &json!("/ids/0"), &json!("u-1"))
    );
    assert!(fault["hint"].as_str().expect("a hint").contains("\"sun\""), "{fault}");
}

fn commands_are_told(seat: &mut TestClient) {
    let command = seat.read_ok("docs://universe/commands/tick");
    assert_eq!((&command["type"], &command["refusals"][0]["event"]), (&json!("tick"), &json!("tickFailed")));
    let fault = seat.read("docs://universe/commands/tock").expect_err("there is none");
    assert_eq!((code_and_status(&fault).0, &fault["path"]), ("NOT_FOUND", &json!("/command")));
}

fn complete_body_id(seat: &mut TestClient, universe_id: Option<&str>, typed: &str) -> Value {
    let mut ask = json!({
        "ref": {"type": "ref/resource", "uri": "universe://{universeId}/body/{bodyId}{?t,cursor,limit}"},
        "argument": {"name": "bodyId", "value": typed}
    });
    if let Some(universe_id) = universe_id {
        ask["context"] = json!({"arguments": {"universeId": universe_id}});
    }
    seat.request("completion/complete", &ask)["result"]["completion"]["values"].clone()
}

#[test]
fn a_body_is_completed_for_the_universe_that_was_chosen() {
    for surface in [Surface::Stdio, Surface::Session, Surface::Stateless, Surface::Bridge] {
        let world = World::new(if surface == Surface::Bridge { StoreKind::Sqlite } else { StoreKind::Memory });
        let (mut seat, _server) = world.client(surface);
        create_universe(&mut seat, "u-1");
        send_command(&mut seat, "u-1", &add_star_command("sun", None));
        send_command(&mut seat, "u-1", &add_star_command("earth", Some("sun")));
        assert_eq!(complete_body_id(&mut seat, Some("u-1"), "EA"), json!(["earth"]), "{surface:?}");
        assert_eq!(complete_body_id(&mut seat, Some("u-2"), ""), json!([]), "{surface:?}");
        assert_eq!(complete_body_id(&mut seat, None, ""), json!([]), "{surface:?}");
    }
}

/// Watchers of a part are notified of every change of the universe, but only if they may read it.
#[test]
fn a_change_is_told_to_those_who_watch_a_part() {
    let world = World::sqlite();
    let mut owner = world.stdio_client(&[]);
    let [campaign_id, other] = [(); 2].map(|()| crate::documented_campaign::create_campaign(&mut owner));
    owner.ok("universe", &json!({"method": "create", "universeId": "u-1", "name": "Sol", "campaignId": campaign_id}));
    owner.ok("universe", &json!({"method": "create", "universeId": "u-2", "name": "Other", "campaignId": other}));
    let (theirs, _) = world.create_token(&["theirs", "--role", "guest", "--for", &campaign_id]);
    let (others, _) = world.create_token(&["others", "--role", "gm", "--for", &other]);
    let server = world.serve(&[]);
    for surface in OVER_HTTP.into_iter().filter(|surface| *surface != Surface::Rest) {
        let seat = |token: &str| server.client_with(surface, Some(token), "test");
        let mut news = [&theirs, &others].map(|token| watch_without_initial(&mut seat(token), surface, &PARTS));
        send_command(&mut owner, "u-2", &json!({"type": "tick"}));
        send_command(&mut owner, "u-1", &json!({"type": "tick"}));
        let [theirs, others] = &mut news;
        let mut heard = PARTS.map(|_| theirs.next_subject());
        heard.sort();
        assert_eq!(heard, PARTS, "{surface:?}");
        assert!(!others.has_notification(), "{surface:?}: it is not theirs");
    }
}
