//! JSON Schemas of a process, compiled once when the process is loaded, and validation against them.
//!
//! Nothing is fetched: a reference points into the schema itself or is an error. Patterns are small and matched in
//! linear time, and the cost of a validation is estimated beforehand, so that no payload can make one take long.

use std::fmt;
use std::sync::Arc;

use jsonschema::{PatternOptions, Validator};
use serde::Serialize;
use serde_json::{Map, Value};

use super::finding::shorten;
use super::schema_cost;

/// Misfits reported for one value.
const MISFITS_MAX: usize = 20;
/// Bytes that one compiled pattern may take.
const PATTERN_BYTES_MAX: usize = 1 << 20;

#[derive(Clone)]
pub struct Schema {
    json: Arc<Value>,
    validator: Arc<Validator>,
}

/// Where and why a value does not fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SchemaMisfit {
    /// JSON pointer.
    pub path: String,
    pub message: String,
}

impl Schema {
    /// Compiles a schema. An error is the JSON pointer to the fault, and a message.
    pub(super) fn new(json: Value) -> Result<Self, (String, String)> {
        if let Some(reference) = schema_cost::find_foreign_reference(&json) {
            return Err((String::new(), format!("{} leads to no place in this schema", shorten(&reference))));
        }
        if !schema_cost::is_affordable(&json, &Value::Object(Map::new())) {
            return Err((String::new(), "it leads back to itself without end".to_owned()));
        }
        let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES_MAX).dfa_size_limit(PATTERN_BYTES_MAX);
        let built = jsonschema::options().with_pattern_options(patterns).offline().build(&json);
        match built {
            Ok(validator) => Ok(Self { json: Arc::new(json), validator: Arc::new(validator) }),
            Err(error) => {
                let message = shorten(&error.to_string());
                let is_pattern = message.ends_with("is not a \"regex\"");
                let why = if is_pattern { " that can be used: it looks around or back, or is too large" } else { "" };
                Err((error.instance_path().to_string(), message + why))
            }
        }
    }

    pub fn json(&self) -> &Value {
        &self.json
    }

    /// Whether `properties` has this name.
    pub(super) fn has_property(&self, property: &str) -> bool {
        self.json.get("properties").is_some_and(|properties| properties.get(property).is_some())
    }

    /// The names in `properties`.
    pub(super) fn property_names(&self) -> impl Iterator<Item = &str> {
        let properties = self.json.get("properties").and_then(Value::as_object);
        properties.into_iter().flat_map(Map::keys).map(String::as_str)
    }

    /// Whether it forbids properties that it does not name.
    pub(super) fn is_closed(&self) -> bool {
        let is_open = self.json.get("patternProperties").is_some();
        !is_open && self.json.get("additionalProperties") == Some(&Value::Bool(false))
    }

    /// Validates a value. The paths of the misfits begin with `prefix`; at most `MISFITS_MAX` are listed.
    pub(super) fn misfits(&self, value: &Value, prefix: &str) -> Vec<SchemaMisfit> {
        if !schema_cost::is_affordable(&self.json, value) {
            let message = "checking it takes more work than is spent on one value; send less, and less nested";
            return vec![SchemaMisfit { path: prefix.to_owned(), message: message.to_owned() }];
        }
        let errors = self.validator.iter_errors(value).take(MISFITS_MAX);
        errors
            .map(|error| SchemaMisfit {
                path: format!("{prefix}{}", error.instance_path()),
                message: error.masked().to_string(),
            })
            .collect()
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.json.fmt(formatter)
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.json == other.json
    }
}
