//! A server with the API, a campaign, and callers of each role.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};
use skald_app::{
    App, Caller, CampaignRole, Clock, Engine, Entropy, FaultShape, LocalEngine, NewToken, PrincipalKind, RateFigures,
    RequestControl, TokenRestrictions, ToolsetFilter,
};
use skald_http::{Access, Allowlist, Calls, Exposition, Readiness};
use skald_journal::Journal;
use skald_kanka::{API_PATH, ApiOptions, api_handler};
use skald_testkit::{Client, Reply};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// Entropy that differs on every call.
#[derive(Default)]
struct CountingEntropy(AtomicU64);

impl Entropy for CountingEntropy {
    fn bytes(&self) -> [u8; 32] {
        let mut bytes = [7; 32];
        bytes[..8].copy_from_slice(&self.0.fetch_add(1, Ordering::Relaxed).to_le_bytes());
        bytes
    }
}

/// A clock that advances by a microsecond whenever it is asked, so that all moments differ.
struct TickingClock(AtomicI64);

impl Clock for TickingClock {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::from_microsecond(self.0.fetch_add(1, Ordering::Relaxed)).expect("a moment")
    }
}

/// 2026-01-15T12:00:00Z.
const BEGIN_MICROS: i64 = 1_768_478_400_000_000;

/// A process has one recorder of metrics, so these tests share it.
fn exposition() -> Exposition {
    static SHARED: OnceLock<Exposition> = OnceLock::new();
    SHARED.get_or_init(|| Exposition::install().expect("the only recorder")).clone()
}

pub(crate) struct ApiServer {
    pub(crate) address: SocketAddr,
    pub(crate) number: u64,
    local: Arc<LocalEngine>,
    campaign_id: String,
    runtime: Runtime,
}

/// How a server under test is started.
#[derive(Clone, Copy)]
pub(crate) struct ServerSettings {
    pub(crate) requests_per_minute: Option<u32>,
    pub(crate) visible: ToolsetFilter,
    pub(crate) is_token_required: bool,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self { requests_per_minute: None, visible: ToolsetFilter::EVERYTHING, is_token_required: false }
    }
}

impl ApiServer {
    pub(crate) fn start() -> Self {
        Self::with_settings(ServerSettings::default())
    }

    pub(crate) fn with_settings(settings: ServerSettings) -> Self {
        Self::on_store(|_| Arc::new(skald_store::Memory::new()), settings)
    }

    pub(crate) fn on_store(store: impl FnOnce(&Runtime) -> Arc<dyn Journal>, settings: ServerSettings) -> Self {
        let exposition = exposition();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let journal = store(&runtime);
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let address = listener.local_addr().unwrap();
        let clock = Arc::new(TickingClock(AtomicI64::new(BEGIN_MICROS)));
        let local = LocalEngine::new(App::new(Arc::new(CountingEntropy::default()), clock, journal));
        let engine: Arc<dyn Engine> = Arc::clone(&local) as _;
        let (readiness, calls) = (Readiness::default(), Calls::default());
        if let Some(requests) = settings.requests_per_minute {
            local.app().rate_limits.set_figures(RateFigures { kanka: Some(requests), ..RateFigures::default() });
        }
        let options = ApiOptions { visible: settings.visible };
        let kanka = api_handler(Arc::clone(&engine), &options);
        let routes = skald_http::routes(&engine, settings.visible, &readiness, exposition, &calls).subtree(
            "kanka",
            API_PATH,
            FaultShape::StatusAndSentence,
            &calls,
            kanka,
        );
        let access = Access { engine, is_token_required: settings.is_token_required, protected_resource: None };
        let closing = CancellationToken::new();
        runtime.spawn(skald_http::serve(listener, routes, Allowlist::default(), access, readiness, closing));
        let mut server = Self { address, number: 0, local, campaign_id: String::new(), runtime };
        server.campaign_id = server.create_campaign("Bells");
        let campaigns = server.call("list_numbered_campaigns", json!({}));
        server.number = campaigns["campaigns"][0]["number"].as_u64().unwrap();
        server
    }

    pub(crate) fn create_campaign(&self, name: &str) -> String {
        let created = self.call("campaign_create", json!({"name": name, "gm_mode": "HUMAN"}));
        created["id"].as_str().unwrap().to_owned()
    }

    /// The answer of an operation that the owner calls without the API.
    pub(crate) fn call(&self, operation: &str, input: Value) -> Value {
        let (owner, control) = (Caller::owner(), RequestControl::default());
        let answer = self.local.call(&owner, operation, input, &control);
        self.runtime.block_on(answer).unwrap_or_else(|fault| panic!("{operation}: {fault}"))
    }

    /// A token with a role in the campaign.
    pub(crate) fn create_token(&self, role: CampaignRole) -> String {
        let new = NewToken {
            name: format!("a {}", role.as_str()),
            person: None,
            kind: PrincipalKind::Human,
            roles: BTreeMap::from([(self.campaign_id.clone(), role)]),
            participants: Vec::new(),
            gate_role: None,
            restrictions: TokenRestrictions::default(),
            subject: None,
            program: "test".to_owned(),
        };
        self.runtime.block_on(self.local.app().create_token(new)).unwrap().0
    }

    /// Sends a request below the API's base.
    pub(crate) fn send_as(&self, token: Option<&str>, method: &str, path: &str, body: Option<&Value>) -> Reply {
        let bearer = token.map(|token| format!("Bearer {token}"));
        let headers: Vec<(&str, &str)> = bearer.iter().map(|bearer| ("Authorization", bearer.as_str())).collect();
        let body = body.map(Value::to_string).unwrap_or_default();
        let path = format!("{API_PATH}/1.0/{path}");
        Client::connect(self.address).send(method, &path, &headers, body.as_bytes())
    }

    /// The path of something in the campaign.
    pub(crate) fn path(&self, below: &str) -> String {
        format!("campaigns/{}/{below}", self.number)
    }

    /// Sends a request of the owner about something in the campaign.
    pub(crate) fn send(&self, method: &str, below: &str, body: Option<&Value>) -> Reply {
        self.send_as(None, method, &self.path(below), body)
    }

    pub(crate) fn get(&self, below: &str) -> Value {
        expect_status(&self.send("GET", below, None), 200, below)
    }

    /// The rows of a list.
    pub(crate) fn rows(&self, below: &str) -> Vec<Value> {
        self.get(below)["data"].as_array().unwrap_or_else(|| panic!("{below} is no list")).clone()
    }

    /// The names in a list, in order.
    pub(crate) fn names(&self, below: &str) -> Vec<String> {
        self.rows(below).iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    }

    #[expect(clippy::needless_pass_by_value, reason = "bodies are made where they are sent")]
    pub(crate) fn post(&self, below: &str, body: Value) -> Value {
        expect_status(&self.send("POST", below, Some(&body)), 201, below)["data"].clone()
    }

    #[expect(clippy::needless_pass_by_value, reason = "bodies are made where they are sent")]
    pub(crate) fn patch(&self, below: &str, body: Value) -> Value {
        expect_status(&self.send("PATCH", below, Some(&body)), 200, below)["data"].clone()
    }

    pub(crate) fn delete(&self, below: &str) {
        let reply = self.send("DELETE", below, None);
        assert_eq!((reply.status, reply.body.len()), (204, 0), "{below}: {}", reply.text());
    }

    /// Checks that a request is refused with this status in Kanka's shape, and returns the body.
    pub(crate) fn refusal(&self, method: &str, below: &str, body: Option<&Value>, status: u16) -> Value {
        let answer = expect_status(&self.send(method, below, body), status, below);
        check_error(&answer, status);
        answer
    }
}

/// The JSON of an answer with this status.
pub(crate) fn expect_status(reply: &Reply, status: u16, what: &str) -> Value {
    assert_eq!(reply.status, status, "{what}: {}", reply.text());
    assert_eq!(reply.header("content-type"), Some("application/json"), "{what}");
    reply.json()
}

pub(crate) fn check_error(body: &Value, status: u16) {
    assert_eq!(body["code"], status, "{body}");
    assert!(body["error"].as_str().is_some_and(|text| !text.is_empty()), "{body}");
    assert_eq!(body["message"], body["error"], "{body}");
    assert_eq!(body.get("fields").is_some(), status == 422, "{body}");
    assert_eq!(body.get("fields"), body.get("errors"), "{body}");
}
