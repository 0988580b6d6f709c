//! Dice statistics for a recap: number of rolls, who rolled most, criticals.

use std::collections::BTreeMap;
use std::fmt::Write;

use jiff::Timestamp;

use super::super::roll::RecordedRoll;
use super::luck::{Luck, RollReading};
use super::luck_report::LuckTally;
use super::names::{Names, to_one_line};
use super::{format_time, truncate_list};
use crate::dice::{Outcome, RollMode};

/// Rollers and criticals that a recap names.
const NAMES_SHOWN: usize = 5;
/// Rolls with a reason that it lists.
const REASONS_SHOWN: usize = 30;

#[derive(Default)]
pub(super) struct DiceSection {
    rolls_by_name: BTreeMap<String, u64>,
    replays: u64,
    with_hope: u64,
    with_fear: u64,
    criticals: Vec<String>,
    luckiest: Option<(Luck, String)>,
    unluckiest: Option<(Luck, String)>,
    /// Rolls that said what they were for.
    reasons: Vec<String>,
    reasons_left_out: usize,
    pub(super) luck: LuckTally,
}

impl DiceSection {
    pub(super) fn record_roll(&mut self, at: Timestamp, roll: &RecordedRoll, names: &Names<'_>) {
        // A replay repeats a roll that was counted already.
        if roll.rng.as_ref().is_some_and(|rng| rng.roll_mode == RollMode::Replay) {
            self.replays += 1;
            return;
        }
        let roller = names.roller(roll);
        let reading = RollReading::from_result(&roll.result);
        for outcome in reading.outcomes() {
            match outcome {
                Outcome::CriticalSuccess => self.criticals.push(format!("{roller} ({})", format_time(at))),
                Outcome::RollWithHope | Outcome::SuccessWithHope | Outcome::FailureWithHope => self.with_hope += 1,
                Outcome::RollWithFear | Outcome::SuccessWithFear | Outcome::FailureWithFear => self.with_fear += 1,
            }
        }
        if let Some(reason) = &roll.reason {
            if self.reasons.len() < REASONS_SHOWN {
                let came_to = describe_result(&reading);
                self.reasons.push(format!("{}: {roller}, {}{came_to}", format_time(at), to_one_line(reason)));
            } else {
                self.reasons_left_out += 1;
            }
        }
        let luck = Luck::from_roll(roll, &reading);
        self.luck.record_roll(roll, luck, names);
        if let Some(luck) = luck {
            let line = describe_roll(roll, &reading, &roller);
            if luck.is_good() && self.luckiest.as_ref().is_none_or(|(best, _)| luck.rank > best.rank) {
                self.luckiest = Some((luck, line));
            } else if luck.is_bad() && self.unluckiest.as_ref().is_none_or(|(worst, _)| luck.rank < worst.rank) {
                self.unluckiest = Some((luck, line));
            }
        }
        *self.rolls_by_name.entry(roller).or_default() += 1;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rolls_by_name.is_empty()
    }

    pub(super) fn render(&self, text: &mut String) {
        if self.is_empty() {
            return;
        }
        text.push_str("\n## Dice\n\n");
        let rolls: u64 = self.rolls_by_name.values().sum();
        let _ = writeln!(text, "- {}: {}", pluralize(rolls, "roll"), self.rollers());
        if self.with_hope + self.with_fear > 0 {
            let balance = match self.with_hope.cmp(&self.with_fear) {
                std::cmp::Ordering::Greater => "Hope was ahead",
                std::cmp::Ordering::Equal => "an even balance",
                std::cmp::Ordering::Less => "Fear was ahead",
            };
            let _ = writeln!(text, "- {} with Hope, {} with Fear: {balance}", self.with_hope, self.with_fear);
        }
        if !self.criticals.is_empty() {
            let names = truncate_list(self.criticals.iter().cloned(), NAMES_SHOWN).join(", ");
            let _ = writeln!(text, "- {}: {names}", pluralize(self.criticals.len() as u64, "critical"));
        }
        if let Some((luck, line)) = &self.luckiest {
            let _ = writeln!(text, "- Luckiest: {line}{}", luck.describe());
        }
        if let Some((luck, line)) = &self.unluckiest {
            let _ = writeln!(text, "- Unluckiest: {line}{}", luck.describe());
        }
        for reason in &self.reasons {
            let _ = writeln!(text, "- {reason}");
        }
        if self.reasons_left_out > 0 {
            let _ = writeln!(text, "- and {} more rolls with a reason", self.reasons_left_out);
        }
        if self.replays > 0 {
            let _ = writeln!(text, "- Not counted: {}", pluralize(self.replays, "replay"));
        }
    }

    /// Sorted by number of rolls, the most first.
    fn rollers(&self) -> String {
        let mut rollers: Vec<(&String, &u64)> = self.rolls_by_name.iter().collect();
        rollers.sort_by_key(|(_, rolls)| std::cmp::Reverse(**rolls));
        truncate_list(rollers.iter().map(|(name, rolls)| format!("{name} {rolls}")), NAMES_SHOWN).join(", ")
    }
}

/// A roll in words: for whom, what, its total, and why if it says so.
pub(super) fn describe_roll(roll: &RecordedRoll, reading: &RollReading, roller: &str) -> String {
    let what = roll.expression.as_ref().unwrap_or(&roll.tool);
    let total = reading.total.map(|total| format!(" for {total}")).unwrap_or_default();
    let reason = roll.reason.as_ref().map(|reason| format!(", {}", to_one_line(reason))).unwrap_or_default();
    format!("{roller}, `{what}`{total}{reason}")
}

/// What a roll came to: an outcome, success or failure, and the total.
fn describe_result(reading: &RollReading) -> String {
    let outcome = reading.outcomes().first().map(|outcome| outcome.label().to_lowercase());
    let words =
        outcome.or_else(|| reading.success().map(|success| if success { "success" } else { "failure" }.to_owned()));
    match (words, reading.total) {
        (Some(words), Some(total)) => format!(": {words} ({total})"),
        (Some(words), None) => format!(": {words}"),
        (None, Some(total)) => format!(": {total}"),
        (None, None) => String::new(),
    }
}

fn pluralize(count: u64, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}
