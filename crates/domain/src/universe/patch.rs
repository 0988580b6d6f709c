//! Patch fields: each is left out, cleared, or set.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::check_bounds::{Check, FieldMisfit};

/// A change to a required field: null is refused.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Change<T> {
    /// The field was left out.
    #[default]
    Keep,
    Set(T),
}

/// A change to an optional field: null clears it.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Clearable<T> {
    /// The field was left out.
    #[default]
    Keep,
    Clear,
    Set(T),
}

/// Whether a field was left out.
pub(super) fn is_keep(change: &impl PatchField) -> bool {
    !change.is_mentioned()
}

/// A patch field, which may be left out.
pub(super) trait PatchField {
    fn is_mentioned(&self) -> bool;
}

impl<T> PatchField for Change<T> {
    fn is_mentioned(&self) -> bool {
        !matches!(self, Self::Keep)
    }
}

impl<T> PatchField for Clearable<T> {
    fn is_mentioned(&self) -> bool {
        !matches!(self, Self::Keep)
    }
}

impl<T> Change<T> {
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Keep => None,
            Self::Set(value) => Some(value),
        }
    }
}

impl<T: Clone> Change<T> {
    pub(super) fn apply(&self, field: &mut T) {
        if let Self::Set(value) = self {
            field.clone_from(value);
        }
    }
}

impl<T> Clearable<T> {
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Keep | Self::Clear => None,
            Self::Set(value) => Some(value),
        }
    }

    /// Whether the patch changes nothing: it is left out, or equals the field.
    pub(super) fn is_unchanged_from(&self, field: Option<&T>) -> bool
    where
        T: PartialEq,
    {
        match self {
            Self::Keep => true,
            Self::Clear => field.is_none(),
            Self::Set(value) => field == Some(value),
        }
    }
}

impl<T: Clone> Clearable<T> {
    pub(super) fn apply(&self, field: &mut Option<T>) {
        match self {
            Self::Keep => {}
            Self::Clear => *field = None,
            Self::Set(value) => *field = Some(value.clone()),
        }
    }
}

impl<T: Check> Check for Change<T> {
    fn check(&self) -> Result<(), FieldMisfit> {
        self.value().map_or(Ok(()), Check::check)
    }

    fn text_bytes(&self) -> usize {
        self.value().map_or(0, Check::text_bytes)
    }
}

impl<T: Check> Check for Clearable<T> {
    fn check(&self) -> Result<(), FieldMisfit> {
        match self {
            Self::Keep | Self::Clear => Ok(()),
            Self::Set(value) => value.check(),
        }
    }

    fn text_bytes(&self) -> usize {
        self.value().map_or(0, Check::text_bytes)
    }
}

impl<T: Serialize> Serialize for Change<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Keep => serializer.serialize_none(),
            Self::Set(value) => value.serialize(serializer),
        }
    }
}

impl<T: Serialize> Serialize for Clearable<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Keep | Self::Clear => serializer.serialize_none(),
            Self::Set(value) => value.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Change<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::Set)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Clearable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Clear, Self::Set))
    }
}

impl<T: JsonSchema> JsonSchema for Change<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

impl<T: JsonSchema> JsonSchema for Clearable<T> {
    fn schema_name() -> Cow<'static, str> {
        <Option<T>>::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        <Option<T>>::schema_id()
    }

    fn inline_schema() -> bool {
        <Option<T>>::inline_schema()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        <Option<T>>::json_schema(generator)
    }
}
