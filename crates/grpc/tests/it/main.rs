//! The gRPC surface, on a real socket: what the protocol adds to the operations.

mod gateway;
mod limits;
mod public_methods;
mod reflected;
mod server;
mod typed;
mod watching;
