//! Tests of streams on a failing store: lost answers, lost appends, unavailability.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use skald_journal::{Journal, JournalFailure, Limits, Streams};

use crate::faulty_journal::{FaultyJournal, InjectedFailure};
use crate::tally::{Tally, add, stream, with_key};
use crate::test_stores::block_on;

fn is_unavailable<T>(reply: &Result<T, JournalFailure<crate::tally::Refusal>>) -> bool {
    matches!(reply, Err(JournalFailure::Unavailable(_)))
}

async fn open_faulty() -> (Arc<FaultyJournal>, Streams<Tally>) {
    let faulty = FaultyJournal::new(skald_store::open("memory").await.unwrap());
    let streams = Streams::new(Arc::clone(&faulty) as Arc<dyn Journal>);
    (faulty, streams)
}

#[test]
fn after_a_lost_answer_a_retry_finds_what_was_stored() {
    block_on(async {
        let (faulty, streams) = open_faulty().await;
        let one = stream("one");
        faulty.inject(InjectedFailure::AnswerLost);
        assert!(is_unavailable(&streams.execute(&one, with_key(add("a", 1), "key")).await));
        faulty.inject(InjectedFailure::None);
        assert_eq!(streams.read(&one).await.unwrap().revision(), 1, "it was stored");
        let done = streams.execute(&one, with_key(add("a", 1), "key")).await.map_err(|_| "failed").unwrap();
        assert!(done.replayed && done.revision == 1);
    });
}

#[test]
fn after_a_lost_append_a_retry_stores_it() {
    block_on(async {
        let (faulty, streams) = open_faulty().await;
        let one = stream("one");
        faulty.inject(InjectedFailure::AppendLost);
        assert!(is_unavailable(&streams.execute(&one, with_key(add("a", 1), "key")).await));
        faulty.inject(InjectedFailure::None);
        assert_eq!(streams.read(&one).await.unwrap().revision(), 0, "it was not stored");
        let done = streams.execute(&one, with_key(add("a", 1), "key")).await.map_err(|_| "failed").unwrap();
        assert!(!done.replayed && done.revision == 1);
    });
}

#[test]
fn a_store_that_is_down_answers_so_and_comes_back() {
    block_on(async {
        let (faulty, streams) = open_faulty().await;
        let one = stream("one");
        streams.execute(&one, add("a", 1)).await.map_err(|_| "failed").unwrap();
        faulty.inject(InjectedFailure::Down);
        assert!(is_unavailable(&streams.execute(&one, add("b", 1)).await));
        assert!(streams.read(&one).await.is_err());
        faulty.inject(InjectedFailure::None);
        let done = streams.execute(&one, add("b", 1)).await.map_err(|_| "failed").unwrap();
        assert_eq!(done.revision, 2);
    });
}

#[test]
fn what_waits_together_is_stored_together_up_to_a_limit() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (faulty, streams) = open_faulty().await;
        let (one, names) = (stream("one"), (0..600).map(|number| number.to_string()).collect::<Vec<_>>());
        let replies = futures::future::join_all(names.iter().map(|name| streams.execute(&one, add(name, 1)))).await;
        assert!(replies.iter().all(Result::is_ok));
        assert_eq!(*faulty.batches.lock().unwrap(), [256, 256, 88]);
    });
}

/// Once each waiting reader loaded again in turn: readers of a stream that another node writes to queried the database
/// one after the other, and the last waited for all.
#[test]
fn who_waits_for_a_load_goes_nowhere_else() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (faulty, streams) = open_faulty().await;
        let one = stream("one");
        streams.read(&one).await.unwrap();
        let elsewhere = Streams::<Tally>::new(Arc::clone(&faulty.inner));
        elsewhere.execute(&one, add("a", 1)).await.map_err(|_| "failed").unwrap();
        faulty.is_far_away.store(true, Ordering::SeqCst);
        let looked = || faulty.looks.each_ref().map(|looks| looks.swap(0, Ordering::SeqCst));
        looked();
        let found = futures::future::join_all((0..50).map(|_| streams.read(&one))).await;
        assert!(found.iter().all(|kept| kept.as_ref().is_ok_and(|kept| kept.revision() == 1)));
        assert_eq!(looked(), [50, 1]);
    });
}

/// Once each waiting reader tried again in turn: with a store that fails after five seconds, the tenth waited for
/// fifty.
#[test]
fn who_waits_for_a_load_that_fails_fails_with_it() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (faulty, streams) = open_faulty().await;
        faulty.inject(InjectedFailure::Stuck);
        let one = stream("one");
        let found = futures::future::join_all((0..50).map(|_| streams.read(&one))).await;
        assert!(found.iter().all(Result::is_err));
        assert_eq!(faulty.looks[1].swap(0, Ordering::SeqCst), 1, "one looked for all");
        // A later read is not affected by the failure.
        faulty.inject(InjectedFailure::None);
        assert_eq!(streams.read(&one).await.unwrap().revision(), 0);
    });
}

/// The same for writers.
#[test]
fn who_waits_behind_a_turn_that_fails_fails_with_it() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let faulty = FaultyJournal::new(skald_store::open("memory").await.unwrap());
        let limits = Limits { commands_per_commit: 1, ..Limits::default() };
        let streams = Streams::<Tally>::with_limits(Arc::clone(&faulty) as Arc<dyn Journal>, limits);
        let one = stream("one");
        streams.execute(&one, add("first", 1)).await.map_err(|_| "failed").unwrap();
        faulty.batches.lock().unwrap().clear();
        faulty.inject(InjectedFailure::Stuck);
        let names: Vec<String> = (0..50).map(|number| number.to_string()).collect();
        let replies = futures::future::join_all(names.iter().map(|name| streams.execute(&one, add(name, 1)))).await;
        assert!(replies.iter().all(is_unavailable));
        assert_eq!(*faulty.batches.lock().unwrap(), [1], "one was tried for all");
        faulty.inject(InjectedFailure::None);
        let done = streams.execute(&one, add("last", 1)).await.map_err(|_| "failed").unwrap();
        assert_eq!(done.revision, 2, "none of them was stored");
    });
}
