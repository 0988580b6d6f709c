//! Parses a pool of dice and its modifiers: exploding, rerolling, keeping, counting successes, and limits of a die.

use super::parse::{Parsed, Parser, parse_error};
use super::{Comparison, Condition, CountSuccesses, Dialect, Die, Explode, ExplodeKind, Keep, KeepKind, Pool, Reroll};
use crate::limits;

impl Parser {
    pub(super) fn pool(&mut self, count: u32, die: Die) -> Parsed<Pool> {
        let mut pool = plain_pool(count, die);
        loop {
            let begin = self.at;
            let given_twice = self.pool_modifier(&mut pool)?;
            if given_twice {
                return Err(parse_error(begin, "this is given twice", "once is enough"));
            }
            if self.at == begin {
                return check_pool(pool).map_err(|(message, hint)| parse_error(begin, message, hint));
            }
        }
    }

    /// Parses one modifier, if one comes next. Returns whether the pool had it already.
    fn pool_modifier(&mut self, pool: &mut Pool) -> Parsed<bool> {
        if pool.count == 1 && pool.keep.is_none() {
            // One die with advantage is two dice, of which one is kept.
            for (word, kind) in [("adv", KeepKind::KeepHighest), ("dis", KeepKind::KeepLowest)] {
                if self.consume(word) {
                    (pool.count, pool.keep) = (2, Some(Keep { kind, count: 1 }));
                    return Ok(false);
                }
            }
        }
        if self.consume("min") || self.consume("mi") {
            return Ok(pool.minimum.replace(self.signed_number("a smallest value")?).is_some());
        }
        if self.consume("max") || self.consume("ma") {
            return Ok(pool.maximum.replace(self.signed_number("a largest value")?).is_some());
        }
        self.refuse_foreign()?;
        if let Some(explode) = self.explode(pool)? {
            return Ok(pool.explode.replace(explode).is_some());
        }
        if let Some(reroll) = self.reroll()? {
            return Ok(pool.reroll.replace(reroll).is_some());
        }
        if let Some(count) = self.successes()? {
            return Ok(pool.count_successes.replace(count).is_some());
        }
        if let Some(keep) = self.parse_keep()? {
            return Ok(pool.keep.replace(keep).is_some());
        }
        // Sorting affects display only, so it is accepted and ignored.
        let _ = self.consume("sa") || self.consume("sd") || self.consume("s");
        Ok(false)
    }

    /// Refuses modifiers of other dice programs that would be misread here.
    fn refuse_foreign(&self) -> Parsed<()> {
        let begins = |word: &str| {
            let letters = word.chars().enumerate();
            letters.into_iter().all(|(at, letter)| {
                self.text.get(self.at + at).is_some_and(|found| found.eq_ignore_ascii_case(&letter))
            })
        };
        let refused = |message: &str, hint| Err(parse_error(self.at, message, hint));
        if begins("ra") {
            return refused(
                "ra adds one die to the whole pool, which is not supported",
                "for one more die each write xo, as in 4d6xo or 4d6x>=5cap1",
            );
        }
        if begins("cf") {
            return refused("cf is not supported", "take failures from successes, as in 5d10cs>=8df=1");
        }
        if begins("cs") && self.dialect == Dialect::Roll20 && self.text.get(self.at + 3) != Some(&'=') {
            return refused(
                "in Roll20 cs marks criticals and counts nothing, which is not supported",
                "leave it out; to count successes write > alone, as in 5d10>8",
            );
        }
        if begins("f") || begins("df") {
            return refused("failures are taken from successes, and none are counted", "write them first: cs>=8df=1");
        }
        Ok(())
    }

    fn reroll(&mut self) -> Parsed<Option<Reroll>> {
        let begin = self.at;
        let once = if self.consume("rr") {
            false
        } else if self.consume("ro") {
            true
        } else if self.consume("r") {
            match self.dialect {
                Dialect::Roll20 => false,
                Dialect::Avrae => {
                    return Err(parse_error(
                        begin,
                        "Avrae has rr (until none is left), ro (once) and ra",
                        "write rr or ro",
                    ));
                }
                Dialect::Auto | Dialect::Foundry => true,
            }
        } else {
            return Ok(None);
        };
        if self.dialect == Dialect::Avrae && matches!(self.peek(), Some('h' | 'l')) {
            return Err(parse_error(
                self.at,
                "this selects by rank, which rerolls do not",
                "write a number, as in ro<3",
            ));
        }
        let when = self.condition()?.unwrap_or(Condition { comparison: Comparison::Equal, value: 1 });
        Ok(Some(Reroll { once, when }))
    }

    fn explode(&mut self, pool: &Pool) -> Parsed<Option<Explode>> {
        let (kind, cap) = if self.consume("!!") {
            (ExplodeKind::Compound, limits::EXPLOSIONS_MAX)
        } else if self.consume("!p") {
            (ExplodeKind::Penetrate, limits::EXPLOSIONS_MAX)
        } else if self.consume("xo") {
            (ExplodeKind::Separate, 1)
        } else if self.consume("!") || self.consume("x") || (self.dialect == Dialect::Avrae && self.consume("e")) {
            (ExplodeKind::Separate, limits::EXPLOSIONS_MAX)
        } else {
            return Ok(None);
        };
        let highest = Condition { comparison: Comparison::Equal, value: pool.die.highest() };
        let begin = self.at;
        let number = self.digits()?;
        let behind = self.condition_with_sign()?;
        let (cap, when) = match (number, behind) {
            (Some(_), Some(_)) if pool.count > 1 => {
                let message = "a number before a comparison caps the whole pool, which is not supported";
                return Err(parse_error(begin, message, "cap each die instead, as in 3d6x=6cap2"));
            }
            // `xo` keeps its cap of one.
            (Some(_), Some(when)) if cap == 1 => (cap, when),
            (Some(given), Some(when)) => (u32::try_from(given).unwrap_or(u32::MAX), when),
            (Some(value), None) => (cap, Condition { comparison: Comparison::Equal, value }),
            (None, when) => (cap, when.unwrap_or(highest)),
        };
        let cap = if self.consume("cap") {
            u32::try_from(self.number("how often a die may explode")?).unwrap_or(u32::MAX)
        } else {
            cap
        };
        if !(1..=limits::EXPLOSIONS_MAX).contains(&cap) {
            let message = format!("a die explodes 1 to {} times", limits::EXPLOSIONS_MAX);
            return Err(parse_error(begin, message, "choose a smaller cap"));
        }
        Ok(Some(Explode { kind, when, cap }))
    }

    /// `cs>=8`, optionally with `df<=1`; in Roll20 `>7f1`.
    fn successes(&mut self) -> Parsed<Option<CountSuccesses>> {
        let success = if self.consume("cs") {
            self.condition()?.ok_or_else(|| self.unexpected("what counts as a success, as in cs>=8"))?
        } else if self.dialect == Dialect::Roll20 && self.is_comparison() && !self.is_check() {
            self.condition()?.ok_or_else(|| self.unexpected("a number"))?
        } else {
            return Ok(None);
        };
        let has_failure = self.consume("df") || self.consume("f");
        let failure = if has_failure {
            Some(self.condition()?.ok_or_else(|| self.unexpected("what counts as a failure, as in df<=1"))?)
        } else {
            None
        };
        Ok(Some(CountSuccesses { success, failure }))
    }

    pub(super) fn parse_keep(&mut self) -> Parsed<Option<Keep>> {
        let begin = self.at;
        let table = [
            ("kh", KeepKind::KeepHighest),
            ("kl", KeepKind::KeepLowest),
            ("k", KeepKind::KeepHighest),
            ("dh", KeepKind::DropHighest),
            ("dl", KeepKind::DropLowest),
            ("d", KeepKind::DropLowest),
            ("ph", KeepKind::DropHighest),
            ("pl", KeepKind::DropLowest),
        ];
        let Some((word, kind)) = table.into_iter().find(|(word, _)| self.consume(word)) else { return Ok(None) };
        if self.dialect == Dialect::Avrae && (word == "k" || word == "d") {
            let message = format!("in Avrae {word}3 is about the dice that show 3, which is not supported");
            return Err(parse_error(begin, message, "write which end is meant: kh, kl, ph or pl, as in kh3"));
        }
        let count = self.digits()?;
        if count.is_none() && self.is_comparison() {
            let message = "dice are kept or dropped by how many, not by what they show";
            return Err(parse_error(self.at, message, "write a number, as in kh3; to compare the total, kh1 > 3"));
        }
        let count = count.unwrap_or(1);
        let count = u32::try_from(count).ok().filter(|count| *count <= limits::DICE_MAX);
        let count =
            count.ok_or_else(|| parse_error(begin, "there are never that many dice", "use a smaller number"))?;
        Ok(Some(Keep { kind, count }))
    }

    /// A test of one die: a sign and a number, or a number alone.
    fn condition(&mut self) -> Parsed<Option<Condition>> {
        if let Some(condition) = self.condition_with_sign()? {
            return Ok(Some(condition));
        }
        let begin = self.at;
        let value = self.digits()?;
        if value.is_some() && self.is_comparison() {
            let message = "a number before a comparison says for how many dice it holds, which is not supported here";
            return Err(parse_error(
                begin,
                message,
                "leave the number out; to compare the total, put a space before it",
            ));
        }
        Ok(value.map(|value| Condition { comparison: Comparison::Equal, value }))
    }

    fn condition_with_sign(&mut self) -> Parsed<Option<Condition>> {
        let Some(comparison) = self.comparison() else { return Ok(None) };
        let value = self.signed_number("a number")?;
        // `>` and `<` become `>=` and `<=`, so the canonical form is unique. In Roll20 they already mean these.
        let is_roll20 = self.dialect == Dialect::Roll20;
        let (comparison, value) = match comparison {
            Comparison::Over if is_roll20 => (Comparison::AtLeast, value),
            Comparison::Under if is_roll20 => (Comparison::AtMost, value),
            Comparison::Over => (Comparison::AtLeast, value + 1),
            Comparison::Under => (Comparison::AtMost, value - 1),
            comparison => (comparison, value),
        };
        Ok(Some(Condition { comparison, value }))
    }
}

pub(super) fn plain_pool(count: u32, die: Die) -> Pool {
    Pool { count, die, reroll: None, minimum: None, maximum: None, explode: None, keep: None, count_successes: None }
}

/// Refuses a pool whose rerolls never end or whose minimum is over its maximum.
fn check_pool(pool: Pool) -> Result<Pool, (String, &'static str)> {
    if let Some(reroll) = pool.reroll
        && !reroll.once
        && (pool.die.lowest()..=pool.die.highest()).all(|face| reroll.when.holds(face))
    {
        return Err((
            "every face is rolled again, so this never ends".to_owned(),
            "leave one face out, or reroll once with ro",
        ));
    }
    if let (Some(minimum), Some(maximum)) = (pool.minimum, pool.maximum)
        && minimum > maximum
    {
        return Err((format!("the smallest value {minimum} is over the largest, {maximum}"), "swap them"));
    }
    Ok(pool)
}
