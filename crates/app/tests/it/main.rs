//! Tests of the catalogue and its operations, called as a surface calls them.

mod catalogue;
mod changes;
mod docs;
mod engine;
mod gate;
mod input;
mod notation;
mod rolling;
mod universe;
mod universe_views;
