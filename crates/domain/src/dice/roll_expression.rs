//! Rolls an expression: its total, and the state of every die.

use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::Serialize;

use super::duality::{EDGE_SIDES, draw_duality};
use super::notation::{
    Die, Duality, ExplodeKind, Expression, Keep, KeepKind, Notation, Operator, Pool, Reroll, Roll, Set,
};
use super::odds::{checked_floor_division, truncate_expression};
use super::{DUALITY_SIDES, DiceRefusal, Judgement};
use crate::limits;

/// One die, as it was rolled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DieThrow {
    /// What it shows.
    pub face: i64,
    /// What it counts for.
    pub value: i64,
    pub state: Vec<DieState>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DieState {
    Kept,
    Dropped,
    /// It brought another die.
    Exploded,
    /// It was rolled again and does not count.
    Rerolled,
    /// It was added to the die that brought it.
    Added,
    Success,
    Failure,
}

/// The dice of one pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Thrown")]
pub struct RolledPool {
    pub notation: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    pub dice: Vec<DieThrow>,
    /// What its dice come to, also where a set then drops them.
    pub total: i64,
}

impl RolledPool {
    /// Marks all kept dice as dropped, when the enclosing set drops this item.
    fn mark_dropped(&mut self) {
        let states = self.dice.iter_mut().flat_map(|die| &mut die.state);
        states.filter(|state| **state == DieState::Kept).for_each(|state| *state = DieState::Dropped);
    }
}

/// What a line of notation came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RollResult {
    pub total: i64,
    /// Whether the comparison holds, or the left side is higher.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success: Option<bool>,
    /// The total of the other side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duality: Option<Judgement>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<RolledPool>,
}

/// Rolls a line: one result, or one per repetition. `draw` returns a face from 1 to the number of sides.
pub fn roll_notation(notation: &Notation, draw: &mut dyn FnMut(u32) -> u32) -> Result<Vec<RollResult>, DiceRefusal> {
    let given = count_dice(&notation.roll);
    if given > u64::from(limits::DICE_MAX) {
        return Err(DiceRefusal::ExpressionTooManyDice { given });
    }
    let mut room = limits::DICE_THROWN_MAX as usize;
    match &notation.roll {
        Roll::Repeat { times, roll } => (0..*times).map(|_| roll_once(roll, draw, &mut room)).collect(),
        roll => Ok(vec![roll_once(roll, draw, &mut room)?]),
    }
}

fn roll_once(roll: &Roll, draw: &mut dyn FnMut(u32) -> u32, room: &mut usize) -> Result<RollResult, DiceRefusal> {
    let mut table = ExpressionRoller { draw, room, pools: Vec::new() };
    let (total, success, against) = match roll {
        Roll::Total(expression) => (table.evaluate(expression, None)?, None, None),
        Roll::Check { left, comparison, right } => {
            let (left, right) = (table.evaluate(left, None)?, table.evaluate(right, None)?);
            (left, Some(comparison.holds(left, right)), Some(right))
        }
        Roll::Versus { left, right } => {
            let (left, right) = (table.evaluate(left, None)?, table.evaluate(right, None)?);
            (left, Some(left > right), Some(right))
        }
        Roll::Duality(duality) => return table.roll_duality(*duality),
        Roll::Repeat { roll, .. } => return roll_once(roll, table.draw, table.room),
    };
    Ok(RollResult { total, success, against, duality: None, pools: table.pools })
}

/// How many dice a line rolls, not counting explosions and rerolls.
pub(crate) fn count_dice(roll: &Roll) -> u64 {
    fn count_dice_in_expression(expression: &Expression) -> u64 {
        match expression {
            Expression::Number(_) => 0,
            Expression::Pool(pool) => u64::from(pool.count),
            Expression::Set(set) => set.items.iter().map(count_dice_in_expression).sum(),
            Expression::Negative(inner) | Expression::Labelled { inner, .. } => count_dice_in_expression(inner),
            Expression::Binary { left, right, .. } => count_dice_in_expression(left) + count_dice_in_expression(right),
        }
    }
    match roll {
        Roll::Total(expression) => count_dice_in_expression(expression),
        Roll::Check { left, right, .. } | Roll::Versus { left, right } => {
            count_dice_in_expression(left) + count_dice_in_expression(right)
        }
        Roll::Repeat { times, roll } => u64::from(*times) * count_dice(roll),
        Roll::Duality(duality) => 3 + u64::from(duality.bonus_die.is_some()),
    }
}

struct ExpressionRoller<'a> {
    draw: &'a mut dyn FnMut(u32) -> u32,
    /// Dice that may still be rolled before `DICE_THROWN_MAX`.
    room: &'a mut usize,
    pools: Vec<RolledPool>,
}

impl ExpressionRoller<'_> {
    fn evaluate(&mut self, expression: &Expression, label: Option<&str>) -> Result<i64, DiceRefusal> {
        match expression {
            Expression::Number(number) => Ok(*number),
            Expression::Labelled { inner, label } => self.evaluate(inner, Some(label)),
            Expression::Negative(inner) => {
                self.evaluate(inner, label)?.checked_neg().ok_or(DiceRefusal::ExpressionTooLarge)
            }
            Expression::Pool(pool) => {
                let dice = self.roll_pool(pool)?;
                let total = dice.iter().filter(|die| die.state.contains(&DieState::Kept)).map(|die| die.value).sum();
                self.pools.push(RolledPool {
                    notation: pool.to_string(),
                    label: label.map(str::to_owned),
                    dice,
                    total,
                });
                Ok(total)
            }
            Expression::Set(set) => self.roll_set(set, label),
            Expression::Binary { operator, left, right } => {
                let divisor = right;
                let (left, right) = (self.evaluate(left, label)?, self.evaluate(right, label)?);
                let value = match operator {
                    Operator::Add => left.checked_add(right),
                    Operator::Subtract => left.checked_sub(right),
                    Operator::Multiply => left.checked_mul(right),
                    Operator::Divide if right == 0 => {
                        return Err(DiceRefusal::ExpressionDividesByZero { divisor: truncate_expression(divisor) });
                    }
                    Operator::Divide => checked_floor_division(left, right),
                };
                value.ok_or(DiceRefusal::ExpressionTooLarge)
            }
        }
    }

    fn roll_set(&mut self, set: &Set, label: Option<&str>) -> Result<i64, DiceRefusal> {
        let (mut values, mut ends) = (Vec::new(), vec![self.pools.len()]);
        for item in &set.items {
            values.push(self.evaluate(item, label)?);
            ends.push(self.pools.len());
        }
        let mut sum = 0_i64;
        for (at, kept) in select_kept(&values, set.keep).into_iter().enumerate() {
            if kept {
                sum = sum.checked_add(values[at]).ok_or(DiceRefusal::ExpressionTooLarge)?;
            } else {
                self.pools[ends[at]..ends[at + 1]].iter_mut().for_each(RolledPool::mark_dropped);
            }
        }
        Ok(sum)
    }

    fn roll_duality(mut self, duality: Duality) -> Result<RollResult, DiceRefusal> {
        let judgement = draw_duality(duality, self.draw)?;
        let dice = [
            ("hope", DUALITY_SIDES, Some(judgement.hope)),
            ("fear", DUALITY_SIDES, Some(judgement.fear)),
            ("edge", EDGE_SIDES, judgement.edge),
            ("bonus", duality.bonus_die.unwrap_or_default(), judgement.bonus),
        ];
        for (name, sides, value) in dice {
            let Some(value) = value else { continue };
            let (face, value) = (i64::from(value.abs()), i64::from(value));
            self.pools.push(RolledPool {
                notation: format!("1d{sides}"),
                label: Some(name.to_owned()),
                dice: vec![DieThrow { face, value, state: vec![DieState::Kept] }],
                total: value,
            });
        }
        let success = duality.difficulty.map(|_| judgement.meets_difficulty);
        let against = duality.difficulty.map(i64::from);
        Ok(RollResult { total: judgement.total, success, against, duality: Some(judgement), pools: self.pools })
    }

    fn roll_pool(&mut self, pool: &Pool) -> Result<Vec<DieThrow>, DiceRefusal> {
        let mut dice = Vec::new();
        for _ in 0..pool.count {
            let before = dice.len();
            self.roll_with_explosions(pool, &mut dice);
            let room = self.room.checked_sub(dice.len() - before);
            *self.room = room.ok_or(DiceRefusal::ExpressionTooManyThrown)?;
        }
        let counts = |die: &DieThrow| !die.state.contains(&DieState::Rerolled) && !die.state.contains(&DieState::Added);
        let places: Vec<usize> = (0..dice.len()).filter(|at| counts(&dice[*at])).collect();
        let values: Vec<i64> = places.iter().map(|at| dice[*at].value).collect();
        for (at, kept) in places.into_iter().zip(select_kept(&values, pool.keep)) {
            let counted = &mut dice[at];
            counted.state.insert(0, if kept { DieState::Kept } else { DieState::Dropped });
            if let Some(count) = pool.count_successes {
                let failed = count.failure.is_some_and(|failure| failure.holds(counted.value));
                counted.state.extend(count.success.holds(counted.value).then_some(DieState::Success));
                counted.state.extend(failed.then_some(DieState::Failure));
                counted.value = count.score(counted.value);
            }
        }
        Ok(dice)
    }

    /// Rolls one die and its explosions.
    fn roll_with_explosions(&mut self, pool: &Pool, dice: &mut Vec<DieThrow>) {
        let first = self.roll_with_rerolls(pool, dice);
        dice.push(DieThrow { face: first.0, value: first.1, state: Vec::new() });
        let Some(explode) = pool.explode else { return };
        let (mut last, mut value) = (dice.len() - 1, first.1);
        let head = last;
        for _ in 0..explode.cap {
            if !explode.when.holds(value) {
                return;
            }
            dice[last].state.push(DieState::Exploded);
            let next = self.roll_with_rerolls(pool, dice);
            value = next.1;
            let (shown, state) = match explode.kind {
                ExplodeKind::Separate => (value, Vec::new()),
                ExplodeKind::Penetrate => (value - 1, Vec::new()),
                ExplodeKind::Compound => {
                    dice[head].value += value;
                    (0, vec![DieState::Added])
                }
            };
            dice.push(DieThrow { face: next.0, value: shown, state });
            last = dice.len() - 1;
        }
    }

    /// A face and its value, after rerolls. Rerolled dice are added to `dice` with value 0.
    fn roll_with_rerolls(&mut self, pool: &Pool, dice: &mut Vec<DieThrow>) -> (i64, i64) {
        let mut face = self.draw_face(pool);
        if let Some(reroll) = pool.reroll {
            let mut rerolls = if reroll.once { 1 } else { limits::REROLLS_MAX };
            while reroll.when.holds(face) && (rerolls > 0 || !reroll.once) {
                dice.push(DieThrow { face, value: 0, state: vec![DieState::Rerolled] });
                // Bounds the loop: the last roll draws only from faces that are not rerolled. The odds stay the same.
                face = if rerolls > 0 { self.draw_face(pool) } else { self.draw_face_not_rerolled(reroll, pool.die) };
                rerolls = rerolls.saturating_sub(1);
            }
        }
        let value = pool.minimum.map_or(face, |minimum| face.max(minimum));
        (face, pool.maximum.map_or(value, |maximum| value.min(maximum)))
    }

    /// Draws uniformly from the faces that are not rerolled, in ascending order.
    fn draw_face_not_rerolled(&mut self, reroll: Reroll, die: Die) -> i64 {
        let (below, above) = reroll.faces_not_rerolled(die);
        let (few, many) = (count_faces(&below), count_faces(&above));
        let drawn = i64::from((self.draw)(few + many)) - 1;
        if drawn < i64::from(few) { below.start() + drawn } else { above.start() + drawn - i64::from(few) }
    }

    fn draw_face(&mut self, pool: &Pool) -> i64 {
        i64::from((self.draw)(pool.die.sides())) + pool.die.lowest() - 1
    }
}

fn count_faces(range: &RangeInclusive<i64>) -> u32 {
    u32::try_from(range.end() - range.start() + 1).unwrap_or_default()
}

/// Which values are kept. Among equals, the earlier ones win.
fn select_kept(values: &[i64], keep: Option<Keep>) -> Vec<bool> {
    let Some(keep) = keep else { return vec![true; values.len()] };
    let mut order: Vec<usize> = (0..values.len()).collect();
    let number = keep.count as usize;
    let (highest_first, number) = match keep.kind {
        KeepKind::KeepHighest => (true, number),
        KeepKind::KeepLowest => (false, number),
        KeepKind::DropLowest => (true, values.len().saturating_sub(number)),
        KeepKind::DropHighest => (false, values.len().saturating_sub(number)),
    };
    order.sort_by_key(|at| if highest_first { -values[*at] } else { values[*at] });
    let mut kept = vec![false; values.len()];
    order.into_iter().take(number).for_each(|at| kept[at] = true);
    kept
}
