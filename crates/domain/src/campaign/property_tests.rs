//! Property tests of the campaign rules: invariants hold after any commands, and replay restores the state.

use proptest::prelude::*;
use serde_json::json;

use super::tests::CampaignFixture;
use super::*;
use crate::decider::Decider;
use crate::dice::Outcome;

/// Few ids, so that commands refer to the same entries, and some unknown ones.
fn id(prefix: &'static str) -> impl Strategy<Value = String> {
    (0..5_u8).prop_map(move |number| format!("{prefix}{number}"))
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-z]{1,8}", 1 => Just(String::new()), 1 => " [a-z]{1,3}\n", 1 => Just("x".repeat(10_001))]
}

fn role() -> impl Strategy<Value = Role> {
    prop_oneof![Just(Role::Gm), Just(Role::Player)]
}

fn kind() -> impl Strategy<Value = ActorKind> {
    prop_oneof![Just(ActorKind::Pc), Just(ActorKind::Npc)]
}

fn controller() -> impl Strategy<Value = Controller> {
    prop_oneof![Just(Controller::Human), Just(Controller::Ai)]
}

fn session_id() -> impl Strategy<Value = Option<String>> {
    proptest::option::of(id("sess_"))
}

fn any_people_command() -> impl Strategy<Value = CampaignCommand> {
    use proptest::option::of;
    prop_oneof![
        3 => (id("part_"), text(), role(), controller()).prop_map(|(id, display_name, role, controller)| {
            CampaignCommand::AddParticipant { id, display_name, role, controller }
        }),
        1 => (id("part_"), of(text()), of(role()), of(controller())).prop_map(
            |(participant_id, display_name, role, controller)| {
                CampaignCommand::UpdateParticipant { participant_id, display_name, role, controller }
            }
        ),
        2 => id("part_").prop_map(|participant_id| CampaignCommand::RemoveParticipant { participant_id }),
        3 => (id("actor_"), text(), kind(), text()).prop_map(|(id, name, kind, notes)| {
            CampaignCommand::AddActor { id, name, kind, notes }
        }),
        1 => (id("actor_"), of(text()), of(kind()), of(text())).prop_map(|(actor_id, name, kind, notes)| {
            CampaignCommand::UpdateActor { actor_id, name, kind, notes }
        }),
        1 => id("actor_").prop_map(|actor_id| CampaignCommand::RemoveActor { actor_id }),
        4 => (id("actor_"), prop_oneof![4 => id("part_"), 1 => Just("gm".to_owned()), 1 => Just(String::new())])
            .prop_map(|(actor_id, controller)| CampaignCommand::SetActorControl { actor_id, controller }),
    ]
}

fn any_play_command() -> impl Strategy<Value = CampaignCommand> {
    use proptest::option::of;
    prop_oneof![
        (id("sess_"), text()).prop_map(|(id, name)| CampaignCommand::StartSession { id, name }),
        session_id().prop_map(|session_id| CampaignCommand::EndSession { session_id }),
        (id("note_"), session_id(), text()).prop_map(|(id, session_id, text)| CampaignCommand::AddNote {
            id,
            session_id,
            tags: vec![text.clone()],
            text,
        }),
        (id("note_"), of(text()), of(text())).prop_map(|(note_id, text, tag)| CampaignCommand::ChangeNote {
            note_id,
            text,
            tags: tag.map(|tag| vec![tag]),
        }),
        id("note_").prop_map(|note_id| CampaignCommand::RemoveNote { note_id }),
        (id("roll_"), session_id(), of(id("part_")), of(id("actor_")), prop::sample::select(Outcome::WORDS)).prop_map(
            |(id, session_id, participant_id, actor_id, outcome)| {
                CampaignCommand::RecordRoll(Box::new(RecordedRoll {
                    id,
                    session_id,
                    participant_id,
                    actor_id,
                    tool: "roll".to_owned(),
                    input: json!({}),
                    result: json!({ "total": 7, "outcome": outcome }),
                    ..RecordedRoll::default()
                }))
            }
        ),
    ]
}

fn any_owner() -> impl Strategy<Value = TrackerOwner> {
    prop_oneof![
        3 => id("actor_").prop_map(|id| TrackerOwner::actor(&id)),
        1 => id("part_").prop_map(|id| TrackerOwner::participant(&id)),
        1 => Just(TrackerOwner::campaign()),
    ]
}

fn any_definition() -> impl Strategy<Value = TrackerDefinition> {
    use proptest::option::of;
    let ticks = prop_oneof![Just(TickMoment::SessionEnd), Just(TickMoment::Fear)];
    (tracker_name(), of(-2..12_i64), of(0..12_i64), of(ticks), of(-2..3_i64)).prop_map(
        |(name, value, max, ticks, step)| TrackerDefinition {
            name,
            value,
            max,
            ticks,
            step,
            ..TrackerDefinition::default()
        },
    )
}

fn tracker_name() -> impl Strategy<Value = String> {
    prop_oneof![Just("HP".to_owned()), Just("hp".to_owned()), Just("Fear".to_owned()), Just("Clock".to_owned())]
}

fn any_tracker_command() -> impl Strategy<Value = CampaignCommand> {
    let reason = String::new;
    prop_oneof![
        3 => (any_owner(), any_definition()).prop_map(move |(owner, definition)| {
            TrackerCommand::Set { owner, definition, reason: reason() }
        }),
        4 => (any_owner(), tracker_name(), -4..5_i64).prop_map(move |(owner, name, by)| {
            TrackerCommand::Change { owner, name, by, reason: reason() }
        }),
        1 => (id("actor_"), 0..20_i64, any::<bool>()).prop_map(move |(actor_id, damage, spends_armor)| {
            TrackerCommand::Damage { actor_id, damage, spends_armor, reason: reason() }
        }),
        1 => (any_owner(), tracker_name()).prop_map(|(owner, name)| TrackerCommand::Remove { owner, name }),
    ]
    .prop_map(|command| CampaignCommand::Tracker(Box::new(command)))
}

fn any_sheet_command() -> impl Strategy<Value = CampaignCommand> {
    let template = prop_oneof![Just(GameTemplate::Daggerheart), Just(GameTemplate::Plain)];
    let trackers = proptest::collection::vec(any_definition(), 0..2);
    (id("actor_"), proptest::option::of(template), trackers).prop_map(|(actor_id, template, trackers)| {
        let traits = [("level".to_owned(), Some(TraitValue::Number(2.into())))].into();
        CampaignCommand::SetActorSheet { actor_id, sheet: Box::new(ActorSheet { template, traits, trackers }) }
    })
}

fn any_counting_command() -> impl Strategy<Value = CampaignCommand> {
    use proptest::option::of;
    let single = || {
        prop_oneof![
            3 => any_tracker_command(),
            2 => any_sheet_command(),
            1 => (session_id(), of(text()), of(id("actor_")))
                .prop_map(|(session_id, scene, up)| CampaignCommand::SetSpotlight { session_id, scene, up }),
        ]
    };
    let part =
        (single(), 0..3_u8).prop_map(|(command, number)| BatchPart { pointer: format!("/trackers/{number}"), command });
    prop_oneof![3 => single(), 1 => proptest::collection::vec(part, 0..3).prop_map(CampaignCommand::Batch)]
}

fn any_command() -> impl Strategy<Value = CampaignCommand> {
    let create = |name| CampaignCommand::Create {
        id: "camp_1".to_owned(),
        name,
        gm_mode: GmMode::Ai,
        theme_prompt: String::new(),
    };
    prop_oneof![
        2 => text().prop_map(create),
        1 => proptest::option::of(text())
            .prop_map(|name| CampaignCommand::Update { name, gm_mode: None, theme_prompt: None }),
        1 => prop_oneof![Just(CampaignCommand::End), Just(CampaignCommand::Archive)],
        2 => Just(CampaignCommand::Restore),
        12 => any_people_command(),
        8 => any_play_command(),
        8 => any_counting_command(),
    ]
}

fn check_invariants(state: &CampaignState) {
    if let Some(campaign) = state.campaign() {
        assert_eq!(campaign.participant_count, state.participants().len());
        assert_eq!(campaign.actor_count, state.actors().len());
    }
    let active: Vec<&Session> =
        state.sessions().oldest_first().filter(|session| session.status == SessionStatus::Active).collect();
    assert!(active.len() <= 1, "{active:?}");
    assert_eq!(active.first().copied(), state.active_session());
    // Every controller is a participant of the campaign, and the index `played` has the pair.
    let mut players = 0;
    for actor in state.actors().oldest_first() {
        if let Some(player) = actor.controller.as_ref().and_then(ActorController::participant_id) {
            players += 1;
            assert!(state.participants().contains(player), "{player} plays {}", actor.id);
            assert!(state.actor_ids_played_by(player).any(|actor_id| actor_id == actor.id));
        }
    }
    assert_eq!(state.played.len(), players);
    for (_, tracker) in state.all_trackers() {
        assert!(tracker.min <= tracker.value && tracker.max.is_none_or(|max| tracker.value <= max), "{tracker:?}");
    }
}

proptest! {
    #[test]
    fn any_commands_leave_a_campaign_in_order(commands in proptest::collection::vec(any_command(), 0..60)) {
        let mut table = CampaignFixture::empty();
        for command in commands {
            let before = table.state.clone();
            match table.run(&command) {
                Ok(events) => assert!(!events.is_empty()),
                Err(refusal) => {
                    assert_eq!(table.state, before);
                    assert!(!refusal.to_string().is_empty() && !refusal.hint().is_empty());
                }
            }
            check_invariants(&table.state);
        }
    }

    #[test]
    fn a_journal_gives_the_state_again(commands in proptest::collection::vec(any_command(), 0..60)) {
        let mut table = CampaignFixture::empty();
        for command in &commands {
            let _ = table.run(command);
        }
        let stored: Vec<(_, String)> = table
            .journal
            .iter()
            .map(|(given, event)| (given, serde_json::to_string(event).unwrap()))
            .collect();
        let replayed = stored.iter().fold(CampaignState::default(), |state, (given, event)| {
            CampaignRules::evolve(state, &serde_json::from_str(event).unwrap(), given)
        });
        assert_eq!(replayed, table.state);
    }

    #[test]
    fn a_stored_state_goes_on_as_if_it_had_not_been(
        commands in proptest::collection::vec(any_command(), 0..60),
        at in 0..60_usize,
    ) {
        let (mut one, mut other) = (CampaignFixture::empty(), CampaignFixture::empty());
        for (number, command) in commands.iter().enumerate() {
            if number == at {
                let stored = serde_json::to_string(&other.state).unwrap();
                other.state = serde_json::from_str(&stored).unwrap();
            }
            assert_eq!(one.run(command), other.run(command));
            assert_eq!(one.state, other.state);
        }
    }

    #[test]
    fn any_session_can_be_told(commands in proptest::collection::vec(any_command(), 0..60)) {
        let mut table = CampaignFixture::with_people();
        for command in &commands {
            let _ = table.run(command);
        }
        for session in table.state.sessions().oldest_first() {
            let events = table.journal.iter().map(|(given, event)| (given.at, &given.by, event));
            let told = recap(session, &table.state, events);
            assert!(told.starts_with("# ") && told.ends_with('\n'));
            assert_eq!(told.contains("## What happened"), session.note_count > 0);
            assert_eq!(told.contains("## Dice"), session.roll_count > 0);
        }
    }

    #[test]
    fn any_events_in_any_order_are_taken(events in any_shuffled_events()) {
        let given = CampaignFixture::given();
        let state =
            events.iter().fold(CampaignState::default(), |state, event| CampaignRules::evolve(state, event, &given));
        assert!(state.campaign().is_some());
        assert!(state.played.len() <= state.actors().len());
    }
}

/// Events in an order that no commands would produce.
fn any_shuffled_events() -> impl Strategy<Value = Vec<CampaignEvent>> {
    let journal = proptest::collection::vec(any_command(), 0..60).prop_map(|commands| {
        let mut table = CampaignFixture::with_people();
        for command in &commands {
            let _ = table.run(command);
        }
        table.journal.into_iter().map(|(_, event)| event).collect::<Vec<_>>()
    });
    journal.prop_shuffle()
}
