use jiff::Timestamp;
use serde_json::{Value, json, to_value};

use super::*;
use crate::decider::{Decider, DecisionContext};
use crate::dice::notation::Duality;
use crate::dice::{RandomRequest, roll_duality};
use crate::limits;

/// A campaign under test. Each command advances the clock by a minute.
pub(super) struct CampaignFixture {
    pub(super) state: CampaignState,
    pub(super) journal: Vec<(DecisionContext, CampaignEvent)>,
    pub(super) clock: Timestamp,
}

impl CampaignFixture {
    pub(super) fn empty() -> Self {
        let clock = "2025-01-15T10:00:00.25Z".parse().unwrap();
        Self { state: CampaignState::default(), journal: Vec::new(), clock }
    }

    /// A campaign with a game master, a player and two actors, before its first session.
    pub(super) fn with_people() -> Self {
        let mut table = Self::empty();
        table.expect_events(create("The Lost Expedition"));
        table.expect_events(add_participant("part_mira", "Mira", Role::Gm));
        table.expect_events(add_participant("part_alice", "Alice", Role::Player));
        table.expect_events(add_actor("actor_thorin", "Thorin Ironforge", ActorKind::Pc));
        table.expect_events(add_actor("actor_wolf", "Grey Wolf", ActorKind::Npc));
        table
    }

    /// The same with an active session.
    pub(super) fn with_session() -> Self {
        let mut table = Self::with_people();
        table.expect_events(start_session("sess_1", "Session 1: The Journey Begins"));
        table
    }

    pub(super) fn given() -> DecisionContext {
        DecisionContext { at: Self::empty().clock, by: "local".to_owned() }
    }

    pub(super) fn run(&mut self, command: &CampaignCommand) -> Result<Vec<CampaignEvent>, CampaignRefusal> {
        self.clock += jiff::SignedDuration::from_mins(1);
        let given = DecisionContext { at: self.clock, by: "local".to_owned() };
        let events = CampaignRules::decide(&self.state, command, &given)?;
        for event in &events {
            self.state = CampaignRules::evolve(std::mem::take(&mut self.state), event, &given);
            self.journal.push((given.clone(), event.clone()));
        }
        Ok(events)
    }

    #[expect(clippy::needless_pass_by_value, reason = "commands are made where they are given")]
    pub(super) fn expect_events(&mut self, command: CampaignCommand) -> Vec<CampaignEvent> {
        self.run(&command).unwrap_or_else(|refusal| panic!("{command:?}: {refusal}"))
    }

    /// Expects a refusal and an unchanged state.
    #[expect(clippy::needless_pass_by_value, reason = "commands are made where they are given")]
    pub(super) fn expect_refusal(&mut self, command: CampaignCommand) -> CampaignRefusal {
        let before = self.state.clone();
        let refusal = self.run(&command).expect_err("a refusal");
        assert_eq!(self.state, before);
        refusal
    }

    pub(super) fn campaign(&self) -> &Campaign {
        self.state.campaign().unwrap()
    }

    fn status(&self) -> CampaignStatus {
        self.campaign().status
    }
}

pub(super) fn create(name: &str) -> CampaignCommand {
    CampaignCommand::Create {
        id: "camp_lost".to_owned(),
        name: name.to_owned(),
        gm_mode: GmMode::Human,
        theme_prompt: "A cursed forest".to_owned(),
    }
}

pub(super) fn add_participant(id: &str, name: &str, role: Role) -> CampaignCommand {
    CampaignCommand::AddParticipant {
        id: id.to_owned(),
        display_name: name.to_owned(),
        role,
        controller: Controller::Human,
    }
}

pub(super) fn add_actor(id: &str, name: &str, kind: ActorKind) -> CampaignCommand {
    CampaignCommand::AddActor { id: id.to_owned(), name: name.to_owned(), kind, notes: String::new() }
}

pub(super) fn set_actor_control(actor_id: &str, controller: &str) -> CampaignCommand {
    CampaignCommand::SetActorControl { actor_id: actor_id.to_owned(), controller: controller.to_owned() }
}

pub(super) fn start_session(id: &str, name: &str) -> CampaignCommand {
    CampaignCommand::StartSession { id: id.to_owned(), name: name.to_owned() }
}

pub(super) fn end_session() -> CampaignCommand {
    CampaignCommand::EndSession { session_id: None }
}

/// A note whose id follows from its text.
pub(super) fn add_note(text: &str) -> CampaignCommand {
    CampaignCommand::AddNote {
        id: format!("note_{}", text.trim()),
        session_id: None,
        text: text.to_owned(),
        tags: Vec::new(),
    }
}

pub(super) fn remove_participant(id: &str) -> CampaignCommand {
    CampaignCommand::RemoveParticipant { participant_id: id.to_owned() }
}

pub(super) fn recorded_roll() -> RecordedRoll {
    let (judgement, rng) = roll_duality(
        Duality { modifier: 2, difficulty: Some(15), ..Duality::default() },
        RandomRequest::default(),
        [7; 32],
    )
    .unwrap();
    RecordedRoll {
        id: "roll_1".to_owned(),
        tool: "duality_action_roll".to_owned(),
        expression: Some("duality(+2, dc 15)".to_owned()),
        input: json!({ "modifier": 2, "difficulty": 15 }),
        result: to_value(judgement).unwrap(),
        rng: Some(rng),
        ..RecordedRoll::default()
    }
}

fn record_roll(roll: RecordedRoll) -> CampaignCommand {
    CampaignCommand::RecordRoll(Box::new(roll))
}

fn update_name(name: Option<&str>) -> CampaignCommand {
    CampaignCommand::Update { name: name.map(str::to_owned), gm_mode: None, theme_prompt: None }
}

#[test]
fn a_new_campaign_reads_as_its_clients_expect() {
    let mut table = CampaignFixture::empty();
    table.expect_events(create("  The Lost Expedition "));
    assert_eq!(
        to_value(table.campaign()).unwrap(),
        json!({
            "id": "camp_lost",
            "name": "The Lost Expedition",
            "gm_mode": "HUMAN",
            "participant_count": 0,
            "actor_count": 0,
            "theme_prompt": "A cursed forest",
            "status": "DRAFT",
            "created_at": "2025-01-15T10:01:00Z",
            "updated_at": "2025-01-15T10:01:00Z",
        })
    );
}

#[test]
fn people_and_sessions_read_as_their_clients_expect() {
    let mut table = CampaignFixture::with_session();
    table.expect_events(set_actor_control("actor_thorin", "part_alice"));
    let state = &table.state;
    assert_eq!(
        to_value(state.participants().get("part_alice")).unwrap(),
        json!({
            "id": "part_alice",
            "campaign_id": "camp_lost",
            "display_name": "Alice",
            "role": "PLAYER",
            "controller": "HUMAN",
            "created_at": "2025-01-15T10:03:00Z",
            "updated_at": "2025-01-15T10:03:00Z",
        })
    );
    assert_eq!(
        to_value(state.actors().get("actor_thorin")).unwrap(),
        json!({
            "id": "actor_thorin",
            "campaign_id": "camp_lost",
            "name": "Thorin Ironforge",
            "kind": "PC",
            "notes": "",
            "controller": "part_alice",
            "created_at": "2025-01-15T10:04:00Z",
            "updated_at": "2025-01-15T10:07:00Z",
        })
    );
    assert!(to_value(state.actors().get("actor_wolf")).unwrap().get("controller").is_none());
    assert_eq!(
        to_value(state.active_session()).unwrap(),
        json!({
            "id": "sess_1",
            "campaign_id": "camp_lost",
            "name": "Session 1: The Journey Begins",
            "status": "ACTIVE",
            "note_count": 0,
            "roll_count": 0,
            "started_at": "2025-01-15T10:06:00Z",
            "updated_at": "2025-01-15T10:06:00Z",
        })
    );
    assert_eq!((table.campaign().participant_count, table.campaign().actor_count), (2, 2));
}

#[test]
fn words_are_read_in_any_case_and_written_in_capitals() {
    let read = |word: &str| serde_json::from_value::<GmMode>(Value::from(word));
    assert_eq!(read(" hybrid ").unwrap(), GmMode::Hybrid);
    assert_eq!(to_value(GmMode::Ai).unwrap(), json!("AI"));
    assert_eq!(read("robot").unwrap_err().to_string(), "\"robot\" is not allowed, allowed: HUMAN, AI, HYBRID");
    assert_eq!(ActorController::read(" gm "), ActorController::Gm);
    assert_eq!(to_value(ActorController::Gm).unwrap(), json!("GM"));
}

#[test]
fn every_word_is_written_as_it_is_read() {
    fn same<T: serde::Serialize + std::str::FromStr<Err = String>>(words: &[&str]) {
        for word in words {
            assert_eq!(to_value(word.parse::<T>().unwrap()).unwrap(), json!(word));
        }
    }
    same::<GmMode>(GmMode::WORDS);
    same::<CampaignStatus>(CampaignStatus::WORDS);
    same::<Role>(Role::WORDS);
    same::<Controller>(Controller::WORDS);
    same::<ActorKind>(ActorKind::WORDS);
    same::<SessionStatus>(SessionStatus::WORDS);
}

#[test]
fn a_campaign_is_created_once_and_before_anything_else() {
    let mut table = CampaignFixture::empty();
    assert_eq!(table.expect_refusal(update_name(Some("x"))), CampaignRefusal::CampaignNotFound);
    assert_eq!(table.expect_refusal(end_session()), CampaignRefusal::CampaignNotFound);
    assert_eq!(table.expect_refusal(record_roll(recorded_roll())), CampaignRefusal::CampaignNotFound);
    table.expect_events(create("One"));
    let refusal = table.expect_refusal(create("Two"));
    assert_eq!(refusal, CampaignRefusal::CampaignExists { campaign_id: "camp_lost".to_owned() });
}

#[test]
fn names_are_trimmed_required_and_bounded() {
    let mut table = CampaignFixture::empty();
    assert_eq!(table.expect_refusal(create(" \n ")), CampaignRefusal::Empty { field: "name" });
    let chars = limits::NAME_CHARS_MAX + 1;
    let refusal = table.expect_refusal(create(&"é".repeat(chars)));
    assert_eq!(refusal, CampaignRefusal::TooLong { field: "name", chars, chars_max: limits::NAME_CHARS_MAX });
    for character in ['\n', '\u{1b}', '\u{202e}', '\u{e0041}'] {
        let refusal = table.expect_refusal(create(&format!("a{character}b")));
        assert_eq!(refusal, CampaignRefusal::Deceptive { field: "name", character });
    }
    table.expect_events(create(&format!(" {} ", "é".repeat(limits::NAME_CHARS_MAX))));

    let refusal = table.expect_refusal(add_participant("part_1", "", Role::Player));
    assert_eq!(refusal, CampaignRefusal::Empty { field: "display_name" });
    assert_eq!(table.expect_refusal(add_actor("actor_1", "", ActorKind::Pc)), CampaignRefusal::Empty { field: "name" });
    // A session may go without a name.
    table.expect_events(start_session("sess_1", "  "));
    assert_eq!(table.state.active_session().unwrap().name, "");
    table.expect_events(end_session());
    let refusal = table.expect_refusal(start_session("sess_2", &"x".repeat(chars)));
    assert_eq!(refusal, CampaignRefusal::TooLong { field: "name", chars, chars_max: limits::NAME_CHARS_MAX });
}

#[test]
fn texts_are_bounded_and_a_theme_keeps_its_spaces() {
    let mut table = CampaignFixture::with_session();
    let chars = limits::TEXT_CHARS_MAX + 1;
    let (long, longest) = ("x".repeat(chars), "x".repeat(limits::TEXT_CHARS_MAX));
    let too_long = |field| CampaignRefusal::TooLong { field, chars, chars_max: limits::TEXT_CHARS_MAX };
    let theme =
        |theme: &str| CampaignCommand::Update { name: None, gm_mode: None, theme_prompt: Some(theme.to_owned()) };
    let notes = |notes: &str| CampaignCommand::UpdateActor {
        actor_id: "actor_wolf".to_owned(),
        name: None,
        kind: None,
        notes: Some(notes.to_owned()),
    };
    assert_eq!(table.expect_refusal(theme(&long)), too_long("theme_prompt"));
    assert_eq!(table.expect_refusal(notes(&long)), too_long("notes"));
    assert_eq!(table.expect_refusal(add_note(&long)), too_long("text"));
    assert_eq!(table.expect_refusal(add_note("  ")), CampaignRefusal::Empty { field: "text" });
    for command in [theme(&longest), notes(&longest), add_note(&longest), notes(" howls\n"), theme(" dark\n")] {
        table.expect_events(command);
    }
    assert_eq!(table.campaign().theme_prompt, " dark\n");
    assert_eq!(table.state.actors().get("actor_wolf").unwrap().notes, "howls");
}

#[test]
fn an_update_changes_what_it_names_and_must_name_something() {
    let mut table = CampaignFixture::with_people();
    let refusal = table.expect_refusal(update_name(None));
    assert_eq!(refusal.allowed_values(), ["name", "gm_mode", "theme_prompt"]);
    table.expect_events(CampaignCommand::Update { name: None, gm_mode: Some(GmMode::Ai), theme_prompt: None });
    let campaign = table.campaign();
    assert_eq!((campaign.name.as_str(), campaign.gm_mode), ("The Lost Expedition", GmMode::Ai));
    assert_eq!(campaign.updated_at.to_string(), "2025-01-15T10:07:00Z");

    let participant = |id: &str, role| CampaignCommand::UpdateParticipant {
        participant_id: id.to_owned(),
        display_name: None,
        role,
        controller: None,
    };
    let refusal = table.expect_refusal(participant("part_alice", None));
    assert_eq!(refusal.allowed_values(), ["display_name", "role", "controller"]);
    let refusal = table.expect_refusal(participant("part_nobody", Some(Role::Gm)));
    assert_eq!(refusal.pointer().as_deref(), Some("/participant_id"));
    table.expect_events(participant(" part_alice ", Some(Role::Gm)));
    let alice = table.state.participants().get("part_alice").unwrap();
    assert_eq!((alice.display_name.as_str(), alice.role), ("Alice", Role::Gm));
    assert!(alice.updated_at > alice.created_at);

    let actor =
        |id: &str, kind| CampaignCommand::UpdateActor { actor_id: id.to_owned(), name: None, kind, notes: None };
    assert_eq!(
        table.expect_refusal(actor("actor_wolf", None)).allowed_values(),
        ["name", "kind", "notes", "controller", "template", "traits", "trackers"]
    );
    let refusal = table.expect_refusal(actor("actor_none", Some(ActorKind::Pc)));
    assert_eq!(refusal, CampaignRefusal::ActorNotFound { actor_id: "actor_none".to_owned() });
    table.expect_events(actor("actor_wolf", Some(ActorKind::Pc)));
    assert_eq!(table.state.actors().get("actor_wolf").unwrap().kind, ActorKind::Pc);
}

#[test]
fn the_first_session_makes_a_draft_active() {
    let mut table = CampaignFixture::with_people();
    assert_eq!(table.status(), CampaignStatus::Draft);
    let kinds: Vec<&str> = table.expect_events(start_session("sess_1", "")).iter().map(CampaignEvent::kind).collect();
    assert_eq!(kinds, ["campaign.activated.v1", "session.started.v1"]);
    assert_eq!(table.status(), CampaignStatus::Active);
    table.expect_events(end_session());
    assert_eq!(table.expect_events(start_session("sess_2", "")).len(), 1);
}

#[test]
fn a_campaign_has_one_active_session() {
    let mut table = CampaignFixture::with_session();
    let refusal = table.expect_refusal(start_session("sess_2", ""));
    assert_eq!(refusal, CampaignRefusal::ActiveSessionExists { session_id: "sess_1".to_owned() });
    assert_eq!(refusal.to_string(), "active session exists: sess_1");
    assert_eq!(refusal.kind(), CampaignRefusalKind::ActiveSessionExists);
    table.expect_events(CampaignCommand::EndSession { session_id: Some(" sess_1 ".to_owned()) });
    let session = table.state.sessions().get("sess_1").unwrap();
    assert_eq!((session.status, session.ended_at), (SessionStatus::Ended, Some(session.updated_at)));
    assert_eq!(table.state.active_session(), None);
    assert_eq!(table.expect_refusal(end_session()), CampaignRefusal::NoActiveSession);
    let end = |id: &str| CampaignCommand::EndSession { session_id: Some(id.to_owned()) };
    let session_id = "sess_1".to_owned();
    assert_eq!(table.expect_refusal(end("sess_1")), CampaignRefusal::SessionEnded { session_id });
    let session_id = "sess_9".to_owned();
    assert_eq!(table.expect_refusal(end("sess_9")), CampaignRefusal::SessionNotFound { session_id });
    assert_eq!(table.expect_refusal(end("")), CampaignRefusal::Empty { field: "session_id" });
    assert_eq!(table.expect_refusal(start_session("sess_1", "")), CampaignRefusal::IdTaken { id: "sess_1".to_owned() });
    table.expect_events(start_session("sess_2", ""));
}

#[test]
fn statuses_follow_each_other_as_drawn() {
    use CampaignCommand::{Archive, End, Restore};
    use CampaignStatus::{Active, Archived, Completed, Draft};
    let forbids = |status, action| CampaignRefusal::StatusForbids { status, action };
    let mut table = CampaignFixture::with_people();
    assert_eq!(table.expect_refusal(End), forbids(Draft, CampaignAction::End));
    assert_eq!(table.expect_refusal(Restore), forbids(Draft, CampaignAction::Restore));
    table.expect_events(start_session("sess_1", ""));
    for (command, action) in [(End, CampaignAction::End), (Archive, CampaignAction::Archive)] {
        let refusal = table.expect_refusal(command);
        assert_eq!(refusal, CampaignRefusal::SessionGoesOn { session_id: "sess_1".to_owned(), action });
        assert_eq!(refusal.kind(), CampaignRefusalKind::ActiveSessionExists);
    }
    table.expect_events(end_session());
    assert_eq!(table.expect_refusal(Restore), forbids(Active, CampaignAction::Restore));
    table.expect_events(End);
    assert_eq!(table.campaign().completed_at, Some(table.campaign().updated_at));
    assert_eq!(table.expect_refusal(End), forbids(Completed, CampaignAction::End));
    assert_eq!(table.expect_refusal(Restore), forbids(Completed, CampaignAction::Restore));
    table.expect_events(Archive);
    assert_eq!(table.campaign().archived_at, Some(table.campaign().updated_at));
    assert!(table.campaign().completed_at.is_some());
    assert_eq!(table.expect_refusal(Archive), forbids(Archived, CampaignAction::Archive));
    table.expect_events(Restore);
    let campaign = table.campaign();
    assert_eq!((campaign.status, campaign.completed_at, campaign.archived_at), (Draft, None, None));
    // From a draft and from an active campaign too.
    table.expect_events(Archive);
    table.expect_events(Restore);
    table.expect_events(start_session("sess_2", ""));
    table.expect_events(end_session());
    table.expect_events(Archive);
    assert_eq!(table.status(), Archived);
}

#[test]
fn what_is_over_or_put_away_is_not_changed() {
    let changes = || {
        [
            update_name(Some("x")),
            add_participant("part_new", "New", Role::Player),
            CampaignCommand::UpdateParticipant {
                participant_id: "part_alice".to_owned(),
                display_name: None,
                role: Some(Role::Gm),
                controller: None,
            },
            remove_participant("part_alice"),
            add_actor("actor_new", "New", ActorKind::Npc),
            CampaignCommand::UpdateActor {
                actor_id: "actor_wolf".to_owned(),
                name: None,
                kind: Some(ActorKind::Pc),
                notes: None,
            },
            CampaignCommand::RemoveActor { actor_id: "actor_wolf".to_owned() },
            set_actor_control("actor_wolf", "GM"),
            start_session("sess_2", ""),
            CampaignCommand::AddNote {
                id: "note_1".to_owned(),
                session_id: Some("sess_1".to_owned()),
                text: "x".to_owned(),
                tags: Vec::new(),
            },
            record_roll(recorded_roll()),
        ]
    };
    let mut table = CampaignFixture::with_session();
    table.expect_events(end_session());
    for (command, status) in
        [(CampaignCommand::End, CampaignStatus::Completed), (CampaignCommand::Archive, CampaignStatus::Archived)]
    {
        table.expect_events(command);
        for change in changes() {
            let refusal = table.expect_refusal(change);
            assert!(
                matches!(refusal, CampaignRefusal::StatusForbids { status: given, .. } if given == status),
                "{refusal:?}"
            );
            assert_eq!(refusal.kind(), CampaignRefusalKind::Rejected);
        }
    }
}

#[test]
fn control_goes_to_the_game_master_or_to_a_participant() {
    let mut table = CampaignFixture::with_people();
    let controller =
        |table: &CampaignFixture| table.state.actors().get("actor_thorin").and_then(|actor| actor.controller.clone());
    table.expect_events(set_actor_control(" actor_thorin ", "gm"));
    assert_eq!(controller(&table), Some(ActorController::Gm));
    table.expect_events(set_actor_control("actor_thorin", " part_alice "));
    assert_eq!(controller(&table), Some(ActorController::Participant("part_alice".to_owned())));

    let refusal = table.expect_refusal(set_actor_control("actor_thorin", "part_nobody"));
    assert_eq!((refusal.kind(), refusal.value()), (CampaignRefusalKind::NotFound, Some("part_nobody")));
    assert_eq!(refusal.pointer().as_deref(), Some("/controller"));
    assert_eq!(refusal.hint(), "send GM, or the name or id of a participant of this campaign");
    assert_eq!(
        table.expect_refusal(set_actor_control("actor_thorin", " ")),
        CampaignRefusal::Empty { field: "controller" }
    );
    let refusal = table.expect_refusal(set_actor_control("actor_none", "GM"));
    assert_eq!(refusal, CampaignRefusal::ActorNotFound { actor_id: "actor_none".to_owned() });
    assert_eq!(table.expect_refusal(set_actor_control("", "GM")), CampaignRefusal::Empty { field: "actor_id" });
}

#[test]
fn whoever_leaves_lets_go_of_their_actors() {
    let mut table = CampaignFixture::with_people();
    table.expect_events(add_participant("part_alice2", "Alice", Role::Player));
    table.expect_events(set_actor_control("actor_thorin", "part_alice"));
    table.expect_events(set_actor_control("actor_wolf", "part_alice2"));
    assert_eq!(table.state.actor_ids_played_by("part_alice").collect::<Vec<_>>(), ["actor_thorin"]);
    let events = table.expect_events(remove_participant("part_alice"));
    assert_eq!(
        events,
        [CampaignEvent::ParticipantRemoved {
            participant_id: "part_alice".to_owned(),
            display_name: "Alice".to_owned(),
            released_actor_ids: vec!["actor_thorin".to_owned()],
        }]
    );
    assert_eq!(table.state.actors().get("actor_thorin").unwrap().controller, None);
    assert!(table.state.actors().get("actor_wolf").unwrap().controller.is_some());
    assert_eq!(table.campaign().participant_count, 2);
    let refusal = table.expect_refusal(remove_participant("part_alice"));
    assert_eq!(refusal.to_string(), "there is no participant part_alice in this campaign");
    // An actor that leaves is not released a second time.
    table.expect_events(CampaignCommand::RemoveActor { actor_id: "actor_wolf".to_owned() });
    assert_eq!(table.campaign().actor_count, 1);
    assert_eq!(table.state.actor_ids_played_by("part_alice2").count(), 0);
}

#[test]
fn several_game_masters_and_equal_names_are_fine_but_not_equal_ids() {
    let mut table = CampaignFixture::with_people();
    table.expect_events(add_participant("part_mira2", "Mira", Role::Gm));
    table.expect_events(add_actor("actor_wolf2", "Grey Wolf", ActorKind::Npc));
    let refusal = table.expect_refusal(add_participant("part_mira", "Mira", Role::Gm));
    assert_eq!(refusal, CampaignRefusal::IdTaken { id: "part_mira".to_owned() });
    let refusal = table.expect_refusal(add_actor("actor_wolf", "Grey Wolf", ActorKind::Npc));
    assert_eq!(refusal, CampaignRefusal::IdTaken { id: "actor_wolf".to_owned() });
}

#[test]
fn a_campaign_is_full_at_its_limit() {
    let mut table = CampaignFixture::empty();
    table.expect_events(create("Crowded"));
    for number in 0..limits::PARTICIPANTS_MAX {
        table.expect_events(add_participant(&format!("part_{number}"), "One", Role::Player));
    }
    let refusal = table.expect_refusal(add_participant("part_last", "One", Role::Player));
    assert_eq!(refusal.to_string(), "a campaign has at most 1000 participants");
    assert_eq!(refusal.kind(), CampaignRefusalKind::TooLarge);
    for number in 0..limits::ACTORS_MAX {
        table.expect_events(add_actor(&format!("actor_{number}"), "One", ActorKind::Npc));
    }
    let refusal = table.expect_refusal(add_actor("actor_last", "One", ActorKind::Npc));
    assert_eq!(refusal, CampaignRefusal::TooMany { things: "actors", count_max: limits::ACTORS_MAX });
    for number in 0..limits::PLAY_SESSIONS_MAX {
        table.expect_events(start_session(&format!("sess_{number}"), ""));
        table.expect_events(end_session());
    }
    let refusal = table.expect_refusal(start_session("sess_last", ""));
    assert_eq!(refusal, CampaignRefusal::TooMany { things: "sessions", count_max: limits::PLAY_SESSIONS_MAX });
}

#[test]
fn a_roll_belongs_to_the_active_session_or_to_none() {
    let mut table = CampaignFixture::with_people();
    let session_of = |events: &[CampaignEvent]| match events {
        [CampaignEvent::RollRecorded(roll)] => roll.session_id.clone(),
        other => panic!("{other:?}"),
    };
    // Characters are rolled before the first session.
    assert_eq!(session_of(&table.expect_events(record_roll(recorded_roll()))), None);
    let named =
        |session_id: &str| record_roll(RecordedRoll { session_id: Some(session_id.to_owned()), ..recorded_roll() });
    let forbidden = CampaignRefusal::StatusForbids { status: CampaignStatus::Draft, action: CampaignAction::Play };
    assert_eq!(table.expect_refusal(named("sess_1")), forbidden);
    table.expect_events(start_session("sess_1", ""));
    assert_eq!(session_of(&table.expect_events(record_roll(recorded_roll()))).as_deref(), Some("sess_1"));
    assert_eq!(session_of(&table.expect_events(named(" sess_1 "))).as_deref(), Some("sess_1"));
    assert_eq!(table.state.active_session().unwrap().roll_count, 2);
    let session_id = "sess_9".to_owned();
    assert_eq!(table.expect_refusal(named("sess_9")), CampaignRefusal::SessionNotFound { session_id });
    table.expect_events(end_session());
    let session_id = "sess_1".to_owned();
    assert_eq!(table.expect_refusal(named("sess_1")), CampaignRefusal::SessionEnded { session_id });
    assert_eq!(session_of(&table.expect_events(record_roll(recorded_roll()))), None);
}

#[test]
fn a_roll_names_people_of_this_campaign() {
    let mut table = CampaignFixture::with_session();
    let by = |participant_id: Option<&str>, actor_id: Option<&str>| {
        let (participant_id, actor_id) = (participant_id.map(str::to_owned), actor_id.map(str::to_owned));
        record_roll(RecordedRoll { participant_id, actor_id, ..recorded_roll() })
    };
    table.expect_events(by(Some("part_alice"), Some("actor_thorin")));
    let refusal = table.expect_refusal(by(Some("part_nobody"), None));
    assert_eq!(refusal.pointer().as_deref(), Some("/participant_id"));
    let refusal = table.expect_refusal(by(None, Some("actor_none")));
    assert_eq!(refusal, CampaignRefusal::ActorNotFound { actor_id: "actor_none".to_owned() });
}

#[test]
fn lists_are_newest_first_and_keep_their_place() {
    let mut table = CampaignFixture::with_people();
    table.expect_events(add_participant("part_a", "Bob", Role::Player));
    let ids = |table: &CampaignFixture| -> Vec<String> {
        table.state.participants().newest_first().map(|participant| participant.id.clone()).collect()
    };
    assert_eq!(ids(&table), ["part_a", "part_alice", "part_mira"]);
    let page: Vec<(u64, String)> =
        table.state.participants().older_than(u64::MAX).map(|(number, one)| (number, one.id.clone())).take(2).collect();
    assert_eq!(page, [(2, "part_a".to_owned()), (1, "part_alice".to_owned())]);
    table.expect_events(remove_participant("part_alice"));
    table.expect_events(add_participant("part_b", "Cyd", Role::Player));
    let rest: Vec<&str> = table.state.participants().older_than(1).map(|(_, one)| one.id.as_str()).collect();
    assert_eq!(rest, ["part_mira"]);
    assert_eq!(ids(&table), ["part_b", "part_a", "part_mira"]);
}

#[test]
fn refusals_say_what_is_and_what_to_do() {
    let mut table = CampaignFixture::with_people();
    let refusal = table.expect_refusal(CampaignCommand::End);
    assert_eq!(refusal.to_string(), "the campaign is DRAFT, it can be ended only while it is ACTIVE");
    assert_eq!(refusal.hint(), "start a session first; to put the campaign away without one, archive it");
    assert_eq!((refusal.value(), refusal.allowed_values(), refusal.pointer()), (Some("DRAFT"), vec!["ACTIVE"], None));
    table.expect_events(CampaignCommand::Archive);
    let refusal = table.expect_refusal(update_name(Some("x")));
    assert_eq!(refusal.to_string(), "the campaign is ARCHIVED, it can be changed only while it is DRAFT or ACTIVE");
    assert_eq!(refusal.hint(), "restore the campaign first");
    let refusal =
        CampaignRefusal::StatusForbids { status: CampaignStatus::Completed, action: CampaignAction::StartSession };
    assert_eq!(refusal.hint(), "to play on, archive the campaign and restore it");
}

#[test]
fn the_first_events_of_one_campaign_begin_another() {
    let mut table = CampaignFixture::with_session();
    table.expect_events(set_actor_control("actor_thorin", "part_alice"));
    let given = table.journal[0].0.clone();
    let created = CampaignEvent::CampaignCreated {
        id: "camp_fork".to_owned(),
        name: "Another way".to_owned(),
        gm_mode: GmMode::Human,
        theme_prompt: String::new(),
    };
    for end in 1..=table.journal.len() {
        let start = CampaignRules::evolve(CampaignState::default(), &created, &given);
        let copied = &table.journal[1..end];
        let fork = copied.iter().fold(start, |state, (given, event)| CampaignRules::evolve(state, event, given));
        let ids = fork.participants().oldest_first().map(|participant| &participant.campaign_id);
        assert!(ids.chain(fork.actors().oldest_first().map(|actor| &actor.campaign_id)).all(|id| id == "camp_fork"));
        let campaign = fork.campaign().unwrap();
        assert_eq!(
            (campaign.participant_count, campaign.actor_count),
            (fork.participants().len(), fork.actors().len())
        );
    }
}
