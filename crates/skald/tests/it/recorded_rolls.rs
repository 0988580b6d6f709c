//! Tests of recorded rolls, and of requests that are sent twice.

use serde_json::{Value, json};
use skald_testkit::Client;
use skald_testkit::mcp_messages::JSON;

use crate::documented_campaign::create_campaign;
use crate::program_under_test::{
    CallOptions, StoreKind, Surface, TestClient, World, code_and_status, on_every_surface,
};

on_every_surface! {
    every_roll_in_the_contexts_session_is_recorded,
    a_roll_may_name_its_session,
    whoever_has_left_the_table_rolls_without_a_name,
    a_roll_without_a_session_leaves_nothing,
    an_ended_session_takes_no_rolls,
    a_request_sent_twice_happens_once,
    what_was_answered_is_answered_again_whatever_happened_since,
    a_roll_sent_twice_has_the_same_dice,
    a_revision_that_is_not_the_current_one_is_refused,
}

/// A campaign with a running session: the ids of the campaign, the session, a participant and an actor.
struct StartedCampaign {
    campaign: String,
    session: Value,
    participant: Value,
    actor: Value,
}

fn start_campaign(seat: &mut TestClient) -> StartedCampaign {
    let campaign_id = create_campaign(seat);
    let input = json!({"campaign_id": campaign_id, "display_name": "Alice", "role": "PLAYER"});
    let participant_id = seat.ok("participant_create", &input)["id"].clone();
    let input = json!({"campaign_id": campaign_id, "name": "Thorin", "kind": "PC"});
    let actor_id = seat.ok("actor_create", &input)["id"].clone();
    let session_id = seat.ok("session_start", &json!({"campaign_id": campaign_id}))["id"].clone();
    StartedCampaign { campaign: campaign_id, session: session_id, participant: participant_id, actor: actor_id }
}

/// The recorded rolls, the oldest first.
fn recorded_rolls(seat: &mut TestClient, campaign_id: &str) -> Vec<Value> {
    let input = json!({"campaign_id": campaign_id, "types": ["roll"], "order": "oldest"});
    seat.ok("events_list", &input)["events"].as_array().expect("a list").clone()
}

fn dice_calls() -> [(&'static str, Value); 3] {
    [
        ("duality_action_roll", json!({"modifier": 2, "difficulty": 15, "detail": "full"})),
        ("roll_dice", json!({"dice": [{"sides": 20, "count": 2}, {"sides": 6, "count": 1}]})),
        ("roll", json!({"expression": "4d6kh3+1", "detail": "full"})),
    ]
}

fn every_roll_in_the_contexts_session_is_recorded(seat: &mut TestClient) {
    let StartedCampaign { campaign: campaign_id, session: session_id, participant: participant_id, actor: actor_id } =
        start_campaign(seat);
    let context = json!({"campaign_id": campaign_id, "session_id": session_id, "participant_id": participant_id});
    seat.ok("set_context", &context);
    for (number, (tool, mut input)) in dice_calls().into_iter().enumerate() {
        input["actor_id"] = actor_id.clone();
        let answer = seat.ok(tool, &input);
        let recorded = &answer["recorded"];
        assert_eq!((&recorded["campaign_id"], &recorded["session_id"]), (&json!(campaign_id), &session_id));
        let all = recorded_rolls(seat, &campaign_id);
        assert_eq!(all.len(), 2 * number + 1, "{tool}");
        let logged = &all[2 * number];
        assert_eq!(logged["by"], "owner");
        let event = &logged["event"];
        let expected = json!({
            "type": "roll.recorded.v1", "id": recorded["roll_id"], "session_id": session_id,
            "participant_id": participant_id, "actor_id": actor_id, "tool": tool, "input": input, "rng": answer["rng"],
        });
        for (field, value) in expected.as_object().expect("an object") {
            assert_eq!(&event[field], value, "{field} of {tool}");
        }
        assert_eq!(event["rng"]["rng_algo"], "CHACHA20_MASK_V1");
        assert_eq!(event["result"]["total"], answer["total"]);
        let is_check = tool == "duality_action_roll";
        let chance = &event[if is_check { "success_chance" } else { "at_least_chance" }];
        assert!(chance["decimal"].as_f64().is_some_and(|chance| chance > 0.0 && chance <= 1.0), "{event}");
        match tool {
            "duality_action_roll" => assert_eq!(chance["fraction"], "7/12"),
            "roll_dice" => assert_eq!(event["expression"], "2d20+1d6"),
            _ => assert_eq!((&event["expression"], chance), (&answer["expression"], &answer["at_least_chance"])),
        }
        // The recorded seed replays the same dice.
        let seed = json!({"seed": event["rng"]["seed_used"], "roll_mode": "REPLAY"});
        let mut again = input.clone();
        again["rng"] = seed;
        again.as_object_mut().expect("an object").remove("actor_id");
        // A context without a session stands for the one that is going on.
        seat.ok("set_context", &json!({"campaign_id": campaign_id}));
        let replayed = seat.ok(tool, &again);
        assert_eq!((&replayed["total"], &replayed["recorded"]["session_id"]), (&answer["total"], &session_id));
        seat.ok("set_context", &context);
    }
    let sessions = seat.read_ok(&format!("campaign://{campaign_id}/sessions"));
    assert_eq!(sessions["sessions"][0]["roll_count"], 6);
}

fn a_roll_may_name_its_session(seat: &mut TestClient) {
    let StartedCampaign { campaign: campaign_id, session: session_id, actor: actor_id, .. } = start_campaign(seat);
    for (number, (tool, mut input)) in dice_calls().into_iter().enumerate() {
        input["session_id"] = session_id.clone();
        input["actor_id"] = actor_id.clone();
        let answer = seat.ok(tool, &input);
        assert_eq!(answer["recorded"]["session_id"], session_id);
        let all = recorded_rolls(seat, &campaign_id);
        assert_eq!((all.len(), &all[number]["event"]["tool"]), (number + 1, &json!(tool)));
        assert_eq!(all[number]["event"].get("participant_id"), None);
        input["session_id"] = json!("sess_ghi789");
        let fault = seat.call_refused(tool, &input);
        assert_eq!((code_and_status(&fault), &fault["path"]), (("NOT_FOUND", "NotFound"), &json!("/session_id")));
        input["session_id"] = session_id.clone();
        input["actor_id"] = json!("actor_def456");
        let fault = seat.call_refused(tool, &input);
        assert_eq!((code_and_status(&fault), &fault["path"]), (("NOT_FOUND", "NotFound"), &json!("/actor_id")));
    }
    assert_eq!(recorded_rolls(seat, &campaign_id).len(), 3, "a refused roll is not recorded");
}

fn whoever_has_left_the_table_rolls_without_a_name(seat: &mut TestClient) {
    let StartedCampaign { campaign: campaign_id, session: session_id, participant: participant_id, .. } =
        start_campaign(seat);
    let context = json!({"campaign_id": campaign_id, "session_id": session_id, "participant_id": participant_id});
    seat.ok("set_context", &context);
    let gone = json!({"campaign_id": campaign_id, "participant_id": participant_id, "method": "remove"});
    seat.ok("participant_update", &gone);
    seat.ok("roll", &json!({"expression": "1d6"}));
    assert_eq!(recorded_rolls(seat, &campaign_id)[0]["event"].get("participant_id"), None);
}

fn a_roll_without_a_session_leaves_nothing(seat: &mut TestClient) {
    let StartedCampaign { campaign: campaign_id, actor: actor_id, .. } = start_campaign(seat);
    seat.ok("session_end", &json!({"campaign_id": campaign_id}));
    for context in [None, Some(json!({"campaign_id": campaign_id}))] {
        if let Some(context) = context {
            seat.ok("set_context", &context);
        }
        for (tool, mut input) in dice_calls() {
            for actor_id in [None, Some(&actor_id)] {
                if let Some(id) = actor_id {
                    input["actor_id"] = id.clone();
                }
                let answer = seat.ok(tool, &input);
                assert_eq!(answer.get("recorded"), None, "{tool}");
                let reason = answer["not_recorded"].as_str();
                assert!(reason.is_some_and(|reason| reason.contains("session_start")), "{answer}");
            }
        }
    }
    assert_eq!(recorded_rolls(seat, &campaign_id), Vec::<Value>::new());
}

fn an_ended_session_takes_no_rolls(seat: &mut TestClient) {
    let StartedCampaign { campaign: campaign_id, session: session_id, .. } = start_campaign(seat);
    seat.ok("session_end", &json!({"campaign_id": campaign_id}));
    for (tool, mut input) in dice_calls() {
        input["session_id"] = session_id.clone();
        let fault = seat.call_refused(tool, &input);
        assert_eq!(code_and_status(&fault), ("REJECTED", "FailedPrecondition"), "{tool}");
        assert_eq!(fault["value"], session_id);
        assert!(fault["hint"].as_str().is_some_and(|hint| hint.contains("another session")), "{fault}");
    }
    assert_eq!(recorded_rolls(seat, &campaign_id), Vec::<Value>::new());
}

fn with_key(key: &str) -> CallOptions<'_> {
    CallOptions { key: Some(key), revision: None }
}

fn revision(seat: &mut TestClient, campaign_id: &str) -> u64 {
    seat.read_ok(&format!("campaign://{campaign_id}"))["revision"].as_u64().expect("a revision")
}

fn a_request_sent_twice_happens_once(seat: &mut TestClient) {
    let input = json!({"name": "Once", "gm_mode": "AI"});
    let first = seat.call_with("campaign_create", &input, with_key("create")).expect("a campaign");
    assert_eq!(seat.call_with("campaign_create", &input, with_key("create")), Ok(first.clone()));
    let other = json!({"name": "Twice", "gm_mode": "AI"});
    let fault = seat.call_with("campaign_create", &other, with_key("create")).expect_err("a fault");
    assert_eq!(code_and_status(&fault), ("IDEMPOTENCY_MISMATCH", "Aborted"));
    let listed = seat.read_ok("campaigns://list")["campaigns"].clone();
    assert_eq!((listed.as_array().map(Vec::len), &listed[0]["id"]), (Some(1), &first["id"]));

    let campaign_id = first["id"].as_str().expect("an id");
    let of = |mut input: Value| {
        input["campaign_id"] = json!(campaign_id);
        input
    };
    let mut before = revision(seat, campaign_id);
    let mut made: Vec<Value> = Vec::new();
    for (tool, input) in [
        ("participant_create", of(json!({"display_name": "Alice", "role": "PLAYER"}))),
        ("actor_create", of(json!({"name": "Thorin", "kind": "PC"}))),
        ("session_start", of(json!({"name": "One"}))),
        ("session_note", of(json!({"text": "They set out."}))),
        ("session_end", of(json!({}))),
        ("campaign_update", of(json!({"name": "Renamed"}))),
        ("campaign_update", of(json!({"method": "end"}))),
    ] {
        let key = format!("{tool} {}", made.len());
        let first = seat.call_with(tool, &input, with_key(&key)).unwrap_or_else(|fault| panic!("{tool}: {fault}"));
        assert_eq!(seat.call_with(tool, &input, with_key(&key)), Ok(first.clone()), "{tool}");
        let after = revision(seat, campaign_id);
        assert_eq!(after, before + 1, "{tool} happened once");
        (before, made) = (after, [made, vec![first]].concat());
    }
    // A key still finds its answer after later requests.
    let again = of(json!({"display_name": "Alice", "role": "PLAYER"}));
    assert_eq!(seat.call_with("participant_create", &again, with_key("participant_create 0")), Ok(made[0].clone()));
    let fault =
        seat.call_with("actor_create", &of(json!({"name": "x", "kind": "PC"})), with_key("participant_create 0"));
    assert_eq!(code_and_status(&fault.expect_err("a fault")), ("IDEMPOTENCY_MISMATCH", "Aborted"));
}

/// A retried `session_end` was once answered with the current session instead of the stored answer.
fn what_was_answered_is_answered_again_whatever_happened_since(seat: &mut TestClient) {
    let StartedCampaign { campaign: campaign_id, session, participant, actor } = start_campaign(seat);
    let of = |mut input: Value| {
        input["campaign_id"] = json!(campaign_id);
        input
    };
    let note = of(json!({"session_id": session, "text": "They set out."}));
    let requests = [
        ("actor_control_set", of(json!({"actor_id": actor, "controller": participant}))),
        ("session_note", note.clone()),
        ("roll_dice", json!({"session_id": session, "actor_id": actor, "dice": [{"sides": 1_000_000, "count": 3}]})),
        ("session_end", of(json!({"session_id": session}))),
        ("participant_update", of(json!({"participant_id": participant, "method": "remove"}))),
        ("actor_update", of(json!({"actor_id": actor, "method": "remove"}))),
    ];
    let answered = requests.map(|(tool, input)| {
        let answer = seat.call_with(tool, &input, with_key(tool)).unwrap_or_else(|fault| panic!("{tool}: {fault}"));
        (tool, input, answer)
    });
    seat.ok("session_note", &note);
    let end = of(json!({"session_id": session}));
    assert_eq!(seat.ok("session_end", &end)["note_count"], 2, "without a key it is answered as it is");
    let fault = seat.call_with("session_end", &end, with_key("session_note")).expect_err("a fault");
    assert_eq!(code_and_status(&fault), ("IDEMPOTENCY_MISMATCH", "Aborted"));
    let fault = seat.call_with("session_end", &end, CallOptions { key: None, revision: Some(1) }).expect_err("a fault");
    assert_eq!(code_and_status(&fault), ("REVISION_CONFLICT", "Aborted"));
    seat.ok("campaign_update", &of(json!({"method": "archive"})));
    let before = revision(seat, &campaign_id);
    for (tool, input, answer) in answered {
        assert_eq!(seat.call_with(tool, &input, with_key(tool)), Ok(answer), "{tool}");
    }
    assert_eq!(revision(seat, &campaign_id), before);
}

fn a_roll_sent_twice_has_the_same_dice(seat: &mut TestClient) {
    let StartedCampaign { campaign: campaign_id, session: session_id, .. } = start_campaign(seat);
    seat.ok("set_context", &json!({"campaign_id": campaign_id, "session_id": session_id}));
    let many = json!({"dice": [{"sides": 1_000_000, "count": 10}]});
    let [duality, _, expression] = dice_calls();
    for (tool, input) in [duality, ("roll_dice", many), expression] {
        let first = seat.call_with(tool, &input, with_key(tool)).expect("a roll");
        for _ in 0..3 {
            assert_eq!(seat.call_with(tool, &input, with_key(tool)), Ok(first.clone()), "{tool}");
        }
        let mut other = input.clone();
        other["session_id"] = session_id.clone();
        let fault = seat.call_with(tool, &other, with_key(tool)).expect_err("a fault");
        assert_eq!(code_and_status(&fault), ("IDEMPOTENCY_MISMATCH", "Aborted"));
    }
    assert_eq!(recorded_rolls(seat, &campaign_id).len(), 3);
}

fn a_revision_that_is_not_the_current_one_is_refused(seat: &mut TestClient) {
    let campaign_id = create_campaign(seat);
    let seen = revision(seat, &campaign_id);
    let rename = |name: &str| json!({"campaign_id": campaign_id, "name": name});
    let pinned = |revision| CallOptions { key: None, revision: Some(revision) };
    seat.call_with("campaign_update", &rename("First"), pinned(seen)).expect("the current one");
    let fault = seat.call_with("campaign_update", &rename("Second"), pinned(seen)).expect_err("a fault");
    assert_eq!(code_and_status(&fault), ("REVISION_CONFLICT", "Aborted"));
    assert_eq!(seat.read_ok(&format!("campaign://{campaign_id}"))["campaign"]["name"], "First");
    // A retry gets the stored answer, though the revision has changed since.
    let how = CallOptions { key: Some("third"), revision: Some(seen + 1) };
    let third = seat.call_with("campaign_update", &rename("Third"), how);
    assert!(third.is_ok(), "{third:?}");
    assert_eq!(seat.call_with("campaign_update", &rename("Third"), how), third);
}

#[test]
fn a_key_is_a_short_plain_text() {
    let world = World::new(StoreKind::Memory);
    let mut seat = world.stdio_client(&[]);
    for key in [json!(""), json!("nul\0"), json!("x".repeat(10_000)), json!(7), json!({})] {
        let arguments = json!({"name": "x", "gm_mode": "AI"});
        let meta = json!({"skald/idempotencyKey": key});
        let call = json!({"name": "campaign_create", "arguments": arguments, "_meta": meta});
        let refused = seat.request("tools/call", &call);
        assert_eq!(refused["error"]["code"], -32602, "{key}: {refused}");
    }
    assert_eq!(seat.read_ok("campaigns://list")["campaigns"], json!([]));
}

#[test]
fn an_etag_is_what_if_match_takes() {
    let world = World::new(StoreKind::Memory);
    let server = world.serve(&[]);
    let campaign_id = create_campaign(&mut server.client(Surface::Rest));
    let mut client = Client::connect(server.address);
    let mut etag = || {
        let read = client.send("GET", &format!("/api/v1/campaigns/{campaign_id}"), &[], b"");
        read.header("etag").expect("an etag").to_owned()
    };
    let seen = etag();
    let rename = |condition: &str| {
        let body = json!({"campaign_id": campaign_id, "name": "Renamed"}).to_string();
        let headers = [JSON, ("If-Match", condition)];
        Client::connect(server.address).send("POST", "/api/v1/campaign_update", &headers, body.as_bytes()).status
    };
    assert_eq!((rename(&seen), rename(&seen), rename("*")), (200, 409, 200));
    assert_eq!((rename("yesterday"), rename("W/\"1\"")), (400, 400));
    assert_ne!(etag(), seen);
}

#[test]
fn every_answer_about_a_campaign_says_what_to_expect_next() {
    let world = World::new(StoreKind::Memory);
    let server = world.serve(&[]);
    let seats = [world.stdio_client(&[]), server.client(Surface::Session), server.client(Surface::Stateless)];
    for mut seat in seats {
        let mut told = |tool: &str, arguments: Value, meta: Value| {
            let answer = seat.request("tools/call", &json!({"name": tool, "arguments": arguments, "_meta": meta}));
            assert_eq!(answer["result"]["isError"], false, "{tool}: {answer}");
            (answer["result"]["_meta"]["skald/revision"].clone(), answer["result"]["structuredContent"].clone())
        };
        let (revision, campaign) = told("campaign_create", json!({"name": "x", "gm_mode": "AI"}), json!({}));
        assert_eq!(revision, 1);
        let of = |mut input: Value| {
            input["campaign_id"] = campaign["id"].clone();
            input
        };
        // Each call expects the revision of the previous answer, without a read in between.
        let expect =
            |revision: &Value, key: &str| json!({"skald/expectedRevision": revision, "skald/idempotencyKey": key});
        let (revision, session) = told("session_start", of(json!({})), expect(&revision, "start"));
        let (revision, _) = told("set_context", of(json!({"session_id": session["id"]})), expect(&revision, "context"));
        assert_eq!(revision, 2, "a context changes no campaign");
        let (revision, _) = told("roll_dice", json!({"dice": [{"sides": 6, "count": 1}]}), expect(&revision, "roll"));
        let (end, _) = told("session_end", json!({}), expect(&revision, "end"));
        assert_eq!(told("session_note", json!({"text": "Later."}), expect(&end, "note")).0, 5);
        assert_eq!(told("session_end", json!({}), expect(&revision, "end")).0, end, "as it was answered");
        assert_eq!(told("session_end", json!({"session_id": session["id"]}), json!({})).0, 5, "as it is");
        for read in ["campaign_read", "events_list", "session_recap"] {
            assert_eq!(told(read, json!({}), json!({})).0, 5, "{read}");
        }
        for of_none in [json!({"view": "campaigns"}), json!({"view": "context"})] {
            assert_eq!(told("campaign_read", of_none, json!({})).0, Value::Null);
        }
        assert_eq!(told("duality_rules_version", json!({}), json!({})).0, Value::Null);
        let uri = format!("campaign://{}/actors", campaign["id"].as_str().expect("an id"));
        let read = seat.request("resources/read", &json!({"uri": uri}));
        assert_eq!(read["result"]["contents"][0]["_meta"]["skald/revision"], 5, "{read}");
    }
}

#[test]
fn every_rest_answer_about_a_campaign_has_an_etag() {
    let world = World::new(StoreKind::Memory);
    let server = world.serve(&[]);
    let mut client = Client::connect(server.address);
    let mut told = |operation: &str, input: Value, expected: Option<&str>| {
        let headers: Vec<(&str, &str)> = [JSON].into_iter().chain(expected.map(|etag| ("If-Match", etag))).collect();
        let reply = client.send("POST", &format!("/api/v1/{operation}"), &headers, input.to_string().as_bytes());
        assert_eq!(reply.status, 200, "{operation}: {}", reply.text());
        reply.header("etag").map(str::to_owned)
    };
    let created = told("campaign_create", json!({"name": "x", "gm_mode": "AI"}), None);
    assert_eq!(created.as_deref(), Some("\"1\""));
    let started = told("session_start", json!({}), created.as_deref());
    let noted = told("session_note", json!({"text": "They set out."}), started.as_deref());
    assert_eq!(noted.as_deref(), Some("\"3\""));
    assert_eq!(told("session_recap", json!({}), None), noted);
    assert_eq!(told("campaign_read", json!({"view": "campaigns"}), None), None);
    let roll = || json!({"dice": [{"sides": 6, "count": 1}]});
    assert_eq!(told("roll_dice", roll(), None).as_deref(), Some("\"4\""), "it is recorded");
    told("session_end", json!({}), None);
    assert_eq!(told("roll_dice", roll(), None), None, "it is not recorded");
}
