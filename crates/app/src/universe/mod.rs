//! The universe noun: operations, resources, documentation and feed of universes.

mod access;
mod answer_schemas;
mod changed_ids;
mod changed_resources;
mod complete_body_ids;
mod docs;
mod fault_fields;
mod feed;
mod get_state;
mod incremental_json;
mod list_commands;
mod manage;
mod map;
mod map_scene;
mod nearest_id;
mod parse_command_or_state;
mod quota;
mod read;
mod read_record;
mod recorded_time;
mod removed_answer;
mod render_cache;
mod resources;
mod rest;
mod send_command;
mod send_commands;
mod stream;
mod subscribe_events;
mod views;

pub(crate) use feed::Feeds;
pub use feed::{Feed, FeedEvent, FeedEvents, FeedItem};
pub use stream::UniverseStream;
pub(crate) use stream::{ListedUniverse, UNIVERSE_CAMPAIGNS};

use futures::FutureExt;
use futures::future::BoxFuture;
use skald_journal::{Record, RegisteredKind, SideRowCheck, StoreError};

use crate::noun_registry::{CampaignEffect, RecordAudience};
use crate::{App, FaultField, Noun, OperationEntry, PromptEntry, Resource, ResourceChange, Toolset};

/// The instructions for models.
const INSTRUCTIONS: &str = "For stars and planets: universes://list has the universes, send_universe_command changes one, \
        list_universe_commands says how, get_universe_state tells all of it or a part; docs://universe/overview has the \
        rules.";

/// Universes: stars, planets and other celestial bodies.
pub(crate) struct UniverseNoun;

impl Noun for UniverseNoun {
    fn operations(&self) -> Vec<OperationEntry> {
        vec![
            OperationEntry::from_operation::<manage::ManageUniverse>(),
            OperationEntry::from_operation::<get_state::GetUniverseState>(),
            OperationEntry::from_operation::<list_commands::ListUniverseCommands>(),
            OperationEntry::from_operation::<send_command::SendUniverseCommand>(),
            OperationEntry::from_operation::<send_commands::SendUniverseCommands>(),
            OperationEntry::from_operation::<read::UniverseRead>(),
            OperationEntry::from_operation::<read_record::ReadRecord>(),
            OperationEntry::from_operation::<rest::ListUniverses>(),
            OperationEntry::from_operation::<rest::CreateUniverse>(),
            OperationEntry::from_operation::<rest::ReplaceUniverse>(),
            OperationEntry::from_operation::<rest::DeleteUniverse>(),
            OperationEntry::from_operation::<subscribe_events::UniverseEvents>(),
            OperationEntry::from_operation::<map::UniverseMap>(),
            OperationEntry::from_operation::<docs::UniverseDocs>(),
            OperationEntry::from_operation::<docs::UniverseCommandDocs>(),
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

    fn fault_fields(&self) -> &'static [FaultField] {
        fault_fields::FIELDS
    }

    fn stream_kind(&self) -> Option<RegisteredKind> {
        Some(RegisteredKind::new::<UniverseStream>())
    }

    fn side_rows(&self) -> Vec<(&'static str, SideRowCheck)> {
        Vec::new()
    }

    fn changed_resources(&self, record: &Record) -> Vec<ResourceChange> {
        changed_resources::record_changes(record)
    }

    fn containing_resource(&self, uri: &str) -> Option<String> {
        changed_resources::containing_universe_uri(uri)
    }

    fn record_audience(&self) -> RecordAudience {
        RecordAudience::CampaignInDocument(UNIVERSE_CAMPAIGNS)
    }

    fn wait_for_published_state<'a>(
        &'a self,
        app: &'a App,
        record: &'a Record,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        app.universes.wait_for_revision(&record.stream, record.revision).boxed()
    }

    fn record_appended(&self, app: &App, record: &Record) {
        app.feeds.wake(record);
    }

    fn changed_by_campaign(&self, _app: &App, _record: &Record, _campaign_id: &str) -> Vec<CampaignEffect> {
        Vec::new()
    }

    fn secret_fields(&self) -> &'static [&'static str] {
        &[]
    }
}
