//! Sessions of clients before 2026-07-28: rmcp's own, with a cap, and each bound to the principal that opened it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use app::Principal;
use futures::{Stream, StreamExt};
use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, LocalSessionManagerError};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};

/// What an error says when a request's id is under way already; rmcp hands an error on as text.
pub(crate) const ID_UNDER_WAY: &str = "the id is under way";

pub(crate) struct Sessions {
    local: LocalSessionManager,
    owners: RwLock<HashMap<SessionId, Principal>>,
    calls: Calls,
    max: usize,
}

/// The requests under way, by session and id. rmcp would lose one of two with the same id.
type Calls = Arc<Mutex<HashSet<(SessionId, RequestId)>>>;

/// A request that is under way for as long as this lives.
struct Call {
    calls: Calls,
    key: (SessionId, RequestId),
}

impl Drop for Call {
    fn drop(&mut self) {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum SessionError {
    #[error("all {0} sessions are taken")]
    Full(usize),
    #[error("{ID_UNDER_WAY}")]
    IdUnderWay,
    #[error(transparent)]
    Local(#[from] LocalSessionManagerError),
}

impl Sessions {
    pub(crate) fn new(max: usize, idle: Duration) -> Self {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = Some(idle);
        Self { local, owners: RwLock::default(), calls: Calls::default(), max }
    }

    pub(crate) fn max(&self) -> usize {
        self.max
    }

    pub(crate) async fn is_full(&self) -> bool {
        self.local.sessions.read().await.len() >= self.max
    }

    fn begin(&self, session: &SessionId, message: &ClientJsonRpcMessage) -> Result<Option<Call>, SessionError> {
        let ClientJsonRpcMessage::Request(request) = message else { return Ok(None) };
        let key = (session.clone(), request.id.clone());
        if !self.calls.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone()) {
            return Err(SessionError::IdUnderWay);
        }
        Ok(Some(Call { calls: Arc::clone(&self.calls), key }))
    }

    /// Binds a session that was just opened to the one who opened it.
    pub(crate) fn claim(&self, id: &str, principal: Principal) {
        self.owners.write().unwrap_or_else(PoisonError::into_inner).insert(id.into(), principal);
    }

    /// Whether the session lives and is this principal's. Another's session is as unknown as one that never was.
    pub(crate) fn belongs_to(&self, id: &str, principal: &Principal) -> bool {
        let owners = self.owners.read().unwrap_or_else(PoisonError::into_inner);
        // Not by roles: those may have changed since.
        owners.get(id).is_some_and(|owner| owner.id() == principal.id())
    }
}

impl SessionManager for Sessions {
    type Error = SessionError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionError> {
        if self.is_full().await {
            return Err(SessionError::Full(self.max));
        }
        Ok(self.local.create_session().await?)
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionError> {
        Ok(self.local.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionError> {
        Ok(self.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionError> {
        self.owners.write().unwrap_or_else(PoisonError::into_inner).remove(id);
        Ok(self.local.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        let call = self.begin(id, &message)?;
        let messages = self.local.create_stream(id, message).await?;
        // The stream holds the call, and ends it by ending.
        Ok(messages.map(move |message| {
            let _ = &call;
            message
        }))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), SessionError> {
        Ok(self.local.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        Ok(self.local.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        Ok(self.local.resume(id, last_event_id).await?)
    }
}
