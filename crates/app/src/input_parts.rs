//! Deserializes a JSON value and tells which part of it the type refused.

use std::cell::Cell;
use std::slice;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, Expected, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::{Error, Map, Value, map};

/// Why a type refused a value.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// The place of the refused part, as a JSON pointer.
    pub(crate) pointer: String,
    pub(crate) error: Error,
}

/// Deserializes a value as `serde_json` does, with the same errors.
pub(crate) fn deserialize_parts<T: DeserializeOwned>(value: &Value) -> Result<T, Refusal> {
    let refused = Cell::new(None);
    T::deserialize(Part { value, refused: &refused }).map_err(|error| refusal(value, refused.get(), error))
}

fn refusal(value: &Value, refused: Option<&Value>, error: Error) -> Refusal {
    let pointer = refused.and_then(|part| find_pointer(value, part)).unwrap_or_default();
    Refusal { pointer, error }
}

/// The place of a part, found by its address.
fn find_pointer(value: &Value, part: &Value) -> Option<String> {
    if std::ptr::eq(value, part) {
        return Some(String::new());
    }
    match value {
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
            let rest = find_pointer(item, part)?;
            Some(format!("/{index}{rest}"))
        }),
        Value::Object(fields) => fields.iter().find_map(|(name, field)| {
            let rest = find_pointer(field, part)?;
            Some(format!("/{}{rest}", crate::input::escape_pointer(name)))
        }),
        _ => None,
    }
}

/// The innermost part that was refused. An outer part fails after it, because of it.
type RefusedPart<'de> = Cell<Option<&'de Value>>;

fn note_refused<'de>(refused: &RefusedPart<'de>, part: &'de Value, error: Error) -> Error {
    refused.set(refused.get().or(Some(part)));
    error
}

fn invalid_type(value: &Value, expected: &dyn Expected) -> Error {
    let unexpected = match value {
        Value::Null => Unexpected::Unit,
        Value::Bool(flag) => Unexpected::Bool(*flag),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(whole), _) => Unexpected::Unsigned(whole),
            (None, Some(whole)) => Unexpected::Signed(whole),
            (None, None) => Unexpected::Float(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => Unexpected::Str(text),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    };
    Error::invalid_type(unexpected, expected)
}

/// A value that is being deserialized.
#[derive(Clone, Copy)]
struct Part<'a, 'de> {
    value: &'de Value,
    refused: &'a RefusedPart<'de>,
}

impl<'de> Part<'_, 'de> {
    fn visit_items<V: Visitor<'de>>(self, items: &'de [Value], visitor: V) -> Result<V::Value, Error> {
        let mut access = Items { items: items.iter(), refused: self.refused };
        let visited = visitor.visit_seq(&mut access)?;
        if access.items.len() > 0 {
            return Err(Error::invalid_length(items.len(), &"fewer elements in array"));
        }
        Ok(visited)
    }

    fn visit_fields<V: Visitor<'de>>(self, fields: &'de Map<String, Value>, visitor: V) -> Result<V::Value, Error> {
        let mut access = InputFields { entries: fields.iter(), value: None, refused: self.refused };
        let visited = visitor.visit_map(&mut access)?;
        if access.entries.len() > 0 {
            return Err(Error::invalid_length(fields.len(), &"fewer elements in map"));
        }
        Ok(visited)
    }
}

/// Values without parts are deserialized by `serde_json`.
macro_rules! deserialize_scalars {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            self.value.$method(visitor)
        })*
    };
}

impl<'de> Deserializer<'de> for Part<'_, 'de> {
    type Error = Error;

    deserialize_scalars! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32
        deserialize_f64 deserialize_char deserialize_str deserialize_string deserialize_bytes
        deserialize_byte_buf deserialize_unit deserialize_identifier deserialize_ignored_any
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(flag) => visitor.visit_bool(*flag),
            Value::Number(number) => number.deserialize_any(visitor),
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Array(items) => self.visit_items(items, visitor),
            Value::Object(fields) => self.visit_fields(fields, visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.value.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _name: &'static str, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _name: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Array(items) => self.visit_items(items, visitor),
            other => Err(invalid_type(other, &visitor)),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Object(fields) => self.visit_fields(fields, visitor),
            other => Err(invalid_type(other, &visitor)),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.value {
            Value::Array(items) => self.visit_items(items, visitor),
            Value::Object(fields) => self.visit_fields(fields, visitor),
            other => Err(invalid_type(other, &visitor)),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let (name, content) = match self.value {
            Value::String(name) => (name, None),
            Value::Object(fields) => match (fields.len(), fields.iter().next()) {
                (1, Some((name, value))) => (name, Some(Part { value, refused: self.refused })),
                _ => return Err(Error::invalid_value(Unexpected::Map, &"map with a single key")),
            },
            other => return Err(invalid_type(other, &"string or map")),
        };
        visitor.visit_enum(Variant { name, content })
    }
}

/// The items of an array.
struct Items<'a, 'de> {
    items: slice::Iter<'de, Value>,
    refused: &'a RefusedPart<'de>,
}

impl<'de> SeqAccess<'de> for Items<'_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let Some(value) = self.items.next() else { return Ok(None) };
        let item = seed.deserialize(Part { value, refused: self.refused });
        item.map(Some).map_err(|error| note_refused(self.refused, value, error))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

/// The fields of an object.
struct InputFields<'a, 'de> {
    entries: map::Iter<'de>,
    /// The value of the key that was read last.
    value: Option<&'de Value>,
    refused: &'a RefusedPart<'de>,
}

impl<'de> MapAccess<'de> for InputFields<'_, 'de> {
    type Error = Error;

    fn next_key_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let Some((name, value)) = self.entries.next() else { return Ok(None) };
        self.value = Some(value);
        seed.deserialize(InputFieldName(name)).map(Some).map_err(|error| note_refused(self.refused, value, error))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        let Some(value) = self.value.take() else { return Err(Error::custom("value is missing")) };
        let field = seed.deserialize(Part { value, refused: self.refused });
        field.map_err(|error| note_refused(self.refused, value, error))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}

/// The name of a field. Where a number is wanted, the name is its text.
struct InputFieldName<'de>(&'de str);

macro_rules! deserialize_number_keys {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.0.parse::<serde_json::Number>() {
                Ok(number) => number.$method(visitor),
                Err(_) => Err(Error::invalid_type(Unexpected::Str(self.0), &visitor)),
            }
        })*
    };
}

impl<'de> Deserializer<'de> for InputFieldName<'de> {
    type Error = Error;

    deserialize_number_keys! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128 deserialize_u8
        deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_borrowed_str(self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _name: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        StrDeserializer::new(self.0).deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        bool char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// A variant of an enumeration: its name alone, or an object with its content.
struct Variant<'a, 'de> {
    name: &'de str,
    content: Option<Part<'a, 'de>>,
}

impl<'a, 'de> EnumAccess<'de> for Variant<'a, 'de> {
    type Error = Error;
    type Variant = VariantContent<'a, 'de>;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self::Variant), Error> {
        let name: StrDeserializer<'_, Error> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, VariantContent(self.content)))
    }
}

struct VariantContent<'a, 'de>(Option<Part<'a, 'de>>);

impl<'de> VariantAccess<'de> for VariantContent<'_, 'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        self.0.map_or(Ok(()), Deserialize::deserialize)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        match self.0 {
            Some(content) => seed.deserialize(content),
            None => Err(Error::invalid_type(Unexpected::UnitVariant, &"newtype variant")),
        }
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, Error> {
        match self.0.map(|content| (content, content.value)) {
            Some((content, Value::Array(items))) => content.visit_items(items, visitor),
            Some((_, other)) => Err(invalid_type(other, &"tuple variant")),
            None => Err(Error::invalid_type(Unexpected::UnitVariant, &"tuple variant")),
        }
    }

    fn struct_variant<V: Visitor<'de>>(self, _fields: &'static [&'static str], visitor: V) -> Result<V::Value, Error> {
        match self.0.map(|content| (content, content.value)) {
            Some((content, Value::Object(fields))) => content.visit_fields(fields, visitor),
            Some((_, other)) => Err(invalid_type(other, &"struct variant")),
            None => Err(Error::invalid_type(Unexpected::UnitVariant, &"struct variant")),
        }
    }
}
