//! `/`: the campaigns, what is going on in them, how to connect an AI, and the health of the store.

use axum::extract::{Query, State};
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::json;

use crate::components::{card, copy_block, count, empty_state, next_page};
use crate::layout::{MainPart, PageLayout};
use crate::middleware::PageError;
use crate::visitor::Visitor;
use crate::{ClientConnection, SharedContext};

#[derive(Debug, Deserialize)]
struct CampaignRow {
    id: String,
    name: String,
    #[serde(default)]
    theme_prompt: String,
    status: String,
    actor_count: u64,
    participant_count: u64,
}

#[derive(Debug, Deserialize)]
struct CampaignPage {
    #[serde(default)]
    campaigns: Vec<CampaignRow>,
    next_cursor: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct HomeQuery {
    cursor: Option<String>,
}

/// `GET /`.
pub(crate) async fn show(
    State(context): State<SharedContext>,
    Query(HomeQuery { cursor }): Query<HomeQuery>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let page: CampaignPage = context
        .read(&visitor.caller, "campaign_read", json!({"view": "campaigns", "limit": 60, "cursor": cursor}))
        .await?;
    let trouble = (context.options.store_trouble)();
    let layout = PageLayout::for_visitor("Home", &visitor).part(MainPart::Home);
    Ok(layout.render(html! {
        div.home {
            h1 { "Your tables" }
            @if let Some(trouble) = &trouble {
                p.warning role="alert" { "Nothing can be stored right now: " (trouble) }
            }
            (campaigns(&page.campaigns))
            (next_page("/", page.next_cursor.as_deref()))
            (connect(&context.options.connections))
            @if trouble.is_none() { p.muted { "The store is well." } }
        }
    }))
}

fn campaigns(rows: &[CampaignRow]) -> Markup {
    html! {
        @if rows.is_empty() {
            (empty_state("No campaign yet", &html! {
                p { "Connect your AI below and ask it to start one, or ask the game master for an invitation." }
            }))
        } @else {
            ul.cards {
                @for row in rows {
                    li.card {
                        h2 { a href={ "/c/" (row.id) } dir="auto" { (row.name) } }
                        @if !row.theme_prompt.is_empty() { p.theme-prompt dir="auto" { (row.theme_prompt) } }
                        p.muted {
                            (row.status.to_lowercase()) " · " (count(row.actor_count, "character", "characters"))
                            " · " (count(row.participant_count, "person", "people"))
                        }
                    }
                }
            }
        }
    }
}

fn connect(connections: &[ClientConnection]) -> Markup {
    html! {
        @if !connections.is_empty() {
            (card("Connect your AI", &html! {
                p { "Any program that speaks MCP can keep this world. Choose yours and copy what it needs." }
                @for (at, client) in connections.iter().enumerate() {
                    details.client name="client" open[at == 0] {
                        summary { (client.name) }
                        @for command in &client.commands { (copy_block(command)) }
                        p.muted { (client.file) }
                        p { "It connects to this server:" }
                        (copy_block(&client.http))
                        p { "Or it starts Skald itself:" }
                        (copy_block(&client.stdio))
                    }
                }
            }))
        }
    }
}
