//! The lore noun: operations and resources for the people, places and things of a campaign, with their texts.

#![expect(clippy::option_option, reason = "a field of a change is unchanged, cleared or set")]

mod access;
mod batch;
mod changed_resources;
mod create;
mod entity_fields;
mod entity_reference;
mod entity_view;
mod entry_input;
mod export;
mod find;
mod get;
mod graph;
mod history;
mod import;
mod import_fields;
mod import_target;
mod import_texts;
mod kanka_context;
mod line_diff;
mod posts;
mod resources;
mod search;
mod stream;
mod texts;
mod update;

pub use import::{ImportReport, UnresolvedLink};
pub(crate) use stream::{LoreStream, lore_stream};

use skald_journal::{Record, RegisteredKind, SideRowCheck};

use crate::noun_registry::RecordAudience;
use crate::{App, FaultField, Noun, OperationEntry, PromptEntry, Resource, ResourceChange, Toolset};

/// The lore part of the MCP server instructions.
const INSTRUCTIONS: &str = "The world: find_entities before you invent, create_entities for who and what is new, update_entities with \
        entry_append for what changed, [[Name]] to link, is_private for secrets. kanka://context explains the fields.";

/// The lore of a campaign: entities, posts, tags and mentions.
pub(crate) struct LoreNoun;

impl Noun for LoreNoun {
    fn operations(&self) -> Vec<OperationEntry> {
        vec![
            OperationEntry::from_operation::<find::FindEntities>(),
            OperationEntry::from_operation::<create::CreateEntities>(),
            OperationEntry::from_operation::<update::UpdateEntities>(),
            OperationEntry::from_operation::<get::GetEntities>(),
            OperationEntry::from_operation::<get::ReadEntity>(),
            OperationEntry::from_operation::<update::DeleteEntities>(),
            OperationEntry::from_operation::<posts::CreatePosts>(),
            OperationEntry::from_operation::<posts::UpdatePosts>(),
            OperationEntry::from_operation::<posts::DeletePosts>(),
            OperationEntry::from_operation::<get::CheckEntityUpdates>(),
            OperationEntry::from_operation::<history::LoreHistory>(),
            OperationEntry::from_operation::<kanka_context::KankaContext>(),
            OperationEntry::from_operation::<graph::LoreGraph>(),
        ]
    }

    fn resources(&self) -> Vec<Resource> {
        resources::resources()
    }

    fn prompts(&self) -> Vec<PromptEntry> {
        Vec::new()
    }

    fn instructions(&self) -> Option<(Toolset, &'static str)> {
        Some((Toolset::Lore, INSTRUCTIONS))
    }

    fn fault_fields(&self) -> &'static [FaultField] {
        &[]
    }

    fn stream_kind(&self) -> Option<RegisteredKind> {
        Some(RegisteredKind::new::<LoreStream>())
    }

    fn side_rows(&self) -> Vec<(&'static str, SideRowCheck)> {
        vec![(texts::TEXT_KINDS, SideRowCheck::RemovableRow(texts::check_text_row))]
    }

    fn changed_resources(&self, record: &Record) -> Vec<ResourceChange> {
        changed_resources::changes_of_record(record)
    }

    fn containing_resource(&self, uri: &str) -> Option<String> {
        changed_resources::containing_list_uri(uri)
    }

    fn record_audience(&self) -> RecordAudience {
        RecordAudience::CampaignOfStreamIdByPrivacy(changed_resources::is_private_record)
    }

    fn record_appended(&self, _app: &App, _record: &Record) {}

    fn changed_by_campaign(&self, _app: &App, _record: &Record, _campaign_id: &str) -> Vec<ResourceChange> {
        Vec::new()
    }

    fn secret_fields(&self) -> &'static [&'static str] {
        &[]
    }
}
