//! Scans a JSON-RPC message before rmcp parses it (nesting depth, number of values), and repairs handshakes.
//!
//! These are pure functions of the message's bytes.
//!
//! Older and hand-written clients send an `initialize` without all its fields, or call the notification after it
//! `initialized`; both are repaired here. An unreadable message is refused here, with the reason.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem;
use serde::Deserialize;
use serde_json::{Value, json};
use skald_app::{TooComplex, limits};

pub(crate) const PARSE_ERROR: i32 = -32700;
pub(crate) const INVALID_REQUEST: i32 = -32600;
pub(crate) const INVALID_PARAMS: i32 = -32602;

/// Finds the messages that may need a repair.
static HANDSHAKE: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new(b"\"initialize"));

/// A message that rmcp may parse.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AdmittedMessage<'a> {
    pub bytes: Cow<'a, [u8]>,
    pub is_initialize: bool,
}

/// The JSON-RPC error for a message that is refused.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RefusedMessage {
    pub code: i32,
    pub message: String,
    pub data: Option<Box<Value>>,
    /// The id of the refused message, or null if it has no valid id.
    pub id: Value,
}

impl RefusedMessage {
    pub(crate) fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None, id: Value::Null }
    }

    /// Sets the id to that of the refused message.
    pub(crate) fn with_id_of(mut self, message: &[u8]) -> Self {
        self.id = message_id(message);
        self
    }

    pub(crate) fn to_json(&self) -> Vec<u8> {
        let mut error = json!({"code": self.code, "message": self.message});
        if let Some(data) = &self.data {
            error["data"] = Value::clone(data);
        }
        json!({"jsonrpc": "2.0", "id": self.id, "error": error}).to_string().into_bytes()
    }
}

/// Refuses an `initialize` that rmcp cannot read even after the repair.
pub(crate) fn invalid_initialize(message: &[u8]) -> RefusedMessage {
    let words =
        "the params of initialize do not fit: send protocolVersion as text, capabilities and clientInfo as objects";
    RefusedMessage::new(INVALID_PARAMS, words).with_id_of(message)
}

/// Refuses a message that is too costly to parse. The refusal has an id only if the message is short enough to parse.
pub(crate) fn check_complexity(bytes: &[u8]) -> Result<(), RefusedMessage> {
    let Some(complex) = TooComplex::find(bytes, limits::MESSAGE_VALUES_MAX) else { return Ok(()) };
    let refused = RefusedMessage::new(INVALID_REQUEST, format!("the message is {}", complex.description()));
    Err(if bytes.len() <= limits::SMALL_BODY_BYTES_MAX { refused.with_id_of(bytes) } else { refused })
}

/// Checks the complexity and repairs the handshake. A message that needs nothing is neither parsed nor copied.
pub(crate) fn admit(bytes: &[u8]) -> Result<AdmittedMessage<'_>, RefusedMessage> {
    check_complexity(bytes)?;
    let as_it_is = AdmittedMessage { bytes: Cow::Borrowed(bytes), is_initialize: false };
    if HANDSHAKE.find(bytes).is_none() {
        return Ok(as_it_is);
    }
    check_length(bytes)?;
    let Ok(Value::Object(mut message)) = serde_json::from_slice(bytes) else {
        return Ok(as_it_is);
    };
    match message.get("method").and_then(Value::as_str) {
        Some("initialized") if !message.contains_key("id") => {
            message.insert("method".to_owned(), "notifications/initialized".into());
            Ok(AdmittedMessage { bytes: Value::Object(message).to_string().into_bytes().into(), is_initialize: false })
        }
        Some("initialize") => {
            check_texts(message.get("params").unwrap_or(&Value::Null)).map_err(|refused| refused.with_id_of(bytes))?;
            let repaired = repair_initialize(&mut message);
            let bytes =
                if repaired { Value::Object(message).to_string().into_bytes().into() } else { Cow::Borrowed(bytes) };
            Ok(AdmittedMessage { bytes, is_initialize: true })
        }
        _ => Ok(as_it_is),
    }
}

/// The method of a message. Other fields are skipped, not parsed.
#[derive(Deserialize)]
struct MessageHead<'a> {
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
}

/// Refuses a long `initialize`, because the session stores it.
fn check_length(bytes: &[u8]) -> Result<(), RefusedMessage> {
    let (length, most) = (bytes.len(), limits::INITIALIZE_BYTES_MAX);
    let is_initialize =
        || serde_json::from_slice::<MessageHead>(bytes).is_ok_and(|head| head.method.as_deref() == Some("initialize"));
    if length <= most || !is_initialize() {
        return Ok(());
    }
    Err(RefusedMessage::new(INVALID_PARAMS, format!("initialize has {length} bytes, at most {most} are taken")))
}

/// Refuses an `initialize` that contains a long text.
fn check_texts(params: &Value) -> Result<(), RefusedMessage> {
    match find_long_text(params, "/params") {
        None => Ok(()),
        Some((pointer, bytes)) => {
            let most = limits::CLIENT_TEXT_BYTES_MAX;
            Err(RefusedMessage::new(
                INVALID_PARAMS,
                format!("{pointer} has {bytes} bytes, at most {most} are kept of a text"),
            ))
        }
    }
}

/// Both checks on parsed params, for an `initialize` that `admit` did not recognise (the method may be escaped).
pub(crate) fn check_initialize(params: &Value) -> Result<(), RefusedMessage> {
    let length = params.to_string().len();
    if length > limits::INITIALIZE_BYTES_MAX {
        let most = limits::INITIALIZE_BYTES_MAX;
        return Err(RefusedMessage::new(
            INVALID_PARAMS,
            format!("initialize has {length} bytes, at most {most} are taken"),
        ));
    }
    check_texts(params)
}

/// The pointer to the first text over the limit, and its length.
fn find_long_text(value: &Value, at: &str) -> Option<(String, usize)> {
    let check = |text: &str| (text.len() > limits::CLIENT_TEXT_BYTES_MAX).then(|| (at.to_owned(), text.len()));
    match value {
        Value::String(text) => check(text),
        Value::Array(items) => {
            items.iter().enumerate().find_map(|(index, item)| find_long_text(item, &format!("{at}/{index}")))
        }
        Value::Object(fields) => fields
            .iter()
            .find_map(|(name, field)| check(name).or_else(|| find_long_text(field, &format!("{at}/{name}")))),
        _ => None,
    }
}

/// Adds the missing fields of an `initialize`. True if it changed anything.
fn repair_initialize(message: &mut serde_json::Map<String, Value>) -> bool {
    let mut repaired = fill_missing(message, "params", json!({}));
    let Some(Value::Object(params)) = message.get_mut("params") else { return repaired };
    repaired |= fill_missing(params, "protocolVersion", "2024-11-05".into());
    repaired |= fill_missing(params, "capabilities", json!({}));
    repaired |= fill_missing(params, "clientInfo", json!({}));
    if let Some(Value::Object(capabilities)) = params.get_mut("capabilities") {
        // Some clients send `true` for a capability where the protocol has an object. rmcp would refuse it.
        let given = capabilities.len();
        capabilities.retain(|_, capability| capability.is_object());
        repaired |= capabilities.len() < given;
    }
    if let Some(Value::Object(info)) = params.get_mut("clientInfo") {
        repaired |= fill_missing(info, "name", "".into());
        repaired |= fill_missing(info, "version", "".into());
    }
    repaired
}

/// Sets a field that is missing or null. True if it did.
fn fill_missing(object: &mut serde_json::Map<String, Value>, field: &str, value: Value) -> bool {
    let is_missing = object.get(field).is_none_or(Value::is_null);
    if is_missing {
        object.insert(field.to_owned(), value);
    }
    is_missing
}

/// The refusal of a message that rmcp could not parse, with the reason.
pub(crate) fn explain_refusal(bytes: &[u8]) -> RefusedMessage {
    let message = match serde_json::from_slice::<Value>(bytes) {
        Err(error) => return RefusedMessage::new(PARSE_ERROR, format!("this is not JSON: {error}")),
        Ok(Value::Array(_)) => {
            return RefusedMessage::new(INVALID_REQUEST, "send one message: batches are not supported");
        }
        Ok(Value::Object(message)) => message,
        Ok(_) => return RefusedMessage::new(INVALID_REQUEST, "send one JSON-RPC object"),
    };
    let id = message.get("id");
    let mut refused = match id {
        Some(Value::String(_)) | None => None,
        Some(Value::Number(number)) if number.is_i64() => None,
        Some(_) => Some(RefusedMessage::new(
            INVALID_REQUEST,
            "the id must be a string or a whole number; leave it out to notify",
        )),
    };
    if message.get("jsonrpc").is_none_or(|version| version != "2.0") {
        refused = refused.or_else(|| Some(RefusedMessage::new(INVALID_REQUEST, "jsonrpc must be \"2.0\"")));
    }
    if !message.get("method").is_some_and(Value::is_string) && !is_response(&message) {
        refused = refused.or_else(|| Some(RefusedMessage::new(INVALID_REQUEST, "the method must be a string")));
    }
    let mut refused = refused.unwrap_or_else(|| {
        let method = message.get("method").and_then(Value::as_str).unwrap_or("this message");
        RefusedMessage::new(INVALID_PARAMS, format!("the params of {method} do not fit the protocol"))
    });
    refused.id = answerable_id(&message);
    refused
}

fn is_response(message: &serde_json::Map<String, Value>) -> bool {
    message.contains_key("result") || message.contains_key("error")
}

fn answerable_id(message: &serde_json::Map<String, Value>) -> Value {
    match message.get("id") {
        Some(id @ (Value::String(_) | Value::Number(_))) => id.clone(),
        _ => Value::Null,
    }
}

/// The id of a message, or null if it has no valid id.
pub(crate) fn message_id(bytes: &[u8]) -> Value {
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(message)) => answerable_id(&message),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn admit_json(message: &Value) -> (Value, bool) {
        let bytes = message.to_string().into_bytes();
        let admitted = admit(&bytes).unwrap();
        (serde_json::from_slice(&admitted.bytes).unwrap(), admitted.is_initialize)
    }

    #[test]
    fn a_whole_message_is_not_copied() {
        let whole = br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}"#;
        assert!(matches!(admit(whole).unwrap(), AdmittedMessage { bytes: Cow::Borrowed(_), is_initialize: true }));
        let other = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\"initialize\""}}"#;
        assert!(matches!(admit(other).unwrap(), AdmittedMessage { bytes: Cow::Borrowed(_), is_initialize: false }));
    }

    #[test]
    fn a_message_has_only_so_many_values() {
        // Each of the two objects counts for 6, the array for 3, each comma for 1, and the document itself for 1.
        let message = |values: usize| {
            let numbers = vec!["0"; values - 18].join(",");
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"list":[{numbers}]}}}}"#).into_bytes()
        };
        assert!(admit(&message(limits::MESSAGE_VALUES_MAX)).is_ok());
        let refused = admit(&message(limits::MESSAGE_VALUES_MAX + 1)).unwrap_err();
        assert_eq!(refused.code, INVALID_REQUEST);
        assert_eq!(refused.message, "the message is of more than 300000 values");
    }

    #[test]
    fn only_the_notification_is_renamed() {
        let notification = json!({"jsonrpc": "2.0", "method": "initialized"});
        assert_eq!(admit_json(&notification).0["method"], "notifications/initialized");
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "initialized"});
        assert_eq!(admit_json(&request), (request, false));
    }

    proptest! {
        #[test]
        fn any_bytes_are_admitted_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            if let Ok(admitted) = admit(&bytes) {
                prop_assert!(!admitted.is_initialize || serde_json::from_slice::<Value>(&admitted.bytes).is_ok());
            }
            let refused: Value = serde_json::from_slice(&explain_refusal(&bytes).to_json()).unwrap();
            prop_assert!(refused["error"]["code"].is_i64() && refused["id"].is_null());
        }

        #[test]
        fn a_repaired_handshake_needs_no_repair(name in prop::option::of(".{0,9}"), version in prop::option::of(".{0,9}")) {
            let message = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize",
                "params": {"protocolVersion": version, "clientInfo": {"name": name}}});
            let (repaired, is_initialize) = admit_json(&message);
            prop_assert!(is_initialize);
            prop_assert_eq!(&admit_json(&repaired).0, &repaired);
            prop_assert_eq!(repaired["params"]["clientInfo"]["name"].as_str(), Some(name.as_deref().unwrap_or_default()));
        }
    }
}
