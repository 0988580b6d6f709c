//! Tests of the gRPC surface on a real socket.

mod gateway;
mod limits;
mod public_methods;
mod reflection;
mod secrecy;
mod server;
mod typed_services;
mod watch;
