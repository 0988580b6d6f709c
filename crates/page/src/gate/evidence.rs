//! `/c/{campaign}/runs/{run}/evidence?path=`: one piece of evidence, as quoted text.

use axum::extract::State;
use axum::response::Response;
use maud::html;
use serde::Deserialize;
use serde_json::json;

use crate::SharedContext;
use crate::extractors::{PagePath, PageQuery};
use crate::gate::{RunAddress, to_words};
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
    PagePath(address): PagePath<RunAddress>,
    PageQuery(query): PageQuery<EvidenceQuery>,
) -> Result<Response, PageError> {
    let place = context.run_place(&visitor, address.campaign.as_deref()).await?;
    let run = context.read_run(&visitor, &place, &address.run).await?;
    let input = json!({"method": "artifact", "run_id": run.state.run_id, "path": query.path});
    let EvidenceAnswer { artifact } = context.read(&visitor.caller, "state_gate.run", input).await?;
    let path = place.item_path(&run.state.run_id);
    Ok(place.layout(&artifact.path, &visitor).style("gate.css").render(html! {
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
