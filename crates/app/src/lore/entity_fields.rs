//! The input fields that `create_entities` and `update_entities` share, checked and resolved.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use skald_domain::lore::EntityType;

use super::access::EnteredLore;
use super::entity_reference::EntityReference;
use crate::{App, Code, Fault};

/// The type of an entity, in the words of all clients: `npc` is a character of type NPC, `faction` an organization of
/// type Faction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum EntityTypeWord {
    Character,
    Creature,
    Location,
    Organization,
    Race,
    Note,
    Journal,
    Quest,
    Item,
    Clue,
    Event,
    Document,
    Other,
    Npc,
    Faction,
}

impl EntityTypeWord {
    pub(super) fn entity_type(self) -> EntityType {
        match self {
            Self::Character | Self::Npc => EntityType::Character,
            Self::Creature => EntityType::Creature,
            Self::Location => EntityType::Location,
            Self::Organization | Self::Faction => EntityType::Organization,
            Self::Race => EntityType::Race,
            Self::Note => EntityType::Note,
            Self::Journal => EntityType::Journal,
            Self::Quest => EntityType::Quest,
            Self::Item => EntityType::Item,
            Self::Clue => EntityType::Clue,
            Self::Event => EntityType::Event,
            Self::Document => EntityType::Document,
            Self::Other => EntityType::Other,
        }
    }

    /// The subtype that the word stands for.
    pub(super) fn subtype(self) -> Option<&'static str> {
        match self {
            Self::Npc => Some("NPC"),
            Self::Faction => Some("Faction"),
            _ => None,
        }
    }
}

/// `is_private` and its other name.
pub(super) fn privacy(is_private: Option<bool>, is_hidden: Option<bool>, pointer: &str) -> Result<Option<bool>, Fault> {
    match (is_private, is_hidden) {
        (Some(one), Some(other)) if one != other => {
            let message = "is_private and is_hidden mean the same, and differ";
            Err(Fault::new(Code::InvalidParams, message)
                .with_path(format!("{pointer}/is_hidden"))
                .value(&other.into())
                .hint("send is_private alone"))
        }
        (one, other) => Ok(one.or(other)),
    }
}

/// A text where an empty one clears the field.
pub(super) fn clearable(text: Option<&String>) -> Option<Option<String>> {
    text.map(|text| Some(text.trim().to_owned()).filter(|text| !text.is_empty()))
}

/// A list, which an empty text clears like any other field.
pub(super) fn list_or_empty_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    deserializer.deserialize_any(ListOrEmptyTextVisitor)
}

struct ListOrEmptyTextVisitor;

impl<'de> Visitor<'de> for ListOrEmptyTextVisitor {
    type Value = Option<Vec<String>>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of texts, or an empty text")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        if text.trim().is_empty() {
            Ok(Some(Vec::new()))
        } else {
            Err(E::invalid_type(de::Unexpected::Str(text), &self))
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut texts = Vec::new();
        while let Some(text) = items.next_element()? {
            texts.push(text);
        }
        Ok(Some(texts))
    }
}

impl App {
    /// The parent that an item names; an empty name clears it.
    pub(super) fn resolve_parent(
        lore: &EnteredLore,
        parent: Option<&EntityReference>,
        pointer: &str,
    ) -> Result<Option<Option<u64>>, Fault> {
        match parent {
            None => Ok(None),
            Some(EntityReference::Name(name)) if name.is_empty() => Ok(Some(None)),
            Some(reference) => lore.resolve_entity(reference, &format!("{pointer}/parent")).map(|id| Some(Some(id))),
        }
    }

    /// The actor of the campaign that an item names, by id or name; an empty text clears it.
    pub(super) async fn resolve_linked_actor(
        &self,
        lore: &EnteredLore,
        actor_id: Option<&String>,
        pointer: &str,
    ) -> Result<Option<Option<String>>, Fault> {
        let Some(Some(given)) = clearable(actor_id) else { return Ok(clearable(actor_id)) };
        let pointer = format!("{pointer}/actor_id");
        let actor_id = self.find_actor(&lore.campaign_id, &given, &pointer).await?;
        Ok(Some(Some(actor_id)))
    }
}
