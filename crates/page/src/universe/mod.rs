//! Universes of a campaign, and those without one: the list, the map at any moment, the bodies, and forms for the common
//! commands.

mod body_panel;
mod read_universe;
mod send_command;
mod universe_page;

use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use maud::html;
use serde::Deserialize;
use serde_json::json;
use skald_app::{EVERY_CAMPAIGN, Fault, limits};

pub(crate) use send_command::send_command;
pub(crate) use universe_page::{show_universe, universe_events, universe_map};

use crate::campaign_place::CampaignPlace;
use crate::components::{TextField, empty_state, fault_box, next_page, time};
use crate::extractors::PagePath;
use crate::form::Form;
use crate::layout::{CampaignPart, MainPart};
use crate::live_pages::{LivePage, SKIES_STREAM};
use crate::middleware::{PageError, status};
use crate::visitor::Visitor;
use crate::{PageContext, SharedContext};

#[derive(Debug, Deserialize)]
struct CreateAnswer {
    universe: CreatedUniverse,
}

#[derive(Debug, Deserialize)]
struct CreatedUniverse {
    id: String,
}

/// The address of a universe.
#[derive(Debug, Deserialize)]
pub(crate) struct UniverseAddress {
    campaign: Option<String>,
    universe: String,
}

impl PageContext {
    /// Where the universes of a campaign are, or those without one.
    async fn place_of_universe(&self, visitor: &Visitor, campaign_id: Option<&str>) -> Result<CampaignPlace, Fault> {
        self.campaign_place(visitor, campaign_id, CampaignPart::Sky, MainPart::Skies).await
    }

    /// Whether there are universes without a campaign that the visitor sees.
    pub(crate) async fn has_universes_without_campaign(&self, visitor: &Visitor) -> bool {
        // To all others the engine would show nothing.
        if visitor.caller.role_in(EVERY_CAMPAIGN).is_none() {
            return false;
        }
        let found = self.universes_of(visitor, None, 1, None).await;
        found.is_ok_and(|(universes, _)| !universes.is_empty())
    }
}

/// `GET /c/{campaign}/sky`.
pub(crate) async fn list_universes(
    State(context): State<SharedContext>,
    visitor: Visitor,
    PagePath(campaign_id): PagePath<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    let query = Form::parse(&query.unwrap_or_default());
    let place = context.place_of_universe(&visitor, Some(&campaign_id)).await?;
    list_page(&context, &visitor, &place, query.filled("cursor"), None).await
}

/// `GET /skies`: the universes without a campaign.
pub(crate) async fn list_universes_without_campaign(
    State(context): State<SharedContext>,
    visitor: Visitor,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    let query = Form::parse(&query.unwrap_or_default());
    let place = context.place_of_universe(&visitor, None).await?;
    list_page(&context, &visitor, &place, query.filled("cursor"), None).await
}

/// `POST /c/{campaign}/sky`: a new universe, with nothing in it yet.
pub(crate) async fn create_universe(
    State(context): State<SharedContext>,
    visitor: Visitor,
    PagePath(campaign_id): PagePath<String>,
    form: Form,
) -> Result<Response, PageError> {
    let place = context.place_of_universe(&visitor, Some(&campaign_id)).await?;
    let input = json!({"method": "create", "name": form.text("name").trim(), "campaignId": place.campaign_id()});
    match context.send::<CreateAnswer>(&visitor.caller, "universe", input).await {
        Ok(made) => Ok(Redirect::to(&place.item_path(&made.universe.id)).into_response()),
        Err(fault) => list_page(&context, &visitor, &place, None, Some((&form, fault))).await,
    }
}

async fn list_page(
    context: &SharedContext,
    visitor: &Visitor,
    place: &CampaignPlace,
    cursor: Option<&str>,
    refused: Option<(&Form, Fault)>,
) -> Result<Response, PageError> {
    let (universes, next_cursor) = context.universes_of(visitor, place.campaign_id(), limits::PAGE_MAX, cursor).await?;
    // A universe without a campaign is made by an AI or a program.
    let may_create = place.campaign_id().is_some() && place.is_led_by(visitor);
    let path = place.list_path();
    let stream = place.campaign_id().map_or_else(|| SKIES_STREAM.to_owned(), |id| LivePage::Universes.path(id));
    let fault = refused.as_ref().map(|(_, fault)| fault);
    let layout = place.layout("Sky", visitor).script("live-parts.js");
    let mut response = layout.render(html! {
        div.stack data-live-parts=(stream) {
            header {
                h1 { "Sky" }
                p.lead {
                    "Stars, planets and what moves around them, at any moment."
                    @if place.campaign_id().is_none() { " These universes belong to no campaign." }
                }
            }
            @if let Some(fault) = fault { (fault_box(fault)) }
            div #universes data-live-part {
            @if universes.is_empty() && next_cursor.is_none() {
                (empty_state("No universe here yet", &html! {
                    p { @if may_create { "Make one below, or ask your AI to fill a sky." } @else { "The game master has not shown one." } }
                }))
            } @else {
                ul.cards {
                    @for universe in &universes {
                        li.card {
                            h2 { a href=(place.item_path(&universe.id)) dir="auto" { (universe.name) } }
                            @if let Some(at) = &universe.updated_at { p.muted { "changed " (time(at)) } }
                        }
                    }
                }
            }
            (next_page(&path, next_cursor.as_deref()))
            }
            @if may_create {
                section.card.narrow-card {
                    h2 { "A new universe" }
                    form method="post" action=(path) {
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
