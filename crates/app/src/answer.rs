//! The answer of an operation: a JSON value, a pre-rendered JSON document that is sent without a copy, or a feed.

use std::fmt;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use serde::ser::Error;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::Feed;

/// An answer, in whichever form it is cheapest.
#[derive(Debug)]
pub enum Answer {
    Value(Value),
    Prepared(RenderedJson),
    Object(ObjectWithDocument),
    /// Events as they happen. A surface without streams answers the id of the last event instead.
    Feed(Box<Feed>),
}

impl Answer {
    /// The answer as a JSON value.
    pub fn into_value(self) -> Value {
        match self {
            Self::Value(value) => value,
            Self::Prepared(prepared) => prepared.to_value(),
            Self::Object(ObjectWithDocument { mut fields, name, document }) => {
                fields.insert(name.to_owned(), document.to_value());
                fields.into()
            }
            Self::Feed(feed) => json!({"lastEventId": feed.last_event_id()}),
        }
    }

    /// The JSON as text.
    pub fn into_text(self) -> String {
        String::from_utf8(self.into_json().into()).unwrap_or_default()
    }

    /// The JSON as bytes. A document in several pieces is copied, so prefer `into_json_pieces`.
    pub fn into_json(self) -> Bytes {
        match <[Bytes; 1]>::try_from(self.into_json_pieces()) {
            Ok([piece]) => piece,
            Err(pieces) => pieces.concat().into(),
        }
    }

    /// Bytes of the cached document in the answer. Plain values count as 0: large answers are cached or paged.
    pub fn document_len(&self) -> usize {
        match self {
            Self::Value(_) | Self::Feed(_) => 0,
            Self::Prepared(prepared) => prepared.json_len(),
            Self::Object(object) => object.document.json_len(),
        }
    }

    /// The JSON in pieces, none of which is copied.
    pub fn into_json_pieces(self) -> Vec<Bytes> {
        match self {
            Self::Value(value) => vec![value.to_string().into()],
            Self::Prepared(prepared) => prepared.json(),
            Self::Object(object) => object.into_json_pieces(),
            feed @ Self::Feed(_) => vec![feed.into_value().to_string().into()],
        }
    }

    /// A field that is text, unless it is within a document.
    pub fn text_field(&self, name: &str) -> Option<&str> {
        match self {
            Self::Value(value) => value.get(name)?.as_str(),
            Self::Object(object) => object.fields.get(name)?.as_str(),
            Self::Prepared(_) | Self::Feed(_) => None,
        }
    }

    /// One field as JSON in pieces, and the other fields. A missing field is null.
    pub fn into_field_pieces(self, name: &str) -> (Vec<Bytes>, Map<String, Value>) {
        match self {
            Self::Object(object) if object.name == name => (object.document.json(), object.fields),
            answer => {
                let mut fields = match answer.into_value() {
                    Value::Object(fields) => fields,
                    _ => Map::new(),
                };
                let field = fields.shift_remove(name).unwrap_or_default();
                (vec![field.to_string().into()], fields)
            }
        }
    }
}

/// An object one field of which is a document: the other fields can be read without it.
#[derive(Debug)]
pub struct ObjectWithDocument {
    pub fields: Map<String, Value>,
    /// The field that holds the document.
    pub name: &'static str,
    pub document: RenderedJson,
}

impl ObjectWithDocument {
    fn into_json_pieces(self) -> Vec<Bytes> {
        let comma = if self.fields.is_empty() { "" } else { "," };
        let fields = Value::Object(self.fields).to_string();
        let before = format!("{}{comma}{}:", fields.strip_suffix('}').unwrap_or_default(), Value::from(self.name));
        let document = self.document.json();
        [before.into()].into_iter().chain(document).chain([Bytes::from_static(b"}")]).collect()
    }
}

/// Cached JSON, in pieces that readers share.
pub trait JsonDocument: fmt::Debug + Send + Sync {
    fn json(&self) -> Vec<Bytes>;

    /// The document as a JSON text, quotes included.
    fn quoted_json(&self) -> Vec<Bytes>;
}

/// A rendered document. Clones share it.
#[derive(Debug, Clone)]
pub struct RenderedJson(Arc<dyn JsonDocument>);

impl RenderedJson {
    pub fn new(document: Arc<impl JsonDocument + 'static>) -> Self {
        Self(document)
    }

    /// A document from JSON without line breaks. The quoted form is rendered at first use.
    pub fn from_json(json: Bytes) -> Self {
        Self::from_json_pieces(vec![json])
    }

    /// Like `from_json`, from pieces.
    pub fn from_json_pieces(json: Vec<Bytes>) -> Self {
        Self(Arc::new(PlainJson { json, quoted: OnceLock::new() }))
    }

    pub fn json(&self) -> Vec<Bytes> {
        self.0.json()
    }

    /// The JSON as one buffer. A document in several pieces is copied.
    pub fn to_json(&self) -> Bytes {
        match <[Bytes; 1]>::try_from(self.json()) {
            Ok([piece]) => piece,
            Err(pieces) => pieces.concat().into(),
        }
    }

    fn to_value(&self) -> Value {
        serde_json::from_slice(&self.to_json()).unwrap_or_default()
    }

    pub fn json_len(&self) -> usize {
        self.json().iter().map(Bytes::len).sum()
    }

    pub fn quoted_json(&self) -> Vec<Bytes> {
        self.0.quoted_json()
    }

    /// Whether both share one document.
    pub fn is_same_document(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

#[derive(Debug)]
struct PlainJson {
    json: Vec<Bytes>,
    quoted: OnceLock<Bytes>,
}

impl JsonDocument for PlainJson {
    fn json(&self) -> Vec<Bytes> {
        self.json.clone()
    }

    fn quoted_json(&self) -> Vec<Bytes> {
        let quoted = self.quoted.get_or_init(|| {
            let length: usize = self.json.iter().map(Bytes::len).sum();
            let mut text = Vec::with_capacity(length + length / 4);
            text.push(b'"');
            self.json.iter().for_each(|piece| push_escaped_json(piece, &mut text));
            text.push(b'"');
            text.into()
        });
        vec![quoted.clone()]
    }
}

/// Slow: parses the JSON again. Surfaces send the pieces instead.
impl Serialize for RenderedJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::from_slice::<Value>(&self.to_json()).map_err(S::Error::custom)?.serialize(serializer)
    }
}

/// Appends JSON to the inside of a JSON string. JSON has no raw control characters, so only quotes and backslashes need
/// an escape.
pub(crate) fn push_escaped_json(json: &[u8], text: &mut Vec<u8>) {
    let mut from = 0;
    for at in memchr::memchr2_iter(b'"', b'\\', json) {
        text.extend_from_slice(&json[from..at]);
        text.push(b'\\');
        from = at;
    }
    text.extend_from_slice(&json[from..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_object_with_a_document_reads_as_if_it_were_whole() {
        let object = |fields: Value| {
            let Value::Object(fields) = fields else { panic!("{fields} is no object") };
            let document = RenderedJson::from_json_pieces(vec![Bytes::from_static(b"[1,"), Bytes::from_static(b"2]")]);
            Answer::Object(ObjectWithDocument { fields, name: "li\"st", document })
        };
        for fields in [json!({}), json!({"id": "u-1", "more": {"of": {}}})] {
            let mut whole = fields.clone();
            whole["li\"st"] = json!([1, 2]);
            assert_eq!(object(fields.clone()).into_value(), whole);
            assert_eq!(object(fields.clone()).into_text(), whole.to_string());
            assert_eq!(object(fields.clone()).text_field("id"), fields["id"].as_str());
            for answer in [object(fields.clone()), Answer::Value(whole)] {
                let (pieces, beside) = answer.into_field_pieces("li\"st");
                assert_eq!((pieces.concat(), Value::Object(beside)), (b"[1,2]".to_vec(), fields.clone()));
            }
        }
    }

    proptest! {
        #[test]
        fn a_quoted_document_is_what_a_text_of_it_is(text in ".{0,40}", number in any::<f64>()) {
            let document = json!({"text": text, "list": [number, "\u{0}\n\t\"\\\u{2028}", null], "": {}}).to_string();
            let prepared = RenderedJson::from_json(document.clone().into());
            let quoted = prepared.quoted_json().concat();
            prop_assert_eq!(&quoted, &Value::from(document.clone()).to_string().into_bytes());
            prop_assert_eq!(serde_json::from_slice::<String>(&quoted).unwrap(), document);
        }
    }
}
