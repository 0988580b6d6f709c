//! `/`: the campaigns, what is going on in them, a form for a new one, how to connect an AI, and the health of the store.

use std::net::IpAddr;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::HOST;
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::json;
use skald_app::{CampaignRole, Fault};

use crate::components::{
    TextField, card, clock_time, copy_block, count, described_by, empty_state, fault_box, field_fault, invalid,
    next_page,
};
use crate::extractors::PageQuery;
use crate::form::Form;
use crate::layout::{MainPart, PageLayout};
use crate::middleware::{PageError, status};
use crate::session_cookie::is_https;
use crate::table::{SessionRow, TableSpotlight};
use crate::visitor::Visitor;
use crate::{ClientConnection, ConnectionRequest, PageContext, SharedContext};

/// Campaigns of one page. The active session and the scene of each are read too.
const CAMPAIGNS_SHOWN: u64 = 24;
const CREATE: &str = "campaign_create";
/// Who may run a game: the word of the operation, and what people read.
const GM_MODES: [(&str, &str); 3] = [("HUMAN", "you"), ("AI", "an AI"), ("HYBRID", "both, you and an AI")];

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
struct NewCampaignAnswer {
    id: String,
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
    home_page(&context, &visitor, &headers, cursor.as_deref(), None).await
}

/// `POST /`: a new campaign, with nobody in it yet.
pub(crate) async fn create_campaign(
    State(context): State<SharedContext>,
    headers: HeaderMap,
    visitor: Visitor,
    form: Form,
) -> Result<Response, PageError> {
    let [name, gm_mode, theme_prompt] = ["name", "gm_mode", "theme_prompt"].map(|field| form.text(field).trim());
    let input = json!({"name": name, "gm_mode": gm_mode, "theme_prompt": theme_prompt});
    match context.send::<NewCampaignAnswer>(&visitor.caller, CREATE, input).await {
        Ok(created) => Ok(Redirect::to(&format!("/c/{}", created.id)).into_response()),
        Err(fault) => home_page(&context, &visitor, &headers, None, Some((&form, fault))).await,
    }
}

async fn home_page(
    context: &SharedContext,
    visitor: &Visitor,
    headers: &HeaderMap,
    cursor: Option<&str>,
    refused: Option<(&Form, Fault)>,
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
        let play = context.current_play(visitor, &row.id).await;
        rows.push((row, play));
    }
    // Where somebody plays right now comes first. The sort is stable, so that the others stay in their order.
    rows.sort_by_key(|(_, play)| play.session.is_none());
    let has_runs = context.has_runs_without_campaign(visitor).await;
    let has_universes = context.has_universes_without_campaign(visitor).await;
    let connections = (context.options.connections)(&connection_request(visitor, headers));
    let trouble = (context.options.store_trouble)();
    let may_create = context.offers(CREATE) && visitor.caller.has_role_anywhere(CampaignRole::Gm);
    let is_first = may_create && rows.is_empty();
    let fault = refused.as_ref().map(|(_, fault)| fault);
    let layout = PageLayout::for_visitor("Home", visitor).part(MainPart::Home).script("live-parts.js");
    let mut response = layout.render(html! {
        div.home data-live-parts="/changes" {
            h1 { "Your tables" }
            @if let Some(trouble) = &trouble {
                p.warning role="alert" { "Nothing can be stored right now: " (trouble) }
            }
            @if let Some(fault) = fault { (fault_box(fault)) }
            @if is_first { (new_campaign(true, refused.as_ref())) }
            div.stack #campaigns data-live-part {
                (campaigns(&rows, may_create))
                (next_page("/", page.next_cursor.as_deref()))
                @if has_runs { p { a href=(MainPart::Runs.path()) { "Runs without a campaign" } } }
                @if has_universes { p { a href=(MainPart::Skies.path()) { "Universes without a campaign" } } }
            }
            @if may_create && !is_first { (new_campaign(refused.is_some(), refused.as_ref())) }
            (connect(&connections))
            @if trouble.is_none() { p.muted { "The store is well." } }
        }
    });
    if let Some(fault) = fault {
        *response.status_mut() = status(fault.class());
    }
    Ok(response)
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

/// The form for a new campaign. It is no live part, so that a change elsewhere leaves what is typed in it.
fn new_campaign(is_open: bool, refused: Option<&(&Form, Fault)>) -> Markup {
    let typed_text = |field: &str| refused.map_or("", |(form, _)| form.text(field));
    let fault = refused.map(|(_, fault)| fault);
    html! {
        details.card #new-campaign open[is_open] {
            summary { "New campaign" }
            form.stack method="post" action="/" {
                (TextField {
                    name: "name",
                    label: "Name",
                    value: typed_text("name"),
                    kind: "text",
                    note: None,
                    is_required: true,
                    fault,
                }.render())
                div.field {
                    label for="gm_mode" { "Who runs the game" }
                    select #gm_mode name="gm_mode" aria-describedby=[described_by(None, fault, "gm_mode")]
                        aria-invalid=[invalid(fault, "gm_mode")] {
                        @for (word, shown) in GM_MODES {
                            option value=(word) selected[word == typed_text("gm_mode")] { (shown) }
                        }
                    }
                    (field_fault(fault, "gm_mode"))
                }
                (TextField {
                    name: "theme_prompt",
                    label: "What it is about",
                    value: typed_text("theme_prompt"),
                    kind: "textarea",
                    note: Some("You may leave it empty. Everybody in the campaign reads it."),
                    is_required: false,
                    fault,
                }.render())
                div { button.primary { "Create it" } }
            }
        }
    }
}

fn campaigns(rows: &[(CampaignRow, CurrentPlay)], may_create: bool) -> Markup {
    html! {
        @if rows.is_empty() {
            (empty_state("No campaign yet", &html! {
                p {
                    @if may_create { "Create one here, or connect your AI below and ask it to start one." }
                    @else { "Ask the game master for an invitation." }
                }
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
