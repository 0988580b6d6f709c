//! The HTTP surface: REST and its OpenAPI description, health, metrics, and the middleware before every route.
//!
//! REST routes are rendered from the engine's catalogue. Other surfaces on HTTP pass their routes in; this crate does
//! not know them.

mod body_budget;
mod calls_in_progress;
mod connections;
mod fault;
mod feed_response;
mod host_and_origin;
mod identify;
mod invitations;
mod mounted_routes;
mod openapi;
mod page_routes;
mod prometheus_metrics;
mod protected_resource;
mod public_routes;
mod readiness;
mod route_handler;
mod routes;
mod serve;
mod sse;
mod write_timeout;

pub use calls_in_progress::Calls;
pub use fault::status;
pub use host_and_origin::Allowlist;
pub use identify::Access;
pub use mounted_routes::MountedRoutes;
pub use openapi::document as openapi;
pub use page_routes::{PageHooks, PageRoutes, RefusedPage};
pub use prometheus_metrics::Exposition;
pub use protected_resource::{ProtectedResource, mount_metadata};
pub use public_routes::{PUBLIC_ROUTES, is_public};
pub use readiness::Readiness;
pub use routes::routes;
pub use serve::serve;
