//! Helpers of the golden tests of stored events: reads the files of a noun and checks them against its event type.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The golden files of a folder in `src`, by name. A name is the event's type, with a suffix if a type has several files.
pub(crate) fn golden_files(folder: &str) -> Vec<(String, Value)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src").join(folder).join("golden");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: PathBuf| {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap())
    };
    entries.map(read).collect()
}

/// Asserts that every stored shape decodes to an event of its file's name, and is written as it was.
pub(crate) fn assert_shapes_decode<E: DeserializeOwned + Serialize>(
    files: &[(String, Value)],
    kind: fn(&E) -> &'static str,
) {
    for (name, golden) in files {
        let event: E = serde_json::from_str(&golden.to_string()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(name.starts_with(kind(&event)), "{name} holds a {}", kind(&event));
        assert_eq!(serde_json::to_value(&event).unwrap(), *golden, "{name}");
    }
}

/// Asserts that each kind is what a golden file has at this JSON pointer.
pub(crate) fn assert_kinds_have_files(files: &[(String, Value)], pointer: &str, kinds: &[&str]) {
    let held: BTreeSet<&str> = files.iter().filter_map(|(_, golden)| golden.pointer(pointer)?.as_str()).collect();
    for kind in kinds {
        assert!(held.contains(kind), "{kind} has no golden file");
    }
}
