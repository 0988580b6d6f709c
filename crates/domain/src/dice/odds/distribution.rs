//! Exact distributions: values and whole-number weights that share one denominator.

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{One, ToPrimitive, Zero};

use super::OddsRefusal;

/// Bits that the packed form of a distribution may have. Squaring one this large takes about half a second.
const PACKED_BITS_MAX: u64 = 16_000_000;
/// Products of single weights up to which they are formed one by one.
const PAIRS_FEW: usize = 2_048;
/// Products of single weights past which nobody wants to wait.
const PAIRS_MAX: usize = 2_000_000;

/// Each value with its weight, values ascending, no weight zero. The weights sum to `whole`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Distribution {
    weights: Vec<(i64, BigUint)>,
    whole: BigUint,
}

impl Distribution {
    /// Always the same value.
    pub fn certain(value: i64) -> Self {
        Self { weights: vec![(value, BigUint::one())], whole: BigUint::one() }
    }

    /// Sorts, adds up equal values and drops what weighs nothing.
    pub fn new(weights: impl IntoIterator<Item = (i64, BigUint)>) -> Self {
        let mut given: Vec<(i64, BigUint)> = weights.into_iter().filter(|(_, weight)| !weight.is_zero()).collect();
        given.sort_by_key(|(value, _)| *value);
        let mut weights: Vec<(i64, BigUint)> = Vec::with_capacity(given.len());
        for (value, weight) in given {
            match weights.last_mut() {
                Some((last, sum)) if *last == value => *sum += weight,
                _ => weights.push((value, weight)),
            }
        }
        let whole = weights.iter().map(|(_, weight)| weight).sum();
        Self { weights, whole }
    }

    pub fn weights(&self) -> &[(i64, BigUint)] {
        &self.weights
    }

    pub fn whole(&self) -> &BigUint {
        &self.whole
    }

    pub fn lowest(&self) -> i64 {
        self.weights.first().map_or(0, |(value, _)| *value)
    }

    pub fn highest(&self) -> i64 {
        self.weights.last().map_or(0, |(value, _)| *value)
    }

    /// The weight of the values for which something holds.
    pub fn weight_where(&self, holds: impl Fn(i64) -> bool) -> BigUint {
        self.weights.iter().filter(|(value, _)| holds(*value)).map(|(_, weight)| weight).sum()
    }

    /// The distribution of a function of the value.
    pub fn map(&self, function: impl Fn(i64) -> Option<i64>) -> Result<Self, OddsRefusal> {
        let mapped = self.weights.iter().map(|(value, weight)| Some((function(*value)?, weight.clone())));
        Ok(Self::new(mapped.collect::<Option<Vec<_>>>().ok_or(OddsRefusal::NumberTooLarge)?))
    }

    /// The sum of two independent ones.
    pub fn plus(&self, other: &Self) -> Result<Self, OddsRefusal> {
        if self.weights.len() * other.weights.len() <= PAIRS_FEW {
            return self.combine(other, i64::checked_add);
        }
        let whole = &self.whole * &other.whole;
        let words = words_of(whole.bits());
        let width = self.width() + other.width();
        if check_packed(width, words).is_err() {
            return self.combine(other, i64::checked_add);
        }
        let packed = self.pack(words)? * other.pack(words)?;
        let lowest = self.lowest().checked_add(other.lowest()).ok_or(OddsRefusal::NumberTooLarge)?;
        Ok(unpack(&packed, words, lowest, whole))
    }

    /// The sum of `count` independent ones: the packed weights as one number, raised to that power.
    pub fn times(&self, count: u32) -> Result<Self, OddsRefusal> {
        match count {
            0 => return Ok(Self::certain(0)),
            1 => return Ok(self.clone()),
            _ => {}
        }
        let words = words_of(self.whole.bits() * u64::from(count));
        check_packed(self.width().saturating_mul(u64::from(count)), words)?;
        let packed = self.pack(words)?.pow(count);
        let lowest = self.lowest().checked_mul(i64::from(count)).ok_or(OddsRefusal::NumberTooLarge)?;
        Ok(unpack(&packed, words, lowest, self.whole.pow(count)))
    }

    /// A function of two independent ones, pair by pair.
    pub fn combine(&self, other: &Self, function: impl Fn(i64, i64) -> Option<i64>) -> Result<Self, OddsRefusal> {
        if self.weights.len().saturating_mul(other.weights.len()) > PAIRS_MAX {
            return Err(OddsRefusal::TooCostly);
        }
        let mut weights = std::collections::BTreeMap::<i64, BigUint>::new();
        for (left, left_weight) in &self.weights {
            for (right, right_weight) in &other.weights {
                let value = function(*left, *right).ok_or(OddsRefusal::NumberTooLarge)?;
                *weights.entry(value).or_default() += left_weight * right_weight;
            }
        }
        Ok(Self { weights: weights.into_iter().collect(), whole: &self.whole * &other.whole })
    }

    /// The mean as a reduced fraction.
    pub fn mean(&self) -> (BigInt, BigUint) {
        let sum: BigInt =
            self.weights.iter().map(|(value, weight)| BigInt::from(*value) * BigInt::from(weight.clone())).sum();
        let common = sum.magnitude().gcd(&self.whole);
        (sum / BigInt::from(common.clone()), &self.whole / common)
    }

    pub fn standard_deviation(&self) -> f64 {
        let moment = |power: u32| -> BigInt {
            let terms = self
                .weights
                .iter()
                .map(|(value, weight)| BigInt::from(*value).pow(power) * BigInt::from(weight.clone()));
            terms.sum()
        };
        let whole = BigInt::from(self.whole.clone());
        // (E[x²]·n² − (E[x]·n)²) / n², without a rounding before the end.
        let variance = moment(2) * &whole - moment(1).pow(2);
        decimal(variance.magnitude(), &(&self.whole * &self.whole)).sqrt()
    }

    fn width(&self) -> u64 {
        self.highest().abs_diff(self.lowest()) + 1
    }

    /// One large number with a weight in every `words` words.
    fn pack(&self, words: usize) -> Result<BigUint, OddsRefusal> {
        let width = usize::try_from(self.width()).map_err(|_| OddsRefusal::TooCostly)?;
        let mut digits = vec![0_u32; width * words];
        for (value, weight) in &self.weights {
            let at = usize::try_from(value.abs_diff(self.lowest())).map_err(|_| OddsRefusal::TooCostly)? * words;
            for (place, digit) in digits[at..].iter_mut().zip(weight.to_u32_digits()) {
                *place = digit;
            }
        }
        Ok(BigUint::new(digits))
    }
}

fn words_of(bits: u64) -> usize {
    usize::try_from(bits / 32 + 1).unwrap_or(usize::MAX)
}

fn check_packed(width: u64, words: usize) -> Result<(), OddsRefusal> {
    let bits = width.saturating_mul(words as u64).saturating_mul(32);
    if bits > PACKED_BITS_MAX { Err(OddsRefusal::TooCostly) } else { Ok(()) }
}

fn unpack(packed: &BigUint, words: usize, lowest: i64, whole: BigUint) -> Distribution {
    let digits = packed.to_u32_digits();
    let weights = digits.chunks(words).zip(lowest..).map(|(digits, value)| (value, BigUint::from_slice(digits)));
    Distribution { weights: weights.filter(|(_, weight)| !weight.is_zero()).collect(), whole }
}

/// Bits of a quotient that a decimal is made of.
const PRECISION: u64 = 64;

/// A fraction of large numbers as a decimal, to the precision of one.
pub fn decimal(numerator: &BigUint, denominator: &BigUint) -> f64 {
    if numerator.is_zero() {
        return 0.0;
    }
    let shift = (denominator.bits() + PRECISION).saturating_sub(numerator.bits());
    let quotient = (numerator << shift) / denominator;
    let exponent = i32::try_from(shift).unwrap_or(i32::MAX);
    quotient.to_f64().unwrap_or(f64::INFINITY) * 2_f64.powi(-exponent)
}
