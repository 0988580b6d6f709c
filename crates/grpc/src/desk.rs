//! Where every request comes in: whose it is, what it may see, and then the engine.

use std::sync::Arc;

use app::{
    Answer, Caller, Code, Conversation, Engine, Fault, Toolset, Visible, Work, bearer, is_forwarded, short,
    token_required, token_required_of_forwarded,
};
use serde_json::Value;
use tokio_util::sync::DropGuard;
use tonic::Status;
use tonic::metadata::{KeyRef, MetadataMap};

use crate::fault::refused;
use crate::metadata;

/// The name under which the context of a client is kept that says none.
const CLIENT: &str = "grpc";

/// What all services share.
pub(crate) struct Desk {
    pub engine: Arc<dyn Engine>,
    /// Whether a request without a token is refused: wherever others than the owner can reach the server.
    pub is_token_required: bool,
    pub visible: Visible,
}

/// One request: whose it is, and how it is to be done. It is given up when this is dropped.
pub(crate) struct Visit {
    pub caller: Caller,
    pub work: Work,
    _given_up: DropGuard,
}

impl Desk {
    pub(crate) async fn enter(&self, metadata: &MetadataMap) -> Result<Visit, Status> {
        let caller = self.caller(metadata).await?;
        let work = metadata::work(metadata).map_err(refused)?;
        let given_up = work.cancelled.clone().drop_guard();
        Ok(Visit { caller, work, _given_up: given_up })
    }

    /// A token that is sent must be right; without one the caller is the owner, where that is allowed.
    pub(crate) async fn caller(&self, metadata: &MetadataMap) -> Result<Caller, Status> {
        let values = metadata.get_all(metadata::AUTHORIZATION).iter();
        let caller = match bearer(values.map(|value| value.to_str().ok())) {
            Some(Ok(token)) => self.engine.authenticate(token).await,
            Some(Err(fault)) => Err(fault),
            None if self.is_token_required => Err(token_required()),
            None if is_forwarded(names(metadata)) => Err(token_required_of_forwarded()),
            None => Ok(Caller::owner()),
        };
        let conversation = |caller: &Caller| conversation(metadata, caller);
        let caller = caller.and_then(|caller| conversation(&caller).map(|said| caller.within(said)));
        caller.map_err(refused)
    }

    /// Calls an operation, if it may be seen here.
    pub(crate) async fn answer(&self, visit: &Visit, operation: &str, input: Value) -> Result<Answer, Fault> {
        let is_hidden = |entry| !self.visible.admits(entry);
        if self.engine.catalogue().operation(operation).is_ok_and(is_hidden) {
            return Err(hidden("operation", operation));
        }
        self.engine.answer(&visit.caller, operation, input, &visit.work).await
    }

    /// The same, for whoever looks into the answer.
    pub(crate) async fn call(&self, visit: &Visit, operation: &str, input: Value) -> Result<Value, Fault> {
        self.answer(visit, operation, input).await.map(Answer::into_value)
    }

    pub(crate) fn check_visible(&self, what: &str, name: &str, toolset: Toolset) -> Result<(), Fault> {
        if self.visible.toolsets.contains(toolset) { Ok(()) } else { Err(hidden(what, name)) }
    }
}

fn names(metadata: &MetadataMap) -> impl Iterator<Item = &str> {
    metadata.keys().map(|key| match key {
        KeyRef::Ascii(key) => key.as_str(),
        KeyRef::Binary(key) => key.as_str(),
    })
}

/// What the toolsets hide is as good as not there, but says so.
fn hidden(what: &str, name: &str) -> Fault {
    let message = format!("the {what} {:?} is hidden here by the toolsets or by read-only", short(name));
    Fault::new(Code::NotFound, message).hint("start the server with other toolsets, or without --read-only")
}

/// The conversation that a request belongs to. One that another process holds is its caller's alone.
fn conversation(metadata: &MetadataMap, caller: &Caller) -> Result<Conversation, Fault> {
    if let Some(session) = metadata::session(metadata)? {
        return Ok(Conversation::Held(format!("{}/{session}", caller.id()).into()));
    }
    let client = metadata::text(metadata, metadata::CLIENT)?;
    Ok(Conversation::Client(client.as_deref().unwrap_or(CLIENT).into()))
}
