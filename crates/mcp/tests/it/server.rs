//! Test server in this process: Skald's own stack on a free port.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::Request;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use skald_app::{
    Allowed, App, Call, Caller, Catalogue, Clock, Conversation, Engine, Entropy, Fault, Holder, LocalEngine, Operation,
    OperationEntry, OperationKind, PermissionClass, Principal, PrincipalKind, Resource, Revocations, Toolset,
};
use skald_http::{Access, Allowlist, MountedRoutes, Readiness};
use skald_mcp::{Drain, McpOptions};
use skald_testkit::mcp_messages::{self, ACCEPT_BOTH, JSON};
use skald_testkit::{Client, Reply};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// Entropy that is always the same, so that answers can be compared.
struct ConstantEntropy;

impl Entropy for ConstantEntropy {
    fn bytes(&self) -> [u8; 32] {
        [7; 32]
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
    App::new(Arc::new(ConstantEntropy), Arc::new(FixedClock), Arc::new(skald_store::Memory::new()))
}

/// An engine with Skald's own catalogue.
pub(crate) fn default_engine() -> Arc<LocalEngine> {
    LocalEngine::new(app())
}

/// An engine with one operation that panics and one that is slow.
pub(crate) fn panic_and_slow_engine() -> Arc<LocalEngine> {
    let resources = ["test://first", "test://second"].map(|uri| Resource {
        uri,
        name: uri,
        title: "A test",
        summary: "Something that changes.",
        toolset: Toolset::Dice,
        mime_type: "application/json",
        operation: "slow",
        fixed: None,
        listed: None,
    });
    let operations = vec![OperationEntry::from_operation::<Panics>(), OperationEntry::from_operation::<Slow>()];
    LocalEngine::with_catalogue(app(), Catalogue::new(operations, resources.to_vec(), Vec::new()))
}

/// The number of `slow` calls that have begun, by their milliseconds.
static BEGUN: Mutex<BTreeMap<u64, usize>> = Mutex::new(BTreeMap::new());

/// Waits until `count` calls of `slow` with these milliseconds have begun.
pub(crate) fn wait_until_begun(milliseconds: u64, count: usize) {
    while BEGUN.lock().unwrap().get(&milliseconds).is_none_or(|begun| *begun < count) {
        std::thread::yield_now();
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wait {
    #[serde(default)]
    milliseconds: u64,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Waited {
    milliseconds: u64,
}

struct Panics;

impl Operation for Panics {
    const NAME: &'static str = "panics";
    const TITLE: &'static str = "Panics";
    const SUMMARY: &'static str = "Panics.";
    const TOOLSET: Toolset = Toolset::Dice;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::Anyone;
    const CLASS: PermissionClass = PermissionClass::Dice;
    type Input = Wait;
    type Output = Waited;

    async fn run(_: &App, _: &Call<'_>, _: Wait) -> Result<Waited, Fault> {
        panic!("a secret of the house")
    }
}

struct Slow;

impl Operation for Slow {
    const NAME: &'static str = "slow";
    const TITLE: &'static str = "Slow";
    const SUMMARY: &'static str = "Takes its time.";
    const TOOLSET: Toolset = Toolset::Dice;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::Anyone;
    const CLASS: PermissionClass = PermissionClass::Reference;
    type Input = Wait;
    type Output = Waited;

    async fn run(_: &App, _: &Call<'_>, wait: Wait) -> Result<Waited, Fault> {
        *BEGUN.lock().unwrap().entry(wait.milliseconds).or_default() += 1;
        tokio::time::sleep(Duration::from_millis(wait.milliseconds)).await;
        Ok(Waited { milliseconds: wait.milliseconds })
    }
}

/// A running server, which ends with the test.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) stopping: CancellationToken,
    pub(crate) drain: Drain,
    pub(crate) runtime: Runtime,
    /// The revocation signals of the test principals, by id.
    pub(crate) revocations: Arc<Revocations>,
}

/// The header with the name of the test's principal, whose id is `token_` and that name. Without the header the caller
/// is the owner.
pub(crate) const PRINCIPAL: &str = "x-test-principal";
/// The principal name that removes the caller from a request, as if no middleware had identified it.
pub(crate) const UNIDENTIFIED: &str = "unidentified";

impl Server {
    pub(crate) fn start(engine: Arc<dyn Engine>) -> Self {
        Self::start_with(engine, McpOptions::default())
    }

    pub(crate) fn start_with(engine: Arc<dyn Engine>, options: McpOptions) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let address = listener.local_addr().unwrap();
        let access = Access { engine: Arc::clone(&engine), is_token_required: false, protected_resource: None };
        let (handler, drain) = skald_mcp::http_route(engine, &options);
        let revocations = Arc::<Revocations>::default();
        let signals = Arc::clone(&revocations);
        let handler = handler.layer(axum::middleware::map_request(move |mut request: Request| {
            let name = request.headers().get(PRINCIPAL).and_then(|name| name.to_str().ok()).map(str::to_owned);
            if name.as_deref() == Some(UNIDENTIFIED) {
                request.extensions_mut().remove::<Caller>();
            } else if let Some(name) = name {
                let id = format!("token_{name}");
                let holder = Holder {
                    revocation: signals.signal(&id),
                    ..Holder::new(&id, &name, PrincipalKind::Human, BTreeMap::new())
                };
                let principal = Principal::Holder(Arc::new(holder));
                request.extensions_mut().insert(Caller { principal, conversation: Conversation::None });
            }
            std::future::ready(request)
        }));
        let closing = options.stopping.clone();
        let routes = MountedRoutes::default().route(skald_mcp::PATH, handler);
        runtime.spawn(skald_http::serve(listener, routes, Allowlist::default(), access, Readiness::default(), closing));
        Self { address, stopping: options.stopping, drain, runtime, revocations }
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(self.address)
    }

    /// Opens a session and returns its id.
    pub(crate) fn open_session(&self, version: &str) -> String {
        let reply = self.post(&[JSON, ACCEPT_BOTH], &mcp_messages::initialize(version));
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.header("mcp-session-id").expect("a session").to_owned()
    }

    pub(crate) fn post(&self, headers: &[(&str, &str)], message: &Value) -> Reply {
        self.client().send("POST", "/mcp", headers, message.to_string().as_bytes())
    }

    /// A call in a session, as a well-behaved client makes it.
    pub(crate) fn call(&self, session: &str, message: &Value) -> Value {
        self.post(&[JSON, ACCEPT_BOTH, ("Mcp-Session-Id", session)], message).json()
    }

    /// A request of 2026-07-28.
    pub(crate) fn post_modern(&self, message: &Value) -> Reply {
        self.post_modern_with(message, &[])
    }

    pub(crate) fn post_modern_with(&self, message: &Value, more: &[(&str, &str)]) -> Reply {
        let message = mcp_messages::with_modern_meta(message.clone());
        let headers = mcp_messages::modern_headers(&message);
        let mut headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        headers.extend_from_slice(more);
        self.post(&headers, &message)
    }
}

/// Compares with the committed snapshot of this name.
macro_rules! snapshot {
    ($name:expr, $value:expr) => {
        insta::with_settings!({omit_expression => true}, { insta::assert_json_snapshot!($name, $value) })
    };
}

pub(crate) use snapshot;
