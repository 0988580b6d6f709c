//! Tests of finding entities: filters, ranks, order, fuzzy names, and that an index is never stale.

use jiff::Timestamp;

use super::tests::{LoreFixture, archive, character, restore, texts, update};
use super::*;

/// Entities 1 to 7.
fn lore() -> LoreFixture {
    let mut lore = LoreFixture::empty();
    let tagged = |entity_type, name, subtype: &str, tags: &[&str]| NewEntity {
        subtype: subtype.to_owned(),
        tags: texts(tags),
        ..NewEntity::new(entity_type, name)
    };
    lore.create(tagged(EntityType::Character, "Dragon", "NPC", &["north"]));
    lore.create(tagged(EntityType::Location, "Dragonspire", "City", &["north", "Ruin"]));
    lore.create(tagged(EntityType::Character, "Old dragon", "npc", &["ruin"]));
    lore.create(tagged(EntityType::Quest, "Snapdragon", "", &["Dragon"]));
    lore.create(NewEntity { aliases: texts(&["The Dragon", "Ælf"]), ..character("Ann") });
    lore.create(tagged(EntityType::Note, "Dragon's secret", "", &[]));
    lore.create(tagged(EntityType::Creature, "Élan", "dragon", &[]));
    lore
}

fn ids(lore: &LoreFixture, filter: &EntityFilter) -> Vec<u64> {
    lore.state.find(filter).iter().map(|found| found.entity_id).collect()
}

fn gm() -> EntityFilter {
    EntityFilter { sees_private: true, ..EntityFilter::default() }
}

fn filter_by_name(name: NameFilter) -> EntityFilter {
    EntityFilter { name: Some(name), ..gm() }
}

#[test]
fn every_filter_counts() {
    let lore = lore();
    assert_eq!(ids(&lore, &gm()), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(ids(&lore, &EntityFilter::default()), [1, 2, 3, 4, 5, 7]);
    let of_type = |entity_type| EntityFilter { entity_type: Some(entity_type), ..gm() };
    assert_eq!(ids(&lore, &of_type(EntityType::Character)), [1, 3, 5]);
    assert!(ids(&lore, &of_type(EntityType::Race)).is_empty());
    let subtype = |subtype: &str| EntityFilter { subtype: Some(subtype.to_owned()), ..gm() };
    assert_eq!((ids(&lore, &subtype(" Npc")), ids(&lore, &subtype("cit"))), (vec![1, 3], vec![]));
    let tags = |tags: &[&str]| EntityFilter { tags: texts(tags), ..gm() };
    let subtype_or_tag = |word: &str| EntityFilter { subtype_or_tag: Some(word.to_owned()), ..gm() };
    assert_eq!(ids(&lore, &tags(&["NORTH"])), [1, 2]);
    assert_eq!((ids(&lore, &subtype_or_tag("North")), ids(&lore, &subtype_or_tag("npc"))), (vec![1, 2], vec![1, 3]));
    assert_eq!(ids(&lore, &tags(&["north", "RUIN"])), [2]);
    assert!(ids(&lore, &tags(&["north", "unknown"])).is_empty());
    let all =
        EntityFilter { entity_type: Some(EntityType::Location), subtype: Some("city".to_owned()), ..tags(&["ruin"]) };
    assert_eq!(ids(&lore, &all), [2]);
    let found = lore.state.find(&gm())[0];
    assert_eq!((found.rank, found.score), (MatchRank::NoQuery, None));
    let newest: Vec<u64> = lore.state.newest_entities().map(|entity| entity.entity_id).collect();
    assert_eq!((newest, lore.state.public_entity_count()), (vec![7, 6, 5, 4, 3, 2, 1], 6));
}

#[test]
fn names_are_found_folded_and_by_alias() {
    let lore = lore();
    let contains = |text: &str| ids(&lore, &filter_by_name(NameFilter::Contains(text.to_owned())));
    assert_eq!(contains("DRAGON"), [1, 2, 3, 4, 5, 6]);
    assert_eq!((contains("spire"), contains("aelf"), contains("elan")), (vec![2], vec![5], vec![7]));
    assert_eq!(contains(" "), [1, 2, 3, 4, 5, 6, 7]);
    for text in ["n\nd", "\0\n\0", "a\nb"] {
        assert!(contains(text).is_empty(), "no match goes from one name to the next");
    }
    let exactly = |text: &str| ids(&lore, &filter_by_name(NameFilter::Exactly(text.to_owned())));
    assert_eq!((exactly("dragon"), exactly("the dragon "), exactly("ELAN")), (vec![1], vec![5], vec![7]));
    assert!(exactly("drago").is_empty());
    assert_eq!(lore.state.entities_named("Dragon", false), [1]);
    assert_eq!(lore.state.entities_named("ælf", false), [5]);
    assert_eq!(lore.state.entities_named("dragon's SECRET", true), [6]);
    assert!(lore.state.entities_named("dragon's secret", false).is_empty());
    assert!(lore.state.entities_named("nobody", true).is_empty());
}

#[test]
fn a_name_wins_over_an_alias() {
    let mut lore = LoreFixture::empty();
    let alias = lore.create(NewEntity { aliases: texts(&["Strider"]), ..character("Aragorn") });
    let name = lore.character("STRIDER");
    let both = lore.create(NewEntity { aliases: texts(&["strider"]), ..character("Strider") });
    assert_eq!(lore.state.entities_named("strider", true), [name, both]);
    lore.expect_event(super::tests::archive(name));
    lore.expect_event(super::tests::archive(both));
    assert_eq!(lore.state.entities_named("strider", true), [alias]);
}

#[test]
fn a_query_ranks() {
    let lore = lore();
    let query = |query: &str| EntityFilter { query: Some(query.to_owned()), ..gm() };
    let ranked: Vec<(u64, MatchRank)> =
        lore.state.find(&query("dragon")).iter().map(|found| (found.entity_id, found.rank)).collect();
    assert_eq!(
        ranked,
        [
            (1, MatchRank::ExactName),
            (2, MatchRank::NamePrefix),
            (6, MatchRank::NamePrefix),
            (3, MatchRank::NameWord),
            (4, MatchRank::NamePart),
            (5, MatchRank::Alias),
            (7, MatchRank::TypeOrTag),
        ]
    );
    assert_eq!(ids(&lore, &query("Quest")), [4]);
    assert_eq!(ids(&lore, &query("ruin")), [2, 3]);
    assert_eq!(ids(&lore, &query("rui")), [0; 0]);
    assert_eq!(ids(&lore, &query("  ")).len(), 7);
    let typed = EntityFilter { entity_type: Some(EntityType::Character), ..query("dragon") };
    assert_eq!(ids(&lore, &typed), [1, 3, 5]);
    // A later occurrence may begin a word.
    let mut lore = LoreFixture::empty();
    lore.character("Xann ann");
    assert_eq!(lore.state.find(&query("ann"))[0].rank, MatchRank::NameWord);
}

#[test]
fn similar_names_come_by_their_score() {
    let mut lore = LoreFixture::empty();
    for name in ["Alesh", "Aelysh", "Thorin Ironforge", "Aylysh", "Ailish"] {
        lore.character(name);
    }
    lore.create(NewEntity { aliases: texts(&["aelysh"]), is_private: true, ..character("Nobody") });
    let fuzzy = |name: &str| NameFilter::Fuzzy(name.to_owned());
    let found = lore.state.find(&EntityFilter { name: Some(fuzzy(" AELYSH")), ..EntityFilter::default() });
    let scores: Vec<(u64, Option<f64>)> = found.iter().map(|found| (found.entity_id, found.score)).collect();
    assert_eq!(scores, [(2, Some(1.0)), (4, Some(0.83)), (1, Some(0.73))]);
    assert_eq!(ids(&lore, &filter_by_name(fuzzy("aelysh"))), [2, 6, 4, 1]);
    assert_eq!(ids(&lore, &filter_by_name(fuzzy("Thorin"))), [0; 0], "a part of a name is not similar");
    assert_eq!(lore.state.similar_names("aelysh", true, 2), [2, 6]);
    assert_eq!(lore.state.similar_names("Aelysh", false, 9), [2, 4, 1]);
    assert!(lore.state.similar_names(" ", true, 9).is_empty());
    // Marks count here, since Python counts them; only the way in which they are typed does not.
    lore.character("E\u{301}lan");
    let found = lore.state.find(&filter_by_name(fuzzy("élan")));
    assert_eq!((found[0].entity_id, found[0].score), (7, Some(1.0)));
    assert_eq!(lore.state.find(&filter_by_name(fuzzy("elan")))[0].score, Some(0.75));
}

#[test]
fn what_changed_is_found_at_once() {
    let mut lore = lore();
    let contains = |text: &str| filter_by_name(NameFilter::Contains(text.to_owned()));
    assert_eq!(ids(&lore, &contains("ann")), [5]);
    lore.expect_event(update(5, EntityChange { name: Some("Zoe".to_owned()), ..EntityChange::default() }));
    assert_eq!((ids(&lore, &contains("ann")), ids(&lore, &contains("zoe"))), (vec![], vec![5]));
    assert_eq!((lore.state.entities_named("ann", true), lore.state.entities_named("zoe", true)), (vec![], vec![5]));
    lore.expect_event(archive(5));
    assert!(ids(&lore, &contains("zoe")).is_empty() && lore.state.entities_named("zoe", true).is_empty());
    assert!(lore.state.similar_names("zoe", true, 9).is_empty());
    lore.expect_event(restore(5));
    assert_eq!(ids(&lore, &contains("zoe")), [5]);
}

#[test]
fn what_changed_after_a_moment_is_found() {
    let mut lore = lore();
    let after = |moment: Timestamp| EntityFilter { updated_after: Some(moment), ..gm() };
    let moment = lore.state.entity(5).unwrap().updated_at;
    assert_eq!(ids(&lore, &after(moment)), [6, 7]);
    let last = lore.state.entity(7).unwrap().updated_at;
    assert!(ids(&lore, &after(last)).is_empty());
    lore.post(2, "Post", None);
    assert_eq!(ids(&lore, &after(last)), [2]);
    assert_eq!(ids(&lore, &after(Timestamp::MIN)).len(), 7);
}

#[test]
fn entities_of_all_chunks_are_found_in_order() {
    let mut lore = LoreFixture::empty();
    let ids_of = |entity_id| Some(ExplicitIds { id: entity_id, entity_id });
    for entity_id in [70_000, 255, 256, 1, 511, 512, 4_294_967_294] {
        lore.create(NewEntity { ids: ids_of(entity_id), tags: texts(&["t"]), ..character(&format!("N {entity_id}")) });
    }
    let expected = [1, 255, 256, 511, 512, 70_000, 4_294_967_294];
    assert_eq!(ids(&lore, &gm()), expected);
    assert_eq!(lore.state.entities().map(|entity| entity.entity_id).collect::<Vec<_>>(), expected);
    assert_eq!(ids(&lore, &EntityFilter { tags: texts(&["T"]), query: Some("n".to_owned()), ..gm() }), expected);
    assert_eq!(ids(&lore, &filter_by_name(NameFilter::Exactly("n 511".to_owned()))), [511]);
}
