//! The campaign noun: operations, resources and prompts for campaigns, participants, actors, sessions and notes.

mod access;
mod actor_sheet;
mod campaign_answer;
mod campaign_summary;
mod changed_resources;
mod create;
mod find_roll;
mod game_master_prompt;
mod list_events;
mod list_numbered;
mod luck;
mod note_documents;
mod numbers;
mod people_names;
mod prompts;
mod quota;
mod read;
mod record_group_roll;
mod record_roll;
mod recorded_events;
mod redact_events;
mod resolve_name;
mod resources;
mod search_notes;
mod session;
mod session_note;
mod set_context;
mod several_items;
mod stream;
mod tracker;
mod tracker_lines;
mod update;
mod visibility_operation;
mod visible_to;

pub(crate) use access::EnteredCampaign;
pub(crate) use campaign_answer::CampaignAnswer;
pub(crate) use campaign_summary::CampaignSummary;
pub(crate) use changed_resources::timeline_uri;
pub(crate) use numbers::CampaignNumberCache;
pub(crate) use record_group_roll::{ActorRollDetails, RecordedGroupRoll};
pub(crate) use record_roll::{RecordedRollAnswer, RollDetails, RollOdds, RollPlace};
pub(crate) use recorded_events::RecordedEvent;
pub(crate) use resolve_name::is_same_name;
pub(crate) use set_context::{CONTEXT_URI, SessionContexts};
pub use stream::CampaignStream;
pub(crate) use stream::{PARTICIPANTS, campaign_stream};

use futures::FutureExt;
use futures::future::BoxFuture;
use skald_journal::{Record, RegisteredKind, SideRowCheck, StoreError};

use crate::noun_registry::{CampaignEffect, RecordAudience};
use crate::{App, FaultField, Noun, OperationEntry, PromptEntry, Resource, ResourceChange, Toolset};

/// The campaign part of the MCP server instructions.
const INSTRUCTIONS: &str = "To play: campaign_create, participant_create, actor_create, session_start: from then on every roll is recorded; \
        session_note what matters, session_end, session_recap. Names stand for ids. campaign_read and events_list tell what \
        is there; set_context changes the campaign, which a left out campaign_id is.";

/// Campaigns, with their participants, actors and sessions.
pub(crate) struct CampaignNoun;

impl Noun for CampaignNoun {
    fn operations(&self) -> Vec<OperationEntry> {
        vec![
            OperationEntry::from_operation::<create::CampaignCreate>(),
            OperationEntry::from_operation::<create::ParticipantCreate>(),
            OperationEntry::from_operation::<create::ActorCreate>(),
            OperationEntry::from_operation::<create::ActorControlSet>(),
            OperationEntry::from_operation::<tracker::TrackerOperation>(),
            OperationEntry::from_operation::<session::SessionStart>(),
            OperationEntry::from_operation::<set_context::SetContext>(),
            OperationEntry::from_operation::<session_note::SessionNote>(),
            OperationEntry::from_operation::<session::SessionRecap>(),
            OperationEntry::from_operation::<luck::LuckOperation>(),
            OperationEntry::from_operation::<luck::LuckPicture>(),
            OperationEntry::from_operation::<list_numbered::ListNumberedCampaigns>(),
            OperationEntry::from_operation::<session::SessionEnd>(),
            OperationEntry::from_operation::<read::CampaignRead>(),
            OperationEntry::from_operation::<list_events::EventsList>(),
            OperationEntry::from_operation::<update::CampaignUpdate>(),
            OperationEntry::from_operation::<update::ParticipantUpdate>(),
            OperationEntry::from_operation::<update::ActorUpdate>(),
            OperationEntry::from_operation::<visibility_operation::VisibilityOperation>(),
        ]
    }

    fn resources(&self) -> Vec<Resource> {
        resources::resources()
    }

    fn prompts(&self) -> Vec<PromptEntry> {
        vec![
            PromptEntry::from_prompt::<prompts::StartCampaign>(),
            PromptEntry::from_prompt::<prompts::PrepareSession>(),
            PromptEntry::from_prompt::<prompts::RunScene>(),
            PromptEntry::from_prompt::<prompts::WriteRecap>(),
            PromptEntry::from_prompt::<game_master_prompt::GameMaster>(),
        ]
    }

    fn instructions(&self) -> Option<(Toolset, &'static str)> {
        Some((Toolset::Campaign, INSTRUCTIONS))
    }

    fn fault_fields(&self) -> &'static [FaultField] {
        &[]
    }

    fn stream_kind(&self) -> Option<RegisteredKind> {
        Some(RegisteredKind::new::<CampaignStream>())
    }

    fn side_rows(&self) -> Vec<(&'static str, SideRowCheck)> {
        // Contexts are not derived from the journal, so `verify` does not check them.
        vec![(set_context::CONTEXT_KIND, SideRowCheck::NotCovered)]
    }

    fn changed_resources(&self, record: &Record) -> Vec<ResourceChange> {
        changed_resources::changes_of_record(record)
    }

    fn containing_resource(&self, _uri: &str) -> Option<String> {
        None
    }

    fn record_audience(&self) -> RecordAudience {
        RecordAudience::CampaignOfStreamIdBySecrecy(changed_resources::SECRECY)
    }

    fn wait_for_published_state<'a>(
        &'a self,
        app: &'a App,
        record: &'a Record,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        app.campaigns.wait_for_revision(&record.stream, record.revision).boxed()
    }

    fn record_appended(&self, _app: &App, _record: &Record) {}

    fn changed_by_campaign(&self, _app: &App, _record: &Record, _campaign_id: &str) -> Vec<CampaignEffect> {
        Vec::new()
    }

    fn secret_fields(&self) -> &'static [&'static str] {
        &[]
    }
}
