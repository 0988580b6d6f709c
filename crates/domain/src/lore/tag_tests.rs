//! Tests of tags that are created by themselves, renamed and deleted.

use super::tests::{LoreFixture, archive, character, texts, update};
use super::*;
use crate::limits;

fn create_tag(name: &str) -> LoreCommand {
    LoreCommand::CreateTag { name: name.to_owned() }
}

fn rename_tag(tag_id: u32, name: &str) -> LoreCommand {
    LoreCommand::RenameTag { tag_id, name: name.to_owned() }
}

fn tagged(name: &str, tags: &[&str]) -> NewEntity {
    NewEntity { tags: texts(tags), ..character(name) }
}

fn tag_names(state: &LoreState) -> Vec<&str> {
    state.tags().map(|tag| &*tag.name).collect()
}

#[test]
fn a_created_tag_stays_without_entities() {
    let mut lore = LoreFixture::empty();
    assert_eq!(
        lore.expect_event(create_tag(" Elf ")),
        LoreEvent::TagCreated { tag_id: 1, name: "Elf".to_owned() },
        "trimmed"
    );
    let created_at = lore.state.tag(1).unwrap().created_at;
    let ann = lore.create(tagged("Ann", &["ELF", "North"]));
    assert_eq!((lore.entity(ann).tags.to_vec(), lore.state.tag(1).unwrap().uses), (vec![1, 2], 1));
    lore.expect_event(update(ann, EntityChange { tags: Some(Vec::new()), ..EntityChange::default() }));
    assert_eq!(tag_names(&lore.state), ["Elf"], "a tag that was only used is dropped");
    assert_eq!(lore.state.tag(1).unwrap().created_at, created_at);
    assert_eq!(lore.expect_refusal(create_tag("elf")), LoreRefusal::Unchanged);
    // A tag that entities brought is kept from now on, under its id.
    lore.create(tagged("Ben", &["South"]));
    let south = lore.state.find_tag("south").unwrap();
    assert_eq!(
        lore.expect_event(create_tag("SOUTH")),
        LoreEvent::TagCreated { tag_id: south, name: "South".to_owned() }
    );
    assert!(lore.state.tag(south).unwrap().is_kept);
    let refusal = lore.expect_refusal(create_tag("  "));
    assert_eq!((refusal.kind(), refusal.pointer()), (LoreRefusalKind::Invalid, Some("/name".to_owned())));
    assert!(lore.run(&create_tag(&"x".repeat(limits::TAG_CHARS_MAX))).is_ok());
    let refusal = lore.expect_refusal(create_tag(&"x".repeat(limits::TAG_CHARS_MAX + 1)));
    assert!(matches!(refusal, LoreRefusal::TooLong { field: "name", .. }), "{refusal}");
    assert_eq!(LoreState::from_parts(lore.state.to_parts()), Some(lore.state));
}

#[test]
fn a_renamed_tag_keeps_its_id_and_its_entities() {
    let mut lore = LoreFixture::empty();
    let ann = lore.create(tagged("Ann", &["Elf", "North"]));
    let before = lore.entity(ann).clone();
    assert_eq!(
        lore.expect_event(rename_tag(1, "Elves")),
        LoreEvent::TagRenamed { tag_id: 1, name: "Elves".to_owned(), hidden: false }
    );
    assert_eq!((lore.state.tag_names(lore.entity(ann)), lore.entity(ann)), (vec!["Elves", "North"], &before));
    assert_eq!((lore.state.find_tag("elf"), lore.state.find_tag("ELVES")), (None, Some(1)));
    lore.expect_event(rename_tag(1, "ELVES"));
    assert_eq!(lore.expect_refusal(rename_tag(1, "ELVES")), LoreRefusal::Unchanged);
    let taken = lore.expect_refusal(rename_tag(1, "north"));
    assert_eq!(taken, LoreRefusal::TagNameTaken { name: "north".to_owned(), tag_id: 2 });
    assert_eq!(lore.expect_refusal(rename_tag(9, "A")), LoreRefusal::TagNotFound { tag_id: 9 });
}

#[test]
fn a_deleted_tag_is_taken_off_its_entities() {
    let mut lore = LoreFixture::empty();
    let ann = lore.create(tagged("Ann", &["Elf", "North"]));
    let ben = lore.create(tagged("Ben", &["Elf"]));
    lore.create(tagged("Cid", &["North"]));
    lore.expect_event(archive(ben));
    let event = lore.expect_event(LoreCommand::DeleteTag { tag_id: 1 });
    let (name, entity_ids) = ("Elf".to_owned(), vec![ann, ben]);
    assert_eq!(event, LoreEvent::TagDeleted { tag_id: 1, name, entity_ids, hidden: false });
    assert_eq!(event.changed_fields(), ["tags"]);
    assert_eq!((tag_names(&lore.state), lore.state.find_tag("elf")), (vec!["North"], None));
    let entity = lore.entity(ann);
    assert_eq!((entity.tags.to_vec(), entity.revision, entity.changes.last()), (vec![2], 2, Some(&5)));
    assert_eq!(lore.entity(ben).tags.len(), 0);
    let past = lore
        .journal
        .iter()
        .map(|(_, event)| event)
        .filter(|event| event.entity_id() == Some(ann) || matches!(event, LoreEvent::TagDeleted { .. }));
    assert_eq!(fold_entity_version(past).tags, ["North"]);
    assert_eq!(lore.expect_refusal(LoreCommand::DeleteTag { tag_id: 1 }), LoreRefusal::TagNotFound { tag_id: 1 });
    // Its number is not given again.
    lore.expect_event(create_tag("Elf"));
    assert_eq!(lore.state.find_tag("elf"), Some(3));
}

/// Whoever hears of a change must not learn of a tag that only private entities have.
#[test]
fn changes_of_a_tag_are_as_private_as_its_entities() {
    let mut lore = LoreFixture::empty();
    assert!(lore.expect_event(create_tag("Alone")).is_private());
    lore.create(NewEntity { is_private: true, ..tagged("Ann", &["Spy"]) });
    let spy = lore.state.find_tag("spy").unwrap();
    assert!(lore.expect_event(rename_tag(spy, "Spies")).is_private());
    lore.create(tagged("Ben", &["Spies"]));
    assert!(!lore.expect_event(rename_tag(spy, "Agents")).is_private());
    assert!(!lore.expect_event(LoreCommand::DeleteTag { tag_id: spy }).is_private());
}
