//! Golden tests of stored campaign events: every file must always decode.

use super::CampaignEvent;
use crate::golden_files::{assert_kinds_have_files, assert_shapes_decode, golden_files};

#[test]
fn every_stored_shape_decodes_and_is_written_as_it_was() {
    assert_shapes_decode(&golden_files("campaign"), CampaignEvent::kind);
}

#[test]
fn every_event_has_a_golden_file() {
    assert_kinds_have_files(&golden_files("campaign"), "/type", CampaignEvent::KINDS);
}
