//! A recorded roll as people see it: its dice, its total, its outcome in words, and how likely it was.

use maud::{Markup, html};
use serde_json::Value;

use super::drawn_dice::{DieTone, die, sides_of};
use super::state::{EventRow, TableState};
use crate::components::percent;

/// Dice of a roll that are drawn; the others are counted.
const DICE_DRAWN_MAX: usize = 20;

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
        let duality = result.get("duality").or_else(|| result.get("hope").map(|_| result));
        Some(Self { event: &row.event, result, duality })
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

    pub(super) fn total(&self) -> Option<i64> {
        let of = self.duality.unwrap_or(self.result);
        of.get("total").or_else(|| self.result.get("total"))?.as_i64()
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

    fn difficulty(&self) -> Option<i64> {
        self.duality?.get("difficulty")?.as_i64()
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
        html! {
            @if let Some(duality) = self.duality {
                @let number = |field: &str| duality.get(field).and_then(Value::as_i64);
                @if let (Some(hope), Some(fear)) = (number("hope"), number("fear")) {
                    (die(12, hope, DieTone::Hope)) (die(12, fear, DieTone::Fear))
                }
                (modifier_text(number("edge"))) (modifier_text(number("bonus"))) (modifier_text(number("modifier")))
            } @else {
                (self.pools())
            }
            @if let Some(total) = self.total() {
                span.total {
                    "= " strong { (total) }
                    @if let Some(against) = self.difficulty().or_else(|| self.result.get("against")?.as_i64()) { span.muted { " vs " (against) } }
                }
            } @else if let Some(totals) = self.totals() {
                span.total { "= " strong { (totals) } }
            }
        }
    }

    /// The totals of a roll that was repeated.
    fn totals(&self) -> Option<String> {
        let totals = self.result.get("totals").or_else(|| self.result.get("rolls"))?.as_array()?;
        let number = |value: &Value| value.as_i64().or_else(|| value.get("total")?.as_i64());
        Some(totals.iter().filter_map(number).map(|total| total.to_string()).collect::<Vec<_>>().join(", "))
    }

    fn pools(&self) -> Markup {
        let pools = self.result.get("pools").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let dice: Vec<Markup> = pools.iter().flat_map(pool_dice).collect();
        let kept: i64 = pools.iter().filter_map(|pool| pool.get("total")?.as_i64()).sum();
        let rest = self.total().filter(|_| !pools.is_empty()).map(|total| total - kept);
        html! {
            @for drawn in dice.iter().take(DICE_DRAWN_MAX) { (drawn) }
            @if dice.len() > DICE_DRAWN_MAX { span.muted { "and " (dice.len() - DICE_DRAWN_MAX) " more" } }
            (modifier_text(rest.filter(|_| pools.len() == 1)))
        }
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
        let total = self.total().map(|total| format!(": {total}")).unwrap_or_default();
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

fn pool_dice(pool: &Value) -> Vec<Markup> {
    let sides = sides_of(pool.get("notation").and_then(Value::as_str).unwrap_or_default());
    let dice = pool.get("dice").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let drawn = |shown: &Value| {
        let states = shown.get("state").and_then(Value::as_array);
        let is_dropped =
            states.is_some_and(|states| states.iter().any(|state| state == "dropped" || state == "rerolled"));
        let tone = if is_dropped { DieTone::Dropped } else { DieTone::Plain };
        shown.get("face").and_then(Value::as_i64).map(|face| die(sides, face, tone))
    };
    dice.iter().filter_map(drawn).collect()
}

fn modifier_text(number: Option<i64>) -> Markup {
    html! { @if let Some(number) = number.filter(|number| *number != 0) { span.modifier { (format!("{number:+}")) } } }
}
