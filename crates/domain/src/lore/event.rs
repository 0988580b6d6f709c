//! Events of lore. Their shapes are stable: each has a golden file that must always decode.
//!
//! - The type names the version. A field may be added if it can be left out; any other change is a new version, and the
//!   old one still decodes.
//! - No event names the campaign, and none has a text: it has the key of the row that holds the text.
//! - An archived thing is named in its event, so that a history can be read without earlier events.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::canon::{CanonFields, Confidence, ConflictChoice, ConflictStatus};
use super::command::{EntityChange, NewEntity, PostChange};
use super::entity::{TextKey, TextRef};
use super::relationship::{NewRelationship, RelationshipChange};
use super::reveals::LoreSubject;
use super::timeline::{NewTimelineEvent, TimelineEventChange};
use super::timeline_date::SortDate;
use crate::visibility::Visibility;

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
        /// Entities that it mentioned, or that was its parent, and that it has no such link to any more.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unlinked_ids: Vec<u64>,
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
        /// Entities that it mentioned and mentions no more.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unlinked_ids: Vec<u64>,
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
    #[serde(rename = "entity.version_restored.v1")]
    EntityVersionRestored {
        entity_id: u64,
        /// What changed, in order. All are about this entity and its posts.
        steps: Vec<LoreEvent>,
        /// Only game masters see it, before and after.
        #[serde(default, skip_serializing_if = "is_false")]
        hidden: bool,
    },
    #[serde(rename = "tag.created.v1")]
    TagCreated { tag_id: u32, name: String },
    #[serde(rename = "tag.renamed.v1")]
    TagRenamed {
        tag_id: u32,
        name: String,
        /// Only game masters see an entity that has it.
        #[serde(default, skip_serializing_if = "is_false")]
        hidden: bool,
    },
    #[serde(rename = "tag.deleted.v1")]
    TagDeleted {
        tag_id: u32,
        name: String,
        /// All entities that had it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        entity_ids: Vec<u64>,
        /// Only game masters see an entity that had it.
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
    #[serde(rename = "entity.renumbered.v1")]
    EntityRenumbered {
        /// The id that it had.
        entity_id: u64,
        new_entity_id: u64,
        /// Its number among the entities of its type from now on.
        new_id: u64,
        /// Only game masters see it.
        #[serde(default, skip_serializing_if = "is_false")]
        hidden: bool,
    },
    #[serde(rename = "ids.reserved.v1")]
    IdsReserved {
        /// All ids that are given here from now on are above this one.
        above: u64,
    },
    #[serde(rename = "entity.marked.v1")]
    EntityMarked {
        entity_id: u64,
        confidence: Confidence,
        /// All fields that are authoritative from now on.
        #[serde(default, skip_serializing_if = "CanonFields::has_none")]
        fields: CanonFields,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
    #[serde(rename = "entity.died.v1")]
    EntityDied {
        entity_id: u64,
        /// As the timeline writes dates; none if it did not die after all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        date: Option<SortDate>,
    },
    #[serde(rename = "change.held.v1")]
    ChangeHeld {
        conflict_id: u64,
        entity_id: u64,
        /// The authoritative fields that it would have changed.
        fields: CanonFields,
        /// What would have happened.
        proposed: Box<LoreEvent>,
        /// The operation that proposed it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        tool: String,
        /// The text that a proposed text was made from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        entry_before: Option<TextKey>,
    },
    #[serde(rename = "conflict.acknowledged.v1")]
    ConflictAcknowledged {
        conflict_id: u64,
        entity_id: u64,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
    #[serde(rename = "conflict.resolved.v1")]
    ConflictResolved {
        conflict_id: u64,
        entity_id: u64,
        choice: ConflictChoice,
        reason: String,
        /// What it changed, in order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        steps: Vec<LoreEvent>,
        /// What takes that back, in order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        undo: Vec<LoreEvent>,
    },
    #[serde(rename = "conflict.reopened.v1")]
    ConflictReopened {
        conflict_id: u64,
        entity_id: u64,
        reason: String,
        /// What it took back, in order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        steps: Vec<LoreEvent>,
    },
    #[serde(rename = "finding.reviewed.v1")]
    FindingReviewed {
        /// Names the finding and what it is about.
        finding_id: String,
        status: ConflictStatus,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
    #[serde(rename = "relationship.added.v1")]
    RelationshipAdded {
        relationship_id: u64,
        relationship: Box<NewRelationship>,
        /// Not everybody sees it.
        #[serde(default, skip_serializing_if = "is_false")]
        hidden: bool,
    },
    #[serde(rename = "relationship.updated.v1")]
    RelationshipUpdated {
        relationship_id: u64,
        /// Fields that are really different.
        change: Box<RelationshipChange>,
        /// Both of its ends.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        entity_ids: Vec<u64>,
        /// Who could see it before.
        #[serde(default, skip_serializing_if = "Visibility::is_table")]
        #[schemars(with = "Vec<String>")]
        was_visible_to: Visibility,
        /// Not everybody sees it, before and after.
        #[serde(default, skip_serializing_if = "is_false")]
        hidden: bool,
    },
    #[serde(rename = "relationship.removed.v1")]
    RelationshipRemoved {
        relationship_id: u64,
        /// Both of its ends.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        entity_ids: Vec<u64>,
        /// Who could see it before.
        #[serde(default, skip_serializing_if = "Visibility::is_table")]
        #[schemars(with = "Vec<String>")]
        was_visible_to: Visibility,
        /// Not everybody saw it.
        #[serde(default, skip_serializing_if = "is_false")]
        hidden: bool,
    },
    #[serde(rename = "timeline_event.added.v1")]
    TimelineEventAdded {
        event_id: u64,
        event: Box<NewTimelineEvent>,
        /// Not everybody sees it.
        #[serde(default, skip_serializing_if = "is_false")]
        hidden: bool,
    },
    #[serde(rename = "timeline_event.updated.v1")]
    TimelineEventUpdated {
        event_id: u64,
        /// Fields that are really different; null removes a value.
        change: Box<TimelineEventChange>,
        /// The key of the text that is gone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replaced_text_key: Option<TextKey>,
        /// Who could see it before.
        #[serde(default, skip_serializing_if = "Visibility::is_table")]
        #[schemars(with = "Vec<String>")]
        was_visible_to: Visibility,
        /// Not everybody sees it, before and after.
        #[serde(default, skip_serializing_if = "is_false")]
        hidden: bool,
    },
    #[serde(rename = "timeline_event.removed.v1")]
    TimelineEventRemoved {
        event_id: u64,
        /// The key of the text that is gone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text_key: Option<TextKey>,
        /// Who could see it before.
        #[serde(default, skip_serializing_if = "Visibility::is_table")]
        #[schemars(with = "Vec<String>")]
        was_visible_to: Visibility,
        /// Not everybody saw it.
        #[serde(default, skip_serializing_if = "is_false")]
        hidden: bool,
    },
    /// Something was revealed or hidden. An entity or a post is private from now on if not everybody sees it.
    #[serde(rename = "lore_visibility.changed.v1")]
    VisibilityChanged {
        of: LoreSubject,
        /// The entity, or that of the post.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        entity_id: Option<u64>,
        /// Both ends of the relationship.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        entity_ids: Vec<u64>,
        #[schemars(with = "Vec<String>")]
        visible_to: Visibility,
        /// Who could see it before.
        #[schemars(with = "Vec<String>")]
        was: Visibility,
        /// The session that was going on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
        /// Not everybody sees it, before and after.
        #[serde(default, skip_serializing_if = "is_false")]
        hidden: bool,
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
    EntityVersionRestored = "entity.version_restored.v1",
    TagCreated = "tag.created.v1",
    TagRenamed = "tag.renamed.v1",
    TagDeleted = "tag.deleted.v1",
    ArchiveEmptied = "archive.emptied.v1",
    EntityRenumbered = "entity.renumbered.v1",
    IdsReserved = "ids.reserved.v1",
    EntityMarked = "entity.marked.v1",
    EntityDied = "entity.died.v1",
    ChangeHeld = "change.held.v1",
    ConflictAcknowledged = "conflict.acknowledged.v1",
    ConflictResolved = "conflict.resolved.v1",
    ConflictReopened = "conflict.reopened.v1",
    FindingReviewed = "finding.reviewed.v1",
    RelationshipAdded = "relationship.added.v1",
    RelationshipUpdated = "relationship.updated.v1",
    RelationshipRemoved = "relationship.removed.v1",
    TimelineEventAdded = "timeline_event.added.v1",
    TimelineEventUpdated = "timeline_event.updated.v1",
    TimelineEventRemoved = "timeline_event.removed.v1",
    VisibilityChanged = "lore_visibility.changed.v1",
}

impl LoreEvent {
    /// The entity that the event is about.
    pub fn entity_id(&self) -> Option<u64> {
        match self {
            Self::EntityCreated { entity_id, .. }
            | Self::EntityUpdated { entity_id, .. }
            | Self::EntityArchived { entity_id, .. }
            | Self::EntityRestored { entity_id, .. }
            | Self::EntityVersionRestored { entity_id, .. }
            | Self::PostCreated { entity_id, .. }
            | Self::PostUpdated { entity_id, .. }
            | Self::PostArchived { entity_id, .. }
            | Self::PostRestored { entity_id, .. }
            | Self::EntityMarked { entity_id, .. }
            | Self::EntityDied { entity_id, .. }
            | Self::ChangeHeld { entity_id, .. }
            | Self::ConflictAcknowledged { entity_id, .. }
            | Self::ConflictResolved { entity_id, .. }
            | Self::ConflictReopened { entity_id, .. } => Some(*entity_id),
            Self::EntityRenumbered { new_entity_id, .. } => Some(*new_entity_id),
            Self::VisibilityChanged { entity_id, .. } => *entity_id,
            Self::TagCreated { .. }
            | Self::TagRenamed { .. }
            | Self::TagDeleted { .. }
            | Self::IdsReserved { .. }
            | Self::FindingReviewed { .. }
            | Self::RelationshipAdded { .. }
            | Self::RelationshipUpdated { .. }
            | Self::RelationshipRemoved { .. }
            | Self::TimelineEventAdded { .. }
            | Self::TimelineEventUpdated { .. }
            | Self::TimelineEventRemoved { .. }
            | Self::ArchiveEmptied { .. } => None,
        }
    }

    /// The post that the event is about.
    pub fn post_id(&self) -> Option<u64> {
        match self {
            Self::PostCreated { post_id, .. }
            | Self::PostUpdated { post_id, .. }
            | Self::PostArchived { post_id, .. }
            | Self::PostRestored { post_id, .. }
            | Self::VisibilityChanged { of: LoreSubject::Post { post_id }, .. } => Some(*post_id),
            Self::ChangeHeld { proposed, .. } => proposed.post_id(),
            Self::EntityCreated { .. }
            | Self::EntityUpdated { .. }
            | Self::EntityArchived { .. }
            | Self::EntityRestored { .. }
            | Self::EntityRenumbered { .. }
            | Self::IdsReserved { .. }
            | Self::EntityVersionRestored { .. }
            | Self::TagCreated { .. }
            | Self::TagRenamed { .. }
            | Self::TagDeleted { .. }
            | Self::EntityMarked { .. }
            | Self::EntityDied { .. }
            | Self::ConflictAcknowledged { .. }
            | Self::ConflictResolved { .. }
            | Self::ConflictReopened { .. }
            | Self::FindingReviewed { .. }
            | Self::RelationshipAdded { .. }
            | Self::RelationshipUpdated { .. }
            | Self::RelationshipRemoved { .. }
            | Self::TimelineEventAdded { .. }
            | Self::TimelineEventUpdated { .. }
            | Self::VisibilityChanged { .. }
            | Self::TimelineEventRemoved { .. }
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
            | Self::EntityRenumbered { hidden, .. }
            | Self::EntityVersionRestored { hidden, .. }
            | Self::PostUpdated { hidden, .. }
            | Self::PostArchived { hidden, .. }
            | Self::PostRestored { hidden, .. }
            | Self::TagRenamed { hidden, .. }
            | Self::TagDeleted { hidden, .. }
            | Self::RelationshipAdded { hidden, .. }
            | Self::RelationshipUpdated { hidden, .. }
            | Self::RelationshipRemoved { hidden, .. }
            | Self::TimelineEventAdded { hidden, .. }
            | Self::TimelineEventUpdated { hidden, .. }
            | Self::TimelineEventRemoved { hidden, .. }
            | Self::VisibilityChanged { hidden, .. } => *hidden,
            Self::PostCreated { hidden, is_private, .. } => *hidden || *is_private,
            // A new tag is on no entity yet.
            Self::TagCreated { .. }
            | Self::ArchiveEmptied { .. }
            | Self::IdsReserved { .. }
            // Canon is the game masters' business; what a decision changed is seen by those who see the entity.
            | Self::EntityMarked { .. }
            | Self::EntityDied { .. }
            | Self::ChangeHeld { .. }
            | Self::ConflictAcknowledged { .. }
            | Self::FindingReviewed { .. } => true,
            Self::ConflictResolved { steps, .. } | Self::ConflictReopened { steps, .. } => {
                steps.iter().all(Self::is_private)
            }
        }
    }

    /// The text that the event wrote. One that a restored version brought back was written by an earlier event.
    pub fn text(&self) -> Option<&TextRef> {
        match self {
            Self::EntityCreated { entity, .. } => entity.text.as_ref(),
            Self::EntityUpdated { change, .. } => change.text.as_ref()?.as_ref(),
            Self::PostCreated { text, .. } => text.as_ref(),
            Self::PostUpdated { change, .. } => change.text.as_ref()?.as_ref(),
            Self::ChangeHeld { proposed, .. } => proposed.text(),
            Self::ConflictResolved { steps, .. } => steps.iter().find_map(Self::text),
            Self::TimelineEventAdded { event, .. } => event.text.as_ref(),
            Self::TimelineEventUpdated { change, .. } => change.text.as_ref()?.as_ref(),
            _ => None,
        }
    }

    /// Whether the event or one of its steps is about this post.
    pub fn is_about_post(&self, post_id: u64) -> bool {
        match self.steps() {
            [] => self.post_id() == Some(post_id),
            steps => steps.iter().any(|step| step.is_about_post(post_id)),
        }
    }

    /// The post that the event or all of its steps are about.
    pub fn only_post_id(&self) -> Option<u64> {
        let [first, others @ ..] = self.steps() else { return self.post_id() };
        let post_id = first.only_post_id();
        post_id.filter(|_| others.iter().all(|step| step.only_post_id() == post_id))
    }

    /// The events that one event consists of.
    fn steps(&self) -> &[Self] {
        match self {
            Self::EntityVersionRestored { steps, .. }
            | Self::ConflictResolved { steps, .. }
            | Self::ConflictReopened { steps, .. } => steps,
            _ => &[],
        }
    }

    /// The texts that the event and its steps name.
    pub(super) fn all_texts(&self) -> Vec<&TextRef> {
        match self {
            Self::EntityVersionRestored { steps, .. } => steps.iter().flat_map(Self::all_texts).collect(),
            event => event.text().into_iter().collect(),
        }
    }

    /// The names of the fields that the event changed; none for a creation.
    pub fn changed_fields(&self) -> Vec<&'static str> {
        if let Self::EntityVersionRestored { steps, .. }
        | Self::ConflictResolved { steps, .. }
        | Self::ConflictReopened { steps, .. } = self
        {
            let mut fields: Vec<&'static str> = steps.iter().flat_map(Self::changed_fields).collect();
            let mut seen = BTreeSet::new();
            fields.retain(|field| seen.insert(*field));
            return fields;
        }
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
            Self::TagDeleted { .. } => vec![("tags", true)],
            Self::VisibilityChanged { visible_to, was, .. } => {
                vec![("is_private", visible_to.is_table() != was.is_table()), ("visible_to", true)]
            }
            Self::EntityMarked { .. } => vec![("confidence", true)],
            _ => Vec::new(),
        };
        fields.into_iter().filter(|(_, is_changed)| *is_changed).map(|(field, _)| field).collect()
    }
}
