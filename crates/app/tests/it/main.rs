//! Tests of the catalogue and its operations, called as a surface calls them.

mod campaign;
mod catalogue;
mod changes;
mod docs;
mod engine;
mod gate;
mod input;
mod notation;
mod trackers;
mod universe;
mod universe_for_people;
mod universe_views;
