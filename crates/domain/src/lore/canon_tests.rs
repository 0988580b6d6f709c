//! Tests of canon: what is held, how a conflict goes on, and that a resolution can be taken back.

use super::tests::{LoreFixture, archive, archive_post, character, empty_archive, text, texts, update, update_post};
use super::*;
use crate::decider::Decider;
use crate::gate::ActingRole;
use crate::limits;

fn person() -> ActingRole {
    ActingRole { role: "gm".to_owned(), is_human: true }
}

fn agent() -> ActingRole {
    ActingRole { role: "agent".to_owned(), is_human: false }
}

fn mark_as(entity_id: u64, confidence: Confidence, fields: &[CanonField], acting: ActingRole) -> LoreCommand {
    let (fields, reason) = (fields.iter().copied().collect(), String::new());
    LoreCommand::Canon(CanonCommand::Mark { entity_id, confidence, fields, reason, acting })
}

fn authoritative(entity_id: u64) -> LoreCommand {
    mark_as(entity_id, Confidence::Authoritative, &[], agent())
}

fn resolve(conflict_id: u64, choice: ConflictChoice) -> LoreCommand {
    let (reason, acting) = ("as played".to_owned(), person());
    LoreCommand::Canon(CanonCommand::Resolve { conflict_id, choice, change: None, reason, acting })
}

fn reopen(conflict_id: u64) -> LoreCommand {
    let (reason, acting) = ("too early".to_owned(), person());
    LoreCommand::Canon(CanonCommand::Reopen { conflict_id, reason, acting })
}

fn rename_to(name: &str) -> EntityChange {
    EntityChange { name: Some(name.to_owned()), ..EntityChange::default() }
}

/// The id of the conflict as which a command is held.
#[track_caller]
fn held(lore: &mut LoreFixture, command: LoreCommand) -> u64 {
    match lore.expect_event(command) {
        LoreEvent::ChangeHeld { conflict_id, .. } => conflict_id,
        event => panic!("{event:?}"),
    }
}

/// An authoritative character with a text and a post.
fn canonical() -> (LoreFixture, u64, u64) {
    let mut lore = LoreFixture::empty();
    let ann = lore.create(NewEntity { text: Some(text(1, &[])), ..character("Ann") });
    let post = lore.post(ann, "Past", Some(text(2, &[])));
    lore.expect_event(authoritative(ann));
    (lore, ann, post)
}

#[test]
fn the_death_of_an_authoritative_entity_is_for_a_person_to_say() {
    let mut lore = LoreFixture::empty();
    let ann = lore.character("Ann");
    let died = |date: Option<&str>, acting: ActingRole| {
        let date = date.map(|date| date.parse().unwrap());
        LoreCommand::Canon(CanonCommand::RecordDeath { entity_id: ann, date, acting })
    };
    lore.expect_event(died(Some("1204"), agent()));
    // One authoritative field is enough: whoever is dead has no new name.
    lore.expect_event(mark_as(ann, Confidence::Authoritative, &[CanonField::Name], agent()));
    let refusal = LoreRefusal::NotHuman {
        role: "agent".to_owned(),
        what: "record or take back the death of an authoritative entity",
    };
    for date in [Some("1205"), None] {
        assert_eq!(lore.expect_refusal(died(date, agent())), refusal, "{date:?}");
    }
    assert_eq!(lore.expect_refusal(died(Some("1204"), agent())), LoreRefusal::Unchanged, "it is recorded already");
    assert_eq!(lore.state.death_date(ann), Some("1204".parse().unwrap()));
    lore.expect_event(died(Some("1205"), person()));
    lore.expect_event(died(None, person()));
    assert_eq!(lore.state.death_date(ann), None);
}

#[test]
fn a_draft_is_changed_and_an_authoritative_value_is_not() {
    let mut lore = LoreFixture::empty();
    let ann = lore.character("Ann");
    lore.expect_event(update(ann, rename_to("Anna")));
    lore.expect_event(authoritative(ann));
    let before = lore.entity(ann).clone();
    let proposed = EntityChange { tags: Some(texts(&["elf"])), ..rename_to("Bea") };
    let command = LoreCommand::FromTool { tool: "update_entities", command: Box::new(update(ann, proposed.clone())) };
    assert_eq!(held(&mut lore, command), 1);
    // All of the item waits, and its record is part of the history.
    let entity = lore.entity(ann);
    assert_eq!((&entity.name, entity.revision, entity.tags.len()), (&before.name, before.revision, 0));
    assert_eq!((entity.changes.len(), entity.updated_at), (before.changes.len() + 1, before.updated_at));
    let conflict = lore.state.conflict(1).unwrap();
    assert_eq!(
        (conflict.entity_id, conflict.status(), conflict.fields.field_names()),
        (ann, ConflictStatus::Detected, vec!["name"])
    );
    assert_eq!((conflict.tool.as_str(), conflict.by.as_str()), ("update_entities", "local"));
    assert!(matches!(&*conflict.proposed, LoreEvent::EntityUpdated { change, .. } if **change == proposed));
    // The same again is not held twice, and another proposal is a conflict of its own.
    assert_eq!(lore.expect_refusal(update(ann, proposed)), LoreRefusal::HeldAlready { conflict_id: 1 });
    assert_eq!(held(&mut lore, update(ann, rename_to("Cia"))), 2);
    // What is no part of canon is changed freely.
    let free = EntityChange { tags: Some(texts(&["elf"])), is_private: Some(true), ..EntityChange::default() };
    assert!(matches!(lore.expect_event(update(ann, free)), LoreEvent::EntityUpdated { .. }));
    // The value that it has already contradicts nothing.
    assert_eq!(lore.expect_refusal(update(ann, rename_to("Anna"))), LoreRefusal::Unchanged);
}

#[test]
fn deletions_posts_and_earlier_versions_are_held() {
    let (mut lore, ann, post) = canonical();
    let renamed = PostChange { name: Some("Youth".to_owned()), ..PostChange::default() };
    assert_eq!(held(&mut lore, archive(ann)), 1);
    assert_eq!(held(&mut lore, update_post(ann, post, renamed)), 2);
    assert_eq!(held(&mut lore, archive_post(ann, post)), 3);
    let change = Box::new(rename_to("Old Ann"));
    assert_eq!(held(&mut lore, LoreCommand::RestoreVersion { entity_id: ann, change, posts: Vec::new() }), 4);
    let cleared = EntityChange { text: Some(None), ..EntityChange::default() };
    assert_eq!(held(&mut lore, update(ann, cleared)), 5);
    let entity = lore.entity(ann);
    assert!(!entity.is_archived() && entity.text.is_some() && &*entity.post(post).unwrap().name == "Past");
    // A further post adds to what is there, and one that is hidden says the same.
    lore.post(ann, "Future", None);
    let hidden = PostChange { is_private: Some(true), ..PostChange::default() };
    assert!(matches!(lore.expect_event(update_post(ann, post, hidden)), LoreEvent::PostUpdated { .. }));
}

#[test]
fn single_fields_are_authoritative() {
    let mut lore = LoreFixture::empty();
    let ann = lore.character("Ann");
    lore.expect_event(mark_as(ann, Confidence::Authoritative, &[CanonField::Name, CanonField::Date], agent()));
    assert!(matches!(
        lore.expect_event(update(ann, EntityChange { text: Some(Some(text(1, &[]))), ..EntityChange::default() })),
        LoreEvent::EntityUpdated { .. }
    ));
    held(&mut lore, update(ann, rename_to("Bea")));
    // Only a person takes it back, for one field or all.
    let draft = |acting| mark_as(ann, Confidence::Draft, &[CanonField::Name], acting);
    let refusal = lore.expect_refusal(draft(agent()));
    assert_eq!(refusal.kind(), LoreRefusalKind::Forbidden);
    lore.expect_event(draft(person()));
    assert_eq!(lore.entity(ann).canon_mark().fields.field_names(), ["date"]);
    lore.expect_event(update(ann, rename_to("Bea")));
    lore.expect_refusal(mark_as(ann, Confidence::Superseded, &[], agent()));
    lore.expect_event(mark_as(ann, Confidence::Draft, &[], person()));
    assert_eq!(lore.entity(ann).canon_mark().confidence, Confidence::Draft);
    let superseded_field = mark_as(ann, Confidence::Superseded, &[CanonField::Name], person());
    assert_eq!(lore.expect_refusal(superseded_field), LoreRefusal::SupersededField);
}

#[test]
fn what_is_superseded_is_kept_and_not_found() {
    let mut lore = LoreFixture::empty();
    let ann = lore.character("Ann");
    let found =
        |lore: &LoreFixture| lore.state.find(&EntityFilter { sees_private: true, ..EntityFilter::default() }).len();
    assert_eq!(found(&lore), 1);
    lore.expect_event(mark_as(ann, Confidence::Superseded, &[], agent()));
    assert_eq!((found(&lore), lore.state.entity_count()), (0, 1));
    lore.expect_event(mark_as(ann, Confidence::Draft, &[], agent()));
    assert_eq!(found(&lore), 1);
}

#[test]
fn a_person_resolves_and_an_agent_does_not() {
    let (mut lore, ann, _) = canonical();
    held(&mut lore, update(ann, rename_to("Bea")));
    let resolve_as = |acting, reason: &str| {
        let (choice, reason) = (ConflictChoice::Proposed, reason.to_owned());
        LoreCommand::Canon(CanonCommand::Resolve { conflict_id: 1, choice, change: None, reason, acting })
    };
    assert_eq!(lore.expect_refusal(resolve_as(agent(), "why")).kind(), LoreRefusalKind::Forbidden);
    assert_eq!(lore.expect_refusal(resolve_as(person(), " ")), LoreRefusal::Empty { field: "reason" });
    let reason = "x".repeat(limits::CANON_REASON_CHARS_MAX + 1);
    assert!(matches!(lore.expect_refusal(resolve_as(person(), &reason)), LoreRefusal::TooLong { .. }));
    assert_eq!(lore.expect_refusal(reopen(1)), LoreRefusal::ConflictNotResolved { conflict_id: 1 });
    lore.expect_event(resolve_as(person(), &reason[1..]));
    assert_eq!((&*lore.entity(ann).name, lore.state.open_conflict_count()), ("Bea", 0));
    assert_eq!(
        lore.expect_refusal(resolve(1, ConflictChoice::Current)),
        LoreRefusal::ConflictResolved { conflict_id: 1 }
    );
    assert_eq!(
        lore.expect_refusal(resolve(9, ConflictChoice::Current)),
        LoreRefusal::ConflictNotFound { conflict_id: 9 }
    );
    // The winner is as authoritative as the value before.
    assert_eq!(held(&mut lore, update(ann, rename_to("Cia"))), 2);
}

#[test]
fn a_conflict_is_acknowledged_resolved_and_reopened() {
    let (mut lore, ann, _) = canonical();
    let before = lore.entity(ann).clone();
    let change = EntityChange {
        aliases: Some(texts(&["B"])),
        tags: Some(texts(&["elf"])),
        text: Some(Some(text(3, &[]))),
        date: Some(Some("1 May".to_owned())),
        ..rename_to("Bea")
    };
    held(&mut lore, update(ann, change));
    let acknowledge = || LoreCommand::Canon(CanonCommand::Acknowledge { conflict_id: 1, reason: String::new() });
    lore.expect_event(acknowledge());
    assert_eq!(lore.expect_refusal(acknowledge()), LoreRefusal::Unchanged);
    lore.expect_event(resolve(1, ConflictChoice::Proposed));
    let after = lore.entity(ann);
    assert_eq!((&*after.name, after.tags.len(), after.text.as_ref().unwrap().key), ("Bea", 1, text(3, &[]).key));
    assert_eq!(lore.expect_refusal(acknowledge()), LoreRefusal::ConflictResolved { conflict_id: 1 });
    lore.expect_event(reopen(1));
    let back = lore.entity(ann);
    assert_eq!((&back.name, &back.text, &back.tags), (&before.name, &before.text, &before.tags));
    assert_eq!((&back.details().aliases, &back.details().date), (&before.details().aliases, &before.details().date));
    let conflict = lore.state.conflict(1).unwrap();
    let statuses: Vec<ConflictStatus> = conflict.log.iter().map(|row| row.status).collect();
    assert_eq!(statuses, [ConflictStatus::Acknowledged, ConflictStatus::Resolved, ConflictStatus::Detected]);
    assert_eq!(conflict.log[1].reason, "as played");
    // And it can be decided the other way.
    lore.expect_event(resolve(1, ConflictChoice::Current));
    assert_eq!(&*lore.entity(ann).name, "Ann");
    lore.expect_event(reopen(1));
    assert_eq!(lore.state.open_conflict_count(), 1);
}

#[test]
fn a_deletion_is_accepted_and_taken_back() {
    let (mut lore, ann, post) = canonical();
    held(&mut lore, archive(ann));
    lore.expect_event(resolve(1, ConflictChoice::Proposed));
    assert!(lore.entity(ann).is_archived());
    lore.expect_event(reopen(1));
    assert!(!lore.entity(ann).is_archived());
    held(&mut lore, archive_post(ann, post));
    lore.expect_event(resolve(2, ConflictChoice::Proposed));
    assert!(lore.entity(ann).post(post).unwrap().is_archived());
    lore.expect_event(reopen(2));
    assert!(!lore.entity(ann).post(post).unwrap().is_archived());
    // What is removed for good takes its conflicts with it.
    lore.expect_event(resolve(1, ConflictChoice::Proposed));
    lore.expect_event(empty_archive(&[ann]));
    assert_eq!(lore.state.conflicts().count(), 0);
}

#[test]
fn a_person_gives_a_value_of_their_own() {
    let (mut lore, ann, _) = canonical();
    held(&mut lore, update(ann, rename_to("Bea")));
    let resolve_with = |change: Option<EntityChange>| {
        let (choice, reason, change) = (ConflictChoice::Value, "so be it".to_owned(), change.map(Box::new));
        LoreCommand::Canon(CanonCommand::Resolve { conflict_id: 1, choice, change, reason, acting: person() })
    };
    lore.expect_refusal(resolve_with(None));
    let date = EntityChange { date: Some(None), ..EntityChange::default() };
    assert!(matches!(lore.expect_refusal(resolve_with(Some(date))), LoreRefusal::ValueOfOtherField { .. }));
    let tagged = EntityChange { tags: Some(Vec::new()), ..rename_to("Dea") };
    assert!(matches!(lore.expect_refusal(resolve_with(Some(tagged))), LoreRefusal::ValueOfOtherField { .. }));
    lore.expect_event(resolve_with(Some(rename_to("Dea"))));
    assert_eq!(&*lore.entity(ann).name, "Dea");
    lore.expect_event(reopen(1));
    assert_eq!(&*lore.entity(ann).name, "Ann");
}

#[test]
fn a_proposed_text_overwrites_only_the_text_that_it_was_made_from() {
    let (mut lore, ann, _) = canonical();
    let written = |number| EntityChange { text: Some(Some(text(number, &[]))), ..EntityChange::default() };
    held(&mut lore, update(ann, written(3)));
    held(&mut lore, update(ann, written(4)));
    lore.expect_event(resolve(1, ConflictChoice::Proposed));
    assert_eq!(
        lore.expect_refusal(resolve(2, ConflictChoice::Proposed)),
        LoreRefusal::ProposalOutdated { conflict_id: 2 }
    );
    // A resolution on top of another keeps the earlier one from being taken back, until it is taken back itself.
    held(&mut lore, update(ann, written(5)));
    lore.expect_event(resolve(3, ConflictChoice::Proposed));
    assert_eq!(lore.expect_refusal(reopen(1)), LoreRefusal::ChangedSinceResolved { conflict_id: 1 });
    lore.expect_event(reopen(3));
    lore.expect_event(reopen(1));
    assert_eq!(lore.entity(ann).text.as_ref().unwrap().key, text(1, &[]).key);
}

#[test]
fn a_finding_is_reviewed() {
    let mut lore = LoreFixture::empty();
    let review = |status, acting| {
        let (finding_id, reason) = ("near_name:1:2".to_owned(), "sisters".to_owned());
        LoreCommand::Canon(CanonCommand::Review { finding_id, status, reason, acting })
    };
    assert_eq!(lore.expect_refusal(review(ConflictStatus::Detected, person())), LoreRefusal::Unchanged);
    lore.expect_event(review(ConflictStatus::Acknowledged, agent()));
    assert_eq!(lore.expect_refusal(review(ConflictStatus::Resolved, agent())).kind(), LoreRefusalKind::Forbidden);
    lore.expect_event(review(ConflictStatus::Resolved, person()));
    assert_eq!(lore.state.finding_review("near_name:1:2").unwrap().reason, "sisters");
    assert_eq!(lore.expect_refusal(review(ConflictStatus::Detected, agent())).kind(), LoreRefusalKind::Forbidden);
    lore.expect_event(review(ConflictStatus::Detected, person()));
    assert_eq!(lore.state.finding_review("near_name:1:2"), None);
}

#[test]
fn only_so_many_conflicts_are_open() {
    let (mut lore, ann, _) = canonical();
    for number in 0..limits::LORE_OPEN_CONFLICTS_MAX {
        held(&mut lore, update(ann, rename_to(&format!("Ann {number}"))));
    }
    assert!(matches!(
        lore.expect_refusal(update(ann, rename_to("Bea"))),
        LoreRefusal::TooMany { things: "open conflicts", .. }
    ));
    lore.expect_event(resolve(1, ConflictChoice::Current));
    held(&mut lore, update(ann, rename_to("Bea")));
}

#[test]
fn conflicts_follow_a_renumbered_entity_and_survive_snapshot_and_replay() {
    let (mut lore, ann, _) = canonical();
    held(&mut lore, update(ann, rename_to("Bea")));
    held(&mut lore, update(ann, rename_to("Cia")));
    lore.expect_event(resolve(2, ConflictChoice::Current));
    lore.expect_event(LoreCommand::RenumberEntity { entity_id: ann, ids: ExplicitIds { id: 70, entity_id: 700 } });
    assert_eq!(lore.state.open_conflicts_of(700).count(), 1);
    lore.expect_event(resolve(1, ConflictChoice::Proposed));
    assert_eq!(&*lore.entity(700).name, "Bea");
    let review = CanonCommand::Review {
        finding_id: "same_name:1:2".to_owned(),
        status: ConflictStatus::Acknowledged,
        reason: String::new(),
        acting: agent(),
    };
    lore.expect_event(LoreCommand::Canon(review));
    let stored = serde_json::to_string(&lore.state).unwrap();
    assert_eq!(serde_json::from_str::<LoreState>(&stored).unwrap(), lore.state);
    let replayed = lore.journal.iter().fold(LoreState::default(), |state, (given, event)| {
        let event: LoreEvent = serde_json::from_str(&serde_json::to_string(event).unwrap()).unwrap();
        LoreRules::evolve(state, &event, given)
    });
    assert_eq!(replayed, lore.state);
}

#[test]
fn only_game_masters_hear_of_what_is_held() {
    let (mut lore, ann, _) = canonical();
    assert!(lore.journal.last().unwrap().1.is_private());
    assert!(lore.expect_event(update(ann, rename_to("Bea"))).is_private());
    assert!(!lore.expect_event(resolve(1, ConflictChoice::Proposed)).is_private());
    lore.expect_event(reopen(1));
    assert!(lore.expect_event(resolve(1, ConflictChoice::Current)).is_private());
}

#[test]
fn decisions_about_one_conflict_have_an_end() {
    let (mut lore, ann, _) = canonical();
    let acknowledge =
        |conflict_id| LoreCommand::Canon(CanonCommand::Acknowledge { conflict_id, reason: String::new() });
    let count_max = limits::CANON_LOG_MAX;
    let refusal = LoreRefusal::TooMany { things: "steps of one conflict", count_max };
    // The last decision reopens the first conflict, and resolves the second.
    let first = held(&mut lore, update(ann, rename_to("Bea")));
    let second = held(&mut lore, update(ann, rename_to("Cia")));
    lore.expect_event(acknowledge(second));
    for number in 0..count_max {
        let decide = |conflict_id, is_open| {
            if is_open { resolve(conflict_id, ConflictChoice::Current) } else { reopen(conflict_id) }
        };
        lore.expect_event(decide(first, number % 2 == 0));
        if number > 0 {
            lore.expect_event(decide(second, number % 2 == 1));
        }
    }
    let decided = |conflict_id| {
        let conflict = lore.state.conflict(conflict_id).unwrap();
        (conflict.log.len(), conflict.is_open())
    };
    assert_eq!((decided(first), decided(second)), ((count_max, true), (count_max, false)));
    for past in [acknowledge(first), resolve(first, ConflictChoice::Proposed), reopen(second)] {
        assert_eq!(lore.expect_refusal(past), refusal);
    }
}

#[test]
fn only_so_many_resolved_conflicts_are_listed() {
    let (mut lore, ann, _) = canonical();
    let count_max = limits::LORE_RESOLVED_CONFLICTS_MAX;
    let open = held(&mut lore, update(ann, rename_to("Bea")));
    let oldest = held(&mut lore, update(ann, rename_to("Cia")));
    lore.expect_event(resolve(oldest, ConflictChoice::Current));
    // Copies of it stand for conflicts that would take long to resolve.
    let resolved = lore.state.conflict(oldest).unwrap().clone();
    let last_copy = oldest + count_max as u64 - 2;
    for id in oldest + 1..=last_copy {
        lore.state.canon.put_conflict(Conflict { id, ..resolved.clone() });
    }
    lore.state.canon.highest_conflict_id = last_copy;
    let resolved_count = |lore: &LoreFixture| lore.state.conflicts().filter(|conflict| !conflict.is_open()).count();
    assert_eq!(resolved_count(&lore), count_max - 1);
    let resolve_one_more = |lore: &mut LoreFixture| {
        let conflict_id = held(lore, update(ann, rename_to("Dea")));
        lore.expect_event(resolve(conflict_id, ConflictChoice::Current));
        conflict_id
    };
    let fits = resolve_one_more(&mut lore);
    assert_eq!((resolved_count(&lore), lore.state.conflict(oldest).is_some()), (count_max, true));
    let past = resolve_one_more(&mut lore);
    assert_eq!((resolved_count(&lore), lore.state.conflict(oldest)), (count_max, None));
    let refusal = lore.run(&reopen(oldest)).unwrap_err();
    assert_eq!(refusal, LoreRefusal::ConflictNotFound { conflict_id: oldest });
    // The others stay, and so does an older one that is open.
    assert!([oldest + 1, fits, past].iter().all(|id| lore.state.conflict(*id).is_some()));
    assert!(lore.state.conflict(open).unwrap().is_open());
}

#[test]
fn only_so_many_findings_are_reviewed() {
    let mut lore = LoreFixture::empty();
    let count_max = limits::LORE_REVIEWS_MAX;
    let review = |finding_id: &str, status| {
        let (finding_id, reason) = (finding_id.to_owned(), "sisters".to_owned());
        LoreCommand::Canon(CanonCommand::Review { finding_id, status, reason, acting: person() })
    };
    lore.expect_event(review("near_name:1:2", ConflictStatus::Acknowledged));
    let known = lore.state.finding_review("near_name:1:2").unwrap().clone();
    for number in 2..count_max {
        lore.state.canon.reviews.insert(format!("near_name:{number}:0"), known.clone());
    }
    lore.expect_event(review("last", ConflictStatus::Resolved));
    assert_eq!(lore.state.canon.reviews.len(), count_max);
    let refusal = LoreRefusal::TooMany { things: "reviewed findings", count_max };
    for status in [ConflictStatus::Acknowledged, ConflictStatus::Resolved] {
        assert_eq!(lore.expect_refusal(review("more", status)), refusal);
    }
    // One that is taken back makes room.
    lore.expect_event(review("last", ConflictStatus::Detected));
    lore.expect_event(review("more", ConflictStatus::Acknowledged));
    assert_eq!(lore.state.canon.reviews.len(), count_max);
}
