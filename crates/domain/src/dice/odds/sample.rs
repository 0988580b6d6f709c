//! Odds by sampling: rolls an expression many times, on request, where exact odds cost too much.

use std::collections::BTreeMap;

use num_bigint::BigUint;

use super::expression_odds::highest_met_difficulty;
use super::{ComputationBudget, Distribution, Exact, LineOdds, OddsRefusal};
use crate::dice::notation::{Comparison, Notation, Roll};
use crate::dice::{DiceRefusal, Outcome, count_dice, roll_notation};

/// Fixed steps of rolling one line, without its dice.
const LINE_STEPS: u64 = 400;
/// Steps of rolling one die. Dice of explosions and rerolls are charged after the roll.
const DIE_STEPS: u64 = 120;

/// Why there are no odds by rolling.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SampleRefusal {
    #[error(transparent)]
    Odds(#[from] OddsRefusal),
    #[error(transparent)]
    Dice(#[from] DiceRefusal),
}

/// Rolls the line `rolls` times. Fractions have the number of rolls as denominator; they are estimates.
pub fn sample_odds(
    notation: &Notation,
    rolls: u32,
    draw: &mut dyn FnMut(u32) -> u32,
    budget: &ComputationBudget,
) -> Result<LineOdds, SampleRefusal> {
    let roll = match &notation.roll {
        Roll::Repeat { roll, .. } => roll,
        roll => roll,
    };
    let notation = Notation { roll: roll.clone(), comment: None };
    let steps = count_dice(roll).saturating_mul(DIE_STEPS).saturating_add(LINE_STEPS);
    let all = steps.saturating_mul(u64::from(rolls));
    if !budget.can_afford(all) {
        return Err(budget.too_many_steps(all).into());
    }
    let mut counted = SampleCounts::default();
    for _ in 0..rolls {
        budget.charge_steps(steps)?;
        let mut drawn = 0_u64;
        let results = roll_notation(&notation, &mut |sides| {
            drawn += 1;
            draw(sides)
        })?;
        budget.charge_steps(drawn.saturating_sub(count_dice(roll)).saturating_mul(DIE_STEPS))?;
        for result in results {
            *counted.totals.entry(result.total).or_default() += 1;
            if let Some(against) = result.against {
                *counted.against.entry(against).or_default() += 1;
                *counted.margins.entry(result.total.saturating_sub(against)).or_default() += 1;
            }
            if let Some(duality) = result.duality {
                *counted.reached.entry(highest_met_difficulty(&duality)).or_default() += 1;
                counted.outcomes.push(duality.outcome);
                counted.met += u32::from(duality.meets_difficulty);
            }
        }
    }
    Ok(counted.into_odds(roll, rolls))
}

#[derive(Default)]
struct SampleCounts {
    totals: BTreeMap<i64, u32>,
    against: BTreeMap<i64, u32>,
    margins: BTreeMap<i64, u32>,
    outcomes: Vec<Outcome>,
    reached: BTreeMap<i64, u32>,
    met: u32,
}

impl SampleCounts {
    fn into_odds(self, roll: &Roll, rolls: u32) -> LineOdds {
        let share = |count: u32| Exact::new(&count.into(), &rolls.into());
        let comparison = match roll {
            Roll::Check { comparison, .. } => Some(*comparison),
            Roll::Versus { .. } => Some(Comparison::Over),
            _ => None,
        };
        let where_margin = |holds: &dyn Fn(i64) -> bool| {
            share(self.margins.iter().filter(|(margin, _)| holds(**margin)).map(|(_, count)| count).sum())
        };
        let success = match (comparison, roll) {
            (Some(comparison), _) => Some(where_margin(&|margin| comparison.holds(margin, 0))),
            (None, Roll::Duality(duality)) => duality.difficulty.map(|_| share(self.met)),
            _ => None,
        };
        let tie = matches!(roll, Roll::Versus { .. }).then(|| where_margin(&|margin| margin == 0));
        let outcomes = Outcome::ALL.into_iter().filter_map(|outcome| {
            let count = self.outcomes.iter().filter(|counted| **counted == outcome).count();
            (count > 0).then(|| (outcome, share(u32::try_from(count).unwrap_or(u32::MAX))))
        });
        LineOdds {
            outcomes: outcomes.collect(),
            distribution: distribution_from_counts(self.totals),
            against: comparison.map(|_| distribution_from_counts(self.against)),
            success,
            tie,
            beyond_cap: None,
            duality: match roll {
                Roll::Duality(duality) => Some(*duality),
                _ => None,
            },
            reached: matches!(roll, Roll::Duality(_)).then(|| distribution_from_counts(self.reached)),
            margin: comparison.map(|comparison| (comparison, distribution_from_counts(self.margins))),
        }
    }
}

fn distribution_from_counts(counts: BTreeMap<i64, u32>) -> Distribution {
    Distribution::new(counts.into_iter().map(|(value, count)| (value, BigUint::from(count))))
}
