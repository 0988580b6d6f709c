//! Property tests of the rules of lore: invariants hold after any commands, indexes are those that a stored state has,
//! and replay restores the state.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::tests::LoreFixture;
use super::*;
use crate::decider::Decider;
use crate::gate::ActingRole;

/// Few names in several spellings, and an empty one.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        24 => prop::sample::select(vec!["Ann", "ann ", "ANNA", "Élan", "elan", "e\u{301}lan", "Straße", "Ben Dragon"])
            .prop_map(str::to_owned),
        6 => "[ab][ab ]{0,3}",
        1 => Just(String::new()),
    ]
}

fn names() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec(name(), 0..4)
}

/// Few ids, so that commands refer to the same entities, and some unknown ones.
fn id() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0..8_u64, 1 => 254..258_u64]
}

fn any_text() -> impl Strategy<Value = TextRef> {
    (0..20_u8, proptest::collection::vec(id(), 0..4))
        .prop_map(|(number, mentions)| TextRef { key: TextKey::from([number; 32]), mentions: mentions.into() })
}

fn any_source() -> impl Strategy<Value = ImportSource> {
    (0..4_u8, 0..2_u8).prop_map(|(id, hash)| ImportSource {
        id: format!("s{id}"),
        hash: format!("h{hash}"),
        posts: BTreeMap::new(),
    })
}

fn actor() -> impl Strategy<Value = String> {
    (0..3_u8).prop_map(|number| format!("actor_{number}"))
}

fn any_type() -> impl Strategy<Value = EntityType> {
    prop::sample::select(EntityType::ALL[..3].to_vec())
}

fn any_new_entity() -> impl Strategy<Value = NewEntity> {
    use proptest::option::weighted;
    let ids = weighted(0.2, (id(), id()).prop_map(|(id, entity_id)| ExplicitIds { id, entity_id }));
    let fields = (any_type(), name(), name(), names(), names(), any::<bool>());
    let links = (
        weighted(0.2, id()),
        weighted(0.2, name()),
        weighted(0.2, actor()),
        weighted(0.5, any_text()),
        weighted(0.2, any_source()),
        ids,
    );
    (fields, links).prop_map(
        |((entity_type, name, subtype, tags, aliases, is_private), (parent, image, actor_id, text, source, ids))| {
            let date = image.clone();
            NewEntity {
                entity_type,
                name,
                subtype,
                tags,
                aliases,
                is_private,
                parent,
                image,
                date,
                actor_id,
                text,
                source,
                ids,
            }
        },
    )
}

fn any_change() -> impl Strategy<Value = EntityChange> {
    use proptest::option::{of, weighted};
    let fields = (
        weighted(0.2, name()),
        weighted(0.2, name()),
        weighted(0.2, names()),
        weighted(0.2, names()),
        weighted(0.2, any::<bool>()),
    );
    let links = (
        weighted(0.2, of(id())),
        weighted(0.2, of(name())),
        weighted(0.2, of(actor())),
        weighted(0.2, of(any_text())),
        weighted(0.1, any_source()),
    );
    (fields, links).prop_map(|((name, subtype, tags, aliases, is_private), (parent, image, actor_id, text, source))| {
        let date = image.clone();
        EntityChange { name, subtype, tags, aliases, is_private, parent, image, date, actor_id, text, source }
    })
}

fn revision() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![4 => Just(None), 1 => (1..4_u64).prop_map(Some)]
}

fn any_post_change() -> impl Strategy<Value = PostChange> {
    use proptest::option::of;
    (of(name()), of(any::<bool>()), of(of(any_text()))).prop_map(|(name, is_private, text)| PostChange {
        name,
        is_private,
        text,
    })
}

fn any_post_command() -> impl Strategy<Value = LoreCommand> {
    use proptest::option::of;
    let post_id = || 0..6_u64;
    prop_oneof![
        4 => (id(), name(), any::<bool>(), of(any_text()), prop_oneof![4 => Just(None), 1 => post_id().prop_map(Some)])
            .prop_map(|(entity_id, name, is_private, text, post_id)| {
                LoreCommand::CreatePost(Box::new(NewPost { entity_id, name, is_private, text, post_id }))
            }),
        3 => (id(), post_id(), revision(), any_post_change()).prop_map(
            |(entity_id, post_id, expected_revision, change)| LoreCommand::UpdatePost {
                entity_id,
                post_id,
                expected_revision,
                change: Box::new(change),
            }
        ),
        1 => (id(), post_id(), revision()).prop_map(|(entity_id, post_id, expected_revision)| {
            LoreCommand::ArchivePost { entity_id, post_id, expected_revision }
        }),
        1 => (id(), post_id()).prop_map(|(entity_id, post_id)| LoreCommand::RestorePost { entity_id, post_id }),
    ]
}

fn any_tag_command() -> impl Strategy<Value = LoreCommand> {
    let tag_id = || 0..8_u32;
    prop_oneof![
        2 => name().prop_map(|name| LoreCommand::CreateTag { name }),
        2 => (tag_id(), name()).prop_map(|(tag_id, name)| LoreCommand::RenameTag { tag_id, name }),
        1 => tag_id().prop_map(|tag_id| LoreCommand::DeleteTag { tag_id }),
    ]
}

fn any_command() -> impl Strategy<Value = LoreCommand> {
    let keys = proptest::collection::vec((0..20_u8).prop_map(|number| TextKey::from([number; 32])), 0..2);
    prop_oneof![
        8 => any_new_entity().prop_map(|new| LoreCommand::CreateEntity(Box::new(new))),
        8 => (id(), revision(), any_change()).prop_map(|(entity_id, expected_revision, change)| {
            LoreCommand::UpdateEntity { entity_id, expected_revision, change: Box::new(change) }
        }),
        2 => (id(), id(), id()).prop_map(|(entity_id, id, new_entity_id)| LoreCommand::RenumberEntity {
            entity_id,
            ids: ExplicitIds { id, entity_id: new_entity_id },
        }),
        1 => prop_oneof![0..10_u64, 250..260_u64].prop_map(|above| LoreCommand::ReserveIds { above }),
        3 => (id(), revision()).prop_map(|(entity_id, expected_revision)| {
            LoreCommand::ArchiveEntity { entity_id, expected_revision }
        }),
        2 => id().prop_map(|entity_id| LoreCommand::RestoreEntity { entity_id }),
        2 => (id(), any_change(), proptest::collection::vec((0..6_u64, any_post_change()), 0..3)).prop_map(
            |(entity_id, change, posts)| LoreCommand::RestoreVersion { entity_id, change: Box::new(change), posts }
        ),
        6 => any_post_command(),
        3 => any_tag_command(),
        1 => (proptest::collection::vec(id(), 0..2), proptest::collection::vec((id(), 0..6_u64), 0..2), keys)
            .prop_map(|(entity_ids, posts, text_keys)| LoreCommand::EmptyArchive { entity_ids, posts, text_keys }),
        6 => any_canon_command().prop_map(LoreCommand::Canon),
    ]
}

fn any_canon_command() -> impl Strategy<Value = CanonCommand> {
    use ConflictChoice::{Current, Proposed, Value};
    let acting = || any::<bool>().prop_map(|is_human| ActingRole { role: "gm".to_owned(), is_human });
    let confidence = prop::sample::select(vec![
        Confidence::Authoritative,
        Confidence::Authoritative,
        Confidence::Draft,
        Confidence::Superseded,
    ]);
    let fields = || proptest::collection::vec(prop::sample::select(CanonField::ALL.to_vec()), 0..3);
    let (reason, conflict_id) = (|| "because".to_owned(), || 1..4_u64);
    let change = proptest::option::of(any_change().prop_map(Box::new));
    let status =
        prop::sample::select(vec![ConflictStatus::Detected, ConflictStatus::Acknowledged, ConflictStatus::Resolved]);
    prop_oneof![
        3 => (id(), confidence, fields(), acting()).prop_map(move |(entity_id, confidence, fields, acting)| {
            let fields = fields.into_iter().collect();
            CanonCommand::Mark { entity_id, confidence, fields, reason: reason(), acting }
        }),
        1 => conflict_id().prop_map(move |conflict_id| CanonCommand::Acknowledge { conflict_id, reason: reason() }),
        4 => (conflict_id(), prop::sample::select(vec![Current, Proposed, Proposed, Value]), change, acting()).prop_map(
            move |(conflict_id, choice, change, acting)| {
                CanonCommand::Resolve { conflict_id, choice, change, reason: reason(), acting }
            }
        ),
        3 => (conflict_id(), acting())
            .prop_map(move |(conflict_id, acting)| CanonCommand::Reopen { conflict_id, reason: reason(), acting }),
        1 => (id(), status, acting()).prop_map(move |(id, status, acting)| {
            let finding_id = format!("near_name:{id}");
            CanonCommand::Review { finding_id, status, reason: reason(), acting }
        }),
    ]
}

/// The values of an entity that are authoritative.
fn canon_values(entity: &Entity) -> Vec<String> {
    let details = entity.details();
    let value = |field| match field {
        CanonField::Name => entity.name.to_string(),
        CanonField::Type => entity.subtype.to_string(),
        CanonField::Entry => format!("{:?}", entity.text.as_ref().map(|text| text.key)),
        CanonField::Aliases => format!("{:?}", details.aliases),
        CanonField::Date => format!("{:?}", details.date),
        CanonField::Parent | CanonField::Posts => String::new(),
    };
    entity.canon_mark().fields.iter().map(value).collect()
}

fn any_commands() -> impl Strategy<Value = Vec<LoreCommand>> {
    proptest::collection::vec(any_command(), 0..50)
}

fn check_invariants(lore: &LoreFixture) {
    let state = &lore.state;
    assert_eq!(state.revision(), lore.journal.len() as u64);
    assert_eq!(LoreState::from_parts(state.to_parts()).as_ref(), Some(state), "indexes are not those of the entities");
    let all: Vec<_> = state.entities().chain(state.archived()).collect();
    let ids: BTreeSet<u64> = all.iter().map(|entity| entity.entity_id).collect();
    let typed: BTreeSet<_> = all.iter().map(|entity| (entity.entity_type, entity.id)).collect();
    let posts: Vec<u64> =
        all.iter().flat_map(|entity| entity.details().posts.iter().map(|post| post.post_id)).collect();
    assert_eq!((ids.len(), typed.len()), (all.len(), all.len()));
    assert_eq!(posts.iter().collect::<BTreeSet<_>>().len(), posts.len());
    let tags: Vec<String> = state.tags().map(|tag| name_identity(&tag.name)).collect();
    assert_eq!(tags.iter().collect::<BTreeSet<_>>().len(), tags.len(), "a tag in two spellings");
    assert!(state.tags().all(|tag| tag.uses > 0 || tag.is_kept));
    for entity in &all {
        assert_eq!(entity.tags.iter().collect::<BTreeSet<_>>().len(), entity.tags.len());
        assert!(entity.tags.iter().all(|tag| !state.tag_name(*tag).is_empty()));
        assert!(entity.changes.is_sorted_by(|one, other| one < other));
        assert!(entity.is_archived() || entity.details().parent.is_none_or(|parent| state.entity(parent).is_some()));
        let mut above = entity.details().parent;
        for _ in 0..=all.len() {
            above = above.and_then(|above| state.entity(above)?.details().parent);
        }
        assert_eq!(above, None, "a circle of parents");
        if let (Some(actor_id), false) = (&entity.details().actor_id, entity.is_archived()) {
            assert_eq!(state.entity_of_actor(actor_id), Some(entity.entity_id));
        }
        let is_named = state.entities_named(&entity.name, true).contains(&entity.entity_id);
        assert_eq!(is_named, !entity.is_archived());
        for post in &entity.details().posts {
            assert_eq!(state.post(post.post_id).unwrap().0.entity_id, entity.entity_id);
        }
    }
}

/// What `find` does, entity by entity.
fn found_one_by_one(state: &LoreState, filter: &EntityFilter) -> BTreeSet<u64> {
    let is_visible = |entity: &Entity| !entity.is_superseded() && (filter.sees_private || !entity.is_private);
    let is_tag_visible = |tag_id: &u32| {
        filter.sees_private || state.entities().any(|entity| is_visible(entity) && entity.tags.contains(tag_id))
    };
    let contains = |text: &str, part: &str| fold_name(text).contains(part);
    let matches = |entity: &&std::sync::Arc<Entity>| {
        let names = || std::iter::once(&entity.name).chain(&entity.details().aliases);
        let tags: Vec<String> = state.tag_names(entity).into_iter().map(fold_name).collect();
        let is_named = match &filter.name {
            Some(NameFilter::Contains(part)) => names().any(|name| contains(name, &fold_name(part))),
            Some(NameFilter::Exactly(whole)) => names().any(|name| fold_name(name) == fold_name(whole)),
            Some(NameFilter::Fuzzy(query)) => names().any(|name| {
                fuzzy::ratio(&fuzzy::comparable_form(name), &fuzzy::comparable_form(query)) >= fuzzy::SIMILAR_RATIO
            }),
            None => true,
        };
        let query = filter.query.as_deref().map(fold_name);
        let is_asked_for = query.is_none_or(|query| {
            let whole = [entity.entity_type.as_str().to_owned(), fold_name(&entity.subtype)];
            names().any(|name| contains(name, &query)) || whole.contains(&query) || tags.contains(&query)
        });
        is_visible(entity)
            && filter.entity_type.is_none_or(|entity_type| entity_type == entity.entity_type)
            && filter.subtype.as_deref().is_none_or(|subtype| fold_name(subtype) == fold_name(&entity.subtype))
            && filter.tags.iter().all(|tag| match state.find_tag(tag).filter(is_tag_visible) {
                Some(tag_id) => entity.tags.contains(&tag_id),
                None => tags.contains(&fold_name(tag)),
            })
            && is_named
            && is_asked_for
    };
    state.entities().filter(matches).map(|entity| entity.entity_id).collect()
}

fn any_filter() -> impl Strategy<Value = EntityFilter> {
    use proptest::option::weighted;
    let some_name = || name().prop_filter("an empty name is no filter", |name| !name.trim().is_empty());
    let name_filter = prop_oneof![
        some_name().prop_map(NameFilter::Contains),
        "[abe]".prop_map(NameFilter::Contains),
        some_name().prop_map(NameFilter::Exactly),
        some_name().prop_map(NameFilter::Fuzzy),
    ];
    let query = prop_oneof![some_name(), "[aén]", Just("character".to_owned())];
    (
        weighted(0.3, any_type()),
        weighted(0.2, some_name()),
        proptest::collection::vec(some_name(), 0..2),
        weighted(0.5, name_filter),
        weighted(0.4, query),
        any::<bool>(),
    )
        .prop_map(|(entity_type, subtype, tags, name, query, sees_private)| EntityFilter {
            entity_type,
            subtype,
            subtype_or_tag: None,
            tags,
            name,
            sees_private,
            revealed: std::collections::BTreeSet::new(),
            revealed_posts: std::collections::BTreeSet::new(),
            query,
            updated_after: None,
        })
}

proptest! {
    /// An authoritative value is changed by a decision about canon, or goes with its entity, and by nothing else.
    #[test]
    fn nothing_overwrites_what_is_authoritative(commands in any_commands()) {
        let mut lore = LoreFixture::empty();
        for command in commands {
            let before = lore.state.clone();
            let is_canon = matches!(command, LoreCommand::Canon(_));
            let Ok(event) = lore.run(&command) else { continue };
            if is_canon {
                continue;
            }
            for entity in before.entities().filter(|entity| !entity.canon_mark().fields.is_empty()) {
                let after = lore.state.entity(entity.entity_id).expect("what is authoritative is not removed");
                assert!(!after.is_archived(), "{event:?}");
                assert_eq!(canon_values(entity), canon_values(after), "{event:?}");
            }
        }
    }

    #[test]
    fn any_commands_leave_lore_in_order(commands in any_commands()) {
        let mut lore = LoreFixture::empty();
        for command in commands {
            let before = lore.state.clone();
            if let Err(refusal) = lore.run(&command) {
                assert_eq!(lore.state, before);
                assert!(!refusal.to_string().is_empty() && !refusal.hint().is_empty());
            }
        }
        check_invariants(&lore);
    }

    #[test]
    fn a_journal_gives_the_lore_again(commands in any_commands()) {
        let mut lore = LoreFixture::empty();
        for command in &commands {
            let _ = lore.run(command);
        }
        let stored: Vec<_> =
            lore.journal.iter().map(|(given, event)| (given, serde_json::to_string(event).unwrap())).collect();
        let replayed = stored.iter().fold(LoreState::default(), |state, (given, event)| {
            LoreRules::evolve(state, &serde_json::from_str(event).unwrap(), given)
        });
        assert_eq!(replayed, lore.state);
    }

    #[test]
    fn stored_lore_goes_on_as_if_it_had_not_been(commands in any_commands(), at in 0..50_usize) {
        let (mut one, mut other) = (LoreFixture::empty(), LoreFixture::empty());
        for (number, command) in commands.iter().enumerate() {
            if number == at {
                let stored = serde_json::to_string(&other.state).unwrap();
                other.state = serde_json::from_str(&stored).unwrap();
            }
            assert_eq!(one.run(command), other.run(command));
        }
        assert_eq!(one.state, other.state);
    }

    #[test]
    fn the_indexes_find_what_a_look_at_each_entity_finds(
        commands in proptest::collection::vec(any_command(), 0..25),
        filters in proptest::collection::vec(any_filter(), 1..8),
    ) {
        let mut lore = LoreFixture::empty();
        for command in &commands {
            let _ = lore.run(command);
            // An index that is built between changes must not be used after them.
            let _ = lore.state.find(&filters[0]);
        }
        for filter in &filters {
            let found = lore.state.find(filter);
            let ids: BTreeSet<u64> = found.iter().map(|found| found.entity_id).collect();
            assert_eq!(ids.len(), found.len());
            assert_eq!(ids, found_one_by_one(&lore.state, filter), "{filter:?}");
        }
    }

    #[test]
    fn any_events_in_any_order_are_taken(events in any_shuffled_events()) {
        let given = crate::decider::DecisionContext { at: LoreFixture::empty().clock, by: "local".to_owned() };
        let state = events.iter().fold(LoreState::default(), |state, event| LoreRules::evolve(state, event, &given));
        assert_eq!(state.revision(), events.len() as u64);
        assert_eq!(state.entity_count(), state.entities().count());
    }
}

/// Events in an order that no commands would produce.
fn any_shuffled_events() -> impl Strategy<Value = Vec<LoreEvent>> {
    let journal = any_commands().prop_map(|commands| {
        let mut lore = LoreFixture::empty();
        for command in &commands {
            let _ = lore.run(command);
        }
        lore.journal.into_iter().map(|(_, event)| event).collect::<Vec<_>>()
    });
    journal.prop_shuffle()
}
