//! `skald serve` and `skald mcp`: wire the engine to the surfaces, and shut down gracefully.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow};
use skald_app::{
    Engine, FaultShape, LocalEngine, Principal, RateFigures, RequestOrigin, RequestSurface, ToolsetFilter, limits,
};
use skald_http::{Access, Allowlist, Calls, Exposition, PageHooks, PageRoutes, ProtectedResource, Readiness};
use skald_journal::StoreHealth;
use skald_oauth::{JwtVerifier, OauthOptions};
use skald_page::PublicUrl;
use tokio_util::sync::CancellationToken;

use crate::arguments::{
    AccessArguments, HttpArguments, LISTEN_OFF, McpArguments, ServeArguments, Switch, ToolNamesArgument,
    ToolsetArguments,
};
use crate::audit::AuditTask;
use crate::client_configurations::StdioCommand;
use crate::connect_snippets::SnippetSource;
use crate::listen_addresses::{self, BoundListener, listen};
use crate::reachable_server::{ReachableServer, host_text};
use crate::seal::{SealKey, seal_regularly};
use crate::serve_banner::ServeBanner;
use crate::{open_files_limit, open_store, output, signals};

const GRACE: Duration = Duration::from_secs(limits::SHUTDOWN_GRACE_SECONDS);

/// Interval of counting the nodes on the same store. Until the others count again, a new node adds its share to the limits.
const NODE_COUNT_INTERVAL: Duration = Duration::from_secs(2);

/// How long connections have to close once every answer has been given.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

pub(crate) async fn run_server(arguments: &ServeArguments) -> anyhow::Result<()> {
    let stopping = signals::cancel_on_signal()?;
    let exposition = install_metrics()?;
    let Some(local) = open_store::wait_for_engine(&arguments.store, &arguments.gate, &stopping).await? else {
        return Ok(());
    };
    let protected_resource = arguments.access.protected_resource()?;
    // Where people sign in elsewhere, a proxy stands before the server.
    let is_token_required = arguments.http_arguments.address.is_token_required() || protected_resource.is_some();
    let listening =
        listen(&arguments.http_arguments.address.http_addr, listen_addresses::HTTP, Some(&local), is_token_required)
            .await?;
    let grpc = match arguments.grpc_addr.as_str() {
        LISTEN_OFF => None,
        address => Some(listen(address, listen_addresses::GRPC, Some(&local), is_token_required).await?),
    };
    let options = mcp_options(&arguments.toolset_arguments, Some(&arguments.http_arguments), stopping.clone());
    let (readiness, health) = (Readiness::default(), skald_grpc::GrpcHealth::new().await);
    tokio::spawn(watch_health(Arc::clone(&local), readiness.clone(), health.clone()));
    // Take the end of the journal before clients can subscribe, so that they miss no change.
    let (following, from) = (Arc::clone(&local), local.journal_end().await);
    tokio::spawn(async move { following.follow(from).await });
    let audit = start_access(&local, &arguments.access, &arguments.http_arguments)?;
    share_rate_limits(&local).await;
    tokio::spawn(skald_app::mirror_linked_campaigns(Arc::clone(&local), stopping.clone()));
    if let Some(path) = &arguments.sealing.seal_key {
        let key = SealKey::read(path)?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let beside = || parent.unwrap_or(Path::new(".")).to_owned();
        let folder = arguments.sealing.seal_dir.clone().unwrap_or_else(beside);
        tokio::spawn(seal_regularly(Arc::clone(&local.app().journal), key, folder, stopping.clone()));
    }
    let grpc_address = grpc.as_ref().map(|grpc| grpc.listener.local_addr()).transpose()?;
    let server_names = arguments.http_arguments.server_names(listening.is_token_required);
    let banner = ServeBanner {
        http: listening.listener.local_addr()?,
        grpc: grpc_address,
        public_url: arguments.http_arguments.public_url.as_ref(),
        allowed_hosts: &server_names,
        is_token_required: listening.is_token_required,
        store: open_store::describe_store(&arguments.store)?,
    };
    output::print_lines(&banner.render());

    let named_store = arguments.store.store.as_deref().map(open_store::absolute_address);
    let stdio_command = StdioCommand::new(&own_binary(), named_store.as_deref());
    let served = serve_http(
        HttpSurface { arguments: &arguments.http_arguments, listening, readiness, protected_resource, stdio_command },
        local.clone(),
        options,
        exposition,
    );
    let ended = match grpc {
        None => served.await,
        Some(grpc) => {
            let grpc = serve_grpc(grpc, local, &arguments.toolset_arguments, health, stopping.clone());
            // If one server fails, the other one ends too.
            tokio::try_join!(served, grpc).map(|((), ())| ())
        }
    };
    audit.finish().await;
    ended
}

/// Sets the rate limits of an engine and whose access tokens it accepts, and starts its audit log.
fn start_access(
    local: &Arc<LocalEngine>,
    arguments: &AccessArguments,
    door: &HttpArguments,
) -> anyhow::Result<AuditTask> {
    if let Some(resource) = arguments.protected_resource()? {
        let options = OauthOptions {
            issuer: resource.issuer.clone(),
            jwks: arguments.oauth_jwks.clone(),
            audiences: resource.audiences(),
        };
        let verifier = JwtVerifier::new(&options).map_err(|why| anyhow!("--oauth-issuer or --oauth-jwks: {why}"))?;
        local.app().set_access_token_verifier(Arc::new(verifier));
    }
    local.app().rate_limits.set_figures(RateFigures {
        calls: Some(arguments.limit_calls),
        reads: Some(arguments.limit_reads),
        lists: Some(arguments.limit_lists),
        page: Some(arguments.limit_page),
        kanka: Some(door.kanka_rate_limit),
    });
    Ok(AuditTask::start(local, arguments))
}

/// Joins the nodes on the same store, which share the rate limits, and counts them now and then. A process that only its
/// owner calls does not join: it limits nobody.
async fn share_rate_limits(local: &Arc<LocalEngine>) {
    // Count before the first request: this node must not begin with the whole of each figure.
    if tokio::time::timeout(NODE_COUNT_INTERVAL, count_nodes(local)).await.is_err() {
        tracing::debug!("the nodes could not be counted in time");
    }
    let local = Arc::clone(local);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(NODE_COUNT_INTERVAL).await;
            count_nodes(&local).await;
        }
    });
}

async fn count_nodes(local: &LocalEngine) {
    match local.app().journal.count_nodes().await {
        Ok(nodes) => local.app().rate_limits.set_nodes(nodes),
        Err(error) => tracing::debug!(%error, "the nodes cannot be counted right now"),
    }
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
    pub protected_resource: Option<ProtectedResource>,
    /// How a client on this machine starts Skald on the same store, for the page to show.
    pub stdio_command: StdioCommand,
}

/// Serves MCP and REST over an engine until the server is asked to stop, and shuts down gracefully.
pub(crate) async fn serve_http(
    http_surface: HttpSurface<'_>,
    engine: Arc<dyn Engine>,
    options: skald_mcp::McpOptions,
    exposition: Exposition,
) -> anyhow::Result<()> {
    let HttpSurface { arguments, listening, readiness, protected_resource, stdio_command } = http_surface;
    let BoundListener { listener, is_token_required } = listening;
    open_files_limit::raise_limit();
    let (stopping, calls) = (options.stopping.clone(), Calls::default());
    let protected_resource = protected_resource.map(Arc::new);
    let access =
        Access { engine: Arc::clone(&engine), is_token_required, protected_resource: protected_resource.clone() };
    let (mcp, drain) = skald_mcp::http_route(Arc::clone(&engine), &options);
    let kanka = skald_kanka::ApiOptions { visible: options.visible };
    let kanka = skald_kanka::api_handler(Arc::clone(&engine), &kanka);
    let reachable = ReachableServer::new(listener.local_addr()?, &arguments.address.allowed_hosts, is_token_required);
    let snippets = SnippetSource { stdio: stdio_command, server: reachable };
    let routes = skald_http::routes(&engine, options.visible, &readiness, exposition, &calls)
        .route(skald_mcp::PATH, mcp)
        .subtree("kanka", skald_kanka::API_PATH, FaultShape::StatusAndSentence, &calls, kanka)
        .page(page_routes(&engine, &options, snippets, arguments.public_url.clone(), &readiness), &calls);
    let routes = skald_http::mount_metadata(routes, protected_resource.as_deref());
    // The address that the server listens on is its own name. A page of another site cannot have it for its name.
    let own_address = Some(listener.local_addr()?.ip()).filter(|address| !address.is_unspecified());
    let names = arguments.server_names(is_token_required).into_iter();
    let hosts = names.chain(own_address.map(host_text)).collect();
    let allowlist = Allowlist { hosts, origins: arguments.allowed_origins.clone() };
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

/// The web page, with its errors and cookies.
fn page_routes(
    engine: &Arc<dyn Engine>,
    options: &skald_mcp::McpOptions,
    snippets: SnippetSource,
    public_url: Option<PublicUrl>,
    readiness: &Readiness,
) -> PageRoutes {
    let readiness = readiness.clone();
    let options = skald_page::PageOptions {
        visible: options.visible,
        connections: Arc::new(move |request| snippets.connections(request)),
        public_url,
        store_trouble: Arc::new(move || readiness.store_error()),
        stopping: options.stopping.clone(),
    };
    let hooks = PageHooks {
        render_fault: |refused, fault| {
            skald_page::render_refused(refused.status, fault, (refused.method, refused.uri), refused.headers)
        },
        session_secret: skald_page::session_secret,
    };
    let skald_page::PageRouteList { routes, unknown_address } = skald_page::page_routes(Arc::clone(engine), options);
    PageRoutes { routes, unknown_address, hooks }
}

/// The path of this program.
pub(crate) fn own_binary() -> PathBuf {
    std::env::current_exe().unwrap_or_else(|_| "skald".into())
}

/// Serves gRPC until the server is asked to stop. Calls under way have as long as those over HTTP.
async fn serve_grpc(
    listening: BoundListener,
    engine: Arc<dyn Engine>,
    toolset_arguments: &ToolsetArguments,
    health: skald_grpc::GrpcHealth,
    stopping: CancellationToken,
) -> anyhow::Result<()> {
    let options = skald_grpc::GrpcOptions {
        is_token_required: listening.is_token_required,
        visible: toolset_filter(toolset_arguments),
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
    let options = mcp_options(&arguments.toolset_arguments, None, stopping.clone());
    note_on_terminal(&open_store::describe_store(&arguments.store)?);
    let audit = start_access(&local, &arguments.access, &arguments.http_arguments)?;
    let principal = match arguments.token.read()? {
        Some(token) => {
            let origin = RequestOrigin { surface: RequestSurface::Mcp, address: None };
            match local.authenticate_request(&token, origin).await {
                Ok(caller) => {
                    share_rate_limits(&local).await;
                    caller.principal
                }
                Err(fault) => {
                    // The audit log has the refusal.
                    audit.finish().await;
                    return Err(anyhow!("SKALD_TOKEN: {}", fault.body().message));
                }
            }
        }
        None => Principal::Owner,
    };
    let following = Arc::clone(&local);
    let from = local.journal_end().await;
    tokio::spawn(async move { following.follow(from).await });
    tokio::spawn(skald_app::mirror_linked_campaigns(Arc::clone(&local), stopping));
    let served = skald_mcp::serve_stdio(local, principal, &options).await;
    audit.finish().await;
    Ok(served?)
}

/// Reports the store's health to `/ready` and `grpc.health.v1`.
async fn watch_health(local: Arc<LocalEngine>, readiness: Readiness, grpc: skald_grpc::GrpcHealth) {
    let mut health = local.app().journal.health();
    loop {
        let trouble = match &*health.borrow_and_update() {
            StoreHealth::Ready => None,
            // Everybody may ask, so causes are only in the log: they name files and hosts.
            StoreHealth::Unready(_) => Some("the store cannot be written; the log of the server says why".to_owned()),
            StoreHealth::Damaged => {
                Some("the file is damaged: what is whole can be read, nothing is written; restore a backup".to_owned())
            }
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

fn toolset_filter(toolset_arguments: &ToolsetArguments) -> ToolsetFilter {
    ToolsetFilter { toolsets: toolset_arguments.toolsets, read_only: toolset_arguments.read_only }
}

pub(crate) fn mcp_options(
    toolset_arguments: &ToolsetArguments,
    http_arguments: Option<&HttpArguments>,
    stopping: CancellationToken,
) -> skald_mcp::McpOptions {
    skald_mcp::McpOptions {
        visible: toolset_filter(toolset_arguments),
        tool_names: match toolset_arguments.tool_names {
            ToolNamesArgument::Dotted => skald_mcp::ToolNameSpelling::Dotted,
            ToolNamesArgument::Underscore => skald_mcp::ToolNameSpelling::Underscore,
        },
        sessions: http_arguments.is_none_or(|http_arguments| http_arguments.sessions == Switch::On),
        stopping,
        ..skald_mcp::McpOptions::default()
    }
}

/// Tells a person who started `skald mcp` in a terminal what it waits for. A client's standard input is a pipe.
pub(crate) fn note_on_terminal(world: &str) {
    if std::io::stdin().is_terminal() {
        output::print_note(&format!(
            "skald mcp waits for an MCP client: it speaks JSON on standard input and output, and clients start it themselves.\n\
             The world: {world}\n\
             `skald doctor` prints the configuration for your client. Ctrl-D ends this."
        ));
    }
}
