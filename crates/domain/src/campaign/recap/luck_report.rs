//! Luck of characters and players: how often their rolls came out above the middle, and their best and worst roll.
//!
//! A replay repeats a roll, so it does not count. Rolls whose chance is unknown do not count either.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;

use super::super::event::CampaignEvent;
use super::super::roll::RecordedRoll;
use super::dice::describe_roll;
use super::luck::{Luck, RollReading};
use super::names::Names;
use super::people::People;
use crate::dice::RollMode;

/// Lines of a recap for characters, and for players.
const ROWS_SHOWN: usize = 6;

/// The luck of everybody who rolled, those with the most rolls first.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LuckReport {
    pub characters: Vec<LuckRow>,
    pub players: Vec<LuckRow>,
}

/// The luck of one character or player.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LuckRow {
    pub id: String,
    pub name: String,
    /// Rolls whose chance is known.
    pub rolls: usize,
    /// Rolls above the middle of what could have come; half of all is likely.
    pub above: usize,
    /// The average place of a roll among all that could have come: 0.5 is neither lucky nor unlucky, 1 the best.
    pub luck: f64,
    /// Successes where there was something to reach, and how many were likely.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub successes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub successes_likely: Option<f64>,
    pub luckiest: NotableRoll,
    pub unluckiest: NotableRoll,
    /// The place of each roll, in order, for a picture.
    #[serde(skip)]
    pub places: Vec<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NotableRoll {
    pub roll_id: String,
    pub text: String,
    pub luck: f64,
}

/// The luck in one session, or in all rolls of the events if `session_id` is `None`. `people` is redacted for the
/// reader.
pub fn luck_report<E: Borrow<CampaignEvent>>(
    session_id: Option<&str>,
    people: &dyn People,
    events: impl IntoIterator<Item = E>,
) -> LuckReport {
    let (mut names, mut tally) = (Names::new(people), LuckTally::default());
    for event in events {
        let event = event.borrow();
        names.record_event(event);
        if let CampaignEvent::RollRecorded(roll) = event
            && (session_id.is_none() || roll.session_id.as_deref() == session_id)
            && !is_replay(roll)
        {
            tally.record_roll(roll, Luck::from_roll(roll, &RollReading::from_result(&roll.result)), &names);
        }
    }
    tally.report(&names)
}

fn is_replay(roll: &RecordedRoll) -> bool {
    roll.rng.as_ref().is_some_and(|rng| rng.roll_mode == RollMode::Replay)
}

/// Counts rolls by character and by player.
#[derive(Default)]
pub(super) struct LuckTally {
    characters: BTreeMap<String, LuckCount>,
    players: BTreeMap<String, LuckCount>,
}

#[derive(Default)]
struct LuckCount {
    places: Vec<f64>,
    above: usize,
    checks: usize,
    successes: usize,
    successes_likely: f64,
    luckiest: Option<NotableRoll>,
    unluckiest: Option<NotableRoll>,
}

impl LuckTally {
    pub(super) fn record_roll(&mut self, roll: &RecordedRoll, luck: Option<Luck>, names: &Names<'_>) {
        let Some(luck) = luck else { return };
        let text = || describe_notable(roll, luck, names);
        if let Some(id) = &roll.actor_id {
            self.characters.entry(id.clone()).or_default().add(&roll.id, luck, text);
        }
        // Whoever plays the character, even if a game master rolled for it.
        let player = roll.actor_id.as_ref().and_then(|id| names.player_of(id)).or_else(|| roll.participant_id.clone());
        if let Some(id) = player {
            self.players.entry(id).or_default().add(&roll.id, luck, text);
        }
    }

    fn report(&self, names: &Names<'_>) -> LuckReport {
        LuckReport {
            characters: build_rows(&self.characters, |id| names.actor(id)),
            players: build_rows(&self.players, |id| names.participant(id)),
        }
    }

    pub(super) fn render(&self, names: &Names<'_>, text: &mut String) {
        let report = self.report(names);
        if report.characters.is_empty() && report.players.is_empty() {
            return;
        }
        text.push_str("\n## Luck\n\n");
        render_rows(&report.characters, "", text);
        render_rows(&report.players, " (player)", text);
    }
}

impl LuckCount {
    fn add(&mut self, roll_id: &str, luck: Luck, text: impl Fn() -> String) {
        self.places.push(luck.rank);
        self.above += usize::from(luck.is_above());
        if let Some((success, chance)) = luck.check() {
            self.checks += 1;
            self.successes += usize::from(success);
            self.successes_likely += chance;
        }
        let notable = || NotableRoll { roll_id: roll_id.to_owned(), text: text(), luck: round_luck(luck.rank) };
        if self.luckiest.as_ref().is_none_or(|best| round_luck(luck.rank) > best.luck) {
            self.luckiest = Some(notable());
        }
        if self.unluckiest.as_ref().is_none_or(|worst| round_luck(luck.rank) < worst.luck) {
            self.unluckiest = Some(notable());
        }
    }

    fn row(&self, id: &str, name: String) -> Option<LuckRow> {
        #[expect(clippy::cast_precision_loss, reason = "a campaign has fewer rolls than a float has whole numbers")]
        let average = self.places.iter().sum::<f64>() / self.places.len() as f64;
        Some(LuckRow {
            id: id.to_owned(),
            name,
            rolls: self.places.len(),
            above: self.above,
            luck: round_luck(average),
            successes: (self.checks > 0).then_some(self.successes),
            successes_likely: (self.checks > 0).then(|| (self.successes_likely * 10.0).round() / 10.0),
            luckiest: self.luckiest.clone()?,
            unluckiest: self.unluckiest.clone()?,
            places: self.places.clone(),
        })
    }
}

/// The rows, those with the most rolls first.
fn build_rows(counts: &BTreeMap<String, LuckCount>, name: impl Fn(&str) -> String) -> Vec<LuckRow> {
    let mut rows: Vec<LuckRow> = counts.iter().filter_map(|(id, count)| count.row(id, name(id))).collect();
    rows.sort_by(|one, other| other.rolls.cmp(&one.rolls).then_with(|| one.name.cmp(&other.name)));
    rows
}

fn render_rows(rows: &[LuckRow], kind: &str, text: &mut String) {
    for row in rows.iter().take(ROWS_SHOWN) {
        let _ = write!(text, "- {}{kind}: {} of {} above what was likely", row.name, row.above, row.rolls);
        if let Some((successes, likely)) = row.successes.zip(row.successes_likely) {
            let _ = write!(text, ", {successes} successes where {likely} were likely");
        }
        text.push('\n');
    }
    if rows.len() > ROWS_SHOWN {
        let _ = writeln!(text, "- and {} more{kind}", rows.len() - ROWS_SHOWN);
    }
}

fn describe_notable(roll: &RecordedRoll, luck: Luck, names: &Names<'_>) -> String {
    let reading = RollReading::from_result(&roll.result);
    format!("{}{}", describe_roll(roll, &reading, &names.roller(roll)), luck.describe())
}

fn round_luck(number: f64) -> f64 {
    (number * 1_000.0).round() / 1_000.0
}
