//! Wiring: an engine, the surfaces, and an orderly end.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, bail};
use app::{Visible, limits};
use http::{Allowlist, Calls, Exposition, Readiness};
use tokio::net::{TcpListener, lookup_host};
use tokio_util::sync::CancellationToken;

use crate::arguments::{DoorArguments, ServeArguments, ShownArguments, Switch};
use crate::{engine, output, stopping};

const GRACE: Duration = Duration::from_secs(limits::SHUTDOWN_GRACE_SECONDS);

/// How long connections have to close once every answer has been given.
const FAREWELL: Duration = Duration::from_secs(1);

pub(crate) async fn http(arguments: &ServeArguments) -> anyhow::Result<()> {
    let stopping = stopping::on_signal()?;
    let listener = listen(&arguments.door.http_addr).await?;
    let address = listener.local_addr()?;
    let exposition = Exposition::install().map_err(anyhow::Error::from_boxed)?;
    tokio::spawn(exposition.clone().upkeep());

    let engine = engine();
    let options = mcp_options(&arguments.shown, Some(&arguments.door), stopping.clone());
    let (readiness, calls) = (Readiness::default(), Calls::default());
    let (mcp, drain) = mcp::http(engine.clone(), &options);
    let router = http::router(&engine, options.visible, &readiness, exposition, &calls).merge(mcp);
    let allowlist =
        Allowlist { hosts: arguments.door.allowed_hosts.clone(), origins: arguments.door.allowed_origins.clone() };
    output::say(&greeting(address));
    tracing::info!(%address, "serving");

    // What was begun is finished while the health pages say that nothing more is taken; then the doors close.
    let closing = CancellationToken::new();
    let end = async {
        stopping.cancelled().await;
        readiness.stop();
        tokio::join!(drain.finish(GRACE), calls.finish(GRACE));
        closing.cancel();
    };
    let served = http::serve(listener, router, allowlist, readiness.clone(), closing.clone());
    tokio::pin!(served);
    let ended = tokio::select! {
        ended = &mut served => Ok(ended),
        () = end => tokio::time::timeout(FAREWELL, served).await,
    };
    if let Ok(served) = ended {
        served.context("the HTTP server failed")?;
    } else {
        tracing::warn!("connections were still open when the time to stop had passed");
    }
    tracing::info!("stopped");
    Ok(())
}

pub(crate) async fn stdio(shown: &ShownArguments) -> anyhow::Result<()> {
    let stopping = stopping::on_signal()?;
    mcp::serve_stdio(engine(), &mcp_options(shown, None, stopping)).await?;
    Ok(())
}

fn mcp_options(shown: &ShownArguments, door: Option<&DoorArguments>, stopping: CancellationToken) -> mcp::Options {
    mcp::Options {
        visible: Visible { toolsets: shown.toolsets, read_only: shown.read_only },
        sessions: door.is_none_or(|door| door.sessions == Switch::On),
        stopping,
        ..mcp::Options::default()
    }
}

/// Binds to loopback. Anywhere else, anybody could be the game master.
async fn listen(address: &str) -> anyhow::Result<TcpListener> {
    let addresses: Vec<SocketAddr> = lookup_host(address)
        .await
        .with_context(|| format!("{address:?} is not an address to listen on; try 127.0.0.1:8081"))?
        .collect();
    check_loopback(&addresses)?;
    TcpListener::bind(&*addresses).await.with_context(|| {
        format!("cannot listen on {address}; if the port is taken, choose another with --http-addr 127.0.0.1:PORT")
    })
}

/// Refuses addresses that others can reach.
pub(crate) fn check_loopback(addresses: &[SocketAddr]) -> anyhow::Result<()> {
    match addresses.iter().find(|address| !address.ip().is_loopback()) {
        Some(open) => bail!(
            "refusing to listen on {open}: there is no authentication yet, so whoever reaches it would be the game master. \
             Listen on 127.0.0.1 and put a proxy that authenticates before it"
        ),
        None => Ok(()),
    }
}

fn greeting(address: SocketAddr) -> String {
    format!(
        "Skald {version} is ready.\n\n  \
         MCP      http://{address}/mcp\n  \
         REST     http://{address}/api/v1/openapi.json\n  \
         health   http://{address}/health  /ready  /metrics\n\n\
         Connect a client, for example:\n  \
         claude mcp add --transport http skald http://{address}/mcp\n\
         `skald doctor` prints the configuration of this and other clients. Ctrl-C stops.",
        version = env!("CARGO_PKG_VERSION"),
    )
}
