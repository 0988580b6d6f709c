//! The campaign noun: operations, resources and prompts for campaigns, participants, actors, sessions and notes.

mod access;
mod changed_resources;
mod context;
mod create;
mod events;
mod prompts;
mod read;
mod record_roll;
mod session;
mod stream;
mod update;

pub(crate) use context::{CONTEXT, Contexts};
pub(crate) use events::LoggedEvent;
pub(crate) use record_roll::{Recorded, RollNote, RollPlace};
pub use stream::CampaignStream;
pub(crate) use stream::{CAMPAIGNS, stream};

use skald_journal::{Record, RegisteredKind, SideRowCheck};

use crate::noun::RecordAudience;
use crate::{App, FaultField, Noun, OperationEntry, PromptEntry, Resource, ResourceChange, Toolset};

/// The campaign part of the MCP server instructions.
const INSTRUCTIONS: &str = "To play: campaign_create, participant_create, actor_create, session_start, then set_context with the session, so \
        that every roll is recorded; session_note what matters, session_end, session_recap. campaign_read and events_list \
        tell what is there.";

/// Campaigns, with their participants, actors and sessions.
pub(crate) struct CampaignNoun;

impl Noun for CampaignNoun {
    fn operations(&self) -> Vec<OperationEntry> {
        vec![
            OperationEntry::of::<create::CampaignCreate>(),
            OperationEntry::of::<create::ParticipantCreate>(),
            OperationEntry::of::<create::ActorCreate>(),
            OperationEntry::of::<create::ActorControlSet>(),
            OperationEntry::of::<session::SessionStart>(),
            OperationEntry::of::<context::SetContext>(),
            OperationEntry::of::<session::SessionNote>(),
            OperationEntry::of::<session::SessionRecap>(),
            OperationEntry::of::<session::SessionEnd>(),
            OperationEntry::of::<read::CampaignRead>(),
            OperationEntry::of::<events::EventsList>(),
            OperationEntry::of::<update::CampaignUpdate>(),
            OperationEntry::of::<update::ParticipantUpdate>(),
            OperationEntry::of::<update::ActorUpdate>(),
        ]
    }

    fn resources(&self) -> Vec<Resource> {
        vec![
            resource("campaigns://list", "campaigns", "Campaigns", "All campaigns, the newest first.", "campaigns"),
            resource(
                "campaigns://list{?cursor,limit}",
                "campaigns_page",
                "Campaigns, page by page",
                "The same from a next_cursor on, as many as are wanted.",
                "campaigns",
            ),
            resource(CONTEXT, "context", "Context", "What set_context said in this conversation.", "context"),
            resource("campaign://{campaign_id}", "campaign", "A campaign", "One campaign.", "campaign"),
            resource(
                "campaign://{campaign_id}/participants",
                "participants",
                "Participants of a campaign",
                "Who is at the table, the newest first.",
                "participants",
            ),
            resource(
                "campaign://{campaign_id}/participants{?cursor,limit}",
                "participants_page",
                "Participants of a campaign, page by page",
                "The same from a next_cursor on, as many as are wanted.",
                "participants",
            ),
            resource(
                "campaign://{campaign_id}/actors",
                "actors",
                "Actors of a campaign",
                "Who is in the story, the newest first.",
                "actors",
            ),
            resource(
                "campaign://{campaign_id}/actors{?cursor,limit}",
                "actors_page",
                "Actors of a campaign, page by page",
                "The same from a next_cursor on, as many as are wanted.",
                "actors",
            ),
            resource(
                "campaign://{campaign_id}/sessions",
                "sessions",
                "Sessions of a campaign",
                "When it was played, the newest first.",
                "sessions",
            ),
            resource(
                "campaign://{campaign_id}/sessions{?cursor,limit}",
                "sessions_page",
                "Sessions of a campaign, page by page",
                "The same from a next_cursor on, as many as are wanted.",
                "sessions",
            ),
            Resource {
                uri: "campaign://{campaign_id}/events{?cursor,limit}",
                name: "events",
                title: "Events of a campaign",
                summary: "What happened, the newest first.",
                toolset: Toolset::Campaign,
                mime_type: "application/json",
                operation: "events_list",
                fixed: None,
                listed: None,
            },
        ]
    }

    fn prompts(&self) -> Vec<PromptEntry> {
        vec![
            PromptEntry::of::<prompts::StartCampaign>(),
            PromptEntry::of::<prompts::PrepareSession>(),
            PromptEntry::of::<prompts::RunScene>(),
            PromptEntry::of::<prompts::WriteRecap>(),
        ]
    }

    fn instructions(&self) -> Option<(Toolset, &'static str)> {
        Some((Toolset::Campaign, INSTRUCTIONS))
    }

    fn fault_fields(&self) -> &'static [FaultField] {
        &[]
    }

    fn stream_kind(&self) -> Option<RegisteredKind> {
        Some(RegisteredKind::of::<CampaignStream>())
    }

    fn side_rows(&self) -> Vec<(&'static str, SideRowCheck)> {
        // Contexts are not derived from the journal, so `verify` does not check them.
        vec![(context::KIND, SideRowCheck::NotCovered)]
    }

    fn changed_resources(&self, record: &Record) -> Vec<ResourceChange> {
        changed_resources::changed(record)
    }

    fn containing_resource(&self, _uri: &str) -> Option<String> {
        None
    }

    fn record_audience(&self) -> RecordAudience {
        RecordAudience::CampaignOfStreamId
    }

    fn record_appended(&self, _app: &App, _record: &Record) {}

    fn changed_by_campaign(&self, _app: &App, _record: &Record, _campaign_id: &str) -> Vec<ResourceChange> {
        Vec::new()
    }

    fn secret_fields(&self) -> &'static [&'static str] {
        &[]
    }
}

const fn resource(
    uri: &'static str,
    name: &'static str,
    title: &'static str,
    summary: &'static str,
    view: &'static str,
) -> Resource {
    Resource {
        uri,
        name,
        title,
        summary,
        toolset: Toolset::Campaign,
        mime_type: "application/json",
        operation: "campaign_read",
        fixed: Some(("view", view)),
        listed: None,
    }
}
