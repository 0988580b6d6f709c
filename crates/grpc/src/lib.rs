//! The gRPC surface: typed services, a gateway to the whole catalogue, and [`Remote`], the engine of a bridge.
//!
//! A service converts a message to the input of an operation and its answer to a message; it contains no game rules
//! and calls nothing but the engine. No other crate depends on tonic.

mod campaign_service;
mod connect_to_server;
mod connections;
mod convert;
mod duality_service;
mod fault;
mod gateway;
mod health;
mod identify;
mod message_budget;
mod metadata;
mod middleware;
pub mod proto;
mod remote;
mod serve;
mod service_context;
mod session_service;
mod watch_resource_changes;

pub use connect_to_server::server_version;
pub use health::GrpcHealth;
pub use identify::PUBLIC_METHODS;
pub use remote::{Bridge, Remote};
pub use serve::{GrpcOptions, MOUNTED_SERVICES, ServeError, serve};
