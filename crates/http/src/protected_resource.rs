//! OAuth: the metadata of this protected resource (RFC 9728), and the challenges that lead clients to it.

use axum::http::header::{CACHE_CONTROL, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use serde_json::json;
use skald_app::{Code, Fault, FaultShape, TokenScope};

use crate::routes::json_response;
use crate::{MountedRoutes, fault};

/// Where clients look for the metadata.
pub(crate) const METADATA: &str = "/.well-known/oauth-protected-resource";
/// The same of the resource `/mcp`: the path follows.
pub(crate) const MCP_METADATA: &str = "/.well-known/oauth-protected-resource/mcp";
const MCP_PATH: &str = "/mcp";

/// This server as an authorization server knows it.
#[derive(Debug, Clone)]
pub struct ProtectedResource {
    /// The URL under which clients reach the server, without a path and a slash at the end.
    pub url: String,
    /// The authorization server.
    pub issuer: String,
}

impl ProtectedResource {
    /// The audiences that name this server: the server, and its MCP endpoint.
    pub fn audiences(&self) -> Vec<String> {
        vec![self.url.clone(), format!("{}/", self.url), format!("{}{MCP_PATH}", self.url)]
    }

    fn metadata(&self, path: &str) -> Response {
        let document = json!({
            "resource": format!("{}{path}", self.url),
            "resource_name": "Skald",
            "authorization_servers": [self.issuer],
            "scopes_supported": TokenScope::ALL.map(TokenScope::oauth_name),
            "bearer_methods_supported": ["header"],
        });
        let mut response = json_response(vec![document.to_string().into()]);
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("max-age=300"));
        response
    }

    /// Adds to a refusal where the client finds the authorization server.
    pub(crate) fn complete_challenge(&self, response: &mut Response, path: &str, is_token_sent: bool) {
        let Some(begun) = response.headers().get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok()) else {
            return;
        };
        let is_mcp = path == MCP_PATH || path.starts_with("/mcp/");
        let metadata = format!("{}{}", self.url, if is_mcp { MCP_METADATA } else { METADATA });
        let about = match (response.status(), is_token_sent) {
            (StatusCode::UNAUTHORIZED, true) => " error=\"invalid_token\",".to_owned(),
            (StatusCode::UNAUTHORIZED, false) => format!(" scope=\"{}\",", TokenScope::Read.oauth_name()),
            _ => begun.strip_prefix("Bearer").map(|rest| format!("{rest},")).unwrap_or_default(),
        };
        if let Ok(value) = HeaderValue::try_from(format!("Bearer{about} resource_metadata=\"{metadata}\"")) {
            response.headers_mut().insert(WWW_AUTHENTICATE, value);
        }
    }
}

/// Mounts the metadata. Where no authorization server is configured, there are none.
pub fn mount_metadata(routes: MountedRoutes, resource: Option<&ProtectedResource>) -> MountedRoutes {
    let of_path = |path: &'static str| -> MethodRouter {
        let resource = resource.cloned();
        get(async move || match &resource {
            Some(resource) => resource.metadata(path),
            None => no_metadata().into_response(),
        })
    };
    routes.mount(METADATA, of_path("")).mount(MCP_METADATA, of_path(MCP_PATH))
}

fn no_metadata() -> Response {
    let fault = Fault::new(Code::NotFound, "this server knows no authorization server");
    fault::response(FaultShape::Object, &fault.hint("send Authorization: Bearer with a token of skald token create"))
}
