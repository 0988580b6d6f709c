//! Tests of the mirror: one Skald serves the Kanka-compatible API, with faults in between, and another one is linked to it.

mod canon;
mod convergence;
mod deletions;
mod failures;
mod freshness;
mod interruptions;
mod kanka_shapes;
mod kanka_stub;
mod linking;
mod mentions;
mod moving_rows;
mod posts;
mod requests;
mod tags;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use skald_app::{
    App, Caller, Clock, Engine, Entropy, Fault, LocalEngine, RequestControl, SyncReport, SyncScope, ToolsetFilter,
};
use skald_journal::Journal;
use skald_kanka::{ApiOptions, ConnectionTimeouts, KankaConnector, PaceClock, api_handler};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

const TOKEN: &str = "the-token-of-the-test";
const LEASE_WAIT_MAX: Duration = Duration::from_secs(20);

struct CountingEntropy(AtomicU64);

impl Entropy for CountingEntropy {
    fn bytes(&self) -> [u8; 32] {
        let mut bytes = [3; 32];
        bytes[..8].copy_from_slice(&self.0.fetch_add(1, Ordering::Relaxed).to_le_bytes());
        bytes
    }
}

struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::now()
    }
}

/// A clock for the pace whose sleeps take no time, and are counted.
#[derive(Default, Clone)]
struct InstantClock(Arc<Mutex<Duration>>);

impl PaceClock for InstantClock {
    fn now(&self) -> Duration {
        *self.0.lock().unwrap()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        *self.0.lock().unwrap() += duration;
        Box::pin(tokio::task::yield_now())
    }
}

/// Numbers that follow from a seed.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end.max(1)
    }

    fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        let place = usize::try_from(self.below(list.len() as u64)).unwrap();
        &list[place]
    }
}

/// What happens between the client and the API.
struct Faults {
    dice: Mutex<Dice>,
    /// Of a thousand requests so many fail.
    per_mille: AtomicU32,
    /// Whether rows move between the pages of a list.
    shifts: AtomicBool,
    /// Answered instead of the API, if it is set.
    fixed: Mutex<Option<FixedAnswer>>,
    requests: Mutex<Vec<String>>,
    upstream: Side,
}

/// What every request is answered with.
#[derive(Debug, Clone)]
enum FixedAnswer {
    Body(u16, String),
    RetryAfter(u32),
    /// Nothing, for longer than the client waits.
    Silence,
    /// Half of an answer.
    Torn,
    /// The body byte by byte, for longer than the client waits.
    Slow,
}

impl FixedAnswer {
    async fn respond(self) -> Response {
        match self {
            Self::Body(status, body) => (StatusCode::from_u16(status).unwrap(), body).into_response(),
            Self::RetryAfter(seconds) => {
                let headers = [("retry-after", seconds.to_string())];
                (StatusCode::TOO_MANY_REQUESTS, headers, json!(["Slow down."]).to_string()).into_response()
            }
            Self::Silence => {
                tokio::time::sleep(TIMEOUT * 2).await;
                StatusCode::OK.into_response()
            }
            Self::Torn => torn(&Bytes::from_static(b"{\"data\": [], \"links\": {}}")),
            Self::Slow => slow(Bytes::from_static(b"{\"data\": [], \"links\": {}}"), TIMEOUT / 8),
        }
    }
}

/// A body that comes byte by byte.
fn slow(bytes: Bytes, pause: Duration) -> Response {
    let pieces = futures::stream::unfold(bytes, move |mut rest| async move {
        if rest.is_empty() {
            return None;
        }
        tokio::time::sleep(pause).await;
        Some((Ok::<Bytes, io::Error>(rest.split_to(1)), rest))
    });
    Response::new(Body::from_stream(pieces))
}

impl Faults {
    fn draw(&self, end: u64) -> u64 {
        self.dice.lock().unwrap().below(end)
    }
}

fn torn(bytes: &Bytes) -> Response {
    let half = bytes.slice(..bytes.len() / 2);
    let pieces: Vec<Result<Bytes, io::Error>> = vec![Ok(half), Err(io::Error::other("torn"))];
    Response::new(Body::from_stream(futures::stream::iter(pieces)))
}

async fn answer_with_faults(State(faults): State<Arc<Faults>>, request: Request, next: Next) -> Response {
    let line = format!("{} {}", request.method(), request.uri());
    faults.requests.lock().unwrap().push(line.clone());
    if request.headers().get("authorization").map(HeaderValue::as_bytes) != Some(format!("Bearer {TOKEN}").as_bytes()) {
        return (StatusCode::UNAUTHORIZED, json!({"message": "Unauthenticated."}).to_string()).into_response();
    }
    let fixed = faults.fixed.lock().unwrap().clone();
    if let Some(fixed) = fixed {
        return fixed.respond().await;
    }
    if faults.shifts.load(Ordering::Relaxed) && line.contains("page=") && faults.draw(4) == 0 {
        faults.upstream.shift_a_row(faults.draw(2) == 0).await;
    }
    if faults.draw(1_000) >= u64::from(faults.per_mille.load(Ordering::Relaxed)) {
        return next.run(request).await;
    }
    let sentence = json!(["Too many requests."]).to_string();
    match faults.draw(18) {
        0 | 1 => (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "7")], sentence).into_response(),
        2 | 3 => (StatusCode::TOO_MANY_REQUESTS, sentence).into_response(),
        4 | 5 => (StatusCode::INTERNAL_SERVER_ERROR, "{}").into_response(),
        6 | 7 => {
            // Done, and answered as if it was not.
            let _ = next.run(request).await;
            (StatusCode::BAD_GATEWAY, "<html>").into_response()
        }
        8 | 9 => torn(&Bytes::from_static(b"{\"data\": {")),
        10..=13 => {
            let answer = next.run(request).await;
            torn(&to_bytes(answer.into_body(), usize::MAX).await.unwrap())
        }
        14 => (StatusCode::OK, "<html>maintenance</html>").into_response(),
        15 | 16 => {
            // Slow, but in time or not.
            let answer = to_bytes(next.run(request).await.into_body(), usize::MAX).await.unwrap();
            let bytes = u32::try_from(answer.len().max(1)).unwrap();
            slow(answer, TIMEOUT / bytes * u32::try_from(1 + faults.draw(2)).unwrap() / 2)
        }
        _ => {
            let answer = next.run(request).await;
            tokio::time::sleep(TIMEOUT * 2).await;
            answer
        }
    }
}

const TIMEOUT: Duration = Duration::from_millis(700);

/// A campaign of one of the two Skalds.
#[derive(Clone)]
struct Side {
    engine: Arc<LocalEngine>,
    campaign_id: String,
}

impl Side {
    async fn new(app: App) -> Self {
        let engine = LocalEngine::new(app);
        let input = json!({"name": "Bells", "gm_mode": "HUMAN"});
        let created =
            engine.call(&Caller::owner(), "campaign_create", input, &RequestControl::default()).await.unwrap();
        let campaign_id = created["id"].as_str().unwrap().to_owned();
        Self { engine, campaign_id }
    }

    async fn try_call(&self, operation: &str, mut input: Value) -> Result<Value, Fault> {
        input["campaign_id"] = json!(self.campaign_id);
        self.engine.call(&Caller::owner(), operation, input, &RequestControl::default()).await
    }

    async fn call(&self, operation: &str, input: Value) -> Value {
        self.try_call(operation, input).await.unwrap_or_else(|fault| panic!("{operation}: {fault}"))
    }

    /// The first result of a batch.
    async fn batch(&self, operation: &str, field: &str, item: Value) -> Value {
        self.call(operation, json!({field: [item]})).await["results"][0].clone()
    }

    async fn create(&self, entity_type: &str, name: &str, entry: &str) -> u64 {
        let item = json!({"entity_type": entity_type, "name": name, "entry": entry, "is_private": false});
        let created = self.batch("create_entities", "entities", item).await;
        created["entity_id"].as_u64().unwrap_or_else(|| panic!("{created}"))
    }

    async fn update(&self, entity_id: u64, mut fields: Value) -> Value {
        fields["entity_id"] = json!(entity_id);
        self.batch("update_entities", "updates", fields).await
    }

    async fn get(&self, entity_id: u64) -> Value {
        let input = json!({"entity_ids": [entity_id], "include_posts": true});
        self.call("get_entities", input).await["results"][0].clone()
    }

    async fn ids(&self) -> Vec<u64> {
        let found = self.call("find_entities", json!({"limit": 0, "include_full": false})).await;
        found["entities"].as_array().unwrap().iter().map(|row| row["entity_id"].as_u64().unwrap()).collect()
    }

    /// Makes rows of a list of the API move.
    async fn shift_a_row(&self, comes: bool) {
        let found = self.call("find_entities", json!({"name": "Shift", "include_full": false})).await;
        match found["entities"].as_array().unwrap().first() {
            Some(row) if !comes => drop(self.call("delete_entities", json!({"entity_ids": [row["entity_id"]]})).await),
            _ => drop(self.create("character", "Shift", "").await),
        }
    }

    /// All entities by id, as both sides should have them.
    async fn lore(&self) -> BTreeMap<u64, Value> {
        let mut lore = BTreeMap::new();
        let ids = self.ids().await;
        for part in ids.chunks(100) {
            let found = self.call("get_entities", json!({"entity_ids": part, "include_posts": true})).await;
            for row in found["results"].as_array().unwrap() {
                lore.insert(row["entity_id"].as_u64().unwrap(), comparable(row));
            }
        }
        lore
    }
}

/// The type and the subtype as both sides can compare them: what has no module in Kanka is a note of that type there.
fn comparable_type(row: &Value) -> (String, String) {
    let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
    let (entity_type, subtype) = (text("entity_type"), text("type"));
    if !["note", "clue", "document", "other"].contains(&entity_type.as_str()) {
        return (entity_type, subtype);
    }
    let words = ["Clue", "Document", "Other"];
    let rest = words.iter().find_map(|word| subtype.strip_prefix(word)).map(|rest| rest.trim_start_matches(": "));
    ("note".to_owned(), rest.unwrap_or(&subtype).to_owned())
}

/// The fields of an entity that travel, in an order that does not depend on who wrote first.
fn comparable(row: &Value) -> Value {
    let (entity_type, subtype) = comparable_type(row);
    let has_date = ["journal", "quest", "event"].contains(&entity_type.as_str());
    let set = |name: &str| -> BTreeSet<String> {
        let list = row[name].as_array().into_iter().flatten();
        list.map(|text| text.as_str().unwrap().to_lowercase()).collect()
    };
    let mut posts: Vec<String> = row["posts"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|post| format!("{} / {} / {}", post["name"], post["entry"], post["is_private"]))
        .collect();
    posts.sort();
    json!({
        "name": row["name"], "entity_type": entity_type, "type": subtype, "entry": row["entry"],
        "is_private": row["is_private"], "date": if has_date { row["date"].clone() } else { Value::Null },
        "image": row["image"], "tags": set("tags"), "aliases": set("aliases"), "parent": row["parent"]["entity_id"], "posts": posts,
    })
}

/// A Skald that is linked, and the one that it mirrors.
struct MirrorPair {
    here: Side,
    there: Side,
    /// The number of the campaign there.
    number: u64,
    faults: Arc<Faults>,
    pace: InstantClock,
    address: SocketAddr,
    server: JoinHandle<()>,
    router: Router,
}

impl MirrorPair {
    async fn new(seed: u64) -> Self {
        Self::on_journal(seed, Arc::new(skald_store::Memory::new())).await
    }

    async fn on_journal(seed: u64, journal: Arc<dyn Journal>) -> Self {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let entropy = |start: u64| Arc::new(CountingEntropy(AtomicU64::new(start)));
        let there =
            Side::new(App::new(entropy(1 << 40), Arc::clone(&clock), Arc::new(skald_store::Memory::new()))).await;
        let campaigns = there.call("list_numbered_campaigns", json!({})).await;
        let number = campaigns["campaigns"][0]["number"].as_u64().unwrap();
        let faults = Arc::new(Faults {
            dice: Mutex::new(Dice::new(seed)),
            per_mille: AtomicU32::new(0),
            shifts: AtomicBool::new(false),
            fixed: Mutex::new(None),
            requests: Mutex::default(),
            upstream: there.clone(),
        });
        let options = ApiOptions { visible: ToolsetFilter::EVERYTHING };
        let engine: Arc<dyn Engine> = Arc::clone(&there.engine) as _;
        let router = Router::new()
            .route("/api/kanka/{*rest}", api_handler(engine, &options))
            .layer(Extension(Caller::owner()))
            .layer(from_fn_with_state(Arc::clone(&faults), answer_with_faults));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = serve(listener, router.clone());
        let pace = InstantClock::default();
        let mut app = App::new(entropy(1), clock, journal);
        app.remotes = Arc::new(connector(TOKEN, &pace));
        let here = Side::new(app).await;
        Self { here, there, number, faults, pace, address, server, router }
    }

    fn base_url(&self) -> String {
        format!("http://{}/api/kanka/1.0", self.address)
    }

    async fn linked(seed: u64) -> Self {
        let pair = Self::new(seed).await;
        pair.link(json!({})).await.unwrap();
        pair
    }

    async fn link(&self, mut input: Value) -> Result<Value, Fault> {
        input["method"] = json!("link");
        input["kanka_campaign"] = json!(self.number);
        input["base_url"] = json!(self.base_url());
        self.here.try_call("kanka_mirror", input).await
    }

    async fn mirror(&self, method: &str, mut input: Value) -> Value {
        input["method"] = json!(method);
        self.here.call("kanka_mirror", input).await
    }

    async fn sync(&self, scope: SyncScope) -> Result<SyncReport, Fault> {
        let app = self.here.engine.app();
        app.sync_mirror(&self.here.campaign_id, scope, LEASE_WAIT_MAX, &mut |_, _| {}).await
    }

    async fn pull(&self) -> SyncReport {
        self.sync(SyncScope::Everything).await.unwrap_or_else(|fault| panic!("pull: {fault}"))
    }

    /// The requests since the last call.
    fn take_requests(&self) -> Vec<String> {
        std::mem::take(&mut *self.faults.requests.lock().unwrap())
    }

    async fn conflicts(&self) -> Vec<Value> {
        self.mirror("conflicts", json!({})).await["conflicts"].as_array().unwrap().clone()
    }

    /// Stops the API: nobody listens at its address any more.
    async fn stop_upstream(&mut self) {
        self.server.abort();
        let _ = (&mut self.server).await;
    }

    async fn start_upstream(&mut self) {
        let listener = TcpListener::bind(self.address).await.unwrap();
        self.server = serve(listener, self.router.clone());
    }
}

fn connector(token: &'static str, pace: &InstantClock) -> KankaConnector {
    let timeouts = ConnectionTimeouts { connect: Duration::from_secs(5), answer: TIMEOUT };
    KankaConnector::with_clock(Arc::new(move || Ok(token.to_owned())), Arc::new(pace.clone()), timeouts)
}

fn serve(listener: TcpListener, router: Router) -> JoinHandle<()> {
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() })
}
