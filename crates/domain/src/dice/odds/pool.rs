//! Odds of a pool: first of one die with its rerolls and explosions, then of all dice together.

use num_bigint::BigUint;

use super::{ComputationBudget, Cost, Distribution, Odds, OddsRefusal, PastCapChance, explode, kept_dice};
use crate::dice::notation::{ExplodeKind, Pool};

/// The most sides of a die whose odds are computed: each side is a row.
const FACES_MAX: u32 = 100_000;

pub(super) fn pool_odds(pool: &Pool, budget: &ComputationBudget) -> Result<Odds, OddsRefusal> {
    if pool.die.sides() > FACES_MAX {
        return Err(OddsRefusal::TooCostly(Cost::Sides { given: pool.die.sides(), most: FACES_MAX }));
    }
    budget.charge_memory(u64::from(pool.die.sides()), 1)?;
    let die = Distribution::new(face_weights(pool));
    let worth = |value: i64| pool.count_successes.map_or(value, |count| count.score(value));
    let distribution = match (pool.explode, pool.keep) {
        (None, None) => die.map(|value| Some(worth(value)))?.sum_of_copies(pool.count, budget)?,
        (None, Some(kept)) => kept_dice::odds_of_equal_dice(&die, pool.count, kept, worth, budget)?,
        (Some(explode), kept) if explode.kind == ExplodeKind::Compound => {
            let chain = explode::chain_distribution(&die, explode, &|value| value, budget)?;
            match kept {
                None => chain.map(|value| Some(worth(value)))?.sum_of_copies(pool.count, budget)?,
                Some(kept) => kept_dice::odds_of_equal_dice(&chain, pool.count, kept, worth, budget)?,
            }
        }
        (Some(explode), None) => explode::sum_distribution(&die, explode, pool.count, &worth, budget)?,
        (Some(explode), Some(kept)) => {
            kept_dice::odds_of_exploding_dice(&die, explode, pool.count, kept, worth, budget)?
        }
    };
    let beyond_cap =
        pool.explode.map_or_else(PastCapChance::zero, |explode| PastCapChance::from_dice(&die, explode, pool.count));
    Ok(Odds { distribution, beyond_cap })
}

/// The values of one die, rerolled and bounded, with their weights.
fn face_weights(pool: &Pool) -> Vec<(i64, BigUint)> {
    let all = pool.die.lowest()..=pool.die.highest();
    let sides = u64::from(pool.die.sides());
    let is_rerolled = |face: i64| pool.reroll.is_some_and(|reroll| reroll.when.holds(face));
    let rerolled = all.clone().filter(|face| is_rerolled(*face)).count() as u64;
    let weight = |face: i64| match pool.reroll {
        None => 1,
        // Reroll until none is left: only the other faces remain, equally likely.
        Some(reroll) if !reroll.once => u64::from(!is_rerolled(face)),
        // Reroll once: a face comes up first, unless it is rerolled, or after a rerolled face.
        Some(_) => rerolled + if is_rerolled(face) { 0 } else { sides },
    };
    let bounded = |face: i64| {
        let face = pool.minimum.map_or(face, |minimum| face.max(minimum));
        pool.maximum.map_or(face, |maximum| face.min(maximum))
    };
    all.map(|face| (bounded(face), BigUint::from(weight(face)))).collect()
}
