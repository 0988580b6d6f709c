//! `/c/{campaign}/runs/{run}`: the diagram with the present state, what is missing, the forms to decide, the history.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use maud::{Markup, html};
use skald_app::{Fault, percent_encode};

use super::event_form::{cancel_form, event_form, override_form};
use super::history::history_list;
use super::read_run::{ArtifactAnswer, RunAnswers};
use super::{RunAddress, status_badge, to_words};
use crate::SharedContext;
use crate::campaign_place::CampaignPlace;
use crate::components::{encode, fault_box, time};
use crate::extractors::PagePath;
use crate::form::Form;
use crate::inline_picture::inline_picture;
use crate::middleware::{PageError, status};
use crate::resource_events::stream_changes;
use crate::visitor::Visitor;

/// A form that was refused, with the reason. The page shows both again.
pub(super) struct RefusedDecision<'a> {
    /// The name of the event, or of the other form.
    pub action: String,
    pub form: &'a Form,
    pub fault: Fault,
}

/// `GET /c/{campaign}/runs/{run}`, `GET /runs/{run}`.
pub(crate) async fn show_run(
    State(context): State<SharedContext>,
    visitor: Visitor,
    PagePath(address): PagePath<RunAddress>,
) -> Result<Response, PageError> {
    let place = context.run_place(&visitor, address.campaign.as_deref()).await?;
    let run = context.read_run(&visitor, &place, &address.run).await?;
    Ok(run_page(&visitor, &place, &run, None))
}

/// `GET …/events`: says when the run has changed.
pub(crate) async fn run_events(
    State(context): State<SharedContext>,
    visitor: Visitor,
    headers: HeaderMap,
    PagePath(address): PagePath<RunAddress>,
) -> Result<Response, PageError> {
    let place = context.run_place(&visitor, address.campaign.as_deref()).await?;
    let run = context.read_run(&visitor, &place, &address.run).await?;
    let uri = format!("stategate://runs/{}/summary", percent_encode(&run.state.run_id));
    Ok(stream_changes(&context, &visitor, &headers, vec![uri]).await)
}

/// Renders the page of a run, with the refused form if there is one.
pub(super) fn run_page(
    visitor: &Visitor,
    place: &CampaignPlace,
    run: &RunAnswers,
    refused: Option<&RefusedDecision<'_>>,
) -> Response {
    let layout =
        place.layout(&run.summary.process.name, visitor).style("gate.css").style("picture.css").script("live-parts.js");
    let path = place.item_path(&run.state.run_id);
    let mut response = layout.render(html! {
        div data-live-parts={ (path) "/events" } data-page=(path) { (run_parts(place, run, refused)) }
    });
    if let Some(refused) = refused {
        *response.status_mut() = status(refused.fault.class());
    }
    response
}

/// Two parts: what is only looked at, which a script replaces when the run changes, and the forms, which it replaces
/// only while nothing is typed in them.
fn run_parts(place: &CampaignPlace, run: &RunAnswers, refused: Option<&RefusedDecision<'_>>) -> Markup {
    let path = place.item_path(&run.state.run_id);
    html! {
        div.run-head #run-head data-live-part {
            p { a href=(place.list_path()) { "All runs" } }
            div.split {
                h1 dir="auto" { (run.summary.process.name) }
                (status_badge(&run.state.status))
            }
            p.lead { "Stands at " strong dir="auto" { (to_words(&run.state.current_state)) } " · changed " (time(&run.state.updated_at)) }
        }
        @if let Some(refused) = refused { (fault_box(&refused.fault)) }
        div.run-columns {
            div.run-main {
                section.card.run-diagram #run-diagram data-live-part aria-label="Diagram" tabindex="0" { (inline_picture(&run.diagram)) }
                (prompt(run))
            }
            div.run-side {
                div #run-checklist data-live-part { (checklist(run, &path)) }
                @if let Some(refused) = refused.filter(|refused| !has_form(run, &refused.action)) { (typed_before(refused)) }
                div #run-forms data-live-part data-revision=(run.state.revision) { (render_forms(run, &path, refused)) }
                p.warning #changed-meanwhile role="status" hidden { "The run has moved on. What you typed is kept; look above before you decide." }
            }
        }
        section.card #run-history data-live-part { h2 { "History" } (history_list(run, &path)) }
    }
}

/// The instructions of the process for the current state. They may contain text of whoever wrote to the run, so they
/// are shown as quoted text.
fn prompt(run: &RunAnswers) -> Markup {
    html! {
        @if let Some(text) = &run.state.current_state_prompt {
            section.card #run-prompt {
                h2 { "What is to be done here" }
                blockquote.quoted dir="auto" { (text) }
            }
        }
    }
}

fn checklist(run: &RunAnswers, path: &str) -> Markup {
    let evidence = run.evidence();
    let of_type = |kind: &str| -> Vec<&ArtifactAnswer> {
        evidence.iter().copied().filter(|artifact| artifact.types.iter().any(|known| known == kind)).collect()
    };
    let satisfied = run.satisfied_guards();
    let is_empty =
        run.state.required_artifacts.is_empty() && run.state.missing_guards.is_empty() && satisfied.is_empty();
    html! {
        section.card {
            h2 { "What it waits for" }
            @if is_empty {
                p.muted { @if run.state.status == "active" { "Nothing is missing: somebody has to decide." } @else { "Nothing: it is over." } }
            } @else {
                ul.checklist {
                    @for needed in &run.state.required_artifacts {
                        (check_item(needed.status == "present", &html! {
                            strong dir="auto" { (to_words(&needed.r#type)) }
                            @if !needed.description.is_empty() { " " span.muted dir="auto" { (needed.description) } }
                            (evidence_links(&of_type(&needed.r#type), run, path))
                        }))
                    }
                    @for guard in satisfied {
                        (check_item(true, &html! { span dir="auto" { (to_words(guard)) } }))
                    }
                    @for guard in &run.state.missing_guards {
                        (check_item(false, &html! {
                            span dir="auto" { @if guard.description.is_empty() { (to_words(&guard.guard_name)) } @else { (guard.description) } }
                            span.muted.check-why dir="auto" { (guard.current_status) }
                        }))
                    }
                }
            }
            @let others: Vec<_> = evidence.iter().copied().filter(|artifact| {
                !run.state.required_artifacts.iter().any(|needed| artifact.types.contains(&needed.r#type))
            }).collect();
            @if !others.is_empty() {
                h3 { "Handed in before" }
                (evidence_links(&others, run, path))
            }
        }
    }
}

fn check_item(is_done: bool, body: &Markup) -> Markup {
    html! {
        li.check.check-done[is_done] {
            span.check-mark aria-hidden="true" { @if is_done { "✓" } @else { "" } }
            span.check-body {
                span.visually-hidden { @if is_done { "Done: " } @else { "Missing: " } }
                (*body)
            }
        }
    }
}

fn evidence_links(artifacts: &[&ArtifactAnswer], run: &RunAnswers, path: &str) -> Markup {
    html! {
        @if !artifacts.is_empty() {
            ul.evidence {
                @for artifact in artifacts {
                    li {
                        a href={ (path) "/evidence?path=" (encode(&artifact.path)) } dir="auto" { (artifact.path) }
                        " " span.muted { (artifact.bytes) " bytes" }
                        @if run.state.stale_artifacts.contains(&artifact.path) {
                            " " span.badge.badge-cancelled { "changed since, does not count" }
                        }
                    }
                }
            }
        }
    }
}

fn render_forms(run: &RunAnswers, path: &str, refused: Option<&RefusedDecision<'_>>) -> Markup {
    let sent = |action: &str| refused.filter(|refused| refused.action == action);
    let closed = run.closed_transitions();
    html! {
        @if run.state.status == "active" {
            section.card {
                h2 { "Decide" }
                @if run.state.allowed_events.is_empty() {
                    p.muted { "As " em { (run.summary.your_role) } " you cannot move this run from here." }
                }
                @for event in &run.state.allowed_events {
                    (event_form(event, run, path, sent(&event.event_name)))
                }
                @if run.summary.may_override {
                    @for (event, way) in &closed {
                        (override_form(event, way, run, path, sent(&format!("override:{event}:{}", way.to_state))))
                    }
                    (cancel_form(run, path, sent("cancel")))
                } @else {
                    p.muted {
                        "You act here as " em { (run.summary.your_role) } ". To override a guard takes a person: sign in with a token that was made with "
                        code { "--kind human --gate-role human" } "."
                    }
                }
            }
        }
    }
}

/// Whether the run, where it stands now, has the form of an action.
fn has_form(run: &RunAnswers, action: &str) -> bool {
    let closed = run.closed_transitions();
    let is_override =
        closed.iter().any(|(event, way)| action == format!("override:{event}:{}", way.to_state)) || action == "cancel";
    let is_event = run.state.allowed_events.iter().any(|event| event.event_name == action);
    run.state.status == "active" && (is_event || run.summary.may_override && is_override)
}

/// What was typed into a form that the run no longer has, since it has moved on: to copy it.
fn typed_before(refused: &RefusedDecision<'_>) -> Markup {
    let is_typed = |name: &str| name.starts_with("payload.") || name.starts_with("evidence_") || name == "reason";
    let typed: Vec<&str> =
        refused.form.iter().filter(|(name, text)| is_typed(name) && !text.is_empty()).map(|(_, text)| text).collect();
    html! {
        @if !typed.is_empty() {
            section.card #run-typed {
                h2 { "What you typed" }
                @for text in typed { pre.block tabindex="0" dir="auto" { (text) } }
            }
        }
    }
}
