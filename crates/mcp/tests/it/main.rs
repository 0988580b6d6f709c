//! What the MCP surface adds to the catalogue, over real sockets and pipes. One binary for all of it.

mod eras;
mod fuzz;
mod offers;
mod server;
mod sessions;
mod stdio;
mod subscriptions;
mod table;
mod tools;
