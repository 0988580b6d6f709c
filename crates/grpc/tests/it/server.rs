//! Test server in this process, on a free port.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use skald_app::{App, Clock, Engine, Entropy, LocalEngine, NewToken, PrincipalKind, TokenRestrictions, ToolsetFilter};
use skald_grpc::{GrpcHealth, GrpcOptions};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};
use tonic_types::StatusExt;

/// Entropy that differs on every call.
struct CountingEntropy(AtomicU8);

impl Entropy for CountingEntropy {
    fn bytes(&self) -> [u8; 32] {
        [self.0.fetch_add(1, Ordering::Relaxed); 32]
    }
}

/// A clock with a fixed time.
struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::from_second(1_768_478_400).expect("a moment")
    }
}

pub(crate) fn app() -> App {
    App::new(Arc::new(CountingEntropy(AtomicU8::new(1))), Arc::new(FixedClock), Arc::new(skald_store::Memory::new()))
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) health: GrpcHealth,
    pub(crate) stopping: CancellationToken,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopping.cancel();
    }
}

impl Server {
    /// A server of the engine in this process, which follows the journal as the binary does.
    pub(crate) async fn start(local: &Arc<LocalEngine>) -> Self {
        let (following, from) = (Arc::clone(local), local.journal_end().await);
        tokio::spawn(async move { following.follow(from).await });
        Self::start_with(local.clone(), false, ToolsetFilter::EVERYTHING).await
    }

    pub(crate) async fn start_with(engine: Arc<dyn Engine>, is_token_required: bool, visible: ToolsetFilter) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (health, stopping) = (GrpcHealth::new().await, CancellationToken::new());
        let options = GrpcOptions { is_token_required, visible, stopping: stopping.clone() };
        let (told, closing) = (health.clone(), stopping.clone());
        tokio::spawn(
            async move { skald_grpc::serve(listener, engine, options, &told, closing).await.expect("it serves") },
        );
        Self { address, health, stopping }
    }

    pub(crate) fn channel(&self) -> Channel {
        Endpoint::from_shared(format!("http://{}", self.address)).expect("an address").connect_lazy()
    }
}

pub(crate) fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(test);
}

pub(crate) async fn create_token(
    local: &LocalEngine,
    campaign: &str,
    role: skald_app::CampaignRole,
) -> (String, String) {
    let roles = [(campaign.to_owned(), role)].into();
    let (kind, program) = (PrincipalKind::Human, "a test".to_owned());
    let restrictions = TokenRestrictions::default();
    let name = "Alice".to_owned();
    let new = NewToken {
        name,
        person: None,
        kind,
        roles,
        participants: Vec::new(),
        gate_role: None,
        restrictions,
        subject: None,
        program,
    };
    let (secret, token) = local.app().create_token(new).await.expect("a token");
    (secret, token.id)
}

/// A request with a token.
pub(crate) fn with_token<T>(token: &str, message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().expect("a token is plain"));
    request
}

/// The status and the reason of a refusal.
pub(crate) fn code_and_reason(status: &Status) -> (tonic::Code, String) {
    let details = status.get_error_details();
    let reason = details.error_info().unwrap_or_else(|| panic!("no reason: {status:?}"));
    assert_eq!(reason.domain, "skald");
    (status.code(), reason.reason.clone())
}
