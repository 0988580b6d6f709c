//! Tests of secrets: who may see notes, trackers and rolls, and that a secret changes nothing that others see.

use serde_json::json;

use super::tests::{CampaignFixture, add_note, recorded_roll};
use super::*;
use crate::dice::judge;
use crate::limits;
use crate::visibility::{Viewer, Visibility};

const ALICE: &str = "part_alice";
const THORIN: &str = "actor_thorin";

fn people(ids: &[&str]) -> Visibility {
    Visibility::People(ids.iter().map(|id| (*id).to_owned()).collect())
}

fn with_visibility(visible_to: Visibility, command: CampaignCommand) -> CampaignCommand {
    CampaignCommand::WithVisibility { visible_to, command: Box::new(command) }
}

fn set_tracker(owner: TrackerOwner, name: &str, max: i64) -> CampaignCommand {
    let definition = TrackerDefinition { name: name.to_owned(), max: Some(max), ..TrackerDefinition::default() };
    CampaignCommand::Tracker(Box::new(TrackerCommand::Set { owner, definition, reason: String::new() }))
}

fn change_visibility(of: SecretSubject, visible_to: Visibility) -> CampaignCommand {
    CampaignCommand::ChangeVisibility { of, visible_to }
}

#[test]
fn a_secret_note_is_counted_for_those_who_see_it() {
    let mut table = CampaignFixture::with_session();
    let before = table.state.sessions().get("sess_1").unwrap().updated_at;
    table.expect_events(with_visibility(Visibility::GameMasters, add_note("The duke lies.")));
    table.expect_events(with_visibility(people(&[ALICE]), add_note("Alice knows.")));
    let session = table.state.sessions().get("sess_1").unwrap();
    assert_eq!((session.note_count, session.updated_at), (2, before), "a secret moves no time that others see");
    let alice = Viewer { ids: [ALICE.to_owned()].into(), ..Viewer::default() };
    let hidden = |viewer: &Viewer| table.state.hidden_counts(viewer).get("sess_1").copied().unwrap_or_default();
    assert_eq!(hidden(&Viewer::default()), HiddenCount { notes: 2, rolls: 0 });
    assert_eq!(hidden(&alice), HiddenCount { notes: 1, rolls: 0 });
    assert_eq!(hidden(&Viewer::game_master()), HiddenCount::default());
    table.expect_events(CampaignCommand::RemoveNote { note_id: "note_The duke lies.".to_owned() });
    assert_eq!(
        table.state.hidden_counts(&alice).get("sess_1"),
        None,
        "what was taken back is not subtracted a second time"
    );
}

#[test]
fn a_reveal_says_since_when_and_in_which_session() {
    let mut table = CampaignFixture::with_session();
    let note = SecretSubject::note("note_The duke lies.");
    table.expect_events(with_visibility(Visibility::GameMasters, add_note("The duke lies.")));
    table.expect_events(change_visibility(note.clone(), people(&[ALICE])));
    let events = table.expect_events(change_visibility(note.clone(), Visibility::Table));
    let [CampaignEvent::VisibilityChanged { was, session_id, .. }] = &events[..] else { panic!("{events:?}") };
    assert_eq!((was, session_id.as_deref()), (&people(&[ALICE]), Some("sess_1")));
    let steps: Vec<Visibility> =
        table.state.secret(&note).unwrap().steps.iter().map(|step| step.visible_to.clone()).collect();
    assert_eq!(steps, [Visibility::GameMasters, people(&[ALICE]), Visibility::Table]);
    let nobody = change_visibility(note, people(&["part_nobody"]));
    let refusal = CampaignRefusal::PersonNotFound { person: "part_nobody".to_owned() };
    assert_eq!(table.expect_refusal(nobody), refusal);
    let missing = change_visibility(SecretSubject::note("note_none"), Visibility::Table);
    assert_eq!(table.expect_refusal(missing), CampaignRefusal::NoteNotFound { note_id: "note_none".to_owned() });
}

#[test]
fn a_note_with_a_tag_for_game_masters_is_theirs() {
    let mut table = CampaignFixture::with_session();
    let tagged = |id: &str, tag: &str| CampaignCommand::AddNote {
        id: id.to_owned(),
        session_id: None,
        text: "The duke lies.".to_owned(),
        tags: vec![tag.to_owned()],
    };
    for (id, tag, expected) in [
        ("note_1", "GM", Visibility::GameMasters),
        ("note_2", "Secret", Visibility::GameMasters),
        ("note_3", "gm-only", Visibility::GameMasters),
        ("note_4", "secretary", Visibility::Table),
    ] {
        table.expect_events(tagged(id, tag));
        assert_eq!(table.state.visibility_of(&SecretSubject::note(id)), expected, "{tag}");
    }
    table.expect_events(with_visibility(Visibility::Table, tagged("note_5", "gm")));
    assert_eq!(table.state.visibility_of(&SecretSubject::note("note_5")), Visibility::Table, "said otherwise");
}

#[test]
fn a_tracker_that_is_set_again_is_as_secret_as_it_was() {
    let mut table = CampaignFixture::with_session();
    let owner = TrackerOwner::actor(THORIN);
    let before = table.state.actors().get(THORIN).unwrap().updated_at;
    table.expect_events(with_visibility(Visibility::GameMasters, set_tracker(owner.clone(), "Doom", 6)));
    let remove = TrackerCommand::Remove { owner: owner.clone(), name: "doom".to_owned() };
    table.expect_events(CampaignCommand::Tracker(Box::new(remove)));
    table.expect_events(set_tracker(owner.clone(), "Doom", 4));
    let actor = table.state.actors().get(THORIN).unwrap();
    assert_eq!((&actor.trackers[0].visible_to, actor.updated_at), (&Visibility::GameMasters, before));
    table.expect_events(change_visibility(SecretSubject::tracker(&owner, "DOOM"), Visibility::Table));
    assert_eq!(table.state.tracker(&owner, "Doom").unwrap().visible_to, Visibility::Table);
}

/// A sheet sets a removed tracker again, and so does a template, which also sets the campaign's Fear.
#[test]
fn a_tracker_that_a_sheet_sets_again_is_as_secret_as_it_was() {
    let mut table = CampaignFixture::with_session();
    let (owner, campaign) = (TrackerOwner::actor(THORIN), TrackerOwner::campaign());
    let hidden = [(&owner, "Doom"), (&owner, "HP"), (&campaign, "Fear")];
    for (owner, name) in hidden {
        table.expect_events(with_visibility(Visibility::GameMasters, set_tracker(owner.clone(), name, 6)));
        let remove = TrackerCommand::Remove { owner: owner.clone(), name: name.to_owned() };
        table.expect_events(CampaignCommand::Tracker(Box::new(remove)));
    }
    let doom = TrackerDefinition { name: "doom".to_owned(), max: Some(4), ..TrackerDefinition::default() };
    let sheet = ActorSheet { template: Some(GameTemplate::Daggerheart), trackers: vec![doom], ..ActorSheet::default() };
    table.expect_events(CampaignCommand::SetActorSheet { actor_id: THORIN.to_owned(), sheet: Box::new(sheet) });
    for (owner, name) in hidden {
        assert_eq!(table.state.tracker(owner, name).unwrap().visible_to, Visibility::GameMasters, "{name}");
        let secret = table.state.secret(&SecretSubject::tracker(owner, name)).unwrap();
        assert!(!secret.is_removed, "{name} is a secret again");
        let known = table.state.known_to(&Viewer::default(), "somebody");
        assert!(known.tracker(owner, name).is_none(), "{name} is not known to players");
    }
    assert_eq!(table.state.tracker(&owner, "Stress").unwrap().visible_to, Visibility::Table);
    // A template does not reveal a tracker that is there.
    table.expect_events(change_visibility(SecretSubject::tracker(&owner, "Stress"), Visibility::GameMasters));
    let sheet = ActorSheet { template: Some(GameTemplate::Plain), ..ActorSheet::default() };
    table.expect_events(CampaignCommand::SetActorSheet { actor_id: THORIN.to_owned(), sheet: Box::new(sheet) });
    assert_eq!(table.state.tracker(&owner, "Stress").unwrap().visible_to, Visibility::GameMasters);
}

/// Earlier versions recorded such a tracker as one that everybody sees.
#[test]
fn a_recorded_sheet_does_not_reveal_a_secret_tracker() {
    let mut table = CampaignFixture::with_session();
    let owner = TrackerOwner::actor(THORIN);
    table.expect_events(with_visibility(Visibility::GameMasters, set_tracker(owner.clone(), "Doom", 6)));
    let tracker = Tracker { visible_to: Visibility::Table, ..table.state.tracker(&owner, "Doom").unwrap().clone() };
    let recorded = CampaignEvent::ActorSheetSet {
        actor_id: THORIN.to_owned(),
        template: None,
        traits: [("armor".to_owned(), None)].into(),
        trackers: vec![tracker],
    };
    table.state = CampaignRules::evolve(std::mem::take(&mut table.state), &recorded, &CampaignFixture::given());
    assert_eq!(table.state.tracker(&owner, "Doom").unwrap().visible_to, Visibility::GameMasters);
}

#[test]
fn the_outcome_of_a_secret_roll_cannot_be_read_off_trackers_or_the_spotlight() {
    let mut table = CampaignFixture::with_session();
    let sheet = ActorSheet { template: Some(GameTemplate::Daggerheart), ..ActorSheet::default() };
    table.expect_events(CampaignCommand::SetActorSheet { actor_id: THORIN.to_owned(), sheet: Box::new(sheet) });
    let clock = TrackerDefinition {
        name: "The ritual".to_owned(),
        max: Some(4),
        ticks: Some(TickMoment::Fear),
        ..TrackerDefinition::default()
    };
    let clock = TrackerCommand::Set { owner: TrackerOwner::campaign(), definition: clock, reason: String::new() };
    table.expect_events(with_visibility(Visibility::GameMasters, CampaignCommand::Tracker(Box::new(clock))));
    let result = serde_json::to_value(judge(5, 8, 0, Some(12)).unwrap()).unwrap();
    let roll = RecordedRoll {
        actor_id: Some(THORIN.to_owned()),
        result,
        visible_to: Visibility::GameMasters,
        input: json!({}),
        ..recorded_roll()
    };
    let (spotlight, fear) = (table.state.spotlight().clone(), table.state.trackers[0].clone());
    let events = table.expect_events(CampaignCommand::RecordRoll(Box::new(roll)));
    let [CampaignEvent::RollRecorded(roll)] = &events[..] else { panic!("{events:?}") };
    let moved: Vec<&str> = roll.changes.iter().map(|change| change.name.as_str()).collect();
    assert_eq!(moved, ["The ritual"], "only what game masters alone see");
    assert_eq!((table.state.spotlight(), &table.state.trackers[0]), (&spotlight, &fear));
}

#[test]
fn one_visibility_names_a_limited_number_of_people() {
    let mut table = CampaignFixture::with_session();
    let ids: Vec<String> = (0..=limits::VISIBLE_TO_MAX).map(|number| format!("part_{number}")).collect();
    for id in &ids {
        table.expect_events(super::tests::add_participant(id, id, Role::Player));
    }
    let at_limit = Visibility::People(ids.iter().take(limits::VISIBLE_TO_MAX).cloned().collect());
    table.expect_events(with_visibility(at_limit, add_note("For many.")));
    let past = with_visibility(Visibility::People(ids.into_iter().collect()), add_note("For all."));
    let refusal = table.expect_refusal(past);
    assert!(matches!(refusal, CampaignRefusal::TooMany { count_max: limits::VISIBLE_TO_MAX, .. }), "{refusal}");
}
