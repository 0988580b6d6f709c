//! `Remote`, the engine of a bridge: forwards every call to a server over gRPC.
//!
//! It stores nothing of value: contexts and journal positions are the server's. If the server restarts, calls wait for
//! it and change notifications continue where they were.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::unfold;
use serde_json::{Value, json};
use skald_app::idempotency_key::key_problem;
use skald_app::{
    Answer, Caller, Catalogue, Changes, Code, Completion, CompletionRequest, CompletionTarget, ContentsText,
    Conversation, Credential, Engine, Fault, Holder, News, OperationKind, Principal, ReadContents, RequestControl,
    RequestOrigin, Revocations,
};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio_util::task::TaskTracker;
use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::{Request, Response, Status, Streaming};

use crate::connect_to_server::{Backoff, ServerConnection, ServerHealth};
use crate::proto::skald::complete_request::Target;
use crate::proto::skald::identify_response::Principal as IdentifiedPrincipal;
use crate::proto::skald::{
    Argument, CallRequest, CompleteRequest, EndSessionRequest, IdentifyRequest, PromptRequest, ReadRequest,
    WatchRequest, WatchResponse,
};
use crate::{fault, metadata, watch_resource_changes};

/// The timeout of telling the server that a session has ended.
const END_SESSION_TIMEOUT: Duration = Duration::from_secs(1);

/// The settings of a bridge.
#[derive(Debug, Clone)]
pub struct Bridge {
    /// HOST:PORT of the server's gRPC.
    pub address: String,
    /// A name that no other bridge has or can guess: the prefix of its session ids and idempotency keys.
    pub identity: String,
}

/// An engine that forwards every call to a server.
pub struct Remote {
    catalogue: Catalogue,
    link: Arc<ServerConnection>,
    identity: String,
    /// The number of the next idempotency key, for commands that came without one.
    keys: AtomicU64,
    /// The sessions that calls to the server named, with the token of their caller.
    conversations: Mutex<HashMap<Arc<str>, Credential>>,
    /// Ends the open streams and sessions of tokens that the server reports as revoked.
    revocations: Arc<Revocations>,
    farewells: TaskTracker,
    runtime: Handle,
    attendant: AbortHandle,
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.attendant.abort();
    }
}

impl Remote {
    /// Begins to connect to the server. Calls wait until it has been healthy once.
    pub fn start(bridge: Bridge) -> Result<Arc<Self>, tonic::transport::Error> {
        let link = Arc::new(ServerConnection::new(&bridge.address)?);
        let attended = Arc::clone(&link);
        let attendant = tokio::spawn(async move { attended.follow_health().await }).abort_handle();
        Ok(Arc::new(Self {
            catalogue: Catalogue::from_all_nouns(),
            link,
            identity: bridge.identity,
            keys: AtomicU64::new(1),
            conversations: Mutex::default(),
            revocations: Arc::default(),
            farewells: TaskTracker::new(),
            runtime: Handle::current(),
            attendant,
        }))
    }

    /// The holder of a token before the server was asked: without a name and roles.
    pub fn unverified_holder(token: &str) -> Principal {
        let holder = json!({"id": "token", "name": "", "kind": "human", "roles": {}});
        Principal::Holder(Arc::new(parse_holder(holder, token)))
    }

    /// Calls `tell` now and after every change with the reason why the server cannot be called, or `None` if it can,
    /// for as long as the future is polled.
    pub async fn watch_health(&self, tell: impl Fn(Option<String>)) {
        let mut health: watch::Receiver<ServerHealth> = self.link.subscribe_health();
        loop {
            tell(match &*health.borrow_and_update() {
                ServerHealth::NotYetHealthy => Some("the server has not been found yet".to_owned()),
                ServerHealth::Healthy => None,
                ServerHealth::Lost(why) => Some(why.clone()),
            });
            if health.changed().await.is_err() {
                return;
            }
        }
    }

    /// Waits until the server was told of every ended session, or the timeout has passed.
    pub async fn wait_for_ended_sessions(&self) {
        self.farewells.close();
        let _ = tokio::time::timeout(END_SESSION_TIMEOUT, self.farewells.wait()).await;
    }

    /// The metadata of a request: token, client or session, idempotency key and expected revision.
    fn request_metadata(&self, caller: &Caller, control: Option<&RequestControl>) -> Result<MetadataMap, Fault> {
        let mut metadata = authorization_metadata(&credential(caller))?;
        match &caller.conversation {
            Conversation::None | Conversation::Held(_) => {}
            Conversation::Client(client) => metadata::put_text(&mut metadata, metadata::CLIENT, client),
            Conversation::Session(session) => {
                self.lock().entry(Arc::clone(session)).or_insert_with(|| credential(caller));
                self.put_session(&mut metadata, session);
            }
        }
        if let Some(control) = control {
            metadata::put_control(&mut metadata, control);
        }
        Ok(metadata)
    }

    fn put_session(&self, metadata: &mut MetadataMap, session: &str) {
        metadata::put_text(metadata, metadata::SESSION, &format!("{}-{session}", self.identity));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Arc<str>, Credential>> {
        self.conversations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an idempotency key to a command, so that it can be sent again if its answer was lost. A key in the input is
    /// used as it is: another one in the metadata would be refused.
    fn with_idempotency_key(&self, control: &RequestControl, input: &Value) -> RequestControl {
        let mut control = control.clone();
        if control.idempotency_key.is_none() {
            control.idempotency_key = match input.get("idempotency_key").and_then(Value::as_str) {
                // An invalid key is not sent as metadata, so that the operation itself refuses it.
                Some(key) => (key_problem(key).is_none()).then(|| key.to_owned()),
                None => Some(format!("{}-{}", self.identity, self.keys.fetch_add(1, Ordering::Relaxed))),
            };
        }
        control
    }

    /// Checks that the server answers callers without a token; the fault says why not.
    pub async fn check_access_without_token(&self) -> Result<(), Fault> {
        self.call_identify(MetadataMap::new()).await.map(drop)
    }

    async fn call_identify(&self, metadata: MetadataMap) -> Result<Option<IdentifiedPrincipal>, Fault> {
        let answer = self.link.call_with_retries(|mut gateway| {
            let request = with_metadata(&metadata, IdentifyRequest {});
            async move { gateway.identify(request).await }
        });
        Ok(answer.await?.into_inner().principal)
    }

    async fn identify(&self, token: &str) -> Result<Principal, Fault> {
        match self.call_identify(authorization_metadata(&Credential::new(token))?).await? {
            Some(IdentifiedPrincipal::Holder(holder)) => {
                let principal = json!({
                    "id": holder.id,
                    "name": holder.name,
                    "kind": holder.kind,
                    "roles": holder.roles,
                    "gate_role": holder.gate_role,
                    "participants": holder.participants,
                });
                let mut holder = parse_holder(principal, token);
                holder.revocation = self.revocations.signal(&holder.id);
                Ok(Principal::Holder(Arc::new(holder)))
            }
            // A caller with a token must never be taken for the owner.
            Some(IdentifiedPrincipal::Owner(_)) | None => Err(unknown_token_fault()),
        }
    }
}

/// A holder from the server's answer. Roles that this version does not know are dropped.
fn parse_holder(mut principal: Value, token: &str) -> Holder {
    if let Some(roles) = principal["roles"].as_object_mut() {
        roles.retain(|_, role| ["gm", "player", "guest"].iter().any(|known| role == known));
    }
    let mut holder: Holder = serde_json::from_value(principal).unwrap_or_else(|error| {
        tracing::warn!(%error, "the server tells of a holder in a way that is not understood here");
        let unknown = json!({"id": "token", "name": "", "kind": "human", "roles": {}});
        serde_json::from_value(unknown).expect("a holder of nothing")
    });
    holder.credential = Credential::new(token);
    holder
}

fn credential(caller: &Caller) -> Credential {
    match &caller.principal {
        Principal::Owner => Credential::default(),
        Principal::Holder(holder) => holder.credential.clone(),
    }
}

fn unknown_token_fault() -> Fault {
    let fault = Fault::new(Code::Unauthorized, "the token is not known");
    fault.hint("send a token of skald token create")
}

/// The metadata with the token. A token that is no valid header value is refused, not left out: without a token the
/// caller might be taken for the owner.
fn authorization_metadata(credential: &Credential) -> Result<MetadataMap, Fault> {
    let mut metadata = MetadataMap::new();
    if let Some(token) = credential.token() {
        let mut value =
            MetadataValue::try_from(format!("Bearer {}", token.trim())).map_err(|_| unknown_token_fault())?;
        value.set_sensitive(true);
        metadata.insert(metadata::AUTHORIZATION, value);
    }
    Ok(metadata)
}

fn with_metadata<T>(metadata: &MetadataMap, message: T) -> Request<T> {
    let mut request = Request::new(message);
    *request.metadata_mut() = metadata.clone();
    request
}

/// Waits for an answer until the caller cancels the request.
async fn wait_unless_cancelled<T>(
    control: &RequestControl,
    answer: impl Future<Output = Result<T, Fault>>,
) -> Result<T, Fault> {
    tokio::select! {
        biased;
        answer = answer => answer,
        () = control.cancelled.cancelled() => Err(Fault::new(Code::Unavailable, "the caller gave the request up")),
    }
}

/// Adds to an UNAVAILABLE fault of a command that it may have been executed.
fn mark_outcome_unknown(fault: Fault, how: &RequestControl) -> Fault {
    if fault.code() != Code::Unavailable {
        return fault;
    }
    let key = how.idempotency_key.as_deref().unwrap_or_default();
    let message = format!("{}; it is not known whether this was done", fault.body().message);
    Fault::new(Code::Unavailable, message).hint(format!(
        "look whether it was done before you send it again, or send it under the idempotency key {key:?}, which does it once"
    ))
}

/// Stores the revision of an answer in `control` and returns the message.
fn record_revision<T>(control: &RequestControl, answer: Response<T>) -> T {
    if let Some(revision) = metadata::read_revision(answer.metadata()) {
        control.set_revision(revision);
    }
    answer.into_inner()
}

impl Engine for Remote {
    fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn answer<'a>(
        &'a self,
        caller: &'a Caller,
        operation: &'a str,
        input: Value,
        control: &'a RequestControl,
    ) -> BoxFuture<'a, Result<Answer, Fault>> {
        Box::pin(async move {
            let entry = self.catalogue.operation(operation)?;
            let how = if entry.kind == OperationKind::Command {
                self.with_idempotency_key(control, &input)
            } else {
                control.clone()
            };
            let with_subjects = self.catalogue.with_subjects_of(&input);
            let (input, metadata) = (input.to_string(), self.request_metadata(caller, Some(&how))?);
            let answer = self.link.call_with_retries(|mut gateway| {
                let message = CallRequest { operation: operation.to_owned(), input: input.clone() };
                let request = with_metadata(&metadata, message);
                async move { gateway.call(request).await }
            });
            let answer = wait_unless_cancelled(control, answer).await;
            let answer = answer.map_err(|fault| {
                let fault =
                    if entry.kind == OperationKind::Command { mark_outcome_unknown(fault, &how) } else { fault };
                with_subjects(fault)
            });
            let answer = record_revision(control, answer?).answer;
            let value = serde_json::from_str(&answer).map(Answer::Value);
            value.map_err(|_| Fault::new(Code::Unavailable, "the server's answer is no JSON"))
        })
    }

    fn render<'a>(
        &'a self,
        caller: &'a Caller,
        prompt: &'a str,
        arguments: &'a [(String, String)],
        control: &'a RequestControl,
    ) -> BoxFuture<'a, Result<String, Fault>> {
        Box::pin(async move {
            let metadata = self.request_metadata(caller, None)?;
            let answer = self.link.call_with_retries(|mut gateway| {
                let arguments = arguments.iter().cloned().map(|(name, value)| Argument { name, value }).collect();
                let request = with_metadata(&metadata, PromptRequest { name: prompt.to_owned(), arguments });
                async move { gateway.prompt(request).await }
            });
            Ok(wait_unless_cancelled(control, answer).await?.into_inner().text)
        })
    }

    fn complete<'a>(
        &'a self,
        caller: &'a Caller,
        request: &'a CompletionRequest,
        control: &'a RequestControl,
    ) -> BoxFuture<'a, Result<Completion, Fault>> {
        Box::pin(async move {
            let metadata = self.request_metadata(caller, None)?;
            let answer = self.link.call_with_retries(|mut gateway| {
                let target = match request.target.clone() {
                    CompletionTarget::Prompt(name) => Target::Prompt(name),
                    CompletionTarget::Resource(uri) => Target::Resource(uri),
                };
                let (argument, typed) = (request.argument.clone(), request.typed.clone());
                let given = request.given.iter().cloned().map(|(name, value)| Argument { name, value }).collect();
                let message = CompleteRequest { target: Some(target), argument, typed, given };
                let request = with_metadata(&metadata, message);
                async move { gateway.complete(request).await }
            });
            let answer = wait_unless_cancelled(control, answer).await?.into_inner();
            Ok(Completion { values: answer.values, total: usize::try_from(answer.total).unwrap_or(usize::MAX) })
        })
    }

    fn changes<'a>(&'a self, caller: &'a Caller, after: Option<&'a str>) -> BoxFuture<'a, Changes> {
        Box::pin(async move {
            let mut watcher = Watcher {
                link: Arc::clone(&self.link),
                metadata: self.request_metadata(caller, None),
                token_id: caller.id().to_owned(),
                revocations: Arc::clone(&self.revocations),
                place: after.map(Arc::from),
                stream: None,
                has_begun: false,
                has_missed: false,
            };
            // Return only once the stream is open, so that the subscriber misses no later change.
            let _ = self.link.wait_with_timeout(watcher.open()).await;
            watcher.has_begun = true;
            let place = watcher.place.clone();
            let news = unfold(watcher, |mut watcher| async { watcher.next().await.map(|news| (news, watcher)) });
            Changes::from_remote(news.boxed(), place)
        })
    }

    /// The server notes a refused token.
    fn authenticate_request<'a>(
        &'a self,
        token: &'a str,
        _origin: RequestOrigin,
    ) -> BoxFuture<'a, Result<Caller, Fault>> {
        Box::pin(async move { Ok(Caller { principal: self.identify(token).await?, conversation: Conversation::None }) })
    }

    fn refresh_caller<'a>(&'a self, caller: &'a Caller) -> BoxFuture<'a, Result<Caller, Fault>> {
        Box::pin(async move {
            let credential = credential(caller);
            let Some(token) = credential.token() else { return Ok(caller.clone()) };
            Ok(Caller { principal: self.identify(token).await?, conversation: caller.conversation.clone() })
        })
    }

    fn end_session(&self, conversation: &Conversation) {
        let Conversation::Session(session) = conversation else { return };
        // Most sessions were never named to the server, which then stores nothing for them.
        let Some(credential) = self.lock().remove(session) else { return };
        let Ok(mut metadata) = authorization_metadata(&credential) else { return };
        self.put_session(&mut metadata, session);
        let request = with_metadata(&metadata, EndSessionRequest {});
        let mut gateway = self.link.call_client();
        let farewell = async move {
            // A server that cannot be reached keeps the context of the session without need.
            let _ = tokio::time::timeout(END_SESSION_TIMEOUT, gateway.end_session(request)).await;
        };
        self.farewells.spawn_on(farewell, &self.runtime);
    }

    fn read<'a>(
        &'a self,
        caller: &'a Caller,
        uri: &'a str,
        control: &'a RequestControl,
    ) -> BoxFuture<'a, Result<ReadContents, Fault>> {
        Box::pin(async move {
            let (resource, _) = self.catalogue.resolve(uri)?;
            let metadata = self.request_metadata(caller, Some(control))?;
            let answer = self.link.call_with_retries(|mut gateway| {
                let request = with_metadata(&metadata, ReadRequest { uri: uri.to_owned() });
                async move { gateway.read(request).await }
            });
            let text = record_revision(control, wait_unless_cancelled(control, answer).await?).text;
            Ok(ReadContents { mime_type: resource.mime_type, text: ContentsText::Text(text) })
        })
    }
}

/// A stream of changes, reopened after a break at the last known place.
struct Watcher {
    link: Arc<ServerConnection>,
    /// The token and session of the watcher, or the fault of a token that is no valid header value.
    metadata: Result<MetadataMap, Fault>,
    token_id: String,
    revocations: Arc<Revocations>,
    /// The place after which a reopened stream continues.
    place: Option<Arc<str>>,
    stream: Option<Streaming<WatchResponse>>,
    /// Whether the subscriber has the stream already: from then on it is told of missed changes.
    has_begun: bool,
    /// Whether the stream was reopened without a known place, so that changes may have been missed.
    has_missed: bool,
}

impl Watcher {
    /// Opens the stream, with retries and without a limit. Fails only if the server refuses the token.
    async fn open(&mut self) -> Result<(), Fault> {
        let mut pauses = Backoff::new();
        loop {
            match self.try_open().await {
                Ok(()) => return Ok(()),
                Err(status) => match fault::from_status(&status) {
                    Some(fault) if fault.code() == Code::Unauthorized => return Err(fault),
                    _ => pauses.pause().await,
                },
            }
        }
    }

    async fn try_open(&mut self) -> Result<(), Status> {
        let after = self.place.as_deref().unwrap_or_default().to_owned();
        let metadata = self.metadata.as_ref().map_err(fault::status)?;
        let request = with_metadata(metadata, WatchRequest { after, uris: Vec::new() });
        let mut stream = self.link.watch_client().watch(request).await?.into_inner();
        let opening = stream.message().await?.ok_or_else(|| Status::unavailable("the stream ended at once"))?;
        self.has_missed |= self.has_begun && self.place.is_none();
        self.advance_place(&opening);
        self.stream = Some(stream);
        Ok(())
    }

    fn advance_place(&mut self, message: &WatchResponse) {
        if !message.place.is_empty() {
            self.place = Some(message.place.as_str().into());
        }
    }

    /// The next news; `None` once the server refuses the token, whose open streams and sessions here end then.
    async fn next(&mut self) -> Option<News> {
        let news = self.receive_news().await;
        if news.is_none() {
            self.revocations.interrupt(&self.token_id);
        }
        news
    }

    async fn receive_news(&mut self) -> Option<News> {
        loop {
            let Some(stream) = &mut self.stream else {
                self.open().await.ok()?;
                continue;
            };
            if std::mem::take(&mut self.has_missed) {
                return Some(News::from_changes([], true, self.place.clone()));
            }
            match stream.message().await {
                Ok(Some(message)) => {
                    self.advance_place(&message);
                    let changes = message.changes.into_iter().filter_map(watch_resource_changes::change_from_message);
                    return Some(News::from_changes(changes, message.everything, self.place.clone()));
                }
                Ok(None) => self.stream = None,
                Err(status) => {
                    if fault::from_status(&status).is_some_and(|fault| fault.code() == Code::Unauthorized) {
                        return None;
                    }
                    self.stream = None;
                }
            }
        }
    }
}
