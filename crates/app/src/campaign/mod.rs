//! The campaign noun: who plays, what they play, when, and what happened.

mod context;
mod create;
mod events;
mod news;
mod noun;
mod prompts;
mod read;
mod rolls;
mod session;
mod table;
mod update;

pub(crate) use context::{CONTEXT, Contexts, KIND as CONTEXTS};
pub(crate) use events::LoggedEvent;
pub(crate) use news::changed;
pub(crate) use noun::{CAMPAIGNS, stream};
pub(crate) use rolls::{Recorded, RollNote, RollPlace};

use crate::{Entry, PromptEntry, Resource, Toolset};

pub(crate) fn operations() -> Vec<Entry> {
    vec![
        Entry::of::<create::CampaignCreate>(),
        Entry::of::<create::ParticipantCreate>(),
        Entry::of::<create::ActorCreate>(),
        Entry::of::<create::ActorControlSet>(),
        Entry::of::<session::SessionStart>(),
        Entry::of::<context::SetContext>(),
        Entry::of::<session::SessionNote>(),
        Entry::of::<session::SessionRecap>(),
        Entry::of::<session::SessionEnd>(),
        Entry::of::<read::CampaignRead>(),
        Entry::of::<events::EventsList>(),
        Entry::of::<update::CampaignUpdate>(),
        Entry::of::<update::ParticipantUpdate>(),
        Entry::of::<update::ActorUpdate>(),
    ]
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

pub(crate) fn resources() -> Vec<Resource> {
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

pub(crate) fn prompts() -> Vec<PromptEntry> {
    vec![
        PromptEntry::of::<prompts::StartCampaign>(),
        PromptEntry::of::<prompts::PrepareSession>(),
        PromptEntry::of::<prompts::RunScene>(),
        PromptEntry::of::<prompts::WriteRecap>(),
    ]
}
