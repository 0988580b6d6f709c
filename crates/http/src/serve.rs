//! Everything between the listener and the routes.

use std::io;

use app::LargeRequests;
use axum::Router;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::body_budget::BodyBudget;
use crate::connections::{ConnectionLimits, accept};
use crate::door::Door;
use crate::identify::{Access, Identify};
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
    let service =
        Door::new(Identify::new(BodyBudget::new(router, LargeRequests::start()?), access), allowlist, readiness);
    accept(listener, service, ConnectionLimits::default(), closing).await
}
