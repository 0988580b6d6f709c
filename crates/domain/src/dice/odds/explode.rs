//! Odds of exploding dice.

use num_bigint::BigUint;
use num_traits::One;

use super::computation_budget::{self, ComputationBudget};
use super::{Distribution, OddsRefusal};
use crate::dice::notation::{Explode, ExplodeKind};

/// The value of a die in a chain: penetrating dice after the first count one less.
pub(super) fn value_in_chain(explode: Explode, value: i64, depth: u32) -> i64 {
    if explode.kind == ExplodeKind::Penetrate && depth > 0 { value - 1 } else { value }
}

/// The values of one die of a chain, split into faces that explode and faces that end it.
struct ChainLink {
    exploding: Distribution,
    ending: Distribution,
}

impl ChainLink {
    fn new(die: &Distribution, explode: Explode, depth: u32, worth: &impl Fn(i64) -> i64) -> Self {
        let worths = |explodes: bool| {
            let faces = die.weights().iter().filter(move |(face, _)| explode.when.holds(*face) == explodes);
            Distribution::new(
                faces.map(|(face, weight)| (worth(value_in_chain(explode, *face, depth)), weight.clone())),
            )
        };
        Self { exploding: worths(true), ending: worths(false) }
    }
}

/// The distribution of a die with its explosions, where each die is scored by itself.
pub(super) fn chain_distribution(
    die: &Distribution,
    explode: Explode,
    worth: &impl Fn(i64) -> i64,
    budget: &ComputationBudget,
) -> Result<Distribution, OddsRefusal> {
    // From the last possible die, which cannot explode, back to the first.
    let mut rest = die.map(|face| Some(worth(value_in_chain(explode, face, explode.cap))))?;
    for depth in (0..explode.cap).rev() {
        budget.charge_steps(computation_budget::pair_steps(die.weights().len() as u64, 1, 1))?;
        let link = ChainLink::new(die, explode, depth, worth);
        let ending = link.ending.weights().iter().map(|(value, weight)| (*value, weight * rest.total_weight()));
        let ending: Vec<(i64, BigUint)> = ending.collect();
        rest = if link.exploding.weights().is_empty() {
            link.ending
        } else {
            let going_on = link.exploding.sum_with(&rest, budget)?;
            Distribution::new(going_on.into_weights().into_iter().chain(ending))
        };
        budget.charge_steps(computation_budget::pair_steps(
            rest.weights().len() as u64,
            computation_budget::word_count(rest.total_weight().bits()),
            1,
        ))?;
    }
    Ok(rest)
}

/// The distribution of the sum of `count` dice with their explosions.
pub(super) fn sum_distribution(
    die: &Distribution,
    explode: Explode,
    count: u32,
    worth: &impl Fn(i64) -> i64,
    budget: &ComputationBudget,
) -> Result<Distribution, OddsRefusal> {
    let link = ChainLink::new(die, explode, 0, worth);
    match link.exploding.weights() {
        [(value, weight)] if explode.kind == ExplodeKind::Separate && !link.ending.weights().is_empty() => {
            let face = OneFace { value: *value, weight, whole: die.total_weight(), cap: explode.cap };
            if budget.can_afford(face.sum_steps(&link.ending, count)) {
                return face.sum(&link.ending, count, budget);
            }
        }
        _ => {}
    }
    chain_distribution(die, explode, worth, budget)?.sum_of_copies(count, budget)
}

/// The common case that all exploding faces have one value, which has a faster algorithm.
struct OneFace<'a> {
    value: i64,
    weight: &'a BigUint,
    whole: &'a BigUint,
    cap: u32,
}

impl OneFace<'_> {
    /// Estimated steps of [`Self::sum`].
    fn sum_steps(&self, ending: &Distribution, count: u32) -> u64 {
        let (endings, depths) = (ending.highest().abs_diff(ending.lowest()), u64::from(self.cap));
        let words = |dice: u64| computation_budget::word_count(self.whole.bits() * dice);
        let steps = (0..=u64::from(count)).map(|ended| {
            let pairs = endings.saturating_mul(ended).saturating_add(1).saturating_mul(depths * ended + 1);
            computation_budget::pair_steps(pairs, words(ended), words(ended * depths))
        });
        steps.fold(0, u64::saturating_add)
    }

    /// A die either ends on another face after `d` explosions, or explodes to its cap and once more without effect.
    /// Of `count` dice, `k` end and the others do not: a sum over `k`, in which all endings share one distribution and
    /// all numbers of explosions another. Both are far smaller than that of the whole chain.
    fn sum(&self, ending: &Distribution, count: u32, budget: &ComputationBudget) -> Result<Distribution, OddsRefusal> {
        let draws = u64::from(self.cap + 1) * u64::from(count);
        let widest = self.value.unsigned_abs().max(ending.highest().abs_diff(ending.lowest())) + 1;
        budget
            .charge_memory(widest.saturating_mul(draws), computation_budget::word_count(self.whole.bits() * draws))?;
        let explosions =
            (0..=self.cap).map(|depth| (i64::from(depth), self.weight.pow(depth) * self.whole.pow(self.cap - depth)));
        let explosions = Distribution::new(explosions);
        let unended = self.weight.pow(self.cap + 1);
        let (mut endings, mut depths) = (Distribution::constant(0), Distribution::constant(0));
        let (mut weights, mut ways) = (Vec::new(), BigUint::one());
        for ended in 0..=count {
            let others = count - ended;
            let all = endings.sum_with(&depths.map(|depth| depth.checked_mul(self.value))?, budget)?;
            let words = computation_budget::word_count(all.total_weight().bits());
            let other_words = computation_budget::word_count(unended.bits() * u64::from(others) + ways.bits());
            budget.charge_steps(computation_budget::product_steps(other_words, other_words))?;
            budget.charge_steps(computation_budget::pair_steps(all.weights().len() as u64, words, other_words))?;
            let (ways_of_others, shift) =
                (&ways * unended.pow(others), self.value * i64::from((self.cap + 1) * others));
            let more = all.weights().iter().map(|(value, weight)| (value + shift, weight * &ways_of_others));
            weights = Distribution::new(weights.into_iter().chain(more)).into_weights();
            if others > 0 {
                (endings, depths) = (endings.sum_with(ending, budget)?, depths.sum_with(&explosions, budget)?);
                ways = ways * others / (ended + 1);
            }
        }
        Ok(Distribution::new(weights))
    }
}
