//! `universe_record`: one universe with its name, its revision and its whole state.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::universe::Universe;

use super::answer_schemas::StateShape;
use super::rest;
use super::stream::format_time;
use crate::{
    Allowed, Answer, App, Call, Caller, CampaignRole, Exposed, Fault, HttpMethod, Operation, OperationKind,
    PermissionClass, RenderedJson, Route, Toolset,
};

/// A universe without its state.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct UniverseRecord {
    id: String,
    name: String,
    /// The campaign it belongs to, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    campaign_id: Option<String>,
    created_at: String,
    updated_at: String,
    /// How often it was changed.
    revision: u64,
}

impl UniverseRecord {
    /// `None` if there is no such universe.
    pub(super) fn from_universe(universe: &Universe, revision: u64) -> Option<Self> {
        let about = universe.identity()?;
        Some(Self {
            id: about.id.clone(),
            name: about.name.clone(),
            campaign_id: about.campaign_id.clone(),
            created_at: format_time(about.created_at),
            updated_at: format_time(universe.updated_at().unwrap_or(about.created_at)),
            revision,
        })
    }
}

/// The same with all of it, as its schema shows.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct WholeRecord {
    #[serde(flatten)]
    record: UniverseRecord,
    state: StateShape,
}

pub(super) struct ReadRecord;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ReadRecordInput {
    /// The universe.
    universe_id: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct ReadRecordOutput(#[schemars(with = "WholeRecord")] RenderedJson);

impl Operation for ReadRecord {
    const NAME: &'static str = "universe_record";
    const TITLE: &'static str = "Read a universe with its name";
    const SUMMARY: &'static str = "Read one universe: its name, its revision and all that it holds.";
    const TOOLSET: Toolset = Toolset::Universe;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::ReadUniverse;
    // The toolset has three fixed tools; this operation serves the resource universe://{universeId}.
    const EXPOSED: Exposed = Exposed::NotAsTool;
    const ROUTES: &'static [Route] =
        &[Route::get("/api/v1/universes/{universeId}"), rest::universe_route(HttpMethod::Get).with_conditional_get()];
    type Input = ReadRecordInput;
    type Output = ReadRecordOutput;

    async fn run(app: &App, call: &Call<'_>, input: ReadRecordInput) -> Result<ReadRecordOutput, Fault> {
        let found_universe = app.find_universe::<Self>(call, &input.universe_id, CampaignRole::Guest).await?;
        Ok(ReadRecordOutput(app.rendered_universe(&found_universe).await?.record))
    }

    fn answer(output: ReadRecordOutput) -> Result<Answer, serde_json::Error> {
        Ok(Answer::Prepared(output.0))
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_universe_id(caller, field).await
    }
}
