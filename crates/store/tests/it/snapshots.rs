//! Tests of snapshots and their parts, on every store.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rusqlite::Connection;
use serde_json::{Value, json};
use skald_app::UniverseStream;
use skald_domain::universe::{SentState, UniverseCommand};
use skald_journal::{
    AnswerDigest, Head, Journal, Limits, Record, Snapshot, SnapshotPart, StoredSnapshot, StreamKinds, StreamName,
    Streams, Submission, VerifyVerdict, rebuild, verify,
};

use crate::tally::{State, Tally, TallyPart, add, given, stream};
use crate::test_stores::{TestStore, block_on, connect, create_schema, on_every_store, wait_until};
use skald_testkit::TemporaryFolder;

on_every_store! {
    a_snapshot_is_kept_with_all_its_parts,
    fewer_parts_leave_none_of_the_old_ones_behind,
    an_older_snapshot_does_not_replace_a_newer_one,
    a_snapshot_is_never_read_as_two,
    a_stream_opens_from_its_snapshot_or_without,
    a_pause_brings_a_snapshot_of_many_records,
    a_snapshot_of_another_state_is_found_and_made_anew,
    a_large_universe_opens_from_all_its_parts,
}

fn snapshot(revision: u64, parts: &[&str]) -> Snapshot {
    let parts = parts.iter().map(|part| (*part).to_owned()).collect();
    Snapshot { version: 1, head: Head { revision, hash: [7; 32] }, parts }
}

/// A part, if it exists.
async fn read_part(journal: &dyn Journal, stream: &StreamName, of: &StoredSnapshot, part: u32) -> Option<String> {
    let found = Arc::new(Mutex::new(None));
    let read = Arc::clone(&found);
    let read = Box::new(move |text: &str| *read.lock().unwrap() = Some(text.to_owned()));
    journal.snapshot_part(stream, of, part, read).await.unwrap();
    found.lock().unwrap().take()
}

/// All parts of a snapshot, or `None` if some are missing.
async fn read_parts(journal: &dyn Journal, stream: &StreamName, of: &StoredSnapshot) -> Option<Vec<String>> {
    let mut parts = vec![of.first.clone()];
    for number in 1..of.parts {
        parts.push(read_part(journal, stream, of, number).await?);
    }
    Some(parts)
}

/// The newest snapshot, in the form in which it was passed to the store.
async fn read_newest(journal: &dyn Journal, stream: &StreamName) -> Option<Snapshot> {
    let kept = journal.snapshot(stream).await.unwrap()?;
    let parts = read_parts(journal, stream, &kept).await?;
    Some(Snapshot { version: kept.version, head: kept.head, parts })
}

async fn a_snapshot_is_kept_with_all_its_parts(place: TestStore) {
    let (journal, one, other) = (&*place.journal, stream("one"), stream("other"));
    journal.store_snapshot(&other, snapshot(9, &["other", "stream"])).await.unwrap();
    let long: Vec<String> = (0..20).map(|number| number.to_string().repeat(10_000)).collect();
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    for wanted in [snapshot(3, &["{}"]), Snapshot { version: 2, ..snapshot(3, &["a", "", "ü"]) }, snapshot(4, &long)] {
        journal.store_snapshot(&one, wanted.clone()).await.unwrap();
        assert_eq!(read_newest(journal, &one).await, Some(wanted));
    }
    let kept = journal.snapshot(&one).await.unwrap().unwrap();
    assert_eq!((kept.parts, read_part(journal, &one, &kept, 20).await), (20, None));
    assert_eq!(read_part(journal, &other, &kept, 1).await, None, "another stream has other parts");
    journal.drop_snapshots().await.unwrap();
    assert_eq!(journal.snapshot(&one).await.unwrap(), None);
    assert_eq!(read_part(journal, &one, &kept, 1).await, None);
}

async fn fewer_parts_leave_none_of_the_old_ones_behind(place: TestStore) {
    let (journal, stream) = (&*place.journal, stream("one"));
    for next in [3, 4] {
        journal.store_snapshot(&stream, snapshot(3, &["a", "b", "c", "d"])).await.unwrap();
        let old = journal.snapshot(&stream).await.unwrap().unwrap();
        journal.store_snapshot(&stream, snapshot(next, &["e", "f"])).await.unwrap();
        assert_eq!(read_newest(journal, &stream).await, Some(snapshot(next, &["e", "f"])));
        for number in 1..4 {
            assert_eq!(read_part(journal, &stream, &old, number).await, None, "who still reads the old one is told so");
        }
    }
    journal.store_snapshot(&stream, snapshot(4, &["g"])).await.unwrap();
    assert_eq!(read_newest(journal, &stream).await, Some(snapshot(4, &["g"])));
}

async fn an_older_snapshot_does_not_replace_a_newer_one(place: TestStore) {
    let (journal, stream) = (&*place.journal, stream("one"));
    let newer = snapshot(5, &["a", "b", "c"]);
    journal.store_snapshot(&stream, newer.clone()).await.unwrap();
    journal.store_snapshot(&stream, snapshot(4, &["d", "e"])).await.unwrap();
    assert_eq!(read_newest(journal, &stream).await, Some(newer));
}

/// Two writers store snapshots at the same time, also with equal revisions, while a third reads.
async fn a_snapshot_is_never_read_as_two(place: TestStore) {
    let stream = stream("one");
    let is_over = AtomicBool::new(false);
    let keepers = [place.open_again().await, place.open_again().await];
    let keep = async {
        let kept = keepers.iter().enumerate().map(|(keeper, journal)| {
            let stream = &stream;
            async move {
                for round in 1..=20_usize {
                    let name = format!("{keeper} in round {round}");
                    let names = vec![name.as_str(); 1 + (round * (keeper + 2)) % 7];
                    journal.store_snapshot(stream, snapshot(round as u64 / 2, &names)).await.unwrap();
                    tokio::task::yield_now().await;
                }
            }
        });
        futures::future::join_all(kept).await;
        is_over.store(true, Ordering::Release);
    };
    let read = async {
        let mut seen = 0;
        while !is_over.load(Ordering::Acquire) {
            let Some(kept) = place.journal.snapshot(&stream).await.unwrap() else { continue };
            tokio::task::yield_now().await;
            if let Some(parts) = read_parts(&*place.journal, &stream, &kept).await {
                assert!(parts.iter().all(|part| *part == kept.first), "{parts:?}");
                seen += 1;
            }
            tokio::task::yield_now().await;
        }
        seen
    };
    let ((), seen) = futures::future::join(keep, read).await;
    assert!(seen > 0);
    let last = snapshot(100, &["a", "b"]);
    place.journal.store_snapshot(&stream, last.clone()).await.unwrap();
    assert_eq!(read_newest(&*place.journal, &stream).await, Some(last));
}

async fn read_state(journal: &Arc<dyn Journal>) -> State {
    Streams::<Tally>::new(Arc::clone(journal)).read(&stream("one")).await.unwrap().state.clone()
}

/// Writes a stream of 35 records with one snapshot, and returns its state.
async fn fill_stream(journal: &Arc<dyn Journal>) -> State {
    let limits = Limits { records_per_snapshot: 30, ..Limits::default() };
    let streams = Streams::<Tally>::with_limits(Arc::clone(journal), limits);
    for number in 0..35 {
        streams.execute(&stream("one"), add(&number.to_string(), number)).await.ok().unwrap();
    }
    wait_until("a snapshot", || async { read_newest(&**journal, &stream("one")).await.is_some() }).await;
    streams.read(&stream("one")).await.unwrap().state.clone()
}

/// A snapshot with another state than its stream, so that a test can tell whether it was used.
async fn forged_snapshot(journal: &dyn Journal) -> Snapshot {
    let amounts = [("a".to_owned(), 1), ("b".to_owned(), 2), ("c".to_owned(), 3)].into();
    let parts = TallyPart::write(&State { amounts, changed_at: None }).unwrap();
    Snapshot { parts, ..read_newest(journal, &stream("one")).await.unwrap() }
}

async fn a_stream_opens_from_its_snapshot_or_without(place: TestStore) {
    let (journal, stream) = (&place.journal, stream("one"));
    let wanted = fill_stream(journal).await;
    assert_eq!(read_state(journal).await, wanted);
    let is_used = forged_snapshot(&**journal).await;
    assert_eq!(is_used.parts.len(), 4);
    journal.store_snapshot(&stream, is_used.clone()).await.unwrap();
    let opened = read_state(journal).await;
    assert!(opened != wanted && ["a", "b", "c"].iter().all(|name| opened.amounts.contains_key(*name)), "{opened:?}");
    let of_another_shape = Snapshot { version: 99, ..is_used.clone() };
    let mut of_another_history = is_used.clone();
    of_another_history.head.hash = [1; 32];
    let mut unreadable = vec![of_another_shape, of_another_history];
    for number in 0..4 {
        let mut torn = is_used.clone();
        torn.parts[number].truncate(1);
        unreadable.push(torn);
    }
    for snapshot in unreadable {
        journal.store_snapshot(&stream, snapshot).await.unwrap();
        assert_eq!(read_state(journal).await, wanted);
    }
    journal.drop_snapshots().await.unwrap();
    assert_eq!(read_state(journal).await, wanted);
}

/// Without it, a stream that is only read was opened from its first record at every start.
async fn a_pause_brings_a_snapshot_of_many_records(place: TestStore) {
    let (journal, stream) = (&place.journal, stream("one"));
    let wanted = fill_stream(journal).await;
    journal.drop_snapshots().await.unwrap();
    let limits = Limits { records_per_snapshot: 30, pause: Duration::from_millis(5), ..Limits::default() };
    let streams = Streams::<Tally>::with_limits(Arc::clone(journal), limits);
    assert_eq!(streams.read(&stream).await.unwrap().state, wanted);
    wait_until("a snapshot", || async { read_newest(&**journal, &stream).await.is_some() }).await;
    assert_eq!(read_newest(&**journal, &stream).await.unwrap().head.revision, 35);
    assert_eq!(read_state(journal).await, wanted);
}

/// A forged snapshot with a correct digest is used, but verification finds it.
async fn a_snapshot_of_another_state_is_found_and_made_anew(place: TestStore) {
    let (journal, stream) = (&place.journal, stream("one"));
    let wanted = fill_stream(journal).await;
    let nouns = || StreamKinds::default().with_kind::<Tally>();
    assert!(matches!(verify(&**journal, &nouns()).await.unwrap(), VerifyVerdict::Sound(_)));
    let forged = forged_snapshot(&**journal).await;
    journal.store_snapshot(&stream, forged.clone()).await.unwrap();
    journal.store_snapshot(&StreamName::new("tally", "none"), forged.clone()).await.unwrap();
    let VerifyVerdict::Unsound { findings, .. } = verify(&**journal, &nouns()).await.unwrap() else {
        panic!("not found")
    };
    let revision = forged.head.revision;
    let found: Vec<String> = findings.iter().map(ToString::to_string).collect();
    let differs =
        format!("snapshot_differs: tally/one at revision {revision}: the snapshot is not what the records come to");
    assert_eq!(found, [ORPHANED_SNAPSHOT, &differs]);
    rebuild(&**journal, &nouns()).await.unwrap();
    assert!(matches!(verify(&**journal, &nouns()).await.unwrap(), VerifyVerdict::Sound(_)));
    assert_eq!(read_state(journal).await, wanted);
}

const ORPHANED_SNAPSHOT: &str = "snapshot_orphaned: tally/none: there is a snapshot of a stream that never began";

async fn a_large_universe_opens_from_all_its_parts(place: TestStore) {
    let (journal, stream) = (&place.journal, StreamName::new("universe", "u"));
    let stars: serde_json::Map<String, Value> = (0..2_000)
        .map(|number| {
            let body = json!({
                "id": format!("s{number}"), "name": "A body of some name", "mass": number, "radius": 1.25,
                "color": "#FFD2A1", "orbitalDistance": 42.75, "orbitalSpeed": 1.5,
            });
            (format!("s{number}"), body)
        })
        .collect();
    let roots: Vec<&String> = stars.keys().collect();
    let (state, _) = SentState::read(&json!({"rootIds": roots, "stars": stars})).unwrap();
    let limits = Limits { records_per_snapshot: 1, ..Limits::default() };
    let streams = Streams::<UniverseStream>::with_limits(Arc::clone(journal), limits);
    let create = UniverseCommand::Create { id: "u".into(), name: "U".into(), campaign_id: None, state: Some(state) };
    let wanted = streams.execute(&stream, Submission::new(create, given())).await.ok().unwrap().committed;
    wait_until("a snapshot", || async { read_newest(&**journal, &stream).await.is_some() }).await;
    let opened = || async { Streams::<UniverseStream>::new(Arc::clone(journal)).read(&stream).await.unwrap() };
    assert!(opened().await.state == wanted.state);
    let mut told = read_newest(&**journal, &stream).await.unwrap();
    assert!(told.parts.len() > 2);
    for part in &mut told.parts {
        *part = part.replace("A body of some name", "A body of another name");
    }
    journal.store_snapshot(&stream, told).await.unwrap();
    let opened = opened().await;
    let bodies = opened.state.state().snapshot().bodies();
    assert!(bodies.len() == 2_000 && bodies.values().all(|body| &*body.name == "A body of another name"));
    assert!(opened.state.state().snapshot().root_ids() == wanted.state.state().snapshot().root_ids());
}

#[test]
fn a_file_with_a_part_missing_is_read_without_its_snapshot() {
    block_on(async {
        let place = TestStore::new(crate::test_stores::StoreKind::Sqlite).await;
        let wanted = fill_stream(&place.journal).await;
        place.journal.store_snapshot(&stream("one"), forged_snapshot(&*place.journal).await).await.unwrap();
        assert_ne!(read_state(&place.journal).await, wanted);
        let file = Connection::open(place.address.trim_start_matches("sqlite:")).unwrap();
        assert_eq!(file.execute("DELETE FROM snapshot_parts WHERE part = 2", []).unwrap(), 1);
        assert_eq!(read_state(&place.journal).await, wanted);
    });
}

/// A file as it was before snapshots had parts.
#[test]
fn an_older_file_is_brought_up_to_date_with_its_snapshots() {
    let folder = TemporaryFolder::new();
    let (new, old) = (folder.file("new.db"), folder.file("old.db"));
    block_on(async {
        let journal = skald_store::open(&format!("sqlite:{}", new.display())).await.unwrap();
        let wanted = fill_stream(&journal).await;
        let records = journal.read(&stream("one"), 0, 1_000).await.unwrap();
        let file = Connection::open(&old).unwrap();
        file.execute_batch(include_str!("../../sql/sqlite/migrations/001.sql")).unwrap();
        file.execute_batch("PRAGMA application_id = 0x534b4c44; PRAGMA user_version = 1;").unwrap();
        let head = write_oldest_format(&file, records);
        let told = serde_json::to_string(&State { changed_at: None, ..State::default() }).unwrap();
        let values = rusqlite::params!["tally/one", head.revision.cast_signed(), head.hash, told];
        file.execute("INSERT INTO snapshots VALUES (?1, 1, 1, ?2, ?3, ?4)", values).unwrap();
        drop(file);
        let journal = skald_store::open(&format!("sqlite:{}", old.display())).await.unwrap();
        assert_eq!(
            read_newest(&*journal, &stream("one")).await,
            Some(Snapshot { version: 1, head, parts: vec![told] })
        );
        assert_eq!(read_state(&journal).await, wanted, "a snapshot without a digest is not opened");
        journal.store_snapshot(&stream("one"), forged_snapshot(&*journal).await).await.unwrap();
        assert!(read_state(&journal).await.amounts.contains_key("c"));
        rebuild(&*journal, &StreamKinds::default().with_kind::<Tally>()).await.unwrap();
        assert_eq!(read_state(&journal).await, wanted);
        let verdict = verify(&*journal, &StreamKinds::default().with_kind::<Tally>()).await.unwrap();
        assert!(matches!(verdict, VerifyVerdict::Sound(_)), "{verdict:?}");
    });
}

/// Stores records in the format from before answer digests. Returns the head.
fn write_oldest_format(file: &Connection, records: Vec<Record>) -> Head {
    let mut head = Head::default();
    for record in records {
        let mut record = Record { previous: head.hash, answer: AnswerDigest::NotNoted, ..record };
        record.hash = record.computed_hash();
        head = record.head();
        let Record { revision, kind, at, by, body, previous, hash, .. } = record;
        let revision = revision.cast_signed();
        file.execute(
            "INSERT INTO records (shard, stream, revision, kind, at, by, body, previous, hash)
            VALUES (1, 'tally/one', ?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            rusqlite::params![revision, kind, at.as_microsecond(), by, body, previous, hash],
        )
        .unwrap();
    }
    let values = rusqlite::params![head.revision.cast_signed(), head.hash];
    file.execute("INSERT INTO heads VALUES ('tally/one', 1, ?1, ?2)", values).unwrap();
    head
}

#[test]
fn a_snapshot_whose_text_was_changed_is_not_opened() {
    for change in [
        "UPDATE snapshots SET body = replace(body, '2023', '2024')",
        "UPDATE snapshot_parts SET body = replace(body, ':7', ':70')",
        "UPDATE snapshots SET digest = zeroblob(32)",
    ] {
        block_on(async {
            let place = TestStore::new(crate::test_stores::StoreKind::Sqlite).await;
            let wanted = fill_stream(&place.journal).await;
            let file = Connection::open(place.address.trim_start_matches("sqlite:")).unwrap();
            assert!(file.execute(change, []).unwrap() > 0, "{change}");
            assert_eq!(read_state(&place.journal).await, wanted, "{change}");
        });
    }
}

mod only_on_postgres {
    use super::*;

    #[test]
    fn a_database_with_a_part_missing_is_read_without_its_snapshot() {
        block_on(async {
            let place = TestStore::new(crate::test_stores::StoreKind::Postgres).await;
            let wanted = fill_stream(&place.journal).await;
            place.journal.store_snapshot(&stream("one"), forged_snapshot(&*place.journal).await).await.unwrap();
            assert_ne!(read_state(&place.journal).await, wanted);
            let deleted = connect(&place.address).await.execute("DELETE FROM snapshot_parts WHERE part = 2", &[]).await;
            assert_eq!(deleted.unwrap(), 1);
            assert_eq!(read_state(&place.journal).await, wanted);
        });
    }

    #[test]
    fn an_older_database_is_brought_up_to_date_with_its_snapshots() {
        block_on(async {
            let store_address = create_schema().await;
            let database = connect(&store_address).await;
            database.batch_execute(include_str!("../../sql/postgres/migrations/001.sql")).await.unwrap();
            database
                .batch_execute(
                    r"CREATE TABLE skald_schema (version bigint NOT NULL);
                    INSERT INTO skald_schema VALUES (1);
                    INSERT INTO snapshots VALUES ('tally/one', 1, 1, 3, '\x07', 'old')",
                )
                .await
                .unwrap();
            let (journal, stream) = (skald_store::open(&store_address).await.unwrap(), stream("one"));
            let kept = read_newest(&*journal, &stream).await.unwrap();
            assert_eq!((kept.head.revision, kept.parts), (3, vec!["old".to_owned()]));
            journal.store_snapshot(&stream, snapshot(4, &["a", "b"])).await.unwrap();
            assert_eq!(read_newest(&*journal, &stream).await, Some(snapshot(4, &["a", "b"])));
        });
    }
}
