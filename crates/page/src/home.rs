//! `/`: the campaigns, what is going on in them, how to connect an AI, and the health of the store.

use std::net::IpAddr;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::HOST;
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::json;
use skald_app::Fault;

use crate::components::{card, clock_time, copy_block, count, empty_state, next_page};
use crate::extractors::PageQuery;
use crate::layout::{MainPart, PageLayout};
use crate::middleware::PageError;
use crate::session_cookie::is_https;
use crate::table::{SessionRow, TableSpotlight};
use crate::visitor::Visitor;
use crate::{ClientConnection, ConnectionRequest, PageContext, SharedContext};

/// Campaigns of one page. The active session and the scene of each are read too.
const CAMPAIGNS_SHOWN: u64 = 24;

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

/// What is going on in a campaign: its active session, and the scene.
#[derive(Debug, Default)]
struct CurrentPlay {
    session: Option<SessionRow>,
    scene: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct SceneAnswer {
    #[serde(default)]
    spotlight: TableSpotlight,
}

#[derive(Debug, Default, Deserialize)]
struct SessionAnswer {
    #[serde(default)]
    sessions: Vec<SessionRow>,
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
    PageQuery(HomeQuery { cursor }): PageQuery<HomeQuery>,
    headers: HeaderMap,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let page: CampaignPage = context
        .read(
            &visitor.caller,
            "campaign_read",
            json!({"view": "campaigns", "limit": CAMPAIGNS_SHOWN, "cursor": cursor}),
        )
        .await?;
    let mut rows = Vec::with_capacity(page.campaigns.len());
    for row in page.campaigns {
        let play = context.current_play(&visitor, &row.id).await;
        rows.push((row, play));
    }
    // Where somebody plays right now comes first. The sort is stable, so that the others stay in their order.
    rows.sort_by_key(|(_, play)| play.session.is_none());
    let has_runs = context.has_runs_without_campaign(&visitor).await;
    let has_universes = context.has_universes_without_campaign(&visitor).await;
    let connections = (context.options.connections)(&connection_request(&visitor, &headers));
    let trouble = (context.options.store_trouble)();
    let layout = PageLayout::for_visitor("Home", &visitor).part(MainPart::Home).script("live-parts.js");
    Ok(layout.render(html! {
        div.home data-live-parts="/changes" {
            h1 { "Your tables" }
            @if let Some(trouble) = &trouble {
                p.warning role="alert" { "Nothing can be stored right now: " (trouble) }
            }
            div.stack #campaigns data-live-part {
                (campaigns(&rows))
                (next_page("/", page.next_cursor.as_deref()))
                @if has_runs { p { a href=(MainPart::Runs.path()) { "Runs without a campaign" } } }
                @if has_universes { p { a href=(MainPart::Skies.path()) { "Universes without a campaign" } } }
            }
            (connect(&connections))
            @if trouble.is_none() { p.muted { "The store is well." } }
        }
    }))
}

impl PageContext {
    /// What is going on in a campaign. A campaign that cannot be read right now is shown without it.
    async fn current_play(&self, visitor: &Visitor, campaign_id: &str) -> CurrentPlay {
        let view = |view: &str| json!({"campaign_id": campaign_id, "view": view, "limit": 1});
        let answer: Result<SessionAnswer, Fault> = self.read(&visitor.caller, "campaign_read", view("sessions")).await;
        let newest = answer.unwrap_or_default().sessions.into_iter().next();
        let Some(session) = newest.filter(SessionRow::is_active) else { return CurrentPlay::default() };
        let answer: Result<SceneAnswer, Fault> = self.read(&visitor.caller, "campaign_read", view("campaign")).await;
        CurrentPlay { session: Some(session), scene: answer.unwrap_or_default().spotlight.scene }
    }
}

fn current_play(play: &CurrentPlay) -> Markup {
    html! {
        @if let Some(session) = &play.session {
            p.current-play {
                span.badge.badge-live { "going on" }
                " since " (clock_time(&session.started_at))
                @if !session.name.is_empty() { " · " bdi { (session.name) } }
            }
            @if let Some(scene) = &play.scene { p.current-scene { "Scene: " bdi { (scene) } } }
        }
    }
}

fn campaigns(rows: &[(CampaignRow, CurrentPlay)]) -> Markup {
    html! {
        @if rows.is_empty() {
            (empty_state("No campaign yet", &html! {
                p { "Connect your AI below and ask it to start one, or ask the game master for an invitation." }
            }))
        } @else {
            ul.cards {
                @for (row, play) in rows {
                    li.card {
                        h2 { a href={ "/c/" (row.id) } dir="auto" { (row.name) } }
                        (current_play(play))
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

fn connection_request<'a>(visitor: &Visitor, headers: &'a HeaderMap) -> ConnectionRequest<'a> {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let is_local_owner = visitor.is_owner() && host.is_some_and(is_loopback_host);
    ConnectionRequest { host, is_https: is_https(headers), is_local_owner }
}

/// Whether a `Host` names the machine itself, with or without a port.
fn is_loopback_host(host: &str) -> bool {
    if let Some(address) = host.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
        return address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    }
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
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
                        @if let Some(stdio) = &client.stdio {
                            p { "Or it starts Skald itself:" }
                            (copy_block(stdio))
                        }
                    }
                }
            }))
        }
    }
}
