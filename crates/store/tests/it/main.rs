//! Tests of the journal's guarantees on every store, and of each store's failures.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod campaigns;
mod chaos;
mod commands;
mod evidence;
mod faulty;
mod files;
mod outcomes;
mod postgres;
mod private;
mod processes;
mod promises;
mod snapshots;
mod tally;
mod test_stores;
mod turns;
