//! Tests of what a check of the canon finds, and what it leaves alone.

use super::canon_check::{CanonFinding, CanonFindingKind, CanonSeverity};
use super::tests::{LoreFixture, archive, character, text};
use super::*;
use crate::gate::ActingRole;

fn ids(findings: &[CanonFinding]) -> Vec<String> {
    findings.iter().map(CanonFinding::id).collect()
}

fn check(lore: &LoreFixture) -> Vec<CanonFinding> {
    lore.state.check_canon(None, &|| false)
}

fn add_event(lore: &mut LoreFixture, sort: &str, precision: DatePrecision, entity_ids: &[u64]) {
    let event = NewTimelineEvent {
        sort: Some(sort.parse().unwrap()),
        precision,
        entity_ids: entity_ids.to_vec(),
        ..NewTimelineEvent::new("Something happened")
    };
    lore.expect_event(LoreCommand::Timeline(TimelineCommand::Add(Box::new(event))));
}

#[test]
fn nobody_acts_after_their_death() {
    let mut lore = LoreFixture::empty();
    let ann = lore.character("Ann");
    let died = |date: Option<&str>| {
        let date = date.map(|date| date.parse().unwrap());
        let acting = ActingRole { role: "agent".to_owned(), is_human: false };
        LoreCommand::Canon(CanonCommand::RecordDeath { entity_id: 1, date, acting })
    };
    for (sort, precision) in [
        ("1204-03-14", DatePrecision::Exact),
        ("1204-03-15", DatePrecision::Exact),
        ("1204-03-16", DatePrecision::Exact),
        // It may have been earlier in that month.
        ("1204-03-20", DatePrecision::Month),
        ("1205", DatePrecision::Exact),
        ("1206", DatePrecision::Unknown),
    ] {
        add_event(&mut lore, sort, precision, &[ann]);
    }
    assert_eq!(check(&lore), []);
    lore.expect_event(died(Some("1204-03-15")));
    assert_eq!(lore.expect_refusal(died(Some("1204-03-15"))), LoreRefusal::Unchanged);
    let found = check(&lore);
    assert_eq!(ids(&found), ["acts_after_death:1:t3", "acts_after_death:1:t5"]);
    assert!(found.iter().all(|finding| finding.severity == CanonSeverity::Critical));
    // Of a death that is known to the year alone, only later years are too late.
    lore.expect_event(died(Some("1204")));
    assert_eq!(ids(&check(&lore)), ["acts_after_death:1:t5"]);
    lore.expect_event(died(None));
    assert_eq!(check(&lore), []);
}

#[test]
fn nobody_is_in_two_places() {
    let mut lore = LoreFixture::empty();
    let ann = lore.character("Ann");
    let place = |lore: &mut LoreFixture, name: &str, parent| {
        lore.create(NewEntity { parent, ..NewEntity::new(EntityType::Location, name) })
    };
    let port = place(&mut lore, "Port", None);
    let quay = place(&mut lore, "The quay", Some(port));
    let hills = place(&mut lore, "The hills", None);
    add_event(&mut lore, "1204-03-15", DatePrecision::Exact, &[ann, port]);
    add_event(&mut lore, "1204-03-15", DatePrecision::Exact, &[ann, quay]);
    add_event(&mut lore, "1204-03-15", DatePrecision::Exact, &[ann]);
    add_event(&mut lore, "1204-03-16", DatePrecision::Exact, &[ann, hills]);
    add_event(&mut lore, "1204-03-15", DatePrecision::Approximate, &[ann, hills]);
    add_event(&mut lore, "1204-03", DatePrecision::Exact, &[ann, hills]);
    assert_eq!(check(&lore), []);
    add_event(&mut lore, "1204-03-15", DatePrecision::Day, &[ann, hills]);
    let found = check(&lore);
    assert_eq!(ids(&found), ["two_places:1:t1:t7"]);
    assert_eq!((found[0].severity, found[0].kind), (CanonSeverity::Critical, CanonFindingKind::TwoPlaces));
}

#[test]
fn names_are_the_same_or_nearly() {
    let mut lore = LoreFixture::empty();
    let aelysh = lore.character("Aelysh of Thorn");
    let misspelled = lore.character("Aelysh of Torn");
    let same = lore.character("AELYSH OF THORN");
    lore.create(NewEntity { aliases: vec!["aelysh of torn".to_owned()], ..character("Marigold") });
    lore.create(NewEntity::new(EntityType::Location, "Aelysh of Thorn"));
    for number in 1..5 {
        lore.character(&format!("Harbour guard {number}"));
    }
    let found = check(&lore);
    assert_eq!(ids(&found), ["same_name:1:3", "same_name:2:4", "near_name:1:2"]);
    assert_eq!(found[2].similarity, Some(0.97));
    assert_eq!((aelysh, misspelled, same), (1, 2, 3));
    // One entity alone is told of everything that is about it.
    assert_eq!(ids(&lore.state.check_canon(Some(2), &|| false)), ["same_name:2:4", "near_name:1:2", "near_name:2:3"]);
    let mark = CanonCommand::Mark {
        entity_id: 3,
        confidence: Confidence::Authoritative,
        fields: CanonFields::default(),
        reason: String::new(),
        acting: ActingRole { role: "agent".to_owned(), is_human: false },
    };
    lore.expect_event(LoreCommand::Canon(mark));
    assert_eq!(check(&lore)[0].severity, CanonSeverity::Critical);
}

#[test]
fn what_names_something_gone_is_found() {
    let mut lore = LoreFixture::empty();
    let port = lore.create(NewEntity::new(EntityType::Location, "Port"));
    let ann = lore.create(NewEntity { parent: Some(port), text: Some(text(1, &[port, 99])), ..character("Ann") });
    add_event(&mut lore, "1204", DatePrecision::Exact, &[ann, port]);
    assert_eq!(ids(&check(&lore)), ["gone_reference:2:99"]);
    lore.expect_event(archive(port));
    let found = check(&lore);
    assert_eq!(ids(&found), ["gone_reference:1:t1", "gone_reference:2:1", "gone_reference:2:99"]);
    assert_eq!(found[0].severity, CanonSeverity::Major);
}

/// Names that are nearly the same must not be lost by looking only at those that share rare letters.
#[test]
fn the_index_of_letters_finds_what_comparing_all_finds() {
    let syllables = ["ka", "rel", "mo", "thorn", "win", "gar", "eth", "li", "sun", "der"];
    let mut lore = LoreFixture::empty();
    let mut seed = 7_usize;
    let mut next = |most: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % most
    };
    for _ in 0..300 {
        let count = 2 + next(4);
        let name: String = (0..count).map(|_| syllables[next(syllables.len())]).collect();
        lore.character(&name);
    }
    let whole: std::collections::BTreeSet<String> =
        ids(&check(&lore)).into_iter().filter(|id| id.starts_with("near_name")).collect();
    let names: Vec<String> = lore.state.entities().map(|entity| fold_name(&entity.name)).collect();
    let mut missing = 0;
    for (one, name) in names.iter().enumerate() {
        let is_first = |place: usize| names.iter().position(|other| *other == names[place]) == Some(place);
        for (other, other_name) in names.iter().enumerate().skip(one + 1) {
            let is_near = fuzzy::ratio(name, other_name) >= 0.85 && name != other_name;
            if is_near && is_first(one) && is_first(other) && name.len().min(other_name.len()) >= 4 {
                let id = format!("near_name:{}:{}", one + 1, other + 1);
                missing += usize::from(!whole.contains(&id));
            }
        }
    }
    // A name lists five others at most, and the ratio depends a little on the order of the two.
    assert!(!whole.is_empty() && missing * 20 <= whole.len(), "{missing} of {} are missing", whole.len());
}
