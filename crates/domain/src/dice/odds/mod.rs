//! Exact odds of any expression: by convolution where dice are summed, by counting faces where some are kept.
//!
//! Odds are sampled only on request (`sample.rs`). A computation that would cost too much is refused before it starts.

mod computation_budget;
mod cost;
mod distribution;
mod exact_number;
mod explode;
mod explosions_past_cap;
mod expression_odds;
mod kept_dice;
mod pool;
mod sample;
mod table;
#[cfg(test)]
mod tests;

pub use computation_budget::ComputationBudget;
pub use cost::Cost;
pub use distribution::{Distribution, ratio_to_f64};
pub use exact_number::Exact;
use explosions_past_cap::PastCapChance;
pub use expression_odds::{LineOdds, NeededNumber, OddsSummary, chance_of_highest, line_odds};
pub use sample::{SampleRefusal, sample_odds};
pub use table::{OddsTable, ValueChance};

use super::notation::{Expression, Operator};

/// Why there are no exact odds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OddsRefusal {
    #[error("exact odds of this would {0}")]
    TooCostly(Cost),
    #[error("{divisor} may be zero, and something is divided by it")]
    DivisionByZero { divisor: String },
    #[error("the numbers here grow too large")]
    NumberTooLarge,
    #[error("nobody waits for these odds any more")]
    GivenUp,
}

/// The odds of an expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Odds {
    pub distribution: Distribution,
    /// The chance that a die would have exploded past its cap.
    pub beyond_cap: PastCapChance,
}

impl Odds {
    fn from_distribution(distribution: Distribution) -> Self {
        Self { distribution, beyond_cap: PastCapChance::zero() }
    }
}

pub fn odds(expression: &Expression, budget: &ComputationBudget) -> Result<Odds, OddsRefusal> {
    match expression {
        Expression::Number(number) => Ok(Odds::from_distribution(Distribution::constant(*number))),
        Expression::Pool(pool) => pool::pool_odds(pool, budget),
        Expression::Labelled { inner, .. } => odds(inner, budget),
        Expression::Negative(inner) => {
            let inner = odds(inner, budget)?;
            let distribution = inner.distribution.map(i64::checked_neg)?;
            Ok(Odds { distribution, ..inner })
        }
        Expression::Set(set) => {
            let items = set.items.iter().map(|item| odds(item, budget)).collect::<Result<Vec<_>, _>>()?;
            let distributions: Vec<&Distribution> = items.iter().map(|item| &item.distribution).collect();
            let distribution = kept_dice::odds_of_items(&distributions, set.keep, budget)?;
            let beyond_cap = items.iter().fold(PastCapChance::zero(), |any, item| any.or(&item.beyond_cap));
            Ok(Odds { distribution, beyond_cap })
        }
        Expression::Binary { operator, left, right } => {
            let divisor = right;
            let (left, right) = (odds(left, budget)?, odds(right, budget)?);
            if *operator == Operator::Divide && right.distribution.weights().iter().any(|(value, _)| *value == 0) {
                return Err(OddsRefusal::DivisionByZero { divisor: truncate_expression(divisor) });
            }
            let distribution = binary_odds(*operator, &left.distribution, &right.distribution, budget)?;
            Ok(Odds { distribution, beyond_cap: left.beyond_cap.or(&right.beyond_cap) })
        }
    }
}

fn binary_odds(
    operator: Operator,
    left: &Distribution,
    right: &Distribution,
    budget: &ComputationBudget,
) -> Result<Distribution, OddsRefusal> {
    match operator {
        Operator::Add => left.sum_with(right, budget),
        Operator::Subtract => left.sum_with(&right.map(i64::checked_neg)?, budget),
        Operator::Multiply => left.combine(right, i64::checked_mul, budget),
        Operator::Divide => left.combine(right, checked_floor_division, budget),
    }
}

/// The expression as text for error messages, cut to `CHARS_MAX`.
pub(crate) fn truncate_expression(expression: &Expression) -> String {
    const CHARS_MAX: usize = 40;
    let text = expression.to_string();
    match text.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Division that rounds down, also below zero.
pub(crate) fn checked_floor_division(left: i64, right: i64) -> Option<i64> {
    let quotient = left.checked_div(right)?;
    let is_below = left % right != 0 && (left < 0) != (right < 0);
    Some(if is_below { quotient - 1 } else { quotient })
}
