//! `get_universe_state`: the whole state of a universe, or a part of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer_schemas::StateOrPartShape;
use super::views::{self, StatePart, View, ViewRequest};
use crate::{
    Allowed, Answer, App, Call, Caller, CampaignRole, Fault, Operation, OperationKind, PermissionClass, RenderedJson,
    Toolset, limits,
};

pub(super) struct GetUniverseState;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct GetUniverseStateInput {
    /// The universe.
    universe_id: String,
    /// A part of it; all if left out.
    view: Option<View>,
    /// Only the bodies, groups or positions of these ids; for body its one id.
    ids: Option<Vec<String>>,
    /// The `nextCursor` of the page before.
    cursor: Option<String>,
    /// Rows of one page.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    limit: Option<usize>,
    /// For positions and body: when, in simulated seconds; now if left out.
    t: Option<f64>,
}

#[derive(Serialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct GetUniverseStateOutput(#[schemars(with = "StateOrPartShape")] StateAnswer);

#[derive(Serialize)]
#[serde(untagged)]
enum StateAnswer {
    Whole(RenderedJson),
    Part(Box<StatePart>),
}

impl Operation for GetUniverseState {
    const NAME: &'static str = "get_universe_state";
    const TITLE: &'static str = "Read a universe";
    const SUMMARY: &'static str =
        "Read all that a universe holds: bodies, groups, belts, fields, disks, nebulae, time; with a view, a part.";
    const TOOLSET: Toolset = Toolset::Universe;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::ReadUniverse;
    type Input = GetUniverseStateInput;
    type Output = GetUniverseStateOutput;

    async fn run(app: &App, call: &Call<'_>, input: GetUniverseStateInput) -> Result<GetUniverseStateOutput, Fault> {
        let found_universe = app.find_universe::<Self>(call, &input.universe_id, CampaignRole::Guest).await?;
        let GetUniverseStateInput { view, ids, cursor, limit, t, .. } = &input;
        let ask = ViewRequest { view: *view, ids: ids.as_deref(), cursor: cursor.as_deref(), limit: *limit, t: *t };
        if let Some(part) = views::read_part(&found_universe, &ask)? {
            return Ok(GetUniverseStateOutput(StateAnswer::Part(Box::new(part))));
        }
        Ok(GetUniverseStateOutput(StateAnswer::Whole(app.rendered_universe(&found_universe).await?.state)))
    }

    fn answer(output: GetUniverseStateOutput) -> Result<Answer, serde_json::Error> {
        match output.0 {
            StateAnswer::Whole(prepared) => Ok(Answer::Prepared(prepared)),
            StateAnswer::Part(part) => serde_json::to_value(part).map(Answer::Value),
        }
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_universe_id(caller, field).await
    }
}
