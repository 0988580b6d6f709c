//! Exact numbers for people: a reduced fraction where it is short, and a decimal.

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::Zero;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::distribution::ratio_to_f64;

/// Longer fractions are left out of the answer.
const FRACTION_CHARS_MAX: usize = 40;

/// Fractions longer than this are left out of a short answer.
const SHORT_FRACTION_CHARS_MAX: usize = 12;

/// Denominators with more bits are not reduced: the fraction would stay longer than `FRACTION_CHARS_MAX`.
const FRACTION_BITS_MAX: u64 = 512;

/// A number between whole ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Exact {
    /// Reduced; left out where it is very long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fraction: Option<String>,
    pub decimal: f64,
}

impl Exact {
    pub fn new(numerator: &BigUint, denominator: &BigUint) -> Self {
        let fraction = (denominator.bits() < FRACTION_BITS_MAX).then(|| {
            let common = numerator.gcd(denominator);
            if common.is_zero() {
                "0/1".to_owned()
            } else {
                format!("{}/{}", numerator / &common, denominator / &common)
            }
        });
        Self { fraction: drop_long_fraction(fraction), decimal: ratio_to_f64(numerator, denominator) }
    }

    /// A number that may be negative, from a fraction that is reduced already.
    pub fn from_signed(numerator: &BigInt, denominator: &BigUint) -> Self {
        let magnitude = ratio_to_f64(numerator.magnitude(), denominator);
        let decimal = if *numerator < BigInt::zero() { -magnitude } else { magnitude };
        let fraction = (denominator.bits() < FRACTION_BITS_MAX).then(|| format!("{numerator}/{denominator}"));
        Self { fraction: drop_long_fraction(fraction), decimal }
    }
}

impl Exact {
    /// The number for a short answer: a decimal of four digits, and the fraction if it is short as well.
    #[must_use]
    pub fn shorten(&self) -> Self {
        let fraction = self.fraction.clone().filter(|fraction| fraction.len() <= SHORT_FRACTION_CHARS_MAX);
        Self { fraction, decimal: round_to_digits(self.decimal) }
    }
}

/// Rounds to four significant digits.
fn round_to_digits(number: f64) -> f64 {
    format!("{number:.3e}").parse().unwrap_or(number)
}

fn drop_long_fraction(fraction: Option<String>) -> Option<String> {
    fraction.filter(|fraction| fraction.len() <= FRACTION_CHARS_MAX)
}
