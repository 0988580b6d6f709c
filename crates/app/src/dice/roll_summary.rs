//! Sentences that begin the answers of rolls and odds, and the detail that an answer has.

use schemars::JsonSchema;
use serde::Deserialize;
use skald_domain::dice::odds::Exact;
use skald_domain::dice::{Judgement, Outcome, RollResult};

/// Characters of an expression in a short answer.
const EXPRESSION_CHARS_SHORT: usize = 40;

/// How much a roll answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum RollDetail {
    #[default]
    Short,
    /// Every die, the chances and the seed.
    Full,
}

/// A chance in percent, never rounded to 0 or 100 unless it is that.
pub(super) fn format_percent(chance: f64) -> String {
    let percent = chance * 100.0;
    if percent > 0.0 && percent < 0.1 {
        "under 0.1 %".to_owned()
    } else if percent > 99.9 && percent < 100.0 {
        "over 99.9 %".to_owned()
    } else if percent.fract() == 0.0 || (10.0..=99.0).contains(&percent) {
        format!("{percent:.0} %")
    } else {
        format!("{percent:.1} %")
    }
}

/// The outcome with Hope and Fear written as the game writes them.
pub(super) fn outcome_words(outcome: Outcome) -> String {
    outcome.label().replace("hope", "Hope").replace("fear", "Fear")
}

/// "Success with Hope: 8+5+2 = 15 vs 15".
pub(super) fn summarize_judgement(judgement: &Judgement) -> String {
    let Judgement { hope, fear, modifier, edge, bonus, difficulty, total, outcome, .. } = *judgement;
    let added = [Some(modifier).filter(|modifier| *modifier != 0), edge, bonus];
    let added: Vec<String> = added.into_iter().flatten().map(|number| format!("{number:+}")).collect();
    let added = added.concat();
    let against = difficulty.map(|difficulty| format!(" vs {difficulty}")).unwrap_or_default();
    format!("{}: {hope}+{fear}{added} = {total}{against}", outcome_words(outcome))
}

/// "Success: 17 vs 15 (51 % chance)" or "16 (23 % do as well or better)".
pub(super) fn summarize_result(
    result: &RollResult,
    success_chance: Option<&Exact>,
    at_least: Option<&Exact>,
) -> String {
    let total = result.total;
    let chance = |chance: &Exact| format!(" ({} chance)", format_percent(chance.decimal));
    match (&result.duality, result.success, result.against) {
        (Some(judgement), ..) => summarize_judgement(judgement),
        (None, Some(success), Some(against)) => {
            let word = if success { "Success" } else { "Failure" };
            format!("{word}: {total} vs {against}{}", success_chance.map(chance).unwrap_or_default())
        }
        _ => {
            let better = at_least.map(|chance| format!(" ({} do as well or better)", format_percent(chance.decimal)));
            format!("{total}{}", better.unwrap_or_default())
        }
    }
}

/// An expression for a short answer.
pub(super) fn shorten_expression(expression: String) -> String {
    match expression.char_indices().nth(EXPRESSION_CHARS_SHORT) {
        Some((end, _)) => format!("{}…", &expression[..end]),
        None => expression,
    }
}

#[cfg(test)]
mod tests {
    use skald_domain::dice::judge;

    use super::*;

    #[test]
    fn a_judgement_is_a_sentence() {
        let judged = |difficulty| judge(8, 5, 2, difficulty).unwrap();
        assert_eq!(summarize_judgement(&judged(Some(15))), "Success with Hope: 8+5+2 = 15 vs 15");
        assert_eq!(summarize_judgement(&judged(None)), "Roll with Hope: 8+5+2 = 15");
        let edged = Judgement { edge: Some(-3), bonus: Some(4), modifier: 0, ..judged(None) };
        assert_eq!(summarize_judgement(&edged), "Roll with Hope: 8+5-3+4 = 15");
    }

    #[test]
    fn percentages_are_short_and_honest() {
        let shown: Vec<String> = [0.0, 0.0001, 0.0162, 0.5833, 0.9999, 1.0].into_iter().map(format_percent).collect();
        assert_eq!(shown, ["0 %", "under 0.1 %", "1.6 %", "58 %", "over 99.9 %", "100 %"]);
    }
}
