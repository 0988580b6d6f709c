use serde_json::json;

use super::super::tests::{
    CampaignFixture, add_actor, add_note, add_participant, end_session, recorded_roll, remove_participant,
    set_actor_control, start_session,
};
use super::super::{ActorKind, CampaignCommand, RecordedRoll, Role};
use super::notes::{NOTE_CHARS_SHOWN, NOTES_SHOWN};
use super::*;
use crate::dice::RollMode;
use crate::dice::odds::Exact;

fn render_recap(table: &CampaignFixture, session_id: &str) -> String {
    let session = table.state.sessions().get(session_id).unwrap();
    recap(session, &table.state, table.journal.iter().map(|(given, event)| (given.at, &given.by, event)))
}

fn record_roll_of(
    actor_id: Option<&str>,
    expression: &str,
    result: serde_json::Value,
    chance: Option<f64>,
) -> CampaignCommand {
    CampaignCommand::RecordRoll(Box::new(RecordedRoll {
        actor_id: actor_id.map(str::to_owned),
        expression: Some(expression.to_owned()),
        result,
        chance: chance.map(|decimal| Exact { fraction: None, decimal }),
        ..recorded_roll()
    }))
}

fn judgement_json(hope: i32, fear: i32, difficulty: i32) -> serde_json::Value {
    serde_json::to_value(crate::dice::judge(hope, fear, 2, Some(difficulty)).unwrap()).unwrap()
}

#[test]
fn a_session_is_told_again() {
    let mut table = CampaignFixture::with_people();
    table.expect_events(set_actor_control("actor_thorin", "part_alice"));
    // Events before and after the session are not part of its recap.
    table.expect_events(record_roll_of(None, "4d6kh3", json!({ "total": 18 }), Some(0.016)));
    table.expect_events(start_session("sess_1", "Session 1: The Journey Begins"));
    table.expect_events(add_note("The party sets out at dawn."));
    table.expect_events(add_actor("actor_troll", "Bridge Troll", ActorKind::Npc));
    table.expect_events(add_note("A troll wants a toll:\n\n- gold\n- or a song"));
    let thorin = Some("actor_thorin");
    table.expect_events(record_roll_of(thorin, "duality(+2, dc 20)", judgement_json(7, 7, 20), Some(0.2)));
    table.expect_events(record_roll_of(thorin, "duality(+2, dc 15)", judgement_json(5, 8, 15), Some(0.58)));
    table.expect_events(record_roll_of(thorin, "duality(+2, dc 6)", judgement_json(1, 2, 6), Some(0.98)));
    table.expect_events(record_roll_of(Some("actor_troll"), "4d6kh3", json!({ "total": 18 }), Some(0.0162)));
    let both = json!({ "rolls": [{ "duality": judgement_json(8, 5, 15) }, { "duality": judgement_json(12, 1, 30) }] });
    table.expect_events(record_roll_of(None, "2x(duality(+2))", both, None));
    let mut replay = recorded_roll();
    replay.rng.as_mut().unwrap().roll_mode = RollMode::Replay;
    table.expect_events(CampaignCommand::RecordRoll(Box::new(replay)));
    table.expect_events(CampaignCommand::RemoveActor { actor_id: "actor_troll".to_owned() });
    table.expect_events(add_participant("part_bob", "Bob", Role::Player));
    table.expect_events(remove_participant("part_alice"));
    table.expect_events(set_actor_control("actor_thorin", "part_bob"));
    table.expect_events(end_session());
    let session_id = Some("sess_1".to_owned());
    table.expect_events(CampaignCommand::AddNote {
        id: "note_3".to_owned(),
        session_id,
        text: "Alice waved.".to_owned(),
        tags: Vec::new(),
    });
    table.expect_events(add_participant("part_late", "Late", Role::Player));
    table.expect_events(add_participant("part_brief", "Brief", Role::Player));
    table.expect_events(remove_participant("part_brief"));
    table.expect_events(start_session("sess_2", ""));
    table.expect_events(add_note("Another day."));
    assert_eq!(
        render_recap(&table, "sess_1"),
        "\
# Session 1: The Journey Begins

*The Lost Expedition*, 15 January 2025, 10:08 to 10:22 UTC (14 min)

**At the table:** Mira (GM), Bob, Alice (left since)

**In the story:** Thorin Ironforge (Bob)

## What happened

- 10:09: The party sets out at dawn.
- 10:11: A troll wants a toll:

  - gold
  - or a song
- later: Alice waved.

## Dice

- 5 rolls: Thorin Ironforge 3, Bridge Troll 1, somebody 1
- 2 with Hope, 2 with Fear: an even balance
- 1 critical: Thorin Ironforge (10:12)
- Luckiest: Bridge Troll, `4d6kh3` for 18 (1.6 % do as well or better)
- Unluckiest: Thorin Ironforge, `duality(+2, dc 6)` for 5 (a failure at 98 %)
- Not counted: 1 replay

## Luck

- Thorin Ironforge: 2 of 3 above what was likely, 2 successes where 1.8 were likely
- Bridge Troll: 1 of 1 above what was likely
- Bob (player): 2 of 3 above what was likely, 2 successes where 1.8 were likely

## What changed

- Bridge Troll (NPC) entered the story
- Bridge Troll left the story
- Bob joined the table
- Alice left the table, and nobody plays Thorin Ironforge now
- Thorin Ironforge is now played by Bob
"
    );
    assert_eq!(
        render_recap(&table, "sess_2"),
        "\
# The session of 15 January 2025

*The Lost Expedition*, 15 January 2025, since 10:27 UTC, still going on

**At the table:** Mira (GM), Bob, Late

**In the story:** Thorin Ironforge (Bob)

## What happened

- 10:28: Another day.
"
    );
}

#[test]
fn an_empty_session_is_told_as_such() {
    let mut table = CampaignFixture::with_people();
    table.expect_events(start_session("sess_1", "Nobody came"));
    table.expect_events(end_session());
    assert!(render_recap(&table, "sess_1").ends_with("\nNothing was written down, and no dice were rolled.\n"));
}

#[test]
fn long_notes_are_cut_and_many_are_counted() {
    let mut table = CampaignFixture::with_session();
    table.expect_events(add_note(&"é".repeat(NOTE_CHARS_SHOWN)));
    table.expect_events(add_note(&"é".repeat(NOTE_CHARS_SHOWN + 1)));
    for number in 0..NOTES_SHOWN {
        table.expect_events(add_note(&format!("and so on, {number}")));
    }
    table.journal[8].0.by = "alice".to_owned();
    let told = render_recap(&table, "sess_1");
    assert!(told.contains(&format!("- 10:07 (local): {}\n", "é".repeat(NOTE_CHARS_SHOWN))), "{told}");
    assert!(told.contains(&format!("- 10:08 (alice): {}…\n", "é".repeat(NOTE_CHARS_SHOWN))), "{told}");
    assert!(told.ends_with("- and 2 more notes\n"), "{told}");
}

#[test]
fn notes_are_told_as_they_stand() {
    let mut table = CampaignFixture::with_session();
    for note in ["The brigde fell.", "Nobody cared.", "Ilse swims."] {
        table.expect_events(add_note(note));
    }
    let (note_id, text) = ("note_The brigde fell.".to_owned(), Some("The bridge fell.".to_owned()));
    table.expect_events(CampaignCommand::ChangeNote { note_id, text, tags: None });
    table.expect_events(CampaignCommand::RemoveNote { note_id: "note_Nobody cared.".to_owned() });
    let told = render_recap(&table, "sess_1");
    assert!(told.contains("The bridge fell.") && told.contains("Ilse swims."), "{told}");
    assert!(!told.contains("brigde") && !told.contains("Nobody cared"), "{told}");
}

#[test]
fn a_crowd_is_counted() {
    let mut table = CampaignFixture::with_session();
    for number in 0..PEOPLE_SHOWN {
        table.expect_events(add_participant(&format!("part_{number}"), "One", Role::Player));
        table.expect_events(add_actor(&format!("actor_{number}"), "One", ActorKind::Pc));
    }
    let told = render_recap(&table, "sess_1");
    let names = |count: usize| vec!["One"; count].join(", ");
    assert!(told.contains(&format!("table:** Mira (GM), Alice, {}, and 2 more\n", names(PEOPLE_SHOWN - 2))), "{told}");
    assert!(told.contains(&format!("story:** Thorin Ironforge, {}, and 1 more\n", names(PEOPLE_SHOWN - 1))), "{told}");
    assert!(told.ends_with("- and 10 more changes\n"), "{told}");
}

#[test]
fn a_roll_says_what_it_was_for() {
    let mut table = CampaignFixture::with_session();
    let roll = |reason: &str, result: serde_json::Value| {
        CampaignCommand::RecordRoll(Box::new(RecordedRoll {
            actor_id: Some("actor_thorin".to_owned()),
            reason: Some(reason.to_owned()),
            result,
            ..recorded_roll()
        }))
    };
    table.expect_events(roll("  leaping  the chasm ", judgement_json(8, 5, 15)));
    table.expect_events(roll("damage", json!({ "total": 9 })));
    let told = render_recap(&table, "sess_1");
    assert!(told.contains("Thorin Ironforge, leaping the chasm: success with hope (15)\n"), "{told}");
    assert!(told.contains("Thorin Ironforge, damage: 9\n"), "{told}");
    for _ in 0..30 {
        table.expect_events(roll("again", json!({ "total": 9 })));
    }
    assert!(render_recap(&table, "sess_1").contains("- and 2 more rolls with a reason\n"));
}

#[test]
fn luck_is_counted_by_character_and_by_player() {
    let mut table = CampaignFixture::with_session();
    table.expect_events(set_actor_control("actor_thorin", "part_alice"));
    let exact = |decimal: f64| Some(Exact { fraction: None, decimal });
    let roll = |actor_id: Option<&str>, luck: f64, success: bool| RecordedRoll {
        id: format!("roll_{luck}"),
        actor_id: actor_id.map(str::to_owned),
        participant_id: Some("part_mira".to_owned()),
        result: json!({ "total": 9, "success": success }),
        success_chance: exact(0.6),
        luck: Some(luck),
        ..recorded_roll()
    };
    let thorin = Some("actor_thorin");
    let rolls =
        vec![roll(thorin, 0.9, true), roll(thorin, 0.3, false), roll(thorin, 0.8, true), roll(None, 0.1, false)];
    table.expect_events(CampaignCommand::RecordRolls(rolls));
    let mut total = roll(thorin, 0.75, false);
    (total.success_chance, total.at_least_chance, total.result) = (None, exact(0.25), json!({ "total": 15 }));
    table.expect_events(CampaignCommand::RecordRoll(Box::new(total)));
    let mut replay = roll(thorin, 0.99, true);
    replay.rng.as_mut().unwrap().roll_mode = RollMode::Replay;
    table.expect_events(CampaignCommand::RecordRoll(Box::new(replay)));
    let report = |session| luck_report(session, &table.state, table.journal.iter().map(|(_, event)| event));
    let LuckReport { characters, players } = report(None);
    let [row] = characters.as_slice() else { panic!("{characters:?}") };
    assert_eq!((row.name.as_str(), row.rolls, row.above), ("Thorin Ironforge", 4, 3));
    assert_eq!((row.successes, row.successes_likely, row.luck), (Some(2), Some(1.8), 0.688));
    assert_eq!((row.luckiest.roll_id.as_str(), row.unluckiest.roll_id.as_str()), ("roll_0.9", "roll_0.3"));
    assert_eq!(row.places, [0.9, 0.3, 0.8, 0.75]);
    // Alice plays Thorin, although Mira rolled.
    let names: Vec<(&str, usize)> = players.iter().map(|row| (row.name.as_str(), row.rolls)).collect();
    assert_eq!(names, [("Alice", 4), ("Mira", 1)]);
    assert_eq!(report(Some("sess_1")), report(None));
    assert_eq!(report(Some("sess_2")).characters, []);
}
