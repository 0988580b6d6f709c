//! Serves gRPC: builds the services and middleware, and listens.

use std::sync::Arc;
use std::time::Duration;

use skald_app::{Engine, LargeRequests, ToolsetFilter, limits};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tonic::server::NamedService;
use tonic::service::RoutesBuilder;
use tonic::transport::Server;

use crate::GrpcHealth;
use crate::campaign_service::CampaignHandlers;
use crate::connections::{GrpcConnectionLimits, incoming};
use crate::duality_service::DualityHandlers;
use crate::gateway::GatewayService;
use crate::health::service_name;
use crate::identify::IdentifyLayer;
use crate::middleware::RequestLimitsLayer;
use crate::proto;
use crate::proto::campaign::campaign_service_server::CampaignServiceServer;
use crate::proto::duality::duality_service_server::DualityServiceServer;
use crate::proto::session::session_service_server::SessionServiceServer;
use crate::proto::skald::gateway_server::GatewayServer;
use crate::service_context::ServiceContext;
use crate::session_service::SessionHandlers;

/// Every service with a health status; the empty name is the server as a whole.
pub(crate) const SERVICES: [&str; 5] = [
    "",
    service_name::<GatewayServer<GatewayService>>(),
    service_name::<CampaignServiceServer<CampaignHandlers>>(),
    service_name::<SessionServiceServer<SessionHandlers>>(),
    service_name::<DualityServiceServer<DualityHandlers>>(),
];

/// Every service that is mounted, in order. A test asks for each of their methods without a token.
pub const MOUNTED_SERVICES: [&str; 7] = [
    SERVICES[1],
    SERVICES[2],
    SERVICES[3],
    SERVICES[4],
    "grpc.health.v1.Health",
    "grpc.reflection.v1.ServerReflection",
    "grpc.reflection.v1alpha.ServerReflection",
];

/// HTTP/2 streams at once on one connection: each MCP session of a bridge keeps one open.
const STREAMS_MAX: u32 = 4_096;
/// Keep-alive interval and timeout: a client that is gone without closing is detected within twice this time.
const KEEP_ALIVE: Duration = Duration::from_secs(30);
/// The HTTP/2 window, large so that a large message does not wait for window updates.
const WINDOW_BYTES: u32 = 1 << 20;
/// How long one call may take, including the transfer of its message. Streams may last longer.
const CALL_MAX: Duration = Duration::from_mins(1);
/// The message limit of health and reflection, whose requests contain only names.
const SHORT_MESSAGE: usize = 4_096;
const MESSAGE_BYTES_MAX: usize = limits::BODY_BYTES_MAX;

/// The options of the gRPC surface.
#[derive(Debug, Clone)]
pub struct GrpcOptions {
    /// Whether a request without a token is refused. Set wherever others than the owner can reach the server.
    pub is_token_required: bool,
    /// The operations, resources and prompts that clients see.
    pub visible: ToolsetFilter,
    /// Cancelled when the server begins to stop: watch streams end then.
    pub stopping: CancellationToken,
}

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("what reflection tells cannot be read")]
    Reflection(#[source] tonic_reflection::server::Error),
    #[error("the thread for large requests cannot be started")]
    Thread(#[source] std::io::Error),
    #[error("the gRPC server failed")]
    Transport(#[source] tonic::transport::Error),
}

/// Serves until `closing` is cancelled and every answer that was begun has been sent.
pub async fn serve(
    listener: TcpListener,
    engine: Arc<dyn Engine>,
    options: GrpcOptions,
    health: &GrpcHealth,
    closing: CancellationToken,
) -> Result<(), ServeError> {
    let GrpcOptions { is_token_required, visible, stopping } = options;
    let large = LargeRequests::start().map_err(ServeError::Thread)?;
    let identify = IdentifyLayer { engine: Arc::clone(&engine), is_token_required };
    let ending = stopping.clone();
    let service_context = Arc::new(ServiceContext { engine, visible });
    let gateway = GatewayServer::new(GatewayService { service_context: Arc::clone(&service_context), stopping });
    let campaigns = CampaignServiceServer::new(CampaignHandlers(Arc::clone(&service_context)));
    let sessions = SessionServiceServer::new(SessionHandlers(Arc::clone(&service_context)));
    let duality = DualityServiceServer::new(DualityHandlers(service_context));
    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(proto::DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let (mut routes, mut mounted) = (RoutesBuilder::default(), Vec::new());
    macro_rules! mount {
        ($service:expr, $most:expr) => {{
            let service = $service.max_decoding_message_size($most);
            mounted.push(name_of(&service));
            routes.add_service(service);
        }};
    }
    mount!(gateway, MESSAGE_BYTES_MAX);
    mount!(campaigns, MESSAGE_BYTES_MAX);
    mount!(sessions, MESSAGE_BYTES_MAX);
    mount!(duality, MESSAGE_BYTES_MAX);
    mount!(health.service(), SHORT_MESSAGE);
    mount!(reflection().build_v1().map_err(ServeError::Reflection)?, SHORT_MESSAGE);
    mount!(reflection().build_v1alpha().map_err(ServeError::Reflection)?, SHORT_MESSAGE);
    debug_assert_eq!(mounted, MOUNTED_SERVICES);
    let incoming = incoming(listener, GrpcConnectionLimits::default());
    let served = Server::builder()
        .max_concurrent_streams(STREAMS_MAX)
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES * 4)
        .http2_keepalive_interval(Some(KEEP_ALIVE))
        .http2_keepalive_timeout(Some(KEEP_ALIVE))
        .timeout(CALL_MAX)
        // The first layer is the outermost.
        .layer(identify)
        .layer(RequestLimitsLayer { large })
        .add_routes(routes.routes())
        .serve_with_incoming_shutdown(incoming, closing.cancelled_owned());
    let farewell = async {
        ending.cancelled().await;
        health.set_serving(false).await;
        // Otherwise the shutdown would wait for open health watches.
        health.clear_statuses().await;
    };
    tokio::pin!(served);
    let served = tokio::select! {
        served = &mut served => served,
        () = farewell => served.await,
    };
    served.map_err(ServeError::Transport)
}

fn name_of<S: NamedService>(_: &S) -> &'static str {
    S::NAME
}
