//! Dice notation: parses expressions into a syntax tree and prints them in a canonical form.
//!
//! Three dialects are parsed (see [`Dialect`]); the canonical form means the same in every dialect.

mod advantage;
mod complete;
mod dialect;
mod parse;
mod parse_pool;
mod print;
mod spoken;
#[cfg(test)]
pub(super) mod tests;

use std::ops::RangeInclusive;

pub use complete::completions;
pub use dialect::Dialect;
pub use parse::{ParseError, parse};
pub use spoken::parse_spoken;

/// A whole line of notation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notation {
    pub roll: Roll,
    /// The text after `#`.
    pub comment: Option<String>,
}

/// The kind of roll that a line requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Roll {
    /// A total: `4d6kh3+1`.
    Total(Expression),
    /// A total against another: `2d20kh1+5 >= 15`.
    Check { left: Expression, comparison: Comparison, right: Expression },
    /// Two totals, the higher wins: `2d6+3 vs 1d20`.
    Versus { left: Expression, right: Expression },
    /// The same roll several times: `6x(4d6kh3)`.
    Repeat { times: u32, roll: Box<Roll> },
    /// Hope and Fear: `duality(+2, dc 15, adv)`.
    Duality(Duality),
}

/// An expression that evaluates to a number once its dice are rolled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expression {
    Number(i64),
    Pool(Pool),
    Set(Set),
    Negative(Box<Expression>),
    Binary {
        operator: Operator,
        left: Box<Expression>,
        right: Box<Expression>,
    },
    /// `2d6[fire]`: a name for a part.
    Labelled {
        inner: Box<Expression>,
        label: String,
    },
}

/// Division rounds down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    AtLeast,
    AtMost,
    Over,
    Under,
}

impl Comparison {
    pub fn holds(self, left: i64, right: i64) -> bool {
        match self {
            Self::Equal => left == right,
            Self::AtLeast => left >= right,
            Self::AtMost => left <= right,
            Self::Over => left > right,
            Self::Under => left < right,
        }
    }
}

/// A test of one die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Condition {
    pub comparison: Comparison,
    pub value: i64,
}

impl Condition {
    pub fn holds(self, value: i64) -> bool {
        self.comparison.holds(value, self.value)
    }
}

/// Equal dice with modifiers. In whatever order they are written, modifiers apply in this one: reroll, minimum and
/// maximum, explode, keep or drop, count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pool {
    pub count: u32,
    pub die: Die,
    pub reroll: Option<Reroll>,
    pub minimum: Option<i64>,
    pub maximum: Option<i64>,
    pub explode: Option<Explode>,
    pub keep: Option<Keep>,
    pub count_successes: Option<CountSuccesses>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Die {
    Sides(u32),
    /// -1, 0 or 1.
    Fate,
}

impl Die {
    pub fn lowest(self) -> i64 {
        match self {
            Self::Sides(_) => 1,
            Self::Fate => -1,
        }
    }

    pub fn highest(self) -> i64 {
        match self {
            Self::Sides(sides) => i64::from(sides),
            Self::Fate => 1,
        }
    }

    pub fn sides(self) -> u32 {
        match self {
            Self::Sides(sides) => sides,
            Self::Fate => 3,
        }
    }
}

/// Dice for which the condition holds are rolled again: once, or until it does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reroll {
    pub once: bool,
    pub when: Condition,
}

impl Reroll {
    /// The faces that are not rerolled: the range below the condition and the range above it.
    pub fn faces_not_rerolled(self, die: Die) -> (RangeInclusive<i64>, RangeInclusive<i64>) {
        let (lowest, highest, value) = (die.lowest(), die.highest(), self.when.value);
        let below = |last: i64| lowest..=last.clamp(lowest - 1, highest);
        let above = |first: i64| first.clamp(lowest, highest + 1)..=highest;
        let none = highest + 1..=highest;
        match self.when.comparison {
            Comparison::Equal => (below(value - 1), above(value + 1)),
            Comparison::AtLeast => (below(value - 1), none),
            Comparison::Over => (below(value), none),
            Comparison::AtMost => (none, above(value + 1)),
            Comparison::Under => (none, above(value)),
        }
    }
}

/// A die for which the condition holds adds another die, at most `cap` times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Explode {
    pub kind: ExplodeKind,
    pub when: Condition,
    pub cap: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExplodeKind {
    /// The new dice are dice of their own.
    Separate,
    /// The values of the new dice are added to the first die.
    Compound,
    /// The new dice are dice of their own, each counting one less than its face.
    Penetrate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    pub kind: KeepKind,
    pub count: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepKind {
    KeepHighest,
    KeepLowest,
    DropHighest,
    DropLowest,
}

/// The value of the pool is its successes minus its failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountSuccesses {
    pub success: Condition,
    pub failure: Option<Condition>,
}

impl CountSuccesses {
    pub fn score(self, value: i64) -> i64 {
        let failed = self.failure.is_some_and(|failure| failure.holds(value));
        i64::from(self.success.holds(value)) - i64::from(failed)
    }
}

/// Several totals, of which some are kept: `{2d8,1d12}kh1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Set {
    pub items: Vec<Expression>,
    pub keep: Option<Keep>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Duality {
    pub modifier: i32,
    pub difficulty: Option<i32>,
    pub edge: Edge,
    /// The sides of a die that is added to the total.
    pub bonus_die: Option<u32>,
}

/// A d6 added, a d6 taken away, or neither.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Edge {
    #[default]
    None,
    Advantage,
    Disadvantage,
}

impl Edge {
    /// One of each cancels the other out.
    pub fn from_flags(advantage: bool, disadvantage: bool) -> Self {
        match (advantage, disadvantage) {
            (true, false) => Self::Advantage,
            (false, true) => Self::Disadvantage,
            _ => Self::None,
        }
    }
}
