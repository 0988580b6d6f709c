//! Exact odds of any expression: by convolution where dice are summed, by counting faces where some are kept.
//!
//! Nothing is sampled. What would cost too much is refused before it is tried.

mod distribution;
mod exact;
mod keep;
mod line;
mod pool;
#[cfg(test)]
mod tests;

use num_bigint::BigUint;
use num_traits::One;

pub use distribution::{Distribution, decimal};
pub use exact::Exact;
pub use line::{LineOdds, Need, line_odds};

use super::notation::{Expression, Operator};

/// Why there are no exact odds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OddsRefusal {
    #[error("exact odds of this would take too long")]
    TooCostly,
    #[error("something here may be divided by zero")]
    DivisionByZero,
    #[error("the numbers here grow too large")]
    NumberTooLarge,
}

/// The odds of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Odds {
    pub distribution: Distribution,
    /// The chance that no die reaches its cap of explosions with another one due, as a fraction.
    within_cap: (BigUint, BigUint),
}

impl Odds {
    fn certain(value: i64) -> Self {
        Self::of(Distribution::certain(value))
    }

    fn of(distribution: Distribution) -> Self {
        Self { distribution, within_cap: (BigUint::one(), BigUint::one()) }
    }

    /// The exact chance that a die would have exploded past its cap, as a fraction.
    pub fn beyond_cap(&self) -> (BigUint, BigUint) {
        (&self.within_cap.1 - &self.within_cap.0, self.within_cap.1.clone())
    }

    fn combined(distribution: Distribution, left: &Self, right: &Self) -> Self {
        let within_cap = (&left.within_cap.0 * &right.within_cap.0, &left.within_cap.1 * &right.within_cap.1);
        Self { distribution, within_cap }
    }
}

pub fn odds(expression: &Expression) -> Result<Odds, OddsRefusal> {
    match expression {
        Expression::Number(number) => Ok(Odds::certain(*number)),
        Expression::Pool(pool) => pool::odds(pool),
        Expression::Labelled { inner, .. } => odds(inner),
        Expression::Negative(inner) => {
            let inner = odds(inner)?;
            let distribution = inner.distribution.map(i64::checked_neg)?;
            Ok(Odds { distribution, ..inner })
        }
        Expression::Set(set) => {
            let items = set.items.iter().map(odds).collect::<Result<Vec<_>, _>>()?;
            let distributions: Vec<&Distribution> = items.iter().map(|item| &item.distribution).collect();
            let distribution = keep::of_items(&distributions, set.keep)?;
            let start = Odds::certain(0);
            let within = items.iter().fold(start, |sum, item| Odds::combined(sum.distribution.clone(), &sum, item));
            Ok(Odds { distribution, ..within })
        }
        Expression::Binary { operator, left, right } => {
            let (left, right) = (odds(left)?, odds(right)?);
            let distribution = binary(*operator, &left.distribution, &right.distribution)?;
            Ok(Odds::combined(distribution, &left, &right))
        }
    }
}

fn binary(operator: Operator, left: &Distribution, right: &Distribution) -> Result<Distribution, OddsRefusal> {
    match operator {
        Operator::Add => left.plus(right),
        Operator::Subtract => left.plus(&right.map(i64::checked_neg)?),
        Operator::Multiply => left.combine(right, i64::checked_mul),
        Operator::Divide => {
            if right.weights().iter().any(|(value, _)| *value == 0) {
                return Err(OddsRefusal::DivisionByZero);
            }
            left.combine(right, checked_floor_division)
        }
    }
}

/// Division that rounds down, also below zero.
pub(crate) fn checked_floor_division(left: i64, right: i64) -> Option<i64> {
    let quotient = left.checked_div(right)?;
    let is_below = left % right != 0 && (left < 0) != (right < 0);
    Some(if is_below { quotient - 1 } else { quotient })
}
