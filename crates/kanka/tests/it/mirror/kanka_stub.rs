//! A small Kanka with the shapes of its real answers: typed rows without `parent_id`, slim rows of a creation in bulk,
//! sentences in the place of an entity, and secrets that an answer has beside what is public.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};
use skald_app::{App, Fault, SyncReport, SyncScope};
use skald_journal::Journal;
use skald_kanka::{ConnectionTimeouts, ENTITY_KINDS, EntityKind, KankaConnector};
use tokio::net::TcpListener;

use super::{CountingEntropy, InstantClock, LEASE_WAIT_MAX, PaceClock, Side, TIMEOUT};

const PAGE_ROWS: usize = 45;
const CAMPAIGN: u64 = 77;

/// A module that the campaign has of its own.
static GOD: EntityKind = EntityKind { code: "god", plural: "gods", type_id: 25, entity_type: None };

/// An entity as the stub stores it.
#[derive(Debug, Clone)]
pub(super) struct StubEntity {
    pub kind: &'static EntityKind,
    /// Its number within the kind.
    pub id: u64,
    pub name: String,
    pub subtype: Option<String>,
    pub entry: Option<String>,
    pub tags: Vec<u64>,
    pub is_private: bool,
    /// The number within the kind of its parent.
    pub parent: Option<u64>,
    /// Aliases with their visibility.
    pub aliases: BTreeMap<u64, (String, u64)>,
    pub posts: BTreeMap<u64, Value>,
    changed: u64,
}

#[derive(Default)]
pub(super) struct StubData {
    pub entities: BTreeMap<u64, StubEntity>,
    /// Names of tags, and whether they are private.
    pub tags: BTreeMap<u64, (String, bool)>,
    pub token: String,
    pub rate_limit: u32,
    /// The campaign was deleted: everything about it is 404.
    pub is_gone: bool,
    /// Sentences in the place of entities.
    pub sentences: BTreeMap<u64, String>,
    /// Entities that no list has.
    pub unlisted: BTreeSet<u64>,
    /// Keys that typed rows do not have.
    pub omitted: Vec<&'static str>,
    /// An edit that somebody makes there when so many requests were answered.
    pub later_edit: Option<(usize, u64, String)>,
    /// Names that are refused with 422.
    pub refused_name: Option<String>,
    /// A change without a name is refused with 422, as older versions do.
    pub wants_names: bool,
    /// Entities about which every request is answered with 500.
    pub failing: BTreeSet<u64>,
    /// Entities that can be read, and whose changes are answered with 500.
    pub failing_writes: BTreeSet<u64>,
    /// Entities, posts and aliases are created, and the answer is an error.
    pub loses_creation_answers: bool,
    /// An entity that somebody deletes there right before a request whose address ends so.
    pub later_deletion: Option<(String, u64)>,
    /// Rows that lists of changes count and do not have.
    pub uncounted_rows: u64,
    /// Names whose creation is answered with 500.
    pub failing_name: Option<String>,
    /// What the token's user may not do: types of entities with actions. `None`: nobody can ask.
    pub denied_actions: Option<Vec<(u64, u64)>>,
    pub requests: Vec<String>,
    /// The idempotency keys of all writes.
    pub keys: Vec<String>,
    next: u64,
    now: u64,
}

impl StubData {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    pub(super) fn touch(&mut self, entity_id: u64) {
        self.now += 1;
        let now = self.now;
        self.entities.get_mut(&entity_id).unwrap().changed = now;
    }

    /// Creates an entity and returns its entity id.
    pub(super) fn create(&mut self, code: &str, name: &str) -> u64 {
        let (entity_id, id) = (1_000 + self.number(), self.number());
        let kind = ENTITY_KINDS.iter().chain([&GOD]).find(|kind| kind.code == code).unwrap();
        let entity = StubEntity {
            kind,
            id,
            name: name.to_owned(),
            subtype: None,
            entry: None,
            tags: Vec::new(),
            is_private: false,
            parent: None,
            aliases: BTreeMap::new(),
            posts: BTreeMap::new(),
            changed: 0,
        };
        self.entities.insert(entity_id, entity);
        self.touch(entity_id);
        entity_id
    }

    pub(super) fn find(&self, name: &str) -> (u64, &StubEntity) {
        let found = self.entities.iter().find(|(_, entity)| entity.name == name);
        found.map_or_else(|| panic!("{name} is not there"), |(id, entity)| (*id, entity))
    }

    fn moment(seconds: u64) -> String {
        let begin: jiff::Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        format!("{:.6}", begin + jiff::SignedDuration::from_secs(i64::try_from(seconds * 60).unwrap()))
    }

    fn entity_row(entity_id: u64, entity: &StubEntity) -> Map<String, Value> {
        let row = json!({
            "id": entity_id, "name": entity.name, "type": entity.kind.code, "type_id": entity.kind.type_id,
            "child_id": entity.id, "tags": entity.tags, "is_private": entity.is_private, "is_template": false,
            "campaign_id": CAMPAIGN, "created_at": Self::moment(0), "created_by": null,
            "updated_at": Self::moment(entity.changed), "updated_by": null,
        });
        row.as_object().unwrap().clone()
    }

    /// A row of `/entities`. One of a module of the campaign's own has its fields itself.
    fn whole_row(&self, entity_id: u64, is_related: bool, has_child: bool) -> Value {
        let entity = &self.entities[&entity_id];
        let mut row = Self::entity_row(entity_id, entity);
        if entity.kind.type_id == GOD.type_id {
            let typed = self.typed_row(entity_id, is_related);
            for field in ["entry", "entity_assets", "posts"] {
                row.extend(typed.get(field).map(|value| (field.to_owned(), value.clone())));
            }
            row.insert("type_field".to_owned(), json!(entity.subtype));
            row.insert("child".to_owned(), Value::Null);
        } else if has_child {
            row.insert("child".to_owned(), self.typed_row(entity_id, is_related));
        }
        Value::Object(row)
    }

    fn typed_row(&self, entity_id: u64, is_related: bool) -> Value {
        if let Some(sentence) = self.sentences.get(&entity_id) {
            return json!(sentence);
        }
        let entity = &self.entities[&entity_id];
        let mut row = json!({
            "id": entity.id, "name": entity.name, "entry": entity.entry, "entry_parsed": entity.entry,
            "type": entity.subtype, "is_private": entity.is_private, "entity_id": entity_id, "tags": entity.tags,
            "image": null, "image_full": null, "has_custom_image": false,
            "updated_at": Self::moment(entity.changed), "created_by": null,
        });
        let fields = row.as_object_mut().unwrap();
        fields.insert(format!("{}_id", entity.kind.code), json!(entity.parent));
        if is_related {
            let assets = entity.aliases.iter().map(|(id, (name, visibility))| {
                json!({"id": id, "type_id": 3, "_alias": true, "name": name, "visibility_id": visibility, "is_private": false})
            });
            fields.insert("entity_assets".to_owned(), assets.collect());
            fields.insert("posts".to_owned(), entity.posts.values().cloned().collect());
        }
        for key in &self.omitted {
            fields.remove(*key);
        }
        row
    }

    fn fill(&mut self, entity_id: u64, body: &Value) {
        let entity = self.entities.get_mut(&entity_id).unwrap();
        let text = |name: &str| body.get(name).map(|text| text.as_str().map(ToOwned::to_owned));
        if let Some(Some(name)) = text("name") {
            entity.name = name;
        }
        if let Some(subtype) = text("type") {
            entity.subtype = subtype;
        }
        if let Some(entry) = text("entry") {
            // The purifier leaves no white space at the end.
            entity.entry = entry.map(|html| html.trim_end().to_owned());
        }
        if let Some(tags) = body["tags"].as_array() {
            entity.tags = tags.iter().filter_map(Value::as_u64).collect();
        }
        if let Some(is_private) = body["is_private"].as_bool() {
            entity.is_private = is_private;
        }
        self.touch(entity_id);
    }
}

fn page(rows: &[Value], query: &str, sync: &str) -> Value {
    let number = query.split('&').find_map(|part| part.strip_prefix("page=")).map_or(1, |text| text.parse().unwrap());
    let last = rows.len().div_ceil(PAGE_ROWS).max(1);
    let shown: Vec<&Value> = rows.iter().skip((number - 1) * PAGE_ROWS).take(PAGE_ROWS).collect();
    let next = (number < last).then(|| format!("https://kanka.example/?page={}", number + 1));
    json!({
        "data": shown, "sync": sync, "links": {"next": next},
        "meta": {"current_page": number, "last_page": last, "per_page": PAGE_ROWS, "total": rows.len()},
    })
}

fn json_answer(status: u16, body: &Value) -> Response {
    (StatusCode::from_u16(status).unwrap(), body.to_string()).into_response()
}

fn not_found() -> Response {
    json_answer(404, &json!({"code": 404, "error": "Page not found"}))
}

async fn answer(State(stub): State<Arc<Mutex<StubData>>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let mut stub = stub.lock().unwrap();
    stub.requests.push(format!("{} {}", parts.method, parts.uri));
    if parts.method != "GET" {
        let key = parts.headers.get("idempotency-key").and_then(|value| value.to_str().ok());
        stub.keys.push(key.unwrap_or_default().to_owned());
    }
    let answered = stub.requests.len();
    if let Some((_, entity_id, entry)) = stub.later_edit.take_if(|(count, ..)| answered == *count) {
        stub.fill(entity_id, &json!({"entry": entry}));
    }
    let uri = parts.uri.to_string();
    if let Some((_, entity_id)) = stub.later_deletion.take_if(|(end, _)| uri.ends_with(&**end)) {
        stub.entities.remove(&entity_id);
    }
    let token = parts.headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default();
    if token != format!("Bearer {}", stub.token) {
        return json_answer(401, &json!({"message": "Unauthenticated."}));
    }
    let query = parts.uri.query().unwrap_or_default();
    let path: Vec<&str> = parts.uri.path().split('/').filter(|part| !part.is_empty()).collect();
    match (parts.method.as_str(), &path[..]) {
        ("GET", ["profile"]) => json_answer(200, &json!({"data": {"id": 1, "rate_limit": stub.rate_limit}})),
        (_, ["campaigns", ..]) if stub.is_gone => not_found(),
        ("GET", ["campaigns", _]) => json_answer(200, &json!({"data": {"id": CAMPAIGN, "name": "Bells"}})),
        (method, ["campaigns", _, below @ ..]) => answer_below(&mut stub, method, below, query, &body),
        _ => not_found(),
    }
}

fn number_in_path(text: &str) -> u64 {
    text.parse().unwrap_or(0)
}

/// The error that the stub was told to answer a request with.
fn refusal_below(stub: &StubData, method: &str, below: &[&str], body: &Value) -> Option<Response> {
    let is_refused =
        |body: &Value| stub.refused_name.is_some() && body["name"].as_str() == stub.refused_name.as_deref();
    if is_refused(body) || body["entities"].as_array().is_some_and(|list| list.iter().any(is_refused)) {
        let fields = json!({"name": ["The name is reserved."]});
        return Some(json_answer(422, &json!({"code": 422, "error": "The given data was invalid.", "fields": fields})));
    }
    if method == "PATCH" && stub.wants_names && body["name"].as_str().is_none() {
        let fields = json!({"name": ["The name field is required."]});
        return Some(json_answer(422, &json!({"code": 422, "error": "The given data was invalid.", "fields": fields})));
    }
    let is_failing = |id: u64| stub.failing.contains(&id) || (method != "GET" && stub.failing_writes.contains(&id));
    let failing_name = stub.failing_name.as_deref();
    let is_about_failing = match below {
        ["entities", entity_id, ..] if method != "POST" || below.len() > 2 => is_failing(number_in_path(entity_id)),
        [plural, own_id] if method != "POST" => stub.entities.iter().any(|(entity_id, entity)| {
            entity.kind.plural == *plural && entity.id == number_in_path(own_id) && is_failing(*entity_id)
        }),
        _ => failing_name.is_some_and(|name| method == "POST" && body.to_string().contains(name)),
    };
    if is_about_failing {
        return Some(json_answer(500, &json!({"code": 500, "error": "Whoops."})));
    }
    None
}

fn answer_below(stub: &mut StubData, method: &str, below: &[&str], query: &str, body: &Value) -> Response {
    let sync = StubData::moment(stub.now);
    let (id, is_related) = (number_in_path, query.contains("related=1"));
    if let Some(refusal) = refusal_below(stub, method, below, body) {
        return refusal;
    }
    match (method, below) {
        ("POST", ["permissions", "test"]) => {
            let Some(denied) = &stub.denied_actions else { return not_found() };
            let can = |row: &Value| {
                let asked = (row["entity_type_id"].as_u64().unwrap(), row["action"].as_u64().unwrap());
                let mut row = row.clone();
                row["can"] = if denied.contains(&asked) { json!(false) } else { json!(1) };
                row
            };
            json_answer(200, &json!({"data": body.as_array().unwrap().iter().map(can).collect::<Vec<_>>()}))
        }
        ("GET", ["entity_types"]) => {
            let row = |kind: &EntityKind, name: &str, is_custom: bool| json!({"id": kind.type_id, "code": kind.code, "singular": name, "is_custom": is_custom});
            let rows = ENTITY_KINDS.iter().map(|kind| row(kind, kind.code, false));
            json_answer(200, &json!({"data": rows.chain([row(&GOD, "God", true)]).collect::<Vec<_>>()}))
        }
        ("PATCH", ["tags", tag_id]) => {
            let Some(tag) = stub.tags.get_mut(&id(tag_id)) else { return not_found() };
            body["name"].as_str().unwrap().clone_into(&mut tag.0);
            json_answer(200, &json!({"data": {"id": id(tag_id), "name": tag.0, "is_private": tag.1}}))
        }
        ("GET", ["tags"]) => {
            let tag = |(id, (name, is_private)): (&u64, &(String, bool))| json!({"id": id, "name": name, "is_private": is_private});
            json_answer(200, &page(&stub.tags.iter().map(tag).collect::<Vec<_>>(), query, &sync))
        }
        ("POST", ["tags"]) => {
            let (tag_id, name) = (stub.number(), body["name"].as_str().unwrap().to_owned());
            stub.tags.insert(tag_id, (name.clone(), false));
            json_answer(201, &json!({"data": {"id": tag_id, "name": name, "is_private": false}}))
        }
        ("GET", ["entities"]) => {
            let since =
                query.split('&').find_map(|part| part.strip_prefix("lastSync=")).map(|text| text.replace("%3A", ":"));
            let type_ids: Vec<u64> =
                query.split('&').filter_map(|part| part.strip_prefix("type_id[]=")).map(id).collect();
            let is_asked = |entity: &StubEntity| {
                since.as_ref().is_none_or(|since| StubData::moment(entity.changed) > *since)
                    && (type_ids.is_empty() || type_ids.contains(&entity.kind.type_id))
            };
            let listed = stub.entities.iter().filter(|(_, entity)| is_asked(entity));
            let rows = listed.map(|(entity_id, _)| stub.whole_row(*entity_id, is_related, false));
            let mut list = page(&rows.collect::<Vec<_>>(), query, &sync);
            if since.is_some() {
                list["meta"]["total"] = json!(list["meta"]["total"].as_u64().unwrap() + stub.uncounted_rows);
            }
            json_answer(200, &list)
        }
        ("POST", ["entities", type_id]) => {
            // Kanka fills the model of the kind, which has no text and no type, and answers slim rows.
            let code = ENTITY_KINDS.iter().find(|kind| kind.type_id == id(type_id)).unwrap().code;
            let mut rows = Vec::new();
            for item in body["entities"].as_array().unwrap() {
                let entity_id = stub.create(code, item["name"].as_str().unwrap());
                rows.push(Value::Object(StubData::entity_row(entity_id, &stub.entities[&entity_id])));
            }
            json_answer(200, &json!({"data": rows}))
        }
        ("GET", ["entities", entity_id]) => match stub.entities.get(&id(entity_id)) {
            Some(_) => json_answer(200, &json!({"data": stub.whole_row(id(entity_id), is_related, true)})),
            None => not_found(),
        },
        (method, ["entities", entity_id, "entity_assets", rest @ ..]) => {
            let asset_id = stub.number();
            let Some(entity) = stub.entities.get_mut(&id(entity_id)) else { return not_found() };
            if let [asset_id] = rest {
                assert_eq!(method, "DELETE");
                return if entity.aliases.remove(&id(asset_id)).is_some() {
                    json_answer(204, &Value::Null)
                } else {
                    not_found()
                };
            }
            let name = body["name"].as_str().unwrap().to_owned();
            entity.aliases.insert(asset_id, (name.clone(), 1));
            if stub.loses_creation_answers {
                return json_answer(502, &Value::Null);
            }
            json_answer(201, &json!({"data": {"id": asset_id, "type_id": 3, "name": name, "visibility_id": 1}}))
        }
        (method, ["entities", entity_id, "posts", rest @ ..]) => {
            answer_posts(stub, method, (id(entity_id), rest.first().map(|post_id| id(post_id))), body)
        }
        (method, [plural, rest @ ..]) => answer_typed(stub, method, (*plural, rest), query, body),
        _ => not_found(),
    }
}

/// The posts of an entity, or one of them.
fn answer_posts(stub: &mut StubData, method: &str, (entity_id, post_id): (u64, Option<u64>), body: &Value) -> Response {
    let new_id = stub.number();
    let Some(entity) = stub.entities.get_mut(&entity_id) else { return not_found() };
    match (method, post_id) {
        ("PATCH", Some(post_id)) => {
            let Some(post) = entity.posts.get_mut(&post_id) else { return not_found() };
            for (field, value) in body.as_object().unwrap() {
                post[field] = value.clone();
            }
            json_answer(200, &json!({"data": post}))
        }
        ("DELETE", Some(post_id)) => match entity.posts.remove(&post_id) {
            Some(_) => json_answer(204, &Value::Null),
            None => not_found(),
        },
        ("POST", None) => {
            let post = json!({"id": new_id, "name": body["name"], "entry": body["entry"], "visibility_id": body["visibility_id"]});
            entity.posts.insert(new_id, post.clone());
            if stub.loses_creation_answers {
                return json_answer(502, &Value::Null);
            }
            json_answer(201, &json!({"data": post}))
        }
        _ => not_found(),
    }
}

/// A route of a kind: its list, or one entity of it.
fn answer_typed(
    stub: &mut StubData,
    method: &str,
    (plural, rest): (&str, &[&str]),
    query: &str,
    body: &Value,
) -> Response {
    let (sync, is_related) = (StubData::moment(stub.now), query.contains("related=1"));
    let Some(kind) = ENTITY_KINDS.iter().find(|kind| kind.plural == plural) else { return not_found() };
    let of_kind = |(_, entity): &(&u64, &StubEntity)| entity.kind == kind;
    let found = rest.first().map(|text| text.parse::<u64>().unwrap_or(0)).and_then(|id| {
        stub.entities.iter().filter(of_kind).find(|(_, entity)| entity.id == id).map(|(entity_id, _)| *entity_id)
    });
    match (method, rest, found) {
        ("GET", [], _) => {
            let listed = stub.entities.iter().filter(of_kind).filter(|(id, _)| !stub.unlisted.contains(id));
            let rows: Vec<Value> = listed.map(|(entity_id, _)| stub.typed_row(*entity_id, is_related)).collect();
            json_answer(200, &page(&rows, query, &sync))
        }
        ("POST", [], _) => {
            let entity_id = stub.create(kind.code, body["name"].as_str().unwrap());
            stub.fill(entity_id, body);
            if stub.loses_creation_answers {
                return json_answer(502, &Value::Null);
            }
            json_answer(201, &json!({"data": stub.typed_row(entity_id, false)}))
        }
        ("PATCH", [_], Some(entity_id)) => {
            stub.fill(entity_id, body);
            json_answer(200, &json!({"data": stub.typed_row(entity_id, false)}))
        }
        ("DELETE", [_], Some(entity_id)) => {
            stub.entities.remove(&entity_id);
            json_answer(204, &Value::Null)
        }
        _ => not_found(),
    }
}

/// A clock that goes on while the pace makes requests wait.
struct PacedClock(jiff::Timestamp, InstantClock);

impl skald_app::Clock for PacedClock {
    fn now(&self) -> jiff::Timestamp {
        self.0 + jiff::SignedDuration::try_from(self.1.now()).unwrap()
    }
}

/// A Skald that is linked to the stub.
pub(super) struct LinkedToStub {
    pub here: Side,
    /// What the token source answers.
    pub token: Arc<Mutex<String>>,
    pub base_url: String,
    stub: Arc<Mutex<StubData>>,
}

impl LinkedToStub {
    /// Starts a stub that has what `prepare` creates, and links an empty campaign to it.
    pub(super) async fn new(prepare: impl FnOnce(&mut StubData)) -> Self {
        Self::on_journal(Arc::new(skald_store::Memory::new()), prepare).await
    }

    pub(super) async fn on_journal(journal: Arc<dyn Journal>, prepare: impl FnOnce(&mut StubData)) -> Self {
        let mut data = StubData { token: "first-token".to_owned(), rate_limit: 90, ..StubData::default() };
        prepare(&mut data);
        let stub = Arc::new(Mutex::new(data));
        let router = Router::new().fallback(answer).with_state(Arc::clone(&stub));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let base_url = format!("http://{}", listener.local_addr().unwrap());
        drop(super::serve(listener, router));
        let (pace, token) = (InstantClock::default(), Arc::new(Mutex::new("first-token".to_owned())));
        let here = Side::new(Self::app(journal, &token, &pace)).await;
        let pair = Self { here, token, base_url, stub };
        let link = json!({"method": "link", "kanka_campaign": CAMPAIGN, "base_url": pair.base_url});
        pair.here.call("kanka_mirror", link).await;
        pair
    }

    /// An app on a journal, as another process has it.
    pub(super) fn app(journal: Arc<dyn Journal>, token: &Arc<Mutex<String>>, pace: &InstantClock) -> App {
        let entropy = CountingEntropy(std::sync::atomic::AtomicU64::new(1));
        let clock = Arc::new(PacedClock(jiff::Timestamp::now(), pace.clone()));
        let mut app = App::new(Arc::new(entropy), clock, journal);
        let timeouts = ConnectionTimeouts { connect: std::time::Duration::from_secs(5), answer: TIMEOUT };
        let token = Arc::clone(token);
        let source = Arc::new(move || Ok(token.lock().unwrap().clone()));
        app.remotes = Arc::new(KankaConnector::with_clock(source, Arc::new(pace.clone()), timeouts));
        app
    }

    pub(super) fn stub(&self) -> MutexGuard<'_, StubData> {
        self.stub.lock().unwrap()
    }

    pub(super) fn take_requests(&self) -> Vec<String> {
        std::mem::take(&mut self.stub().requests)
    }

    pub(super) async fn sync(&self, scope: SyncScope) -> Result<SyncReport, Fault> {
        let app = self.here.engine.app();
        app.sync_mirror(&self.here.campaign_id, scope, LEASE_WAIT_MAX, &mut |_, _| {}).await
    }

    pub(super) async fn pull(&self) {
        self.sync(SyncScope::Everything).await.unwrap_or_else(|fault| panic!("pull: {fault}"));
    }

    pub(super) async fn status(&self) -> Value {
        self.here.call("kanka_mirror", json!({})).await
    }
}
