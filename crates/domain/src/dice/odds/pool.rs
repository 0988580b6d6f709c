//! Odds of a pool: one die with all its rerolls and explosions, and then as many of them as there are.

use num_bigint::BigUint;
use num_traits::{One, Zero};

use super::{Distribution, Odds, OddsRefusal, keep};
use crate::dice::notation::{Explode, ExplodeKind, Pool};

/// Faces of a die past which its odds are not worked out one by one.
const FACES_MAX: u32 = 100_000;

pub(super) fn odds(pool: &Pool) -> Result<Odds, OddsRefusal> {
    if pool.die.sides() > FACES_MAX {
        return Err(OddsRefusal::TooCostly);
    }
    let die = Distribution::new(faces(pool));
    let worth = |value: i64| pool.count_successes.map_or(value, |count| count.worth(value));
    let distribution = match (pool.explode, pool.keep) {
        (None, None) => die.map(|value| Some(worth(value)))?.times(pool.count)?,
        (None, Some(kept)) => keep::of_equal_dice(&die, pool.count, kept, worth)?,
        (Some(explode), kept) if explode.kind == ExplodeKind::Compound => {
            let chain = chain(&die, explode, &|value| value);
            match kept {
                None => chain.map(|value| Some(worth(value)))?.times(pool.count)?,
                Some(kept) => keep::of_equal_dice(&chain, pool.count, kept, worth)?,
            }
        }
        (Some(explode), None) => chain(&die, explode, &worth).times(pool.count)?,
        (Some(explode), Some(kept)) => keep::of_exploding_dice(&die, explode, pool.count, kept, worth)?,
    };
    Ok(Odds {
        distribution,
        within_cap: pool.explode.map_or_else(one, |explode| within_cap(&die, explode, pool.count)),
    })
}

fn one() -> (BigUint, BigUint) {
    (BigUint::one(), BigUint::one())
}

/// The values of one die, rerolled and bounded, with their weights.
fn faces(pool: &Pool) -> Vec<(i64, BigUint)> {
    let all = pool.die.lowest()..=pool.die.highest();
    let sides = u64::from(pool.die.sides());
    let is_rerolled = |face: i64| pool.reroll.is_some_and(|reroll| reroll.when.holds(face));
    let rerolled = all.clone().filter(|face| is_rerolled(*face)).count() as u64;
    let weight = |face: i64| match pool.reroll {
        None => 1,
        // Until none is left: the others share the whole.
        Some(reroll) if !reroll.once => u64::from(!is_rerolled(face)),
        // Once: a face comes at first, unless it is rerolled, or after any that is.
        Some(_) => rerolled + if is_rerolled(face) { 0 } else { sides },
    };
    let bounded = |face: i64| {
        let face = pool.minimum.map_or(face, |minimum| face.max(minimum));
        pool.maximum.map_or(face, |maximum| face.min(maximum))
    };
    all.map(|face| (bounded(face), BigUint::from(weight(face)))).collect()
}

/// What dice of a chain count for: the first one as it is, the others less one if they penetrate.
pub(super) fn shown(explode: Explode, value: i64, depth: u32) -> i64 {
    if explode.kind == ExplodeKind::Penetrate && depth > 0 { value - 1 } else { value }
}

/// The worth of a die and all that it brings, where each counts by itself.
fn chain(die: &Distribution, explode: Explode, worth: &impl Fn(i64) -> i64) -> Distribution {
    let mut rest = Distribution::certain(0);
    // From the last die that may come to the first.
    for depth in (0..=explode.cap).rev() {
        let mut weights = Vec::new();
        for (value, weight) in die.weights() {
            let own = worth(shown(explode, *value, depth));
            if depth < explode.cap && explode.when.holds(*value) {
                weights.extend(rest.weights().iter().map(|(more, times)| (own + more, weight * times)));
            } else {
                weights.push((own, weight * rest.whole()));
            }
        }
        rest = Distribution::new(weights);
    }
    rest
}

fn within_cap(die: &Distribution, explode: Explode, count: u32) -> (BigUint, BigUint) {
    let exploding = die.weight_where(|value| explode.when.holds(value));
    if exploding.is_zero() {
        return one();
    }
    let whole = die.whole().pow(explode.cap + 1);
    let within = &whole - exploding.pow(explode.cap + 1);
    (within.pow(count), whole.pow(count))
}
