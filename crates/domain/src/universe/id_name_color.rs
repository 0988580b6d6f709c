//! Text types of a universe: ids, names, colours, and extensions that clients store with a thing.
//!
//! Texts are reference-counted, so that a body is cheap to copy. Any stored text can be read; only new text is checked.

use std::borrow::{Borrow, Cow};
use std::cmp::Ordering;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::check_bounds::{Check, FieldMisfit, Reason, truncate_for_message};
use crate::deceptive_characters::{code_point, first_deceptive};
use crate::limits;

/// Whether two names are the same but for their case and the spaces around them.
pub fn is_same_word(one: &str, other: &str) -> bool {
    fn letters(text: &str) -> impl Iterator<Item = char> + '_ {
        text.trim().chars().flat_map(char::to_lowercase)
    }
    letters(one).eq(letters(other))
}

macro_rules! text_type {
    ($name:ident, $schema:tt) => {
        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::from(Arc::from(text))
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self::from(Arc::from(text))
            }
        }

        impl Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.text
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.text
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.text)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.text, formatter)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.text)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(ArcStrVisitor).map(Self::from)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

/// The id of a thing in a universe, chosen by the client that adds it.
///
/// The first eight bytes are stored next to the pointer to the text. They decide nearly every comparison, so that a map
/// lookup need not follow a pointer at every step. The order is that of the texts.
#[derive(Clone)]
pub struct Id {
    first: u64,
    text: Arc<str>,
}

impl Id {
    /// Whether the whole text is in `first`.
    fn is_short(&self) -> bool {
        self.text.len() <= 8
    }

    /// A hash that is the same in every process. The text of a short id is not read.
    pub(super) fn digest(&self) -> u64 {
        let length = self.text.len() as u64;
        if self.is_short() {
            return mix_bits(self.first ^ length);
        }
        let word = |bytes: &[u8]| bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
        self.text.as_bytes().chunks(8).fold(length, |digest, bytes| mix_bits(digest ^ word(bytes)))
    }
}

/// Mixes the bits, so that every bit of the input affects every bit of the output.
fn mix_bits(number: u64) -> u64 {
    let number = (number ^ number >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number ^ number >> 32
}

impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        self.first == other.first && self.text.len() == other.text.len() && (self.is_short() || self.text == other.text)
    }
}

impl Eq for Id {}

impl PartialOrd for Id {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Id {
    fn cmp(&self, other: &Self) -> Ordering {
        self.first.cmp(&other.first).then_with(|| {
            if self.is_short() && other.is_short() {
                // `first` is padded with zero bytes, so only the length tells a padded text from one that ends with
                // zero bytes.
                self.text.len().cmp(&other.text.len())
            } else {
                self.text.cmp(&other.text)
            }
        })
    }
}

impl From<Arc<str>> for Id {
    fn from(text: Arc<str>) -> Self {
        let mut first = [0; 8];
        let length = text.len().min(8);
        first[..length].copy_from_slice(&text.as_bytes()[..length]);
        Self { first: u64::from_be_bytes(first), text }
    }
}

text_type!(Id, { "type": "string", "minLength": 1, "maxLength": (limits::ID_CHARS_MAX) });

/// A name or a label for people.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    text: Arc<str>,
}

impl From<Arc<str>> for Name {
    fn from(text: Arc<str>) -> Self {
        Self { text }
    }
}

text_type!(Name, { "type": "string", "maxLength": (limits::UNIVERSE_NAME_CHARS_MAX) });

/// Whether a schema is that of a [`Name`]: no other text has its `maxLength`.
pub(super) fn is_name_schema(schema: &Value) -> bool {
    schema.get("maxLength").and_then(Value::as_u64) == Some(limits::UNIVERSE_NAME_CHARS_MAX as u64)
}

/// A colour as #RRGGBB; #RGB and an alpha channel are understood too.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UniverseColor {
    text: Arc<str>,
}

impl From<Arc<str>> for UniverseColor {
    fn from(text: Arc<str>) -> Self {
        Self { text }
    }
}

text_type!(UniverseColor, { "type": "string", "pattern": "^#([0-9A-Fa-f]{3,4}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})$" });

/// Deserialises a string directly into an `Arc<str>`.
struct ArcStrVisitor;

impl Visitor<'_> for ArcStrVisitor {
    type Value = Arc<str>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Arc<str>, E> {
        Ok(text.into())
    }
}

/// Properties that every JavaScript object inherits: looking up such an id in an object would find them.
const INHERITED_PROPERTIES: &[&str] = &[
    "__proto__",
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "prototype",
    "toLocaleString",
    "toString",
    "valueOf",
];

/// Checks whether a new thing may have this id.
impl Check for Id {
    fn check(&self) -> Result<(), FieldMisfit> {
        let forbidden = |problem: String| Err(FieldMisfit::new(Reason::ForbiddenId, problem));
        if self.trim().is_empty() {
            return forbidden("is empty".to_owned());
        }
        if limits::is_longer_than_id(self) {
            let chars = self.chars().count();
            return forbidden(format!("has {chars} characters, at most {} are allowed", limits::ID_CHARS_MAX));
        }
        if let Some(character) = first_deceptive(self) {
            return forbidden(not_plain_problem(self, character));
        }
        if INHERITED_PROPERTIES.contains(&&**self) {
            return forbidden(format!("is {self:?}, which every object of JavaScript has already"));
        }
        Ok(())
    }

    fn text_bytes(&self) -> usize {
        self.len()
    }
}

impl Check for Name {
    fn check(&self) -> Result<(), FieldMisfit> {
        let chars = self.chars().count();
        if chars > limits::UNIVERSE_NAME_CHARS_MAX {
            let problem = format!("has {chars} characters, at most {} are allowed", limits::UNIVERSE_NAME_CHARS_MAX);
            return Err(FieldMisfit::new(Reason::TooLong, problem));
        }
        match first_deceptive(self) {
            Some(character) => Err(FieldMisfit::new(Reason::NotPlain, not_plain_problem(self, character))),
            None => Ok(()),
        }
    }

    fn text_bytes(&self) -> usize {
        self.len()
    }
}

/// The problem of a text that is not one line of plain characters. The text is escaped, so that the message is one.
fn not_plain_problem(text: &str, character: char) -> String {
    format!(
        "is {:?} with the character {}, and is one line of plain characters",
        truncate_for_message(text),
        code_point(character)
    )
}

impl Check for UniverseColor {
    fn check(&self) -> Result<(), FieldMisfit> {
        let digits = self.strip_prefix('#').unwrap_or_default();
        if matches!(digits.len(), 3 | 4 | 6 | 8) && digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Ok(());
        }
        Err(FieldMisfit::new(
            Reason::BadColor,
            format!("is {:?}, not a colour such as #FFD700", truncate_for_message(self)),
        ))
    }

    fn text_bytes(&self) -> usize {
        self.len()
    }
}

/// What is not ours: kept with a thing and given back as it came.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Extensions(pub Arc<Map<String, Value>>);

impl Check for Extensions {
    fn check(&self) -> Result<(), FieldMisfit> {
        let bytes = self.text_bytes();
        if bytes <= limits::EXTENSIONS_BYTES_MAX {
            return Ok(());
        }
        let problem = format!("has some {bytes} bytes, at most {} are kept", limits::EXTENSIONS_BYTES_MAX);
        Err(FieldMisfit::new(Reason::TooLong, problem))
    }

    fn text_bytes(&self) -> usize {
        self.0.iter().map(|(name, value)| name.len() + estimate_json_bytes(value)).sum()
    }
}

/// An estimate of the bytes of the value as JSON.
fn estimate_json_bytes(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => 2 + items.iter().map(|item| estimate_json_bytes(item) + 1).sum::<usize>(),
        Value::Object(fields) => {
            2 + fields.iter().map(|(name, field)| name.len() + estimate_json_bytes(field) + 4).sum::<usize>()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_id_is_a_word_that_nothing_has_by_itself() {
        for id in ["earth", "u-1", "a b", "ß", "0"] {
            assert!(Id::from(id).check().is_ok(), "{id}");
        }
        for id in ["", " ", "a\nb", "a\u{202e}b", "a\u{2066}b", "a\u{e0041}b", "constructor", "__proto__", "toString"] {
            assert_eq!(Id::from(id).check().unwrap_err().reason, Reason::ForbiddenId, "{id}");
        }
        assert!(Id::from("x".repeat(limits::ID_CHARS_MAX)).check().is_ok());
        assert!(Id::from("x".repeat(limits::ID_CHARS_MAX + 1)).check().is_err());
    }

    #[test]
    fn a_name_is_one_line_of_plain_characters() {
        for name in
            ["", "Zoë", "日本", "👩🏽\u{200d}🚀", "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}", "a  b"]
        {
            assert!(Name::from(name).check().is_ok(), "{name}");
        }
        for character in ['\n', '\t', '\0', '\u{1b}', '\u{9b}', '\u{2029}', '\u{202e}', '\u{2069}', '\u{e0020}'] {
            let misfit = Name::from(format!("a{character}b")).check().unwrap_err();
            assert_eq!(misfit.reason, Reason::NotPlain, "{character:?}");
            assert!(!misfit.problem.contains(character), "the message is one line itself: {misfit}");
        }
    }

    #[test]
    fn ids_are_ordered_as_their_texts() {
        let texts =
            ["", "\0", "a", "a\0", "ab", "abcdefgh", "abcdefgh\0", "abcdefghi", "abcdefgi", "b", "é", "\u{10FFFF}"];
        for one in texts {
            for other in texts {
                assert_eq!(Id::from(one).cmp(&Id::from(other)), one.cmp(other), "{one:?} {other:?}");
                assert_eq!(Id::from(one) == Id::from(other), one == other);
            }
        }
    }

    #[test]
    fn a_colour_is_hexadecimal() {
        for color in ["#FFD700", "#fff", "#12345678"] {
            assert!(UniverseColor::from(color).check().is_ok(), "{color}");
        }
        for color in ["", "#", "yellow", "#12345", "FFD700", "#ggg", "#éé"] {
            assert_eq!(UniverseColor::from(color).check().unwrap_err().reason, Reason::BadColor, "{color}");
        }
    }

    #[test]
    fn names_and_extensions_have_an_end() {
        assert!(Name::from("x".repeat(limits::UNIVERSE_NAME_CHARS_MAX)).check().is_ok());
        assert_eq!(
            Name::from("x".repeat(limits::UNIVERSE_NAME_CHARS_MAX + 1)).check().unwrap_err().reason,
            Reason::TooLong
        );
        let extensions = |value: Value| Extensions(Arc::new(value.as_object().unwrap().clone()));
        assert!(extensions(json!({"notes": ["a", {"b": null}]})).check().is_ok());
        assert!(extensions(json!({"notes": "x".repeat(limits::EXTENSIONS_BYTES_MAX)})).check().is_err());
    }
}
