//! Tests of the written timeline: order, links, texts, and what is refused.

use serde_json::{from_value, to_value};

use super::tests::{LoreFixture, archive, character, empty_archive, text};
use super::*;
use crate::limits;
use crate::visibility::Visibility;

fn add(new: NewTimelineEvent) -> LoreCommand {
    LoreCommand::Timeline(TimelineCommand::Add(Box::new(new)))
}

fn update(event_id: u64, change: TimelineEventChange) -> LoreCommand {
    let change = Box::new(change);
    LoreCommand::Timeline(TimelineCommand::Update { event_id, expected_revision: None, change })
}

fn remove(event_id: u64) -> LoreCommand {
    LoreCommand::Timeline(TimelineCommand::Remove { event_id, expected_revision: None })
}

fn dated(description: &str, sort: &str) -> NewTimelineEvent {
    NewTimelineEvent { sort: Some(sort.parse().unwrap()), ..NewTimelineEvent::new(description) }
}

fn check_snapshot(lore: &LoreFixture) {
    assert_eq!(LoreState::from_parts(lore.state.to_parts()).as_ref(), Some(&lore.state));
    assert_eq!(from_value::<LoreState>(to_value(&lore.state).unwrap()).unwrap(), lore.state);
}

fn descriptions(lore: &LoreFixture) -> Vec<&str> {
    lore.state.timeline().in_order().map(|event| &*event.description).collect()
}

#[test]
fn events_are_in_the_order_of_their_days() {
    let mut lore = LoreFixture::empty();
    lore.expect_event(add(NewTimelineEvent::new("Nobody knows when")));
    lore.expect_event(add(dated("The siege", "1204-03-15")));
    lore.expect_event(add(dated("The year of rain", "1204")));
    lore.expect_event(add(dated("The founding", "-44")));
    assert_eq!(descriptions(&lore), ["The founding", "The year of rain", "The siege", "Nobody knows when"]);
    let unknown = lore.state.timeline().get(1).unwrap();
    assert_eq!((unknown.precision, unknown.span()), (DatePrecision::Unknown, None));
    let change = TimelineEventChange { sort: Some(Some("1300".parse().unwrap())), ..TimelineEventChange::default() };
    lore.expect_event(update(4, change));
    assert_eq!(descriptions(&lore)[2..], ["The founding", "Nobody knows when"]);
    check_snapshot(&lore);
}

#[test]
fn an_event_is_for_game_masters_until_somebody_may_know() {
    let mut lore = LoreFixture::empty();
    let event = lore.expect_event(add(dated("The betrayal", "1204")));
    assert!(event.is_private());
    let change = TimelineEventChange { visible_to: Some(Visibility::Table), ..TimelineEventChange::default() };
    let event = lore.expect_event(update(1, change.clone()));
    assert!(!event.is_private(), "players may hear that it became known");
    assert_eq!(lore.expect_refusal(update(1, change)), LoreRefusal::Unchanged);
    // Nobody but game masters sees that it is about somebody whom they alone know.
    let (anna, ghost) = (lore.character("Anna"), lore.create(NewEntity { is_private: true, ..character("Ghost") }));
    let linked = |entity_ids: &[u64]| TimelineEventChange {
        entity_ids: Some(entity_ids.to_vec()),
        ..TimelineEventChange::default()
    };
    assert!(lore.expect_event(update(1, linked(&[ghost]))).is_private());
    assert!(!lore.expect_event(update(1, linked(&[ghost, anna]))).is_private());
    assert!(!lore.expect_event(remove(1)).is_private());
    assert_eq!(lore.expect_refusal(remove(1)), LoreRefusal::TimelineEventNotFound { event_id: 1 });
}

#[test]
fn links_follow_their_entities() {
    let mut lore = LoreFixture::empty();
    let (anna, bela) = (lore.character("Anna"), lore.character("Bela"));
    let linked = NewTimelineEvent { entity_ids: vec![bela, anna, bela], ..dated("They meet", "1204") };
    lore.expect_event(add(linked));
    let about = |lore: &LoreFixture, entity_id| lore.state.timeline().of_entity(entity_id).count();
    assert_eq!(*lore.state.timeline().get(1).unwrap().entity_ids, [bela, anna]);
    lore.expect_event(LoreCommand::RenumberEntity { entity_id: bela, ids: ExplicitIds { id: 70, entity_id: 700 } });
    assert_eq!((about(&lore, bela), about(&lore, 700), about(&lore, anna)), (0, 1, 1));
    lore.expect_event(archive(700));
    let again = NewTimelineEvent { entity_ids: vec![700], ..dated("Later", "1205") };
    assert_eq!(lore.expect_refusal(add(again)), LoreRefusal::EntityArchived { field: "entity_ids", entity_id: 700 });
    lore.expect_event(empty_archive(&[]));
    assert_eq!(*lore.state.timeline().get(1).unwrap().entity_ids, [anna]);
    check_snapshot(&lore);
}

#[test]
fn a_text_that_is_replaced_or_removed_is_named() {
    let mut lore = LoreFixture::empty();
    let long = |number| Some(text(number, &[]));
    lore.expect_event(add(NewTimelineEvent { text: long(1), ..dated("It began", "1204") }));
    let change = TimelineEventChange { text: Some(long(2)), ..TimelineEventChange::default() };
    let event = lore.expect_event(update(1, change));
    assert!(
        matches!(event, LoreEvent::TimelineEventUpdated { replaced_text_key: Some(key), .. } if key == TextKey::from([1; 32])),
        "{event:?}"
    );
    let event = lore.expect_event(remove(1));
    assert!(
        matches!(event, LoreEvent::TimelineEventRemoved { text_key: Some(key), .. } if key == TextKey::from([2; 32])),
        "{event:?}"
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut lore = LoreFixture::empty();
    let anna = lore.character("Anna");
    let empty = LoreRefusal::Empty { field: "description" };
    assert_eq!(lore.expect_refusal(add(dated("  ", "1204"))), empty);
    let chars_max = limits::TIMELINE_SUMMARY_CHARS_MAX;
    let refusal = LoreRefusal::TooLong { field: "description", chars: chars_max + 1, chars_max };
    assert_eq!(lore.expect_refusal(add(dated(&"x".repeat(chars_max + 1), "1204"))), refusal);
    lore.expect_event(add(dated(&"x".repeat(chars_max), "1204")));
    let linked = |count: usize| NewTimelineEvent { entity_ids: vec![anna; count], ..dated("A feast", "1204") };
    let (count, count_max) = (limits::TIMELINE_ENTITIES_MAX + 1, limits::TIMELINE_ENTITIES_MAX);
    let refusal = LoreRefusal::TooManyOnOne { things: "linked entities", field: "entity_ids", count, count_max };
    assert_eq!(lore.expect_refusal(add(linked(count))), refusal);
    lore.expect_event(add(linked(count_max)));
    let missing = LoreRefusal::EntityNotFound { field: "entity_ids", entity_id: 99 };
    assert_eq!(lore.expect_refusal(add(NewTimelineEvent { entity_ids: vec![99], ..dated("x", "1") })), missing);
}

#[test]
fn the_timeline_of_a_campaign_has_an_end() {
    let mut lore = LoreFixture::empty();
    let count_max = limits::LORE_TIMELINE_EVENTS_MAX;
    lore.expect_event(add(dated("The siege", "1204")));
    // Copies of it stand for events that would take long to add.
    let copied = TimelineEvent::clone(lore.state.timeline().get(1).unwrap());
    for event_id in 2..count_max as u64 {
        lore.state.timeline.put(TimelineEvent { event_id, ..copied.clone() });
    }
    lore.expect_event(add(dated("The last feast", "1205")));
    assert_eq!(lore.state.timeline().len(), count_max);
    let past = add(dated("One feast more", "1206"));
    let refusal = LoreRefusal::TooMany { things: "timeline events", count_max };
    assert_eq!((lore.run(&past), refusal.kind()), (Err(refusal), LoreRefusalKind::TooLarge));
    // One that is removed makes room.
    lore.expect_event(remove(1));
    lore.expect_event(past);
}
