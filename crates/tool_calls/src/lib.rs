//! What a coding agent's tool call does: its strings, the shell commands in them, and the patterns that allow or deny it.
//!
//! The gate's rules and the gate's hook both read tool calls through this crate, so that they cannot disagree. It opens no
//! file and runs nothing.

mod permissions;
pub mod shell;
pub mod tool_call;

pub use permissions::{Permission, ToolPermissions};
