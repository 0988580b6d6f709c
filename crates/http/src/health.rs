//! Whether the server lives, and whether it takes requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;

/// Ready until told otherwise. All clones share one answer.
#[derive(Debug, Clone)]
pub struct Readiness(Arc<AtomicBool>);

impl Default for Readiness {
    fn default() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }
}

impl Readiness {
    pub fn is_ready(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// From now on, whoever balances load should look elsewhere.
    pub fn stop(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    pub(crate) fn answer(&self) -> impl IntoResponse + use<> {
        let (status, word) =
            if self.is_ready() { (StatusCode::OK, "ready") } else { (StatusCode::SERVICE_UNAVAILABLE, "stopping") };
        (status, [(CONTENT_TYPE, "application/json")], format!("{{\"status\":\"{word}\"}}"))
    }
}
