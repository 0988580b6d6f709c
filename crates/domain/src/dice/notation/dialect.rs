//! Dialects of dice notation: Foundry, Roll20 and Avrae. They differ here:
//!
//! | written | Foundry | Roll20 | Avrae |
//! |---|---|---|---|
//! | `5d10>7` | the total is over 7 | dice of 7 or more are counted | the total is over 7 |
//! | `4d6r<2` | once, below 2 | until none is 2 or less | not read: `rr` or `ro` |
//! | `3d6!>4` | explodes over 4 | explodes on 4 or more | explodes over 4 |
//! | `5d10cs>8` | counts over 8 | not read: it marks criticals | counts over 8 |
//! | `4d6ra6` | not read | not read | not read: one die for the whole pool |
//! | `4d6d1` | drops the lowest | drops the lowest | not read: `pl1` |

use schemars::JsonSchema;
use serde::Serialize;

use crate::case_insensitive_enum::case_insensitive_enum;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// Roll20's if the text has something that only Roll20 writes, Avrae's likewise, otherwise Foundry's.
    #[default]
    Auto,
    Foundry,
    Roll20,
    Avrae,
}

case_insensitive_enum!(Dialect { Auto = "auto", Foundry = "foundry", Roll20 = "roll20", Avrae = "avrae" });

impl Dialect {
    /// Resolves `Auto` to the dialect that the lower-case text is written in.
    pub(super) fn resolve(self, text: &str) -> Self {
        match self {
            Self::Auto if is_roll20(text) => Self::Roll20,
            Self::Auto if is_avrae(text) => Self::Avrae,
            Self::Auto => Self::Foundry,
            settled => settled,
        }
    }
}

/// `!!`, `!p`, `!>4`, or failures after a count: `>7f1`.
fn is_roll20(text: &str) -> bool {
    let counted_failures = text.as_bytes().windows(2).any(|pair| pair[0].is_ascii_digit() && pair[1] == b'f')
        && text.contains(['>', '<', '='])
        && !text.contains("df");
    text.contains("!!") || text.contains("!p") || text.contains("!>") || text.contains("!<") || counted_failures
}

/// `mi2`, `ma5`, `ra6`, `e6`, `ph1`, `pl1`.
fn is_avrae(text: &str) -> bool {
    let bytes = text.as_bytes();
    let has = |word: &str| {
        text.match_indices(word).any(|(at, _)| {
            bytes.get(at + word.len()).is_some_and(|next| next.is_ascii_digit() || *next == b'<' || *next == b'>')
        })
    };
    ["mi", "ma", "ra", "ph", "pl"].into_iter().any(has)
}
