//! A server for the official MCP conformance suite: fixtures of its own on the very stack that Skald serves with, the
//! door and what stands before rmcp included. It proves the stack; the suite is run against Skald itself as well.

mod fixture;

use std::error::Error;
use std::net::Ipv4Addr;
use std::sync::Arc;

use http::{Allowlist, Readiness};
use tokio::net::TcpListener;

use crate::fixture::{Fixture, Shared};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let port: u16 = std::env::args().nth(1).ok_or("usage: conformance PORT")?.parse()?;
    let shared = Arc::new(Shared::default());
    let options = mcp::Options::default();
    let (router, _drain) = mcp::mount(move || Fixture::new(Arc::clone(&shared)), &options);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    http::serve(listener, router, Allowlist::default(), None, Readiness::default(), options.stopping).await?;
    Ok(())
}
