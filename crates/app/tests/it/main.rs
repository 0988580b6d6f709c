//! Tests of the catalogue and its operations, called as a surface calls them.

mod answer_budgets;
mod audit;
mod authorization_matrix;
mod campaign;
mod catalogue;
mod changes;
mod docs;
mod engine;
mod events;
mod gate;
mod guest_history;
mod hidden_parts;
mod hidden_runs;
mod input;
mod lore;
mod notation;
mod refusals;
mod reveals;
mod rolling;
mod secrets;
mod trackers;
mod universe;
mod universe_for_people;
mod universe_views;
