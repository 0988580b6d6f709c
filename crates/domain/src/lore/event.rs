//! Events of lore. Their shapes are stable: each has a golden file that must always decode.
//!
//! - The type names the version. A field may be added if it can be left out; any other change is a new version, and the
//!   old one still decodes.
//! - No event names the campaign, and none has a text: it has the key of the row that holds the text.
//! - An archived thing is named in its event, so that a history can be read without earlier events.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::command::{EntityChange, NewEntity, PostChange};
use super::entity::{TextKey, TextRef};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type")]
pub enum LoreEvent {
    #[serde(rename = "entity.created.v1")]
    EntityCreated {
        entity_id: u64,
        /// Its number among the entities of its type.
        id: u64,
        entity: Box<NewEntity>,
    },
    #[serde(rename = "entity.updated.v1")]
    EntityUpdated {
        entity_id: u64,
        /// Fields that are really different; null removes a value.
        change: Box<EntityChange>,
        /// Only game masters see it, before and after.
        #[serde(default, skip_serializing_if = "is_false")]
        hidden: bool,
    },
    #[serde(rename = "entity.archived.v1")]
    EntityArchived {
        entity_id: u64,
        name: String,
        /// Only game masters see it, before and after.
        #[serde(default, skip_serializing_if = "is_false")]
        hidden: bool,
    },
    #[serde(rename = "entity.restored.v1")]
    EntityRestored {
        entity_id: u64,
        /// Its parent was removed from the archive meanwhile, so it has none any more.
        #[serde(default, skip_serializing_if = "is_false")]
        parent_cleared: bool,
        /// Its actor belongs to another entity meanwhile.
        #[serde(default, skip_serializing_if = "is_false")]
        actor_cleared: bool,
        /// Only game masters see it, before and after.
        #[serde(default, skip_serializing_if = "is_false")]
        hidden: bool,
    },
    #[serde(rename = "post.created.v1")]
    PostCreated {
        entity_id: u64,
        post_id: u64,
        name: String,
        is_private: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<TextRef>,
        /// Only game masters see it, before and after.
        #[serde(default, skip_serializing_if = "is_false")]
        hidden: bool,
    },
    #[serde(rename = "post.updated.v1")]
    PostUpdated {
        entity_id: u64,
        post_id: u64,
        /// Fields that are really different; null removes a value.
        change: Box<PostChange>,
        /// Only game masters see it, before and after.
        #[serde(default, skip_serializing_if = "is_false")]
        hidden: bool,
    },
    #[serde(rename = "post.archived.v1")]
    PostArchived {
        entity_id: u64,
        post_id: u64,
        name: String,
        /// Only game masters see it, before and after.
        #[serde(default, skip_serializing_if = "is_false")]
        hidden: bool,
    },
    #[serde(rename = "post.restored.v1")]
    PostRestored {
        entity_id: u64,
        post_id: u64,
        /// Only game masters see it, before and after.
        #[serde(default, skip_serializing_if = "is_false")]
        hidden: bool,
    },
    #[serde(rename = "archive.emptied.v1")]
    ArchiveEmptied {
        entity_ids: Vec<u64>,
        /// All posts that are gone, those of the entities included.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        post_ids: Vec<u64>,
        /// Keys of all texts that are gone.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        text_keys: Vec<TextKey>,
        /// Entities that are not archived and had one of the removed ones as their parent.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        orphan_ids: Vec<u64>,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

macro_rules! kinds {
    ($($variant:ident = $kind:literal),+ $(,)?) => {
        impl LoreEvent {
            /// The types of all events that are written today.
            pub const KINDS: &'static [&'static str] = &[$($kind),+];

            /// The type under which the event is stored.
            pub fn kind(&self) -> &'static str {
                match self { $(Self::$variant { .. } => $kind),+ }
            }
        }
    };
}

kinds! {
    EntityCreated = "entity.created.v1",
    EntityUpdated = "entity.updated.v1",
    EntityArchived = "entity.archived.v1",
    EntityRestored = "entity.restored.v1",
    PostCreated = "post.created.v1",
    PostUpdated = "post.updated.v1",
    PostArchived = "post.archived.v1",
    PostRestored = "post.restored.v1",
    ArchiveEmptied = "archive.emptied.v1",
}

impl LoreEvent {
    /// The entity that the event is about.
    pub fn entity_id(&self) -> Option<u64> {
        match self {
            Self::EntityCreated { entity_id, .. }
            | Self::EntityUpdated { entity_id, .. }
            | Self::EntityArchived { entity_id, .. }
            | Self::EntityRestored { entity_id, .. }
            | Self::PostCreated { entity_id, .. }
            | Self::PostUpdated { entity_id, .. }
            | Self::PostArchived { entity_id, .. }
            | Self::PostRestored { entity_id, .. } => Some(*entity_id),
            Self::ArchiveEmptied { .. } => None,
        }
    }

    /// The post that the event is about.
    pub fn post_id(&self) -> Option<u64> {
        match self {
            Self::PostCreated { post_id, .. }
            | Self::PostUpdated { post_id, .. }
            | Self::PostArchived { post_id, .. }
            | Self::PostRestored { post_id, .. } => Some(*post_id),
            Self::EntityCreated { .. }
            | Self::EntityUpdated { .. }
            | Self::EntityArchived { .. }
            | Self::EntityRestored { .. }
            | Self::ArchiveEmptied { .. } => None,
        }
    }

    /// Whether only game masters may know of it.
    pub fn is_private(&self) -> bool {
        match self {
            Self::EntityCreated { entity, .. } => entity.is_private,
            Self::EntityUpdated { hidden, .. }
            | Self::EntityArchived { hidden, .. }
            | Self::EntityRestored { hidden, .. }
            | Self::PostUpdated { hidden, .. }
            | Self::PostArchived { hidden, .. }
            | Self::PostRestored { hidden, .. } => *hidden,
            Self::PostCreated { hidden, is_private, .. } => *hidden || *is_private,
            Self::ArchiveEmptied { .. } => true,
        }
    }

    /// The text that the event wrote.
    pub fn text(&self) -> Option<&TextRef> {
        match self {
            Self::EntityCreated { entity, .. } => entity.text.as_ref(),
            Self::EntityUpdated { change, .. } => change.text.as_ref()?.as_ref(),
            Self::PostCreated { text, .. } => text.as_ref(),
            Self::PostUpdated { change, .. } => change.text.as_ref()?.as_ref(),
            _ => None,
        }
    }

    /// The names of the fields that the event changed; none for a creation.
    pub fn changed_fields(&self) -> Vec<&'static str> {
        let fields: Vec<(&'static str, bool)> = match self {
            Self::EntityUpdated { change, .. } => vec![
                ("name", change.name.is_some()),
                ("type", change.subtype.is_some()),
                ("entry", change.text.is_some()),
                ("tags", change.tags.is_some()),
                ("aliases", change.aliases.is_some()),
                ("is_private", change.is_private.is_some()),
                ("parent", change.parent.is_some()),
                ("image", change.image.is_some()),
                ("date", change.date.is_some()),
                ("actor_id", change.actor_id.is_some()),
            ],
            Self::PostUpdated { change, .. } => vec![
                ("name", change.name.is_some()),
                ("entry", change.text.is_some()),
                ("is_private", change.is_private.is_some()),
            ],
            _ => Vec::new(),
        };
        fields.into_iter().filter(|(_, is_changed)| *is_changed).map(|(field, _)| field).collect()
    }
}
