//! The gRPC surface: typed services for programs, a gateway to the whole catalogue, and [`Remote`], the engine that a
//! bridge has in place of a local one.
//!
//! A service converts a message to the input of an operation and its answer to a message; no rule of the game and no
//! second way to do anything stands here. All that is tonic's stays in this room.

mod campaign;
mod client;
mod connections;
mod convert;
mod desk;
mod duality;
mod fault;
mod gateway;
mod health;
mod identify;
mod manners;
mod message_budget;
mod metadata;
pub mod proto;
mod remote;
mod serve;
mod session;
mod watch;

pub use client::describe;
pub use health::Health;
pub use identify::PUBLIC_METHODS;
pub use remote::{Bridge, Remote};
pub use serve::{Options, ServeError, serve};
