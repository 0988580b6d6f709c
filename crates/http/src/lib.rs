//! The HTTP surface: REST and its OpenAPI description, health, metrics, and the door before every route.
//!
//! REST routes are renderings of the engine's catalogue. Other surfaces that live on HTTP hand their routes in; this room
//! does not know them.

mod body_budget;
mod calls;
mod connections;
mod door;
mod events;
mod fault;
mod health;
mod identify;
mod metering;
mod mounted_routes;
mod openapi;
mod public_routes;
mod route_handler;
mod routes;
mod serve;
mod sse;
mod write_timeout;

pub use calls::Calls;
pub use door::Allowlist;
pub use fault::status;
pub use health::Readiness;
pub use identify::Access;
pub use metering::Exposition;
pub use mounted_routes::MountedRoutes;
pub use openapi::document as openapi;
pub use public_routes::PUBLIC_ROUTES;
pub use routes::routes;
pub use serve::serve;
