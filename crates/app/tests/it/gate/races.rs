//! Tests of races while an event is being emitted: files change, or the run moves on.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use futures::future::{BoxFuture, ready};
use serde_json::{Value, json};
use skald_app::{
    App, ArtifactFile, Caller, ContentRequest, Engine, FilesError, GateFiles, LocalEngine, Nouns, ProcessFile,
    RequestControl,
};
use skald_journal::{VerifyVerdict, verify};
use skald_store::Memory;
use tokio::sync::broadcast;

use super::{CountingEntropy, RUN, TickingClock, call, call_as_owner, emit_event, human_caller, run};

const PROCESS: &str = r#"
process: {id: reported, version: "1", name: Reported, initial_state: writing}
states: [{name: writing}, {name: checking}, {name: done, is_final: true}]
events:
  - {name: submit, allowed_roles: ["*"]}
  - {name: hand_in, allowed_roles: ["*"]}
  - {name: finish, allowed_roles: ["*"]}
transitions:
  - {from: writing, event: submit, to: writing}
  - {from: writing, event: hand_in, to: checking}
  - {from: checking, event: finish, to: done, guard: has_report}
guards: {has_report: {type: artifact, artifact_type: report, condition: exists}}
artifacts: [{type: report}]
"#;

type Meanwhile = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>;

/// Test files: reading `big.bin` runs `meanwhile` first, and all files are stale if `is_stale` is set.
#[derive(Default)]
struct SlowFiles {
    meanwhile: Mutex<Option<Meanwhile>>,
    is_stale: Mutex<bool>,
    folders: Mutex<Vec<String>>,
}

impl GateFiles for SlowFiles {
    fn process_ids(&self) -> BoxFuture<'_, Result<Vec<String>, FilesError>> {
        Box::pin(ready(Ok(Vec::new())))
    }

    fn process_file<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Option<ProcessFile>, FilesError>> {
        Box::pin(ready(Ok(None)))
    }

    fn configured_run_id(&self) -> BoxFuture<'_, Result<Option<String>, FilesError>> {
        Box::pin(ready(Ok(None)))
    }

    fn create_run_folder<'a>(&'a self, run_id: &'a str) -> BoxFuture<'a, Result<Option<String>, FilesError>> {
        self.folders.lock().expect("no panic").push(run_id.to_owned());
        Box::pin(ready(Ok(Some(format!("/{run_id}")))))
    }

    fn read_artifact<'a>(
        &'a self,
        _: &'a str,
        path: &'a str,
        _: ContentRequest,
    ) -> BoxFuture<'a, Result<ArtifactFile, String>> {
        let meanwhile = self.meanwhile.lock().expect("no panic").take().filter(|_| path == "big.bin");
        Box::pin(async move {
            if let Some(meanwhile) = meanwhile {
                meanwhile().await;
            }
            Ok(ArtifactFile { sha256: "ab".repeat(32), bytes: 1, json: None, measure: None })
        })
    }

    fn is_in_working_folder<'a>(&'a self, _: &'a str) -> BoxFuture<'a, bool> {
        Box::pin(ready(false))
    }

    fn relative_to_working_folder(&self, _: &str) -> Option<String> {
        None
    }

    fn stale_paths<'a>(&'a self, _: &'a str, held: Vec<(String, String)>) -> BoxFuture<'a, BTreeSet<String>> {
        let is_stale = *self.is_stale.lock().expect("no panic");
        Box::pin(ready(held.into_iter().map(|(path, _)| path).filter(|_| is_stale).collect()))
    }

    fn read_content<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<Vec<u8>, String>> {
        Box::pin(ready(Err("not here".to_owned())))
    }

    fn subscribe_run_changes(&self) -> broadcast::Receiver<String> {
        broadcast::channel(1).1
    }
}

fn event_input(name: &str, revision: u64, paths: &[&str]) -> Value {
    json!({
        "run_id": RUN, "event_name": name, "expected_revision": revision, "idempotency_key": name,
        "artifact_paths": paths,
    })
}

/// A run that has a report, at revision 2.
async fn run_with_report() -> (Arc<LocalEngine>, Arc<SlowFiles>) {
    run_with_report_on(Arc::new(Memory::new())).await
}

async fn run_with_report_on(journal: Arc<Memory>) -> (Arc<LocalEngine>, Arc<SlowFiles>) {
    let files = Arc::new(SlowFiles::default());
    let (entropy, clock) = (CountingEntropy::default(), TickingClock::default());
    let mut app = App::new(Arc::new(entropy), Arc::new(clock), journal);
    app.files = Arc::<SlowFiles>::clone(&files);
    let engine = LocalEngine::new(app);
    call(&engine, &human_caller("mara"), "state_gate.submit_process", json!({"source": PROCESS}))
        .await
        .expect("it is right");
    call_as_owner(&engine, "state_gate.create_run", json!({"process_id": "reported", "run_id": RUN})).await;
    let submitted =
        emit_event(&engine, &Caller::owner(), event_input("submit", 1, &["report.md"])).await.expect("it is right");
    assert_eq!(submitted["success"], true, "{submitted}");
    (engine, files)
}

#[test]
fn evidence_that_matters_only_in_the_next_state_is_looked_at_there() {
    run(async {
        let (engine, files) = run_with_report().await;
        *files.is_stale.lock().unwrap() = true;
        let other = Arc::clone(&engine);
        *files.meanwhile.lock().unwrap() = Some(Box::new(move || {
            Box::pin(async move {
                let moved = event_input("hand_in", 2, &[]);
                let moved = other
                    .call(&Caller::owner(), "state_gate.emit_event", moved, &RequestControl::default())
                    .await
                    .unwrap();
                assert_eq!(moved["success"], true, "{moved}");
            })
        }));
        let finish = emit_event(&engine, &Caller::owner(), event_input("finish", 3, &["big.bin"])).await.unwrap();
        assert_eq!(finish["error"]["code"], "GUARD_FAILED", "{finish}");
        let state = call_as_owner(&engine, "state_gate.get_state", json!({"run_id": RUN})).await;
        assert_eq!((&state["current_state"], &state["stale_artifacts"]), (&json!("checking"), &json!(["report.md"])));
    });
}

/// A refused attempt used to have the newest revision, but the state that was read at first.
#[test]
fn an_attempt_is_refused_on_one_state() {
    run(async {
        let journal = Arc::new(Memory::new());
        let (engine, files) = run_with_report_on(Arc::clone(&journal)).await;
        let other = Arc::clone(&engine);
        *files.meanwhile.lock().unwrap() = Some(Box::new(move || {
            Box::pin(async move {
                let moved = emit_event(&other, &Caller::owner(), event_input("hand_in", 2, &[])).await.unwrap();
                assert_eq!(moved["success"], true, "{moved}");
            })
        }));
        let late = json!({
            "run_id": RUN, "event_name": "submit", "expected_revision": 2, "idempotency_key": "late",
            "artifact_paths": ["big.bin"],
        });
        let refused = emit_event(&engine, &Caller::owner(), late).await.unwrap();
        assert_eq!(refused["error"]["code"], "REVISION_CONFLICT", "{refused}");
        assert_eq!(refused["error"]["details"]["current_revision"], 3, "{refused}");
        let history = call_as_owner(&engine, "state_gate.run", json!({"method": "history", "run_id": RUN})).await;
        let attempt = history["history"].as_array().unwrap().last().unwrap();
        assert_eq!((&attempt["revision"], &attempt["from_state"]), (&json!(3), &json!("checking")), "{attempt}");
        let verdict = verify(&*journal, &Nouns::all().stream_kinds()).await.unwrap();
        assert!(
            matches!(verdict, VerifyVerdict::Sound(_)),
            "the attempt is bound to the record that it was made on: {verdict:?}"
        );
    });
}

#[test]
fn evidence_that_changes_while_a_file_is_read_does_not_count() {
    run(async {
        let (engine, files) = run_with_report().await;
        emit_event(&engine, &Caller::owner(), event_input("hand_in", 2, &[])).await.unwrap();
        let other = Arc::clone(&files);
        *files.meanwhile.lock().unwrap() = Some(Box::new(move || {
            *other.is_stale.lock().unwrap() = true;
            Box::pin(ready(()))
        }));
        let finish = emit_event(&engine, &Caller::owner(), event_input("finish", 3, &["big.bin"])).await.unwrap();
        assert_eq!(finish["error"]["code"], "GUARD_FAILED", "{finish}");
    });
}

#[test]
fn a_run_that_is_refused_leaves_no_folder() {
    run(async {
        let (engine, files) = run_with_report().await;
        for (run_id, context) in [("run-2", json!({"has_report": "x".repeat(2_000_000)})), (RUN, json!({}))] {
            let input = json!({"process_id": "reported", "run_id": run_id, "context": context});
            call(&engine, &Caller::owner(), "state_gate.create_run", input).await.unwrap_err();
        }
        assert_eq!(*files.folders.lock().unwrap(), [RUN], "the one that was made at first");
    });
}
