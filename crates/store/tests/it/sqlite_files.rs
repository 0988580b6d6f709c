//! Tests of SQLite files that are damaged, newer or foreign, and of failing disks.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use skald_journal::{
    Journal, JournalFailure, SideRows, StoreError, StoreHealth, StreamKinds, Streams, VerifyVerdict, rebuild, verify,
};
use skald_store::{OpenError, Sqlite, SqliteSettings};

use crate::tally::{Tally, add, stream};
use crate::test_stores::{block_on, wait_until};
use skald_testkit::TemporaryFolder;

async fn open(path: &Path) -> Result<Arc<Sqlite>, OpenError> {
    Sqlite::open(path, SqliteSettings::default()).await
}

async fn fill(journal: Arc<Sqlite>, count: i64) {
    let streams = Streams::<Tally>::new(journal);
    for number in 0..count {
        let stream = stream(&format!("s{}", number % 3));
        streams.execute(&stream, add(&number.to_string(), number)).await.map_err(|_| "failed").unwrap();
    }
}

async fn verdict(journal: &Sqlite) -> Result<VerifyVerdict, StoreError> {
    verify(journal, &StreamKinds::default().with_kind::<Tally>()).await
}

#[test]
fn a_commit_is_in_the_file_once_it_is_answered() {
    let folder = TemporaryFolder::new();
    let path = folder.file("world.db");
    block_on(async {
        fill(open(&path).await.unwrap(), 5).await;
        let count: i64 =
            Connection::open(&path).unwrap().query_row("SELECT count(*) FROM records", [], |row| row.get(0)).unwrap();
        assert_eq!(count, 5);
    });
}

#[test]
fn a_newer_file_is_refused_and_left_alone() {
    let folder = TemporaryFolder::new();
    let path = folder.file("world.db");
    block_on(async {
        drop(open(&path).await.unwrap());
        Connection::open(&path).unwrap().pragma_update(None, "user_version", 999).unwrap();
        let refused = open(&path).await.err().unwrap();
        assert!(matches!(refused, OpenError::Newer { found: 999, known: 8, .. }), "{refused}");
    });
}

/// A file with tokens in side rows keeps its version until they are imported as events; a new one never had any.
#[test]
fn only_an_older_file_awaits_the_import_of_tokens() {
    let folder = TemporaryFolder::new();
    let path = folder.file("world.db");
    let version = || {
        let file = Connection::open(&path).unwrap();
        file.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0)).unwrap()
    };
    block_on(async {
        assert!(!open(&path).await.unwrap().awaits_token_import());
        assert_eq!(version(), 8);
        Connection::open(&path).unwrap().pragma_update(None, "user_version", 4).unwrap();
        // A process that was stopped before the end of the import repeats it.
        assert!(open(&path).await.unwrap().awaits_token_import());
        assert_eq!(version(), 4);
        let file = open(&path).await.unwrap();
        file.finish_token_import().await.unwrap();
        assert!(!file.awaits_token_import());
        assert_eq!(version(), 8);
        assert!(!open(&path).await.unwrap().awaits_token_import());
    });
}

#[test]
fn a_file_of_something_else_is_refused() {
    let folder = TemporaryFolder::new();
    let path = folder.file("world.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE music (title TEXT)").unwrap();
    let refused = block_on(open(&path)).err().unwrap();
    assert!(matches!(refused, OpenError::Foreign { .. }), "{refused}");
    let text = folder.file("notes.txt");
    std::fs::write(&text, "these are notes, and no database at all\n".repeat(1_000)).unwrap();
    let refused = block_on(open(&text)).err().unwrap();
    assert!(matches!(refused, OpenError::Damaged { .. }), "{refused}");
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let folder = TemporaryFolder::new();
    let refused = block_on(open(&folder.file("nowhere/world.db"))).err().unwrap();
    assert!(refused.to_string().contains("nowhere/world.db cannot be opened"), "{refused}");
}

/// Not even root can write there.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let refused = block_on(open(Path::new("/sys/world.db"))).err().unwrap();
    assert!(refused.to_string().starts_with("/sys/world.db cannot be opened"), "{refused}");
}

#[test]
fn a_damaged_page_is_a_clear_error() {
    let folder = TemporaryFolder::new();
    let path = folder.file("world.db");
    block_on(async {
        fill(open(&path).await.unwrap(), 300).await;
        wait_until("the file to be closed", || async { !folder.file("world.db-wal").exists() }).await;
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[8_192..].fill(0x5a);
        std::fs::write(&path, bytes).unwrap();
        match open(&path).await {
            Err(refused) => assert!(matches!(refused, OpenError::Damaged { .. }), "{refused}"),
            Ok(journal) => {
                let found = verdict(&journal).await;
                assert!(matches!(found, Err(StoreError::Damaged(_))), "{found:?}");
            }
        }
    });
}

#[test]
fn whoever_changes_history_is_found_out() {
    let tricks = [
        (
            "UPDATE records SET body = replace(body, '\"amount\":4', '\"amount\":40') WHERE position = 5",
            "record_changed: tally/s1 at revision 2: the record was changed",
        ),
        (
            "UPDATE records SET by = 'nobody' WHERE position = 5",
            "record_changed: tally/s1 at revision 2: the record was changed",
        ),
        (
            "DELETE FROM records WHERE stream = 'tally/s1' AND revision = 2",
            "record_missing: tally/s1 at revision 3: revision 2 is missing",
        ),
        (
            "DELETE FROM records WHERE stream = 'tally/s1' AND revision = 4",
            "head_without_records: tally/s1: the head is at revision 4, the records end at 3",
        ),
        (
            "UPDATE heads SET revision = 3, hash = (SELECT hash FROM records WHERE stream = 'tally/s1' AND revision = 3) WHERE stream = 'tally/s1'",
            "record_hidden: tally/s1 at revision 4: the head is behind the records",
        ),
        (
            "UPDATE heads SET hash = zeroblob(32) WHERE stream = 'tally/s1'",
            "head_differs: tally/s1: the head has another hash than the last record",
        ),
        (
            "UPDATE documents SET rank = 1000 WHERE id = 's1'",
            "row_differs: tally/s1: tallies \"s1\" is not what the records come to",
        ),
        ("DELETE FROM documents WHERE id = 's1'", "row_missing: tally/s1: tallies \"s1\" is missing"),
    ];
    for (trick, found) in tricks {
        let folder = TemporaryFolder::new();
        let path = folder.file("world.db");
        block_on(async {
            let journal = open(&path).await.unwrap();
            fill(Arc::clone(&journal), 12).await;
            assert!(matches!(verdict(&journal).await.unwrap(), VerifyVerdict::Sound(_)));
            assert!(Connection::open(&path).unwrap().execute(trick, []).unwrap() > 0, "{trick}");
            let VerifyVerdict::Unsound { findings, .. } = verdict(&journal).await.unwrap() else {
                panic!("{trick} was not found out")
            };
            assert_eq!(findings[0].to_string(), found, "{trick}");
        });
    }
}

#[test]
fn a_cut_tail_changes_the_root() {
    let folder = TemporaryFolder::new();
    let path = folder.file("world.db");
    block_on(async {
        let journal = open(&path).await.unwrap();
        fill(Arc::clone(&journal), 12).await;
        let VerifyVerdict::Sound(before) = verdict(&journal).await.unwrap() else { panic!("not sound") };
        let cut = "UPDATE heads SET revision = 3, hash = (SELECT hash FROM records WHERE stream = 'tally/s1' AND revision = 3)
             WHERE stream = 'tally/s1'; DELETE FROM records WHERE stream = 'tally/s1' AND revision = 4";
        Connection::open(&path).unwrap().execute_batch(cut).unwrap();
        rebuild(&*journal, &StreamKinds::default().with_kind::<Tally>()).await.unwrap();
        let VerifyVerdict::Sound(after) = verdict(&journal).await.unwrap() else { panic!("not sound") };
        assert_ne!(after.root, before.root);
    });
}

#[test]
fn a_full_file_is_unavailable_until_there_is_room() {
    let folder = TemporaryFolder::new();
    let path = folder.file("world.db");
    block_on(async {
        drop(open(&path).await.unwrap());
        let filler = Connection::open(&path).unwrap();
        filler.execute_batch("CREATE TABLE filler (x BLOB); INSERT INTO filler VALUES (zeroblob(400000))").unwrap();
        let journal =
            Sqlite::open(&path, SqliteSettings { pages_max: Some(160), ..SqliteSettings::default() }).await.unwrap();
        let streams = Streams::<Tally>::new(Arc::clone(&journal) as Arc<dyn Journal>);
        let (one, mut acknowledged) = (stream("one"), 0);
        let failure = loop {
            let name = format!("{acknowledged} {}", "x".repeat(2_000));
            match streams.execute(&one, add(&name, 1)).await {
                Ok(_) => acknowledged += 1,
                Err(failure) => break failure,
            }
            assert!(acknowledged < 1_000, "the file never fills");
        };
        assert!(matches!(failure, JournalFailure::Unavailable(_)), "{failure:?}");
        assert!(matches!(*journal.health().borrow(), StoreHealth::Unready(_)));
        assert_eq!(streams.read(&one).await.unwrap().revision(), acknowledged, "what was there can be read");
        filler.execute_batch("DELETE FROM filler").unwrap();
        let mut health = journal.health();
        let ready = health.wait_for(|health| *health == StoreHealth::Ready);
        tokio::time::timeout(Duration::from_secs(10), ready).await.expect("it recovers").unwrap();
        let done = streams.execute(&one, add("after", 1)).await.map_err(|_| "failed").unwrap();
        assert_eq!(done.revision, acknowledged + 1);
    });
}

/// A stopped process keeps the lock. Once others waited for it without a timeout.
#[test]
fn a_lock_that_another_holds_is_waited_for_with_an_end() {
    let folder = TemporaryFolder::new();
    let path = folder.file("world.db");
    let settings = SqliteSettings { lock_timeout: Duration::from_millis(50), ..SqliteSettings::default() };
    block_on(async {
        let journal = Sqlite::open(&path, settings).await.unwrap();
        let streams = Streams::<Tally>::new(Arc::clone(&journal) as Arc<dyn Journal>);
        streams.execute(&stream("one"), add("before", 1)).await.map_err(|_| "failed").unwrap();
        let other = std::fs::File::options().write(true).open(folder.file("world.db.lock")).unwrap();
        let mut health = journal.health();
        for round in 1..=3 {
            other.lock().unwrap();
            let failure = streams.execute(&stream("one"), add("held", 1)).await.err().unwrap();
            assert!(matches!(failure, JournalFailure::Held(_)), "{failure:?}");
            let kept = journal.put("token", "one", String::new()).await;
            assert!(matches!(&kept, Err(StoreError::Held(why)) if why.contains("world.db.lock")), "{kept:?}");
            assert!(
                matches!(&*health.borrow_and_update(), StoreHealth::Unready(why) if why.contains("stopped or stuck"))
            );
            assert_eq!(streams.read(&stream("one")).await.unwrap().revision(), round, "reading goes on");
            let refused = Sqlite::open(&path, settings).await.err().unwrap().to_string();
            assert!(refused.contains("world.db cannot be opened: another program holds world.db.lock"), "{refused}");
            other.unlock().unwrap();
            let ready = health.wait_for(|health| *health == StoreHealth::Ready);
            tokio::time::timeout(Duration::from_secs(10), ready).await.expect("it recovers").unwrap();
            let done = streams.execute(&stream("one"), add(&round.to_string(), 1)).await.map_err(|_| "failed").unwrap();
            assert_eq!(done.revision, round + 1);
        }
    });
}

#[test]
fn a_backup_taken_while_writing_is_whole() {
    let folder = TemporaryFolder::new();
    block_on(async {
        let journal = open(&folder.file("world.db")).await.unwrap();
        fill(Arc::clone(&journal), 30).await;
        let streams = Streams::<Tally>::new(Arc::clone(&journal) as Arc<dyn Journal>);
        let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let writing = tokio::spawn(async move {
            let mut count = 0;
            while !stopped.load(std::sync::atomic::Ordering::SeqCst) {
                streams.execute(&stream("more"), add(&count.to_string(), 1)).await.map_err(|_| "failed").unwrap();
                count += 1;
            }
            count
        });
        let copy = folder.file("copy.db");
        journal.backup(&copy).await.unwrap();
        stop.store(true, std::sync::atomic::Ordering::SeqCst);
        writing.await.unwrap();
        assert!(matches!(journal.backup(&copy).await, Err(StoreError::Unsupported(_))), "a file is never replaced");
        let copied = open(&copy).await.unwrap();
        let VerifyVerdict::Sound(report) = verdict(&copied).await.unwrap() else { panic!("not sound") };
        assert!(report.records >= 30, "{report:?}");
        let streams = Streams::<Tally>::new(copied);
        assert!(streams.execute(&stream("new"), add("a", 1)).await.is_ok(), "a copy is a journal");
    });
}

#[cfg(unix)]
/// A program that reads an old state keeps the log as it is, and with it deleted rows.
#[test]
fn deleted_rows_are_erased_once_nobody_reads_an_old_state() {
    const SECRET: &str = "thecrownliesinthewell";
    let folder = TemporaryFolder::new();
    let path = folder.file("world.db");
    let is_on_disk = || {
        let files = ["world.db", "world.db-wal"].map(|name| std::fs::read(folder.file(name)).unwrap_or_default());
        files.iter().any(|file| file.windows(SECRET.len()).any(|part| part == SECRET.as_bytes()))
    };
    block_on(async {
        let journal = open(&path).await.unwrap();
        for number in 0..200 {
            let body = if number % 2 == 0 { SECRET.repeat(40) } else { "stays ".repeat(100) };
            journal.put("text", &number.to_string(), body).await.unwrap();
        }
        let reader = Connection::open(&path).unwrap();
        reader.execute_batch("BEGIN; SELECT count(*) FROM shelf").unwrap();
        for number in (0..200).step_by(2) {
            assert!(journal.remove("text", &number.to_string()).await.unwrap());
        }
        assert!(is_on_disk(), "deleting alone leaves it there");
        let refused = journal.erase_deleted_rows().await;
        assert!(matches!(&refused, Err(StoreError::Unavailable(why)) if why.contains("log")), "{refused:?}");
        assert!(is_on_disk());
        assert_eq!(*journal.health().borrow(), StoreHealth::Ready);
        reader.execute_batch("COMMIT").unwrap();
        journal.erase_deleted_rows().await.unwrap();
        assert!(!is_on_disk());
        assert_eq!(journal.list("text", "", 1_000).await.unwrap().len(), 100);
        fill(Arc::clone(&journal), 5).await;
        assert!(matches!(verdict(&journal).await.unwrap(), VerifyVerdict::Sound(_)));
    });
}

#[test]
fn what_is_made_is_its_owners_alone_and_no_link_is_followed() {
    use std::os::unix::fs::{MetadataExt, symlink};

    let folder = TemporaryFolder::new();
    let mode = |name: &str| std::fs::metadata(folder.file(name)).unwrap().mode() & 0o777;
    block_on(async {
        skald_store::create_private_folder(&folder.file("new/deep")).unwrap();
        assert_eq!((mode("new"), mode("new/deep")), (0o700, 0o700));
        let journal = open(&folder.file("new/world.db")).await.unwrap();
        fill(Arc::clone(&journal), 3).await;
        let names = ["world.db", "world.db.lock", "world.db-wal", "world.db-shm"];
        for name in names.map(|name| format!("new/{name}")) {
            assert_eq!(mode(&name), 0o600, "{name}");
        }
        // A file under the name that backups once used is left alone.
        std::fs::write(folder.file("copy.db.partial"), "mine").unwrap();
        journal.backup(&folder.file("copy.db")).await.unwrap();
        assert_eq!(mode("copy.db"), 0o600);
        assert_eq!(std::fs::read_to_string(folder.file("copy.db.partial")).unwrap(), "mine");
        // A link is neither followed nor replaced, whether its target exists or not.
        std::fs::write(folder.file("victim"), "mine").unwrap();
        for target in ["victim", "nowhere"] {
            symlink(folder.file(target), folder.file(&format!("to-{target}"))).unwrap();
            let refused = journal.backup(&folder.file(&format!("to-{target}"))).await;
            assert!(matches!(refused, Err(StoreError::Unsupported(_))), "{target}: {refused:?}");
        }
        let refused = open(&folder.file("to-nowhere")).await.err().unwrap().to_string();
        assert!(refused.contains("a link that leads nowhere"), "{refused}");
        symlink(folder.file("victim"), folder.file("locked.db.lock")).unwrap();
        let refused = open(&folder.file("locked.db")).await.err().unwrap().to_string();
        assert!(refused.contains("it is a link"), "{refused}");
        assert_eq!(std::fs::read_to_string(folder.file("victim")).unwrap(), "mine");
        assert!(!folder.file("nowhere").exists());
        let left = std::fs::read_dir(folder.file("."))
            .unwrap()
            .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().ends_with(".partial"));
        assert_eq!(left.count(), 1, "a backup that failed leaves nothing");
    });
}

#[test]
fn own_commits_do_not_send_readers_to_the_file() {
    let folder = TemporaryFolder::new();
    block_on(async {
        let journal = open(&folder.file("world.db")).await.unwrap();
        let streams = Streams::<Tally>::new(Arc::clone(&journal) as Arc<dyn Journal>);
        streams.execute(&stream("one"), add("first", 1)).await.map_err(|_| "failed").unwrap();
        let version = journal.data_version().unwrap();
        for number in 0..10 {
            streams.execute(&stream("one"), add(&number.to_string(), 1)).await.map_err(|_| "failed").unwrap();
            assert_eq!(journal.data_version().unwrap(), version);
        }
    });
}
