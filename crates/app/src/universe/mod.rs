//! The universe noun: what is in the sky, what may be done to it, and who is told.

mod batch;
mod change;
mod commands;
mod feed;
mod keep;
mod news;
mod noun;
mod read;
mod ready;
mod record;
mod send;
mod shape;
mod sky;
mod state;
mod wording;

pub(crate) use feed::Feeds;
pub use feed::{Fed, Feed};
pub(crate) use news::{Campaigns, changed};
pub(crate) use noun::Listed;

use crate::{Entry, Resource, Toolset};

pub(crate) fn operations() -> Vec<Entry> {
    vec![
        Entry::of::<keep::KeepUniverse>(),
        Entry::of::<state::GetUniverseState>(),
        Entry::of::<commands::ListUniverseCommands>(),
        Entry::of::<send::SendUniverseCommand>(),
        Entry::of::<batch::SendUniverseCommands>(),
        Entry::of::<read::UniverseRead>(),
        Entry::of::<record::ReadRecord>(),
    ]
}

pub(crate) fn resources() -> Vec<Resource> {
    vec![
        Resource {
            uri: news::LIST,
            name: "universes",
            title: "Universes",
            summary: "All universes without what they hold, the newest first.",
            toolset: Toolset::Universe,
            mime_type: "application/json",
            operation: "universe_read",
            fixed: Some(("view", "universes")),
        },
        Resource {
            uri: "universe://{universeId}",
            name: "universe",
            title: "A universe",
            summary: "One universe with its name, its revision and all that it holds.",
            toolset: Toolset::Universe,
            mime_type: "application/json",
            operation: "universe_record",
            fixed: None,
        },
    ]
}
