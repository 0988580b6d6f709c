//! The MCP surface: stdio and Streamable HTTP, for clients of every protocol revision.
//!
//! Everything of rmcp stays in this crate: an engine comes in, an axum router or a future goes out, and a new rmcp
//! touches nothing else. There is no rule of the game here and no tool written by hand: tools, resources, prompts and
//! completions are rendered from the engine's catalogue.

mod convert;
mod handler;
mod insert_rendered_json;
mod message_scan;
mod middleware;
mod png;
mod replaceable_stream;
mod request_parameters;
mod session;
mod skills;
mod stdio;
mod subscriptions;
mod tool_name_spelling;

use std::sync::Arc;
use std::time::Duration;

use axum::routing::MethodRouter;
use serde_json::Value;
use skald_app::{Engine, Principal, ToolsetFilter, limits};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use middleware::mount_with_scopes;
pub use middleware::{Drain, PATH, mount};
pub use stdio::StdioError;
pub use tool_name_spelling::ToolNameSpelling;

/// How the surface behaves.
#[derive(Debug, Clone)]
pub struct McpOptions {
    /// The most that a client sees; a request's headers can only narrow it.
    pub visible: ToolsetFilter,
    /// Whether clients before 2026-07-28 get sessions over HTTP. Without them they are served one request at a time.
    pub sessions: bool,
    pub sessions_max: usize,
    pub session_idle: Duration,
    /// How the dot in a tool name is written.
    pub tool_names: ToolNameSpelling,
    /// Cancelled when the server begins to stop, to end streams that would otherwise stay open.
    pub stopping: CancellationToken,
}

impl Default for McpOptions {
    fn default() -> Self {
        Self {
            visible: ToolsetFilter::EVERYTHING,
            sessions: true,
            sessions_max: limits::SESSIONS_MAX,
            session_idle: Duration::from_secs(limits::SESSION_IDLE_SECONDS),
            tool_names: ToolNameSpelling::default(),
            stopping: CancellationToken::new(),
        }
    }
}

/// The Streamable HTTP service for [`PATH`]. The `http` crate checks access and identifies the caller before it; a
/// request without a [`skald_app::Caller`] is refused.
pub fn http_route(engine: Arc<dyn Engine>, options: &McpOptions) -> (MethodRouter, Drain) {
    let shared = Arc::new(handler::HandlerContext::new(Arc::clone(&engine), options.clone()));
    mount_with_scopes(move || handler::Handler::over_http(Arc::clone(&shared)), options, Some(engine))
}

/// Serves one client, as this principal, over a pair of streams until its input ends or the server stops.
pub async fn serve(
    engine: Arc<dyn Engine>,
    principal: Principal,
    options: &McpOptions,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), StdioError> {
    stdio::serve(engine, principal, options, input, output).await
}

/// Serves one client, as this principal, over this process's standard input and output.
pub async fn serve_stdio(
    engine: Arc<dyn Engine>,
    principal: Principal,
    options: &McpOptions,
) -> Result<(), StdioError> {
    let (input, output) = rmcp::transport::io::stdio_pipes();
    serve(engine, principal, options, input, output).await
}

/// The tools as clients see them in `tools/list`, by name. The snapshots are made from it.
pub fn tools(engine: &dyn Engine) -> Vec<(String, Value)> {
    convert::tools(engine.catalogue(), ToolNameSpelling::default())
        .into_iter()
        .map(|tool| (tool.name.to_string(), serde_json::to_value(tool).expect("a tool is plain JSON")))
        .collect()
}
