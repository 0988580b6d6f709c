//! Rules of lore: the entities of a campaign's world, their posts, tags and relationships, the timeline, and how they
//! are found.
//!
//! The lore of one campaign is one stream of events. Texts are stored beside the journal; the state holds the heads of
//! all entities, so that names, types and tags are searched in memory.

mod canon;
mod canon_check;
#[cfg(test)]
mod canon_check_tests;
mod canon_decide;
mod canon_evolve;
#[cfg(test)]
mod canon_tests;
mod check_fields;
mod chunk_index;
mod command;
mod date;
mod decide;
mod decide_relationship;
mod decide_tags;
mod decide_timeline;
mod entity;
mod entity_chunk;
mod entity_version;
mod event;
mod evolve;
mod find;
#[cfg(test)]
mod find_tests;
pub mod fuzzy;
#[cfg(test)]
mod golden;
mod index_keys;
#[cfg(test)]
mod limit_tests;
mod mirror_merge;
#[cfg(test)]
mod mirror_merge_tests;
#[cfg(test)]
mod property_tests;
mod refusal;
mod relationship;
mod relationship_graph;
#[cfg(test)]
mod relationship_tests;
mod relationship_types;
#[cfg(test)]
mod reveal_tests;
mod reveals;
mod short_list;
mod slot_set;
mod snapshot_parts;
mod snapshot_relations;
mod sorted_index;
mod state;
#[cfg(test)]
mod tag_tests;
#[cfg(test)]
mod tests;
mod timeline;
mod timeline_date;
#[cfg(test)]
mod timeline_tests;

pub use canon::{
    CanonCommand, CanonField, CanonFields, CanonMark, Confidence, Conflict, ConflictChoice, ConflictLogRow,
    ConflictOutcome, ConflictStatus, FindingReview,
};
pub use canon_check::{CanonFinding, CanonFindingKind, CanonSeverity};
pub use command::{EntityChange, ExplicitIds, LoreCommand, NewEntity, NewPost, PostChange};
pub use date::{date_in_entry, parse_date};
pub use entity::{Entity, EntityType, ImportSource, Post, SourcePost, Tag, TextKey, TextRef};
pub use entity_version::{EntityVersion, PostVersion, fold_entity_version, use_current_tag_names};
pub use event::LoreEvent;
pub use find::{EntityFilter, EntityMatch, MatchRank, NameFilter, fold_name, name_identity};
pub use mirror_merge::{MirroredFields, MirroredPost, MirroredText, VersionMerge, merge_fields, merge_post};
pub use refusal::{LoreRefusal, LoreRefusalKind};
pub use relationship::{NewRelationship, Relationship, RelationshipChange, RelationshipCommand, Relationships, Tone};
pub use relationship_graph::{RelationshipMap, RelationshipStep};
pub use relationship_types::{known_relation_words, relation_word};
pub use reveals::{LoreSubject, VisibilityCommand};
pub use short_list::ShortList;
pub use snapshot_parts::LoreStatePart;
pub use state::{LoreState, MentionPlace};
pub use timeline::{NewTimelineEvent, Timeline, TimelineCommand, TimelineEvent, TimelineEventChange};
pub use timeline_date::{DatePrecision, DayKey, DaySpan, SortDate};

use crate::decider::{Decider, DecisionContext};

/// The rules of lore.
#[derive(Debug)]
pub struct LoreRules;

impl Decider for LoreRules {
    type Command = LoreCommand;
    type Event = LoreEvent;
    type Refusal = LoreRefusal;
    type State = LoreState;

    fn decide(
        state: &LoreState,
        command: &LoreCommand,
        given: &DecisionContext,
    ) -> Result<Vec<LoreEvent>, LoreRefusal> {
        decide::decide(state, command, given).map(|event| vec![event])
    }

    fn evolve(state: LoreState, event: &LoreEvent, given: &DecisionContext) -> LoreState {
        evolve::evolve(state, event, given)
    }
}
