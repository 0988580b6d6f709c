//! Commands to the lore of a campaign. Each yields exactly one event, so the stream's revision counts the events.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::canon::CanonCommand;
use super::entity::{EntityType, ImportSource, TextKey, TextRef};
use super::relationship::RelationshipCommand;
use super::reveals::VisibilityCommand;
use super::timeline::TimelineCommand;

#[derive(Debug, Clone, PartialEq)]
pub enum LoreCommand {
    CreateEntity(Box<NewEntity>),
    /// Here and below: with an expected revision that is not the current one, the command is refused.
    UpdateEntity {
        entity_id: u64,
        expected_revision: Option<u64>,
        change: Box<EntityChange>,
    },
    ArchiveEntity {
        entity_id: u64,
        expected_revision: Option<u64>,
    },
    /// Takes an entity out of the archive.
    RestoreEntity {
        entity_id: u64,
    },
    CreatePost(Box<NewPost>),
    UpdatePost {
        entity_id: u64,
        post_id: u64,
        expected_revision: Option<u64>,
        change: Box<PostChange>,
    },
    ArchivePost {
        entity_id: u64,
        post_id: u64,
        expected_revision: Option<u64>,
    },
    RestorePost {
        entity_id: u64,
        post_id: u64,
    },
    /// Gives an entity and its posts the fields that they had earlier. What was archived since comes back.
    RestoreVersion {
        entity_id: u64,
        change: Box<EntityChange>,
        /// Posts that are there still, each with its earlier fields.
        posts: Vec<(u64, PostChange)>,
    },
    /// Creates a tag that stays even if no entity has it. An entity that names a new tag creates one that does not.
    CreateTag {
        name: String,
    },
    RenameTag {
        tag_id: u32,
        name: String,
    },
    /// Takes the tag off all entities that have it, archived ones included.
    DeleteTag {
        tag_id: u32,
    },
    /// Removes these archived entities and posts for good, or without ids all that is archived.
    EmptyArchive {
        entity_ids: Vec<u64>,
        /// Each with its entity.
        posts: Vec<(u64, u64)>,
        /// Keys of earlier texts of what is removed. Those of current texts need not be given.
        text_keys: Vec<TextKey>,
    },
    /// Gives an entity the ids that another place has given it. Its id before stays valid as another name for it, until
    /// an entity comes from elsewhere that has this id.
    RenumberEntity {
        entity_id: u64,
        ids: ExplicitIds,
    },
    /// From now on all ids that are given here are above this one: those below are given by another place.
    ReserveIds {
        above: u64,
    },
    Canon(CanonCommand),
    /// A change that says the same in another form, such as a text with other ids of what it mentions. It is not held.
    SameValue(Box<LoreCommand>),
    /// A command with the operation that it came by. A change that is held says so.
    FromTool {
        tool: &'static str,
        command: Box<LoreCommand>,
    },
    Relationship(RelationshipCommand),
    Timeline(TimelineCommand),
    Visibility(VisibilityCommand),
}

/// An entity to create. The event that creates it has the same fields, and the ids beside them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NewEntity {
    pub entity_type: EntityType,
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subtype: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    pub is_private: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<TextRef>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<ImportSource>,
    /// Ids that another place has given it already; without them it gets the next ones.
    #[serde(skip)]
    pub ids: Option<ExplicitIds>,
}

impl NewEntity {
    /// An entity with a type and a name, private if its type is so by default.
    pub fn new(entity_type: EntityType, name: &str) -> Self {
        Self {
            entity_type,
            name: name.to_owned(),
            subtype: String::new(),
            tags: Vec::new(),
            aliases: Vec::new(),
            is_private: entity_type.is_private_by_default(),
            parent: None,
            image: None,
            date: None,
            actor_id: None,
            text: None,
            source: None,
            ids: None,
        }
    }
}

/// Ids of an entity that comes from elsewhere, with the numbers that it has there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExplicitIds {
    /// Among the entities of its type.
    pub id: u64,
    /// Among all entities of the campaign.
    pub entity_id: u64,
}

/// Changes of an entity. A field that is `None` stays; where the value is optional, `Some(None)` removes it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct EntityChange {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtype: Option<String>,
    /// All tags from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// All aliases from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aliases: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_private: Option<bool>,
    #[serde(default, deserialize_with = "null_removes", skip_serializing_if = "Option::is_none")]
    pub parent: Option<Option<u64>>,
    #[serde(default, deserialize_with = "null_removes", skip_serializing_if = "Option::is_none")]
    pub image: Option<Option<String>>,
    #[serde(default, deserialize_with = "null_removes", skip_serializing_if = "Option::is_none")]
    pub date: Option<Option<String>>,
    #[serde(default, deserialize_with = "null_removes", skip_serializing_if = "Option::is_none")]
    pub actor_id: Option<Option<String>>,
    #[serde(default, deserialize_with = "null_removes", skip_serializing_if = "Option::is_none")]
    pub text: Option<Option<TextRef>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<ImportSource>,
}

/// A post to add to an entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPost {
    pub entity_id: u64,
    pub name: String,
    pub is_private: bool,
    pub text: Option<TextRef>,
    /// The number that another place has given it already; without it it gets the next one.
    pub post_id: Option<u64>,
}

/// Changes of a post, like those of an entity.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PostChange {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_private: Option<bool>,
    #[serde(default, deserialize_with = "null_removes", skip_serializing_if = "Option::is_none")]
    pub text: Option<Option<TextRef>>,
}

/// Reads null as `Some(None)`; a field that is left out is `None` by its default.
#[expect(clippy::option_option, reason = "unchanged, removed and set are three things")]
pub(super) fn null_removes<'de, D, T>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(deserializer).map(Some)
}
