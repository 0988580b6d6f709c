//! `universe_map`: a map of a universe at a time, as SVG.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::map_scene;
use super::stream::universe_not_found_fault;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Code, Exposed, Fault, Operation, OperationKind, PermissionClass, Route,
    Toolset,
};
use skald_picture::Theme;

pub(super) struct UniverseMap;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct UniverseMapInput {
    /// The universe.
    universe_id: String,
    /// The time to draw, in simulated seconds; the universe's own if left out.
    t: Option<f64>,
    /// The colours; those that the reader prefers if left out.
    #[serde(default)]
    theme: Theme,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct UniverseMapOutput {
    /// The picture, as SVG.
    text: String,
}

impl Operation for UniverseMap {
    const NAME: &'static str = "universe_map";
    const TITLE: &'static str = "A universe as a picture";
    const SUMMARY: &'static str = "The map of a universe at a time, as SVG: its systems seen from above, with orbits, \
        moons, belts, nebulae and names.";
    const TOOLSET: Toolset = Toolset::Universe;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::ReadUniverse;
    const EXPOSED: Exposed = Exposed::NotAsTool;
    const ROUTES: &'static [Route] = &[Route::document("/api/v1/universes/{universeId}/map.svg", "image/svg+xml")];
    type Input = UniverseMapInput;
    type Output = UniverseMapOutput;

    async fn run(app: &App, call: &Call<'_>, input: UniverseMapInput) -> Result<UniverseMapOutput, Fault> {
        if let Some(time) = input.t.filter(|time| !time.is_finite()) {
            let fault = Fault::new(Code::InvalidParams, format!("t is {time}, not a time")).with_path("/t");
            return Err(fault.hint("send a number of simulated seconds, or leave t out for the universe's own time"));
        }
        let found_universe = app.find_universe::<Self>(call, &input.universe_id, CampaignRole::Guest).await?;
        let universe = found_universe.universe()?;
        let drawn = app.compute(move |_| {
            let about = universe.identity().ok_or_else(|| universe_not_found_fault(&input.universe_id))?;
            let time = input.t.unwrap_or_else(|| universe.state().time());
            Ok(map_scene::universe_scene(&about.name, universe.state().snapshot(), time, input.theme).svg())
        });
        drawn.await.map(|text| UniverseMapOutput { text })
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_universe_id(caller, field).await
    }
}
