//! Tests of notes: where they belong, and how they are corrected, tagged and taken back.

use std::sync::Arc;

use super::tests::{CampaignFixture, add_note, end_session, start_session};
use super::*;
use crate::limits;
use crate::visibility::Visibility;

#[test]
fn notes_belong_to_a_session_also_after_it_ended_or_to_none() {
    let mut table = CampaignFixture::with_people();
    let session_of = |events: &[CampaignEvent]| match events {
        [CampaignEvent::NoteAdded { session_id, .. }] => session_id.clone(),
        other => panic!("{other:?}"),
    };
    let early = CampaignCommand::AddNote {
        id: "note_0".to_owned(),
        session_id: None,
        text: "Before the first evening.".to_owned(),
        tags: Vec::new(),
    };
    assert_eq!(session_of(&table.expect_events(early)), None);
    table.expect_events(start_session("sess_1", ""));
    let before = table.campaign().updated_at;
    assert_eq!(
        table.expect_events(add_note(" The bridge fell. ")),
        [CampaignEvent::NoteAdded {
            note_id: "note_The bridge fell.".to_owned(),
            session_id: Some("sess_1".to_owned()),
            text: "The bridge fell.".to_owned(),
            tags: Vec::new(),
            visible_to: Visibility::Table,
        }]
    );
    assert_eq!(table.campaign().updated_at, before);
    table.expect_events(end_session());
    let taken = CampaignRefusal::IdTaken { id: "note_The bridge fell.".to_owned() };
    assert_eq!(table.expect_refusal(add_note("The bridge fell.")), taken);
    let session_id = Some("sess_1".to_owned());
    table.expect_events(CampaignCommand::AddNote {
        id: "note_2".to_owned(),
        session_id,
        text: "An afterthought.".to_owned(),
        tags: Vec::new(),
    });
    assert_eq!(table.state.sessions().get("sess_1").unwrap().note_count, 2);
    let session_id = Some("sess_9".to_owned());
    let refusal = table.expect_refusal(CampaignCommand::AddNote {
        id: String::new(),
        session_id,
        text: "x".to_owned(),
        tags: Vec::new(),
    });
    assert_eq!(refusal.pointer().as_deref(), Some("/session_id"));
}

#[test]
fn a_note_is_corrected_tagged_and_taken_back() {
    let mut table = CampaignFixture::with_session();
    table.expect_events(CampaignCommand::AddNote {
        id: "note_1".to_owned(),
        session_id: None,
        text: "The brigde fell.".to_owned(),
        tags: Vec::new(),
    });
    let change = |text: Option<&str>, tags: Option<&[&str]>| CampaignCommand::ChangeNote {
        note_id: " note_1 ".to_owned(),
        text: text.map(str::to_owned),
        tags: tags.map(|tags| tags.iter().map(|tag| (*tag).to_owned()).collect()),
    };
    let corrected = table.expect_events(change(Some(" The bridge fell. "), Some(&["Bridge", " bridge ", "war"])));
    assert_eq!(
        corrected,
        [CampaignEvent::NoteChanged {
            note_id: "note_1".to_owned(),
            text: Some("The bridge fell.".to_owned()),
            tags: Some(vec!["Bridge".to_owned(), "war".to_owned()]),
            visible_to: Visibility::Table,
        }]
    );
    let fields = &["text", "tags"];
    assert_eq!(table.expect_refusal(change(None, None)), CampaignRefusal::NothingToUpdate { fields });
    assert_eq!(table.expect_refusal(change(Some(" "), None)), CampaignRefusal::Empty { field: "text" });
    let many: Vec<String> = (0..=limits::NOTE_TAGS_MAX).map(|number| format!("tag {number}")).collect();
    let tags = |tags: &[String]| CampaignCommand::ChangeNote {
        note_id: "note_1".to_owned(),
        text: None,
        tags: Some(tags.to_vec()),
    };
    table.expect_events(tags(&many[1..]));
    let too_many = CampaignRefusal::TooMany { things: "tags on one note", count_max: limits::NOTE_TAGS_MAX };
    assert_eq!(table.expect_refusal(tags(&many)), too_many);
    table.expect_events(tags(&["a".repeat(limits::TAG_CHARS_MAX)]));
    let long = table.expect_refusal(tags(&["a".repeat(limits::TAG_CHARS_MAX + 1)]));
    assert!(matches!(long, CampaignRefusal::TooLong { field: "tags", .. }), "{long:?}");
    let remove = || CampaignCommand::RemoveNote { note_id: "note_1".to_owned() };
    assert_eq!(table.state.sessions().get("sess_1").unwrap().note_count, 1);
    table.expect_events(remove());
    assert_eq!(table.state.sessions().get("sess_1").unwrap().note_count, 0);
    let gone = CampaignRefusal::NoteNotFound { note_id: "note_1".to_owned() };
    assert_eq!((table.expect_refusal(remove()), table.expect_refusal(change(Some("x"), None))), (gone.clone(), gone));
}

#[test]
fn notes_of_a_campaign_have_an_end() {
    let mut table = CampaignFixture::with_people();
    let origin = Arc::new(NoteOrigin { session_id: None, by: "local".to_owned(), number: 1 });
    let id = |number: usize| Arc::<str>::from(format!("note_{number}"));
    table.state.notes = (1..limits::NOTES_MAX).map(|number| (id(number), Arc::clone(&origin))).collect();
    table.expect_events(add_note("the last one"));
    let too_many = CampaignRefusal::TooMany { things: "notes", count_max: limits::NOTES_MAX };
    assert_eq!(table.expect_refusal(add_note("one more")), too_many);
}
