//! The dice noun: Duality rolls and judgements, pools and expressions, exact odds, texts to read, and a prompt about odds.

mod duality;
mod explain_odds;
mod odds;
mod picture;
mod pool;
mod roll;
mod rules;
mod weigh;

use domain::dice::DiceRefusal;

use crate::{Code, Entry, Fault, PromptEntry, Resource, Toolset};

pub(crate) fn operations() -> Vec<Entry> {
    vec![
        Entry::of::<duality::DualityRulesVersion>(),
        Entry::of::<duality::DualityActionRoll>(),
        Entry::of::<duality::DualityOutcome>(),
        Entry::of::<duality::DualityExplain>(),
        Entry::of::<duality::DualityProbability>(),
        Entry::of::<pool::RollDice>(),
        Entry::of::<roll::Roll>(),
        Entry::of::<odds::Odds>(),
        Entry::of::<picture::OddsPicture>(),
        Entry::of::<rules::DualityRules>(),
        Entry::of::<rules::DiceNotation>(),
    ]
}

pub(crate) fn resources() -> Vec<Resource> {
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
            fixed: None,
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

pub(crate) fn prompts() -> Vec<PromptEntry> {
    vec![PromptEntry::of::<explain_odds::ExplainOdds>()]
}

impl From<DiceRefusal> for Fault {
    fn from(refusal: DiceRefusal) -> Self {
        let code = match refusal {
            DiceRefusal::DualityDieOutOfRange { .. }
            | DiceRefusal::DifficultyNegative { .. }
            | DiceRefusal::DiceMissing
            | DiceRefusal::DiceNotPositive { .. }
            | DiceRefusal::SidesTooMany { .. }
            | DiceRefusal::SpecsTooMany { .. }
            | DiceRefusal::DiceTooMany { .. }
            | DiceRefusal::ExpressionTooManyDice { .. }
            | DiceRefusal::ExpressionTooManyThrown
            | DiceRefusal::ExpressionDividesByZero { .. }
            | DiceRefusal::ExpressionTooLarge
            | DiceRefusal::SeedMissing => Code::InvalidParams,
        };
        let fault = Fault::new(code, refusal.to_string()).at(refusal.pointer()).hint(refusal.hint());
        match refusal.value() {
            Some(value) => fault.value(&value.into()),
            None => fault,
        }
    }
}
