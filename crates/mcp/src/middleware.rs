//! Middleware before rmcp on `/mcp`: session owners, compatibility with older clients, errors as JSON-RPC.
//!
//! A request of 2026-07-28 passes unchanged. For older revisions, a cookie may replace the session header, a plain
//! `Accept` gets plain JSON, and a handshake is repaired (see [`crate::message_scan`]). From here on, every refusal is
//! a JSON-RPC error.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, RETRY_AFTER, SET_COOKIE, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use axum::routing::{MethodRouter, any_service};
use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use http_body::Frame;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Empty, Full, Limited};
use pin_project_lite::pin_project;
use rmcp::ServerHandler;
use rmcp::model::ProtocolVersion;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use skald_app::{
    Caller, Conversation, Engine, Principal, RequestControl, RequestSurface, TokenScope, limits,
    unidentified_caller_fault,
};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::message_scan::{self, INVALID_REQUEST, RefusedMessage};
use crate::session::{CALLING_PRINCIPAL, ID_UNDER_WAY, SESSIONS_TAKEN, SessionTable};
use crate::tool_name_spelling::find_operation;
use crate::{McpOptions, insert_rendered_json};

/// Where clients look for MCP over HTTP.
pub const PATH: &str = "/mcp";
static SESSION_HEADER: HeaderName = HeaderName::from_static("mcp-session-id");
const SESSION_COOKIE: &str = "mcp_session";
static VERSION_HEADER: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The revisions without a handshake.
const STATELESS_VERSIONS: [&str; 1] = ["2026-07-28"];
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const BOTH_TYPES: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const EVENT_STREAM: HeaderValue = HeaderValue::from_static("text/event-stream");

/// JSON-RPC codes from the range that is free for implementations.
const SESSION_NOT_FOUND: i32 = -32001;
const SESSIONS_FULL: i32 = -32003;
const INTERNAL_ERROR: i32 = -32603;
const UNSUPPORTED_VERSION: i32 = -32022;

/// A route for [`PATH`]: the handler behind rmcp, with this middleware before it.
pub fn mount<H>(factory: impl Fn() -> H + Send + Sync + 'static, options: &McpOptions) -> (MethodRouter, Drain)
where
    H: ServerHandler + Send + 'static,
{
    mount_with_scopes(factory, options, None)
}

/// Like `mount`. With an engine, a call for which the token's scope is too narrow is refused with status 403, as OAuth
/// demands; the handler could only answer it with a tool result.
pub(crate) fn mount_with_scopes<H>(
    factory: impl Fn() -> H + Send + Sync + 'static,
    options: &McpOptions,
    engine: Option<Arc<dyn Engine>>,
) -> (MethodRouter, Drain)
where
    H: ServerHandler + Send + 'static,
{
    let drain = Drain { calls: TaskTracker::new(), streams: CancellationToken::new() };
    let sessions = SessionTable::new(options.sessions_max, options.session_idle);
    // The `http` crate checks hosts and origins for every route, and `read_body` checks the size.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(options.sessions)
        .with_json_response(true)
        // Priming events are sent by `SessionTable`, only to clients that support them.
        .with_sse_retry(None)
        .with_max_request_body_bytes(usize::MAX)
        .with_cancellation_token(drain.streams.clone())
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let front = McpMiddleware {
        service: Arc::new(StreamableHttpService::new(move || Ok(factory()), Arc::clone(&sessions), config)),
        sessions,
        keeps_sessions: options.sessions,
        calls: drain.calls.clone(),
        engine,
    };
    (any_service(front), drain)
}

/// Stops the surface without losing answers that are under way.
#[derive(Clone)]
pub struct Drain {
    calls: TaskTracker,
    streams: CancellationToken,
}

impl Drain {
    /// Waits for calls under way, up to `at_most`, and then ends sessions and their streams.
    pub async fn finish(&self, at_most: Duration) {
        self.calls.close();
        if tokio::time::timeout(at_most, self.calls.wait()).await.is_err() {
            tracing::warn!(calls = self.calls.len(), "calls were still under way when the time to stop had passed");
        }
        self.streams.cancel();
    }
}

struct McpMiddleware<H> {
    service: Arc<StreamableHttpService<H, SessionTable>>,
    sessions: Arc<SessionTable>,
    keeps_sessions: bool,
    calls: TaskTracker,
    /// For the scopes that its operations need.
    engine: Option<Arc<dyn Engine>>,
}

impl<H> Clone for McpMiddleware<H> {
    fn clone(&self) -> Self {
        Self {
            service: Arc::clone(&self.service),
            sessions: Arc::clone(&self.sessions),
            keeps_sessions: self.keeps_sessions,
            calls: self.calls.clone(),
            engine: self.engine.clone(),
        }
    }
}

type HttpResponse = Response<BoxBody<Bytes, Infallible>>;

impl<H: ServerHandler + Send + 'static> tower_service::Service<Request<Body>> for McpMiddleware<H> {
    type Response = Response<Reply>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let front = self.clone();
        Box::pin(async move {
            let Some(caller) = request.extensions().get::<Caller>().cloned() else {
                let refused = RefusedMessage::new(INTERNAL_ERROR, unidentified_caller_fault().body().message.clone());
                let answer = error_answer(StatusCode::INTERNAL_SERVER_ERROR, &refused);
                return Ok(answer.map(|inner| Reply { inner, pieces: VecDeque::new(), revoked: None, _call: None }));
            };
            let (answer, call) = front.handle(request, &caller.principal).await;
            let revoked = is_event_stream(&answer).then(|| caller.wait_for_revocation().boxed());
            let is_whole = insert_rendered_json::has_held() && !is_event_stream(&answer);
            let answer = if is_whole { fill_answer(answer).await } else { answer };
            Ok(answer.map(|inner| Reply { inner, pieces: VecDeque::new(), revoked, _call: call }))
        })
    }
}

pin_project! {
    /// The body of an answer. Its call counts as under way until the body has been sent.
    pub(crate) struct Reply {
        #[pin]
        inner: BoxBody<Bytes, Infallible>,
        // Pieces of the last event that are not sent yet.
        pieces: VecDeque<Bytes>,
        // Set for an event stream, which ends when the token is revoked.
        revoked: Option<BoxFuture<'static, ()>>,
        _call: Option<TaskTrackerToken>,
    }
}

impl http_body::Body for Reply {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let mut this = self.project();
        if let Some(revoked) = this.revoked
            && revoked.as_mut().poll(context).is_ready()
        {
            *this.revoked = None;
            this.pieces.clear();
            this.inner.set(Empty::new().boxed());
        }
        if let Some(piece) = this.pieces.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        let frame = ready!(this.inner.poll_frame(context));
        if let Some(Ok(frame)) = &frame
            && let Some(pieces) = frame.data_ref().and_then(insert_rendered_json::fill_marks)
        {
            *this.pieces = pieces.into();
            return Poll::Ready(this.pieces.pop_front().map(|piece| Ok(Frame::data(piece))));
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.is_empty() && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.inner.size_hint()
    }
}

impl<H: ServerHandler + Send + 'static> McpMiddleware<H> {
    /// The answer and its call token. A call is counted once its message has been read. A GET stream is not counted,
    /// since it ends only when the server stops.
    async fn handle(&self, request: Request<Body>, principal: &Principal) -> (HttpResponse, Option<TaskTrackerToken>) {
        let (mut parts, body) = request.into_parts();
        let is_stateless = is_stateless(&parts.headers);
        if parts.method == Method::POST {
            let bytes = match read_body(body).await {
                Ok(bytes) => bytes,
                Err(refusal) => return (refusal, None),
            };
            let call = self.calls.token();
            // Boxed because it is rare: inline, it would enlarge the future of every request.
            if is_scope_narrow(principal)
                && let Some(refusal) = Box::pin(self.scope_refusal(principal, &bytes)).await
            {
                return (refusal, Some(call));
            }
            let answer = if is_stateless {
                self.post_stateless(parts, principal, bytes).await
            } else {
                self.post(parts, principal, &bytes).await
            };
            (answer, Some(call))
        } else if is_stateless || !self.keeps_sessions {
            // There are no sessions: rmcp answers 405, but would answer 406 first if `Accept` did not fit.
            parts.headers.insert(ACCEPT, EVENT_STREAM);
            (self.forward(parts, principal, Bytes::new()).await, None)
        } else {
            copy_cookie_to_header(&mut parts.headers);
            (self.get_or_delete(parts, principal).await, None)
        }
    }

    /// The refusal of a call for which the token's scope is too narrow.
    async fn scope_refusal(&self, principal: &Principal, bytes: &Bytes) -> Option<HttpResponse> {
        let engine = self.engine.as_ref()?;
        message_scan::check_complexity(bytes).ok()?;
        let message: Value = serde_json::from_slice(bytes).ok()?;
        if message["method"] != "tools/call" {
            return None;
        }
        let entry = find_operation(engine.catalogue(), message["params"]["name"].as_str()?)?;
        let caller = Caller { principal: principal.clone(), conversation: Conversation::None };
        let arguments = &message["params"]["arguments"];
        entry.check_scope(&caller, arguments).err()?;
        // The engine refuses it as well, and counts and notes the call.
        let control = RequestControl { surface: RequestSurface::Mcp, ..RequestControl::default() };
        let fault = engine.answer(&caller, entry.name, arguments.clone(), &control).await.err()?;
        let data = Some(Box::new(fault.envelope()));
        let refused = RefusedMessage { data, ..RefusedMessage::new(INVALID_REQUEST, fault.to_string()) };
        let refused = refused.with_id_of(bytes);
        if let Some(milliseconds) = fault.body().retry_after_ms {
            let mut answer = error_answer(StatusCode::TOO_MANY_REQUESTS, &refused);
            answer.headers_mut().insert(RETRY_AFTER, milliseconds.div_ceil(1_000).into());
            return Some(answer);
        }
        let mut answer = error_answer(StatusCode::FORBIDDEN, &refused);
        let scope = entry.required_scope_for(arguments).oauth_name();
        let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\"");
        if let Ok(challenge) = HeaderValue::try_from(challenge) {
            answer.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
        Some(answer)
    }

    /// A message with a stateless version header. rmcp opens a session for an `initialize` even then, so the cookie is
    /// set here too.
    async fn post_stateless(&self, parts: Parts, principal: &Principal, bytes: Bytes) -> HttpResponse {
        if let Err(refused) = message_scan::check_complexity(&bytes) {
            return error_answer(StatusCode::BAD_REQUEST, &refused);
        }
        let mut answer = self.forward(parts, principal, bytes).await;
        set_session_cookie(&mut answer);
        answer
    }

    /// A message of a client before 2026-07-28.
    async fn post(&self, mut parts: Parts, principal: &Principal, bytes: &Bytes) -> HttpResponse {
        let admitted = match message_scan::admit(bytes) {
            Ok(admitted) => admitted,
            Err(refused) => return error_answer(StatusCode::BAD_REQUEST, &refused),
        };
        if admitted.is_initialize {
            parts.headers.remove(&SESSION_HEADER);
            // Refuse before rmcp does, which would log each refusal as an error.
            if let Some(refusal) = self.sessions.refusal(principal).filter(|_| self.keeps_sessions) {
                return sessions_taken(&refusal.to_string(), bytes);
            }
        } else {
            copy_cookie_to_header(&mut parts.headers);
            if self.is_foreign_session(&parts.headers, principal) {
                return session_not_found(bytes);
            }
        }
        let wants_json = wants_plain_json(&parts.headers);
        if wants_json {
            parts.headers.insert(ACCEPT, BOTH_TYPES);
        }
        let message = match admitted.bytes {
            std::borrow::Cow::Borrowed(_) => bytes.clone(),
            std::borrow::Cow::Owned(repaired) => repaired.into(),
        };
        let mut answer = self.forward(parts, principal, message).await;
        set_session_cookie(&mut answer);
        if wants_json && is_event_stream(&answer) { collapse_to_json(answer, bytes).await } else { answer }
    }

    /// GET opens an event stream, DELETE ends a session.
    async fn get_or_delete(&self, mut parts: Parts, principal: &Principal) -> HttpResponse {
        if self.is_foreign_session(&parts.headers, principal) {
            return session_not_found(&[]);
        }
        let is_delete = parts.method == Method::DELETE;
        if parts.method == Method::GET {
            parts.headers.insert(ACCEPT, EVENT_STREAM);
        }
        let mut answer = self.forward(parts, principal, Bytes::new()).await;
        if is_delete && answer.status() == StatusCode::ACCEPTED {
            *answer.status_mut() = StatusCode::OK;
        }
        answer
    }

    /// Lets rmcp answer, and turns its plain-text errors into JSON-RPC.
    async fn forward(&self, parts: Parts, principal: &Principal, bytes: Bytes) -> HttpResponse {
        let is_json =
            parts.headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
        // rmcp's future is large. Boxed, it does not make this future large and costly to move.
        let handled = Box::pin(self.service.handle(Request::from_parts(parts, Full::new(bytes.clone()))));
        let answer = CALLING_PRINCIPAL.scope(principal.clone(), handled).await;
        if answer.status().is_success() || answer.headers().get(CONTENT_TYPE) == Some(&JSON) {
            return answer;
        }
        if answer.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE && is_json {
            return error_answer(StatusCode::BAD_REQUEST, &message_scan::explain_refusal(&bytes));
        }
        to_json_rpc_error(answer, &bytes).await
    }

    /// Whether the request names a session that is not this principal's.
    fn is_foreign_session(&self, headers: &HeaderMap, principal: &Principal) -> bool {
        let id = headers.get(&SESSION_HEADER).filter(|_| self.keeps_sessions);
        id.is_some_and(|id| !id.to_str().is_ok_and(|id| self.sessions.belongs_to(id, principal)))
    }
}

/// Whether there are operations that the principal's scope does not reach.
fn is_scope_narrow(principal: &Principal) -> bool {
    match principal {
        Principal::Owner => false,
        Principal::Holder(holder) => holder.scope.is_some_and(|scope| scope < TokenScope::Gm),
    }
}

/// Repeats the answer's session header, if it has one, as a cookie.
fn set_session_cookie(answer: &mut HttpResponse) {
    let Some(id) = answer.headers().get(&SESSION_HEADER).and_then(|id| id.to_str().ok()) else {
        return;
    };
    let cookie = format!("{SESSION_COOKIE}={id}; Path=/mcp; HttpOnly; SameSite=Strict");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        answer.headers_mut().append(SET_COOKIE, cookie);
    }
}

fn is_stateless(headers: &HeaderMap) -> bool {
    headers.get(&VERSION_HEADER).is_some_and(|version| STATELESS_VERSIONS.iter().any(|known| version == known))
}

/// Reads a body, within the limits of size and time.
async fn read_body(body: Body) -> Result<Bytes, HttpResponse> {
    let body = Limited::new(body, limits::BODY_BYTES_MAX).collect();
    let timeout = Duration::from_secs(limits::BODY_READ_SECONDS);
    let (status, message) = match tokio::time::timeout(timeout, body).await {
        Ok(Ok(body)) => return Ok(body.to_bytes()),
        Ok(Err(failure)) if failure.is::<http_body_util::LengthLimitError>() => {
            (StatusCode::PAYLOAD_TOO_LARGE, format!("the body is larger than {} bytes", limits::BODY_BYTES_MAX))
        }
        Ok(Err(_)) => (StatusCode::BAD_REQUEST, "the body could not be read".to_owned()),
        Err(_) => {
            let message = format!("the body did not come within {} seconds", limits::BODY_READ_SECONDS);
            (StatusCode::REQUEST_TIMEOUT, message)
        }
    };
    Err(error_answer(status, &RefusedMessage::new(INVALID_REQUEST, message)))
}

/// Whether `Accept` takes JSON, or anything, but does not name both JSON and the event stream.
fn wants_plain_json(headers: &HeaderMap) -> bool {
    let Some(accept) = headers.get(ACCEPT) else { return true };
    let names = |kind: &[u8]| memchr::memmem::find(accept.as_bytes(), kind).is_some();
    let takes_json = names(b"application/json") || names(b"*/*") || names(b"application/*") || accept.is_empty();
    takes_json && !(names(b"application/json") && names(b"text/event-stream"))
}

fn copy_cookie_to_header(headers: &mut HeaderMap) {
    if headers.contains_key(&SESSION_HEADER) {
        return;
    }
    let cookies = headers.get_all(COOKIE).iter().filter_map(|cookies| cookies.to_str().ok());
    let session = cookies
        .flat_map(|cookies| cookies.split(';'))
        .find_map(|cookie| cookie.trim().strip_prefix(SESSION_COOKIE)?.strip_prefix('='))
        .and_then(|id| HeaderValue::from_str(id).ok());
    if let Some(session) = session {
        headers.insert(&SESSION_HEADER, session);
    }
}

fn is_event_stream(answer: &HttpResponse) -> bool {
    answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// Fills the marks of prepared JSON in a plain answer. Its length is then known before it is sent.
async fn fill_answer(answer: HttpResponse) -> HttpResponse {
    let (parts, body) = answer.into_parts();
    let whole = match body.collect().await {
        Ok(whole) => whole.to_bytes(),
        Err(never) => match never {},
    };
    let body = match insert_rendered_json::fill_marks(&whole) {
        Some(pieces) => Pieces::new(pieces).boxed(),
        None => Full::new(whole).boxed(),
    };
    Response::from_parts(parts, body)
}

/// A body in pieces, sent without copying them together.
struct Pieces {
    left: VecDeque<Bytes>,
    length: u64,
}

impl Pieces {
    fn new(pieces: Vec<Bytes>) -> Self {
        let length = pieces.iter().map(|piece| piece.len() as u64).sum();
        Self { left: pieces.into(), length }
    }
}

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = self.left.pop_front();
        self.length -= piece.as_ref().map_or(0, |piece| piece.len() as u64);
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_empty()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        http_body::SizeHint::with_exact(self.length)
    }
}

/// The response in an event stream, as plain JSON. Notifications before it are dropped: the client does not accept
/// them.
async fn collapse_to_json(answer: HttpResponse, request: &[u8]) -> HttpResponse {
    let (mut parts, mut body) = answer.into_parts();
    let mut events = Vec::new();
    while let Some(Ok(frame)) = body.frame().await {
        let Ok(chunk) = frame.into_data() else { continue };
        events.extend_from_slice(&chunk);
        while let Some(end) = memchr::memmem::find(&events, b"\n\n") {
            let event: Vec<u8> = events.drain(..end + 2).collect();
            if let Some(response) = find_response(&event) {
                parts.headers.insert(CONTENT_TYPE, JSON);
                parts.headers.remove(CONTENT_LENGTH);
                return Response::from_parts(parts, Full::new(response.into()).boxed());
            }
        }
    }
    let refused =
        RefusedMessage::new(INTERNAL_ERROR, "the request was cancelled, or the server stopped, before it was answered")
            .with_id_of(request);
    error_answer(StatusCode::SERVICE_UNAVAILABLE, &refused)
}

/// The data of an event, if it is a JSON-RPC response.
fn find_response(event: &[u8]) -> Option<Vec<u8>> {
    let data = event.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"data:"));
    let data = data.collect::<Vec<_>>().join(&b'\n').trim_ascii().to_vec();
    let message: Value = serde_json::from_slice(&data).ok()?;
    let is_response = message.get("id").is_some() && message.get("method").is_none();
    is_response.then_some(data)
}

/// Turns a plain-text error of rmcp into a JSON-RPC error.
async fn to_json_rpc_error(answer: HttpResponse, request: &[u8]) -> HttpResponse {
    let status = answer.status();
    let allow = answer.headers().get(axum::http::header::ALLOW).cloned();
    let text =
        answer.into_body().collect().await.map_or_else(|never| match never {}, http_body_util::Collected::to_bytes);
    let text = String::from_utf8_lossy(&text).into_owned();
    let (code, message) = match status {
        StatusCode::NOT_FOUND => return session_not_found(request),
        StatusCode::BAD_REQUEST if text.contains("Unsupported MCP-Protocol-Version") => {
            return error_answer(status, &unsupported_version().with_id_of(request));
        }
        status if status.is_server_error() && text.contains(SESSIONS_TAKEN) => return sessions_taken(&text, request),
        status if status.is_server_error() && text.contains(ID_UNDER_WAY) => {
            let message = "a request with this id is under way in this session: give each request an id of its own";
            return error_answer(
                StatusCode::BAD_REQUEST,
                &RefusedMessage::new(INVALID_REQUEST, message).with_id_of(request),
            );
        }
        StatusCode::BAD_REQUEST if text.contains("Session ID") && is_initialize(request) => {
            return error_answer(status, &message_scan::invalid_initialize(request));
        }
        StatusCode::BAD_REQUEST if text.contains("Session ID") => (
            INVALID_REQUEST,
            "a session is needed: send initialize first, then its mcp-session-id header or mcp_session cookie"
                .to_owned(),
        ),
        StatusCode::METHOD_NOT_ALLOWED => (INVALID_REQUEST, "this method has no meaning here: send POST".to_owned()),
        StatusCode::NOT_ACCEPTABLE => {
            (INVALID_REQUEST, "accept application/json and text/event-stream, or application/json alone".to_owned())
        }
        StatusCode::UNSUPPORTED_MEDIA_TYPE => (INVALID_REQUEST, "the content type must be application/json".to_owned()),
        status if status.is_server_error() => {
            tracing::error!(%status, text, "the MCP transport failed");
            (INTERNAL_ERROR, "the server failed on this request".to_owned())
        }
        _ => (INVALID_REQUEST, text),
    };
    let refused = RefusedMessage::new(code, message).with_id_of(request);
    let mut answer = error_answer(status, &refused);
    if let Some(allow) = allow {
        answer.headers_mut().insert(axum::http::header::ALLOW, allow);
    }
    answer
}

fn is_initialize(request: &[u8]) -> bool {
    message_scan::admit(request).is_ok_and(|admitted| admitted.is_initialize)
}

fn unsupported_version() -> RefusedMessage {
    let supported: Vec<&str> = ProtocolVersion::KNOWN_VERSIONS.iter().map(ProtocolVersion::as_str).collect();
    let message = format!("this MCP-Protocol-Version is not spoken here, supported: {}", supported.join(", "));
    RefusedMessage {
        data: Some(Box::new(json!({ "supported": supported }))),
        ..RefusedMessage::new(UNSUPPORTED_VERSION, message)
    }
}

/// The answer to an `initialize` when all sessions are taken. `text` is the message of the `SessionError`.
fn sessions_taken(text: &str, request: &[u8]) -> HttpResponse {
    let which = text.split_once(SESSIONS_TAKEN).map_or("all sessions", |(_, which)| which);
    let message = format!(
        "{which} are taken: end one (DELETE /mcp), wait for an idle one to end, or speak 2026-07-28, which has none"
    );
    error_answer(StatusCode::TOO_MANY_REQUESTS, &RefusedMessage::new(SESSIONS_FULL, message).with_id_of(request))
}

fn session_not_found(request: &[u8]) -> HttpResponse {
    let message = "there is no such session, or it has ended: send initialize for a new one";
    let refused = RefusedMessage::new(SESSION_NOT_FOUND, message).with_id_of(request);
    error_answer(StatusCode::NOT_FOUND, &refused)
}

fn error_answer(status: StatusCode, refused: &RefusedMessage) -> HttpResponse {
    let mut answer = Response::new(Full::new(refused.to_json().into()).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, JSON);
    answer
}
