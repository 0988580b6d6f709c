//! Tests of stale evidence: files that were swapped, changed or removed after submission.

use std::collections::BTreeSet;
use std::fs::{File, FileTimes};
use std::time::{Duration, Instant};

use skald_app::GateFiles;

use super::{Gate, folders};
use crate::block_on;

/// Waits until the stamps of files are settled.
async fn settle() {
    tokio::time::sleep(Duration::from_millis(80)).await;
}

/// Replaces the content of a file and restores its modification time.
fn swap_content(gate: &Gate, path: &str, content: &str) {
    let modified = std::fs::metadata(gate.path(path)).unwrap().modified().unwrap();
    gate.write(path, content);
    let file = File::options().write(true).open(gate.path(path)).unwrap();
    file.set_times(FileTimes::new().set_modified(modified)).unwrap();
    assert_eq!(std::fs::metadata(gate.path(path)).unwrap().modified().unwrap(), modified);
}

#[test]
fn content_that_was_swapped_behind_the_clock_is_stale() {
    block_on(async {
        let gate = Gate::new().await;
        gate.write("note.md", "the truth");
        settle().await;
        let sha256 = gate.sha256("note.md").await;
        assert!(!gate.is_stale("note.md", &sha256).await);
        assert!(!gate.is_stale("note.md", &sha256).await);
        swap_content(&gate, "note.md", "no truth!");
        assert!(gate.is_stale("note.md", &sha256).await);
        swap_content(&gate, "note.md", "the truth");
        assert!(!gate.is_stale("note.md", &sha256).await, "content counts, not its history");
    });
}

#[test]
fn content_that_is_swapped_at_once_is_stale() {
    block_on(async {
        let gate = Gate::new().await;
        for round in 0..200 {
            gate.write("note.md", format!("the truth {round:03}"));
            let sha256 = gate.sha256("note.md").await;
            assert!(!gate.is_stale("note.md", &sha256).await);
            swap_content(&gate, "note.md", &format!("no truth! {round:03}"));
            assert!(gate.is_stale("note.md", &sha256).await, "in round {round}");
        }
    });
}

#[test]
fn what_is_gone_is_stale_until_it_is_back() {
    block_on(async {
        let gate = Gate::new().await;
        gate.write("sub/note.md", "content");
        settle().await;
        let sha256 = gate.sha256("sub/note.md").await;
        let is_stale = || gate.is_stale("sub/note.md", &sha256);
        assert!(!is_stale().await);

        std::fs::rename(gate.path("sub"), gate.path("away")).unwrap();
        assert!(is_stale().await);
        std::os::unix::fs::symlink("away", gate.path("sub")).unwrap();
        assert!(is_stale().await, "a link is not the folder");
        std::fs::remove_file(gate.path("sub")).unwrap();
        std::fs::rename(gate.path("away"), gate.path("sub")).unwrap();
        assert!(!is_stale().await);

        std::fs::rename(gate.path("sub/note.md"), gate.path("away.md")).unwrap();
        std::fs::create_dir(gate.path("sub/note.md")).unwrap();
        assert!(is_stale().await, "a folder is not the file");
        std::fs::remove_dir(gate.path("sub/note.md")).unwrap();
        std::os::unix::fs::symlink(gate.path("away.md"), gate.path("sub/note.md")).unwrap();
        assert!(is_stale().await, "a link is not the file");
        std::fs::rename(gate.path("away.md"), gate.path("sub/note.md")).unwrap();
        assert!(!is_stale().await);

        std::fs::remove_file(gate.path("sub/note.md")).unwrap();
        assert!(is_stale().await);
        gate.write("sub/note.md", "content");
        assert!(!is_stale().await);
        std::fs::remove_dir_all(&gate.run).unwrap();
        assert!(is_stale().await);
    });
}

#[test]
fn of_many_only_what_changed_is_stale() {
    block_on(async {
        let gate = Gate::new().await;
        let mut held = Vec::new();
        for number in 0..100 {
            let path = format!("part-{}/note-{number}.md", number % 7);
            gate.write(&path, format!("content {number}"));
            let sha256 = gate.sha256(&path).await;
            held.push((path, sha256));
        }
        settle().await;
        assert!(gate.files.stale_paths(&gate.run, held.clone()).await.is_empty());
        gate.write(&held[3].0, "another");
        std::fs::remove_file(gate.path(&held[5].0)).unwrap();
        // The file now has the content of another file.
        std::fs::copy(gate.path(&held[8].0), gate.path(&held[7].0)).unwrap();
        let expected = BTreeSet::from([3, 5, 7].map(|number: usize| held[number].0.clone()));
        for _ in 0..3 {
            assert_eq!(gate.files.stale_paths(&gate.run, held.clone()).await, expected);
        }
        // A new instance with an empty cache sees the same.
        assert_eq!(folders(&gate.place).stale_paths(&gate.run, held).await, expected);
    });
}

#[test]
fn what_was_not_touched_is_not_read_again() {
    block_on(async {
        let gate = Gate::new().await;
        File::create(gate.path("large.bin")).unwrap().set_len(20_000_000).unwrap();
        settle().await;
        let start = Instant::now();
        let sha256 = gate.sha256("large.bin").await;
        let read = start.elapsed();
        let mut looked = Vec::new();
        for _ in 0..5 {
            let start = Instant::now();
            assert!(!gate.is_stale("large.bin", &sha256).await);
            looked.push(start.elapsed());
        }
        let quickest = looked.into_iter().min().unwrap();
        assert!(quickest < read / 10, "read in {read:?}, looked at in {quickest:?}");
    });
}

#[test]
fn two_names_of_one_file_are_one_content() {
    block_on(async {
        let gate = Gate::new().await;
        gate.write("note.md", "content");
        std::fs::hard_link(gate.path("note.md"), gate.path("note-2.md")).unwrap();
        settle().await;
        let sha256 = gate.sha256("note.md").await;
        assert_eq!(gate.sha256("note-2.md").await, sha256);
        swap_content(&gate, "note-2.md", "CONTENT");
        assert!(gate.is_stale("note.md", &sha256).await, "it changed under both of its names");
    });
}
