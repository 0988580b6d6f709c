//! The HTTP surface: REST and its OpenAPI description, health, metrics, and the door before every route.
//!
//! REST routes are renderings of the engine's catalogue. Other surfaces that live on HTTP hand their router in; this room
//! does not know them.

mod body_budget;
mod calls;
mod connections;
mod door;
mod fault;
mod health;
mod identify;
mod metering;
mod openapi;
mod routes;
mod serve;
mod universes;
mod write_timeout;

pub use calls::Calls;
pub use door::Allowlist;
pub use fault::status;
pub use health::Readiness;
pub use identify::Access;
pub use metering::Exposition;
pub use openapi::document as openapi;
pub use routes::router;
pub use serve::serve;
