//! Tests of the guarantees of a stream to callers that send commands, on every store.

use std::sync::Arc;
use std::time::Duration;

use skald_journal::{Append, Applied, Batch, Journal, JournalFailure, Limits, Record, Streams, Submission};

use crate::tally::{Refusal, Tally, TallyCommand, add, given, remove, stream, with_expected_revision, with_key};
use crate::test_stores::{TestStore, block_on, on_every_store, wait_until};

on_every_store! {
    a_command_is_decided_and_kept,
    a_refused_command_stores_nothing,
    a_pinned_revision_must_be_the_current_one,
    a_retry_gets_the_same_answer,
    a_retry_under_another_request_is_refused,
    a_retry_at_the_same_moment_happens_once,
    a_refused_command_may_be_tried_again_under_its_key,
    two_writers_of_one_stream_lose_nothing,
    a_read_is_never_older_than_what_another_has_committed,
    nobody_is_refused_for_what_another_has_changed,
    a_retry_on_another_node_happens_once,
    a_panic_in_the_rules_is_one_commands_failure,
    a_record_that_cannot_be_replayed_stops_its_stream_alone,
}

type Reply = Result<Applied<Tally>, JournalFailure<Refusal>>;

fn streams(journal: &Arc<dyn Journal>) -> Streams<Tally> {
    Streams::new(Arc::clone(journal))
}

/// The parts of a reply that can be compared.
fn reply_summary(reply: Reply) -> Result<(u64, Option<String>, bool), JournalFailure<Refusal>> {
    reply.map(|done| (done.revision, done.answer, done.replayed))
}

fn expect_applied(reply: Reply) -> Applied<Tally> {
    reply.unwrap_or_else(|failure| panic!("{failure:?}"))
}

async fn a_command_is_decided_and_kept(place: TestStore) {
    let (streams, stream) = (streams(&place.journal), stream("one"));
    let done = expect_applied(streams.execute(&stream, add("sword", 3)).await);
    assert_eq!((done.revision, done.committed.state.total(), done.replayed), (1, 3, false));
    let kept = streams.read(&stream).await.unwrap();
    assert_eq!((kept.revision(), kept.state.total()), (1, 3));
    let changed_at = kept.state.changed_at;
    let anew = Streams::<Tally>::new(place.open_again().await);
    assert_eq!(anew.read(&stream).await.unwrap().state.changed_at, changed_at, "a replay sees the same moment");
    assert_eq!(place.journal.document("tallies", "one").await.unwrap().unwrap().body, "3");
}

async fn a_refused_command_stores_nothing(place: TestStore) {
    let (streams, stream) = (streams(&place.journal), stream("one"));
    let refused = reply_summary(streams.execute(&stream, with_key(remove("sword"), "key")).await);
    assert_eq!(refused, Err(JournalFailure::Refused(Refusal::NameMissing("sword".to_owned()))));
    assert_eq!(place.journal.head(&stream).await.unwrap().revision, 0);
    assert_eq!(place.journal.find_answers(&stream, vec!["key".to_owned()]).await.unwrap(), []);
}

async fn a_pinned_revision_must_be_the_current_one(place: TestStore) {
    let (streams, stream) = (streams(&place.journal), stream("one"));
    expect_applied(streams.execute(&stream, with_expected_revision(add("a", 1), 0)).await);
    let conflict = reply_summary(streams.execute(&stream, with_expected_revision(add("b", 1), 0)).await);
    assert_eq!(conflict, Err(JournalFailure::RevisionConflict { expected: 0, actual: 1 }));
    // Another node appends first.
    let elsewhere = Streams::<Tally>::new(place.open_again().await);
    expect_applied(elsewhere.execute(&stream, with_expected_revision(add("c", 1), 1)).await);
    let conflict = reply_summary(streams.execute(&stream, with_expected_revision(add("b", 1), 1)).await);
    assert_eq!(conflict, Err(JournalFailure::RevisionConflict { expected: 1, actual: 2 }));
    expect_applied(streams.execute(&stream, with_expected_revision(add("b", 1), 2)).await);
}

async fn a_retry_gets_the_same_answer(place: TestStore) {
    let (streams, stream) = (streams(&place.journal), stream("one"));
    let first = reply_summary(streams.execute(&stream, with_key(with_expected_revision(add("a", 1), 0), "key")).await);
    assert_eq!(first, Ok((1, Some("total 1".to_owned()), false)));
    expect_applied(streams.execute(&stream, add("b", 5)).await);
    // The rules would refuse it now, and the pinned revision is gone.
    let done = expect_applied(streams.execute(&stream, with_key(with_expected_revision(add("a", 1), 0), "key")).await);
    assert_eq!((done.revision, done.answer.as_deref(), done.replayed), (1, Some("total 1"), true));
    assert_eq!(done.events.len(), 1);
    let anew = Streams::<Tally>::new(place.open_again().await);
    let retried = reply_summary(anew.execute(&stream, with_key(add("a", 1), "key")).await);
    assert_eq!(retried, Ok((1, Some("total 1".to_owned()), true)));
    assert_eq!(place.journal.head(&stream).await.unwrap().revision, 2);
}

async fn a_retry_under_another_request_is_refused(place: TestStore) {
    let (streams, stream) = (streams(&place.journal), stream("one"));
    expect_applied(streams.execute(&stream, with_key(add("a", 1), "key")).await);
    let mismatch = || Err(JournalFailure::IdempotencyMismatch { key: "key".to_owned() });
    assert_eq!(reply_summary(streams.execute(&stream, with_key(add("b", 1), "key")).await), mismatch());
    assert_eq!(reply_summary(streams.execute(&stream, with_key(remove("z"), "key")).await), mismatch());
    expect_applied(streams.execute(&crate::tally::stream("two"), with_key(add("b", 1), "key")).await);
}

async fn a_retry_at_the_same_moment_happens_once(place: TestStore) {
    let (streams, stream) = (streams(&place.journal), stream("one"));
    let tries = (0..20).map(|_| streams.execute(&stream, with_key(add("a", 1), "key")));
    let replies = futures::future::join_all(tries).await;
    let replayed = replies.into_iter().map(|reply| {
        let done = expect_applied(reply);
        assert_eq!((done.revision, done.answer.as_deref()), (1, Some("total 1")));
        done.replayed
    });
    assert_eq!(replayed.filter(|replayed| !replayed).count(), 1);
    assert_eq!(place.journal.head(&stream).await.unwrap().revision, 1);
}

async fn a_refused_command_may_be_tried_again_under_its_key(place: TestStore) {
    let (streams, stream) = (streams(&place.journal), stream("one"));
    assert!(streams.execute(&stream, with_key(remove("a"), "key")).await.is_err());
    expect_applied(streams.execute(&stream, add("a", 1)).await);
    assert_eq!(
        reply_summary(streams.execute(&stream, with_key(remove("a"), "key")).await),
        Ok((2, Some("total 0".to_owned()), false))
    );
}

async fn two_writers_of_one_stream_lose_nothing(place: TestStore) {
    const EACH: i64 = 60;
    let sides = [streams(&place.journal), Streams::new(place.open_again().await)];
    let stream = stream("one");
    let writers = sides.into_iter().enumerate().map(|(side, streams)| {
        let stream = stream.clone();
        tokio::spawn(async move {
            let streams = Arc::new(streams);
            let tasks = (0..4).map(|task| {
                let (streams, stream) = (Arc::clone(&streams), stream.clone());
                tokio::spawn(async move {
                    for number in 0..EACH / 4 {
                        expect_applied(streams.execute(&stream, add(&format!("{side}-{task}-{number}"), 1)).await);
                    }
                })
            });
            for task in tasks.collect::<Vec<_>>() {
                task.await.unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let records = place.journal.read(&stream, 0, 1_000).await.unwrap();
    assert_eq!(i64::try_from(records.len()).unwrap(), 2 * EACH);
    let kept = Streams::<Tally>::new(place.open_again().await).read(&stream).await.unwrap();
    assert_eq!(kept.state.total(), 2 * EACH);
}

async fn a_read_is_never_older_than_what_another_has_committed(place: TestStore) {
    let (here, there) = (streams(&place.journal), Streams::<Tally>::new(place.open_again().await));
    let one = stream("one");
    assert_eq!(here.read(&one).await.unwrap().revision(), 0);
    for number in 1..=10 {
        let done = expect_applied(there.execute(&one, add(&number.to_string(), 1)).await);
        assert_eq!(here.read(&one).await.unwrap().revision(), done.revision, "at once, without a wait");
        if number % 4 == 0 {
            let done = expect_applied(here.execute(&one, add(&format!("here {number}"), 1)).await);
            assert_eq!(there.read(&one).await.unwrap().revision(), done.revision);
        }
    }
}

async fn nobody_is_refused_for_what_another_has_changed(place: TestStore) {
    let (here, there) = (streams(&place.journal), Streams::<Tally>::new(place.open_again().await));
    let one = stream("one");
    for number in 0..10 {
        let name = number.to_string();
        expect_applied(there.execute(&one, add(&name, 1)).await);
        expect_applied(here.execute(&one, remove(&name)).await);
        let done = expect_applied(there.execute(&one, with_expected_revision(add(&name, 1), 3 * number + 2)).await);
        assert_eq!(done.revision, 3 * number + 3);
        let refused = reply_summary(here.execute(&one, add(&name, 1)).await);
        assert_eq!(refused, Err(JournalFailure::Refused(Refusal::NameTaken(name))));
    }
}

async fn a_retry_on_another_node_happens_once(place: TestStore) {
    let stream = stream("one");
    let (here, there) = (streams(&place.journal), Streams::<Tally>::new(place.open_again().await));
    for number in 0..20 {
        let (name, key) = (number.to_string(), format!("key {number}"));
        let (first, second) = futures::future::join(
            here.execute(&stream, with_key(add(&name, 1), &key)),
            there.execute(&stream, with_key(add(&name, 1), &key)),
        )
        .await;
        let (first, second) = (expect_applied(first), expect_applied(second));
        assert_eq!((first.revision, &first.answer), (second.revision, &second.answer));
        assert_ne!(first.replayed, second.replayed);
    }
    assert_eq!(place.journal.head(&stream).await.unwrap().revision, 20);
}

async fn a_panic_in_the_rules_is_one_commands_failure(place: TestStore) {
    let (streams, stream) = (streams(&place.journal), stream("one"));
    let replies = futures::future::join3(
        streams.execute(&stream, add("a", 1)),
        streams.execute(&stream, Submission::new(TallyCommand::Panic, given())),
        streams.execute(&stream, add("b", 1)),
    )
    .await;
    assert_eq!(expect_applied(replies.0).revision, 1);
    assert_eq!(reply_summary(replies.1), Err(JournalFailure::Broken("deciding on tally panicked".to_owned())));
    assert_eq!(expect_applied(replies.2).revision, 2);
}

async fn a_record_that_cannot_be_replayed_stops_its_stream_alone(place: TestStore) {
    let (streams, one) = (streams(&place.journal), stream("one"));
    expect_applied(streams.execute(&one, add("a", 1)).await);
    let elsewhere = place.open_again().await;
    let head = elsewhere.head(&one).await.unwrap();
    let body = r#"[{"type":"cursed"}]"#.to_owned();
    let records = vec![Record::next(&one, head, "cursed", given().at, "tester", body)];
    let batch = Batch { expected: head, records, ..Batch::default() };
    elsewhere.append(Append::without_redecide(one.clone(), batch)).await.unwrap();
    for name in ["b", "c"] {
        let damaged = reply_summary(streams.execute(&one, add(name, 1)).await);
        assert!(matches!(damaged, Err(JournalFailure::Damaged(_))), "{damaged:?}");
    }
    expect_applied(streams.execute(&stream("two"), add("a", 1)).await);
}

#[test]
fn a_full_mailbox_turns_commands_away() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let journal = skald_store::open("memory").await.unwrap();
        let streams = Streams::<Tally>::with_limits(journal, Limits { mailbox: 3, ..Limits::default() });
        let (one, names) = (stream("one"), ["a", "b", "c", "d", "e"]);
        let replies = futures::future::join_all(names.map(|name| streams.execute(&one, add(name, 1)))).await;
        let taken =
            replies.into_iter().map(|reply| reply_summary(reply).map(|(revision, ..)| revision)).collect::<Vec<_>>();
        assert_eq!(taken, [Ok(1), Ok(2), Ok(3), Err(JournalFailure::RateLimited), Err(JournalFailure::RateLimited)]);
        assert_eq!(expect_applied(streams.execute(&one, add("f", 1)).await).revision, 4);
    });
}

#[test]
fn an_idle_stream_is_closed_and_opens_again() {
    block_on(async {
        let journal = skald_store::open("memory").await.unwrap();
        let limits = Limits { idle: Duration::from_millis(5), ..Limits::default() };
        let streams = Streams::<Tally>::with_limits(journal, limits);
        for number in 0..20 {
            expect_applied(streams.execute(&stream("one"), add(&number.to_string(), 1)).await);
            if number % 5 == 0 {
                wait_until("the end of the idle stream", || async { streams.open_count() == 0 }).await;
            }
        }
        assert_eq!(streams.read(&stream("one")).await.unwrap().state.total(), 20);
    });
}
