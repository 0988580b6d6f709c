//! Tests of process files, and of the file that names a run.

use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use skald_app::{FilesError, GateFiles, ProcessFile, limits};
use skald_gate_files::Folders;

use super::folders;
use crate::block_on;
use skald_testkit::TemporaryFolder;

fn make_folders(place: &TemporaryFolder) -> Folders {
    for name in ["first", "second", "work/.state_gate"] {
        std::fs::create_dir_all(place.file(name)).unwrap();
    }
    folders(place)
}

fn make_pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

#[test]
fn processes_are_found_by_id_in_order_of_precedence() {
    block_on(async {
        let place = TemporaryFolder::new();
        let files = make_folders(&place);
        for name in ["first/a.yml", "second/a.yaml", "second/b.yml", "second/b.yaml", "first/.x.yaml", "first/x.md"] {
            std::fs::write(place.file(name), name).unwrap();
        }
        symlink(place.file("second/b.yaml"), place.file("first/linked.yaml")).unwrap();
        assert_eq!(files.process_ids().await.unwrap(), ["a", "b", "linked"]);
        let found = |path: &str, source: &str| {
            Ok(Some(ProcessFile { path: place.file(path).display().to_string(), source: source.to_owned() }))
        };
        assert_eq!(files.process_file("a").await, found("first/a.yml", "first/a.yml"));
        assert_eq!(files.process_file("b").await, found("second/b.yaml", "second/b.yaml"));
        assert_eq!(files.process_file("linked").await, found("first/linked.yaml", "second/b.yaml"));
        assert_eq!(files.process_file("c").await, Ok(None));
    });
}

#[test]
fn folders_that_are_not_there_have_no_processes() {
    block_on(async {
        let place = TemporaryFolder::new();
        let files = folders(&place);
        assert_eq!(files.process_ids().await, Ok(vec![]));
        assert_eq!(files.process_file("a").await, Ok(None));
        assert_eq!(files.configured_run_id().await, Ok(None));
    });
}

#[test]
fn an_id_that_leads_elsewhere_is_not_there() {
    block_on(async {
        let place = TemporaryFolder::new();
        let files = make_folders(&place);
        std::fs::write(place.file("outside.yaml"), "process: {}").unwrap();
        std::fs::write(place.file("first/.hidden.yaml"), "process: {}").unwrap();
        std::fs::write(place.file("first/a\\b.yaml"), "process: {}").unwrap();
        let absolute = place.file("outside").display().to_string();
        for id in ["../outside", "..", "", ".hidden", "a\\b", "a\0b", "x/../../outside", &absolute, &"x".repeat(300)] {
            assert_eq!(files.process_file(id).await, Ok(None), "{id:?}");
        }
        assert_eq!(files.process_ids().await, Ok(vec![]));
    });
}

#[test]
fn a_process_file_that_cannot_be_read_is_told() {
    block_on(async {
        let place = TemporaryFolder::new();
        let files = make_folders(&place);
        std::fs::write(place.file("first/fits.yaml"), vec![b' '; limits::PROCESS_BYTES_MAX]).unwrap();
        std::fs::write(place.file("first/large.yaml"), vec![b' '; limits::PROCESS_BYTES_MAX + 1]).unwrap();
        std::fs::write(place.file("first/latin.yaml"), b"name: caf\xe9").unwrap();
        std::fs::create_dir(place.file("first/folder.yaml")).unwrap();
        symlink("/dev/zero", place.file("first/zero.yaml")).unwrap();
        make_pipe(&place.file("first/pipe.yaml"));
        assert_eq!(files.process_file("fits").await.unwrap().unwrap().source.len(), limits::PROCESS_BYTES_MAX);
        for (id, why) in [
            ("large", "is larger than 262144 bytes"),
            ("latin", "is not UTF-8 from byte 9 on"),
            ("folder", "is no ordinary file"),
            ("zero", "is no ordinary file"),
            ("pipe", "is no ordinary file"),
        ] {
            let path = place.file(&format!("first/{id}.yaml")).display().to_string();
            assert_eq!(files.process_file(id).await, Err(FilesError { path, why: why.to_owned() }));
        }
    });
}

#[test]
fn the_working_folder_names_a_run() {
    block_on(async {
        let place = TemporaryFolder::new();
        let files = make_folders(&place);
        std::fs::write(place.file("work/state-gate.json"), r#"{"run_id": "run-2"}"#).unwrap();
        assert_eq!(files.configured_run_id().await, Ok(Some("run-2".to_owned())));
        let nearer = place.file("work/.state_gate/state-gate.json");
        std::fs::write(&nearer, r#"{"run_id": "run-1", "role": "human", "more": []}"#).unwrap();
        assert_eq!(files.configured_run_id().await, Ok(Some("run-1".to_owned())));
        for (text, why) in [
            (r#"{"run_id": "#, "is not JSON: EOF"),
            (r#"{"role": "agent"}"#, r#"names no run; write {"run_id": "…"} into it"#),
            ("[]", "names no run"),
            (r#"{"run_id": "  "}"#, "has a blank run_id"),
            (r#"{"run_id": 7}"#, "has the run_id 7, which is no string"),
            (&format!(r#"{{"run_id": "{}"}}"#, "x".repeat(65_536)), "is larger than 65536 bytes"),
        ] {
            std::fs::write(&nearer, text).unwrap();
            let error = files.configured_run_id().await.unwrap_err();
            assert!(error.path == nearer.display().to_string() && error.why.starts_with(why), "{error}");
        }
        std::fs::remove_file(&nearer).unwrap();
        make_pipe(&nearer);
        assert_eq!(files.configured_run_id().await.unwrap_err().why, "is no ordinary file");
    });
}

#[test]
fn a_folder_above_names_a_run_where_none_is_nearer() {
    block_on(async {
        let place = TemporaryFolder::new();
        let files = make_folders(&place);
        std::fs::write(place.file("state-gate.json"), r#"{"run_id": "run-above"}"#).unwrap();
        assert_eq!(files.configured_run_id().await, Ok(Some("run-above".to_owned())));
        std::fs::remove_dir(place.file("work/.state_gate")).unwrap();
        std::fs::write(place.file("work/.state_gate"), "no folder, so it names nothing").unwrap();
        assert_eq!(files.configured_run_id().await, Ok(Some("run-above".to_owned())));
        std::fs::write(place.file("work/state-gate.json"), r#"{"run_id": "run-here"}"#).unwrap();
        assert_eq!(files.configured_run_id().await, Ok(Some("run-here".to_owned())));
        std::fs::write(place.file("work/state-gate.json"), "{}").unwrap();
        assert!(files.configured_run_id().await.is_err(), "a file that is broken is no missing one");
    });
}
