//! Asks an address whether a Skald serves HTTP there, for errors and for `skald doctor`.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use anyhow::{Context, ensure};
use serde_json::Value;

/// How long to wait for a connection and for an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// The beginning of a running server's response, with its head.
pub(crate) fn http_get(address: &str, path: &str) -> anyhow::Result<String> {
    let resolved = address.to_socket_addrs()?.next().context("no address")?;
    let mut stream = TcpStream::connect_timeout(&resolved, ANSWER_TIMEOUT)?;
    stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.take(10_000).read_to_string(&mut answer)?;
    Ok(answer)
}

/// The version of the Skald that serves HTTP at an address.
pub(crate) fn http_version(address: &str) -> anyhow::Result<String> {
    let answer = http_get(address, "/health")?;
    let body = answer.split_once("\r\n\r\n").context("no answer")?.1;
    let health: Value = serde_json::from_str(body)?;
    ensure!(health["name"] == "skald", "the answer is not Skald's");
    health["version"].as_str().map(str::to_owned).context("no version in the answer")
}

/// The same, from asynchronous code.
pub(crate) async fn find_http_version(address: &str) -> Option<String> {
    let address = address.to_owned();
    tokio::task::spawn_blocking(move || http_version(&address)).await.ok()?.ok()
}
