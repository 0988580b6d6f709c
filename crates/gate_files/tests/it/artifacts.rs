//! Tests of reading artifacts: hashes and JSON content, and refusal of links, folders, outside paths and large files.

use std::fs::File;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;
use skald_app::{ArtifactFile, ContentRequest, GateFiles, limits};
use skald_gate_files::{Folders, FoldersOptions};

use super::Gate;
use crate::block_on;
use skald_testkit::TemporaryFolder;

#[test]
fn content_is_hashed_and_looked_into() {
    block_on(async {
        let gate = Gate::new().await;
        gate.write("sub/report.json", r#"{"passed": 3}"#);
        gate.write("note.md", "abc");
        let report = gate.files.read_artifact(&gate.run, "sub/report.json", super::json_request()).await.unwrap();
        assert_eq!((report.bytes, report.json), (13, Some(json!({"passed": 3}))));
        // The SHA-256 standard lists the digest of "abc".
        let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".to_owned();
        assert_eq!(
            gate.files.read_artifact(&gate.run, "note.md", super::json_request()).await,
            Ok(ArtifactFile { sha256, bytes: 3, json: None, measure: None })
        );
        assert_eq!(
            gate.files.read_artifact(&gate.run, "sub/report.json", ContentRequest::default()).await.unwrap().json,
            None
        );
        assert_eq!(gate.files.read_content(&gate.run, "note.md").await.unwrap(), b"abc");
    });
}

#[test]
fn nothing_leads_out_of_the_folder() {
    block_on(async {
        let gate = Gate::new().await;
        gate.write("note.md", "inside");
        std::fs::write(gate.place.file("secret"), "outside").unwrap();
        let secret = gate.place.file("secret").display().to_string();
        for path in ["../../secret", "sub/../../../secret", "..", ".", "", "./note.md", "sub//x", "note.md/", &secret] {
            let refusal = gate.refusal(path).await;
            assert_eq!(refusal, format!("'{path}' leads out of the artifact folder; name a file below it"));
        }
    });
}

#[test]
fn links_are_not_followed() {
    block_on(async {
        let gate = Gate::new().await;
        std::fs::create_dir(gate.place.file("outside")).unwrap();
        std::fs::write(gate.place.file("outside/note.md"), "outside").unwrap();
        gate.write("real/note.md", "inside");
        symlink(gate.place.file("outside/note.md"), gate.path("note.md")).unwrap();
        symlink(gate.path("real/note.md"), gate.path("inner.md")).unwrap();
        symlink("nowhere", gate.path("dangling.md")).unwrap();
        symlink("/dev/zero", gate.path("zero.md")).unwrap();
        symlink(gate.place.file("outside"), gate.path("sub")).unwrap();
        symlink(gate.path("real"), gate.path("real/again")).unwrap();
        let why = "is a link, which may lead out of the artifact folder; put the file itself there";
        for path in ["note.md", "inner.md", "dangling.md", "zero.md"] {
            assert_eq!(gate.refusal(path).await, format!("'{path}' {why}"));
        }
        assert_eq!(gate.refusal("sub/note.md").await, format!("'sub' {why}"));
        assert_eq!(gate.refusal("real/again/note.md").await, format!("'real/again' {why}"));
        assert_eq!(gate.sha256("real/note.md").await.len(), 64);
    });
}

#[test]
fn only_ordinary_files_with_something_in_them_count() {
    block_on(async {
        let gate = Gate::new().await;
        std::fs::create_dir(gate.path("notes")).unwrap();
        mknodat(CWD, gate.path("pipe.md"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        gate.write("empty.md", "");
        gate.write("note.md", "x");
        assert_eq!(gate.refusal("notes").await, "'notes' is a folder; name a file in it");
        let pipe = "'pipe.md' is a pipe, a socket or a device; name an ordinary file";
        assert_eq!(gate.refusal("pipe.md").await, pipe);
        assert_eq!(gate.refusal("empty.md").await, "'empty.md' is empty; write the evidence into it");
        for path in ["gone.md", "gone/note.md", "note.md/under", &"x".repeat(300)] {
            let missing =
                format!("there is no file '{path}' below the artifact folder; write it to {}/{path} first", gate.run);
            assert_eq!(gate.refusal(path).await, missing);
        }
    });
}

#[test]
fn large_files_are_refused_before_they_are_read() {
    block_on(async {
        let gate = Gate::new().await;
        let grow = |path: &str, bytes| File::create(gate.path(path)).unwrap().set_len(bytes).unwrap();
        grow("large.bin", limits::ARTIFACT_BYTES_MAX + 1);
        let refusal = gate.files.read_artifact(&gate.run, "large.bin", ContentRequest::default()).await.unwrap_err();
        assert_eq!(refusal, "'large.bin' has 100000001 bytes, at most 100000000 are read; make it smaller");

        // At the size limit of content that is parsed, and past it.
        let json = |bytes: u64| format!("\"{}\"", "x".repeat(usize::try_from(bytes).unwrap() - 2));
        gate.write("fits.json", json(limits::ARTIFACT_CONTENT_BYTES_MAX));
        gate.write("more.json", json(limits::ARTIFACT_CONTENT_BYTES_MAX + 1));
        assert!(gate.files.read_artifact(&gate.run, "fits.json", super::json_request()).await.unwrap().json.is_some());
        assert_eq!(gate.files.read_artifact(&gate.run, "more.json", super::json_request()).await.unwrap().json, None);
        assert!(gate.files.read_content(&gate.run, "fits.json").await.is_ok());
        let refusal = gate.files.read_content(&gate.run, "more.json").await.unwrap_err();
        assert_eq!(refusal, "'more.json' has 1000001 bytes, at most 1000000 are read; make it smaller");
    });
}

#[test]
fn json_that_is_nested_too_deep_is_not_looked_into() {
    block_on(async {
        let gate = Gate::new().await;
        gate.write("deep.json", "[".repeat(100_000));
        assert_eq!(gate.files.read_artifact(&gate.run, "deep.json", super::json_request()).await.unwrap().json, None);
    });
}

/// Repeats an action on a thread until it is dropped.
struct BackgroundLoop(Arc<AtomicBool>, Option<std::thread::JoinHandle<()>>);

impl BackgroundLoop {
    fn new(mut act: impl FnMut() + Send + 'static) -> Self {
        let goes_on = Arc::new(AtomicBool::new(true));
        let also = Arc::clone(&goes_on);
        let thread = std::thread::spawn(move || {
            while also.load(Ordering::Relaxed) {
                act();
            }
        });
        Self(goes_on, Some(thread))
    }
}

impl Drop for BackgroundLoop {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
        self.1.take().unwrap().join().unwrap();
    }
}

#[test]
fn a_file_that_grows_while_it_is_read_is_told() {
    block_on(async {
        use std::io::Write;
        let gate = Gate::new().await;
        gate.write("log.txt", vec![b'x'; 4_000_000]);
        let mut log = File::options().append(true).open(gate.path("log.txt")).unwrap();
        let writing = BackgroundLoop::new(move || log.write_all(b"x").unwrap());
        let refusal = gate.files.read_artifact(&gate.run, "log.txt", ContentRequest::default()).await.unwrap_err();
        assert_eq!(refusal, "'log.txt' changed while it was read; finish writing it, then try again");
        drop(writing);
        assert!(gate.files.read_artifact(&gate.run, "log.txt", ContentRequest::default()).await.is_ok());
    });
}

#[test]
fn a_file_that_is_replaced_while_it_is_read_is_one_or_the_other() {
    block_on(async {
        let gate = Gate::new().await;
        for (path, byte) in [("a", b'a'), ("b", b'b')] {
            gate.write(path, vec![byte; 200_000]);
        }
        let known = [gate.sha256("a").await, gate.sha256("b").await];
        gate.write("note.md", vec![b'a'; 200_000]);
        let (at, mut turn) = ((gate.path("a"), gate.path("b"), gate.path("next"), gate.path("note.md")), false);
        let replacing = BackgroundLoop::new(move || {
            turn = !turn;
            std::fs::copy(if turn { &at.1 } else { &at.0 }, &at.2).unwrap();
            std::fs::rename(&at.2, &at.3).unwrap();
        });
        for _ in 0..50 {
            match gate.files.read_artifact(&gate.run, "note.md", ContentRequest::default()).await {
                Ok(artifact) => assert!(artifact.bytes == 200_000 && known.contains(&artifact.sha256)),
                Err(refusal) => assert!(refusal.contains("changed while it was read"), "{refusal}"),
            }
        }
        drop(replacing);
    });
}

#[test]
fn a_run_has_a_folder_of_its_own() {
    block_on(async {
        let gate = Gate::new().await;
        assert_eq!(gate.run, gate.place.file("artifacts/run-1").display().to_string());
        assert_eq!(
            gate.files.create_run_folder("run-1").await.unwrap(),
            Some(gate.run.clone()),
            "a folder may be there"
        );
        for run_id in ["..", ".", "", "a/b", "../a", "/tmp/a", "a\\b", ".hidden", "a\0", &"x".repeat(201)] {
            let error = gate.files.create_run_folder(run_id).await.unwrap_err();
            assert!(error.why.ends_with("which is no plain name"), "{run_id:?}: {error}");
        }
        let names: Vec<_> = std::fs::read_dir(gate.place.file("artifacts")).unwrap().collect();
        assert_eq!(names.len(), 1);
        std::fs::write(gate.place.file("artifacts/file"), "x").unwrap();
        symlink(&gate.run, gate.place.file("artifacts/link")).unwrap();
        for run_id in ["file", "link"] {
            let error = gate.files.create_run_folder(run_id).await.unwrap_err();
            assert!(error.path.ends_with(run_id) && error.why.starts_with("is no folder"), "{error}");
        }
    });
}

#[test]
fn a_folder_that_is_a_link_or_gone_holds_nothing() {
    block_on(async {
        let gate = Gate::new().await;
        gate.write("note.md", "x");
        let sha256 = gate.sha256("note.md").await;
        let held = vec![("note.md".to_owned(), sha256)];
        let link = gate.place.file("link").display().to_string();
        symlink(&gate.run, &link).unwrap();
        for folder in [link.as_str(), "/nowhere", "", "artifacts/run-1"] {
            let refusal = gate.files.read_artifact(folder, "note.md", ContentRequest::default()).await.unwrap_err();
            assert!(refusal.starts_with(&format!("the artifact folder {folder} is not there")), "{refusal}");
            assert_eq!(gate.files.stale_paths(folder, held.clone()).await.len(), 1);
        }
        assert!(gate.files.stale_paths(&gate.run, held).await.is_empty());
    });
}

#[test]
fn where_several_machines_serve_only_content_that_is_handed_in_counts() {
    block_on(async {
        let place = TemporaryFolder::new();
        let files = Folders::new(FoldersOptions {
            working: place.file(""),
            process_folders: vec![],
            artifacts: None,
            restored: None,
        });
        std::fs::write(place.file("note.md"), "x").unwrap();
        let folder = place.file("").display().to_string();
        let no_folder = "there is no artifact folder here, hand the content in as text or base64";
        assert_eq!(files.create_run_folder("run-1").await.unwrap(), None);
        assert_eq!(files.read_artifact(&folder, "note.md", ContentRequest::default()).await.unwrap_err(), no_folder);
        assert_eq!(files.read_content(&folder, "note.md").await.unwrap_err(), no_folder);
        assert_eq!(files.stale_paths(&folder, vec![("note.md".to_owned(), "x".to_owned())]).await.len(), 1);
        assert!(files.subscribe_run_changes().try_recv().is_err());
    });
}

#[test]
fn content_is_measured_as_it_is_read() {
    block_on(async {
        let gate = Gate::new().await;
        let words = || ContentRequest { measured_words: Some(vec!["Place".to_owned()]), ..ContentRequest::default() };
        gate.write("scene.md", "Place: the mill\n\n");
        let measure = gate.files.read_artifact(&gate.run, "scene.md", words()).await.unwrap().measure.unwrap();
        assert_eq!((measure.bytes, measure.lines, measure.contains), (15, 1, vec!["Place".to_owned()]));
        let most = usize::try_from(limits::ARTIFACT_CONTENT_BYTES_MAX).unwrap();
        gate.write("long.md", format!("{} place", "x".repeat(most)));
        let long = gate.files.read_artifact(&gate.run, "long.md", words()).await.unwrap();
        let measure = long.measure.unwrap();
        assert_eq!((long.bytes, measure.bytes, measure.contains.len()), (most as u64 + 6, most as u64, 0));
        assert_eq!(gate.files.read_artifact(&gate.run, "long.md", super::json_request()).await.unwrap().measure, None);
    });
}
