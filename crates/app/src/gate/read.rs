//! `state_gate.read`: one read operation with a view, behind the JSON resources of runs and processes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::Moment;
use skald_domain::gate::{Progress, RunStatus};

use super::access::{EvidenceScope, FoundRun};
use super::history::HistoryEntry;
use super::process_lookup::ProcessOrigin;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Exposed, Fault, Operation, OperationKind, PermissionClass, Route,
    Toolset, limits,
};

pub(super) struct GateRead;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum GateView {
    /// All processes, by id.
    #[default]
    Processes,
    /// A run in short, and how far it is.
    Summary,
    /// Every attempt of a run, accepted or refused, oldest first.
    History,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GateReadInput {
    /// What to read; the processes if left out.
    #[serde(default)]
    view: GateView,
    /// The run, where one is read; the one that state-gate.json names if left out.
    run_id: Option<String>,
    /// For history: the `next_cursor` of the page before.
    cursor: Option<String>,
    /// For history: rows of a page.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    limit: Option<usize>,
}

#[derive(Default, Serialize, JsonSchema)]
pub(super) struct GateReadOutput {
    #[serde(flatten)]
    summary: Option<RunSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<Vec<HistoryEntry>>,
    /// Send it as cursor for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    processes: Option<Vec<ListedProcess>>,
}

/// A run in short.
#[derive(Serialize, JsonSchema)]
struct RunSummary {
    run_id: String,
    process: ProcessName,
    current_state: String,
    revision: u64,
    status: RunStatus,
    progress: Progress,
    created_at: Moment,
    updated_at: Moment,
    /// Guards that keep the run where it is, by name.
    missing_guards: Vec<String>,
    /// The role in which you act at this gate.
    your_role: String,
    /// Whether you may override a guard: people may, agents may not.
    may_override: bool,
}

#[derive(Serialize, JsonSchema)]
struct ProcessName {
    id: String,
    version: String,
    name: String,
    /// SHA-256 of its source.
    hash: String,
}

/// A process in a list.
#[derive(Serialize, JsonSchema)]
struct ListedProcess {
    process_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<ProcessOrigin>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
    /// Its states, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    states: Vec<String>,
    /// Why no run of it can be created.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Operation for GateRead {
    const NAME: &'static str = "state_gate.read";
    const TITLE: &'static str = "Read runs and processes";
    const SUMMARY: &'static str = "The list of processes, a run in short, or its history.";
    const TOOLSET: Toolset = Toolset::Gate;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Player);
    const CLASS: PermissionClass = PermissionClass::Gate;
    const EXPOSED: Exposed = Exposed::NotAsTool;
    const ROUTES: &'static [Route] = &[
        Route::get("/api/v1/processes").with_fixed_field("view", "processes"),
        Route::get("/api/v1/runs/{run_id}/summary").with_fixed_field("view", "summary"),
        Route::get("/api/v1/runs/{run_id}/history").with_fixed_field("view", "history"),
    ];
    type Input = GateReadInput;
    type Output = GateReadOutput;

    async fn run(app: &App, call: &Call<'_>, input: GateReadInput) -> Result<GateReadOutput, Fault> {
        let mut output = GateReadOutput::default();
        match input.view {
            GateView::Processes => output.processes = Some(list_processes(app).await?),
            GateView::Summary => {
                let found_run = app.find_run::<Self>(call, input.run_id.as_deref()).await?;
                output.summary = Some(read_summary(app, &found_run).await?);
            }
            GateView::History => {
                let found_run = app.find_run::<Self>(call, input.run_id.as_deref()).await?;
                let page = app.history(&found_run, input.cursor.as_deref(), input.limit).await?;
                (output.history, output.next_cursor) = (Some(page.entries), page.next_cursor);
            }
        }
        Ok(output)
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_gate_ids(caller, field).await
    }
}

async fn read_summary(app: &App, found_run: &FoundRun) -> Result<RunSummary, Fault> {
    let facts = app.guard_facts(found_run, EvidenceScope::Here).await?;
    let (state, run, process, look) =
        (&found_run.committed.state, found_run.run(), &found_run.process, found_run.run_view(&facts));
    Ok(RunSummary {
        run_id: found_run.run_id.clone(),
        process: ProcessName {
            id: process.id.clone(),
            version: process.version.clone(),
            name: process.name.clone(),
            hash: process.hash.clone(),
        },
        current_state: state.state().to_owned(),
        revision: found_run.committed.revision(),
        status: state.status(),
        progress: look.progress(),
        created_at: run.created_at,
        updated_at: state.updated_at().unwrap_or(run.created_at),
        missing_guards: look.missing_guards().into_iter().map(|guard| guard.guard_name).collect(),
        your_role: found_run.acting_role.role.clone(),
        may_override: found_run.acting_role.is_human,
    })
}

async fn list_processes(app: &App) -> Result<Vec<ListedProcess>, Fault> {
    let mut listed = Vec::new();
    for process_id in app.process_ids().await? {
        let row = match app.find_process(&process_id).await {
            Ok(known) => ListedProcess {
                process_id,
                version: Some(known.process.version.clone()),
                name: Some(known.process.name.clone()),
                description: known.process.description.clone(),
                origin: Some(known.origin),
                hash: Some(known.process.hash.clone()),
                states: known.process.states.iter().map(|state| state.name.clone()).collect(),
                error: None,
            },
            Err(fault) => ListedProcess {
                process_id,
                version: None,
                name: None,
                description: None,
                origin: None,
                hash: None,
                states: Vec::new(),
                error: Some(fault.body().message.clone()),
            },
        };
        listed.push(row);
    }
    Ok(listed)
}
