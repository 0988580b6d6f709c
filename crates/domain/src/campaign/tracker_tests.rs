//! Tests of trackers, sheets, what the outcome of a roll changes, and the spotlight.

use serde_json::json;

use super::tests::{CampaignFixture, add_actor, add_participant, end_session, recorded_roll, start_session};
use super::*;
use crate::dice::{RollMode, judge};
use crate::limits;

const THORIN: &str = "actor_thorin";

fn definition(name: &str, value: Option<i64>, max: Option<i64>) -> TrackerDefinition {
    TrackerDefinition { name: name.to_owned(), value, max, ..TrackerDefinition::default() }
}

fn tracker_command(command: TrackerCommand) -> CampaignCommand {
    CampaignCommand::Tracker(Box::new(command))
}

fn set_tracker(owner: TrackerOwner, definition: TrackerDefinition) -> CampaignCommand {
    tracker_command(TrackerCommand::Set { owner, definition, reason: String::new() })
}

fn change_tracker(owner: TrackerOwner, name: &str, by: i64) -> CampaignCommand {
    let (name, reason) = (name.to_owned(), "a goblin's arrow".to_owned());
    tracker_command(TrackerCommand::Change { owner, name, by, reason })
}

fn take_damage(damage: i64, spends_armor: bool) -> CampaignCommand {
    let (actor_id, reason) = (THORIN.to_owned(), String::new());
    tracker_command(TrackerCommand::Damage { actor_id, damage, spends_armor, reason })
}

fn set_sheet(actor_id: &str, sheet: ActorSheet) -> CampaignCommand {
    CampaignCommand::SetActorSheet { actor_id: actor_id.to_owned(), sheet: Box::new(sheet) }
}

fn daggerheart_sheet() -> ActorSheet {
    ActorSheet { template: Some(GameTemplate::Daggerheart), ..ActorSheet::default() }
}

fn sheet_with_traits(given: &[(&str, serde_json::Value)]) -> ActorSheet {
    let value = |value: &serde_json::Value| serde_json::from_value(value.clone()).unwrap();
    let traits = given.iter().map(|(name, given)| ((*name).to_owned(), value(given))).collect();
    ActorSheet { traits, ..ActorSheet::default() }
}

fn roll_dice(hope: i32, fear: i32) -> RecordedRoll {
    let result = serde_json::to_value(judge(hope, fear, 0, Some(12)).unwrap()).unwrap();
    RecordedRoll { actor_id: Some(THORIN.to_owned()), result, ..recorded_roll() }
}

fn record_roll(roll: RecordedRoll) -> CampaignCommand {
    CampaignCommand::RecordRoll(Box::new(roll))
}

fn daggerheart_session() -> CampaignFixture {
    let mut table = CampaignFixture::with_session();
    table.expect_events(set_sheet(THORIN, daggerheart_sheet()));
    table
}

fn tracker_value(table: &CampaignFixture, owner: &TrackerOwner, name: &str) -> i64 {
    table.state.tracker(owner, name).unwrap_or_else(|| panic!("no tracker {name}")).value
}

fn describe_changes(events: &[CampaignEvent]) -> Vec<String> {
    let told = |event: &CampaignEvent| match event {
        CampaignEvent::TrackerChanged { change, .. } => vec![change.describe(None)],
        CampaignEvent::RollRecorded(roll) => roll.changes.iter().map(|change| change.describe(None)).collect(),
        _ => Vec::new(),
    };
    events.iter().flat_map(told).collect()
}

#[test]
fn a_tracker_is_set_changed_within_its_bounds_and_removed() {
    let mut table = CampaignFixture::with_session();
    for owner in [TrackerOwner::actor(THORIN), TrackerOwner::participant("part_alice"), TrackerOwner::campaign()] {
        table.expect_events(set_tracker(owner.clone(), definition("HP", None, Some(6))));
        assert_eq!(tracker_value(&table, &owner, "HP"), 6, "a new tracker with a maximum is full");
        assert_eq!(describe_changes(&table.expect_events(change_tracker(owner.clone(), "hp", -2))), ["HP 6 to 4"]);
        assert_eq!(
            describe_changes(&table.expect_events(change_tracker(owner.clone(), "HP", 5))),
            ["HP 4 to 6, its maximum"]
        );
        assert_eq!(
            describe_changes(&table.expect_events(change_tracker(owner.clone(), "HP", 1))),
            ["HP stays at 6, its maximum"]
        );
        assert_eq!(
            describe_changes(&table.expect_events(change_tracker(owner.clone(), "HP", -9))),
            ["HP 6 to 0, its minimum"]
        );
        // Only what is given changes.
        let meaning = TrackerDefinition { meaning: Some("left".to_owned()), ..definition("Hp", Some(3), None) };
        table.expect_events(set_tracker(owner.clone(), meaning));
        let tracker = table.state.tracker(&owner, "HP").unwrap();
        assert_eq!((tracker.value, tracker.max, tracker.meaning.as_str()), (3, Some(6), "left"));
        table.expect_events(tracker_command(TrackerCommand::Remove { owner: owner.clone(), name: "hP".to_owned() }));
        assert_eq!(table.state.trackers_of(&owner), []);
    }
    let told = table.journal.iter().find_map(|(_, event)| match event {
        CampaignEvent::TrackerChanged { reason, session_id, .. } => Some((reason.as_str(), session_id.as_deref())),
        _ => None,
    });
    assert_eq!(told, Some(("a goblin's arrow", Some("sess_1"))));
    assert_eq!(table.state.campaign().unwrap().updated_at, table.state.active_session().unwrap().started_at);
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut table = CampaignFixture::with_people();
    table.expect_events(set_tracker(TrackerOwner::actor(THORIN), definition("HP", None, Some(6))));
    let both = TrackerOwner { participant_id: Some("part_alice".to_owned()), ..TrackerOwner::actor(THORIN) };
    let here = TrackerOwner::campaign;
    let most = i64::try_from(limits::TRACKER_VALUE_MAX).unwrap();
    let long = |chars: usize| TrackerDefinition { meaning: Some("x".repeat(chars)), ..definition("Clock", None, None) };
    let step = |ticks, step| TrackerDefinition { ticks, step, ..definition("Clock", None, Some(4)) };
    for (command, pointer) in [
        (change_tracker(TrackerOwner::actor(THORIN), "Mana", 1), "/name"),
        (change_tracker(TrackerOwner::actor("actor_none"), "HP", 1), "/actor_id"),
        (change_tracker(TrackerOwner::participant("part_none"), "HP", 1), "/participant_id"),
        (change_tracker(both, "HP", 1), "/participant_id"),
        (change_tracker(TrackerOwner::actor(THORIN), "HP", most + 1), "/by"),
        (set_tracker(here(), definition(" ", None, None)), "/name"),
        (set_tracker(here(), definition("Clock", Some(5), Some(4))), "/value"),
        (set_tracker(here(), definition("Clock", None, Some(-1))), "/max"),
        (set_tracker(here(), definition("Clock", Some(most + 1), None)), "/value"),
        (set_tracker(here(), long(limits::TRACKER_TEXT_CHARS_MAX + 1)), "/meaning"),
        (set_tracker(here(), step(None, Some(1))), "/step"),
        (set_tracker(here(), step(Some(TickMoment::Fear), Some(0))), "/step"),
    ] {
        let before = table.state.clone();
        let refusal = table.run(&command).expect_err(pointer);
        assert_eq!(refusal.pointer().as_deref(), Some(pointer), "{command:?}");
        assert!(!refusal.hint().is_empty() && table.state == before, "{command:?}");
    }
    table.expect_events(set_tracker(here(), long(limits::TRACKER_TEXT_CHARS_MAX)));
    table.expect_events(set_tracker(here(), definition("Most", Some(most), None)));
    assert_eq!(
        table.run(&change_tracker(TrackerOwner::actor(THORIN), "Mana", 1)).unwrap_err().to_string(),
        "there is no tracker \"Mana\" here, only HP"
    );
}

#[test]
fn trackers_and_traits_have_an_end() {
    let mut table = CampaignFixture::with_people();
    let owner = TrackerOwner::actor(THORIN);
    for number in 0..limits::TRACKERS_MAX {
        table.expect_events(set_tracker(owner.clone(), definition(&format!("Clock {number}"), None, None)));
    }
    let refusal = table.run(&set_tracker(owner.clone(), definition("More", None, None))).unwrap_err();
    assert_eq!(refusal.kind(), CampaignRefusalKind::TooLarge);
    table.expect_events(set_tracker(owner, definition("clock 0", Some(1), None)));
    let sheet = ActorSheet { trackers: vec![definition("More", None, None)], ..ActorSheet::default() };
    assert_eq!(table.run(&set_sheet(THORIN, sheet)).unwrap_err().kind(), CampaignRefusalKind::TooLarge);

    let many = |count: usize| {
        let names: Vec<String> = (0..count).map(|number| format!("trait {number}")).collect();
        sheet_with_traits(&names.iter().map(|name| (name.as_str(), json!(1))).collect::<Vec<_>>())
    };
    let refusal = table.run(&set_sheet("actor_wolf", many(limits::TRAITS_MAX + 1))).unwrap_err();
    assert_eq!(refusal.kind(), CampaignRefusalKind::TooLarge);
    table.expect_events(set_sheet("actor_wolf", many(limits::TRAITS_MAX)));
    let text = |chars: usize| sheet_with_traits(&[("trait 0", json!("x".repeat(chars)))]);
    assert_eq!(
        table.run(&set_sheet("actor_wolf", text(limits::TRAIT_CHARS_MAX + 1))).unwrap_err().pointer().as_deref(),
        Some("/traits")
    );
    table.expect_events(set_sheet("actor_wolf", text(limits::TRAIT_CHARS_MAX)));
}

#[test]
fn a_template_sets_up_a_sheet_in_one_word() {
    let mut table = CampaignFixture::with_people();
    let overrides =
        vec![definition("HP", Some(7), None), definition("stress", Some(1), None), definition("Gold", Some(12), None)];
    let sheet = ActorSheet { trackers: overrides, ..daggerheart_sheet() };
    let kinds: Vec<&str> = table.expect_events(set_sheet(THORIN, sheet)).iter().map(CampaignEvent::kind).collect();
    assert_eq!(kinds, ["actor.sheet_set.v1", "tracker.set.v1"]);
    let shown = |table: &CampaignFixture, owner: TrackerOwner| -> Vec<String> {
        table.state.trackers_of(&owner).iter().map(ToString::to_string).collect()
    };
    assert_eq!(
        shown(&table, TrackerOwner::actor(THORIN)),
        ["HP 7/7", "Stress 1/6", "Hope 2/6", "Armor 0/0", "Gold 12"]
    );
    assert_eq!(shown(&table, TrackerOwner::campaign()), ["Fear 0/12"]);
    // The second sheet finds Fear there, and a template leaves what an actor has.
    let kinds: Vec<&str> =
        table.expect_events(set_sheet("actor_wolf", daggerheart_sheet())).iter().map(CampaignEvent::kind).collect();
    assert_eq!(kinds, ["actor.sheet_set.v1"]);
    assert_eq!(shown(&table, TrackerOwner::actor("actor_wolf")), ["HP 3/3", "Stress 0/3"]);
    table.expect_events(change_tracker(TrackerOwner::actor(THORIN), "HP", -3));
    table.expect_events(set_sheet(THORIN, daggerheart_sheet()));
    assert_eq!(tracker_value(&table, &TrackerOwner::actor(THORIN), "HP"), 4);
    table.expect_events(add_actor("actor_bard", "Bard", ActorKind::Pc));
    let plain = ActorSheet { template: Some(GameTemplate::Plain), ..ActorSheet::default() };
    table.expect_events(set_sheet("actor_bard", plain));
    assert_eq!(shown(&table, TrackerOwner::actor("actor_bard")), ["HP 10/10"]);
}

#[test]
fn traits_are_numbers_and_texts_and_can_be_removed() {
    let mut table = CampaignFixture::with_people();
    table.expect_events(set_sheet(THORIN, sheet_with_traits(&[("Agility", json!(2)), ("ancestry", json!("Dwarf"))])));
    table.expect_events(set_sheet(THORIN, sheet_with_traits(&[("agility", json!(-1)), ("Ancestry", json!(null))])));
    let actor = table.state.actors().get(THORIN).unwrap();
    assert_eq!(serde_json::to_value(&actor.traits).unwrap(), json!({ "Agility": -1 }));
}

#[test]
fn damage_is_counted_by_thresholds() {
    let mut table = daggerheart_session();
    let owner = TrackerOwner::actor(THORIN);
    // Without armour the level gives the thresholds: 1/2.
    assert_eq!(table.state.actors().get(THORIN).unwrap().thresholds().unwrap().to_string(), "1/2");
    table.expect_events(set_sheet(THORIN, sheet_with_traits(&[("thresholds", json!("7/14"))])));
    for (hit, lost) in [(1, 1), (6, 1), (7, 2), (13, 2), (14, 3), (100, 3)] {
        table.expect_events(set_tracker(owner.clone(), definition("HP", Some(6), None)));
        table.expect_events(take_damage(hit, false));
        assert_eq!(tracker_value(&table, &owner, "HP"), 6 - lost, "{hit}");
    }
    assert_eq!(table.run(&take_damage(9, true)).unwrap_err().pointer().as_deref(), Some("/armor"));
    assert_eq!(table.run(&take_damage(0, false)).unwrap_err().pointer().as_deref(), Some("/damage"));
    table.expect_events(set_tracker(owner.clone(), definition("Armor", Some(2), Some(3))));
    let events = table.expect_events(take_damage(14, true));
    assert_eq!(describe_changes(&events), ["Armor 2 to 1", "HP 3 to 1"]);
    let CampaignEvent::TrackerChanged { reason, .. } = &events[1] else { panic!("{events:?}") };
    assert_eq!(reason, "14 damage against 7/14: major");
    // Armour takes a minor hit whole.
    assert_eq!(describe_changes(&table.expect_events(take_damage(3, true))), ["Armor 1 to 0, its minimum"]);
    let wolf = CampaignCommand::Tracker(Box::new(TrackerCommand::Damage {
        actor_id: "actor_wolf".to_owned(),
        damage: 5,
        spends_armor: false,
        reason: String::new(),
    }));
    assert!(matches!(table.run(&wolf).unwrap_err(), CampaignRefusal::NoThresholds { .. }));
    table.expect_events(set_sheet("actor_wolf", sheet_with_traits(&[("Major", json!(4)), ("severe", json!("9"))])));
    assert!(matches!(table.run(&wolf).unwrap_err(), CampaignRefusal::TrackerNotFound { .. }));
    table.expect_events(set_sheet("actor_wolf", daggerheart_sheet()));
    assert_eq!(describe_changes(&table.expect_events(wolf)), ["HP 3 to 1"]);
}

#[test]
fn a_roll_does_what_the_rules_say_of_its_outcome() {
    let mut table = daggerheart_session();
    let (thorin, game) = (TrackerOwner::actor(THORIN), TrackerOwner::campaign());
    let told = |table: &mut CampaignFixture, hope, fear| {
        describe_changes(&table.expect_events(record_roll(roll_dice(hope, fear))))
    };
    assert_eq!(told(&mut table, 8, 5), ["Hope 2 to 3"]);
    assert_eq!(told(&mut table, 2, 1), ["Hope 3 to 4"]);
    assert_eq!(told(&mut table, 5, 8), ["Fear 0 to 1"]);
    assert_eq!(told(&mut table, 3, 3), ["Hope 4 to 5"], "there is no Stress to clear");
    table.expect_events(change_tracker(thorin.clone(), "Stress", 2));
    assert_eq!(told(&mut table, 3, 3), ["Hope 5 to 6, its maximum", "Stress 2 to 1"]);
    assert_eq!(told(&mut table, 8, 5), ["Hope stays at 6, its maximum"]);
    table.expect_events(set_tracker(game.clone(), definition("Fear", Some(12), None)));
    assert_eq!(told(&mut table, 5, 8), ["Fear stays at 12, its maximum"]);
    assert_eq!((tracker_value(&table, &thorin, "Hope"), tracker_value(&table, &game, "Fear")), (6, 12));
}

#[test]
fn what_is_no_action_of_a_character_changes_nothing() {
    let mut table = daggerheart_session();
    let switched_off = RecordedRoll { input: json!({ "apply": false }), ..roll_dice(8, 5) };
    let mut replay = roll_dice(8, 5);
    replay.rng.as_mut().unwrap().roll_mode = RollMode::Replay;
    let by_wolf = RecordedRoll { actor_id: Some("actor_wolf".to_owned()), ..roll_dice(5, 8) };
    let other_dice = RecordedRoll { result: json!({ "total": 7 }), ..roll_dice(8, 5) };
    let before = table.state.all_trackers().map(|(_, tracker)| tracker.to_string()).collect::<Vec<_>>();
    for roll in [switched_off, replay, by_wolf, other_dice] {
        let events = table.expect_events(record_roll(roll));
        assert_eq!((events.len(), describe_changes(&events)), (1, Vec::new()));
    }
    assert_eq!(table.state.all_trackers().map(|(_, tracker)| tracker.to_string()).collect::<Vec<_>>(), before);
    // A roll for nobody in particular gives Fear: somebody at the table has rolled.
    let nobody = RecordedRoll { actor_id: None, ..roll_dice(5, 8) };
    assert_eq!(describe_changes(&table.expect_events(record_roll(nobody))), ["Fear 0 to 1"]);
    // Effects that a command brings are not believed.
    let forged = CampaignCommand::RecordRoll(Box::new(RecordedRoll {
        changes: vec![TrackerChange {
            owner: TrackerOwner::campaign(),
            name: "Fear".to_owned(),
            by: 9,
            from: 1,
            to: 10,
            reached: None,
            visible_to: crate::visibility::Visibility::Table,
        }],
        ..roll_dice(8, 5)
    }));
    assert_eq!(describe_changes(&table.expect_events(forged)), ["Hope 2 to 3"]);
}

#[test]
fn countdowns_tick_by_themselves_and_say_that_they_ended() {
    let mut table = CampaignFixture::with_session();
    let countdown = |name: &str, ticks, step, max| TrackerDefinition {
        ticks: Some(ticks),
        step,
        ..definition(name, None, Some(max))
    };
    table.expect_events(set_tracker(TrackerOwner::campaign(), countdown("The ritual", TickMoment::Fear, None, 2)));
    table.expect_events(set_tracker(TrackerOwner::campaign(), countdown("Winter", TickMoment::SessionEnd, Some(2), 3)));
    table.expect_events(set_tracker(
        TrackerOwner::actor("actor_wolf"),
        countdown("Hunger", TickMoment::SessionEnd, None, 4),
    ));
    assert_eq!(tracker_value(&table, &TrackerOwner::campaign(), "Winter"), 0, "what counts up starts empty");
    assert_eq!(describe_changes(&table.expect_events(record_roll(roll_dice(8, 5)))), [""; 0]);
    assert_eq!(describe_changes(&table.expect_events(record_roll(roll_dice(5, 8)))), ["The ritual 2 to 1"]);
    assert_eq!(describe_changes(&table.expect_events(record_roll(roll_dice(5, 8)))), ["The ritual 1 to 0, its end"]);
    assert_eq!(describe_changes(&table.expect_events(record_roll(roll_dice(5, 8)))), [""; 0]);
    assert_eq!(describe_changes(&table.expect_events(end_session())), ["Winter 0 to 2", "Hunger 4 to 3"]);
    table.expect_events(start_session("sess_2", ""));
    assert_eq!(describe_changes(&table.expect_events(end_session())), ["Winter 2 to 3, its end", "Hunger 3 to 2"]);
}

#[test]
fn several_commands_are_one_or_none() {
    let mut table = CampaignFixture::with_session();
    let part = |pointer: &str, command| BatchPart { pointer: pointer.to_owned(), command };
    let owner = || TrackerOwner::actor("actor_new");
    let parts = |by| {
        CampaignCommand::Batch(vec![
            part("/actors/0", add_actor("actor_new", "New", ActorKind::Pc)),
            part("/actors/0", set_sheet("actor_new", daggerheart_sheet())),
            part("/actors/1", change_tracker(owner(), if by == 0 { "Mana" } else { "HP" }, by)),
        ])
    };
    let before = table.state.clone();
    let refusal = table.run(&parts(0)).unwrap_err();
    assert_eq!((refusal.pointer().as_deref(), refusal.value()), (Some("/actors/1/name"), Some("Mana")));
    assert_eq!((refusal.kind(), &table.state), (CampaignRefusalKind::NotFound, &before));
    table.expect_events(parts(-2));
    assert_eq!(tracker_value(&table, &owner(), "HP"), 4);
    assert!(table.run(&CampaignCommand::Batch(Vec::new())).is_err());
}

#[test]
fn the_spotlight_follows_rolls_and_what_is_said() {
    let mut table = daggerheart_session();
    let spotlight = |scene: Option<&str>, up: Option<&str>| CampaignCommand::SetSpotlight {
        session_id: None,
        scene: scene.map(str::to_owned),
        up: up.map(str::to_owned),
    };
    let shown = |table: &CampaignFixture| serde_json::to_value(table.state.spotlight()).unwrap();
    table.expect_events(spotlight(Some("The bridge"), Some("actor_wolf")));
    assert_eq!(shown(&table), json!({ "scene": "The bridge", "up": "actor_wolf" }));
    table.expect_events(record_roll(roll_dice(8, 5)));
    assert_eq!(shown(&table), json!({ "scene": "The bridge", "up": THORIN, "last": "actor_wolf" }));
    table.expect_events(record_roll(roll_dice(5, 8)));
    assert_eq!(shown(&table), json!({ "scene": "The bridge", "up": "GM", "last": THORIN }));
    table.expect_events(spotlight(Some("The crypt"), None));
    assert_eq!(shown(&table), json!({ "scene": "The crypt", "up": "GM", "last": THORIN }));
    for (command, pointer) in [
        (spotlight(Some(" "), None), Some("/scene")),
        (spotlight(None, Some("actor_none")), Some("/spotlight")),
        (spotlight(None, None), None),
    ] {
        assert_eq!(table.run(&command).unwrap_err().pointer().as_deref(), pointer);
    }
    table.expect_events(end_session());
    assert!(table.state.spotlight().is_empty());
    assert_eq!(table.run(&spotlight(Some("Late"), None)).unwrap_err(), CampaignRefusal::NoActiveSession);
}

#[test]
fn a_recap_tells_trackers_and_scenes() {
    let mut table = CampaignFixture::with_people();
    table.expect_events(add_participant("part_bob", "Bob", Role::Player));
    table.expect_events(set_sheet(THORIN, daggerheart_sheet()));
    table.expect_events(set_tracker(TrackerOwner::participant("part_bob"), definition("Bennies", Some(3), None)));
    let ritual = TrackerDefinition { ticks: Some(TickMoment::Fear), ..definition("The ritual", None, Some(1)) };
    table.expect_events(set_tracker(TrackerOwner::campaign(), ritual));
    table.expect_events(start_session("sess_1", "Night"));
    table.expect_events(CampaignCommand::SetSpotlight {
        session_id: None,
        scene: Some("The bridge".to_owned()),
        up: None,
    });
    table.expect_events(change_tracker(TrackerOwner::actor(THORIN), "HP", -1));
    table.expect_events(change_tracker(TrackerOwner::actor(THORIN), "HP", -1));
    table.expect_events(change_tracker(TrackerOwner::actor(THORIN), "Stress", 1));
    table.expect_events(change_tracker(TrackerOwner::actor(THORIN), "Stress", -1));
    table.expect_events(change_tracker(TrackerOwner::participant("part_bob"), "Bennies", -1));
    table.expect_events(record_roll(roll_dice(5, 8)));
    let session = table.state.sessions().get("sess_1").unwrap();
    let told = recap(session, &table.state, table.journal.iter().map(|(given, event)| (given.at, &given.by, event)));
    assert!(
        told.contains(
            "\n**Scenes:** The bridge (10:11)\n\n**Spotlight:** the game master, before that Thorin Ironforge\n"
        ),
        "{told}"
    );
    assert!(
        told.contains(
            "\n## Trackers\n\n- Thorin Ironforge: HP 6 to 4 (a goblin's arrow)\n- Bob: Bennies 3 to 2 (a goblin's arrow)\n- Fear 0 to 1\n- The ritual 1 to 0, its end\n"
        ),
        "{told}"
    );
}
