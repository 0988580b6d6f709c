//! The domain rules, one module per noun, as pure functions.
//!
//! Everything here is a function of its arguments. There is no clock, no source of randomness, no file and no network:
//! what a rule needs to know is passed in, and what it decides is returned.

pub mod access;
pub mod campaign;
mod case_insensitive_enum;
pub mod deceptive_characters;
pub mod decider;
pub mod dice;
pub mod gate;
#[cfg(test)]
mod golden_files;
pub mod id;
pub mod idempotency_key;
pub mod limits;
pub mod lore;
mod moment;
pub mod text_fold;
pub mod universe;
pub mod visibility;

pub use moment::Moment;
