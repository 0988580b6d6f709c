//! Tests of the journal's guarantees on every store, and of each store's failures.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod audit;
mod campaign_commands;
mod campaigns;
mod chaos;
mod evidence;
mod failing_store;
mod faulty_journal;
mod indexed_notes;
mod journal_port;
mod postgres;
mod postgres_tls;
mod processes;
mod search;
mod search_damage;
mod snapshots;
mod sqlite_files;
mod stream_commands;
mod tally;
mod test_stores;
