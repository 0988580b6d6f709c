//! Refusals of lore commands: the reason, the input field at fault, and a hint.

use serde_json::{Value, json};

use super::canon::CanonFields;
use crate::deceptive_characters::code_point;

/// The category of a refusal, which determines the error code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoreRefusalKind {
    NotFound,
    /// An input field is invalid.
    Invalid,
    /// The campaign's lore would hold more than a limit allows.
    TooLarge,
    /// Somebody else was faster.
    RevisionConflict,
    /// It is so already; a caller is answered as if it had been done.
    Unchanged,
    /// The current state does not allow it.
    Rejected,
    /// The same change is held already.
    Held,
    /// Only a person may do it.
    Forbidden,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoreRefusal {
    #[error("there is no entity {entity_id} in this campaign")]
    EntityNotFound { field: &'static str, entity_id: u64 },
    #[error("entity {entity_id} is in the archive")]
    EntityArchived { field: &'static str, entity_id: u64 },
    #[error("there is no post {post_id} of entity {entity_id}")]
    PostNotFound { entity_id: u64, post_id: u64 },
    #[error("post {post_id} is in the archive")]
    PostArchived { post_id: u64 },
    #[error("entity {entity_id} is not in the archive")]
    EntityNotArchived { entity_id: u64 },
    #[error("post {post_id} is not in the archive")]
    PostNotArchived { post_id: u64 },
    #[error("the archive is empty")]
    ArchiveEmpty,
    #[error("there is no tag {tag_id} in this campaign")]
    TagNotFound { tag_id: u32 },
    #[error("{name:?} is the name of tag {tag_id} already")]
    TagNameTaken { name: String, tag_id: u32 },
    #[error("nothing is different from what is stored")]
    Unchanged,
    #[error("revision {expected} was expected, the current one is {current}")]
    RevisionConflict { expected: u64, current: u64 },
    #[error("{field} is required, it is empty")]
    Empty { field: &'static str },
    #[error("{field} has at most {chars_max} characters, this one has {chars}")]
    TooLong { field: &'static str, chars: usize, chars_max: usize },
    #[error("{field} has the character {}, and a name is one line of plain characters", code_point(*character))]
    Deceptive { field: &'static str, character: char },
    #[error("one entity has at most {count_max} {things}, these are {count}")]
    TooManyOnOne { things: &'static str, field: &'static str, count: usize, count_max: usize },
    #[error("the lore of a campaign has at most {count_max} {things}")]
    TooMany { things: &'static str, count_max: usize },
    #[error(
        "the names, aliases and other short texts of a campaign's lore have at most {bytes_max} bytes; they have {bytes} \
         now, and would have {bytes_after}"
    )]
    TooMuchText { bytes: usize, bytes_after: usize, bytes_max: usize },
    #[error("{field} is from 1 to {id_max}, {id} is outside")]
    IdOutOfRange { field: &'static str, id: u64, id_max: u64 },
    #[error("{field} {id} is taken already")]
    IdTaken { field: &'static str, id: u64 },
    #[error("entity {parent} is the entity itself or below it, so it cannot be the parent")]
    ParentCycle { parent: u64 },
    #[error("actor {actor_id} is linked to entity {entity_id} already")]
    ActorLinked { actor_id: String, entity_id: u64 },
    #[error("{source_id} was imported as entity {entity_id} already")]
    SourceTaken { source_id: String, entity_id: u64 },
    #[error("the same change is held already, as conflict c{conflict_id}")]
    HeldAlready { conflict_id: u64 },
    #[error("role '{role}' may not {what}: a person decides what is canon")]
    NotHuman { role: String, what: &'static str },
    #[error("there is no conflict c{conflict_id} in this campaign")]
    ConflictNotFound { conflict_id: u64 },
    #[error("conflict c{conflict_id} is resolved already")]
    ConflictResolved { conflict_id: u64 },
    #[error("conflict c{conflict_id} is not resolved")]
    ConflictNotResolved { conflict_id: u64 },
    #[error("the text has changed since conflict c{conflict_id} was proposed, so the proposed one would overwrite it")]
    ProposalOutdated { conflict_id: u64 },
    #[error("what conflict c{conflict_id} decided has been changed since")]
    ChangedSinceResolved { conflict_id: u64 },
    #[error("the conflict is about {}, so the value is for one of these", fields.field_names().join(", "))]
    ValueOfOtherField { fields: CanonFields },
    #[error("an entity is SUPERSEDED as a whole, without fields")]
    SupersededField,
    #[error("entity {entity_id} has no relationship with itself")]
    SelfRelationship { entity_id: u64 },
    #[error("relationship {relationship_id} says this already, as it is or from the other end")]
    RelationshipExists { relationship_id: u64 },
    #[error("there is no relationship {relationship_id} in this campaign")]
    RelationshipNotFound { relationship_id: u64 },
    #[error("{relation} is a new type, and inverse is missing: its word from the other end")]
    InverseMissing { relation: String },
    #[error("the inverse of {relation} is {known}")]
    InverseDiffers { relation: String, known: String },
    #[error("{field} is letters, digits and underscores, such as parent_of; {word:?} is not")]
    RelationMalformed { field: &'static str, word: String },
    #[error("strength is from 1 to 10, {strength} is outside")]
    StrengthOutOfRange { strength: u8 },
    #[error("who sees it has been changed meanwhile")]
    VisibilityDiffers,
    #[error("there is no event {event_id} on this campaign's timeline")]
    TimelineEventNotFound { event_id: u64 },
}

impl LoreRefusal {
    pub fn kind(&self) -> LoreRefusalKind {
        match self {
            Self::EntityNotFound { .. }
            | Self::EntityArchived { .. }
            | Self::PostNotFound { .. }
            | Self::PostArchived { .. }
            | Self::ConflictNotFound { .. }
            | Self::TagNotFound { .. }
            | Self::RelationshipNotFound { .. }
            | Self::TimelineEventNotFound { .. } => LoreRefusalKind::NotFound,
            Self::Empty { .. }
            | Self::TooLong { .. }
            | Self::Deceptive { .. }
            | Self::IdOutOfRange { .. }
            | Self::ValueOfOtherField { .. }
            | Self::SupersededField
            | Self::ParentCycle { .. }
            | Self::SelfRelationship { .. }
            | Self::InverseMissing { .. }
            | Self::InverseDiffers { .. }
            | Self::RelationMalformed { .. }
            | Self::StrengthOutOfRange { .. } => LoreRefusalKind::Invalid,
            Self::HeldAlready { .. } => LoreRefusalKind::Held,
            Self::NotHuman { .. } => LoreRefusalKind::Forbidden,
            Self::TooManyOnOne { .. } | Self::TooMany { .. } | Self::TooMuchText { .. } => LoreRefusalKind::TooLarge,
            Self::RevisionConflict { .. } | Self::VisibilityDiffers => LoreRefusalKind::RevisionConflict,
            Self::Unchanged | Self::ArchiveEmpty => LoreRefusalKind::Unchanged,
            Self::EntityNotArchived { .. }
            | Self::PostNotArchived { .. }
            | Self::IdTaken { .. }
            | Self::TagNameTaken { .. }
            | Self::ActorLinked { .. }
            | Self::ConflictResolved { .. }
            | Self::ConflictNotResolved { .. }
            | Self::ProposalOutdated { .. }
            | Self::ChangedSinceResolved { .. }
            | Self::SourceTaken { .. }
            | Self::RelationshipExists { .. } => LoreRefusalKind::Rejected,
        }
    }

    /// The JSON pointer of the field at fault; `None` if the lore as a whole is the reason.
    pub fn pointer(&self) -> Option<String> {
        let field = match self {
            Self::EntityNotFound { field, .. }
            | Self::EntityArchived { field, .. }
            | Self::Empty { field }
            | Self::TooLong { field, .. }
            | Self::Deceptive { field, .. }
            | Self::TooManyOnOne { field, .. }
            | Self::IdOutOfRange { field, .. }
            | Self::RelationMalformed { field, .. }
            | Self::IdTaken { field, .. } => field,
            Self::EntityNotArchived { .. } => "entity_id",
            Self::PostNotFound { .. } | Self::PostArchived { .. } | Self::PostNotArchived { .. } => "post_id",
            Self::TagNotFound { .. } => "tag_id",
            Self::TagNameTaken { .. } => "name",
            Self::RevisionConflict { .. } => "expected_revision",
            Self::ParentCycle { .. } => "parent",
            Self::ActorLinked { .. } => "actor_id",
            Self::SourceTaken { .. } => "source",
            Self::SelfRelationship { .. } => "target_id",
            Self::RelationshipExists { .. } => "type",
            Self::RelationshipNotFound { .. } => "relationship_id",
            Self::InverseMissing { .. } | Self::InverseDiffers { .. } => "inverse",
            Self::StrengthOutOfRange { .. } => "strength",
            Self::TimelineEventNotFound { .. } => "event_id",
            Self::ConflictNotFound { .. }
            | Self::ConflictResolved { .. }
            | Self::ConflictNotResolved { .. }
            | Self::ChangedSinceResolved { .. } => "id",
            Self::ProposalOutdated { .. } => "choice",
            Self::ValueOfOtherField { .. } => "value",
            Self::SupersededField => "fields",
            Self::ArchiveEmpty
            | Self::Unchanged
            | Self::VisibilityDiffers
            | Self::HeldAlready { .. }
            | Self::NotHuman { .. }
            | Self::TooMany { .. }
            | Self::TooMuchText { .. } => return None,
        };
        Some(format!("/{field}"))
    }

    /// The id, number or name at fault, if there is one.
    pub fn value(&self) -> Option<Value> {
        match self {
            Self::EntityNotFound { entity_id: id, .. }
            | Self::EntityArchived { entity_id: id, .. }
            | Self::EntityNotArchived { entity_id: id }
            | Self::PostNotFound { post_id: id, .. }
            | Self::PostArchived { post_id: id }
            | Self::PostNotArchived { post_id: id }
            | Self::IdOutOfRange { id, .. }
            | Self::IdTaken { id, .. }
            | Self::ParentCycle { parent: id }
            | Self::SelfRelationship { entity_id: id }
            | Self::RelationshipExists { relationship_id: id }
            | Self::RelationshipNotFound { relationship_id: id }
            | Self::TimelineEventNotFound { event_id: id }
            | Self::RevisionConflict { expected: id, .. } => Some(json!(id)),
            Self::TagNotFound { tag_id } => Some(json!(tag_id)),
            Self::HeldAlready { conflict_id }
            | Self::ConflictNotFound { conflict_id }
            | Self::ConflictResolved { conflict_id }
            | Self::ConflictNotResolved { conflict_id }
            | Self::ChangedSinceResolved { conflict_id } => Some(json!(format!("c{conflict_id}"))),
            Self::ProposalOutdated { .. } => Some(json!("proposed")),
            Self::NotHuman { role, .. } => Some(json!(role)),
            Self::StrengthOutOfRange { strength } => Some(json!(strength)),
            Self::ActorLinked { actor_id: text, .. }
            | Self::RelationMalformed { word: text, .. }
            | Self::SourceTaken { source_id: text, .. }
            | Self::TagNameTaken { name: text, .. } => Some(json!(text)),
            Self::ArchiveEmpty
            | Self::Unchanged
            | Self::VisibilityDiffers
            | Self::ValueOfOtherField { .. }
            | Self::SupersededField
            | Self::InverseMissing { .. }
            | Self::InverseDiffers { .. }
            | Self::Empty { .. }
            | Self::TooLong { .. }
            | Self::Deceptive { .. }
            | Self::TooManyOnOne { .. }
            | Self::TooMany { .. }
            | Self::TooMuchText { .. } => None,
        }
    }

    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::EntityNotFound { field: "parent", .. } => "send the entity_id of an entity, or leave parent out",
            Self::EntityNotFound { .. } => "find the entity by its name for its entity_id",
            Self::EntityArchived { field: "parent", .. } => "restore that entity first, or choose another parent",
            Self::EntityArchived { .. } => "restore the entity from the archive first",
            Self::PostNotFound { .. } => "read the entity with its posts for their ids",
            Self::PostArchived { .. } => "restore the post from the archive first",
            Self::EntityNotArchived { .. } | Self::PostNotArchived { .. } => {
                "only what was deleted is in the archive; go on as it is"
            }
            Self::ArchiveEmpty => "nothing was deleted since the archive was emptied; go on",
            Self::Unchanged => "send a field with another value, or go on as it is",
            Self::RevisionConflict { .. } => "read it again, and send the change with its current revision",
            Self::Empty { .. } => "send at least one character that is not a space",
            Self::TooLong { .. } => "shorten it, or put the rest into the entry",
            Self::Deceptive { .. } => "leave that character out; the entry may have several lines",
            Self::TooManyOnOne { things: "posts", .. } => {
                "delete posts and empty the archive, or write into those that are there"
            }
            Self::TooManyOnOne { .. } => "leave out those that matter least",
            Self::TooMany { things: "tags", .. } => {
                "use tags that are there already; a tag that no entity has is dropped"
            }
            Self::TooMany { things: "open conflicts", .. } => "resolve conflicts first; `canon` lists them",
            Self::TooMany { things: "steps of one conflict", .. } => "leave it as it is, or propose the change again",
            Self::TooMany { things: "reviewed findings", .. } => "take back reviews that no longer matter",
            Self::TooMany { things: "relationships" | "timeline events", .. } => "remove those that matter least",
            Self::TooMany { .. } => "delete what is not needed and empty the archive",
            Self::TooMuchText { .. } => "shorten names and aliases, or delete what is not needed and empty the archive",
            Self::IdOutOfRange { .. } => "send a number within the range, or leave it out",
            Self::IdTaken { .. } => "update what has this id, or leave the id out",
            Self::TagNotFound { .. } => "list the tags of the campaign for their ids",
            Self::TagNameTaken { .. } => "give entities that tag and delete this one, or choose another name",
            Self::ParentCycle { .. } => "choose a parent that is not below this entity",
            Self::ActorLinked { .. } => "unlink the actor from that entity first",
            Self::HeldAlready { .. } => "a person resolves it with `canon`; go on with something else",
            Self::NotHuman { .. } => {
                "ask a person: with a token of kind human and another role than agent, or at a server started with --role"
            }
            Self::ConflictNotFound { .. } => "`canon` with method list has the conflicts",
            Self::ConflictResolved { .. } => "reopen it to decide again",
            Self::ConflictNotResolved { .. } => "resolve it, or go on",
            Self::ProposalOutdated { .. } => "choose current, or send the whole text as value",
            Self::ChangedSinceResolved { .. } => {
                "change the entity to what it should be; that is held if it is authoritative"
            }
            Self::ValueOfOtherField { .. } => "send field and value for one of these fields",
            Self::SupersededField => "leave fields out",
            Self::SourceTaken { .. } => "update that entity instead of importing it again",
            Self::SelfRelationship { .. } => "send two different entities",
            Self::RelationshipExists { .. } => "update that one; it is read from both ends",
            Self::RelationshipNotFound { .. } => "list the relationships of an entity for their ids",
            Self::InverseMissing { .. } => {
                "send inverse, such as taught_by for taught; the same word if both ends say it"
            }
            Self::InverseDiffers { .. } => "leave inverse out, or choose another word for the relation",
            Self::RelationMalformed { .. } => "send a short word such as member_of",
            Self::StrengthOutOfRange { .. } => "send a number from 1 to 10, or leave it out",
            Self::VisibilityDiffers => "ask who knows it, and reveal or hide it again",
            Self::TimelineEventNotFound { .. } => "query the timeline for its ids",
        }
    }
}
