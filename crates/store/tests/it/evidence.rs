//! Evidence that is handed in with an event is stored with the event: no accepted event lacks its content, whatever the
//! store does at that moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;
use serde_json::{Value, json};
use skald_app::{App, Caller, Clock, Code, Engine, Entropy, Fault, LocalEngine, Nouns, RequestControl};
use skald_journal::{Journal, VerifyVerdict, verify};

use crate::faulty_journal::{FaultyJournal, InjectedFailure};
use crate::test_stores::{StoreKind, TestStore, block_on};

/// A clock and a source of entropy that count up with every call, so that no value repeats.
struct CountingClock(AtomicI64);

impl CountingClock {
    fn new() -> Arc<Self> {
        Arc::new(Self(AtomicI64::new(1_768_478_400_000)))
    }
}

impl Clock for CountingClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.0.fetch_add(1, Ordering::Relaxed)).unwrap()
    }
}

impl Entropy for CountingClock {
    fn bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&self.0.fetch_add(1, Ordering::Relaxed).to_le_bytes());
        bytes
    }
}

const RUN: &str = "run-1";
/// The kind of the side rows with content.
const CONTENT: &str = "artifact";

/// A store with injected failures, and a run of the shipped quest on it, at revision 2.
struct Gate {
    journal: Arc<FaultyJournal>,
    engine: Arc<LocalEngine>,
    _place: TestStore,
}

impl Gate {
    async fn new(kind: StoreKind) -> Self {
        let place = TestStore::new(kind).await;
        let journal = FaultyJournal::new(Arc::clone(&place.journal));
        let app = App::new(CountingClock::new(), CountingClock::new(), Arc::clone(&journal) as Arc<dyn Journal>);
        let gate = Self { journal, engine: LocalEngine::new(app), _place: place };
        gate.call("state_gate.create_run", json!({"process_id": "quest", "run_id": RUN})).await.unwrap();
        let accept = json!({
            "run_id": RUN, "event_name": "accept_quest", "payload": {"terms": "ten silver"}, "expected_revision": 1,
            "idempotency_key": "accept",
        });
        assert_eq!(gate.call("state_gate.emit_event", accept).await.unwrap()["success"], true);
        gate
    }

    async fn call(&self, operation: &str, input: Value) -> Result<Value, Fault> {
        self.engine.call(&Caller::owner(), operation, input, &RequestControl::default()).await
    }

    /// Hands in a clue with its content.
    async fn submit_clue(&self, revision: u64, key: &str) -> Result<Value, Fault> {
        let input = json!({
            "run_id": RUN, "event_name": "submit_clue", "payload": {"summary": "a clue", "source": "place"},
            "expected_revision": revision, "idempotency_key": key,
            "artifacts": [{"path": "clue-door.md", "text": "It was oak."}],
        });
        self.call("state_gate.emit_event", input).await
    }

    async fn count_contents(&self) -> usize {
        self.journal.inner.list(CONTENT, "", 100).await.unwrap().len()
    }

    async fn assert_sound(&self) {
        let verdict = verify(&*self.journal.inner, &Nouns::all().stream_kinds()).await.unwrap();
        assert!(matches!(verdict, VerifyVerdict::Sound(_)), "{verdict:?}");
    }
}

/// Content was once written after the event: a crash between the two left an event without content.
#[test]
fn an_accepted_event_has_its_content_although_nothing_but_the_append_is_written() {
    for kind in [StoreKind::Memory, StoreKind::Sqlite] {
        block_on(async {
            let gate = Gate::new(kind).await;
            gate.journal.inject(InjectedFailure::SideRowsLost);
            let answer = gate.submit_clue(2, "door").await.unwrap();
            assert_eq!(answer["success"], true, "{answer}");
            assert_eq!(gate.count_contents().await, 1);
            let input = json!({"method": "artifact", "run_id": RUN, "path": "clue-door.md"});
            let shown = gate.call("state_gate.run", input).await.unwrap();
            assert!(shown.to_string().contains("It was oak."), "{shown}");
            gate.assert_sound().await;
        });
    }
}

#[test]
fn content_of_an_event_that_was_not_stored_is_not_stored_either() {
    for kind in [StoreKind::Memory, StoreKind::Sqlite] {
        block_on(async {
            let gate = Gate::new(kind).await;
            gate.journal.inject(InjectedFailure::AppendLost);
            let fault = gate.submit_clue(2, "door").await.unwrap_err();
            assert_eq!(fault.code(), Code::Unavailable, "{fault}");
            assert_eq!(gate.count_contents().await, 0);
            gate.journal.inject(InjectedFailure::None);
            let answer = gate.submit_clue(1, "late").await.unwrap();
            assert_eq!(answer["error"]["code"], "REVISION_CONFLICT", "{answer}");
            assert_eq!(gate.count_contents().await, 0, "a refused event leaves no content");
            gate.assert_sound().await;
        });
    }
}

#[test]
fn an_event_whose_answer_was_lost_has_its_content_and_is_answered_again() {
    for kind in [StoreKind::Memory, StoreKind::Sqlite] {
        block_on(async {
            let gate = Gate::new(kind).await;
            gate.journal.inject(InjectedFailure::AnswerLost);
            let fault = gate.submit_clue(2, "door").await.unwrap_err();
            assert_eq!(fault.code(), Code::Unavailable, "{fault}");
            gate.journal.inject(InjectedFailure::None);
            assert_eq!(gate.count_contents().await, 1, "it is there before anybody asks again");
            gate.assert_sound().await;
            let answer = gate.submit_clue(2, "door").await.unwrap();
            assert_eq!((&answer["success"], &answer["result"]["replayed"]), (&json!(true), &json!(true)), "{answer}");
            assert_eq!(gate.count_contents().await, 1);
        });
    }
}
