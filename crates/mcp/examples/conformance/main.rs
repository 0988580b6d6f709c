//! A server for the official MCP conformance suite: its own fixtures on the stack that Skald serves with. That includes
//! the middleware before rmcp and before every route. It tests the stack; the suite is run against Skald itself as
//! well.

mod fixture;

use std::error::Error;
use std::net::Ipv4Addr;
use std::sync::Arc;

use skald_app::{App, Clock, Entropy, LocalEngine};
use skald_http::{Access, Allowlist, MountedRoutes, Readiness};
use tokio::net::TcpListener;

use crate::fixture::{Fixture, Shared};

/// The fixtures draw no random numbers.
struct NoEntropy;

impl Entropy for NoEntropy {
    fn bytes(&self) -> [u8; 32] {
        [0; 32]
    }
}

struct ConformanceClock;

impl Clock for ConformanceClock {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::now()
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let port: u16 = std::env::args().nth(1).ok_or("usage: conformance PORT")?.parse()?;
    let shared = Arc::new(Shared::default());
    let options = skald_mcp::McpOptions::default();
    let (handler, _drain) = skald_mcp::mount(move || Fixture::new(Arc::clone(&shared)), &options);
    let routes = MountedRoutes::default().route(skald_mcp::PATH, handler);
    // The fixtures do not use the engine: it only authenticates tokens, and no request sends one.
    let engine = LocalEngine::new(App::new(
        Arc::new(NoEntropy),
        Arc::new(ConformanceClock),
        Arc::new(skald_store::Memory::new()),
    ));
    let access = Access { engine, is_token_required: false, protected_resource: None };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    skald_http::serve(listener, routes, Allowlist::default(), access, Readiness::default(), options.stopping).await?;
    Ok(())
}
