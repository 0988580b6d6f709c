//! Attack: editing the tables of the store directly. `verify` names each change, and `rebuild` restores the rows that
//! derive from records.

use serde_json::json;

use crate::attacks::edited_store::{EditedStore, verify_store};
use crate::gate_server::{Gate, Run};
use crate::program_under_test::{StoreKind, Surface};

/// A run with submitted evidence and a refused attempt.
pub(super) fn create_run_with_attempt(gate: &Gate) -> Run {
    let server = gate.serve(&[]);
    let mut seat = server.client(Surface::Rest);
    let run = Run::create(&mut seat, "proof");
    for path in ["note.md", "note-2.md"] {
        run.emit_accepted(
            &mut seat,
            "submit_note",
            &json!({"artifacts": [{"path": path, "text": format!("{path} is here")}]}),
        );
    }
    assert_eq!(run.emit_refused(&mut seat, "approve", &json!({})).0, "FORBIDDEN");
    run
}

/// The body of a snapshot in which the run is finished.
fn finished_run_snapshot(run: &Run) -> String {
    json!({
        "run": {
            "id": run.id, "process": {"id": "proof", "version": "1", "hash": "00"}, "campaign_id": null, "folder": null,
            "created_at": "2026-01-01T00:00:00Z", "created_by": "owner",
        },
        "status": "finished", "state": "done", "context": {}, "context_bytes": 0,
        "evidence": {"by_path": {}, "by_type": {}, "in_files": []}, "attempts": {}, "visits": {}, "entered": ["done"],
        "submitters": [], "updated_at": null, "revision": 3,
    })
    .to_string()
}

/// Statements that tamper with the store, each with the finding that `verify` must report.
fn tampering_statements(run: &Run) -> Vec<(&'static str, String)> {
    let stream = format!("stream = 'run/{}'", run.id);
    let second = format!("{stream} AND revision = 2");
    vec![
        ("record_changed", format!("UPDATE records SET body = replace(body, 'note.md', 'nice.md') WHERE {second}")),
        ("record_changed", format!("UPDATE records SET by = 'somebody' WHERE {second}")),
        ("record_missing", format!("DELETE FROM records WHERE {second}")),
        ("head_without_records", format!("DELETE FROM records WHERE {stream} AND revision = 3")),
        ("head_missing", format!("DELETE FROM heads WHERE {stream}")),
        (
            "record_hidden",
            format!("UPDATE heads SET revision = 2, hash = (SELECT hash FROM records WHERE {second}) WHERE {stream}"),
        ),
        ("snapshot_differs", forged_snapshot_statement(run)),
        ("row_differs", format!("UPDATE documents SET body = replace(body, 'active', 'finished') WHERE {stream}")),
        ("row_differs", format!("UPDATE documents SET partition = 'camp_other' WHERE {stream}")),
        (
            "row_orphaned",
            format!(
                "INSERT INTO documents (collection, id, shard, stream, rank, body, partition)
                SELECT collection, 'forged', shard, 'run/forged', rank, body, partition FROM documents WHERE {stream}"
            ),
        ),
        ("row_missing", format!("DELETE FROM documents WHERE {stream}")),
        (
            "answer_differs",
            format!(
                "UPDATE commands SET answer = replace(answer, '\"accepted\":true', '\"accepted\":false') WHERE {second}"
            ),
        ),
        ("answer_missing", format!("DELETE FROM commands WHERE {second}")),
        (
            "answer_orphaned",
            format!(
                "INSERT INTO commands (stream, key, shard, request, revision, answer)
                SELECT stream, 'owner/forged', shard, request, 1, answer FROM commands WHERE {second}"
            ),
        ),
        ("content_differs", "UPDATE shelf SET body = 'Zm9yZ2Vk' WHERE kind = 'artifact'".to_owned()),
        ("content_missing", "DELETE FROM shelf WHERE kind = 'artifact'".to_owned()),
        (
            "content_differs",
            "UPDATE shelf SET body = replace(body, 'min_count: 2', 'min_count: 0') WHERE kind = 'process'".to_owned(),
        ),
        (
            "attempt_differs",
            "UPDATE shelf SET body = replace(body, 'FORBIDDEN', 'INVALID_EVENT') WHERE kind LIKE 'attempt/%'"
                .to_owned(),
        ),
        ("attempt_orphaned", "UPDATE shelf SET kind = 'attempt/none' WHERE kind LIKE 'attempt/%'".to_owned()),
    ]
}

/// A statement that inserts a snapshot in which the run is finished, though it is not.
fn forged_snapshot_statement(run: &Run) -> String {
    format!(
        "INSERT INTO snapshots (stream, shard, version, revision, hash, body, mark, parts, digest)
        SELECT stream, shard, 1, revision, hash, '{}', 0, 1, hash FROM records
        WHERE stream = 'run/{}' AND revision = 3",
        finished_run_snapshot(run),
        run.id
    )
}

fn every_edit_is_found(kind: StoreKind) {
    let gate = Gate::new(kind);
    let run = create_run_with_attempt(&gate);
    let world = &gate.world;
    let store = EditedStore::new(world);
    let sound = verify_store(world).expect("nothing was changed yet");
    for (word, statement) in tampering_statements(&run) {
        store.edit(&statement);
        let findings = verify_store(world).expect_err(&statement);
        assert!(findings.iter().any(|finding| finding.starts_with(&format!("{word}: "))), "{statement}: {findings:?}");
        if ["row_", "snapshot_"].iter().any(|derived| word.starts_with(derived)) {
            let rebuilt = world.run(&["rebuild"]);
            assert!(rebuilt.status.success(), "{statement}: {}", String::from_utf8_lossy(&rebuilt.stderr));
            assert_eq!(verify_store(world), Ok(sound.clone()), "{statement}");
        }
        store.undo();
    }
    assert_eq!(verify_store(world), Ok(sound));
}

fn a_forged_snapshot_is_not_opened(kind: StoreKind) {
    let gate = Gate::new(kind);
    let run = create_run_with_attempt(&gate);
    EditedStore::new(&gate.world).edit(&forged_snapshot_statement(&run));
    let server = gate.serve(&[]);
    let state = run.state(&mut server.client(Surface::Rest));
    assert_eq!((&state["current_state"], &state["revision"]), (&json!("collect"), &json!(3)), "{state}");
}

#[test]
fn every_edit_of_a_file_is_found() {
    every_edit_is_found(StoreKind::Sqlite);
}

#[test]
fn a_forged_snapshot_in_a_file_is_not_opened() {
    a_forged_snapshot_is_not_opened(StoreKind::Sqlite);
}

mod postgres {
    use super::*;

    #[test]
    fn every_edit_of_a_table_is_found() {
        every_edit_is_found(StoreKind::Postgres);
    }

    #[test]
    fn a_forged_snapshot_in_a_table_is_not_opened() {
        a_forged_snapshot_is_not_opened(StoreKind::Postgres);
    }
}
