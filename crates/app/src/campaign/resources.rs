//! MCP resources of the campaign noun: URIs for campaigns and what is in them, with the operations that read them.

use super::set_context::CONTEXT_URI;
use crate::{Resource, Toolset};

pub(super) fn resources() -> Vec<Resource> {
    vec![
        view_resource("campaigns://list", "campaigns", "Campaigns", "All campaigns, the newest first.", "campaigns"),
        view_resource(
            "campaigns://list{?cursor,limit}",
            "campaigns_page",
            "Campaigns, page by page",
            "The same from a next_cursor on, as many as are wanted.",
            "campaigns",
        ),
        view_resource(CONTEXT_URI, "context", "Context", "What set_context said in this conversation.", "context"),
        view_resource("campaign://{campaign_id}", "campaign", "A campaign", "One campaign.", "campaign"),
        view_resource(
            "campaign://{campaign_id}/participants",
            "participants",
            "Participants of a campaign",
            "Who is at the table, the newest first.",
            "participants",
        ),
        view_resource(
            "campaign://{campaign_id}/participants{?cursor,limit}",
            "participants_page",
            "Participants of a campaign, page by page",
            "The same from a next_cursor on, as many as are wanted.",
            "participants",
        ),
        view_resource(
            "campaign://{campaign_id}/actors",
            "actors",
            "Actors of a campaign",
            "Who is in the story, the newest first.",
            "actors",
        ),
        view_resource(
            "campaign://{campaign_id}/actors{?cursor,limit}",
            "actors_page",
            "Actors of a campaign, page by page",
            "The same from a next_cursor on, as many as are wanted.",
            "actors",
        ),
        view_resource(
            "campaign://{campaign_id}/sessions",
            "sessions",
            "Sessions of a campaign",
            "When it was played, the newest first.",
            "sessions",
        ),
        view_resource(
            "campaign://{campaign_id}/sessions{?cursor,limit}",
            "sessions_page",
            "Sessions of a campaign, page by page",
            "The same from a next_cursor on, as many as are wanted.",
            "sessions",
        ),
        Resource {
            uri: "campaign://{campaign_id}/luck.svg",
            name: "luck_picture",
            title: "Luck as a picture",
            summary: "Every roll of each character and player, from unlucky to lucky.",
            toolset: Toolset::Campaign,
            mime_type: "image/svg+xml",
            operation: "luck_picture",
            fixed: None,
            listed: None,
        },
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

const fn view_resource(
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
