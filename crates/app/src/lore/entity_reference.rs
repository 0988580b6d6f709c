//! References to entities in inputs: a number, or the unique name of an entity.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use skald_domain::id;

use super::access::EnteredLore;
use crate::{Code, Fault, truncate_for_message};

/// The most candidates that an error lists.
const CANDIDATES_MAX: usize = 10;

/// An entity as a caller names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EntityReference {
    Id(u64),
    Name(String),
}

impl<'de> Deserialize<'de> for EntityReference {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReferenceVisitor)
    }
}

struct ReferenceVisitor;

impl Visitor<'_> for ReferenceVisitor {
    type Value = EntityReference;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an entity id or a name")
    }

    fn visit_u64<E: de::Error>(self, id: u64) -> Result<EntityReference, E> {
        Ok(EntityReference::Id(id))
    }

    fn visit_i64<E: de::Error>(self, id: i64) -> Result<EntityReference, E> {
        u64::try_from(id).map(EntityReference::Id).map_err(|_| E::invalid_value(de::Unexpected::Signed(id), &self))
    }

    fn visit_f64<E: de::Error>(self, id: f64) -> Result<EntityReference, E> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be a whole number")]
        match id {
            id if id >= 0.0 && id.fract() == 0.0 && id < 9e15 => Ok(EntityReference::Id(id as u64)),
            id => Err(E::invalid_value(de::Unexpected::Float(id), &self)),
        }
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<EntityReference, E> {
        Ok(EntityReference::from(text))
    }
}

impl From<&str> for EntityReference {
    fn from(text: &str) -> Self {
        let text = text.trim();
        text.parse().map_or_else(|_| Self::Name(text.to_owned()), Self::Id)
    }
}

impl Serialize for EntityReference {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Id(id) => serializer.serialize_u64(*id),
            Self::Name(name) => serializer.serialize_str(name),
        }
    }
}

impl JsonSchema for EntityReference {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "EntityReference".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [{"type": "integer"}, {"type": "string"}]})
    }
}

impl fmt::Display for EntityReference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => write!(formatter, "{id}"),
            Self::Name(name) => formatter.write_str(&truncate_for_message(name)),
        }
    }
}

impl EnteredLore {
    /// The id of an entity that the caller sees. An entity that is private to the caller is not found, like one that does
    /// not exist.
    pub(super) fn resolve_entity(&self, reference: &EntityReference, pointer: &str) -> Result<u64, Fault> {
        match reference {
            // `visible_entity` also finds an entity by an id that it had before it was renumbered.
            EntityReference::Id(id) => match self.visible_entity(*id) {
                Some(entity) => Ok(entity.entity_id),
                None => Err(self.missing_entity(reference, pointer)),
            },
            // An actor of the table stands for the entity that it is linked to.
            EntityReference::Name(name) if name.starts_with(id::ACTOR) => {
                self.entity_of_actor(name).ok_or_else(|| self.missing_entity(reference, pointer))
            }
            EntityReference::Name(name) => {
                let named = self.state().visible_entities_named(name, |entity| self.redaction.is_visible(entity));
                match &named[..] {
                    [] => Err(self.missing_entity(reference, pointer)),
                    [one] => Ok(*one),
                    several => Err(self.ambiguous_name(name, several, pointer)),
                }
            }
        }
    }

    /// The fault for an entity that does not exist, or that the caller may not see: both look the same.
    pub(super) fn missing_entity(&self, reference: &EntityReference, pointer: &str) -> Fault {
        let value = serde_json::to_value(reference).unwrap_or_default();
        let near = match reference {
            EntityReference::Id(_) => Vec::new(),
            EntityReference::Name(name) => self.state().similar_names(name, self.sees_private, 3),
        };
        let names = near.iter().filter_map(|id| self.visible_entity(*id));
        let names: Vec<String> = names.map(|entity| format!("{} ({})", entity.name, entity.entity_id)).collect();
        let hint = if names.is_empty() {
            "`find_entities` finds entities by name, type, tag or text".to_owned()
        } else {
            format!("did you mean {}?", names.join(", "))
        };
        Fault::new(Code::NotFound, format!("Entity {reference} not found")).with_path(pointer).value(&value).hint(hint)
    }

    fn ambiguous_name(&self, name: &str, several: &[u64], pointer: &str) -> Fault {
        let candidates = several.iter().filter_map(|id| self.visible_entity(*id)).take(CANDIDATES_MAX);
        let listed: Vec<String> = candidates
            .map(|entity| format!("{} {} ({})", entity.entity_type.as_str(), entity.name, entity.entity_id))
            .collect();
        let message =
            format!("{:?} is the name of more than one entity: {}", truncate_for_message(name), listed.join(", "));
        Fault::new(Code::InvalidParams, message)
            .with_path(pointer)
            .value(&name.into())
            .allowed(several.iter().take(CANDIDATES_MAX).map(ToString::to_string))
            .hint("send one of these ids")
    }
}
