//! The budget of computing odds, in steps and bytes. Work is estimated and charged before it is done, and the caller
//! can cancel at any charge.

use std::cell::Cell;

use super::{Cost, OddsRefusal};

/// Steps of one answer. A step takes one to two nanoseconds of one core of a small machine.
const STEPS_MAX: u64 = 500_000_000;
/// Bytes of all distributions of one answer together, and of any single temporary structure.
const BYTES_MAX: u64 = 24_000_000;
/// Bytes of a value with its weight, without the words of the weight.
const ROW_BYTES: u64 = 64;
/// Fixed steps for each pair of weights, added to the product of their words.
const PAIR_STEPS: u64 = 80;
/// Words from which `num-bigint` multiplies by splitting instead of digit by digit.
const HALVED_WORDS: u64 = 64;

/// The steps and bytes left for an answer.
pub struct ComputationBudget<'a> {
    steps: Cell<u64>,
    bytes: Cell<u64>,
    is_given_up: &'a dyn Fn() -> bool,
}

impl Default for ComputationBudget<'_> {
    fn default() -> Self {
        Self::with_cancellation(&|| false)
    }
}

impl<'a> ComputationBudget<'a> {
    /// A full budget. Once `is_given_up` returns true, the next charge of steps is refused.
    pub fn with_cancellation(is_given_up: &'a dyn Fn() -> bool) -> Self {
        Self { steps: Cell::new(STEPS_MAX), bytes: Cell::new(BYTES_MAX), is_given_up }
    }

    /// Whether this many steps are left. Charges nothing.
    pub(super) fn can_afford(&self, steps: u64) -> bool {
        steps <= self.steps.get()
    }

    /// Charges steps before they are made.
    pub(super) fn charge_steps(&self, steps: u64) -> Result<(), OddsRefusal> {
        if (self.is_given_up)() {
            return Err(OddsRefusal::GivenUp);
        }
        self.steps.set(self.steps.get().checked_sub(steps).ok_or_else(|| self.too_many_steps(steps))?);
        Ok(())
    }

    /// The refusal of this many more steps.
    pub(super) fn too_many_steps(&self, steps: u64) -> OddsRefusal {
        let all = (STEPS_MAX - self.steps.get()).saturating_add(steps);
        OddsRefusal::TooCostly(Cost::Work { times: all.div_ceil(STEPS_MAX) })
    }

    /// Charges the memory of a distribution before it is allocated.
    pub(super) fn charge_memory(&self, rows: u64, words: u64) -> Result<(), OddsRefusal> {
        let bytes = row_bytes(rows, words);
        let left = self.bytes.get().checked_sub(bytes);
        self.bytes.set(left.ok_or_else(|| too_much_memory((BYTES_MAX - self.bytes.get()).saturating_add(bytes)))?);
        Ok(())
    }

    /// Checks the size of a temporary structure. Charges nothing.
    pub(super) fn check_memory(rows: u64, words: u64) -> Result<(), OddsRefusal> {
        let bytes = row_bytes(rows, words);
        if bytes > BYTES_MAX { Err(too_much_memory(bytes)) } else { Ok(()) }
    }
}

fn too_much_memory(bytes: u64) -> OddsRefusal {
    OddsRefusal::TooCostly(Cost::Memory { times: bytes.div_ceil(BYTES_MAX) })
}

fn row_bytes(rows: u64, words: u64) -> u64 {
    rows.saturating_mul(words.saturating_mul(8).saturating_add(ROW_BYTES))
}

/// 64-bit words of a number of this many bits.
pub(super) fn word_count(bits: u64) -> u64 {
    bits / 64 + 1
}

/// Steps of multiplying weight by weight.
pub(super) fn pair_steps(pairs: u64, left_words: u64, right_words: u64) -> u64 {
    pairs.saturating_mul(left_words.saturating_mul(right_words).saturating_add(left_words + right_words + PAIR_STEPS))
}

/// Steps of one product of large numbers.
pub(super) fn product_steps(left_words: u64, right_words: u64) -> u64 {
    let (less, more) = (left_words.min(right_words), left_words.max(right_words));
    if less < HALVED_WORDS { less.saturating_mul(more) } else { more.saturating_mul(less.isqrt()).saturating_mul(4) }
}
