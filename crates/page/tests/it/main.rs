//! Tests of the page over a real engine in memory: what is rendered, forms, signing in, the stream of a table.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod administration;
mod assets;
mod gate;
mod home;
mod hostile_text;
mod live;
mod lore;
mod sign_in;
mod table;
mod timeline;
mod universe;
mod unknown_address;
mod view_as;

use hostile_text::{assert_harmless, percent_encode};

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::Response;
use jiff::Timestamp;
use serde_json::{Value, json};
use skald_app::{
    App, Caller, CampaignRole, Clock, Engine, Entropy, LocalEngine, NewToken, PrincipalKind, RequestControl,
    TokenRestrictions, ToolsetFilter, Toolsets,
};
use skald_page::{ClientConnection, PageOptions, PublicUrl, page_routes};
use tokio_util::sync::CancellationToken;
use tower_service::Service;

/// Other bytes each time.
#[derive(Default)]
struct CountingEntropy(AtomicU64);

impl Entropy for CountingEntropy {
    fn bytes(&self) -> [u8; 32] {
        let mut number = self.0.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let mut bytes = [0; 32];
        for byte in &mut bytes {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *byte = number.to_be_bytes()[0];
        }
        bytes
    }
}

/// A clock that tests turn.
struct TestClock(AtomicI64);

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.0.load(Ordering::Relaxed)).unwrap()
    }
}

/// An engine with its page, and a campaign in it.
struct World {
    engine: Arc<LocalEngine>,
    clock: Arc<TestClock>,
    router: Router,
    stopping: CancellationToken,
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

impl World {
    async fn new() -> Self {
        Self::with_public_url(None).await
    }

    async fn with_public_url(public_url: Option<PublicUrl>) -> Self {
        let clock = Arc::new(TestClock(AtomicI64::new(1_768_478_400)));
        let journal = Arc::new(skald_store::Memory::new());
        let engine = LocalEngine::new(App::new(Arc::new(CountingEntropy::default()), Arc::clone(&clock) as _, journal));
        let (following, from) = (Arc::clone(&engine), engine.journal_end().await);
        tokio::spawn(async move { following.follow(from).await });
        let stopping = CancellationToken::new();
        let options = PageOptions {
            visible: ToolsetFilter { toolsets: Toolsets::ALL, read_only: false },
            connections: Arc::new(|request| {
                vec![ClientConnection {
                    name: "Client".to_owned(),
                    file: "client.json".to_owned(),
                    commands: Vec::new(),
                    http: format!("http://{}/mcp", request.host.unwrap_or("nowhere")),
                    stdio: request.is_local_owner.then(|| "/srv/skald".to_owned()),
                }]
            }),
            public_url,
            store_trouble: Arc::new(|| None),
            stopping: stopping.clone(),
        };
        let mounted = page_routes(Arc::clone(&engine) as _, options);
        let router = Router::new().fallback(mounted.unknown_address);
        let router = mounted.routes.into_iter().fold(router, |router, (path, route)| router.route(path, route));
        Self { engine, clock, router, stopping }
    }

    async fn call(&self, caller: &Caller, operation: &str, input: Value) -> Value {
        self.engine.call(caller, operation, input, &RequestControl::default()).await.unwrap()
    }

    /// A campaign with a character and a session that goes on: the ids of the three.
    async fn campaign(&self, name: &str) -> (String, String, String) {
        let owner = Caller::owner();
        let id = |answer: &Value| answer["id"].as_str().unwrap().to_owned();
        let campaign = id(&self.call(&owner, "campaign_create", json!({"name": name, "gm_mode": "AI"})).await);
        let actor = json!({"campaign_id": campaign, "name": "Mira", "kind": "PC", "template": "daggerheart"});
        let actor = id(&self.call(&owner, "actor_create", actor).await);
        let session = json!({"campaign_id": campaign, "name": "The first bell"});
        let session = id(&self.call(&owner, "session_start", session).await);
        (campaign, actor, session)
    }

    /// Somebody with a token, and the token.
    async fn holder(&self, name: &str, campaign: &str, role: CampaignRole) -> (Caller, String) {
        let new = NewToken {
            name: name.to_owned(),
            person: None,
            kind: PrincipalKind::Human,
            roles: BTreeMap::from([(campaign.to_owned(), role)]),
            participants: Vec::new(),
            gate_role: None,
            restrictions: TokenRestrictions::default(),
            subject: None,
            program: "a test".to_owned(),
        };
        let (secret, _) = self.engine.app().create_token(new).await.unwrap();
        (self.engine.authenticate(&secret).await.unwrap(), secret)
    }

    /// Sends a request as the middleware of `http` would pass it on: with the caller, if there is one.
    async fn send(&self, mut request: Request, caller: Option<&Caller>) -> Response {
        if let Some(caller) = caller {
            request.extensions_mut().insert(caller.clone());
        }
        self.router.clone().call(request).await.unwrap()
    }

    async fn answer(&self, request: Request, caller: Option<&Caller>) -> Answer {
        let (parts, body) = self.send(request, caller).await.into_parts();
        let body = String::from_utf8(to_bytes(body, usize::MAX).await.unwrap().into()).unwrap();
        Answer { status: parts.status, headers: parts.headers, body }
    }

    async fn get(&self, caller: &Caller, path: &str) -> Answer {
        self.answer(Request::builder().uri(path).body(Body::empty()).unwrap(), Some(caller)).await
    }

    /// Sends a form as a browser does without scripts.
    async fn post(&self, caller: Option<&Caller>, path: &str, form: &str) -> Answer {
        self.answer(form_request(path, form), caller).await
    }
}

fn form_request(path: &str, form: &str) -> Request {
    let request = Request::builder().method(Method::POST).uri(path).header("host", "table.example");
    let request = request.header("origin", "http://table.example");
    request.header("content-type", "application/x-www-form-urlencoded").body(Body::from(form.to_owned())).unwrap()
}
