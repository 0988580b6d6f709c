//! Property tests of campaigns on every store against the rules alone: same states, refusals and repeated answers.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::join_all;
use jiff::Timestamp;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;
use skald_app::CampaignStream;
use skald_domain::campaign::{CampaignCommand, CampaignEvent, CampaignRefusal, CampaignRules, CampaignState};
use skald_domain::decider::{Decider, DecisionContext};
use skald_journal::{
    AnswerBuilder, Applied, IdempotencyKey, JournalFailure, Limits, StreamName, Streams, Submission, VerifyVerdict,
    truncate_to_micros, verify,
};

use crate::campaign_commands::{CAMPAIGN, GeneratedCommand, RevisionPin, SenderAction, action_groups, command};
use crate::test_stores::{StoreKind, TestStore, block_on};

/// Divides the number of cases, since each runs on a real store.
const CASES_DIVISOR: u32 = 16;
/// The number of groups after which new `Streams` take over, which know nothing but the store.
const TAKEOVER_GROUP: usize = 12;

fn given(step: usize) -> DecisionContext {
    let at = Timestamp::from_millisecond(1_768_478_400_123 + 777 * i64::try_from(step).unwrap()).unwrap();
    DecisionContext { at: truncate_to_micros(at), by: format!("principal {}", step % 3) }
}

/// The reference model: the state by the rules alone, and the answers under keys.
#[derive(Default)]
struct Model {
    state: CampaignState,
    revision: u64,
    answered: BTreeMap<String, (CampaignCommand, Expected)>,
}

/// The expected answer to an accepted command.
#[derive(Debug, Clone, PartialEq)]
struct Expected {
    revision: u64,
    events: Vec<CampaignEvent>,
    answer: Option<String>,
    replayed: bool,
}

type Outcome = Result<Expected, JournalFailure<CampaignRefusal>>;

impl Model {
    /// Checks for an earlier answer under the key first, then the revision, then the rules.
    fn apply(&mut self, sent: &GeneratedCommand, expected: Option<u64>, given: &DecisionContext) -> Outcome {
        if let Some(key) = &sent.key
            && let Some((command, answer)) = self.answered.get(key)
        {
            return if *command == sent.command {
                Ok(Expected { replayed: true, ..answer.clone() })
            } else {
                Err(JournalFailure::IdempotencyMismatch { key: key.clone() })
            };
        }
        if let Some(expected) = expected.filter(|expected| *expected != self.revision) {
            return Err(JournalFailure::RevisionConflict { expected, actual: self.revision });
        }
        let events = CampaignRules::decide(&self.state, &sent.command, given).map_err(JournalFailure::Refused)?;
        self.state = events.iter().fold(self.state.clone(), |state, event| CampaignRules::evolve(state, event, given));
        self.revision += 1;
        let answer = sent.key.as_ref().map(|_| stored_answer(self.revision, &events));
        let expected = Expected { revision: self.revision, events, answer, replayed: false };
        if let Some(key) = &sent.key {
            self.answered.insert(key.clone(), (sent.command.clone(), expected.clone()));
        }
        Ok(expected)
    }
}

/// The answer that is stored under a key.
fn stored_answer(revision: u64, events: &[CampaignEvent]) -> String {
    format!("{revision}: {}", serde_json::to_string(events).unwrap())
}

fn submission(sent: &GeneratedCommand, expected: Option<u64>, given: DecisionContext) -> Submission<CampaignStream> {
    let key = sent.key.as_ref().map(|key| {
        let answer: AnswerBuilder<CampaignStream> =
            Box::new(|done: &Applied<_>| stored_answer(done.revision, &done.events));
        (IdempotencyKey::new(key, &[format!("{:?}", sent.command).as_bytes()]), answer)
    });
    Submission { expected, key, ..Submission::new(sent.command.clone(), given) }
}

/// Runs a case on a store, and compares with the model after every group.
async fn run_case(place: &TestStore, groups: Vec<Vec<SenderAction>>) {
    let stream = StreamName::new("campaign", CAMPAIGN);
    let limits = Limits { records_per_snapshot: 7, ..Limits::default() };
    let mut streams = Streams::<CampaignStream>::with_limits(place.journal.clone(), limits);
    let (mut model, mut done_before) = (Model::default(), Vec::<(GeneratedCommand, Option<u64>)>::new());
    for (number, group) in groups.into_iter().enumerate() {
        if number == TAKEOVER_GROUP {
            streams = Streams::with_limits(place.open_again().await, limits);
        }
        let (mut expectations, mut asks, mut in_doubt) = (Vec::new(), Vec::new(), BTreeSet::new());
        for step in group {
            let (sent, expected) = match step {
                SenderAction::Redecide(ago) => match done_before.len().checked_sub(ago) {
                    Some(at) => done_before[at].clone(),
                    None => continue,
                },
                SenderAction::Send(sent) => {
                    let expected = sent.pin.map(|pin| match pin {
                        RevisionPin::Newest => model.revision,
                        RevisionPin::Fixed(revision) => revision,
                    });
                    (sent, expected)
                }
            };
            // Of two concurrent commands under one key, either may be the first if one is refused, so the second is not
            // sent.
            if sent.key.as_ref().is_some_and(|key| in_doubt.contains(key)) {
                continue;
            }
            let given = given(done_before.len());
            let outcome = model.apply(&sent, expected, &given);
            in_doubt.extend(sent.key.clone().filter(|_| outcome.is_err()));
            expectations.push((outcome, model.state.clone()));
            asks.push(submission(&sent, expected, given));
            done_before.push((sent, expected));
        }
        // Sent in order, and so decided in order.
        let answers = join_all(asks.into_iter().map(|submission| streams.execute(&stream, submission))).await;
        for ((expected, state), answer) in expectations.into_iter().zip(answers) {
            let told = answer.map(|done| {
                // A retry gets the current state.
                assert!(done.replayed || done.committed.state == state, "{:?} is not {state:?}", done.committed.state);
                let Applied { revision, events, answer, replayed, .. } = done;
                Expected { revision, events: events.to_vec(), answer, replayed }
            });
            assert_eq!(told, expected, "in group {number}");
        }
        let kept = streams.read(&stream).await.unwrap();
        assert_eq!((&kept.state, kept.revision()), (&model.state, model.revision), "after group {number}");
    }
    let anew = Streams::<CampaignStream>::new(place.open_again().await).read(&stream).await.unwrap();
    assert_eq!((&anew.state, anew.revision()), (&model.state, model.revision), "read again");
    assert_read_models(place, &model.state).await;
}

/// Asserts that the read models match the state.
async fn assert_read_models(place: &TestStore, state: &CampaignState) {
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

fn check_random_commands(kind: StoreKind) {
    let config = Config::default();
    let config = Config { cases: (config.cases / CASES_DIVISOR).max(4), failure_persistence: None, ..config };
    let outcome = TestRunner::new(config).run(&action_groups(), |groups| {
        block_on(async {
            let place = TestStore::new(kind).await;
            run_case(&place, groups).await;
            let verdict = verify(&*place.journal, &skald_app::Nouns::all().stream_kinds()).await.unwrap();
            assert!(matches!(verdict, VerifyVerdict::Sound(_)), "{verdict:?}");
        });
        Ok(())
    });
    outcome.unwrap();
}

mod memory {
    #[test]
    fn any_commands_come_to_the_same() {
        super::check_random_commands(crate::test_stores::StoreKind::Memory);
    }
}

mod sqlite {
    #[test]
    fn any_commands_come_to_the_same() {
        super::check_random_commands(crate::test_stores::StoreKind::Sqlite);
    }
}

mod postgres {
    #[test]
    fn any_commands_come_to_the_same() {
        super::check_random_commands(crate::test_stores::StoreKind::Postgres);
    }
}

/// The cases above do not test a command that is never sent, accepted or refused.
#[test]
fn every_command_and_every_refusal_is_among_the_cases() {
    let mut runner = TestRunner::deterministic();
    let (mut accepted, mut refused, mut refusals) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for _ in 0..400 {
        let mut model = Model::default();
        for step in 0..60 {
            let command = command().new_tree(&mut runner).unwrap().current();
            let kind = command_kind(&command);
            match model.apply(&GeneratedCommand { command, key: None, pin: None }, None, &given(step)) {
                Ok(_) => drop(accepted.insert(kind)),
                Err(JournalFailure::Refused(refusal)) => {
                    refused.insert(kind);
                    refusals.insert(format!("{refusal:?}").split([' ', '{']).next().unwrap().to_owned());
                }
                Err(failure) => panic!("{failure:?}"),
            }
        }
    }
    let kinds = BTreeSet::from(KINDS);
    assert_eq!((&accepted, &refused), (&kinds, &kinds));
    // Refusals of limits are not among them: reaching a limit takes more commands.
    assert_eq!(refusals, REFUSALS.map(str::to_owned).into());
}

const KINDS: [&str; 26] = [
    "Create",
    "Update",
    "End",
    "Archive",
    "Restore",
    "AddParticipant",
    "UpdateParticipant",
    "RemoveParticipant",
    "AddActor",
    "UpdateActor",
    "RemoveActor",
    "SetActorControl",
    "StartSession",
    "EndSession",
    "AddNote",
    "ChangeNote",
    "RemoveNote",
    "RecordRoll",
    "RecordRolls",
    "SetActorSheet",
    "WithVisibility",
    "AsViewer",
    "ChangeVisibility",
    "Tracker",
    "SetSpotlight",
    "Batch",
];

const REFUSALS: [&str; 23] = [
    "ActiveSessionExists",
    "ActorNotFound",
    "CampaignExists",
    "CampaignNotFound",
    "DamageTooSmall",
    "Empty",
    "IdTaken",
    "InPart",
    "NoActiveSession",
    "NoThresholds",
    "NoteNotFound",
    "NothingToUpdate",
    "ParticipantNotFound",
    "PersonNotFound",
    "SessionEnded",
    "SessionGoesOn",
    "SessionNotFound",
    "SpotlightHolderNotFound",
    "StatusForbids",
    "StepWithoutTicks",
    "TooLong",
    "TrackerNotFound",
    "TrackerOutOfBounds",
];

/// Without a wildcard, so that a new command does not compile until it is named here. It must be generated and listed
/// above too.
fn command_kind(command: &CampaignCommand) -> &'static str {
    match command {
        CampaignCommand::Create { .. } => "Create",
        CampaignCommand::Update { .. } => "Update",
        CampaignCommand::End => "End",
        CampaignCommand::Archive => "Archive",
        CampaignCommand::Restore => "Restore",
        CampaignCommand::AddParticipant { .. } => "AddParticipant",
        CampaignCommand::UpdateParticipant { .. } => "UpdateParticipant",
        CampaignCommand::RemoveParticipant { .. } => "RemoveParticipant",
        CampaignCommand::AddActor { .. } => "AddActor",
        CampaignCommand::UpdateActor { .. } => "UpdateActor",
        CampaignCommand::RemoveActor { .. } => "RemoveActor",
        CampaignCommand::SetActorControl { .. } => "SetActorControl",
        CampaignCommand::StartSession { .. } => "StartSession",
        CampaignCommand::EndSession { .. } => "EndSession",
        CampaignCommand::AddNote { .. } => "AddNote",
        CampaignCommand::ChangeNote { .. } => "ChangeNote",
        CampaignCommand::RemoveNote { .. } => "RemoveNote",
        CampaignCommand::RecordRoll(_) => "RecordRoll",
        CampaignCommand::RecordRolls(_) => "RecordRolls",
        CampaignCommand::SetActorSheet { .. } => "SetActorSheet",
        CampaignCommand::WithVisibility { .. } => "WithVisibility",
        CampaignCommand::AsViewer { .. } => "AsViewer",
        CampaignCommand::ChangeVisibility { .. } => "ChangeVisibility",
        CampaignCommand::Tracker(_) => "Tracker",
        CampaignCommand::SetSpotlight { .. } => "SetSpotlight",
        CampaignCommand::Batch(_) => "Batch",
    }
}
