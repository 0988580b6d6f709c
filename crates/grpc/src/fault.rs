//! Errors as gRPC statuses, by class, with the whole fault in the details, so that a client can restore it.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::Value;
use skald_app::{Class, Code, Fault};
use tonic::Status;
use tonic_types::{ErrorDetails, StatusExt};

/// The `domain` of `ErrorInfo`.
const DOMAIN: &str = "skald";
/// The language of every hint.
const LOCALE: &str = "en";
const PATH: &str = "path";
const VALUE: &str = "value";
const ALLOWED: &str = "allowed";
const EXAMPLE: &str = "example";
const KNOWN: [&str; 4] = [PATH, VALUE, ALLOWED, EXAMPLE];
/// The limit of one long detail. Details are sent as headers, of which some clients accept at most 8,192 bytes in all.
const LONG_BYTES_MAX: usize = 2_000;

/// The status of an error. The class alone decides it.
fn status_code(class: Class) -> tonic::Code {
    match class {
        Class::Invalid => tonic::Code::InvalidArgument,
        Class::Unauthenticated => tonic::Code::Unauthenticated,
        Class::Denied => tonic::Code::PermissionDenied,
        Class::NotFound => tonic::Code::NotFound,
        Class::Refused => tonic::Code::FailedPrecondition,
        Class::Conflict => tonic::Code::Aborted,
        Class::Limited | Class::TooLarge => tonic::Code::ResourceExhausted,
        Class::Unavailable => tonic::Code::Unavailable,
        Class::Internal => tonic::Code::Internal,
    }
}

pub(crate) fn status(fault: &Fault) -> Status {
    let body = fault.body();
    let mut about = HashMap::new();
    about.extend(body.path.as_ref().map(|path| (PATH.to_owned(), path.clone())));
    about.extend(body.value.as_ref().map(|value| (VALUE.to_owned(), value.to_string())));
    let allowed = Value::from(body.allowed.clone()).to_string();
    if !body.allowed.is_empty() && allowed.len() <= LONG_BYTES_MAX {
        about.insert(ALLOWED.to_owned(), allowed);
    }
    for (name, value) in &body.details {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        if text.len() <= LONG_BYTES_MAX {
            about.insert(name.clone(), text);
        }
    }
    let example = body.example.as_ref().map(Value::to_string).filter(|example| example.len() <= LONG_BYTES_MAX);
    about.extend(example.map(|example| (EXAMPLE.to_owned(), example)));
    let mut details = ErrorDetails::with_error_info(body.code.name(), DOMAIN, about);
    if let Some(path) = &body.path {
        details.add_bad_request_violation(path, &body.message);
    }
    if let Some(hint) = &body.hint {
        details.set_localized_message(LOCALE, hint);
    }
    if let Some(milliseconds) = body.retry_after_ms {
        details.set_retry_info(Some(Duration::from_millis(milliseconds)));
    }
    if let Some(request_id) = &body.request_id {
        details.set_request_info(request_id, "");
    }
    Status::with_error_details(status_code(fault.class()), body.message.clone(), details)
}

/// Converts a fault to a status, for `map_err`.
#[expect(clippy::needless_pass_by_value, reason = "`map_err` hands it over")]
pub(crate) fn into_status(fault: Fault) -> Status {
    status(&fault)
}

/// The fault in the details of a status, if a Skald server sent one.
pub(crate) fn from_status(status: &Status) -> Option<Fault> {
    let details = status.get_error_details();
    let reason = details.error_info().filter(|reason| reason.domain == DOMAIN)?;
    let mut fault = Fault::new(Code::from_name(&reason.reason)?, status.message());
    if let Some(hint) = details.localized_message() {
        fault = fault.hint(&hint.message);
    }
    if let Some(path) = reason.metadata.get(PATH) {
        fault = fault.with_path(path);
    }
    if let Some(value) = reason.metadata.get(VALUE).and_then(|value| serde_json::from_str(value).ok()) {
        fault = fault.value(&value);
    }
    if let Some(Value::Array(allowed)) = reason.metadata.get(ALLOWED).and_then(|words| serde_json::from_str(words).ok())
    {
        fault = fault.allowed(allowed.iter().filter_map(Value::as_str));
    }
    let parsed = |key: &str| reason.metadata.get(key).and_then(|text| serde_json::from_str::<Value>(text).ok());
    for (name, text) in reason.metadata.iter().filter(|(name, _)| !KNOWN.contains(&name.as_str())) {
        // Ids are sent as they are; everything else is an array or an object.
        let value = text.starts_with(['[', '{']).then(|| parsed(name)).flatten();
        fault = fault.detail(name, value.unwrap_or_else(|| text.as_str().into()));
    }
    if let Some(example) = parsed(EXAMPLE) {
        fault = fault.example(example);
    }
    if let Some(delay) = details.retry_info().and_then(|retry| retry.retry_delay) {
        fault = fault.retry_after_ms(u64::try_from(delay.as_millis()).unwrap_or(u64::MAX));
    }
    if let Some(request) = details.request_info() {
        fault = fault.request_id(&request.request_id);
    }
    Some(fault)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use skald_app::ERROR_TABLE;

    use super::*;

    /// Encodes a fault as headers and decodes it again.
    fn round_trip(fault: &Fault) -> Option<Fault> {
        let mut headers = tonic::codegen::http::HeaderMap::new();
        status(fault).add_header(&mut headers).unwrap();
        super::from_status(&Status::from_header_map(&headers).unwrap())
    }

    #[test]
    fn every_fault_arrives_whole() {
        for row in ERROR_TABLE {
            let plain = Fault::new(row.code, "Zoë's „message“\nin two lines: 100 %");
            assert_eq!(round_trip(&plain).unwrap().body(), plain.body());
            let full = plain
                .clone()
                .hint("what to do")
                .with_path("/dice/0/sides")
                .value(&json!({"sides": -1.5, "text": "π"}))
                .allowed(["one", "two"])
                .retry_after_ms(1_250)
                .request_id("req_1")
                .subject("universe", "universeId", "u-1")
                .detail("events", json!([{"type": "starNotFound", "id": "ζ"}]))
                .detail("findings", json!([{"line": 3}]))
                .example(json!({"type": "tick", "dt": 60}));
            assert_eq!(round_trip(&full).unwrap().body(), full.body());
            assert_eq!(status(&plain).code().to_string(), tonic_description(row.class.status()));
        }
        let internal = Fault::internal("a secret cause", "req_2".to_owned());
        assert_eq!(round_trip(&internal).unwrap().body(), internal.body());
        assert!(!format!("{:?}", status(&internal)).contains("secret"));
    }

    /// tonic's description of the status code with this name.
    fn tonic_description(name: &str) -> String {
        let all = (0..=16).map(tonic::Code::from_i32);
        all.into_iter().find(|code| format!("{code:?}") == name).map(|code| code.to_string()).unwrap()
    }

    #[test]
    fn a_long_list_is_left_out_and_the_rest_fits_any_client() {
        let fault = Fault::new(Code::NotFound, "no").allowed((0..1_000).map(|number| format!("operation_{number}")));
        assert!(status(&fault).details().len() < 4_000);
        assert!(round_trip(&fault).unwrap().body().allowed.is_empty());
    }

    #[test]
    fn the_transport_has_no_fault_of_ours() {
        assert!(super::from_status(&Status::unavailable("broken pipe")).is_none());
    }
}
