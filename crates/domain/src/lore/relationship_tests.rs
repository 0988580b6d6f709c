//! Tests of relationships: types and inverses, what is refused, maps and paths, and what follows changes of entities.

use serde_json::{from_value, to_value};

use super::tests::{LoreFixture, archive, character, empty_archive};
use super::*;
use crate::limits;
use crate::visibility::Visibility;

fn add(new: NewRelationship) -> LoreCommand {
    LoreCommand::Relationship(RelationshipCommand::Add(Box::new(new)))
}

fn update(relationship_id: u64, change: RelationshipChange) -> LoreCommand {
    let change = Box::new(change);
    LoreCommand::Relationship(RelationshipCommand::Update { relationship_id, expected_revision: None, change })
}

fn remove(relationship_id: u64) -> LoreCommand {
    LoreCommand::Relationship(RelationshipCommand::Remove { relationship_id, expected_revision: None })
}

impl LoreFixture {
    /// Adds a relationship and answers its id.
    fn relate(&mut self, source: u64, relation: &str, target: u64) -> u64 {
        match self.expect_event(add(NewRelationship::new(source, relation, target))) {
            LoreEvent::RelationshipAdded { relationship_id, .. } => relationship_id,
            event => panic!("{event:?}"),
        }
    }

    /// The words and other ends of an entity's relationships.
    fn words_of(&self, entity_id: u64) -> Vec<(String, u64)> {
        let all = self.state.relationships().of_entity(entity_id);
        all.map(|one| one.read_from(entity_id)).map(|(word, other)| (word.to_string(), other)).collect()
    }

    fn check_snapshot(&self) {
        let parts = self.state.to_parts();
        assert_eq!(LoreState::from_parts(parts).as_ref(), Some(&self.state));
        let stored = to_value(&self.state).unwrap();
        assert_eq!(from_value::<LoreState>(stored).unwrap(), self.state);
    }
}

/// Anna, Bela and Cara, in this order.
fn three_people() -> (LoreFixture, [u64; 3]) {
    let mut lore = LoreFixture::empty();
    let ids = ["Anna", "Bela", "Cara"].map(|name| lore.character(name));
    (lore, ids)
}

#[test]
fn one_edge_is_read_from_both_ends() {
    let (mut lore, [anna, bela, cara]) = three_people();
    lore.relate(anna, "Parent of", bela);
    lore.relate(cara, "works for", anna);
    lore.relate(bela, "knows", cara);
    let words = |words: &[(&str, u64)]| words.iter().map(|(word, id)| ((*word).to_owned(), *id)).collect::<Vec<_>>();
    assert_eq!(lore.words_of(anna), words(&[("parent_of", bela), ("employs", cara)]));
    assert_eq!(lore.words_of(bela), words(&[("child_of", anna), ("knows", cara)]));
    assert_eq!(lore.words_of(cara), words(&[("employed_by", anna), ("knows", bela)]));
    lore.check_snapshot();
}

#[test]
fn what_is_said_already_is_refused_from_either_end() {
    let (mut lore, [anna, bela, cara]) = three_people();
    let parent = lore.relate(anna, "parent_of", bela);
    let knows = lore.relate(anna, "knows", bela);
    let exists = |relationship_id| LoreRefusal::RelationshipExists { relationship_id };
    for (source, relation, target, refusal) in [
        (anna, "parent_of", bela, exists(parent)),
        (bela, "child_of", anna, exists(parent)),
        (anna, "KNOWS", bela, exists(knows)),
        (bela, "knows", anna, exists(knows)),
        (cara, "knows", cara, LoreRefusal::SelfRelationship { entity_id: cara }),
        (cara, "knows", 99, LoreRefusal::EntityNotFound { field: "target_id", entity_id: 99 }),
        (99, "knows", cara, LoreRefusal::EntityNotFound { field: "entity_id", entity_id: 99 }),
    ] {
        assert_eq!(lore.expect_refusal(add(NewRelationship::new(source, relation, target))), refusal);
    }
    // The other direction of a type with an inverse is another relationship.
    lore.relate(bela, "parent_of", anna);
    lore.relate(anna, "friend_of", bela);
    // What was removed may be said again, and has another id.
    lore.expect_event(remove(parent));
    assert_eq!(lore.expect_refusal(remove(parent)), LoreRefusal::RelationshipNotFound { relationship_id: parent });
    assert!(lore.relate(bela, "child_of", anna) > parent);
    lore.check_snapshot();
}

#[test]
fn a_type_of_ones_own_needs_an_inverse_once() {
    let (mut lore, [anna, bela, cara]) = three_people();
    let new = |source, relation: &str, target, inverse: Option<&str>| {
        add(NewRelationship { inverse: inverse.map(str::to_owned), ..NewRelationship::new(source, relation, target) })
    };
    let missing = LoreRefusal::InverseMissing { relation: "sings_to".to_owned() };
    assert_eq!(lore.expect_refusal(new(anna, "sings to", bela, None)), missing);
    let differs = |relation: &str, known: &str| LoreRefusal::InverseDiffers {
        relation: relation.to_owned(),
        known: known.to_owned(),
    };
    let known = differs("child_of", "parent_of");
    assert_eq!(lore.expect_refusal(new(anna, "sings_to", bela, Some("child of"))), known);
    let first = lore.expect_event(new(anna, "sings_to", bela, Some("hears")));
    assert!(matches!(first, LoreEvent::RelationshipAdded { relationship_id: 1, .. }));
    lore.relate(bela, "sings_to", cara);
    // The inverse is a word of the type as well.
    lore.relate(anna, "hears", cara);
    assert_eq!(lore.words_of(cara), [("hears".to_owned(), bela), ("sings_to".to_owned(), anna)]);
    let refusal = lore.expect_refusal(new(cara, "sings_to", bela, Some("listens_to")));
    assert_eq!(refusal, differs("sings_to", "hears"));
    assert_eq!(lore.expect_refusal(new(anna, "knows", bela, Some("known_by"))), differs("knows", "knows"));
    lore.expect_event(new(anna, "employed_by", bela, Some("employs")));
    assert_eq!(
        lore.state.relationships().type_words().collect::<Vec<_>>(),
        ["employed_by", "employs", "hears", "sings_to"]
    );
    for word in ["", "<b>", "a:b"] {
        let refusal = lore.expect_refusal(new(anna, word, bela, None));
        assert_eq!(refusal, LoreRefusal::RelationMalformed { field: "type", word: word.to_owned() });
    }
    lore.check_snapshot();
    // Nobody uses the type any more, so the next may say what it means.
    (1..=3).for_each(|id| drop(lore.expect_event(remove(id))));
    assert_eq!(lore.expect_refusal(new(anna, "sings to", bela, None)), missing);
}

#[test]
fn a_change_has_what_is_different() {
    let (mut lore, [anna, bela, _]) = three_people();
    let id = lore.relate(anna, "knows", bela);
    let change = RelationshipChange {
        tone: Some(Tone::Hostile),
        strength: Some(7),
        description: Some(" Since the flood. ".to_owned()),
        visible_to: Some(Visibility::GameMasters),
    };
    let event = lore.expect_event(update(id, change.clone()));
    let LoreEvent::RelationshipUpdated { hidden: false, .. } = event else { panic!("{event:?}") };
    let stored = lore.state.relationships().get(id).unwrap();
    assert_eq!((stored.tone, stored.strength, &*stored.description), (Tone::Hostile, Some(7), "Since the flood."));
    assert_eq!((stored.revision, stored.visible_to.clone()), (2, Visibility::GameMasters));
    assert_eq!(lore.expect_refusal(update(id, change)), LoreRefusal::Unchanged);
    let expected = RelationshipCommand::Remove { relationship_id: id, expected_revision: Some(1) };
    let conflict = LoreRefusal::RevisionConflict { expected: 1, current: 2 };
    assert_eq!(lore.expect_refusal(LoreCommand::Relationship(expected)), conflict);
    for strength in [0, 11] {
        let refusal = lore.expect_refusal(update(
            id,
            RelationshipChange { strength: Some(strength), ..RelationshipChange::default() },
        ));
        assert_eq!(refusal, LoreRefusal::StrengthOutOfRange { strength });
    }
    // Nobody but game masters saw it before, or sees it now.
    let event =
        lore.expect_event(update(id, RelationshipChange { strength: Some(8), ..RelationshipChange::default() }));
    assert!(event.is_private(), "{event:?}");
    lore.check_snapshot();
}

#[test]
fn texts_of_a_relationship_have_an_end() {
    let (mut lore, [anna, bela, _]) = three_people();
    let described =
        |chars: usize| NewRelationship { description: "é".repeat(chars), ..NewRelationship::new(anna, "knows", bela) };
    let chars_max = limits::RELATIONSHIP_DESCRIPTION_CHARS_MAX;
    let refusal = lore.expect_refusal(add(described(chars_max + 1)));
    assert_eq!(refusal, LoreRefusal::TooLong { field: "description", chars: chars_max + 1, chars_max });
    lore.expect_event(add(described(chars_max)));
    let chars_max = limits::RELATION_CHARS_MAX;
    let worded = |chars: usize| NewRelationship {
        inverse: Some("x".to_owned()),
        ..NewRelationship::new(anna, &"y".repeat(chars), bela)
    };
    let refusal = lore.expect_refusal(add(worded(chars_max + 1)));
    assert_eq!(refusal, LoreRefusal::TooLong { field: "type", chars: chars_max + 1, chars_max });
    lore.expect_event(add(worded(chars_max)));
    let people = |count: usize| (0..count).map(|number| format!("part_{number}")).collect();
    let seen_by = |count| RelationshipChange {
        visible_to: Some(Visibility::People(people(count))),
        ..RelationshipChange::default()
    };
    let count_max = limits::VISIBLE_TO_MAX;
    let refusal = lore.expect_refusal(update(1, seen_by(count_max + 1)));
    assert!(matches!(refusal, LoreRefusal::TooManyOnOne { field: "visible_to", .. }), "{refusal:?}");
    lore.expect_event(update(1, seen_by(count_max)));
}

#[test]
fn relationships_follow_their_entities() {
    let (mut lore, [anna, bela, cara]) = three_people();
    lore.relate(anna, "parent_of", bela);
    lore.relate(bela, "knows", cara);
    lore.expect_event(LoreCommand::RenumberEntity { entity_id: bela, ids: ExplicitIds { id: 70, entity_id: 700 } });
    assert_eq!(lore.words_of(anna), [("parent_of".to_owned(), 700)]);
    assert_eq!(lore.words_of(700).len(), 2);
    // The earlier id is another name of it.
    let refusal = lore.expect_refusal(add(NewRelationship::new(anna, "parent_of", bela)));
    assert_eq!(refusal, LoreRefusal::RelationshipExists { relationship_id: 1 });
    // In the archive it keeps its relationships, and loses them with it.
    lore.expect_event(archive(700));
    assert_eq!(lore.state.relationships().len(), 2);
    let refusal = lore.expect_refusal(add(NewRelationship::new(anna, "knows", 700)));
    assert_eq!(refusal, LoreRefusal::EntityArchived { field: "target_id", entity_id: 700 });
    lore.expect_event(empty_archive(&[]));
    assert!(lore.state.relationships().is_empty() && lore.words_of(anna).is_empty());
    lore.check_snapshot();
}

#[test]
fn a_record_about_a_private_end_is_private() {
    let (mut lore, [anna, ..]) = three_people();
    let ghost = lore.create(NewEntity { is_private: true, ..character("Ghost") });
    let event = lore.expect_event(add(NewRelationship::new(anna, "knows", ghost)));
    assert!(event.is_private());
    assert!(lore.expect_event(remove(1)).is_private());
}

#[test]
fn maps_and_paths_know_only_visible_edges() {
    let mut lore = LoreFixture::empty();
    let ids: Vec<u64> = (0..6).map(|number| lore.character(&format!("Person {number}"))).collect();
    // A chain from 0 to 4, a shortcut from 0 to 3, and one without any relationship.
    let chain: Vec<u64> = (0..4).map(|at| lore.relate(ids[at], "parent_of", ids[at + 1])).collect();
    let shortcut = lore.relate(ids[3], "enemy_of", ids[0]);
    let relationships = lore.state.relationships();
    let all = |_: &Relationship| true;
    let public = move |one: &Relationship| one.relationship_id != shortcut;
    let steps = |map: &RelationshipMap| {
        map.steps.iter().map(|step| (step.distance, step.relationship.relationship_id)).collect::<Vec<_>>()
    };
    let map = relationships.map_around(ids[0], 1, 100, &all);
    assert_eq!(steps(&map), [(1, chain[0]), (1, shortcut)]);
    let map = relationships.map_around(ids[0], 2, 100, &public);
    assert_eq!((steps(&map), map.is_cut), (vec![(1, chain[0]), (2, chain[1])], false));
    let map = relationships.map_around(ids[2], 5, 3, &all);
    assert_eq!((map.steps.len(), map.is_cut), (3, true));
    let path = |is_visible: &dyn Fn(&Relationship) -> bool, from: usize, to: usize, length_max| {
        let path = relationships.shortest_path(ids[from], ids[to], length_max, is_visible)?;
        Some(path.iter().map(|step| step.to_id).collect::<Vec<_>>())
    };
    assert_eq!(path(&all, 0, 4, 20), Some(vec![ids[3], ids[4]]));
    assert_eq!(path(&public, 0, 4, 20), Some(ids[1..5].to_vec()));
    assert_eq!(path(&public, 0, 4, 3), None);
    assert_eq!(path(&all, 0, 5, 20), None);
    assert_eq!(path(&all, 2, 2, 20), Some(Vec::new()));
    assert_eq!(path(&|_| false, 0, 1, 20), None);
}

#[test]
fn strength_has_an_end() {
    let (mut lore, [anna, bela, cara]) = three_people();
    let strong = |strength, target| {
        add(NewRelationship { strength: Some(strength), ..NewRelationship::new(anna, "knows", target) })
    };
    let stronger =
        |strength| update(1, RelationshipChange { strength: Some(strength), ..RelationshipChange::default() });
    let strength_max = limits::RELATIONSHIP_STRENGTH_MAX;
    lore.expect_event(strong(strength_max, bela));
    lore.expect_event(stronger(1));
    lore.expect_event(stronger(strength_max));
    assert_eq!(lore.state.relationships().get(1).unwrap().strength, Some(strength_max));
    for strength in [0, strength_max + 1] {
        let refusal = LoreRefusal::StrengthOutOfRange { strength };
        assert_eq!(refusal.kind(), LoreRefusalKind::Invalid);
        assert_eq!(lore.expect_refusal(strong(strength, cara)), refusal);
        assert_eq!(lore.expect_refusal(stronger(strength)), refusal);
    }
}

#[test]
fn relationships_of_a_campaign_have_an_end() {
    let (mut lore, [anna, bela, cara]) = three_people();
    let count_max = limits::LORE_RELATIONSHIPS_MAX;
    let first = lore.relate(anna, "knows", bela);
    // Copies of it, to entities that are not there, stand for relationships that would take long to add.
    let copied = Relationship::clone(lore.state.relationships().get(first).unwrap());
    for number in 2..count_max as u64 {
        let (relationship_id, target_id) = (number, 1_000 + number);
        lore.state.relationships.put(Relationship { relationship_id, target_id, ..copied.clone() });
    }
    lore.relate(bela, "knows", cara);
    assert_eq!(lore.state.relationships().len(), count_max);
    let past = add(NewRelationship::new(anna, "knows", cara));
    let refusal = LoreRefusal::TooMany { things: "relationships", count_max };
    assert_eq!((lore.run(&past), refusal.kind()), (Err(refusal), LoreRefusalKind::TooLarge));
    // One that is removed makes room.
    lore.expect_event(remove(first));
    lore.expect_event(past);
}
