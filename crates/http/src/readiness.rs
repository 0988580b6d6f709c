//! Readiness of the server, for the health endpoint: stopping, or unable to store.

use std::sync::{Arc, Mutex, PoisonError};

use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use serde_json::json;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// Ready until `stop` or `set_store_error` is called. All clones share one state.
#[derive(Debug, Clone, Default)]
pub struct Readiness(Arc<ReadinessState>);

#[derive(Debug, Default)]
struct ReadinessState {
    stopping: CancellationToken,
    store_error: Mutex<Option<String>>,
}

impl Readiness {
    /// False once the server stops. Without a working store requests are still accepted, since reads may succeed.
    pub fn is_accepting_requests(&self) -> bool {
        !self.0.stopping.is_cancelled()
    }

    /// Makes the server unready for good, so that load balancers send requests elsewhere.
    pub fn stop(&self) {
        self.0.stopping.cancel();
    }

    /// Completes when the server stops. Endless answers, such as feeds, end with it.
    pub(crate) fn wait_until_stopped(&self) -> WaitForCancellationFutureOwned {
        self.0.stopping.clone().cancelled_owned()
    }

    /// Sets why nothing can be stored, in words for everybody; `None` when storing works again.
    pub fn set_store_error(&self, why: Option<String>) {
        *self.0.store_error.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }

    /// Why nothing can be stored right now.
    pub fn store_error(&self) -> Option<String> {
        self.0.store_error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn response(&self) -> impl IntoResponse + use<> {
        let store_error = self.store_error();
        let (status, body) = match (self.is_accepting_requests(), store_error) {
            (false, _) => (StatusCode::SERVICE_UNAVAILABLE, json!({"status": "stopping"})),
            (true, Some(why)) => (StatusCode::SERVICE_UNAVAILABLE, json!({"status": "unready", "reason": why})),
            (true, None) => (StatusCode::OK, json!({"status": "ready"})),
        };
        (status, [(CONTENT_TYPE, "application/json")], body.to_string())
    }
}
