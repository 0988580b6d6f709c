//! MCP resources of the dice noun: URIs for its texts and for odds, with the operations that read them.

use crate::{Resource, Toolset};

pub(super) fn resources() -> Vec<Resource> {
    vec![
        Resource {
            uri: "dice://rules/duality",
            name: "duality_rules",
            title: "The Duality rules",
            summary: "How Hope and Fear dice are rolled, judged and counted, as a text to read before play.",
            toolset: Toolset::Dice,
            mime_type: "text/markdown",
            operation: "duality_rules",
            fixed: None,
            listed: None,
        },
        Resource {
            uri: "dice://notation",
            name: "dice_notation",
            title: "Dice notation",
            summary: "What roll and odds read, with an example of each, and where the dialects differ.",
            toolset: Toolset::Dice,
            mime_type: "text/markdown",
            operation: "dice_notation",
            fixed: None,
            listed: None,
        },
        Resource {
            uri: "dice://duality/odds/{modifier}/{difficulty}",
            name: "duality_odds",
            title: "Odds of a Duality roll",
            summary: "Exact outcome counts for one modifier and one difficulty.",
            toolset: Toolset::Dice,
            mime_type: "application/json",
            operation: "duality_probability",
            fixed: None,
            listed: None,
        },
        Resource {
            uri: "dice://odds/{expression}",
            name: "odds",
            title: "Odds of an expression",
            summary: "Exact odds of any dice expression, percent-encoded as in any URI.",
            toolset: Toolset::Dice,
            mime_type: "application/json",
            operation: "odds",
            fixed: Some(("detail", "table")),
            listed: None,
        },
        Resource {
            uri: "dice://odds/{expression}/picture.svg",
            name: "odds_picture",
            title: "Odds as a picture",
            summary: "The same as a chart, or as a grid for a Duality roll.",
            toolset: Toolset::Dice,
            mime_type: "image/svg+xml",
            operation: "odds_picture",
            fixed: None,
            listed: None,
        },
    ]
}
