//! Reads JSON of other programs, which is not strict about its types: numbers as texts, booleans as numbers.

use serde_json::Value;

use crate::ImportError;
use crate::source_file::decode_text;

/// Parses a file. Nesting is bounded by the parser.
pub(crate) fn parse_json(content: &[u8], entry: &str) -> Result<Value, ImportError> {
    let text = decode_text(content, entry)?;
    serde_json::from_str(text)
        .map_err(|error| ImportError::InvalidJson { entry: entry.to_owned(), reason: error.to_string() })
}

/// The text of a field, trimmed. `None` for an empty one.
pub(crate) fn text_field(value: &Value, key: &str) -> Option<String> {
    let text = match value.get(key)? {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    Some(text).filter(|text| !text.is_empty())
}

/// A number, also one that is written as a text.
pub(crate) fn number_field(value: &Value, key: &str) -> Option<u64> {
    match value.get(key)? {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// Whether a field is true: `true`, a number that is not 0, or such a text.
pub(crate) fn is_true(value: &Value, key: &str) -> bool {
    match value.get(key) {
        Some(Value::Bool(value)) => *value,
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        Some(Value::String(text)) => !["", "0", "false", "no"].contains(&text.trim().to_lowercase().as_str()),
        _ => false,
    }
}

/// The items of a list, or the values of an object: PHP writes a list with gaps as an object. Absent is empty.
pub(crate) fn list_field<'a>(value: &'a Value, key: &str) -> Vec<&'a Value> {
    match value.get(key) {
        Some(Value::Array(items)) => items.iter().collect(),
        Some(Value::Object(items)) => items.values().collect(),
        _ => Vec::new(),
    }
}

/// Whether a value says nothing.
pub(crate) fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => ["", "0", "[]", "{}"].contains(&text.trim()),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}
