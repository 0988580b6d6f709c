//! Errors in Kanka's shapes: the status as `code`, a sentence under `error` and `message`, and the fields at fault.

use axum::http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use serde_json::{Value, json};
use skald_app::{Class, Code, Fault, truncate_for_message};

use super::rate_limit::RequestAllowance;

/// An error answer.
#[derive(Debug)]
pub(super) struct ApiError {
    status: StatusCode,
    body: Box<Value>,
    header: Option<Box<(HeaderName, HeaderValue)>>,
}

pub(super) type ApiResult<T> = Result<T, ApiError>;

impl From<Fault> for ApiError {
    fn from(fault: Fault) -> Self {
        let status = match fault.class() {
            // Kanka has one status for all wrong input, also for texts and lists that are too long.
            Class::Invalid | Class::Refused | Class::TooLarge => StatusCode::UNPROCESSABLE_ENTITY,
            class => StatusCode::from_u16(class.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
        };
        Self::with_status(status, &fault)
    }
}

impl ApiError {
    fn with_status(status: StatusCode, fault: &Fault) -> Self {
        let header = match (status, fault.body().retry_after_ms) {
            (StatusCode::UNAUTHORIZED, _) => Some((WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))),
            (_, Some(milliseconds)) => Some((RETRY_AFTER, milliseconds.div_ceil(1_000).into())),
            _ => None,
        };
        let mut body = fault.status_body(status.as_u16());
        if status == StatusCode::INTERNAL_SERVER_ERROR {
            // Kanka's clients read `hint` and `trace`. The log has the cause under the id of the request.
            body["hint"] =
                json!(fault.body().hint.as_deref().unwrap_or("try again, and tell whoever runs this server"));
            body["trace"] = json!(fault.body().request_id);
        }
        Self { status, body: Box::new(body), header: header.map(Box::new) }
    }

    /// Something that is not there, or not for this caller.
    pub(super) fn not_found(what: &str) -> Self {
        Fault::new(Code::NotFound, format!("there is no {what}")).into()
    }

    /// A path that leads nowhere.
    pub(super) fn no_route(path: &str) -> Self {
        let message = format!("there is nothing at {:?}", truncate_for_message(path));
        Fault::new(Code::NotFound, message).hint("docs/kanka.md lists what the Kanka-compatible API has").into()
    }

    /// A method that is not there at this path.
    pub(super) fn no_method(method: &str, path: &str, allowed: &'static str) -> Self {
        let message = format!("{method} is not possible at {:?}", truncate_for_message(path));
        let fault = Fault::new(Code::InvalidParams, message).hint(format!("possible: {allowed}"));
        let error = Self::with_status(StatusCode::METHOD_NOT_ALLOWED, &fault);
        Self { header: Some(Box::new((ALLOW, HeaderValue::from_static(allowed)))), ..error }
    }

    /// Something that Kanka has and Skald does not.
    pub(super) fn unsupported(what: &str) -> Self {
        let message = format!("{what} are not kept here, so they cannot be written");
        let fault = Fault::new(Code::InvalidParams, message).hint("docs/kanka.md lists what is kept");
        let error = Self::with_status(StatusCode::METHOD_NOT_ALLOWED, &fault);
        Self { header: Some(Box::new((ALLOW, HeaderValue::from_static("GET")))), ..error }
    }

    /// An action that Kanka offers and Skald does not, such as changing the kind of entities.
    pub(super) fn unsupported_action(what: &str) -> Self {
        let fault = Fault::new(Code::InvalidParams, format!("{what} is not done here: nothing was changed"));
        let fault = fault.hint("create what you need under its own kind, and delete the other one");
        Self::with_status(StatusCode::METHOD_NOT_ALLOWED, &fault)
    }

    /// A field that does not fit.
    pub(super) fn invalid_field(field: &str, message: impl Into<String>, hint: &str) -> Self {
        Fault::new(Code::InvalidParams, message).with_path(format!("/{field}")).hint(hint).into()
    }

    /// As in Kanka, the body of this error is a list with one sentence.
    pub(super) fn too_many_requests(allowance: &RequestAllowance) -> Self {
        let seconds = allowance.retry_after.map_or(1, |wait| wait.as_secs() + 1);
        let sentence = format!("more than {} requests in a minute; try again in {seconds} seconds", allowance.limit);
        let header = Some(Box::new((RETRY_AFTER, HeaderValue::from(seconds))));
        Self { status: StatusCode::TOO_MANY_REQUESTS, body: Box::new(json!([sentence])), header }
    }

    /// Whether somebody else changed the same thing first.
    pub(super) fn is_conflict(&self) -> bool {
        self.status == StatusCode::CONFLICT
    }

    pub(super) fn into_response(self) -> Response {
        let mut response = json_response(self.status, &self.body);
        if let Some((name, value)) = self.header.map(|header| *header) {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

/// JSON. Some clients take no other content type, not even with a charset.
pub(super) fn json_response(status: StatusCode, body: &Value) -> Response {
    let mut response = Response::new(body.to_string().into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_internal_error_has_the_fields_of_kanka() {
        let error = ApiError::from(Fault::internal("a panic", "r-1".to_owned()));
        assert_eq!((error.status, &error.body["code"]), (StatusCode::INTERNAL_SERVER_ERROR, &json!(500)));
        assert!(error.body["error"].is_string() && error.body["hint"].is_string(), "{}", error.body);
        assert_eq!(error.body["trace"], "r-1", "the cause is in the log, not in the answer");
    }
}
