//! Golden tests of stored lore events: every file must always decode.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::LoreEvent;

/// Golden files by name: the event's type, with a suffix where a type has several files.
fn golden_files() -> Vec<(String, Value)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/lore/golden");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: PathBuf| {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap())
    };
    entries.map(read).collect()
}

#[test]
fn every_stored_shape_decodes_and_is_written_as_it_was() {
    for (name, golden) in golden_files() {
        let event: LoreEvent = serde_json::from_value(golden.clone()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(name.starts_with(event.kind()), "{name} holds a {}", event.kind());
        assert_eq!(serde_json::to_value(&event).unwrap(), golden, "{name}");
    }
}

#[test]
fn every_event_has_a_golden_file() {
    let held: BTreeSet<String> =
        golden_files().iter().map(|(_, golden)| golden["type"].as_str().unwrap_or_default().to_owned()).collect();
    for kind in LoreEvent::KINDS {
        assert!(held.contains(*kind), "{kind} has no golden file");
    }
}
