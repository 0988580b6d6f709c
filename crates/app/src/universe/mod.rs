//! The universe noun: what is in the sky, what may be done to it, and who is told.

mod change;
mod commands;
mod keep;
mod news;
mod noun;
mod read;
mod send;
mod shape;
mod sky;
mod state;
mod wording;

pub(crate) use news::{Campaigns, changed};
pub(crate) use noun::Listed;

use crate::{Entry, Resource, Toolset};

pub(crate) fn operations() -> Vec<Entry> {
    vec![
        Entry::of::<keep::KeepUniverse>(),
        Entry::of::<state::GetUniverseState>(),
        Entry::of::<commands::ListUniverseCommands>(),
        Entry::of::<send::SendUniverseCommand>(),
        Entry::of::<read::UniverseRead>(),
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
            operation: "universe_read",
            fixed: Some(("view", "universe")),
        },
    ]
}
