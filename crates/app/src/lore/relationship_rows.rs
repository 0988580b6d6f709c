//! Relationships as answers show them, read from one end, as far as the caller may see them.

use schemars::JsonSchema;
use serde::Serialize;
use skald_domain::lore::{LoreState, Relationship, RelationshipStep, Tone};

use super::access::EnteredLore;
use super::visible_to::shown_visibility;

/// A relationship, read from its source to its target.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(extend("x-brief" = true))]
pub(super) struct RelationshipRow {
    pub relationship_id: u64,
    pub source: LinkedEntity,
    /// From the source to the target.
    pub r#type: String,
    pub target: LinkedEntity,
    /// From the target to the source; left out if both ends say the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inverse: Option<String>,
    /// Whether both ends say the same.
    pub bidirectional: bool,
    pub tone: Tone,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strength: Option<u8>,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub description: Box<str>,
    /// For game masters; left out if the whole table sees it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visible_to: Option<Vec<String>>,
    /// On a map: how far from its centre.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<usize>,
    /// For game masters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
}

/// An entity at the end of a relationship, or in an event of the timeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(extend("x-brief" = true))]
pub(super) struct LinkedEntity {
    pub id: u64,
    pub name: String,
}

impl LinkedEntity {
    pub(super) fn new(state: &LoreState, entity_id: u64) -> Self {
        let name = state.entity(entity_id).map(|entity| entity.name.to_string()).unwrap_or_default();
        Self { id: entity_id, name }
    }
}

impl RelationshipRow {
    /// The row as a game master, or somebody else who may see it, reads it from one of its ends.
    pub(super) fn new(state: &LoreState, relationship: &Relationship, from_id: u64, sees_private: bool) -> Self {
        let (word, other_id) = relationship.read_from(from_id);
        let inverse = if from_id == relationship.target_id { &relationship.relation } else { &relationship.inverse };
        let bidirectional = relationship.is_symmetric();
        Self {
            relationship_id: relationship.relationship_id,
            source: LinkedEntity::new(state, from_id),
            r#type: word.to_string(),
            target: LinkedEntity::new(state, other_id),
            inverse: (!bidirectional).then(|| inverse.to_string()),
            bidirectional,
            tone: relationship.tone,
            strength: relationship.strength,
            description: relationship.description.clone(),
            visible_to: shown_visibility(&relationship.visible_to, sees_private),
            distance: None,
            // It counts changes that others do not see.
            revision: sees_private.then_some(relationship.revision),
        }
    }

    pub(super) fn of_step(state: &LoreState, step: &RelationshipStep, sees_private: bool) -> Self {
        let row = Self::new(state, &step.relationship, step.from_id, sees_private);
        Self { distance: Some(step.distance), ..row }
    }

    /// Such as `Anna is parent_of Bela`.
    pub(super) fn sentence(&self) -> String {
        format!("{} {} {}", self.source.name, self.r#type, self.target.name)
    }
}

impl EnteredLore {
    /// Whether the caller sees a relationship and both its ends.
    pub(super) fn is_relationship_visible(&self, relationship: &Relationship) -> bool {
        self.redaction.is_visible(relationship)
            && self.visible_entity(relationship.source_id).is_some()
            && self.visible_entity(relationship.target_id).is_some()
    }
}
