//! The chance that a die would have exploded past its cap, exact as long as the fraction stays readable.

use num_bigint::BigUint;
use num_traits::{One, Zero};

use super::{Distribution, Exact, ratio_to_f64};
use crate::dice::notation::Explode;

/// Past this many bits only the decimal is kept; `Exact` leaves out much shorter fractions.
const BITS_MAX: u64 = 4_096;

/// How likely it is that an explosion was cut off.
#[derive(Debug, Clone, PartialEq)]
pub struct PastCapChance {
    /// The chance that no explosion was cut off: numerator and denominator.
    within: Option<(BigUint, BigUint)>,
    decimal: f64,
}

impl PastCapChance {
    pub(super) fn zero() -> Self {
        Self { within: Some((BigUint::one(), BigUint::one())), decimal: 0.0 }
    }

    /// For `count` equal dice.
    pub(super) fn from_dice(die: &Distribution, explode: Explode, count: u32) -> Self {
        let exploding = die.weight_where(|value| explode.when.holds(value));
        if exploding.is_zero() {
            return Self::zero();
        }
        let whole = die.total_weight().pow(explode.cap + 1);
        let beyond = exploding.pow(explode.cap + 1);
        let one = Self { decimal: ratio_to_f64(&beyond, &whole), within: drop_large_fraction(&whole - beyond, whole) };
        let within = one.within.and_then(|(within, whole)| {
            if whole.bits() * u64::from(count) > BITS_MAX { None } else { Some((within.pow(count), whole.pow(count))) }
        });
        Self { within, decimal: chance_of_any(one.decimal, f64::from(count)) }
    }

    pub(super) fn or(&self, other: &Self) -> Self {
        let within = match (&self.within, &other.within) {
            (Some(left), Some(right)) => drop_large_fraction(&left.0 * &right.0, &left.1 * &right.1),
            _ => None,
        };
        Self { within, decimal: self.decimal + other.decimal - self.decimal * other.decimal }
    }

    /// The chance, or `None` if it is zero.
    pub fn chance(&self) -> Option<Exact> {
        match &self.within {
            Some((within, whole)) if within == whole => None,
            Some((within, whole)) => Some(Exact::new(&(whole - within), whole)),
            None => Some(Exact { fraction: None, decimal: self.decimal }),
        }
    }
}

fn drop_large_fraction(within: BigUint, whole: BigUint) -> Option<(BigUint, BigUint)> {
    (whole.bits() <= BITS_MAX).then_some((within, whole))
}

/// The chance of at least one hit in `tries`. `ln_1p` and `exp_m1` keep small chances from rounding to zero.
fn chance_of_any(chance: f64, tries: f64) -> f64 {
    -(tries * (-chance).ln_1p()).exp_m1()
}
