//! Serves HTTP: puts the middleware before the routes, accepts connections, and shuts down gracefully.

use std::io;
use std::sync::Arc;

use skald_app::LargeRequests;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::body_budget::BodyBudget;
use crate::connections::{HttpConnectionLimits, accept};
use crate::host_and_origin::HostAndOriginCheck;
use crate::identify::{Access, IdentifyHttp};
use crate::mounted_routes::Section;
use crate::{Allowlist, MountedRoutes, Readiness};

/// Serves until `closing` is cancelled and every answer under way has been sent. Once `readiness` is stopped, only
/// health and metrics are answered.
pub async fn serve(
    listener: TcpListener,
    routes: MountedRoutes,
    allowlist: Allowlist,
    access: Access,
    readiness: Readiness,
    closing: CancellationToken,
) -> io::Result<()> {
    tracing::debug!(paths = routes.paths().join(" "), "routes mounted");
    let sections: Arc<[Section]> = routes.sections().into();
    let no_pages = routes.segments_of_no_section();
    let routes = BodyBudget::new(routes.into_router(), LargeRequests::start()?);
    let service = HostAndOriginCheck::new(
        IdentifyHttp::new(routes, access, Arc::clone(&sections)),
        &sections,
        no_pages,
        allowlist,
        readiness,
    );
    accept(listener, service, HttpConnectionLimits::default(), closing).await
}
