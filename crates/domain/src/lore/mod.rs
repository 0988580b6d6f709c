//! Rules of lore: the entities of a campaign's world, their posts and tags, and how they are found.
//!
//! The lore of one campaign is one stream of events. Texts are stored beside the journal; the state holds the heads of
//! all entities, so that names, types and tags are searched in memory.

mod check_fields;
mod chunk;
mod chunk_index;
mod command;
mod date;
mod decide;
mod entity;
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
#[cfg(test)]
mod property_tests;
mod refusal;
mod short_list;
mod slot_set;
mod snapshot_parts;
mod sorted_index;
mod state;
#[cfg(test)]
mod tests;

pub use command::{EntityChange, ExplicitIds, LoreCommand, NewEntity, NewPost, PostChange};
pub use date::{date_in_entry, parse_date};
pub use entity::{Entity, EntityType, ImportSource, Post, Tag, TextKey, TextRef};
pub use entity_version::{EntityVersion, PostVersion, fold_entity_version};
pub use event::LoreEvent;
pub use find::{EntityFilter, EntityMatch, MatchRank, NameFilter, fold_name};
pub use refusal::{LoreRefusal, LoreRefusalKind};
pub use short_list::ShortList;
pub use snapshot_parts::LoreStatePart;
pub use state::{LoreState, MentionPlace};

use crate::decider::{Decider, DecisionContext};

/// The rules of lore.
#[derive(Debug)]
pub struct LoreRules;

impl Decider for LoreRules {
    type Command = LoreCommand;
    type Event = LoreEvent;
    type Refusal = LoreRefusal;
    type State = LoreState;

    fn decide(state: &LoreState, command: &LoreCommand, _: &DecisionContext) -> Result<Vec<LoreEvent>, LoreRefusal> {
        decide::decide(state, command).map(|event| vec![event])
    }

    fn evolve(state: LoreState, event: &LoreEvent, given: &DecisionContext) -> LoreState {
        evolve::evolve(state, event, given)
    }
}
