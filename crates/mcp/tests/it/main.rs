//! Tests of the MCP surface over real sockets and pipes, all in one binary.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod eras;
mod event_streams;
mod fuzz;
mod offers;
mod request_cases;
mod server;
mod sessions;
mod skills;
mod stdio;
mod subscriptions;
mod tools;
mod toy_noun;
