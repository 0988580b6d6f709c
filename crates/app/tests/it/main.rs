//! The catalogue and its operations, called as a surface calls them.

mod catalogue;
mod changes;
mod engine;
mod input;
mod notation;
mod universe;
