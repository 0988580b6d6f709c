//! Dice: seeded randomness, pools of dice, and the Duality rules of Daggerheart.
//!
//! Nothing here asks for entropy. A roll is a function of its seed, and the seed is in the answer.

mod duality;
mod duality_probability;
mod explain_duality;
pub mod notation;
pub mod odds;
mod pool;
mod random;
mod refusal;
mod roll_expression;
#[cfg(test)]
mod tests;

pub use duality::{DUALITY_SIDES, Judgement, Outcome, RULES_VERSION, RulesVersion, judge, roll_duality, rules_version};
pub use duality_probability::{OutcomeCount, Probability, probability};
pub use explain_duality::{Explanation, Intermediates, Step, StepCode, StepData, Verdict, explain};
pub use pool::{DiceSpec, PoolRoll, PoolRolls, roll_pools};
pub use random::{ALGORITHM, RandomReport, RandomRequest, Randomness, RollMode, Seed, SeedSource};
pub use refusal::DiceRefusal;
pub(crate) use roll_expression::count_dice;
pub use roll_expression::{DieState, DieThrow, RollResult, RolledPool, roll_notation};
