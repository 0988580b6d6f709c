//! Golden tests of stored lore events: every file must always decode.

use super::LoreEvent;
use crate::golden_files::{assert_kinds_have_files, assert_shapes_decode, golden_files};

#[test]
fn every_stored_shape_decodes_and_is_written_as_it_was() {
    assert_shapes_decode(&golden_files("lore"), LoreEvent::kind);
}

#[test]
fn every_event_has_a_golden_file() {
    assert_kinds_have_files(&golden_files("lore"), "/type", LoreEvent::KINDS);
}
