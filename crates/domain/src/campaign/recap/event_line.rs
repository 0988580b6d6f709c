//! Describes events in one short line each, for the compact form of a history. Long texts are cut.

use serde_json::Value;

use super::super::event::CampaignEvent;
use super::super::roll::RecordedRoll;
use super::changes::describe_change;
use super::luck::RollReading;
use super::names::{Names, to_one_line};
use super::{People, truncate_list};
use crate::dice::RollMode;

/// Characters that are shown of a note, and of an event that has no words of its own here.
const TEXT_CHARS_SHOWN: usize = 120;
/// Characters that are shown of each part of a roll: who rolled, the expression, the reason.
const PART_CHARS_SHOWN: usize = 40;
/// Totals and outcomes that are shown of a repeated roll.
const REPEATS_SHOWN: usize = 6;

/// The events in one line each. `people` gives current names; who has left is named as the events name them.
pub fn describe_events<'e>(
    people: &dyn People,
    events: impl IntoIterator<Item = &'e CampaignEvent> + Clone,
) -> Vec<String> {
    let mut names = Names::new(people);
    events.clone().into_iter().for_each(|event| names.record_event(event));
    events.into_iter().map(|event| describe_event(event, &names)).collect()
}

fn describe_event(event: &CampaignEvent, names: &Names<'_>) -> String {
    match event {
        CampaignEvent::RollRecorded(roll) => describe_roll(roll, names),
        // What was corrected before it was revealed.
        CampaignEvent::NoteAdded { text, .. } if text.is_empty() => "note, corrected since".to_owned(),
        CampaignEvent::NoteAdded { text, .. } => format!("note: {}", truncate_text(text, TEXT_CHARS_SHOWN)),
        CampaignEvent::SessionStarted { name, .. } if name.is_empty() => "session started".to_owned(),
        CampaignEvent::SessionStarted { name, .. } => {
            format!("session started: {}", truncate_text(name, TEXT_CHARS_SHOWN))
        }
        CampaignEvent::SessionEnded { .. } => "session ended".to_owned(),
        event => describe_change(event, names)
            .map_or_else(|| describe_fields(event), |change| truncate_text(&change, TEXT_CHARS_SHOWN)),
    }
}

fn describe_roll(roll: &RecordedRoll, names: &Names<'_>) -> String {
    let reading = RollReading::from_result(&roll.result);
    let is_known = roll.actor_id.is_some() || roll.participant_id.is_some();
    let part = |text: &str| truncate_text(text, PART_CHARS_SHOWN);
    let roller = if is_known { format!("{}: ", part(&names.roller(roll))) } else { String::new() };
    let totals = truncate_list(reading.totals().iter().map(i64::to_string), REPEATS_SHOWN).join(", ");
    let total = if totals.is_empty() { totals } else { format!(" = {totals}") };
    let outcomes = reading.outcomes().into_iter().map(|outcome| outcome.label().to_lowercase());
    let outcomes = truncate_list(outcomes, REPEATS_SHOWN).join(", ");
    let verdict = match (outcomes.as_str(), reading.success()) {
        ("", Some(true)) => ", success".to_owned(),
        ("", Some(false)) => ", failure".to_owned(),
        ("", None) => String::new(),
        (outcomes, _) => format!(", {outcomes}"),
    };
    let reason = roll.input.get("reason").and_then(Value::as_str).filter(|reason| !reason.trim().is_empty());
    let reason = reason.map(|reason| format!(" ({})", part(reason))).unwrap_or_default();
    let is_replay = roll.rng.as_ref().is_some_and(|rng| rng.roll_mode == RollMode::Replay);
    let replay = if is_replay { " (a replay)" } else { "" };
    format!("{roller}{}{total}{verdict}{reason}{replay}", part(roll.expression.as_ref().unwrap_or(&roll.tool)))
}

/// The type without its version, and the fields.
fn describe_fields(event: &CampaignEvent) -> String {
    let kind = event.kind();
    let kind = kind.rsplit_once(".v").map_or(kind, |(kind, _)| kind);
    let fields = match serde_json::to_value(event) {
        Ok(Value::Object(mut fields)) => {
            fields.remove("type");
            Value::Object(fields)
        }
        _ => Value::Null,
    };
    match &fields {
        Value::Object(known) if !known.is_empty() => {
            format!("{kind} {}", truncate_text(&fields.to_string(), TEXT_CHARS_SHOWN))
        }
        _ => kind.to_owned(),
    }
}

fn truncate_text(text: &str, chars: usize) -> String {
    let line = to_one_line(text);
    match line.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::tests::{CampaignFixture, add_note, recorded_roll, start_session};
    use super::super::super::{ActorKind, CampaignCommand};
    use super::*;

    fn roll(expression: &str, input: Value, result: Value) -> CampaignEvent {
        CampaignEvent::RollRecorded(Box::new(RecordedRoll {
            actor_id: Some("actor_thorin".to_owned()),
            expression: Some(expression.to_owned()),
            input,
            result,
            ..recorded_roll()
        }))
    }

    #[test]
    fn every_event_is_one_line() {
        let mut table = CampaignFixture::with_people();
        table.expect_events(start_session("sess_1", "Low tide"));
        table.expect_events(add_note(&format!("They met\n a bear. {}", "x".repeat(200))));
        table.expect_events(super::super::super::tests::add_actor("actor_troll", "Bridge Troll", ActorKind::Npc));
        table.expect_events(CampaignCommand::RemoveActor { actor_id: "actor_troll".to_owned() });
        let stored: Vec<&CampaignEvent> = table.journal.iter().map(|(_, event)| event).collect();
        let lines = describe_events(&table.state, stored.iter().copied());
        assert_eq!(lines.len(), stored.len());
        assert!(lines.iter().all(|line| line.chars().count() < 180 && !line.contains('\n')), "{lines:?}");
        assert!(lines[0].starts_with("campaign.created {\""), "{lines:?}");
        let last: Vec<&str> = lines.iter().rev().take(3).rev().map(String::as_str).collect();
        assert!(last[0].starts_with("note: They met a bear. xxx") && last[0].ends_with("x…"), "{last:?}");
        assert_eq!(last[1..], ["Bridge Troll (NPC) entered the story", "Bridge Troll left the story"]);
    }

    #[test]
    fn a_roll_is_told_with_its_outcome_and_its_reason() {
        let table = CampaignFixture::with_people();
        let judged = serde_json::to_value(crate::dice::judge(8, 5, 2, Some(15)).unwrap()).unwrap();
        let rolls = [
            roll("duality(+2, dc 15)", json!({"reason": "climbs the wall"}), judged),
            roll("1d20 >= 15", json!({}), json!({"total": 7, "success": false})),
            roll("2x(1d6)", json!({}), json!({"rolls": [{"total": 3}, {"total": 6}]})),
            roll(&"1d6+".repeat(50), json!({}), json!({"total": 9})),
        ];
        let lines = describe_events(&table.state, &rolls);
        assert_eq!(
            lines[..3],
            [
                "Thorin Ironforge: duality(+2, dc 15) = 15, success with hope (climbs the wall)",
                "Thorin Ironforge: 1d20 >= 15 = 7, failure",
                "Thorin Ironforge: 2x(1d6) = 3, 6",
            ]
        );
        assert_eq!(lines[3], format!("Thorin Ironforge: {}… = 9", "1d6+".repeat(10)));
    }
}
