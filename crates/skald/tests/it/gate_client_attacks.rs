//! Attacks on a gate by its clients: self-approval, forged context, changed processes, unexpected input. Each fails,
//! and the run goes on as before.

use std::fs;

use serde_json::{Value, json};
use skald_testkit::Client;
use skald_testkit::mcp_messages::JSON;

use crate::gate_document::{CREATE, EMIT};
use crate::gate_server::{Gate, PROOF, Run};
use crate::program_under_test::{CallOptions, OVER_HTTP, Server, StoreKind, Surface, TestClient, code_and_status};

const RUN: &str = "state_gate.run";
const SUBMIT: &str = "state_gate.submit_process";

/// A run in review, after two notes.
fn create_run_in_review(seat: &mut TestClient) -> Run {
    let run = Run::create(seat, "proof");
    let notes = json!({"artifacts": [{"path": "note.md", "text": "seen"}, {"path": "note-2.md", "text": "seen too"}]});
    assert_eq!(run.emit_accepted(seat, "finish", &notes)["transition"]["to_state"], "review");
    run
}

fn assert_state(seat: &mut TestClient, run: &Run, state: &str, revision: u64) {
    let found = run.state(seat);
    assert_eq!((&found["current_state"], &found["revision"]), (&json!(state), &json!(revision)), "{found}");
}

/// A client with a new token.
fn client_with_new_token(gate: &Gate, server: &Server, surface: Surface, arguments: &[&str]) -> TestClient {
    let (token, _) = gate.world.create_token(&[arguments, &["--role", "gm"]].concat());
    server.client_with(surface, Some(&token), "test")
}

#[test]
fn nobody_decides_on_their_own_work() {
    let gate = Gate::new(StoreKind::Sqlite);
    let server = gate.serve(&[]);
    let (token, _) = gate.world.create_token(&["Ada", "--role", "gm", "--gate-role", "reviewer"]);
    let mut seats = OVER_HTTP.map(|surface| server.client_with(surface, Some(&token), "test"));
    let run = create_run_in_review(&mut seats[0]);
    // The same token on another surface is the same person.
    for seat in &mut seats {
        let (code, error) = run.emit_refused(seat, "approve", &json!({}));
        assert_eq!(code, "FORBIDDEN", "{error}");
        assert!(error["message"].as_str().is_some_and(|why| why.contains("may not decide on it")), "{error}");
        let events = seat.ok("state_gate.list_events", &json!({"run_id": run.id}));
        assert_eq!(events["events"], json!([]), "nor is it offered");
        assert_state(seat, &run, "review", 2);
    }
    // An agent may not approve anybody's work, even if its payload claims another role.
    let mut agents = [
        server.client(Surface::Session),
        client_with_new_token(&gate, &server, Surface::Rest, &["robot", "--kind", "agent"]),
    ];
    for agent in &mut agents {
        for fields in [json!({}), json!({"payload": {"role": "reviewer", "approved_by": "Ada"}})] {
            let (code, error) = run.emit_refused(agent, "approve", &fields);
            assert_eq!(
                (code.as_str(), &error["message"]),
                ("FORBIDDEN", &json!("role 'agent' may not emit 'approve'"))
            );
        }
        let mut input = run.event_input(agent, "approve", &json!({}));
        input["role"] = json!("reviewer");
        assert_eq!(code_and_status(&agent.call_refused(EMIT, &input)).0, "INVALID_PARAMS", "a role is not asked for");
        assert_state(agent, &run, "review", 2);
    }
    let mut other = client_with_new_token(&gate, &server, Surface::Stateless, &["Bo", "--gate-role", "reviewer"]);
    assert_eq!(run.emit_accepted(&mut other, "approve", &json!({}))["transition"]["to_state"], "done");
    // The decision depends on the person, not on the event. The history has every refused attempt.
    let history = run.history(&mut other);
    let tried = history.iter().filter(|entry| entry["event_name"] == "approve" && entry["accepted"] == false);
    assert_eq!(tried.filter(|entry| entry["code"] == "FORBIDDEN").count(), 7, "{history:?}");
}

/// `--role` sets the owner's role on a server, but the owner is one person on all servers.
#[test]
fn an_owner_with_two_roles_is_one_person() {
    let gate = Gate::new(StoreKind::Sqlite);
    let (as_agent, as_human) = (gate.serve(&[]), gate.serve(&["--role", "human"]));
    let (mut agent, mut human) = (as_agent.client(Surface::Session), as_human.client(Surface::Session));
    let run = create_run_in_review(&mut agent);
    let (code, error) = run.emit_refused(&mut human, "approve", &json!({}));
    assert_eq!(code, "FORBIDDEN", "{error}");
    assert!(error["message"].as_str().is_some_and(|why| why.contains("may not decide on it")), "{error}");
    assert_state(&mut human, &run, "review", 2);
    // An override does not help either: it skips guards, and approval is not a guard.
    let input = json!({"method": "override", "run_id": run.id, "event_name": "approve", "reason": "I say so",
        "expected_revision": 2});
    assert_eq!(code_and_status(&human.call_refused(RUN, &input)).0, "FORBIDDEN");
    assert_state(&mut agent, &run, "review", 2);
    // The owner may decide on the work of others.
    let mut robot = client_with_new_token(&gate, &as_human, Surface::Rest, &["robot", "--kind", "agent"]);
    let run = create_run_in_review(&mut robot);
    assert_eq!(run.emit_accepted(&mut human, "approve", &json!({}))["transition"]["to_state"], "done");
}

#[test]
fn what_a_guard_reads_is_not_for_everybody_to_say() {
    let gate = Gate::new(StoreKind::Sqlite);
    let server = gate.serve(&[]);
    for surface in OVER_HTTP {
        let mut seat = server.client(surface);
        let run = Run::create(&mut seat, "proof");
        for event in ["submit_note", "finish", "skip"] {
            let (code, error) =
                run.emit_refused(&mut seat, event, &json!({"payload": {"vouched": true, "why": "trust"}}));
            assert_eq!(code, "INVALID_PAYLOAD", "{event}: {error}");
            assert_eq!(error["details"]["validation_errors"][0]["path"], "/payload/vouched", "{event}: {error}");
        }
        assert_eq!(run.emit_refused(&mut seat, "vouch", &json!({"payload": {"vouched": true}})).0, "FORBIDDEN");
        assert_eq!(run.emit_refused(&mut seat, "skip", &json!({})).0, "GUARD_FAILED");
        let state = run.state(&mut seat);
        assert_eq!((&state["context"], &state["revision"]), (&json!({}), &json!(1)), "nothing of it is kept");
        let born = seat.call_refused(CREATE, &json!({"process_id": "proof", "context": {"vouched": true}}));
        assert_eq!(code_and_status(&born).0, "INVALID_PAYLOAD", "{born}");
    }
    // Anybody may set context variables that no guard reads; they open nothing.
    let mut seat = server.client(Surface::Rest);
    let run = Run::create(&mut seat, "proof");
    run.emit_accepted(&mut seat, "submit_note", &json!({"payload": {"Vouched": true, "two_notes": true}}));
    assert_eq!(run.emit_refused(&mut seat, "skip", &json!({})).0, "GUARD_FAILED");
    let mut human = client_with_new_token(&gate, &server, Surface::Rest, &["Ada", "--gate-role", "human"]);
    run.emit_accepted(&mut human, "vouch", &json!({"payload": {"vouched": true}}));
    assert_eq!(run.emit_accepted(&mut seat, "skip", &json!({}))["transition"]["to_state"], "review");
}

/// Replaces the process file with one that has no guards.
#[test]
fn an_edited_process_serves_new_runs_only() {
    let gate = Gate::new(StoreKind::Sqlite);
    let mut server = gate.serve(&[]);
    let mut seat = server.client(Surface::Session);
    let run = Run::create(&mut seat, "proof");
    let open = PROOF.replace(", guard: two_notes", "").replace("version: \"1\"", "version: \"2\"");
    gate.write_process("proof", &open);
    for round in 0..2 {
        let state = run.state(&mut seat);
        assert_eq!((&state["process_version"], &state["current_state"]), (&json!("1"), &json!("collect")));
        assert_eq!(run.emit_refused(&mut seat, "finish", &json!({})).0, "GUARD_FAILED", "round {round}");
        let new = Run::create(&mut seat, "proof");
        assert_eq!(new.state(&mut seat)["process_version"], "2");
        assert_eq!(new.emit_accepted(&mut seat, "finish", &json!({}))["transition"]["to_state"], "review");
        // The same holds after a restart.
        server.kill();
        server = gate.serve(&[]);
        seat = server.client(Surface::Session);
    }
    // An unreadable or deleted process file does not affect existing runs.
    gate.write_process("proof", "process: [");
    assert_eq!(code_and_status(&seat.call_refused(CREATE, &json!({"process_id": "proof"}))).0, "INVALID_PROCESS");
    assert_eq!(run.emit_refused(&mut seat, "finish", &json!({})).0, "GUARD_FAILED");
    fs::remove_dir_all(gate.world.folder().join("processes")).expect("a folder");
    assert_eq!(code_and_status(&seat.call_refused(CREATE, &json!({"process_id": "proof"}))).0, "PROCESS_NOT_FOUND");
    assert_eq!(run.emit_refused(&mut seat, "finish", &json!({})).0, "GUARD_FAILED");
}

#[test]
fn an_id_is_no_path() {
    let gate = Gate::new(StoreKind::Sqlite);
    fs::write(gate.world.folder().join("open.yaml"), PROOF.replace("id: proof", "id: open")).expect("a file");
    let server = gate.serve(&[]);
    let outside = gate.world.folder().join("open").display().to_string();
    for surface in OVER_HTTP {
        let mut seat = server.client(surface);
        for id in
            ["../open", "./../open", "..%2fopen", "processes/../../open", "..\\open", "../open.yaml", &outside, ""]
        {
            let fault = seat.call_refused(CREATE, &json!({"process_id": id}));
            assert_eq!(code_and_status(&fault).0, "PROCESS_NOT_FOUND", "{id}: {fault}");
        }
        for id in ["../run", "a/b", "..", ".", "", "a\\b", "a\0b", &"x".repeat(300)] {
            let fault = seat.call_refused(CREATE, &json!({"process_id": "proof", "run_id": id}));
            assert_eq!(code_and_status(&fault).0, "INVALID_PARAMS", "{id:?}: {fault}");
            assert_eq!(
                code_and_status(&seat.call_refused("state_gate.get_state", &json!({"run_id": id}))).0,
                "RUN_NOT_FOUND",
                "{id:?}"
            );
        }
        // A run id that is taken cannot be used again.
        let run = Run::create(&mut seat, "proof");
        let again = seat.call_refused(CREATE, &json!({"process_id": "race", "run_id": run.id}));
        assert_eq!(code_and_status(&again).0, "PROCESS_NOT_FOUND");
        let again = seat.call_refused(CREATE, &json!({"process_id": "quest", "run_id": run.id}));
        assert_eq!(code_and_status(&again).0, "REJECTED", "{again}");
        assert_state(&mut seat, &run, "collect", 1);
    }
}

#[test]
fn the_end_is_the_end() {
    let gate = Gate::new(StoreKind::Sqlite);
    let server = gate.serve(&[]);
    for surface in OVER_HTTP {
        let mut seat = server.client(surface);
        let mut human = client_with_new_token(&gate, &server, surface, &["Ada", "--gate-role", "human"]);
        let run = create_run_in_review(&mut seat);
        run.emit_accepted(&mut human, "approve", &json!({}));
        for event in ["submit_note", "finish", "skip", "vouch", "approve"] {
            for seat in [&mut seat, &mut human] {
                assert_eq!(run.emit_refused(seat, event, &json!({})).0, "INVALID_EVENT", "{event}");
            }
        }
        for input in [
            json!({"method": "override", "run_id": run.id, "event_name": "finish", "reason": "again",
                "expected_revision": 3}),
            json!({"method": "cancel", "run_id": run.id, "reason": "again"}),
        ] {
            assert_eq!(code_and_status(&human.call_refused(RUN, &input)).0, "INVALID_EVENT", "{input}");
        }
        let state = run.state(&mut seat);
        assert_eq!((&state["status"], &state["revision"]), (&json!("finished"), &json!(3)), "{state}");
        assert_eq!((&state["allowed_events"], &state["missing_guards"]), (&json!([]), &json!([])));
    }
}

#[test]
fn an_agent_neither_cancels_nor_overrides_nor_writes_the_process() {
    let gate = Gate::new(StoreKind::Sqlite);
    let server = gate.serve(&[]);
    let open = PROOF.replace(", guard: two_notes", "").replace("id: proof", "id: open");
    let seats = [
        server.client(Surface::Session),
        server.client(Surface::Rest),
        client_with_new_token(&gate, &server, Surface::Stateless, &["robot", "--kind", "agent"]),
        client_with_new_token(&gate, &server, Surface::Rest, &["agent", "--gate-role", "agent"]),
    ];
    for mut seat in seats {
        let run = Run::create(&mut seat, "proof");
        for (tool, input) in [
            (RUN, json!({"method": "cancel", "run_id": run.id, "reason": "enough"})),
            (
                RUN,
                json!({"method": "override", "run_id": run.id, "event_name": "finish", "reason": "it is fine",
                "expected_revision": 1}),
            ),
            (SUBMIT, json!({"source": open})),
            (SUBMIT, json!({"source": PROOF.replace(", guard: two_notes", "")})),
        ] {
            let fault = seat.call_refused(tool, &input);
            assert_eq!(code_and_status(&fault), ("FORBIDDEN", "PermissionDenied"), "{tool} {input}: {fault}");
        }
        assert_eq!(code_and_status(&seat.call_refused(CREATE, &json!({"process_id": "open"}))).0, "PROCESS_NOT_FOUND");
        assert_state(&mut seat, &run, "collect", 1);
        assert_eq!(run.emit_refused(&mut seat, "override_guard", &json!({})).0, "INVALID_EVENT");
    }
    // A token of kind agent may not override, whatever its gate role. A person may, and the history records it.
    let mut robot =
        client_with_new_token(&gate, &server, Surface::Rest, &["robot", "--kind", "agent", "--gate-role", "human"]);
    let run = Run::create(&mut robot, "proof");
    let input = json!({"method": "override", "run_id": run.id, "event_name": "finish", "reason": "it is fine",
                "expected_revision": 1});
    assert_eq!(code_and_status(&robot.call_refused(RUN, &input)).0, "FORBIDDEN");
    let mut human = client_with_new_token(&gate, &server, Surface::Rest, &["Ada", "--gate-role", "human"]);
    assert_eq!(human.ok(RUN, &input)["overridden"]["transition"]["to_state"], "review");
    let last = run.history(&mut human).pop().expect("an entry");
    assert_eq!((&last["event_name"], &last["reason"]), (&json!("override_guard"), &json!("it is fine")), "{last}");
}

#[test]
fn a_request_that_nobody_expects_changes_nothing() {
    let gate = Gate::new(StoreKind::Sqlite);
    let server = gate.serve(&[]);
    for surface in OVER_HTTP {
        let mut seat = server.client(surface);
        let run = Run::create(&mut seat, "proof");
        let wrong = [
            ("idempotency_key", json!(7)),
            ("idempotency_key", json!(null)),
            ("idempotency_key", json!(["a"])),
            ("expected_revision", json!("1")),
            ("expected_revision", json!(-1)),
            ("expected_revision", json!(1.5)),
            ("artifact_paths", json!("note.md")),
            ("artifact_paths", json!([7])),
            ("payload", json!([])),
            ("event_name", json!({"name": "finish"})),
            ("context", json!({"vouched": true})),
        ];
        for (field, value) in wrong {
            let input = run.event_input(&mut seat, "submit_note", &json!({field: value}));
            let fault = seat.call_refused(EMIT, &input);
            assert_eq!(code_and_status(&fault).0, "INVALID_PARAMS", "{field} {value}: {fault}");
            assert_state(&mut seat, &run, "collect", 1);
        }
        for (key, why) in [("", "Must not be empty"), ("  ", "Must not be blank"), (&"k".repeat(201), "at most 200")] {
            let (code, error) = run.emit_refused(&mut seat, "submit_note", &json!({"idempotency_key": key}));
            let told = &error["details"]["validation_errors"][0];
            assert_eq!((code.as_str(), &told["path"]), ("INVALID_PAYLOAD", &json!("/idempotency_key")), "{error}");
            assert!(told["message"].as_str().is_some_and(|message| message.contains(why)), "{error}");
            let message = error["message"].as_str().unwrap();
            assert!(message.starts_with("idempotency_key") && message.contains(why), "it speaks of the key: {error}");
        }
        let huge = json!({"payload": {"text": "x".repeat(100_001)}});
        let (code, error) = run.emit_refused(&mut seat, "submit_note", &huge);
        assert_eq!(code, "TOO_LARGE", "{error}");
        assert_state(&mut seat, &run, "collect", 1);
        // An idempotency key belongs to one request: another request under it is refused, and does not get the first
        // answer.
        let input = run.event_input(&mut seat, "submit_note", &json!({"idempotency_key": "once"}));
        let first = seat.ok(EMIT, &input);
        let mut other = input.clone();
        other["payload"] = json!({"text": "another"});
        assert_eq!(seat.ok(EMIT, &other)["error"]["code"], "IDEMPOTENCY_MISMATCH");
        let beside = |key: &'static str| CallOptions { key: Some(key), revision: None };
        let refused = seat.call_with(EMIT, &input, beside("another")).expect_err("two keys that differ");
        assert_eq!((&refused["code"], &refused["path"]), (&json!("INVALID_PARAMS"), &json!("/idempotency_key")));
        let again = seat.call_with(EMIT, &input, beside("once")).expect("a replay");
        assert_eq!(again["result"]["event_id"], first["result"]["event_id"]);
        assert_state(&mut seat, &run, "collect", 2);
    }
}

/// Requests that are too large or too deeply nested never reach the run.
#[test]
fn a_flood_does_not_reach_the_run() {
    let gate = Gate::new(StoreKind::Sqlite);
    let server = gate.serve(&[]);
    let mut seat = server.client(Surface::Rest);
    let run = Run::create(&mut seat, "proof");
    let input = run.event_input(&mut seat, "submit_note", &json!({"payload": {"text": "x".repeat(11_000_000)}}));
    let reply = Client::connect(server.address).try_send(
        "POST",
        "/api/v1/state_gate.emit_event",
        &[JSON],
        input.to_string().as_bytes(),
    );
    // The server may close the connection before the whole body is sent.
    assert!(reply.is_err() || reply.is_ok_and(|reply| reply.status == 413));
    let mut deep = Value::Null;
    for _ in 0..100 {
        deep = json!([deep]);
    }
    let input = run.event_input(&mut seat, "submit_note", &json!({"payload": {"deep": deep}}));
    assert_eq!(code_and_status(&seat.call_refused(EMIT, &input)).0, "INVALID_PARAMS");
    assert_state(&mut seat, &run, "collect", 1);
}
