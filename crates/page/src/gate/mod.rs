//! Runs of a gate: the list, one run with its diagram, checklist and history, and the forms in which a person decides.

mod decide;
mod event_form;
mod evidence;
mod history;
mod read_run;
mod run_page;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::json;

pub(crate) use decide::{cancel_run, emit_event, override_guard};
pub(crate) use evidence::show_evidence;
pub(crate) use run_page::{run_events, show_run};

use crate::SharedContext;
use crate::components::{count, empty_state, encode, next_page, time};
use crate::extractors::{PagePath, PageQuery};
use crate::layout::{CampaignPart, PageLayout};
use crate::live_pages::LivePage;
use crate::middleware::PageError;
use crate::visitor::Visitor;

/// Runs of one page of the list.
const RUNS_SHOWN: usize = 50;

#[derive(Debug, Deserialize)]
pub(crate) struct ListQuery {
    cursor: Option<String>,
}

#[derive(Debug, Deserialize)]
struct RunList {
    runs: Vec<RunRow>,
    next_cursor: Option<String>,
}

#[derive(Debug, Deserialize)]
struct RunRow {
    run_id: String,
    process_id: String,
    current_state: String,
    status: String,
    revision: u64,
    updated_at: String,
}

/// `GET /c/{campaign}/runs`.
pub(crate) async fn list_runs(
    State(context): State<SharedContext>,
    visitor: Visitor,
    PagePath(campaign_id): PagePath<String>,
    PageQuery(query): PageQuery<ListQuery>,
) -> Result<Response, PageError> {
    let campaign = context.campaign_head(&visitor, &campaign_id).await?;
    let mut input = json!({"campaign_id": campaign.id, "limit": RUNS_SHOWN});
    if let Some(cursor) = &query.cursor {
        input["cursor"] = json!(cursor);
    }
    let list: RunList = context.read(&visitor.caller, "state_gate.list_runs", input).await?;
    let path = format!("/c/{}/runs", encode(&campaign.id));
    let layout = PageLayout::for_visitor("Runs", &visitor).campaign(&campaign, CampaignPart::Runs).style("gate.css");
    let layout = layout.script("live-parts.js");
    Ok(layout.render(html! {
        div.stack data-live-parts=(LivePage::Runs.path(&campaign.id)) {
            header { h1 { "Runs" } p.lead { "Work that goes through a gate: where it stands, and what it waits for." } }
            div.stack #runs data-live-part {
                (rows(&list.runs, &path))
                (next_page(&path, list.next_cursor.as_deref()))
            }
        }
    }))
}

fn rows(runs: &[RunRow], path: &str) -> Markup {
    html! {
        @if runs.is_empty() {
            (empty_state("No run here yet", &html! {
                p { "Ask your AI to start one: “prepare the next session” begins the process " code { "session-preparation" } "." }
            }))
        } @else {
            ul.cards {
                @for run in runs {
                    li.card.run-card {
                        div.split {
                            h2 { a href={ (path) "/" (encode(&run.run_id)) } dir="auto" { (to_words(&run.process_id)) } }
                            (status_badge(&run.status))
                        }
                        p.run-state { "Stands at " strong dir="auto" { (to_words(&run.current_state)) } }
                        p.muted { (count(run.revision, "step", "steps")) " · changed " (time(&run.updated_at)) }
                        p.muted { code { (run.run_id) } }
                    }
                }
            }
        }
    }
}

/// The status of a run as a badge.
fn status_badge(status: &str) -> Markup {
    let (class, word) = match status {
        "active" => ("badge badge-active", "under way"),
        "finished" => ("badge badge-finished", "finished"),
        "cancelled" => ("badge badge-cancelled", "given up"),
        other => ("badge", other),
    };
    html! { span class=(class) { (word) } }
}

/// An identifier as words: `submit_recap` is "Submit recap".
fn to_words(name: &str) -> String {
    let spaced = name.replace(['_', '-'], " ");
    let mut letters = spaced.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().collect::<String>()).unwrap_or_default();
    format!("{first}{}", letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_shown_as_words() {
        assert_eq!(to_words("submit_recap"), "Submit recap");
        assert_eq!(to_words("session-preparation"), "Session preparation");
        assert_eq!(to_words(""), "");
    }
}
