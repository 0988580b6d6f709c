//! Reads the stored result of any roll (totals, outcomes, success) and rates how lucky it was.

use serde::Deserialize;
use serde_json::Value;

use super::super::roll::RecordedRoll;
use crate::dice::Outcome;

/// The parts that the answers of all rolling operations have in common.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RollReading {
    pub(super) total: Option<i64>,
    success: Option<bool>,
    difficulty: Option<i64>,
    meets_difficulty: bool,
    outcome: Option<Outcome>,
    duality: Option<Box<RollReading>>,
    /// Each roll of a repeated one, or each pool.
    rolls: Vec<RollReading>,
}

impl RollReading {
    /// A result of an unknown shape gives an empty value.
    pub(super) fn from_result(result: &Value) -> Self {
        if result.is_object() { Self::deserialize(result).unwrap_or_default() } else { Self::default() }
    }

    /// Whether the roll succeeded; `None` if there was no target.
    pub(super) fn success(&self) -> Option<bool> {
        self.success.or_else(|| self.difficulty.map(|_| self.meets_difficulty))
    }

    /// The total, or that of each roll of a repeated one.
    pub(super) fn totals(&self) -> Vec<i64> {
        match self.total {
            Some(total) => vec![total],
            None => self.rolls.iter().flat_map(Self::totals).collect(),
        }
    }

    /// The outcome of every Duality roll in it.
    pub(super) fn outcomes(&self) -> Vec<Outcome> {
        let own = self.outcome.or_else(|| self.duality.as_ref().and_then(|duality| duality.outcome));
        own.into_iter().chain(self.rolls.iter().flat_map(Self::outcomes)).collect()
    }
}

/// The rank of a result among all possible results of its roll.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Luck {
    /// From 0, the worst, to 1, the best.
    pub(super) rank: f64,
    chance: f64,
    success: Option<bool>,
}

impl Luck {
    /// The luck of a recorded roll; `None` if its chance is unknown.
    pub(super) fn from_roll(roll: &RecordedRoll, reading: &RollReading) -> Option<Self> {
        let chance = roll.success_chance.as_ref().or(roll.at_least_chance.as_ref()).or(roll.chance.as_ref())?;
        let estimate = Self::from_reading(reading, chance.decimal)?;
        // Old records have no rank of their own.
        Some(match roll.luck.filter(|luck| (0.0..=1.0).contains(luck)) {
            Some(rank) => Self { rank, ..estimate },
            None => estimate,
        })
    }

    /// Whether it came out above the middle of all results.
    pub(super) fn is_above(&self) -> bool {
        self.rank > 0.5
    }

    /// Whether it succeeded, and the chance of that; `None` if there was nothing to reach.
    pub(super) fn check(&self) -> Option<(bool, f64)> {
        self.success.map(|success| (success, self.chance))
    }

    /// `chance` is that of success if there was a target, otherwise of this result or a better one. A success is ranked
    /// in the middle of all successes and a failure in the middle of all failures, since only that is known.
    pub(super) fn from_reading(reading: &RollReading, chance: f64) -> Option<Self> {
        let success = reading.success();
        let rank = match success {
            Some(true) => 1.0 - chance / 2.0,
            Some(false) => (1.0 - chance) / 2.0,
            None => 1.0 - chance,
        };
        (0.0..=1.0).contains(&chance).then_some(Self { rank, chance, success })
    }

    /// Among the best fifth.
    pub(super) fn is_good(&self) -> bool {
        self.rank >= 0.8
    }

    /// Among the worst fifth.
    pub(super) fn is_bad(&self) -> bool {
        self.rank <= 0.2
    }

    pub(super) fn describe(&self) -> String {
        let chance = format_percent(self.chance);
        match self.success {
            Some(true) => format!(" (a success at {chance})"),
            Some(false) => format!(" (a failure at {chance})"),
            None => format!(" ({chance} do as well or better)"),
        }
    }
}

/// Never rounds to 0 % or 100 % unless the chance is exactly that.
fn format_percent(chance: f64) -> String {
    let percent = chance * 100.0;
    if percent > 0.0 && percent < 0.1 {
        "under 0.1 %".to_owned()
    } else if percent < 10.0 {
        format!("{percent:.1} %")
    } else if percent > 99.0 && percent < 100.0 {
        "over 99 %".to_owned()
    } else {
        format!("{percent:.0} %")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_narrow_success_is_lucky_and_a_safe_failure_is_not() {
        let rank = |result: Value, chance| Luck::from_reading(&RollReading::from_result(&result), chance).unwrap().rank;
        let reached = |success: bool| json!({ "total": 9, "success": success });
        assert!(rank(reached(true), 0.1) > rank(reached(true), 0.9));
        assert!(rank(reached(false), 0.9) < rank(reached(false), 0.1));
        assert!(rank(reached(false), 0.1) < rank(reached(true), 0.9));
        assert!(rank(json!({ "total": 18 }), 0.01) > rank(json!({ "total": 3 }), 1.0));
        assert_eq!(Luck::from_reading(&RollReading::default(), f64::NAN), None);
    }

    #[test]
    fn a_result_of_an_unknown_shape_reads_as_nothing() {
        for result in [json!(null), json!([1]), json!({ "total": "many" }), json!({ "outcome": "DRAW" })] {
            let reading = RollReading::from_result(&result);
            assert_eq!((reading.total, reading.success(), reading.outcomes()), (None, None, Vec::new()));
        }
    }

    #[test]
    fn chances_are_not_rounded_to_certainty() {
        let shown: Vec<String> = [0.0, 0.0001, 0.0162, 0.5833, 0.996, 1.0].into_iter().map(format_percent).collect();
        assert_eq!(shown, ["0.0 %", "under 0.1 %", "1.6 %", "58 %", "over 99 %", "100 %"]);
    }
}
