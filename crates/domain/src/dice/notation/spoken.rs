//! Reads rolls as people say them, such as "4d6 drop lowest" or "d20 with disadvantage +3", by writing them as notation.
//!
//! A word that is not known refuses the whole text: nothing that was said is left out of a roll.

use super::{Dialect, Edge, Notation, ParseError, parse};
use crate::limits;

/// Words that say nothing about the dice.
const FILLERS: &[&str] = &[
    "roll", "rolls", "throw", "please", "me", "a", "an", "the", "with", "for", "on", "at", "to", "dice", "die", "and",
    "then", "is", "total", "check", "save", "attack",
];

const NUMBERS: &[&str] =
    &["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

/// What to write, by a word that a text has which cannot be read.
const ADVICE: &[(&str, &str)] = &[
    ("reroll", "write 4d6ro=1 to roll ones again once, 4d6rr=1 until there are none"),
    ("stats", "six ability scores are 6x(4d6kh3)"),
    ("scores", "six ability scores are 6x(4d6kh3)"),
    ("success", "write 5d10cs>=8 to count the dice of 8 or more"),
    ("explod", "write 3d6! for dice that explode on their highest face"),
    ("drop", "write 4d6dl1 to drop the lowest, 4d6dh1 to drop the highest"),
    ("keep", "write 4d6kh3 to keep the three highest, 2d20kl1 for the lowest"),
    ("advantage", "write 2d20kh1+5 for advantage, 2d20kl1+5 for disadvantage, duality(+2, adv) for Hope and Fear"),
    ("duality", "write duality(+2, dc 15, adv)"),
    ("times", "write 6x(4d6kh3) to roll six times"),
];

/// Parses notation, or else what people say. The error is that of the notation; its hint is the notation for what was
/// said, where a word tells what that could be.
pub fn parse_spoken(text: &str, dialect: Dialect) -> Result<Notation, ParseError> {
    let error = match parse(text, dialect) {
        Err(error) if text.chars().count() <= limits::EXPRESSION_CHARS_MAX => error,
        parsed => return parsed,
    };
    let (code, comment) = text.split_once('#').unwrap_or((text, ""));
    let lower = code.to_lowercase();
    let spoken = SpokenRoll::from_words(&lower).and_then(|spoken| spoken.into_notation(dialect));
    if let Some(notation) = spoken {
        let comment = Some(comment.trim().to_owned()).filter(|comment| !comment.is_empty());
        Ok(Notation { comment, ..notation })
    } else {
        let advice = ADVICE.iter().find(|(word, _)| lower.contains(word)).map(|(_, advice)| *advice);
        Err(ParseError { hint: advice.unwrap_or(error.hint), ..error })
    }
}

/// A roll in words, taken apart.
#[derive(Default)]
struct SpokenRoll {
    /// Parts of notation, in order.
    parts: Vec<String>,
    /// Modifiers of the pool that has not been named yet, as in "best of 2d20".
    pending: String,
    repeats: Option<u64>,
    is_duality: bool,
    advantage: bool,
    disadvantage: bool,
}

impl SpokenRoll {
    /// `None` if a word is not known.
    fn from_words(text: &str) -> Option<Self> {
        let words: Vec<&str> =
            text.split_whitespace().map(|word| word.trim_end_matches(['.', ',', ';', '?'])).collect();
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty() && !FILLERS.contains(word)).collect();
        let (mut spoken, mut rest) = (Self::default(), words.as_slice());
        while !rest.is_empty() {
            rest = spoken.take_phrase(rest)?;
        }
        Some(spoken)
    }

    /// Reads the phrase at the beginning, and returns the words after it.
    fn take_phrase<'a>(&mut self, words: &'a [&'a str]) -> Option<&'a [&'a str]> {
        match words {
            ["advantage" | "adv", rest @ ..] => {
                self.advantage = true;
                Some(rest)
            }
            ["disadvantage" | "dis", rest @ ..] => {
                self.disadvantage = true;
                Some(rest)
            }
            ["duality" | "hope" | "fear", rest @ ..] => {
                self.is_duality = true;
                Some(rest)
            }
            ["drop" | "dropping" | "discard" | "without", rest @ ..] => self.take_keep(rest, ("dh", "dl")),
            ["keep" | "keeping" | "take", rest @ ..] => self.take_keep(rest, ("kh", "kl")),
            ["best" | "highest" | "better" | "lowest" | "worst" | "worse", ..] => self.take_keep(words, ("kh", "kl")),
            ["exploding" | "explode" | "explodes", rest @ ..] => self.attach("!").then_some(rest),
            ["plus" | "add", rest @ ..] => self.push("+", rest),
            ["minus", rest @ ..] => self.push("-", rest),
            ["vs" | "versus" | "against", "dc" | "difficulty", rest @ ..]
            | ["dc" | "difficulty" | "least", rest @ ..] => self.push(">=", rest),
            ["vs" | "versus" | "against", number] if is_number(number) => self.push(">=", &words[1..]),
            ["vs" | "versus" | "against", rest @ ..] => self.push("vs", rest),
            ["most", rest @ ..] => self.push("<=", rest),
            ["over" | "above" | "beat", rest @ ..] => self.push(">", rest),
            ["under" | "below", rest @ ..] => self.push("<", rest),
            ["twice", rest @ ..] => self.repeat(2, rest),
            ["percentile" | "percent", rest @ ..] => self.push_dice("1d100", rest),
            ["coin", rest @ ..] => self.push_dice("1d2", rest),
            [number, "times", rest @ ..] => self.repeat(to_number(number)?, rest),
            [number, "or", "more" | "higher" | "better", rest @ ..] => {
                self.push(&format!(">= {}", to_number(number)?), rest)
            }
            [number, "or", "less" | "lower", rest @ ..] => self.push(&format!("<= {}", to_number(number)?), rest),
            [number, die, rest @ ..] if to_number(number).is_some() && to_sides(die).is_some() => {
                let pool = format!("{}d{}", to_number(number)?, to_sides(die)?);
                self.push_dice(&pool, rest)
            }
            [word, rest @ ..] => self.take_word(word, rest),
            [] => Some(words),
        }
    }

    fn take_word<'a>(&mut self, word: &str, rest: &'a [&'a str]) -> Option<&'a [&'a str]> {
        if let Some(times) = word.strip_prefix('x').and_then(|times| times.parse().ok()) {
            return self.repeat(times, rest);
        }
        if let Some(number) = to_number(word) {
            return self.push(&number.to_string(), rest);
        }
        if let Some(sides) = to_sides(word) {
            return self.push_dice(&format!("1d{sides}"), rest);
        }
        let is_notation = word.starts_with(|first: char| first.is_ascii_digit() || "+-*/({<>=".contains(first))
            || (word.starts_with('d') && word[1..].starts_with(|next: char| next.is_ascii_digit() || next == '%'));
        if !is_notation {
            return None;
        }
        if find_pool_end(word).is_some() { self.push_dice(word, rest) } else { self.push(word, rest) }
    }

    /// "lowest", "the two lowest", "highest 3", "best of": which dice are kept or dropped.
    fn take_keep<'a>(&mut self, words: &'a [&'a str], (high, low): (&str, &str)) -> Option<&'a [&'a str]> {
        let (before, words) = match words {
            [number, rest @ ..] if to_number(number).is_some() => (to_number(number), rest),
            words => (None, words),
        };
        let (end, words) = match words {
            ["highest" | "best" | "better" | "high" | "largest", rest @ ..] => (high, rest),
            ["lowest" | "worst" | "worse" | "low" | "smallest", rest @ ..] => (low, rest),
            _ => return None,
        };
        let (after, words) = match words {
            // "drop lowest six times" drops one.
            [number, rest @ ..] if before.is_none() && is_number(number) && rest.first() != Some(&"times") => {
                (to_number(number), rest)
            }
            words => (None, words),
        };
        let keep = format!("{end}{}", before.or(after).unwrap_or(1));
        match words {
            ["of", rest @ ..] => {
                self.pending.push_str(&keep);
                Some(rest)
            }
            rest => self.attach(&keep).then_some(rest),
        }
    }

    #[expect(clippy::unnecessary_wraps, reason = "every step answers the words that are left, or that it does not fit")]
    fn push<'a>(&mut self, part: &str, rest: &'a [&'a str]) -> Option<&'a [&'a str]> {
        self.parts.push(part.to_owned());
        Some(rest)
    }

    fn push_dice<'a>(&mut self, dice: &str, rest: &'a [&'a str]) -> Option<&'a [&'a str]> {
        self.parts.push(dice.to_owned());
        let pending = std::mem::take(&mut self.pending);
        (pending.is_empty() || self.attach(&pending)).then_some(rest)
    }

    fn repeat<'a>(&mut self, times: u64, rest: &'a [&'a str]) -> Option<&'a [&'a str]> {
        self.repeats.replace(times).is_none().then_some(rest)
    }

    /// Adds a modifier to the last pool; `false` if there is none.
    fn attach(&mut self, modifier: &str) -> bool {
        let pool = self.parts.iter_mut().rev().find_map(|part| find_pool_end(part).map(|end| (part, end)));
        pool.map(|(part, end)| part.insert_str(end, modifier)).is_some()
    }

    fn into_notation(self, dialect: Dialect) -> Option<Notation> {
        if !self.pending.is_empty() {
            return None;
        }
        let edge = Edge::from_flags(self.advantage, self.disadvantage);
        let mut body = if self.is_duality { self.write_duality() } else { self.parts.join(" ") };
        let has_dice = self.is_duality || self.parts.iter().any(|part| find_pool_end(part).is_some());
        if !has_dice && (self.advantage || self.disadvantage) {
            // "advantage +5": the die goes without saying.
            body = format!("1d20 {body}");
        } else if !has_dice {
            return None;
        }
        if let Some(times) = self.repeats {
            body = format!("{times}x({body})");
        }
        let notation = parse(&body, dialect).ok()?;
        Some(Notation { roll: notation.roll.with_edge(edge)?, ..notation })
    }

    /// "duality +2 dc 15" as `duality(+2, dc 15)`.
    fn write_duality(&self) -> String {
        let body = self.parts.join(" ").replace(">= ", ", dc ").replace("+ ", "+").replace("- ", "-");
        let fields: Vec<&str> = body.split([',']).map(str::trim).filter(|field| !field.is_empty()).collect();
        let fields: Vec<String> = fields.iter().map(|field| field.replace(" +", ", +").replace(" -", ", -")).collect();
        format!("duality({})", fields.join(", "))
    }
}

fn is_number(word: &str) -> bool {
    to_number(word).is_some()
}

/// A whole number in digits or as a word.
fn to_number(word: &str) -> Option<u64> {
    let spelled = NUMBERS.iter().position(|number| *number == word).map(|number| number as u64);
    spelled.or_else(|| word.parse().ok().filter(|_| word.bytes().all(|byte| byte.is_ascii_digit())))
}

/// The sides of `d6`, `d6s`, "six-sided" or "6-sided".
fn to_sides(word: &str) -> Option<u64> {
    let digits = word.strip_prefix('d').map(|sides| sides.trim_end_matches('s'));
    digits.filter(|sides| is_digits(sides)).or_else(|| word.strip_suffix("-sided")).and_then(to_number)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Where the first pool of a part ends: after the sides of its dice.
fn find_pool_end(part: &str) -> Option<usize> {
    let bytes = part.as_bytes();
    let is_die =
        |at: usize| bytes[at] == b'd' && bytes.get(at + 1).is_some_and(|next| next.is_ascii_digit() || *next == b'%');
    let begin = (0..bytes.len()).find(|at| is_die(*at) && (*at == 0 || !bytes[*at - 1].is_ascii_alphabetic()))?;
    let digits = bytes[begin + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    Some(begin + 1 + digits.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<String> {
        parse_spoken(text, Dialect::Auto).ok().map(|notation| notation.to_string())
    }

    #[test]
    fn what_people_say_is_read() {
        for (said, meant) in [
            ("4d6 drop lowest", "4d6dl1"),
            ("Roll 4d6, drop the lowest.", "4d6dl1"),
            ("4d6 drop the two lowest", "4d6dl2"),
            ("4d6 keep highest 3", "4d6kh3"),
            ("4d6+2 drop lowest", "4d6dl1+2"),
            ("best of 2d20", "2d20kh1"),
            ("best 3 of 4d6", "4d6kh3"),
            ("advantage", "2d20kh1"),
            ("disadvantage", "2d20kl1"),
            ("advantage +5", "2d20kh1+5"),
            ("d20 with disadvantage +3", "2d20kl1+3"),
            ("d20+3 with disadvantage", "2d20kl1+3"),
            ("attack with advantage plus 5 against 15", "2d20kh1+5 >= 15"),
            ("advantage and disadvantage", "1d20"),
            ("a d20 plus five", "1d20+5"),
            ("three d6", "3d6"),
            ("two six-sided dice plus 1", "2d6+1"),
            ("d20 + 4 vs dc 13", "1d20+4 >= 13"),
            ("d20 at least 11", "1d20 >= 11"),
            ("2d6 7 or less", "2d6 <= 7"),
            ("2d6 plus 3 versus 1d20", "2d6+3 vs 1d20"),
            ("3d6 exploding", "3d6x"),
            ("percentile", "1d100"),
            ("4d6 drop lowest six times", "6x(4d6dl1)"),
            ("4d6 drop lowest x6", "6x(4d6dl1)"),
            ("duality +2 dc 15", "duality(+2, dc 15)"),
            ("hope and fear plus 2 with advantage against 15", "duality(+2, dc 15, adv)"),
            ("4d6 drop lowest # strength", "4d6dl1 # strength"),
        ] {
            assert_eq!(read(said).as_deref(), Some(meant), "{said}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_the_notation_for_it() {
        for (said, hint) in [
            ("4d6 reroll ones", "4d6ro=1"),
            ("roll stats", "6x(4d6kh3)"),
            ("5d10 count successes", "5d10cs>=8"),
            ("2d6 with advantage", "2d20kh1"),
            ("drop the lowest", "4d6dl1"),
            ("keep calm", "4d6kh3"),
            ("fireball", "4d6kh3+1"),
        ] {
            let error = parse_spoken(said, Dialect::Auto).unwrap_err();
            assert!(error.hint.contains(hint), "{said}: {}", error.hint);
        }
    }

    #[test]
    fn notation_is_read_as_before() {
        for text in ["4d6dl1", "adv+5", "1d20adv", "duality(+2, dc 15, adv)", "5d10>7f1", "2d6[fire]+1d4"] {
            assert_eq!(parse_spoken(text, Dialect::Auto), parse(text, Dialect::Auto), "{text}");
        }
        let long = "advantage ".repeat(limits::EXPRESSION_CHARS_MAX);
        assert_eq!(parse_spoken(&long, Dialect::Auto), parse(&long, Dialect::Auto));
        for odd in ["", " ", "d", "é", "dé", "x", "of", "best", "d%d%", "drop", "#", "-", "times times"] {
            assert!(parse_spoken(odd, Dialect::Auto).is_err() || odd == "d%d%", "{odd:?}");
        }
    }
}
