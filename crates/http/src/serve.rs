//! Listening.

use std::io;
use std::time::Duration;

use app::limits;
use axum::serve::ListenerExt;
use axum::{Router, ServiceExt};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::door::Door;
use crate::identify::{Access, Identify};
use crate::patience::PatientListener;
use crate::{Allowlist, Readiness};

/// Serves until `closing` is cancelled and every answer that was begun has been sent. Once it is not ready, only those
/// who ask for its health are answered.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    allowlist: Allowlist,
    access: Option<Access>,
    readiness: Readiness,
    closing: CancellationToken,
) -> io::Result<()> {
    // An answer in several small writes waits 40 ms for the client's acknowledgement otherwise.
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY could not be set");
        }
    });
    let listener = PatientListener::new(listener, Duration::from_secs(limits::STALLED_SECONDS));
    let service = ServiceExt::into_make_service(Door::new(Identify::new(router, access), allowlist, readiness));
    axum::serve(listener, service).with_graceful_shutdown(closing.cancelled_owned()).await
}
