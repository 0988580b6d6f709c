//! List of the routes that need no token. Any other path needs a known caller, also where nothing is mounted.
//!
//! The answer to a CORS preflight needs none either, but it is given before any route is reached.

use axum::http::Method;

use crate::invitations::REDEEM;
use crate::protected_resource::{MCP_METADATA, METADATA};

/// Liveness: whether the process runs.
pub(crate) const HEALTH: &str = "/health";
/// Readiness: whether requests are accepted.
pub(crate) const READY: &str = "/ready";
/// Readiness again, at the path that MCP clients use.
pub(crate) const MCP_HEALTH: &str = "/mcp/health";

/// Every public route, by method and path. A `{name}` is one segment.
pub static PUBLIC_ROUTES: [(Method, &str); 22] = [
    (Method::GET, HEALTH),
    (Method::HEAD, HEALTH),
    (Method::GET, READY),
    (Method::HEAD, READY),
    (Method::GET, MCP_HEALTH),
    (Method::HEAD, MCP_HEALTH),
    (Method::POST, REDEEM),
    (Method::GET, METADATA),
    (Method::HEAD, METADATA),
    (Method::GET, MCP_METADATA),
    (Method::HEAD, MCP_METADATA),
    (Method::GET, "/assets/{name}"),
    (Method::HEAD, "/assets/{name}"),
    (Method::GET, "/sign-in"),
    (Method::HEAD, "/sign-in"),
    (Method::POST, "/sign-in"),
    (Method::GET, "/join"),
    (Method::HEAD, "/join"),
    (Method::POST, "/join"),
    (Method::GET, "/join/{code}"),
    (Method::HEAD, "/join/{code}"),
    // It sets a cookie with a colour, and reads nothing.
    (Method::POST, "/theme"),
];

pub fn is_public(method: &Method, path: &str) -> bool {
    PUBLIC_ROUTES.iter().any(|(public_method, template)| method == public_method && has_shape(path, template))
}

/// Whether a path is the template, or differs only in one whole last segment that is `{name}` there.
fn has_shape(path: &str, template: &str) -> bool {
    let Some((before, _)) = template.split_once('{') else { return path == template };
    path.strip_prefix(before).is_some_and(|segment| !segment.is_empty() && !segment.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_one_segment() {
        for path in ["/join", "/join/skaldinvite_x", "/assets/page.css", "/health"] {
            assert!(is_public(&Method::GET, path), "{path}");
        }
        for path in ["/join/", "/join/x/y", "/assets", "/assets/", "/assets/x/..", "/", "/c/x", "/joined"] {
            assert!(!is_public(&Method::GET, path), "{path}");
        }
        assert!(!is_public(&Method::POST, "/join/x") && !is_public(&Method::DELETE, "/sign-in"));
    }
}
