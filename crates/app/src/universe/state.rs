//! All that a universe holds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shape::StateShape;
use crate::{Allowed, Answer, App, Call, Caller, CampaignRole, Fault, Kind, Operation, Prepared, Toolset};

pub(super) struct GetUniverseState;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct GetUniverseStateInput {
    /// The universe.
    universe_id: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct GetUniverseStateOutput(#[schemars(with = "StateShape")] Prepared);

impl Operation for GetUniverseState {
    const NAME: &'static str = "get_universe_state";
    const TITLE: &'static str = "Read a universe";
    const SUMMARY: &'static str =
        "Read all that a universe holds: bodies, groups, belts, fields, disks, nebulae, time.";
    const TOOLSET: Toolset = Toolset::Universe;
    const KIND: Kind = Kind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    type Input = GetUniverseStateInput;
    type Output = GetUniverseStateOutput;

    async fn run(app: &App, call: &Call<'_>, input: GetUniverseStateInput) -> Result<GetUniverseStateOutput, Fault> {
        let sky = app.sky::<Self>(call, &input.universe_id, CampaignRole::Guest).await?;
        Ok(GetUniverseStateOutput(app.ready(&sky).await?.state))
    }

    fn answer(output: GetUniverseStateOutput) -> Result<Answer, serde_json::Error> {
        Ok(Answer::Prepared(output.0))
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.universe_ids(caller, field).await
    }
}
