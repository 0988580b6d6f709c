//! Tests of the guarantees of every store, called directly through the `Journal` port.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use skald_journal::{
    Append, Batch, Cursor, Document, Head, IdempotencyKey, IdempotentAnswer, Journal, Partitions, ReadModelChange,
    Record, RowsToSumUp, SideRow, StoreError, StoreHealth, StreamKinds, StreamName, Streams, VerifyVerdict, rebuild,
    verify,
};

use crate::tally::{Tally, add, given, stream, with_key};
use crate::test_stores::{TestStore, on_every_store, wait_until};

on_every_store! {
    a_stream_that_never_began_is_empty,
    a_batch_reads_back_as_it_was_written,
    a_batch_that_does_not_fit_leaves_nothing,
    a_key_that_was_answered_is_not_answered_twice,
    a_batch_is_decided_again_on_top_of_what_it_missed,
    revisions_are_dense_and_chained,
    followers_skip_nothing,
    documents_are_listed_and_counted_by_partition,
    documents_are_listed_from_the_highest_rank,
    streams_are_listed_by_name,
    a_stream_keeps_the_shard_it_began_with,
    the_shelf_keeps_what_is_no_event,
    rows_are_removed_with_their_sum_or_not_at_all,
    rows_of_a_batch_are_stored_with_it_or_not_at_all,
    a_sound_journal_verifies_and_rebuilds,
    the_same_history_has_the_same_root_everywhere,
    a_store_says_that_it_is_ready,
    a_write_elsewhere_is_seen_and_wakes,
}

fn stream_kinds() -> StreamKinds {
    StreamKinds::default().with_kind::<Tally>()
}

/// A batch of `count` records after a head.
fn batch(stream: &StreamName, expected: Head, count: usize) -> Batch {
    let mut head = expected;
    let records = (0..count).map(|number| {
        let body = format!(r#"[{{"type":"added","name":"{}-{number}","amount":1}}]"#, head.revision);
        let record = Record::next(stream, head, "added", given().at, "tester", body);
        head = record.head();
        record
    });
    Batch { expected, records: records.collect(), ..Batch::default() }
}

fn test_answer(key: &str, revision: u64) -> IdempotentAnswer {
    IdempotentAnswer { key: IdempotencyKey::new(key, &[b"request"]), revision, answer: format!("answer {revision}") }
}

fn document(collection: &str, id: &str, rank: i64) -> Document {
    let (collection, partition) = (collection.to_owned(), String::new());
    Document { collection, partition, id: id.to_owned(), rank, body: format!("{id:?}"), search: None }
}

async fn a_stream_that_never_began_is_empty(place: TestStore) {
    let (journal, stream) = (place.journal, stream("none"));
    assert_eq!(journal.head(&stream).await.unwrap(), Head::default());
    assert_eq!(journal.read(&stream, 0, 10).await.unwrap(), []);
    assert_eq!(journal.snapshot(&stream).await.unwrap(), None);
    assert_eq!(journal.follow(Cursor::default(), 10).await.unwrap(), []);
    assert_eq!(journal.streams("", 10).await.unwrap(), []);
}

async fn a_batch_reads_back_as_it_was_written(place: TestStore) {
    let (journal, stream) = (place.journal, stream("one"));
    let mut written = batch(&stream, Head::default(), 3);
    written.records[2].body = String::from(r#"["O'Brien \"\\\" 文 🎲 \u0000"]"#);
    written.records[2].hash = written.records[2].computed_hash();
    written.answers = vec![test_answer("key", 2)];
    let last = written.records[2].head();
    journal.append(Append::without_redecide(stream.clone(), written.clone())).await.unwrap();
    assert_eq!(journal.read(&stream, 0, 10).await.unwrap(), written.records);
    assert_eq!(journal.read(&stream, 1, 1).await.unwrap(), written.records[1..2]);
    assert_eq!(journal.head(&stream).await.unwrap(), last);
    let answered = journal.find_answers(&stream, vec!["other".to_owned(), "key".to_owned()]).await.unwrap();
    assert_eq!(answered, written.answers);
    // A transaction of another test may hide them for a moment.
    wait_until("the records", || async { !journal.follow(Cursor::default(), 10).await.unwrap().is_empty() }).await;
    let followed = journal.follow(Cursor::default(), 10).await.unwrap();
    assert_eq!(followed.into_iter().map(|(_, record)| record).collect::<Vec<_>>(), written.records);
}

async fn a_batch_that_does_not_fit_leaves_nothing(place: TestStore) {
    let (journal, stream) = (place.journal, stream("one"));
    let first = batch(&stream, Head::default(), 2);
    let head = first.records[1].head();
    journal.append(Append::without_redecide(stream.clone(), first)).await.unwrap();
    for expected in [Head::default(), Head { revision: 2, ..Head::default() }, Head { revision: 7, ..head }] {
        let mut late = batch(&stream, expected, 2);
        late.answers = vec![test_answer("late", expected.revision + 1)];
        late.changes = vec![ReadModelChange::Put(document("things", "late", 1))];
        let refused = journal.append(Append::without_redecide(stream.clone(), late)).await;
        assert_eq!(refused, Err(StoreError::Conflict { head }), "{expected:?}");
    }
    assert_eq!(journal.head(&stream).await.unwrap(), head);
    assert_eq!(journal.read(&stream, 0, 10).await.unwrap().len(), 2);
    assert_eq!(journal.find_answers(&stream, vec!["late".to_owned()]).await.unwrap(), []);
    assert_eq!(journal.document("things", "late").await.unwrap(), None);
}

async fn a_key_that_was_answered_is_not_answered_twice(place: TestStore) {
    let (journal, stream) = (place.journal, stream("one"));
    let mut first = batch(&stream, Head::default(), 1);
    first.answers = vec![test_answer("key", 1)];
    let head = first.records[0].head();
    journal.append(Append::without_redecide(stream.clone(), first)).await.unwrap();
    let mut second = batch(&stream, head, 1);
    second.answers = vec![test_answer("key", 2)];
    let refused = journal.append(Append::without_redecide(stream.clone(), second)).await;
    assert_eq!(refused, Err(StoreError::Conflict { head }));
    assert_eq!(journal.head(&stream).await.unwrap(), head);
}

async fn a_batch_is_decided_again_on_top_of_what_it_missed(place: TestStore) {
    let (journal, stream) = (place.journal, stream("one"));
    let mut first = batch(&stream, Head::default(), 2);
    first.answers = vec![test_answer("key", 1)];
    journal.append(Append::without_redecide(stream.clone(), first.clone())).await.unwrap();
    let mut late = batch(&stream, Head::default(), 1);
    late.answers = vec![test_answer("key", 1)];
    let (again_stream, missed_records) = (stream.clone(), first.records.clone());
    let again = Box::new(move |missed: skald_journal::ConcurrentAppends| {
        assert_eq!(missed.records, missed_records);
        assert_eq!(missed.answered, [test_answer("key", 1)]);
        Some(batch(&again_stream, missed.records.last().unwrap().head(), 3))
    });
    journal.append(Append { stream: stream.clone(), batch: late, again: Some(again) }).await.unwrap();
    assert_eq!(journal.head(&stream).await.unwrap().revision, 5);
    let nothing =
        Append { stream: stream.clone(), batch: batch(&stream, Head::default(), 1), again: Some(Box::new(|_| None)) };
    journal.append(nothing).await.unwrap();
    assert_eq!(journal.head(&stream).await.unwrap().revision, 5);
}

async fn revisions_are_dense_and_chained(place: TestStore) {
    let streams = Arc::new(Streams::<Tally>::new(Arc::clone(&place.journal)));
    let writers = (0..16).map(|writer| {
        let streams = Arc::clone(&streams);
        tokio::spawn(async move {
            let stream = stream(&format!("s{}", writer % 4));
            for number in 0..20 {
                streams.execute(&stream, add(&format!("{writer}-{number}"), 1)).await.map_err(|_| "failed").unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    for number in 0..4 {
        let stream = stream(&format!("s{number}"));
        let records = place.journal.read(&stream, 0, 1_000).await.unwrap();
        assert_eq!(records.iter().map(|record| record.revision).collect::<Vec<_>>(), (1..=80).collect::<Vec<_>>());
        assert_eq!(streams.read(&stream).await.unwrap().state.total(), 80);
    }
    let VerifyVerdict::Sound(report) = verify(&*place.journal, &stream_kinds()).await.unwrap() else {
        panic!("not sound")
    };
    assert_eq!((report.streams, report.records), (4, 320));
}

async fn followers_skip_nothing(place: TestStore) {
    const RECORDS: usize = 8 * 25;
    let reader = place.open_again().await;
    let follower = tokio::spawn(async move {
        let mut wakes = reader.subscribe_appends();
        let (mut cursor, mut seen) = (Cursor::default(), Vec::new());
        while seen.len() < RECORDS {
            let page = reader.follow(cursor, 7).await.unwrap();
            if page.is_empty() {
                tokio::time::timeout(Duration::from_secs(10), wakes.changed()).await.expect("a wake").unwrap();
            }
            for (next, record) in page {
                assert!(next > cursor);
                cursor = next;
                seen.push(record);
            }
        }
        seen
    });
    let streams = Arc::new(Streams::<Tally>::new(Arc::clone(&place.journal)));
    let writers = (0..8).map(|writer| {
        let streams = Arc::clone(&streams);
        tokio::spawn(async move {
            for number in 0..25 {
                let stream = stream(&format!("s{writer}"));
                streams.execute(&stream, add(&number.to_string(), 1)).await.map_err(|_| "failed").unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let mut revisions: BTreeMap<StreamName, u64> = BTreeMap::new();
    for record in follower.await.unwrap() {
        let revision = revisions.entry(record.stream.clone()).or_default();
        assert_eq!(record.revision, *revision + 1, "{}", record.stream);
        *revision = record.revision;
    }
    assert!(revisions.len() == 8 && revisions.values().all(|revision| *revision == 25));
}

async fn documents_are_listed_and_counted_by_partition(place: TestStore) {
    let (journal, stream) = (place.journal, stream("one"));
    let mut written = batch(&stream, Head::default(), 1);
    let put = |collection: &str, partition: &str, id: &str, rank: i64| {
        ReadModelChange::Put(Document { partition: partition.to_owned(), ..document(collection, id, rank) })
    };
    // Ranks and ids are mixed, so that no order within partitions is the order of all.
    let rows =
        [("a", "3", 1), ("b", "1", 1), ("", "2", 1), ("a", "0", 7), ("b", "9", -2), ("a", "6", 1), ("'\"", "5", 4)];
    written.changes = rows.iter().map(|(partition, id, rank)| put("things", partition, id, *rank)).collect();
    written.changes.push(put("others", "a", "8", 1));
    let head = written.records[0].head();
    journal.append(Append::without_redecide(stream.clone(), written)).await.unwrap();
    let cases: [(&[&str], &[&str]); 7] = [
        (&["a"], &["0", "3", "6"]),
        (&["b"], &["1", "9"]),
        (&[""], &["2"]),
        (&["a", "b"], &["0", "1", "3", "6", "9"]),
        (&["'\"", "none", ""], &["5", "2"]),
        (&["A"], &[]),
        (&[], &[]),
    ];
    for (names, expected) in cases {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let partitions = Partitions::Of(&names);
        for limit in [1, 2, 10] {
            let (mut ids, mut after) = (Vec::new(), None);
            loop {
                let place = after.as_ref().map(|(rank, id): &(i64, String)| (*rank, id.as_str()));
                let page = journal.documents("things", partitions, place, limit).await.unwrap();
                assert!(page.len() <= limit);
                let Some(last) = page.last() else { break };
                after = Some((last.rank, last.id.clone()));
                ids.extend(page.into_iter().map(|document| document.id));
            }
            assert_eq!(ids, expected, "{names:?} by {limit}");
        }
        assert_eq!(journal.count_documents("things", partitions).await.unwrap(), expected.len() as u64, "{names:?}");
    }
    assert_eq!(journal.count_documents("things", Partitions::All).await.unwrap(), 7);
    let mut next = batch(&stream, head, 1);
    next.changes = vec![put("things", "b", "0", 7)];
    journal.append(Append::without_redecide(stream.clone(), next)).await.unwrap();
    let moved = journal.document("things", "0").await.unwrap().unwrap();
    assert_eq!(moved.partition, "b");
    assert_eq!(journal.count_documents("things", Partitions::Of(&["a".to_owned()])).await.unwrap(), 2);
}

async fn documents_are_listed_from_the_highest_rank(place: TestStore) {
    let (journal, stream) = (place.journal, stream("one"));
    let mut written = batch(&stream, Head::default(), 1);
    let ranks = [("b", 5), ("a", 5), ("c", -3), ("d", 9), ("e", 5), ("Z", 5)];
    written.changes = ranks.iter().map(|(id, rank)| ReadModelChange::Put(document("things", id, *rank))).collect();
    written.changes.push(ReadModelChange::Put(document("others", "a", 1)));
    let head = written.records[0].head();
    journal.append(Append::without_redecide(stream.clone(), written)).await.unwrap();
    let ids = |page: &[Document]| page.iter().map(|document| document.id.clone()).collect::<Vec<_>>();
    let all = journal.documents("things", Partitions::All, None, 10).await.unwrap();
    assert_eq!(ids(&all), ["d", "Z", "a", "b", "e", "c"]);
    let mut paged = journal.documents("things", Partitions::All, None, 2).await.unwrap();
    while let Some(last) = paged.last().cloned() {
        let page = journal.documents("things", Partitions::All, Some((last.rank, &last.id)), 2).await.unwrap();
        if page.is_empty() {
            break;
        }
        paged.extend(page);
    }
    assert_eq!(paged, all);
    let mut next = batch(&stream, head, 1);
    let delete = ReadModelChange::Delete { collection: "things".to_owned(), id: "d".to_owned() };
    next.changes = vec![delete, ReadModelChange::Put(document("things", "c", 99))];
    journal.append(Append::without_redecide(stream.clone(), next)).await.unwrap();
    assert_eq!(ids(&journal.documents("things", Partitions::All, None, 10).await.unwrap()), ["c", "Z", "a", "b", "e"]);
    assert_eq!(journal.document("things", "d").await.unwrap(), None);
    assert_eq!(journal.document("things", "c").await.unwrap(), Some(document("things", "c", 99)));
    let owned = journal.owned_documents(&stream, ("things", "a"), 2).await.unwrap();
    assert_eq!(ids(&owned), ["b", "c"]);
}

async fn rows_of_a_batch_are_stored_with_it_or_not_at_all(place: TestStore) {
    let (journal, [one, two]) = (place.journal, ["one", "two"].map(stream));
    let row = |key: &str, body: &str| SideRow { kind: "content".into(), key: key.to_owned(), body: body.into() };
    let with_rows = |stream: &StreamName, expected: Head, rows: &[SideRow]| {
        Append::without_redecide(stream.clone(), Batch { side_rows: rows.to_vec(), ..batch(stream, expected, 1) })
    };
    let rows = [row("a", "first"), row("b", "second")];
    journal.append(with_rows(&one, Head::default(), &rows)).await.unwrap();
    // The same row may come with several streams at once.
    let same = [row("b", "second"), row("c", "third")];
    let appends = [&two, &stream("three")].map(|stream| journal.append(with_rows(stream, Head::default(), &same)));
    assert!(futures::future::join_all(appends).await.iter().all(Result::is_ok));
    let refused = journal.append(with_rows(&one, Head::default(), &[row("a", "other"), row("d", "fourth")])).await;
    assert!(matches!(refused, Err(StoreError::Conflict { .. })), "{refused:?}");
    let pairs = [("a", "first"), ("b", "second"), ("c", "third")];
    let stored = pairs.map(|(key, body)| (key.to_owned(), body.to_owned()));
    assert_eq!(journal.list("content", "", 10).await.unwrap(), stored, "nothing of what did not fit");
}

async fn streams_are_listed_by_name(place: TestStore) {
    let journal = place.journal;
    let mut heads = Vec::new();
    for id in ["b", "A", "a", "_"] {
        let stream = stream(id);
        let written = batch(&stream, Head::default(), 2);
        heads.push((stream.clone(), written.records[1].head()));
        journal.append(Append::without_redecide(stream, written)).await.unwrap();
    }
    heads.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(journal.streams("", 10).await.unwrap(), heads);
    assert_eq!(journal.streams(heads[1].0.as_str(), 1).await.unwrap(), heads[2..3]);
}

async fn a_stream_keeps_the_shard_it_began_with(place: TestStore) {
    let journal = place.journal;
    let began = stream("one").with_tenant("campaign");
    assert_ne!(began.shard(), stream("one").shard());
    let first = batch(&began, Head::default(), 1);
    let head = first.records[0].head();
    journal.append(Append::without_redecide(began.clone(), first)).await.unwrap();
    let later = stream("one");
    journal.append(Append::without_redecide(later.clone(), batch(&later, head, 1))).await.unwrap();
    let listed = journal.streams("", 10).await.unwrap();
    assert_eq!(listed[0].0.shard(), began.shard());
}

async fn the_shelf_keeps_what_is_no_event(place: TestStore) {
    let journal = place.journal;
    for key in ["b", "a", "c"] {
        journal.put("token", key, format!("first {key}")).await.unwrap();
        journal.put("token", key, format!("second {key}")).await.unwrap();
    }
    journal.put("context", "a", "other".to_owned()).await.unwrap();
    assert_eq!(journal.get("token", "a").await.unwrap().as_deref(), Some("second a"));
    assert_eq!(journal.get("token", "z").await.unwrap(), None);
    assert!(!journal.replace("token", "a", "first a", "third a".to_owned()).await.unwrap(), "somebody was faster");
    assert!(!journal.replace("token", "z", "second z", "third z".to_owned()).await.unwrap(), "nothing is there");
    assert!(journal.replace("token", "b", "second b", "third b".to_owned()).await.unwrap());
    assert!(journal.replace("token", "b", "third b", "second b".to_owned()).await.unwrap());
    assert!(journal.remove("token", "c").await.unwrap());
    assert!(!journal.remove("token", "c").await.unwrap());
    let listed = journal.list("token", "", 10).await.unwrap();
    let pair = |key: &str, body: &str| (key.to_owned(), body.to_owned());
    assert_eq!(listed, [pair("a", "second a"), pair("b", "second b")]);
    assert_eq!(journal.list("token", "a", 10).await.unwrap(), [pair("b", "second b")]);
}

async fn rows_are_removed_with_their_sum_or_not_at_all(place: TestStore) {
    let journal = place.journal;
    for key in ["a", "b", "c"] {
        journal.put("attempt", key, key.to_owned()).await.unwrap();
    }
    let sum_up = async |keys: &[&str], old: Option<&str>, new: &str| {
        let (keys, new) = (keys.iter().map(|key| (*key).to_owned()).collect(), new.to_owned());
        let (kind, sum_kind, sum_key) = ("attempt", "sum", "one");
        let done = journal.sum_up_rows(RowsToSumUp { kind, keys, sum_kind, sum_key, old, new }).await.unwrap();
        let rows = journal.list("attempt", "", 10).await.unwrap();
        let rows: String = rows.into_iter().map(|(key, _)| key).collect();
        (done, rows, journal.get("sum", "one").await.unwrap().unwrap_or_default())
    };
    let pair = |done: bool, rows: &str, sum: &str| (done, rows.to_owned(), sum.to_owned());
    assert_eq!(sum_up(&["a"], None, "1").await, pair(true, "bc", "1"));
    assert_eq!(sum_up(&["b"], None, "other").await, pair(false, "bc", "1"), "somebody was faster");
    assert_eq!(sum_up(&["b"], Some("2"), "other").await, pair(false, "bc", "1"), "somebody was faster");
    assert_eq!(sum_up(&["b", "c"], Some("1"), "3").await, pair(true, "", "3"));
}

async fn a_sound_journal_verifies_and_rebuilds(place: TestStore) {
    let journal = place.journal;
    let streams = Streams::<Tally>::new(Arc::clone(&journal));
    let stream = stream("one");
    for number in 0..30 {
        streams.execute(&stream, add(&number.to_string(), number)).await.map_err(|_| "failed").unwrap();
    }
    let VerifyVerdict::Sound(before) = verify(&*journal, &stream_kinds()).await.unwrap() else { panic!("not sound") };
    assert_eq!((before.streams, before.records, before.documents), (1, 30, 31));
    let head = journal.head(&stream).await.unwrap();
    let wrong = vec![document("entries", "one:0", 12)];
    let moved = Head { revision: 3, ..head };
    let refused = journal.replace_documents(&stream, moved, wrong.clone()).await;
    assert_eq!(refused, Err(StoreError::Conflict { head }));
    journal.replace_documents(&stream, head, wrong).await.unwrap();
    let found = findings(&*journal).await;
    assert_eq!(found[0], "row_differs: tally/one: entries \"one:0\" is not what the records come to");
    assert_eq!(found[1], "row_missing: tally/one: entries \"one:1\" is missing");
    assert_eq!(found.len(), 31, "one is wrong, and thirty are missing: {found:?}");
    assert_eq!(rebuild(&*journal, &stream_kinds()).await.unwrap(), 31);
    assert_eq!(verify(&*journal, &stream_kinds()).await.unwrap(), VerifyVerdict::Sound(before));
}

/// The same history has the same root hash on every store, and side rows are part of it.
async fn the_same_history_has_the_same_root_everywhere(place: TestStore) {
    let mut roots = Vec::new();
    for journal in [Arc::new(skald_store::Memory::new()) as Arc<dyn Journal>, place.journal] {
        let streams = Streams::<Tally>::new(Arc::clone(&journal));
        for number in 0..8 {
            let stream = stream(&format!("s{}", number % 3));
            let name = number.to_string();
            streams.execute(&stream, with_key(add(&name, number), &name)).await.map_err(|_| "failed").unwrap();
        }
        journal.put("attempt/one", "key", "body".to_owned()).await.unwrap();
        let VerifyVerdict::Sound(report) = verify(&*journal, &stream_kinds()).await.unwrap() else {
            panic!("not sound")
        };
        assert_eq!((report.records, report.answers, report.older_answers, report.side_rows), (8, 8, 0, 1));
        journal.put("attempt/one", "key", "another".to_owned()).await.unwrap();
        let VerifyVerdict::Sound(changed) = verify(&*journal, &stream_kinds()).await.unwrap() else {
            panic!("not sound")
        };
        assert_ne!(changed.root, report.root);
        roots.push(report.root);
    }
    assert_eq!(roots[0], roots[1]);
}

async fn findings(journal: &dyn Journal) -> Vec<String> {
    match verify(journal, &stream_kinds()).await.unwrap() {
        VerifyVerdict::Sound(_) => Vec::new(),
        VerifyVerdict::Unsound { findings, .. } => findings.iter().map(ToString::to_string).collect(),
    }
}

async fn a_store_says_that_it_is_ready(place: TestStore) {
    assert_eq!(*place.journal.health().borrow(), StoreHealth::Ready);
}

async fn a_write_elsewhere_is_seen_and_wakes(place: TestStore) {
    let here = Arc::clone(&place.journal);
    let there = place.open_again().await;
    let (reads, writes) = (Streams::<Tally>::new(Arc::clone(&here)), Streams::<Tally>::new(there));
    let stream = stream("one");
    let mut wakes = here.subscribe_appends();
    for number in 1..=5 {
        wakes.borrow_and_update();
        writes.execute(&stream, add(&format!("there {number}"), 1)).await.map_err(|_| "failed").unwrap();
        tokio::time::timeout(Duration::from_secs(2), wakes.changed()).await.expect("a wake").unwrap();
        let total = 2 * number - 1;
        wait_until("what was written there", || async { reads.read(&stream).await.unwrap().state.total() == total })
            .await;
        // And the other way round, so that both have written.
        let done = reads.execute(&stream, add(&format!("here {number}"), 1)).await.map_err(|_| "failed").unwrap();
        assert_eq!(done.committed.state.total(), total + 1);
        wait_until("what was written here", || async {
            writes.read(&stream).await.unwrap().state.total() == total + 1
        })
        .await;
    }
}
