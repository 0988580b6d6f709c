//! List of the routes that need no token. Any other path needs a known caller, also where nothing is mounted.
//!
//! The answer to a CORS preflight needs none either, but it is given before any route is reached.

use axum::http::Method;

/// Liveness: whether the process runs.
pub(crate) const HEALTH: &str = "/health";
/// Readiness: whether requests are accepted.
pub(crate) const READY: &str = "/ready";
/// Readiness again, at the path that MCP clients use.
pub(crate) const MCP_HEALTH: &str = "/mcp/health";

/// Every public route, by exact method and path.
pub static PUBLIC_ROUTES: [(Method, &str); 6] = [
    (Method::GET, HEALTH),
    (Method::HEAD, HEALTH),
    (Method::GET, READY),
    (Method::HEAD, READY),
    (Method::GET, MCP_HEALTH),
    (Method::HEAD, MCP_HEALTH),
];

pub(crate) fn is_public(method: &Method, path: &str) -> bool {
    PUBLIC_ROUTES.iter().any(|(public_method, public_path)| path == *public_path && method == public_method)
}
