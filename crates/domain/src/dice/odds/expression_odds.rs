//! Odds of a whole expression: its total, its chance of success, and the difficulty or modifier for a wanted chance.

use num_bigint::BigUint;
use num_traits::Zero;

use super::{ComputationBudget, Distribution, Exact, OddsRefusal, odds, ratio_to_f64};
use crate::dice::duality::judge_duality;
use crate::dice::notation::{Comparison, Duality, Edge, Expression, Roll};
use crate::dice::{DUALITY_SIDES, Judgement, Outcome, RollResult};

/// The odds of a line of notation.
#[derive(Debug, Clone, PartialEq)]
pub struct LineOdds {
    /// The distribution of the total, or of the left side where there are two.
    pub distribution: Distribution,
    /// The distribution of the right side, where there are two.
    pub against: Option<Distribution>,
    /// The chance that the comparison holds, or that the left side is higher.
    pub success: Option<Exact>,
    /// The chance that both sides are equal.
    pub tie: Option<Exact>,
    /// The chance that a die would have exploded past its cap, where one can.
    pub beyond_cap: Option<Exact>,
    /// The chance of each outcome of a Duality roll that can happen.
    pub outcomes: Vec<(Outcome, Exact)>,
    /// The highest difficulty that a Duality roll meets; a critical success meets any.
    pub(super) reached: Option<Distribution>,
    /// The Duality roll, where it is one.
    pub(super) duality: Option<Duality>,
    /// Left minus right, where there are two sides.
    pub(super) margin: Option<(Comparison, Distribution)>,
}

/// The difficulty or modifier that gives at least the requested chance.
#[derive(Debug, Clone, PartialEq)]
pub struct NeededNumber {
    /// The highest difficulty that is met with the requested chance.
    pub difficulty: Option<i64>,
    /// What to add to the left side as it is written.
    pub add: Option<i64>,
    /// The whole modifier of a Duality roll, in place of the one that is written.
    pub modifier_needed: Option<i64>,
    /// The resulting chance.
    pub chance: Exact,
}

pub fn line_odds(roll: &Roll, budget: &ComputationBudget) -> Result<LineOdds, OddsRefusal> {
    match roll {
        Roll::Total(expression) => {
            let total = odds(expression, budget)?;
            Ok(LineOdds {
                distribution: total.distribution,
                against: None,
                success: None,
                tie: None,
                beyond_cap: total.beyond_cap.chance(),
                outcomes: Vec::new(),
                reached: None,
                duality: None,
                margin: None,
            })
        }
        Roll::Check { left, comparison, right } => comparison_odds(left, *comparison, right, false, budget),
        Roll::Versus { left, right } => comparison_odds(left, Comparison::Over, right, true, budget),
        Roll::Repeat { roll, .. } => line_odds(roll, budget),
        Roll::Duality(duality) => Ok(duality_odds(*duality)),
    }
}

fn comparison_odds(
    left: &Expression,
    comparison: Comparison,
    right: &Expression,
    has_tie: bool,
    budget: &ComputationBudget,
) -> Result<LineOdds, OddsRefusal> {
    let (left, right) = (odds(left, budget)?, odds(right, budget)?);
    let margin = left.distribution.sum_with(&right.distribution.map(i64::checked_neg)?, budget)?;
    let chance = |holds: &dyn Fn(i64) -> bool| Exact::new(&margin.weight_where(holds), margin.total_weight());
    let success = chance(&|margin| comparison.holds(margin, 0));
    let tie = has_tie.then(|| chance(&|margin| margin == 0));
    let beyond_cap = left.beyond_cap.or(&right.beyond_cap).chance();
    Ok(LineOdds {
        distribution: left.distribution,
        against: Some(right.distribution),
        success: Some(success),
        tie,
        beyond_cap,
        outcomes: Vec::new(),
        reached: None,
        duality: None,
        margin: Some((comparison, margin)),
    })
}

fn duality_odds(duality: Duality) -> LineOdds {
    let sides = i32::try_from(DUALITY_SIDES).unwrap_or_default();
    let edges: Vec<i32> = match duality.edge {
        Edge::None => vec![0],
        Edge::Advantage => (1..=6).collect(),
        Edge::Disadvantage => (-6..=-1).collect(),
    };
    let bonuses = match duality.bonus_die.map(i32::try_from) {
        Some(Ok(sides)) => 1..=sides,
        _ => 0..=0,
    };
    let added: Vec<(i32, i32)> =
        edges.iter().flat_map(|edge| bonuses.clone().map(move |bonus| (*edge, bonus))).collect();
    let (mut totals, mut met) = (Vec::new(), Vec::new());
    let mut counts = Outcome::ALL.map(|outcome| (outcome, BigUint::zero()));
    let mut successes = BigUint::zero();
    for hope in 1..=sides {
        for fear in 1..=sides {
            for (edge, bonus) in &added {
                let Ok(judgement) = judge_duality(duality, (hope, fear), *edge, *bonus) else { continue };
                totals.push((judgement.total, BigUint::from(1_u32)));
                met.push((highest_met_difficulty(&judgement), BigUint::from(1_u32)));
                successes += u32::from(judgement.meets_difficulty);
                counts
                    .iter_mut()
                    .filter(|(outcome, _)| *outcome == judgement.outcome)
                    .for_each(|(_, count)| *count += 1_u32);
            }
        }
    }
    let distribution = Distribution::new(totals);
    let whole = distribution.total_weight().clone();
    let possible = counts.into_iter().filter(|(_, count)| !count.is_zero());
    let outcomes = possible.map(|(outcome, count)| (outcome, Exact::new(&count, &whole))).collect();
    let success = duality.difficulty.map(|_| Exact::new(&successes, &whole));
    let reached = Some(Distribution::new(met));
    LineOdds {
        distribution,
        against: None,
        success,
        tie: None,
        beyond_cap: None,
        outcomes,
        reached,
        duality: Some(duality),
        margin: None,
    }
}

/// The highest difficulty that a judgement meets.
pub(super) fn highest_met_difficulty(judgement: &Judgement) -> i64 {
    if judgement.is_crit { i64::MAX } else { judgement.total }
}

/// A distribution in four numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct OddsSummary {
    pub lowest: i64,
    pub highest: i64,
    pub mean: Exact,
    pub standard_deviation: f64,
}

impl LineOdds {
    pub fn summary(&self) -> OddsSummary {
        let (numerator, denominator) = self.distribution.mean();
        OddsSummary {
            lowest: self.distribution.lowest(),
            highest: self.distribution.highest(),
            mean: Exact::from_signed(&numerator, &denominator),
            standard_deviation: self.distribution.standard_deviation(),
        }
    }

    /// The chance of this result or a better one. The comparison defines better: a higher total or margin, a lower
    /// margin for `<` and `<=`, a margin nearer to zero for `=`.
    pub fn chance_of(&self, result: &RollResult) -> Exact {
        let Some(((comparison, margin), against)) = self.margin.as_ref().zip(result.against) else {
            return self.chance_of_at_least(result.total);
        };
        let rolled = result.total.saturating_sub(against);
        let is_as_good = |margin: i64| match comparison {
            Comparison::AtLeast | Comparison::Over => margin >= rolled,
            Comparison::AtMost | Comparison::Under => margin <= rolled,
            Comparison::Equal => margin.unsigned_abs() <= rolled.unsigned_abs(),
        };
        Exact::new(&margin.weight_where(is_as_good), margin.total_weight())
    }

    /// The share of all results that are worse than this one, with half of those that are equal: 0 is the worst luck, 1
    /// the best, and 0.5 the average over all rolls. A critical success of a Duality roll beats every total.
    pub fn luck_of(&self, result: &RollResult) -> f64 {
        let share = |distribution: &Distribution, is_worse: &dyn Fn(i64) -> bool, is_equal: &dyn Fn(i64) -> bool| {
            let whole = distribution.total_weight();
            let (worse, equal) = (distribution.weight_where(is_worse), distribution.weight_where(is_equal));
            ratio_to_f64(&worse, whole) + ratio_to_f64(&equal, whole) / 2.0
        };
        if let Some(((comparison, margin), against)) = self.margin.as_ref().zip(result.against) {
            let rolled = result.total.saturating_sub(against);
            return match comparison {
                Comparison::AtLeast | Comparison::Over => {
                    share(margin, &|margin| margin < rolled, &|margin| margin == rolled)
                }
                Comparison::AtMost | Comparison::Under => {
                    share(margin, &|margin| margin > rolled, &|margin| margin == rolled)
                }
                Comparison::Equal => {
                    let distance = rolled.unsigned_abs();
                    share(margin, &|margin| margin.unsigned_abs() > distance, &|margin| {
                        margin.unsigned_abs() == distance
                    })
                }
            };
        }
        let (distribution, rolled) = match (&self.reached, &result.duality) {
            (Some(reached), Some(judgement)) => (reached, highest_met_difficulty(judgement)),
            _ => (&self.distribution, result.total),
        };
        share(distribution, &|total| total < rolled, &|total| total == rolled)
    }

    /// The chances that a roll of this is higher than one of the other, equal to it, and lower.
    pub fn compare_with(&self, other: &Self, budget: &ComputationBudget) -> Result<[Exact; 3], OddsRefusal> {
        let margin = self.distribution.sum_with(&other.distribution.map(i64::checked_neg)?, budget)?;
        let chance = |holds: &dyn Fn(i64) -> bool| Exact::new(&margin.weight_where(holds), margin.total_weight());
        Ok([chance(&|margin| margin > 0), chance(&|margin| margin == 0), chance(&|margin| margin < 0)])
    }

    pub fn chance_of_at_least(&self, value: i64) -> Exact {
        Exact::new(&self.distribution.weight_where(|total| total >= value), self.distribution.total_weight())
    }

    /// The difficulty or modifier for at least this chance, or why there is none.
    pub fn need(&self, target: f64) -> Result<NeededNumber, &'static str> {
        if self.margin.as_ref().is_some_and(|(comparison, _)| *comparison == Comparison::Equal) {
            return Err("adding to a total does not make it equal more often; compare with >= or <=");
        }
        let need = self.least_need(target).ok_or("nothing gives a chance as high as this")?;
        if need.difficulty == Some(i64::MAX) {
            return Err("critical successes alone come as often as that, so any difficulty will do");
        }
        Ok(need)
    }

    fn least_need(&self, target: f64) -> Option<NeededNumber> {
        match &self.margin {
            None => {
                let (difficulty, chance) =
                    highest_reached(self.reached.as_ref().unwrap_or(&self.distribution), target)?;
                let modifier_needed =
                    self.duality.and_then(|duality| Some(modifier_for(duality, duality.difficulty?, difficulty)));
                Some(NeededNumber { difficulty: Some(difficulty), add: None, modifier_needed, chance })
            }
            Some((Comparison::AtLeast | Comparison::Over, margin)) => {
                let (reached, chance) = highest_reached(margin, target)?;
                let is_over = matches!(self.margin, Some((Comparison::Over, _)));
                Some(NeededNumber {
                    difficulty: None,
                    add: Some(i64::from(is_over) - reached),
                    modifier_needed: None,
                    chance,
                })
            }
            Some((Comparison::AtMost | Comparison::Under, margin)) => {
                let mirrored = margin.map(i64::checked_neg).ok()?;
                let (reached, chance) = highest_reached(&mirrored, target)?;
                let is_under = matches!(self.margin, Some((Comparison::Under, _)));
                Some(NeededNumber {
                    difficulty: None,
                    add: Some(reached - i64::from(is_under)),
                    modifier_needed: None,
                    chance,
                })
            }
            Some((Comparison::Equal, _)) => None,
        }
    }
}

/// Lines with more values than this are not compared with several others.
const COMPARED_VALUES_MAX: usize = 300;

/// The chance that one line is higher than all others. `None` if that takes too long to count.
pub fn chance_of_highest(lines: &[LineOdds], index: usize) -> Option<Exact> {
    if lines.iter().any(|line| line.distribution.weights().len() > COMPARED_VALUES_MAX) {
        return None;
    }
    let others = || lines.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, line)| &line.distribution);
    let mut highest = BigUint::zero();
    for (value, weight) in lines.get(index)?.distribution.weights() {
        highest += others().fold(weight.clone(), |product, other| product * other.weight_where(|total| total < *value));
    }
    let whole = lines.iter().fold(BigUint::from(1_u32), |product, line| product * line.distribution.total_weight());
    Some(Exact::new(&highest, &whole))
}

/// The modifier with which the written difficulty is met as often as `reached` is with the written modifier.
fn modifier_for(duality: Duality, difficulty: i32, reached: i64) -> i64 {
    i64::from(duality.modifier).saturating_add(i64::from(difficulty)).saturating_sub(reached)
}

/// The highest value that is reached with at least this chance.
fn highest_reached(distribution: &Distribution, target: f64) -> Option<(i64, Exact)> {
    let mut weight = BigUint::zero();
    for (value, own) in distribution.weights().iter().rev() {
        weight += own;
        if ratio_to_f64(&weight, distribution.total_weight()) >= target {
            return Some((*value, Exact::new(&weight, distribution.total_weight())));
        }
    }
    None
}
