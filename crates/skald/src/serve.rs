//! `skald serve` and `skald mcp`: wire the engine to the surfaces, and shut down gracefully.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow};
use skald_app::{Engine, LocalEngine, Principal, ToolsetFilter, limits};
use skald_http::{Access, Allowlist, Calls, Exposition, Readiness};
use skald_journal::StoreHealth;
use tokio_util::sync::CancellationToken;

use crate::arguments::{
    HttpArguments, LISTEN_OFF, McpArguments, ServeArguments, Switch, ToolNamesArgument, ToolsetArguments,
};
use crate::listen_addresses::{self, BoundListener, listen};
use crate::seal::{SealKey, seal_regularly};
use crate::{open_files_limit, open_store, output, signals};

const GRACE: Duration = Duration::from_secs(limits::SHUTDOWN_GRACE_SECONDS);

/// How long connections have to close once every answer has been given.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

pub(crate) async fn run_server(arguments: &ServeArguments) -> anyhow::Result<()> {
    let stopping = signals::cancel_on_signal()?;
    let exposition = install_metrics()?;
    let Some(local) = open_store::wait_for_engine(&arguments.store, &arguments.gate, &stopping).await? else {
        return Ok(());
    };
    let is_token_required = arguments.door.is_token_required();
    let listening = listen(&arguments.door.http_addr, listen_addresses::HTTP, Some(&local), is_token_required).await?;
    let grpc = match arguments.grpc_addr.as_str() {
        LISTEN_OFF => None,
        address => Some(listen(address, listen_addresses::GRPC, Some(&local), is_token_required).await?),
    };
    let options = mcp_options(&arguments.shown, Some(&arguments.door), stopping.clone());
    let (readiness, health) = (Readiness::default(), skald_grpc::GrpcHealth::new().await);
    tokio::spawn(watch_health(Arc::clone(&local), readiness.clone(), health.clone()));
    // Take the end of the journal before clients can subscribe, so that they miss no change.
    let (following, from) = (Arc::clone(&local), local.journal_end().await);
    tokio::spawn(async move { following.follow(from).await });
    if let Some(path) = &arguments.sealing.seal_key {
        let key = SealKey::read(path)?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let beside = || parent.unwrap_or(Path::new(".")).to_owned();
        let folder = arguments.sealing.seal_dir.clone().unwrap_or_else(beside);
        tokio::spawn(seal_regularly(Arc::clone(&local.app().journal), key, folder, stopping.clone()));
    }
    let grpc_address = grpc.as_ref().map(|grpc| grpc.listener.local_addr()).transpose()?;
    output::print_lines(&greeting(listening.listener.local_addr()?, grpc_address));

    let served = serve_http(
        HttpSurface { arguments: &arguments.door, listening, readiness },
        local.clone(),
        options,
        exposition,
    );
    let Some(grpc) = grpc else { return served.await };
    let grpc = serve_grpc(grpc, local, &arguments.shown, health, stopping.clone());
    // If one server fails, the other one ends too.
    tokio::try_join!(served, grpc).map(|((), ())| ())
}

pub(crate) fn install_metrics() -> anyhow::Result<Exposition> {
    let exposition = Exposition::install().map_err(anyhow::Error::from_boxed)?;
    tokio::spawn(exposition.clone().run_upkeep());
    Ok(exposition)
}

/// The arguments, listener and readiness of the HTTP server.
pub(crate) struct HttpSurface<'a> {
    pub arguments: &'a HttpArguments,
    pub listening: BoundListener,
    pub readiness: Readiness,
}

/// Serves MCP and REST over an engine until the server is asked to stop, and shuts down gracefully.
pub(crate) async fn serve_http(
    door: HttpSurface<'_>,
    engine: Arc<dyn Engine>,
    options: skald_mcp::McpOptions,
    exposition: Exposition,
) -> anyhow::Result<()> {
    let HttpSurface { arguments, listening: BoundListener { listener, is_token_required }, readiness } = door;
    open_files_limit::raise_limit();
    let (stopping, calls) = (options.stopping.clone(), Calls::default());
    let access = Access { engine: Arc::clone(&engine), is_token_required };
    let (mcp, drain) = skald_mcp::http_route(Arc::clone(&engine), &options);
    let routes =
        skald_http::routes(&engine, options.visible, &readiness, exposition, &calls).route(skald_mcp::PATH, mcp);
    let allowlist = Allowlist { hosts: arguments.allowed_hosts.clone(), origins: arguments.allowed_origins.clone() };
    tracing::info!(address = %listener.local_addr()?, "serving");

    // Calls in progress finish while the health pages already report that the server stops; then connections are
    // closed.
    let closing = CancellationToken::new();
    let end = async {
        stopping.cancelled().await;
        readiness.stop();
        tokio::join!(drain.finish(GRACE), calls.finish(GRACE));
        closing.cancel();
    };
    let served = skald_http::serve(listener, routes, allowlist, access, readiness.clone(), closing.clone());
    tokio::pin!(served);
    let ended = tokio::select! {
        ended = &mut served => Ok(ended),
        () = end => tokio::time::timeout(CLOSE_TIMEOUT, served).await,
    };
    if let Ok(served) = ended {
        served.context("the HTTP server failed")?;
    } else {
        tracing::warn!("connections were still open when the time to stop had passed");
    }
    tracing::info!("stopped");
    Ok(())
}

/// Serves gRPC until the server is asked to stop. Calls under way have as long as those over HTTP.
async fn serve_grpc(
    listening: BoundListener,
    engine: Arc<dyn Engine>,
    shown: &ToolsetArguments,
    health: skald_grpc::GrpcHealth,
    stopping: CancellationToken,
) -> anyhow::Result<()> {
    let options = skald_grpc::GrpcOptions {
        is_token_required: listening.is_token_required,
        visible: visible(shown),
        stopping: stopping.clone(),
    };
    let served = skald_grpc::serve(listening.listener, engine, options, &health, stopping.clone());
    let too_late = async {
        stopping.cancelled().await;
        health.set_serving(false).await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        served = served => Ok(served?),
        () = too_late => {
            tracing::warn!("gRPC calls were still under way when the time to stop had passed");
            Ok(())
        }
    }
}

pub(crate) async fn serve_stdio(arguments: &McpArguments) -> anyhow::Result<()> {
    let stopping = signals::cancel_on_signal()?;
    let local = open_store::open_engine(&arguments.store, &arguments.gate).await?;
    let options = mcp_options(&arguments.shown, None, stopping);
    let principal = match arguments.token.read()? {
        Some(token) => {
            let caller = local.authenticate(&token).await;
            caller.map_err(|fault| anyhow!("SKALD_TOKEN: {}", fault.body().message))?.principal
        }
        None => Principal::Owner,
    };
    let following = Arc::clone(&local);
    let from = local.journal_end().await;
    tokio::spawn(async move { following.follow(from).await });
    skald_mcp::serve_stdio(local, principal, &options).await?;
    Ok(())
}

/// Reports the store's health to `/ready` and `grpc.health.v1`.
async fn watch_health(local: Arc<LocalEngine>, readiness: Readiness, grpc: skald_grpc::GrpcHealth) {
    let mut health = local.app().journal.health();
    loop {
        let trouble = match &*health.borrow_and_update() {
            StoreHealth::Ready => None,
            StoreHealth::Unready(why) => Some(why.clone()),
        };
        if readiness.is_accepting_requests() {
            grpc.set_serving(trouble.is_none()).await;
        }
        readiness.set_store_error(trouble);
        if health.changed().await.is_err() {
            return;
        }
    }
}

fn visible(shown: &ToolsetArguments) -> ToolsetFilter {
    ToolsetFilter { toolsets: shown.toolsets, read_only: shown.read_only }
}

pub(crate) fn mcp_options(
    shown: &ToolsetArguments,
    door: Option<&HttpArguments>,
    stopping: CancellationToken,
) -> skald_mcp::McpOptions {
    skald_mcp::McpOptions {
        visible: visible(shown),
        tool_names: match shown.tool_names {
            ToolNamesArgument::Dotted => skald_mcp::ToolNameSpelling::Dotted,
            ToolNamesArgument::Underscore => skald_mcp::ToolNameSpelling::Underscore,
        },
        sessions: door.is_none_or(|door| door.sessions == Switch::On),
        stopping,
        ..skald_mcp::McpOptions::default()
    }
}

fn greeting(address: SocketAddr, grpc: Option<SocketAddr>) -> String {
    let grpc = grpc.map(|grpc| format!("gRPC     {grpc}\n  ")).unwrap_or_default();
    format!(
        "Skald {version} is ready.\n\n  \
         MCP      http://{address}/mcp\n  \
         REST     http://{address}/api/v1/openapi.json\n  \
         {grpc}\
         health   http://{address}/health  /ready  /metrics\n\n\
         Connect a client, for example:\n  \
         claude mcp add --transport http skald http://{address}/mcp\n\
         `skald doctor` prints the configuration of this and other clients. Ctrl-C stops.",
        version = env!("CARGO_PKG_VERSION"),
    )
}
