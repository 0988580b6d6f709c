//! The Kanka-compatible API: Kanka's routes, fields and errors over the lore of a campaign. It calls the engine and
//! translates; it decides nothing and stores nothing.

mod account;
mod assets;
mod campaigns;
mod dispatch;
mod engine_calls;
mod entities;
mod entity_json;
mod entity_tags;
mod envelope;
mod errors;
mod filters;
mod listed_rows;
mod mentions;
mod posts;
mod rate_limit;
mod request;
mod request_fields;
mod search;
mod tags;
mod typed_entities;
mod typed_fields;
mod unsupported_routes;

use std::sync::Arc;

use axum::extract::Request;
use axum::http::HeaderValue;
use axum::response::Response;
use axum::routing::{MethodRouter, any};
use skald_app::{Engine, RateClass, ToolsetFilter};

pub use self::dispatch::API_ROUTES;
use self::errors::ApiError;
use self::rate_limit::RequestAllowance;
use self::request::{ApiRequest, LoreFreshness};

/// Where the API is mounted, with everything below.
pub const API_PATH: &str = "/api/kanka";

/// How the surface behaves.
#[derive(Debug, Clone, Copy)]
pub struct ApiOptions {
    /// Which operations there are: without commands the API only reads.
    pub visible: ToolsetFilter,
}

/// What all requests share.
struct ApiContext {
    engine: Arc<dyn Engine>,
    visible: ToolsetFilter,
}

/// The handler for [`API_PATH`] and everything below. The `http` crate checks access and identifies the caller before
/// it; a request without a [`skald_app::Caller`] is refused.
pub fn api_handler(engine: Arc<dyn Engine>, options: &ApiOptions) -> MethodRouter {
    let context = Arc::new(ApiContext { engine, visible: options.visible });
    any(move |request: Request| {
        let context = Arc::clone(&context);
        async move { context.answer(request).await }
    })
}

impl ApiContext {
    async fn answer(&self, request: Request) -> Response {
        let caller = match request::caller(&request) {
            Ok(caller) => caller,
            Err(fault) => return ApiError::from(fault).into_response(),
        };
        let allowance = RequestAllowance::from(self.engine.take_rate(&caller, RateClass::Kanka));
        if allowance.is_refused() {
            return with_rate_limit(ApiError::too_many_requests(&allowance).into_response(), &allowance);
        }
        let response = match ApiRequest::parse(request, caller).await {
            Ok(request) => {
                let answered = self.dispatch(&request, &allowance).await;
                with_freshness(answered.unwrap_or_else(ApiError::into_response), request.freshness())
            }
            Err(error) => error.into_response(),
        };
        with_rate_limit(response, &allowance)
    }
}

/// Adds headers that say how fresh the lore of a linked campaign is. The body keeps Kanka's shape.
fn with_freshness(mut response: Response, freshness: Option<&LoreFreshness>) -> Response {
    let Some(freshness) = freshness else { return response };
    let headers = response.headers_mut();
    headers.insert("x-skald-stale", HeaderValue::from_static(if freshness.stale { "true" } else { "false" }));
    if let Some(Ok(synced_at)) = freshness.synced_at.as_deref().map(HeaderValue::from_str) {
        headers.insert("x-skald-synced-at", synced_at);
    }
    response
}

fn with_rate_limit(mut response: Response, allowance: &RequestAllowance) -> Response {
    let headers = response.headers_mut();
    headers.insert("x-ratelimit-limit", HeaderValue::from(allowance.limit));
    headers.insert("x-ratelimit-remaining", HeaderValue::from(allowance.remaining));
    response
}
