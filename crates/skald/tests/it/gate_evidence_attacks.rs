//! Attacks on a gate with false evidence. Each fails, and the run goes on as before.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::gate_server::{Gate, Run};
use crate::program_under_test::{OVER_HTTP, StoreKind, Surface, TestClient};

/// The expected outcome of an attack.
enum Outcome {
    /// Refused, with this text in the validation errors.
    Refused(&'static str),
    /// Accepted, and counted as this many notes.
    Counts(u64),
}
use Outcome::{Counts, Refused};

/// Asserts that the gate is closed with this many of two notes, and that the run's history can be read.
fn assert_gate_closed(seat: &mut TestClient, run: &Run, notes: u64) {
    let state = run.state(seat);
    assert_eq!(state["current_state"], "collect", "{state}");
    let guard = state["missing_guards"][0].clone();
    assert_eq!(guard["guard_name"], "two_notes", "{state}");
    let counted = format!("notes: {notes} of 2");
    assert!(guard["current_status"].as_str().is_some_and(|status| status.starts_with(&counted)), "{state}");
    let (code, error) = run.emit_refused(seat, "finish", &json!({}));
    assert_eq!(code, "GUARD_FAILED", "{error}");
    let missing = error["details"]["missing_guards"][0].as_str().expect("a guard");
    assert!(missing.starts_with(&format!("two_notes: {counted}")), "{error}");
    run.history(seat);
}

/// Submits evidence, and asserts that the gate stays closed.
fn attack(seat: &mut TestClient, run: &Run, evidence: &Value, outcome: &Outcome) {
    match outcome {
        Refused(why) => {
            let before = run.state(seat)["revision"].clone();
            let (code, error) = run.emit_refused(seat, "submit_note", evidence);
            assert_eq!(code, "INVALID_PAYLOAD", "{evidence}: {error}");
            let told = error["details"]["validation_errors"].to_string();
            assert!(told.contains(why), "{evidence}: {error}");
            assert_eq!(run.state(seat)["revision"], before, "nothing of it is kept");
            assert_gate_closed(seat, run, 0);
        }
        Counts(notes) => {
            run.emit_accepted(seat, "submit_note", evidence);
            assert_gate_closed(seat, run, *notes);
        }
    }
    // To submit it with the guarded event does not help either.
    let (code, error) = run.emit_refused(seat, "finish", evidence);
    assert!(["GUARD_FAILED", "INVALID_PAYLOAD"].contains(&code.as_str()), "{evidence}: {error}");
}

/// Writes evidence files, and what looks like them: links, a folder, an empty file.
fn write_evidence_files(run: &Run) {
    run.write("note.md", "seen");
    run.write("copy/note.md", "seen");
    run.write("note-2.md", "seen");
    run.write("a/other.md", "x");
    run.write("x;/note.md", "seen");
    run.write("note-empty.md", "");
    run.write("note-folder/inside.md", "x");
    run.write("../outside/note.md", "out of reach");
    let outside = run.folder().parent().expect("a folder").join("outside");
    symlink(outside.join("note.md"), run.folder().join("note-link.md")).expect("a link");
    symlink(&outside, run.folder().join("linked")).expect("a link");
    symlink("note.md", run.folder().join("note-alias.md")).expect("a link");
    symlink("note-round.md", run.folder().join("note-round.md")).expect("a link");
}

#[test]
fn a_path_is_no_way_around() {
    let gate = Gate::new(StoreKind::Sqlite);
    let server = gate.serve(&[]);
    let mut seat = server.client(Surface::Session);
    let outside = gate.world.folder().join("artifacts/outside/note.md").display().to_string();
    let attacks: &[(&[&str], Outcome)] = &[
        // A `;` separates paths on the command line, but is a character like any other here.
        (&["x;/note.md"], Counts(1)),
        (&["y;/note.md"], Refused("no file 'y;/note.md'")),
        (&["note.md;note-2.md"], Refused("no file")),
        // One file counts once, however often and in whatever spelling it is named.
        (&["note.md", "note.md", "note.md"], Counts(1)),
        (&["note.md", "./note.md", ".//note.md", "././note.md"], Counts(1)),
        (&["note.md", "a/../note.md"], Refused("Path traversal detected: a/../note.md")),
        (&["note.md", "note.md/"], Refused("names a folder")),
        (&["note.md", "NOTE.md"], Refused("no file 'NOTE.md'")),
        // One content under several names counts once.
        (&["note.md", "note-2.md", "copy/note.md", "x;/note.md"], Counts(1)),
        // Paths without content.
        (&["note-empty.md"], Refused("'note-empty.md' is empty")),
        (&["note-folder"], Refused("'note-folder' is a folder")),
        (&["note-none.md"], Refused("no file 'note-none.md'")),
        (&[""], Refused("Empty artifact path")),
        (&["note\n.md"], Refused("Control character")),
        // Links, and paths outside of the run's folder.
        (&["note-link.md"], Refused("'note-link.md' is a link")),
        (&["linked/note.md"], Refused("link")),
        (&["note-alias.md"], Refused("'note-alias.md' is a link")),
        (&["note-round.md"], Refused("'note-round.md' is a link")),
        (&["../outside/note.md"], Refused("Path traversal detected")),
        (&[&outside], Refused("Absolute path not allowed")),
        (&["C:/note.md"], Refused("Absolute path not allowed")),
        (&["~/note.md"], Refused("Absolute path not allowed")),
        (&["..\\outside\\note.md"], Refused("Backslash not allowed")),
        // A valid path does not make an invalid one pass.
        (&["note.md", "note-empty.md"], Refused("'note-empty.md' is empty")),
    ];
    for (paths, outcome) in attacks {
        let run = Run::create(&mut seat, "proof");
        write_evidence_files(&run);
        attack(&mut seat, &run, &json!({"artifact_paths": paths}), outcome);
        let artifacts: Vec<Value> = paths.iter().map(|path| json!({"path": path, "type": "note"})).collect();
        let run = Run::create(&mut seat, "proof");
        write_evidence_files(&run);
        attack(&mut seat, &run, &json!({"artifacts": artifacts}), outcome);
    }
    // Two different notes open the gate.
    let run = Run::create(&mut seat, "proof");
    write_evidence_files(&run);
    run.write("note-2.md", "seen as well");
    run.emit_accepted(&mut seat, "submit_note", &json!({"artifact_paths": ["note.md", "./note-2.md"]}));
    let moved = run.emit_accepted(&mut seat, "finish", &json!({}));
    assert_eq!(moved["transition"], json!({"from_state": "collect", "to_state": "review"}));
}

#[test]
fn content_that_is_handed_in_is_no_way_around() {
    let gate = Gate::new(StoreKind::Sqlite);
    let server = gate.serve(&[]);
    let large = "x".repeat(1_000_001);
    let attacks = [
        (json!([{"path": "note.md", "text": ""}]), Refused("'note.md' is empty")),
        (json!([{"path": "note.md", "base64": ""}]), Refused("'note.md' is empty")),
        (json!([{"path": "note.md", "base64": "no!"}]), Refused("'note.md' is no base64")),
        (json!([{"path": "note.md", "text": "a", "base64": "YQ=="}]), Refused("send one of them")),
        (json!([{"path": "note.md", "text": large}]), Refused("at most 1000000 can be handed in")),
        (json!([{"path": "../note.md", "text": "a"}]), Refused("Path traversal detected")),
        (json!([{"path": "/note.md", "text": "a"}]), Refused("Absolute path not allowed")),
        (json!([{"path": "note.md", "text": "a", "type": "essay"}]), Refused("no artifact type 'essay'")),
        (
            json!([{"path": "note.md", "text": "a"}, {"path": "./note.md", "text": "b"}]),
            Refused("submitted twice, with different contents"),
        ),
        (json!([{"path": "note.md", "text": "a"}, {"path": "note-2.md", "base64": "YQ=="}]), Counts(1)),
        (json!([{"path": "other.md", "text": "a"}, {"path": "notes.md", "text": "b"}]), Counts(0)),
        // The content of a file again, this time as text.
        (json!([{"path": "note.md"}, {"path": "note-2.md", "text": "seen"}]), Counts(1)),
    ];
    for surface in OVER_HTTP {
        let mut seat = server.client(surface);
        for (artifacts, outcome) in &attacks {
            let run = Run::create(&mut seat, "proof");
            write_evidence_files(&run);
            attack(&mut seat, &run, &json!({"artifacts": artifacts}), outcome);
        }
        // More artifacts than the limit.
        let run = Run::create(&mut seat, "proof");
        let many: Vec<Value> =
            (0..101).map(|n| json!({"path": format!("note-{n}.md"), "text": n.to_string()})).collect();
        attack(&mut seat, &run, &json!({"artifacts": many}), &Refused("at most 100 artifacts"));
    }
}

/// A run with two notes, which would open the gate.
fn create_run_with_notes(seat: &mut TestClient) -> Run {
    let run = Run::create(seat, "proof");
    run.write("note.md", "seen");
    run.write("note-2.md", "seen as well");
    run.emit_accepted(seat, "submit_note", &json!({"artifact_paths": ["note.md", "note-2.md"]}));
    assert_eq!(
        run.state(seat)["missing_guards"].as_array().map(Vec::len),
        Some(1),
        "only that of whoever is vouched for"
    );
    run
}

/// A description, and a change of an evidence file after it was submitted.
type Change = (&'static str, fn(&Run));

/// Evidence that changed after its submission no longer counts, and the state lists it as stale.
#[test]
fn evidence_that_changes_afterwards_counts_no_more() {
    let gate = Gate::new(StoreKind::Sqlite);
    let server = gate.serve(&[]);
    let changes: &[Change] = &[
        ("edited", |run| run.write("note-2.md", "something else")),
        ("edited back into the size and the time that it had", |run| {
            let file = run.folder().join("note-2.md");
            let modified = fs::metadata(&file).and_then(|about| about.modified()).expect("a time");
            run.write("note-2.md", "seen as welt");
            let opened = fs::File::options().write(true).open(&file).expect("a file");
            opened.set_modified(modified).expect("a time");
        }),
        ("made the same as another", |run| run.write("note-2.md", "seen")),
        ("emptied", |run| run.write("note-2.md", "")),
        ("deleted", |run| fs::remove_file(run.folder().join("note-2.md")).expect("a file")),
        ("a folder now", |run| {
            fs::remove_file(run.folder().join("note-2.md")).expect("a file");
            fs::create_dir(run.folder().join("note-2.md")).expect("a folder");
        }),
        ("a link to what it was", |run| {
            run.write("../outside/note-2.md", "seen as well");
            fs::remove_file(run.folder().join("note-2.md")).expect("a file");
            symlink("../outside/note-2.md", run.folder().join("note-2.md")).expect("a link");
        }),
    ];
    for surface in OVER_HTTP {
        let mut seat = server.client(surface);
        for (what, change) in changes {
            let run = create_run_with_notes(&mut seat);
            change(&run);
            let state = run.state(&mut seat);
            assert_eq!(state["stale_artifacts"], json!(["note-2.md"]), "{what}");
            let status = state["missing_guards"][0]["current_status"].as_str().expect("a status");
            assert!(status.starts_with("notes: 1 of 2, ") && status.contains("note-2.md"), "{what}: {status}");
            assert_gate_closed(&mut seat, &run, 1);
            // The file with its old content counts again.
            let file = run.folder().join("note-2.md");
            let _ = fs::remove_file(&file).or_else(|_| fs::remove_dir(&file));
            run.write("note-2.md", "seen as well");
            assert_eq!(run.state(&mut seat).get("stale_artifacts"), None, "{what}");
            assert_eq!(
                run.emit_accepted(&mut seat, "finish", &json!({}))["transition"]["to_state"],
                "review",
                "{what}"
            );
        }
    }
}

#[test]
fn evidence_is_gone_with_its_folder() {
    let gate = Gate::new(StoreKind::Sqlite);
    let server = gate.serve(&[]);
    let mut seat = server.client(Surface::Rest);
    let run = create_run_with_notes(&mut seat);
    fs::remove_dir_all(run.folder()).expect("a folder");
    assert_gate_closed(&mut seat, &run, 0);
    // A link to another folder in its place does not count.
    let other = create_run_with_notes(&mut seat);
    symlink(other.folder(), run.folder()).expect("a link");
    assert_gate_closed(&mut seat, &run, 0);
}

mod postgres {
    use super::*;

    /// Nodes without a shared folder refuse paths, and count contents that any node got.
    #[test]
    fn a_path_counts_on_no_node_of_several() {
        let gate = Gate::new(StoreKind::Postgres);
        let nodes = [gate.serve_without_artifacts(), gate.serve_without_artifacts()];
        let [mut seat, mut other] = nodes.each_ref().map(|node| node.client(Surface::Session));
        let run = Run::create(&mut seat, "proof");
        assert!(!run.has_folder());
        let missing = "no artifact folder here, hand the content in";
        for evidence in [json!({"artifact_paths": ["note.md"]}), json!({"artifacts": [{"path": "note.md"}]})] {
            attack(&mut seat, &run, &evidence, &Refused(missing));
        }
        run.emit_accepted(&mut seat, "submit_note", &json!({"artifacts": [{"path": "note.md", "text": "seen"}]}));
        assert_gate_closed(&mut other, &run, 1);
        let second = json!({"artifacts": [{"path": "note-2.md", "text": "seen as well"}]});
        assert_eq!(run.emit_accepted(&mut other, "finish", &second)["transition"]["to_state"], "review");
    }
}
