//! Tests of sealed refused attempts: summing them up is reported and is no finding, deleting them by hand is one.

use std::sync::Arc;

use serde_json::json;
use skald_app::Caller;
use skald_app::{LocalEngine, Nouns, limits};
use skald_journal::{SealComparison, SealStatement, SideRows, VerifyVerdict, verify_with_contents};
use skald_store::Memory;

use super::{RUN, create_observing_run, emit_event, engine_with, event_input, run};

struct SealedRun {
    journal: Arc<Memory>,
    engine: Arc<LocalEngine>,
    attempts: usize,
}

impl SealedRun {
    async fn new() -> Self {
        let journal = Arc::new(Memory::new());
        let engine = engine_with(journal.clone());
        create_observing_run(&engine).await;
        Self { journal, engine, attempts: 0 }
    }

    async fn emit_refused(&mut self, count: usize) {
        for _ in 0..count {
            self.attempts += 1;
            let event = event_input("finish_observation", 2, &format!("k{}", self.attempts), &json!({}), &[]);
            let answer = emit_event(&self.engine, &Caller::owner(), event).await.expect("an answer");
            assert_eq!(answer["error"]["code"], "GUARD_FAILED");
        }
    }

    /// A seal of the journal, read back from the text that is signed.
    async fn seal(&self) -> SealStatement {
        let (verdict, contents) =
            verify_with_contents(&*self.journal, &Nouns::all().stream_kinds(), |_, _| {}).await.expect("a verdict");
        let VerifyVerdict::Sound(report) = verdict else { panic!("{verdict:?}") };
        let statement =
            SealStatement::new(jiff::Timestamp::from_second(1_768_500_000).expect("a moment"), &report, contents);
        let read = SealStatement::parse(&statement.text()).expect("a seal");
        assert_eq!(read, statement);
        read
    }

    async fn compare(&self, seal: &SealStatement) -> SealComparison {
        let (verdict, contents) =
            verify_with_contents(&*self.journal, &Nouns::all().stream_kinds(), |_, _| {}).await.expect("a verdict");
        assert!(matches!(verdict, VerifyVerdict::Sound(_)), "{verdict:?}");
        seal.compare(&*self.journal, &Nouns::all().stream_kinds(), &contents).await.expect("a comparison")
    }

    /// The findings while an attempt is deleted. The attempt is put back afterwards.
    async fn findings_without(&self, seal: &SealStatement, place: usize) -> Vec<String> {
        let kind = format!("attempt/{RUN}");
        let rows = self.journal.list(&kind, "", 2 * limits::ATTEMPTS_MAX).await.expect("a store");
        let (key, body) = &rows[place];
        assert!(self.journal.remove(&kind, key).await.expect("a store"));
        let found = self.compare(seal).await.findings.iter().map(ToString::to_string).collect();
        self.journal.put(&kind, key, body.clone()).await.expect("a store");
        found
    }
}

#[test]
fn attempts_that_were_summed_up_after_a_seal_are_no_finding() {
    run(async {
        let mut run = SealedRun::new().await;
        run.emit_refused(limits::ATTEMPTS_MAX).await;
        let seal = run.seal().await;
        assert_eq!(run.compare(&seal).await, SealComparison::default(), "as sealed");
        run.emit_refused(3).await;
        let compared = run.compare(&seal).await;
        assert_eq!(compared.findings, []);
        assert_eq!(compared.replaced, [format!("attempt/{RUN}: the oldest 3 rows were summed up after it was sealed")]);

        // The second seal contains a sum. After it, more attempts are summed up than were stored when it was made.
        let second = run.seal().await;
        assert_eq!(second.sums.len(), 1);
        run.emit_refused(limits::ATTEMPTS_MAX + 5).await;
        for seal in [&seal, &second] {
            let compared = run.compare(seal).await;
            assert_eq!((compared.findings.len(), compared.replaced.len()), (0, 1), "{compared:?}");
        }
    });
}

#[test]
fn attempts_that_were_deleted_by_hand_are_found() {
    run(async {
        let mut run = SealedRun::new().await;
        run.emit_refused(limits::ATTEMPTS_MAX).await;
        let seal = run.seal().await;
        let is_one =
            |found: &[String]| found.len() == 1 && found[0].starts_with(&format!("sealed_row_differs: attempt/{RUN} "));
        for place in [0, 500, limits::ATTEMPTS_MAX - 1] {
            let found = run.findings_without(&seal, place).await;
            assert!(is_one(&found), "{place}: {found:?}");
        }
        // Four are summed up, so that the oldest that is left is the fifth.
        run.emit_refused(4).await;
        for place in [1, 500] {
            let found = run.findings_without(&seal, place).await;
            assert!(is_one(&found), "{place}: {found:?}");
        }
        let found = run.findings_without(&seal, 0).await;
        assert_eq!(found.len(), 5, "five are gone, and four were summed up: {found:?}");

        // A sum is sealed too.
        let second = run.seal().await;
        let sum = run.journal.get("attempts-summed", RUN).await.unwrap().unwrap();
        for forged in [sum.replace(r#""count":4"#, r#""count":3"#), sum.replace(r#""hash":""#, r#""hash":"f"#)] {
            run.journal.put("attempts-summed", RUN, forged.clone()).await.unwrap();
            let found = second
                .compare(&*run.journal, &Nouns::all().stream_kinds(), &skald_journal::StoredContents::default())
                .await
                .unwrap();
            assert!(found.findings.iter().any(|finding| finding.place.starts_with("attempt/")), "{forged}: {found:?}");
        }
        assert!(run.journal.remove("attempts-summed", RUN).await.unwrap());
        let found = run.compare(&second).await.findings;
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].what.starts_with("4 rows were summed up when it was sealed"), "{found:?}");
    });
}
