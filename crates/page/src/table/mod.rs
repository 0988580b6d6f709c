//! The table of a campaign, live: characters with their trackers, who is up, a box to roll in, notes and the log.

mod audience;
mod characters;
mod commands;
mod current_session;
mod drawn_dice;
mod handouts;
pub(crate) mod live_table;
mod log;
mod recap_text;
mod roll_view;
mod rolled_dice;
mod sessions;
mod state;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use skald_app::Fault;

use crate::SharedContext;
use crate::components::fault_box;
use crate::extractors::PagePath;
use crate::form::Form;
use crate::layout::{CampaignPart, PageLayout};
use crate::middleware::PageError;
use crate::visitor::Visitor;
use live_table::live_attributes;

pub(crate) use commands::{change_tracker, end_session, roll, set_spotlight, start_session, take_note};
pub(crate) use current_session::preview_odds;
pub(crate) use sessions::{luck_picture, show_session, show_sessions};
pub(crate) use state::{SessionRow, TableSpotlight, TableState};

/// The forms of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableForm {
    Roll,
    Note,
    Tracker,
    Spotlight,
    StartSession,
    EndSession,
}

/// What somebody typed into a form that was refused, and why: it is shown again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RefusedForm<'a> {
    pub kind: TableForm,
    pub form: &'a Form,
    pub fault: &'a Fault,
}

/// `GET /c/{campaign}`.
pub(crate) async fn show(
    State(context): State<SharedContext>,
    PagePath(campaign): PagePath<String>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    show_table(&context, &campaign, &visitor, None).await
}

pub(crate) async fn show_table(
    context: &SharedContext,
    campaign: &str,
    visitor: &Visitor,
    refused: Option<&RefusedForm<'_>>,
) -> Result<Response, PageError> {
    // Take the place in the journal before reading, so that the stream includes changes that come while the page is read.
    let place = context.engine.changes(&visitor.caller, None).await.place();
    let state = TableState::read(context, visitor, campaign).await?;
    let layout = PageLayout::for_visitor(&state.campaign.name, visitor)
        .campaign(&state.head, CampaignPart::Table)
        .script("table.js")
        .full_height();
    let live = live_attributes(&state.head.id, place.as_deref());
    Ok(layout.render(html! {
        h1.visually-hidden { (state.campaign.name) }
        (live)
        div.table-fault #table-fault { @if let Some(refused) = refused { (fault_box(refused.fault)) } }
        datalist #actor-options { (current_session::actor_options(&state)) }
        div.table data-tab="now" {
            section.column.characters #characters aria-label="Characters" { (characters::render(&state)) }
            div.column.now {
                div #handouts { (handouts::render(&state)) }
                section #now aria-label="Now" { (current_session::render(&state)) }
                (current_session::render_forms(&state, refused))
                div #luck { (current_session::luck_strip(&state)) }
            }
            section.column.log aria-label="Log" {
                div.split {
                    h2 { "Log" }
                    a.muted href={ "/c/" (state.head.id) "/sessions" } { "All sessions" }
                }
                ol.entries #log { (log::render(&state)) }
            }
        }
        div.visually-hidden #announce aria-live="polite" { (log::announcement(&state)) }
        (tabs())
    }))
}

/// Three tabs where there is room for one column only. Without scripts all columns follow each other.
fn tabs() -> Markup {
    html! {
        div.tabs role="group" aria-label="Parts of the table" hidden {
            @for (name, title) in [("now", "Now"), ("log", "Log"), ("characters", "Characters")] {
                button type="button" data-show=(name) aria-pressed=(name == "now") { (title) }
            }
        }
    }
}

/// The parts that change, each for its place on the page. What people type is in none of them. Whether a session is going
/// on is an attribute in `#now`, by which the style sheet shows and hides forms, so that what is typed in them stays.
pub(crate) fn fragments(state: &TableState) -> Markup {
    html! {
        (partial("#characters", "innerMorph", &characters::render(state)))
        (partial("#handouts", "innerMorph", &handouts::render(state)))
        (partial("#now", "innerMorph", &current_session::render(state)))
        (partial("#luck", "innerMorph", &current_session::luck_strip(state)))
        (partial("#actor-options", "innerHTML", &current_session::actor_options(state)))
        (partial("#log", "innerMorph", &log::render(state)))
        (partial("#announce", "innerMorph", &log::announcement(state)))
    }
}

/// A part of a page that htmx puts where it belongs.
pub(crate) fn partial(target: &str, swap: &str, content: &Markup) -> Markup {
    html! { hx-partial hx-target=(target) hx-swap=(swap) { (*content) } }
}
