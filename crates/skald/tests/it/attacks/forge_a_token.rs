//! Attack: gaining the permission to approve by a row in the store, a second token, or a token removed afterwards.

use serde_json::{Value, json};

use crate::attacks::edited_store::{EditedStore, verify_store};
use crate::attacks::tamper_with_the_store::create_run_with_attempt;
use crate::gate_server::{Gate, Run};
use crate::program_under_test::{StoreKind, Surface, World};

/// A token's secret, and its row outside of the journal, as the first versions stored tokens.
const SECRET: &str = "skald_aaaaaaaaaaaa_older";
const ROW: &str = r#"{"holder":{"id":"token_aaaaaaaaaaaa","name":"Ada Older","kind":"human","roles":{"*":"gm"},"gate_role":"human"},"created_at":"2026-01-02T03:04:05Z","hash":"7d2232f62a1bdb6bf8fc584760687cf52a473d61e56316fe01ade72950d1bb52"}"#;

fn insert_row_statement() -> String {
    format!("INSERT INTO shelf (kind, key, body) VALUES ('token', 'token_aaaaaaaaaaaa', '{ROW}')")
}

fn list_tokens(world: &World) -> Vec<String> {
    let output = world.run(&["token", "list"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

fn a_row_is_no_token(kind: StoreKind) {
    let gate = Gate::new(kind);
    let world = &gate.world;
    world.create_token(&["Ada"]);
    let root = verify_store(world).expect("sound");
    EditedStore::new(world).edit(&insert_row_statement());
    let findings = verify_store(world).expect_err("a row that is no event");
    assert!(findings[0].starts_with("token_unrecorded: token token_aaaaaaaaaaaa: "), "{findings:?}");
    let server = gate.serve(&[]);
    let refused =
        server.client_with(Surface::Rest, Some(SECRET), "test").call_refused("state_gate.list_runs", &json!({}));
    assert_eq!(refused["code"], "UNAUTHORIZED", "{refused}");
    assert!(!list_tokens(world).iter().any(|line| line.contains("token_aaaaaaaaaaaa")));
    assert!(world.run(&["token", "revoke", "token_aaaaaaaaaaaa"]).status.success());
    assert_eq!(verify_store(world), Ok(root));
}

fn a_forged_state_of_tokens_is_not_opened(kind: StoreKind) {
    let gate = Gate::new(kind);
    let world = &gate.world;
    world.create_token(&["Ada"]);
    EditedStore::new(world).edit(
        "INSERT INTO snapshots (stream, shard, version, revision, hash, body, mark, parts, digest)
        SELECT stream, shard, 1, revision, hash, '{\"tokens\":{},\"has_begun\":true}', 0, 1, hash FROM records
        WHERE stream = 'access/tokens'",
    );
    let findings = verify_store(world).expect_err("a snapshot where there is none");
    assert!(findings[0].starts_with("snapshot_orphaned: access/tokens: "), "{findings:?}");
    assert_eq!(list_tokens(world).len(), 1, "the token is still there");
}

/// A store of this version never had tokens in rows, so such a row is ignored, even if the journal has no tokens yet.
fn a_row_in_a_store_without_tokens_is_no_token(kind: StoreKind) {
    let gate = Gate::new(kind);
    let world = &gate.world;
    create_run_with_attempt(&gate);
    let root = verify_store(world).expect("sound");
    let store = EditedStore::new(world);
    store.edit(&insert_row_statement());
    let findings = verify_store(world).expect_err("a row that is no event");
    assert!(findings[0].starts_with("token_unrecorded: token token_aaaaaaaaaaaa: "), "{findings:?}");
    assert!(!list_tokens(world).iter().any(|line| line.contains("token_aaaaaaaaaaaa")));
    let server = gate.serve(&[]);
    let refused =
        server.client_with(Surface::Rest, Some(SECRET), "test").call_refused("state_gate.list_runs", &json!({}));
    assert_eq!(refused["code"], "UNAUTHORIZED", "{refused}");
    drop(server);
    store.undo();
    assert_eq!(verify_store(world), Ok(root), "and no event was made of it");
}

/// Opening a store of an older version, for any command, copies its tokens from rows into the journal.
fn older_tokens_are_taken_over_once(kind: StoreKind) {
    let gate = Gate::new(kind);
    let world = &gate.world;
    create_run_with_attempt(&gate);
    let store = EditedStore::new(world);
    store.edit(&insert_row_statement());
    store.lower_version(4);
    verify_store(world).expect("a store of an older version is sound");
    store.edit(&insert_row_statement().replace("token_aaaaaaaaaaaa", "token_bbbbbbbbbbbb"));
    let findings = verify_store(world).expect_err("a row that came later");
    assert!(findings[0].starts_with("token_unrecorded: token token_bbbbbbbbbbbb: "), "{findings:?}");
    store.edit("DELETE FROM shelf WHERE kind = 'token'");
    let server = gate.serve(&[]);
    server.client_with(Surface::Rest, Some(SECRET), "test").ok("state_gate.list_runs", &json!({}));
    let tokens = list_tokens(world);
    let line = "token_aaaaaaaaaaaa  Ada Older  gm everywhere, human at gates  person ada older  \
        made 2026-01-02T03:04:05Z, recorded ";
    assert!(tokens.len() == 1 && tokens[0].starts_with(line), "{tokens:?}");
    verify_store(world).expect("the row is gone, and the event is there");
}

#[test]
fn a_row_in_a_file_is_no_token() {
    a_row_is_no_token(StoreKind::Sqlite);
}

#[test]
fn a_row_in_a_file_without_tokens_is_no_token() {
    a_row_in_a_store_without_tokens_is_no_token(StoreKind::Sqlite);
}

#[test]
fn a_forged_state_of_tokens_in_a_file_is_not_opened() {
    a_forged_state_of_tokens_is_not_opened(StoreKind::Sqlite);
}

#[test]
fn older_tokens_in_a_file_are_taken_over_once() {
    older_tokens_are_taken_over_once(StoreKind::Sqlite);
}

mod postgres {
    use super::*;

    #[test]
    fn a_row_in_a_table_is_no_token() {
        a_row_is_no_token(StoreKind::Postgres);
    }

    #[test]
    fn a_row_in_a_table_without_tokens_is_no_token() {
        a_row_in_a_store_without_tokens_is_no_token(StoreKind::Postgres);
    }

    #[test]
    fn a_forged_state_of_tokens_in_a_table_is_not_opened() {
        a_forged_state_of_tokens_is_not_opened(StoreKind::Postgres);
    }

    #[test]
    fn older_tokens_in_a_table_are_taken_over_once() {
        older_tokens_are_taken_over_once(StoreKind::Postgres);
    }
}

/// A run in review, with two notes that this client submitted.
fn create_run_in_review(seat: &mut crate::program_under_test::TestClient) -> Run {
    let run = Run::create(seat, "proof");
    let notes = json!({"artifacts": [{"path": "note.md", "text": "one"}, {"path": "note-2.md", "text": "two"}]});
    assert_eq!(run.emit_accepted(seat, "finish", &notes)["transition"]["to_state"], "review");
    run
}

#[test]
fn a_second_token_of_a_person_approves_none_of_their_work() {
    let gate = Gate::new(StoreKind::Sqlite);
    let server = gate.serve(&[]);
    let reviewer = ["--role", "gm", "--gate-role", "reviewer"];
    let seat_of = |arguments: &[&str]| {
        let (token, id) = gate.world.create_token(&[arguments, &reviewer].concat());
        (server.client_with(Surface::Rest, Some(&token), "test"), id)
    };
    let (mut first, first_id) = seat_of(&["Ada"]);
    let run = create_run_in_review(&mut first);
    for arguments in [&["  ADA "][..], &["Somebody else", "--person", "ada"]] {
        let (mut second, id) = seat_of(arguments);
        let (code, error) = run.emit_refused(&mut second, "approve", &json!({}));
        assert_eq!(code, "FORBIDDEN", "{error}");
        let also = format!("'{id} (also {first_id})' submitted to this run, and may not decide on it");
        assert_eq!(error["message"], also, "{error}");
    }
    // The revocation of the first token changes nothing: the person stays the same.
    assert!(gate.world.run(&["token", "revoke", &first_id]).status.success());
    let (mut third, _) = seat_of(&["ada"]);
    assert_eq!(run.emit_refused(&mut third, "approve", &json!({})).0, "FORBIDDEN");
    // A token for the person `owner` may not approve what the owner submitted.
    let owners = create_run_in_review(&mut server.client(Surface::Rest));
    let (mut own, _) = seat_of(&["Nils", "--person", "owner"]);
    assert_eq!(owners.emit_refused(&mut own, "approve", &json!({})).0, "FORBIDDEN");
    let (mut other, _) = seat_of(&["Bo"]);
    assert_eq!(run.emit_accepted(&mut other, "approve", &json!({}))["transition"]["to_state"], "done");
}

#[test]
fn a_token_that_decided_is_told_of_also_once_it_is_revoked() {
    let gate = Gate::new(StoreKind::Sqlite);
    let server = gate.serve(&[]);
    let mut agent = server.client(Surface::Rest);
    let run = create_run_in_review(&mut agent);
    let (token, id) = gate.world.create_token(&["Reviewer", "--role", "gm", "--gate-role", "human"]);
    let mut made = server.client_with(Surface::Rest, Some(&token), "test");
    assert_eq!(run.emit_accepted(&mut made, "approve", &json!({}))["transition"]["to_state"], "done");
    assert!(gate.world.run(&["token", "revoke", &id]).status.success());
    let history = run.history(&mut agent);
    assert_eq!(history[0]["token"], Value::Null, "the owner has none");
    let decision = history.iter().find(|entry| entry["event_name"] == "approve").expect("a decision");
    let told = &decision["token"];
    assert_eq!((&decision["by"], &told["name"], &told["person"]), (&json!(id), &json!("Reviewer"), &json!("reviewer")));
    assert_eq!((&told["made_by"], &told["made_with"]), (&json!("owner"), &json!("skald token create")));
    assert!(told["made_at"].is_string() && told["revoked_at"].is_string(), "{told}");
    let shown = gate.world.run(&["gate", "history", "--run-id", &run.id]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(
        shown.contains("token Reviewer of reviewer, made ") && shown.contains("by owner with skald token create"),
        "{shown}"
    );
    let tokens = list_tokens(&gate.world);
    assert!(
        tokens[1].contains("by owner with skald token create  REVOKED ")
            && tokens[1].ends_with("with skald token revoke"),
        "{tokens:?}"
    );
}
