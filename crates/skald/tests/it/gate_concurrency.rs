//! Tests of a hundred clients that emit an event at once: one wins, and the others leave no trace.

use std::sync::Barrier;

use serde_json::{Value, json};

use crate::gate_document::EMIT;
use crate::gate_examples::without_replay_mark;
use crate::gate_server::{Gate, Run};
use crate::program_under_test::{OVER_HTTP, Server, StoreKind, Surface, TestClient};

const RACERS: usize = 100;

/// The first event wins, and only its payload gets into the context.
const RACE: &str = r#"
process: {id: race, version: "1", name: Race, initial_state: start, initial_context: {track: gravel}}
states: [{name: start}, {name: won, is_final: true}]
events:
  - {name: run, allowed_roles: ["*"]}
  - {name: stop, allowed_roles: ["*"]}
transitions: [{from: start, event: run, to: start}, {from: start, event: stop, to: won}]
"#;

#[test]
fn one_racer_wins_on_sqlite() {
    let gate = gate_with_race(StoreKind::Sqlite);
    let server = gate.serve(&[]);
    assert_one_wins(&[&server]);
}

#[test]
fn racers_with_one_key_are_one_on_sqlite() {
    let gate = gate_with_race(StoreKind::Sqlite);
    let server = gate.serve(&[]);
    assert_one_event(&[&server]);
}

/// Processes on one file share nothing but the file.
#[test]
fn one_racer_wins_among_processes_on_one_file() {
    let gate = gate_with_race(StoreKind::Sqlite);
    let servers = [gate.serve(&[]), gate.serve(&[])];
    assert_one_wins(&[&servers[0], &servers[1]]);
    assert_one_event(&[&servers[0], &servers[1]]);
}

mod postgres {
    use super::*;

    #[test]
    fn one_racer_wins_across_nodes() {
        let gate = gate_with_race(StoreKind::Postgres);
        let nodes = [gate.serve_without_artifacts(), gate.serve_without_artifacts()];
        assert_one_wins(&[&nodes[0], &nodes[1]]);
    }

    #[test]
    fn racers_with_one_key_are_one_across_nodes() {
        let gate = gate_with_race(StoreKind::Postgres);
        let nodes = [gate.serve_without_artifacts(), gate.serve_without_artifacts()];
        assert_one_event(&[&nodes[0], &nodes[1]]);
    }
}

fn gate_with_race(kind: StoreKind) -> Gate {
    let gate = Gate::new(kind);
    gate.write_process("race", RACE);
    gate
}

/// Sends one request of each racer at once, to the servers and to the HTTP surfaces in turn.
fn send_at_once(servers: &[&Server], request: impl Fn(usize) -> Value + Sync) -> Vec<Value> {
    let start = Barrier::new(RACERS);
    let seats: Vec<TestClient> =
        (0..RACERS).map(|racer| servers[racer % servers.len()].client(OVER_HTTP[racer % OVER_HTTP.len()])).collect();
    std::thread::scope(|scope| {
        let racers: Vec<_> = seats
            .into_iter()
            .enumerate()
            .map(|(racer, mut seat)| {
                let (start, request) = (&start, &request);
                scope.spawn(move || {
                    let input = request(racer);
                    start.wait();
                    seat.ok(EMIT, &input)
                })
            })
            .collect();
        racers.into_iter().map(|racer| racer.join().expect("an answer")).collect()
    })
}

fn assert_one_wins(servers: &[&Server]) {
    let mut seat = servers[0].client(Surface::Rest);
    let run = Run::create(&mut seat, "race");
    let payload = |racer: usize| json!({"winner": racer, format!("racer_{racer}"): true});
    let answers = send_at_once(servers, |racer| {
        json!({
            "run_id": run.id, "event_name": "run", "payload": payload(racer), "expected_revision": 1,
            "idempotency_key": format!("racer {racer}")
        })
    });
    let winners: Vec<usize> = (0..RACERS).filter(|racer| answers[*racer]["success"] == true).collect();
    let [winner] = winners[..] else { panic!("{} won", winners.len()) };
    assert_eq!(answers[winner]["result"]["new_revision"], 2);
    let conflict = json!({"code": "REVISION_CONFLICT", "message": "Expected revision 1, but current is 2"});
    for loser in (0..RACERS).filter(|racer| *racer != winner) {
        let error = &answers[loser]["error"];
        assert_eq!(error["details"], json!({"current_revision": 2}), "{error}");
        assert_eq!(json!({"code": error["code"], "message": error["message"]}), conflict);
    }

    let mut context = payload(winner);
    context["track"] = json!("gravel");
    for server in servers {
        let state = run.state(&mut server.client(Surface::Rest));
        assert_eq!((&state["context"], &state["revision"]), (&context, &json!(2)), "nothing of a loser");
    }
    let history = run.history(&mut seat);
    let tried = |accepted: bool| history.iter().filter(|entry| entry["accepted"] == accepted).collect::<Vec<_>>();
    let (accepted, refused) = (tried(true), tried(false));
    let names: Vec<&Value> = accepted.iter().map(|entry| &entry["event_name"]).collect();
    assert_eq!((names, refused.len()), (vec![&json!("created"), &json!("run")], RACERS - 1));
    assert_eq!(accepted[1]["payload"], payload(winner));
    for entry in refused {
        assert_eq!((&entry["code"], &entry["revision"]), (&conflict["code"], &json!(2)), "{entry}");
    }
}

fn assert_one_event(servers: &[&Server]) {
    let mut seat = servers[0].client(Surface::Rest);
    let run = Run::create(&mut seat, "race");
    let answers = send_at_once(servers, |_| {
        json!({
            "run_id": run.id, "event_name": "run", "payload": {"lap": 1}, "expected_revision": 1,
            "idempotency_key": "the same"
        })
    });
    let again = |answer: &&Value| {
        let result = &answer["result"];
        let marks = (result.get("replayed"), result.get("code"));
        assert!(
            matches!(marks, (None, None)) || marks == (Some(&json!(true)), Some(&json!("IDEMPOTENT_REPLAY"))),
            "{answer}"
        );
        marks.0.is_some()
    };
    assert_eq!(answers.iter().filter(again).count(), RACERS - 1, "all but one are told that it was done before");
    let expected = without_replay_mark(answers[0].clone());
    assert_eq!((&expected["success"], &expected["result"]["new_revision"]), (&json!(true), &json!(2)), "{expected}");
    for answer in answers {
        assert_eq!(without_replay_mark(answer), expected);
    }
    let history = run.history(&mut seat);
    assert_eq!(history.len(), 2, "its creation and one event: {history:?}");
    assert_eq!(history[1]["event_id"], expected["result"]["event_id"]);
    assert_eq!(run.state(&mut seat)["revision"], 2);
}
