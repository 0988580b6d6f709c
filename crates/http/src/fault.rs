//! Errors as HTTP responses, in the shape that the route declares.

use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{Extensions, HeaderValue, StatusCode};
use axum::response::Response;
use serde_json::Value;
use skald_app::{Class, Code, Fault, FaultShape};

/// The status of an error. The class alone decides it.
pub fn status(class: Class) -> StatusCode {
    StatusCode::from_u16(class.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// The error shape that `HostAndOriginCheck` put into a request.
pub(crate) fn fault_shape(extensions: &Extensions) -> FaultShape {
    extensions.get().copied().unwrap_or(FaultShape::Object)
}

pub(crate) fn response(shape: FaultShape, fault: &Fault) -> Response {
    let status = match (shape, fault.class()) {
        (FaultShape::StatusAndSentence, Class::Invalid) => StatusCode::UNPROCESSABLE_ENTITY,
        (_, class) => status(class),
    };
    response_with_status(status, shape, fault)
}

/// An error with a status of HTTP itself, such as 405.
pub(crate) fn response_with_status(status: StatusCode, shape: FaultShape, fault: &Fault) -> Response {
    let body = match shape {
        FaultShape::Object => fault.envelope(),
        FaultShape::Sentence => sentence_body(fault),
        FaultShape::StatusAndSentence => fault.status_body(status.as_u16()),
    };
    let mut response = Response::new(body.to_string().into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if fault.class() == Class::Unauthenticated {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    if fault.code() == Code::InsufficientScope
        && let Some(scope) = fault.body().details.get("scope").and_then(Value::as_str)
        && let Ok(challenge) = HeaderValue::try_from(format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\""))
    {
        headers.insert(WWW_AUTHENTICATE, challenge);
    }
    if let Some(milliseconds) = fault.body().retry_after_ms {
        headers.insert(RETRY_AFTER, milliseconds.div_ceil(1_000).into());
    }
    response
}

/// `{"error": "<sentence>", "code": …, "message": …, …}`.
fn sentence_body(fault: &Fault) -> Value {
    let mut envelope = fault.envelope();
    let mut body = envelope["error"].take();
    if let Some(fields) = body.as_object_mut() {
        fields.shift_insert(0, "error".to_owned(), fault.to_sentence().into());
    }
    body
}
