//! Errors over HTTP. Under `/universes` they have the shape that clients of the Solar System Constructor read: `error` is
//! a sentence there, and everywhere else an object.

use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use serde_json::Value;
use skald_app::{Class, Fault};

use crate::universes;

/// The status of an error. The class alone decides it.
pub fn status(class: Class) -> StatusCode {
    match class {
        Class::Invalid => StatusCode::BAD_REQUEST,
        Class::Unauthenticated => StatusCode::UNAUTHORIZED,
        Class::Denied => StatusCode::FORBIDDEN,
        Class::NotFound => StatusCode::NOT_FOUND,
        Class::Refused => StatusCode::UNPROCESSABLE_ENTITY,
        Class::Conflict => StatusCode::CONFLICT,
        Class::Limited => StatusCode::TOO_MANY_REQUESTS,
        Class::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Class::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        Class::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// An error in answer to a request for this path.
pub(crate) fn response(path: &str, fault: &Fault) -> Response {
    with_status(status(fault.class()), path, fault)
}

/// An error whose status is the transport's own, like 405.
pub(crate) fn with_status(status: StatusCode, path: &str, fault: &Fault) -> Response {
    let body = if universes::is_universes_path(path) { with_sentence(fault) } else { fault.envelope() };
    let mut response = Response::new(body.to_string().into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if fault.class() == Class::Unauthenticated {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    if let Some(milliseconds) = fault.body().retry_after_ms {
        headers.insert(RETRY_AFTER, milliseconds.div_ceil(1_000).into());
    }
    response
}

/// `{"error": "<sentence>", "code": …, "message": …, …}`.
fn with_sentence(fault: &Fault) -> Value {
    let mut envelope = fault.envelope();
    let mut body = envelope["error"].take();
    if let Some(fields) = body.as_object_mut() {
        fields.shift_insert(0, "error".to_owned(), fault.sentence().into());
    }
    body
}
