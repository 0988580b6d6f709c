//! `state_gate.list_runs`: lists all runs, the newest first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::gate::RunStatus;

use super::stream::{ListedRun, RUNS};
use crate::list_page::{ListPage, ListedDocument, check_page_limit};
use crate::redaction::can_see_run;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Fault, Operation, OperationKind, PermissionClass, Route, Toolset, limits,
};
use skald_journal::{Document, Partitions};

pub(super) struct ListRuns;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListRunsInput {
    /// Only runs of this process.
    process_id: Option<String>,
    /// Only runs of this campaign; empty: of none.
    campaign_id: Option<String>,
    /// Only runs with this status.
    status: Option<RunStatus>,
    /// The `next_cursor` of the page before.
    pub(super) cursor: Option<String>,
    /// Rows of a page.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub(super) limit: Option<usize>,
}

impl ListRunsInput {
    pub(super) fn of_campaign(campaign_id: &str, limit: usize) -> Self {
        Self { campaign_id: Some(campaign_id.to_owned()), limit: Some(limit), ..Self::default() }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ListRunsOutput {
    runs: Vec<ListedRun>,
    /// Send it as cursor for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Operation for ListRuns {
    const NAME: &'static str = "state_gate.list_runs";
    const TITLE: &'static str = "List runs";
    const SUMMARY: &'static str = "All runs with the state they are in, the newest first.";
    const TOOLSET: Toolset = Toolset::Gate;
    const KIND: OperationKind = OperationKind::Read;
    const LISTS: bool = true;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Player);
    const CLASS: PermissionClass = PermissionClass::Gate;
    const ROUTES: &'static [Route] = &[Route::get("/api/v1/runs")];
    type Input = ListRunsInput;
    type Output = ListRunsOutput;

    async fn run(app: &App, call: &Call<'_>, mut input: ListRunsInput) -> Result<ListRunsOutput, Fault> {
        // Runs without a campaign are stored under an empty id.
        if let Some(given) = input.campaign_id.as_ref().filter(|given| !given.is_empty()) {
            input.campaign_id = Some(app.resolve_campaign_id(call, given).await?);
        }
        let page = app.list_runs(call.caller, &input).await?;
        Ok(ListRunsOutput { runs: page.items, next_cursor: page.next_cursor })
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_gate_ids(caller, field).await
    }
}

impl App {
    pub(super) async fn list_runs(&self, caller: &Caller, input: &ListRunsInput) -> Result<ListPage<ListedRun>, Fault> {
        let limit = check_page_limit(input.limit)?;
        let seen = |document: &Document| {
            let run: ListedRun =
                serde_json::from_str(&document.body).map_err(|error| Fault::internal(error, self.new_request_id()))?;
            let is_wanted = input.process_id.as_ref().is_none_or(|id| *id == run.process_id)
                && input.status.is_none_or(|status| status == run.status);
            Ok(if !can_see_run(caller, run.campaign_id.as_deref(), &run.created_by) {
                ListedDocument::Hidden
            } else if is_wanted {
                ListedDocument::Shown(run)
            } else {
                ListedDocument::Unwanted
            })
        };
        let cursor = input.cursor.as_deref();
        match &input.campaign_id {
            Some(campaign_id) => {
                let partition = Partitions::Of(std::slice::from_ref(campaign_id));
                self.list_documents_in(partition, RUNS, cursor, limit, seen).await
            }
            None => self.list_documents(caller, RUNS, cursor, limit, seen).await,
        }
    }

    /// Completions of an id field: ids of runs (the newest first), of processes or of campaigns.
    pub(super) async fn complete_gate_ids(&self, caller: &Caller, field: &str) -> Option<Vec<String>> {
        match field {
            "run_id" => {
                let input = ListRunsInput { limit: Some(limits::COMPLETIONS_MAX), ..ListRunsInput::default() };
                let page = self.list_runs(caller, &input).await.ok()?;
                Some(page.items.into_iter().map(|run| run.run_id).collect())
            }
            "process_id" => self.process_ids().await.ok(),
            "campaign_id" => self.complete_id_field(caller, "campaign_id").await,
            _ => None,
        }
    }
}
