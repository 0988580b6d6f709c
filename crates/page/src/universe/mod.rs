//! Universes of a campaign: the list, the map at any moment, the bodies, and forms for the common commands.

mod body_panel;
mod read_universe;
mod send_command;
mod universe_page;

use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use maud::html;
use serde::Deserialize;
use serde_json::json;
use skald_app::Fault;

pub(crate) use send_command::send_command;
pub(crate) use universe_page::{show_universe, universe_events, universe_map};

use crate::SharedContext;
use crate::components::{TextField, empty_state, encode, fault_box, next_page, time};
use crate::extractors::PagePath;
use crate::form::Form;
use crate::layout::{CampaignHead, CampaignPart, PageLayout};
use crate::live_pages::LivePage;
use crate::middleware::{PageError, status};
use crate::visitor::Visitor;

#[derive(Debug, Deserialize)]
struct CreateAnswer {
    universe: CreatedUniverse,
}

#[derive(Debug, Deserialize)]
struct CreatedUniverse {
    id: String,
}

/// `GET /c/{campaign}/sky`.
pub(crate) async fn list_universes(
    State(context): State<SharedContext>,
    visitor: Visitor,
    PagePath(campaign_id): PagePath<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    let query = Form::parse(&query.unwrap_or_default());
    let campaign = context.campaign_head(&visitor, &campaign_id).await?;
    list_page(&context, &visitor, &campaign, query.filled("cursor"), None).await
}

/// `POST /c/{campaign}/sky`: a new universe, with nothing in it yet.
pub(crate) async fn create_universe(
    State(context): State<SharedContext>,
    visitor: Visitor,
    PagePath(campaign_id): PagePath<String>,
    form: Form,
) -> Result<Response, PageError> {
    let campaign = context.campaign_head(&visitor, &campaign_id).await?;
    let input = json!({"method": "create", "name": form.text("name").trim(), "campaignId": campaign.id});
    match context.send::<CreateAnswer>(&visitor.caller, "universe", input).await {
        Ok(made) => Ok(Redirect::to(&universe_path(&campaign, &made.universe.id)).into_response()),
        Err(fault) => list_page(&context, &visitor, &campaign, None, Some((&form, fault))).await,
    }
}

fn universe_path(campaign: &CampaignHead, universe_id: &str) -> String {
    format!("/c/{}/sky/{}", encode(&campaign.id), encode(universe_id))
}

async fn list_page(
    context: &SharedContext,
    visitor: &Visitor,
    campaign: &CampaignHead,
    cursor: Option<&str>,
    refused: Option<(&Form, Fault)>,
) -> Result<Response, PageError> {
    let (universes, next_cursor) = context.universes_of(visitor, &campaign.id, cursor).await?;
    let is_game_master = visitor.is_game_master_of(&campaign.id);
    let fault = refused.as_ref().map(|(_, fault)| fault);
    let layout = PageLayout::for_visitor("Sky", visitor).campaign(campaign, CampaignPart::Sky);
    let layout = layout.script("live-parts.js");
    let mut response = layout.render(html! {
        div.stack data-live-parts=(LivePage::Universes.path(&campaign.id)) {
            header { h1 { "Sky" } p.lead { "Stars, planets and what moves around them, at any moment." } }
            @if let Some(fault) = fault { (fault_box(fault)) }
            div #universes data-live-part {
            @if universes.is_empty() && next_cursor.is_none() {
                (empty_state("No universe here yet", &html! {
                    p { @if is_game_master { "Make one below, or ask your AI to fill a sky." } @else { "The game master has not shown one." } }
                }))
            } @else {
                ul.cards {
                    @for universe in &universes {
                        li.card {
                            h2 { a href=(universe_path(campaign, &universe.id)) dir="auto" { (universe.name) } }
                            @if let Some(at) = &universe.updated_at { p.muted { "changed " (time(at)) } }
                        }
                    }
                }
            }
            (next_page(&format!("/c/{}/sky", encode(&campaign.id)), next_cursor.as_deref()))
            }
            @if is_game_master {
                section.card.narrow-card {
                    h2 { "A new universe" }
                    form method="post" action={ "/c/" (encode(&campaign.id)) "/sky" } {
                        (TextField {
                            name: "name",
                            label: "Name",
                            value: refused.as_ref().map_or("", |(form, _)| form.text("name")),
                            kind: "text",
                            note: None,
                            is_required: true,
                            fault,
                        }.render())
                        button.primary { "Make it" }
                    }
                }
            }
        }
    });
    if let Some(fault) = fault {
        *response.status_mut() = status(fault.class());
    }
    Ok(response)
}
