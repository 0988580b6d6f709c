//! The sessions of a campaign: their list, and one evening with its recap, rolls, notes and luck.

use axum::extract::State;
use axum::response::Response;
use maud::html;
use serde::Deserialize;
use serde_json::json;
use skald_app::{Code, Fault};

use super::current_session::luck_figure;
use super::state::read_log;
use super::{TableState, log, recap_text};
use crate::SharedContext;
use crate::components::{count, empty_state, time};
use crate::extractors::{PagePath, PageQuery};
use crate::inline_picture::picture_response;
use crate::layout::{CampaignPart, PageLayout};
use crate::live_pages::LivePage;
use crate::middleware::PageError;
use crate::visitor::Visitor;

#[derive(Debug, Deserialize)]
struct TextAnswer {
    text: String,
}

/// `GET /c/{campaign}/sessions`.
pub(crate) async fn show_sessions(
    State(context): State<SharedContext>,
    PagePath(campaign): PagePath<String>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let (state, _) = TableState::read_people(&context, &visitor, &campaign).await?;
    let layout = PageLayout::for_visitor("Sessions", &visitor).campaign(&state.head, CampaignPart::Table);
    let layout = layout.script("live-parts.js");
    Ok(layout.render(html! {
        div.narrow data-live-parts=(LivePage::Sessions.path(&state.head.id)) {
            h1 { "Sessions" }
            div #sessions data-live-part {
            @if state.sessions.is_empty() {
                (empty_state("No session yet", &html! { p { a href={ "/c/" (state.head.id) } { "To the table" } } }))
            }
            ul.rows {
                @for (at, session) in state.sessions.iter().enumerate() {
                    @let number = state.sessions.len() - at;
                    li.row {
                        div.row-main {
                            a href={ "/c/" (state.head.id) "/sessions/" (number) } {
                                strong { "Session " (number) @if !session.name.is_empty() { " · " bdi { (session.name) } } }
                            }
                            span.muted {
                                (time(&session.started_at)) " · " (count(session.roll_count, "roll", "rolls"))
                                " · " (count(session.note_count, "note", "notes"))
                            }
                        }
                        @if session.is_active() { span.badge.badge-live { "going on" } }
                    }
                }
            }
            }
        }
    }))
}

#[derive(Debug, Deserialize)]
pub(crate) struct LogQuery {
    /// Where older entries of the log begin.
    cursor: Option<String>,
}

/// `GET /c/{campaign}/sessions/{number}`.
pub(crate) async fn show_session(
    State(context): State<SharedContext>,
    PagePath((campaign, number)): PagePath<(String, usize)>,
    PageQuery(LogQuery { cursor }): PageQuery<LogQuery>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let (mut state, _) = TableState::read_people(&context, &visitor, &campaign).await?;
    let at = state.sessions.len().checked_sub(number).filter(|_| number > 0);
    let Some(session) = at.and_then(|at| state.sessions.get(at)).cloned() else {
        let message = format!("there is no session {number} in this campaign");
        let hint = format!("it has {}", count(state.sessions.len() as u64, "session", "sessions"));
        return Err(Fault::new(Code::NotFound, message).hint(hint).into());
    };
    let log = read_log(&context, &visitor, &state.head.id, Some(&session.id), cursor.as_deref()).await?;
    state.older_events = log.older_path(&state.head.id, Some(number));
    state.events = log.events;
    let input = json!({"campaign_id": campaign, "session_id": session.id});
    let recap: TextAnswer = context.read(&visitor.caller, "session_recap", input).await?;
    let title = if session.name.is_empty() { format!("Session {number}") } else { session.name.clone() };
    let layout = PageLayout::for_visitor(&title, &visitor).campaign(&state.head, CampaignPart::Table);
    let layout = layout.script("live-parts.js");
    Ok(layout.render(html! {
        article.evening data-live-parts=(LivePage::Evening.path(&state.head.id)) {
            header #evening-head data-live-part {
                p.muted { a href={ "/c/" (state.head.id) "/sessions" } { "Sessions" } " · Session " (number) }
                h1 dir="auto" { (title) }
                p.muted {
                    (time(&session.started_at)) @if let Some(ended) = &session.ended_at { " to " (time(ended)) }
                    " · " (count(session.roll_count, "roll", "rolls")) " · " (count(session.note_count, "note", "notes"))
                }
            }
            div.evening-columns {
                section.card.prose #recap data-live-part { (recap_text::render(&recap.text)) }
                div.stack {
                    div #evening-luck data-live-part {
                        @if session.roll_count > 0 { (luck_figure(&state.head.id, &session)) }
                    }
                    section.card #evening-log data-live-part aria-label="Log" {
                        div.split {
                            h2 { "Log" }
                            @if cursor.is_some() { a.muted href={ "/c/" (state.head.id) "/sessions/" (number) "#log" } { "To the newest" } }
                        }
                        ol.entries #log { (log::render(&state)) }
                    }
                }
            }
        }
    }))
}

#[derive(Debug, Deserialize)]
pub(crate) struct LuckQuery {
    session: Option<String>,
}

/// `GET /c/{campaign}/luck.svg?session=`.
pub(crate) async fn luck_picture(
    State(context): State<SharedContext>,
    PagePath(campaign): PagePath<String>,
    PageQuery(LuckQuery { session }): PageQuery<LuckQuery>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let mut input = json!({"campaign_id": campaign, "session_id": session});
    if let Some(theme) = visitor.browser.theme.attribute() {
        input["theme"] = theme.into();
    }
    let picture: TextAnswer = context.read(&visitor.caller, "luck_picture", input).await?;
    Ok(picture_response(picture.text))
}
