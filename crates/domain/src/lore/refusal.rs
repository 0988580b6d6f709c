//! Refusals of lore commands: the reason, the input field at fault, and a hint.

use serde_json::{Value, json};

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
}

impl LoreRefusal {
    pub fn kind(&self) -> LoreRefusalKind {
        match self {
            Self::EntityNotFound { .. }
            | Self::EntityArchived { .. }
            | Self::PostNotFound { .. }
            | Self::PostArchived { .. } => LoreRefusalKind::NotFound,
            Self::Empty { .. }
            | Self::TooLong { .. }
            | Self::Deceptive { .. }
            | Self::IdOutOfRange { .. }
            | Self::ParentCycle { .. } => LoreRefusalKind::Invalid,
            Self::TooManyOnOne { .. } | Self::TooMany { .. } | Self::TooMuchText { .. } => LoreRefusalKind::TooLarge,
            Self::RevisionConflict { .. } => LoreRefusalKind::RevisionConflict,
            Self::Unchanged | Self::ArchiveEmpty => LoreRefusalKind::Unchanged,
            Self::EntityNotArchived { .. }
            | Self::PostNotArchived { .. }
            | Self::IdTaken { .. }
            | Self::ActorLinked { .. }
            | Self::SourceTaken { .. } => LoreRefusalKind::Rejected,
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
            | Self::IdTaken { field, .. } => field,
            Self::EntityNotArchived { .. } => "entity_id",
            Self::PostNotFound { .. } | Self::PostArchived { .. } | Self::PostNotArchived { .. } => "post_id",
            Self::RevisionConflict { .. } => "expected_revision",
            Self::ParentCycle { .. } => "parent",
            Self::ActorLinked { .. } => "actor_id",
            Self::SourceTaken { .. } => "source",
            Self::ArchiveEmpty | Self::Unchanged | Self::TooMany { .. } | Self::TooMuchText { .. } => return None,
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
            | Self::RevisionConflict { expected: id, .. } => Some(json!(id)),
            Self::ActorLinked { actor_id: text, .. } | Self::SourceTaken { source_id: text, .. } => Some(json!(text)),
            Self::ArchiveEmpty
            | Self::Unchanged
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
            Self::TooMany { .. } => "delete what is not needed and empty the archive",
            Self::TooMuchText { .. } => "shorten names and aliases, or delete what is not needed and empty the archive",
            Self::IdOutOfRange { .. } => "send a number within the range, or leave it out",
            Self::IdTaken { .. } => "update what has this id, or leave the id out",
            Self::ParentCycle { .. } => "choose a parent that is not below this entity",
            Self::ActorLinked { .. } => "unlink the actor from that entity first",
            Self::SourceTaken { .. } => "update that entity instead of importing it again",
        }
    }
}
