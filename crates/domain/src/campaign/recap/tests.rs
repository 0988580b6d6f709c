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
