//! The universe noun: what is in the sky, what may be done to it, and who is told.

mod batch;
mod change;
mod charted;
mod commands;
mod docs;
mod feed;
mod json_parts;
mod keep;
mod map;
mod narrow;
mod news;
mod noun;
mod read;
mod ready;
mod record;
mod resources;
mod send;
mod shape;
mod sky;
mod state;
mod typed;
mod wording;

pub(crate) use feed::Feeds;
pub use feed::{Fed, Feed};
pub(crate) use news::{changed, whole};
pub(crate) use noun::{Listed, PLACES, UNIVERSES};
pub(crate) use resources::resources;

use crate::Entry;

pub(crate) fn operations() -> Vec<Entry> {
    vec![
        Entry::of::<keep::KeepUniverse>(),
        Entry::of::<state::GetUniverseState>(),
        Entry::of::<commands::ListUniverseCommands>(),
        Entry::of::<send::SendUniverseCommand>(),
        Entry::of::<batch::SendUniverseCommands>(),
        Entry::of::<read::UniverseRead>(),
        Entry::of::<record::ReadRecord>(),
        Entry::of::<map::UniverseMap>(),
        Entry::of::<docs::UniverseDocs>(),
        Entry::of::<docs::UniverseCommandDocs>(),
    ]
}
