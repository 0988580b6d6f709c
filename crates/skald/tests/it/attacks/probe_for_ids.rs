//! Attack: finding out whether something hidden exists, by probing for ids that others chose.

use serde_json::{Value, json};

use crate::documented_campaign::create_campaign;
use crate::gate_document::{CREATE, EMIT, GET_STATE};
use crate::gate_server::Gate;
use crate::program_under_test::{CallOptions, OVER_HTTP, Server, StoreKind, Surface, TestClient, World};

/// An operation, and its input for an id.
type Probe = (&'static str, Box<dyn Fn(&str) -> Value>);

/// All operations that take the id of a universe or a run. Those that create do so in this campaign.
fn probes(campaign_id: &str) -> Vec<Probe> {
    let (of_universe, of_run) = (campaign_id.to_owned(), campaign_id.to_owned());
    let create =
        move |id: &str| json!({"method": "create", "universeId": id, "name": "Sky", "campaignId": of_universe});
    let begin = move |id: &str| json!({"process_id": "proof", "run_id": id, "campaign_id": of_run});
    let emit = |id: &str| {
        json!({
            "run_id": id, "event_name": "submit_note", "expected_revision": 1, "idempotency_key": "key"
        })
    };
    vec![
        ("universe", Box::new(create)),
        ("universe", Box::new(|id| json!({"method": "rename", "universeId": id, "name": "Sky"}))),
        ("universe", Box::new(|id| json!({"method": "replace", "universeId": id, "name": "Sky"}))),
        ("universe", Box::new(|id| json!({"method": "delete", "universeId": id}))),
        ("get_universe_state", Box::new(|id| json!({"universeId": id}))),
        ("send_universe_command", Box::new(|id| json!({"universeId": id, "command": {"type": "tick"}}))),
        (CREATE, Box::new(begin)),
        (GET_STATE, Box::new(|id| json!({"run_id": id}))),
        ("state_gate.list_events", Box::new(|id| json!({"run_id": id}))),
        ("state_gate.run", Box::new(|id| json!({"method": "history", "run_id": id}))),
        (EMIT, Box::new(emit)),
    ]
}

/// The answer as text, with a placeholder for the id.
fn answer_without_id(seat: &mut TestClient, (operation, input): &Probe, id: &str, how: CallOptions) -> String {
    let answer = seat.call_with(operation, &input(id), how);
    format!("{operation}: {answer:?}").replace(id, "ID")
}

fn assert_same_answers(seat: &mut TestClient, campaign_id: &str, taken: &[&str], free: &str) {
    let ways = [
        CallOptions::default(),
        CallOptions { key: Some("key"), revision: None },
        CallOptions { key: None, revision: Some(1) },
        CallOptions { key: None, revision: Some(0) },
    ];
    for probe in probes(campaign_id) {
        for how in ways {
            let of_free = answer_without_id(seat, &probe, free, how);
            for id in taken {
                assert_eq!(answer_without_id(seat, &probe, id, how), of_free, "{id} with {how:?}");
            }
        }
    }
}

fn client_with_new_token(world: &World, server: &Server, surface: Surface, arguments: &[&str]) -> (TestClient, String) {
    let (token, id) = world.create_token(&[&["Ada"], arguments].concat());
    (server.client_with(surface, Some(&token), "test"), id)
}

#[test]
fn an_id_that_is_taken_is_refused_like_one_that_is_free() {
    let gate = Gate::new(StoreKind::Sqlite);
    let server = gate.serve(&[]);
    let mut owner = server.client(Surface::Rest);
    let (theirs, other) = (create_campaign(&mut owner), create_campaign(&mut owner));
    let universe = |id: &str| json!({"method": "create", "universeId": id, "name": "Sky", "campaignId": other});
    for id in ["hidden-sky", "hidden-before"] {
        owner.ok("universe", &universe(id));
    }
    owner.ok("universe", &json!({"method": "delete", "universeId": "hidden-before"}));
    for (id, campaign_id) in [("hidden-run", &other), ("the-ambush", &theirs)] {
        owner.ok(CREATE, &json!({"process_id": "proof", "run_id": id, "campaign_id": campaign_id}));
    }
    for surface in OVER_HTTP {
        let (mut leader, _) = client_with_new_token(&gate.world, &server, surface, &["--role", "gm", "--for", &theirs]);
        assert_same_answers(&mut leader, &theirs, &["hidden-sky", "hidden-before", "hidden-run"], "free");
        // A prepared run is hidden from players of its campaign, and from players of all campaigns.
        for arguments in [&["--role", "player", "--for", &theirs][..], &["--role", "player"]] {
            let (mut player, _) = client_with_new_token(&gate.world, &server, surface, arguments);
            let probe = &probes(&theirs)[6];
            let [taken, free] =
                ["the-ambush", "free"].map(|id| answer_without_id(&mut player, probe, id, CallOptions::default()));
            assert_eq!(taken, free, "{arguments:?}");
        }
    }
    assert_eq!(owner.call_refused("universe", &universe("hidden-sky"))["code"], "REJECTED", "the owner is told");
}

#[test]
fn ids_that_begin_with_the_tokens_id_are_its_own() {
    let gate = Gate::new(StoreKind::Sqlite);
    let server = gate.serve(&[]);
    let mut owner = server.client(Surface::Rest);
    let theirs = create_campaign(&mut owner);
    let (mut leader, id) =
        client_with_new_token(&gate.world, &server, Surface::Rest, &["--role", "gm", "--for", &theirs]);
    let (mut other, other_id) =
        client_with_new_token(&gate.world, &server, Surface::Rest, &["--role", "gm", "--for", &theirs]);
    let all = probes(&theirs);
    for ((operation, input), field) in [(&all[0], "/universeId"), (&all[6], "/run_id")] {
        leader.ok(operation, &input(&format!("{id}-mine")));
        for files_error in [format!("{other_id}-mine"), format!("{id}-"), format!("{id}mine"), id.clone()] {
            let refused = leader.call_refused(operation, &input(&files_error));
            assert_eq!((&refused["code"], &refused["path"]), (&json!("INVALID_PARAMS"), &json!(field)), "{refused}");
            assert!(refused["hint"].as_str().is_some_and(|hint| hint.contains(&format!("{id}-"))), "{refused}");
        }
        assert_eq!(other.call_refused(operation, &input(&format!("{id}-mine")))["code"], "INVALID_PARAMS");
    }
    // Callers who see everything may choose any id, as the owner may.
    let (mut everywhere, _) = client_with_new_token(&gate.world, &server, Surface::Rest, &["--role", "gm"]);
    for (seat, name) in [(&mut everywhere, "everywhere"), (&mut owner, "owner")] {
        for (operation, input) in [&all[0], &all[6]] {
            seat.ok(operation, &input(name));
        }
    }
}
