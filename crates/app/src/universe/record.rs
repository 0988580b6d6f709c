//! One universe, with its name, its revision and all that it holds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::read::UniverseRecord;
use crate::{
    Allowed, Answer, App, Call, Caller, CampaignRole, Exposed, Fault, Kind, Operation, Prepared, Route, Toolset,
};

pub(super) struct ReadRecord;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ReadRecordInput {
    /// The universe.
    universe_id: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct ReadRecordOutput(#[schemars(with = "UniverseRecord")] Prepared);

impl Operation for ReadRecord {
    const NAME: &'static str = "universe_record";
    const TITLE: &'static str = "Read a universe with its name";
    const SUMMARY: &'static str = "Read one universe: its name, its revision and all that it holds.";
    const TOOLSET: Toolset = Toolset::Universe;
    const KIND: Kind = Kind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    // The three tools of this set are fixed: as a resource it is universe://{universeId}.
    const EXPOSED: Exposed = Exposed::NotAsTool;
    const ROUTES: &'static [Route] = &[Route::get("/universes/{universeId}")];
    type Input = ReadRecordInput;
    type Output = ReadRecordOutput;

    async fn run(app: &App, call: &Call<'_>, input: ReadRecordInput) -> Result<ReadRecordOutput, Fault> {
        let sky = app.sky::<Self>(call, &input.universe_id, CampaignRole::Guest).await?;
        Ok(ReadRecordOutput(app.ready(&sky).await?.record))
    }

    fn answer(output: ReadRecordOutput) -> Result<Answer, serde_json::Error> {
        Ok(Answer::Prepared(output.0))
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.universe_ids(caller, field).await
    }
}
