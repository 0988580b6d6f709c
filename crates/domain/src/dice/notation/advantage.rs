//! Gives a roll advantage or disadvantage: a d6 on a Duality roll, the better or worse of two on a single die.

use super::{Die, Edge, Expression, Keep, KeepKind, Pool, Roll};

impl Roll {
    /// The roll with an advantage or disadvantage; an advantage and a disadvantage cancel each other. `None` if it has
    /// no single die to roll twice.
    pub fn with_edge(&self, edge: Edge) -> Option<Self> {
        let mut roll = self.clone();
        add_edge(&mut roll, edge).then_some(roll)
    }
}

fn add_edge(roll: &mut Roll, edge: Edge) -> bool {
    let kind = match edge {
        Edge::None => return true,
        Edge::Advantage => KeepKind::KeepHighest,
        Edge::Disadvantage => KeepKind::KeepLowest,
    };
    match roll {
        Roll::Repeat { roll, .. } => add_edge(roll, edge),
        Roll::Duality(duality) => {
            duality.edge = if duality.edge == Edge::None || duality.edge == edge { edge } else { Edge::None };
            true
        }
        Roll::Total(expression) | Roll::Check { left: expression, .. } | Roll::Versus { left: expression, .. } => {
            let mut single = Vec::new();
            collect_single_dice(expression, &mut single);
            // With a d20 among them, that is the die that advantage means.
            let d20 = single.iter().position(|pool| pool.die == Die::Sides(20));
            let chosen = d20.or((single.len() == 1).then_some(0));
            let Some(pool) = chosen.map(|index| single.swap_remove(index)) else { return false };
            (pool.count, pool.keep) = (2, Some(Keep { kind, count: 1 }));
            true
        }
    }
}

/// The pools of one die that is neither kept nor dropped.
fn collect_single_dice<'a>(expression: &'a mut Expression, found: &mut Vec<&'a mut Pool>) {
    match expression {
        Expression::Pool(pool) if pool.count == 1 && pool.keep.is_none() => found.push(pool),
        Expression::Number(_) | Expression::Pool(_) => {}
        Expression::Set(set) => set.items.iter_mut().for_each(|item| collect_single_dice(item, found)),
        Expression::Negative(inner) | Expression::Labelled { inner, .. } => collect_single_dice(inner, found),
        Expression::Binary { left, right, .. } => {
            collect_single_dice(left, found);
            collect_single_dice(right, found);
        }
    }
}
