//! Analyses the tool calls of coding agents: their strings, shell commands, and the patterns that allow or deny them.
//!
//! The gate's rules and the gate's hook both read tool calls through this crate, so that they cannot disagree. It opens
//! no file and runs nothing.

pub mod call_strings;
mod permissions;
pub mod shell;

pub use permissions::{Permission, ToolPermissions};
