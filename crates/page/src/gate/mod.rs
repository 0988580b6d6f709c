//! Runs of a gate: the list, one run with its diagram, checklist and history, and the forms in which a person decides; for
//! the runs of a campaign and for those without one.

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
use skald_app::{EVERY_CAMPAIGN, Fault};

pub(crate) use decide::{cancel_run, emit_event, override_guard};
pub(crate) use evidence::show_evidence;
pub(crate) use run_page::{run_events, show_run};

use crate::campaign_place::CampaignPlace;
use crate::components::{count, empty_state, encode, next_page, time};
use crate::extractors::{PagePath, PageQuery};
use crate::layout::{CampaignPart, MainPart};
use crate::live_pages::{LivePage, RUNS_STREAM};
use crate::middleware::PageError;
use crate::visitor::Visitor;
use crate::{PageContext, SharedContext};

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

/// The address of a run.
#[derive(Debug, Deserialize)]
pub(crate) struct RunAddress {
    campaign: Option<String>,
    run: String,
}

impl PageContext {
    /// Where the runs of a campaign are, or those without one.
    async fn run_place(&self, visitor: &Visitor, campaign_id: Option<&str>) -> Result<CampaignPlace, Fault> {
        self.campaign_place(visitor, campaign_id, CampaignPart::Runs, MainPart::Runs).await
    }

    async fn runs_of(
        &self,
        visitor: &Visitor,
        campaign_id: Option<&str>,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<RunList, Fault> {
        // An empty id means the runs without a campaign.
        let mut input = json!({"campaign_id": campaign_id.unwrap_or_default(), "limit": limit});
        if let Some(cursor) = cursor {
            input["cursor"] = json!(cursor);
        }
        self.read(&visitor.caller, "state_gate.list_runs", input).await
    }

    /// Whether there are runs without a campaign that the visitor sees.
    pub(crate) async fn has_runs_without_campaign(&self, visitor: &Visitor) -> bool {
        // The engine would refuse or show nothing to all others.
        if !visitor.plays_in(EVERY_CAMPAIGN) {
            return false;
        }
        let found = self.runs_of(visitor, None, 1, None).await;
        found.is_ok_and(|found| !found.runs.is_empty())
    }
}

/// `GET /c/{campaign}/runs`.
pub(crate) async fn list_runs(
    State(context): State<SharedContext>,
    visitor: Visitor,
    PagePath(campaign_id): PagePath<String>,
    PageQuery(query): PageQuery<ListQuery>,
) -> Result<Response, PageError> {
    list_page(&context, &visitor, Some(&campaign_id), &query).await
}

/// `GET /runs`: the runs without a campaign.
pub(crate) async fn list_runs_without_campaign(
    State(context): State<SharedContext>,
    visitor: Visitor,
    PageQuery(query): PageQuery<ListQuery>,
) -> Result<Response, PageError> {
    list_page(&context, &visitor, None, &query).await
}

async fn list_page(
    context: &SharedContext,
    visitor: &Visitor,
    campaign_id: Option<&str>,
    query: &ListQuery,
) -> Result<Response, PageError> {
    let place = context.run_place(visitor, campaign_id).await?;
    let list = context.runs_of(visitor, place.campaign_id(), RUNS_SHOWN, query.cursor.as_deref()).await?;
    let path = place.list_path();
    let stream = place.campaign_id().map_or_else(|| RUNS_STREAM.to_owned(), |id| LivePage::Runs.path(id));
    let layout = place.layout("Runs", visitor).style("gate.css").script("live-parts.js");
    Ok(layout.render(html! {
        div.stack data-live-parts=(stream) {
            header {
                h1 { "Runs" }
                p.lead {
                    "Work that goes through a gate: where it stands, and what it waits for."
                    @if place.campaign_id().is_none() { " These belong to no campaign." }
                }
            }
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
