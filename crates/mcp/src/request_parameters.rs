//! Reads what a request of MCP says beside its arguments: idempotency key, expected revision and revision of the protocol;
//! and makes the errors for parameters that no method takes.

use std::borrow::Cow;

use rmcp::model::{InitializeRequestParams, PaginatedRequestParams};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;
use skald_app::idempotency_key::key_problem;
use skald_app::{Code, Fault, RequestControl, RequestSurface, limits, nearest_word, truncate_for_message};

use crate::{convert, message_scan};

/// How long a client may cache a list that is fixed for the life of the process.
const LIST_TTL_MS: u64 = 300_000;

pub(super) const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
const IDEMPOTENCY_KEY: &str = "skald/idempotencyKey";
const EXPECTED_REVISION: &str = "skald/expectedRevision";

pub(super) fn request_control(context: &RequestContext<RoleServer>) -> Result<RequestControl, ErrorData> {
    let cancelled = context.ct.clone();
    let idempotency_key = match context.meta.get(IDEMPOTENCY_KEY) {
        None | Some(Value::Null) => None,
        Some(Value::String(key)) if key_problem(key).is_none() => Some(key.clone()),
        Some(_) => {
            let most = limits::KEY_CHARS_MAX;
            return Err(invalid_params(format!(
                "_meta[{IDEMPOTENCY_KEY:?}] is a text of 1 to {most} plain characters"
            )));
        }
    };
    let expected_revision = match context.meta.get(EXPECTED_REVISION) {
        None | Some(Value::Null) => None,
        Some(revision) => {
            let wrong = || invalid_params(format!("_meta[{EXPECTED_REVISION:?}] is a whole number"));
            Some(revision.as_u64().ok_or_else(wrong)?)
        }
    };
    Ok(RequestControl {
        cancelled,
        idempotency_key,
        expected_revision,
        surface: RequestSurface::Mcp,
        ..RequestControl::default()
    })
}

/// Whether the request is of a revision without a handshake.
pub(super) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| !version.has_initialize())
}

/// How long a client may cache a fixed list. Only 2026-07-28 has the field; rmcp fills in the scope, and both fields of
/// all other results.
pub(super) fn list_ttl_ms(context: &RequestContext<RoleServer>) -> Option<u64> {
    is_stateless(context).then_some(LIST_TTL_MS)
}

pub(super) fn invalid_params(message: impl Into<String>) -> ErrorData {
    convert::protocol_error(&Fault::new(Code::InvalidParams, message))
}

/// The fault for something that exists but is hidden: `NOT_FOUND`, with the reason.
pub(super) fn hidden_fault(what: &str, name: &str) -> Fault {
    let message = format!("the {what} {:?} is hidden here by the toolsets or by read-only", truncate_for_message(name));
    Fault::new(Code::NotFound, message).hint("ask for other toolsets, or without read-only")
}

/// Repeats the check of `message_scan::admit`, which misses an `initialize` whose method is written with escapes.
pub(super) fn check_initialize_params(request: &InitializeRequestParams) -> Result<(), ErrorData> {
    let params = serde_json::to_value(request).map_err(|error| invalid_params(error.to_string()))?;
    message_scan::check_initialize(&params).map_err(|refused| invalid_params(refused.message))
}

/// Refuses any cursor: every list is one page, so none was ever given out.
pub(super) fn check_no_cursor(params: Option<&PaginatedRequestParams>) -> Result<(), ErrorData> {
    match params.and_then(|params| params.cursor.as_ref()) {
        None => Ok(()),
        Some(cursor) => Err(invalid_params(format!(
            "unknown cursor {:?}: the whole list comes without one",
            truncate_for_message(cursor)
        ))),
    }
}

pub(super) fn unknown_tool_error(name: &str, offered: &[Cow<'_, str>], is_hidden: bool) -> ErrorData {
    let offered: Vec<&str> = offered.iter().map(AsRef::as_ref).collect();
    let fault = if is_hidden {
        hidden_fault("tool", name)
    } else {
        Fault::new(Code::NotFound, format!("there is no tool {:?}", truncate_for_message(name))).hint(
            match nearest_word(name, &offered) {
                Some(tool) => format!("did you mean {tool}?"),
                None => "tools/list has the tools".to_owned(),
            },
        )
    };
    convert::protocol_error(&fault.allowed(offered))
}
