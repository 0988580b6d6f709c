//! Refusals of rolls: the reason, the input field at fault, and a hint.

use crate::limits;

/// Each refusal names the field at fault by its JSON pointer, for every surface.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiceRefusal {
    #[error("duality dice must be between 1 and 12, {die} is {value}")]
    DualityDieOutOfRange { die: &'static str, value: i32 },
    #[error("difficulty must be non-negative, it is {value}")]
    DifficultyNegative { value: i32 },
    #[error("at least one die must be provided")]
    DiceMissing,
    #[error("dice must have positive sides and count, dice {index} is {count}d{sides}")]
    DiceNotPositive { index: usize, sides: i64, count: i64 },
    #[error("a die has at most {} sides, dice {index} has {sides}", limits::DIE_SIDES_MAX)]
    SidesTooMany { index: usize, sides: i64 },
    #[error("a call has at most {} dice specifications, this one has {given}", limits::DICE_SPECS_MAX)]
    SpecsTooMany { given: usize },
    #[error("a call rolls at most {} dice, this one wants {given}", limits::DICE_MAX)]
    DiceTooMany { given: i64 },
    #[error("an expression rolls at most {} dice, this one wants {given}", limits::DICE_MAX)]
    ExpressionTooManyDice { given: u64 },
    #[error("a roll has at most {} dice, with all that explode and are rolled again", limits::DICE_THROWN_MAX)]
    ExpressionTooManyThrown,
    #[error("{divisor} came to zero, and something is divided by it")]
    ExpressionDividesByZero { divisor: String },
    #[error("the numbers in this expression grow too large")]
    ExpressionTooLarge,
    #[error("a replay needs the seed of the roll it repeats")]
    SeedMissing,
}

impl DiceRefusal {
    /// The JSON pointer of the field at fault.
    pub fn pointer(&self) -> String {
        match self {
            Self::DualityDieOutOfRange { die, .. } => format!("/{die}"),
            Self::DifficultyNegative { .. } => "/difficulty".to_owned(),
            Self::DiceMissing | Self::SpecsTooMany { .. } | Self::DiceTooMany { .. } => "/dice".to_owned(),
            Self::DiceNotPositive { index, .. } => format!("/dice/{index}"),
            Self::SidesTooMany { index, .. } => format!("/dice/{index}/sides"),
            Self::ExpressionTooManyDice { .. }
            | Self::ExpressionTooManyThrown
            | Self::ExpressionDividesByZero { .. }
            | Self::ExpressionTooLarge => "/expression".to_owned(),
            Self::SeedMissing => "/rng/seed".to_owned(),
        }
    }

    /// The number at fault, if it is a number.
    pub fn value(&self) -> Option<i64> {
        match *self {
            Self::DualityDieOutOfRange { value, .. } | Self::DifficultyNegative { value } => Some(value.into()),
            Self::SidesTooMany { sides, .. } => Some(sides),
            Self::DiceTooMany { given } => Some(given),
            Self::SpecsTooMany { given } => i64::try_from(given).ok(),
            Self::DiceNotPositive { sides, count, .. } => Some(sides.min(count)),
            Self::ExpressionTooManyDice { given } => i64::try_from(given).ok(),
            Self::ExpressionTooManyThrown
            | Self::DiceMissing
            | Self::SeedMissing
            | Self::ExpressionDividesByZero { .. }
            | Self::ExpressionTooLarge => None,
        }
    }

    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::DualityDieOutOfRange { .. } => "Hope and Fear are d12s: send the numbers that the dice show, 1 to 12",
            Self::DifficultyNegative { .. } => "send 0 or more; a roll without a difficulty leaves it out",
            Self::DiceMissing => "send for example {\"dice\": [{\"sides\": 20, \"count\": 1}]}",
            Self::DiceNotPositive { .. } => "sides and count are whole numbers from 1",
            Self::SidesTooMany { .. } => "send a smaller die",
            Self::SpecsTooMany { .. } => "put dice of the same size into one specification, or call again for the rest",
            Self::DiceTooMany { .. } => "call again for the rest",
            Self::ExpressionTooManyDice { .. } => "roll its parts one by one",
            Self::ExpressionTooManyThrown => "roll fewer dice, or let fewer explode",
            Self::ExpressionDividesByZero { .. } => "divide by something that is never zero",
            Self::ExpressionTooLarge => "use smaller numbers",
            Self::SeedMissing => "send rng.seed (seed_used of the earlier answer), or leave rng out for a live roll",
        }
    }
}
