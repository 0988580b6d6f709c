//! `state_gate.get_state` and `state_gate.list_events`: a run's current state, missing guards and allowed events.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skald_domain::Moment;
use skald_domain::gate::{AllowedEvent, EventView, MissingGuard, RequiredArtifact, RunStatus};

use super::access::EvidenceScope;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Fault, Operation, OperationKind, PermissionClass, Route, Toolset,
};

pub(super) struct GetState;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetStateInput {
    /// That of state-gate.json if left out.
    run_id: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct GetStateOutput {
    run_id: String,
    process_id: String,
    process_version: String,
    current_state: String,
    /// What to do in this state.
    #[serde(skip_serializing_if = "Option::is_none")]
    current_state_prompt: Option<String>,
    /// Send it as `expected_revision`.
    revision: u64,
    context: Map<String, Value>,
    /// What keeps the transitions out of this state from being taken.
    missing_guards: Vec<MissingGuard>,
    required_artifacts: Vec<RequiredArtifact>,
    /// What you may emit here.
    allowed_events: Vec<AllowedEvent>,
    updated_at: Moment,
    status: RunStatus,
    /// Evidence that does not count any more, since its file has changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stale_artifacts: Vec<String>,
    /// Where files of evidence belong; hand them in with their content if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact_base_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    campaign_id: Option<String>,
}

impl Operation for GetState {
    const NAME: &'static str = "state_gate.get_state";
    const TITLE: &'static str = "The state of a run";
    const SUMMARY: &'static str = "The state of a run, what to do there, which evidence is missing and which events may \
        be emitted. Begin with it.";
    const TOOLSET: Toolset = Toolset::Gate;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Player);
    const CLASS: PermissionClass = PermissionClass::Gate;
    const ROUTES: &'static [Route] = &[Route::get("/api/v1/runs/{run_id}")];
    type Input = GetStateInput;
    type Output = GetStateOutput;

    async fn run(app: &App, call: &Call<'_>, input: GetStateInput) -> Result<GetStateOutput, Fault> {
        let found_run = app.find_run::<Self>(call, input.run_id.as_deref()).await?;
        let facts = app.guard_facts(&found_run, EvidenceScope::Here).await?;
        let (state, run, look) = (&found_run.committed.state, found_run.run(), found_run.run_view(&facts));
        Ok(GetStateOutput {
            run_id: found_run.run_id.clone(),
            process_id: run.process.id.clone(),
            process_version: run.process.version.clone(),
            current_state: state.state().to_owned(),
            current_state_prompt: look.prompt(state.state()),
            revision: found_run.committed.revision(),
            context: look.context(),
            missing_guards: look.missing_guards(),
            required_artifacts: look.required_artifacts(),
            allowed_events: look.allowed_events(),
            updated_at: state.updated_at().unwrap_or(run.created_at),
            status: state.status(),
            stale_artifacts: facts.stale.iter().cloned().collect(),
            artifact_base_path: run.folder.as_deref().and_then(|folder| found_run.paths.visible_folder(folder)),
            campaign_id: run.campaign_id.clone(),
        })
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_gate_ids(caller, field).await
    }
}

pub(super) struct ListEvents;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListEventsInput {
    /// That of state-gate.json if left out.
    run_id: Option<String>,
    /// Also events that are blocked, and why.
    include_blocked: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ListEventsOutput {
    run_id: String,
    current_state: String,
    events: Vec<EventView>,
}

impl Operation for ListEvents {
    const NAME: &'static str = "state_gate.list_events";
    const TITLE: &'static str = "What may be emitted";
    const SUMMARY: &'static str = "The events of a run with the transitions they may take, whether their guards are \
        satisfied and what is missing.";
    const TOOLSET: Toolset = Toolset::Gate;
    const KIND: OperationKind = OperationKind::Read;
    const LISTS: bool = true;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Player);
    const CLASS: PermissionClass = PermissionClass::Gate;
    const ROUTES: &'static [Route] = &[Route::get("/api/v1/runs/{run_id}/events")];
    type Input = ListEventsInput;
    type Output = ListEventsOutput;

    async fn run(app: &App, call: &Call<'_>, input: ListEventsInput) -> Result<ListEventsOutput, Fault> {
        let found_run = app.find_run::<Self>(call, input.run_id.as_deref()).await?;
        let include_blocked = input.include_blocked.unwrap_or_default();
        let evidence = if include_blocked { EvidenceScope::Everywhere } else { EvidenceScope::Here };
        let facts = app.guard_facts(&found_run, evidence).await?;
        Ok(ListEventsOutput {
            run_id: found_run.run_id.clone(),
            current_state: found_run.committed.state.state().to_owned(),
            events: found_run.run_view(&facts).events(include_blocked),
        })
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_gate_ids(caller, field).await
    }
}
