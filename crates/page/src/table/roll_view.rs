//! A recorded roll as people see it: its dice, its total, its outcome in words, and how likely it was.

use maud::Markup;
use serde_json::Value;

use super::rolled_dice::{duality_of, repetitions, rolled_dice, total_of};
use super::state::{EventRow, TableState};
use crate::components::percent;

/// A roll in an event of the log.
pub(super) struct RollView<'a> {
    event: &'a Value,
    result: &'a Value,
    /// The judged Duality dice, if it is such a roll.
    duality: Option<&'a Value>,
}

impl<'a> RollView<'a> {
    pub(super) fn from_row(row: &'a EventRow) -> Option<Self> {
        if !row.kind().starts_with("roll.") {
            return None;
        }
        let result = row.event.get("result")?;
        Some(Self { event: &row.event, result, duality: duality_of(result) })
    }

    fn event_text(&self, field: &str) -> Option<&'a str> {
        self.event.get(field)?.as_str()
    }

    pub(super) fn id(&self) -> Option<&'a str> {
        self.event_text("id")
    }

    pub(super) fn reason(&self) -> Option<&'a str> {
        self.event_text("reason")
    }

    pub(super) fn expression(&self) -> Option<&'a str> {
        self.event_text("expression")
    }

    /// For whom the dice fell, or who threw them.
    pub(super) fn roller_name(&self, state: &'a TableState) -> Option<&'a str> {
        let actor = self.event_text("actor_id").and_then(|id| state.actor_name(id));
        actor.or_else(|| self.event_text("participant_id").and_then(|id| state.people.get(id).map(String::as_str)))
    }

    /// Who sees it, if that is not the table.
    pub(super) fn audience(&self, state: &TableState) -> Option<String> {
        audience_words(state, self.event)
    }

    fn outcome_code(&self) -> Option<&'a str> {
        let of = self.duality.unwrap_or(self.result);
        of.get("outcome").or_else(|| self.result.get("outcome"))?.as_str()
    }

    /// The outcome in words, and the class that colours it.
    pub(super) fn outcome(&self) -> Option<(&'static str, &'static str)> {
        match self.outcome_code() {
            Some("CRITICAL_SUCCESS") => Some(("Critical success", "outcome-critical")),
            Some("SUCCESS_WITH_HOPE") => Some(("Success with Hope", "outcome-hope")),
            Some("SUCCESS_WITH_FEAR") => Some(("Success with Fear", "outcome-fear")),
            Some("FAILURE_WITH_HOPE") => Some(("Failure with Hope", "outcome-hope-failure")),
            Some("FAILURE_WITH_FEAR") => Some(("Failure with Fear", "outcome-fear-failure")),
            Some("ROLL_WITH_HOPE") => Some(("With Hope", "outcome-hope")),
            Some("ROLL_WITH_FEAR") => Some(("With Fear", "outcome-fear")),
            _ => match self.result.get("success").and_then(Value::as_bool) {
                Some(true) => Some(("Success", "outcome-success")),
                Some(false) => Some(("Failure", "outcome-failure")),
                None => None,
            },
        }
    }

    fn chance(&self, field: &str) -> Option<f64> {
        self.event.get(field)?.get("decimal")?.as_f64()
    }

    /// How likely it was, between 0 and 1.
    pub(super) fn likelihood_part(&self) -> Option<f64> {
        self.chance("success_chance").or_else(|| self.chance("at_least_chance"))
    }

    /// How likely it was, in words.
    pub(super) fn likelihood(&self) -> Option<String> {
        if let Some(chance) = self.chance("success_chance") {
            return Some(format!("{} to succeed", percent(chance)));
        }
        let chance = self.chance("at_least_chance")?;
        Some(format!("{} for this or more", percent(chance)))
    }

    /// The dice, what is added, the total, and what it was to reach.
    pub(super) fn dice(&self) -> Markup {
        rolled_dice(self.result, self.expression())
    }

    /// The total, or those of a roll that was repeated.
    fn totals(&self) -> Option<String> {
        if let Some(total) = total_of(self.result) {
            return Some(total.to_string());
        }
        let totals = repetitions(self.result)?.iter().filter_map(total_of).map(|total| total.to_string());
        Some(totals.collect::<Vec<_>>().join(", "))
    }

    /// What the roll changed, as short words.
    pub(super) fn changes(&self) -> Vec<String> {
        let changes = self.event.get("changes").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let line = |change: &Value| {
            let (name, by) = (change.get("name")?.as_str()?, change.get("by")?.as_i64()?);
            Some(format!("{name} {by:+}"))
        };
        changes.iter().filter_map(line).collect()
    }

    /// The roll as one sentence, for those who hear it.
    pub(super) fn screen_reader_text(&self, state: &TableState) -> String {
        let who = self.roller_name(state).unwrap_or("Somebody");
        let why = self.reason().map(|reason| format!(" for {reason}")).unwrap_or_default();
        let total = self.totals().map(|totals| format!(": {totals}")).unwrap_or_default();
        let outcome = self.outcome().map(|(words, _)| format!(", {words}")).unwrap_or_default();
        format!("{who} rolled{why}{total}{outcome}")
    }
}

/// Who sees an event of the log, in words, if that is not the table.
pub(super) fn audience_words(state: &TableState, event: &Value) -> Option<String> {
    let words: Vec<&str> = match event.get("visible_to")? {
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect(),
        Value::String(word) => vec![word],
        _ => return None,
    };
    if words.iter().any(|word| ["table", "everyone", "everybody"].contains(word)) {
        return None;
    }
    let names =
        words.iter().filter_map(|id| state.people.get(*id).map(String::as_str).or_else(|| state.actor_name(id)));
    let names: Vec<&str> = names.collect();
    Some(if names.is_empty() { "only game masters".to_owned() } else { format!("for {}", names.join(", ")) })
}
