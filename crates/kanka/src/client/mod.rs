//! The client of a Kanka: the remote place that a campaign mirrors, over Kanka's API.

mod answers;
mod connection;
mod pacing;
mod tags;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use reqwest::Method;
use serde_json::{Map, Value, json};
use skald_app::{
    Code, Fault, RemoteAddress, RemoteAlias, RemoteChange, RemoteConnector, RemoteCreated, RemoteDraft, RemoteEntity,
    RemoteFailure, RemoteFailureKind, RemoteFuture, RemoteHead, RemoteKind, RemoteLore, RemotePage, RemotePost,
    RemotePostChange, RemoteProfile, RemoteTarget,
};

use self::answers::{
    MIRRORED_KINDS, alias_of, broken, created_ids, custom_types_of, data_of, flag_of, head_of, is_custom,
    is_custom_row, number_of, page_of, plural_of, post_of, text_of, type_id_of, typed_entity, whole_entity,
};
use self::connection::ApiConnection;
pub use self::connection::ConnectionTimeouts;
pub use self::pacing::{PaceClock, SystemPaceClock};
use self::tags::TagNames;

/// Entities of one kind that Kanka creates with one request.
const CREATED_AT_ONCE: usize = 20;
/// The API of kanka.io.
pub const KANKA_BASE_URL: &str = "https://api.kanka.io/1.0";

/// Where the token comes from. It is asked for at every connection, so that a new token needs no restart.
pub type KankaTokenSource = Arc<dyn Fn() -> Result<String, String> + Send + Sync>;

/// Connects campaigns to Kanka.
pub struct KankaConnector {
    token: KankaTokenSource,
    clock: Arc<dyn PaceClock>,
    timeouts: ConnectionTimeouts,
}

impl KankaConnector {
    pub fn new(token: KankaTokenSource) -> Self {
        Self::with_clock(token, Arc::new(SystemPaceClock::default()), ConnectionTimeouts::default())
    }

    /// With another time for the pace, and other timeouts: for tests.
    pub fn with_clock(token: KankaTokenSource, clock: Arc<dyn PaceClock>, timeouts: ConnectionTimeouts) -> Self {
        Self { token, clock, timeouts }
    }
}

impl RemoteConnector for KankaConnector {
    fn default_base_url(&self) -> &'static str {
        KANKA_BASE_URL
    }

    fn connect(&self, address: &RemoteAddress) -> Result<Arc<dyn RemoteLore>, Fault> {
        let refuse = |message: String| {
            Fault::new(Code::Rejected, message)
                .hint("put a token of Kanka into the variable SKALD_KANKA_TOKEN, or into a file that only you can read")
        };
        let token = (self.token)().map_err(refuse)?;
        let connection = ApiConnection::new(&address.base_url, &token, Arc::clone(&self.clock), self.timeouts);
        let connection = connection.map_err(refuse)?;
        Ok(Arc::new(KankaClient {
            connection,
            campaign_id: address.campaign_id,
            tags: TagNames::default(),
            answers_ids_alone: AtomicBool::new(false),
            wants_names: AtomicBool::new(false),
            custom_types: Mutex::new(None),
        }))
    }
}

struct KankaClient {
    connection: ApiConnection,
    campaign_id: u64,
    tags: TagNames,
    /// Whether this Kanka answers a bulk creation with ids only, and may have stored no more than the names. Then one request
    /// for each entity is cheaper than reading all of them and sending the other fields again.
    answers_ids_alone: AtomicBool,
    /// Whether this Kanka requires the name in every change of an entity or post.
    wants_names: AtomicBool,
    custom_types: Mutex<Option<BTreeMap<u64, String>>>,
}

impl KankaClient {
    /// A path below the campaign.
    fn path(&self, below: &str) -> String {
        format!("campaigns/{}/{below}", self.campaign_id)
    }

    async fn get(&self, below: &str) -> Result<Value, RemoteFailure> {
        self.connection.get(&self.path(below)).await
    }

    async fn send(&self, method: Method, below: &str, body: &Value) -> Result<Value, RemoteFailure> {
        self.connection.send(&method, &self.path(below), Some(body)).await
    }

    /// Sends a change. The name is sent along if this Kanka wants it with every change: older versions do.
    pub(super) async fn patch(
        &self,
        below: &str,
        mut body: Map<String, Value>,
        name: &str,
    ) -> Result<Value, RemoteFailure> {
        let has_name = body.contains_key("name");
        if !has_name && self.wants_names.load(Ordering::Relaxed) {
            body.insert("name".to_owned(), json!(name));
            return self.send(Method::PATCH, below, &Value::Object(body)).await;
        }
        let answer = self.send(Method::PATCH, below, &Value::Object(body.clone())).await;
        match answer {
            Err(failure) if !has_name && is_about_the_name(&failure) => {
                body.insert("name".to_owned(), json!(name));
                let answer = self.send(Method::PATCH, below, &Value::Object(body)).await?;
                self.wants_names.store(true, Ordering::Relaxed);
                Ok(answer)
            }
            answer => answer,
        }
    }

    async fn delete(&self, below: &str) -> Result<(), RemoteFailure> {
        self.connection.send(&Method::DELETE, &self.path(below), None).await.map(drop)
    }

    /// The fields of a draft, as every typed route takes them.
    async fn draft_body(&self, draft: &RemoteDraft) -> Result<Value, RemoteFailure> {
        let mut body = Map::new();
        body.insert("name".to_owned(), json!(draft.name));
        body.insert("is_private".to_owned(), json!(draft.is_private));
        if !draft.subtype.is_empty() {
            body.insert("type".to_owned(), json!(draft.subtype));
        }
        if !draft.html.is_empty() {
            body.insert("entry".to_owned(), json!(draft.html));
        }
        if !draft.tags.is_empty() {
            body.insert("tags".to_owned(), json!(self.tag_ids(&draft.tags).await?));
        }
        if let Some(parent) = draft.parent {
            body.insert("parent_id".to_owned(), json!(parent));
        }
        if let Some(date) = &draft.date {
            body.insert("date".to_owned(), json!(date));
        }
        Ok(Value::Object(body))
    }

    async fn change_body(&self, change: &RemoteChange) -> Result<Map<String, Value>, RemoteFailure> {
        let mut body = Map::new();
        let optional = |text: &String| if text.is_empty() { Value::Null } else { json!(text) };
        if let Some(name) = &change.name {
            body.insert("name".to_owned(), json!(name));
        }
        if let Some(subtype) = &change.subtype {
            body.insert("type".to_owned(), optional(subtype));
        }
        if let Some(html) = &change.html {
            body.insert("entry".to_owned(), optional(html));
        }
        if let Some(tags) = &change.tags {
            let ids = self.tag_ids(tags).await?;
            body.insert("tags".to_owned(), ids.into_iter().chain(change.hidden_tags.iter().copied()).collect());
        }
        if let Some(is_private) = change.is_private {
            body.insert("is_private".to_owned(), json!(is_private));
        }
        if let Some(parent) = change.parent {
            body.insert("parent_id".to_owned(), json!(parent));
        }
        if let Some(date) = &change.date {
            body.insert("date".to_owned(), json!(date));
        }
        Ok(body)
    }

    /// The actions that a user may not do with writable kinds, from `permissions/test`. Empty if this Kanka lacks that route
    /// or refuses the request.
    async fn missing_permissions(&self, user_id: u64) -> Result<Vec<String>, RemoteFailure> {
        const ACTIONS: [(u64, &str); 4] = [(1, "read"), (2, "edit"), (3, "create"), (4, "delete")];
        let written = || MIRRORED_KINDS.iter().filter(|kind| kind.entity_type.is_some());
        let question = |kind: &RemoteKind, action: u64| json!({"user_id": user_id, "entity_type_id": type_id_of(kind), "action": action});
        let questions: Vec<Value> =
            written().flat_map(|kind| ACTIONS.iter().map(move |(action, _)| question(kind, *action))).collect();
        let answer = match self.send(Method::POST, "permissions/test", &Value::Array(questions)).await {
            Ok(answer) => answer,
            Err(failure) if matches!(failure.kind, RemoteFailureKind::BadToken | RemoteFailureKind::Unreachable) => {
                return Err(failure);
            }
            Err(_) => return Ok(Vec::new()),
        };
        let rows = answer.get("data").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let is_refused = |kind: &RemoteKind, action: u64| {
            rows.iter().any(|row| {
                let is = |name: &str, number: u64| row.get(name).and_then(number_of) == Some(number);
                is("entity_type_id", type_id_of(kind))
                    && is("action", action)
                    && row.get("can").is_some()
                    && !flag_of(row, "can")
            })
        };
        let mut missing = Vec::new();
        for (action, word) in ACTIONS {
            let kinds: Vec<&str> = written().filter(|kind| is_refused(kind, action)).map(plural_of).collect();
            if kinds.len() == written().count() {
                missing.push(format!("{word} anything"));
            } else if !kinds.is_empty() {
                missing.push(format!("{word} {}", kinds.join(", ")));
            }
        }
        Ok(missing)
    }

    /// The names of the custom modules of a campaign, by their type numbers.
    async fn custom_types(&self) -> Result<BTreeMap<u64, String>, RemoteFailure> {
        if let Some(known) = self.custom_types.lock().unwrap_or_else(PoisonError::into_inner).clone() {
            return Ok(known);
        }
        let types = match self.get("entity_types").await {
            Ok(answer) => custom_types_of(&answer),
            // Older versions have no such modules.
            Err(failure) if matches!(failure.kind, RemoteFailureKind::NotFound | RemoteFailureKind::Forbidden) => {
                BTreeMap::new()
            }
            Err(failure) => return Err(failure),
        };
        *self.custom_types.lock().unwrap_or_else(PoisonError::into_inner) = Some(types.clone());
        Ok(types)
    }

    /// A page of the entities of all custom modules. `None` if there are no such modules.
    async fn list_custom(&self, page: usize) -> Result<Option<RemotePage<RemoteEntity>>, RemoteFailure> {
        let types = self.custom_types().await?;
        if types.is_empty() {
            return Ok(None);
        }
        let ids: Vec<String> = types.keys().map(|id| format!("type_id[]={id}")).collect();
        let answer = self.get(&format!("entities?{}&related=1&page={page}", ids.join("&"))).await?;
        self.load_unknown_tags(data_of(&answer)?.as_array().map_or(&[], Vec::as_slice)).await?;
        page_of(&answer, page, |row| whole_entity(row, &types, &|id| self.tags.tag(id))).map(Some)
    }

    async fn read_typed(&self, kind: &'static RemoteKind, row: &Value) -> Result<RemoteEntity, RemoteFailure> {
        self.load_unknown_tags(std::slice::from_ref(row)).await?;
        typed_entity(kind, row, &|id| self.tags.tag(id))
    }

    /// Reads the answer to a creation: a typed row, a row of `/entities` with its typed row, or one with ids only.
    async fn read_created(&self, kind: &'static RemoteKind, row: &Value) -> Result<RemoteCreated, RemoteFailure> {
        let entity = if let Some(child) = row.get("child").filter(|child| child.is_object()) {
            self.load_unknown_tags(std::slice::from_ref(child)).await?;
            whole_entity(row, &BTreeMap::new(), &|id| self.tags.tag(id))?
        } else if row.get("entity_id").is_some() {
            self.read_typed(kind, row).await?
        } else {
            self.answers_ids_alone.store(true, Ordering::Relaxed);
            return created_ids(row);
        };
        Ok(RemoteCreated { id: entity.id, entity_id: entity.entity_id, entity: Some(entity) })
    }
}

impl RemoteLore for KankaClient {
    fn profile(&self) -> RemoteFuture<'_, RemoteProfile> {
        Box::pin(async {
            let profile = self.connection.get("profile").await?;
            let limit = data_of(&profile)?.get("rate_limit").and_then(number_of);
            self.connection.pace.note_limit(limit.and_then(|limit| u32::try_from(limit).ok()), None);
            let campaign = self.connection.get(&format!("campaigns/{}", self.campaign_id)).await?;
            let missing_permissions = match data_of(&profile)?.get("id").and_then(number_of) {
                Some(user_id) => self.missing_permissions(user_id).await?,
                None => Vec::new(),
            };
            Ok(RemoteProfile {
                missing_permissions,
                campaign_name: text_of(data_of(&campaign)?, "name").unwrap_or_default(),
                requests_per_minute: self.connection.pace.limit(),
            })
        })
    }

    fn set_requests_per_minute(&self, requests_per_minute: u32) {
        self.connection.pace.note_limit(Some(requests_per_minute), None);
    }

    fn check_campaign(&self) -> RemoteFuture<'_, ()> {
        Box::pin(async {
            let answer = self.connection.get(&format!("campaigns/{}", self.campaign_id)).await;
            let check_answer = |answer: Value| {
                let is_object = data_of(&answer)?.is_object();
                if is_object { Ok(()) } else { Err(broken("the campaign is no object")) }
            };
            answer.and_then(check_answer).map_err(|failure| match failure.kind {
                RemoteFailureKind::NotFound => {
                    let message = format!("campaign {} is not there ({failure})", self.campaign_id);
                    RemoteFailure::new(RemoteFailureKind::NotFound, message)
                }
                _ => failure,
            })
        })
    }

    fn count_entities(&self) -> RemoteFuture<'_, usize> {
        Box::pin(async {
            // A full pull begins here: list the custom modules again, since some may have been added or renamed.
            *self.custom_types.lock().unwrap_or_else(PoisonError::into_inner) = None;
            let custom = self.custom_types().await?;
            let numbers = MIRRORED_KINDS.iter().filter(|kind| !is_custom(kind)).map(type_id_of);
            let ids: Vec<String> = numbers.chain(custom.into_keys()).map(|id| format!("type_id[]={id}")).collect();
            let answer = self.get(&format!("entities?{}&page=1", ids.join("&"))).await?;
            Ok(page_of(&answer, 1, head_of)?.total)
        })
    }

    fn kinds(&self) -> &'static [RemoteKind] {
        &MIRRORED_KINDS
    }

    fn list_kind(&self, kind: &'static RemoteKind, page: usize) -> RemoteFuture<'_, Option<RemotePage<RemoteEntity>>> {
        Box::pin(async move {
            if page == 1 && *kind == MIRRORED_KINDS[0] {
                // A full pull begins here: list the tags again, since some may have been renamed.
                self.tags.forget();
            }
            if is_custom(kind) {
                return self.list_custom(page).await;
            }
            let answer = match self.get(&format!("{}?related=1&page={page}", plural_of(kind))).await {
                Err(failure) if failure.kind == RemoteFailureKind::NotFound => return Ok(None),
                answer => answer?,
            };
            self.load_unknown_tags(data_of(&answer)?.as_array().map_or(&[], Vec::as_slice)).await?;
            page_of(&answer, page, |row| typed_entity(kind, row, &|id| self.tags.tag(id))).map(Some)
        })
    }

    fn list_changed(&self, since: Timestamp, page: usize) -> RemoteFuture<'_, RemotePage<RemoteHead>> {
        Box::pin(async move {
            let since = format!("{since:.6}");
            let mut encoded = String::with_capacity(since.len() + 8);
            for letter in since.chars() {
                match letter {
                    ':' => encoded.push_str("%3A"),
                    '+' => encoded.push_str("%2B"),
                    letter => encoded.push(letter),
                }
            }
            let mut path = format!("entities?lastSync={encoded}");
            let _ = write!(path, "&page={page}");
            let answer = self.get(&path).await?;
            let rows = data_of(&answer)?.as_array().into_iter().flatten();
            if rows.clone().any(|row| row.get("type").and_then(Value::as_str) == Some("tag")) {
                self.tags.forget();
            }
            page_of(&answer, page, head_of)
        })
    }

    fn entity(&self, entity_id: u64) -> RemoteFuture<'_, Option<RemoteEntity>> {
        Box::pin(async move {
            let answer = match self.get(&format!("entities/{entity_id}?related=1")).await {
                Err(failure) if failure.kind == RemoteFailureKind::NotFound => return Ok(None),
                answer => answer?,
            };
            let row = data_of(&answer)?;
            let custom = if is_custom_row(row) { self.custom_types().await? } else { BTreeMap::new() };
            self.load_unknown_tags(std::slice::from_ref(row.get("child").unwrap_or(row))).await?;
            whole_entity(row, &custom, &|id| self.tags.tag(id)).map(Some)
        })
    }

    fn created_at_once(&self) -> usize {
        if self.answers_ids_alone.load(Ordering::Relaxed) { 1 } else { CREATED_AT_ONCE }
    }

    fn create(&self, kind: &'static RemoteKind, drafts: Vec<RemoteDraft>) -> RemoteFuture<'_, Vec<RemoteCreated>> {
        Box::pin(async move {
            let mut bodies = Vec::with_capacity(drafts.len());
            for draft in &drafts {
                bodies.push(self.draft_body(draft).await?);
            }
            if let [body] = &bodies[..] {
                let answer = self.send(Method::POST, plural_of(kind), body).await?;
                return Ok(vec![self.read_created(kind, data_of(&answer)?).await?]);
            }
            let path = format!("entities/{}", type_id_of(kind));
            let answer = self.send(Method::POST, &path, &json!({"entities": bodies})).await?;
            let rows = data_of(&answer)?.as_array().ok_or_else(|| broken("a list is no list"))?;
            let mut created = Vec::with_capacity(rows.len());
            for row in rows {
                created.push(self.read_created(kind, row).await?);
            }
            Ok(created)
        })
    }

    fn update(&self, target: RemoteTarget, change: RemoteChange) -> RemoteFuture<'_, RemoteEntity> {
        Box::pin(async move {
            let body = self.change_body(&change).await?;
            let path = format!("{}/{}", plural_of(target.kind), target.id);
            let answer = self.patch(&path, body, &change.name_there).await?;
            self.read_typed(target.kind, data_of(&answer)?).await
        })
    }

    fn rename_tag(&self, name: String, new_name: String) -> RemoteFuture<'_, bool> {
        Box::pin(async move { self.rename_tag_there(&name, &new_name).await })
    }

    fn delete(&self, target: RemoteTarget) -> RemoteFuture<'_, ()> {
        Box::pin(async move { self.delete(&format!("{}/{}", plural_of(target.kind), target.id)).await })
    }

    fn create_post(&self, entity_id: u64, post: RemotePostChange) -> RemoteFuture<'_, RemotePost> {
        Box::pin(async move {
            let mut body = post_body(&post);
            body.entry("entry").or_insert(json!(""));
            let path = format!("entities/{entity_id}/posts");
            let answer = self.send(Method::POST, &path, &Value::Object(body)).await?;
            post_of(data_of(&answer)?)
        })
    }

    fn update_post(&self, entity_id: u64, post_id: u64, change: RemotePostChange) -> RemoteFuture<'_, RemotePost> {
        Box::pin(async move {
            let path = format!("entities/{entity_id}/posts/{post_id}");
            let answer = self.patch(&path, post_body(&change), &change.name_there).await?;
            post_of(data_of(&answer)?)
        })
    }

    fn delete_post(&self, entity_id: u64, post_id: u64) -> RemoteFuture<'_, ()> {
        Box::pin(async move { self.delete(&format!("entities/{entity_id}/posts/{post_id}")).await })
    }

    fn create_alias(&self, entity_id: u64, name: String) -> RemoteFuture<'_, RemoteAlias> {
        Box::pin(async move {
            let body = json!({"type_id": 3, "name": name});
            let answer = self.send(Method::POST, &format!("entities/{entity_id}/entity_assets"), &body).await?;
            alias_of(data_of(&answer)?).ok_or_else(|| broken("an alias has no id"))
        })
    }

    fn delete_alias(&self, entity_id: u64, alias_id: u64) -> RemoteFuture<'_, ()> {
        Box::pin(async move { self.delete(&format!("entities/{entity_id}/entity_assets/{alias_id}")).await })
    }
}

/// Whether values were refused, and the name is one of them.
fn is_about_the_name(failure: &RemoteFailure) -> bool {
    failure.kind == RemoteFailureKind::Invalid && failure.message.contains("name")
}

fn post_body(post: &RemotePostChange) -> Map<String, Value> {
    let mut body = Map::new();
    if let Some(name) = &post.name {
        body.insert("name".to_owned(), json!(name));
    }
    if let Some(html) = &post.html {
        body.insert("entry".to_owned(), json!(html));
    }
    if let Some(is_private) = post.is_private {
        body.insert("visibility_id".to_owned(), json!(if is_private { 2 } else { 1 }));
    }
    body
}
