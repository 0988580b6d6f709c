//! Tests of the watcher of artifact folders: every change is reported with its run.

use std::time::{Duration, Instant};

use skald_app::GateFiles;
use tokio::sync::broadcast::Receiver;
use tokio::time::timeout;

use super::{Gate, folders};
use crate::block_on;
use skald_testkit::TemporaryFolder;

const NOTIFICATION_TIMEOUT: Duration = Duration::from_secs(10);

/// Longer than any notification is delayed.
const QUIET: Duration = Duration::from_millis(400);

async fn next_run(touched: &mut Receiver<String>) -> String {
    timeout(NOTIFICATION_TIMEOUT, touched.recv()).await.expect("somebody is told").unwrap()
}

/// Waits until there are no more notifications.
async fn wait_until_quiet(touched: &mut Receiver<String>) {
    while timeout(QUIET, touched.recv()).await.is_ok() {}
}

#[test]
fn every_change_of_a_run_is_heard() {
    block_on(async {
        let gate = Gate::new().await;
        gate.files.create_run_folder("run-2").await.unwrap();
        let mut touched = gate.files.subscribe_run_changes();
        let (file, mut deep) = (gate.path("note.md"), gate.path("sub/deep"));
        let mut heard = async |what: &str| {
            assert_eq!(next_run(&mut touched).await, "run-1", "{what}");
            wait_until_quiet(&mut touched).await;
        };
        std::fs::write(&file, "new").unwrap();
        heard("a new file").await;
        std::fs::write(&file, "changed").unwrap();
        heard("a changed file").await;
        std::fs::create_dir_all(&deep).unwrap();
        heard("a folder").await;
        deep.push("note.md");
        std::fs::write(&deep, "new").unwrap();
        heard("a file in a folder that was not there before").await;
        std::fs::rename(&deep, gate.path("moved.md")).unwrap();
        heard("a moved file").await;
        std::fs::remove_file(&file).unwrap();
        heard("a removed file").await;
        std::fs::remove_dir_all(gate.path("sub")).unwrap();
        heard("a removed folder").await;
    });
}

#[test]
fn reading_changes_nothing() {
    block_on(async {
        let gate = Gate::new().await;
        gate.write("note.md", "content");
        let mut touched = gate.files.subscribe_run_changes();
        let sha256 = gate.sha256("note.md").await;
        assert!(!gate.is_stale("note.md", &sha256).await);
        gate.files.read_content(&gate.run, "note.md").await.unwrap();
        assert!(timeout(QUIET, touched.recv()).await.is_err());
        gate.write("note.md", "more");
        assert_eq!(next_run(&mut touched).await, "run-1", "it was listening");
    });
}

#[test]
fn a_root_that_is_made_later_is_watched() {
    block_on(async {
        let place = TemporaryFolder::new();
        let files = folders(&place);
        let mut touched = files.subscribe_run_changes();
        let first = files.create_run_folder("run-1").await.unwrap().unwrap();
        assert_eq!(next_run(&mut touched).await, "run-1");
        wait_until_quiet(&mut touched).await;
        std::fs::write(format!("{first}/note.md"), "x").unwrap();
        assert_eq!(next_run(&mut touched).await, "run-1");
        wait_until_quiet(&mut touched).await;
        files.create_run_folder("run-2").await.unwrap();
        assert_eq!(next_run(&mut touched).await, "run-2");
        wait_until_quiet(&mut touched).await;

        // The root is removed, and created again by somebody else.
        std::fs::remove_dir_all(place.file("artifacts")).unwrap();
        wait_until_quiet(&mut touched).await;
        std::fs::create_dir_all(place.file("artifacts/run-3")).unwrap();
        assert_eq!(next_run(&mut touched).await, "run-3");
        wait_until_quiet(&mut touched).await;
        std::fs::write(place.file("artifacts/run-3/note.md"), "x").unwrap();
        assert_eq!(next_run(&mut touched).await, "run-3");
    });
}

#[test]
fn what_is_in_a_new_folder_is_not_missed() {
    block_on(async {
        let gate = Gate::new().await;
        let mut touched = gate.files.subscribe_run_changes();
        for round in 0..30 {
            let folder = gate.path(&format!("{round}/a/b"));
            let file = folder.join("note.md");
            let writing = file.clone();
            // The file is written when the folder may not be watched yet.
            let writer = std::thread::spawn(move || {
                std::fs::create_dir_all(&folder).unwrap();
                std::thread::sleep(Duration::from_micros(round * 20));
                std::fs::write(&writing, "x").unwrap();
            });
            // A client that looks at each notification must see the file in the end.
            while !file.exists() {
                assert_eq!(next_run(&mut touched).await, "run-1", "in round {round}");
            }
            writer.join().unwrap();
        }
    });
}

#[test]
fn a_burst_is_told_seldom_and_to_its_end() {
    block_on(async {
        let gate = Gate::new().await;
        let mut touched = gate.files.subscribe_run_changes();
        let file = gate.path("note.md");
        let start = Instant::now();
        let (writing, written) = (file.clone(), Duration::from_millis(500));
        let writer = std::thread::spawn(move || {
            let mut count = 0_u64;
            while start.elapsed() < written {
                count += 1;
                std::fs::write(&writing, count.to_string()).unwrap();
            }
            (count, start.elapsed())
        });
        let (mut tells, mut seen) = (0, String::new());
        while timeout(Duration::from_secs(1), touched.recv()).await.is_ok() {
            tells += 1;
            seen = std::fs::read_to_string(&file).unwrap();
        }
        let (count, elapsed) = writer.join().unwrap();
        assert_eq!(seen, count.to_string(), "the last change is told");
        let tells_max = elapsed.as_millis() / 100 + 2;
        assert!((2..=tells_max).contains(&tells), "{tells} tells of {count} changes in {elapsed:?}");
    });
}

#[test]
fn a_link_to_elsewhere_is_not_watched() {
    block_on(async {
        let gate = Gate::new().await;
        std::fs::create_dir(gate.place.file("outside")).unwrap();
        std::os::unix::fs::symlink(gate.place.file("outside"), gate.path("before")).unwrap();
        let mut touched = gate.files.subscribe_run_changes();
        std::os::unix::fs::symlink(gate.place.file("outside"), gate.path("after")).unwrap();
        assert_eq!(next_run(&mut touched).await, "run-1");
        wait_until_quiet(&mut touched).await;
        std::fs::write(gate.place.file("outside/note.md"), "x").unwrap();
        assert!(timeout(QUIET, touched.recv()).await.is_err());
    });
}
