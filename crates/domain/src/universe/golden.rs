//! Golden tests of stored universe events and commands: every file must always decode.

use serde_json::Value;

use super::{Command, UniverseEvent};
use crate::golden_files::{assert_kinds_have_files, assert_shapes_decode, golden_files};

/// The files of events; the folder has other files too.
fn event_files() -> Vec<(String, Value)> {
    golden_files("universe").into_iter().filter(|(name, _)| name.starts_with("universe.")).collect()
}

#[test]
fn every_stored_shape_decodes_and_is_written_as_it_was() {
    assert_shapes_decode(&event_files(), UniverseEvent::kind);
}

#[test]
fn every_event_and_every_command_has_a_golden_file() {
    assert_kinds_have_files(&event_files(), "/type", UniverseEvent::KINDS);
    assert_kinds_have_files(&event_files(), "/command/type", Command::NAMES);
}
