//! The universe noun: what is in the sky, what may be done to it, and who is told.

mod batch;
mod change;
mod charted;
mod commands;
mod docs;
mod events;
mod feed;
mod json_parts;
mod keep;
mod map;
mod narrow;
mod news;
mod read;
mod ready;
mod record;
mod resources;
mod rest;
mod send;
mod shape;
mod sky;
mod state;
mod stream;
mod typed;
mod wording;

pub(crate) use feed::Feeds;
pub use feed::{Fed, FedEvent, FedEvents, Feed};
pub use stream::UniverseStream;
pub(crate) use stream::{Listed, PLACES, UNIVERSES};

use skald_journal::{Record, RegisteredKind, SideRowCheck};

use crate::noun::RecordAudience;
use crate::{App, Change, Entry, Noun, PromptEntry, Resource, Toolset};

/// What a model should know before it begins.
const INSTRUCTIONS: &str = "For stars and planets: universes://list has the universes, send_universe_command changes one, \
        list_universe_commands says how, get_universe_state tells all of it or a part; docs://universe/overview has the \
        rules.";

/// Universes: stars, planets and what else is in the sky.
pub(crate) struct UniverseNoun;

impl Noun for UniverseNoun {
    fn operations(&self) -> Vec<Entry> {
        vec![
            Entry::of::<keep::KeepUniverse>(),
            Entry::of::<state::GetUniverseState>(),
            Entry::of::<commands::ListUniverseCommands>(),
            Entry::of::<send::SendUniverseCommand>(),
            Entry::of::<batch::SendUniverseCommands>(),
            Entry::of::<read::UniverseRead>(),
            Entry::of::<record::ReadRecord>(),
            Entry::of::<rest::ListUniverses>(),
            Entry::of::<rest::CreateUniverse>(),
            Entry::of::<rest::ReplaceUniverse>(),
            Entry::of::<rest::DeleteUniverse>(),
            Entry::of::<events::UniverseEvents>(),
            Entry::of::<map::UniverseMap>(),
            Entry::of::<docs::UniverseDocs>(),
            Entry::of::<docs::UniverseCommandDocs>(),
        ]
    }

    fn resources(&self) -> Vec<Resource> {
        resources::resources()
    }

    fn prompts(&self) -> Vec<PromptEntry> {
        Vec::new()
    }

    fn instructions(&self) -> Option<(Toolset, &'static str)> {
        Some((Toolset::Universe, INSTRUCTIONS))
    }

    fn stream_kind(&self) -> Option<RegisteredKind> {
        Some(RegisteredKind::of::<UniverseStream>())
    }

    fn side_rows(&self) -> Vec<(&'static str, SideRowCheck)> {
        Vec::new()
    }

    fn changed_resources(&self, record: &Record) -> Vec<Change> {
        news::changed(record)
    }

    fn containing_resource(&self, uri: &str) -> Option<String> {
        news::whole(uri)
    }

    fn record_audience(&self) -> RecordAudience {
        RecordAudience::CampaignInDocument(PLACES)
    }

    fn record_appended(&self, app: &App, record: &Record) {
        app.feeds.hear(record);
    }

    fn changed_by_campaign(&self, _app: &App, _record: &Record, _campaign_id: &str) -> Vec<Change> {
        Vec::new()
    }

    fn secret_fields(&self) -> &'static [&'static str] {
        &[]
    }
}
