//! Relationships between entities: one stored edge for each, which is read from both ends.

use std::cmp::Ordering;
use std::sync::Arc;

use imbl::{OrdMap, OrdSet};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::relationship_types::known_relation;
use crate::case_insensitive_enum::case_insensitive_enum;
use crate::visibility::Visibility;

/// How the two feel about each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Tone {
    Friendly,
    Hostile,
    Neutral,
    Romantic,
    Professional,
    Fearful,
    Respectful,
    #[default]
    Unknown,
}

case_insensitive_enum!(Tone {
    Friendly = "friendly",
    Hostile = "hostile",
    Neutral = "neutral",
    Romantic = "romantic",
    Professional = "professional",
    Fearful = "fearful",
    Respectful = "respectful",
    Unknown = "unknown",
});

impl Tone {
    pub fn is_unknown(&self) -> bool {
        *self == Self::Unknown
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum RelationshipCommand {
    Add(Box<NewRelationship>),
    /// Here and below: with an expected revision that is not the current one, the command is refused.
    Update {
        relationship_id: u64,
        expected_revision: Option<u64>,
        change: Box<RelationshipChange>,
    },
    Remove {
        relationship_id: u64,
        expected_revision: Option<u64>,
    },
}

/// A relationship to add: the source is the parent, member or owner that the word speaks of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NewRelationship {
    pub source_id: u64,
    pub target_id: u64,
    /// Such as `parent_of`.
    pub relation: String,
    /// The word from the other end. In a command it may be left out for a type that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inverse: Option<String>,
    #[serde(default, skip_serializing_if = "Tone::is_unknown")]
    pub tone: Tone,
    /// 1 to 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strength: Option<u8>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(default, skip_serializing_if = "Visibility::is_table")]
    #[schemars(with = "Vec<String>")]
    pub visible_to: Visibility,
}

impl NewRelationship {
    pub fn new(source_id: u64, relation: &str, target_id: u64) -> Self {
        Self {
            source_id,
            target_id,
            relation: relation.to_owned(),
            inverse: None,
            tone: Tone::Unknown,
            strength: None,
            description: String::new(),
            visible_to: Visibility::Table,
        }
    }
}

/// Changes of a relationship. A field that is `None` stays. Its ends and its type cannot change.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct RelationshipChange {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tone: Option<Tone>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strength: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<String>>")]
    pub visible_to: Option<Visibility>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relationship {
    pub relationship_id: u64,
    pub source_id: u64,
    pub target_id: u64,
    /// From the source to the target. Shared with other relationships of the type, as is the inverse.
    pub relation: Arc<str>,
    /// From the target to the source.
    pub inverse: Arc<str>,
    pub tone: Tone,
    pub strength: Option<u8>,
    pub description: Box<str>,
    pub visible_to: Visibility,
    /// Counts its changes, from 1.
    pub revision: u64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Relationship {
    /// The word and the other end, read from one end.
    pub fn read_from(&self, entity_id: u64) -> (&Arc<str>, u64) {
        if entity_id == self.target_id { (&self.inverse, self.source_id) } else { (&self.relation, self.target_id) }
    }

    /// The ids of the source and the target.
    pub(super) fn ends(&self) -> Vec<u64> {
        vec![self.source_id, self.target_id]
    }

    pub fn is_symmetric(&self) -> bool {
        self.relation == self.inverse
    }

    /// Whether it has this word from either end.
    pub fn has_word(&self, word: &str) -> bool {
        *self.relation == *word || *self.inverse == *word
    }

    fn key(&self) -> EdgeKey {
        EdgeKey::new(self.source_id, self.target_id, &self.relation, &self.inverse)
    }

    fn bytes(&self) -> usize {
        self.description.len() + EDGE_BYTES
    }

    pub(super) fn apply_change(&mut self, change: &RelationshipChange) {
        self.tone = change.tone.unwrap_or(self.tone);
        self.strength = change.strength.or(self.strength);
        if let Some(description) = &change.description {
            self.description = description.as_str().into();
        }
        if let Some(visible_to) = &change.visible_to {
            self.visible_to = visible_to.clone();
        }
    }
}

/// What an edge counts towards the limit of a campaign's heads, besides its description.
const EDGE_BYTES: usize = 64;

/// The same for an edge and for its inverse, so that neither is stored beside the other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct EdgeKey(u64, u64, Arc<str>);

impl EdgeKey {
    fn new(source_id: u64, target_id: u64, relation: &Arc<str>, inverse: &Arc<str>) -> Self {
        match relation.cmp(inverse) {
            Ordering::Less => Self(source_id, target_id, relation.clone()),
            Ordering::Greater => Self(target_id, source_id, inverse.clone()),
            Ordering::Equal => Self(source_id.min(target_id), source_id.max(target_id), relation.clone()),
        }
    }
}

/// A type that relationships of the campaign have.
#[derive(Debug, Clone, PartialEq, Eq)]
struct UsedType {
    word: Arc<str>,
    inverse: Arc<str>,
    uses: usize,
}

/// All relationships of a campaign. Empty, it needs no memory.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Relationships {
    pub(super) highest_id: u64,
    by_id: OrdMap<u64, Arc<Relationship>>,
    // What follows is derived.
    keys: OrdMap<EdgeKey, u64>,
    /// Pairs of an entity and a relationship of it.
    ends: OrdSet<(u64, u64)>,
    /// Types by both words.
    types: OrdMap<Arc<str>, UsedType>,
    pub(super) bytes: usize,
}

impl Relationships {
    pub fn get(&self, relationship_id: u64) -> Option<&Arc<Relationship>> {
        self.by_id.get(&relationship_id)
    }

    /// All of them, by id.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Relationship>> {
        self.by_id.values()
    }

    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// The relationships of an entity, by id.
    pub fn of_entity(&self, entity_id: u64) -> impl Iterator<Item = &Arc<Relationship>> {
        self.ends.range((entity_id, 0)..=(entity_id, u64::MAX)).filter_map(|(_, id)| self.by_id.get(id))
    }

    /// The words of all types that are in use, from both ends.
    pub fn type_words(&self) -> impl Iterator<Item = &str> {
        self.types.keys().map(|word| &**word)
    }

    /// The word and the inverse of a type that is well known, or in use already.
    pub(super) fn find_type(&self, word: &str) -> Option<(Arc<str>, Arc<str>)> {
        match known_relation(word) {
            Some((word, inverse)) => Some((self.shared_word(word), self.shared_word(inverse))),
            None => self.types.get(word).map(|used| (used.word.clone(), used.inverse.clone())),
        }
    }

    /// The relationship that says the same as this one, from either end.
    pub(super) fn find_same(
        &self,
        source_id: u64,
        target_id: u64,
        relation: &Arc<str>,
        inverse: &Arc<str>,
    ) -> Option<u64> {
        self.keys.get(&EdgeKey::new(source_id, target_id, relation, inverse)).copied()
    }

    pub(super) fn shared_word(&self, word: &str) -> Arc<str> {
        self.types.get(word).map_or_else(|| word.into(), |used| used.word.clone())
    }

    /// Adds or replaces one.
    pub(super) fn put(&mut self, relationship: Relationship) {
        self.remove(relationship.relationship_id);
        let id = relationship.relationship_id;
        self.highest_id = self.highest_id.max(id);
        self.bytes += relationship.bytes();
        self.keys.insert(relationship.key(), id);
        self.ends.insert((relationship.source_id, id));
        self.ends.insert((relationship.target_id, id));
        for (word, inverse) in relationship.words_with_inverses() {
            let new = || UsedType { word: word.clone(), inverse: inverse.clone(), uses: 0 };
            self.types.entry(word.clone()).or_insert_with(new).uses += 1;
        }
        self.by_id.insert(id, Arc::new(relationship));
    }

    pub(super) fn remove(&mut self, relationship_id: u64) {
        let Some(relationship) = self.by_id.remove(&relationship_id) else { return };
        self.bytes -= relationship.bytes();
        self.keys.remove(&relationship.key());
        self.ends.remove(&(relationship.source_id, relationship_id));
        self.ends.remove(&(relationship.target_id, relationship_id));
        for (word, _) in relationship.words_with_inverses() {
            if let Some(used) = self.types.get_mut(word) {
                used.uses -= 1;
                if used.uses == 0 {
                    self.types.remove(word);
                }
            }
        }
    }

    /// Removes all relationships of an entity that is gone.
    pub(super) fn remove_entity(&mut self, entity_id: u64) {
        let ids: Vec<u64> = self.of_entity(entity_id).map(|relationship| relationship.relationship_id).collect();
        for id in ids {
            self.remove(id);
        }
    }

    pub(super) fn renumber_entity(&mut self, entity_id: u64, new_entity_id: u64) {
        let current = |id: u64| if id == entity_id { new_entity_id } else { id };
        let touched: Vec<Arc<Relationship>> = self.of_entity(entity_id).cloned().collect();
        for relationship in touched {
            let (source_id, target_id) = (current(relationship.source_id), current(relationship.target_id));
            self.put(Relationship { source_id, target_id, ..Relationship::clone(&relationship) });
        }
    }
}

impl Relationship {
    /// Each word with its inverse; a symmetric type has one.
    fn words_with_inverses(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
        let other = (!self.is_symmetric()).then_some((&self.inverse, &self.relation));
        std::iter::once((&self.relation, &self.inverse)).chain(other)
    }
}
