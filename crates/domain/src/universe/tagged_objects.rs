//! Deserialises objects tagged by `type` without buffering them.
//!
//! The code that serde derives for such objects buffers all fields first. Here nothing is buffered if `type` is the
//! first key, as in everything that Skald writes; otherwise all fields are.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserializer;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde_json::{Map, Value};

pub(super) trait Tagged: Sized {
    /// Deserialises the fields of an object with this type.
    fn from_fields<'de, D: Deserializer<'de>>(name: &str, fields: D) -> Result<Self, D::Error>;
}

pub(super) fn deserialize_tagged<'de, T: Tagged, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_map(TaggedObjectVisitor(PhantomData))
}

struct TaggedObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Tagged> Visitor<'de> for TaggedObjectVisitor<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object with a type")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let missing = || A::Error::missing_field("type");
        let first: String = map.next_key()?.ok_or_else(missing)?;
        if first == "type" {
            let name: String = map.next_value()?;
            return T::from_fields(&name, MapAccessDeserializer::new(map));
        }
        let mut fields = Map::new();
        fields.insert(first, map.next_value()?);
        while let Some((name, field)) = map.next_entry()? {
            fields.insert(name, field);
        }
        let name = fields.shift_remove("type").ok_or_else(missing)?;
        let name = name.as_str().ok_or_else(|| A::Error::custom("the type is not a string"))?;
        T::from_fields(name, Value::Object(fields)).map_err(A::Error::custom)
    }
}
