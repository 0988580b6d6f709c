//! `skald mcp --addr`: a bridge, the same MCP server over the engine of another server.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use skald_app::{Code, Engine, Principal};
use skald_grpc::{Bridge, Remote};
use skald_http::Readiness;
use tokio::net::TcpStream;

use crate::arguments::McpArguments;
use crate::client_configurations::StdioCommand;
use crate::listen_addresses::{self, listen};
use crate::running_server::find_http_version;
use crate::serve::{HttpSurface, install_metrics, mcp_options, note_on_terminal, own_binary, serve_http};
use crate::{open_store, output, signals};

/// Pause before the token is checked again at a server that gave no answer.
const RETRY_DELAY: Duration = Duration::from_secs(1);

pub(crate) async fn serve_mcp_stdio(address: &str, arguments: &McpArguments) -> anyhow::Result<()> {
    let options = mcp_options(&arguments.toolset_arguments, None, signals::cancel_on_signal()?);
    let remote = connect(address)?;
    note_on_terminal(&format!("that of the server at {address}"));
    let token = arguments.token.read()?;
    let principal = token.as_deref().map_or(Principal::Owner, Remote::unverified_holder);
    // Serve the client before the server is connected, so that a client that leaves is noticed at once.
    let served = skald_mcp::serve_stdio(remote.clone(), principal, &options);
    let outcome = tokio::select! {
        served = served => served.map_err(anyhow::Error::from),
        refused = wait_for_refusal(&remote, address, token.as_deref()) => Err(refused),
        wrong_port = wait_for_http_port(address) => Err(wrong_port),
    };
    remote.wait_for_ended_sessions().await;
    outcome
}

pub(crate) async fn serve_mcp_http(address: &str, arguments: &McpArguments) -> anyhow::Result<()> {
    let stopping = signals::cancel_on_signal()?;
    let exposition = install_metrics()?;
    let is_token_required = arguments.http_arguments.address.is_token_required();
    let http_addr = &arguments.http_arguments.address.http_addr;
    let listening = listen(http_addr, listen_addresses::HTTP, None, is_token_required).await?;
    let remote = connect(address)?;
    let readiness = Readiness::default();
    let (health_remote, health_readiness) = (Arc::clone(&remote), readiness.clone());
    tokio::spawn(async move { health_remote.watch_health(|trouble| health_readiness.set_store_error(trouble)).await });
    let options = mcp_options(&arguments.toolset_arguments, Some(&arguments.http_arguments), stopping);
    output::print_lines(&bridge_banner(listening.listener.local_addr()?, address));
    let stdio_command = StdioCommand::bridge(&own_binary(), address);
    let http_surface = HttpSurface {
        arguments: &arguments.http_arguments,
        listening,
        readiness,
        protected_resource: None,
        stdio_command,
    };
    tokio::select! {
        served = serve_http(http_surface, remote.clone(), options, exposition) => served?,
        wrong_port = wait_for_http_port(address) => return Err(wrong_port),
    }
    remote.wait_for_ended_sessions().await;
    Ok(())
}

/// The engine of a remote server. It begins to connect in the background.
pub(crate) fn connect(address: &str) -> anyhow::Result<Arc<Remote>> {
    let wrong = || format!("{address:?} is not HOST:PORT of a server's gRPC; try 127.0.0.1:8080");
    let (host, port) = address.rsplit_once(':').with_context(wrong)?;
    if host.is_empty() || host.contains('/') || port.parse::<u16>().map_or(true, |port| port == 0) {
        bail!(wrong());
    }
    let bridge = Bridge { address: address.to_owned(), identity: open_store::random_id() };
    Remote::start(bridge).with_context(wrong)
}

/// Completes with an error if the server refuses the token, or requires one; otherwise never.
async fn wait_for_refusal(remote: &Remote, address: &str, token: Option<&str>) -> anyhow::Error {
    loop {
        let known = match token {
            Some(token) => remote.authenticate(token).await.map(drop),
            None => remote.check_access_without_token().await,
        };
        match known {
            Ok(()) => return std::future::pending().await,
            Err(fault) if fault.code() == Code::Unauthorized => {
                return anyhow!("SKALD_TOKEN: {}, says {address}", fault.body().message);
            }
            // The server cannot be reached, and `Remote` keeps connecting, or it is not a Skald.
            Err(_) => tokio::time::sleep(RETRY_DELAY).await,
        }
    }
}

/// Completes with an error if the address is the HTTP port of a Skald; otherwise never.
pub(crate) async fn wait_for_http_port(address: &str) -> anyhow::Error {
    // Until something listens there, nobody can say what it is.
    while TcpStream::connect(address).await.is_err() {
        tokio::time::sleep(RETRY_DELAY).await;
    }
    let Some(version) = find_http_version(address).await else { return std::future::pending().await };
    anyhow!(
        "{address} is the HTTP port of Skald {version}: give --addr the address that the server prints behind gRPC, usually \
         with the port 8080"
    )
}

fn bridge_banner(here: SocketAddr, there: &str) -> String {
    format!(
        "Skald {version} is a bridge to {there}.\n\n  \
         MCP      http://{here}/mcp\n  \
         health   http://{here}/mcp/health\n\n\
         Ctrl-C stops.",
        version = env!("CARGO_PKG_VERSION"),
    )
}
