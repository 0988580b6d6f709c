//! The lore noun: operations and resources for the people, places and things of a campaign, with their texts.

#![expect(clippy::option_option, reason = "a field of a change is unchanged, cleared or set")]

mod access;
mod archive;
mod article;
mod batch;
mod browse_lore;
mod campaign_overview;
mod canon;
mod canon_findings;
mod canon_hold;
mod canon_view;
mod changed_resources;
mod create;
mod entity_compare;
mod entity_fields;
mod entity_reference;
mod entity_row;
mod entity_search;
mod entity_view;
mod entry_input;
mod export;
mod find;
mod game_systems;
mod get;
mod graph;
mod history;
mod import;
mod import_changes;
mod import_fields;
mod import_merge;
mod import_target;
mod import_texts;
mod kanka_context;
mod line_diff;
mod list_entities;
mod list_tags;
mod lore_privacy;
mod mirror;
mod posts;
mod relationship_rows;
mod relationships;
mod resources;
mod row_page;
mod search;
mod search_cursor;
mod stream;
mod text_condition;
mod texts;
mod timeline;
mod timeline_rows;
mod update;
mod visible_to;
mod write;

pub(crate) use entity_reference::EntityReference;
pub use import::{ImportOptions, ImportReport, UnresolvedLink};
pub(crate) use lore_privacy::{LoreReference, LoreSecret, lore_visibility, read_entity_entry, revealed_lore};
pub use mirror::{
    LinkedLore, NewLink, RemoteAddress, RemoteAlias, RemoteChange, RemoteConnector, RemoteCreated, RemoteDraft,
    RemoteEntity, RemoteFailure, RemoteFailureKind, RemoteFuture, RemoteHead, RemoteKind, RemoteLore, RemotePage,
    RemoteParent, RemotePost, RemotePostChange, RemoteProfile, RemoteTarget, SyncProgress, SyncReport, SyncScope,
    mirror_linked_campaigns, mirrored_tag_name,
};
pub(crate) use mirror::{MirrorMemory, NoRemotes};
pub(crate) use stream::{LoreStream, lore_stream};
pub(crate) use visible_to::unknown_person_fault;

use futures::FutureExt;
use futures::future::BoxFuture;
use skald_journal::{Record, RegisteredKind, SideRowCheck, StoreError};

use crate::noun_registry::{CampaignEffect, RecordAudience};
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
            OperationEntry::from_operation::<canon::Canon>(),
            OperationEntry::from_operation::<kanka_context::KankaContext>(),
            OperationEntry::from_operation::<graph::LoreGraph>(),
            OperationEntry::from_operation::<graph::ReadMentionGraph>(),
            OperationEntry::from_operation::<article::ReadArticle>(),
            OperationEntry::from_operation::<article::PreviewEntry>(),
            OperationEntry::from_operation::<browse_lore::BrowseLore>(),
            OperationEntry::from_operation::<list_entities::ListEntities>(),
            OperationEntry::from_operation::<list_tags::ListTags>(),
            OperationEntry::from_operation::<write::WriteLore>(),
            OperationEntry::from_operation::<mirror::KankaMirror>(),
            OperationEntry::from_operation::<entity_search::EntitySearch>(),
            OperationEntry::from_operation::<relationships::RelationshipsOperation>(),
            OperationEntry::from_operation::<relationships::ReadRelationships>(),
            OperationEntry::from_operation::<timeline::TimelineOperation>(),
            OperationEntry::from_operation::<timeline::ReadTimeline>(),
            OperationEntry::from_operation::<entity_compare::EntityCompare>(),
            OperationEntry::from_operation::<campaign_overview::CampaignOverview>(),
            OperationEntry::from_operation::<game_systems::ReadGameSystem>(),
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
        vec![
            (texts::TEXT_KINDS, SideRowCheck::RemovableRow(texts::check_text_row)),
            (mirror::MIRROR_KINDS, SideRowCheck::NotCovered),
        ]
    }

    fn changed_resources(&self, record: &Record) -> Vec<ResourceChange> {
        changed_resources::changes_of_record(record)
    }

    fn containing_resource(&self, uri: &str) -> Option<String> {
        changed_resources::containing_resource_uri(uri)
    }

    fn record_audience(&self) -> RecordAudience {
        RecordAudience::CampaignOfStreamIdBySecrecy(changed_resources::SECRECY)
    }

    fn wait_for_published_state<'a>(
        &'a self,
        app: &'a App,
        record: &'a Record,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        app.lore.wait_for_revision(&record.stream, record.revision).boxed()
    }

    fn record_appended(&self, _app: &App, _record: &Record) {}

    fn changed_by_campaign(&self, _app: &App, _record: &Record, _campaign_id: &str) -> Vec<CampaignEffect> {
        Vec::new()
    }

    fn secret_fields(&self) -> &'static [&'static str] {
        &[]
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use skald_store::Memory;

    use crate::{App, Caller, Clock, Engine, Entropy, LocalEngine, RequestControl};

    struct SystemClock;

    impl Clock for SystemClock {
        fn now(&self) -> jiff::Timestamp {
            jiff::Timestamp::now()
        }
    }

    struct SameEntropy;

    impl Entropy for SameEntropy {
        fn bytes(&self) -> [u8; 32] {
            [7; 32]
        }
    }

    #[tokio::test]
    async fn a_start_loads_no_lore_before_somebody_asks_for_it() {
        let journal = Arc::new(Memory::new());
        let start = || LocalEngine::new(App::new(Arc::new(SameEntropy), Arc::new(SystemClock), journal.clone()));
        let call = async |engine: &Arc<LocalEngine>, operation: &str, input: serde_json::Value| {
            let done = engine.call(&Caller::owner(), operation, input, &RequestControl::default()).await;
            done.unwrap_or_else(|fault| panic!("{operation}: {fault}"))
        };
        let engine = start();
        call(&engine, "campaign_create", json!({"name": "Bells", "gm_mode": "HUMAN"})).await;
        call(&engine, "create_entities", json!({"entities": [{"entity_type": "item", "name": "Bell"}]})).await;
        drop(engine);
        let engine = start();
        call(&engine, "campaign_read", json!({"view": "campaigns"})).await;
        call(&engine, "campaign_read", json!({})).await;
        assert_eq!(engine.app().lore.open_count(), 0);
        call(&engine, "find_entities", json!({})).await;
        assert_eq!(engine.app().lore.open_count(), 1);
    }
}
