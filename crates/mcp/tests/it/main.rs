//! What the MCP surface adds to the catalogue, over real sockets and pipes. One binary for all of it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod eras;
mod event_streams;
mod fuzz;
mod offers;
mod server;
mod sessions;
mod stdio;
mod subscriptions;
mod table;
mod tools;
