//! What an operation answers: a value, or a document that was made ready before and is sent as it is.

use std::fmt;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use serde::ser::Error;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// An answer, in whichever form it is cheapest.
#[derive(Debug, Clone)]
pub enum Answer {
    Value(Value),
    Prepared(Prepared),
}

impl Answer {
    /// For whoever looks into it.
    pub fn into_value(self) -> Value {
        match self {
            Self::Value(value) => value,
            Self::Prepared(prepared) => serde_json::from_slice(&prepared.to_json()).unwrap_or_default(),
        }
    }

    /// The JSON as text.
    pub fn into_text(self) -> String {
        String::from_utf8(self.into_json().into()).unwrap_or_default()
    }

    /// The JSON as bytes. A large document is copied: whoever can sends its pieces.
    pub fn into_json(self) -> Bytes {
        match self {
            Self::Value(value) => value.to_string().into(),
            Self::Prepared(prepared) => prepared.to_json(),
        }
    }

    /// Bytes of a document that is kept. A value is not large: whatever is, is kept or comes in pages.
    pub fn prepared_len(&self) -> usize {
        match self {
            Self::Value(_) => 0,
            Self::Prepared(prepared) => prepared.json_len(),
        }
    }

    /// The JSON in pieces, none of which is copied.
    pub fn into_json_pieces(self) -> Vec<Bytes> {
        match self {
            Self::Value(value) => vec![value.to_string().into()],
            Self::Prepared(prepared) => prepared.json(),
        }
    }
}

/// JSON that is kept, in pieces that others may share.
pub trait Document: fmt::Debug + Send + Sync {
    fn json(&self) -> Vec<Bytes>;

    /// The document as a JSON text, quotes included.
    fn quoted(&self) -> Vec<Bytes>;
}

/// A document that was made ready. Clones share it.
#[derive(Debug, Clone)]
pub struct Prepared(Arc<dyn Document>);

impl Prepared {
    pub fn of(document: Arc<impl Document + 'static>) -> Self {
        Self(document)
    }

    /// A document that is JSON without line breaks. Its other form is made when it is first asked for.
    pub fn plain(json: Bytes) -> Self {
        Self(Arc::new(Plain { json, quoted: OnceLock::new() }))
    }

    pub fn json(&self) -> Vec<Bytes> {
        self.0.json()
    }

    /// The whole of it. A document in several pieces is copied.
    pub fn to_json(&self) -> Bytes {
        match <[Bytes; 1]>::try_from(self.json()) {
            Ok([piece]) => piece,
            Err(pieces) => pieces.concat().into(),
        }
    }

    pub fn json_len(&self) -> usize {
        self.json().iter().map(Bytes::len).sum()
    }

    pub fn quoted(&self) -> Vec<Bytes> {
        self.0.quoted()
    }

    /// Whether two are one.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

#[derive(Debug)]
struct Plain {
    json: Bytes,
    quoted: OnceLock<Bytes>,
}

impl Document for Plain {
    fn json(&self) -> Vec<Bytes> {
        vec![self.json.clone()]
    }

    fn quoted(&self) -> Vec<Bytes> {
        let quoted = self.quoted.get_or_init(|| {
            let mut text = Vec::with_capacity(self.json.len() + self.json.len() / 4);
            text.push(b'"');
            quote(&self.json, &mut text);
            text.push(b'"');
            text.into()
        });
        vec![quoted.clone()]
    }
}

/// For whoever has no use for bytes.
impl Serialize for Prepared {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::from_slice::<Value>(&self.to_json()).map_err(S::Error::custom)?.serialize(serializer)
    }
}

/// Adds JSON to a JSON text. What JSON leaves as it is needs no escape there either, but for quotes and backslashes: it
/// has no control characters.
pub(crate) fn quote(json: &[u8], text: &mut Vec<u8>) {
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
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    proptest! {
        #[test]
        fn a_quoted_document_is_what_a_text_of_it_is(text in ".{0,40}", number in any::<f64>()) {
            let document = json!({"text": text, "list": [number, "\u{0}\n\t\"\\\u{2028}", null], "": {}}).to_string();
            let prepared = Prepared::plain(document.clone().into());
            let quoted = prepared.quoted().concat();
            prop_assert_eq!(&quoted, &Value::from(document.clone()).to_string().into_bytes());
            prop_assert_eq!(serde_json::from_slice::<String>(&quoted).unwrap(), document);
        }
    }
}
