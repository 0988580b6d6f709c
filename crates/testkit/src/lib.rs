//! What tests of several rooms share.
//!
//! The HTTP client is deliberately plain: it sends exactly the headers it is told to, so that a test can be the sloppiest
//! client there is.

mod client;
mod expectation;
pub mod message;
mod sse;
pub mod story;
mod temporary_folder;

pub use client::{Client, Event, Events, Reply};
pub use sse::Frame;
pub use temporary_folder::TemporaryFolder;
