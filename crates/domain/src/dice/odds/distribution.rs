//! Exact distributions: values and whole-number weights that share one denominator.

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{One, ToPrimitive, Zero};

use super::OddsRefusal;
use super::computation_budget::{self, ComputationBudget};

/// Up to this many pairs of weights, sums are convolved pair by pair.
const PAIRS_FEW: u64 = 2_048;
/// Bits of a denominator up to which a mean is reduced.
const REDUCED_BITS_MAX: u64 = 16_384;

/// Each value with its weight, values ascending, no weight zero. The weights sum to `total_weight`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Distribution {
    weights: Vec<(i64, BigUint)>,
    whole: BigUint,
}

impl Distribution {
    /// Always the same value.
    pub fn constant(value: i64) -> Self {
        Self { weights: vec![(value, BigUint::one())], whole: BigUint::one() }
    }

    /// Sorts, merges equal values and drops zero weights.
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

    pub(super) fn into_weights(self) -> Vec<(i64, BigUint)> {
        self.weights
    }

    pub fn total_weight(&self) -> &BigUint {
        &self.whole
    }

    pub fn lowest(&self) -> i64 {
        self.weights.first().map_or(0, |(value, _)| *value)
    }

    pub fn highest(&self) -> i64 {
        self.weights.last().map_or(0, |(value, _)| *value)
    }

    /// The total weight of the values for which `holds` is true.
    pub fn weight_where(&self, holds: impl Fn(i64) -> bool) -> BigUint {
        self.weights.iter().filter(|(value, _)| holds(*value)).map(|(_, weight)| weight).sum()
    }

    /// The distribution of a function of the value.
    pub fn map(&self, function: impl Fn(i64) -> Option<i64>) -> Result<Self, OddsRefusal> {
        let mapped = self.weights.iter().map(|(value, weight)| Some((function(*value)?, weight.clone())));
        Ok(Self::new(mapped.collect::<Option<Vec<_>>>().ok_or(OddsRefusal::NumberTooLarge)?))
    }

    /// The distribution of the sum of two independent values.
    pub fn sum_with(&self, other: &Self, budget: &ComputationBudget) -> Result<Self, OddsRefusal> {
        let lowest = self.lowest().checked_add(other.lowest()).ok_or(OddsRefusal::NumberTooLarge)?;
        self.highest().checked_add(other.highest()).ok_or(OddsRefusal::NumberTooLarge)?;
        let width = self.width().saturating_add(other.width());
        let words = computation_budget::word_count(self.whole.bits() + other.whole.bits());
        let packed =
            computation_budget::product_steps(self.width().saturating_mul(words), other.width().saturating_mul(words));
        let is_sparse = width > self.pair_count(other).saturating_mul(2);
        if is_sparse {
            return self.combine(other, i64::checked_add, budget);
        }
        budget.charge_memory(width, words)?;
        if self.pair_count(other) <= PAIRS_FEW || self.pair_steps(other) <= packed {
            return self.convolve(other, lowest, width, budget);
        }
        budget.charge_steps(packed)?;
        let packed = self.pack(words)? * other.pack(words)?;
        Ok(unpack(&packed, words, lowest, &self.whole * &other.whole))
    }

    /// The sum by direct convolution.
    fn convolve(&self, other: &Self, lowest: i64, width: u64, budget: &ComputationBudget) -> Result<Self, OddsRefusal> {
        let mut sums = vec![BigUint::zero(); usize::try_from(width).map_err(|_| OddsRefusal::NumberTooLarge)?];
        let steps = self.pair_steps(other) / (self.weights.len() as u64).max(1);
        for (left, left_weight) in &self.weights {
            budget.charge_steps(steps)?;
            let small = u64::try_from(left_weight).ok();
            for (right, right_weight) in &other.weights {
                let product =
                    small.map_or_else(|| left_weight * right_weight, |left_weight| right_weight * left_weight);
                sums[dense_index(left + right, lowest)] += product;
            }
        }
        Ok(from_dense(sums, lowest, &self.whole * &other.whole))
    }

    /// The distribution of the sum of `count` independent values.
    pub fn sum_of_copies(&self, count: u32, budget: &ComputationBudget) -> Result<Self, OddsRefusal> {
        match count {
            0 => return Ok(Self::constant(0)),
            1 => return Ok(self.clone()),
            _ => {}
        }
        self.highest().checked_mul(i64::from(count)).ok_or(OddsRefusal::NumberTooLarge)?;
        let lowest = self.lowest().checked_mul(i64::from(count)).ok_or(OddsRefusal::NumberTooLarge)?;
        let width = (self.width() - 1).saturating_mul(u64::from(count)).saturating_add(1);
        let words = computation_budget::word_count(self.whole.bits() * u64::from(count));
        let packed_words = width.saturating_mul(words);
        // Repeated squaring; each squaring costs about three times the one before it.
        let packed = computation_budget::product_steps(packed_words / 2, packed_words / 2).saturating_mul(2);
        let rows = computation_budget::pair_steps(width.saturating_mul(self.weights.len() as u64), words, 0);
        budget.charge_memory(width, words)?;
        match self.small_weights(count, width) {
            Some(weights) if rows <= packed => self.sum_of_copies_by_rows(&weights, count, lowest, width, budget),
            _ if budget.can_afford(packed) => {
                let packed = power(&self.pack(words)?, count, budget)?;
                Ok(unpack(&packed, words, lowest, self.whole.pow(count)))
            }
            _ => Err(budget.too_many_steps(packed)),
        }
    }

    /// Weights by offset from the lowest value, if every factor in [`Self::sum_of_copies_by_rows`] fits in a `u64`.
    fn small_weights(&self, count: u32, width: u64) -> Option<Vec<(u64, u64)>> {
        let largest_factor = (u64::from(count) + 1).checked_mul(self.width())?.max(width);
        let weights = self.weights.iter().map(|(value, weight)| {
            let weight = u64::try_from(weight).ok()?;
            weight.checked_mul(largest_factor)?;
            Some((value.abs_diff(self.lowest()), weight))
        });
        weights.collect()
    }

    /// Each weight of the power, from those before it. For `q = pⁿ`, the derivative says `p·q' = n·p'·q`; comparing
    /// coefficients, `k·p₀·q[k]` is the sum over `i` of `((n + 1)·i − k)·p[i]·q[k − i]`.
    fn sum_of_copies_by_rows(
        &self,
        weights: &[(u64, u64)],
        count: u32,
        lowest: i64,
        width: u64,
        budget: &ComputationBudget,
    ) -> Result<Self, OddsRefusal> {
        let [(_, first), others @ ..] = weights else { return Ok(self.clone()) };
        let whole = self.whole.pow(count);
        let steps =
            computation_budget::pair_steps(weights.len() as u64, computation_budget::word_count(whole.bits()), 0);
        let mut sums: Vec<BigUint> = vec![BigUint::from(*first).pow(count)];
        for at in 1..width {
            budget.charge_steps(steps)?;
            let (mut more, mut less) = (BigUint::zero(), BigUint::zero());
            for (offset, weight) in others.iter().take_while(|(offset, _)| *offset <= at) {
                let before = &sums[usize::try_from(at - offset).map_err(|_| OddsRefusal::NumberTooLarge)?];
                let factor = (u64::from(count) + 1) * offset;
                if factor > at {
                    more += before * ((factor - at) * weight);
                } else {
                    less += before * ((at - factor) * weight);
                }
            }
            sums.push((more - less) / at / *first);
        }
        Ok(from_dense(sums, lowest, whole))
    }

    /// The distribution of a function of two independent values, pair by pair.
    pub fn combine(
        &self,
        other: &Self,
        function: impl Fn(i64, i64) -> Option<i64>,
        budget: &ComputationBudget,
    ) -> Result<Self, OddsRefusal> {
        let whole = &self.whole * &other.whole;
        let steps = self.pair_steps(other).saturating_mul(2);
        if !budget.can_afford(steps) {
            return Err(budget.too_many_steps(steps));
        }
        let (steps, words) = (steps / (self.weights.len() as u64).max(1), computation_budget::word_count(whole.bits()));
        let mut weights = std::collections::BTreeMap::<i64, BigUint>::new();
        for (left, left_weight) in &self.weights {
            budget.charge_steps(steps)?;
            ComputationBudget::check_memory(weights.len() as u64, words)?;
            for (right, right_weight) in &other.weights {
                let value = function(*left, *right).ok_or(OddsRefusal::NumberTooLarge)?;
                *weights.entry(value).or_default() += left_weight * right_weight;
            }
        }
        budget.charge_memory(weights.len() as u64, words)?;
        Ok(Self { weights: weights.into_iter().collect(), whole })
    }

    /// The mean as a fraction, reduced up to `REDUCED_BITS_MAX`.
    pub fn mean(&self) -> (BigInt, BigUint) {
        let sum: BigInt =
            self.weights.iter().map(|(value, weight)| BigInt::from(weight.clone()) * BigInt::from(*value)).sum();
        if self.whole.bits() > REDUCED_BITS_MAX {
            return (sum, self.whole.clone());
        }
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
        // (E[x²]·n² − (E[x]·n)²) / n², rounded only at the end.
        let variance = moment(2) * &whole - moment(1).pow(2);
        ratio_to_f64(variance.magnitude(), &(&self.whole * &self.whole)).sqrt()
    }

    fn width(&self) -> u64 {
        self.highest().abs_diff(self.lowest()).saturating_add(1)
    }

    fn pair_count(&self, other: &Self) -> u64 {
        (self.weights.len() as u64).saturating_mul(other.weights.len() as u64)
    }

    fn pair_steps(&self, other: &Self) -> u64 {
        computation_budget::pair_steps(
            self.pair_count(other),
            computation_budget::word_count(self.whole.bits()),
            computation_budget::word_count(other.whole.bits()),
        )
    }

    /// Packs the weights into one large number, `words` words each (Kronecker substitution).
    fn pack(&self, words: u64) -> Result<BigUint, OddsRefusal> {
        let index = |number: u64| usize::try_from(number).map_err(|_| OddsRefusal::NumberTooLarge);
        let halves = index(words)? * 2;
        let mut digits = vec![0_u32; index(self.width())? * halves];
        for (value, weight) in &self.weights {
            let at = dense_index(*value, self.lowest()) * halves;
            for (place, digit) in digits[at..].iter_mut().zip(weight.to_u32_digits()) {
                *place = digit;
            }
        }
        Ok(BigUint::new(digits))
    }
}

/// Power by repeated squaring. Charges each product, so it can be cancelled between them.
fn power(base: &BigUint, exponent: u32, budget: &ComputationBudget) -> Result<BigUint, OddsRefusal> {
    let product = |left: &BigUint, right: &BigUint| {
        budget.charge_steps(computation_budget::product_steps(
            computation_budget::word_count(left.bits()),
            computation_budget::word_count(right.bits()),
        ))?;
        Ok(left * right)
    };
    let mut power = base.clone();
    // `power` starts as the base, which covers the highest bit.
    for bit in (0..exponent.ilog2()).rev() {
        power = product(&power, &power)?;
        if exponent >> bit & 1 == 1 {
            power = product(&power, base)?;
        }
    }
    Ok(power)
}

/// The index of a value in a dense list that starts at the lowest value.
fn dense_index(value: i64, lowest: i64) -> usize {
    usize::try_from(value.abs_diff(lowest)).unwrap_or(usize::MAX)
}

fn from_dense(sums: Vec<BigUint>, lowest: i64, whole: BigUint) -> Distribution {
    let weights = (lowest..).zip(sums).filter(|(_, weight)| !weight.is_zero()).collect();
    Distribution { weights, whole }
}

fn unpack(packed: &BigUint, words: u64, lowest: i64, whole: BigUint) -> Distribution {
    let digits = packed.to_u32_digits();
    let halves = usize::try_from(words).unwrap_or(usize::MAX).saturating_mul(2);
    let weights = digits.chunks(halves).zip(lowest..).map(|(digits, value)| (value, BigUint::from_slice(digits)));
    Distribution { weights: weights.filter(|(_, weight)| !weight.is_zero()).collect(), whole }
}

/// Bits of the quotient before it is converted to `f64`.
const PRECISION: u64 = 64;

/// A fraction of large numbers as `f64`, to full precision.
pub fn ratio_to_f64(numerator: &BigUint, denominator: &BigUint) -> f64 {
    if numerator.is_zero() {
        return 0.0;
    }
    let shift = (denominator.bits() + PRECISION).saturating_sub(numerator.bits());
    let quotient = (numerator << shift) / denominator;
    let exponent = i32::try_from(shift).unwrap_or(i32::MAX);
    quotient.to_f64().unwrap_or(f64::INFINITY) * 2_f64.powi(-exponent)
}
