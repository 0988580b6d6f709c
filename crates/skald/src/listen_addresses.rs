//! Binds the listeners of a server, and requires tokens on addresses that others than the owner can reach.

use std::io::ErrorKind;
use std::net::SocketAddr;

use anyhow::{Context, anyhow, bail};
use skald_app::LocalEngine;
use tokio::net::{TcpListener, lookup_host};

use crate::running_server::find_http_version;

/// A listener, and whether a token is required there.
pub(crate) struct BoundListener {
    pub listener: TcpListener,
    pub is_token_required: bool,
}

/// The option that names an address, and an example of its value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AddressOption {
    pub option: &'static str,
    pub example: &'static str,
}

pub(crate) const HTTP: AddressOption =
    AddressOption { option: "--http-addr", example: crate::arguments::DEFAULT_HTTP_ADDR };
pub(crate) const GRPC: AddressOption =
    AddressOption { option: "--grpc-addr", example: crate::arguments::DEFAULT_GRPC_ADDR };

/// Binds an address. A token is required if the address is not a loopback address, or if `is_token_required` says so;
/// then the store must have a token. A bridge has no store (`local` is `None`): its server checks tokens.
pub(crate) async fn listen(
    address: &str,
    purpose: AddressOption,
    local: Option<&LocalEngine>,
    is_token_required: bool,
) -> anyhow::Result<BoundListener> {
    let AddressOption { option, example } = purpose;
    let addresses: Vec<SocketAddr> = lookup_host(address)
        .await
        .with_context(|| format!("{address:?} is not an address to listen on; try {example}"))?
        .collect();
    let is_open = addresses.iter().any(|address| !address.ip().is_loopback());
    let is_token_required = is_token_required || is_open;
    if let (true, Some(local)) = (is_token_required, local) {
        let tokens = local.app().valid_tokens().await.map_err(|fault| anyhow!("{}", fault.body().message))?;
        check_tokens(&addresses, tokens.len())?;
    }
    let listener = match TcpListener::bind(&*addresses).await {
        Ok(listener) => listener,
        Err(error) if error.kind() == ErrorKind::AddrInUse => bail!(taken_message(address, option).await),
        Err(error) => {
            return Err(error).with_context(|| format!("cannot listen on {address}; choose another {option}"));
        }
    };
    Ok(BoundListener { listener, is_token_required })
}

/// Says who has the address: another Skald, or some other program.
async fn taken_message(address: &str, option: &str) -> String {
    let version = if option == GRPC.option {
        skald_grpc::server_version(address).await.ok()
    } else {
        find_http_version(address).await
    };
    match version {
        Some(version) => format!(
            "a Skald is there already: version {version} serves {address}. Connect to that one, stop it, or choose another \
             port with {option} 127.0.0.1:PORT"
        ),
        None => format!("{address} is taken by another program; choose another port with {option} 127.0.0.1:PORT"),
    }
}

/// Refuses to listen where a token is required but none exists.
fn check_tokens(addresses: &[SocketAddr], tokens: usize) -> anyhow::Result<()> {
    if tokens > 0 {
        return Ok(());
    }
    match addresses.iter().find(|address| !address.ip().is_loopback()) {
        Some(open) => bail!(
            "refusing to listen on {open}: other machines can reach it, so every caller there needs a token, and there is none \
             yet. Make one first: skald token create NAME --role gm; or listen on 127.0.0.1"
        ),
        None => bail!(
            "refusing to serve: every caller needs a token, and there is none yet. \
             Make one first: skald token create NAME --role gm; or leave out --require-token and --allowed-hosts"
        ),
    }
}
