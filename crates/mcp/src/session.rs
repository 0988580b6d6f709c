//! Sessions of MCP clients before 2026-07-28: rmcp's own, with a cap, each bound to the principal that opened it. Event
//! streams are sent as the session's revision allows.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};
use std::time::Duration;

use futures::{Stream, StreamExt};
use rmcp::model::{ClientJsonRpcMessage, ProtocolVersion, RequestId, ServerJsonRpcMessage, ServerResult};
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, LocalSessionManagerError};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};
use skald_app::Principal;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::replaceable_stream::{ReplaceableStream, StreamHandle};

/// Prefixes of session errors. rmcp passes an error on as text, and the middleware recognises it by the prefix.
pub(crate) const ID_UNDER_WAY: &str = "the id is under way";
pub(crate) const SESSIONS_TAKEN: &str = "the sessions are taken: ";

tokio::task_local! {
    /// The principal of the request that is being handled. rmcp does not pass it to `create_session`.
    pub(crate) static CALLING_PRINCIPAL: Principal;
}

pub(crate) struct SessionTable {
    /// Used by the tasks that wait until a token is revoked.
    this: Weak<Self>,
    local: LocalSessionManager,
    owners: RwLock<Owners>,
    /// Sessions whose clients accept events without a message. Clients of older revisions fail on them.
    primed: RwLock<HashSet<SessionId>>,
    /// The streams opened by GET, by session.
    standalone: Mutex<HashMap<SessionId, Vec<StreamHandle<ServerSseMessage>>>>,
    calls: RequestsInProgress,
    opening: tokio::sync::Mutex<()>,
    max: usize,
}

/// The principals of the live sessions.
#[derive(Default)]
struct Owners {
    by_session: HashMap<SessionId, OwnedSession>,
    opened: u64,
}

struct OwnedSession {
    principal: Principal,
    /// Sessions opened before this one.
    number: u64,
    /// Whether a message came after `initialize`.
    is_used: AtomicBool,
    /// Ends the task that waits until the principal's token is revoked.
    _closed: DropGuard,
}

impl Owners {
    /// The oldest session in which nothing came after `initialize`, of one principal or of all.
    fn oldest_unused(&self, principal: Option<&Principal>) -> Option<SessionId> {
        let is_whose = |owned: &OwnedSession| principal.is_none_or(|principal| owned.principal.id() == principal.id());
        let unused =
            self.by_session.iter().filter(|(_, owned)| !owned.is_used.load(Ordering::Relaxed) && is_whose(owned));
        unused.min_by_key(|(_, owned)| owned.number).map(|(id, _)| id.clone())
    }

    fn count(&self, principal: &Principal) -> usize {
        self.by_session.values().filter(|owned| owned.principal.id() == principal.id()).count()
    }
}

/// Whether another session can be opened.
enum SessionSlot {
    Free,
    InPlaceOf(SessionId),
    None(SessionError),
}

/// The requests under way, by session and id. Of two with the same id, rmcp would lose one.
type RequestsInProgress = Arc<Mutex<HashSet<(SessionId, RequestId)>>>;

/// A request that is under way for as long as this lives.
struct RequestInProgress {
    calls: RequestsInProgress,
    key: (SessionId, RequestId),
}

impl Drop for RequestInProgress {
    fn drop(&mut self) {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum SessionError {
    #[error("{SESSIONS_TAKEN}all {0} sessions of this server")]
    Full(usize),
    #[error("{SESSIONS_TAKEN}all {0} sessions that one caller may have")]
    PrincipalFull(usize),
    #[error("it was not established who sent this request")]
    Unidentified,
    #[error("{ID_UNDER_WAY}")]
    IdUnderWay,
    #[error(transparent)]
    Local(#[from] LocalSessionManagerError),
}

impl SessionTable {
    pub(crate) fn new(max: usize, idle: Duration) -> Arc<Self> {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = Some(idle);
        Arc::new_cyclic(|this| Self {
            this: Weak::clone(this),
            local,
            owners: RwLock::default(),
            primed: RwLock::default(),
            standalone: Mutex::default(),
            calls: RequestsInProgress::default(),
            opening: tokio::sync::Mutex::default(),
            max,
        })
    }

    /// Whether this principal can open a session, and which session is closed for it. Only sessions without a message
    /// after `initialize` are closed: a client can open many at no cost, and they would block all others.
    fn available_slot(&self, principal: &Principal) -> SessionSlot {
        // A quarter for each principal, so that none can take all sessions.
        let most = self.max.div_ceil(4);
        let owners = self.owners.read().unwrap_or_else(PoisonError::into_inner);
        let (is_taken, is_full) = (owners.count(principal) >= most, owners.by_session.len() >= self.max);
        if !is_taken && !is_full {
            return SessionSlot::Free;
        }
        match owners.oldest_unused(is_taken.then_some(principal)) {
            Some(id) => SessionSlot::InPlaceOf(id),
            None if is_taken => SessionSlot::None(SessionError::PrincipalFull(most)),
            None => SessionSlot::None(SessionError::Full(self.max)),
        }
    }

    /// The error if this principal cannot open a session now.
    pub(crate) fn refusal(&self, principal: &Principal) -> Option<SessionError> {
        match self.available_slot(principal) {
            SessionSlot::Free | SessionSlot::InPlaceOf(_) => None,
            SessionSlot::None(error) => Some(error),
        }
    }

    fn begin_call(
        &self,
        session: &SessionId,
        message: &ClientJsonRpcMessage,
    ) -> Result<Option<RequestInProgress>, SessionError> {
        let ClientJsonRpcMessage::Request(request) = message else { return Ok(None) };
        let key = (session.clone(), request.id.clone());
        if !self.calls.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone()) {
            return Err(SessionError::IdUnderWay);
        }
        Ok(Some(RequestInProgress { calls: Arc::clone(&self.calls), key }))
    }

    /// Binds a new session to the principal that opened it.
    fn bind_owner(&self, id: &SessionId, principal: Principal) {
        let closed = CancellationToken::new();
        let (by, ended) = (principal.clone(), closed.clone().drop_guard());
        let mut owners = self.owners.write().unwrap_or_else(PoisonError::into_inner);
        owners.opened += 1;
        let (number, is_used) = (owners.opened, AtomicBool::new(false));
        owners.by_session.insert(id.clone(), OwnedSession { principal, number, is_used, _closed: ended });
        drop(owners);
        if let Principal::Holder(_) = &by {
            self.close_when_revoked(id.clone(), &by, closed);
        }
    }

    /// Closes a session when the token that opened it is revoked, unless it is closed before.
    fn close_when_revoked(&self, id: SessionId, principal: &Principal, closed: CancellationToken) {
        let (this, revoked) = (Weak::clone(&self.this), principal.wait_for_revocation());
        tokio::spawn(async move {
            tokio::select! {
                () = closed.cancelled() => return,
                () = revoked => {}
            }
            if let Some(sessions) = this.upgrade()
                && let Err(error) = sessions.close_session(&id).await
            {
                tracing::debug!(%error, "a session of a revoked token was closed already");
            }
        });
    }

    /// Whether the session exists and belongs to this principal. Marks it as used.
    pub(crate) fn belongs_to(&self, id: &str, principal: &Principal) -> bool {
        let owners = self.owners.read().unwrap_or_else(PoisonError::into_inner);
        // Compare ids only: the roles may have changed since.
        let owned = owners.by_session.get(id).filter(|owned| owned.principal.id() == principal.id());
        owned.inspect(|owned| owned.is_used.store(true, Ordering::Relaxed)).is_some()
    }

    /// Drops events without a message unless the session's revision, 2025-11-25, allows them.
    fn allowed_events(
        &self,
        id: &SessionId,
        events: impl Stream<Item = ServerSseMessage> + Send + Sync + 'static,
    ) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static {
        let is_primed = self.primed.read().unwrap_or_else(PoisonError::into_inner).contains(id);
        let is_allowed = move |event: &ServerSseMessage| is_primed || event.message.is_some();
        delay_priming(events).filter(move |event| std::future::ready(is_allowed(event)))
    }

    /// Makes a stream that a GET opened replaceable by one that resumes it.
    fn make_replaceable(
        &self,
        id: &SessionId,
        events: impl Stream<Item = ServerSseMessage> + Send + 'static,
    ) -> ReplaceableStream<ServerSseMessage> {
        let (events, handle) = ReplaceableStream::new(events);
        let mut standalone = self.standalone.lock().unwrap_or_else(PoisonError::into_inner);
        let handles = standalone.entry(id.clone()).or_default();
        handles.retain(StreamHandle::is_open);
        handles.push(handle);
        events
    }

    /// Ends the streams opened by GET: the client has lost them and resumes.
    fn end_standalone_streams(&self, id: &SessionId) {
        let handles = self.standalone.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        handles.iter().flatten().for_each(StreamHandle::end);
    }
}

/// How long a stream may be silent before its priming event is sent.
const PRIMING_DELAY: Duration = Duration::from_secs(1);

/// Delays rmcp's priming event, the event without a message at the start of a stream. A client resumes from its id if
/// the connection breaks before the first message, so it is needed only for slow streams. Some clients of 2025-11-25
/// report it as an error.
fn delay_priming(
    events: impl Stream<Item = ServerSseMessage> + Send + Sync + 'static,
) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static {
    let begun = async move {
        let mut events = Box::pin(events);
        let mut first = events.next().await;
        if first.as_ref().is_some_and(|event| event.message.is_none())
            && let Ok(message) = tokio::time::timeout(PRIMING_DELAY, events.next()).await
        {
            first = message;
        }
        futures::stream::iter(first).chain(events)
    };
    futures::stream::once(begun).flatten()
}

fn has_priming(initialized: &ServerJsonRpcMessage) -> bool {
    matches!(initialized, ServerJsonRpcMessage::Response(response)
        if matches!(&response.result, ServerResult::InitializeResult(result)
            if result.protocol_version >= ProtocolVersion::V_2025_11_25))
}

/// The id of the event after this one. rmcp begins a resumed stream with the event whose id it is given, but a client
/// sends the id of the last event that it has. Ids are `index`, or `index/request`.
fn next_event_id(last: &str) -> Option<String> {
    let (index, request) = last.find('/').map_or((last, ""), |at| last.split_at(at));
    let next = index.parse::<usize>().ok()?.checked_add(1)?;
    Some(format!("{next}{request}"))
}

impl SessionManager for SessionTable {
    type Error = SessionError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionError> {
        let principal = CALLING_PRINCIPAL.try_with(Principal::clone).map_err(|_| SessionError::Unidentified)?;
        // One at a time, so that two cannot take the last slot.
        let _opening = self.opening.lock().await;
        match self.available_slot(&principal) {
            SessionSlot::Free => {}
            SessionSlot::InPlaceOf(id) => self.close_session(&id).await?,
            SessionSlot::None(error) => return Err(error),
        }
        let (id, transport) = self.local.create_session().await?;
        self.bind_owner(&id, principal);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionError> {
        let initialized = self.local.initialize_session(id, message).await?;
        if has_priming(&initialized) {
            self.primed.write().unwrap_or_else(PoisonError::into_inner).insert(id.clone());
        }
        Ok(initialized)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionError> {
        Ok(self.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionError> {
        self.owners.write().unwrap_or_else(PoisonError::into_inner).by_session.remove(id);
        self.primed.write().unwrap_or_else(PoisonError::into_inner).remove(id);
        self.standalone.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        Ok(self.local.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        let call = self.begin_call(id, &message)?;
        let events = self.local.create_stream(id, message).await?;
        // The stream owns the call, which ends when the stream is dropped.
        let events = events.map(move |event| {
            let _ = &call;
            event
        });
        Ok(self.allowed_events(id, events))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), SessionError> {
        Ok(self.local.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        let events = self.local.create_standalone_stream(id).await?;
        Ok(self.allowed_events(id, self.make_replaceable(id, events)))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        let next = next_event_id(&last_event_id).unwrap_or(last_event_id);
        let is_standalone = !next.contains('/');
        if is_standalone {
            self.end_standalone_streams(id);
        }
        let events = self.local.resume(id, next).await?;
        let events =
            if is_standalone { self.make_replaceable(id, events).left_stream() } else { events.right_stream() };
        Ok(self.allowed_events(id, events))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use skald_app::{Holder, PrincipalKind, limits};

    use super::*;
    use crate::McpOptions;

    fn holder(name: &str) -> Principal {
        Principal::Holder(Arc::new(Holder::new(&format!("token_{name}"), name, PrincipalKind::Human, BTreeMap::new())))
    }

    #[tokio::test]
    async fn the_last_session_fits_and_one_more_does_not() {
        let options = McpOptions::default();
        let sessions = SessionTable::new(options.sessions_max, options.session_idle);
        let each = limits::SESSIONS_PER_PRINCIPAL_MAX;
        for name in ["ada", "ben", "cleo", "dan"] {
            let principal = holder(name);
            for number in 0..each {
                assert!(matches!(sessions.available_slot(&principal), SessionSlot::Free), "{name} {number}");
                let id = SessionId::from(format!("{name}-{number}"));
                sessions.bind_owner(&id, principal.clone());
                assert!(sessions.belongs_to(&id, &principal), "it is used, so that it does not make room");
            }
            assert!(sessions.refusal(&principal).is_some(), "{name}");
        }
        assert_eq!(4 * each, limits::SESSIONS_MAX);
        let refused = |name: &str| sessions.refusal(&holder(name));
        assert!(matches!(refused("ada"), Some(SessionError::PrincipalFull(most)) if most == each));
        assert!(matches!(refused("eve"), Some(SessionError::Full(most)) if most == limits::SESSIONS_MAX));
        sessions.owners.write().unwrap().by_session.remove("ben-7");
        assert!(refused("eve").is_none() && refused("ben").is_none() && refused("ada").is_some());
    }

    #[test]
    fn the_event_after_one_keeps_its_stream() {
        let next = |last: &str| next_event_id(last);
        assert_eq!(next("0").as_deref(), Some("1"));
        assert_eq!(next("9/17").as_deref(), Some("10/17"));
        for unknown in ["", "/3", "x", "-1", "18446744073709551615"] {
            assert_eq!(next(unknown), None, "{unknown}");
        }
    }
}
