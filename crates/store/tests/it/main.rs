//! The promises of the journal, kept by every store, and what each does when something breaks.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod campaigns;
mod chaos;
mod commands;
mod evidence;
mod faulty;
mod files;
mod outcomes;
mod places;
mod postgres;
mod private;
mod processes;
mod promises;
mod snapshots;
mod tally;
mod turns;
