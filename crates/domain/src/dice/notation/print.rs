//! Prints dice notation in its canonical form.

use std::fmt::{Display, Formatter, Result};

use super::{
    Comparison, Condition, Die, Duality, Edge, Explode, ExplodeKind, Expression, Keep, KeepKind, Notation, Operator,
    Pool, Roll, Set,
};
use crate::limits;

impl Display for Notation {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        write!(formatter, "{}", self.roll)?;
        match &self.comment {
            Some(comment) => write!(formatter, " # {comment}"),
            None => Ok(()),
        }
    }
}

impl Display for Roll {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        match self {
            Self::Total(expression) => write!(formatter, "{expression}"),
            Self::Check { left, comparison, right } => write!(formatter, "{left} {comparison} {right}"),
            Self::Versus { left, right } => write!(formatter, "{left} vs {right}"),
            Self::Repeat { times, roll } => write!(formatter, "{times}x({roll})"),
            Self::Duality(duality) => write!(formatter, "{duality}"),
        }
    }
}

/// Operator precedence: an expression of lower precedence than its position needs parentheses.
fn precedence(expression: &Expression) -> u8 {
    match expression {
        Expression::Binary { operator: Operator::Add | Operator::Subtract, .. } => 1,
        Expression::Binary { operator: Operator::Multiply | Operator::Divide, .. } => 2,
        Expression::Negative(_) => 3,
        Expression::Number(number) if *number < 0 => 3,
        _ => 4,
    }
}

struct Parenthesized<'a>(&'a Expression, u8);

impl Display for Parenthesized<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        if precedence(self.0) < self.1 { write!(formatter, "({})", self.0) } else { write!(formatter, "{}", self.0) }
    }
}

impl Display for Expression {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        match self {
            Self::Number(number) => write!(formatter, "{number}"),
            Self::Pool(pool) => write!(formatter, "{pool}"),
            Self::Set(set) => write!(formatter, "{set}"),
            Self::Negative(inner) => write!(formatter, "-{}", Parenthesized(inner, 4)),
            Self::Binary { operator, left, right } => {
                let own = precedence(self);
                write!(formatter, "{}{operator}{}", Parenthesized(left, own), Parenthesized(right, own + 1))
            }
            Self::Labelled { inner, label } => write!(formatter, "{}[{label}]", Parenthesized(inner, 4)),
        }
    }
}

impl Display for Operator {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        formatter.write_str(match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
        })
    }
}

impl Display for Comparison {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        formatter.write_str(match self {
            Self::Equal => "=",
            Self::AtLeast => ">=",
            Self::AtMost => "<=",
            Self::Over => ">",
            Self::Under => "<",
        })
    }
}

impl Display for Condition {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        write!(formatter, "{}{}", self.comparison, self.value)
    }
}

impl Display for Pool {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        write!(formatter, "{}d", self.count)?;
        match self.die {
            Die::Sides(sides) => write!(formatter, "{sides}")?,
            Die::Fate => formatter.write_str("F")?,
        }
        if let Some(reroll) = self.reroll {
            write!(formatter, "{}{}", if reroll.once { "ro" } else { "rr" }, reroll.when)?;
        }
        if let Some(minimum) = self.minimum {
            write!(formatter, "min{minimum}")?;
        }
        if let Some(maximum) = self.maximum {
            write!(formatter, "max{maximum}")?;
        }
        if let Some(explode) = self.explode {
            write_explosion(formatter, explode, self.die)?;
        }
        if let Some(keep) = self.keep {
            write!(formatter, "{keep}")?;
        }
        if let Some(count) = self.count_successes {
            // Write `cs==`: in Roll20 `cs=` marks criticals.
            let sign = if count.success.comparison == Comparison::Equal { "=" } else { "" };
            write!(formatter, "cs{sign}{}", count.success)?;
            if let Some(failure) = count.failure {
                write!(formatter, "df{failure}")?;
            }
        }
        Ok(())
    }
}

fn write_explosion(formatter: &mut Formatter<'_>, explode: Explode, die: Die) -> Result {
    formatter.write_str(match explode.kind {
        ExplodeKind::Separate => "x",
        ExplodeKind::Compound => "!!",
        ExplodeKind::Penetrate => "!p",
    })?;
    let is_highest = explode.when == Condition { comparison: Comparison::Equal, value: die.highest() };
    match (explode.cap == limits::EXPLOSIONS_MAX, is_highest) {
        (true, true) => Ok(()),
        (true, false) => write!(formatter, "{}", explode.when),
        (false, _) => write!(formatter, "{}cap{}", explode.when, explode.cap),
    }
}

impl Display for Keep {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        let kind = match self.kind {
            KeepKind::KeepHighest => "kh",
            KeepKind::KeepLowest => "kl",
            KeepKind::DropHighest => "dh",
            KeepKind::DropLowest => "dl",
        };
        write!(formatter, "{kind}{}", self.count)
    }
}

impl Display for Set {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        formatter.write_str("{")?;
        for (at, item) in self.items.iter().enumerate() {
            write!(formatter, "{}{item}", if at > 0 { "," } else { "" })?;
        }
        formatter.write_str("}")?;
        self.keep.map_or(Ok(()), |keep| write!(formatter, "{keep}"))
    }
}

impl Display for Duality {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        write!(formatter, "duality({:+}", self.modifier)?;
        if let Some(difficulty) = self.difficulty {
            write!(formatter, ", dc {difficulty}")?;
        }
        formatter.write_str(match self.edge {
            Edge::None => "",
            Edge::Advantage => ", adv",
            Edge::Disadvantage => ", dis",
        })?;
        match self.bonus_die {
            Some(sides) => write!(formatter, ", +1d{sides})"),
            None => formatter.write_str(")"),
        }
    }
}
