//! `state_gate.document`: a process as YAML, Mermaid or SVG, for a run with its current state.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::gate::Process;

use super::diagram;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Code, Exposed, Fault, MIME_YAML, Operation, OperationKind,
    PermissionClass, Route, Toolset,
};
use skald_picture::Theme;

pub(super) const MERMAID: &str = "text/vnd.mermaid";
pub(super) const SVG: &str = "image/svg+xml";

pub(super) struct GateDocument;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum DocumentForm {
    /// The YAML that it was read from.
    #[default]
    Source,
    /// A Mermaid `stateDiagram-v2`.
    Mermaid,
    /// A picture.
    Svg,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GateDocumentInput {
    /// The process, as new runs get it; or name a run.
    process_id: Option<String>,
    /// A run: its process, with the current state marked.
    run_id: Option<String>,
    /// Which document.
    #[serde(default)]
    form: DocumentForm,
    /// The colours of the picture; those that the reader prefers if left out.
    #[serde(default)]
    theme: Theme,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct GateDocumentOutput {
    text: String,
}

/// A process, with the current and the visited states if a run was named.
struct ProcessDrawing {
    process: Arc<Process>,
    source: String,
    current: Option<String>,
    visited: Vec<String>,
}

impl Operation for GateDocument {
    const NAME: &'static str = "state_gate.document";
    const TITLE: &'static str = "A process as a document";
    const SUMMARY: &'static str = "The source of a process, or its diagram as Mermaid or SVG; of a run, with its current \
        state marked.";
    const TOOLSET: Toolset = Toolset::Gate;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Player);
    const CLASS: PermissionClass = PermissionClass::Gate;
    const EXPOSED: Exposed = Exposed::NotAsTool;
    const ROUTES: &'static [Route] = &[
        Route::document("/api/v1/processes/{process_id}", MIME_YAML).with_fixed_field("form", "source"),
        Route::document("/api/v1/processes/{process_id}/diagram", MERMAID).with_fixed_field("form", "mermaid"),
        Route::document("/api/v1/processes/{process_id}/diagram.svg", SVG).with_fixed_field("form", "svg"),
        Route::document("/api/v1/runs/{run_id}/process", MIME_YAML).with_fixed_field("form", "source"),
        Route::document("/api/v1/runs/{run_id}/diagram", MERMAID).with_fixed_field("form", "mermaid"),
        Route::document("/api/v1/runs/{run_id}/diagram.svg", SVG).with_fixed_field("form", "svg"),
    ];
    type Input = GateDocumentInput;
    type Output = GateDocumentOutput;

    async fn run(app: &App, call: &Call<'_>, input: GateDocumentInput) -> Result<GateDocumentOutput, Fault> {
        let drawn = match (&input.process_id, &input.run_id) {
            (Some(_), Some(_)) => {
                let fault =
                    Fault::new(Code::InvalidParams, "process_id and run_id are both given").with_path("/run_id");
                return Err(fault.hint("send one of them"));
            }
            (Some(id), None) => {
                let known = app.find_process(id).await?;
                ProcessDrawing { process: known.process, source: known.source, current: None, visited: Vec::new() }
            }
            (None, run_id) => load_run_drawing(app, call, run_id.as_deref()).await?,
        };
        let text = match input.form {
            DocumentForm::Source => drawn.source,
            DocumentForm::Mermaid => drawn.process.mermaid(drawn.current.as_deref()),
            DocumentForm::Svg => {
                let theme = input.theme;
                let draw = move || {
                    let visited: Vec<&str> = drawn.visited.iter().map(String::as_str).collect();
                    diagram::svg(&drawn.process, drawn.current.as_deref(), &visited, theme)
                };
                app.compute(move |_| Ok(draw())).await?
            }
        };
        Ok(GateDocumentOutput { text })
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_gate_ids(caller, field).await
    }
}

async fn load_run_drawing(app: &App, call: &Call<'_>, run_id: Option<&str>) -> Result<ProcessDrawing, Fault> {
    let found_run = app.find_run::<GateDocument>(call, run_id).await?;
    let state = &found_run.committed.state;
    let source = app.stored_source(&found_run.process.hash).await?.unwrap_or_default();
    Ok(ProcessDrawing {
        source,
        current: Some(state.state().to_owned()),
        visited: state.entered_states().iter().cloned().collect(),
        process: found_run.process,
    })
}
