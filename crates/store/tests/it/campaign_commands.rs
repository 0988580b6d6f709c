//! Generators of campaign commands for property tests, also refused ones. Commands are sent alone or together, under a
//! key, repeated, or with an expected revision.

use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use serde_json::json;
use skald_domain::campaign::{
    ActorKind, ActorSheet, BatchPart, CampaignCommand, Controller, GameTemplate, GmMode, RecordedRoll, Role,
    SecretSubject, TickMoment, TrackerCommand, TrackerDefinition, TrackerOwner, TraitValue,
};
use skald_domain::visibility::{Viewer, Visibility};

pub(crate) const CAMPAIGN: &str = "camp_1";

/// Few ids, so that commands refer to what others created.
fn id(prefix: &'static str) -> impl Strategy<Value = String> {
    (0..4_u8).prop_map(move |number| format!("{prefix}{number}"))
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![6 => "[a-zäß🎲'\"\\\\]{1,8}", 1 => Just(" ".to_owned()), 1 => Just("x".repeat(10_001))]
}

fn people_command() -> BoxedStrategy<CampaignCommand> {
    let role = || prop_oneof![Just(Role::Gm), Just(Role::Player)];
    let kind = || prop_oneof![Just(ActorKind::Pc), Just(ActorKind::Npc)];
    let controller = || prop_oneof![Just(Controller::Human), Just(Controller::Ai)];
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
        3 => (id("actor_"), prop_oneof![3 => id("part_"), 1 => Just("gm".to_owned())])
            .prop_map(|(actor_id, controller)| CampaignCommand::SetActorControl { actor_id, controller }),
    ]
    .boxed()
}

fn play_command() -> BoxedStrategy<CampaignCommand> {
    let session = || of(id("sess_"));
    prop_oneof![
        2 => (id("sess_"), text()).prop_map(|(id, name)| CampaignCommand::StartSession { id, name }),
        1 => session().prop_map(|session_id| CampaignCommand::EndSession { session_id }),
        1 => (id("note_"), session(), text())
            .prop_map(|(id, session_id, text)| CampaignCommand::AddNote { id, session_id, text, tags: Vec::new() }),
        1 => (id("note_"), of(text())).prop_map(|(note_id, text)| CampaignCommand::ChangeNote { note_id, text, tags: None }),
        1 => id("note_").prop_map(|note_id| CampaignCommand::RemoveNote { note_id }),
        1 => (visibility(), id("note_"), text()).prop_map(|(visible_to, id, text)| {
            let note = CampaignCommand::AddNote { id, session_id: None, text, tags: Vec::new() };
            CampaignCommand::WithVisibility { visible_to, command: Box::new(note) }
        }),
        1 => id("note_").prop_map(|note_id| {
            let command = Box::new(CampaignCommand::RemoveNote { note_id });
            CampaignCommand::AsViewer { viewer: Viewer::default(), command }
        }),
        1 => (visibility(), id("note_")).prop_map(|(visible_to, note_id)| {
            CampaignCommand::ChangeVisibility { of: SecretSubject::Note { note_id }, visible_to }
        }),
        1 => group_roll(),
        1 => (id("roll_"), session(), of(id("part_")), of(id("actor_")), text()).prop_map(
            |(id, session_id, participant_id, actor_id, text)| {
                CampaignCommand::RecordRoll(Box::new(RecordedRoll {
                    id,
                    session_id,
                    participant_id,
                    actor_id,
                    tool: "roll".to_owned(),
                    input: json!({ "expression": text }),
                    result: json!({ "total": 7 }),
                    ..RecordedRoll::default()
                }))
            }
        ),
    ]
    .boxed()
}

fn visibility() -> BoxedStrategy<Visibility> {
    let person = prop_oneof![id("part_"), id("actor_")];
    prop_oneof![
        Just(Visibility::Table),
        Just(Visibility::GameMasters),
        person.prop_map(|id| Visibility::People([id].into())),
    ]
    .boxed()
}

fn group_roll() -> BoxedStrategy<CampaignCommand> {
    let roll = (id("roll_"), of(id("sess_")), of(id("actor_"))).prop_map(|(id, session_id, actor_id)| RecordedRoll {
        id,
        session_id,
        actor_id,
        tool: "group_roll".to_owned(),
        result: json!({ "total": 7 }),
        ..RecordedRoll::default()
    });
    prop::collection::vec(roll, 1..4).prop_map(CampaignCommand::RecordRolls).boxed()
}

fn owner() -> impl Strategy<Value = TrackerOwner> {
    prop_oneof![
        3 => id("actor_").prop_map(|id| TrackerOwner::actor(&id)),
        1 => id("part_").prop_map(|id| TrackerOwner::participant(&id)),
        1 => Just(TrackerOwner::campaign()),
    ]
}

fn definition() -> impl Strategy<Value = TrackerDefinition> {
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

fn tracker_command() -> BoxedStrategy<CampaignCommand> {
    let reason = String::new;
    prop_oneof![
        3 => (owner(), definition()).prop_map(move |(owner, definition)| {
            TrackerCommand::Set { owner, definition, reason: reason() }
        }),
        4 => (owner(), tracker_name(), -4..5_i64).prop_map(move |(owner, name, by)| {
            TrackerCommand::Change { owner, name, by, reason: reason() }
        }),
        1 => (id("actor_"), 0..20_i64, any::<bool>()).prop_map(move |(actor_id, damage, spends_armor)| {
            TrackerCommand::Damage { actor_id, damage, spends_armor, reason: reason() }
        }),
        1 => (owner(), tracker_name()).prop_map(|(owner, name)| TrackerCommand::Remove { owner, name }),
    ]
    .prop_map(|command| CampaignCommand::Tracker(Box::new(command)))
    .boxed()
}

fn sheet_command() -> BoxedStrategy<CampaignCommand> {
    let template = prop_oneof![Just(GameTemplate::Daggerheart), Just(GameTemplate::Plain)];
    let trackers = vec(definition(), 0..2);
    (id("actor_"), of(template), trackers)
        .prop_map(|(actor_id, template, trackers)| {
            let traits = [("level".to_owned(), Some(TraitValue::Number(2.into())))].into();
            CampaignCommand::SetActorSheet { actor_id, sheet: Box::new(ActorSheet { template, traits, trackers }) }
        })
        .boxed()
}

fn counting_command() -> BoxedStrategy<CampaignCommand> {
    let single = || {
        prop_oneof![
            3 => tracker_command(),
            2 => sheet_command(),
            1 => (of(id("sess_")), of(text()), of(id("actor_")))
                .prop_map(|(session_id, scene, up)| CampaignCommand::SetSpotlight { session_id, scene, up }),
        ]
    };
    let part =
        (single(), 0..3_u8).prop_map(|(command, number)| BatchPart { pointer: format!("/trackers/{number}"), command });
    prop_oneof![3 => single(), 1 => vec(part, 0..3).prop_map(CampaignCommand::Batch)].boxed()
}

/// Any command. `Create` is frequent, since other commands need a campaign.
pub(crate) fn command() -> BoxedStrategy<CampaignCommand> {
    let mode = || prop_oneof![Just(GmMode::Human), Just(GmMode::Ai), Just(GmMode::Hybrid)];
    let create = |(name, gm_mode, theme_prompt)| CampaignCommand::Create {
        id: CAMPAIGN.to_owned(),
        name,
        gm_mode,
        theme_prompt,
    };
    prop_oneof![
        4 => (text(), mode(), text()).prop_map(create),
        1 => (of(text()), of(mode()), of(text())).prop_map(|(name, gm_mode, theme_prompt)| {
            CampaignCommand::Update { name, gm_mode, theme_prompt }
        }),
        1 => prop_oneof![Just(CampaignCommand::End), Just(CampaignCommand::Archive)],
        2 => Just(CampaignCommand::Restore),
        12 => people_command(),
        8 => play_command(),
        8 => counting_command(),
    ]
    .boxed()
}

/// How a command is sent.
#[derive(Debug, Clone)]
pub(crate) struct GeneratedCommand {
    pub(crate) command: CampaignCommand,
    pub(crate) key: Option<String>,
    pub(crate) pin: Option<RevisionPin>,
}

/// The revision that a sender expects.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RevisionPin {
    /// The newest, as long as nobody sends at the same time.
    Newest,
    /// This revision, which is the newest only once.
    Fixed(u64),
}

/// One action of a sender.
#[derive(Debug, Clone)]
pub(crate) enum SenderAction {
    Send(GeneratedCommand),
    /// Sends again what was sent this many actions ago.
    Redecide(usize),
}

fn sender_action() -> impl Strategy<Value = SenderAction> {
    // Few keys, so that some are used for another request.
    let key = of((0..12_u8).prop_map(|number| format!("key {number}")));
    let pin = prop_oneof![
        6 => Just(None),
        1 => Just(Some(RevisionPin::Newest)),
        1 => (0..12_u64).prop_map(|revision| Some(RevisionPin::Fixed(revision))),
    ];
    let send = (command(), key, pin)
        .prop_map(|(command, key, pin)| SenderAction::Send(GeneratedCommand { command, key, pin }));
    prop_oneof![5 => send, 1 => (1..12_usize).prop_map(SenderAction::Redecide)]
}

/// Groups of actions, one group after the other. The actions of a group are sent at the same time.
pub(crate) fn action_groups() -> impl Strategy<Value = Vec<Vec<SenderAction>>> {
    vec(prop_oneof![3 => vec(sender_action(), 1), 1 => vec(sender_action(), 2..5)], 1..30)
}
