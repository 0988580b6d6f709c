//! Test helpers shared by several crates: HTTP client, SSE, stories, temporary folders.
//!
//! The HTTP client is deliberately plain: it adds no headers but `Host` and `Content-Length`, so that a test can act as
//! the sloppiest client there is.

mod client;
mod expectation;
pub mod mcp_messages;
mod sse;
pub mod story;
mod temporary_folder;

pub use client::{Client, Event, EventStream, Reply};
pub use sse::Frame;
pub use temporary_folder::TemporaryFolder;
