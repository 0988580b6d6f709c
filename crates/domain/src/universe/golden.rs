//! Golden tests of stored universe events and commands: every file must always decode.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::{Command, UniverseEvent};

/// Golden files by name: the event's type, with a suffix where a type has several files.
fn golden_files() -> Vec<(String, Value)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/universe/golden");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: PathBuf| {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap())
    };
    entries.map(read).filter(|(name, _)| name.starts_with("universe.")).collect()
}

#[test]
fn every_stored_shape_decodes_and_is_written_as_it_was() {
    for (name, golden) in golden_files() {
        let event: UniverseEvent =
            serde_json::from_str(&golden.to_string()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(name.starts_with(event.kind()), "{name} holds a {}", event.kind());
        assert_eq!(serde_json::to_value(&event).unwrap(), golden, "{name}");
    }
}

#[test]
fn every_event_and_every_command_has_a_golden_file() {
    let files = golden_files();
    let held = |pointer: &str| -> BTreeSet<String> {
        files.iter().filter_map(|(_, golden)| golden.pointer(pointer)?.as_str().map(str::to_owned)).collect()
    };
    for kind in UniverseEvent::KINDS {
        assert!(held("/type").contains(*kind), "{kind} has no golden file");
    }
    for name in Command::NAMES {
        assert!(held("/command/type").contains(*name), "{name} has no golden file");
    }
}
