//! The rules of the table, one module per noun.
//!
//! Everything here is a function of its arguments. There is no clock, no source of randomness, no file and no network:
//! what a rule needs to know of the world is handed in, and what it decides is handed back.

pub mod access;
pub mod campaign;
pub mod decider;
pub mod dice;
pub mod gate;
pub mod id;
pub mod idempotency_key;
pub mod limits;
mod moment;
pub mod plain_text;
pub mod universe;
mod words;

pub use moment::Moment;
