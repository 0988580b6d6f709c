//! Golden tests of stored token events: every file must always decode.

use super::AccessEvent;
use crate::golden_files::{assert_kinds_have_files, assert_shapes_decode, golden_files};

#[test]
fn every_stored_shape_decodes_and_is_written_as_it_was() {
    assert_shapes_decode(&golden_files("access"), AccessEvent::kind);
}

#[test]
fn every_event_has_a_golden_file() {
    assert_kinds_have_files(&golden_files("access"), "/type", AccessEvent::KINDS);
}
