//! Recursive descent parser of dice notation. An error points at the character where the text stops making sense.

use super::parse_pool::plain_pool;
use super::{Comparison, Dialect, Die, Duality, Edge, Expression, Keep, KeepKind, Notation, Operator, Pool, Roll, Set};
use crate::limits;

/// Where and why a text is not notation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParseError {
    /// Position of the error in characters, from 0.
    pub column: usize,
    pub message: String,
    pub hint: &'static str,
}

impl ParseError {
    /// The text around the error, with a caret below its column.
    pub fn caret(&self, text: &str) -> String {
        let shown: Vec<char> = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
        let begin = self.column.saturating_sub(CONTEXT_CHARS);
        let end = shown.len().min(self.column.saturating_add(CONTEXT_CHARS));
        let (before, after) = (if begin > 0 { "…" } else { "" }, if end < shown.len() { "…" } else { "" });
        let part: String = shown.get(begin..end).unwrap_or_default().iter().collect();
        let indent = " ".repeat(self.column - begin + before.chars().count());
        format!("{before}{part}{after}\n{indent}^")
    }
}

/// Characters shown before and after an error.
const CONTEXT_CHARS: usize = 40;

const EXAMPLES_HINT: &str = "for example 4d6kh3+1, 2d20kh1+5 >= 15, 3d6!, 5d10cs>=8, duality(+2, dc 15)";

pub(super) type Parsed<T> = Result<T, ParseError>;

pub fn parse(text: &str, dialect: Dialect) -> Parsed<Notation> {
    let length = text.chars().count();
    if length > limits::EXPRESSION_CHARS_MAX {
        let message =
            format!("an expression has at most {} characters, this one has {length}", limits::EXPRESSION_CHARS_MAX);
        return Err(ParseError { column: limits::EXPRESSION_CHARS_MAX, message, hint: "roll its parts one by one" });
    }
    let (code, comment) = match text.split_once('#') {
        Some((code, comment)) => (code, Some(comment.trim().to_owned()).filter(|comment| !comment.is_empty())),
        None => (text, None),
    };
    let dialect = dialect.resolve(&code.to_lowercase());
    let mut parser = Parser { text: code.chars().collect(), at: 0, depth: 0, dialect };
    let roll = parser.roll()?;
    parser.skip_spaces();
    if parser.peek().is_some() {
        return Err(parser.unexpected("the end"));
    }
    Ok(Notation { roll, comment })
}

pub(super) fn parse_error(column: usize, message: impl Into<String>, hint: &'static str) -> ParseError {
    ParseError { column, message: message.into(), hint }
}

pub(super) struct Parser {
    pub(super) text: Vec<char>,
    pub(super) at: usize,
    depth: usize,
    pub(super) dialect: Dialect,
}

impl Parser {
    pub(super) fn peek(&self) -> Option<char> {
        self.text.get(self.at).map(char::to_ascii_lowercase)
    }

    fn skip_spaces(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    pub(super) fn unexpected(&self, wanted: &str) -> ParseError {
        let found = self.text.get(self.at).map_or_else(|| "the end".to_owned(), |found| format!("{found:?}"));
        parse_error(self.at, format!("expected {wanted}, found {found}"), EXAMPLES_HINT)
    }

    /// Consumes the word if it comes next, in any case.
    pub(super) fn consume(&mut self, word: &str) -> bool {
        let stands = word.chars().enumerate().all(|(offset, wanted)| {
            self.text.get(self.at + offset).is_some_and(|found| found.eq_ignore_ascii_case(&wanted))
        });
        if stands {
            self.at += word.chars().count();
        }
        stands
    }

    fn skip_spaces_and_consume(&mut self, word: &str) -> bool {
        self.skip_spaces();
        self.consume(word)
    }

    pub(super) fn digits(&mut self) -> Parsed<Option<i64>> {
        let begin = self.at;
        let mut number = 0_i64;
        while let Some(digit) = self.peek().and_then(|digit| digit.to_digit(10)) {
            number = number.saturating_mul(10).saturating_add(i64::from(digit));
            self.at += 1;
        }
        if number > limits::NUMBER_MAX {
            let message = format!("a number is at most {}", limits::NUMBER_MAX);
            return Err(parse_error(begin, message, "use smaller numbers"));
        }
        Ok((self.at > begin).then_some(number))
    }

    pub(super) fn number(&mut self, wanted: &str) -> Parsed<i64> {
        self.digits()?.ok_or_else(|| self.unexpected(wanted))
    }

    pub(super) fn signed_number(&mut self, wanted: &str) -> Parsed<i64> {
        let negative = self.consume("-");
        let number = self.number(wanted)?;
        Ok(if negative { -number } else { number })
    }

    /// Every recursion goes through here, so the depth limit bounds the stack.
    fn with_depth_check<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.depth += 1;
        if self.depth > limits::EXPRESSION_DEPTH_MAX {
            let message = format!("an expression is nested at most {} deep", limits::EXPRESSION_DEPTH_MAX);
            return Err(parse_error(self.at, message, "roll its parts one by one"));
        }
        let outcome = inner(self);
        self.depth -= 1;
        outcome
    }

    fn roll(&mut self) -> Parsed<Roll> {
        self.skip_spaces();
        if let Some(repeat) = self.repeat()? {
            return Ok(repeat);
        }
        if let Some(duality) = self.duality()? {
            return Ok(Roll::Duality(duality));
        }
        let left = self.sum()?;
        self.skip_spaces();
        if let Some(comparison) = self.comparison() {
            self.skip_spaces();
            return Ok(Roll::Check { left, comparison, right: self.sum()? });
        }
        if self.consume("vs") {
            self.skip_spaces();
            return Ok(Roll::Versus { left, right: self.sum()? });
        }
        Ok(Roll::Total(left))
    }

    /// `6x(…)`. The `x` of an explosion follows a pool, never a plain number.
    fn repeat(&mut self) -> Parsed<Option<Roll>> {
        let begin = self.at;
        let times = self.digits()?;
        let Some(times) = times.filter(|_| self.skip_spaces_and_consume("x") && self.skip_spaces_and_consume("("))
        else {
            self.at = begin;
            return Ok(None);
        };
        let times =
            u32::try_from(times).ok().filter(|times| (1..=limits::REPEATS_MAX).contains(times)).ok_or_else(|| {
                let message = format!("a roll is repeated 1 to {} times", limits::REPEATS_MAX);
                parse_error(begin, message, "repeat it fewer times")
            })?;
        let inner = self.at;
        let roll = self.with_depth_check(Self::roll)?;
        if matches!(roll, Roll::Repeat { .. }) {
            return Err(parse_error(inner, "a repeated roll is not repeated again", "multiply the counts"));
        }
        if !self.skip_spaces_and_consume(")") {
            return Err(self.unexpected("a closing parenthesis"));
        }
        Ok(Some(Roll::Repeat { times, roll: Box::new(roll) }))
    }

    pub(super) fn comparison(&mut self) -> Option<Comparison> {
        let table = [
            (">=", Comparison::AtLeast),
            ("<=", Comparison::AtMost),
            ("==", Comparison::Equal),
            ("=", Comparison::Equal),
            (">", Comparison::Over),
            ("<", Comparison::Under),
        ];
        table.into_iter().find(|(word, _)| self.consume(word)).map(|(_, comparison)| comparison)
    }

    fn duality(&mut self) -> Parsed<Option<Duality>> {
        let mut duality = Duality::default();
        if self.consume("dd") {
            self.skip_spaces();
            if matches!(self.peek(), Some('+' | '-')) {
                duality.modifier = self.modifier()?;
            }
            return Ok(Some(duality));
        }
        if !self.consume("duality") {
            return Ok(None);
        }
        if !self.skip_spaces_and_consume("(") {
            return Ok(Some(duality));
        }
        loop {
            self.skip_spaces();
            if self.consume("dc") {
                self.skip_spaces();
                let begin = self.at;
                let difficulty = self.number("a difficulty")?;
                let difficulty = i32::try_from(difficulty)
                    .map_err(|_| parse_error(begin, "this difficulty is too large", EXAMPLES_HINT))?;
                duality.difficulty = Some(difficulty);
            } else if self.consume("adv") {
                duality.edge = Edge::Advantage;
            } else if self.consume("dis") {
                duality.edge = Edge::Disadvantage;
            } else if matches!(self.peek(), Some('+' | '-' | 'd' | '0'..='9')) {
                self.modifier_or_bonus_die(&mut duality)?;
            } else if self.peek() != Some(')') {
                return Err(parse_error(
                    self.at,
                    "expected a modifier, dc and a number, adv, dis or a bonus die",
                    "for example duality(+2, dc 15, adv, +1d8)",
                ));
            }
            if self.skip_spaces_and_consume(")") {
                return Ok(Some(duality));
            }
            if !self.skip_spaces_and_consume(",") {
                return Err(self.unexpected("a comma or a closing parenthesis"));
            }
        }
    }

    /// `+2`, or a die that is added: `+1d8`.
    fn modifier_or_bonus_die(&mut self, duality: &mut Duality) -> Parsed<()> {
        let begin = self.at;
        let negative = !self.consume("+") && self.consume("-");
        self.skip_spaces();
        let count = self.digits()?;
        if !self.consume("d") {
            self.at = begin;
            duality.modifier = self.modifier()?;
            return Ok(());
        }
        let hint = "for example duality(+2, dc 15, +1d8)";
        let sides = u32::try_from(self.number("sides")?).unwrap_or(u32::MAX);
        if negative || count.is_some_and(|count| count != 1) || duality.bonus_die.is_some() {
            return Err(parse_error(begin, "a Duality roll has one bonus die, which is added", hint));
        }
        if !(2..=limits::BONUS_DIE_SIDES_MAX).contains(&sides) {
            let message = format!("a bonus die has 2 to {} sides, not {sides}", limits::BONUS_DIE_SIDES_MAX);
            return Err(parse_error(begin, message, hint));
        }
        duality.bonus_die = Some(sides);
        Ok(())
    }

    fn modifier(&mut self) -> Parsed<i32> {
        let begin = self.at;
        let negative = !self.consume("+") && self.consume("-");
        self.skip_spaces();
        let number = self.number("a modifier")?;
        let number =
            i32::try_from(number).map_err(|_| parse_error(begin, "this modifier is too large", EXAMPLES_HINT))?;
        Ok(if negative { -number } else { number })
    }

    fn sum(&mut self) -> Parsed<Expression> {
        self.binary_chain(Self::product, &[("+", Operator::Add), ("-", Operator::Subtract)])
    }

    fn product(&mut self) -> Parsed<Expression> {
        self.binary_chain(Self::unary, &[("*", Operator::Multiply), ("/", Operator::Divide)])
    }

    fn binary_chain(
        &mut self,
        part: fn(&mut Self) -> Parsed<Expression>,
        operators: &[(&str, Operator)],
    ) -> Parsed<Expression> {
        let mut left = part(self)?;
        loop {
            self.skip_spaces();
            let Some((_, operator)) = operators.iter().find(|(word, _)| self.consume(word)) else { return Ok(left) };
            let right = part(self)?;
            // A long chain becomes a deep tree, which recursion walks later.
            self.depth += 1;
            if self.depth > limits::EXPRESSION_DEPTH_MAX * 4 {
                return Err(parse_error(self.at, "an expression has too many parts", "roll its parts one by one"));
            }
            left = Expression::Binary { operator: *operator, left: Box::new(left), right: Box::new(right) };
        }
    }

    fn unary(&mut self) -> Parsed<Expression> {
        self.skip_spaces();
        if self.consume("+") {
            return self.with_depth_check(Self::unary);
        }
        if self.consume("-") {
            let inner = self.with_depth_check(Self::unary)?;
            return Ok(match inner {
                Expression::Number(number) if number > 0 => Expression::Number(-number),
                inner => Expression::Negative(Box::new(inner)),
            });
        }
        let atom = self.atom()?;
        self.parse_labels(atom)
    }

    fn parse_labels(&mut self, inner: Expression) -> Parsed<Expression> {
        let begin = self.at;
        if !self.skip_spaces_and_consume("[") {
            self.at = begin;
            return Ok(inner);
        }
        let text = self.at;
        while self.peek().is_some_and(|letter| letter != ']') {
            self.at += 1;
        }
        let label: String = self.text[text..self.at].iter().collect();
        if !self.consume("]") {
            return Err(parse_error(begin, "this label has no end", "close it with ]"));
        }
        let label = label.trim().to_owned();
        if label.is_empty() || label.contains('[') {
            return Err(parse_error(begin, "a label is a word or some", "for example 2d6[fire]"));
        }
        self.parse_labels(Expression::Labelled { inner: Box::new(inner), label })
    }

    fn atom(&mut self) -> Parsed<Expression> {
        if self.consume("(") {
            return self.with_depth_check(Self::parenthesis);
        }
        if self.consume("{") {
            return self.with_depth_check(Self::set);
        }
        for (word, kind) in [("adv", KeepKind::KeepHighest), ("dis", KeepKind::KeepLowest)] {
            if self.consume(word) {
                let keep = Keep { kind, count: 1 };
                return Ok(Expression::Pool(Pool { keep: Some(keep), ..plain_pool(2, Die::Sides(20)) }));
            }
        }
        let begin = self.at;
        let number = self.digits()?;
        if !self.consume("d") {
            return number.map(Expression::Number).ok_or_else(|| self.unexpected("a number or dice"));
        }
        let count = number.unwrap_or(1);
        let count =
            u32::try_from(count).ok().filter(|count| (1..=limits::DICE_MAX).contains(count)).ok_or_else(|| {
                parse_error(begin, format!("a pool has 1 to {} dice, not {count}", limits::DICE_MAX), "roll fewer dice")
            })?;
        let die = self.die()?;
        self.pool(count, die).map(Expression::Pool)
    }

    /// `(2d6+3)`, or a set as Avrae writes it: `(1d6,1d8)kh1`.
    fn parenthesis(&mut self) -> Parsed<Expression> {
        let inner = self.sum()?;
        if self.skip_spaces_and_consume(")") {
            return Ok(inner);
        }
        if self.peek() == Some(',') {
            return self.set_after_first(inner, ")");
        }
        Err(self.unexpected("a closing parenthesis"))
    }

    fn die(&mut self) -> Parsed<Die> {
        if self.consume("%") {
            return Ok(Die::Sides(100));
        }
        if self.consume("f") {
            return Ok(Die::Fate);
        }
        let begin = self.at;
        let sides = self.number("sides: a number, % or F")?;
        let sides = u32::try_from(sides).ok().filter(|sides| (1..=limits::DIE_SIDES_MAX).contains(sides));
        sides.map(Die::Sides).ok_or_else(|| {
            parse_error(begin, format!("a die has 1 to {} sides", limits::DIE_SIDES_MAX), "choose another die")
        })
    }

    fn set(&mut self) -> Parsed<Expression> {
        let first = self.sum()?;
        self.set_after_first(first, "}")
    }

    fn set_after_first(&mut self, first: Expression, end: &str) -> Parsed<Expression> {
        let mut items = vec![first];
        while self.skip_spaces_and_consume(",") {
            items.push(self.sum()?);
        }
        if !self.consume(end) {
            return Err(self.unexpected(&format!("a comma or {end}")));
        }
        if items.len() > limits::SET_ITEMS_MAX {
            return Err(parse_error(
                self.at,
                format!("a set has at most {} items", limits::SET_ITEMS_MAX),
                "use fewer",
            ));
        }
        let keep = self.parse_keep()?;
        if self.dialect == Dialect::Roll20 && self.is_comparison() && !self.is_check() {
            return Err(parse_error(
                self.at,
                "Roll20 counts the items that reach a number, which is not supported",
                "count in each pool, as in 1d6>4+1d8>4; to compare the total, write >=",
            ));
        }
        Ok(Expression::Set(Set { items, keep }))
    }

    pub(super) fn is_comparison(&self) -> bool {
        matches!(self.peek(), Some('>' | '<' | '='))
    }

    /// Whether the comparison has two characters. Roll20 has no `>=`, so there it compares the total.
    pub(super) fn is_check(&self) -> bool {
        self.text.get(self.at + 1) == Some(&'=')
    }
}
