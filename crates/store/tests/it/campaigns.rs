//! Any commands to a campaign come to the same on every store as by the rules alone, step by step.

use app::journal::{Ask, Failure, Limits, StreamName, Streams, Verdict, to_micros, verify};
use domain::campaign::{
    ActorKind, CampaignCommand, CampaignRefusal, CampaignRules, CampaignState, Controller, GmMode, RecordedRoll, Role,
};
use domain::decider::{Decider, Given};
use jiff::Timestamp;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;

use crate::places::{Kind, Place, block_on};

/// Each case is played on a store for real, so there are fewer than of pure ones.
const FEWER: u32 = 16;

const CAMPAIGN: &str = "camp_1";

/// Few ids, so that commands meet each other's things.
fn id(prefix: &'static str) -> impl Strategy<Value = String> {
    (0..4_u8).prop_map(move |number| format!("{prefix}{number}"))
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![6 => "[a-zäß🎲'\"\\\\]{1,8}", 1 => Just(String::new()), 1 => Just("x".repeat(10_001))]
}

fn people() -> impl Strategy<Value = CampaignCommand> {
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
}

fn play() -> impl Strategy<Value = CampaignCommand> {
    let session = || of(id("sess_"));
    prop_oneof![
        2 => (id("sess_"), text()).prop_map(|(id, name)| CampaignCommand::StartSession { id, name }),
        1 => session().prop_map(|session_id| CampaignCommand::EndSession { session_id }),
        1 => (id("note_"), session(), text())
            .prop_map(|(id, session_id, text)| CampaignCommand::AddNote { id, session_id, text }),
        1 => (id("roll_"), session(), of(id("part_")), of(id("actor_")), text()).prop_map(
            |(id, session_id, participant_id, actor_id, text)| {
                CampaignCommand::RecordRoll(Box::new(RecordedRoll {
                    id,
                    session_id,
                    participant_id,
                    actor_id,
                    tool: "roll".to_owned(),
                    expression: None,
                    input: json!({ "expression": text }),
                    result: json!({ "total": 7 }),
                    chance: None,
                    rng: None,
                }))
            }
        ),
    ]
}

fn command() -> impl Strategy<Value = CampaignCommand> {
    let create = |name| CampaignCommand::Create {
        id: CAMPAIGN.to_owned(),
        name,
        gm_mode: GmMode::Hybrid,
        theme_prompt: " dark\n".to_owned(),
    };
    prop_oneof![
        4 => text().prop_map(create),
        1 => of(text()).prop_map(|name| CampaignCommand::Update { name, gm_mode: None, theme_prompt: None }),
        1 => prop_oneof![Just(CampaignCommand::End), Just(CampaignCommand::Archive)],
        2 => Just(CampaignCommand::Restore),
        12 => people(),
        8 => play(),
    ]
}

fn given(step: usize) -> Given {
    let at = Timestamp::from_millisecond(1_768_478_400_123 + 777 * i64::try_from(step).unwrap()).unwrap();
    Given { at: to_micros(at), by: format!("principal {}", step % 3) }
}

/// What the rules alone come to.
fn tried(state: &CampaignState, command: &CampaignCommand, given: &Given) -> Result<CampaignState, CampaignRefusal> {
    let events = CampaignRules::decide(state, command, given)?;
    Ok(events.iter().fold(state.clone(), |state, event| CampaignRules::evolve(state, event, given)))
}

/// Plays a case on a store, and compares after every step.
async fn played(place: &Place, commands: Vec<CampaignCommand>) {
    let stream = StreamName::new("campaign", CAMPAIGN);
    let limits = Limits { records_per_snapshot: 7, ..Limits::default() };
    let mut streams = Streams::<CampaignRules>::with_limits(place.journal.clone(), limits);
    let (mut state, mut revision) = (CampaignState::default(), 0);
    for (step, command) in commands.into_iter().enumerate() {
        if step == 20 {
            // Somebody else goes on, who knows nothing but the store.
            streams = Streams::with_limits(place.beside().await, limits);
        }
        let expected = tried(&state, &command, &given(step));
        let answer = streams.execute(&stream, Ask::new(command, given(step))).await;
        match (expected, answer) {
            (Ok(next), Ok(done)) => {
                revision += 1;
                assert_eq!((&done.kept.state, done.revision), (&next, revision));
                state = next;
            }
            (Err(refusal), Err(Failure::Refused(refused))) => assert_eq!(refused, refusal),
            (expected, answer) => panic!("the rules: {expected:?}, the store: {:?}", answer.map(|done| done.revision)),
        }
        let kept = streams.read(&stream).await.unwrap();
        assert_eq!((&kept.state, kept.revision()), (&state, revision), "after step {step}");
    }
    let anew = Streams::<CampaignRules>::new(place.beside().await).read(&stream).await.unwrap();
    assert_eq!((&anew.state, anew.revision()), (&state, revision), "read again");
    listed(place, &state).await;
}

/// Whether the read models say what the state does.
async fn listed(place: &Place, state: &CampaignState) {
    let body = |collection: &'static str, id: String| async move {
        place.journal.document(collection, &id).await.unwrap().map(|document| document.body)
    };
    let shown = state.campaign().map(|campaign| serde_json::to_string(campaign).unwrap());
    assert_eq!(body("campaigns", CAMPAIGN.to_owned()).await, shown);
    let here = Some(json!({ "campaign_id": CAMPAIGN }).to_string());
    for number in 0..4 {
        let (session, participant) = (format!("sess_{number}"), format!("part_{number}"));
        let expected = here.clone().filter(|_| state.sessions().contains(&session));
        assert_eq!(body("sessions", session).await, expected);
        let expected = here.clone().filter(|_| state.participants().contains(&participant));
        assert_eq!(body("participants", participant).await, expected);
    }
}

fn any_commands_come_to_the_same(kind: Kind) {
    let config = Config::default();
    let config = Config { cases: (config.cases / FEWER).max(4), failure_persistence: None, ..config };
    let outcome = TestRunner::new(config).run(&vec(command(), 1..40), |commands| {
        block_on(async {
            let place = Place::new(kind).await;
            played(&place, commands).await;
            let verdict = verify(&*place.journal, &app::nouns()).await.unwrap();
            assert!(matches!(verdict, Verdict::Sound(_)), "{verdict:?}");
        });
        Ok(())
    });
    outcome.unwrap();
}

mod memory {
    #[test]
    fn any_commands_come_to_the_same() {
        super::any_commands_come_to_the_same(crate::places::Kind::Memory);
    }
}

mod sqlite {
    #[test]
    fn any_commands_come_to_the_same() {
        super::any_commands_come_to_the_same(crate::places::Kind::Sqlite);
    }
}

mod postgres {
    #[test]
    fn any_commands_come_to_the_same() {
        super::any_commands_come_to_the_same(crate::places::Kind::Postgres);
    }
}
