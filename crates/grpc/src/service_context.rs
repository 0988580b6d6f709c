//! Calls the engine for gRPC services: takes the caller from the request and hides operations that are not visible.

use std::sync::Arc;

use serde_json::Value;
use skald_app::{
    Answer, Caller, Code, Conversation, Engine, Fault, RequestControl, Toolset, ToolsetFilter, truncate_for_message,
    unidentified_caller_fault,
};
use tokio_util::sync::DropGuard;
use tonic::metadata::MetadataMap;
use tonic::{Request, Status};

use crate::fault::into_status;
use crate::metadata;

/// The client name if the metadata have none. The context of a client is stored under its name.
const CLIENT: &str = "grpc";

/// State shared by all services.
pub(crate) struct ServiceContext {
    pub engine: Arc<dyn Engine>,
    pub visible: ToolsetFilter,
}

/// The caller and the options of one request. Dropping it cancels the request.
pub(crate) struct CallContext {
    pub caller: Caller,
    pub control: RequestControl,
    _given_up: DropGuard,
}

impl CallContext {
    pub(crate) fn from_request<T>(request: &Request<T>) -> Result<Self, Status> {
        let caller = caller(request)?;
        let control = metadata::read_control(request.metadata()).map_err(into_status)?;
        let given_up = control.cancelled.clone().drop_guard();
        Ok(Self { caller, control, _given_up: given_up })
    }
}

/// The caller that the identify layer put into the request, in the conversation that the metadata name.
pub(crate) fn caller<T>(request: &Request<T>) -> Result<Caller, Status> {
    let caller =
        request.extensions().get::<Caller>().cloned().ok_or_else(|| into_status(unidentified_caller_fault()))?;
    let conversation = conversation(request.metadata(), &caller).map_err(into_status)?;
    Ok(caller.with_conversation(conversation))
}

impl ServiceContext {
    /// Calls an operation, unless toolsets or read-only hide it.
    pub(crate) async fn answer(
        &self,
        call_context: &CallContext,
        operation: &str,
        input: Value,
    ) -> Result<Answer, Fault> {
        let is_hidden = |entry| !self.visible.admits(entry);
        if self.engine.catalogue().operation(operation).is_ok_and(is_hidden) {
            return Err(hidden_fault("operation", operation));
        }
        self.engine.answer(&call_context.caller, operation, input, &call_context.control).await
    }

    /// Calls an operation and returns its answer as a JSON value.
    pub(crate) async fn call(&self, call_context: &CallContext, operation: &str, input: Value) -> Result<Value, Fault> {
        self.answer(call_context, operation, input).await.map(Answer::into_value)
    }

    pub(crate) fn check_visible(&self, what: &str, name: &str, toolset: Toolset) -> Result<(), Fault> {
        if self.visible.toolsets.contains(toolset) { Ok(()) } else { Err(hidden_fault(what, name)) }
    }
}

/// The fault for something hidden: not found, but the message says that it is hidden.
fn hidden_fault(what: &str, name: &str) -> Fault {
    let message = format!("the {what} {:?} is hidden here by the toolsets or by read-only", truncate_for_message(name));
    Fault::new(Code::NotFound, message).hint("start the server with other toolsets, or without --read-only")
}

/// The conversation of a request. A bridge's session id is prefixed with the caller's id, so that no other caller can
/// use it.
fn conversation(metadata: &MetadataMap, caller: &Caller) -> Result<Conversation, Fault> {
    if let Some(session) = metadata::read_session_id(metadata)? {
        return Ok(Conversation::Held(format!("{}/{session}", caller.id()).into()));
    }
    let client = metadata::read_text(metadata, metadata::CLIENT)?;
    Ok(Conversation::Client(client.as_deref().unwrap_or(CLIENT).into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_was_not_identified_is_not_the_owners() {
        assert_eq!(caller(&Request::new(())).unwrap_err().code(), tonic::Code::Internal);
        assert!(CallContext::from_request(&Request::new(())).is_err());
    }
}
