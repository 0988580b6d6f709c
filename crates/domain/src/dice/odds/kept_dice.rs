//! Odds of keeping or dropping dice: the highest, the lowest, or all but those.

use std::collections::BTreeMap;

use num_bigint::BigUint;
use num_traits::One;

use super::computation_budget::{self, ComputationBudget};
use super::explode::value_in_chain;
use super::{Cost, Distribution, OddsRefusal};
use crate::dice::notation::{Explode, Keep, KeepKind};

/// Limit on the estimated visits of hands. The estimate is often far too high.
const VISITS_ESTIMATED_MAX: u64 = 1_000_000_000;
/// Fixed steps of visiting one hand, without those for its size.
const VISIT_STEPS: u64 = 300;

/// Odds of equal dice without explosions. Goes through the faces from best to worst and chooses how many of the
/// remaining dice show each; once enough are kept, the rest may show any face that is left.
pub(super) fn odds_of_equal_dice(
    die: &Distribution,
    count: u32,
    keep: Keep,
    worth: impl Fn(i64) -> i64,
    budget: &ComputationBudget,
) -> Result<Distribution, OddsRefusal> {
    let (highest_first, kept) = normalize_keep(keep, count);
    if kept == 0 {
        return Ok(Distribution::new([(0, die.total_weight().pow(count))]));
    }
    let mut faces: Vec<(i64, BigUint)> = die.weights().to_vec();
    if highest_first {
        faces.reverse();
    }
    let words = computation_budget::word_count(die.total_weight().bits() * u64::from(count));
    check_deal_cost(&faces, &worth, count, kept, words, budget)?;
    // `u128` is faster and cannot overflow here: every intermediate sum is at most the total weight.
    let weights: Option<Vec<(i64, u128)>> = if die.total_weight().bits() * u64::from(count) < 127 {
        faces.iter().map(|(value, weight)| Some((worth(*value), weight.try_into().ok()?))).collect()
    } else {
        None
    };
    let dealt = if let Some(weights) = weights {
        count_kept_sums::<u128>(&weights, count, kept, words, budget)?
            .into_iter()
            .map(|(value, weight)| (value, weight.into()))
            .collect()
    } else {
        let weights: Vec<(i64, BigUint)> = faces.into_iter().map(|(value, weight)| (worth(value), weight)).collect();
        count_kept_sums::<BigUint>(&weights, count, kept, words, budget)?
    };
    Ok(Distribution::new(dealt))
}

/// Estimates the cost and refuses before any work is done.
fn check_deal_cost(
    faces: &[(i64, BigUint)],
    worth: &impl Fn(i64) -> i64,
    count: u32,
    kept: u32,
    words: u64,
    budget: &ComputationBudget,
) -> Result<(), OddsRefusal> {
    let (lowest, highest) = faces.iter().fold((i64::MAX, i64::MIN), |(lowest, highest), (face, _)| {
        (lowest.min(worth(*face)), highest.max(worth(*face)))
    });
    let range = highest.abs_diff(lowest);
    let sums = |used: u64| range.saturating_mul(used).saturating_add(1);
    let steps = (0..u64::from(kept)).map(|used| deal_steps(sums(used), used, u64::from(count), words));
    let steps = steps.fold(0, u64::saturating_add).saturating_mul(faces.len() as u64);
    let rows = range.saturating_mul(u64::from(kept)).saturating_add(1).saturating_mul(u64::from(kept) + 1);
    ComputationBudget::check_memory(rows, words)?;
    // The table of binomials takes memory too.
    ComputationBudget::check_memory(u64::from(count) * u64::from(kept), words.min(u64::from(count) / 64 + 1))?;
    if budget.can_afford(steps) { Ok(()) } else { Err(budget.too_many_steps(steps)) }
}

/// Steps for one face when `used` dice are assigned already and have `sums` different sums.
fn deal_steps(sums: u64, used: u64, count: u64, words: u64) -> u64 {
    let half = words.div_ceil(2);
    // Each sum is multiplied by the number of ways, which is itself a product.
    computation_budget::pair_steps(sums.saturating_add(2).saturating_mul(count - used + 1), half, half)
}

/// Turns keep and drop into (highest first, number kept).
fn normalize_keep(keep: Keep, count: u32) -> (bool, u32) {
    match keep.kind {
        KeepKind::KeepHighest => (true, keep.count.min(count)),
        KeepKind::KeepLowest => (false, keep.count.min(count)),
        KeepKind::DropLowest => (true, count.saturating_sub(keep.count)),
        KeepKind::DropHighest => (false, count.saturating_sub(keep.count)),
    }
}

/// The arithmetic of weights, so that small ones can use `u128` instead of `BigUint`.
trait Weight: Clone + From<u32> {
    fn product(&self, other: &Self) -> Self;
    fn add(&mut self, other: &Self);
}

impl Weight for u128 {
    fn product(&self, other: &Self) -> Self {
        self * other
    }

    fn add(&mut self, other: &Self) {
        *self += other;
    }
}

impl Weight for BigUint {
    fn product(&self, other: &Self) -> Self {
        self * other
    }

    fn add(&mut self, other: &Self) {
        *self += other;
    }
}

/// The powers of a weight, from 0 to `highest`.
fn powers<W: Weight>(base: &W, highest: u32) -> Vec<W> {
    let next = |power: &W| Some(power.product(base));
    std::iter::successors(Some(W::from(1)), next).take(highest as usize + 1).collect()
}

/// `open[used]` has the sums of the kept dice when `used` dice, fewer than `kept`, are assigned to earlier faces.
fn count_kept_sums<W: Weight>(
    faces: &[(i64, W)],
    count: u32,
    kept: u32,
    words: u64,
    budget: &ComputationBudget,
) -> Result<Vec<(i64, W)>, OddsRefusal> {
    let mut tails = vec![W::from(0); faces.len() + 1];
    for (at, (_, weight)) in faces.iter().enumerate().rev() {
        tails[at] = tails[at + 1].clone();
        tails[at].add(weight);
    }
    let binomials = binomials::<W>(count, kept);
    let mut open: Vec<BTreeMap<i64, W>> = vec![BTreeMap::new(); kept as usize];
    open[0].insert(0, W::from(1));
    let mut done: BTreeMap<i64, W> = BTreeMap::new();
    for (at, (worth, weight)) in faces.iter().enumerate() {
        let (powers, tail_powers) = (powers(weight, count), powers(&tails[at + 1], count));
        // Descending, so that a sum added for this face is not visited again for the same face.
        for used in (0..kept).rev() {
            let sums = std::mem::take(&mut open[used as usize]);
            let left = count - used;
            budget.charge_steps(deal_steps(sums.len() as u64, u64::from(used), u64::from(count), words))?;
            for showing in 0..=left {
                let ways = binomials[used as usize][showing as usize].product(&powers[showing as usize]);
                let counted = showing.min(kept - used);
                let now = used + showing;
                let ways = if now >= kept { ways.product(&tail_powers[(count - now) as usize]) } else { ways };
                let target = if now >= kept { &mut done } else { &mut open[now as usize] };
                for (sum, weight) in &sums {
                    let entry = target.entry(sum + worth * i64::from(counted)).or_insert_with(|| W::from(0));
                    entry.add(&weight.product(&ways));
                }
            }
        }
    }
    Ok(done.into_iter().collect())
}

/// Row `used`: the binomial coefficients of the `count - used` remaining dice.
fn binomials<W: Weight>(count: u32, kept: u32) -> Vec<Vec<W>> {
    let mut row = vec![W::from(1)];
    let mut rows = std::collections::VecDeque::new();
    for others in 0..=count {
        if others + kept > count {
            rows.push_front(row.clone());
        }
        for at in (1..row.len()).rev() {
            let left = row[at - 1].clone();
            row[at].add(&left);
        }
        row.push(W::from(1));
    }
    rows.into()
}

/// The dice held while others are added: the kept ones, or the dropped ones.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct HeldDice {
    /// Ascending.
    values: Vec<i64>,
    /// The value of dice that are no longer held and count.
    sum: i64,
}

/// Which dice are held, and whether the held or the others count.
#[derive(Debug, Clone, Copy)]
struct HoldRule {
    size: usize,
    /// Whether the highest are held; otherwise the lowest.
    highest: bool,
    /// Whether the held count; otherwise the others do.
    held_count: bool,
}

impl HoldRule {
    fn from_keep(keep: Keep) -> Self {
        let (highest, held_count) = match keep.kind {
            KeepKind::KeepHighest => (true, true),
            KeepKind::KeepLowest => (false, true),
            KeepKind::DropHighest => (true, false),
            KeepKind::DropLowest => (false, false),
        };
        Self { size: keep.count as usize, highest, held_count }
    }

    fn add_die(self, held: &HeldDice, value: i64, worth: &impl Fn(i64) -> i64) -> HeldDice {
        let mut values = held.values.clone();
        values.insert(values.partition_point(|held| *held < value), value);
        let mut sum = held.sum;
        if values.len() > self.size {
            let gone = if self.highest { values.remove(0) } else { values.pop().unwrap_or_default() };
            if !self.held_count {
                sum += worth(gone);
            }
        }
        HeldDice { values, sum }
    }

    fn total(self, held: &HeldDice, worth: &impl Fn(i64) -> i64) -> i64 {
        if self.held_count { held.values.iter().map(|value| worth(*value)).sum() } else { held.sum }
    }

    /// An upper bound on the number of different hands.
    fn hands_max(self, values: u64, dice: u64) -> u64 {
        let mut hands = 1_u64;
        for at in 0..(self.size as u64).min(dice) {
            hands = hands.saturating_mul(values.saturating_add(at)) / (at + 1);
        }
        if self.held_count { hands } else { hands.saturating_mul(dice).saturating_mul(values) }
    }
}

/// Estimates the cost and refuses before any work is done.
fn check_hands_cost(hold: HoldRule, values: u64, draws: u64, faces: u64) -> Result<(), OddsRefusal> {
    let looks = hold.hands_max(values, draws).saturating_mul(draws).saturating_mul(faces);
    if looks > VISITS_ESTIMATED_MAX {
        return Err(OddsRefusal::TooCostly(Cost::Work { times: looks.div_ceil(VISITS_ESTIMATED_MAX) }));
    }
    Ok(())
}

impl HoldRule {
    /// Charges for adding each face to one hand, and checks the memory of all hands.
    fn charge_hand(
        self,
        budget: &ComputationBudget,
        faces: usize,
        hands: usize,
        words: u64,
    ) -> Result<(), OddsRefusal> {
        let size = self.size as u64;
        budget.charge_steps(
            (faces as u64).saturating_mul(VISIT_STEPS.saturating_add(size * 4).saturating_add(words * 4)),
        )?;
        // Twice: hands being built and finished hands.
        ComputationBudget::check_memory(hands as u64 * 2, words + size + 8)
    }
}

type HandWeights = BTreeMap<HeldDice, BigUint>;

fn empty_hand() -> HandWeights {
    HandWeights::from([(HeldDice { values: Vec::new(), sum: 0 }, BigUint::one())])
}

/// Odds of exploding dice, where added dice are kept or dropped like any other.
pub(super) fn odds_of_exploding_dice(
    die: &Distribution,
    explode: Explode,
    count: u32,
    keep: Keep,
    worth: impl Fn(i64) -> i64,
    budget: &ComputationBudget,
) -> Result<Distribution, OddsRefusal> {
    let hold = HoldRule::from_keep(keep);
    let (faces, draws) = (die.weights().len() as u64, u64::from(count) * u64::from(explode.cap + 1));
    check_hands_cost(hold, faces + 1, draws, faces)?;
    let words = computation_budget::word_count(die.total_weight().bits() * draws);
    let mut hands = empty_hand();
    for _ in 0..count {
        let mut done = HandWeights::new();
        let mut coming = hands;
        for depth in 0..=explode.cap {
            // A chain that ends early is scaled by the draws it did not make, so that all weights share a denominator.
            let unmade = die.total_weight().pow(explode.cap - depth);
            let mut next = HandWeights::new();
            for (held, ways) in &coming {
                hold.charge_hand(budget, die.weights().len(), done.len() + next.len(), words)?;
                for (value, weight) in die.weights() {
                    let hand = hold.add_die(held, value_in_chain(explode, *value, depth), &worth);
                    if depth < explode.cap && explode.when.holds(*value) {
                        *next.entry(hand).or_default() += ways * weight;
                    } else {
                        *done.entry(hand).or_default() += ways * weight * &unmade;
                    }
                }
            }
            coming = next;
        }
        hands = done;
    }
    Ok(Distribution::new(hands.into_iter().map(|(held, ways)| (hold.total(&held, &worth), ways))))
}

/// Odds of a set: totals of different expressions, of which some are kept.
pub(super) fn odds_of_items(
    items: &[&Distribution],
    keep: Option<Keep>,
    budget: &ComputationBudget,
) -> Result<Distribution, OddsRefusal> {
    let Some(keep) = keep else {
        return items.iter().try_fold(Distribution::constant(0), |sum, item| sum.sum_with(item, budget));
    };
    let hold = HoldRule::from_keep(keep);
    let widest = items.iter().map(|item| item.weights().len()).max().unwrap_or_default() as u64;
    let count = items.len() as u64;
    check_hands_cost(hold, widest.saturating_mul(count), count, widest)?;
    let worth = |value: i64| value;
    let words = computation_budget::word_count(items.iter().map(|item| item.total_weight().bits()).sum());
    let mut hands = empty_hand();
    for item in items {
        let mut next = HandWeights::new();
        for (held, ways) in &hands {
            hold.charge_hand(budget, item.weights().len(), next.len(), words)?;
            for (value, weight) in item.weights() {
                *next.entry(hold.add_die(held, *value, &worth)).or_default() += ways * weight;
            }
        }
        hands = next;
    }
    Ok(Distribution::new(hands.into_iter().map(|(held, ways)| (hold.total(&held, &worth), ways))))
}
