//! Dice drawn as dice: the outline of each kind of die with its number, as SVG without styles of its own.

use maud::{Markup, html};

/// The colour of a die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DieTone {
    Plain,
    Hope,
    Fear,
    /// A die that was dropped or rerolled.
    Dropped,
}

impl DieTone {
    fn class(self) -> &'static str {
        match self {
            Self::Plain => "die",
            Self::Hope => "die die-hope",
            Self::Fear => "die die-fear",
            Self::Dropped => "die die-dropped",
        }
    }
}

/// A die with its sides and what it shows. A die with other faces than numbers from 1 has no sides here.
pub(super) fn die(sides: u64, face: i64, tone: DieTone) -> Markup {
    let outline = match sides {
        4 => "M24 5 45 41H3z",
        6 => "M11 6h26a5 5 0 0 1 5 5v26a5 5 0 0 1-5 5H11a5 5 0 0 1-5-5V11a5 5 0 0 1 5-5z",
        8 => "M24 2 45 24 24 46 3 24z",
        10 | 100 => "M24 2 46 27 24 46 2 27z",
        12 => "M24 2 38 6.600 46.300 18.300v11.400L38 41.400 24 46 10 41.400 1.700 29.700V18.300L10 6.600z",
        20 => "M24 2 43.500 13v22L24 46 4.500 35V13z",
        _ => "M24 3a21 21 0 1 1 0 42 21 21 0 0 1 0-42z",
    };
    let (name, text_y) = match tone {
        DieTone::Hope => ("Hope ", "31"),
        DieTone::Fear => ("Fear ", "31"),
        DieTone::Plain | DieTone::Dropped => ("", if sides == 4 { "36" } else { "31" }),
    };
    let kind = if sides == 0 { "die".to_owned() } else { format!("d{sides}") };
    let dropped = if tone == DieTone::Dropped { ", does not count" } else { "" };
    html! {
        svg class=(tone.class()) viewBox="0 0 48 48" role="img" aria-label={ (name) (kind) " shows " (face) (dropped) } {
            path d=(outline) {}
            text x="24" y=(text_y) text-anchor="middle" { (face) }
        }
    }
}

/// The sides of the dice of a pool, from its notation: `4d6kh3` has six.
pub(super) fn sides_of(notation: &str) -> u64 {
    let after = notation.split_once(['d', 'D']).map(|(_, after)| after).unwrap_or_default();
    if after.starts_with('%') {
        return 100;
    }
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_die_follows_from_its_notation() {
        for (notation, sides) in [("4d6kh3", 6), ("d20", 20), ("1d%", 100), ("2d8", 8), ("dF", 0), ("", 0)] {
            assert_eq!(sides_of(notation), sides, "{notation}");
        }
    }

    #[test]
    fn a_die_says_what_it_shows() {
        let drawn = die(12, 9, DieTone::Hope).into_string();
        assert!(drawn.contains("aria-label=\"Hope d12 shows 9\"") && drawn.contains(">9</text>"), "{drawn}");
        assert!(!drawn.contains("style"), "{drawn}");
    }
}
