//! Tests of reveals in the lore: one event changes privacy and readers, and its steps outlive a snapshot.

use serde_json::{from_value, to_value};

use super::tests::{LoreFixture, archive, character, empty_archive, new_post};
use super::*;
use crate::visibility::Visibility;

fn visibility(words: &[&str]) -> Visibility {
    words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>().into()
}

fn change(of: LoreSubject, was: &[&str], visible_to: &[&str]) -> LoreCommand {
    let (visible_to, was) = (visibility(visible_to), visibility(was));
    LoreCommand::Visibility(VisibilityCommand { of, visible_to, was, session_id: Some("sess_1".to_owned()) })
}

fn steps(lore: &LoreFixture, of: LoreSubject) -> Vec<Vec<String>> {
    lore.state.visibility_steps(of).iter().map(|step| step.visible_to.clone().into()).collect()
}

fn check_snapshot(lore: &LoreFixture) {
    assert_eq!(LoreState::from_parts(lore.state.to_parts()).as_ref(), Some(&lore.state));
    assert_eq!(from_value::<LoreState>(to_value(&lore.state).unwrap()).unwrap(), lore.state);
}

/// An entity 1 with a post 1, both private.
fn private_lore() -> LoreFixture {
    let mut lore = LoreFixture::empty();
    let secret = NewEntity { is_private: true, ..character("Vex") };
    lore.expect_event(LoreCommand::CreateEntity(Box::new(secret)));
    let LoreCommand::CreatePost(post) = new_post(1, "Her plan", None) else { unreachable!() };
    lore.expect_event(LoreCommand::CreatePost(Box::new(NewPost { is_private: true, ..*post })));
    lore
}

#[test]
fn one_event_reveals_an_entity_to_some_then_to_all() {
    let mut lore = private_lore();
    let of = LoreSubject::Entity { entity_id: 1 };
    assert_eq!(lore.state.visibility_of(of), None, "it was never revealed");
    let revision = lore.entity(1).revision;
    let event = lore.expect_event(change(of, &["gm"], &["part_ana"]));
    assert!(event.is_private() && lore.entity(1).is_private);
    assert_eq!(lore.entity(1).revision, revision, "the entity itself is as it was");
    assert_eq!(lore.state.visibility_of(of), Some(visibility(&["part_ana"])));
    let event = lore.expect_event(change(of, &["part_ana"], &["table"]));
    assert!(!event.is_private() && !lore.entity(1).is_private);
    assert_eq!(lore.state.visibility_of(of), Some(Visibility::Table));
    lore.expect_event(change(of, &["table"], &["gm"]));
    assert!(lore.entity(1).is_private);
    assert_eq!(steps(&lore, of), [["part_ana"], ["table"], ["gm"]]);
    check_snapshot(&lore);
}

#[test]
fn a_reveal_that_another_one_has_overtaken_is_refused() {
    let mut lore = private_lore();
    let of = LoreSubject::Post { post_id: 1 };
    lore.expect_event(change(of, &["gm"], &["part_ana"]));
    assert_eq!(lore.expect_refusal(change(of, &["gm"], &["part_ben"])), LoreRefusal::VisibilityDiffers);
    assert_eq!(lore.expect_refusal(change(of, &["part_ana"], &["part_ana"])), LoreRefusal::Unchanged);
    let event = lore.expect_event(change(of, &["part_ana"], &["table"]));
    assert!(event.is_private(), "its entity is private still");
    assert!(!lore.state.post(1).unwrap().1.is_private);
    let missing = LoreSubject::Post { post_id: 9 };
    let refusal = lore.expect_refusal(change(missing, &["gm"], &["table"]));
    assert_eq!(refusal, LoreRefusal::PostNotFound { entity_id: 0, post_id: 9 });
}

#[test]
fn timeline_events_and_relationships_are_revealed_too() {
    let mut lore = LoreFixture::empty();
    lore.expect_event(LoreCommand::Timeline(TimelineCommand::Add(Box::new(NewTimelineEvent::new("The betrayal")))));
    let of = LoreSubject::TimelineEvent { event_id: 1 };
    lore.expect_event(change(of, &["gm"], &["part_ana"]));
    let event = lore.state.timeline().get(1).unwrap();
    assert_eq!((&event.visible_to, event.revision), (&visibility(&["part_ana"]), 2));
    let known = TimelineEventChange { visible_to: Some(Visibility::Table), ..TimelineEventChange::default() };
    lore.expect_event(LoreCommand::Timeline(TimelineCommand::Update {
        event_id: 1,
        expected_revision: None,
        change: Box::new(known),
    }));
    assert_eq!(steps(&lore, of), [["part_ana"], ["table"]], "a change by the timeline is a step too");
    for name in ["Vex", "Ilse"] {
        lore.expect_event(LoreCommand::CreateEntity(Box::new(character(name))));
    }
    let mut new = NewRelationship::new(1, "knows", 2);
    new.visible_to = Visibility::GameMasters;
    lore.expect_event(LoreCommand::Relationship(RelationshipCommand::Add(Box::new(new))));
    let of = LoreSubject::Relationship { relationship_id: 1 };
    let event = lore.expect_event(change(of, &["gm"], &["table"]));
    assert!(!event.is_private());
    assert!(lore.state.relationships().get(1).unwrap().visible_to.is_table());
    check_snapshot(&lore);
}

#[test]
fn a_reveal_ends_with_the_thing_and_follows_its_number() {
    let mut lore = private_lore();
    let of = LoreSubject::Entity { entity_id: 1 };
    lore.expect_event(change(of, &["gm"], &["part_ana"]));
    lore.expect_event(change(LoreSubject::Post { post_id: 1 }, &["gm"], &["part_ana"]));
    let ids = ExplicitIds { id: 40, entity_id: 40 };
    lore.expect_event(LoreCommand::RenumberEntity { entity_id: 1, ids });
    let of = LoreSubject::Entity { entity_id: 40 };
    assert_eq!(lore.state.visibility_of(of), Some(visibility(&["part_ana"])));
    lore.expect_event(archive(40));
    lore.expect_event(empty_archive(&[]));
    assert_eq!(lore.state.revealed_subjects().count(), 0);
    check_snapshot(&lore);
}
