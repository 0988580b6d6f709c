//! Wiring: an engine, the surfaces, and an orderly end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use app::journal::Health;
use app::{Engine, Local, Visible, limits};
use http::{Access, Allowlist, Calls, Exposition, Readiness};
use tokio::net::{TcpListener, lookup_host};
use tokio_util::sync::CancellationToken;

use crate::arguments::{DoorArguments, McpArguments, ServeArguments, ShownArguments, Switch};
use crate::{output, stopping, world};

const GRACE: Duration = Duration::from_secs(limits::SHUTDOWN_GRACE_SECONDS);

/// How long connections have to close once every answer has been given.
const FAREWELL: Duration = Duration::from_secs(1);

pub(crate) async fn http(arguments: &ServeArguments) -> anyhow::Result<()> {
    let stopping = stopping::on_signal()?;
    let exposition = Exposition::install().map_err(anyhow::Error::from_boxed)?;
    tokio::spawn(exposition.clone().upkeep());

    let local = world::engine(&arguments.store).await?;
    let (listener, is_token_required) = listen(&arguments.door.http_addr, &local).await?;
    let address = listener.local_addr()?;
    let engine: Arc<dyn Engine> = local.clone();
    let access = Access { engine: Arc::clone(&engine), is_token_required };
    let options = mcp_options(&arguments.shown, Some(&arguments.door), stopping.clone());
    let (readiness, calls) = (Readiness::default(), Calls::default());
    tokio::spawn(watch_health(Arc::clone(&local), readiness.clone()));
    // Before anybody can subscribe: what happens from here on is heard of.
    let from = local.end().await;
    tokio::spawn(async move { local.follow(from).await });
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
    let served = http::serve(listener, router, allowlist, Some(access), readiness.clone(), closing.clone());
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

pub(crate) async fn stdio(arguments: &McpArguments) -> anyhow::Result<()> {
    let stopping = stopping::on_signal()?;
    let local = world::engine(&arguments.store).await?;
    let mut options = mcp_options(&arguments.shown, None, stopping);
    if let Some(token) = &arguments.token {
        let caller = local.authenticate(token).await;
        options.principal = caller.map_err(|fault| anyhow!("SKALD_TOKEN: {}", fault.body().message))?.principal;
    }
    let following = Arc::clone(&local);
    let from = local.end().await;
    tokio::spawn(async move { following.follow(from).await });
    mcp::serve_stdio(local, &options).await?;
    Ok(())
}

/// Tells `/ready` how the store is.
async fn watch_health(local: Arc<Local>, readiness: Readiness) {
    let mut health = local.app().journal.health();
    loop {
        readiness.trouble(match &*health.borrow_and_update() {
            Health::Ready => None,
            Health::Unready(why) => Some(why.clone()),
        });
        if health.changed().await.is_err() {
            return;
        }
    }
}

fn mcp_options(shown: &ShownArguments, door: Option<&DoorArguments>, stopping: CancellationToken) -> mcp::Options {
    mcp::Options {
        visible: Visible { toolsets: shown.toolsets, read_only: shown.read_only },
        sessions: door.is_none_or(|door| door.sessions == Switch::On),
        stopping,
        ..mcp::Options::default()
    }
}

/// Binds, and says whether a token is required: wherever others than the owner can reach it.
async fn listen(address: &str, local: &Local) -> anyhow::Result<(TcpListener, bool)> {
    let addresses: Vec<SocketAddr> = lookup_host(address)
        .await
        .with_context(|| format!("{address:?} is not an address to listen on; try 127.0.0.1:8081"))?
        .collect();
    let is_open = addresses.iter().any(|address| !address.ip().is_loopback());
    if is_open {
        let tokens = local.app().tokens().await.map_err(|fault| anyhow!("{}", fault.body().message))?;
        check_tokens(&addresses, tokens.len())?;
    }
    let listener = TcpListener::bind(&*addresses).await.with_context(|| {
        format!("cannot listen on {address}; if the port is taken, choose another with --http-addr 127.0.0.1:PORT")
    })?;
    Ok((listener, is_open))
}

/// Refuses addresses that others can reach, as long as nobody could call.
fn check_tokens(addresses: &[SocketAddr], tokens: usize) -> anyhow::Result<()> {
    match addresses.iter().find(|address| !address.ip().is_loopback()) {
        Some(open) if tokens == 0 => bail!(
            "refusing to listen on {open}: there are no tokens, so whoever reaches it would be the game master or nobody. \
             Make one first: skald token create NAME --role gm; or listen on 127.0.0.1"
        ),
        _ => Ok(()),
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
