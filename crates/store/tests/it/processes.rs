//! Tests of two processes on one SQLite file. This test binary starts itself once more.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use skald_journal::{Journal, StreamKinds, Streams, VerifyVerdict, verify};
use skald_store::{Sqlite, SqliteSettings};

use crate::tally::{Tally, add, is_fair, overtaking_counts, remove, stream};
use crate::test_stores::{block_on, wait_until};
use skald_testkit::TemporaryFolder;

/// Environment variables of the child: the file, and the child's name.
const FILE: &str = "SKALD_TEST_FILE";
const NAME: &str = "SKALD_TEST_NAME";
const EACH: u64 = 150;

async fn open(path: &Path) -> Arc<dyn Journal> {
    Sqlite::open(path, SqliteSettings::default()).await.unwrap()
}

async fn write_entries(journal: Arc<dyn Journal>, name: &str) {
    let streams = Arc::new(Streams::<Tally>::new(journal));
    let tasks = (0..3).map(|task| {
        let (streams, name) = (Arc::clone(&streams), name.to_owned());
        tokio::spawn(async move {
            for number in 0..EACH / 3 {
                let submission = add(&format!("{name}-{task}-{number}"), 1);
                streams.execute(&stream("one"), submission).await.map_err(|failure| format!("{failure:?}")).unwrap();
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
}

fn spawn_child(test: &str, path: &Path, name: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]).env(FILE, path).env(NAME, name);
    command.stdout(Stdio::null()).spawn().unwrap()
}

/// In a child: the file and the child's name.
fn child_arguments() -> Option<(std::path::PathBuf, String)> {
    Some((std::env::var_os(FILE)?.into(), std::env::var(NAME).ok()?))
}

#[test]
fn processes_that_write_one_stream_lose_nothing() {
    if let Some((path, name)) = child_arguments() {
        block_on(async { write_entries(open(&path).await, &name).await });
        return;
    }
    let folder = TemporaryFolder::new();
    let path = folder.file("world.db");
    block_on(async {
        let journal = open(&path).await;
        let mut child = spawn_child("processes::processes_that_write_one_stream_lose_nothing", &path, "child");
        write_entries(Arc::clone(&journal), "parent").await;
        let status = tokio::task::spawn_blocking(move || child.wait()).await.unwrap().unwrap();
        assert!(status.success());
        let kept = Streams::<Tally>::new(Arc::clone(&journal)).read(&stream("one")).await.unwrap();
        assert_eq!((kept.revision(), kept.state.amounts.len() as u64), (2 * EACH, 2 * EACH));
        let verdict = verify(&*journal, &StreamKinds::default().with_kind::<Tally>()).await.unwrap();
        assert!(matches!(verdict, VerifyVerdict::Sound(_)), "{verdict:?}");
    });
}

#[test]
fn what_another_process_commits_is_seen_at_once() {
    if let Some((path, _)) = child_arguments() {
        block_on(async {
            let journal = open(&path).await;
            let mut wakes = journal.subscribe_appends();
            let streams = Streams::<Tally>::new(journal);
            // Answers each odd entry with an even one, as soon as it is woken.
            for number in (1..20).step_by(2) {
                while streams.read(&stream("one")).await.unwrap().revision() < number {
                    tokio::time::timeout(Duration::from_secs(10), wakes.changed()).await.expect("a wake").unwrap();
                }
                let submission = add(&(number + 1).to_string(), 1);
                streams.execute(&stream("one"), submission).await.map_err(|_| "failed").unwrap();
            }
        });
        return;
    }
    let folder = TemporaryFolder::new();
    let path = folder.file("world.db");
    block_on(async {
        let journal = open(&path).await;
        let mut child = spawn_child("processes::what_another_process_commits_is_seen_at_once", &path, "child");
        let mut wakes = journal.subscribe_appends();
        let streams = Streams::<Tally>::new(journal);
        for number in (1..20).step_by(2) {
            streams.execute(&stream("one"), add(&number.to_string(), 1)).await.map_err(|_| "failed").unwrap();
            while streams.read(&stream("one")).await.unwrap().revision() < number + 1 {
                tokio::time::timeout(Duration::from_secs(10), wakes.changed()).await.expect("a wake").unwrap();
            }
        }
        assert!(tokio::task::spawn_blocking(move || child.wait()).await.unwrap().unwrap().success());
    });
}

/// With SQLite's own busy wait, or if a batch were sent back to be decided again, the slower process would wait for as
/// long as the other is busy.
#[test]
fn a_busy_process_does_not_starve_another() {
    if let Some((path, name)) = child_arguments() {
        block_on(async {
            let streams = Arc::new(Streams::<Tally>::new(open(&path).await));
            let tasks = (0..16).map(|task| {
                let (streams, name) = (Arc::clone(&streams), name.clone());
                tokio::spawn(async move {
                    for number in 0_u64.. {
                        // Names are added and removed, so that the state stays small.
                        let name = format!("{name}-{task}-{}", number / 2);
                        let submission = if number % 2 == 0 { add(&name, 1) } else { remove(&name) };
                        streams.execute(&stream("one"), submission).await.map_err(|_| "failed").unwrap();
                    }
                })
            });
            for task in tasks.collect::<Vec<_>>() {
                task.await.unwrap();
            }
        });
        return;
    }
    let folder = TemporaryFolder::new();
    let path = folder.file("world.db");
    block_on(async {
        let journal = open(&path).await;
        let mut child = spawn_child("processes::a_busy_process_does_not_starve_another", &path, "busy");
        let streams = Streams::<Tally>::new(Arc::clone(&journal));
        wait_until("the busy one", || async { streams.read(&stream("one")).await.unwrap().revision() > 100 }).await;
        let passed = overtaking_counts(&streams).await;
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_fair(&passed), "{passed:?}");
        let verdict = verify(&*journal, &StreamKinds::default().with_kind::<Tally>()).await.unwrap();
        assert!(matches!(verdict, VerifyVerdict::Sound(_)), "{verdict:?}");
    });
}

#[test]
fn a_killed_process_takes_nothing_with_it() {
    if let Some((path, name)) = child_arguments() {
        block_on(async {
            let streams = Streams::<Tally>::new(open(&path).await);
            for number in 0_u64.. {
                let submission = add(&format!("{name}-{number}"), 1);
                let done = streams.execute(&stream("one"), submission).await.map_err(|_| "failed").unwrap();
                // Acknowledged revisions are noted outside of the journal.
                std::fs::write(path.with_extension("acknowledged"), done.revision.to_string()).unwrap();
            }
        });
        return;
    }
    let folder = TemporaryFolder::new();
    let path = folder.file("world.db");
    let kills = std::env::var("SKALD_KILLS").map_or(3, |kills| kills.parse().unwrap());
    for round in 0..kills {
        let mut child = spawn_child("processes::a_killed_process_takes_nothing_with_it", &path, &round.to_string());
        let noted = || std::fs::read_to_string(path.with_extension("acknowledged")).ok()?.parse::<u64>().ok();
        while noted().unwrap_or_default() < (round + 1) * 20 {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        block_on(async {
            let journal = open(&path).await;
            assert!(journal.head(&stream("one")).await.unwrap().revision >= noted().unwrap_or_default());
            let verdict = verify(&*journal, &StreamKinds::default().with_kind::<Tally>()).await.unwrap();
            assert!(matches!(verdict, VerifyVerdict::Sound(_)), "{verdict:?}");
        });
    }
}
