//! Completion of dice expressions: continuations of the typed text. Every suggestion can be rolled.

use super::{Dialect, parse};

/// Suggested for empty input.
const BEGINNINGS: [&str; 8] =
    ["1d20", "2d20kh1", "4d6kh3", "2d6", "1d100", "duality(+2, dc 15)", "{2d6,1d12}kh1", "6x(4d6kh3)"];

/// Texts that may follow, the most common first. The input may already end with the first letters of one.
const CONTINUATIONS: [&str; 40] = [
    "d20",
    "d6",
    "d8",
    "d10",
    "d12",
    "d4",
    "d100",
    "d%",
    "dF",
    "kh1",
    "kh3",
    "kl1",
    "dl1",
    "dh1",
    "!",
    "!!",
    "!p",
    "r1",
    "ro1",
    "rr1",
    "min2",
    "max5",
    "cs>=5",
    "cs>=8df=1",
    "+1",
    "+5",
    "-1",
    "+1d4",
    "+1d6",
    "*2",
    "/2",
    " >= 15",
    " >= 10",
    " <= 10",
    " vs 1d20",
    "[fire]",
    ")",
    "}kh1",
    ", dc 15)",
    ", adv)",
];

/// Valid expressions that start with the typed text.
pub fn completions(typed: &str) -> Vec<String> {
    let beginnings = BEGINNINGS.into_iter().filter(|text| text.starts_with(typed)).map(str::to_owned);
    let mut found: Vec<String> = beginnings.collect();
    if !typed.trim().is_empty() {
        let more: Vec<(usize, String)> =
            CONTINUATIONS.into_iter().filter_map(|more| complete_with(typed, more)).collect();
        // If the input ends with the start of a continuation, offer only those.
        let has_begun = more.iter().any(|(begun, _)| *begun > 0);
        found.extend(more.into_iter().filter(|(begun, _)| !has_begun || *begun > 0).map(|(_, text)| text));
    }
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|text| seen.insert(text.clone()));
    found
}

/// The typed text completed by a continuation, if that parses, with the number of bytes that were typed already.
fn complete_with(typed: &str, more: &str) -> Option<(usize, String)> {
    let begun = (0..more.len()).rev().find(|length| typed.ends_with(more.get(..*length).unwrap_or("\0")))?;
    let texts = [begun, 0].into_iter().map(|begun| (begun, format!("{typed}{}", &more[begun..])));
    texts.into_iter().find(|(begun, text)| {
        let stem = &typed[..typed.len() - begun];
        is_sensible(stem, more) && parse(text, Dialect::Auto).is_ok()
    })
}

/// Whether a continuation keeps its usual meaning after `stem`. Some texts parse, but as something else.
fn is_sensible(stem: &str, more: &str) -> bool {
    let is_die = more.strip_prefix('d').is_some_and(|rest| rest.starts_with(|first: char| !first.is_ascii_lowercase()));
    if is_die {
        // Only after a plain number or where an operand starts. Elsewhere `d20` would parse as a drop.
        let before = stem.trim_end_matches(|digit: char| digit.is_ascii_digit());
        return before.is_empty() || before.ends_with(['+', '-', '*', '/', '(', '{', ',', ' ']);
    }
    if more.starts_with('d') {
        return !stem.ends_with('!');
    }
    let is_sum = more.starts_with(['+', '-']);
    !(is_sum && stem.trim_end().ends_with(['>', '<', '=', '+', '-', '*', '/', '(', '{', ',']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completions_go_on_from_what_was_typed() {
        assert!(completions("").contains(&"4d6kh3".to_owned()));
        assert!(completions("4d").contains(&"4d6".to_owned()));
        assert_eq!(completions("2d20k"), ["2d20kh1", "2d20kh3", "2d20kl1"]);
        assert!(completions("4d6kh3").contains(&"4d6kh3 >= 15".to_owned()));
        assert_eq!(completions("du"), ["duality(+2, dc 15)"]);
        assert!(completions("duality(+3").contains(&"duality(+3, dc 15)".to_owned()));
        assert!(completions("duality(+3, d").contains(&"duality(+3, dc 15)".to_owned()));
        assert!(completions("{1d8,1d6").contains(&"{1d8,1d6}kh1".to_owned()));
        assert_eq!(completions("no dice"), Vec::<String>::new());
    }

    #[test]
    fn nothing_is_offered_that_means_something_else() {
        let never = |typed: &str, offered: &str| {
            assert!(!completions(typed).contains(&offered.to_owned()), "{offered} for {typed}");
        };
        for die in ["d20", "d6", "d100"] {
            never("4d6", &format!("4d6{die}"));
            never("4d6!", &format!("4d6!{die}"));
            never("4d6kh3", &format!("4d6kh3{die}"));
        }
        never("4d6!", "4d6!dl1");
        never("2d6 >", "2d6 >+1");
        never("2d6 > ", "2d6 > -1");
        never("5d10cs>", "5d10cs>-1");
        never("2d6+", "2d6++1");
        assert!(completions("4d6").contains(&"4d6dl1".to_owned()));
        assert!(completions("1d20+2").contains(&"1d20+2d6".to_owned()));
        assert!(completions("2d6 >").contains(&"2d6 >= 15".to_owned()));
    }

    #[test]
    fn every_completion_can_be_rolled() {
        for typed in ["", "1", "4d6", "4d6kh3", "(2d6", "{1d6,1d8", "6x(4d6", "duality(", "2d20kh1+5 ", "é", "2d6[fi"]
        {
            for text in completions(typed) {
                assert!(text.starts_with(typed), "{text:?} does not go on from {typed:?}");
                assert!(parse(&text, Dialect::Auto).is_ok(), "{text:?}");
            }
        }
    }
}
