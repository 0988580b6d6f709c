//! `/c/{campaign}/runs/{run}/evidence?path=`: one piece of evidence, as quoted text.

use axum::extract::State;
use axum::response::Response;
use maud::html;
use serde::Deserialize;
use serde_json::json;

use crate::SharedContext;
use crate::components::encode;
use crate::extractors::{PagePath, PageQuery};
use crate::gate::to_words;
use crate::layout::{CampaignPart, PageLayout};
use crate::middleware::PageError;
use crate::visitor::Visitor;

#[derive(Debug, Deserialize)]
pub(crate) struct EvidenceQuery {
    #[serde(default)]
    path: String,
}

#[derive(Debug, Deserialize)]
struct EvidenceAnswer {
    artifact: ArtifactText,
}

#[derive(Debug, Deserialize)]
struct ArtifactText {
    path: String,
    sha256: String,
    bytes: u64,
    #[serde(default)]
    types: Vec<String>,
    stale: bool,
    text: Option<String>,
    missing: Option<String>,
}

/// Whoever may read the run may read its evidence.
pub(crate) async fn show_evidence(
    State(context): State<SharedContext>,
    visitor: Visitor,
    PagePath((campaign_id, run_id)): PagePath<(String, String)>,
    PageQuery(query): PageQuery<EvidenceQuery>,
) -> Result<Response, PageError> {
    let campaign = context.campaign_head(&visitor, &campaign_id).await?;
    let run = context.read_run(&visitor, &campaign.id, &run_id).await?;
    let input = json!({"method": "artifact", "run_id": run.state.run_id, "path": query.path});
    let EvidenceAnswer { artifact } = context.read(&visitor.caller, "state_gate.run", input).await?;
    let path = format!("/c/{}/runs/{}", encode(&campaign.id), encode(&run.state.run_id));
    let layout =
        PageLayout::for_visitor(&artifact.path, &visitor).campaign(&campaign, CampaignPart::Runs).style("gate.css");
    Ok(layout.render(html! {
        div.stack {
            header {
                p { a href=(path) dir="auto" { "Back to " (run.summary.process.name) } }
                h1 dir="auto" { (artifact.path) }
                p.muted {
                    (artifact.types.iter().map(|kind| to_words(kind)).collect::<Vec<_>>().join(", "))
                    " · " (artifact.bytes) " bytes · " code.hash { (artifact.sha256) }
                }
            }
            @if artifact.stale {
                p.warning { "The file has changed since it was handed in: this is not what counted." }
            }
            @if let Some(text) = &artifact.text {
                section.card { blockquote.quoted.evidence-text dir="auto" { (text) } }
            } @else if let Some(why) = &artifact.missing {
                p.warning dir="auto" { "Its content is not here: " (why) }
            } @else {
                p.muted { "It is no text. Its hash tells whether a file is the same." }
            }
        }
    }))
}
