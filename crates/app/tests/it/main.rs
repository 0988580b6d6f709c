//! The catalogue and its operations, called as a surface calls them.

mod catalogue;
mod changes;
mod docs;
mod engine;
mod gate;
mod input;
mod narrow;
mod notation;
mod universe;
